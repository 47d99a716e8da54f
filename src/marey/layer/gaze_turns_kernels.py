"""Looks on poses as they play, frame by frame."""

from __future__ import annotations

import math

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Out, kernel
from marey.maths.vector_kernels import about, add, exp, inv, mul, put_qua, qua, sub, times, turn, unit_qua, vec


@kernel
def rotate_spine(
    above: Ints1D, chain: Ints1D, shares: Floats2D, heading: Floats1D, looks: Floats2D, rotations: Out[Floats3D]
) -> None:
    """Rotate the joints of a chain by looks; local rotations (F, J, 4) are changed.

    Parameters
    ----------
    above : joints from the root down to the one that carries the chain, perhaps none.
    chain : (m,) joints, parents first.
    shares : (m, 4) how much of pelvis, lower spine, upper spine and neck each has been rotated by.
    heading : (F,) radians.
    looks : (F, 15) rotation vectors of the parts.
    """
    for f in range(len(rotations)):
        before = (1.0, 0.0, 0.0, 0.0)
        for n in range(len(above)):
            before = mul(before, qua(rotations[f, above[n]], 0))
        facing = about((0.0, 1.0, 0.0), heading[f])
        after = before
        for n in range(len(chain)):
            own = qua(rotations[f, chain[n]], 0)
            before = mul(before, own)
            added = (1.0, 0.0, 0.0, 0.0)
            for part in range(4):
                added = mul(added, exp(times(shares[n, part], vec(looks[f], 3 * part))))
            there = mul(mul(mul(facing, added), inv(facing)), before)
            local = unit_qua(mul(inv(after), there))
            side = local[0] * own[0] + local[1] * own[1] + local[2] * own[2] + local[3] * own[3]
            if side < 0.0:
                local = (-local[0], -local[1], -local[2], -local[3])
            put_qua(rotations[f, chain[n]], 0, local)
            after = there


@kernel
def find_goal_angles(
    head: Floats1D, rotation: Floats1D, eyes: Floats1D, heading: float, goal: Floats1D
) -> tuple[float, float]:
    """Yaw to the left and pitch upwards of a goal (3,) from a body's heading, seen by eyes (3,) in the head's axes."""
    away = sub(vec(goal, 0), add(vec(head, 0), turn(qua(rotation, 0), vec(eyes, 0))))
    x, y, z = turn(about((0.0, 1.0, 0.0), -heading), away)
    return math.atan2(x, z), math.atan2(y, np.hypot(x, z))
