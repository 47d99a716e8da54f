"""Dynamic timewarping kernels.

v: cost of the best path to a cell; D: cost of a cell; W: slope limit. A path is extended by a diagonal step followed by
up to W - 1 straight steps, all down or all right:

    v[i, j] = min over r in 1 .. W of  v[i-r, j-1] + sum D[i-r+1 .. i, j]   (code r)
                                  and  v[i-1, j-r] + sum D[i, j-r+1 .. j]   (code W + r - 1, r >= 2)

Every extension starts from an earlier row. The cells of a row therefore do not depend on each other, and loops over a
row are vectorized.
"""

from __future__ import annotations

import numpy as np

from marey.compiled import Floats1D, Floats2D, Int8s1D, Int8s2D, Ints2D, Out, helper, kernel


@kernel
def fill_codes(
    values: Floats2D,
    first: tuple[int, int],
    last: tuple[int, int],
    free: bool,
    limit: int,
    codes: Out[Int8s2D],
    rim: Out[Floats2D],
    lengths: Out[Floats2D],
) -> int:
    """Find the best paths from `first` (i0, j0) to all cells that may lie on a path to `last` (i1, j1) or, if `free`,
    to its row or column; return the number of cells examined.

    Parameters
    ----------
    values : (R, C) costs, inf where a path may not go.
    limit : W.
    codes : (R, C) receives the code of the last extension of each examined cell's best path; 0 if there is no path.
    rim : (2, max(R, C)) costs of the best paths to column j1 (by row) and to row i1 (by column), inf if there is none.
    lengths : (2, max(R, C)) number of cells of these paths.

    Returns
    -------
    Number of cells examined.
    """
    (i0, j0), (i1, j1) = first, last
    rows = limit + 1
    # A margin of `limit` columns on the left is never reached and stays inf.
    best = np.full((rows, j1 - j0 + 1 + limit), np.inf)
    count = np.zeros((rows, j1 - j0 + 1 + limit))
    sums = np.empty(j1 - j0 + 1 + limit)
    rim[:, :] = np.inf
    n_examined = 1
    codes[i0, j0] = 0
    best[0, limit] = values[i0, j0]
    count[0, limit] = 1.0
    if j0 == j1:
        rim[0, i0], lengths[0, i0] = values[i0, j0], 1.0
    if i0 == i1:
        rim[1, j0], lengths[1, j0] = values[i0, j0], 1.0
    for down in range(1, i1 - i0 + 1):
        i = i0 + down
        low = (down + limit - 1) // limit
        high = min(down * limit, j1 - j0)
        if not free:
            left = i1 - i
            low = max(low, j1 - j0 - left * limit)
            high = min(high, j1 - j0 - (left + limit - 1) // limit)
        row, cells = best[down % rows], count[down % rows]
        row[:] = np.inf
        if high < low:
            continue
        n_examined += high - low + 1
        width = high - low + 1
        code = codes[i, j0 + low : j0 + high + 1]
        here = row[limit + low : limit + high + 1]
        many = cells[limit + low : limit + high + 1]
        total = sums[:width]
        for k in range(width):
            total[k] = 0.0
            code[k] = 0
        for r in range(1, min(limit, down) + 1):
            above = values[i - r + 1, j0 + low : j0 + high + 1]
            origin = (down - r) % rows
            before = (best[origin, limit + low - 1 :], count[origin, limit + low - 1 :])
            _extend(total, above, before, r, r, (here, many, code))
        origin = (down - 1) % rows
        for k in range(width):
            total[k] = values[i, j0 + low + k]
        for r in range(2, limit + 1):
            # Columns left of the start have no cost; they are never reached either.
            skip = max(0, r - 1 - low)
            if skip >= width:
                break
            side = values[i, j0 + low + skip - r + 1 : j0 + high + 2 - r]
            before = (best[origin, limit + low + skip - r :], count[origin, limit + low + skip - r :])
            _extend(total[skip:], side, before, r, limit + r - 1, (here[skip:], many[skip:], code[skip:]))
        if high == j1 - j0:
            rim[0, i], lengths[0, i] = here[width - 1], many[width - 1]
        if i == i1:
            for k in range(width):
                rim[1, j0 + low + k] = here[k]
                lengths[1, j0 + low + k] = many[k]
    return n_examined


@helper
def _extend(
    total: Floats1D,
    added: Floats1D,
    before: tuple[Floats1D, Floats1D],
    steps: int,
    code: int,
    cells: tuple[Floats1D, Floats1D, Int8s1D],
) -> None:
    """Update each cell of a row with the path that is extended by `steps` cells at the cost `total` + `added`, if it is
    cheaper.

    before : cost and length of the paths that are extended. cells : cost, length and code of the paths to the row.
    """
    (cost_before, length_before), (here, many, codes) = before, cells
    for k in range(added.shape[0]):
        cost = total[k] + added[k]
        total[k] = cost
        whole = cost_before[k] + cost
        better = whole < here[k]
        here[k] = whole if better else here[k]
        many[k] = length_before[k] + steps if better else many[k]
        codes[k] = code if better else codes[k]


@kernel
def trace_path(codes: Int8s2D, last: tuple[int, int], limit: int, cells: Out[Ints2D]) -> None:
    """Write the cells (N, 2) of the best path to `last`, in order; N is the number of its cells.

    codes : (R, C) code of the last step to each cell.
    limit : slope limit of the path.
    """
    i, j = last
    index = len(cells) - 1
    while index >= 0:
        cells[index, 0], cells[index, 1] = i, j
        index -= 1
        code = codes[i, j]
        if code == 0:
            return
        straight = code - 1 if code <= limit else code - limit
        for _ in range(straight):
            if code <= limit:
                i -= 1
            else:
                j -= 1
            cells[index, 0], cells[index, 1] = i, j
            index -= 1
        i -= 1
        j -= 1
