"""A motion that is made again and again while something is dragged: it stays one motion, without a history.

What the worker sends of it each time is what changes, as plain arrays: a whole file would take as long as making it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marey.errors import UnknownName

if TYPE_CHECKING:
    from marey.core.motion import Motion
    from marey.studio.session import Session


def parts_of(motion: Motion) -> dict[str, Any]:
    """All of a motion but its skeleton and the file that it came from, as arrays and plain data."""
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


def motion_from(parts: Mapping[str, Any], like: Motion) -> Motion:
    """The motion of `parts_of`; `like` is one of the same skeleton and origin."""
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
