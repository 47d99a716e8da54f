"""Steer a parametric motion graph in a direction, to a floor point or at a target, and outline its reachable area."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from marey.control import FollowDirection, GoTo, GoToSettings, get_planner
from marey.core.arrays import Floats
from marey.maths import rigid2d
from marey.pmg import Choice, ControlState, ParametricMotionGraph, TransitionOption

# Points per side of a box, and maximum number of nodes whose reachable area is drawn.
_ALONG, _MAX_DRAWN = 7, 4
# Meters that a node's motion must travel to count as locomotion.
_MIN_TRAVEL = 0.2


class Steering:
    """A controller that follows the current request and stores the alternatives of its last choice.

    If no node is requested, it chooses one that fits the request: a node that can turn, for a direction or a floor
    point, and a node with the requested speed.

    waits : whether `prepare` computes the tables for going to points. Otherwise the character turns toward a point
        until they are there.
    reach : outlines (n, 2), x and z, of where the character can be at the end of the next clip, in the stream's
        coordinates.
    count : number of choices so far.
    """

    changes_clips = True
    stops = True

    def __init__(self, graph: ParametricMotionGraph, settings: GoToSettings | None = None, waits: bool = True) -> None:
        self._waits = waits
        self._follow = FollowDirection()
        self._turning = turning = find_turning(graph)
        self._steered = self._turning or tuple(name for name, node in graph.nodes.items() if "turn" in node.names)
        self._go_to = GoTo((0.0, 0.0), nodes=turning, settings=settings) if turning else None
        self._point: Floats | None = None
        self.reach: list[Floats] = []
        self.count = 0

    def prepare(self, graph: ParametricMotionGraph) -> None:
        """Build lookup tables in advance."""
        self._follow.prepare(graph)
        if self._go_to is not None and self._waits:
            self._go_to.prepare(graph)

    def request(self, **command: Any) -> None:
        """Set the request: ``floor`` is the point (x, z) to go to, or None; the rest goes to `FollowDirection`."""
        if "floor" in command:
            floor = command.pop("floor")
            self._point = None if floor is None else np.asarray(floor, dtype=np.float64)
            if self._point is not None and self._go_to is not None:
                self._go_to.request(point=self._point)
        self._follow.request(**command)

    def choose(self, state: ControlState) -> Choice:
        """Choose the next clip."""
        self.count += 1
        self.reach = [line for option in state.options[:_MAX_DRAWN] for line in _reach(option)]
        named = self._follow.command.get("node")
        is_stopping = bool(self._follow.command.get("stop") and get_planner(state.graph).rests)
        node = named or (None if is_stopping else self._fit(state))
        can_go = any(option.node.name in self._turning for option in state.options)
        is_ready = self._go_to is not None and (self._waits or self._go_to.is_prepared(state.graph))
        if (
            self._point is not None
            and self._go_to is not None
            and is_ready
            and can_go
            and node in (None, *self._turning)
        ):
            return self._go_to.choose(state)
        if self._point is not None:
            # Turn toward the point as far as the current node can, until a locomotion node can follow.
            x, z = self._point - state.options[0].place[1:]
            self._follow.request(direction=float(np.arctan2(x, z)))
        self._follow.request(node=node)
        try:
            return self._follow.choose(state)
        finally:
            self._follow.request(node=named)

    def _fit(self, state: ControlState) -> str | None:
        """Return the node that fits a request without a node; None to stay with the current one."""
        command, graph = self._follow.command, state.graph
        steered = self._point is not None or command.get("direction") is not None
        node = state.node
        if node not in self._steered:
            nearest = _find_nearest(graph, node, self._steered) if steered else []
            if not nearest:
                return None
            node = nearest[0]
        speed = command.get("speed")
        if speed is not None and _speed_shortfall(graph, node, speed) > 0.0:
            paced = [name for name in self._steered if "speed" in graph[name].names]
            # Nearest first: of equally good nodes, prefer one that is reached sooner.
            node = min(
                _find_nearest(graph, node, paced), key=lambda name: _speed_shortfall(graph, name, speed), default=node
            )
        return None if node == state.node else node


def _find_nearest(graph: ParametricMotionGraph, source: str, names: Sequence[str]) -> list[str]:
    """Return those of the named nodes that can be reached from `source`, in the order of the time it takes."""
    planner, middle = get_planner(graph), graph[source].middle
    seconds = {name: planner.seconds_to_node(source, middle, name) if name != source else -1.0 for name in names}
    return sorted((name for name in names if np.isfinite(seconds[name])), key=lambda name: seconds[name])


def _speed_shortfall(graph: ParametricMotionGraph, name: str, speed: float) -> float:
    """Return how far `speed` lies outside the node's speed range, in m/s; 0 for nodes without a speed parameter."""
    node = graph[name]
    if "speed" not in node.names:
        return 0.0
    k = node.names.index("speed")
    return max(float(node.low[k]) - speed, speed - float(node.high[k]), 0.0)


def find_turning(graph: ParametricMotionGraph) -> tuple[str, ...]:
    """Return the names of the nodes that travel and turn."""
    return tuple(name for name, node in graph.nodes.items() if "turn" in node.names and _travels(node))


def _travels(node: Any) -> bool:
    path = node.paths(node.middle[None])[0]
    return bool(np.hypot(*(path[-1, 1:] - path[0, 1:])) > _MIN_TRAVEL)


def _reach(option: TransitionOption) -> list[Floats]:
    """Return the outline of where the character can be at the end of a clip with parameters in the option's box.

    Empty for more than two parameters, which control hands and head instead of locomotion.
    """
    box, node = option.range, option.node
    if len(box.low) > 2:
        return []
    grid = _make_outline(len(box.low))
    ends = node.paths(box.low + grid * (box.high - box.low))
    last = ends.shape[1] - 1
    begun = ends[:, int(np.clip(round(box.enter * last), 0, last))]
    moved = rigid2d.compose(option.place, _relative_to(begun, ends[:, last]))
    ends_at = np.asarray(moved[:, 1:])
    return [np.concatenate([option.place[None, 1:], ends_at]) if len(box.low) == 1 else ends_at]


def _relative_to(start: Floats, end: Floats) -> Floats:
    """Return the placements (n, 3) of `end` relative to `start`, each (theta, x, z)."""
    return np.asarray(rigid2d.compose(rigid2d.invert(start), end))


def _make_outline(n_dims: int) -> Floats:
    """Return points (n, d), as fractions of the sides, along the outline of a box with d = 1 or 2 dimensions."""
    along = np.linspace(0.0, 1.0, _ALONG)
    if n_dims == 1:
        return along[:, None]
    low, high = np.zeros(_ALONG), np.ones(_ALONG)
    sides = [(along, low), (high, along), (along[::-1], high), (low, along[::-1])]
    return np.concatenate([np.stack(side, axis=1) for side in sides])
