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
    opened = motions.opened(result)
    last = opened.at > 0 and opened.at == len(opened.steps) - 1
    one_step = go_on and last and opened.now.what == what
    motions.change(result, opened.now.figure, made, what)
    if one_step:
        del opened.steps[-2]
        opened.at = len(opened.steps) - 1
    return result
