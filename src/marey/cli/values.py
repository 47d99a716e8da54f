"""Parameter types of the command line: times, thresholds, numbers, planes, names, timed positions."""

from __future__ import annotations

from typing import Any, NamedTuple

import click


class NameOrIndex(click.ParamType):  # type: ignore[type-arg]
    """A name, or an index from 0."""

    name = "name or number"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | int:
        """Convert digits to an int."""
        return int(value) if isinstance(value, str) and value.isdigit() else str(value)


class MarkerNames(click.ParamType):  # type: ignore[type-arg]
    """Points of the body to compare: the name of a set, or a list of names separated by commas."""

    name = "set or names"
    SETS = ("body", "upper", "lower", "large", "root_knees")

    def convert(self, value: Any, param: Any, ctx: Any) -> str | list[str]:
        """Convert to the name of a set, or to a list of names."""
        return value if value in self.SETS else [name.strip() for name in value.split(",") if name.strip()]


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
            self.fail(
                f"expected a time of at least 0: seconds such as 1.2, or a frame such as 36f, got {value!r}", param, ctx
            )
        return number


class Threshold(click.ParamType):  # type: ignore[type-arg]
    """A threshold: meters, or a percentage such as ``10%``."""

    name = "meters or percent"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """Convert meters to a float; leave a percentage as it is."""
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            number = -1.0
        if not 0.0 <= number < float("inf"):
            self.fail(
                f"expected at least 0: meters such as 0.06, or a percentage such as 10%, got {value!r}", param, ctx
            )
        return text if text.endswith("%") else number


class RefuseOrMeters(click.ParamType):  # type: ignore[type-arg]
    """The word "refuse", or a distance in meters."""

    name = "refuse or meters"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | float:
        """Convert a number to a float; leave the word as it is."""
        try:
            return "refuse" if value == "refuse" else float(value)
        except ValueError:
            self.fail(f"expected 'refuse' or a penalty in meters such as 0.1, got {value!r}", param, ctx)


class NamedNumbers(click.ParamType):  # type: ignore[type-arg]
    """Numbers with names, such as ``left_hand=2,head=0.5``."""

    name = "name=number,..."

    def convert(self, value: Any, param: Any, ctx: Any) -> dict[str, float]:
        """Convert to a dict."""
        if isinstance(value, dict):
            return value
        try:
            pairs = [(name.strip(), float(number)) for name, number in (each.split("=") for each in value.split(","))]
        except ValueError:
            self.fail(f"expected names and numbers such as left_hand=2,head=0.5, got {value!r}", param, ctx)
        return dict(pairs)


class MomentPair(click.ParamType):  # type: ignore[type-arg]
    """Two times with an equals sign between them, such as ``1.0=1.4``."""

    name = "now=then"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float | int, float | int]:
        """Convert to a pair of times."""
        now, equals, then = str(value).partition("=")
        if not equals:
            self.fail(f"expected NOW=THEN such as 1.0=1.4, got {value!r}", param, ctx)
        return Moment().convert(now.strip(), param, ctx), Moment().convert(then.strip(), param, ctx)


class KeyParam(click.ParamType):  # type: ignore[type-arg]
    """A name, a time and three numbers, such as ``right_foot@1.2=0,0.2,0``."""

    name = "key"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, float | int, tuple[float, ...]]:
        """Convert to the name, the time and the numbers."""
        name, at, rest = str(value).partition("@")
        moment, equals, numbers = rest.partition("=")
        example = "left_hand@1.2=0,0.2,0"
        if not (name and at and equals):
            self.fail(f"expected NAME@TIME=X,Y,Z such as {example}, got {value!r}", param, ctx)
        values = NumberList("NAME@TIME=X,Y,Z", example, 3).convert(numbers, param, ctx)
        return name.strip(), Moment().convert(moment.strip(), param, ctx), values


def to_seconds(moment: float | int, fps: float) -> float:
    """Convert a `Moment` to seconds."""
    return moment / fps if isinstance(moment, int) else moment


def to_frame(moment: float | int, fps: float) -> int:
    """Convert a `Moment` to a frame: for a time in seconds, the nearest frame. As an end, it is always exclusive."""
    return moment if isinstance(moment, int) else round(moment * fps)


class NumberList(click.ParamType):  # type: ignore[type-arg]
    """A list of finite numbers with separators, such as ``3,5,90``.

    Parameters
    ----------
    what, example : what is expected, and an example, for the error message.
    counts : allowed numbers of values; any by default.
    name : shown in the help text.
    integers, minimum : whether the values must be integers, and their minimum.
    separator : character between the values.
    """

    def __init__(
        self,
        what: str,
        example: str,
        *counts: int,
        name: str = "numbers",
        integers: bool = False,
        minimum: float = float("-inf"),
        separator: str = ",",
    ) -> None:
        self.what, self.example, self.counts, self.name = what, example, counts, name
        self.parse: type[int] | type[float] = int if integers else float
        self.minimum, self.separator = minimum, separator

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[Any, ...]:
        """Convert to a tuple of numbers."""
        if isinstance(value, tuple):
            return value
        try:
            numbers = tuple(self.parse(part) for part in str(value).split(self.separator))
        except ValueError:
            numbers = (float("nan"),)
        wrong = self.counts and len(numbers) not in self.counts
        if wrong or not all(self.minimum <= number and abs(number) < float("inf") for number in numbers):
            self.fail(f"expected {self.what} such as {self.example}, got {value!r}", param, ctx)
        return numbers


MATCH_NUMBERS = NumberList("match numbers", "3 or 3,7", integers=True)
OVERLAP = NumberList("two fractions", "0.8,0.2", 2, name="same,new")
POSITION = NumberList("x,z in meters", "3,5", 2, name="x,z")
POSE_2D = NumberList("X,Z,DEGREES", "2.0,0.5,90", 3, name="x,z,degrees")
POSITION_OR_POSE = NumberList("X,Z[,DEG]", "3,5 or 3,5,90", 2, 3, name="x,z[,deg]")
CIRCLE = NumberList("X,Z,RADIUS", "3,5,1", 3, name="x,z,radius")


class Plane(NumberList):
    """A height in meters, or ``height,a,b`` for y = height + a x + b z."""

    def __init__(self) -> None:
        super().__init__("a height", "0.45, or height,a,b for y = height + a x + b z", 1, 3, name="plane")

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert to one number or three."""
        numbers = super().convert(value, param, ctx) if isinstance(value, str) else value
        return numbers[0] if isinstance(numbers, tuple) and len(numbers) == 1 else numbers


class Finite(click.FloatRange):
    """A finite number in a range; `click.FloatRange` accepts nan and infinity."""

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Convert to a float."""
        number = float(super().convert(value, param, ctx))
        if not abs(number) < float("inf"):
            self.fail(f"expected a finite number, got {value!r}", param, ctx)
        return number


class Stay(NamedTuple):
    """A point or limb to hold in place: its name, start and end time, and a position (3 numbers) or pose (7)."""

    name: str
    begin: float | int
    end: float | int
    place: list[float]


class StayParam(click.ParamType):  # type: ignore[type-arg]
    """A timed position such as ``right_hand=1.2:1.5@0.4,1.1,0.3``; with `oriented`, a quaternion may follow."""

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


def format_size(n_bytes: int) -> str:
    """Format the size of a file: ``"84 KB"``, ``"1.40 MB"``."""
    return f"{n_bytes / 2**20:.2f} MB" if n_bytes >= 2**20 else f"{n_bytes / 2**10:.0f} KB"
