"""Go to a point: choose the clips that leave the shortest remaining path (Heck 6.2.2.2 and 6.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.control.dubins import WIDEST
from marey.control.outlook import Outlook, outlook_of, spread, tightest
from marey.control.outlook_kernels import ClipCosts, ClipStarts, PathGoal
from marey.core.arrays import Floats, Ints, check_index, freeze_array, set_readonly
from marey.errors import InvalidValue, UnknownName
from marey.maths import rigid2d
from marey.pmg import Choice, Moment, ParametricMotionGraph

__all__ = ["GoTo"]

# Meters: a clip that passes this close to the point may end the path; farther away, going around again is better.
_PASSING = 0.25
# Meters of path that one meter of miss distance costs.
_MISS = 6.0
# Radians: a clip within this of the heading may end the path; and meters of path that a radian of error costs.
_FACING = np.radians(15.0)
_OFF = 3.0
_LIMITS = set_readonly(np.array([_PASSING, _MISS, _FACING, _OFF]))
# Radius used for planning, relative to a node's tightest circle. A goal with a heading needs more room, because turns
# begin and end only where clips do.
_WIDER, _ROOMY = 1.05, 1.75
# Extra cost in meters of a path that is only estimated: no clip may follow the estimated arcs and lines exactly.
_DOUBT = 2.0
# Minimum cost of a clip in meters: clips on the spot take time too.
_LEAST = 0.5
# Number of clips to expand per level. If several nodes can follow each clip, fewer, so that a choice takes no longer.
_BEAM, _FEWEST = 24, 12
_MAX_AHEAD = 8


class _Candidates(NamedTuple):
    """Candidate clips, N of one node.

    parameters : (N, d). enter : (N,) moments at which they begin. here : (N, 3) rigid2d where they begin. gone : (N,)
    meters before. root : (N,) index of the first clip of the sequence.
    """

    node: str
    parameters: Floats
    enter: Floats
    here: Floats
    gone: Floats
    root: Ints


class GoTo:
    """Walks to a point, optionally with a heading there, and to the next one when requested.

    It lays possible clips end to end, a few clips ahead. It chooses the first clip of the sequence after which the path
    along the tightest circles and straight on is shortest (a Dubins path if a heading is given), or which passes the
    point itself. `ahead=1` is greedy: it sees where each clip ends, but not that leaving a sharp turn takes several
    steps.

    Parameters
    ----------
    point : (2,) x and z in meters.
    heading : radians from +Z in the world, positive to the left, to face at the point; None for any.
    ahead : number of clips to look ahead, 1 to 8.
    nodes : names of the nodes to use; all by default.
    """

    def __init__(
        self,
        point: ArrayLike,
        *,
        heading: float | None = None,
        ahead: int = 3,
        nodes: Sequence[str] | None = None,
    ) -> None:
        self.ahead = check_index(ahead, "ahead")
        if not 1 <= self.ahead <= _MAX_AHEAD:
            raise InvalidValue(f"ahead must be a number of clips from 1 to {_MAX_AHEAD}, got {ahead}")
        self._nodes = None if nodes is None else tuple(nodes)
        self._outlook: Outlook | None = None
        self._radii: dict[str, Floats] = {}
        self._point: Floats = np.zeros(2)
        self._heading: float | None = None
        self.request(point=point, heading=heading)

    @property
    def point(self) -> Floats:
        """(2,) x and z of the point."""
        return self._point

    @property
    def heading(self) -> float | None:
        """Radians, heading at the goal; None for any."""
        return self._heading

    def request(self, **wish: Any) -> None:
        """Set another `point`, or another `heading` there, from the next clip on; anything not named stays as it is."""
        for name in wish:
            if name not in ("point", "heading"):
                raise InvalidValue(f"going to a point takes a point and a heading, got {name!r}")
        point = freeze_array(wish["point"], "point", (2,)) if "point" in wish else self._point
        heading = wish.get("heading", self._heading)
        if heading is not None and not (np.ndim(heading) == 0 and np.isfinite(heading)):
            raise InvalidValue(f"heading must be an angle in radians, or None for any, got {heading!r}")
        self._point = point
        self._heading = None if heading is None else float(rigid2d.wrap_angle(float(heading)))
        self._goal = np.array([np.nan if self._heading is None else self._heading, *point])

    def prepare(self, graph: ParametricMotionGraph) -> Outlook:
        """Compute the tables of a character now, so that no choice waits for them."""
        outlook = outlook_of(graph)
        if outlook is not self._outlook:
            outlook.prepare()
            self._outlook, self._radii = outlook, _planning_radii(graph)
        return outlook

    def choose(self, moment: Moment) -> Choice:
        """Choose the first clip of the shortest path."""
        outlook = self.prepare(moment.graph)
        firsts: list[_Candidates] = []
        n_before = [0]
        for option in moment.options:
            if self._nodes is None or option.node.name in self._nodes:
                box, unit = option.onward, spread(option.node, fine=True)
                n = len(unit)
                numbers = np.arange(n_before[-1], n_before[-1] + n)
                parameters = box.low + unit * (box.high - box.low)
                here, enter = outlook.begun(moment, option, parameters), np.full(n, box.enter)
                firsts.append(_Candidates(option.node.name, parameters, enter, here, np.zeros(n), numbers))
                n_before.append(n_before[-1] + n)
        if not firsts:
            named = ", ".join(map(repr, self._nodes or ()))
            raise UnknownName(f"none of {named} can follow {moment.node!r}; choose other nodes")
        root = self._search(outlook, firsts)
        which = int(np.searchsorted(n_before, root, side="right")) - 1
        return Choice(firsts[which].node, firsts[which].parameters[root - n_before[which]])

    def _search(self, outlook: Outlook, level: list[_Candidates]) -> int:
        """Return the index of the first clip of the best sequence found."""
        best, choice = np.inf, 0
        for depth in range(self.ahead):
            last = depth == self.ahead - 1
            weighed = [self._compute_costs(outlook, clips) for clips in level]
            for clips, worth in zip(level, weighed, strict=True):
                # The estimate of the rest counts in full only at the last level; before that, only finished paths
                # count.
                total = clips.gone + (np.minimum(worth.done, worth.onward + _DOUBT) if last else worth.done)
                k = int(np.argmin(total))
                if total[k] < best:
                    best, choice = float(total[k]), int(clips.root[k])
            if not last:
                level = self._expand(outlook, level, weighed, best)
                if not level:
                    break
        return choice

    def _compute_costs(self, outlook: Outlook, clips: _Candidates) -> ClipCosts:
        wider = _WIDER if self._heading is None else _ROOMY
        radii = np.minimum(wider * self._radii[clips.node], WIDEST)
        starts = ClipStarts(clips.parameters, clips.enter, clips.here)
        return outlook.weigh(clips.node, starts, PathGoal(self._goal, radii, _LIMITS, _LEAST))

    def _expand(
        self, outlook: Outlook, level: list[_Candidates], weighed: list[ClipCosts], best: float
    ) -> list[_Candidates]:
        """Expand the most promising clips of a level, as long as they can still beat the best."""
        hopes = [clips.gone + worth.onward for clips, worth in zip(level, weighed, strict=True)]
        every = np.concatenate(hopes)
        beam = max(_FEWEST, round(_BEAM * len(outlook.graph.nodes) / len(outlook.graph.edges)))
        beam = min(beam, _BEAM)
        limit = np.partition(every, beam)[beam] if len(every) > beam else np.inf
        out: list[_Candidates] = []
        for clips, worth, hope in zip(level, weighed, hopes, strict=True):
            keep = np.flatnonzero((hope <= limit) & (hope < best))
            if not len(keep):
                continue
            for target in outlook.table(clips.node).boxes:
                if self._nodes is None or target in self._nodes:
                    unit = spread(outlook.graph.node(target), fine=False)
                    chosen, enter, parent = outlook.choices(clips.node, target, clips.parameters[keep], unit)
                    row = keep[parent]
                    join = outlook.join(clips.node, target)
                    here = join.entered(clips.parameters[row], chosen, worth.places[row])
                    gone = clips.gone[row] + worth.spent[row]
                    out.append(_Candidates(target, chosen, enter, here, gone, clips.root[row]))
        return out


def _planning_radii(graph: ParametricMotionGraph) -> dict[str, Floats]:
    """(2,) meters, planning radii to the left and right, by node; a node on the spot uses the smallest of all."""
    found = {name: np.array(tightest(node)) for name, node in graph.nodes.items()}
    nimblest = np.min(list(found.values()), axis=0)
    return {name: each if np.isfinite(each).any() else nimblest for name, each in found.items()}
