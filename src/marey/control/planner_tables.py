"""Value tables of the planner: clips that can follow each state, and value iteration; see `marey.control.planner`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from marey.control.clip_model import N_POINTS, ClipModel, find_turning_ring, grid_fractions, move_inside, start_clips
from marey.control.planner_kernels import ClipStarts, find_ends, measure_facing
from marey.core.arrays import Floats, Ints, set_readonly
from marey.maths.value_kernels import GoalGrid, Steps, iterate_values
from marey.pmg import ParametricMotionGraph
from marey.pmg.stream import find_change_limits, find_change_window

__all__ = ["Links", "ValueTable", "build_table", "link_states", "list_rings", "list_targets"]

NEVER = 100.0
"""Time in seconds that means that a goal cannot be reached."""

# Value iteration ends when no value changes by more than this fraction of the largest, or after this many sweeps.
_TOLERANCE, _MAX_SWEEPS = 2e-4, 300
# Direction: limits as in `measure_facing`, and time constant of the discount in seconds.
DIRECTION_LIMITS = set_readonly(np.array([np.radians(12.0), 0.2]))
HORIZON = 10.0
DIRECTIONS = ("direction", "clips")
"""Kinds of tables for directions, for streams that change clips and for those that do not."""
_N_DIRECTIONS = 72
# Seconds that are short for any clip, so that it ends at the next moment at which it can be changed.
_SOON = 1e-3
# Goals with a position: maximum distance in meters, cost in seconds per meter, maximum heading error in radians, cost
# in seconds per radian. Tables have wider tolerances than choices because their grids are coarse: a goal that is
# reached between grid points would look out of reach, and plans that arrive there would not be searched.
TABLE_LIMITS = set_readonly(np.array([0.4, 1.0, np.radians(30.0), 0.5]))
CHOICE_LIMITS = set_readonly(np.array([0.29, 2.0, np.radians(19.0), 1.0]))
# To list the clips that follow a state: number of values of the first parameter, and of each other one. A table uses
# the first pair that does not exceed its maximum number of steps.
_TRIED = ((9, 3), (7, 2), (5, 2), (3, 2), (2, 1))
MAX_STEPS = {"direction": 6000, "clips": 6000, "point": 4000, "pose": 1500, "node": 2000}
# Grids: first step of the distances in meters, growth factor of the steps, last distance in meters, number of bearings,
# number of headings. Distances that take more than `_FARTHEST` clips are left out. Beyond the last distance, the speed
# is that of the fastest clip.
_FARTHEST = 20.0
_POINT_GRID = (0.15, 0.18, 10.0, 48, 1)
_POSE_GRID = (0.25, 0.25, 6.0, 32, 24)


@dataclass(frozen=True, slots=True, eq=False)
class ValueTable:
    """A value table: values (S, C) of all states and goals, the grid of the goals, and the number of sweeps that it
    took."""

    grid: GoalGrid
    values: Floats
    sweeps: int


def list_targets(model: ClipModel, node: str, nodes: tuple[str, ...] | None) -> list[str]:
    """Return the nodes that can follow a node on the way to a goal: those that move the character; if there are none,
    all that can follow."""
    targets = [name for name in model.tables[node].boxes if nodes is None or name in nodes]
    return [name for name in targets if model.tables[name].moves] or targets


def list_rings(graph: ParametricMotionGraph) -> dict[str, list[str]]:
    """Return for each node a list with the node that follows it while the character turns; the list is empty if there
    is none."""
    return {name: list(find_turning_ring(graph, name)[-1:]) for name in graph.nodes}


def build_table(model: ClipModel, kind: str, nodes: tuple[str, ...] | None) -> ValueTable:
    """Compute one value table by value iteration."""
    graph = model.graph
    if kind in DIRECTIONS:
        targets = list_rings(graph)
    elif kind == "node":
        targets = {name: list(model.tables[name].boxes) for name in graph.nodes}
    else:
        targets = {name: list_targets(model, name, nodes) for name in graph.nodes}
    links = link_states(model, targets, MAX_STEPS[kind], avoid=kind != "node", changes=kind == "direction")
    n_steps, none = len(links.seconds), np.zeros(0, dtype=np.int64)
    moves, costs = np.ascontiguousarray(links.paths[:, -1]), (links.seconds + links.penalties)[:, None]
    ends: tuple[Ints, Ints, Floats] = np.zeros(n_steps + 1, dtype=np.int64), none, np.zeros(0)
    fades, unknown = np.ones(n_steps), NEVER
    if kind in DIRECTIONS:
        grid = GoalGrid(np.zeros(1), 1, _N_DIRECTIONS, 0.0)
        costs = np.empty((n_steps, _N_DIRECTIONS))
        measure_facing(np.ascontiguousarray(moves[:, 0]), links.seconds, DIRECTION_LIMITS, costs)
        costs += links.penalties[:, None]
        fades, unknown = np.exp(-links.seconds / HORIZON), HORIZON
    elif kind == "node":
        grid = GoalGrid(np.zeros(1), 1, len(graph.nodes), 0.0)
        moves = np.zeros_like(moves)
        ends = np.arange(n_steps + 1), links.targets, np.zeros(n_steps)
    else:
        grid = _goal_grid(links, *(_POINT_GRID if kind == "point" else _POSE_GRID))
        ends = _find_ends(links, grid)
    n_columns = len(grid.distances) * grid.n_bearings * grid.n_headings
    shape = len(links.first) - 1, n_columns
    values, choices = np.full(shape, unknown), np.empty(shape, np.int64)
    steps = Steps(links.first, links.heads, links.weights, moves, costs, fades, *ends)
    sweeps = iterate_values(steps, grid, _TOLERANCE, _MAX_SWEEPS, unknown, values, choices)
    # Files hold half precision; rounding here makes a loaded table equal to a computed one.
    rounded = np.minimum(values, unknown).astype(np.float16).astype(np.float64)
    return ValueTable(grid, set_readonly(rounded), sweeps)


class Links(NamedTuple):
    """The E clips that can follow the S states.

    first, heads, weights : see `Steps`. paths : (E, N_POINTS, 3) rigid2d. seconds : (E,) durations. penalties : (E,)
    seconds to add to the costs. targets : (E,) index of each clip's node.
    """

    first: Ints
    heads: Ints
    weights: Floats
    paths: Floats
    seconds: Floats
    penalties: Floats
    targets: Ints


def link_states(
    model: ClipModel, targets: dict[str, list[str]], most: int, *, avoid: bool, changes: bool = False
) -> Links:
    """List the clips of the target nodes that can follow each state, at most `most` in total if possible.

    avoid : whether to penalize transitions that a stream would change; see `ClipModel.penalties`. If False, penalties
        are 0, and the placement of the clips is not predicted.
    changes : whether clips can be changed. After the S states then come S states of clips at the first moment at which
        they can be changed, S states for the second moment, and so on. Each of these leads to the unchanged clip and to
        the clips that it can become.
    """
    fewest = {tried: _count_steps(model, targets, tried) for tried in _TRIED}
    tried = next((tried for tried in _TRIED if fewest[tried] <= most), _TRIED[-1])
    rows = {name: _link_node(model, name, targets[name], tried, avoid, changes) for name in targets}
    parts = list(rows.values())
    if changes:
        n_moments = max((len(model.find_changes(name).moments) for name in targets if targets[name]), default=0)
        parts += [
            _link_moment(model, name, k, bool(targets[name]), tried) for k in range(n_moments) for name in targets
        ]
    arrays = [np.concatenate([each[k].reshape(-1, *each[k].shape[2:]) for each in parts]) for k in range(6)]
    counts = np.concatenate([np.full(len(each[0]), each[0].shape[1]) for each in parts])
    return Links(np.concatenate([[0], np.cumsum(counts)]), *map(np.ascontiguousarray, arrays))


def _link_node(
    model: ClipModel, name: str, targets: list[str], tried: tuple[int, int], avoid: bool, changes: bool
) -> list[Floats]:
    """List the clips that can follow the G clips of a node when they are left: the arrays of `Links`, (G, K, ...)."""
    grid, rows = model.tables[name].grid, [_no_links(model, name)]
    for target in targets:
        unit = grid_fractions((tried[0], *[tried[1]] * (model.graph[target].n_dims - 1)))
        starts = model.follow(name, target, grid, np.zeros((len(grid), 3)) if avoid else None, unit)
        if changes:
            starts = model.hold_clips(target, starts, find_change_window(model.graph, model.graph.fps)[0])
        before = np.repeat(grid, len(unit), axis=0)
        penalties = model.penalties(name, target, before, starts.parameters) if avoid else np.zeros(len(before))
        rows.append(_link_clips(model, target, starts, penalties, len(grid)))
    return [np.concatenate(each, axis=1) for each in zip(*rows, strict=True)]


def _link_moment(model: ClipModel, name: str, k: int, turns: bool, tried: tuple[int, int]) -> list[Floats]:
    """List what the G clips of a node can become at moment k, if the node turns: the arrays of `Links`, (G, K, ...)."""
    node, grid = model.graph[name], model.tables[name].grid
    moments = model.find_changes(name).moments if turns else np.zeros(0)
    if k >= len(moments):
        return _no_links(model, name)
    far = find_change_limits(model.graph, name, model.graph.fps)[1]
    low, high = np.maximum(node.low, grid - far), np.minimum(node.high, grid + far)
    unit = grid_fractions((tried[0], *[tried[1]] * (node.n_dims - 1)))
    before = np.repeat(grid, len(unit), axis=0)
    after = (low[:, None] + unit * (high - low)[:, None]).reshape(before.shape)
    after = move_inside(node.region, after, before)
    rows = []
    for parameters, seconds in ((grid, _SOON), (after, find_change_window(model.graph, model.graph.fps)[0])):
        starts = start_clips(parameters, np.full(len(parameters), moments[k]), np.zeros((len(parameters), 3)))
        penalties = (
            np.zeros(len(grid)) if parameters is grid else model.change_penalties(name, moments[k], before, after)
        )
        rows.append(_link_clips(model, name, model.hold_clips(name, starts, seconds), penalties, len(grid)))
    return [np.concatenate(each, axis=1) for each in zip(*rows, strict=True)]


def _no_links(model: ClipModel, name: str) -> list[Floats]:
    n, n_corners = len(model.tables[name].grid), _count_corners(model)
    none = np.zeros((n, 0, n_corners))
    return [
        none.astype(np.int64),
        none,
        np.zeros((n, 0, N_POINTS, 3)),
        none[..., 0],
        none[..., 0],
        none[..., 0].astype(np.int64),
    ]


def _link_clips(model: ClipModel, target: str, starts: ClipStarts, penalties: Floats, n: int) -> list[Floats]:
    """Return the arrays of `Links` for clips of a node, reshaped to (n, K, ...)."""
    paths, seconds = model.lay_paths(target, starts)
    index, weights = model.corners(target, starts.parameters)
    heads = np.full((len(index), _count_corners(model)), -1)
    padded = np.zeros(heads.shape)
    n_rows = len(model.tables[target].grid)
    heads[:, : index.shape[1]] = index + (starts.rows // n_rows * model.n_states)[:, None]
    padded[:, : index.shape[1]] = weights
    node = np.full(len(index), list(model.graph.nodes).index(target))
    return [each.reshape(n, -1, *each.shape[1:]) for each in (heads, padded, paths, seconds, penalties, node)]


def _count_corners(model: ClipModel) -> int:
    return int(2 ** max(node.n_dims for node in model.graph.nodes.values()))


def _count_steps(model: ClipModel, targets: dict[str, list[str]], tried: tuple[int, int]) -> int:
    dims = {name: node.n_dims for name, node in model.graph.nodes.items()}
    each = {name: sum(tried[0] * tried[1] ** (dims[target] - 1) for target in targets[name]) for name in targets}
    return sum(len(model.tables[name].grid) * each[name] for name in targets)


def _goal_grid(links: Links, step: float, growth: float, last: float, n_bearings: int, n_headings: int) -> GoalGrid:
    """Return a grid with fine steps near the character and wider ones farther away."""
    away = np.linalg.norm(links.paths[:, -1, 1:] - links.paths[:, 0, 1:], axis=1)
    last = min(last, _FARTHEST * float(away.max(initial=0.0)))
    pace = float((away / np.maximum(links.seconds, 1e-6)).max(initial=0.0))
    distances = [0.0]
    while distances[-1] < last or len(distances) < 3:
        distances.append(distances[-1] + max(step, growth * distances[-1]))
    return GoalGrid(np.array(distances), n_bearings, n_headings, 1.0 / max(pace, 1e-3))


def _find_ends(links: Links, grid: GoalGrid) -> tuple[Ints, Ints, Floats]:
    first, none = np.empty(len(links.seconds) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    count = find_ends(links.paths, links.seconds, grid, TABLE_LIMITS, first, none, np.zeros(0))
    columns, costs = np.empty(count, dtype=np.int64), np.empty(count)
    find_ends(links.paths, links.seconds, grid, TABLE_LIMITS, first, columns, costs)
    return first, columns, costs + np.repeat(links.penalties, np.diff(first))
