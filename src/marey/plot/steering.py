"""Plots that compare steered characters: a table of metrics, bobbing at hubs, and punches with their targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marey.control.evaluate import StreamMetrics
from marey.control.evaluate_gait import lean
from marey.core.arrays import freeze_array
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS: tuple[tuple[str, str, Callable[[StreamMetrics], float], str, bool], ...] = (
    ("90° turn", "s, median", lambda each: each.response, "{:.2f}", True),
    ("off path", "m", lambda each: each.path_error, "{:.2f}", True),
    ("feet slide", "cm/s", lambda each: 100.0 * each.skate, "{:.1f}", False),
    ("jerk", "m/s³", lambda each: 100.0 * each.jerk, "{:.0f}", False),
    ("hips bob", "mm", lambda each: 1000.0 * each.bob, "{:.0f}", False),
    ("feet lift", "mm", lambda each: 1000.0 * each.lift, "{:.0f}", False),
    ("trunk sway", "degrees", lambda each: float(np.degrees(each.sway)), "{:.1f}", False),
    ("memory", "MB", lambda each: each.memory / 1e6, "{:.1f}", True),
    ("frames", "1000/s", lambda each: each.frames_per_second / 1e3, "{:.1f}", True),
)
"""Heading, unit, value, format, and whether it is for streams only."""

# Default distance in meters within which a punch is a hit.
_HIT = 0.05


@style.plot_function
def table(
    metrics: Mapping[str, StreamMetrics], path: style.StrPath | None = None, *, clips: StreamMetrics | None = None
) -> Figure:
    """Plot a table of metrics: one row per stream, with a bar in each cell from 0 to the column's maximum.

    Parameters
    ----------
    metrics : metrics of each stream by name.
    clips : metrics of the clips that all streams are made of; adds a first row, and a line in each column.
    """
    if not metrics:
        raise InvalidValue("expected the metrics of at least one stream, got none")
    rows = {**({} if clips is None else {"the clips": clips}), **metrics}
    n = len(rows)
    figure = style.new_figure(0.72 + 0.36 * n)
    height = figure.get_size_inches()[1]
    first, wide = 0.2, 0.79 / len(_COLUMNS)
    bottom, high = 0.12 / height, 0.36 * n / height
    for c, (title, unit, value, form, live) in enumerate(_COLUMNS):
        axes = figure.add_axes((first + c * wide, bottom, 0.9 * wide, high))
        values = [value(each) for each in rows.values()]
        most = max((each for each in values if np.isfinite(each)), default=1.0)
        _draw_column(axes, values, most, form)
        if clips is not None and not live and np.isfinite(values[0]):
            axes.axvline(values[0], color=style.NOTE, lw=0.8, ls=(0, (3, 2)), zorder=3)
        left = first + c * wide
        figure.text(left, bottom + high + 0.26 / height, title, fontsize=9.5, ha="left", va="bottom")
        figure.text(
            left,
            bottom + high + 0.08 / height,
            unit,
            fontsize=style.NOTE_SIZE,
            color=style.NOTE,
            ha="left",
            va="bottom",
        )
    for k, name in enumerate(rows):
        y = bottom + high * (1.0 - (k + 0.5) / n)
        figure.text(0.012, y, name, fontsize=9.5, ha="left", va="center")
    return figure


draw_table = table


def _draw_column(axes: Axes, values: Sequence[float], most: float, form: str) -> None:
    n = len(values)
    for k, value in enumerate(values):
        if np.isfinite(value):
            axes.barh(
                n - 1 - k,
                value,
                height=0.62,
                color=style.shade(style.LEFT if k else style.MIDDLE, 0.3),
                lw=0.0,
                zorder=2,
            )
            axes.text(0.03 * most, n - 1 - k, form.format(value), fontsize=9.0, ha="left", va="center", zorder=4)
    axes.set_xlim(0.0, max(most, 1e-9))
    axes.set_ylim(-0.5, n - 0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


@style.plot_function
def bobbing(
    motions: Mapping[str, Motion],
    path: style.StrPath | None = None,
    *,
    hubs: Mapping[str, ArrayLike] | None = None,
    seconds: float = 6.0,
) -> Figure:
    """Plot the lean of the trunk and the height of the hips, for motions along the same curve (Heck figure 6.17).

    Parameters
    ----------
    motions : motions by name.
    hubs : for each name, the frames in which the motion passes a hub of a fat graph, a pose in which many clips begin
        and end; drawn as rings.
    seconds : time to show, from the first frame.
    """
    if not motions:
        raise InvalidValue("motions must contain at least one motion to draw")
    if not (np.isfinite(seconds) and seconds > 0.0):
        raise InvalidValue(f"seconds must be finite and greater than 0, not {seconds!r}")
    figure = style.new_figure(4.2)
    figure.subplots_adjust(left=0.08, right=0.985, top=0.88, bottom=0.12, hspace=0.16)
    panels = [figure.add_subplot(2, 1, k + 1) for k in range(2)]
    for k, (name, motion) in enumerate(motions.items()):
        n = min(len(motion), round(seconds * motion.fps) + 1)
        times = np.arange(n) / motion.fps
        hips = motion.travel[:n, 1]
        rings = np.asarray((hubs or {}).get(name, []), dtype=np.int64)
        rings = rings[(rings >= 0) & (rings < n)]
        for panel, values in zip(panels, (np.degrees(lean(motion[:n])), 100.0 * hips), strict=True):
            look = style.series_look(k)
            panel.plot(times, values, label=name, lw=1.5, **look)
            panel.plot(times[rings], values[rings], "o", ms=5.5, mfc="white", mec=look["color"], mew=1.3, zorder=4)
    panels[0].set_ylabel("trunk leans to\nthe left, degrees")
    panels[1].set_ylabel("hips above\nthe floor, cm")
    panels[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(motions), borderaxespad=0.1)
    style.time_axes(figure, panels, 0.0, seconds)
    return figure


draw_bobbing = bobbing


@style.plot_function
def punches(
    targets: ArrayLike,
    hands: ArrayLike,
    path: style.StrPath | None = None,
    *,
    reachable: ArrayLike | None = None,
    within: float = _HIT,
) -> Figure:
    """Plot hit and missed targets from the front and from above; a line joins each miss to the hand's nearest position.

    Parameters
    ----------
    targets, hands : (n, 3) meters relative to the character: x to its left, y up, z ahead.
    reachable : (n,) whether a target was within reach; those out of reach are drawn as squares. Default: all.
    within : distance in meters that counts as a hit.
    """
    wanted = freeze_array(targets, "targets", (None, 3))
    came = freeze_array(hands, "hands", (len(wanted), 3))
    inside = np.ones(len(wanted), dtype=bool) if reachable is None else np.asarray(reachable, dtype=bool)
    if inside.shape != (len(wanted),) or not len(wanted):
        raise InvalidValue(
            f"reachable must have one flag for each of {len(wanted)} targets (at least one), not shape {inside.shape}"
        )
    if not (np.isfinite(within) and within > 0.0):
        raise InvalidValue(f"`within` must be a finite distance in meters, greater than 0, not {within!r}")
    off = np.linalg.norm(came - wanted, axis=1)
    figure = style.new_figure(5.0)
    figure.subplots_adjust(left=0.07, right=0.985, top=0.86, bottom=0.11, wspace=0.2)
    views = (
        ((0, 1), ("x, m (left of the character)", "y, m")),
        ((0, 2), ("x, m (left of the character)", "z, m (ahead)")),
    )
    for k, (axis, labels) in enumerate(views):
        axes = figure.add_subplot(1, 2, k + 1)
        for hit, color in ((True, style.LEFT), (False, style.RIGHT)):
            for near, mark in ((True, "o"), (False, "s")):
                chosen = ((off <= within) == hit) & (inside == near)
                lines = np.stack([wanted[chosen], came[chosen]])[..., list(axis)]
                axes.plot(lines[..., 0], lines[..., 1], color=style.shade(color, 0.6), lw=0.9, zorder=2)
                axes.plot(*wanted[chosen][:, list(axis)].T, mark, ms=5, mfc=color if hit else "white", mec=color,
                          mew=1.2, ls="none", zorder=3)  # fmt: skip
        axes.plot(*came[:, list(axis)].T, "x", ms=3.5, mew=0.8, color=style.FLOOR, ls="none", zorder=4)
        axes.set_aspect("equal", adjustable="datalim")
        axes.invert_xaxis()
        axes.set_xlabel(labels[0])
        axes.set_ylabel(labels[1])
        axes.grid(True)
    figure.text(0.07, 0.945, _format_hits(off, inside, within), fontsize=11, ha="left")
    text = "filled: hit, empty: missed, square: out of reach, cross: nearest position of the hand"
    figure.text(0.07, 0.895, text, fontsize=style.NOTE_SIZE, color=style.NOTE, ha="left")
    return figure


draw_punches = punches


def _format_hits(off: np.ndarray, inside: np.ndarray, within: float) -> str:
    hit = off <= within
    text = (
        f"{int((hit & inside).sum())} of {int(inside.sum())} targets within reach hit to within {100 * within:.0f} cm"
    )
    if not inside.all():
        text += f"; {int((~inside).sum())} out of reach"
    return text
