"""Value tables of the planner: clips that can follow each state, and value iteration; see `marey.control.planner`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from marey.control.clip_model import N_POINTS, ClipModel, grid_fractions, turning_ring
from marey.control.planner_kernels import find_ends, measure_facing
from marey.core.arrays import Floats, Ints, set_readonly
from marey.maths.value_kernels import GoalGrid, Steps, iterate_values
from marey.pmg import ParametricMotionGraph

__all__ = ["Links", "ValueTable", "build_table", "link_states", "list_rings", "list_targets"]

NEVER = 100.0
"""Time in seconds that means that a goal cannot be reached."""

# Value iteration ends when no value changes by more than this fraction of the largest, or after this many sweeps.
_TOLERANCE, _MAX_SWEEPS = 2e-4, 300
# Direction: limits as in `measure_facing`, and time constant of the discount in seconds.
DIRECTION_LIMITS = set_readonly(np.array([np.radians(12.0), 0.2, np.inf, np.inf]))
HORIZON = 10.0
_N_DIRECTIONS = 72
# Goals with a position: maximum distance in meters, cost in seconds per meter, maximum heading error in radians, cost
# in seconds per radian. Tables have wider tolerances than choices because their grids are coarse: a goal that is
# reached between grid points would look out of reach, and plans that arrive there would not be searched.
TABLE_LIMITS = set_readonly(np.array([0.4, 1.0, np.radians(30.0), 0.5]))
CHOICE_LIMITS = set_readonly(np.array([0.29, 2.0, np.radians(19.0), 1.0]))
# To list the clips that follow a state: number of values of the first parameter, and of each other one. A table uses
# the first pair that does not exceed its maximum number of steps.
_TRIED = ((9, 3), (7, 2), (5, 2), (3, 2), (2, 1))
MAX_STEPS = {"direction": 6000, "point": 4000, "pose": 1500, "node": 2000}
# Grids: first step of the distances in meters, growth factor of the steps, last distance in meters, number of bearings,
# number of headings. Distances that take more than `_FARTHEST` clips are left out. Beyond the last distance, the speed
# is that of the fastest clip.
_FARTHEST = 20.0
_POINT_GRID = (0.15, 0.18, 10.0, 48, 1)
_POSE_GRID = (0.25, 0.25, 6.0, 32, 24)


@dataclass(frozen=True, slots=True, eq=False)
class ValueTable:
    """Values (S, C) of all states and goals, and the grid of the goals."""

    grid: GoalGrid
    values: Floats
    sweeps: int


def list_targets(model: ClipModel, node: str, nodes: tuple[str, ...] | None) -> list[str]:
    """List the nodes that can follow a node on the way to a goal: those that move the character, if there are any."""
    targets = [name for name in model.tables[node].boxes if nodes is None or name in nodes]
    return [name for name in targets if model.tables[name].moves] or targets


def list_rings(graph: ParametricMotionGraph) -> dict[str, list[str]]:
    """List the node that follows each node while the character turns, if there is one."""
    return {name: list(turning_ring(graph, name)[-1:]) for name in graph.nodes}


def build_table(model: ClipModel, kind: str, nodes: tuple[str, ...] | None) -> ValueTable:
    """Compute one value table by value iteration."""
    graph = model.graph
    if kind == "direction":
        targets = list_rings(graph)
    elif kind == "node":
        targets = {name: list(model.tables[name].boxes) for name in graph.nodes}
    else:
        targets = {name: list_targets(model, name, nodes) for name in graph.nodes}
    links = link_states(model, targets, MAX_STEPS[kind], avoid=kind != "node")
    n_steps, none = len(links.seconds), np.zeros(0, dtype=np.int64)
    moves, costs = np.ascontiguousarray(links.paths[:, -1]), (links.seconds + links.penalties)[:, None]
    ends: tuple[Ints, Ints, Floats] = np.zeros(n_steps + 1, dtype=np.int64), none, np.zeros(0)
    fades, unknown = np.ones(n_steps), NEVER
    if kind == "direction":
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
    values, choices = np.full((model.n_states, n_columns), unknown), np.empty((model.n_states, n_columns), np.int64)
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


def link_states(model: ClipModel, targets: dict[str, list[str]], most: int, *, avoid: bool) -> Links:
    """List the clips of the target nodes that can follow each state, at most `most` in total if possible.

    avoid : whether to penalize transitions that a stream would change; see `ClipModel.penalties`. If False, penalties
        are 0, and the placement of the clips is not predicted.
    """
    graph = model.graph
    fewest = {tried: _count_steps(model, targets, tried) for tried in _TRIED}
    n_first, n_other = next((tried for tried in _TRIED if fewest[tried] <= most), _TRIED[-1])
    names = list(graph.nodes)
    n_corners = 2 ** max(node.n_dims for node in graph.nodes.values())
    parts: list[list[Floats]] = []
    counts: list[int] = []
    for name in graph.nodes:
        table = model.tables[name]
        n = len(table.grid)
        rows: list[list[Floats]] = []
        for target in targets[name]:
            about = graph[target]
            unit = grid_fractions((n_first, *[n_other] * (about.n_dims - 1)))
            starts = model.follow(name, target, table.grid, np.zeros((n, 3)) if avoid else None, unit)
            paths, seconds = model.lay_paths(target, starts)
            index, weights = model.corners(target, starts.parameters)
            heads = np.full((len(index), n_corners), -1)
            heads[:, : index.shape[1]] = index
            padded = np.zeros(heads.shape)
            padded[:, : index.shape[1]] = weights
            before = np.repeat(table.grid, len(unit), axis=0)
            penalties = model.penalties(name, target, before, starts.parameters) if avoid else np.zeros(len(index))
            node = np.full(len(index), names.index(target))
            found = heads, padded, paths, seconds, penalties, node
            rows.append([each.reshape(n, len(unit), *each.shape[1:]) for each in found])
        if rows:
            merged = [np.concatenate(each, axis=1) for each in zip(*rows, strict=True)]
            counts += [merged[0].shape[1]] * n
            parts.append([each.reshape(-1, *each.shape[2:]) for each in merged])
        else:
            counts += [0] * n
    if not parts:  # none of the nodes can follow
        none = np.zeros((0, n_corners), dtype=np.int64)
        parts = [[none, none + 0.0, np.zeros((0, N_POINTS, 3)), np.zeros(0), np.zeros(0), none[:, 0]]]
    arrays = (np.ascontiguousarray(np.concatenate(each)) for each in zip(*parts, strict=True))
    return Links(np.concatenate([[0], np.cumsum(counts)]), *arrays)


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
