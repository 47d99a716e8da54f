"""Apply timeline edits to contacts and labels, and save them to the sidecar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from marey.core.contacts import Contacts
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.studio.motions import Opened
from marey.studio.panels.look_messages import LaneEdit
from marey.studio.places import Places
from marey.studio.trimmed_rest_pose import annotations_in_file


def with_lanes(motion: Motion, lanes: Sequence[LaneEdit]) -> Motion:
    """Replace the contact intervals of the named points; a motion without contacts first gets the default points."""
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


def write_annotations(places: Places, opened: Opened) -> Path:
    """Write contacts, labels and floor to the sidecar of the motion's file. Returns the sidecar's path.

    Other entries of the sidecar stay, because they describe the file and not the motion as edited here.
    """
    from marey.io.sidecar import sidecar_path, write_sidecar

    now, first = opened.now.figure, opened.figure
    if not opened.file or isinstance(now, Markers) or isinstance(first, Markers):
        raise InvalidValue("this motion was not opened from a file, so it has no sidecar; export it first")
    if len(opened.clips) > 1:
        raise InvalidValue(
            f"{opened.file} contains {len(opened.clips)} clips, but a sidecar describes only one; export this one first"
        )
    path = places.find(opened.file, opened.where)
    contacts, labels = annotations_in_file(now, first)
    annotated = replace(first, contacts=contacts, labels=labels, source=replace(first.source, floor=now.source.floor))
    write_sidecar(annotated, path)
    return sidecar_path(path)
