"""Compiled: the neighbourhoods that a coarse grid points out, looked at closely.

A tile of the fine grid at a time: mark the cells around each coarse cell that may hide a minimum, compute D of the
marked ones from sums over pairs of frames, which the windows of neighbouring cells share, and keep the minima.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.core.compiled import kernel

TILE = 64


@kernel
def _is_valley(coarse: Any, r: int, c: int) -> bool:
    """Whether a coarse cell is the least of its row or of its column."""
    value = coarse[r, c]
    n_rows, n_columns = coarse.shape
    along = not (c > 0 and coarse[r, c - 1] < value) and not (c + 1 < n_columns and coarse[r, c + 1] < value)
    if along:
        return True
    return not (r > 0 and coarse[r - 1, c] < value) and not (r + 1 < n_rows and coarse[r + 1, c] < value)


@kernel
def _mark(grid: Any, inner: Any, extent: Any, i: int, j: int, reach: int) -> None:
    """Ask for the cells within `reach` of (i, j), and for their neighbours, which decide whether they are minima.

    `extent` holds the first and beyond the last column that is asked for in each row.
    """
    n_rows, n_columns = grid.shape
    first, last = max(j - reach - 1, 0), min(j + reach + 2, n_columns)
    for row in range(max(i - reach - 1, 0), min(i + reach + 2, n_rows)):
        extent[row, 0], extent[row, 1] = min(extent[row, 0], first), max(extent[row, 1], last)
        for column in range(first, last):
            grid[row, column] = -1.0
            if abs(row - i) <= reach and abs(column - j) <= reach:
                inner[row, column] = True


@kernel
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


@kernel
def _row(ours: Any, theirs: Any, dot: Any, cross: Any, heights: Any) -> None:
    """Sums over markers of one frame (3, M) with several (3, M, G), each about its own centre, into (G,)."""
    dot[:] = 0.0
    cross[:] = 0.0
    heights[:] = 0.0
    for m in range(ours.shape[1]):
        px, py, pz = ours[0, m], ours[1, m], ours[2, m]
        qx, qy, qz = theirs[0, m], theirs[1, m], theirs[2, m]
        for k in range(len(dot)):
            dot[k] += px * qx[k] + pz * qz[k]
        for k in range(len(dot)):
            cross[k] += px * qz[k] - pz * qx[k]
        for k in range(len(dot)):
            heights[k] += py * qy[k]


@kernel
def _pairs(ours: Any, theirs: Any, place: Any, needed: Any, dot: Any, cross: Any, heights: Any) -> None:
    """Sums over markers of the pairs of frames that are needed, of which the first are at `place`.

    They are taken about the centres of the frames at `place`, so that nothing is lost far from the origin.
    """
    n_rows, n_columns = needed.shape
    centres, others = ours[1], theirs[1]
    cx, cz = centres[place[0], 0], centres[place[0], 1]
    dx, dz = others[place[1], 0], others[place[1], 1]
    for i in range(n_rows):
        f = place[0] + i
        px, pz = centres[f, 0] - cx, centres[f, 1] - cz
        j = 0
        while j < n_columns:
            if not needed[i, j]:
                j += 1
                continue
            start = j
            while j < n_columns and needed[i, j]:
                j += 1
            columns = theirs[0][:, :, place[1] + start : place[1] + j]
            _row(ours[0][:, :, f], columns, dot[i, start:j], cross[i, start:j], heights[i, start:j])
            for k in range(start, j):
                qx, qz = others[place[1] + k, 0] - dx, others[place[1] + k, 1] - dz
                dot[i, k] += px * qx + pz * qz
                cross[i, k] += px * qz - pz * qx


@kernel
def _cells(
    ours: Any, theirs: Any, grid: Any, extent: Any, place: Any, dot: Any, cross: Any, heights: Any, weights: Any
) -> None:
    """D of the marked cells, of which the first would be at `place`, from the sums of the pairs in their windows."""
    half = len(weights) // 2
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
            along = across = up = 0.0
            for k in range(2 * half + 1):
                along += weights[k] * dot[i + k, j + k]
                across += weights[k] * cross[i + k, j + k]
                up += weights[k] * heights[i + k, j + k]
            along -= ax * bx + az * bz
            across -= ax * bz - az * bx
            rest = spreads[f] + their_spreads[g] - 2.0 * (up + math.sqrt(along * along + across * across))
            grid[i, j] = max(rest, 0.0)


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
    ours, theirs : of each clip the markers about each frame's centre, times the root of their weights, (3, M, F); these
        centres (F, 2); and of the window around each frame the mean (F, 2), x and z, and the squared spread (F,) about
        it, in which heights are about the floor.
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
    dot, cross, heights = np.empty((side, side)), np.empty((side, side)), np.empty((side, side))
    extent = np.empty((TILE + 2, 2), dtype=np.int64)
    needed_whole = np.empty((side, side), dtype=np.bool_)
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
                            inner[:] = False
                            extent[:, 0], extent[:, 1] = grid.shape[1], 0
                            marked = True
                        _mark(grid, inner, extent, i - place[0], j - place[1], reach)
            if not marked:
                continue
            needed = needed_whole[: grid.shape[0] + 2 * half, : grid.shape[1] + 2 * half]
            _spread(grid, extent, needed, half)
            _pairs(ours, theirs, (place[0] - half, place[1] - half), needed, dot, cross, heights)
            _cells(ours, theirs, grid, extent, place, dot, cross, heights, weights)
            for i in range(top - place[0], bottom - place[0]):
                for j in range(max(left - place[1], extent[i, 0]), min(right - place[1], extent[i, 1])):
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
