"""Plots of transition costs of two nodes or of a whole character, to choose thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.errors import InvalidValue
from marey.plot import style
from marey.pmg import NodeComparison, ParametricMotionGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COSTS = "best transition of a pair, cm"
# White background that keeps a label readable on lines and bars.
_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}


@style.plot_function
def costs(
    comparison: NodeComparison,
    path: style.StrPath | None = None,
    *,
    title: str = "",
    good: float | None = None,
    bad: float | None = None,
) -> Figure:
    """Plot a histogram of the costs of all pairs of samples, and below it what a threshold would accept.

    The lower panel has two curves over the threshold: the fraction of all pairs within it, and the fraction of the
    source's motions that then have a transition. An edge needs all of these.

    Parameters
    ----------
    title : for example the names of the nodes.
    good, bad : thresholds to mark, in meters.
    """
    values = 100.0 * np.asarray(comparison.costs)
    best = np.sort(values.min(axis=1))
    figure = style.new_figure(5.4)
    figure.subplots_adjust(left=0.09, right=0.97, top=0.91, bottom=0.1, hspace=0.18)
    above, below = figure.subplots(2, 1, sharex=True)
    draw_histogram(above, comparison)
    above.set_title(title or "best transitions of pairs")
    at = np.sort(values.ravel())
    fraction = np.arange(1, len(at) + 1) / len(at)
    below.plot(at, 100.0 * fraction, color=style.MIDDLE, label="pairs within the threshold")
    below.plot([0.0, *best], [0.0, *(100.0 * np.arange(1, len(best) + 1) / len(best))], color=style.LEFT,
               drawstyle="steps-post", label="source motions with a transition")  # fmt: skip
    below.plot(best[-1], 100.0, "o", ms=5, color=style.LEFT)
    least = f"all from {best[-1]:.1f} cm on"
    below.annotate(
        least, (best[-1], 100.0), (6, -14), textcoords="offset points", fontsize=style.NOTE_SIZE, color=style.LEFT,
        bbox=_BOX, zorder=5,
    )  # fmt: skip
    below.set_ylabel("%")
    below.set_ylim(0.0, 108.0)
    below.set_xlim(0.0, max(float(at[-1]), float(best[-1])) * 1.02)
    below.set_xlabel(COSTS)
    below.grid(True)
    below.legend(loc="lower right", frameon=True, framealpha=1.0, edgecolor="white")
    for level, name, color in ((good, "good", style.RIGHT), (bad, "bad", style.NOTE)):
        if level is not None:
            mark_level(above, level, name, color, left=name == "good")
            mark_level(below, level, "", color)
    return figure


draw_costs = costs


def draw_histogram(axes: Axes, comparison: NodeComparison) -> None:
    """Draw a histogram of the costs of all pairs of samples, in centimeters."""
    axes.hist(100.0 * np.asarray(comparison.costs).ravel(), bins=80, color=style.shade(style.MIDDLE, 0.4), lw=0.0)
    axes.set_ylabel("pairs")


def mark_level(axes: Axes, level: float, name: str, color: str, *, height: float = 1.0, left: bool = False) -> None:
    """Draw a threshold in meters as a line, with its name, unless empty, at a fraction of the panel's height.

    left : write the name to the left of the line, so that the names of two close thresholds do not overlap.
    """
    axes.axvline(100.0 * level, color=color, lw=1.0, ls=(0, (4, 2)))
    if name:
        axes.annotate(
            f"{name} {100.0 * level:.1f}", (100.0 * level, height * axes.get_ylim()[1]), (-4 if left else 4, 0),
            textcoords="offset points", fontsize=style.NOTE_SIZE, color=color, ha="right" if left else "left",
            va="top", bbox=_BOX,
        )  # fmt: skip


@style.plot_function
def edges(character: ParametricMotionGraph, path: style.StrPath | None = None) -> Figure:
    """Plot one row for each edge: the range of its costs, and its thresholds.

    The thin line runs from the best to the worst of all pairs, the thick line over the middle half; the dot is the best
    transition of the worst source motion, the two strokes are T_GOOD and T_BAD.
    """
    if not character.edges:
        raise InvalidValue(f"{character.name!r} has no edges to draw; connect its nodes")
    n = len(character.edges)
    figure = style.new_figure(1.1 + 0.28 * n)
    height = float(figure.get_size_inches()[1])
    axes = figure.add_axes((0.24, 0.62 / height, 0.73, (height - 1.0) / height))
    for row, edge in enumerate(character.edges.values()):
        y = n - 1 - row
        q = 100.0 * edge.costs
        axes.plot([q[0], q[-1]], [y, y], color=style.shade(style.MIDDLE, 0.45), lw=1.0)
        axes.plot(
            [q[len(q) // 4], q[3 * len(q) // 4]],
            [y, y],
            color=style.shade(style.MIDDLE, 0.45),
            lw=5.0,
            solid_capstyle="butt",
        )
        axes.plot(100.0 * edge.worst, y, "o", ms=4.5, color=style.LEFT, zorder=4)
        for level, color in ((edge.good, style.RIGHT), (edge.bad, style.NOTE)):
            axes.plot([100.0 * level] * 2, [y - 0.34, y + 0.34], color=color, lw=1.6, zorder=5)
    axes.set_yticks(range(n), [f"{edge.source} to {edge.target}" for edge in character.edges.values()][::-1])
    axes.set_ylim(-0.6, n - 0.4)
    axes.set_xlim(left=0.0)
    axes.set_xlabel(COSTS)
    axes.grid(True, axis="x")
    axes.set_title(f"{character.name}: costs, worst motion's best (dot), good and bad (strokes)")
    return figure


draw_edges = edges
