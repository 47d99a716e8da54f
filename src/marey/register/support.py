"""Supporting feet: frames with opposite supporting feet should not be paired."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Bools, Floats
from marey.core.motion import Motion

_SIDES = ("left", "right")


def find_foot_support(motion: Motion) -> Bools | None:
    """Return masks (F, 2): whether the left and the right foot are planted; None if contacts of a foot are missing."""
    contacts, roles = motion.contacts, motion.skeleton.roles
    if contacts is None or any(f"{side}_upper_leg" not in roles for side in _SIDES):
        return None
    columns = [
        [
            k
            for k, point in enumerate(contacts.points)
            if roles[f"{side}_upper_leg"] in motion.skeleton.chain(point.joint)
        ]
        for side in _SIDES
    ]
    if not all(columns):
        return None
    return np.stack([contacts.mask[:, column].any(axis=1) for column in columns], axis=1)


def measure_opposite_feet(a: Motion, b: Motion, at_a: Floats, at_b: Floats) -> float:
    """Compute the fraction of time for which one motion stands on the left foot alone and the other on the right alone.

    Parameters
    ----------
    at_a, at_b : (N,) corresponding seconds in each motion; each pair represents the same amount of time.
    """
    stands = find_foot_support(a), find_foot_support(b)
    if stands[0] is None or stands[1] is None or not len(at_a):
        return 0.0
    left, right = [], []
    for motion, standing, seconds in zip((a, b), stands, (at_a, at_b), strict=True):
        assert standing is not None
        frame = np.rint(seconds * motion.fps).astype(np.int64) % len(motion)
        left.append(standing[frame, 0] & ~standing[frame, 1])
        right.append(standing[frame, 1] & ~standing[frame, 0])
    return float(((left[0] & right[1]) | (right[0] & left[1])).mean())
