"""Named request functions, which convert commands to parameters; files refer to them by name (Heck 6.2.2.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from marey.core.arrays import Floats, freeze_array
from marey.errors import InvalidValue, UnknownName, similar
from marey.maths import rigid2d
from marey.pmg.node import Node, Request, request_by_name

__all__ = ["REQUESTS", "check_command", "find_request", "request_at_point", "request_name"]

_AXES = ("x", "y", "z")


def request_at_point(node: Node, command: Mapping[str, Any], place: Floats) -> Floats:
    """Set parameters from a ``point`` in the command, a world position (x, y, z) in meters.

    The point is converted to the character's coordinates: x to its left, y above the floor, z ahead. Parameters whose
    last word is x, y or z (such as ``right_hand y``) are set to that coordinate, and ``distance`` is set to the
    horizontal distance. The rest of the command is matched by name.

    Return the parameters (d,); `place` is as in `request_by_name`.

    Examples
    --------
    >>> from marey.pmg import ActionSpace, request_at_point
    >>> kicker = marey.ParametricMotionGraph("kicker")
    >>> node = kicker.add("kick", ActionSpace.build(space), request=request_at_point)
    >>> node.names
    ('right_ball y',)
    >>> request_at_point(node, {"point": (0.0, 1.0, 0.9)}, place=np.zeros(3))  # meters
    array([1.])
    """
    out = request_by_name(node, command, place)
    if command.get("point") is None:
        return out
    point = freeze_array(command["point"], "point", (3,))
    local = rigid2d.apply(rigid2d.invert(place), point)
    for k, name in enumerate(node.names):
        if name == "distance":
            out[k] = float(np.hypot(local[0], local[2]))
        elif name.split(" ")[-1] in _AXES:
            out[k] = local[_AXES.index(name.split(" ")[-1])]
    return out


REQUESTS: Mapping[str, Request] = MappingProxyType({"by name": request_by_name, "at a point": request_at_point})
"""Request functions that files and recipes can name."""


def find_request(name: str, where: str) -> Request:
    """Return the request function named `name`; `where` is the location for the error message."""
    if name not in REQUESTS:
        known = ", ".join(map(repr, REQUESTS))
        raise UnknownName(f"{where}: no request function named {name!r}{similar(str(name), REQUESTS)}; known: {known}")
    return REQUESTS[name]


def request_name(request: Request) -> str | None:
    """Return the name of a request function, or None if it is a custom function."""
    return next((name for name, known in REQUESTS.items() if known is request), None)


def check_command(nodes: Iterable[Node], command: Mapping[str, Any]) -> None:
    """Raise an error if the command has a key that no node knows, or a value of the wrong size.

    A ``direction`` is always allowed. Any value may be None, which means no preference. If any node has a custom
    request function, every key is accepted.
    """
    known = {"direction": 1}
    free = False
    for node in nodes:
        known |= dict.fromkeys(node.names, 1)
        known |= {"point": 3} if node.request is request_at_point else {}
        free = free or request_name(node.request) is None
    for name, value in command.items():
        if value is None:
            continue
        if name not in known:
            if free:
                continue
            hint = f"{similar(name, known)}; known: {', '.join(known)}"
            raise UnknownName(f"no node of the character takes the command {name!r}{hint}")
        if not free and np.size(value) != known[name]:
            expected = "one number" if known[name] == 1 else "x, y and z"
            raise InvalidValue(f"{name} must be {expected}, not {value!r}")
