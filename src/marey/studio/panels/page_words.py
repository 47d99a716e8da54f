"""What the library says, in the words of the page: its remedies are arguments there, and buttons here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from marey.errors import InvalidValue, NoResult
from marey.studio.jobs import WorkFailed

_UNLIKE = "tick “Even if unlike”"
_WORDS = (
    (r"take other motions, crop them by hand, or use force=True or --force all the same", f"take others, or {_UNLIKE}"),
    (r"take another point or length, or use force=True or --force all the same", f"take another place, or {_UNLIKE}"),
    (
        r"bring one to the other's skeleton with marey\.edit\.retarget or `marey edit retarget`",
        "the panel Blend can fit one to the other",
    ),
    (
        r"retarget one(?: of them)? first \(marey\.edit\.retarget, or `marey edit retarget`\)",
        "the panel Blend can fit one to the other",
    ),
    (r"take a longer stretch of it, or make some rounds of it first \(marey\.edit\.cycle\)", "take a longer clip"),
    (r"or say with start and stop where the look lies", "or mark on the timeline where the look lies"),
    (r"start and stop must be frames of", "the marked stretch must be frames of"),
    (
        r"give (?:target_)?pose= or --\S+, a frame in which the figure stands on flat feet",
        "show a frame in which it stands on flat feet, and try again",
    ),
)


def in_page_words(text: str) -> str:
    """A sentence of the library with the remedies that the page has."""
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    return text


@contextmanager
def page_words() -> Iterator[None]:
    """Errors within are told in the words of the page."""
    try:
        yield
    except WorkFailed as error:
        raise WorkFailed(error.kind, in_page_words(str(error))) from None
    except (InvalidValue, NoResult) as error:
        text = in_page_words(str(error))
        if text == str(error):
            raise
        raise type(error)(text) from None
