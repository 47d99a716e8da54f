"""Parts of motion one after another, which fit each other already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from marey.core.annotations import join_contacts, shift_labels
from marey.core.arrays import Floats, set_readonly
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.maths import quat

__all__ = ["join_motions"]


def join_motions(parts: Sequence[Motion]) -> Motion:
    """The parts' frames in order, as one motion on the first part's skeleton and at its rate.

    A label that ends with one part and begins with the next goes on.
    """
    first = parts[0]
    skeleton = first.skeleton
    moving = any(
        part.bone_offsets is not None or not np.array_equal(part.skeleton.offsets, skeleton.offsets) for part in parts
    )
    return replace(
        first,
        root_positions=set_readonly(np.concatenate([part.root_positions for part in parts])),
        rotations=set_readonly(quat.unroll(np.concatenate([part.rotations for part in parts]))),
        bone_offsets=set_readonly(np.concatenate([_get_offsets(part) for part in parts])) if moving else None,
        contacts=join_contacts([(part.contacts, len(part)) for part in parts]),
        labels=_join_labels(parts),
        source=replace(first.source, channel_values=None),
    )


def _get_offsets(motion: Motion) -> Floats:
    if motion.bone_offsets is not None:
        return motion.bone_offsets
    return np.broadcast_to(motion.skeleton.offsets, (len(motion), len(motion.skeleton), 3))


def _join_labels(parts: Sequence[Motion]) -> Labels:
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).tolist()
    listed = [list(shift_labels(part.labels, start)) for part, start in zip(parts, starts, strict=False)]
    for (here, there), seam in zip(pairwise(listed), starts[1:], strict=False):
        for label in list(here):
            after = next((other for other in there if other.name == label.name and other.start == seam), None)
            if label.stop == seam and after is not None:
                here.remove(label)
                there.remove(after)
                there.append(Label(label.name, label.start, after.stop))
    return Labels(tuple(label for part in listed for label in part))
