"""Go to a point: choose the clips that leave the shortest remaining path (Heck 6.2.2.2 and 6.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.control.dubins_kernels import measure_paths
from marey.control.lookahead import LookaheadTable, get_lookahead_table, sample_box, tightest_radii
from marey.control.lookahead_kernels import ClipCosts, ClipStarts, PathGoal
from marey.control.settings import GoToSettings
from marey.core.arrays import Floats, Ints, freeze_array, set_readonly
from marey.core.settings import operation
from marey.deprecation import renamed_method, renamed_parameters
from marey.errors import InvalidValue, UnknownName
from marey.maths import rigid2d
from marey.pmg import Choice, ControlState, ParametricMotionGraph

__all__ = ["GoTo", "arc_and_straight", "check_radii", "dubins_length"]

# Meters: wider circles count as straight lines.
_WIDEST = 1e4
# Meters: a clip that passes the point within this distance may end the path; otherwise going around again is better.
_PASSING = 0.25
# Meters of path that one meter of miss distance costs.
_MISS = 6.0
# Radians: a clip within this angle of the goal heading may end the path. Meters of path that a radian of error costs.
_FACING = np.radians(15.0)
_OFF = 3.0
_LIMITS = set_readonly(np.array([_PASSING, _MISS, _FACING, _OFF]))
# Planning radius relative to a node's tightest circle, for a goal without and with a heading. A goal with a heading
# needs more room, because turns begin and end only where clips do.
_WIDER, _ROOMY = 1.05, 1.75
# Extra cost in meters of an estimated path: perhaps no clip follows the estimated arcs and lines exactly.
_DOUBT = 2.0
# Minimum cost of a clip in meters, because clips on the spot take time too.
_LEAST = 0.5
# Number of clips to expand per level, and its minimum. If several nodes can follow each clip, fewer are expanded to
# keep the time of a choice the same.
_BEAM, _FEWEST = 24, 12


class _Candidates(NamedTuple):
    """N candidate clips of one node.

    parameters : (N, d), for d parameters. enter : (N,) moments at which the clips begin, 0 to 1. here : (N, 3) rigid2d
    where they begin. gone : (N,) meters of path before them. root : (N,) index of the first clip of each sequence.
    """

    node: str
    parameters: Floats
    enter: Floats
    here: Floats
    gone: Floats
    root: Ints


class GoTo:
    """Controller that walks to a point, optionally with a heading there, and on to the next point when requested.

    It places possible clips end to end, a few clips ahead. The best sequence passes the point itself, or leaves the
    shortest path to it along the tightest circles and straight lines (a Dubins path if a heading is given). The
    controller chooses the first clip of that sequence. `lookahead=1` is greedy: it sees where each clip ends, but not
    that leaving a sharp turn takes several steps.

    Parameters
    ----------
    point : (2,) x and z of the goal on the floor, meters.

    The options are those of `GoToSettings`.
    """

    @renamed_parameters(ahead="lookahead")
    @operation(GoToSettings)
    def __init__(self, point: ArrayLike, settings: GoToSettings) -> None:
        self.lookahead, nodes = settings.lookahead, settings.nodes
        self._nodes = None if nodes is None else tuple(nodes)
        self._lookahead: LookaheadTable | None = None
        self._radii: dict[str, Floats] = {}
        self._point: Floats = np.zeros(2)
        self._heading: float | None = None
        self.request(point=point, heading=settings.heading)

    ahead = renamed_method("ahead", "lookahead")

    @property
    def point(self) -> Floats:
        """Goal position (2,) on the floor, x and z in meters."""
        return self._point

    @property
    def heading(self) -> float | None:
        """Heading at the goal in radians from +Z; None if any heading is allowed."""
        return self._heading

    def request(self, **command: Any) -> None:
        """Set a new `point` or `heading`, starting with the next clip. A value that is not given stays unchanged."""
        for name in command:
            if name not in ("point", "heading"):
                raise InvalidValue(f"GoTo takes the commands point and heading, not {name!r}")
        point = freeze_array(command["point"], "point", (2,)) if "point" in command else self._point
        heading = GoToSettings(heading=command.get("heading", self._heading)).heading
        self._point = point
        self._heading = None if heading is None else float(rigid2d.wrap_angle(heading))
        self._goal = np.array([np.nan if self._heading is None else self._heading, *point])

    def prepare(self, graph: ParametricMotionGraph) -> LookaheadTable:
        """Compute and return the lookahead tables of a character now, so no later choice has to wait for them."""
        lookahead = get_lookahead_table(graph)
        if lookahead is not self._lookahead:
            lookahead.prepare()
            self._lookahead, self._radii = lookahead, _planning_radii(graph)
        return lookahead

    def choose(self, state: ControlState) -> Choice:
        """Choose the first clip of the shortest path."""
        lookahead = self.prepare(state.graph)
        firsts: list[_Candidates] = []
        n_before = [0]
        for option in state.options:
            if self._nodes is None or option.node.name in self._nodes:
                box, unit = option.range, sample_box(option.node, fine=True)
                n = len(unit)
                numbers = np.arange(n_before[-1], n_before[-1] + n)
                parameters = box.region.project(box.low + unit * (box.high - box.low))
                here, enter = lookahead.begun(state, option, parameters), np.full(n, box.enter)
                firsts.append(_Candidates(option.node.name, parameters, enter, here, np.zeros(n), numbers))
                n_before.append(n_before[-1] + n)
        if not firsts:
            named = ", ".join(map(repr, self._nodes or ()))
            raise UnknownName(f"none of {named} can follow {state.node!r}; choose other nodes, or connect them")
        root = self._search(lookahead, firsts)
        which = int(np.searchsorted(n_before, root, side="right")) - 1
        return Choice(firsts[which].node, firsts[which].parameters[root - n_before[which]])

    def _search(self, lookahead: LookaheadTable, level: list[_Candidates]) -> int:
        """Return the index of the first clip of the best sequence found."""
        best, choice = np.inf, 0
        for depth in range(self.lookahead):
            last = depth == self.lookahead - 1
            weighed = [self._compute_costs(lookahead, clips) for clips in level]
            for clips, worth in zip(level, weighed, strict=True):
                # Estimates of the remaining path count only at the last level; before that, only finished paths count.
                total = clips.gone + (np.minimum(worth.done, worth.onward + _DOUBT) if last else worth.done)
                k = int(np.argmin(total))
                if total[k] < best:
                    best, choice = float(total[k]), int(clips.root[k])
            if not last:
                level = self._expand(lookahead, level, weighed, best)
                if not level:
                    break
        return choice

    def _compute_costs(self, lookahead: LookaheadTable, clips: _Candidates) -> ClipCosts:
        wider = _WIDER if self._heading is None else _ROOMY
        radii = np.minimum(wider * self._radii[clips.node], _WIDEST)
        starts = ClipStarts(clips.parameters, clips.enter, clips.here)
        return lookahead.weigh(clips.node, starts, PathGoal(self._goal, radii, _LIMITS, _LEAST))

    def _expand(
        self, lookahead: LookaheadTable, level: list[_Candidates], weighed: list[ClipCosts], best: float
    ) -> list[_Candidates]:
        """Expand the most promising clips of a level that can still beat the best total cost."""
        hopes = [clips.gone + worth.onward for clips, worth in zip(level, weighed, strict=True)]
        every = np.concatenate(hopes)
        beam = max(_FEWEST, round(_BEAM * len(lookahead.graph.nodes) / len(lookahead.graph.edges)))
        beam = min(beam, _BEAM)
        limit = np.partition(every, beam)[beam] if len(every) > beam else np.inf
        out: list[_Candidates] = []
        for clips, worth, hope in zip(level, weighed, hopes, strict=True):
            keep = np.flatnonzero((hope <= limit) & (hope < best))
            if not len(keep):
                continue
            for target in lookahead.table(clips.node).boxes:
                if self._nodes is None or target in self._nodes:
                    unit = sample_box(lookahead.graph[target], fine=False)
                    chosen, enter, parent = lookahead.choices(clips.node, target, clips.parameters[keep], unit)
                    row = keep[parent]
                    join = lookahead.join(clips.node, target)
                    here = join.entered(clips.parameters[row], chosen, worth.places[row])
                    gone = clips.gone[row] + worth.spent[row]
                    out.append(_Candidates(target, chosen, enter, here, gone, clips.root[row]))
        return out


def _planning_radii(graph: ParametricMotionGraph) -> dict[str, Floats]:
    """Return the planning radii (2,) to the left and right in meters, by node; a node on the spot uses the smallest."""
    found = {name: np.array(tightest_radii(node)) for name, node in graph.nodes.items()}
    nimblest = np.min(list(found.values()), axis=0)
    return {name: each if np.isfinite(each).any() else nimblest for name, each in found.items()}


def dubins_length(places: ArrayLike, goal: ArrayLike, radius: float | tuple[float, float]) -> Floats:
    """Return the lengths (...) in meters of the shortest paths from places to a goal (Dubins paths).

    A path starts and ends with arcs of the tightest circles, with a straight line or a third arc in between.

    Parameters
    ----------
    places : (..., 3) rigid2d (theta, x, z), positions and headings of characters.
    goal : (3,) rigid2d, position and heading on arrival.
    radius : radius of the tightest circle in meters, or a pair for left and right; infinite for a side to which the
        character cannot turn.
    """
    here = np.asarray(places, dtype=np.float64)
    if here.ndim < 1 or here.shape[-1] != 3:
        raise InvalidValue(f"places must have shape (..., 3), not {here.shape}")
    left, right = check_radii(radius)
    out = np.empty(here.size // 3)
    measure_paths(np.ascontiguousarray(here.reshape(-1, 3)), freeze_array(goal, "goal", (3,)), left, right, out)
    return np.asarray(out.reshape(here.shape[:-1]))


def check_radii(radius: float | tuple[float, float]) -> tuple[float, float]:
    """Check the turning radii to the left and right, and cap each at the radius that is treated as straight."""
    both = np.broadcast_to(np.asarray(radius, dtype=np.float64), (2,)) if np.ndim(radius) < 2 else np.zeros(2)
    if np.isnan(both).any() or (both <= 0.0).any():
        raise InvalidValue(
            f"radius must be a distance in meters, greater than 0, or a pair (left, right), not {radius!r}"
        )
    return float(min(both[0], _WIDEST)), float(min(both[1], _WIDEST))


def arc_and_straight(places: ArrayLike, goal: ArrayLike, radius: float) -> Floats:
    """Return the lengths (...) in meters of the shortest paths to a point: along a circle, then straight.

    This is the Dubins path if the final heading does not matter. A point inside the circle on one side is reached along
    the circle on the other side.

    Parameters
    ----------
    places : (..., 3) rigid2d (theta, x, z), positions and headings of characters.
    goal : (2,) x and z in meters.
    radius : radius of the tightest circle in meters.
    """
    here, there = np.asarray(places, dtype=np.float64), np.asarray(goal, dtype=np.float64)
    left, ahead = np.moveaxis(rigid2d.apply(rigid2d.invert(here), np.broadcast_to(there, (*here.shape[:-1], 2))), -1, 0)
    lengths = [_turn_left(side * left, ahead, radius) for side in (1.0, -1.0)]
    return np.minimum(*lengths)


def _turn_left(left: Floats, ahead: Floats, r: float) -> Floats:
    """Return the lengths of paths that turn left and then go straight; infinite for points inside the circle.

    After an angle t, the character is at r (1 - cos t, sin t) and continues along (sin t, cos t).
    """
    u = left - r
    d = np.hypot(u, ahead)
    straight = np.sqrt(np.maximum(d * d - r * r, 0.0))
    turn = np.arctan2(ahead, -u) - np.arctan2(straight, r)
    turn = np.where(turn < -1e-9, turn + 2.0 * np.pi, np.maximum(turn, 0.0))
    return np.where(d < r - 1e-12, np.inf, r * turn + straight)
