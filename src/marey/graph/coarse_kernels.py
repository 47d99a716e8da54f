"""Compiled: the neighbourhoods that a coarse grid points out, looked at closely.

A tile of the fine grid at a time: mark the cells around each coarse cell that may hide a minimum, compute D of the
marked ones from sums over pairs of frames, which the windows of neighbouring cells share, and keep the minima.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel
from marey.graph.alike_kernels import pair, summing

TILE = 64


@inner
def _is_valley(coarse: Any, r: int, c: int) -> bool:
    """Whether a coarse cell is the least of its row or of its column."""
    value = coarse[r, c]
    n_rows, n_columns = coarse.shape
    along = not (c > 0 and coarse[r, c - 1] < value) and not (c + 1 < n_columns and coarse[r, c + 1] < value)
    if along:
        return True
    return not (r > 0 and coarse[r - 1, c] < value) and not (r + 1 < n_rows and coarse[r + 1, c] < value)


@inner
def _mark(grid: Any, extent: Any, i: int, j: int, reach: int) -> bool:
    """Ask for the cells within `reach` of (i, j) that are not known yet, and tell whether there are any.

    `extent` holds the first and beyond the last column that is asked for in each row.
    """
    asked = False
    n_rows, n_columns = grid.shape
    first, last = max(j - reach, 0), min(j + reach + 1, n_columns)
    for row in range(max(i - reach, 0), min(i + reach + 1, n_rows)):
        extent[row, 0], extent[row, 1] = min(extent[row, 0], first), max(extent[row, 1], last)
        for column in range(first, last):
            if grid[row, column] == math.inf:
                grid[row, column] = -1.0
                asked = True
    return asked


@inner
def _spread(grid: Any, extent: Any, needed: Any, half: int) -> None:
    """Which pairs of frames the windows of the marked cells take in: all within `half` along the diagonal.

    `needed` reaches `half` cells further than `grid` to every side.
    """
    needed[:] = False
    for i in range(len(grid)):
        for j in range(extent[i, 0], extent[i, 1]):
            if grid[i, j] >= 0.0:
                continue
            # What the cell before on the diagonal has asked for is all but the last.
            first = 2 * half if i > 0 and j > 0 and grid[i - 1, j - 1] < 0.0 else 0
            for k in range(first, 2 * half + 1):
                needed[i + k, j + k] = True


@inner
def _pairs(ours: Any, theirs: Any, place: Any, needed: Any, sums: Any) -> None:
    """Sums over markers of the pairs of frames that are needed, of which the first are at `place`.

    They are taken about the centres of the frames at `place`, so that nothing is lost far from the origin. Those of
    (i, j) are at sums[:, j - i + n - 1, i], n being the rows: along a diagonal they follow one another.
    """
    last = needed.shape[0] - 1
    centres, others = ours[1], theirs[1]
    cx, cz = centres[place[0], 0], centres[place[0], 1]
    dx, dz = others[place[1], 0], others[place[1], 1]
    for i in range(needed.shape[0]):
        f = place[0] + i
        px, pz = centres[f, 0] - cx, centres[f, 1] - cz
        for j in range(needed.shape[1]):
            if needed[i, j]:
                g = place[1] + j
                dot, cross, heights = pair(ours[0][f], theirs[0][g])
                qx, qz = others[g, 0] - dx, others[g, 1] - dz
                d = j - i + last
                sums[0, d, i] = dot + px * qx + pz * qz
                sums[1, d, i] = cross + px * qz - pz * qx
                sums[2, d, i] = heights


@summing
def _window(dots: Any, crosses: Any, heights: Any, weights: Any) -> Any:
    dot = cross = height = 0.0
    for k in range(len(weights)):
        dot += weights[k] * dots[k]
        cross += weights[k] * crosses[k]
        height += weights[k] * heights[k]
    return dot, cross, height


@inner
def _cells(ours: Any, theirs: Any, grid: Any, extent: Any, place: Any, sums: Any, weights: Any) -> None:
    """D of the marked cells, of which the first would be at `place`, from the sums of the pairs in their windows."""
    n = len(weights)
    half = n // 2
    last = grid.shape[0] + 2 * half - 1
    centres, means, spreads = ours[1], ours[2], ours[3]
    others, their_means, their_spreads = theirs[1], theirs[2], theirs[3]
    cx, cz = centres[place[0] - half, 0], centres[place[0] - half, 1]
    dx, dz = others[place[1] - half, 0], others[place[1] - half, 1]
    for i in range(grid.shape[0]):
        f = place[0] + i
        ax, az = means[f, 0] - cx, means[f, 1] - cz
        for j in range(extent[i, 0], extent[i, 1]):
            if grid[i, j] >= 0.0:
                continue
            g = place[1] + j
            bx, bz = their_means[g, 0] - dx, their_means[g, 1] - dz
            d = j - i + last
            along, across, up = _window(sums[0, d, i : i + n], sums[1, d, i : i + n], sums[2, d, i : i + n], weights)
            along -= ax * bx + az * bz
            across -= ax * bz - az * bx
            rest = spreads[f] + their_spreads[g] + up - 2.0 * math.sqrt(along * along + across * across)
            grid[i, j] = max(rest, 0.0)


@inner
def _look(ours: Any, theirs: Any, grid: Any, extent: Any, place: Any, needed: Any, sums: Any, weights: Any) -> None:
    """Fill in the cells of a tile at `place` that are asked for."""
    half = len(weights) // 2
    _spread(grid, extent, needed, half)
    _pairs(ours, theirs, (place[0] - half, place[1] - half), needed, sums)
    _cells(ours, theirs, grid, extent, place, sums, weights)


@inner
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
    ours, theirs : of each clip markers and centres as `alike_kernels` takes them, and of the window around each frame
        the mean (F, 2), x and z, and the squared spread (F,) about it along the floor.
    coarse : coarse cell (r, c) is the fine cell (corner[0] + r every, corner[1] + c every).
    slack : for each clip (F,) what a coarse cell near a frame may be above the limit, m^2.
    rows, columns : half-open; `sizes` are the cells that there are, (first, beyond last) of rows and columns.
    min_lag : least column - row.
    """
    found = np.empty((64, 2), dtype=np.int64)
    n = 0
    half = len(weights) // 2
    reach = every - 1
    slack_a, slack_b = slack
    side = TILE + 2 + 2 * half
    sums = np.empty((3, 2 * side - 1, side))
    extent = np.empty((TILE + 2, 2), dtype=np.int64)
    needed_whole = np.empty((side, side), dtype=np.bool_)
    whole, likely = np.empty((TILE + 2, TILE + 2)), np.empty((TILE + 2, TILE + 2), dtype=np.bool_)
    for top in range(rows[0], rows[1], TILE):
        for left in range(columns[0], columns[1], TILE):
            bottom, right = min(top + TILE, rows[1]), min(left + TILE, columns[1])
            if right - 1 - top < min_lag:
                continue
            # One cell more to each side, as far as there is one.
            place = (max(top - 1, sizes[0][0]), max(left - 1, sizes[1][0]))
            ends = (min(bottom + 1, sizes[0][1]), min(right + 1, sizes[1][1]))
            grid = whole[: ends[0] - place[0], : ends[1] - place[1]]
            marked = False
            for r in range(max((top - reach - corner[0]) // every, 0), coarse.shape[0]):
                i = corner[0] + r * every
                if i >= bottom + reach:
                    break
                most = limit + slack_a[i]
                for c in range(max((left - reach - corner[1]) // every, 0), coarse.shape[1]):
                    j = corner[1] + c * every
                    if j >= right + reach:
                        break
                    if not coarse[r, c] <= most + slack_b[j] or j - i + 2 * reach < min_lag:
                        continue
                    if _is_valley(coarse, r, c):
                        if not marked:
                            grid[:] = math.inf
                            extent[:, 0], extent[:, 1] = grid.shape[1], 0
                            marked = True
                        _mark(grid, extent, i - place[0], j - place[1], reach)
            if not marked:
                continue
            needed = needed_whole[: grid.shape[0] + 2 * half, : grid.shape[1] + 2 * half]
            _look(ours, theirs, grid, extent, place, needed, sums, weights)
            likely[:] = False
            unsure = False
            for i in range(top - place[0], bottom - place[0]):
                for j in range(max(left - place[1], extent[i, 0]), min(right - place[1], extent[i, 1])):
                    lag = place[1] + j - place[0] - i
                    if grid[i, j] <= limit and lag >= min_lag and _is_minimum(grid, i, j):
                        likely[i, j] = True
            # Of most it is known by now that they are none; of the rest, all neighbours have to be.
            for i in range(top - place[0], bottom - place[0]):
                for j in range(left - place[1], right - place[1]):
                    if likely[i, j] and _mark(grid, extent, i, j, 1):
                        unsure = True
            if unsure:
                _look(ours, theirs, grid, extent, place, needed, sums, weights)
            for i in range(top - place[0], bottom - place[0]):
                for j in range(left - place[1], right - place[1]):
                    if not likely[i, j] or not _is_minimum(grid, i, j):
                        continue
                    if n == len(found):
                        more = np.empty((2 * n, 2), dtype=np.int64)
                        for k in range(n):
                            more[k, 0], more[k, 1] = found[k, 0], found[k, 1]
                        found = more
                    found[n, 0], found[n, 1] = place[0] + i, place[1] + j
                    n += 1
    return found[:n].copy()
