"""Compiled: what it costs to turn to a heading, clip by clip, by dynamic programming.

Key: a table has G rows of a node's parameters and H directions that the heading may be off, evenly spread over the full
circle from -pi on. What follows row g are K clips, each between C rows of the table.
"""

from __future__ import annotations

import math

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Ints2D, Ints3D, Out, helper, kernel


@helper
def _stage_cost(off: float, within: float) -> float:
    """What a clip costs that ends `off` the heading, radians: how far, and a quarter circle more if that is too far."""
    away = abs((off + math.pi) % (2.0 * math.pi) - math.pi)
    return away + 0.5 * math.pi * min(max(3.0 * away / within - 2.0, 0.0), 1.0)


@helper
def _between(values: Floats2D, index: Ints1D, share: Floats1D, off: float) -> float:
    """A value of the table (G, H), between rows and between directions."""
    n_headings = values.shape[1]
    at = ((off + math.pi) % (2.0 * math.pi)) / (2.0 * math.pi) * n_headings
    before = int(at) % n_headings
    t, after = at - int(at), (before + 1) % n_headings
    total = 0.0
    for c in range(len(index)):
        total += share[c] * (values[index[c], before] * (1.0 - t) + values[index[c], after] * t)
    return total


@kernel
def sweep(turns: Floats2D, index: Ints3D, share: Floats3D, within: float, values: Floats2D, out: Out[Floats2D]) -> None:
    """One clip more: into `out` (G, H) the least cost of a clip and, by `values` (G, H), of all after it.

    turns : (G, K) radians of the clips that can follow. index, share : (G, K, C) where they are in the table.
    """
    n_headings = values.shape[1]
    for g in range(len(turns)):
        for h in range(n_headings):
            off = -math.pi + 2.0 * math.pi * h / n_headings
            best = math.inf
            for k in range(turns.shape[1]):
                left = off - turns[g, k]
                cost = _stage_cost(left, within)
                if cost < best:
                    best = min(best, cost + _between(values, index[g, k], share[g, k], left))
            out[g, h] = best


@kernel
def cost_after(
    values: Floats2D, index: Ints2D, share: Floats2D, within: float, off: Floats1D, out: Out[Floats1D]
) -> None:
    """Costs (N,) into `out` of clips at rows (N, C) of the table that end `off` (N,) the heading, and of all after."""
    for n in range(len(off)):
        out[n] = _stage_cost(off[n], within) + _between(values, index[n], share[n], off[n])
