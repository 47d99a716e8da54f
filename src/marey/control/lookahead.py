"""Lookahead tables of a graph: fast estimates of the next clips, for controllers that plan ahead."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from marey.control.joins import Join, fit_join
from marey.control.lookahead_kernels import (
    ClipCosts,
    ClipStarts,
    PathGoal,
    PathTable,
    find_corners,
    lay_paths,
    read_rows,
    weigh_clips,
)
from marey.core.arrays import Floats, Ints, set_readonly
from marey.pmg import ControlState, Edge, Node, ParametricMotionGraph, TransitionOption

__all__ = [
    "LookaheadTable",
    "NextClips",
    "NodeTable",
    "get_lookahead_table",
    "grid_fractions",
    "sample_box",
    "tightest_radii",
]

# Grid values per parameter, by the number of parameters.
_VALUES = {1: 65, 2: 15, 3: 7}
_MIN_VALUES = 3
# Points on a clip's path between two transitions.
N_POINTS = 9
# Meters: a clip with a shorter path counts as on the spot and is ignored for turning radii.
_ON_THE_SPOT = 0.3
# Radians: a clip that turns less counts as straight.
_STRAIGHT = 0.02


class NextClips(NamedTuple):
    """N possible next clips of one node.

    places : (N, 3) rigid2d of the character when the next transition begins. parameters : (N, d), d per clip.
    paths : (N, N_POINTS, 3) rigid2d from the last transition to the next.
    parent : (N,) index of the clip that each one follows.
    """

    node: str
    places: Floats
    parameters: Floats
    paths: Floats
    parent: Ints


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """Table of a node at the G points of a parameter grid: its paths, when it is left, and what each edge can lead to.

    axes : (d, 3) first value, step and number of values of each of d parameters; the last parameter varies fastest.
    paths : (G, P, 3) rigid2d of the character at P moments of each clip.
    leave : (G,) moments from 0 to 1 at which clips are left, means over the edges.
    boxes : by target node, (G, 2 e + 1): lower and upper bounds of its e parameters, and the moment to enter.
    longest : length of the longest path in meters.
    """

    axes: Floats
    paths: Floats
    leave: Floats
    boxes: dict[str, Floats]
    longest: float = 0.0

    @property
    def arrays(self) -> PathTable:
        """The arrays as the kernels take them."""
        return PathTable(self.axes, self.paths, self.leave)

    @property
    def grid(self) -> Floats:
        """(G, d) parameters at the grid points."""
        values = [first + step * np.arange(int(n)) for first, step, n in self.axes]
        return np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, len(self.axes))


class LookaheadTable:
    """Estimates of which clips of a graph can follow a clip with given parameters, and where they lead.

    The tables of each node and edge are computed on first use.
    """

    def __init__(self, graph: ParametricMotionGraph) -> None:
        self.graph = graph
        self._tables: dict[str, NodeTable] = {}
        self._joins: dict[tuple[str, str], Join] = {}

    def prepare(self) -> None:
        """Compute all tables now, so no later choice has to wait for them."""
        for name in self.graph.nodes:
            for target in self.table(name).boxes:
                self.join(name, target)

    def first(self, state: ControlState, option: TransitionOption, unit: Floats) -> NextClips:
        """Return the clips of an option with parameters at fractions `unit` (K, d) of its box."""
        box = option.range
        parameters = box.region.project(box.low + unit * (box.high - box.low))
        here = self.begun(state, option, parameters)
        paths = self.lay_paths(option.node.name, parameters, here, np.full(len(unit), box.enter))
        return NextClips(option.node.name, paths[:, -1], parameters, paths, np.arange(len(unit)))

    def after(self, node: str, places: Floats, parameters: Floats) -> list[NextClips]:
        """Return the clips that can follow clips of a node, which have parameters (N, d) and end at places (N, 3)."""
        out = []
        for target in self.table(node).boxes:
            unit = sample_box(self.graph[target], fine=False)
            chosen, enter, parent = self.choices(node, target, parameters, unit)
            here = self.join(node, target).entered(parameters[parent], chosen, places[parent])
            paths = self.lay_paths(target, chosen, here, enter)
            out.append(NextClips(target, paths[:, -1], chosen, paths, parent))
        return out

    def begun(self, state: ControlState, option: TransitionOption, parameters: Floats) -> Floats:
        """Return the rigid2d (N, 3) at which clips of an option with parameters (N, d) begin."""
        here = np.tile(option.place, (len(parameters), 1))
        if option.range.leave <= 0.0:  # the first clip of a stream has no predecessor
            return here
        before = np.tile(state.parameters, (len(parameters), 1))
        return self.join(state.node, option.node.name).entered(before, parameters, here)

    def join(self, source: str, target: str) -> Join:
        """Return the `Join` that predicts how clips of `target` are placed after clips of `source`."""
        if (source, target) not in self._joins:
            self._joins[source, target] = fit_join(self.graph, source, target)
        return self._joins[source, target]

    def boxes(self, node: str, target: str, parameters: Floats) -> Floats:
        """Interpolate `NodeTable.boxes` (N, 2 e + 1) of a target for clips with parameters (N, d)."""
        table = self.table(node)
        rows = table.boxes[target]
        out = np.empty((len(parameters), rows.shape[1]))
        read_rows(table.axes, rows, np.ascontiguousarray(parameters), out)
        return out

    def choices(self, node: str, target: str, parameters: Floats, unit: Floats) -> tuple[Floats, Floats, Ints]:
        """List clips of `target` that can follow clips with parameters (N, d), at fractions `unit` (K, e) of each box.

        Returns
        -------
        (N K, e) parameters; (N K,) moments at which the clips begin; (N K,) index of the clip that each one follows.
        """
        k, e = unit.shape
        found = self.boxes(node, target, parameters)
        low, high = found[:, :e], found[:, e : 2 * e]
        chosen = (low[:, None] + unit * (high - low)[:, None]).reshape(-1, e)
        parent = np.repeat(np.arange(len(found)), k)
        return chosen, found[parent, -1], parent

    def corners(self, node: str, parameters: Floats) -> tuple[Ints, Floats]:
        """Return the rows (N, 2^d) of a node's table around parameters (N, d), and their interpolation weights."""
        table = self.table(node)
        shape = (len(parameters), 2 ** len(table.axes))
        index, weights = np.empty(shape, dtype=np.int64), np.empty(shape)
        find_corners(table.axes, np.ascontiguousarray(parameters), index, weights)
        return index, weights

    def lay_paths(self, node: str, parameters: Floats, here: Floats, enter: Floats) -> Floats:
        """Return the paths (N, N_POINTS, 3) rigid2d of a node's clips.

        parameters : (N, d) of the clips. here : (N, 3) rigid2d of the character where they begin. enter : (N,) moments
        from 0 to 1 at which they begin.
        """
        out = np.empty((len(parameters), N_POINTS, 3))
        clips = ClipStarts(np.ascontiguousarray(parameters), enter, np.ascontiguousarray(here))
        lay_paths(self.table(node).arrays, clips, out)
        return out

    def weigh(self, node: str, clips: ClipStarts, goal: PathGoal) -> ClipCosts:
        """Compute the costs of a node's clips toward a goal."""
        table, n = self.table(node), len(clips.parameters)
        out = ClipCosts(np.empty((n, 3)), np.empty(n), np.empty(n), np.empty(n))
        weigh_clips(table.arrays, clips, goal, table.longest + goal.limits[0], N_POINTS, out)
        return out

    def table(self, name: str) -> NodeTable:
        """Return the table of a node."""
        if name not in self._tables:
            self._tables[name] = self._build_table(name)
        return self._tables[name]

    def _build_table(self, name: str) -> NodeTable:
        node = self.graph[name]
        n = _VALUES.get(node.n_dims, _MIN_VALUES)
        width = node.high - node.low
        # A parameter with a zero-width range has one value; its step only has to be nonzero.
        counts = np.where(width > 0.0, n, 1)
        steps = np.where(width > 0.0, width / np.maximum(counts - 1, 1), 1.0)
        table = NodeTable(np.stack([node.low, steps, counts.astype(np.float64)], axis=1), np.empty(0), np.empty(0), {})
        grid = table.grid
        leave = np.zeros(len(grid))
        boxes = {}
        edges = self.graph.out_edges(name)
        for edge in edges:
            found = [edge.transition_range(each) for each in grid]
            leave += np.array([each.leave for each in found]) / len(edges)
            boxes[edge.target] = np.stack([np.concatenate([each.low, each.high, [each.enter]]) for each in found])
        paths = np.ascontiguousarray(node.paths(grid))
        longest = np.linalg.norm(np.diff(paths[..., 1:], axis=1), axis=2).sum(axis=1).max()
        return NodeTable(table.axes, paths, leave, boxes, float(longest))


def get_lookahead_table(graph: ParametricMotionGraph) -> LookaheadTable:
    """Return the lookahead tables of a graph in its current state; the last few are cached."""
    return _cached_table(graph, tuple(graph.nodes.values()), tuple(graph.edges.values()))


@lru_cache(maxsize=4)
def _cached_table(graph: ParametricMotionGraph, nodes: tuple[Node, ...], edges: tuple[Edge, ...]) -> LookaheadTable:
    return LookaheadTable(graph)


def sample_box(node: Node, *, fine: bool) -> Floats:
    """Return K evenly spaced fractions (K, d) of a parameter box: a fine grid for a choice, a coarse one for lookahead.

    The first parameter has the most values. Counts are odd to include the middle, which is often straight ahead.
    """
    if node.n_dims == 1:
        return grid_fractions((41 if fine else 9,))
    return grid_fractions((17 if fine else 9, *[5 if fine else 3] * (node.n_dims - 1)))


@lru_cache(maxsize=32)
def grid_fractions(counts: tuple[int, ...]) -> Floats:
    """Return fractions (K, d) of a box on a grid with the given number of values per parameter."""
    fractions = np.meshgrid(*(np.linspace(0.0, 1.0, n) for n in counts), indexing="ij")
    return set_readonly(np.stack(fractions, axis=-1).reshape(-1, len(counts)))


def tightest_radii(node: Node) -> tuple[float, float]:
    """Return the radii in meters of a node's tightest circles to the left and right.

    Tries the ends and the middle of each parameter range. A radius is infinite if no clip that travels turns to that
    side.
    """
    values = [np.linspace(a, b, 3) for a, b in zip(node.low, node.high, strict=True)]
    corners = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, node.n_dims)
    paths = node.paths(corners)
    length = np.linalg.norm(np.diff(paths[..., 1:], axis=1), axis=2).sum(axis=1)
    turn = paths[:, -1, 0] - paths[:, 0, 0]
    counts = length > _ON_THE_SPOT
    out = []
    for side in (turn, -turn):
        some = counts & (side > _STRAIGHT)
        out.append(float((length[some] / side[some]).min()) if some.any() else np.inf)
    return out[0], out[1]
