"""Compiled kernels: which positions and headings a character can reach, clip by clip, on a grid.

Key: the grid has n x n positions around the origin, and H headings; cell (i, j, h) is x, z and heading. A state is the
end of a clip: a rigid2d, the clip's parameters and the elapsed seconds. Each cell stores the earliest time at which the
character was in it, and the smallest distance from its center.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Out, helper, kernel
from marey.maths.vector_kernels import square


class ReachGrid(NamedTuple):
    """Size of the grid.

    longest : time limit in seconds. cell : edge length of a cell in meters. n : cells per side. n_headings : number of
    headings in a full circle.
    """

    longest: float
    cell: float
    n: int
    n_headings: int


@helper
def _cell_of(place: Floats1D, grid: ReachGrid) -> int:
    """Return the index of the cell that contains a rigid2d, or -1 outside the grid.

    The origin is at the center of the middle cell.
    """
    cell, n, n_headings = grid.cell, grid.n, grid.n_headings
    i, j = math.floor(place[1] / cell + 0.5) + n // 2, math.floor(place[2] / cell + 0.5) + n // 2
    if i < 0 or j < 0 or i >= n or j >= n:
        return -1
    h = math.floor(place[0] / (2.0 * math.pi) * n_headings + 0.5) % n_headings
    return int((i * n + j) * n_headings + h)


@kernel
def pass_cells(
    ways: Floats3D, first: Floats1D, last: Floats1D, grid: ReachGrid, soonest: Out[Floats1D], near: Out[Floats1D]
) -> None:
    """Record N paths in the cells that they pass.

    ways : (N, W, 3) rigid2d at W points of each path. first, last : (N,) seconds at which each path starts and ends.
    soonest, near : (n n H,) earliest time in seconds, and distance from the center of the cell in meters; updated in
    place.
    """
    longest, cell, n, n_headings = grid
    n_points = ways.shape[1]
    place = ways[0, 0].copy()
    for w in range(len(ways)):
        way = 0.0
        for k in range(n_points - 1):
            way += math.sqrt(square(ways[w, k + 1, 1] - ways[w, k, 1]) + square(ways[w, k + 1, 2] - ways[w, k, 2]))
        # Sample about four points per cell, so hardly any cell is skipped.
        steps = max(n_points - 1, int(4.0 * way / cell) + 1)
        for s in range(steps + 1):
            seconds = first[w] + (last[w] - first[w]) * s / steps
            if seconds > longest:
                break
            position = s * (n_points - 1.0) / steps
            k = min(int(position), n_points - 2)
            t = position - k
            for c in range(3):
                place[c] = ways[w, k, c] * (1.0 - t) + ways[w, k + 1, c] * t
            where = _cell_of(place, grid)
            if where < 0:
                continue
            soonest[where] = min(soonest[where], seconds)
            dx = place[1] - (where // n_headings // n - n // 2) * cell
            dz = place[2] - (where // n_headings % n - n // 2) * cell
            near[where] = min(near[where], math.sqrt(dx * dx + dz * dz))


@kernel
def keep_new(
    places: Floats2D,
    bins: Ints1D,
    seconds: Floats1D,
    grid: ReachGrid,
    sooner: float,
    known: Out[Floats2D],
    kept: Out[Ints1D],
) -> int:
    """Find the new states: the first in their cell and parameter bin, or earlier by more than `sooner` seconds.

    places : (N, 3) rigid2d of the states. bins : (N,) their parameter bins. seconds : (N,) their elapsed times.
    known : (n n H, bins) earliest time in seconds, updated in place. kept : (N,) receives the indices of new states.
    Returns the number of new states.
    """
    count = 0
    for k in range(len(places)):
        if seconds[k] >= grid.longest:
            continue
        where = _cell_of(places[k], grid)
        if where < 0:
            continue
        if seconds[k] < known[where, bins[k]] - sooner:
            known[where, bins[k]] = seconds[k]
            kept[count] = k
            count += 1
    return count
