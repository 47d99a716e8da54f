"""Plots of gaze: one displacement motion (Heck figure 5.2), and a look with its overshoot (figure 5.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.core.arrays import check_index
from marey.errors import InvalidValue
from marey.maths import quat
from marey.plot import style
from marey.plot.body import extract_body, forward
from marey.plot.poses import PoseView, draw_pose

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from marey.layer.gaze_model import GazeShift
    from marey.layer.gaze_track import GazeTrack

_N_POSES = 6
# Seconds shown before a look, and after it has settled.
_AROUND = 0.35
_RAY = 0.42  # meters of the line of sight


@style.plot_function
def gaze_shift(shift: GazeShift, path: style.StrPath | None = None) -> Figure:
    """Plot one gaze displacement motion: rotation of each body part over time, with start, overshoot and end marked."""
    from marey.layer.gaze_model import PARTS

    figure = style.new_figure(4.2, layout="constrained")
    axes = figure.subplots()
    times = np.linspace(-0.1 * shift.length, 1.15 * shift.length, 400)
    angles = np.degrees(quat.angle(shift.rotations_at(times)))
    ends = np.degrees(quat.angle(shift.pose))
    starts = [*shift.starts, 0.0]
    for k in range(4, -1, -1):
        name = PARTS[k].replace("_", " ")
        label = f"{name}: {ends[k]:.1f}° from {1e3 * starts[k] * shift.length:.0f} ms"
        axes.plot(times, angles[:, k], color=style.SERIES[k], label=label)
        axes.plot([starts[k] * shift.length], [0.0], "o", color=style.SERIES[k], ms=4, clip_on=False)
    peak = shift.peak * shift.length
    for at, text in (
        (peak, f"overshoot {100 * shift.overshoot:.1f} %"),
        (shift.length, f"settled, {shift.length:.2f} s"),
    ):
        axes.axvline(at, color=style.NOTE, lw=0.8, ls=(0, (4, 3)), zorder=0)
        axes.annotate(
            text, (at, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -3), textcoords="offset points", va="top",
            size=style.NOTE_SIZE, color=style.NOTE,
        )  # fmt: skip
    axes.set_ylim(0.0, 1.18 * max(float(angles.max()), 1.0))
    axes.set_ylabel("turned by, °")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.time_axes(figure, [axes], float(times[0]), float(times[-1]))
    yaw, pitch = np.degrees(shift.goal)
    figure.suptitle(
        f"A look {abs(yaw):.0f}° to the {'left' if yaw >= 0 else 'right'}, {abs(pitch):.0f}° "
        f"{'up' if pitch >= 0 else 'down'}",
        x=0.01,
        ha="left",
        size=11,
    )
    return figure


draw_gaze_shift = gaze_shift


@style.plot_function
def gaze_track(track: GazeTrack, path: style.StrPath | None = None, *, look: int = 0) -> Figure:
    """Plot one look of a motion: poses from the front and from above with the line of sight, and the gaze over time.

    Parameters
    ----------
    look : index of the look in `track.looks`.
    """
    check_index(look, "`look`", len(track.looks))
    chosen, motion = track.looks[look], track.motion
    first = max(0, int((chosen.time - _AROUND) * motion.fps))
    last = min(len(motion) - 1, int(np.ceil((chosen.end + _AROUND) * motion.fps)))
    if last <= first:
        raise InvalidValue(
            f"the look at {chosen.time:g} s begins at the end of the motion, so there is nothing to draw; "
            "choose another look"
        )
    shift = chosen.shift
    moments = chosen.time + shift.length * np.array([0.0, 0.5 * shift.peak, shift.peak, 0.5 * (1 + shift.peak), 1.0])
    frames = np.unique(np.clip(np.rint(np.concatenate([[first / motion.fps], moments]) * motion.fps), first, last))
    figure = style.new_figure(7.4)
    outer = figure.add_gridspec(
        2, 1, height_ratios=(1.25, 1.0), left=0.075, right=0.985, top=0.925, bottom=0.075, hspace=0.12
    )
    rows = outer[0].subgridspec(2, len(frames), height_ratios=(1.0, 0.75), wspace=0.02, hspace=0.05)
    body = extract_body(motion)
    for column, frame in enumerate(frames.astype(int).tolist()):
        ahead = forward(float(track.heading[frame]))
        eye = track.places[frame] - np.array([0.0, body.floor, 0.0])
        ray = np.stack([eye, eye + _RAY * track.directions[frame]])
        for row, view in enumerate((PoseView.front(ahead), PoseView(-np.cross([0.0, 1.0, 0.0], ahead), ahead))):
            axes = figure.add_subplot(rows[row, column])
            draw_pose(axes, body, frame, view)
            axes.plot(*view.flat(ray).T, color=style.SERIES[3], lw=2.0, zorder=50, solid_capstyle="round")
            middle = view.flat(body.travel[frame] if row == 0 else 0.5 * (body.travel[frame] + eye))
            high = 0.55 * body.size
            axes.set_xlim(middle[0] - 0.29 * body.size, middle[0] + 0.29 * body.size)
            low, top = (middle[1] - 0.15 * high, middle[1] + 0.95 * high) if row == 0 else (
                middle[1] - 0.27 * body.size, middle[1] + 0.27 * body.size
            )  # fmt: skip
            axes.set_ylim(low, top)
            axes.set_aspect("equal")
            axes.axis("off")
            if row == 0:
                axes.set_title(f"{frame / motion.fps:.2f} s", size=9, loc="center")
    _draw_angles(figure, outer[1], track, look, first, last)
    when = f"a look from {chosen.time:.2f} to {chosen.end:.2f} s, from the front and from above"
    figure.suptitle(f"{style.format_name(motion)}: {when}", x=0.01, ha="left", size=11)
    return figure


draw_gaze_track = gaze_track


def _draw_angles(figure: Figure, cell: object, track: GazeTrack, look: int, first: int, last: int) -> None:
    """Draw yaw and pitch of the gaze, the contribution of the head, and the target, over time."""
    chosen, motion = track.looks[look], track.motion
    panels = cell.subgridspec(2, 1, hspace=0.12).subplots(sharex=True)  # type: ignore[attr-defined]
    times = np.arange(first, last + 1) / motion.fps
    for axes, k, name in zip(panels, (0, 1), ("yaw, °", "pitch, °"), strict=True):
        gaze = np.degrees(track.gaze[first : last + 1, k])
        goal = np.degrees(track.goals[first : last + 1, k])
        goal = np.where(times >= chosen.time, goal, np.nan)
        axes.plot(times, goal, color=style.FLOOR, lw=1.2, ls=(0, (5, 2)), label="gaze target")
        axes.plot(
            times,
            np.degrees(track.model[first : last + 1, k]),
            color=style.SERIES[4],
            lw=1.2,
            label="by the gaze map alone",
        )
        axes.plot(times, gaze, color=(style.SERIES[1], style.SERIES[0])[k], lw=1.8, label="gaze")
        for at in (chosen.time, chosen.time + chosen.shift.peak * chosen.shift.length, chosen.end):
            axes.axvline(at, color=style.MIDDLE, lw=0.6, ls=(0, (3, 3)), zorder=0)
        axes.set_ylabel(name)
        if k == 0:
            axes.legend(loc="best")
    style.time_axes(figure, list(panels), float(times[0]), float(times[-1]))
