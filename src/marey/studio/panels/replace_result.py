"""Replace a panel's result when its settings change; one slider drag is one undo step."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.session import Session


def replace_result(
    session: Session, result: str | None, motion: Motion, what: str, merge_undo: bool, *made_from: str
) -> str:
    """Replace the open motion `result` with `motion`, or add `motion` if `result` is not open. Returns the motion's id.

    what : name of the change in the undo history.
    merge_undo : merge with the previous change; both are then undone together.
    """
    motions = session.motions
    if result is None or result not in motions.ids():
        return motions.add_result(motion, *made_from)
    motions.change(result, motions.recording(result), motion, what, merge_undo=merge_undo)
    return result
