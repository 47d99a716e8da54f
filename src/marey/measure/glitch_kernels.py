"""Find joints that may jump or flip between frames: a fast test that rules out most joints of most clips.

A separate module because kernels are compiled file by file.
"""

from __future__ import annotations

import math

import numpy as np

from marey.compiled import Bools1D, Floats1D, Floats3D, Ints1D, Out, kernel
from marey.maths import vector_kernels as vec

# Square of the sine of half an angle, 0.2 rad, below which the error of a series is below 1e-11.
_SMALL = 0.01


@kernel
def find_moving_joints(positions: Floats3D, joints: Ints1D, distance: float, jumps: Out[Bools1D]) -> None:
    """Set `jumps` (n,) for joints (n,) whose velocity changes by more than `distance` both before and after a step.

    positions : (F, J, 3) meters, of at least 3 frames.
    distance : change of velocity, in meters per frame squared.
    """
    n_frames, n_joints = positions.shape[0], joints.shape[0]
    limit, before = distance * distance, np.zeros(n_joints)
    jumps[:] = False
    for f in range(1, n_frames - 1):
        for k in range(n_joints):
            j = joints[k]
            x = positions[f + 1, j, 0] - 2.0 * positions[f, j, 0] + positions[f - 1, j, 0]
            y = positions[f + 1, j, 1] - 2.0 * positions[f, j, 1] + positions[f - 1, j, 1]
            z = positions[f + 1, j, 2] - 2.0 * positions[f, j, 2] + positions[f - 1, j, 2]
            change = x * x + y * y + z * z
            is_end = f == 1 or f == n_frames - 2
            if change > limit and (is_end or before[k] > limit):
                jumps[k] = True
            before[k] = change


@kernel
def find_flipping_joints(rotations: Floats3D, joints: Ints1D, cosine: float, flips: Out[Bools1D]) -> None:
    """Set `flips` (n,) for joints (n,) that rotate by more than a limit from one frame to the next.

    rotations : (F, J, 4) local rotations.
    cosine : cosine of half of the largest angle that is not a flip.
    """
    flips[:] = False
    for f in range(rotations.shape[0] - 1):
        for k in range(joints.shape[0]):
            j = joints[k]
            dot = rotations[f, j, 0] * rotations[f + 1, j, 0] + rotations[f, j, 1] * rotations[f + 1, j, 1]
            dot += rotations[f, j, 2] * rotations[f + 1, j, 2] + rotations[f, j, 3] * rotations[f + 1, j, 3]
            if math.fabs(dot) < cosine:
                flips[k] = True


@kernel
def measure_twist(rotations: Floats3D, joint: int, axis: Floats1D) -> float:
    """Return the range in radians of the angle by which a joint rotates about an axis, summed over the frames.

    rotations : (F, J, 4) local rotations. axis : (3,) unit vector.
    """
    angle, low, high = 0.0, 0.0, 0.0
    for f in range(rotations.shape[0] - 1):
        before, after = vec.get_quat(rotations[f, joint], 0), vec.get_quat(rotations[f + 1, joint], 0)
        w, x, y, z = vec.mul(vec.inv(before), after)
        if w < 0.0:
            w, x, y, z = -w, -x, -y, -z
        square = x * x + y * y + z * z
        if square < _SMALL:  # the series of 2 asin(sine) / sine, which is faster
            factor = 2.0 + square * (1.0 / 3.0 + square * (0.15 + square * (5.0 / 56.0 + square * (35.0 / 576.0))))
        else:
            sine = math.sqrt(square)
            factor = 2.0 * math.atan2(sine, w) / sine
        angle += factor * (x * axis[0] + y * axis[1] + z * axis[2])
        low, high = min(low, angle), max(high, angle)
    return high - low
