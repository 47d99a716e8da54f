"""A joystick: go in a direction of the world, at a speed, or do what a named node does (Heck 6.2.2.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.errors import InvalidValue, UnknownName
from marey.pmg import Choice, Moment, Option

__all__ = ["FollowDirection"]


class FollowDirection:
    """Follows wishes, each node turning them into its own parameters; what is out of reach comes as near as it can.

    Parameters
    ----------
    direction : radians from +Z in the world, positive to the left; None for no wish.
    node : which node to play; where it cannot follow at once, the way with fewest clips is taken. None to stay with
        what plays as long as that can go on.
    wishes : any others that the nodes know, such as ``speed``.
    """

    def __init__(self, direction: float | None = None, *, node: str | None = None, **wishes: Any) -> None:
        self._wish: dict[str, Any] = {}
        self.request(direction=direction, node=node, **wishes)

    @property
    def wish(self) -> dict[str, Any]:
        """What is wished for now."""
        return dict(self._wish)

    def request(self, **wish: Any) -> None:
        """Change wishes from the next clip on; what is not named stays."""
        for name, value in wish.items():
            if name == "node":
                if value is not None and not isinstance(value, str):
                    raise InvalidValue(f"node must be a name, got {value!r}")
            elif value is not None and not np.isfinite(value).all():
                raise InvalidValue(f"{name} must be finite, got {value!r}")
            self._wish[name] = value

    def choose(self, moment: Moment) -> Choice:
        """The node that is wished for, or the next on the way to it, with the parameters that the wish makes."""
        option = self._option(moment)
        wish = {name: value for name, value in self._wish.items() if name != "node"}
        return Choice(option.node.name, np.atleast_1d(option.node.request(option.node, wish, option.here)))

    def _option(self, moment: Moment) -> Option:
        wanted = self._wish.get("node") or moment.node
        graph = moment.graph
        graph.node(wanted)
        steps = {wanted: 0}
        ring = [wanted]
        while ring:
            before = [source for source, target in graph.edges if target in ring and source not in steps]
            steps.update(dict.fromkeys(before, steps[ring[0]] + 1))
            ring = list(dict.fromkeys(before))
        known = [option for option in moment.options if option.node.name in steps]
        if known:
            return min(known, key=lambda option: steps[option.node.name])
        if self._wish.get("node") is None:
            return moment.options[0]
        raise UnknownName(f"no way leads from {moment.node!r} to {wanted!r}; connect them")
