"""A controller that hits target points: it turns and steps until an action reaches the point (Heck 6.2.2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, freeze_array
from marey.errors import InvalidValue, NoResult, UnknownName
from marey.maths import rigid2d
from marey.pmg import Choice, ControlState, Node, ParametricMotionGraph, TransitionOption, request_at_point

__all__ = ["Hit", "HitPoint"]

# Number of clips to try for each node that moves toward the point.
_TRIED = 60
# A clip that brings the point less than this many meters closer does not count as progress.
_PROGRESS = 0.02


class Hit(NamedTuple):
    """An action that was aimed at a point.

    seconds : stream time at which the action was chosen.
    node : name of its node.
    point : (3,) the point, in world coordinates.
    miss : expected distance from the point, in meters.
    """

    seconds: float
    node: str
    point: Floats
    miss: float


class HitPoint:
    """Controller that hits a point with any of the actions that are aimed at points.

    While no action reaches the point, it plays clips of other nodes that bring the point closest to the reach of an
    action. If no clip brings it closer, the action that comes nearest is played. `hits` lists the actions so far. After
    a hit, the character stays where it is until ``request(point=...)`` gives it the next point.

    Parameters
    ----------
    point : (3,) world position in meters; None to wait for a request.
    nodes : names of the nodes that hit; by default all that convert a point to parameters ("at a point").
    within : distance in meters within which an action counts as reaching the point.

    Examples
    --------
    >>> from marey.pmg import ActionSpace, request_at_point
    >>> kicker = marey.ParametricMotionGraph("kicker")
    >>> node = kicker.add("kick", ActionSpace.build(space), request=request_at_point)
    >>> edge = kicker.connect("kick", "kick", n_source=10, n_target=30)
    >>> controller = marey.control.HitPoint((0.0, 1.0, 0.9))  # meters
    >>> motion = kicker.stream(controller).record(3.0)
    >>> controller.hits[0].node
    'kick'
    """

    def __init__(self, point: ArrayLike | None = None, *, nodes: Sequence[str] = (), within: float = 0.05) -> None:
        self.point = None if point is None else freeze_array(point, "point", (3,))
        self.within = float(within)
        self.hits: list[Hit] = []
        self._names = tuple(nodes)
        self._hitters: dict[str, Node] = {}
        if not self.within > 0.0:
            raise InvalidValue(f"within must be a distance greater than 0 m, not {within}", parameter="within")

    def request(self, **command: Any) -> None:
        """Accept a command: ``point``, a world position (3,), or None to stop."""
        unknown = sorted(command.keys() - {"point"})
        if unknown:
            raise UnknownName(f"HitPoint takes the command point, not {unknown[0]!r}")
        point = command.get("point")
        self.point = None if point is None else freeze_array(point, "point", (3,))

    def prepare(self, graph: ParametricMotionGraph) -> None:
        """Find the nodes that hit."""
        names = self._names or [name for name, node in graph.nodes.items() if node.request is request_at_point]
        self._hitters = {name: graph[name] for name in names}
        if not names:
            raise NoResult(f"no node of {graph.name!r} can hit a target point; add one with the request 'at a point'")

    def choose(self, state: ControlState) -> Choice:
        """Choose an action that reaches the point, else the clip that brings the point closest to an action's reach."""
        if not self._hitters:
            self.prepare(state.graph)
        movers = [each for each in state.options if each.node.name not in self._hitters] or list(state.options)
        if self.point is None:
            option = movers[0]
            return Choice(option.node.name, option.range.region.project(np.zeros(option.node.n_dims)))
        aimed = [self._aim(option) for option in state.options if option.node.name in self._hitters]
        best = min(aimed, key=lambda each: each[0], default=None)
        if best is not None and (best[0] <= self.within or not movers):
            return self._hit(state, *best)
        gap, choice = min((self._approach(option) for option in movers), key=lambda each: each[0])
        if best is not None and gap > self._measure_gap(movers[0].place[None]).min() - _PROGRESS:
            return self._hit(state, *best)
        return choice

    def _aim(self, option: TransitionOption) -> tuple[float, Choice]:
        """Return the distance in meters by which an action misses the point, and the `Choice` that plays it."""
        node = option.node
        wanted = np.atleast_1d(node.request(node, {"point": self.point}, option.place))
        played = option.range.region.project(wanted, node.scale)
        return float(np.linalg.norm(node.reached(played) - wanted)), Choice(node.name, played)

    def _hit(self, state: ControlState, miss: float, choice: Choice) -> Choice:
        assert self.point is not None
        self.hits.append(Hit(state.seconds, choice.node, self.point, miss))
        self.point = None
        return choice

    def _approach(self, option: TransitionOption) -> tuple[float, Choice]:
        """Choose the clip of a node after which the point is closest to the reach of the actions.

        Return that distance in meters, and the `Choice` that plays the clip.
        """
        node = option.node
        tried = option.range.region.sample(_TRIED, np.random.default_rng(0), corners=True)
        paths = node.paths(tried)
        at = int(np.clip(round(option.range.enter * (paths.shape[1] - 1)), 0, paths.shape[1] - 1))
        ends = rigid2d.compose(option.place, rigid2d.compose(rigid2d.invert(paths[:, at]), paths[:, -1]))
        gaps = self._measure_gap(ends)
        best = int(np.argmin(gaps))
        return float(gaps[best]), Choice(node.name, tried[best])

    def _measure_gap(self, places: Floats) -> Floats:
        """Return the distance (B,) in meters from the point to the reach of the actions at placements (B, 3)."""
        gaps = []
        for node in self._hitters.values():
            wanted = np.stack([node.request(node, {"point": self.point}, place) for place in places])
            gaps.append(np.linalg.norm(node.region.project(wanted, np.ones(node.n_dims)) - wanted, axis=1))
        return np.asarray(np.min(gaps, axis=0))
