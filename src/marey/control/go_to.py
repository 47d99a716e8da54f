"""A controller that goes to a point by the clips that arrive soonest (Heck 6.2.2.2 and 6.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.control.planner import Planner, get_planner
from marey.control.settings import GoToSettings
from marey.core.arrays import Floats, freeze_array
from marey.core.settings import operation
from marey.deprecation import removed_parameters
from marey.errors import InvalidValue, UnknownName
from marey.maths import rigid2d
from marey.pmg import Choice, ControlState, ParametricMotionGraph

__all__ = ["GoTo"]

# Within this distance from the goal, in meters, a choice is reviewed once during its clip, when the clip's exact
# placement is known.
_NEAR = 4.0
# If the clip that a review asked for and the one that is played differ by more than this fraction of a parameter's
# range, the stream could not change the clip so far. Plans then rely on no more reviews, or they could fail forever.
_SAME = 0.03


class GoTo:
    """Controller that walks to a point, optionally with a heading there, and on to the next point when requested.

    Each clip is the first of a plan that minimizes the arrival time or the path length; see `marey.control.planner`.

    Parameters
    ----------
    point : (2,) x and z of the goal on the floor, meters.

    The options are those of `GoToSettings`.

    Examples
    --------
    >>> controller = marey.control.GoTo((1.0, 3.0))  # x and z in meters
    >>> motion = character.stream(controller).record(6.0)
    >>> bool(np.hypot(*(motion.travel[:, [0, 2]] - [1.0, 3.0]).T).min() < 0.5)
    True
    """

    changes_clips = True

    @removed_parameters("lookahead", "ahead")
    @operation(GoToSettings)
    def __init__(self, point: ArrayLike, settings: GoToSettings) -> None:
        self._nodes = None if settings.nodes is None else tuple(settings.nodes)
        self._short_way = settings.short_way
        self._point: Floats = np.zeros(2)
        self._heading: float | None = None
        self.request(point=point, heading=settings.heading)

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
                raise InvalidValue(f"unknown command {name!r}; GoTo accepts point, heading")
        point = freeze_array(command["point"], "point", (2,)) if "point" in command else self._point
        heading = GoToSettings(heading=command.get("heading", self._heading)).heading
        self._point = point
        self._heading = None if heading is None else float(rigid2d.wrap_angle(heading))
        self._planned: list[Choice] = []
        self._reviewed: Choice | None = None
        self._reviews = True
        self._goal = np.array([np.nan if self._heading is None else self._heading, *point])

    def prepare(self, graph: ParametricMotionGraph) -> Planner:
        """Compute the tables of a character now, so no later choice has to wait for them; return its planner."""
        planner = get_planner(graph, self._nodes, self._short_way)
        planner.table(self._goal_kind)
        return planner

    def is_prepared(self, graph: ParametricMotionGraph) -> bool:
        """Return whether the tables of a character are already computed; if not, `choose` has to wait for them."""
        return get_planner(graph, self._nodes, self._short_way).has_table(self._goal_kind)

    @property
    def _goal_kind(self) -> str:
        return "point" if self._heading is None else "pose"

    def choose(self, state: ControlState) -> Choice:
        """Choose the first clip of the fastest plan."""
        if self._reviewed is not None and self._reviewed.node == state.node:
            apart = (self._reviewed.parameters - state.parameters) / state.graph[state.node].scale
            self._reviews = self._reviews and bool(np.abs(apart).max() <= _SAME)
        found = self.prepare(state.graph).go_to(state, self._goal, self._planned)
        if not found:
            named = ", ".join(map(repr, self._nodes or ()))
            raise UnknownName(f"none of {named} can follow {state.node!r}; choose other nodes, or connect them")
        choice, self._planned = found[0], found[1:]
        option = state.option(choice.node)
        near = option is not None and bool(np.linalg.norm(self._point - option.place[1:]) < _NEAR)
        inside = option is not None and option.inside
        self._reviewed = choice if inside else None
        return choice._replace(review=near and self._reviews and not inside)
