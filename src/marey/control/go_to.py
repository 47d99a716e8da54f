"""Going to a point: the clips that leave the shortest way, told by where they would lead (Heck 6.2.2.2 and 6.3)."""

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

# Metres: a clip that passes this near to the point may end the way; beyond, going round again counts as better.
_PASSING = 0.25
# Metres of way that a metre of missing the point weighs.
_MISS = 6.0
# Radians: a clip that faces the heading to within this may end the way; and metres of way that a radian off it weighs.
_FACING = np.radians(15.0)
_OFF = 3.0
_LIMITS = set_readonly(np.array([_PASSING, _MISS, _FACING, _OFF]))
# The circles that are planned with, over the tightest that a node has; where a heading is to be met, there must be room
# to begin and end turns where clips do.
_WIDER, _ROOMY = 1.05, 1.75
# Metres that a way counts more which is still to be found: arcs and lines tell of circles that no clip may lead along.
_DOUBT = 2.0
# Metres that a clip counts at the least: what is done on the spot takes time too.
_LEAST = 0.5
# Clips that are looked at further, of all that could follow those before: where several nodes can follow each, fewer of
# them, so that a choice takes no longer.
_BEAM, _FEWEST = 24, 12
_MOST_AHEAD = 8


class _Clips(NamedTuple):
    """Clips to be weighed, N of one node.

    parameters : (N, d). enter : (N,) moments at which they begin. here : (N, 3) rigid2d where they do. gone : (N,)
    metres before. root : (N,) number of the first clip of the way.
    """

    node: str
    parameters: Floats
    enter: Floats
    here: Floats
    gone: Floats
    root: Ints


class GoTo:
    """Walks to a point, on request with a heading there, and to the next one when it is asked to.

    Clips that can follow one another are laid end to end, a few ahead. The first of those is chosen after which the way
    along the tightest circles and straight on is shortest (Dubins' way, where a heading is asked for), or that pass
    the point itself. With `ahead=1` this is greedy: it sees where each clip ends, but not that a sharp turn has to be
    left step by step.

    Parameters
    ----------
    point : (2,) x and z in metres.
    heading : radians from +Z in the world, positive to the left, which way to face at the point; None for any.
    ahead : how many clips to look ahead, 1 to 8.
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
        if not 1 <= self.ahead <= _MOST_AHEAD:
            raise InvalidValue(f"ahead must be a number of clips from 1 to {_MOST_AHEAD}, got {ahead}")
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
        """Radians, which way to face there; None for any."""
        return self._heading

    def request(self, **wish: Any) -> None:
        """Another `point`, or another `heading` there, from the next clip on; what is not named stays."""
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
        """Make the tables of a character now, so that no choice waits for them."""
        outlook = outlook_of(graph)
        if outlook is not self._outlook:
            outlook.prepare()
            self._outlook, self._radii = outlook, _radii(graph)
        return outlook

    def choose(self, moment: Moment) -> Choice:
        """The clip that begins the shortest way."""
        outlook = self.prepare(moment.graph)
        firsts: list[_Clips] = []
        n_before = [0]
        for option in moment.options:
            if self._nodes is None or option.node.name in self._nodes:
                box, unit = option.onward, spread(option.node, fine=True)
                n = len(unit)
                numbers = np.arange(n_before[-1], n_before[-1] + n)
                parameters = box.low + unit * (box.high - box.low)
                here, enter = outlook.begun(moment, option, parameters), np.full(n, box.enter)
                firsts.append(_Clips(option.node.name, parameters, enter, here, np.zeros(n), numbers))
                n_before.append(n_before[-1] + n)
        if not firsts:
            named = ", ".join(map(repr, self._nodes or ()))
            raise UnknownName(f"none of {named} can follow {moment.node!r}; name other nodes")
        root = self._searched(outlook, firsts)
        which = int(np.searchsorted(n_before, root, side="right")) - 1
        return Choice(firsts[which].node, firsts[which].parameters[root - n_before[which]])

    def _searched(self, outlook: Outlook, level: list[_Clips]) -> int:
        """The number of the first clip of the best way found."""
        best, choice = np.inf, 0
        for depth in range(self.ahead):
            last = depth == self.ahead - 1
            weighed = [self._weighed(outlook, clips) for clips in level]
            for clips, worth in zip(level, weighed, strict=True):
                # What is left counts in full at the last clip; before, only ways that end count.
                total = clips.gone + (np.minimum(worth.done, worth.onward + _DOUBT) if last else worth.done)
                k = int(np.argmin(total))
                if total[k] < best:
                    best, choice = float(total[k]), int(clips.root[k])
            if not last:
                level = self._grown(outlook, level, weighed, best)
                if not level:
                    break
        return choice

    def _weighed(self, outlook: Outlook, clips: _Clips) -> ClipCosts:
        wider = _WIDER if self._heading is None else _ROOMY
        radii = np.minimum(wider * self._radii[clips.node], WIDEST)
        starts = ClipStarts(clips.parameters, clips.enter, clips.here)
        return outlook.weigh(clips.node, starts, PathGoal(self._goal, radii, _LIMITS, _LEAST))

    def _grown(self, outlook: Outlook, level: list[_Clips], weighed: list[ClipCosts], best: float) -> list[_Clips]:
        """What can follow the most hopeful clips of a level, as far as they can still be better than the best."""
        hopes = [clips.gone + worth.onward for clips, worth in zip(level, weighed, strict=True)]
        every = np.concatenate(hopes)
        beam = max(_FEWEST, round(_BEAM * len(outlook.graph.nodes) / len(outlook.graph.edges)))
        beam = min(beam, _BEAM)
        limit = np.partition(every, beam)[beam] if len(every) > beam else np.inf
        out: list[_Clips] = []
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
                    out.append(_Clips(target, chosen, enter, here, gone, clips.root[row]))
        return out


def _radii(graph: ParametricMotionGraph) -> dict[str, Floats]:
    """(2,) metres of circles to the left and right to plan with, by node; on the spot, those of the nimblest node."""
    found = {name: np.array(tightest(node)) for name, node in graph.nodes.items()}
    nimblest = np.min(list(found.values()), axis=0)
    return {name: each if np.isfinite(each).any() else nimblest for name, each in found.items()}
