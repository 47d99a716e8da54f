"""Compiled: where a figure can get to, clip by clip, on a grid of places and headings.

Key: the grid has n x n cells of places about the origin, and H headings; cell (i, j, h) is x, z and heading. A state is
the end of a clip: a place, the clip's parameters and the seconds gone. What is known of a cell is the soonest second at
which the figure was in it and how near to its middle it came.
"""

from __future__ import annotations

import math
from typing import Any

from marey.core.compiled import inner, kernel


@inner
def cell_of(place: Any, cell: float, n: int, n_headings: int) -> int:
    """The number of a place's cell, -1 outside the grid. The middle cell's middle is the origin."""
    i, j = math.floor(place[1] / cell + 0.5) + n // 2, math.floor(place[2] / cell + 0.5) + n // 2
    if i < 0 or j < 0 or i >= n or j >= n:
        return -1
    h = math.floor(place[0] / (2.0 * math.pi) * n_headings + 0.5) % n_headings
    return int((i * n + j) * n_headings + h)


@kernel
def pass_cells(
    ways: Any, first: Any, last: Any, longest: float, cell: float, n: int, n_headings: int, soonest: Any, near: Any
) -> None:
    """Enter ways (N, W, 3), gone along from seconds `first` to `last` (N,), into the cells that they pass.

    soonest, near : (n n H,) seconds, and metres from the middle of the cell; changed in place.
    """
    n_points = ways.shape[1]
    place = ways[0, 0].copy()
    for w in range(len(ways)):
        way = 0.0
        for k in range(n_points - 1):
            way += math.sqrt((ways[w, k + 1, 1] - ways[w, k, 1]) ** 2 + (ways[w, k + 1, 2] - ways[w, k, 2]) ** 2)
        # Four moments in each cell, so that hardly any is stepped over.
        steps = max(n_points - 1, int(4.0 * way / cell) + 1)
        for s in range(steps + 1):
            seconds = first[w] + (last[w] - first[w]) * s / steps
            if seconds > longest:
                break
            at = s * (n_points - 1.0) / steps
            k = min(int(at), n_points - 2)
            t = at - k
            for c in range(3):
                place[c] = ways[w, k, c] * (1.0 - t) + ways[w, k + 1, c] * t
            where = cell_of(place, cell, n, n_headings)
            if where < 0:
                continue
            soonest[where] = min(soonest[where], seconds)
            dx = place[1] - (where // n_headings // n - n // 2) * cell
            dz = place[2] - (where // n_headings % n - n // 2) * cell
            near[where] = min(near[where], math.sqrt(dx * dx + dz * dz))


@kernel
def keep_new(
    places: Any, bins: Any, seconds: Any, longest: float, cell: float, n: int, n_headings: int, n_bins: int,
    known: Any, sooner: float, kept: Any,
) -> int:  # fmt: skip
    """Which states (N,) are new: none was in their cell and bin of parameters before, or only some later by `sooner`.

    known : (n n H n_bins,) seconds of the soonest, changed in place. Numbers of the states go into `kept`.
    """
    count = 0
    for k in range(len(places)):
        if seconds[k] >= longest:
            continue
        where = cell_of(places[k], cell, n, n_headings)
        if where < 0:
            continue
        key = where * n_bins + bins[k]
        if seconds[k] < known[key] - sooner:
            known[key] = seconds[k]
            kept[count] = k
            count += 1
    return count
