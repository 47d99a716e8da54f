"""Compiled: weights of clips that meet parameters exactly, and the clips blended by them.

Key: off = clip's parameters less the wanted ones, in units of nearness; heat = log of the weight before the tilt; the
tilt t makes weights w ~ exp(heat + off . t) whose mean of `off` is 0. It is where log sum exp(heat + off . t) is least.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel


@inner
def _weigh(off: Any, heat: Any, slope: Any, weights: Any) -> float:
    """Weights under a tilt into `weights` (n,), with sum 1; the value that the tilt is to make least."""
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


@inner
def _solve(spread: Any, mean: Any, step: Any) -> None:
    """The step (d,) with spread @ step = -mean, for a symmetric positive spread (d, d), which is used up."""
    d = len(mean)
    for k in range(d):
        step[k] = -mean[k]
    for k in range(d):
        pivot = max(spread[k, k], 1e-18)
        for i in range(k + 1, d):
            share = spread[i, k] / pivot
            for j in range(k, d):
                spread[i, j] -= share * spread[k, j]
            step[i] -= share * step[k]
    for k in range(d - 1, -1, -1):
        for j in range(k + 1, d):
            step[k] -= spread[k, j] * step[j]
        step[k] /= max(spread[k, k], 1e-18)


@kernel
def tilt(off: Any, heat: Any, most: int, solved: float, least: float, tried: Any, weights: Any) -> None:
    """Weights (n,) into `weights`, by Newton's method with halved steps; off is (n, d).

    most : steps. solved : of the mean of off. least : share of the largest weight under which weights become 0.
    tried : (n,) room to work in.
    """
    n, d = off.shape
    slope, step, mean, there = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)
    spread = np.zeros((d, d))
    height = _weigh(off, heat, slope, weights)
    for _ in range(most):
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
        if worst < solved:
            break
        for k in range(d):
            for j in range(k + 1):
                spread[k, j] -= mean[k] * mean[j]
                spread[j, k] = spread[k, j]
            spread[k, k] += 1e-9
        _solve(spread, mean, step)
        # Far from the clips the model is poor: no step further than where it can be trusted, and none upwards.
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
            reached = _weigh(off, heat, there, tried)
            if reached <= height + 1e-13:
                break
            for k in range(d):
                step[k] *= 0.5
        for k in range(d):
            slope[k] += step[k]
        height = reached
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
