"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]


class _NameOrIndex(click.ParamType):  # type: ignore[type-arg]
    name = "name or number"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | int:
        return int(value) if isinstance(value, str) and value.isdigit() else str(value)


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
