"""Plant the feet again after an edit that moved the entire body."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np

from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.contacts import Contacts
from marey.core.motion import Motion
from marey.maths import ease_in, quat

# A contact that an edit lifts by more than this (m), or drags faster than this (m/s), is removed.
_LIFT, _DRAG = 0.02, 0.1
# A point planted on both sides of a gap, at most this far apart, is planted through it; meters.
_ONE_PLACE = 0.06
# Seconds beyond the plants on both sides of a gap over which the changes made by cleanup there fade out.
_MARGIN = 0.5


def set_contacts(motion: Motion) -> Motion:
    """Return the motion with existing or detected contacts; if none can be found, warn and return it unchanged."""
    from marey.clean import ensure_contacts

    return ensure_contacts(motion, "feet were not replanted")


def replant_feet(motion: Motion) -> tuple[Motion, bool]:
    """Hold contact points in place by cleanup; return the motion, and whether it has contacts."""
    contacts = motion.contacts
    clean = getattr(importlib.import_module("marey.clean"), "clean", None)
    if contacts is None or not contacts.mask.any() or not callable(clean):
        return motion, False
    planted = clean(motion)
    return replace(planted, source=replace(motion.source, floor=planted.source.floor)), True


def bridge_contacts(motion: Motion, start: int, stop: int) -> Motion:
    """Add contacts through the gap, frames `start` to `stop`, for points that stay in place over it."""
    contacts = motion.contacts
    if contacts is None or not contacts.points or not 0 < start <= stop < len(motion):
        return motion
    from marey.clean import point_paths

    sides = point_paths(replace(motion, contacts=None), contacts.points)[[start - 1, stop]]
    near = np.linalg.norm(sides[1] - sides[0], axis=-1) <= _ONE_PLACE
    mask = contacts.mask.copy()
    mask[start:stop] = near & mask[start - 1] & mask[stop]
    return replace(motion, contacts=replace(contacts, mask=set_readonly(mask)))


def replant_around(motion: Motion, start: int, stop: int) -> tuple[Motion, bool]:
    """Clean up the plants that end or begin at the gap, frames `start` to `stop`, or span it.

    Frames farther away stay bit-identical. Also return whether there were plants to clean up.
    """
    contacts = motion.contacts
    if contacts is None:
        return motion, False
    mask = np.zeros_like(contacts.mask)
    for k, name in enumerate(contacts.names):
        for a, b in contacts.intervals(name):
            if a <= stop and b >= start:
                mask[a:b, k] = True
    held = np.flatnonzero(mask.any(axis=1))
    if not len(held):
        return motion, False
    margin = max(1, round(_MARGIN * motion.fps))
    first = max(0, min(int(held[0]), start) - margin)
    last = min(len(motion), max(int(held[-1]) + 1, stop) + margin)
    part = replace(motion[first:last], contacts=replace(contacts, mask=set_readonly(mask)).crop(first, last))
    planted, done = replant_feet(part)
    if not done:
        return motion, False
    weight = np.ones(last - first)
    ramp = ease_in(np.arange(margin) / margin)
    if first > 0:
        weight[:margin] = ramp
    if last < len(motion):
        weight[-margin:] = np.minimum(weight[-margin:], ramp[::-1])
    return mix_poses(motion, part, planted, weight, slice(first, last)), True


def mix_poses(motion: Motion, part: Motion, planted: Motion, weight: Floats, frames: slice) -> Motion:
    """Return `motion` with `frames` replaced by a blend from `part` to `planted`, by `weight` (n,) from 0 to 1."""
    root, rotations = motion.root_positions.copy(), motion.rotations.copy()
    root[frames] += weight[:, None] * (planted.root_positions - part.root_positions)
    rotated = quat.slerp(part.rotations, planted.rotations, weight[:, None])
    # A slerp by 0 may round; leave unchanged values exactly as they are.
    rotations[frames] = np.where(weight[:, None, None] > 0.0, rotated, part.rotations)
    bones = motion.bone_offsets
    if planted.bone_offsets is not None:
        bones = motion.frame_offsets.copy()
        bones[frames] += weight[:, None, None] * (planted.bone_offsets - part.frame_offsets)
    return replace(
        motion,
        root_positions=set_readonly(root),
        rotations=set_readonly(quat.unroll(rotations)),
        bone_offsets=None if bones is None else set_readonly(bones),
    )


def keep_contacts(before: Motion, after: Motion) -> Contacts | None:
    """Return the contacts of `before` that still hold in `after`, frame by frame.

    A point that the edit lifted, lowered or dragged loses contact. A contact that was moved rigidly to
    another position is kept.
    """
    contacts = before.contacts
    if contacts is None or not contacts.points:
        return contacts
    from marey.clean import point_paths

    shift = point_paths(after, contacts.points) - point_paths(before, contacts.points)
    keep: Bools = np.abs(shift[..., 1]) <= _LIFT
    if len(shift) > 1:
        speed = np.linalg.norm(np.diff(shift, axis=0), axis=-1) * before.fps
        # Use the slower of the steps to both neighbors: at the first and last frame of a plant, one of them moves.
        slower = np.minimum(np.concatenate([speed[:1], speed]), np.concatenate([speed, speed[-1:]]))
        keep &= slower <= _DRAG
    return replace(contacts, mask=set_readonly(contacts.mask & keep))
