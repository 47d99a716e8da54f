"""Time alignment: the cheapest path through a grid of two gaits.

D: cost of a cell; v: cost of the best path to it; W: slope limit. Rows are frames of the lower clip, columns those of
the upper one. Each row costs the mean of the cells that the path has in it, so that paths with other starts and ends
compare, however fast the upper clip runs along them:

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
    """The cheapest path through all rows, from any of the first `n_starts` columns on.

    Parameters
    ----------
    values : (R, C) m^2.
    stray : m^2 that each step off the diagonal costs beside the cells.
    held : (R,) True in rows where the lower clip stands, so that the upper one may wait for it.
    columns : (R,) written: the column of each row, the mean of several.

    Returns
    -------
    The cost, or inf where no path keeps to the limit.
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
