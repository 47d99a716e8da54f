"""Transfer motions that are recomputed continuously while the user drags a control. They have no undo history.

The worker sends only the parts that change, as plain arrays: writing a file would take as long as the computation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.errors import UnknownName

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.session import Session


def to_parts(motion: Motion) -> dict[str, Any]:
    """Return everything of a motion except the skeleton and the source file, as arrays and plain data."""
    contacts = motion.contacts
    points = [] if contacts is None else [[each.name, each.joint, each.offset.tolist()] for each in contacts.points]
    return {
        "name": motion.name,
        "fps": motion.fps,
        "root_positions": motion.root_positions,
        "rotations": motion.rotations,
        "bone_offsets": motion.bone_offsets,
        "points": points,
        "mask": None if contacts is None else contacts.mask,
        "labels": [[label.name, label.start, label.stop] for label in motion.labels],
        "floor": motion.source.floor,
        "provenance": [dict(step) for step in motion.source.provenance],
    }


def from_parts(parts: Mapping[str, Any], like: Motion) -> Motion:
    """Rebuild a motion from the result of `to_parts`. `like` supplies the skeleton and the source."""
    from marey.core.contacts import ContactPoint, Contacts
    from marey.core.labels import Label, Labels
    from marey.core.motion import Motion

    contacts = None
    if parts["mask"] is not None:
        contacts = Contacts(tuple(ContactPoint(*point) for point in parts["points"]), parts["mask"])
    return Motion(
        like.skeleton,
        parts["root_positions"],
        parts["rotations"],
        parts["fps"],
        parts["name"],
        contacts,
        Labels(tuple(Label(*label) for label in parts["labels"])),
        parts["bone_offsets"],
        replace(like.source, floor=parts["floor"], provenance=tuple(parts["provenance"]), channel_values=None),
    )


def replace_dragged(session: Session, name: str | None, motion: Motion, *made_from: str) -> str:
    """Replace the open motion with id `name` by `motion`, or add `motion` if there is none. Returns its id.

    Clears the undo history, because a drag would fill it with useless states.
    """
    try:
        opened = None if name is None else session.motions.opened(name)
    except UnknownName:  # closed in the meantime
        opened = None
    if name is None or opened is None:
        return session.motions.add_result(motion, *made_from)
    session.motions.change(name, opened.now.recording, motion, "updated")
    del opened.steps[:-1]
    opened.at, opened.made_from = 0, made_from
    return name
