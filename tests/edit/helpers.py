"""Helpers that the tests of edits share."""

from __future__ import annotations

import json
from functools import cache

import numpy as np

from marey.core import Label, Labels, Motion, Skeleton
from marey.maths import quat
from marey.samples import sample
from tests.core.skeletons import Rig


@cache
def walk(seconds: float = 3.0, turn_rate: float = 0.3) -> Motion:
    """Return a sample that walks and turns, with a label for each direction."""
    from dataclasses import replace

    motion = sample("walk", seconds=seconds, turn_rate=turn_rate).motion
    return replace(motion, labels=Labels((Label("left_part", 10, 50), Label("walk", 0, len(motion)))))


@cache
def kick() -> Motion:
    return sample("kick").motion


def skeleton_of(rig: Rig) -> Skeleton:
    return Skeleton(rig.names, rig.parents, rig.offsets)


def same(a: Motion, b: Motion, within: float = 0.0) -> bool:
    """Return whether two motions are equal, exactly or nearly; q and -q are one rotation."""
    if len(a) != len(b):
        return False
    if within == 0.0:
        bones = (a.bone_offsets is None and b.bone_offsets is None) or np.array_equal(a.bone_offsets, b.bone_offsets)
        return bones and np.array_equal(a.rotations, b.rotations) and np.array_equal(a.root_positions, b.root_positions)
    apart = [
        np.abs(a.world().positions - b.world().positions).max(),
        quat.angle_between(a.rotations, b.rotations).max(),
    ]
    return max(apart) <= within


def same_notes(a: Motion, b: Motion) -> bool:
    """Return whether contacts and labels are equal."""
    if (a.contacts is None) != (b.contacts is None) or a.labels != b.labels:
        return False
    if a.contacts is None or b.contacts is None:
        return True
    return a.contacts.names == b.contacts.names and np.array_equal(a.contacts.mask, b.contacts.mask)


def bone_lengths(motion: Motion) -> np.ndarray:
    """Return world rotations, (F, J - 1, 4)."""
    positions = motion.world().positions
    return np.linalg.norm(positions[:, 1:] - positions[:, motion.skeleton.parents[1:]], axis=-1)


def keeps_bones(motion: Motion) -> bool:
    return bool(np.allclose(bone_lengths(motion), motion.skeleton.bone_lengths[1:], atol=1e-9))


def last_step(motion: Motion) -> dict:
    """Return the newest entry of provenance, which must be JSON."""
    return json.loads(json.dumps(motion.source.provenance[-1]))


def slide(motion: Motion) -> float:
    """Return the largest distance in meters that planted points move within their plants."""
    from marey.clean import point_paths

    assert motion.contacts is not None
    paths = point_paths(motion, motion.contacts.points)
    worst = 0.0
    for k, name in enumerate(motion.contacts.names):
        for start, stop in motion.contacts.intervals(name):
            plant = paths[start:stop, k]
            worst = max(worst, float(np.linalg.norm(plant - plant.mean(axis=0), axis=1).max()))
    return worst
