"""How a parametric motion graph is driven by hand: by direction, to a point, or at a point, and what it can reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from marey.control import FollowDirection, GoTo
from marey.control.routes import steps_to
from marey.core.arrays import Floats
from marey.maths import rigid2d
from marey.pmg import Choice, Moment, Option, ParametricMotionGraph

# Points along each side of a box, and nodes whose reach is drawn.
_ALONG, _MOST_DRAWN = 7, 4
# Metres that a node's motion has to go for points on the floor to be worth going to.
_GOES = 0.2


class Steering:
    """A controller that does what is wished at the moment, and remembers what it could have done.

    Where no node is named it takes one that can do what is wished: one that turns for a direction or a point on the
    floor, and one that is as fast as it should be.

    reach : lines (n, 2) of x and z, around where the figure could be at the end of the next clip; in the stream's
        world. count : rises with every choice.
    """

    def __init__(self, graph: ParametricMotionGraph) -> None:
        self._follow = FollowDirection()
        turning = [name for name, node in graph.nodes.items() if "turn" in node.names and _goes(node)]
        self._turning = tuple(turning)
        self._steered = self._turning or tuple(name for name, node in graph.nodes.items() if "turn" in node.names)
        self._go_to = GoTo((0.0, 0.0), nodes=turning) if turning else None
        self._point: Floats | None = None
        self.reach: list[Floats] = []
        self.count = 0

    def prepare(self, graph: ParametricMotionGraph) -> None:
        """Make all tables now."""
        self._follow.prepare(graph)
        if self._go_to is not None:
            self._go_to.prepare(graph)

    def request(self, **wish: Any) -> None:
        """``floor``, x and z to go to, or None; anything else as `FollowDirection` takes it."""
        if "floor" in wish:
            floor = wish.pop("floor")
            self._point = None if floor is None else np.asarray(floor, dtype=np.float64)
            if self._point is not None and self._go_to is not None:
                self._go_to.request(point=self._point)
        self._follow.request(**wish)

    def choose(self, moment: Moment) -> Choice:
        """The next clip."""
        self.count += 1
        self.reach = [line for option in moment.options[:_MOST_DRAWN] for line in _reach(option)]
        named = self._follow.wish.get("node")
        node = named or self._fit(moment)
        can_go = any(option.node.name in self._turning for option in moment.options)
        if self._point is not None and self._go_to is not None and can_go and node in (None, *self._turning):
            return self._go_to.choose(moment)
        if self._point is not None:
            # Turn to it, as far as what plays can, until something that goes can follow.
            x, z = self._point - moment.options[0].here[1:]
            self._follow.request(direction=float(np.arctan2(x, z)))
        self._follow.request(node=node)
        try:
            return self._follow.choose(moment)
        finally:
            self._follow.request(node=named)

    def _fit(self, moment: Moment) -> str | None:
        """The node for what is wished while none is named; None to stay with what plays."""
        wish, graph = self._follow.wish, moment.graph
        steered = self._point is not None or wish.get("direction") is not None
        node = moment.node
        if node not in self._steered:
            nearest = _nearest(graph, node, self._steered) if steered else []
            if not nearest:
                return None
            node = nearest[0]
        speed = wish.get("speed")
        if speed is not None and _off_speed(graph, node, speed) > 0.0:
            paced = [name for name in self._steered if "speed" in graph.node(name).names]
            # The nearest first, as of several that are as good one that can be had soon is better.
            node = min(_nearest(graph, node, paced), key=lambda name: _off_speed(graph, name, speed), default=node)
        return None if node == moment.node else node


def _nearest(graph: ParametricMotionGraph, source: str, names: Sequence[str]) -> list[str]:
    """Those of some nodes to which a way leads, the ones with fewest clips on it first."""
    steps = {name: steps_to(graph, name).get(source) for name in names}
    known = {name: n for name, n in steps.items() if n is not None}
    return sorted(known, key=lambda name: known[name])


def _off_speed(graph: ParametricMotionGraph, name: str, speed: float) -> float:
    """By how many m/s a node cannot go at a speed; 0 for one that has none."""
    node = graph.node(name)
    if "speed" not in node.names:
        return 0.0
    k = node.names.index("speed")
    return max(float(node.low[k]) - speed, speed - float(node.high[k]), 0.0)


def _goes(node: Any) -> bool:
    path = node.paths(node.middle[None])[0]
    return bool(np.hypot(*(path[-1, 1:] - path[0, 1:])) > _GOES)


def _reach(option: Option) -> list[Floats]:
    """A line around where the figure is at the end of a clip from the option's box.

    None for more than two parameters: these are about hands and head, and not about the way.
    """
    box, node = option.onward, option.node
    if len(box.low) > 2:
        return []
    grid = _outline(len(box.low))
    ends = node.paths(box.low + grid * (box.high - box.low))
    last = ends.shape[1] - 1
    begun = ends[:, int(np.clip(round(box.enter * last), 0, last))]
    moved = rigid2d.compose(option.here, _from(begun, ends[:, last]))
    ends_at = np.asarray(moved[:, 1:])
    return [np.concatenate([option.here[None, 1:], ends_at]) if len(box.low) == 1 else ends_at]


def _from(start: Floats, end: Floats) -> Floats:
    """(n, 3) rigid2d of `end` as seen from `start`."""
    return np.asarray(rigid2d.compose(rigid2d.invert(start), end))


def _outline(n_dims: int) -> Floats:
    """(n, d) shares of the sides of a box with one or two of them, in the order of a line around it."""
    along = np.linspace(0.0, 1.0, _ALONG)
    if n_dims == 1:
        return along[:, None]
    low, high = np.zeros(_ALONG), np.ones(_ALONG)
    sides = [(along, low), (high, along), (along[::-1], high), (low, along[::-1])]
    return np.concatenate([np.stack(side, axis=1) for side in sides])
