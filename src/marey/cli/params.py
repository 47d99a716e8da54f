"""Value types of the command line: times, planes, names or numbers, fractions, timed positions."""

from __future__ import annotations

from typing import Any, NamedTuple

import click


class NameOrIndex(click.ParamType):  # type: ignore[type-arg]
    """A name, or a number from 0."""

    name = "name or number"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | int:
        """Convert digits to an int."""
        return int(value) if isinstance(value, str) and value.isdigit() else str(value)


class Moment(click.ParamType):  # type: ignore[type-arg]
    """A time in seconds (``1.2``) or a frame (``36f``): a float or an int."""

    name = "seconds or frame"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | int:
        """Convert to a float (seconds) or an int (frame)."""
        if isinstance(value, int | float):
            return value
        try:
            number: float | int = int(value[:-1]) if value.endswith("f") else float(value)
        except ValueError:
            number = -1
        if not 0 <= number < float("inf"):
            self.fail(f"expected seconds such as 1.2, or a frame such as 36f, got {value!r}", param, ctx)
        return number


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """``3,7``: whole numbers."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        """Convert to a tuple of ints."""
        try:
            return value if isinstance(value, tuple) else tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"expected match numbers such as 3 or 3,7, got {value!r}", param, ctx)


class Shares(click.ParamType):  # type: ignore[type-arg]
    """``0.8,0.2``: two fractions."""

    name = "same,new"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, float]:
        """Convert to a pair of floats."""
        if isinstance(value, tuple):
            return value
        try:
            same, new = (float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"expected two fractions such as 0.8,0.2, got {value!r}", param, ctx)
        return same, new


class Plane(click.ParamType):  # type: ignore[type-arg]
    """A height in meters, or ``height,a,b`` for y = height + a x + b z."""

    name = "plane"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | tuple[float, ...]:
        """Convert to one number or three."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]
        try:
            numbers = tuple(float(part) for part in value.split(","))
        except ValueError:
            numbers = ()
        if len(numbers) not in (1, 3) or not all(abs(number) < float("inf") for number in numbers):
            self.fail(
                f"expected a height such as 0.45, or height,a,b for y = height + a x + b z, got {value!r}", param, ctx
            )
        return numbers[0] if len(numbers) == 1 else numbers


class Stay(NamedTuple):
    """A point or limb to hold in place: its name, start and end time, and a position (3 numbers) or pose (7)."""

    name: str
    begin: float | int
    end: float | int
    place: list[float]


class StayParam(click.ParamType):  # type: ignore[type-arg]
    """``right_hand=1.2:1.5@0.4,1.1,0.3``; with `oriented`, four more numbers may give an orientation."""

    name = "stay"

    def __init__(self, oriented: bool = False) -> None:
        self.counts = (3, 7) if oriented else (3,)

    def convert(self, value: Any, param: Any, ctx: Any) -> Stay:
        """Parse the name, the times and the numbers."""
        if isinstance(value, Stay):
            return value
        name, _, rest = str(value).partition("=")
        span, _, place = rest.partition("@")
        ends = span.split(":")
        try:
            numbers = [float(number) for number in place.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) == 7 and 7 not in self.counts:
            self.fail(f"expected only a position X,Y,Z, got {value!r}", param, ctx)
        if not name or len(ends) != 2 or len(numbers) not in self.counts:
            self.fail(f"expected NAME=FROM:TO@X,Y,Z such as right_hand=1.2:1.5@0.4,1.1,0.3, got {value!r}", param, ctx)
        begin, end = (Moment().convert(text.strip(), param, ctx) for text in ends)
        return Stay(name.strip(), begin, end, numbers)
