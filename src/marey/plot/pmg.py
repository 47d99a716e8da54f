"""Plots of parametric motion graphs: nodes and edges, the targets of an edge, clip durations, and a recorded stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.control.reach import clip_lengths
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.naming import display_unit
from marey.core.placement import find_left_axis
from marey.errors import InvalidValue
from marey.plot import style
from marey.plot.pmg_costs import COSTS, draw_histogram, mark_level
from marey.pmg import Edge, Node, NodeComparison, ParametricMotionGraph, Transition
from marey.pmg.units import format_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GOOD, _NEUTRAL, _BAD = style.LEFT, "#b9bec6", style.RIGHT
_MAX_BOXES = 4
# Lines of a character seen from above, from role to role.
_LINES = (
    ("left_upper_arm", "right_upper_arm"), ("left_upper_leg", "right_upper_leg"),
    ("left_upper_arm", "left_forearm"), ("left_forearm", "left_hand"),
    ("right_upper_arm", "right_forearm"), ("right_forearm", "right_hand"),
    ("left_upper_leg", "left_foot"), ("left_foot", "left_toe_tip"),
    ("right_upper_leg", "right_foot"), ("right_foot", "right_toe_tip"),
)  # fmt: skip


# Radii of a node's disk and of the ring on which nodes are arranged, in inches.
_RADIUS, _RING = 0.78, 2.2
# Widths of the thinnest and thickest edge, in points.
_THIN, _THICK = 0.8, 4.5
# How far arrows bend, as a fraction of their length; possible positions of a label along an arrow, the best first; and
# the minimum distance between labels.
_BEND = 0.18
_ALONG = np.array([0.4, 0.5, 0.3, 0.6, 0.7, 0.2, 0.8])
_ROOM = 0.45


@style.plot_function
def graph(character: ParametricMotionGraph, path: style.StrPath | None = None) -> Figure:
    """Plot the nodes as disks with their parameter ranges, and the edges as arrows.

    The thicker an arrow, the larger the fraction of the target's ranges that can follow on average; the label gives
    this fraction and T_BAD.
    """
    if not character.nodes:
        raise InvalidValue(f"{character.name!r} has no nodes yet; add a node first")
    names = list(character.nodes)
    n = len(names)
    ring = 0.0 if n == 1 else _RING * max(1.0, n / 5.0)
    angles = np.pi / 2 - 2.0 * np.pi * np.arange(n) / n
    places = {name: ring * np.array([np.cos(a), np.sin(a)]) for name, a in zip(names, angles, strict=True)}
    around = 1.76 * _RADIUS + 0.3
    low, high = (limit(list(places.values()), axis=0) for limit in (np.min, np.max))
    width, height = np.maximum(high - low + 2.0 * around + (1.7, 0.0), (6.4, 0.0)).tolist()
    figure = style.new_figure(height + 0.5, width=width)
    axes = figure.add_axes((0.0, 0.0, 1.0, height / (height + 0.5)))
    taken = list(places.values())
    for (source, target), each in character.edges.items():
        fraction = _box_fraction(each, character[target])
        text = f"{100 * fraction:.0f} %, {100 * each.bad:.0f} cm"
        taken.append(_draw_arrow(axes, places[source], places[target], fraction, text, taken))
    for name, at in places.items():
        _draw_node(axes, character[name], at)
    middle = 0.5 * (low + high)
    axes.set_xlim(middle[0] - 0.5 * width, middle[0] + 0.5 * width)
    axes.set_ylim(middle[1] - 0.5 * height, middle[1] + 0.5 * height)
    axes.axis("off")
    counted = f"{n} node{'s' * (n > 1)}, {len(character.edges)} edge{'s' * (len(character.edges) != 1)}"
    text = "arrows: mean fraction of the target's ranges that can follow, and the worst transition allowed"
    figure.text(0.15 / width, 1.0 - 0.28 / (height + 0.5), f"{character.name}: {counted}", fontsize=11, ha="left")
    figure.text(0.15 / width, 1.0 - 0.5 / (height + 0.5), text, fontsize=style.NOTE_SIZE, color=style.NOTE, ha="left")
    return figure


draw_graph = graph


def _box_fraction(edge: Edge, target: Node) -> float:
    width = np.where(target.high > target.low, (edge.high - edge.low) / target.scale, 1.0)
    return float(np.prod(width, axis=1).mean())


def _draw_arrow(axes: Axes, start: Floats, end: Floats, fraction: float, text: str, taken: list[Floats]) -> Floats:
    """Draw an arrow and return the position of its label, away from occupied positions."""
    from matplotlib.patches import FancyArrowPatch

    width = _THIN + (_THICK - _THIN) * fraction
    look: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 9 + 2 * width,
        "lw": width,
        "color": style.shade(style.MIDDLE, 0.55),
    }
    apart = end - start
    away = float(np.hypot(*apart))
    if away == 0.0:
        out = start / np.hypot(*start) if np.hypot(*start) > 0.0 else np.array([0.0, 1.0])
        side = np.array([-out[1], out[0]])
        tips = [start + _RADIUS * (0.8 * out + sign * 0.6 * side) for sign in (1.0, -1.0)]
        axes.add_patch(
            FancyArrowPatch(
                _split_point(tips[0]), _split_point(tips[1]), connectionstyle="arc3,rad=-1.6", zorder=2, **look
            )
        )
        label = start + (1.76 * _RADIUS + 0.1 + 0.3 * abs(out[0])) * out
    else:
        ahead = apart / away
        side = np.array([-ahead[1], ahead[0]])
        # Two edges between the same nodes bend away from one another.
        axes.add_patch(
            FancyArrowPatch(
                _split_point(start + _RADIUS * ahead),
                _split_point(end - _RADIUS * ahead),
                connectionstyle=f"arc3,rad={-_BEND}",
                zorder=2,
                **look,
            )
        )
        first, last = start + _RADIUS * ahead, end - _RADIUS * ahead
        bent = 0.5 * (first + last) + _BEND * (away - 2.0 * _RADIUS) * side
        t = _ALONG[:, None]
        spots = (1.0 - t) ** 2 * first + 2.0 * t * (1.0 - t) * bent + t**2 * last
        # Texts are wide and low: side by side they need more room than stacked.
        gaps = np.hypot(*np.moveaxis((spots[:, None] - np.array(taken)) * (0.4, 1.6), -1, 0)).min(axis=1)
        label = spots[int(np.argmax(np.minimum(gaps, _ROOM)))]
    axes.text(label[0], label[1], text, fontsize=style.NOTE_SIZE, color=style.NOTE, ha="center", va="center", zorder=5,
              bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"})  # fmt: skip
    return np.asarray(label)


def _split_point(point: Floats) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _draw_node(axes: Axes, node: Node, position: Floats) -> None:
    from matplotlib.patches import Circle

    x, y = position
    axes.add_patch(Circle((x, y), _RADIUS, fc=style.shade(style.LEFT, 0.2), ec=style.LEFT, lw=1.4, zorder=3))
    ranges = [_format_range(node, k) for k in range(node.n_dims)]
    axes.text(x, y + 0.03, node.name, ha="center", va="bottom", fontsize=10.5, zorder=4)
    axes.text(
        x,
        y - 0.03,
        "\n".join(ranges),
        ha="center",
        va="top",
        fontsize=style.NOTE_SIZE,
        color=style.NOTE,
        zorder=4,
    )


def _format_range(node: Node, k: int) -> str:
    low, high = float(node.low[k]), float(node.high[k])
    unit, factor = display_unit(node.units[k])
    if unit != node.units[k]:
        return f"{node.names[k]} {factor * low:.0f} to {factor * high:.0f}{unit.replace('degrees', '°')}"
    return f"{node.names[k]} {low:.2g} to {high:.2g} {unit}".rstrip()


@style.plot_function
def lengths(character: ParametricMotionGraph, path: style.StrPath | None = None, *, n: int = 100) -> Figure:
    """Plot the durations of the clips that each node generates: a bar from the shortest to the longest, and numbers.

    Parameters
    ----------
    n : number of clips to sample from each node.
    """
    rows = clip_lengths(character, n=n)
    figure = style.new_figure(1.1 + 0.34 * len(rows))
    axes = figure.add_axes((0.46, 0.5 / figure.get_size_inches()[1], 0.52, 1.0 - 0.95 / figure.get_size_inches()[1]))
    columns = ((0.02, "node", "left"), (0.22, "mean", "right"), (0.28, "min", "right"), (0.34, "max", "right"),
               (0.42, "played", "right"))  # fmt: skip
    top = len(rows) - 0.35
    for y, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        axes.plot(
            [row.min, row.max], [y, y], color=style.shade(style.LEFT, 0.45), lw=6.0, solid_capstyle="butt", zorder=2
        )
        axes.plot([row.mean], [y], "o", ms=5, color=style.LEFT, zorder=3)
        axes.plot([row.played], [y], "|", ms=11, mew=1.6, color=style.MIDDLE, zorder=4)
        texts = (
            row.node,
            *(f"{value:.2f}" for value in (row.mean, row.min, row.max)),
            "" if np.isnan(row.played) else f"{row.played:.2f}",
        )
        for (x, _, side), text in zip(columns, texts, strict=True):
            axes.text(x, y, text, transform=_margin_transform(axes), ha=side, va="center", fontsize=9.5)
    for x, title, side in columns:
        axes.text(
            x,
            top,
            title,
            transform=_margin_transform(axes),
            ha=side,
            va="bottom",
            fontsize=style.NOTE_SIZE,
            color=style.NOTE,
        )
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlim(left=0.0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(True, axis="x")
    axes.set_xlabel("seconds; dot: mean, bar: min to max, stroke: played part")
    return figure


draw_lengths = lengths


def _margin_transform(axes: Axes) -> Any:
    """Return a transform with figure coordinates horizontally and data coordinates vertically."""
    from matplotlib.transforms import blended_transform_factory

    return blended_transform_factory(axes.figure.transFigure, axes.transData)


@style.plot_function
def edge(
    comparison: NodeComparison, edge: Edge, source: Node, target: Node, path: style.StrPath | None = None
) -> Figure:
    """Plot one edge: for several source motions, the target samples and the box that can be reached; below, all costs.

    Good samples are filled dots, bad ones crosses, those in between rings (Heck figure 6.2). With one parameter the
    costs are plotted over it; with more, the first two are the axes of the panel. The histogram shows the thresholds.
    Angles are in degrees.
    """
    if len(comparison.source) != len(edge):
        raise InvalidValue(
            "comparison and edge must have the same source samples, but they have "
            f"{len(comparison.source)} and {len(edge)}; compare the nodes again with the edge's settings"
        )
    order = np.argsort(comparison.source[:, 0], kind="stable")
    shown = order[np.linspace(0, len(order) - 1, min(_MAX_BOXES, len(order))).round().astype(np.int64)]
    figure = style.new_figure(5.6)
    lines = 0.03 * (source.n_dims - 1)
    figure.subplots_adjust(left=0.07, right=0.985, top=0.9 - lines, bottom=0.09, hspace=0.42, wspace=0.22)
    grid = figure.add_gridspec(2, len(shown), height_ratios=(3.0, 1.7))
    for column, k in enumerate(shown):
        axes = figure.add_subplot(grid[0, column])
        _draw_box(axes, comparison, edge, target, int(k), first=column == 0)
        text = (
            format_values(source.names, source.units, comparison.source[k]).replace(" degrees", "°").replace(", ", "\n")
        )
        axes.set_title(f"from {text}", fontsize=9.0, color=style.NOTE)
    _draw_costs(figure.add_subplot(grid[1, :]), comparison, edge)
    title = f"{edge.source} to {edge.target}: {comparison.costs.shape[0]} x {comparison.costs.shape[1]} samples"
    figure.text(0.07, 0.96, title, fontsize=11, ha="left")
    return figure


draw_edge = edge


def _draw_box(axes: Axes, comparison: NodeComparison, edge: Edge, target: Node, k: int, first: bool) -> None:
    factors = np.array([display_unit(unit)[1] for unit in target.units])
    costs, samples = comparison.costs[k], factors * comparison.target
    flat = target.n_dims == 1
    y = 100.0 * costs if flat else samples[:, 1]
    low, high = factors * edge.low[k], factors * edge.high[k]
    if flat:
        axes.axvspan(low[0], high[0], color=style.shade(_GOOD, 0.18), lw=0.0, zorder=1)
        for level in (edge.good, edge.bad):
            axes.axhline(100.0 * level, color=style.NOTE, lw=0.7, ls=(0, (4, 2)), zorder=2)
    else:
        from matplotlib.patches import Rectangle

        width, height = (high - low)[:2]
        axes.add_patch(
            Rectangle((low[0], low[1]), width, height, fc=style.shade(_GOOD, 0.18), ec=_GOOD, lw=1.0, zorder=1)
        )
    good, bad = costs <= edge.good, costs > edge.bad
    rest = ~good & ~bad
    axes.plot(samples[rest, 0], y[rest], "o", ms=2.6, mfc="none", mec=_NEUTRAL, mew=0.7, zorder=3)
    axes.plot(samples[bad, 0], y[bad], "x", ms=3.0, color=_BAD, mew=0.7, zorder=3)
    axes.plot(samples[good, 0], y[good], "o", ms=2.6, color=_GOOD, zorder=4)
    axes.set_xlabel(_name_axis(target, 0))
    if first:
        axes.set_ylabel("best transition, cm" if flat else _name_axis(target, 1))


def _name_axis(node: Node, k: int) -> str:
    return f"{node.names[k]}, {display_unit(node.units[k])[0]}" if node.units[k] else node.names[k]


def _draw_costs(axes: Axes, comparison: NodeComparison, edge: Edge) -> None:
    draw_histogram(axes, comparison)
    levels = ((edge.worst, "worst source's best", 0.99), (edge.good, "good", 0.87), (edge.bad, "bad", 0.75))
    for level, name, height in levels:
        mark_level(axes, level, name, style.MIDDLE, height=height)
    axes.set_xlabel(COSTS)
    axes.set_xlim(left=0.0)


@style.plot_function
def stream(
    motion: Motion,
    path: style.StrPath | None = None,
    *,
    transitions: Sequence[Transition] = (),
    goals: ArrayLike | None = None,
    directions: ArrayLike | None = None,
    every: float = 0.5,
) -> Figure:
    """Plot the path of the hips from above, with ghosts of the character at regular intervals, paler the earlier.

    +Z points to the right and +X up.

    Parameters
    ----------
    transitions : transitions of the recorded stream, counted from its first frame; marked on the path.
    goals : (n, 2) x and z of requested points, in meters.
    directions : (n, 2) times in seconds and requested directions in radians; drawn as arrows.
    every : seconds between ghosts.
    """
    if not (np.isfinite(every) and every > 0.0):
        raise InvalidValue(f"`every` must be a finite time greater than 0 s, not {every!r}")
    figure = style.new_figure(6.2)
    axes = figure.add_axes((0.08, 0.09, 0.9, 0.84))
    travel = motion.travel
    axes.plot(travel[:, 2], travel[:, 0], color=style.FLOOR, lw=1.0, zorder=2)
    frames = np.arange(0, len(motion), max(1, round(every * motion.fps)))
    for k, frame in enumerate(frames):
        _draw_ghost(axes, motion, int(frame), 0.3 + 0.7 * (k + 1) / len(frames))
    changes = [each.frame for each in transitions if 0 <= each.frame < len(motion)]
    axes.plot(travel[changes, 2], travel[changes, 0], "o", ms=4, mfc="white", mec=style.MIDDLE, mew=0.9, zorder=5)
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


draw_stream = stream


def _draw_ghost(axes: Axes, motion: Motion, frame: int, strength: float) -> None:
    world: Floats = motion[frame : frame + 1].world().positions[0]
    roles = motion.skeleton.roles
    for a, b in _LINES:
        if a in roles and b in roles:
            ends = world[[roles[a], roles[b]]]
            side = (
                style.LEFT
                if a.startswith("left") and b.startswith("left")
                else style.RIGHT
                if b.startswith("right")
                else style.MIDDLE
            )
            color = style.MIDDLE if a[:4] != b[:4] else side
            axes.plot(ends[:, 2], ends[:, 0], color=style.shade(color, strength), lw=1.3, zorder=3)
    left = find_left_axis(motion.skeleton, world)
    hips = world[roles["hips"]]
    ahead = hips + 0.22 * np.array([-left[2], 0.0, left[0]])
    axes.plot([hips[2], ahead[2]], [hips[0], ahead[0]], color=style.shade(style.MIDDLE, strength), lw=1.0, zorder=3)
