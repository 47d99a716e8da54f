"""Slow twins of the kernels and matrix products of `marey.pmg`."""

from __future__ import annotations

import numpy as np

from marey.compare import frame_weights, point_clouds
from marey.compare.distance import frame_distance
from marey.maths import rigid2d
from marey.pmg.costs import half_window, seam_range, sole_points


def tilted_weights(off, heat):
    """Return weights ~ exp(heat + off . t) whose mean of off is 0, by a general solver on the dual."""
    from scipy.optimize import minimize

    def dual(t):
        level = heat + off @ t
        top = level.max()
        weights = np.exp(level - top)
        return top + np.log(weights.sum()), (weights / weights.sum()) @ off

    found = minimize(dual, np.zeros(off.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-10})
    level = heat + off @ found.x
    weights = np.exp(level - level.max())
    return weights / weights.sum()


def catmull_rom(values, rows):
    """Interpolate between rows, one by one, by the cubic with slopes from the neighbors."""
    out = []
    last = len(values) - 1
    for row in rows:
        k = min(int(row), last - 1)
        t = row - k
        p = [values[min(max(k + d, 0), last)] for d in (-1, 0, 1, 2)]
        slope_0, slope_1 = 0.5 * (p[2] - p[0]), 0.5 * (p[3] - p[1])
        h = (2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t, -2 * t**3 + 3 * t**2, t**3 - t**2)
        out.append(h[0] * p[1] + h[1] * slope_0 + h[2] * p[2] + h[3] * slope_1)
    return np.array(out)


def best_pair(a, b, seams):
    """Return cost and moments of the best transition, cell by cell; at 30 Hz or less, windows use every frame."""
    half = half_window(seams, a.fps)
    weights = frame_weights(2.0 * half / a.fps, a.fps)
    clouds = point_clouds(a, seams.markers), point_clouds(b, seams.markers)
    (low, high), (first, last) = seam_range(len(a), seams, a.fps, True), seam_range(len(b), seams, b.fps, False)
    best = None
    for i in range(low, high + 1):
        for j in range(first, last + 1):
            left, move = frame_distance(clouds[0], i, clouds[1], j, weights)
            if best is None or left < best[0]:
                best = left, move, i, j
    left, move, i, j = best
    shift, total = np.zeros(2), 0.0
    soles = [sole_points(each.world(), each.contacts) for each in (a, b)]
    for k, weight in enumerate(weights):
        f, g = i - half + k, j - half + k
        for point in range(soles[0].shape[1]):
            if a.contacts.mask[f, point] and b.contacts.mask[g, point]:
                there = rigid2d.apply(move, soles[1][g, point])
                shift += weight * (soles[0][f, point] - there)[[0, 2]]
                total += weight
    shift = shift / total if total else shift
    return np.sqrt(left + shift @ shift), (i / (len(a) - 1), j / (len(b) - 1))
