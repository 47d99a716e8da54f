"""Replace a panel's result when its settings change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marey.errors import UnknownName

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.recipes import CodeRecipe
    from marey.studio.session import Session


def replace_result(
    session: Session,
    result: str | None,
    motion: Motion,
    what: str,
    merge_undo: bool,
    *made_from: str,
    recipe: CodeRecipe | None = None,
) -> str:
    """Replace the open motion `result` with `motion`, or add `motion` if `result` is not open. Return the motion's id.

    The change can be undone.

    what : name of the change in the undo history.
    merge_undo : merge with the previous change; both are then undone together.
    recipe : how the motion was made; None if it cannot be written as code.
    """
    motions = session.motions
    if result is None or result not in motions.ids():
        return motions.add_result(motion, *made_from, recipe=recipe)
    motions.change(result, motions.recording(result), motion, what, merge_undo=merge_undo, recipe=recipe)
    return result


def replace_dragged(
    session: Session, name: str | None, motion: Motion, *made_from: str, recipe: CodeRecipe | None = None
) -> str:
    """Replace the open motion with id `name` by `motion`, or add `motion` if there is none. Return its id.

    Clear the undo history, because a drag would fill it with useless states.
    """
    try:
        opened = None if name is None else session.motions.opened(name)
    except UnknownName:  # closed in the meantime
        opened = None
    if name is None or opened is None:
        return session.motions.add_result(motion, *made_from, recipe=recipe)
    session.motions.change(name, opened.now.recording, motion, "updated", recipe=recipe)
    del opened.steps[:-1]
    opened.at, opened.made_from = 0, made_from
    return name
