"""A joystick-style controller: walk in a world direction, at a speed, or play a named node (Heck 6.2.2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from marey.control.lookahead import LookaheadTable, get_lookahead_table
from marey.control.routes import count_steps_to, next_option
from marey.control.turning_plan import TurnPlan, turning_ring
from marey.deprecation import renamed_method
from marey.errors import InvalidValue
from marey.pmg import Choice, ControlState, ParametricMotionGraph, TransitionOption
from marey.pmg.requests import check_command

__all__ = ["FollowDirection"]


class FollowDirection:
    """Controller that follows commands. Each node converts a command to its own parameters, as its ranges allow.

    A node with a parameter ``turn`` that can follow itself, or alternate with another node, turns by a plan of several
    clips (see `TurnPlan`), because the best parameters for a single clip can be poor for a whole turn.

    Parameters
    ----------
    direction : radians from +Z in the world, positive to the left; None for no preference.
    node : name of the node to play. If it cannot follow the current node directly, the controller takes the route with
        the fewest clips. None stays with the current node as long as that can continue.
    others : any other command that the nodes know, such as ``speed``. A command that no node knows raises an error when
        the controller first steers a character.
    """

    def __init__(self, direction: float | None = None, *, node: str | None = None, **others: Any) -> None:
        self._command: dict[str, Any] = {}
        self._lookahead: LookaheadTable | None = None
        self._plans: dict[str, TurnPlan] = {}
        self.request(direction=direction, node=node, **others)

    @property
    def command(self) -> dict[str, Any]:
        """The current command."""
        return dict(self._command)

    wish = renamed_method("wish", "command")

    def request(self, **command: Any) -> None:
        """Change the command, starting with the next clip. Values that are not given stay unchanged."""
        for name, value in command.items():
            if name == "node":
                if value is not None and not isinstance(value, str):
                    raise InvalidValue(f"node must be a name, not {value!r}")
            elif value is not None:
                _check_number(name, value)
        if self._lookahead is not None:
            self._check_known(self._lookahead.graph, command)
        self._command |= command

    def choose(self, state: ControlState) -> Choice:
        """Choose the requested node, or the next node on the route to it, with parameters from the command."""
        option = self._option(state)
        command = {name: value for name, value in self._command.items() if name != "node"}
        parameters = np.atleast_1d(option.node.request(option.node, command, option.place))
        self.prepare(state.graph)
        plan = self._plans.get(option.node.name)
        if plan is not None and command.get("direction") is not None:
            parameters = plan.best(state, option, float(command["direction"]), parameters)
        return Choice(option.node.name, parameters)

    def prepare(self, graph: ParametricMotionGraph) -> None:
        """Compute the turn plans of a character now, so no later choice has to wait for them."""
        lookahead = get_lookahead_table(graph)
        if lookahead is not self._lookahead:
            self._check_known(graph, self._command)
            rings = {name: turning_ring(graph, name) for name in graph.nodes}
            self._plans = {name: TurnPlan(lookahead, ring) for name, ring in rings.items() if ring}
            for source, target in graph.edges:
                if target in self._plans:
                    lookahead.join(source, target)
            self._lookahead = lookahead

    def _check_known(self, graph: ParametricMotionGraph, command: Mapping[str, Any]) -> None:
        check_command(graph.nodes.values(), {name: value for name, value in command.items() if name != "node"})

    def _option(self, state: ControlState) -> TransitionOption:
        wanted = self._command.get("node")
        if wanted is not None:
            return next_option(state, wanted)
        if state.node in count_steps_to(state.graph, state.node, again=True):
            return next_option(state, state.node)
        return state.options[0]


def _check_number(name: str, value: Any) -> None:
    try:
        finite = bool(np.isfinite(np.asarray(value, dtype=np.float64)).all())
    except (TypeError, ValueError):
        finite = False
    if name == "direction" and not (finite and np.ndim(value) == 0):
        raise InvalidValue(f"direction must be an angle in radians from +Z, or None for no preference, not {value!r}")
    if not finite:
        raise InvalidValue(f"{name} must be a finite number, not {value!r}")
