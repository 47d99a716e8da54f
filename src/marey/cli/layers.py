"""What commands share that put a part of one motion on another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from marey.cli.files import warn_of_rate
from marey.cli.options import frames_between

if TYPE_CHECKING:
    from marey.core.motion import Motion


def warn_of_clip(path: str, motion: Motion) -> None:
    """Tell where a clip is not what it seems: a rest pose before it, or a rate that cannot be right."""
    from marey.io.rest import starts_with_rest_pose

    if starts_with_rest_pose(motion):
        click.echo(
            f"marey: warning: {path}: frame 0 is a rest pose put before the motion; --trim-rest leaves it out", err=True
        )
    warn_of_rate(path, motion)


def span_of(motion: Motion, which: str, begin: float | int | None, end: float | int | None) -> tuple[int, int]:
    """The half-open frames from --WHICH-from to --WHICH-to."""
    from marey.errors import InvalidValue

    try:
        return frames_between(motion, begin, end)
    except InvalidValue as error:
        said = str(error).replace("--from", f"--{which}-from").replace("--to", f"--{which}-to")
        raise InvalidValue(said) from None
