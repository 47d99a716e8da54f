"""Compiled: time alignment by the cheapest path through the distance grid of two gaits.

Key: D = cost of a cell; v = cost of the best path to it; W = slope limit. Rows are frames of the lower clip, columns
frames of the upper clip. The cost of a row is the mean of the path's cells in it. This makes paths with different
starts and ends comparable, no matter how fast the upper clip plays along them:

    v[i, j] = min over r in 1 .. W of  v[i-1, j-r] + mean D[i, j-r+1 .. j]     (code r)
                  and r in 2 .. W of  v[i-r, j-1] + sum D[i-r+1 .. i, j]       (code W + r - 1)
                  and, in held rows,  v[i-1, j] + D[i, j]                      (code 2 W)
"""

from __future__ import annotations

import numpy as np

from marey.compiled import Bools1D, Floats1D, Floats2D, Out, kernel


@kernel
def find_path(
    values: Floats2D, n_starts: int, limit: int, stray: float, held: Bools1D, columns: Out[Floats1D]
) -> float:
    """Find the cheapest path through all rows that starts in one of the first `n_starts` columns.

    Parameters
    ----------
    values : (R, C) costs of the cells, in m^2.
    limit : slope limit W.
    stray : additional cost of each step off the diagonal, in m^2.
    held : (R,) True in rows where the lower clip stands still; there, the upper clip may wait.
    columns : (R,) output: column of each row; the mean if the path has several cells in the row.

    Returns
    -------
    The cost, or inf if no path satisfies the slope limit.
    """
    n_rows, n_columns = values.shape
    best = np.full((n_rows, n_columns), np.inf)
    codes = np.zeros((n_rows, n_columns), dtype=np.int8)
    for j in range(min(n_starts, n_columns)):
        best[0, j] = values[0, j]
    for i in range(1, n_rows):
        for j in range(n_columns):
            cost, code = np.inf, 0
            if j >= 1:
                cost, code = best[i - 1, j - 1] + values[i, j], 1
            total = values[i, j]
            for r in range(2, limit + 1):
                if j - r < 0:
                    break
                total += values[i, j - r + 1]
                candidate = best[i - 1, j - r] + total / r + stray
                if candidate < cost:
                    cost, code = candidate, r
            total = values[i, j]
            for r in range(2, limit + 1):
                if i - r < 0 or j < 1:
                    break
                total += values[i - r + 1, j]
                candidate = best[i - r, j - 1] + total + stray
                if candidate < cost:
                    cost, code = candidate, limit + r - 1
            if held[i]:
                candidate = best[i - 1, j] + values[i, j] + stray
                if candidate < cost:
                    cost, code = candidate, 2 * limit
            best[i, j] = cost
            codes[i, j] = code
    j = int(np.argmin(best[n_rows - 1]))
    total_cost: float = best[n_rows - 1, j]
    if not np.isfinite(total_cost):
        return total_cost
    i = n_rows - 1
    while i > 0:
        code = codes[i, j]
        if code == 2 * limit:
            columns[i] = j
            i -= 1
        elif code <= limit:
            columns[i] = j - 0.5 * (code - 1)
            i -= 1
            j -= code
        else:
            r = code - limit + 1
            for k in range(r):
                columns[i - k] = j
            i -= r
            j -= 1
    columns[0] = j
    return total_cost
