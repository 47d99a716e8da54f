"""Parameter types of `marey gaze`: looks, points, and recordings of looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click

from marey.cli.values import Moment, NumberList
from marey.errors import ParseError

_RANGE = "yaw from -180 to 180, pitch from -90 to 90"


def _parse_angles(yaw: str, pitch: str) -> tuple[float, float]:
    """Parse yaw and pitch in degrees. Raise `ValueError` if not numbers, or beyond 180 (yaw) or 90 (pitch)."""
    found = float(yaw), float(pitch)
    if not (abs(found[0]) <= 180.0 and abs(found[1]) <= 90.0):
        raise ValueError
    return found


class _Numbers(click.ParamType):  # type: ignore[type-arg]
    """A time followed by numbers, separated by colons."""

    count: int
    example: str

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float | int, ...]:
        """Convert to the time and the numbers."""
        if isinstance(value, tuple):
            return value
        first, _, rest = str(value).partition(":")
        try:
            numbers = NumberList("", "", self.count, separator=":").convert(rest, param, ctx)
        except click.BadParameter:
            self.fail(f"expected {self.example}, got {value!r}", param, ctx)
        return (Moment().convert(first, param, ctx), *numbers)


class LookValue(_Numbers):
    """A look such as ``1.2:60:10``: a time, and degrees to the left and up."""

    name, count, example = "look", 2, "T:YAW:PITCH in seconds and degrees, such as 1.2:60:10"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float | int, ...]:
        """Convert to the time and the angles, and check their range."""
        found = super().convert(value, param, ctx)
        if abs(found[1]) > 180.0 or abs(found[2]) > 90.0:
            self.fail(f"yaw must be from -180 to 180 degrees and pitch from -90 to 90, not {value!r}", param, ctx)
        return found


class Point(_Numbers):
    """A point to look at such as ``1.2:2:1.5:4``: a time, and a world position in meters."""

    name, count, example = "point", 3, "T:X:Y:Z in seconds and meters, such as 1.2:2:1.5:4"


class Forward(NumberList):
    """The forward direction of the head: ``clip``, ``rest``, or a direction such as ``0,0,1``."""

    def __init__(self) -> None:
        super().__init__("clip, rest or X,Y,Z", "0,0.1,1", 3, name="forward")

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert a direction to numbers."""
        return value if value in ("clip", "rest") else super().convert(value, param, ctx)


class Example(NamedTuple):
    """A recording of one look, its direction in degrees, and the frames around the look, if given."""

    file: str
    yaw: float
    pitch: float
    start: int | None = None
    stop: int | None = None


class Take(click.ParamType):  # type: ignore[type-arg]
    """A recorded look such as ``left.c3d:60:0``, or a .csv file with one look per line."""

    name = "example"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | Example:
        """Convert to an example, or return the name of the .csv file."""
        if isinstance(value, Example) or str(value).lower().endswith(".csv"):
            return value  # type: ignore[no-any-return]
        parts = str(value).rsplit(":", 2)
        try:
            return Example(parts[0], *_parse_angles(parts[1], parts[2]))
        except (ValueError, IndexError):
            self.fail(
                f"expected FILE:YAW:PITCH with angles in degrees ({_RANGE}), such as left.c3d:60:0, or a .csv file, "
                f"got {value!r}",
                param,
                ctx,
            )


def read_takes(given: tuple[str | Example, ...]) -> list[Example]:
    """Return all examples, including those in .csv files. File names in a .csv file are relative to it."""
    out: list[Example] = []
    for entry in given:
        out += [entry] if isinstance(entry, Example) else _read_lines(entry)
    return out


def _read_lines(path: str) -> list[Example]:
    from marey.io.files import read_bytes

    out = []
    for number, line in enumerate(read_bytes(path).decode("utf-8-sig", errors="replace").splitlines(), start=1):
        words = [word.strip() for word in line.split(",")]
        if not any(words) or (number == 1 and words[0].lower() == "file"):
            continue
        try:
            name, yaw, pitch, *frames = words
            span = [int(word) if word else None for word in frames]
            if len(span) not in (0, 2):
                raise ValueError
            out.append(Example(str(Path(path).parent / name), *_parse_angles(yaw, pitch), *span))
        except ValueError:
            raise ParseError(
                f"expected FILE,YAW,PITCH or FILE,YAW,PITCH,START,STOP (angles in degrees, {_RANGE}; START and STOP "
                f"are frames), got {line!r}",
                path=path,
                line=number,
            ) from None
    if not out:
        raise ParseError("the file has no lines of the form FILE,YAW,PITCH", path=path)
    return out
