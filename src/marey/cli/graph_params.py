"""Parameter types of `marey graph`: thresholds between labels, labels along a path, and timed commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from marey.cli.values import NumberList, Threshold


class Pair(click.ParamType):  # type: ignore[type-arg]
    """A threshold for transitions from one label to another, such as ``walk:run=0.08``."""

    name = "from:to=limit"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[tuple[str, str], float | str]:
        pair, _, limit = str(value).rpartition("=")
        before, _, after = pair.partition(":")
        if not before or not after:
            self.fail(f"expected FROM:TO=LIMIT such as walk:run=0.08, got {value!r}", param, ctx)
        return (before.strip(), after.strip()), Threshold().convert(limit, param, ctx)


class Weight(click.ParamType):  # type: ignore[type-arg]
    """The weight of a joint or role, such as ``left_arm=2``."""

    name = "name=number"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, float]:
        name, _, number = str(value).rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = -1.0
        if not name or not 0.0 <= weight < float("inf"):
            self.fail(f"expected NAME=NUMBER with a number of at least 0, such as hips=2, got {value!r}", param, ctx)
        return name.strip(), weight


class Style(click.ParamType):  # type: ignore[type-arg]
    """A label along a path: ``walk@5`` up to 5 m along the path, ``walk`` up to the end."""

    name = "label[@meters]"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, str]:
        label, _, end = str(value).partition("@")
        try:
            meters = float(end) if end else float("inf")
        except ValueError:
            meters = -1.0
        if not label or not meters > 0.0:
            self.fail(
                f"expected LABEL, or LABEL@METERS with more than 0 meters, such as walk@5, got {value!r}", param, ctx
            )
        return meters, label


class TimedCommand(click.ParamType):  # type: ignore[type-arg]
    """A timed command: ``5:direction=90`` turns left at 5 s. Directions are converted to radians.

    text : names of commands whose value is text; direction and speed, which are numbers, are always allowed.
    """

    name = "seconds:what=value"

    def __init__(self, *text: str) -> None:
        self.text = text

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, str, float | str]:
        from math import isfinite, radians

        at, _, command = str(value).partition(":")
        what, _, wanted = command.partition("=")
        try:
            seconds = float(at)
            number = 0.0 if what in self.text else float(wanted)
        except ValueError:
            seconds = number = float("nan")
        known = what in ("direction", "speed", *self.text)
        if not known or not wanted or not (isfinite(number) and seconds >= 0.0):
            named = "".join(f", :{name}=NAME" for name in self.text)
            self.fail(f"expected SECONDS:direction=DEGREES, :speed=M_PER_S{named}, got {value!r}", param, ctx)
        if what == "speed" and number < 0.0:
            self.fail(f"expected a speed of at least 0 m/s, got {value!r}", param, ctx)
        return seconds, what, wanted if what in self.text else radians(number) if what == "direction" else number


class ActionFile(click.ParamType):  # type: ignore[type-arg]
    """An action of a blend tree: ``throw=throw.bvh:upper``; converted to (name, file, options after the colon)."""

    name = "name=file[:upper|hold|joint,...]"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str, tuple[str, ...]]:
        """Split the name, the file and the options."""
        name, _, rest = str(value).partition("=")
        file, colon, options = rest.rpartition(":")
        if not colon or any(mark in options for mark in "./\\"):  # no options; a colon may be part of the path
            file, options = rest, ""
        if not name or not file:
            self.fail(f"expected NAME=FILE, such as throw=throw.bvh:upper, got {value!r}", param, ctx)
        return name, file, tuple(filter(None, options.split(",")))


class StartParam(NumberList):
    """A start node and the placement of its clip, ``NODE,X,Z,DEGREES`` such as ``12,0,0,90``; converted to (node,
    (radians, x, z))."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert to a node and a rigid2d."""
        from math import radians

        node, *place = super().convert(value, param, ctx)
        if node != int(node) or node < 0:
            self.fail(f"expected the number of a node first, got {value!r}", param, ctx)
        return (int(node), (radians(place[2]), place[0], place[1]))


START = StartParam("NODE,X,Z,DEG", "12,0,0,90", 4, name="node,x,z,deg")


def schedule(
    commands: tuple[tuple[float, str, float | str], ...], seconds: float
) -> tuple[dict[str, Any], Callable[[Any, int], None]]:
    """Return the first command of a stream, and a function ``send(stream, frame)`` that requests the others.

    seconds : length of the motion. A command that comes later is an error.
    """
    late = max((at for at, _, _ in commands), default=0.0)
    if late > 0.0 and late >= seconds:
        raise click.UsageError(
            f"--command at {late:g} s has no effect, because the motion ends at {seconds:g} s; raise --seconds"
        )
    waiting = sorted((each for each in commands if each[0] > 0.0), key=lambda each: each[0])

    def send(stream: Any, frame: int) -> None:
        while waiting and waiting[0][0] * stream.fps <= frame:
            _, name, value = waiting.pop(0)
            stream.request(**{name: value})

    return {name: value for at, name, value in commands if at <= 0.0}, send


def place_and_heading(value: tuple[float, ...]) -> tuple[tuple[float, float], float | None]:
    """Split X,Z[,DEG] into a position (x, z) in meters and a heading in radians; None without a heading."""
    from math import radians

    return (value[0], value[1]), radians(value[2]) if len(value) == 3 else None
