"""Compiled loops of inertialisation: plain arrays in, results written into the last arguments.

Key: q = quaternion wxyz; x, v = offset and its velocity, of positions in the world and of turns as rotation vectors in
the joint's own axes; y = stiffness of a critically damped spring, 1/s.
"""

from __future__ import annotations

import math
from typing import Any

from marey.core.compiled import inner, kernel

Array = Any


@inner
def _mul(a: Array, b: Array, out: Array) -> None:
    aw, ax, ay, az = a[0], a[1], a[2], a[3]
    bw, bx, by, bz = b[0], b[1], b[2], b[3]
    out[0] = aw * bw - ax * bx - ay * by - az * bz
    out[1] = aw * bx + ax * bw + ay * bz - az * by
    out[2] = aw * by - ax * bz + ay * bw + az * bx
    out[3] = aw * bz + ax * by - ay * bx + az * bw


@inner
def _inv_mul(a: Array, b: Array, out: Array) -> None:
    aw, ax, ay, az = a[0], -a[1], -a[2], -a[3]
    bw, bx, by, bz = b[0], b[1], b[2], b[3]
    out[0] = aw * bw - ax * bx - ay * by - az * bz
    out[1] = aw * bx + ax * bw + ay * bz - az * by
    out[2] = aw * by - ax * bz + ay * bw + az * bx
    out[3] = aw * bz + ax * by - ay * bx + az * bw


@inner
def _exp(v: Array, out: Array) -> None:
    angle = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    share = 0.5 if angle < 1e-9 else math.sin(0.5 * angle) / angle
    out[0] = math.cos(0.5 * angle)
    for k in range(3):
        out[1 + k] = share * v[k]


@inner
def _log(q: Array, out: Array) -> None:
    sign = -1.0 if q[0] < 0.0 else 1.0
    sine = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    share = 2.0 if sine < 1e-12 else 2.0 * math.atan2(sine, sign * q[0]) / sine
    for k in range(3):
        out[k] = sign * share * q[1 + k]


@inner
def _inv_rotate(q: Array, v: Array, out: Array) -> None:
    w, x, y, z = q[0], -q[1], -q[2], -q[3]
    tx = 2.0 * (y * v[2] - z * v[1])
    ty = 2.0 * (z * v[0] - x * v[2])
    tz = 2.0 * (x * v[1] - y * v[0])
    a = v[0] + w * tx + y * tz - z * ty
    b = v[1] + w * ty + z * tx - x * tz
    out[2] = v[2] + w * tz + x * ty - y * tx
    out[0] = a
    out[1] = b


@inner
def _to_rotvec_rate(x: Array, rate: Array, out: Array) -> None:
    """How fast a rotation vector changes, from the angular velocity in the turned frame's own axes."""
    angle = math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    share = 1.0 / 12.0
    if angle >= 1e-4:
        half = 0.5 * angle
        share = (1.0 - half / math.tan(half)) / (angle * angle)
    ax = x[1] * rate[2] - x[2] * rate[1]
    ay = x[2] * rate[0] - x[0] * rate[2]
    az = x[0] * rate[1] - x[1] * rate[0]
    out[0] = rate[0] + 0.5 * ax + share * (x[1] * az - x[2] * ay)
    out[1] = rate[1] + 0.5 * ay + share * (x[2] * ax - x[0] * az)
    out[2] = rate[2] + 0.5 * az + share * (x[0] * ay - x[1] * ax)


@kernel
def decay(x: Array, v: Array, y: float, seconds: float) -> None:
    """Let springs (n, 3) go on for a time, exactly."""
    left = math.exp(-y * seconds)
    for j in range(x.shape[0]):
        for k in range(3):
            pull = v[j, k] + y * x[j, k]
            x[j, k] = left * (x[j, k] + pull * seconds)
            v[j, k] = left * (v[j, k] - y * pull * seconds)


@kernel
def pose(
    root: Array, rotations: Array, place: Array, x: Array, side: Array, work: Array, out_root: Array, out: Array
) -> None:
    """A frame carried to its place, with offsets x (J + 1, 3) added: row 0 to the position, the others to joints.

    Quaternions take the sign that agrees with `side` (J, 4).
    """
    c, s = math.cos(place[0]), math.sin(place[0])
    out_root[0] = c * root[0] + s * root[2] + place[1] + x[0, 0]
    out_root[1] = root[1] + x[0, 1]
    out_root[2] = c * root[2] - s * root[0] + place[2] + x[0, 2]
    for j in range(rotations.shape[0]):
        _exp(x[j + 1], work[0])
        _mul(rotations[j], work[0], out[j])
        if j == 0:
            work[1, 0], work[1, 1], work[1, 2], work[1, 3] = (
                math.cos(0.5 * place[0]),
                0.0,
                math.sin(0.5 * place[0]),
                0.0,
            )
            _mul(work[1], out[0], work[2])
            for k in range(4):
                out[0, k] = work[2, k]
        size = 0.0
        agree = 0.0
        for k in range(4):
            size += out[j, k] * out[j, k]
            agree += out[j, k] * side[j, k]
        size = math.copysign(1.0 / math.sqrt(size), agree)
        for k in range(4):
            out[j, k] *= size


@kernel
def ahead(
    root: Array,
    root_rate: Array,
    rotations: Array,
    turn_rate: Array,
    seconds: float,
    work: Array,
    out_root: Array,
    out: Array,
) -> None:
    """The pose that rates lead to."""
    for k in range(3):
        out_root[k] = root[k] + seconds * root_rate[k]
    for j in range(rotations.shape[0]):
        for k in range(3):
            work[1, k] = seconds * turn_rate[j, k]
        _exp(work[1], work[0])
        _mul(rotations[j], work[0], out[j])


@kernel
def rebase(
    root: Array,
    root_rate: Array,
    rotations: Array,
    turn_rate: Array,
    place: Array,
    now_root: Array,
    now: Array,
    next_root: Array,
    following: Array,
    fps: float,
    work: Array,
    x: Array,
    v: Array,
) -> None:
    """Offsets x, v (J + 1, 3) that lead from a frame and its rates, in its place, to the pose and rates shown now.

    root, root_rate, rotations, turn_rate : the frame to go on from. now_root, now : the pose shown. next_root,
    following : the pose that would have been shown next.
    """
    c, s = math.cos(place[0]), math.sin(place[0])
    x[0, 0] = now_root[0] - (c * root[0] + s * root[2] + place[1])
    x[0, 1] = now_root[1] - root[1]
    x[0, 2] = now_root[2] - (c * root[2] - s * root[0] + place[2])
    v[0, 0] = (next_root[0] - now_root[0]) * fps - (c * root_rate[0] + s * root_rate[2])
    v[0, 1] = (next_root[1] - now_root[1]) * fps - root_rate[1]
    v[0, 2] = (next_root[2] - now_root[2]) * fps - (c * root_rate[2] - s * root_rate[0])
    for j in range(rotations.shape[0]):
        if j == 0:
            work[0, 0], work[0, 1], work[0, 2], work[0, 3] = (
                math.cos(0.5 * place[0]),
                0.0,
                math.sin(0.5 * place[0]),
                0.0,
            )
            _mul(work[0], rotations[0], work[1])
        else:
            for k in range(4):
                work[1, k] = rotations[j, k]
        _inv_mul(work[1], now[j], work[2])
        _log(work[2], x[j + 1])
        _exp(x[j + 1], work[2])
        _inv_rotate(work[2], turn_rate[j], work[3])
        _inv_mul(now[j], following[j], work[0])
        _log(work[0], work[4])
        for k in range(3):
            work[4, k] = work[4, k] * fps - work[3, k]
        _to_rotvec_rate(x[j + 1], work[4], v[j + 1])
