"""Compute the poses of a blend: sample rotations between frames, and average them with weights. q = quaternion wxyz."""

from __future__ import annotations

import math

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Out, helper, kernel

# Number of terms of the series for slerp: _TERMS if the cosine of half the angle between is at least _NEAR, _FEW if it
# is above _NEARER.
_TERMS, _FEW = 12, 4
_NEAR, _NEARER = 0.9, 0.9994


@helper
def _series(t: float, r: float, of_a: Floats1D, of_b: Floats1D) -> None:
    """Compute the coefficients, the same for all joints, of the series for slerp weights between unit quaternions a and
    b.

    With w the angle between a and b as 4-vectors, these are series in cos(w) - 1: for sin(r w) / sin(w), r = 1 - t, in
    `of_a`, and for sin(t w) / sin(w) in `of_b`.
    """
    for i in range(1, _TERMS + 1):
        scale = 1.0 / (i * (2 * i + 1))
        of_a[i - 1] = (r * r - i * i) * scale
        of_b[i - 1] = (t * t - i * i) * scale


@helper
def _slerp_weights(dot: float, t: float, of_a: Floats1D, of_b: Floats1D) -> tuple[float, float]:
    """Return the weights of a and of b in their slerp at t. `dot` is their dot product, at least 0; `of_a` and `of_b`
    are from `_series`.

    Consecutive frames differ little, so a few terms suffice, without trigonometry; each omitted term is below a
    millionth of the one before it for frames less than 4 degrees apart.
    """
    if dot < _NEAR:
        arc = math.acos(dot)
        sine = math.sin(arc)
        return math.sin((1.0 - t) * arc) / sine, math.sin(t * arc) / sine
    d = dot - 1.0
    a = b = 1.0
    for i in range(_FEW if d > _NEARER - 1.0 else _TERMS, 0, -1):
        a = 1.0 + of_a[i - 1] * d * a
        b = 1.0 + of_b[i - 1] * d * b
    return (1.0 - t) * a, t * b


@helper
def _rotate_about_vertical(cosine: float, sine: float, q: Floats1D) -> None:
    """Rotate q about the vertical by twice the angle whose cosine and sine are given."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    q[0] = cosine * w - sine * y
    q[1] = cosine * x + sine * z
    q[2] = cosine * y + sine * w
    q[3] = cosine * z - sine * x


@helper
def _rotate_joints(pose: Floats2D, free: Ints1D, angle: float) -> None:
    cosine, sine = math.cos(0.5 * angle), math.sin(0.5 * angle)
    for k in range(free.shape[0]):
        _rotate_about_vertical(cosine, sine, pose[free[k]])


@kernel
def sample_rotations(rotations: Floats3D, frames: Floats1D, free: Ints1D, angles: Floats1D, out: Out[Floats3D]) -> None:
    """Write the poses at fractional frames (F,) of rotations (N, J, 4) to `out` (F, J, 4).

    Joints `free` are then rotated about the vertical by angles (F,), radians.
    """
    last = rotations.shape[0] - 1
    of_a, of_b = np.empty(_TERMS), np.empty(_TERMS)
    for f in range(frames.shape[0]):
        before = min(int(frames[f]), last)
        t = frames[f] - before
        after = min(before + 1, last)
        _series(t, 1.0 - t, of_a, of_b)
        for j in range(rotations.shape[1]):
            a0, a1, a2, a3 = (
                rotations[before, j, 0], rotations[before, j, 1], rotations[before, j, 2], rotations[before, j, 3],
            )  # fmt: skip
            b0, b1, b2, b3 = (
                rotations[after, j, 0], rotations[after, j, 1], rotations[after, j, 2], rotations[after, j, 3],
            )  # fmt: skip
            dot = a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3
            a, b = _slerp_weights(min(abs(dot), 1.0), t, of_a, of_b)
            if dot < 0.0:
                b = -b
            out[f, j, 0] = a * a0 + b * b0
            out[f, j, 1] = a * a1 + b * b1
            out[f, j, 2] = a * a2 + b * b2
            out[f, j, 3] = a * a3 + b * b3
        _rotate_joints(out[f], free, angles[f])


@kernel
def add_rotations(poses: Floats3D, weights: Floats1D, anchor: Floats3D, total: Out[Floats3D]) -> None:
    """Add weights (F,) times poses (F, J, 4) to `total`; each quaternion gets the sign that brings it nearer to the
    anchor's.
    """
    for f in range(poses.shape[0]):
        weight = weights[f]
        if weight == 0.0:
            continue
        for j in range(poses.shape[1]):
            dot = 0.0
            for k in range(4):
                dot += poses[f, j, k] * anchor[f, j, k]
            signed = -weight if dot < 0.0 else weight
            for k in range(4):
                total[f, j, k] += signed * poses[f, j, k]


@kernel
def finish_rotations(total: Out[Floats3D], free: Ints1D, angles: Floats1D) -> float:
    """Normalize sums to unit quaternions with continuous signs; return the smallest length before normalization.

    Joints `free` are rotated about the vertical by angles (F,), radians.
    """
    shortest = 1.0
    for f in range(total.shape[0]):
        for j in range(total.shape[1]):
            size = 0.0
            for k in range(4):
                size += total[f, j, k] * total[f, j, k]
            size = math.sqrt(size)
            shortest = min(shortest, size)
            scale = 1.0 / size if size > 0.0 else 0.0
            for k in range(4):
                total[f, j, k] *= scale
        _rotate_joints(total[f], free, angles[f])
        if f > 0:
            for j in range(total.shape[1]):
                dot = 0.0
                for k in range(4):
                    dot += total[f, j, k] * total[f - 1, j, k]
                if dot < 0.0:
                    for k in range(4):
                        total[f, j, k] = -total[f, j, k]
    return shortest
