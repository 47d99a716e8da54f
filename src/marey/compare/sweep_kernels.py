"""Compiled: from products of markers to the local minima of D, row by row, without keeping the grid.

Key: products of the markers of frame pairs as in `grid_kernels`. A triangular window is a box of boxes, each of
half + 1 frames along the diagonal: run = sum of that many products, total = sum of that many runs; each follows from
the one before on its diagonal. Rows come in one after the other; D of a row is known `half` rows later, and whether its
cells are minima one row after that. All lines have `half + 1` zeros in front, for what lies before the first column.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel


@kernel
def window_means(sums: Any, weights: Any, out: Any) -> None:
    """out (3, F - 2 L): mean x, mean z and spread of each window, from sums (3, F); see `grid_kernels`."""
    n_weights = len(weights)
    for f in range(out.shape[1]):
        x = z = square = 0.0
        for k in range(n_weights):
            x += weights[k] * sums[0, f + k]
            z += weights[k] * sums[1, f + k]
            square += weights[k] * sums[2, f + k]
        out[0, f], out[1, f], out[2, f] = x, z, square - x * x - z * z


@inner
def _add(total: Any, before: Any, coming: Any, gone: Any) -> None:
    for k in range(len(total)):
        total[k] = before[k] + (coming[k] - gone[k])


@inner
def _least(a: float, b: float) -> float:
    return a if a < b else b


@inner
def _distances(line: Any, dots: Any, crosses: Any, ups: Any, unit: float, ours: Any, theirs: Any) -> None:
    x, z, spread = ours
    bx, bz, spreads = theirs[0], theirs[1], theirs[2]
    for k in range(len(line)):
        p = dots[k] * unit - (x * bx[k] + z * bz[k])
        q = crosses[k] * unit - (x * bz[k] - z * bx[k])
        d = (spread + spreads[k]) - 2.0 * (ups[k] * unit + math.sqrt(p * p + q * q))
        line[k] = d if d > 0.0 else 0.0


@inner
def _least_of_columns(above: Any, here: Any, below: Any, out: Any) -> None:
    for k in range(len(out)):
        out[k] = _least(here[k], _least(above[k], below[k]))


@inner
def _compare(here: Any, left: Any, middle: Any, right: Any, limit: float, out: Any) -> None:
    for k in range(len(out)):
        around = _least(_least(left[k], right[k]), _least(middle[k], limit))
        out[k] = np.uint8(1) if here[k] <= around else np.uint8(0)


@inner
def _is_least(above: Any, here: Any, below: Any, k: int) -> bool:
    """No neighbour is smaller, and none that comes before it in row-major order is equal."""
    value = here[k]
    for at in range(k - 1, k + 2):
        if not (value < above[at] and value <= below[at]):
            return False
    return bool(value < here[k - 1] and value <= here[k + 1])


@inner
def _look(
    lines: Any,
    i: int,
    limit: float,
    own: Any,
    place: Any,
    min_lag: int,
    least: Any,
    flags: Any,
    words: Any,
    found: Any,
    n: int,
) -> int:
    """Add the minima of row i of the tile, of which the rows around are known too, after the first n of `found`.

    least, flags : as long as a line, to work in; words : the same flags, eight in a number, which is 0 nearly always.
    """
    above, here, below = lines[(i - 1) % 3], lines[i % 3], lines[(i + 1) % 3]
    row = place[0] + i
    first, last = max(own[2], row + min_lag - place[1]), own[3]
    if first >= last:
        return n
    # A cell k of the tile lies at k + 1 in a line.
    stop = last + 2
    _least_of_columns(above[first:stop], here[first:stop], below[first:stop], least[first:stop])
    _compare(
        here[first + 1 : last + 1], least[first:last], least[first + 1 : last + 1], least[first + 2 : last + 2], limit,
        flags[first:last],
    )  # fmt: skip
    begin = first // 8
    flags[8 * begin : first] = np.uint8(0)
    flags[last : last + 8] = np.uint8(0)
    for word in range(begin, (last + 7) // 8):
        if words[word] == 0:
            continue
        for k in range(8 * word, 8 * word + 8):
            if flags[k] and _is_least(above, here, below, k + 1):
                found[n, 0], found[n, 1] = row, place[1] + k
                n += 1
    return n


@kernel
def sweep(
    products: Any,
    runs: Any,
    totals: Any,
    lines: Any,
    rows: Any,
    ours: Any,
    theirs: Any,
    limit: float,
    own: Any,
    place: Any,
    min_lag: int,
    found: Any,
) -> int:
    """Take in rows (first, beyond the last) of the products, and tell how many minima were found in `found` (N, 2).

    products : (3, half + 1 + S, half + 1 + C) dot, cross and up, of which the first half + 1 rows came before.
    runs, totals, lines : (3, half + 2, half + 1 + C), (3, 2, half + 1 + C), (3, 2 + c): the state between calls.
    ours, theirs : (3, r), (3, c) from `window_means`, of the tile's r x c cells; row t of the products is the last one
        that the window of row t - 2 half of the tile takes in.
    own : first row, beyond the last, first column, beyond the last of the cells that may be minima; the others are
        their neighbours.
    place : row and column of the grid at which the tile begins; min_lag : least column - row.
    """
    n_slots = runs.shape[1]
    pad = n_slots - 1
    half = pad - 1
    unit = 1.0 / (pad * pad)
    width = products.shape[2]
    n_cells = theirs.shape[1]
    least, flags = np.empty(n_cells + 2), np.zeros((n_cells + 17) // 8 * 8, dtype=np.uint8)
    words = flags.view(np.uint64)
    n_found = 0
    since = pad + 2 * half
    for t in range(rows[0], rows[1]):
        at = pad + t - rows[0]
        turn = t % 2
        for k in range(3):
            now, before, gone = runs[k, t % n_slots], runs[k, (t - 1) % n_slots], runs[k, (t + 1) % n_slots]
            _add(now[pad:], before[pad - 1 : width - 1], products[k, at, pad:], products[k, at - pad, : width - pad])
            _add(totals[k, turn, pad:], totals[k, 1 - turn, pad - 1 : width - 1], now[pad:], gone[: width - pad])
        i = t - 2 * half
        if i < 0:
            continue
        mean = (ours[0, i], ours[1, i], ours[2, i])
        stop = since + n_cells
        _distances(
            lines[i % 3, 1 : 1 + n_cells], totals[0, turn, since:stop], totals[1, turn, since:stop],
            totals[2, turn, since:stop], unit, mean, theirs,
        )  # fmt: skip
        if own[0] <= i - 1 < own[1]:
            n_found = _look(lines, i - 1, limit, own, place, min_lag, least, flags, words, found, n_found)
        if i + 1 == ours.shape[1] and own[0] <= i < own[1]:
            lines[(i + 1) % 3] = math.inf
            n_found = _look(lines, i, limit, own, place, min_lag, least, flags, words, found, n_found)
    return n_found
