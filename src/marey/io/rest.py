"""Rest poses: the rest offset of a joint that moves, and rest poses inserted before the first frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core.arrays import Floats
from marey.core.contacts import Contacts
from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.maths import quat

# A joint's stated offset is its rest offset if most frames deviate from it by at most this fraction of its length.
_MAX_STRETCH = 0.3
# In an inserted pose most joints are exactly at rest, and the next frame is far from it.
_STIFF_SHARE = 0.5
_STIFF_ANGLE = 1e-6
_JUMP = np.deg2rad(3.0)
_JUMP_RATIO = 4.0
_N_LOOKS = 32
# In `Source.evidence` of a motion whose first frame was skipped.
REST_NOTE = "frame 0 is a rest pose and is skipped"


def mean_bone_length(offsets: Floats) -> float:
    """Return the mean length of the bones, for offsets (J, 3); 0 for a single joint."""
    return float(np.linalg.norm(offsets[1:], axis=1).mean()) if len(offsets) > 1 else 0.0


def choose_rest_offset(stated: Floats, path: Floats, size: float) -> Floats:
    """Return a joint's offset (3,) at rest: the stated one, or that of the first frame if most frames contradict it.

    Parameters
    ----------
    stated : (3,) the offset that the file states.
    path : (F, 3) the offset in each frame; stretched limbs scatter around the stated offset.
    size : mean length of the bones.
    """
    away = float(np.sort(np.linalg.norm(path - stated, axis=1))[len(path) // 2])
    is_stated = away <= _MAX_STRETCH * (float(np.linalg.norm(stated)) + 0.1 * size)
    return stated if is_stated else np.asarray(path[0])


def starts_with_rest_pose(motion: Motion) -> bool:
    """Return whether frame 0 is an inserted T-pose, as in the CMU collection's BVH files.

    Frame 0 is a rest pose if the root and at least half of all joints are exactly at rest, and the step to frame 1
    (mean rotation over the joints) exceeds both 3 degrees and four times the 80th percentile of the next steps. The
    percentile tolerates a few glitches at the start of a capture.

    Examples
    --------
    >>> marey.io.starts_with_rest_pose(walk)
    False
    >>> root_positions = np.insert(walk.root_positions, 0, 0.0, axis=0)
    >>> rotations = np.insert(walk.rotations, 0, marey.maths.quat.identity(27), axis=0)
    >>> marey.io.starts_with_rest_pose(marey.Motion(walk.skeleton, root_positions, rotations, fps=60.0))
    True
    """
    if len(motion) < 3:
        return False
    moves = ~motion.skeleton.is_end_site
    first = motion.rotations[: _N_LOOKS + 2, moves]
    at_rest = quat.angle(first[0]) < _STIFF_ANGLE
    if not at_rest[0] or at_rest.mean() < _STIFF_SHARE or (quat.angle(first[1]) < _STIFF_ANGLE).all():
        return False
    steps = quat.angle_between(first[1:], first[:-1]).mean(axis=1)
    return bool(steps[0] > _JUMP and steps[0] > _JUMP_RATIO * np.percentile(steps[1:], 80))


def trim_rest_pose(motion: Motion) -> Motion:
    """Drop a leading rest pose and note this in ``source.evidence``; without one, return the motion itself.

    Examples
    --------
    >>> root_positions = np.insert(walk.root_positions, 0, 0.0, axis=0)
    >>> rotations = np.insert(walk.rotations, 0, marey.maths.quat.identity(27), axis=0)
    >>> clip = marey.Motion(walk.skeleton, root_positions, rotations, fps=60.0)
    >>> len(clip), len(marey.io.trim_rest_pose(clip))
    (242, 241)
    """
    if not starts_with_rest_pose(motion):
        return motion
    trimmed = motion[1:]
    return replace(trimmed, source=replace(trimmed.source, evidence=(*trimmed.source.evidence, REST_NOTE)))


def annotations_in_file(motion: Motion, first: Motion) -> tuple[Contacts | None, Labels]:
    """Return contacts and labels of `motion`, counted in the frames of the file.

    `first` is the motion as it was read from the file; `motion` is its end, after leading frames were trimmed. The
    trimmed frames keep the annotations that `first` has there.
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
