"""Compiled: weights of gait clips that meet parameters exactly, and the clips blended by them.

Key: off = clip's parameters less the wanted ones, in units of nearness; heat = log of the weight before the tilt; the
tilt t makes weights w ~ exp(heat + off . t) whose mean of `off` is 0. It is where log sum exp(heat + off . t) is least.
"""

from __future__ import annotations

import math
from typing import Any

from marey.core.compiled import kernel


@kernel
def _weigh(off: Any, heat: Any, t0: float, t1: float, weights: Any) -> float:
    """Weights under a tilt into `weights` (n,), with sum 1; the value that the tilt is to make least."""
    n, d = off.shape
    top = -math.inf
    for i in range(n):
        level = heat[i] + t0 * off[i, 0]
        if d > 1:
            level += t1 * off[i, 1]
        weights[i] = level
        top = max(top, level)
    total = 0.0
    for i in range(n):
        weights[i] = math.exp(weights[i] - top)
        total += weights[i]
    for i in range(n):
        weights[i] /= total
    return top + math.log(total)


@kernel
def tilt(off: Any, heat: Any, most: int, solved: float, least: float, tried: Any, weights: Any) -> None:
    """Weights (n,) into `weights`, by Newton's method with halved steps; off is (n, d) with d 1 or 2.

    most : steps. solved : of the mean of off. least : share of the largest weight under which weights become 0.
    tried : (n,) room to work in.
    """
    n, d = off.shape
    t0 = t1 = 0.0
    height = _weigh(off, heat, t0, t1, weights)
    for _ in range(most):
        m0 = m1 = s00 = s01 = s11 = 0.0
        for i in range(n):
            w, x = weights[i], off[i, 0]
            m0 += w * x
            s00 += w * x * x
            if d > 1:
                y = off[i, 1]
                m1 += w * y
                s01 += w * x * y
                s11 += w * y * y
        if max(abs(m0), abs(m1)) < solved:
            break
        s00 += 1e-9 - m0 * m0
        if d > 1:
            s01 -= m0 * m1
            s11 += 1e-9 - m1 * m1
            below = max(s00 * s11 - s01 * s01, 1e-18)
            d0, d1 = -(s11 * m0 - s01 * m1) / below, -(s00 * m1 - s01 * m0) / below
        else:
            d0, d1 = -m0 / s00, 0.0
        # Far from the clips the model is poor: no step further than where it can be trusted, and none upwards.
        size = math.hypot(d0, d1)
        if size > 4.0:
            d0, d1 = d0 * 4.0 / size, d1 * 4.0 / size
        for _ in range(12):
            reached = _weigh(off, heat, t0 + d0, t1 + d1, tried)
            if reached <= height + 1e-13:
                break
            d0, d1 = 0.5 * d0, 0.5 * d1
        t0, t1, height = t0 + d0, t1 + d1, reached
        weights[:] = tried
    top = 0.0
    for i in range(n):
        top = max(top, weights[i])
    total = 0.0
    for i in range(n):
        if weights[i] < least * top:
            weights[i] = 0.0
        total += weights[i]
    for i in range(n):
        weights[i] /= total


@kernel
def mix(weights: Any, values: Any, out: Any) -> None:
    """The weighted sum of values (n, G, C) into out (G, C); clips without weight are not read."""
    out[:] = 0.0
    for i in range(len(weights)):
        w = weights[i]
        if w == 0.0:
            continue
        for g in range(values.shape[1]):
            for c in range(values.shape[2]):
                out[g, c] += w * values[i, g, c]


@kernel
def between(values: Any, rows: Any, out: Any) -> None:
    """Values (G, C) at rows (F,) between them into out (F, C), by the cubic through four neighbours (Catmull-Rom)."""
    last = len(values) - 1
    for f in range(len(rows)):
        before = min(max(int(rows[f]), 0), last - 1)
        t = rows[f] - before
        first, fourth = max(before - 1, 0), min(before + 2, last)
        for k in range(values.shape[1]):
            a, b, c, d = values[first, k], values[before, k], values[before + 1, k], values[fourth, k]
            out[f, k] = b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)))


@kernel
def place(made: Any, laid: Any, n_joints: int, roots: Any, turns: Any) -> None:
    """Joint 0's positions (F, 3) and all rotations (F, J, 4), from rotations, height and flags in made (F, C).

    laid : (F, 3) heading, x and z.
    """
    for f in range(len(made)):
        for j in range(n_joints):
            size = 0.0
            for k in range(4):
                size += made[f, 4 * j + k] ** 2
            size = 1.0 / math.sqrt(size)
            for k in range(4):
                turns[f, j, k] = made[f, 4 * j + k] * size
        c, s = math.cos(0.5 * laid[f, 0]), math.sin(0.5 * laid[f, 0])
        w, x, y, z = turns[f, 0, 0], turns[f, 0, 1], turns[f, 0, 2], turns[f, 0, 3]
        turns[f, 0, 0], turns[f, 0, 1] = c * w - s * y, c * x + s * z
        turns[f, 0, 2], turns[f, 0, 3] = c * y + s * w, c * z - s * x
        roots[f, 0], roots[f, 1], roots[f, 2] = laid[f, 1], made[f, 4 * n_joints], laid[f, 2]
