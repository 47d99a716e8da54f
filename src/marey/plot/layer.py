"""Plots of layers: posture of the trunk (Heck figure 4.5), and joints that move in time with the legs (4.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.layer.correlation import RELATIONS
from marey.plot import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from marey.layer.correlation import Correlations, Trend

_PARTS = ("to the left, cm", "up, cm", "ahead, cm")
_LOOKS = {
    "in phase": "-",
    "counter-phase": (0, (5, 1.6)),
    "with each step": (0, (1.2, 1.4)),
    "with each stride": (0, (6, 1, 1, 1)),
}
_MAX_CURVES = 8


@style.plot_function
def neck(motions: Mapping[str, Motion], path: style.StrPath | None = None) -> Figure:
    """Plot the position of the neck relative to the hips over time.

    Parameters
    ----------
    motions : motions with the same number of frames, by name; the names are used in the legend.
    """
    from marey.layer.steadiness import neck_path

    if not motions:
        raise InvalidValue("motions must contain at least one motion to draw")
    figure = style.new_figure(5.2, layout="constrained")
    rows = figure.subplots(3, 1, sharex=True)
    longest = 0.0
    for k, (name, motion) in enumerate(motions.items()):
        at = 100.0 * neck_path(motion)
        times = np.arange(len(motion)) / motion.fps
        longest = max(longest, float(times[-1]))
        for axes, values in zip(rows, at.T, strict=True):
            axes.plot(times, values, color=style.SERIES[k % len(style.SERIES)], label=name, zorder=len(motions) - k)
    for axes, label in zip(rows, _PARTS, strict=True):
        axes.set_ylabel(label)
    rows[0].legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=len(motions), borderaxespad=0.0)
    style.time_axes(figure, list(rows), 0.0, longest)
    figure.suptitle("The neck, from the hips", x=0.01, ha="left", size=11)
    return figure


draw_neck = neck


@style.plot_function
def correlation(found: Correlations, path: style.StrPath | None = None) -> Figure:
    """Plot the trends of the hips and of the joints that move in time with them, global above and local below.

    Solid lines are in phase with the left hip, dashed lines in antiphase, dotted lines have the rhythm of the steps; of
    each kind, the joints that rotate most are drawn.
    """
    figure = style.new_figure(7.6, layout="constrained")
    rows = figure.subplots(3, 1, sharex=True, height_ratios=(0.6, 1.0, 1.0))
    times = np.arange(len(found.motion)) / found.motion.fps
    for trend, side in zip(found.hips, ("left", "right"), strict=True):
        rows[0].plot(times, np.degrees(trend.values), color=style.SIDES[side], lw=0.6, alpha=0.5)
        rows[0].plot(times, np.degrees(trend.curve), color=style.SIDES[side], lw=1.8, label=trend.joint)
    rows[0].set_title("Swing of the hips", size=10)
    for axes, kind in zip(rows[1:], ("global", "local"), strict=True):
        shown = _select_trends(found, kind)
        for k, trend in enumerate(shown):
            look = {"color": style.SERIES[k % len(style.SERIES)], "ls": _LOOKS[trend.relation]}
            axes.plot(times, np.degrees(trend.curve), label=f"{trend.joint} {trend.axis}, {trend.relation}", **look)
        what = "relative to the heading" if kind == "global" else "relative to their parents"
        axes.set_title(f"{kind.capitalize()}: joints in time with the legs, {what}", size=10)
        if shown:
            low, high = np.degrees(np.quantile([trend.curve for trend in shown], [0.002, 0.998]))
            axes.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
        else:
            axes.text(0.5, 0.5, "none", transform=axes.transAxes, ha="center", color=style.MIDDLE)
    for axes in rows:
        axes.axhline(0.0, color=style.MIDDLE, lw=0.6, zorder=0)
        axes.set_ylabel("angle, °")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.time_axes(figure, list(rows), 0.0, float(times[-1]))
    name = f"{style.format_name(found.motion)}: {style.length_text(found.motion)}"
    figure.suptitle(f"Joints that move in time with the legs in {name}", x=0.01, ha="left", size=11)
    return figure


draw_correlation = correlation


def _select_trends(found: Correlations, kind: str) -> list[Trend]:
    """Select the strongest trends of each relation: one per joint, and without lines that coincide."""
    out: list[Trend] = []
    for relation, most in zip(RELATIONS, (3, 3, 2, 2), strict=True):
        seen: set[str] = set()
        for trend in found.select(relation, kind):
            same = any(float(np.abs(trend.curve - other.curve).max()) < 0.05 * trend.swing for other in out)
            if trend.joint not in seen and len(seen) < most and not same:
                seen.add(trend.joint)
                out.append(trend)
    return out[:_MAX_CURVES]
