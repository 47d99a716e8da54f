"""Compute the left direction and the facing direction of a body, frame by frame."""

from __future__ import annotations

import math

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints2D, Out, helper, kernel


@kernel
def find_left_axes(positions: Floats3D, pairs: Ints2D, left: Out[Floats2D]) -> None:
    """Write the body's left as horizontal unit vectors (F, 3): the mean direction between pairs of joints (P, 2).

    positions : (F, J, 3). pairs : joints on the left side, and their counterparts on the right side.
    It is +X in frames where the joints of each pair are above each other, or the directions cancel out.
    """
    for f in range(positions.shape[0]):
        x, z = 0.0, 0.0
        for k in range(pairs.shape[0]):
            a, b = positions[f, pairs[k, 0]], positions[f, pairs[k, 1]]
            u, w = _normalize(a[0] - b[0], a[2] - b[2])
            x, z = x + u, z + w
        x, z = _normalize(x, z)
        if x == 0.0 and z == 0.0:
            x = 1.0
        left[f, 0], left[f, 1], left[f, 2] = x, 0.0, z


@kernel
def find_yaws(positions: Floats3D, pairs: Ints2D, hips: int, top: int, yaw: Out[Floats1D]) -> bool:
    """Write the facing direction as yaw (F,) in radians, continuous over the frames, if no frame is upside down.

    pairs : like those of `find_left_axes`. hips, top : joints; in frames that are upside down, the top is below the
    hips. Returns False if there are any.
    """
    left, before, turns = np.empty((1, 3)), 0.0, 0.0
    for f in range(positions.shape[0]):
        if positions[f, top, 1] < positions[f, hips, 1]:
            return False
        find_left_axes(positions[f : f + 1], pairs, left)
        here = math.atan2(-left[0, 2], left[0, 0])
        if f > 0 and here - before > math.pi:
            turns -= 1.0
        elif f > 0 and here - before < -math.pi:
            turns += 1.0
        before, yaw[f] = here, here + 2.0 * math.pi * turns
    return True


@helper
def _normalize(x: float, z: float) -> tuple[float, float]:
    size = math.sqrt(x * x + z * z)
    if size > 1e-9:
        return x / size, z / size
    return 0.0, 0.0
