"""Compiled: find weights of clips that meet requested parameters exactly, and blend the clips.

Key: off = parameters of a clip minus the requested ones, in units of the kernel width; heat = log of the weight before
tilting; t = tilt, for which the weights w ~ exp(heat + off . t) have a weighted mean of `off` of 0. This t minimizes
log sum exp(heat + off . t).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Out, Singles3D, helper, kernel
from marey.maths import vector_kernels as vec


@helper
def _weigh(off: Floats2D, heat: Floats1D, slope: Floats1D, weights: Floats1D) -> float:
    """Write the weights (n,) for the tilt `slope` (d,), with sum 1, to `weights`; return log sum exp(heat + off .
    slope)."""
    n, d = off.shape
    top = -math.inf
    for i in range(n):
        level = heat[i]
        for k in range(d):
            level += slope[k] * off[i, k]
        weights[i] = level
        top = max(top, level)
    total = 0.0
    for i in range(n):
        weights[i] = math.exp(weights[i] - top)
        total += weights[i]
    for i in range(n):
        weights[i] /= total
    return top + math.log(total)


@helper
def _solve(spread: Floats2D, mean: Floats1D, step: Floats1D) -> None:
    """Solve spread @ step = -mean for `step` (d,), for a symmetric positive definite `spread` (d, d).

    `spread` is overwritten.
    """
    d = len(mean)
    for k in range(d):
        step[k] = -mean[k]
    for k in range(d):
        pivot = max(spread[k, k], 1e-18)
        for i in range(k + 1, d):
            factor = spread[i, k] / pivot
            for j in range(k, d):
                spread[i, j] -= factor * spread[k, j]
            step[i] -= factor * step[k]
    for k in range(d - 1, -1, -1):
        for j in range(k + 1, d):
            step[k] -= spread[k, j] * step[j]
        step[k] /= max(spread[k, k], 1e-18)


@kernel
def solve_weights(
    off: Floats2D,
    heat: Floats1D,
    max_steps: int,
    tolerance: float,
    min_fraction: float,
    scratch: Out[Floats1D],
    weights: Out[Floats1D],
) -> None:
    """Write the tilted weights (n,), with sum 1, to `weights`, by Newton's method with step halving.

    off, heat : (n, d) and (n,); see the module docstring.
    max_steps : maximum number of Newton steps.
    tolerance : largest absolute value of the weighted mean of `off` at which to stop.
    min_fraction : weights below this fraction of the largest weight become 0.
    scratch : (n,) working memory.
    """
    n, d = off.shape
    slope, step, mean, there = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    spread = np.zeros((d, d))
    height = _weigh(off, heat, slope, weights)
    for _ in range(max_steps):
        mean[:] = 0.0
        spread[:] = 0.0
        for i in range(n):
            w = weights[i]
            for k in range(d):
                mean[k] += w * off[i, k]
                for j in range(k + 1):
                    spread[k, j] += w * off[i, k] * off[i, j]
        worst = 0.0
        for k in range(d):
            worst = max(worst, abs(mean[k]))
        if worst < tolerance:
            break
        for k in range(d):
            for j in range(k + 1):
                spread[k, j] -= mean[k] * mean[j]
                spread[j, k] = spread[k, j]
            spread[k, k] += 1e-9
        _solve(spread, mean, step)
        # Far from the clips the quadratic model is poor: limit the length of a step, and halve it while the value
        # increases.
        size = 0.0
        for k in range(d):
            size += step[k] * step[k]
        size = math.sqrt(size)
        if size > 4.0:
            for k in range(d):
                step[k] *= 4.0 / size
        reached = height
        for _ in range(12):
            for k in range(d):
                there[k] = slope[k] + step[k]
            reached = _weigh(off, heat, there, scratch)
            if reached <= height + 1e-13:
                break
            for k in range(d):
                step[k] *= 0.5
        for k in range(d):
            slope[k] += step[k]
        height = reached
        for i in range(n):
            weights[i] = scratch[i]
    top = 0.0
    for i in range(n):
        top = max(top, weights[i])
    total = 0.0
    for i in range(n):
        if weights[i] < min_fraction * top:
            weights[i] = 0.0
        total += weights[i]
    for i in range(n):
        weights[i] /= total


@helper
def _mix(weights: Floats1D, values: Any, out: Floats2D) -> None:
    out[:] = 0.0
    for i in range(len(weights)):
        w = weights[i]
        if w == 0.0:
            continue
        for g in range(values.shape[1]):
            for c in range(values.shape[2]):
                out[g, c] += w * values[i, g, c]


@kernel
def mix_values(weights: Floats1D, values: Floats3D, out: Out[Floats2D]) -> None:
    """Write the weighted sum of values (n, G, C) to `out` (G, C); clips with weight 0 are not read."""
    _mix(weights, values, out)


@kernel
def mix_singles(weights: Floats1D, values: Singles3D, out: Out[Floats2D]) -> None:
    """Like `mix_values`, for values in single precision."""
    _mix(weights, values, out)


@kernel
def interpolate_rows(values: Floats2D, rows: Floats1D, out: Out[Floats2D]) -> None:
    """Interpolate values (G, C) at fractional rows (F,), by Catmull-Rom splines, and write them to `out` (F, C)."""
    last = len(values) - 1
    for f in range(len(rows)):
        before = min(max(int(rows[f]), 0), last - 1)
        t = rows[f] - before
        first, fourth = max(before - 1, 0), min(before + 2, last)
        for k in range(values.shape[1]):
            a, b, c, d = values[first, k], values[before, k], values[before + 1, k], values[fourth, k]
            out[f, k] = b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)))


@kernel
def place_frames(
    poses: Floats2D, placements: Floats2D, n_joints: int, roots: Out[Floats2D], rotations: Out[Floats3D]
) -> None:
    """Write the positions of joint 0 to `roots` (F, 3) and local rotations to `rotations` (F, J, 4).

    poses : (F, C) 4 numbers per joint for its rotation (joint 0 relative to the heading), then the height of joint 0.
    placements : (F, 3) heading, x and z.
    """
    for f in range(len(poses)):
        for j in range(n_joints):
            q = vec.get_quat(poses[f], 4 * j)
            q = vec.scale_quat(1.0 / math.sqrt(vec.dot_quat(q, q)), q)
            vec.put_quat(rotations[f, j], 0, vec.mul(vec.from_yaw(placements[f, 0]), q) if j == 0 else q)
        roots[f, 0], roots[f, 1], roots[f, 2] = placements[f, 1], poses[f, 4 * n_joints], placements[f, 2]
