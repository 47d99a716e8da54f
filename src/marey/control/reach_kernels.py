"""Compiled: which places a character can reach, clip by clip, on a grid of places and headings.

Key: the grid has n x n cells of places about the origin, and H headings; cell (i, j, h) is x, z and heading. A state is
the end of a clip: a place, the clip's parameters and the seconds gone. What is known of a cell is the soonest second at
which the character was in it and how near to its middle it came.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Out, helper, kernel
from marey.maths.vector_kernels import square


class ReachGrid(NamedTuple):
    """longest : seconds that are followed. cell : meters of a cell. n : cells to a side. n_headings : in a circle."""

    longest: float
    cell: float
    n: int
    n_headings: int


@helper
def _cell_of(place: Floats1D, grid: ReachGrid) -> int:
    """The number of a place's cell, -1 outside the grid. The middle cell's middle is the origin."""
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
    """Enter paths (N, W, 3), gone along from seconds `first` to `last` (N,), into the cells that they pass.

    soonest, near : (n n H,) seconds, and meters from the middle of the cell; changed in place.
    """
    longest, cell, n, n_headings = grid
    n_points = ways.shape[1]
    place = ways[0, 0].copy()
    for w in range(len(ways)):
        way = 0.0
        for k in range(n_points - 1):
            way += math.sqrt(square(ways[w, k + 1, 1] - ways[w, k, 1]) + square(ways[w, k + 1, 2] - ways[w, k, 2]))
        # Four moments in each cell, so that hardly any is stepped over.
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
    """Find the new states: none was in their cell and bin of parameters before, or only some later by `sooner`.

    places, bins, seconds : (N, 3), (N,) and (N,) of the states. known : (n n H, bins) seconds of the soonest, changed
    in place. Indices of new states go into `kept` (N,); returns how many there are.
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
