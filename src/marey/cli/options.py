"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from marey.core import Motion

Command = Callable[..., Any]


class _NameOrIndex(click.ParamType):  # type: ignore[type-arg]
    name = "name or number"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | int:
        return int(value) if isinstance(value, str) and value.isdigit() else str(value)


class Moment(click.ParamType):  # type: ignore[type-arg]
    """A time in seconds (``1.2``) or a frame (``36f``): a float or an int."""

    name = "seconds or frame"

    def convert(self, value: Any, param: Any, ctx: Any) -> float | int:
        """The number behind the text; wrong use where there is none."""
        if isinstance(value, int | float):
            return value
        try:
            number: float | int = int(value[:-1]) if value.endswith("f") else float(value)
        except ValueError:
            number = -1
        if not 0 <= number < float("inf"):
            self.fail(f"expected seconds such as 1.2, or a frame such as 36f, got {value!r}", param, ctx)
        return number


def frames_between(motion: Motion, begin: float | int | None, end: float | int | None) -> tuple[int, int]:
    """The half-open frames from --from to --to; a time in seconds includes the frame that is nearest to it."""
    from marey.errors import InvalidValue

    start = 0 if begin is None else begin if isinstance(begin, int) else round(begin * motion.fps)
    stop = len(motion) if end is None else end if isinstance(end, int) else round(end * motion.fps) + 1
    last = f"{motion.name!r}, which lasts {motion.duration:.2f} s or {len(motion)} frames"
    if start >= len(motion):
        raise InvalidValue(f"--from is beyond the end of {last}")
    if stop > len(motion):
        raise InvalidValue(f"--to is beyond the end of {last}")
    if start >= stop:
        raise InvalidValue(f"--from has to come before --to, got frames {start} to {stop} of {last}")
    return start, stop


def reading(function: Command) -> Command:
    """How to understand an input file; the command gets them as `reading`, keywords for `load`."""
    options = [
        click.option("--unit", help="The file's unit: m, cm, mm, in, cmu, or metres per unit.  [default: recognised]"),
        click.option("--up", help="The file's upward axis: y, z, x, -y, -z, -x.  [default: recognised]"),
        click.option("--fps", type=float, help="Frames per second, where the file has none or a wrong one."),
        click.option("--root", type=_NameOrIndex(), help="Which ROOT of a BVH file with several."),
        click.option("--clip", type=_NameOrIndex(), help="Which animation of a GLB file with several."),
        click.option("--skeleton", help="The ASF file of an AMC file.  [default: looked for beside it]"),
        click.option("--roles", help='A JSON file that says which joint is what: {"left_hand": "Hand_L"}.'),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def reading_options(values: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `reading` out of a command's arguments, dropping those not given."""
    names = ("unit", "up", "fps", "root", "clip", "skeleton", "roles")
    taken = {name: values.pop(name) for name in names}
    return {name: value for name, value in taken.items() if value is not None}
