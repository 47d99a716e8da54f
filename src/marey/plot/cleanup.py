"""Heights and speeds of feet and hands before and after a cleanup, one drawn over the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from marey.clean import point_paths
from marey.core.arrays import Bools, Floats
from marey.core.contacts import ContactPoint, Contacts
from marey.core.motion import Motion
from marey.errors import InvalidValue, UnknownName, similar
from marey.plot.body import span
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


# What is shown of heights (cm) and speeds (m/s): what happens near the floor, not how high and fast a foot swings.
# Where a point is planted further up, as on stairs and on hands, heights are shown up to so many times of that.
_HIGHEST, _DEEPEST, _FASTEST = 10.0, -6.0, 1.0
_ABOVE_PLANTS = 1.25
_PANEL = {True: 0.78, False: 1.12}  # inches of one panel, where there are many or few


def before_after(
    before: Motion,
    after: Motion,
    path: StrPath,
    *,
    points: Sequence[str] | None = None,
    start: int = 0,
    stop: int | None = None,
) -> None:
    """Draw both into one picture, PNG or SVG by the suffix; see `draw_before_after`."""
    check_suffix(path)
    write_figure(draw_before_after(before, after, points=points, start=start, stop=stop), path)


@styled
def draw_before_after(
    before: Motion,
    after: Motion,
    *,
    points: Sequence[str] | None = None,
    start: int = 0,
    stop: int | None = None,
) -> Figure:
    """Height above the floor and speed across it of contact points, and their contacts as bands.

    Parameters
    ----------
    before, after : motions of one length; contacts and floor are those of `after`.
    points : names of contact points; all that ever touch by default.
    start, stop : frames, half-open; the whole motion by default.
    """
    contacts, floor = after.contacts, after.source.floor
    if contacts is None or floor is None or len(before) != len(after):
        raise InvalidValue(
            "expected a motion before and after cleanup, of one length, the latter with contacts and floor"
        )
    first, last = span(after, start, stop)
    columns = _columns(contacts, points)
    shown = [contacts.points[k] for k in columns]
    times = np.arange(first, last) / after.fps
    many = len(shown) > 2
    figure = new_figure(0.85 + (2 * _PANEL[many] + 0.22) * len(shown), layout="constrained")
    panels = figure.subplots(2 * len(shown), 1, sharex=True, squeeze=False)[:, 0]
    curves = [_curves(motion, shown, floor) for motion in (before, after)]
    lowest = min(-1.0, 1.15 * min(float(height[first:last].min()) for height, _ in curves))
    for n, point in enumerate(shown):
        colour = SIDES[side_of(point.name)]
        high, fast = panels[2 * n], panels[2 * n + 1]
        touching = contacts.mask[first:last, columns[n]]
        highest = max(_top(heights[first:last, n], touching) for heights, _ in curves)
        for panel, k in ((high, 0), (fast, 1)):
            old, new = (pair[k][first:last, n] for pair in curves)
            panel.plot(times, old, color=NOTE, lw=1.1, label="before")
            panel.plot(times, new, color=colour, lw=1.6, label="after")
            panel.fill_between(times, old, new, where=touching, color=shade(NOTE, 0.45), lw=0, zorder=1)
            for a, b in contacts.sliced(first, last).intervals(point.name):
                panel.axvspan(*band(a + first, b + first, after.fps), color=shade(colour, 0.12), lw=0, zorder=0)
            panel.tick_params(axis="x", length=0)
        high.axhline(0.0, color=NOTE, lw=0.6, zorder=1.5)
        high.set_ylim(max(lowest, _DEEPEST), highest)
        fast.set_ylim(0.0, _FASTEST)
        high.set_ylabel("height, cm" if not many else "cm")
        fast.set_ylabel("speed, m/s" if not many else "m/s")
        high.set_title(point.name.replace("_", " ").capitalize(), size=10, color=colour, weight="bold")
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=2, borderaxespad=0.0)
    panels[-1].tick_params(axis="x", length=3.5)
    time_axes(figure, list(panels), float(times[0]), float(times[-1]))
    figure.suptitle(
        f"{shown_name(after)} before and after cleanup: {told_length(after)}; bands are contacts", x=0.01, ha="left",
        size=11,
    )  # fmt: skip
    return figure


def _columns(contacts: Contacts, points: Sequence[str] | None) -> list[int]:
    """Which contact points to draw."""
    if points is not None:
        for name in points:
            if name not in contacts.names:
                raise UnknownName(
                    f"no contact point {name!r}; there are {', '.join(contacts.names)}{similar(name, contacts.names)}"
                )
        return [contacts.index(name) for name in points]
    columns = [k for k in range(len(contacts.points)) if contacts.mask[:, k].any()]
    if not columns:
        raise InvalidValue("nothing is in contact, so there is nothing to show before and after")
    return columns


def _top(heights: Floats, touching: Bools) -> float:
    """How high to show a point, centimeters, so that all of its plants are seen. heights, touching : (F,)."""
    return max(_HIGHEST, _ABOVE_PLANTS * float(heights[touching].max(initial=0.0)))


def _curves(motion: Motion, points: Sequence[ContactPoint], floor: float) -> tuple[Floats, Floats]:
    """(F, K) heights in centimeters and (F, K) speeds in m/s."""
    paths = point_paths(motion, tuple(points))
    return 100.0 * (paths[..., 1] - floor), horizontal_speed(paths, motion.fps)
