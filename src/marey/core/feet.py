"""The values of `feet=`, the parameter of every function and stream that can remove foot skate."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from marey.core.settings import option
from marey.errors import InvalidValue

__all__ = ["Feet", "LiveFeet", "check_feet", "feet_from_flag", "feet_option"]

Feet: TypeAlias = Literal["clean", "lock"] | None
"""``"clean"``: footskate cleanup; in a live stream it delays the output.
``"lock"``: hold planted feet without a delay, in live streams only.
``None``: leave the feet as they are.

The default is "clean" for functions that return a motion, and "auto" for live streams. Only sampled characters are
locked by default, as in the player that is exported with them."""

LiveFeet: TypeAlias = Literal["auto", "clean", "lock"] | None
"""As `Feet`, for live streams. ``"auto"``: "clean" for a stream that begins with a recording, otherwise "lock"."""


def feet_option(otherwise: str = "the result has them") -> Any:
    """Declare the field `feet` of a Settings class, of type ``Literal["clean"] | None``.

    otherwise : end of the help sentence "Without cleanup, the feet are left where ...".
    """
    return option(
        default="clean",
        help='"clean" removes foot skate: planted feet stay in place. Without cleanup, the feet are left where '
        f"{otherwise}.",
        label="Foot cleanup",
    )


def check_feet(feet: LiveFeet, *, live: bool = False) -> None:
    """Raise an error unless `feet` is a valid value; ``"auto"`` and ``"lock"`` are valid in live streams only."""
    allowed = ("auto", "clean", "lock", None) if live else ("clean", None)
    if feet not in allowed:
        names = [repr(value) for value in allowed]
        raise InvalidValue(f"feet must be {', '.join(names[:-1])} or {names[-1]}, not {feet!r}")


def feet_from_flag(flag: bool) -> Feet:
    """Convert an old on/off parameter to a value of `feet=`."""
    return "clean" if flag else None
