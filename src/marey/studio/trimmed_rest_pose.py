"""Map contacts and labels of a motion whose leading rest pose was trimmed back to the frames of its file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core.contacts import Contacts
from marey.core.labels import Labels
from marey.core.motion import Motion


def annotations_in_file(motion: Motion, first: Motion) -> tuple[Contacts | None, Labels]:
    """Return contacts and labels in frames of the file that `first` was read from.

    The trimmed leading frames keep the annotations they have in `first`.
    """
    left = len(first) - len(motion)
    if left <= 0:
        return motion.contacts, motion.labels
    contacts = motion.contacts
    if contacts is not None:
        known = first.contacts is not None and first.contacts.names == contacts.names
        before = first.contacts.mask[:left] if known and first.contacts is not None else None
        if before is None:
            before = np.zeros((left, len(contacts.points)), dtype=bool)
        contacts = replace(contacts, mask=np.concatenate([before, contacts.mask]))
    # A label that starts with the trimmed motion may have started earlier in the file.
    begun = {label.name: label.start for label in reversed(tuple(first.labels)) if label.start < left}
    labels = [
        label._replace(start=begun[label.name] if not label.start and label.name in begun else label.start + left)
        for label in motion.labels
    ]
    return contacts, Labels(tuple(label._replace(stop=label.stop + left) for label in labels))
