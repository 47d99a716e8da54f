"""Find dead ends of a character: clips after which it can never make some turns, or reach some nodes, again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from marey.control.clip_model import turning_ring
from marey.control.planner import Planner, get_planner
from marey.control.planner_tables import NEVER
from marey.core.arrays import Floats
from marey.core.reports import Report
from marey.pmg import ParametricMotionGraph
from marey.pmg.stream import find_change_window
from marey.pmg.units import format_ranges

__all__ = ["NodeLimit", "ResponseBound", "TurnLimit", "bound_response", "find_limits"]

# A state is limited if the sharpest turn that can follow it is below this fraction of the node's sharpest turn. Nodes
# whose sharpest turn is below this angle, in radians, are ignored.
_FRACTION, _MIN_TURN = 0.6, float(np.radians(15.0))
# Number of clips to look ahead: a turn that is not possible within these clips counts as impossible.
_MAX_CLIPS = 40
# Maximum heading error in radians of a character that faces a direction; numbers of clips and of times per clip to
# search for the fastest response.
_WITHIN = float(np.radians(15.0))
_SAMPLES, _MOMENTS = 200, 60


@dataclass(frozen=True, slots=True, eq=False)
class TurnLimit(Report):
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
        return (
            f"after clips of {self.node!r} with {format_ranges(node.names, node.units, self.low, self.high)}, this "
            f"character cannot turn {self.side} by more than {np.degrees(self.turn):.0f} degrees per clip (others: "
            f"{np.degrees(self.usual):.0f}); {remedy}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class NodeLimit(Report):
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
    rings = [name for name in graph.nodes if turning_ring(graph, name)]
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
    turning : seconds in which the sharpest clip, played repeatedly, comes within 15 degrees of the direction.
    """

    wait: float
    turning: float

    @property
    def total(self) -> float:
        """Sum of both in seconds."""
        return self.wait + self.turning


def bound_response(graph: ParametricMotionGraph, turn: float = np.pi / 2.0) -> ResponseBound:
    """Compute a lower bound on the response time to a requested turn, an angle in radians.

    No planner can be faster with the same clips, because a turn begins with a transition and is no sharper than the
    sharpest clip. Both times are infinite if no node can turn repeatedly.

    Examples
    --------
    >>> bound = marey.control.bound_response(character)
    >>> bound.total == bound.wait + bound.turning  # seconds
    True
    """
    first, last = find_change_window(graph, graph.fps)
    best = ResponseBound(np.inf, np.inf)
    for name in graph.nodes:
        ring = turning_ring(graph, name)
        if not ring:
            continue
        node = graph[name]
        chosen = node.samples(_SAMPLES, np.random.default_rng(0), corners=True)
        box = graph.transition_ranges(name, node.middle)[ring[-1]]
        spans = np.array([node.motion(each).duration for each in chosen])
        at = np.linspace(box.enter, box.leave, _MOMENTS)
        paths = node.paths(chosen)
        grid = np.linspace(0.0, 1.0, paths.shape[1])
        headings = np.stack([np.interp(at, grid, path[:, 0]) for path in paths])
        turning = np.inf
        for heading, span in zip(headings - headings[:, :1], spans * (box.leave - box.enter), strict=True):
            turning = min(turning, _time_to_turn(heading, span, turn - _WITHIN))
        span = float(node.motion(node.middle).duration * (box.leave - box.enter))
        wait = _find_wait(span, first, last)
        if wait + turning < best.total:
            best = ResponseBound(wait, turning)
    return best


def _time_to_turn(heading: Floats, seconds: float, turn: float) -> float:
    """Return the shortest time in which a repeated clip turns by an angle; heading (M,) at evenly spaced times."""
    each = abs(float(heading[-1]))
    if each < 1e-3:
        return np.inf
    n = int(np.ceil(turn / each)) + 1
    turned = np.concatenate([[0.0], *(k * each + np.abs(heading[1:]) for k in range(n))])
    times = np.linspace(0.0, n * seconds, len(turned))
    rising = np.maximum.accumulate(turned)
    ends = np.interp(turned + turn, rising, times, right=np.inf)
    return float((ends - times).min())


def _find_wait(span: float, first: float, last: float) -> float:
    """Return the median time in seconds from a time in a clip to the middle of the next possible transition.

    span : duration of the clip in seconds. first, last : seconds from its start, and before its end, between which it
    can be changed.
    """
    waits = []
    for moment in (np.arange(_MOMENTS) + 0.5) / _MOMENTS * span:
        change = moment + 0.5 * first
        waits.append((change if change <= span - last else max(change, span)) - moment)
    return float(np.median(waits))


def _find_sharpest_turns(planner: Planner, sign: float) -> Floats:
    """Return for each state (S,) the sharpest turn, in radians, among all clips that can follow, now or later.

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
