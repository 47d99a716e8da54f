"""Reword library errors for the page: remedies name buttons and panels instead of arguments and options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from marey.errors import InvalidValue, NoResult
from marey.studio.jobs import WorkFailed

_FORCE = "check “Blend even if very different”"
_WORDS = (
    (
        r"use other motions, crop them by hand, or use `force=True` to accept this",
        f"choose other clips, or {_FORCE}",
    ),
    (
        r"choose another point or length, or use `force=True` to accept it",
        f"choose another place, or {_FORCE}",
    ),
    (r"retarget one first \(marey\.edit\.retarget\)", "the Blend panel can retarget one to the other"),
    (r"crop the motions by hand and use `crop=None`", "crop them by hand and check “Use full clips”"),
    (r"use a longer part of it, or loop it first with marey\.edit\.cycle", "choose a longer clip"),
    (
        r"transplant the joints instead \(marey\.transplant, or `marey transplant`\)",
        "choose “upper body, own timing”",
    ),
    (r"or pass the frames of the gaze shift as start and stop", "or mark the look on the timeline"),
    (r"start and stop must be frames from", "the marked range must be within"),
    (
        r"pass (?:target_)?pose= or --\S+, a frame in which the character stands on flat feet",
        "go to a frame where both feet are flat on the floor, then try again",
    ),
)


def reword(text: str) -> str:
    """Replace the library's remedies in a message with those of the page."""
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    return text


@contextmanager
def reword_errors() -> Iterator[None]:
    """Reword the library errors raised inside this context."""
    try:
        yield
    except WorkFailed as error:
        raise WorkFailed(error.kind, reword(str(error)), error.parameter) from None
    except (InvalidValue, NoResult) as error:
        text = reword(str(error))
        if text == str(error):
            raise
        raise type(error)(text, parameter=error.parameter) from None
