"""Decide in double precision whether single cells of the grid are minima, where `sweep_kernels` finds rivals."""

from __future__ import annotations

import math

import numpy as np

from marey.compare.sweep_kernels import Frames
from marey.compiled import Bools1D, Floats1D, Floats2D, Ints2D, Out, helper, kernel


@helper
def _add_pair(work: Floats2D, a: Frames, i: int, b: Frames, j: int, weight: float) -> None:
    """Add the contribution of frames i and j to `work` (3, M): dot, cross and squared height difference of each
    marker."""
    p, q, heights, their_heights = a.flat, b.flat, a.heights, b.heights
    n = heights.shape[1]
    for m in range(n):
        work[0, m] += weight * (p[i, m] * q[j, m] + p[i, n + m] * q[j, n + m])
        work[1, m] += weight * (p[i, m] * q[j, n + m] - p[i, n + m] * q[j, m])
    for m in range(n):
        difference = heights[i, m] - their_heights[j, m]
        work[2, m] += weight * (difference * difference)


@helper
def _measure_cell(a: Frames, b: Frames, i: int, j: int, weights: Floats1D, work: Floats2D) -> float:
    """Return D of the windows that begin at frames i and j; `work` is (3, M)."""
    work[:] = 0.0
    x0, z0, u0, v0 = a.sums[0, i], a.sums[1, i], b.sums[0, j], b.sums[1, j]
    ax = az = bx = bz = square = dot = cross = up = 0.0
    for k in range(len(weights)):
        w = weights[k]
        _add_pair(work, a, i + k, b, j + k, w)
        x, z, u, v = a.sums[0, i + k] - x0, a.sums[1, i + k] - z0, b.sums[0, j + k] - u0, b.sums[1, j + k] - v0
        ax += w * x
        az += w * z
        bx += w * u
        bz += w * v
        square += w * (a.sums[2, i + k] + b.sums[2, j + k] + (x * x + z * z + u * u + v * v))
        dot += w * (x * u + z * v)
        cross += w * (x * v - z * u)
    for m in range(work.shape[1]):
        dot += work[0, m]
        cross += work[1, m]
        up += work[2, m]
    square -= ax * ax + az * az + bx * bx + bz * bz
    dot -= ax * bx + az * bz
    cross -= ax * bz - az * bx
    d = (square + up) - 2.0 * math.sqrt(dot * dot + cross * cross)
    return d if d > 0.0 else 0.0


@kernel
def decide_cells(
    cells: Ints2D, a: Frames, b: Frames, begins: tuple[int, int], weights: Floats1D, limit: float, out: Out[Bools1D]
) -> None:
    """Decide which cells are minima, by computing D of each cell and of its rivals.

    cells : (N, 3) row, column and rivals of each cell; the rivals are bits, one for each neighbor in row-major order.
    a, b : frames of the two clips, starting at the frame numbers `begins`.
    limit : largest D of a minimum.
    out : (N,) whether each cell is a minimum.
    """
    half = len(weights) // 2
    work = np.empty((3, a.heights.shape[1]))
    for c in range(len(cells)):
        rivals = cells[c, 2]
        out[c] = True
        if rivals == 0:
            continue
        i, j = cells[c, 0] - half - begins[0], cells[c, 1] - half - begins[1]
        value = _measure_cell(a, b, i, j, weights, work)
        if value > limit:
            out[c] = False
        for bit in range(8):
            if out[c] and rivals >> bit & 1:
                place = bit if bit < 4 else bit + 1
                other = _measure_cell(a, b, i + place // 3 - 1, j + place % 3 - 1, weights, work)
                out[c] = value < other if bit < 4 else value <= other
