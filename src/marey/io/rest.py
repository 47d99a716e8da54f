"""The rest pose that some collections insert before the first frame."""

from __future__ import annotations

import numpy as np

from marey.core.motion import Motion
from marey.maths import quat

# In an inserted pose most joints are exactly at rest, and the next frame is far away from it.
_STIFF_SHARE = 0.5
_STIFF_ANGLE = 1e-6
_JUMP = np.deg2rad(3.0)
_JUMP_RATIO = 4.0
_N_LOOKS = 32


def starts_with_rest_pose(motion: Motion) -> bool:
    """Whether frame 0 is an inserted T-pose, as in the CMU collection's BVH files.

    It is one if half of its joints, including the root, are exactly at rest, and the step to frame 1 is several times
    larger than the steps after it (except for a few, because captures may glitch at the start).
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
