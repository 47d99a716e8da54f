"""Smoothing by weighted means.

A separate module because kernels are compiled file by file.
"""

from __future__ import annotations

from marey.compiled import Floats1D, Floats2D, Floats3D, Out, kernel


@kernel
def smooth_middle(x: Floats2D, taps: Floats1D, total: float, out: Out[Floats2D]) -> None:
    """Write the weighted means of the rows of x (n, m), except the first and last r rows, whose window is cut.

    taps : (r + 1,) weights of a row and of those 1 to r rows before and after it. total : sum of all weights.
    """
    n, radius = x.shape[0], taps.shape[0] - 1
    for i in range(radius, n - radius):
        for c in range(x.shape[1]):
            value = x[i, c] * taps[0]
            for k in range(1, radius + 1):
                value += taps[k] * (x[i - k, c] + x[i + k, c])
            out[i, c] = value / total


@kernel
def smooth_ends(x: Floats2D, weights: Floats3D, out: Out[Floats2D]) -> None:
    """Write the weighted means of the first and last r rows of x (n, m), n >= 2 r, whose window is cut.

    weights : (2, r, 2 r) weights for the first r rows, then for the last r rows. Of the first rows, row k has weights
        for the rows 0 to k + r. The last rows are numbered backward, from the last one.
    """
    n, radius = x.shape[0], weights.shape[1]
    for k in range(radius):
        for c in range(x.shape[1]):
            first, last = 0.0, 0.0
            for i in range(k + radius + 1):
                first += weights[0, k, i] * x[i, c]
                last += weights[1, k, i] * x[n - 1 - i, c]
            out[k, c], out[n - 1 - k, c] = first, last
