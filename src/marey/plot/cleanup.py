"""Heights and speeds of the feet before and after a cleanup, one drawn over the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.clean import point_paths
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.plot.feet import horizontal_speed
from marey.plot.style import (
    NOTE,
    SIDES,
    StrPath,
    check_suffix,
    new_figure,
    shade,
    shown_name,
    styled,
    time_axes,
    told_length,
    write_figure,
)
from marey.plot.touching import band, side_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def before_after(before: Motion, after: Motion, path: StrPath) -> None:
    """Draw both into one picture, PNG or SVG by the suffix; see `draw_before_after`."""
    check_suffix(path)
    write_figure(draw_before_after(before, after), path)


@styled
def draw_before_after(before: Motion, after: Motion) -> Figure:
    """For each contact point that ever touches: height above the floor and speed across it, and its contacts as bands.

    before, after : motions of one length; contacts and floor are those of `after`.
    """
    contacts, floor = after.contacts, after.source.floor
    if contacts is None or floor is None or len(before) != len(after):
        raise InvalidValue(
            "expected a motion before and after cleanup, of one length, the latter with contacts and floor"
        )
    columns = [k for k in range(len(contacts.points)) if contacts.mask[:, k].any()]
    if not columns:
        raise InvalidValue("nothing is in contact, so there is nothing to show before and after")
    points = [contacts.points[k] for k in columns]
    times = np.arange(len(after)) / after.fps
    figure = new_figure(0.9 + 1.5 * len(points), layout="constrained")
    panels = figure.subplots(2 * len(points), 1, sharex=True, squeeze=False)[:, 0]
    for motion, look in ((before, {"color": NOTE, "lw": 1.0}), (after, None)):
        paths = point_paths(motion, points)
        speed = horizontal_speed(paths, motion.fps)
        for n, point in enumerate(points):
            style = look or {"color": SIDES[side_of(point.name)], "lw": 1.5}
            label = "before" if look else "after"
            panels[2 * n].plot(times, 100.0 * (paths[:, n, 1] - floor), label=label, **style)
            panels[2 * n + 1].plot(times, speed[:, n], label=label, **style)
    for n, point in enumerate(points):
        colour = SIDES[side_of(point.name)]
        high, fast = panels[2 * n], panels[2 * n + 1]
        for start, stop in contacts.intervals(point.name):
            for panel in (high, fast):
                panel.axvspan(*band(start, stop, after.fps), color=shade(colour, 0.12), lw=0, zorder=0)
        high.axhline(0.0, color=NOTE, lw=0.6)
        high.set_ylim(-3.0, 10.0)
        fast.set_ylim(0.0, 1.0)
        high.set_ylabel("cm")
        fast.set_ylabel("m/s")
        high.set_title(point.name.replace("_", " "), size=10, color=colour, weight="bold")
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=2, borderaxespad=0.0)
    time_axes(figure, list(panels), float(times[0]), float(times[-1]))
    figure.suptitle(
        f"{shown_name(after)} before and after: {told_length(after)}; height and speed across the floor", x=0.01,
        ha="left", size=11,
    )  # fmt: skip
    return figure
