"""Helpers for commands that put part of one motion onto another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marey.cli.options import frames_between

if TYPE_CHECKING:
    from marey.core.motion import Motion


def get_span(motion: Motion, which: str, begin: float | int | None, end: float | int | None) -> tuple[int, int]:
    """Convert the values of --WHICH-from and --WHICH-to to half-open frames. Errors name these options."""
    from marey.errors import InvalidValue

    try:
        return frames_between(motion, begin, end)
    except InvalidValue as error:
        message = str(error).replace("--from", f"--{which}-from").replace("--to", f"--{which}-to")
        raise InvalidValue(message) from None
