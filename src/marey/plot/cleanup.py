"""Plots of feet and hands before and after a cleanup: heights and speeds, overlaid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from marey.clean import point_paths
from marey.core.annotations import check_frames
from marey.core.arrays import Bools, Floats
from marey.core.contacts import ContactPoint, Contacts
from marey.core.motion import Motion
from marey.errors import InvalidValue, UnknownName, similar
from marey.plot import style
from marey.plot.feet import horizontal_speed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Upper limits of the axes, heights (cm) and speeds (m/s): they show what happens near the floor, not the full swing of
# a foot. If a point is planted above the floor (stairs, hands), the height axis goes up to this multiple of that
# height.
_HIGHEST, _DEEPEST, _FASTEST = 10.0, -6.0, 1.0
_ABOVE_PLANTS = 1.25
_PANEL = {True: 0.78, False: 1.12}  # height of one panel in inches, if there are many or few


@style.plot_function
def before_after(
    before: Motion,
    after: Motion,
    path: style.StrPath | None = None,
    *,
    points: Sequence[str] | None = None,
    start: int = 0,
    stop: int | None = None,
) -> Figure:
    """Plot the height above the floor and the horizontal speed of contact points before and after a cleanup.

    Contacts are drawn as bands.

    Parameters
    ----------
    before, after : motions with the same number of frames; contacts and floor height are taken from `after`.
    points : names of contact points; default: all that are ever in contact.
    start, stop : frames, `stop` exclusive; default: the whole motion.
    """
    contacts, floor = after.contacts, after.source.floor
    if contacts is None or floor is None or len(before) != len(after):
        raise InvalidValue(
            "before and after must have the same number of frames, and after must have contacts and a "
            "floor height; pass the motion before cleanup and the cleaned motion"
        )
    first, last = check_frames(after, start, stop)
    columns = _find_columns(contacts, points)
    shown = [contacts.points[k] for k in columns]
    times = np.arange(first, last) / after.fps
    many = len(shown) > 2
    figure = style.new_figure(0.85 + (2 * _PANEL[many] + 0.22) * len(shown), layout="constrained")
    panels = figure.subplots(2 * len(shown), 1, sharex=True, squeeze=False)[:, 0]
    curves = [_compute_curves(motion, shown, floor) for motion in (before, after)]
    lowest = min(-1.0, 1.15 * min(float(height[first:last].min()) for height, _ in curves))
    for n, point in enumerate(shown):
        color = style.SIDES[style.side_of(point.name)]
        high, fast = panels[2 * n], panels[2 * n + 1]
        touching = contacts.mask[first:last, columns[n]]
        highest = max(_choose_top(heights[first:last, n], touching) for heights, _ in curves)
        for panel, k in ((high, 0), (fast, 1)):
            old, new = (pair[k][first:last, n] for pair in curves)
            panel.plot(times, old, color=style.NOTE, lw=1.1, label="before")
            panel.plot(times, new, color=color, lw=1.6, label="after")
            panel.fill_between(times, old, new, where=touching, color=style.shade(style.NOTE, 0.45), lw=0, zorder=1)
            for a, b in contacts.crop(first, last).intervals(point.name):
                panel.axvspan(
                    *style.band(a + first, b + first, after.fps), color=style.shade(color, 0.12), lw=0, zorder=0
                )
            panel.tick_params(axis="x", length=0)
        high.axhline(0.0, color=style.NOTE, lw=0.6, zorder=1.5)
        high.set_ylim(max(lowest, _DEEPEST), highest)
        fast.set_ylim(0.0, _FASTEST)
        high.set_ylabel("height, cm" if not many else "cm")
        fast.set_ylabel("speed, m/s" if not many else "m/s")
        high.set_title(point.name.replace("_", " ").capitalize(), size=10, color=color, weight="bold")
    panels[0].legend(loc="lower right", bbox_to_anchor=(1.0, 0.97), ncols=2, borderaxespad=0.0)
    panels[-1].tick_params(axis="x", length=3.5)
    style.time_axes(figure, list(panels), float(times[0]), float(times[-1]))
    figure.suptitle(
        f"{style.format_name(after)} before and after cleanup: {style.length_text(after)}; bands are contacts",
        x=0.01,
        ha="left",
        size=11,
    )
    return figure


draw_before_after = before_after


def _find_columns(contacts: Contacts, points: Sequence[str] | None) -> list[int]:
    """Find the indices of the contact points to draw."""
    if points is not None:
        for name in points:
            if name not in contacts.names:
                raise UnknownName(
                    f"no contact point {name!r}; there are {', '.join(contacts.names)}{similar(name, contacts.names)}"
                )
        return [contacts.index(name) for name in points]
    columns = [k for k in range(len(contacts.points)) if contacts.mask[:, k].any()]
    if not columns:
        raise InvalidValue(
            "there are no contacts, so there is nothing to show before and after cleanup; detect contacts first"
        )
    return columns


def _choose_top(heights: Floats, touching: Bools) -> float:
    """Choose the top of the height axis in centimeters, so that all plants are visible. heights, touching : (F,)."""
    return max(_HIGHEST, _ABOVE_PLANTS * float(heights[touching].max(initial=0.0)))


def _compute_curves(motion: Motion, points: Sequence[ContactPoint], floor: float) -> tuple[Floats, Floats]:
    """Compute (F, K) heights in centimeters and (F, K) speeds in m/s of K contact points."""
    paths = point_paths(motion, tuple(points))
    return 100.0 * (paths[..., 1] - floor), horizontal_speed(paths, motion.fps)
