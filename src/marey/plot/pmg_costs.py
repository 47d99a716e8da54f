"""What transitions cost, drawn so that a person can choose thresholds: of two nodes, or of a whole character."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marey.errors import InvalidValue
from marey.plot.style import (
    LEFT,
    MIDDLE,
    NOTE,
    NOTE_SIZE,
    RIGHT,
    StrPath,
    check_suffix,
    new_figure,
    shade,
    styled,
    write_figure,
)
from marey.pmg import Compared, ParametricMotionGraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COSTS = "best transition of a pair, cm"


def costs(
    compared: Compared, path: StrPath, *, title: str = "", good: float | None = None, bad: float | None = None
) -> None:
    """Draw the costs of compared samples, as PNG or SVG by the suffix; see `draw_costs`."""
    check_suffix(path)
    write_figure(draw_costs(compared, title=title, good=good, bad=bad), path)


@styled
def draw_costs(compared: Compared, *, title: str = "", good: float | None = None, bad: float | None = None) -> Figure:
    """Above, how many pairs of samples join at what cost; below, what a threshold would let through.

    The lower panel has two curves over the threshold: the share of all pairs that are within it, and the share of the
    source's motions that then have a way on. An edge needs all of these.

    Parameters
    ----------
    title : such as the names of the nodes.
    good, bad : meters, thresholds to mark.
    """
    values = 100.0 * np.asarray(compared.costs)
    best = np.sort(values.min(axis=1))
    figure = new_figure(5.4)
    figure.subplots_adjust(left=0.09, right=0.97, top=0.91, bottom=0.1, hspace=0.18)
    above, below = figure.subplots(2, 1, sharex=True)
    draw_histogram(above, compared)
    above.set_title(title or "best transitions of pairs")
    at = np.sort(values.ravel())
    share = np.arange(1, len(at) + 1) / len(at)
    below.plot(at, 100.0 * share, color=MIDDLE, label="pairs within it")
    below.plot([0.0, *best], [0.0, *(100.0 * np.arange(1, len(best) + 1) / len(best))], color=LEFT,
               drawstyle="steps-post", label="motions of the source with a way on")  # fmt: skip
    below.plot(best[-1], 100.0, "o", ms=5, color=LEFT)
    least = f"all from {best[-1]:.1f} cm on "
    below.annotate(least, (best[-1], 100.0), (6, -11), textcoords="offset points", fontsize=NOTE_SIZE, color=LEFT)
    below.set_ylabel("%")
    below.set_ylim(0.0, 108.0)
    below.set_xlim(0.0, max(float(at[-1]), float(best[-1])) * 1.02)
    below.set_xlabel(COSTS)
    below.grid(True)
    below.legend(loc="lower right")
    for axes in (above, below):
        for level, name, colour in ((good, "good", RIGHT), (bad, "bad", NOTE)):
            if level is not None:
                mark_level(axes, level, name, colour)
    return figure


def draw_histogram(axes: Axes, compared: Compared) -> None:
    """How many pairs of samples join at what cost, in centimeters."""
    axes.hist(100.0 * np.asarray(compared.costs).ravel(), bins=80, color=shade(MIDDLE, 0.4), lw=0.0)
    axes.set_ylabel("pairs")


def mark_level(axes: Axes, level: float, name: str, colour: str, *, height: float = 1.0) -> None:
    """A threshold in meters as a line, told at a share of the panel's height."""
    axes.axvline(100.0 * level, color=colour, lw=1.0, ls=(0, (4, 2)))
    at = 100.0 * level, height * axes.get_ylim()[1]
    axes.text(*at, f" {name} {100.0 * level:.1f}", fontsize=NOTE_SIZE, color=colour, ha="left", va="top")


def edges(character: ParametricMotionGraph, path: StrPath) -> None:
    """Draw the costs of all edges, as PNG or SVG by the suffix; see `draw_edges`."""
    check_suffix(path)
    write_figure(draw_edges(character), path)


@styled
def draw_edges(character: ParametricMotionGraph) -> Figure:
    """One row for each edge: where the costs of its samples lie, and its thresholds.

    The thin line runs from the best to the worst of all pairs, the thick one over their middle half; the dot is the
    best transition of the source's worst motion, the two strokes are T_GOOD and T_BAD.
    """
    if not character.edges:
        raise InvalidValue(f"{character.name!r} has no edges to draw; connect its nodes")
    n = len(character.edges)
    figure = new_figure(1.1 + 0.28 * n)
    height = float(figure.get_size_inches()[1])
    axes = figure.add_axes((0.24, 0.62 / height, 0.73, (height - 1.0) / height))
    for row, edge in enumerate(character.edges.values()):
        y = n - 1 - row
        q = 100.0 * edge.costs
        axes.plot([q[0], q[-1]], [y, y], color=shade(MIDDLE, 0.45), lw=1.0)
        axes.plot(
            [q[len(q) // 4], q[3 * len(q) // 4]], [y, y], color=shade(MIDDLE, 0.45), lw=5.0, solid_capstyle="butt"
        )
        axes.plot(100.0 * edge.worst, y, "o", ms=4.5, color=LEFT, zorder=4)
        for level, colour in ((edge.good, RIGHT), (edge.bad, NOTE)):
            axes.plot([100.0 * level] * 2, [y - 0.34, y + 0.34], color=colour, lw=1.6, zorder=5)
    axes.set_yticks(range(n), [f"{edge.source} to {edge.target}" for edge in character.edges.values()][::-1])
    axes.set_ylim(-0.6, n - 0.4)
    axes.set_xlim(left=0.0)
    axes.set_xlabel(COSTS)
    axes.grid(True, axis="x")
    axes.set_title(f"{character.name}: costs, worst motion's best (dot), good and bad (strokes)")
    return figure
