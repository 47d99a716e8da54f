"""A fast model of a character: which clips can follow a clip, where they lead and how long they take.

The parameters of each node are sampled on a grid. For every grid point, the model holds the clip's path and duration,
and for each edge the box of parameters that can follow. For every pair of grid points, it holds the cost of the
transition. Plans need it because a stream does not play every parameter in a box as requested: if a transition would be
worse than the edge allows, the stream moves the parameters toward the middle of the box. Between grid points, the model
interpolates.

Plans minimize time, so a character that can run takes a long path along a wide curve if it arrives sooner. A positive
``short_way`` s makes plans prefer short paths: the duration T of a clip that is L meters long is replaced by
(1 - s) T + s L / v, where v is the speed of the fastest clip.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from marey.control.joins import Join, fit_join
from marey.control.planner_kernels import ClipStarts, PathTable, find_corners, lay_paths, read_rows
from marey.core.arrays import Floats, Ints, set_readonly
from marey.parametric.region import Region
from marey.pmg import ControlState, Node, ParametricMotionGraph, TransitionOption
from marey.pmg.costs import Windows, find_best_pairs, make_windows
from marey.pmg.stream import find_change_limits, find_change_window

__all__ = ["Changes", "ClipModel", "NodeTable", "find_turning_ring", "grid_fractions", "move_inside", "start_clips"]

# Points on a clip's path between two transitions.
N_POINTS = 9
# Grid values of a parameter: one for each `_APART` meters or radians by which the parameter moves the end of the clip.
# The maximum depends on the number of parameters; it is lower for graphs with more than `_FEW_NODES` nodes.
_MIN_VALUES = 3
_MAX_VALUES, _FEWER_VALUES = {1: 25, 2: 13, 3: 7}, {1: 13, 2: 7, 3: 5}
_FEW_NODES = 2
_APART = 0.15
# Transitions whose predicted cost exceeds this fraction of the edge's limit are penalized: seconds for an excess of one
# whole limit.
_SAFE, _PENALTY = 0.95, 20.0
# The same fraction for changes within a clip that overlap the transition out of it, which they make worse.
_OVERLAPPING = 0.75
# Meters, roughly the height of a body's center. It is subtracted from all heights, so single precision is enough.
_HEIGHT = 0.9
# Minimum distance in meters, or turn in radians, of clips that count as moving the character.
_MOVES = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """Table of a node at the G points of a parameter grid.

    first : index of the first grid point among the states of all nodes.
    axes : (d, 3) first value, step and number of values of each of d parameters; the last parameter varies fastest.
    grid : (G, d) parameters at the grid points, moved to the nearest allowed ones.
    paths : (G, P, 3) rigid2d of the character at P times in each clip.
    timing : (G, 2) normalized time, from 0 to 1, at which clips are left, mean over the edges; and duration of clips in
        seconds, adjusted by `short_way`.
    boxes : by target node, (G, 3 e + 1): lower bounds, upper bounds and allowed middle values of its e parameters, and
        the normalized time, from 0 to 1, at which its clips are entered.
    effects : (d,) meters or radians by which each parameter moves the end of a clip.
    moves : whether any of the node's clips moves or turns the character.
    """

    first: int
    axes: Floats
    grid: Floats
    paths: Floats
    timing: Floats
    boxes: dict[str, Floats]
    effects: Floats
    moves: bool

    @property
    def arrays(self) -> PathTable:
        """The arrays as the kernels take them."""
        return PathTable(self.axes, self.paths, self.timing)

    @property
    def lengths(self) -> Floats:
        """Lengths (G,) of the clips' paths in meters."""
        return np.asarray(np.linalg.norm(np.diff(self.paths[..., 1:], axis=1), axis=2).sum(axis=1))

    @property
    def pace(self) -> float:
        """Speed of the fastest clip in m/s."""
        return float((self.lengths / np.maximum(self.timing[:, 1], 1e-6)).max())

    @lru_cache(maxsize=2)  # noqa: B019, tables live as long as their planner
    def sample_box(self, *, fine: bool) -> Floats:
        """Return an evenly spaced grid (K, d) of fractions of a parameter box: fine for a choice, coarse to plan ahead.

        The first parameter has the most values. A parameter that does not move the character has one. Numbers of values
        are odd to include the middle, which is often straight ahead.
        """
        most = [25 if fine else 9, *[5 if fine else 3] * (len(self.effects) - 1)]
        return grid_fractions(tuple(n if far > _MOVES else 1 for n, far in zip(most, self.effects, strict=True)))


class Changes(NamedTuple):
    """Changes within the clips of a node, with G points of its parameter grid.

    moments : (K,) moments from 0 to 1, increasing. costs : (K, G G, 1) costs of changes between all grid points at
    these moments, as fractions of the limit.
    """

    moments: Floats
    costs: Floats


class ClipModel:
    """The model of a graph. The states of all nodes, S in total, are numbered one node after the other.

    tables : table of each node, by name.
    joins : predicts where clips start, by (source, target) node; computed on demand.
    costs : (G H, 1) costs of transitions from each of G grid points of the source to each of H grid points of the
        target, as fractions of the edge's limit, by (source, target) node; computed on demand.
    changes : changes within the clips of each node, about `every` seconds apart, by name; computed on demand.
    """

    def __init__(self, graph: ParametricMotionGraph, every: float = 0.1) -> None:
        self.graph, self.every = graph, every
        self.tables: dict[str, NodeTable] = {}
        self.joins: dict[tuple[str, str], Join] = {}
        self.costs: dict[tuple[str, str], Floats] = {}
        self.changes: dict[str, Changes] = {}
        self._windows: dict[tuple[str, bool], Windows] = {}
        for name in graph.nodes:
            self.tables[name] = _build_table(graph, name, self.n_states)

    def count_lengths(self, short_way: float) -> ClipModel:
        """Return a model whose durations also depend on path lengths; it shares joins and costs with this one."""
        out = copy(self)
        pace = max(table.pace for table in self.tables.values())
        out.tables = {name: _count_lengths(table, short_way, pace) for name, table in self.tables.items()}
        return out

    @property
    def n_states(self) -> int:
        """Number of states S."""
        return sum(len(table.grid) for table in self.tables.values())

    def begin(self, state: ControlState, option: TransitionOption, parameters: Floats) -> ClipStarts:
        """Return the `ClipStarts` of N clips of an option's node, with parameters (N, d), after the transition from the
        current clip."""
        n = len(parameters)
        here = np.tile(option.place, (n, 1))
        # The first clip of a stream has no predecessor; a change within a clip does not move the character.
        if option.range.leave > 0.0 and not option.inside:
            before = np.tile(state.parameters, (n, 1))
            here = self.join(state.node, option.node.name).predict_entry(before, parameters, here)
        return start_clips(parameters, np.full(n, option.range.enter), here)

    def follow(
        self, node: str, target: str, parameters: Floats, places: Floats | None, unit: Floats, *, exact: bool = False
    ) -> ClipStarts:
        """Return the `ClipStarts` of N K clips of `target`: K after each of N clips of `node`, in that order.

        parameters : (N, d) parameters of the clips of `node`. places : (N, 3) rigid2d at which they are left; None if
        it does not matter where the new clips begin. unit : (K, e) new clips as fractions of each parameter box.
        exact : `unit` holds parameters instead of fractions; they are moved into each box.
        """
        k, e = unit.shape
        table = self.tables[node]
        found = np.empty((len(parameters), 3 * e + 1))
        read_rows(table.axes, table.boxes[target], np.ascontiguousarray(parameters), found)
        low, high = found[:, :e], found[:, e : 2 * e]
        before = np.repeat(np.arange(len(found)), k)
        tried = np.clip(unit, low[:, None], high[:, None]) if exact else low[:, None] + unit * (high - low)[:, None]
        tried = tried.reshape(-1, e)
        chosen = move_inside(self.graph[target].region, tried, found[before, 2 * e : 3 * e])
        here = np.zeros((len(chosen), 3))
        if places is not None:
            here = self.join(node, target).predict_entry(parameters[before], chosen, places[before])
        return start_clips(chosen, found[before, -1], here)

    def join(self, source: str, target: str) -> Join:
        """Return the `Join` that predicts how clips of `target` are placed after clips of `source`."""
        if (source, target) not in self.joins:
            self.joins[source, target] = fit_join(self.graph, source, target)
        return self.joins[source, target]

    def penalties(self, source: str, target: str, before: Floats, after: Floats) -> Floats:
        """Return seconds (N,) to add to the cost of transitions that are likely to be worse than the edge allows.

        before, after : (N, d) and (N, e) parameters of the clips before and after the transition.
        """
        if (source, target) not in self.costs:
            windows = self._find_windows(source, True), self._find_windows(target, False)
            pairs = find_best_pairs(*windows, range(len(self.tables[source].grid)))
            relative = np.stack([costs for costs, _ in pairs]) / self.graph.edges[source, target].bad
            # Files hold single precision; rounding here makes loaded costs equal to computed ones.
            self.costs[source, target] = relative.astype(np.float32).astype(np.float64).reshape(-1, 1)
        axes = np.concatenate([self.tables[source].axes, self.tables[target].axes])
        found = np.empty((len(after), 1))
        read_rows(axes, self.costs[source, target], np.concatenate([before, after], axis=1), found)
        return np.asarray(_PENALTY * np.maximum(found[:, 0] - _SAFE, 0.0))

    def change_penalties(self, name: str, moment: float, before: Floats, after: Floats) -> Floats:
        """Return seconds (N,) to add to the cost of changes within clips that are likely to be worse than allowed.

        moment : moment of the changes, from 0 to 1. before, after : (N, d) parameters before and after the changes.
        """
        changes, axes = self.find_changes(name), self.tables[name].axes
        found = np.empty((len(after), 1))
        costs = changes.costs[int(np.argmin(np.abs(changes.moments - moment)))]
        read_rows(np.concatenate([axes, axes]), costs, np.concatenate([before, after], axis=1), found)
        leave, duration = self.tables[name].timing.mean(axis=0)
        limit = _OVERLAPPING if (leave - moment) * duration < self.graph.seams.length else _SAFE
        return np.asarray(_PENALTY * np.maximum(found[:, 0] - limit, 0.0))

    def find_changes(self, name: str) -> Changes:
        """Return the moments at which plans change the clips of a node, and the costs of the changes."""
        if name not in self.changes:
            self.changes[name] = self._measure_changes(name)
        return self.changes[name]

    def _measure_changes(self, name: str) -> Changes:
        graph, table = self.graph, self.tables[name]
        entered = [self.tables[source].boxes[name][:, -1] for source, target in graph.edges if target == name]
        if not entered or not graph.out_edges(name):
            return Changes(np.zeros(0), np.zeros((0, len(table.grid) ** 2, 1)))
        first, last = find_change_window(graph, graph.fps)
        low = min(float(each.min()) for each in entered) + first / table.timing[:, 1].max()
        high = float((table.timing[:, 0] - last / table.timing[:, 1]).max())
        n_moments = 1 + math.ceil((high - low) * np.median(table.timing[:, 1]) / self.every) if high >= low else 0
        moments, pairs = np.linspace(low, max(low, high), n_moments), np.zeros((n_moments, len(table.grid) ** 2, 1))
        motions, bad = [graph[name].motion(each) for each in table.grid], find_change_limits(graph, name, graph.fps)[0]
        for moment, costs in zip(moments.tolist(), pairs, strict=True):
            windows = make_windows(motions, graph.seams, end=True, height=_HEIGHT, moment=moment)
            found = find_best_pairs(windows, windows, range(len(motions)))
            costs[:, 0] = np.concatenate([each for each, _ in found]) / bad
            costs[:: len(motions) + 1] = 0.0  # clips that stay as they are
        return Changes(moments, pairs.astype(np.float32).astype(np.float64))

    def hold_clips(self, name: str, starts: ClipStarts, seconds: float) -> ClipStarts:
        """Return the starts of clips of a node, changed so that each clip ends at the first moment at which it can be
        changed after `seconds`."""
        moments, last = self.find_changes(name).moments, find_change_window(self.graph, self.graph.fps)[1]
        found, table = np.empty((len(starts.enter), 2)), self.tables[name]
        read_rows(table.axes, table.timing, starts.parameters, found)
        block = np.searchsorted(moments, starts.enter + seconds / found[:, 1])
        until = np.append(moments, np.inf)[block]
        late = until > found[:, 0] - last / found[:, 1]
        rows = np.where(late, 0, (block + 1) * len(table.grid))
        return starts._replace(until=np.where(late, 1.0, until), rows=rows)

    def _find_windows(self, name: str, end: bool) -> Windows:
        """Return the windows of a node's clips in which transitions are allowed."""
        if (name, end) not in self._windows:
            motions = [self.graph[name].motion(each) for each in self.tables[name].grid]
            self._windows[name, end] = make_windows(motions, self.graph.seams, end=end, height=_HEIGHT)
        return self._windows[name, end]

    def corners(self, node: str, parameters: Floats) -> tuple[Ints, Floats]:
        """Return the states (N, 2^d) around parameters (N, d) of a node, and their interpolation weights."""
        table = self.tables[node]
        shape = (len(parameters), 2 ** len(table.axes))
        index, weights = np.empty(shape, dtype=np.int64), np.empty(shape)
        find_corners(table.axes, np.ascontiguousarray(parameters), index, weights)
        return index + table.first, weights

    def lay_paths(self, node: str, clips: ClipStarts) -> tuple[Floats, Floats]:
        """Return the paths (N, N_POINTS, 3) rigid2d of a node's clips, and the seconds (N,) that they take."""
        out, seconds = np.empty((len(clips.enter), N_POINTS, 3)), np.empty(len(clips.enter))
        lay_paths(self.tables[node].arrays, clips, out, seconds)
        return out, seconds


def _build_table(graph: ParametricMotionGraph, name: str, first: int) -> NodeTable:
    node = graph[name]
    effects = np.array([_measure_effect(node, k) for k in range(node.n_dims)])
    most = (_MAX_VALUES if len(graph.nodes) <= _FEW_NODES else _FEWER_VALUES).get(node.n_dims, _MIN_VALUES)
    counts = np.clip(1 + np.ceil(effects / _APART), _MIN_VALUES, most).astype(np.int64)
    counts[node.high <= node.low] = 1
    steps = np.where(counts > 1, (node.high - node.low) / np.maximum(counts - 1, 1), 1.0)
    axes = np.stack([node.low, steps, counts.astype(np.float64)], axis=1)
    grid = node.project(node.low + grid_fractions(tuple(counts.tolist())) * (node.high - node.low))
    leave = np.zeros(len(grid))
    boxes = {}
    edges = graph.out_edges(name)
    for edge in edges:
        found = [edge.transition_range(each, graph[edge.target].region) for each in grid]
        leave += np.array([each.leave for each in found]) / len(edges)
        boxes[edge.target] = np.stack(
            [np.concatenate([each.low, each.high, each.middle, [each.enter]]) for each in found]
        )
    seconds = [node.motion(each).duration for each in grid]
    paths = np.ascontiguousarray(node.paths(grid))
    timing = np.ascontiguousarray(np.stack([leave, seconds], axis=1))
    moves = bool((np.abs(paths - paths[:, :1]).max(axis=(0, 1)) > _MOVES).any())
    return NodeTable(first, axes, grid, paths, timing, boxes, effects, moves)


def start_clips(parameters: Floats, enter: Floats, here: Floats) -> ClipStarts:
    """Return the `ClipStarts` of N clips that are played until they are left."""
    n, contiguous = len(enter), np.ascontiguousarray
    return ClipStarts(contiguous(parameters), contiguous(enter), contiguous(here), np.ones(n), np.zeros(n, np.int64))


def _count_lengths(table: NodeTable, short_way: float, pace: float) -> NodeTable:
    """Return the table with durations that also depend on path lengths; see the module docstring."""
    seconds = (1.0 - short_way) * table.timing[:, 1] + short_way * table.lengths / max(pace, 1e-6)
    return replace(table, timing=np.stack([table.timing[:, 0], seconds], axis=1))


def _measure_effect(node: Node, k: int) -> float:
    """Return how far a parameter moves the end of a clip, in meters or radians."""
    tried = np.tile(node.middle, (5, 1))
    tried[:, k] = np.linspace(node.low[k], node.high[k], 5)
    paths = node.paths(node.project(tried))
    return float(np.abs(np.diff(paths[:, -1] - paths[:, 0], axis=0)).sum(axis=0).max())


def move_inside(region: Region, points: Floats, middles: Floats) -> Floats:
    """Move points (N, d) that lie outside a region toward points (N, d) or (d,) inside it, up to its boundary.

    This is much faster than finding the nearest point, and accurate enough for trial parameters.
    """
    if region.is_box:
        return np.ascontiguousarray(np.clip(points, region.low, region.high))
    away = points - middles
    room = np.maximum(region.offsets - np.broadcast_to(middles, points.shape) @ region.normals.T, 0.0)
    speed = away @ region.normals.T
    times = np.where(speed > room, room / np.where(speed > room, speed, 1.0), 1.0)
    return np.ascontiguousarray(middles + times.min(axis=1, initial=1.0)[:, None] * away)


@lru_cache(maxsize=32)
def grid_fractions(counts: tuple[int, ...]) -> Floats:
    """Return fractions (K, d) of a box on a grid with the given number of values per parameter; one is the middle."""
    fractions = np.meshgrid(*(np.linspace(0.0, 1.0, n) if n > 1 else [0.5] for n in counts), indexing="ij")
    return set_readonly(np.stack(fractions, axis=-1).reshape(-1, len(counts)))


def find_turning_ring(graph: ParametricMotionGraph, node: str) -> tuple[str, ...]:
    """Return the nodes with a parameter ``turn`` that form a ring through `node`: itself alone, or it and another.

    For example, a node of left steps and one of right steps lead to each other, but not to themselves. Return an empty
    tuple if there is no such ring.
    """
    turning = [name for name, each in graph.nodes.items() if "turn" in each.names]
    if node not in turning:
        return ()
    if (node, node) in graph.edges:
        return (node,)
    both = [name for name in turning if (node, name) in graph.edges and (name, node) in graph.edges]
    return (node, both[0]) if both else ()
