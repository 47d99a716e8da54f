"""Format values for users: angles in degrees, and thresholds rounded up, so that they work when typed in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np

from marey.core.arrays import Floats
from marey.core.naming import display_unit
from marey.errors import InvalidValue

__all__ = [
    "format_ranges",
    "format_rounded_up",
    "format_target",
    "format_values",
    "to_internal_units",
]


@overload
def to_internal_units(values: Sequence[float], units: Sequence[str], what: str) -> Floats: ...
@overload
def to_internal_units(values: None, units: Sequence[str], what: str) -> None: ...
def to_internal_units(values: Sequence[float] | None, units: Sequence[str], what: str) -> Floats | None:
    """Convert values (d,) from display units to internal units: angles from degrees to radians.

    what : name of the values for the error message.
    """
    if values is None:
        return None
    if len(values) != len(units):
        raise InvalidValue(f"{what} must have one number for each of {len(units)} parameters, not {len(values)}")
    return np.array([value / display_unit(unit)[1] for value, unit in zip(values, units, strict=True)])


def format_target(names: Sequence[str], values: Iterable[float]) -> str:
    """Format parameters as a name for a motion: ``turn 0.5, speed 1.1`` (internal units)."""
    return ", ".join(f"{name} {value:.3g}" for name, value in zip(names, values, strict=True))


def format_values(names: Sequence[str], units: Sequence[str], values: Sequence[float] | Floats) -> str:
    """Format parameters in display units: ``turn -41.2 degrees, speed 1.1 m/s``."""
    rows = []
    for name, unit, value in zip(names, units, values, strict=True):
        shown, factor = display_unit(unit)
        rows.append(f"{name} {factor * float(value):.3g} {shown}".rstrip())
    return ", ".join(rows)


def format_ranges(
    names: Sequence[str], units: Sequence[str], low: Sequence[float] | Floats, high: Sequence[float] | Floats
) -> str:
    """Format ranges in display units: ``turn -41.2 to 43.7 degrees, speed 1.1 m/s``; equal ends are one value."""
    rows = []
    for name, unit, a, b in zip(names, units, low, high, strict=True):
        shown, factor = display_unit(unit)
        ends = dict.fromkeys(f"{factor * float(end):.3g}" for end in (a, b))
        rows.append(f"{name} {' to '.join(ends)} {shown}".rstrip())
    return ", ".join(rows)


def format_rounded_up(meters: float) -> str:
    """Format a distance with three digits, rounded up: a suggested threshold must work when typed in."""
    if meters <= 0.0:
        return "0"
    shown = f"{meters:.3g}"
    if float(shown) >= meters:
        return shown
    step = 10.0 ** (math.floor(math.log10(meters)) - 2)
    return f"{meters + step:.3g}"
