"""A joystick-style controller: walk in a world direction, at a speed, or play a named node (Heck 6.2.2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from marey.control.clip_model import find_turning_ring
from marey.control.planner import Planner, get_planner
from marey.deprecation import renamed_methods
from marey.errors import InvalidValue
from marey.maths import rigid2d
from marey.pmg import Choice, ControlState, ParametricMotionGraph
from marey.pmg.requests import check_command

__all__ = ["FollowDirection"]

# Radians: a choice is reviewed during the clip if the clip turns, or the heading is off, by more than this.
_FACING = np.radians(5.0)
# Commands that the controller handles itself; minimum speed in m/s of nodes that walk.
_OWN = ("node", "stop")
_WALKING = 0.2


@renamed_methods(wish="command")
class FollowDirection:
    """Controller that follows commands. Each node converts a command to its own parameters, as its ranges allow.

    The best parameters for one clip can be poor for a whole turn. Nodes that have a parameter ``turn`` and can follow
    themselves, or alternate with another node, therefore plan a turn over several clips; see `marey.control.planner`.

    Parameters
    ----------
    direction : radians from +Z in the world, positive to the left; None for no preference.
    node : name of the node to play. If it cannot follow the current node directly, the controller takes the
        fastest route. None stays with the current node as long as that can continue.
    stop : True to stand still, with a clip that does not move the character and can be repeated. Until such a clip can
        begin, or if there is none, the other commands apply. False to walk again. None to stay with the current node.
    others : any other command that the nodes know, such as ``speed``. A command that no node knows raises an error when
        the controller first steers a character.

    Examples
    --------
    >>> controller = marey.control.FollowDirection(0.0)
    >>> stream = character.stream(controller)
    >>> stream.request(direction=1.5)  # radians to the left
    >>> len(stream.record(2.0)), controller.command["direction"]
    (60, 1.5)
    """

    changes_clips = True
    stops = True

    def __init__(
        self, direction: float | None = None, *, node: str | None = None, stop: bool | None = None, **others: Any
    ) -> None:
        self._command: dict[str, Any] = {}
        self._planner: Planner | None = None
        self.request(direction=direction, node=node, stop=stop, **others)

    @property
    def command(self) -> dict[str, Any]:
        """The current command."""
        return dict(self._command)

    def request(self, **command: Any) -> None:
        """Change the command, starting with the next clip. Values that are not given stay unchanged."""
        for name, value in command.items():
            if name == "node":
                if value is not None and not isinstance(value, str):
                    raise InvalidValue(f"node must be a name, not {value!r}")
            elif name == "stop":
                if value not in (True, False, None):
                    raise InvalidValue(f"the command stop must be True, False or None, not {value!r}")
            elif value is not None:
                _check_number(name, value)
        if self._planner is not None:
            self._check_known(self._planner.graph, command)
        self._command |= command

    def choose(self, state: ControlState) -> Choice:
        """Choose the requested node, or the next node on the route to it, with parameters from the command."""
        planner = self.prepare(state.graph)
        command = {name: value for name, value in self._command.items() if name not in _OWN}
        wanted = self._command.get("node")
        if wanted is None and self._command.get("stop") is not None:
            rests = planner.rests if self._command["stop"] else {}
            wanted = planner.nearest_node(state, rests or self._find_walks(state.graph, planner))
            if wanted in rests and state.option(wanted) is not None:
                return Choice(wanted, rests[wanted])
        if wanted is None and np.isfinite(planner.seconds_to_node(state.node, state.parameters, state.node)):
            wanted = state.node
        option = state.options[0] if wanted is None else planner.next_option(state, wanted)
        node = option.node
        parameters = np.atleast_1d(node.request(node, command, option.place))
        review = False
        if command.get("direction") is not None and find_turning_ring(state.graph, node.name):
            free = [name == "turn" or command.get(name) is None for name in node.names]
            direction = float(command["direction"])
            parameters = planner.turn_to(state, option, direction, np.where(free, np.nan, parameters))
            turns = rigid2d.wrap_angle(direction - option.place[0]), parameters[node.names.index("turn")]
            review = max(map(abs, turns)) > _FACING
        return Choice(node.name, parameters, review)

    def _find_walks(self, graph: ParametricMotionGraph, planner: Planner) -> list[str]:
        """List the nodes that move the character and can be repeated, in any direction."""
        tables = planner.model.tables
        return [name for name in graph.nodes if find_turning_ring(graph, name) and tables[name].pace > _WALKING]

    def prepare(self, graph: ParametricMotionGraph) -> Planner:
        """Compute the tables of a character now, so no later choice has to wait for them; return its planner."""
        planner = get_planner(graph)
        if planner is not self._planner:
            self._check_known(graph, self._command)
            planner.table("node")
            if any(find_turning_ring(graph, name) for name in graph.nodes):
                planner.table("direction")
            self._planner = planner
        return planner

    def _check_known(self, graph: ParametricMotionGraph, command: Mapping[str, Any]) -> None:
        check_command(graph.nodes.values(), {name: value for name, value in command.items() if name not in _OWN})


def _check_number(name: str, value: Any) -> None:
    try:
        finite = bool(np.isfinite(np.asarray(value, dtype=np.float64)).all())
    except (TypeError, ValueError):
        finite = False
    if name == "direction" and not (finite and np.ndim(value) == 0):
        raise InvalidValue(
            f"direction must be a finite angle in radians from +Z, or None for no preference, not {value!r}"
        )
    if not finite:
        raise InvalidValue(f"{name} must be a finite number, not {value!r}")
