"""Helpers of commands that put part of one motion onto another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from marey.cli.files import warn_of_rate
from marey.cli.options import frames_between

if TYPE_CHECKING:
    from marey.core.motion import Motion


def warn_of_clip(path: str, motion: Motion) -> None:
    """Warn if a clip starts with a rest pose or its frame rate must be wrong."""
    from marey.io.rest import starts_with_rest_pose

    if starts_with_rest_pose(motion):
        click.echo(f"marey: warning: {path}: frame 0 is a rest pose; remove it with --trim-rest", err=True)
    warn_of_rate(path, motion)


def span_of(motion: Motion, which: str, begin: float | int | None, end: float | int | None) -> tuple[int, int]:
    """Convert --WHICH-from and --WHICH-to to half-open frames."""
    from marey.errors import InvalidValue

    try:
        return frames_between(motion, begin, end)
    except InvalidValue as error:
        message = str(error).replace("--from", f"--{which}-from").replace("--to", f"--{which}-to")
        raise InvalidValue(message) from None
