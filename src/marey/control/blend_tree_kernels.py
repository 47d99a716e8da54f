"""Compiled kernels of the blend tree.

Key: r = position in the cycle, in rows of the table; place = rigid2d (theta, x, z) of the character.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from marey.compiled import Bools1D, Bools3D, Floats1D, Floats2D, Floats3D, Floats4D, Out, kernel
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Quat


class Loops(NamedTuple):
    """n loops, sampled at M equal parts of their common cycle; see `marey.control.blend_tree_table.LoopTable`.

    seconds : (n, M) time from each row to the next. steps : (n, M, 3) rigid2d from each row to the next.
    rotations : (n, M, J, 4) local rotations of the J joints. root : (n, M, 3) meters, position of joint 0.
    contacts : (n, M, K) flags of the K contact points.
    """

    seconds: Floats2D
    steps: Floats3D
    rotations: Floats4D
    root: Floats3D
    contacts: Bools3D


class LoopWeights(NamedTuple):
    """Weights of n loops; they sum to 1.

    body : (n,) weights for travel and time. joints : (J, n) weights for the rotation of each of J joints.
    """

    body: Floats1D
    joints: Floats2D


@kernel
def advance(r: float, loops: Loops, body: Floats1D, dt: float, place: Out[Floats1D]) -> float:
    """Advance by dt seconds: update `place` (3,) and return the new position in the cycle.

    Rates and steps are means over the loops with weights `body` (n,), constant between two rows.
    """
    seconds, steps = loops.seconds, loops.steps
    n, rows = seconds.shape
    while dt > 0.0:
        k = int(r) % rows
        rate = 0.0
        turn, x, z = 0.0, 0.0, 0.0
        for j in range(n):
            if body[j] != 0.0:
                rate += body[j] / seconds[j, k]
                turn += body[j] * steps[j, k, 0]
                x += body[j] * steps[j, k, 1]
                z += body[j] * steps[j, k, 2]
        fraction = math.floor(r) + 1.0 - r
        if rate * dt < fraction:
            fraction = rate * dt
            r += fraction
            dt = 0.0
        else:
            dt -= fraction / rate
            r = math.floor(r) + 1.0
        # Apply half of the turn first, because the step is the chord of its arc.
        theta = place[0] + 0.5 * fraction * turn
        c, s = math.cos(theta), math.sin(theta)
        back = 0.5 * turn
        left, front = x * math.cos(back) - z * math.sin(back), x * math.sin(back) + z * math.cos(back)
        place[1] += fraction * (c * left + s * front)
        place[2] += fraction * (c * front - s * left)
        place[0] += fraction * turn
    return r - rows if r >= rows else r


@kernel
def blend_pose(
    r: float,
    loops: Loops,
    weights: LoopWeights,
    place: Floats1D,
    out_root: Out[Floats1D],
    out: Out[Floats2D],
    flags: Out[Bools1D],
) -> None:
    """Blend the poses at r and move the result to `place`: write `out_root` (3,), `out` (J, 4) and `flags` (K,).

    A point is in contact if it is in contact in loops with at least half of the total weight.
    """
    body, root = weights.body, loops.root
    n, rows = root.shape[0], root.shape[1]
    k = int(r) % rows
    after = (k + 1) % rows
    t = r - math.floor(r)
    x, y, z = 0.0, 0.0, 0.0
    for j in range(n):
        if body[j] != 0.0:
            x += body[j] * ((1.0 - t) * root[j, k, 0] + t * root[j, after, 0])
            y += body[j] * ((1.0 - t) * root[j, k, 1] + t * root[j, after, 1])
            z += body[j] * ((1.0 - t) * root[j, k, 2] + t * root[j, after, 2])
    c, s = math.cos(place[0]), math.sin(place[0])
    out_root[0] = c * x + s * z + place[1]
    out_root[1] = y
    out_root[2] = c * z - s * x + place[2]
    near = k if t < 0.5 else after
    for p in range(flags.shape[0]):
        weight = 0.0
        for j in range(n):
            if loops.contacts[j, near, p]:
                weight += body[j]
        flags[p] = weight >= 0.5
    for i in range(out.shape[0]):
        total: Quat = (0.0, 0.0, 0.0, 0.0)
        for j in range(n):
            w = weights.joints[i, j]
            if w == 0.0:
                continue
            a, b = vec.get_quat(loops.rotations[j, k, i], 0), vec.get_quat(loops.rotations[j, after, i], 0)
            # Rows agree in sign, except that the last and the first row may be opposite vectors.
            later = -t if vec.dot_quat(a, b) < 0.0 else t
            w = -w if vec.dot_quat(a, total) < 0.0 else w
            total = vec.add_quat(
                total, vec.scale_quat(w, vec.add_quat(vec.scale_quat(1.0 - t, a), vec.scale_quat(later, b)))
            )
        total = vec.scale_quat(1.0 / math.sqrt(vec.dot_quat(total, total)), total)
        vec.put_quat(out[i], 0, vec.mul(vec.from_yaw(place[0]), total) if i == 0 else total)
