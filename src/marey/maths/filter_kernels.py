"""Smoothing where the whole window is inside the signal."""

from __future__ import annotations

from marey.compiled import Floats1D, Floats2D, Out, kernel


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
