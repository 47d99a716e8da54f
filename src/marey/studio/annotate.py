"""Contacts and labels as they are edited on the timeline, and the sidecar that keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from marey.core.contacts import Contacts
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.studio.left_out import annotations_in_file
from marey.studio.motions import Opened
from marey.studio.panels.look_messages import LaneEdit
from marey.studio.places import Places


def with_lanes(motion: Motion, lanes: Sequence[LaneEdit]) -> Motion:
    """The motion with the intervals of the named points replaced; one without contacts gets the usual points."""
    contacts = motion.contacts
    if contacts is None:
        from marey.clean.points import contact_points

        points = contact_points(motion.skeleton, standing=motion)
        contacts = Contacts(points, np.zeros((len(motion), len(points)), dtype=bool))
    spans = {name: contacts.intervals(name) for name in contacts.names}
    for lane in lanes:
        contacts.index(lane.name)
        spans[lane.name] = lane.intervals
    return replace(motion, contacts=Contacts.from_intervals(contacts.points, spans, len(motion)))


def save_beside(places: Places, opened: Opened) -> Path:
    """Write contacts, labels and floor into the sidecar of the motion's file; gives its path.

    What else the sidecar said of the file stays: a motion that was cleaned here is not the file's.
    """
    from marey.io.sidecar import sidecar_path, write_sidecar

    now, first = opened.now.figure, opened.figure
    if not opened.file or isinstance(now, Markers) or isinstance(first, Markers):
        raise InvalidValue("only a motion that was opened from a file has a sidecar; export it first")
    if len(opened.clips) > 1:
        raise InvalidValue(
            f"{opened.file} holds {len(opened.clips)} clips, and a sidecar speaks of one; export this one first"
        )
    path = places.find(opened.file, opened.where)
    contacts, labels = annotations_in_file(now, first)
    told = replace(first, contacts=contacts, labels=labels, source=replace(first.source, floor=now.source.floor))
    write_sidecar(told, path)
    return sidecar_path(path)
