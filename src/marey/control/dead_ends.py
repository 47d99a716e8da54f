"""Find dead ends of a character: clips after which it can never make some turns, or reach some nodes, again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from marey.control.clip_model import N_POINTS, ClipModel, find_turning_ring
from marey.control.planner import Planner, get_planner
from marey.control.planner_kernels import read_rows
from marey.control.planner_tables import NEVER, link_states, list_rings
from marey.core.arrays import Floats
from marey.core.reports import ReportBase
from marey.errors import plural
from marey.maths import rigid2d
from marey.maths.value_kernels import GoalGrid, Steps, iterate_values
from marey.pmg import ParametricMotionGraph
from marey.pmg.stream import find_change_window
from marey.pmg.units import format_ranges

__all__ = ["NodeLimit", "ResponseBound", "TurnLimit", "bound_response", "find_limits"]

# A state is limited if the sharpest turn that can follow it is below this fraction of the node's sharpest turn. Nodes
# whose sharpest turn is below this angle, in radians, are ignored.
_FRACTION, _MIN_TURN = 0.6, float(np.radians(15.0))
# Number of clips to look ahead: a turn that is not possible within these clips counts as impossible.
_MAX_CLIPS = 40
# Bound of responses: maximum heading error in radians of a character that faces a direction, number of directions,
# number of moments of a request, seconds between changes within a clip, and maximum number of transitions (see
# `link_states`).
_WITHIN = float(np.radians(15.0))
_N_HEADINGS, _MOMENTS, _EVERY, _MAX_STEPS = 72, 60, 0.04, 10_000


@dataclass(frozen=True, slots=True, eq=False)
class TurnLimit(ReportBase):
    """Clips of a node after which a character never again turns as sharply as the node can.

    node : name of the node.
    side : "left" or "right".
    low, high : (d,) ranges of the parameters of these clips.
    turn : radians, sharpest turn of any clip that can follow, now or later.
    usual : radians, sharpest turn after the node's other clips.
    """

    node: str
    side: Literal["left", "right"]
    low: Floats
    high: Floats
    turn: float
    usual: float

    def describe(self, graph: ParametricMotionGraph) -> str:
        """Return one sentence: after which clips the limit applies, and how to remove it."""
        node = graph[self.node]
        others = [name for name in node.names if name != "turn"]
        remedy = f"add clips that turn {self.side}" + (f", or restrict `{others[0]}`" if others else "")
        turn, usual = round(float(np.degrees(self.turn))), round(float(np.degrees(self.usual)))
        most = f" by more than {plural(turn, 'degree')} per clip" if turn else ""
        return (
            f"after clips of {self.node!r} with {format_ranges(node.names, node.units, self.low, self.high)}, this "
            f"character cannot turn {self.side}{most} (after other clips: {plural(usual, 'degree')} per clip); {remedy}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class NodeLimit(ReportBase):
    """Clips of a node after which a character never again plays another node.

    node, target : names of the nodes.
    low, high : (d,) ranges of the parameters of these clips; None for all clips.
    """

    node: str
    target: str
    low: Floats | None
    high: Floats | None

    def describe(self, graph: ParametricMotionGraph) -> str:
        """Return one sentence: after which clips the limit applies, and how to remove it."""
        node, which = graph[self.node], ""
        if self.low is not None and self.high is not None:
            which = f" with {format_ranges(node.names, node.units, self.low, self.high)}"
        return (
            f"after clips of {self.node!r}{which}, this character can never play {self.target!r}; connect "
            f"{self.node!r}, or a node that follows it, with {self.target!r}"
        )


def find_limits(graph: ParametricMotionGraph) -> tuple[TurnLimit | NodeLimit, ...]:
    """Find the clips after which a character can never again turn as sharply as after others, or play some node.

    Turns are examined only for nodes that have a parameter ``turn`` and can follow themselves or alternate with
    another node.

    Examples
    --------
    >>> marey.control.find_limits(character)
    ()
    """
    planner = get_planner(graph)
    return *_find_turn_limits(graph, planner), *_find_node_limits(graph, planner)


def _find_node_limits(graph: ParametricMotionGraph, planner: Planner) -> Iterator[NodeLimit]:
    lost = planner.table("node").values >= 0.5 * NEVER if graph.edges else np.zeros((planner.model.n_states, 0), bool)
    for name, table in planner.model.tables.items():
        mine = lost[table.first : table.first + len(table.grid)]
        for target, column in zip(graph.nodes, mine.T, strict=False):
            if target != name and column.any():
                ends = None if column.all() else table.grid[column]
                yield NodeLimit(name, target, *((None, None) if ends is None else (ends.min(axis=0), ends.max(axis=0))))


def _find_turn_limits(graph: ParametricMotionGraph, planner: Planner) -> list[TurnLimit]:
    rings = [name for name in graph.nodes if find_turning_ring(graph, name)]
    out: list[TurnLimit] = []
    if not rings:
        return out
    for side in ("left", "right"):
        sharpest = _find_sharpest_turns(planner, 1.0 if side == "left" else -1.0)
        for name in rings:
            table = planner.model.tables[name]
            mine = sharpest[table.first : table.first + len(table.grid)]
            usual = float(mine.max())
            few = mine < _FRACTION * usual
            if usual > _MIN_TURN and few.any():
                ends = table.grid[few].min(axis=0), table.grid[few].max(axis=0)
                out.append(TurnLimit(name, side, *ends, float(mine[few].max()), usual))
    return out


class ResponseBound(NamedTuple):
    """Lower bound on the time in which a character responds to a requested turn.

    wait : median time in seconds from a request to the middle of the next possible transition.
    turning : seconds from then on in which the best sequence of clips comes within 15 degrees of the direction.
    """

    wait: float
    turning: float

    @property
    def total(self) -> float:
        """Sum of both in seconds."""
        return self.wait + self.turning


def bound_response(graph: ParametricMotionGraph, turn: float = np.pi / 2.0) -> ResponseBound:
    """Compute a lower bound on the response time to a requested turn, an angle in radians.

    It is the time of the best of all sequences of clips that transitions allow, including changes within clips; median
    over turns to both sides, requested at all moments while the character goes straight ahead. Both times are infinite
    if no node can turn repeatedly.

    Examples
    --------
    >>> bound = marey.control.bound_response(character)
    >>> bound.total == bound.wait + bound.turning  # seconds
    True
    """
    best, rings = ResponseBound(np.inf, np.inf), list_rings(graph)
    if not any(rings.values()):
        return best
    model = ClipModel(graph, _EVERY)
    values = _find_facing_times(model, rings).reshape(-1, model.n_states, _N_HEADINGS)
    away = turn / (2.0 * np.pi) * _N_HEADINGS
    sides = np.stack([values[..., round(side * away) % _N_HEADINGS] for side in (1.0, -1.0)])
    first, last = find_change_window(graph, graph.fps)
    for name in graph.nodes:
        ring = find_turning_ring(graph, name)
        if not ring:
            continue
        node, table, moments = graph[name], model.tables[name], model.find_changes(name).moments
        straight = node.project(np.where(np.array(node.names) == "turn", 0.0, node.middle))
        enter, leave = graph.transition_ranges(ring[-1], graph[ring[-1]].middle)[name].enter, np.empty((1, 2))
        read_rows(table.axes, table.timing, straight[None], leave)
        index, weights = model.corners(name, straight[None])
        seconds = sides[:, :, index[0]] @ weights[0]
        span = float((leave[0, 0] - enter) * leave[0, 1])
        waits, totals = [], []
        for asked in (np.arange(_MOMENTS) + 0.5) / _MOMENTS * span:
            change = asked + 0.5 * first
            left = [seconds[k, 0] for k in (0, 1)]
            if inside := change <= span - last and len(moments) > 0:
                left = [
                    np.interp(enter + change / leave[0, 1], moments, each[1 : 1 + len(moments)]) for each in seconds
                ]
            waits.append((change if inside else max(change, span)) - asked)
            totals += [waits[-1] + each for each in left]
        wait, total = float(np.median(waits)), float(np.median(totals))
        if total < best.total:
            best = ResponseBound(wait, total - wait)
    return best


def _find_facing_times(model: ClipModel, rings: dict[str, list[str]]) -> Floats:
    """Return the seconds (S, H) until a character faces each of H directions for the first time; see `link_states`."""
    links = link_states(model, rings, _MAX_STEPS, avoid=True, changes=True)
    turned = links.paths[..., 0] - links.paths[:, :1, 0]
    columns = 2.0 * np.pi / _N_HEADINGS * np.arange(_N_HEADINGS)
    reached = np.full((len(turned), _N_HEADINGS), np.inf)
    for w in range(N_POINTS - 1, -1, -1):
        faced = np.abs(rigid2d.wrap_angle(columns - turned[:, w, None])) <= _WITHIN
        reached = np.where(faced, (w / (N_POINTS - 1) * links.seconds + links.penalties)[:, None], reached)
    rows, ends = map(np.ascontiguousarray, np.nonzero(np.isfinite(reached)))
    first = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(turned)))])
    moves = np.stack([turned[:, -1], *np.zeros((2, len(turned)))], axis=1)
    costs, fades = (links.seconds + links.penalties)[:, None], np.ones(len(turned))
    steps = Steps(links.first, links.heads, links.weights, moves, costs, fades, first, ends, reached[rows, ends])
    values = np.full((len(links.first) - 1, _N_HEADINGS), NEVER)
    grid = GoalGrid(np.zeros(1), 1, _N_HEADINGS, 0.0)
    iterate_values(steps, grid, 1e-4, 300, NEVER, values, np.empty(values.shape, np.int64))
    return values


def _find_sharpest_turns(planner: Planner, sign: float) -> Floats:
    """Return the sharpest turn (S,), in radians, of all clips that can follow each state, now or later.

    `sign` is 1 for turns to the left, -1 for turns to the right.
    """
    links = planner.link_turns()
    # Use the transitions without a penalty; if a state has none, its transitions with the lowest penalty.
    lowest = np.array([links.penalties[a:b].min(initial=np.inf) for a, b in pairwise(links.first)])
    usable = links.penalties <= np.repeat(lowest, np.diff(links.first))
    turns = sign * links.paths[:, -1, 0]
    out = np.zeros(len(links.first) - 1)
    for _ in range(_MAX_CLIPS):
        ahead = (links.weights * np.where(links.heads < 0, 0.0, out[links.heads])).sum(axis=1)
        best = np.where(usable, np.maximum(turns, ahead), 0.0)
        after = np.array([best[a:b].max(initial=0.0) for a, b in pairwise(links.first)])
        if np.abs(after - out).max() < 1e-6:
            break
        out = after
    return out
