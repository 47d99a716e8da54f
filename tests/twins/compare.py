"""Slow twins of frame distances: Kovar 4.1 as printed, minimized by search, and minima cell by cell."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize


def window(n_a, i, n_b, j, weights):
    """Return (r, weight) of the frames of the window that both clips have, with weights scaled to sum 1."""
    half = len(weights) // 2
    inside = [(r, float(weights[half + r])) for r in range(-half, half + 1) if 0 <= i + r < n_a and 0 <= j + r < n_b]
    total = sum(w for _, w in inside)
    return [(r, w / total) for r, w in inside]


def clouds_at(a, i, b, j, marker_weights, frame_weights):
    """Return points p, p' (N, 3) and weights (N,) of two windows."""
    p, q, w = [], [], []
    for r, fraction in window(len(a), i, len(b), j, frame_weights):
        for m, own in enumerate(marker_weights):
            p.append(a[i + r, m])
            q.append(b[j + r, m])
            w.append(fraction * own)
    return np.array(p), np.array(q), np.array(w)


def moved(points, theta, x0, z0):
    """Rotate about the vertical, then shift."""
    x, y, z = points.T
    return np.stack(
        [x * math.cos(theta) + z * math.sin(theta) + x0, y, -x * math.sin(theta) + z * math.cos(theta) + z0], axis=1
    )


def objective(move, p, q, w):
    """Compute the sum of Kovar 4.1."""
    return float((w * ((p - moved(q, *move)) ** 2).sum(axis=1)).sum())


def searched(p, q, w):
    """Return the smallest value of the objective, by search from several angles, and its transform."""
    # Far from the origin, a search would step across kilometers for each rotation; about the means, it does not.
    shift_p, shift_q = (np.array([1.0, 0.0, 1.0]) * (w[:, None] * points).sum(axis=0) for points in (p, q))
    best = None
    for start in np.linspace(-np.pi, np.pi, 7)[1:]:
        found = minimize(
            objective, [start, 0.0, 0.0], args=(p - shift_p, q - shift_q, w), method="BFGS", options={"gtol": 1e-11}
        )
        if best is None or found.fun < best.fun:
            best = found
    theta, x, z = best.x
    turned = moved(shift_q[None], theta, 0.0, 0.0)[0]
    return best.fun, np.array([theta, x + shift_p[0] - turned[0], z + shift_p[2] - turned[2]])


def spread(points, w):
    """Return the cloud's variance."""
    middle = (w[:, None] * points).sum(axis=0)
    return float((w * ((points - middle) ** 2).sum(axis=1)).sum())


def solved(p, q, w):
    """Return the smallest value in long double, in closed form: a reference for digits that a search does not reach."""
    p, q, w = (np.asarray(values, dtype=np.longdouble) for values in (p, q, w))
    pc, qc = (points - (w[:, None] * points).sum(axis=0) for points in (p, q))
    a = (w * (pc[:, 0] * qc[:, 0] + pc[:, 2] * qc[:, 2])).sum()
    b = (w * (pc[:, 0] * qc[:, 2] - pc[:, 2] * qc[:, 0])).sum()
    theta = np.arctan2(b, a)
    x = pc[:, 0] - (qc[:, 0] * np.cos(theta) + qc[:, 2] * np.sin(theta))
    z = pc[:, 2] - (-qc[:, 0] * np.sin(theta) + qc[:, 2] * np.cos(theta))
    y = p[:, 1] - q[:, 1]
    return float((w * (x * x + y * y + z * z)).sum())


def grid(a, b, marker_weights, frame_weights, align=True):
    """Compute the grid (Fa, Fb), one cell after the other."""
    out = np.empty((len(a), len(b)))
    for i in range(len(a)):
        for j in range(len(b)):
            p, q, w = clouds_at(a, i, b, j, marker_weights, frame_weights)
            out[i, j] = solved(p, q, w) if align else objective((0.0, 0.0, 0.0), p, q, w)
    return out


def minima(values, limit=math.inf, min_lag=0):
    """Return the cells without a smaller neighbor; of equal neighbors, the first counts as smaller."""
    found = []
    n_rows, n_columns = values.shape
    for i in range(n_rows):
        for j in range(n_columns):
            if not (np.isfinite(values[i, j]) and values[i, j] <= limit) or abs(i - j) < min_lag:
                continue
            around = [
                (values[r, c], (r, c))
                for r in (i - 1, i, i + 1)
                for c in (j - 1, j, j + 1)
                if (r, c) != (i, j) and 0 <= r < n_rows and 0 <= c < n_columns
            ]
            if all((values[i, j], (i, j)) < other for other in around):
                found.append((i, j))
    return np.array(found, dtype=np.int64).reshape(-1, 2)
