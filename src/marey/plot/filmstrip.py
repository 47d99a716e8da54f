"""Plot of a motion at a glance, as Marey showed it: poses from the side and from above, with ghosts in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marey.clean import point_paths
from marey.core.annotations import check_frames
from marey.core.arrays import Floats, check_index
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.plot import style
from marey.plot.body import UP, Body, extract_body, forward, mean_heading
from marey.plot.poses import PoseView, choose_frames, distinctive_frames, draw_pose, outline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_POSES = 60
_TALLEST = 6.0  # height of a whole plot in inches
_TALLEST_STACKED = 7.4  # the same if side view and plan are stacked, so that a winding path fills the width
_MARGIN = (0.72, 0.15, 0.42, 0.50)  # inches: left, right, top, bottom
_ROW_GAP = 0.22  # inches between rows of poses
_LARGEST = 2.7  # height of a standing body in inches
_GAP = 0.95  # inches between side view and plan if they are side by side
_GHOSTS, _GHOST_STEP = 3, 0.1  # number of ghosts before each pose, and maximum seconds between them
# Poses are drawn at their positions if the motion travels at least this far in one direction, in meters; else side by
# side.
_TRAVEL = (1.0, 12.0)
_MAX_SPACING = 0.8  # mean seconds between poses up to which the first and the last frame are always drawn
_PLAN = 1.75  # inches of the plan next to rows of poses
_LABEL = 0.5  # width of the time below a pose in inches


@style.plot_function
def filmstrip(
    motion: Motion,
    path: style.StrPath | None = None,
    *,
    n_poses: int | None = None,
    start: int = 0,
    stop: int | None = None,
    front: bool = False,
) -> Figure:
    """Plot poses from the side and from above, with the path of the hips.

    The side view is perpendicular to the direction of travel, and each pose is drawn at its position. If the character
    stays in place, turns back, or goes very far, the side view is perpendicular to the direction it faces, and the
    poses are drawn side by side. Left limbs are orange, right limbs blue; dots are contact points in contact.

    Parameters
    ----------
    n_poses : number of poses, 1 to 60; default: as many as fit.
    start, stop : frames, `stop` exclusive; default: the whole motion.
    front : add a row with the same poses from the front.

    Examples
    --------
    >>> figure = marey.plot.draw_filmstrip(walk, n_poses=5)
    >>> len(figure.axes)
    2
    """
    first, last = check_frames(motion, start, stop)
    if n_poses is not None and not 1 <= check_index(n_poses, "n_poses") <= MAX_POSES:
        raise InvalidValue(f"n_poses must be from 1 to {MAX_POSES}, not {n_poses}")
    strip = _plan(motion, first, last, n_poses)
    if strip.travels:
        figure = _draw_along_path(strip, front)
    else:
        figure = _draw_side_by_side(strip, front)
    height = figure.get_size_inches()[1]
    edge = 1.0 - 0.09 / height
    cut = "" if (first, last) == (0, len(motion)) else f", frames {first} to {last}"
    figure.text(
        _MARGIN[0] / style.WIDTH,
        edge,
        f"{style.format_name(motion)}: {style.length_text(motion)}{cut}",
        size=11,
        va="top",
    )
    keys = [("right", style.RIGHT), ("left", style.LEFT)] if set(strip.body.sides) != {"middle"} else []
    if strip.touching is not None:
        keys.insert(0, ("• contact", style.MIDDLE))
    for k, (text, color) in enumerate(keys):
        x = 1.0 - (_MARGIN[1] + 0.5 * k + (0.35 if len(keys) == 3 and k else 0.0)) / style.WIDTH
        figure.text(x, edge, text, color=color, size=9.5, weight="bold", ha="right", va="top")
    return figure


draw_filmstrip = filmstrip


# What to show -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Strip:
    """Content of a filmstrip.

    first, last : the frames, half-open. along : (3,) direction on the floor that points to the right in the plot.
        travels : whether the character travels in that direction.
    frames : frames of the poses. ghosts : for each pose, frames of the ghosts before it. touching, touching_sides :
        points in contact, and their sides.
    """

    body: Body
    fps: float
    first: int
    last: int
    along: Floats
    travels: bool
    frames: list[int]
    ghosts: list[list[int]]
    touching: Floats | None  # (F, K, 3), NaN where a point is not in contact
    touching_sides: tuple[str, ...]


def _plan(motion: Motion, first: int, last: int, n_poses: int | None) -> _Strip:
    body = extract_body(motion)
    along, travels = _choose_course(body, first, last)
    seconds = (last - 1 - first) / motion.fps
    if n_poses is None:
        reach = float(np.ptp(body.travel[first:last] @ along))
        n_poses = int(np.clip(round(reach / 0.5) + 1, 6, 10) if travels else np.clip(round(seconds / 0.35) + 1, 4, 12))
    if travels:
        frames = choose_frames(body, first, last, n_poses)
    else:
        frames = distinctive_frames(body, first, last, n_poses, ends=seconds <= _MAX_SPACING * n_poses)
    step = max(1, round(motion.fps * min(_GHOST_STEP, seconds / max(1, len(frames) - 1) / (_GHOSTS + 1))))
    ghosts = []
    for k, frame in enumerate(frames):
        earliest = frames[k - 1] + 1 if k else first
        ghosts.append([f for i in range(_GHOSTS, 0, -1) if (f := frame - i * step) >= earliest])
    touching: Floats | None = None
    sides: tuple[str, ...] = ()
    if motion.contacts is not None and motion.contacts.points:
        touching = point_paths(motion, motion.contacts.points) - body.floor * UP
        touching[~motion.contacts.mask] = np.nan
        sides = tuple(style.side_of(name) for name in motion.contacts.names)
    return _Strip(body, motion.fps, first, last, along, travels, frames, ghosts, touching, sides)


def _choose_course(body: Body, first: int, last: int) -> tuple[Floats, bool]:
    """Choose the direction of view, and whether the character travels perpendicular to it."""
    floor_path = body.travel[first:last] * np.array([1.0, 0.0, 1.0])
    _, _, axes = np.linalg.svd(floor_path - floor_path.mean(axis=0), full_matrices=False)
    along = axes[0] if np.ptp(floor_path, axis=0).any() else forward(0.0)
    net = float((floor_path[-1] - floor_path[0]) @ along)
    along = along if net >= 0 else -along
    travel = floor_path @ along
    reach = float(np.ptp(travel))
    back = float((np.maximum.accumulate(travel) - travel).max())
    if _TRAVEL[0] <= reach <= _TRAVEL[1] and back <= 0.15 * reach:
        return along, True
    facing = mean_heading(body.heading[first:last])
    return (along if facing is None else forward(facing)), False


# Poses at their positions -----------------------------------------------------------------------------------


def _draw_along_path(strip: _Strip, front: bool) -> Figure:
    body = strip.body
    side, top = PoseView.side(strip.along), PoseView.top(strip.along)
    origin = body.travel[strip.first] * np.array([1.0, 0.0, 1.0])
    side_shift, top_shift = -side.flat(origin), -top.flat(origin)
    shown = [frame for k, frame in enumerate(strip.frames) for frame in (*strip.ghosts[k], frame)]
    seen = np.concatenate([outline(body, frame, side) for frame in shown]) + side_shift
    above = np.concatenate([outline(body, frame, top) for frame in shown]) + top_shift
    x = (seen[:, 0].min() - 0.1, seen[:, 0].max() + 0.1)
    y = (min(0.0, seen[:, 1].min()) - 0.13 * body.size, seen[:, 1].max() + 0.04 * body.size)
    depth = (above[:, 1].min() - 0.08, above[:, 1].max() + 0.08)
    sizes = [(x[1] - x[0], y[1] - y[0]), (x[1] - x[0], depth[1] - depth[0])]
    row = _Row(strip, PoseView.front(strip.along), range(len(strip.frames))) if front else None
    figure, panels, stacked = _lay_out(body, sizes, row)

    poses = range(len(strip.frames))
    _side_panel(panels[0], strip, side, poses, np.tile(side_shift, (len(poses), 1)), x, y)
    panels[0].set_ylabel("height, m")
    panels[0].set_xlabel("in the direction of travel, m")
    plan = panels[1]
    plan.set(xlim=x, ylim=depth)
    _draw_plan(plan, strip, top, top_shift)
    plan.set_ylabel("left, m")
    plan.set_xlabel("in the direction of travel, m")
    if stacked:
        _hide_x_axis(panels[0])
        for panel in panels[:2]:
            panel.yaxis.set_label_coords(-0.52 / (panel.get_position().width * style.WIDTH), 0.5)
    if row is not None:
        row.draw(panels[2])
        panels[2].set_title("from the front", size=10)
    plan.set_title("from above", size=10)
    return figure


# Poses side by side -----------------------------------------------------------------------------------------


class _Row:
    """One row of poses, sorted by time, each with its ghosts at their positions."""

    def __init__(self, strip: _Strip, view: PoseView, poses: Sequence[int]) -> None:
        self.strip, self.view, self.poses = strip, view, poses
        self.shifts = np.zeros((len(strip.frames), 2))
        size = strip.body.size
        edge, top, bottom = 0.0, 0.0, 0.0
        for k in poses:
            frame = strip.frames[k]
            own = np.concatenate([outline(strip.body, f, view) for f in (*strip.ghosts[k], frame)])
            hips = float(strip.body.travel[frame] @ view.right)
            # Leave some room around the hips; otherwise a row of thin poses looks crowded.
            left = min(own[:, 0].min() - hips, -0.16 * size)
            right = max(own[:, 0].max() - hips, 0.16 * size)
            self.shifts[k, 0] = edge - left - hips
            edge += right - left + 0.06 * size
            top, bottom = max(top, own[:, 1].max()), min(bottom, own[:, 1].min())
        self.x = (-0.05 * size, edge)
        self.y = (bottom - 0.14 * size, top + 0.04 * size)

    @property
    def size(self) -> tuple[float, float]:
        """Size in meters."""
        return self.x[1] - self.x[0], self.y[1] - self.y[0]

    def draw(self, axes: Axes) -> None:
        _side_panel(axes, self.strip, self.view, self.poses, self.shifts, self.x, self.y)
        axes.set_ylabel("height, m")
        _hide_x_axis(axes)


def _row_gap(views: Sequence[PoseView]) -> float:
    """Gap between rows in inches; with several views, each begins with a title."""
    return _ROW_GAP if len(views) == 1 else _ROW_GAP + 0.14


def _rows(strip: _Strip, views: Sequence[PoseView], wide: float, tall: float) -> tuple[list[list[_Row]], float]:
    """Split the poses of each view into rows, as large as fits `wide` x `tall` inches; also return inches per meter."""
    best: list[list[_Row]] = []
    scale = 0.0
    for n_rows in range(1, min(4, len(strip.frames)) + 1):
        groups = [list(group) for group in np.array_split(np.arange(len(strip.frames)), n_rows)]
        rows = [[_Row(strip, view, group) for group in groups] for view in views]
        flat = [row for group in rows for row in group]
        gaps = _row_gap(views) * (len(flat) - 1)
        fits = min(
            wide / max(row.size[0] for row in flat),
            (tall - gaps) / sum(row.size[1] for row in flat),
            _LARGEST / strip.body.size,
        )
        if fits > 1.25 * scale:  # use a second row only if it makes the poses clearly larger
            best, scale = rows, fits
    return best, scale


def _draw_side_by_side(strip: _Strip, front: bool) -> Figure:
    views = [PoseView.side(strip.along)] + ([PoseView.front(strip.along)] if front else [])
    body, top = strip.body, PoseView.top(strip.along)
    origin = body.travel[strip.first] * np.array([1.0, 0.0, 1.0])
    above = np.concatenate([outline(body, frame, top) for frame in strip.frames])
    above = np.concatenate([above, top.flat(body.travel[strip.first : strip.last])]) - top.flat(origin)
    low, high = above.min(axis=0) - 0.05 * body.size, above.max(axis=0) + 0.05 * body.size

    left, right, head, foot = _MARGIN
    before_plan = 0.66  # inches, for its labels
    wide = style.WIDTH - left - right
    head += 0.2  # for the panels' own titles
    tall = _TALLEST - head - 0.1 - (0.0 if front else 1.2)
    rows, scale = _rows(strip, views, wide - _PLAN - before_plan, tall)
    flat = [row for group in rows for row in group]
    gap = _row_gap(views)
    inside = sum(row.size[1] * scale + gap for row in flat) - gap
    total = head + max(inside, 1.5 + foot) + 0.1
    figure = style.new_figure(total)
    y = total - head
    for k, row in enumerate(flat):
        width, height = row.size[0] * scale, row.size[1] * scale
        y -= height
        axes = figure.add_axes((left / style.WIDTH, y / total, width / style.WIDTH, height / total))
        row.draw(axes)
        if len(views) > 1 and k % len(rows[0]) == 0:
            axes.set_title(("from the side", "from the front")[k // len(rows[0])], size=10)
        y -= gap
    # Place the plan at the top right, as large as the space allows.
    x = left + max(row.size[0] for row in flat) * scale + before_plan
    extent = high - low
    room = np.array([style.WIDTH - right - x, total - head - foot])
    per_inch = max(float((extent / room).max()), 0.6 / scale)
    width, height = np.minimum(np.maximum(extent / per_inch, (1.5, 0.9)), room)
    plan = figure.add_axes((x / style.WIDTH, (total - head - height) / total, width / style.WIDTH, height / total))
    _draw_plan(plan, strip, top, -top.flat(origin))
    middle = 0.5 * (low + high)
    half = 0.5 * per_inch * np.array([width, height])
    plan.set(xlim=(middle[0] - half[0], middle[0] + half[0]), ylim=(middle[1] - half[1], middle[1] + half[1]))
    plan.set_title("from above", size=10)
    plan.locator_params(axis="x", nbins=max(2, int(2 * width)))  # narrow panels have room for few numbers
    plan.set_xlabel("forward, m")
    plan.set_ylabel("left, m", labelpad=1)
    return figure


# Panels -----------------------------------------------------------------------------------------------------


def _lay_out(body: Body, sizes: list[tuple[float, float]], row: _Row | None) -> tuple[Figure, list[Axes], bool]:
    """Place side view and plan (sizes in meters) at one scale, one above the other if that fills the page."""
    left, right, head, foot = _MARGIN
    wide = style.WIDTH - left - right
    (width, side), (_, plan) = sizes
    row_scale = 0.0 if row is None else min(wide / row.size[0], 2.2 / row.size[1])
    row_height = 0.0 if row is None else row.size[1] * row_scale + 0.45
    tall = _TALLEST - head - foot
    stacked = min(wide / width, (_TALLEST_STACKED - head - foot - 0.4) / (side + plan), _LARGEST / body.size)
    side_by_side = min((wide - _GAP) / (2 * width), tall / max(side, plan), _LARGEST / body.size)
    is_stacked = stacked * width > 0.8 * wide or stacked > 1.4 * side_by_side
    if is_stacked:
        inside = (side + plan) * stacked + 0.4
        boxes = [
            (left, inside - side * stacked, width * stacked, side * stacked),
            (left, 0.0, width * stacked, plan * stacked),
        ]
    else:
        inside = max(side, plan) * side_by_side
        boxes = [
            (left, inside - side * side_by_side, width * side_by_side, side * side_by_side),
            (
                left + width * side_by_side + _GAP,
                inside - plan * side_by_side,
                width * side_by_side,
                plan * side_by_side,
            ),
        ]
    total = head + inside + foot + row_height
    boxes = [(x, y + foot + row_height, w, h) for x, y, w, h in boxes]
    if row is not None:
        boxes.append((left, 0.1, row.size[0] * row_scale, row.size[1] * row_scale))
    figure = style.new_figure(total)
    panels = [figure.add_axes((x / style.WIDTH, y / total, w / style.WIDTH, h / total)) for x, y, w, h in boxes]
    return figure, panels, is_stacked


def _side_panel(
    axes: Axes,
    strip: _Strip,
    view: PoseView,
    poses: Sequence[int],
    shifts: Floats,
    x: tuple[float, float],
    y: tuple[float, float],
) -> None:
    """Draw the poses above the floor line, each with its time below."""
    axes.set(xlim=x, ylim=y, aspect="equal")
    axes.axhline(0.0, color=style.FLOOR, lw=0.9, zorder=0.5)
    for k in poses:
        frame = strip.frames[k]
        shift = (float(shifts[k, 0]), float(shifts[k, 1]))
        for i, ghost in enumerate(strip.ghosts[k]):
            faint = 0.14 + 0.10 * (i + 1) / _GHOSTS
            draw_pose(axes, strip.body, ghost, view, shift=shift, strength=faint, width=0.9, layer=1.0)
        draw_pose(axes, strip.body, frame, view, shift=shift, layer=2.0 + k / len(strip.frames))
        _draw_touching(axes, strip, frame, view, shift)
    inches = axes.get_position().width * style.WIDTH / (x[1] - x[0])
    hips = [float(strip.body.travel[strip.frames[k]] @ view.right + shifts[k, 0]) for k in poses]
    for k, here in _labels(poses, hips, x, _LABEL / inches):
        axes.annotate(
            f"{strip.frames[k] / strip.fps:.2f} s",
            (here, 0.0),
            (0, -5),
            textcoords="offset points",
            size=style.NOTE_SIZE,
            ha="center",
            va="top",
            color=style.NOTE,
        )
    axes.set_yticks(np.arange(0.0, y[1], 0.5))


def _labels(
    poses: Sequence[int], hips: Sequence[float], x: tuple[float, float], width: float
) -> list[tuple[int, float]]:
    """Choose which poses get a label, and its position: below the hips, or moved aside to make room for its neighbors.

    If there is not enough room, some labels are dropped, but never the first and the last.
    """
    order = [poses[i] for i in np.argsort(hips, kind="stable")]
    places = np.sort(hips)
    low, high = x[0] + 0.42 * width, x[1] - 0.42 * width
    most = max(2, int((high - low) / width) + 1)
    if len(order) > most:
        selected = np.unique(np.linspace(0, len(order) - 1, most).round().astype(int))
        order, places = [order[i] for i in selected], places[selected]
    if len(order) > 1:
        # After subtracting the total width of the labels to the left, the positions only have to be nondecreasing.
        room = width * np.arange(len(order))
        spread = np.clip(_in_order(places - room), low, max(high - room[-1], low))
        places = spread + room
    return list(zip(order, places.tolist(), strict=True))


def _in_order(values: Floats) -> Floats:
    """Find the closest nondecreasing values (least squares) by pooling neighbors that decrease."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        total, count = value, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            before, n = pools.pop()
            total, count = total + before, count + n
        pools.append((total, count))
    return np.concatenate([np.full(count, total / count) for total, count in pools])


def _hide_x_axis(axes: Axes) -> None:
    """Hide the x axis; the floor line and the times below it are enough."""
    axes.set_xlabel("")
    axes.tick_params(bottom=False, labelbottom=False)
    axes.spines["bottom"].set_visible(False)


def _draw_touching(axes: Axes, strip: _Strip, frame: int, view: PoseView, shift: tuple[float, float]) -> None:
    """Draw dots at the points that are in contact in a frame."""
    if strip.touching is None:
        return
    points = view.flat(strip.touching[frame]) + np.array(shift)
    colors = [style.SIDES[side] for side in strip.touching_sides]
    axes.scatter(points[:, 0], points[:, 1], s=13, c=colors, ec="white", lw=0.5, zorder=4)


def _draw_plan(axes: Axes, strip: _Strip, view: PoseView, shift: Floats) -> None:
    """Draw the view from above: path of the hips, poses, and the position of each contact."""
    offset = (float(shift[0]), float(shift[1]))
    axes.set_aspect("equal")
    for frame in strip.frames:
        strength = 0.34 if strip.travels else 0.24  # poses in place lie on top of one another
        draw_pose(axes, strip.body, frame, view, shift=offset, strength=strength, width=1.0, layer=1.0)
    path = view.flat(strip.body.travel[strip.first : strip.last]) + shift
    axes.plot(path[:, 0], path[:, 1], color=style.MIDDLE, lw=1.3 if strip.travels else 0.9, zorder=3)
    stops = view.flat(strip.body.travel[strip.frames]) + shift
    axes.plot(stops[:, 0], stops[:, 1], "o", color="white", mec=style.MIDDLE, mew=1.0, ms=4, zorder=3.5)
    if strip.touching is None:
        return
    for k, side in enumerate(strip.touching_sides):
        spots = _compute_resting_places(strip.touching[strip.first : strip.last, k])
        if len(spots):
            flat = view.flat(spots) + shift
            axes.scatter(flat[:, 0], flat[:, 1], s=16, c=style.SIDES[side], ec="white", lw=0.5, zorder=4)


def _compute_resting_places(path: Floats) -> Floats:
    """Compute the mean positions (N, 3) of the N runs of frames in a path (F, 3) that are not NaN."""
    there = np.concatenate([[False], np.isfinite(path[:, 0]), [False]])
    edges = np.flatnonzero(there[1:] != there[:-1]).reshape(-1, 2)
    return np.array([path[a:b].mean(axis=0) for a, b in edges]).reshape(-1, 3)
