"""Plot of a window of frames as a point cloud, from the side and from above, as used to compare frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.core.annotations import check_frames
from marey.core.motion import Motion
from marey.plot import style
from marey.plot.body import extract_body, forward, mean_heading
from marey.plot.poses import PoseView, draw_pose, outline

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WINDOW = 0.5  # seconds
_MARGIN = (0.66, 0.95, 0.64, 0.52)  # inches: left, right with the scale of times, top, bottom
_GAP = 0.75
_TALLEST = 4.6


@style.plot_function
def cloud(
    motion: Motion, path: style.StrPath | None = None, *, start: int | None = None, stop: int | None = None
) -> Figure:
    """Plot all joints of a window of frames from the side and from above, colored by time.

    The pose of the middle frame is drawn behind them. The character faces right; positions are relative to the hips in
    the middle frame.

    Parameters
    ----------
    start, stop : frames, `stop` exclusive. Default: the middle 0.5 s. If only `start` is given, `stop` is the end.

    Examples
    --------
    >>> figure = marey.plot.draw_cloud(walk)
    >>> len(figure.axes)
    3
    """
    first, last = cloud_window(motion) if start is None and stop is None else check_frames(motion, start or 0, stop)
    body = extract_body(motion)
    middle = (first + last - 1) // 2
    facing = mean_heading(body.heading[first:last])
    direction = forward(0.0 if facing is None else facing)
    views = (PoseView.side(direction), PoseView.top(direction))
    origin = body.travel[middle] * np.array([1.0, 0.0, 1.0])
    joints = body.joints
    points = body.positions[first:last][:, joints] - origin
    times = np.repeat(np.arange(first, last) / motion.fps, len(joints))

    flats = [view.flat(points).reshape(-1, 2) for view in views]
    side, above = (
        np.concatenate([flat, outline(body, middle, view) - view.flat(origin)])
        for flat, view in zip(flats, views, strict=True)
    )
    room = 0.05 * body.size
    low, high = side[:, 0].min() - room, side[:, 0].max() + room
    heights = (min(0.0, side[:, 1].min()) - room, side[:, 1].max() + room)
    depth = (above[:, 1].min() - room, above[:, 1].max() + room)
    left, right, head, foot = _MARGIN
    width = high - low
    tallest = max(heights[1] - heights[0], depth[1] - depth[0])
    scale = min((style.WIDTH - left - right - _GAP) / (2 * width), (_TALLEST - head - foot) / tallest)
    total = head + tallest * scale + foot
    figure = style.new_figure(total)
    extents = (heights, depth)
    labels = (("forward, m", "height, m", "from the side"), ("forward, m", "left, m", "from above"))
    for n, (view, flat, extent) in enumerate(zip(views, flats, extents, strict=True)):
        tall = (extent[1] - extent[0]) * scale
        box = (left + n * (width * scale + _GAP), total - head - tall, width * scale, tall)
        axes = figure.add_axes((box[0] / style.WIDTH, box[1] / total, box[2] / style.WIDTH, box[3] / total))
        axes.set(xlim=(low, high), ylim=extent, aspect="equal", xlabel=labels[n][0], ylabel=labels[n][1])
        axes.set_title(labels[n][2], size=10)
        shift = -view.flat(origin)
        draw_pose(axes, body, middle, view, shift=(float(shift[0]), float(shift[1])), strength=0.6, width=1.2, layer=3)
        dots = axes.scatter(flat[:, 0], flat[:, 1], c=times, cmap="cividis", s=7, lw=0, zorder=2)
    figure.axes[0].axhline(0.0, color=style.FLOOR, lw=0.9, zorder=0.5)
    place = (left + 2 * width * scale + _GAP + 0.15, foot, 0.12, total - head - foot)
    bar = figure.add_axes((place[0] / style.WIDTH, place[1] / total, place[2] / style.WIDTH, place[3] / total))
    figure.colorbar(dots, cax=bar, label="time, s")
    n_frames = last - first
    seconds = (n_frames - 1) / motion.fps
    frames = "1 frame" if n_frames == 1 else f"{n_frames} frames"
    title = f"Point cloud of {style.format_name(motion)}: {frames} of {len(joints)} joints, {seconds:.2f} s"
    figure.text(left / style.WIDTH, 1.0 - 0.09 / total, title, size=11, va="top")
    return figure


draw_cloud = cloud


def cloud_window(motion: Motion) -> tuple[int, int]:
    """Return the default window of a cloud: frames of the middle half second, `stop` exclusive."""
    half = 0.5 * WINDOW * motion.fps
    middle = 0.5 * (len(motion) - 1)
    return max(0, round(middle - half)), min(len(motion), round(middle + half) + 1)
