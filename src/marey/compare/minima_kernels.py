"""Find local minima of a grid."""

from __future__ import annotations

import numpy as np

from marey.compiled import Floats2D, Ints2D, helper, kernel


@helper
def is_minimum(grid: Floats2D, i: int, j: int) -> bool:
    """Return whether no neighbor is smaller, and no neighbor earlier in row-major order is equal."""
    value = grid[i, j]
    n_rows, n_columns = grid.shape
    for row in range(max(i - 1, 0), min(i + 2, n_rows)):
        for column in range(max(j - 1, 0), min(j + 2, n_columns)):
            other = grid[row, column]
            earlier = row < i or (row == i and column < j)
            if other < value or (earlier and other == value):
                return False
    return True


@kernel
def find_minima(
    grid: Floats2D, limit: float, min_lag: int, inner: tuple[int, int, int, int], place: tuple[int, int]
) -> Ints2D:
    """Return cells (N, 2), numbered in the whole grid, that are minima within `inner`.

    `grid` is the part of the whole grid that begins at `place` (row, column). `inner` is (first row, stop row, first
    column, stop column) in that part; cells around it only serve as neighbors.

    limit : largest D of a minimum.
    min_lag : cells closer to the diagonal, in frames, do not count.
    """
    found = np.empty((64, 2), dtype=np.int64)
    n = 0
    lead = place[0] - place[1]
    for i in range(inner[0], inner[1]):
        for j in range(inner[2], inner[3]):
            value = grid[i, j]
            if not value <= limit or abs(i - j + lead) < min_lag:
                continue
            # One comparison rules out most cells.
            if j > 0 and grid[i, j - 1] <= value:
                continue
            if is_minimum(grid, i, j):
                if n == len(found):
                    more = np.empty((2 * n, 2), dtype=np.int64)
                    # A loop, because the shape check of `more[:n] = found` takes longer to compile than the rest.
                    for k in range(n):
                        more[k, 0], more[k, 1] = found[k, 0], found[k, 1]
                    found = more
                found[n, 0], found[n, 1] = i + place[0], j + place[1]
                n += 1
    return found[:n].copy()
