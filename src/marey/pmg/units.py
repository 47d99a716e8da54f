"""Units for people: angles in degrees, and thresholds that still work when typed in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import overload

import numpy as np

from marey.core.arrays import Floats
from marey.errors import InvalidValue

__all__ = ["ours", "rounded_up", "shown", "told_ranges", "told_values"]


def shown(unit: str) -> tuple[str, float]:
    """Return the display unit, and the factor from the internal unit to it."""
    return (unit.replace("rad", "degrees"), math.degrees(1.0)) if unit.startswith("rad") else (unit, 1.0)


@overload
def ours(values: Sequence[float], units: Sequence[str], what: str) -> Floats: ...
@overload
def ours(values: None, units: Sequence[str], what: str) -> None: ...
def ours(values: Sequence[float] | None, units: Sequence[str], what: str) -> Floats | None:
    """(d,) values given by people, converted to internal units: angles in radians."""
    if values is None:
        return None
    if len(values) != len(units):
        raise InvalidValue(f"{what} needs a number for each of {len(units)} parameters, got {len(values)}")
    return np.array([value / shown(unit)[1] for value, unit in zip(values, units, strict=True)])


def told_values(names: Sequence[str], units: Sequence[str], values: Sequence[float] | Floats) -> str:
    """``turn -41.2 degrees, speed 1.1 m/s``."""
    rows = []
    for name, unit, value in zip(names, units, values, strict=True):
        told, factor = shown(unit)
        rows.append(f"{name} {factor * float(value):.3g} {told}".rstrip())
    return ", ".join(rows)


def told_ranges(
    names: Sequence[str], units: Sequence[str], low: Sequence[float] | Floats, high: Sequence[float] | Floats
) -> str:
    """``turn -41.2 to 43.7 degrees, speed 0.8 to 1.2 m/s``."""
    rows = []
    for name, unit, a, b in zip(names, units, low, high, strict=True):
        told, factor = shown(unit)
        rows.append(f"{name} {factor * float(a):.3g} to {factor * float(b):.3g} {told}".rstrip())
    return ", ".join(rows)


def rounded_up(meters: float) -> str:
    """Format with three digits, rounded up: a suggested threshold must work when typed in."""
    if meters <= 0.0:
        return "0"
    told = f"{meters:.3g}"
    if float(told) >= meters:
        return told
    step = 10.0 ** (math.floor(math.log10(meters)) - 2)
    return f"{meters + step:.3g}"
