"""Compiled loops of `blend`: plain arrays in, results written into the last arguments.

Key: q = quaternion wxyz; x = place within a span of the timewarp, 0 to 1; c = share of a time step that has passed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel

Array = Any

# A step that ends this share of itself after the timewarp does ends with it.
_LATE = 1e-4
# Runge-Kutta steps to a stretch within a span.
_PARTS = 4
_NEWTON_STEPS = 20
# A change of place this small, as a share of a span, changes nothing that a motion could show.
_SETTLED = 1e-12
# Terms of the series for slerp: all of them from _NEAR on (cosine of half the angle between), a few from _NEARER on.
_TERMS, _FEW = 12, 4
_NEAR, _NEARER = 0.9, 0.9994


# Along the timewarp ---------------------------------------------------------------------------------------------------


@kernel
def _speed(low: Array, high: Array, shares: Array, nodes: Array, c: float, x: float) -> float:
    """Sum of shares / slopes at place x and time c: du/dt. Shares follow a cubic through four nodes."""
    c = min(max(c, 0.0), 1.0)
    total = 0.0
    for k in range(4):
        basis = 1.0
        for other in range(4):
            if other != k:
                basis *= (c - nodes[other]) / (nodes[k] - nodes[other])
        for j in range(shares.shape[1]):
            share = shares[k, j]
            if share != 0.0:
                total += basis * share / (low[j] + (high[j] - low[j]) * x)
    return total


@inner
def _time_between(
    low: Array, high: Array, shares: Array, nodes: Array, c: float, x: float, end: float, step: float, m: int
) -> float:
    """Seconds from place x to `end` in a span: Runge-Kutta steps of dt/dx, exact where one motion has all the say."""
    t = 0.0
    h = (end - x) / _PARTS
    for part in range(_PARTS):
        at = x + part * h
        k1 = 1.0 / (m * _speed(low, high, shares, nodes, c + t / step, at))
        k2 = 1.0 / (m * _speed(low, high, shares, nodes, c + (t + 0.5 * h * k1) / step, at + 0.5 * h))
        k3 = 1.0 / (m * _speed(low, high, shares, nodes, c + (t + 0.5 * h * k2) / step, at + 0.5 * h))
        k4 = 1.0 / (m * _speed(low, high, shares, nodes, c + (t + h * k3) / step, at + h))
        t += h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
    return t


@inner
def _place_after(
    low: Array, high: Array, shares: Array, nodes: Array, c: float, x: float, left: float, step: float, m: int
) -> float:
    """Where in the span one is `left` seconds after place x, by Newton's method on `_time_between`."""
    place: float = min(x + left * m * _speed(low, high, shares, nodes, c, x), 1.0)
    for _ in range(_NEWTON_STEPS):
        late = _time_between(low, high, shares, nodes, c, x, place, step, m) - left
        change = late * m * _speed(low, high, shares, nodes, 1.0, place)
        place = min(max(place - change, x), 1.0)
        if abs(change) < _SETTLED:
            break
    return place


@kernel
def march(slopes: Array, steps: Array, shares: Array, nodes: Array, start: float, cyclic: bool, u: Array) -> int:
    """u after each step of time, taken in parts at every knot; returns how many of u (F,) were reached.

    slopes (m + 1, n), steps (F - 1,) seconds, shares (F - 1, 4, n) at the nodes (4,) of each step.
    """
    m = slopes.shape[0] - 1
    turn = math.floor(start) if cyclic else 0.0
    span = min(max(int((start - turn) * m), 0), m - 1)
    x = (start - turn) * m - span
    u[0] = start
    for f in range(steps.shape[0]):
        step, share = steps[f], shares[f]
        if step <= 0.0:
            u[f + 1] = u[f]
            continue
        c = 0.0
        ended = False
        while True:
            low, high = slopes[span], slopes[span + 1]
            left = (1.0 - c) * step
            need = _time_between(low, high, share, nodes, c, x, 1.0, step, m)
            if need > left:
                x = _place_after(low, high, share, nodes, c, x, left, step, m)
                break
            c += need / step
            x = 0.0
            span += 1
            if span == m:
                if not cyclic:
                    ended = True
                    break
                span = 0
                turn += 1.0
        if ended:
            if 1.0 - c > _LATE:
                return f + 1
            u[f + 1] = 1.0
            return f + 2
        u[f + 1] = turn + (span + x) / m
    return len(u)


# Poses ----------------------------------------------------------------------------------------------------------------


@inner
def _series(t: float, r: float, of_a: Array, of_b: Array) -> None:
    """The factors of the series in cos(w) - 1 for sin(t w) / sin(w), with t and r = 1 - t: they hold for all joints."""
    for i in range(1, _TERMS + 1):
        scale = 1.0 / (i * (2 * i + 1))
        of_a[i - 1] = (r * r - i * i) * scale
        of_b[i - 1] = (t * t - i * i) * scale


@kernel
def _shares(dot: float, t: float, of_a: Array, of_b: Array) -> Any:
    """How much of a and of b makes their slerp at t, for dot = cos(w) >= 0.

    Neighbouring frames are near, so a few terms do, without trigonometry; each term left out is below a millionth of
    the one before it for frames less than 4 degrees apart.
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


@kernel
def _turned(cosine: float, sine: float, q: Array) -> None:
    """q turned about the vertical, by twice the angle that these belong to."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    q[0] = cosine * w - sine * y
    q[1] = cosine * x + sine * z
    q[2] = cosine * y + sine * w
    q[3] = cosine * z - sine * x


@inner
def _turn_joints(pose: Array, free: Array, angle: float) -> None:
    cosine, sine = math.cos(0.5 * angle), math.sin(0.5 * angle)
    for k in range(free.shape[0]):
        _turned(cosine, sine, pose[free[k]])


@kernel
def sample_rotations(rotations: Array, frames: Array, free: Array, turns: Array, out: Array) -> None:
    """Poses at frames (F,), whole or not, of rotations (N, J, 4) into out (F, J, 4); turns (F,) turn joints `free`."""
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
            a, b = _shares(min(abs(dot), 1.0), t, of_a, of_b)
            if dot < 0.0:
                b = -b
            out[f, j, 0] = a * a0 + b * b0
            out[f, j, 1] = a * a1 + b * b1
            out[f, j, 2] = a * a2 + b * b2
            out[f, j, 3] = a * a3 + b * b3
        _turn_joints(out[f], free, turns[f])


@kernel
def add_rotations(poses: Array, weights: Array, anchor: Array, total: Array) -> None:
    """Add weights (F,) times poses (F, J, 4), each on the anchor's side of the sphere, to total."""
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
def finish_rotations(total: Array, free: Array, turns: Array) -> float:
    """Sums to unit quaternions, joints `free` turned by turns (F,), signs continuous; returns the shortest length."""
    shortest = 1.0
    for f in range(total.shape[0]):
        for j in range(total.shape[1]):
            size = 0.0
            for k in range(4):
                size += total[f, j, k] ** 2
            size = math.sqrt(size)
            shortest = min(shortest, size)
            scale = 1.0 / size if size > 0.0 else 0.0
            for k in range(4):
                total[f, j, k] *= scale
        _turn_joints(total[f], free, turns[f])
        if f > 0:
            for j in range(total.shape[1]):
                dot = 0.0
                for k in range(4):
                    dot += total[f, j, k] * total[f - 1, j, k]
                if dot < 0.0:
                    for k in range(4):
                        total[f, j, k] = -total[f, j, k]
    return shortest
