"""Compiled loops of the blend tree: plain arrays in, results written into the last arguments.

Key: r = place in the round, in rows of the table; w = shares of the loops; place = rigid2d (theta, x, z).
"""

from __future__ import annotations

import math
from typing import Any

from marey.core.compiled import kernel

Array = Any


@kernel
def advance(r: float, seconds: Array, steps: Array, w: Array, dt: float, place: Array) -> float:
    """Let dt seconds pass: the new place in the round; `place` goes along.

    Each loop votes on how fast rows pass and which step they make; both are the same from row to row.
    """
    n, rows = seconds.shape
    while dt > 0.0:
        k = int(r) % rows
        rate = 0.0
        turn, x, z = 0.0, 0.0, 0.0
        for j in range(n):
            if w[j] != 0.0:
                rate += w[j] / seconds[j, k]
                turn += w[j] * steps[j, k, 0]
                x += w[j] * steps[j, k, 1]
                z += w[j] * steps[j, k, 2]
        share = math.floor(r) + 1.0 - r
        if rate * dt < share:
            share = rate * dt
            r += share
            dt = 0.0
        else:
            dt -= share / rate
            r = math.floor(r) + 1.0
        # Half of the turn first: the step is then the chord of its arc.
        theta = place[0] + 0.5 * share * turn
        c, s = math.cos(theta), math.sin(theta)
        back = 0.5 * turn
        left, front = x * math.cos(back) - z * math.sin(back), x * math.sin(back) + z * math.cos(back)
        place[1] += share * (c * left + s * front)
        place[2] += share * (c * front - s * left)
        place[0] += share * turn
    return r - rows if r >= rows else r


@kernel
def pose(
    r: float,
    rotations: Array,
    root: Array,
    contacts: Array,
    body: Array,
    joints: Array,
    place: Array,
    out_root: Array,
    out: Array,
    flags: Array,
) -> None:
    """The mean pose at r, carried to its place; a point is in contact where loops of half the share have it so."""
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
        share = 0.0
        for j in range(n):
            if contacts[j, near, p]:
                share += body[j]
        flags[p] = share >= 0.5
    for i in range(out.shape[0]):
        for m in range(4):
            out[i, m] = 0.0
        for j in range(n):
            w = joints[i, j]
            if w == 0.0:
                continue
            # Rows agree in sign but for the last and the first, where a round may come back as the opposite vector.
            agree = 0.0
            for m in range(4):
                agree += rotations[j, k, i, m] * rotations[j, after, i, m]
            later = -t if agree < 0.0 else t
            side = 0.0
            for m in range(4):
                side += rotations[j, k, i, m] * out[i, m]
            w = -w if side < 0.0 else w
            for m in range(4):
                out[i, m] += w * ((1.0 - t) * rotations[j, k, i, m] + later * rotations[j, after, i, m])
        size = 0.0
        for m in range(4):
            size += out[i, m] * out[i, m]
        size = 1.0 / math.sqrt(size)
        for m in range(4):
            out[i, m] *= size
    hw, hy = math.cos(0.5 * place[0]), math.sin(0.5 * place[0])
    qw, qx, qy, qz = out[0, 0], out[0, 1], out[0, 2], out[0, 3]
    out[0, 0] = hw * qw - hy * qy
    out[0, 1] = hw * qx + hy * qz
    out[0, 2] = hw * qy + hy * qw
    out[0, 3] = hw * qz - hy * qx
