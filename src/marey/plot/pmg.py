"""Parametric motion graphs: nodes and edges, what can follow each motion along an edge, how long clips last, and a
character's way seen from above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from marey.control.lengths import clip_lengths
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.placement import find_left_axis
from marey.errors import InvalidValue
from marey.plot.pmg_costs import COSTS, draw_histogram, mark_level
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
from marey.pmg import Compared, Edge, Node, ParametricMotionGraph, Transition
from marey.pmg.units import shown, told_values

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


# Inches of a node's disc and of the ring that nodes stand on, and points of the thinnest and thickest edge.
_DISC, _RING = 0.78, 2.2
_THIN, _THICK = 0.8, 4.5
# How far arrows bend, as a share of their length; where on them texts may stand, the best first; and the room that is
# enough between texts.
_BEND = 0.18
_ALONG = np.array([0.4, 0.5, 0.3, 0.6, 0.7, 0.2, 0.8])
_ROOM = 0.45


def graph(character: ParametricMotionGraph, path: StrPath) -> None:
    """Draw a character's nodes and edges, as PNG or SVG by the suffix; see `draw_graph`."""
    check_suffix(path)
    write_figure(draw_graph(character), path)


@styled
def draw_graph(character: ParametricMotionGraph) -> Figure:
    """Nodes as discs, with their parameters' ranges; edges as arrows.

    An arrow is the thicker the more of the target's ranges can follow, in the mean; it tells that share and T_BAD.
    """
    if not character.nodes:
        raise InvalidValue(f"{character.name!r} has no nodes yet; add a node first")
    names = list(character.nodes)
    n = len(names)
    ring = 0.0 if n == 1 else _RING * max(1.0, n / 5.0)
    angles = np.pi / 2 - 2.0 * np.pi * np.arange(n) / n
    places = {name: ring * np.array([np.cos(a), np.sin(a)]) for name, a in zip(names, angles, strict=True)}
    around = 1.76 * _DISC + 0.3
    low, high = (limit(list(places.values()), axis=0) for limit in (np.min, np.max))
    width, height = np.maximum(high - low + 2.0 * around + (0.8, 0.0), (6.4, 0.0)).tolist()
    figure = new_figure(height + 0.5, width=width)
    axes = figure.add_axes((0.0, 0.0, 1.0, height / (height + 0.5)))
    taken = list(places.values())
    for (source, target), each in character.edges.items():
        share = _box_share(each, character.node(target))
        told = f"{100 * share:.0f} %, {100 * each.bad:.0f} cm"
        taken.append(_draw_arrow(axes, places[source], places[target], share, told, taken))
    for name, at in places.items():
        _draw_node(axes, character.node(name), at)
    middle = 0.5 * (low + high)
    axes.set_xlim(middle[0] - 0.5 * width, middle[0] + 0.5 * width)
    axes.set_ylim(middle[1] - 0.5 * height, middle[1] + 0.5 * height)
    axes.axis("off")
    counted = f"{n} node{'s' * (n > 1)}, {len(character.edges)} edge{'s' * (len(character.edges) != 1)}"
    told = "arrows: mean share of the target's ranges that can follow, and the worst transition allowed"
    figure.text(0.15 / width, 1.0 - 0.28 / (height + 0.5), f"{character.name}: {counted}", fontsize=11, ha="left")
    figure.text(0.15 / width, 1.0 - 0.5 / (height + 0.5), told, fontsize=NOTE_SIZE, color=NOTE, ha="left")
    return figure


def _box_share(edge: Edge, target: Node) -> float:
    width = np.where(target.high > target.low, (edge.high - edge.low) / target.scale, 1.0)
    return float(np.prod(width, axis=1).mean())


def _draw_arrow(axes: Axes, start: Floats, end: Floats, share: float, told: str, taken: list[Floats]) -> Floats:
    """Draw an arrow; where its text stands, away from places that are taken."""
    from matplotlib.patches import FancyArrowPatch

    width = _THIN + (_THICK - _THIN) * share
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 9 + 2 * width,
        "lw": width,
        "color": shade(MIDDLE, 0.55),
    }
    apart = end - start
    away = float(np.hypot(*apart))
    if away == 0.0:
        out = start / np.hypot(*start) if np.hypot(*start) > 0.0 else np.array([0.0, 1.0])
        side = np.array([-out[1], out[0]])
        tips = [start + _DISC * (0.8 * out + sign * 0.6 * side) for sign in (1.0, -1.0)]
        axes.add_patch(FancyArrowPatch(_xy(tips[0]), _xy(tips[1]), connectionstyle="arc3,rad=-1.6", zorder=2, **style))
        label = start + (1.76 * _DISC + 0.1 + 0.3 * abs(out[0])) * out
    else:
        ahead = apart / away
        side = np.array([-ahead[1], ahead[0]])
        # Two edges between the same nodes bend away from one another.
        axes.add_patch(
            FancyArrowPatch(
                _xy(start + _DISC * ahead),
                _xy(end - _DISC * ahead),
                connectionstyle=f"arc3,rad={-_BEND}",
                zorder=2,
                **style,
            )
        )
        first, last = start + _DISC * ahead, end - _DISC * ahead
        bent = 0.5 * (first + last) + _BEND * (away - 2.0 * _DISC) * side
        t = _ALONG[:, None]
        spots = (1.0 - t) ** 2 * first + 2.0 * t * (1.0 - t) * bent + t**2 * last
        # Texts are wide and low: beside one another they need more room than above.
        gaps = np.hypot(*np.moveaxis((spots[:, None] - np.array(taken)) * (0.4, 1.6), -1, 0)).min(axis=1)
        label = spots[int(np.argmax(np.minimum(gaps, _ROOM)))]
    axes.text(label[0], label[1], told, fontsize=NOTE_SIZE, color=NOTE, ha="center", va="center", zorder=5,
              bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none"})  # fmt: skip
    return np.asarray(label)


def _xy(point: Floats) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _draw_node(axes: Axes, node: Node, at: Floats) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((at[0], at[1]), _DISC, fc=shade(LEFT, 0.2), ec=LEFT, lw=1.4, zorder=3))
    ranges = [_told_range(node, k) for k in range(node.n_dims)]
    axes.text(at[0], at[1] + 0.03, node.name, ha="center", va="bottom", fontsize=10.5, zorder=4)
    axes.text(at[0], at[1] - 0.03, "\n".join(ranges), ha="center", va="top", fontsize=NOTE_SIZE, color=NOTE, zorder=4)


def _told_range(node: Node, k: int) -> str:
    low, high = float(node.low[k]), float(node.high[k])
    unit, factor = shown(node.units[k])
    if unit != node.units[k]:
        return f"{node.names[k]} {factor * low:.0f} to {factor * high:.0f}{unit.replace('degrees', '°')}"
    return f"{node.names[k]} {low:.2g} to {high:.2g} {unit}".rstrip()


def lengths(character: ParametricMotionGraph, path: StrPath, *, n: int = 100) -> None:
    """Draw the table of clip lengths, as PNG or SVG by the suffix; see `draw_lengths`."""
    check_suffix(path)
    write_figure(draw_lengths(character, n=n), path)


@styled
def draw_lengths(character: ParametricMotionGraph, *, n: int = 100) -> Figure:
    """For each node how long its clips last, as numbers and as bars from the shortest to the longest.

    Parameters
    ----------
    n : motions that are made of each node to find out.
    """
    rows = clip_lengths(character, n=n)
    figure = new_figure(1.1 + 0.34 * len(rows))
    axes = figure.add_axes((0.46, 0.5 / figure.get_size_inches()[1], 0.52, 1.0 - 0.95 / figure.get_size_inches()[1]))
    columns = ((0.02, "node", "left"), (0.22, "mean", "right"), (0.28, "least", "right"), (0.34, "most", "right"),
               (0.42, "played", "right"))  # fmt: skip
    top = len(rows) - 0.35
    for y, row in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        axes.plot([row.least, row.most], [y, y], color=shade(LEFT, 0.45), lw=6.0, solid_capstyle="butt", zorder=2)
        axes.plot([row.mean], [y], "o", ms=5, color=LEFT, zorder=3)
        axes.plot([row.played], [y], "|", ms=11, mew=1.6, color=MIDDLE, zorder=4)
        told = (row.node, *(f"{value:.2f}" for value in row[1:4]), "" if np.isnan(row.played) else f"{row.played:.2f}")
        for (x, _, side), text in zip(columns, told, strict=True):
            axes.text(x, y, text, transform=_left_of(axes), ha=side, va="center", fontsize=9.5)
    for x, title, side in columns:
        axes.text(x, top, title, transform=_left_of(axes), ha=side, va="bottom", fontsize=NOTE_SIZE, color=NOTE)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlim(left=0.0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(True, axis="x")
    axes.set_xlabel("seconds; dot: mean, bar: least to most, stroke: what is played of it")
    return figure


def _left_of(axes: Axes) -> Any:
    """Figure's width across, the axes' own values upwards."""
    from matplotlib.transforms import blended_transform_factory

    return blended_transform_factory(axes.figure.transFigure, axes.transData)


def edge(compared: Compared, edge: Edge, source: Node, target: Node, path: StrPath) -> None:
    """Draw an edge's boxes and costs, as PNG or SVG by the suffix; see `draw_edge`."""
    check_suffix(path)
    write_figure(draw_edge(compared, edge, source, target), path)


@styled
def draw_edge(compared: Compared, edge: Edge, source: Node, target: Node) -> Figure:
    """For some motions of the source, the target's samples and the box that can be reached, and below all costs.

    Good samples are filled dots, bad ones crosses, those between rings (Heck figure 6.2). With one parameter the costs
    are drawn over it; with more, the first two span the panel. The histogram shows where the thresholds lie. Angles are
    in degrees.
    """
    if len(compared.source) != len(edge):
        raise InvalidValue(
            f"the edge was made of {len(edge)} source samples, the comparison has {len(compared.source)}"
        )
    order = np.argsort(compared.source[:, 0], kind="stable")
    shown = order[np.linspace(0, len(order) - 1, min(_MOST_BOXES, len(order))).round().astype(np.int64)]
    figure = new_figure(5.6)
    lines = 0.03 * (source.n_dims - 1)
    figure.subplots_adjust(left=0.07, right=0.985, top=0.9 - lines, bottom=0.09, hspace=0.42, wspace=0.22)
    grid = figure.add_gridspec(2, len(shown), height_ratios=(3.0, 1.7))
    for column, k in enumerate(shown):
        axes = figure.add_subplot(grid[0, column])
        _draw_box(axes, compared, edge, target, int(k), first=column == 0)
        told = told_values(source.names, source.units, compared.source[k]).replace(" degrees", "°").replace(", ", "\n")
        axes.set_title(f"from {told}", fontsize=9.0, color=NOTE)
    _draw_costs(figure.add_subplot(grid[1, :]), compared, edge)
    title = f"{edge.source} to {edge.target}: {compared.costs.shape[0]} x {compared.costs.shape[1]} samples"
    figure.text(0.07, 0.96, title, fontsize=11, ha="left")
    return figure


def _draw_box(axes: Axes, compared: Compared, edge: Edge, target: Node, k: int, first: bool) -> None:
    factors = np.array([shown(unit)[1] for unit in target.units])
    costs, samples = compared.costs[k], factors * compared.target
    flat = target.n_dims == 1
    y = 100.0 * costs if flat else samples[:, 1]
    low, high = factors * edge.low[k], factors * edge.high[k]
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
    axes.set_xlabel(_axis(target, 0))
    if first:
        axes.set_ylabel("best transition, cm" if flat else _axis(target, 1))


def _axis(node: Node, k: int) -> str:
    return f"{node.names[k]}, {shown(node.units[k])[0]}" if node.units[k] else node.names[k]


def _draw_costs(axes: Axes, compared: Compared, edge: Edge) -> None:
    draw_histogram(axes, compared)
    levels = ((edge.worst, "worst source's best", 0.99), (edge.good, "good", 0.87), (edge.bad, "bad", 0.75))
    for level, name, height in levels:
        mark_level(axes, level, name, MIDDLE, height=height)
    axes.set_xlabel(COSTS)
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
    left = find_left_axis(motion.skeleton, world)
    hips = world[roles["hips"]]
    ahead = hips + 0.22 * np.array([-left[2], 0.0, left[0]])
    axes.plot([hips[2], ahead[2]], [hips[0], ahead[0]], color=shade(MIDDLE, strength), lw=1.0, zorder=3)
