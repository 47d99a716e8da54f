"""A motion that is made anew with every setting: one step of its history for one move of a slider."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.session import Session


def put_anew(session: Session, result: str | None, made: Motion, what: str, go_on: bool, *made_from: str) -> str:
    """Put `made` in the place of the open motion `result`, or beside the others where that is not open; its id.

    `go_on`: it belongs to the change before, so that both are undone as one.
    """
    motions = session.motions
    if result is None or result not in motions.ids():
        return motions.add_made(made, *made_from)
    motions.change(result, motions.figure(result), made, what, go_on=go_on)
    return result
