"""Compiled: the neighbourhoods that a coarse grid points out, looked at closely.

A tile of the fine grid at a time: mark the cells around each coarse cell that may hide a minimum, compute D of the
marked ones along diagonals, where windows share most of their frames, and keep the minima.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.core.compiled import kernel

TILE = 64


@kernel
def _hides(coarse: Any, r: int, c: int, limit: float) -> bool:
    """Whether a coarse cell may have a minimum near it: small enough, and the least of its row or of its column."""
    value = coarse[r, c]
    if not value <= limit:
        return False
    n_rows, n_columns = coarse.shape
    along = not (c > 0 and coarse[r, c - 1] < value) and not (c + 1 < n_columns and coarse[r, c + 1] < value)
    if along:
        return True
    return not (r > 0 and coarse[r - 1, c] < value) and not (r + 1 < n_rows and coarse[r + 1, c] < value)


@kernel
def _mark(grid: Any, inner: Any, i: int, j: int, reach: int) -> None:
    """Ask for the cells within `reach` of (i, j), and for their neighbours, which decide whether they are minima."""
    n_rows, n_columns = grid.shape
    for row in range(max(i - reach - 1, 0), min(i + reach + 2, n_rows)):
        for column in range(max(j - reach - 1, 0), min(j + reach + 2, n_columns)):
            grid[row, column] = -1.0
            if abs(row - i) <= reach and abs(column - j) <= reach:
                inner[row, column] = True


@kernel
def _pair(ours: Any, theirs: Any, f: int, g: int, out: Any) -> None:
    """Sums over markers of two frames about their own centres: dot, cross, heights."""
    dot = cross = heights = 0.0
    for m in range(ours.shape[2]):
        px, py, pz = ours[f, 0, m], ours[f, 1, m], ours[f, 2, m]
        qx, qy, qz = theirs[g, 0, m], theirs[g, 1, m], theirs[g, 2, m]
        dot += px * qx + pz * qz
        cross += px * qz - pz * qx
        heights += py * qy
    out[0], out[1], out[2] = dot, cross, heights


@kernel
def _cell(ours: Any, theirs: Any, i: int, j: int, pairs: Any, first: int, weights: Any) -> float:
    """D of frames i and j, from the sums of the pairs of frames in their windows, of which the first is at `first`."""
    points, centres, squares = ours
    others, their_centres, their_squares = theirs
    half = len(weights) // 2
    cx, cz, dx, dz = centres[i, 0], centres[i, 1], their_centres[j, 0], their_centres[j, 1]
    ax = az = bx = bz = size = dot = cross = 0.0
    for k in range(2 * half + 1):
        w, f, g = weights[k], i + k - half, j + k - half
        # Sums about the centres of the windows' middle frames, so that nothing is lost far from the origin.
        px, pz = centres[f, 0] - cx, centres[f, 1] - cz
        qx, qz = their_centres[g, 0] - dx, their_centres[g, 1] - dz
        ax += w * px
        az += w * pz
        bx += w * qx
        bz += w * qz
        size += w * (squares[f] + px * px + pz * pz + their_squares[g] + qx * qx + qz * qz - 2.0 * pairs[first + k, 2])
        dot += w * (pairs[first + k, 0] + px * qx + pz * qz)
        cross += w * (pairs[first + k, 1] + px * qz - pz * qx)
    dot -= ax * bx + az * bz
    cross -= ax * bz - az * bx
    rest = size - (ax * ax + az * az + bx * bx + bz * bz) - 2.0 * math.hypot(dot, cross)
    return max(rest, 0.0)


@kernel
def _along(ours: Any, theirs: Any, grid: Any, i: int, j: int, place: Any, weights: Any, pairs: Any) -> None:
    """Fill the marked cells of the diagonal of a tile that begins at (i, j)."""
    half = len(weights) // 2
    n = min(grid.shape[0] - i, grid.shape[1] - j)
    known = -1  # beyond the last pair of frames whose sums are in `pairs`, counted along the diagonal
    for k in range(n):
        if grid[i + k, j + k] >= 0.0:
            continue
        f, g = place[0] + i + k, place[1] + j + k
        for q in range(max(known, k), k + 2 * half + 1):
            _pair(ours[0], theirs[0], f - k + q - half, g - k + q - half, pairs[q])
        known = k + 2 * half + 1
        grid[i + k, j + k] = _cell(ours, theirs, f, g, pairs, k, weights)


@kernel
def _is_minimum(grid: Any, i: int, j: int) -> bool:
    value = grid[i, j]
    for row in range(max(i - 1, 0), min(i + 2, grid.shape[0])):
        for column in range(max(j - 1, 0), min(j + 2, grid.shape[1])):
            other = grid[row, column]
            earlier = row < i or (row == i and column < j)
            if other < value or (earlier and other == value):
                return False
    return True


@kernel
def refined(
    ours: Any,
    theirs: Any,
    coarse: Any,
    corner: Any,
    every: int,
    slack: Any,
    limit: float,
    weights: Any,
    rows: Any,
    columns: Any,
    sizes: Any,
    min_lag: int,
) -> Any:
    """Cells (N, 2) among rows x columns that are minima of D up to `limit`, m^2, near what the coarse grid shows.

    Parameters
    ----------
    ours, theirs : of each clip the markers about each frame's centre, times the root of their weights, (F, 3, M); these
        centres (F, 2); and the sum of squares (F,).
    coarse : coarse cell (r, c) is the fine cell (corner[0] + r every, corner[1] + c every).
    slack : for each clip (F,) what a coarse cell near a frame may be above the limit, m^2.
    rows, columns : half-open; `sizes` are the cells that there are, (first, beyond last) of rows and columns.
    min_lag : least column - row.
    """
    found = np.empty((64, 2), dtype=np.int64)
    n = 0
    half = len(weights) // 2
    reach = every - 1
    pairs = np.empty((TILE + 2 + 2 * half, 3))
    whole, inner_whole = np.empty((TILE + 2, TILE + 2)), np.empty((TILE + 2, TILE + 2), dtype=np.bool_)
    for top in range(rows[0], rows[1], TILE):
        for left in range(columns[0], columns[1], TILE):
            bottom, right = min(top + TILE, rows[1]), min(left + TILE, columns[1])
            if right - 1 - top < min_lag:
                continue
            # One cell more to each side, as far as there is one.
            place = (max(top - 1, sizes[0][0]), max(left - 1, sizes[1][0]))
            ends = (min(bottom + 1, sizes[0][1]), min(right + 1, sizes[1][1]))
            grid = whole[: ends[0] - place[0], : ends[1] - place[1]]
            inner = inner_whole[: ends[0] - place[0], : ends[1] - place[1]]
            marked = False
            for r in range(max((top - reach - corner[0]) // every, 0), coarse.shape[0]):
                i = corner[0] + r * every
                if i >= bottom + reach:
                    break
                for c in range(max((left - reach - corner[1]) // every, 0), coarse.shape[1]):
                    j = corner[1] + c * every
                    if j >= right + reach:
                        break
                    if j - i + 2 * reach < min_lag:
                        continue
                    if _hides(coarse, r, c, limit + slack[0][i] + slack[1][j]):
                        if not marked:
                            grid[:] = math.inf
                            inner[:] = False
                            marked = True
                        _mark(grid, inner, i - place[0], j - place[1], reach)
            if not marked:
                continue
            for i in range(grid.shape[0]):
                _along(ours, theirs, grid, i, 0, place, weights, pairs)
            for j in range(1, grid.shape[1]):
                _along(ours, theirs, grid, 0, j, place, weights, pairs)
            for i in range(top - place[0], bottom - place[0]):
                for j in range(left - place[1], right - place[1]):
                    lag = place[1] + j - place[0] - i
                    if not inner[i, j] or not grid[i, j] <= limit or lag < min_lag or not _is_minimum(grid, i, j):
                        continue
                    if n == len(found):
                        more = np.empty((2 * n, 2), dtype=np.int64)
                        more[:n] = found
                        found = more
                    found[n, 0], found[n, 1] = place[0] + i, place[1] + j
                    n += 1
    return found[:n].copy()
