"""A motion that is made again and again while something is dragged: it stays one motion, without a history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marey.errors import UnknownName

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.session import Session


def made_again(session: Session, name: str | None, motion: Motion, *made_from: str) -> str:
    """Put `motion` in the place of the open one called `name`, or beside the others where there is none; its id.

    Nothing is left to undo: a drag would fill the history with what nobody meant to keep.
    """
    try:
        opened = None if name is None else session.motions.opened(name)
    except UnknownName:  # it was closed meanwhile
        opened = None
    if name is None or opened is None:
        return session.motions.add_made(motion, *made_from)
    session.motions.change(name, opened.now.figure, motion, "made again")
    del opened.steps[:-1]
    opened.at, opened.made_from = 0, made_from
    return name
