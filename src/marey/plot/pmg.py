"""Parametric motion graphs: what can follow each motion along an edge, and a character's way seen from above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marey.core._arrays import Floats
from marey.core.motion import Motion
from marey.edit._figure import left_axis
from marey.errors import InvalidValue
from marey.plot.style import (
    FLOOR,
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
from marey.pmg import Compared, Edge, Node, Transition

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GOOD, _NEUTRAL, _BAD = LEFT, "#b9bec6", RIGHT
_MOST_BOXES = 4
# Parts of a figure that are drawn from above as lines: from role to role.
_LINES = (
    ("left_upper_arm", "right_upper_arm"), ("left_upper_leg", "right_upper_leg"),
    ("left_upper_arm", "left_forearm"), ("left_forearm", "left_hand"),
    ("right_upper_arm", "right_forearm"), ("right_forearm", "right_hand"),
    ("left_upper_leg", "left_foot"), ("left_foot", "left_toe_tip"),
    ("right_upper_leg", "right_foot"), ("right_foot", "right_toe_tip"),
)  # fmt: skip


def edge(compared: Compared, edge: Edge, target: Node, path: StrPath) -> None:
    """Draw an edge's boxes and costs, as PNG or SVG by the suffix; see `draw_edge`."""
    check_suffix(path)
    write_figure(draw_edge(compared, edge, target), path)


@styled
def draw_edge(compared: Compared, edge: Edge, target: Node) -> Figure:
    """For some motions of the source, the target's samples and the box that can be reached, and below all costs.

    Good samples are filled dots, bad ones crosses, those between rings (Heck figure 6.2). With one parameter the costs
    are drawn over it; with more, the first two span the panel. The histogram shows where the thresholds lie.
    """
    if len(compared.source) != len(edge):
        raise InvalidValue(
            f"the edge was made of {len(edge)} source samples, the comparison has {len(compared.source)}"
        )
    order = np.argsort(compared.source[:, 0], kind="stable")
    shown = order[np.linspace(0, len(order) - 1, min(_MOST_BOXES, len(order))).round().astype(np.int64)]
    figure = new_figure(5.6)
    figure.subplots_adjust(left=0.07, right=0.985, top=0.9, bottom=0.09, hspace=0.42, wspace=0.22)
    grid = figure.add_gridspec(2, len(shown), height_ratios=(3.0, 1.7))
    for column, k in enumerate(shown):
        axes = figure.add_subplot(grid[0, column])
        _draw_box(axes, compared, edge, target, int(k), first=column == 0)
    _draw_costs(figure.add_subplot(grid[1, :]), compared, edge)
    title = f"{edge.source} to {edge.target}: {compared.costs.shape[0]} x {compared.costs.shape[1]} samples"
    figure.text(0.07, 0.96, title, fontsize=11, ha="left")
    return figure


def _draw_box(axes: Axes, compared: Compared, edge: Edge, target: Node, k: int, first: bool) -> None:
    costs, samples = compared.costs[k], compared.target
    flat = target.n_dims == 1
    y = 100.0 * costs if flat else samples[:, 1]
    low, high = edge.low[k], edge.high[k]
    if flat:
        axes.axvspan(low[0], high[0], color=shade(_GOOD, 0.18), lw=0.0, zorder=1)
        for level in (edge.good, edge.bad):
            axes.axhline(100.0 * level, color=NOTE, lw=0.7, ls=(0, (4, 2)), zorder=2)
    else:
        from matplotlib.patches import Rectangle

        width, height = (high - low)[:2]
        axes.add_patch(Rectangle((low[0], low[1]), width, height, fc=shade(_GOOD, 0.18), ec=_GOOD, lw=1.0, zorder=1))
    good, bad = costs <= edge.good, costs > edge.bad
    rest = ~good & ~bad
    axes.plot(samples[rest, 0], y[rest], "o", ms=2.6, mfc="none", mec=_NEUTRAL, mew=0.7, zorder=3)
    axes.plot(samples[bad, 0], y[bad], "x", ms=3.0, color=_BAD, mew=0.7, zorder=3)
    axes.plot(samples[good, 0], y[good], "o", ms=2.6, color=_GOOD, zorder=4)
    told = ", ".join(f"{value:.2f}" for value in compared.source[k])
    axes.set_title(f"from {told}", fontsize=9.0, color=NOTE)
    axes.set_xlabel(_axis(target, 0))
    if first:
        axes.set_ylabel("best transition, cm" if flat else _axis(target, 1))


def _axis(node: Node, k: int) -> str:
    return f"{node.names[k]}, {node.units[k]}" if node.units[k] else node.names[k]


def _draw_costs(axes: Axes, compared: Compared, edge: Edge) -> None:
    axes.hist(100.0 * compared.costs.ravel(), bins=80, color=shade(MIDDLE, 0.45), lw=0.0)
    top = axes.get_ylim()[1]
    for level, name, height in (
        (edge.worst, "worst source's best", 0.99),
        (edge.good, "good", 0.87),
        (edge.bad, "bad", 0.75),
    ):
        axes.axvline(100.0 * level, color=MIDDLE, lw=1.0)
        told = f" {name} {100.0 * level:.1f}"
        axes.text(100.0 * level, height * top, told, fontsize=NOTE_SIZE, ha="left", va="top", color=MIDDLE)
    axes.set_xlabel("best transition of a pair, cm")
    axes.set_ylabel("pairs")
    axes.set_xlim(left=0.0)


def stream(
    motion: Motion,
    path: StrPath,
    *,
    transitions: Sequence[Transition] = (),
    goals: ArrayLike | None = None,
    directions: ArrayLike | None = None,
    every: float = 0.5,
) -> None:
    """Draw a character's way from above, as PNG or SVG by the suffix; see `draw_stream`."""
    check_suffix(path)
    figure = draw_stream(motion, transitions=transitions, goals=goals, directions=directions, every=every)
    write_figure(figure, path)


@styled
def draw_stream(
    motion: Motion,
    *,
    transitions: Sequence[Transition] = (),
    goals: ArrayLike | None = None,
    directions: ArrayLike | None = None,
    every: float = 0.5,
) -> Figure:
    """The way of the hips, with the figure as a ghost from time to time, paler the earlier.

    +Z points to the right and +X upwards, as seen from above.

    Parameters
    ----------
    transitions : of the stream that the motion was recorded from, from its first frame on; marked on the way.
    goals : (n, 2) x and z of points that were asked for.
    directions : (n, 2) seconds and radians: directions that were asked for, and when; drawn as arrows.
    every : seconds between ghosts.
    """
    if not (np.isfinite(every) and every > 0.0):
        raise InvalidValue(f"ghosts need some time between them, got every={every!r}")
    figure = new_figure(6.2)
    axes = figure.add_axes((0.08, 0.09, 0.9, 0.84))
    travel = motion.travel
    axes.plot(travel[:, 2], travel[:, 0], color=FLOOR, lw=1.0, zorder=2)
    frames = np.arange(0, len(motion), max(1, round(every * motion.fps)))
    for k, frame in enumerate(frames):
        _draw_ghost(axes, motion, int(frame), 0.3 + 0.7 * (k + 1) / len(frames))
    changes = [each.frame for each in transitions if 0 <= each.frame < len(motion)]
    axes.plot(travel[changes, 2], travel[changes, 0], "o", ms=4, mfc="white", mec=MIDDLE, mew=0.9, zorder=5)
    for x, z in np.asarray(np.zeros((0, 2)) if goals is None else goals, dtype=np.float64).reshape(-1, 2):
        axes.plot(z, x, "s", ms=8, mfc="none", mec="#c8102e", mew=1.6, zorder=6)
    for seconds, angle in np.asarray(np.zeros((0, 2)) if directions is None else directions).reshape(-1, 2):
        at = travel[min(round(float(seconds) * motion.fps), len(motion) - 1)]
        tip = at + np.array([np.sin(angle), 0.0, np.cos(angle)])
        axes.annotate(
            "", (tip[2], tip[0]), (at[2], at[0]), arrowprops={"arrowstyle": "-|>", "color": "#c8102e", "lw": 1.4}
        )
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("z, m")
    axes.set_ylabel("x, m")
    axes.grid(True)
    axes.set_title(f"{motion.name or 'stream'}, {motion.duration:.1f} s, {len(changes)} changes of clip")
    return figure


def _draw_ghost(axes: Axes, motion: Motion, frame: int, strength: float) -> None:
    world: Floats = motion[frame : frame + 1].world().positions[0]
    roles = motion.skeleton.roles
    for a, b in _LINES:
        if a in roles and b in roles:
            ends = world[[roles[a], roles[b]]]
            side = LEFT if a.startswith("left") and b.startswith("left") else RIGHT if b.startswith("right") else MIDDLE
            colour = MIDDLE if a[:4] != b[:4] else side
            axes.plot(ends[:, 2], ends[:, 0], color=shade(colour, strength), lw=1.3, zorder=3)
    left = left_axis(motion.skeleton, world)
    hips = world[roles["hips"]]
    ahead = hips + 0.22 * np.array([-left[2], 0.0, left[0]])
    axes.plot([hips[2], ahead[2]], [hips[0], ahead[0]], color=shade(MIDDLE, strength), lw=1.0, zorder=3)
