"""Merge contacts and labels for a spliced motion: foot contacts from the lower clip, hand contacts from the upper."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Bools, Ints, find_runs, set_readonly
from marey.core.contacts import Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.layer.halves import BodySplit
from marey.layer.phase import TimeMap


def find_nearest_frames(found: TimeMap) -> Ints:
    """Return the frame (F,) of the upper clip that is nearest to each frame of the splice."""
    first, second, alpha = found.frames()
    shown: Ints = np.rint(np.where(alpha < 0.5, first, second)).astype(np.int64)
    return shown


def merge_contacts(lower: Motion, upper: Motion, halves: BodySplit, found: TimeMap) -> Contacts | None:
    """Merge contacts: those of the upper clip for points on the upper body, those of the lower clip for all others."""
    points, columns = [], []
    if lower.contacts is not None:
        for k, point in enumerate(lower.contacts.points):
            if not halves.upper[point.joint]:
                points.append(point)
                columns.append(lower.contacts.mask[:, k])
    if upper.contacts is not None:
        at = find_nearest_frames(found)
        for k, point in enumerate(upper.contacts.points):
            if halves.upper[point.joint]:
                points.append(point)
                columns.append(upper.contacts.mask[at, k])
    if not points:
        return None if lower.contacts is None else Contacts((), np.zeros((len(lower), 0), dtype=bool))
    return Contacts(tuple(points), set_readonly(np.stack(columns, axis=1)))


def merge_labels(lower: Motion, upper: Motion, found: TimeMap) -> Labels:
    """Merge labels: all of the lower clip's, and those of the upper clip that the lower clip lacks in some frame."""
    at = find_nearest_frames(found)
    items = list(lower.labels)
    for name in upper.labels.names:
        held: Bools = upper.labels.mask(name, len(upper))[at]
        known = lower.labels.mask(name, len(lower))
        if (held & ~known).any():
            items += [Label(name, start, stop) for start, stop in find_runs(held)]
    return Labels(tuple(items))
