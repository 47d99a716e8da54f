"""Figures of layers: how a trunk is carried (Heck figure 4.5), and what moves in time with the legs (4.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.plot.style import (
    MIDDLE,
    SERIES,
    SIDES,
    StrPath,
    new_figure,
    shown_name,
    styled,
    time_axes,
    told_length,
    write_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from marey.layer.correlation import Correlations, Trend

_PARTS = ("to the left, cm", "up, cm", "ahead, cm")
_LOOKS = {"in phase": "-", "counter-phase": (0, (5, 1.6)), "with each step": (0, (1.2, 1.4))}
_MOST_CURVES = 8


def neck(motions: Mapping[str, Motion], path: StrPath) -> None:
    """Write what `draw_neck` draws."""
    write_figure(draw_neck(motions), path)


@styled
def draw_neck(motions: Mapping[str, Motion]) -> Figure:
    """The neck as seen from the hips over time, of motions of one length by the names they go by in the legend."""
    from marey.layer.steadiness import neck_path

    if not motions:
        raise InvalidValue("expected at least one motion to draw, got none")
    figure = new_figure(5.2, layout="constrained")
    rows = figure.subplots(3, 1, sharex=True)
    longest = 0.0
    for k, (name, motion) in enumerate(motions.items()):
        at = 100.0 * neck_path(motion)
        times = np.arange(len(motion)) / motion.fps
        longest = max(longest, float(times[-1]))
        for axes, values in zip(rows, at.T, strict=True):
            axes.plot(times, values, color=SERIES[k % len(SERIES)], label=name, zorder=len(motions) - k)
    for axes, label in zip(rows, _PARTS, strict=True):
        axes.set_ylabel(label)
    rows[0].legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=len(motions), borderaxespad=0.0)
    time_axes(figure, list(rows), 0.0, longest)
    figure.suptitle("The neck, from the hips", x=0.01, ha="left", size=11)
    return figure


def correlation(found: Correlations, path: StrPath) -> None:
    """Write what `draw_correlation` draws."""
    write_figure(draw_correlation(found), path)


@styled
def draw_correlation(found: Correlations) -> Figure:
    """Trends of the hips and of the joints that move in time with them, global above and local below.

    Solid lines are in phase with the left hip, dashed ones in counter-phase, dotted ones go with each step; of each,
    the joints that turn most.
    """
    figure = new_figure(7.6, layout="constrained")
    rows = figure.subplots(3, 1, sharex=True, height_ratios=(0.6, 1.0, 1.0))
    times = np.arange(len(found.motion)) / found.motion.fps
    for trend, side in zip(found.hips, ("left", "right"), strict=True):
        rows[0].plot(times, np.degrees(trend.values), color=SIDES[side], lw=0.6, alpha=0.5)
        rows[0].plot(times, np.degrees(trend.curve), color=SIDES[side], lw=1.8, label=trend.joint)
    rows[0].set_title("Swing of the hips", size=10)
    for axes, kind in zip(rows[1:], ("global", "local"), strict=True):
        shown = _shown(found, kind)
        for k, trend in enumerate(shown):
            look = {"color": SERIES[k % len(SERIES)], "ls": _LOOKS[trend.relation]}
            axes.plot(times, np.degrees(trend.curve), label=f"{trend.joint} {trend.axis}, {trend.relation}", **look)
        what = "as the heading sees them" if kind == "global" else "as their parents see them"
        axes.set_title(f"{kind.capitalize()}: joints in time with the legs, {what}", size=10)
        if shown:
            low, high = np.degrees(np.quantile([trend.curve for trend in shown], [0.002, 0.998]))
            axes.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
        else:
            axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", color=MIDDLE)
    for axes in rows:
        axes.axhline(0.0, color=MIDDLE, lw=0.6, zorder=0)
        axes.set_ylabel("angle, °")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    time_axes(figure, list(rows), 0.0, float(times[-1]))
    name = f"{shown_name(found.motion)}: {told_length(found.motion)}"
    figure.suptitle(f"What moves in time with the legs in {name}", x=0.01, ha="left", size=11)
    return figure


def _shown(found: Correlations, kind: str) -> list[Trend]:
    """The strongest of each relation, no joint twice in one, and nothing that would lie on another's line."""
    out: list[Trend] = []
    for relation, most in (("in phase", 3), ("counter-phase", 3), ("with each step", 2)):
        seen: set[str] = set()
        for trend in found.named(relation, kind):
            same = any(float(np.abs(trend.curve - other.curve).max()) < 0.05 * trend.swing for other in out)
            if trend.joint not in seen and len(seen) < most and not same:
                seen.add(trend.joint)
                out.append(trend)
    return out[:_MOST_CURVES]
