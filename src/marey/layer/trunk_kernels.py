"""Compiled loops of spatial alignment: plain arrays in, results written into the last arguments.

A: the attachment's frame; H: the hip frame, x along the hip line to the left, y upwards as far as that allows.
q_A: the rotation in A that lays the upper clip's trunk on the lower clip's (Heck 4.2.3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel

Array = Any
_SWEEPS = 12


@inner
def _multiply(a: Array, b: Array, out: Array) -> None:
    """out = a * b; out must be another array."""
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]


@inner
def _turned(q: Array, sign: float, v: Array, out: Array) -> None:
    """out = v turned by q, or with sign -1 by its inverse."""
    x, y, z = sign * q[1], sign * q[2], sign * q[3]
    a, b, c = v[0], v[1], v[2]
    s = 2.0 * (y * c - z * b)
    t = 2.0 * (z * a - x * c)
    u = 2.0 * (x * b - y * a)
    out[0] = a + q[0] * s + (y * u - z * t)
    out[1] = b + q[0] * t + (z * s - x * u)
    out[2] = c + q[0] * u + (x * t - y * s)


@kernel
def best_rotation(source: Array, target: Array, out: Array) -> None:
    """out (4,) = the rotation about the origin that carries points (N, 3) nearest to targets (N, 3) (Horn 1987).

    The largest eigenvector of Horn's symmetric matrix, by Jacobi's rotations; w >= 0.
    """
    s = np.zeros((3, 3))
    for k in range(source.shape[0]):
        for i in range(3):
            for j in range(3):
                s[i, j] += source[k, i] * target[k, j]
    m = np.empty((4, 4))
    m[0, 0] = s[0, 0] + s[1, 1] + s[2, 2]
    m[0, 1] = s[1, 2] - s[2, 1]
    m[0, 2] = s[2, 0] - s[0, 2]
    m[0, 3] = s[0, 1] - s[1, 0]
    m[1, 1] = s[0, 0] - s[1, 1] - s[2, 2]
    m[1, 2] = s[0, 1] + s[1, 0]
    m[1, 3] = s[2, 0] + s[0, 2]
    m[2, 2] = s[1, 1] - s[0, 0] - s[2, 2]
    m[2, 3] = s[1, 2] + s[2, 1]
    m[3, 3] = s[2, 2] - s[0, 0] - s[1, 1]
    v = np.eye(4)
    for _ in range(_SWEEPS):
        off, whole = 0.0, 0.0
        for i in range(4):
            whole += m[i, i] * m[i, i]
            for j in range(i + 1, 4):
                off += m[i, j] * m[i, j]
        if off <= 1e-34 * whole:
            break
        for i in range(3):
            for j in range(i + 1, 4):
                if m[i, j] == 0.0:
                    continue
                theta = (m[j, j] - m[i, i]) / (2.0 * m[i, j])
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                d = t * c
                h = t * m[i, j]
                m[i, i] -= h
                m[j, j] += h
                m[i, j] = 0.0
                for k in range(4):
                    if k != i and k != j:
                        a, b = min(k, i), max(k, i)
                        e, f = min(k, j), max(k, j)
                        p, r = m[a, b], m[e, f]
                        m[a, b] = c * p - d * r
                        m[e, f] = d * p + c * r
                for k in range(4):
                    p, r = v[k, i], v[k, j]
                    v[k, i] = c * p - d * r
                    v[k, j] = d * p + c * r
    best = 0
    for i in range(1, 4):
        if m[i, i] > m[best, best]:
            best = i
    sign = -1.0 if v[0, best] < 0.0 else 1.0
    size = 0.0
    for k in range(4):
        size += v[k, best] * v[k, best]
    for k in range(4):
        out[k] = sign * v[k, best] / np.sqrt(size)


@inner
def _own_points(
    parents: Array,
    above: Array,
    points: Array,
    offsets: Array,
    rotations: Array,
    places: Array,
    turns: Array,
    out: Array,
) -> None:
    """out (N, 3) = where `points` are in A: the joints `above` with A itself unturned at the origin."""
    first = above[0]
    for k in range(3):
        places[first, k] = 0.0
        turns[first, k + 1] = 0.0
    turns[first, 0] = 1.0
    for n in range(1, above.shape[0]):
        j = above[n]
        parent = parents[j]
        _turned(turns[parent], 1.0, offsets[j], places[j])
        for k in range(3):
            places[j, k] += places[parent, k]
        _multiply(turns[parent], rotations[j], turns[j])
    for n in range(points.shape[0]):
        for k in range(3):
            out[n, k] = places[points[n], k]


@inner
def _stance(
    parents: Array, below: Array, legs: Array, offsets: Array, rotations: Array, places: Array, turns: Array, hip: Array
) -> None:
    """World rotations of the joints `below` into `turns`, and H as a quaternion into `hip` (4,)."""
    for n in range(below.shape[0]):
        j = below[n]
        parent = parents[j]
        if parent < 0:
            for k in range(3):
                places[j, k] = 0.0
            for k in range(4):
                turns[j, k] = rotations[j, k]
            continue
        _turned(turns[parent], 1.0, offsets[j], places[j])
        for k in range(3):
            places[j, k] += places[parent, k]
        _multiply(turns[parent], rotations[j], turns[j])
    x = np.empty(3)
    size = 0.0
    for k in range(3):
        x[k] = places[legs[0], k] - places[legs[1], k]
        size += x[k] * x[k]
    size = np.sqrt(size)
    if size < 1e-9:
        hip[0], hip[1], hip[2], hip[3] = 1.0, 0.0, 0.0, 0.0
        return
    for k in range(3):
        x[k] /= size
    level = np.sqrt(x[0] * x[0] + x[2] * x[2])
    if level < 1e-9:  # lying on the side: whatever is up, it is not told by the world
        level, x[0] = 1e-9, 1e-9
    # H = yaw then list: the yaw takes x to the level part of the hip line, the list lifts it.
    half_yaw = 0.5 * np.arctan2(-x[2], x[0])
    half_list = 0.5 * np.arctan2(x[1], level)
    a, b = np.cos(half_yaw), np.sin(half_yaw)
    c, d = np.cos(half_list), np.sin(half_list)
    hip[0], hip[1], hip[2], hip[3] = a * c, b * d, b * c, a * d


@inner
def _in_hips(hip: Array, turn: Array, point: Array, scratch: Array, out: Array) -> None:
    """out = a point of A's frame, which stands as `turn` in the world, as the hip frame sees it."""
    _turned(turn, 1.0, point, scratch)
    _turned(hip, -1.0, scratch, out)


@kernel
def trunk_frame(
    parents: Array, below: Array, above: Array, points: Array, arms: Array, legs: Array,
    lower_offsets: Array, lower: Array, upper_offsets: Array, upper: Array,
    places: Array, turns: Array, own: Array, other: Array, scratch: Array,
    local: Array, carrier: Array, hip: Array, shoulders: Array,
) -> None:  # fmt: skip
    """One frame of a splice before posture: lower and upper (J, 4) rotations with their (J, 3) offsets.

    places (J, 3), turns (J, 4), own and other (N, 3), scratch (2, 4) are working space.

    local : (4,) the attachment's rotation in its parent, A's in the lower clip times q_A.
    carrier : (4,) its parent in the world.
    hip : (4,) H of the lower clip.
    shoulders : (2, 3) metres, the upper clip's arms as H sees them from the attachment.
    """
    attachment = above[0]
    _own_points(parents, above, points, lower_offsets, lower, places, turns, other)
    _own_points(parents, above, points, upper_offsets, upper, places, turns, own)
    n_points = points.shape[0]
    best_rotation(own, other, scratch[0])
    _multiply(lower[attachment], scratch[0], local)
    _stance(parents, below, legs, lower_offsets, lower, places, turns, hip)
    parent = parents[attachment]
    for k in range(4):
        carrier[k] = turns[parent, k]
    _multiply(carrier, local, scratch[0])
    for side in range(2):
        _in_hips(hip, scratch[0], own[n_points - 2 + side], scratch[1], shoulders[side])


@kernel
def trunk_frames(
    parents: Array, below: Array, above: Array, points: Array, arms: Array, legs: Array,
    lower_offsets: Array, lower: Array, upper_offsets: Array, upper: Array,
    local: Array, carrier: Array, hip: Array, shoulders: Array,
) -> None:  # fmt: skip
    """`trunk_frame` for F frames; offsets (1 or F, J, 3)."""
    n_joints = parents.shape[0]
    places, turns = np.empty((n_joints, 3)), np.empty((n_joints, 4))
    own, other = np.empty((points.shape[0], 3)), np.empty((points.shape[0], 3))
    scratch = np.empty((2, 4))
    for f in range(lower.shape[0]):
        trunk_frame(
            parents, below, above, points, arms, legs,
            lower_offsets[f % lower_offsets.shape[0]], lower[f], upper_offsets[f % upper_offsets.shape[0]], upper[f],
            places, turns, own, other, scratch, local[f], carrier[f], hip[f], shoulders[f],
        )  # fmt: skip


@kernel
def postures(
    parents: Array, below: Array, above: Array, points: Array, arms: Array, legs: Array,
    offsets: Array, rotations: Array, shoulders: Array,
) -> None:  # fmt: skip
    """shoulders (F, 2, 3) = the arms of a clip as its own hip frame sees them from the attachment."""
    n_joints = parents.shape[0]
    places, turns = np.empty((n_joints, 3)), np.empty((n_joints, 4))
    own = np.empty((points.shape[0], 3))
    scratch, hip = np.empty((2, 4)), np.empty(4)
    for f in range(rotations.shape[0]):
        bones = offsets[f % offsets.shape[0]]
        _own_points(parents, above, points, bones, rotations[f], places, turns, own)
        _stance(parents, below, legs, bones, rotations[f], places, turns, hip)
        for side in range(2):
            _in_hips(hip, turns[above[0]], own[points.shape[0] - 2 + side], scratch[1], shoulders[f, side])


@kernel
def pitch_between(mean: Array, wanted: Array) -> Any:
    """Angle about x that carries `mean` (2, 3) nearest to `wanted` (2, 3)."""
    across, along = 0.0, 0.0
    for k in range(2):
        across += mean[k, 1] * wanted[k, 2] - mean[k, 2] * wanted[k, 1]
        along += mean[k, 1] * wanted[k, 1] + mean[k, 2] * wanted[k, 2]
    return np.arctan2(across, along)


@kernel
def with_posture(local: Array, carrier: Array, hip: Array, turn: Array, scratch: Array, out: Array) -> None:
    """out (4,) = the attachment's local rotation after `turn` (4,), given in H: pelvis' = H turn H^-1 pelvis."""
    a, b = scratch[0], scratch[1]
    _multiply(carrier, local, a)
    a_back = np.empty(4)
    a_back[0], a_back[1], a_back[2], a_back[3] = hip[0], -hip[1], -hip[2], -hip[3]
    _multiply(a_back, a, b)
    _multiply(turn, b, a)
    _multiply(hip, a, b)
    a_back[0], a_back[1], a_back[2], a_back[3] = carrier[0], -carrier[1], -carrier[2], -carrier[3]
    _multiply(a_back, b, out)
    size = 0.0
    for k in range(4):
        size += out[k] * out[k]
    for k in range(4):
        out[k] /= np.sqrt(size)
