"""Slow timewarping: all paths, one after the other."""

from __future__ import annotations

import math

import numpy as np


def paths_from(start, shape, limit):
    """Every path that starts with a step in both motions and never takes `limit` straight steps in a row.

    Straight steps of a run all go the same way: a turn from one motion's to the other's takes a diagonal step.
    """
    yield from _onward([start], None, limit - 1, shape, limit)


def _onward(path, run, left, shape, limit):
    yield path
    i, j = path[-1]
    for step in ((1, 1), (1, 0), (0, 1)):
        at = (i + step[0], j + step[1])
        if at[0] >= shape[0] or at[1] >= shape[1]:
            continue
        if step == (1, 1):
            yield from _onward([*path, at], None, limit - 1, shape, limit)
        elif len(path) > 1 and left > 0 and run in (None, step):
            yield from _onward([*path, at], step, left - 1, shape, limit)


def best_path(values, start, end, limit, mask=None):
    """Return the path with the smallest sum to the cell `end`, as (sum, path), or None."""
    return best_paths(values, start, limit, mask).get(tuple(end))


def best_paths(values, start, limit, mask=None):
    """Return (sum, path) of the best path to every cell that can be reached."""
    found = {}
    for path in paths_from(tuple(start), values.shape, limit):
        if mask is not None and not all(mask[cell] for cell in path):
            continue
        total = sum(float(values[cell]) for cell in path)
        if math.isfinite(total) and (path[-1] not in found or total < found[path[-1]][0]):
            found[path[-1]] = (total, path)
    return found


def best_to_border(values, start, limit, mask=None):
    """Return the path with the smallest mean among the best paths to the last row and column, or None."""
    rows, columns = values.shape
    at_border = [
        (total / len(path), path)
        for cell, (total, path) in best_paths(values, start, limit, mask).items()
        if cell[0] == rows - 1 or cell[1] == columns - 1
    ]
    return min(at_border, default=None)


def best_around(values, limit):
    """Return the sum and path of the best path once around two loops."""
    rows, columns = values.shape
    tiled = np.tile(values, (2, 2))[: rows + 1]
    found = []
    for j in range(columns):
        part = tiled[:, j : j + columns + 1]
        end = best_path(part, (0, 0), (rows, columns), limit)
        if end is not None:
            path = [(a, b + j) for a, b in end[1]]
            found.append((end[0] - float(part[0, 0]), path))
    return min(found, default=None)


def increasing_fit(basis, samples, least):
    """Return the control points of the best spline for samples (N,) whose steps are at least `least`, by SciPy."""
    from scipy.optimize import lsq_linear

    n = basis.shape[1]
    sums = np.tril(np.ones((n, n)))
    low = np.full(n, float(least))
    low[0] = -np.inf
    found = lsq_linear(basis @ sums, samples, (low, np.inf), tol=1e-14, max_iter=10_000)
    return sums @ found.x
