"""Find minima of the fine grid near promising cells of a coarse grid.

The fine grid is processed in tiles: request the cells around each promising coarse cell, compute D of the requested
cells, and keep the minima. D is computed from sums over frame pairs. Windows of neighboring cells share these pairs, so
each pair is computed once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compare.minima_kernels import is_minimum
from marey.compiled import Bools2D, Floats1D, Floats2D, Floats3D, Ints2D, helper, kernel
from marey.graph.alike_kernels import compare_frames

TILE = 64


class WindowedClip(NamedTuple):
    """A clip of F frames and the windows around its frames.

    markers, centers : (F, 3, N) of N markers, (F, 2); see `alike_kernels.CenteredClip`.
    means : (F, 2) weighted mean x and z of the window around each frame, meters.
    spreads : (F,) weighted mean squared distance from `means` along the floor, m^2.
    slack : (F,) m^2 by which D of a coarse cell in this frame's row or column may exceed the limit.
    """

    markers: Floats3D
    centers: Floats2D
    means: Floats2D
    spreads: Floats1D
    slack: Floats1D


class CoarseGrid(NamedTuple):
    """D in m^2 at every n-th row and column. Coarse cell (r, c) lies at the fine cell (corner[0] + r * every, corner[1]
    + c * every)."""

    values: Floats2D
    corner: tuple[int, int]
    every: int


class SearchedCells(NamedTuple):
    """The cells of the fine grid to search.

    rows, columns : half-open ranges of the block to search.
    sizes : half-open ranges of all valid rows and columns, whose frames have complete windows.
    min_lag : smallest allowed value of column - row.
    limit : largest allowed D, m^2.
    """

    rows: tuple[int, int]
    columns: tuple[int, int]
    sizes: tuple[tuple[int, int], tuple[int, int]]
    min_lag: int
    limit: float


class FineTile(NamedTuple):
    """A tile of R x C cells of the fine grid; windows have 2 L + 1 frames.

    grid : (R, C) D of its cells in m^2; infinity if unknown, -1 if requested.
    extent : (R, 2) half-open range of the columns requested in each row.
    place : row and column of its first cell in the fine grid.
    needed : (R + 2 L, C + 2 L) mask of the frame pairs that the requested windows cover.
    sums : (3, at least 2 n - 1, at least n) sums over markers for these pairs, n = R + 2 L; see `_sum_pairs`.
    """

    grid: Floats2D
    extent: Ints2D
    place: tuple[int, int]
    needed: Bools2D
    sums: Floats3D


@helper
def _is_valley(coarse: Floats2D, r: int, c: int) -> bool:
    """Return whether a coarse cell is a local minimum along its row or along its column."""
    value = coarse[r, c]
    n_rows, n_columns = coarse.shape
    along = not (c > 0 and coarse[r, c - 1] < value) and not (c + 1 < n_columns and coarse[r, c + 1] < value)
    if along:
        return True
    return not (r > 0 and coarse[r - 1, c] < value) and not (r + 1 < n_rows and coarse[r + 1, c] < value)


@helper
def _request_cells(grid: Floats2D, extent: Ints2D, i: int, j: int, reach: int) -> bool:
    """Request the unknown cells within `reach` rows and columns of (i, j); return whether there are any."""
    requested = False
    n_rows, n_columns = grid.shape
    first, last = max(j - reach, 0), min(j + reach + 1, n_columns)
    for row in range(max(i - reach, 0), min(i + reach + 1, n_rows)):
        extent[row, 0], extent[row, 1] = min(extent[row, 0], first), max(extent[row, 1], last)
        for column in range(first, last):
            if grid[row, column] == math.inf:
                grid[row, column] = -1.0
                requested = True
    return requested


@helper
def _mark_pairs(tile: FineTile, half: int) -> None:
    """Mark the frame pairs that the windows of the requested cells cover: up to `half` steps along the diagonal."""
    grid, extent, needed = tile.grid, tile.extent, tile.needed
    needed[:] = False
    for i in range(len(grid)):
        for j in range(extent[i, 0], extent[i, 1]):
            if grid[i, j] >= 0.0:
                continue
            # If the previous cell on the diagonal was requested, only the last pair is new.
            first = 2 * half if i > 0 and j > 0 and grid[i - 1, j - 1] < 0.0 else 0
            for k in range(first, 2 * half + 1):
                needed[i + k, j + k] = True


@helper
def _sum_pairs(ours: WindowedClip, theirs: WindowedClip, tile: FineTile, half: int) -> None:
    """Write the sums over markers (dot product, cross product, squared height difference) of the needed frame pairs to
    `tile.sums`.

    Centers are taken relative to those of the tile's first frame pair, to keep precision far from the origin. The sums
    of pair (i, j) are stored in sums[:, j - i + n - 1, i], where n is the number of rows of `needed`. Pairs along a
    diagonal are contiguous.
    """
    needed, sums = tile.needed, tile.sums
    top, left = tile.place[0] - half, tile.place[1] - half
    last = needed.shape[0] - 1
    centers, others = ours.centers, theirs.centers
    cx, cz = centers[top, 0], centers[top, 1]
    dx, dz = others[left, 0], others[left, 1]
    for i in range(needed.shape[0]):
        f = top + i
        px, pz = centers[f, 0] - cx, centers[f, 1] - cz
        for j in range(needed.shape[1]):
            if needed[i, j]:
                g = left + j
                dot, cross, heights = compare_frames(ours.markers, f, theirs.markers, g)
                qx, qz = others[g, 0] - dx, others[g, 1] - dz
                d = j - i + last
                sums[0, d, i] = dot + px * qx + pz * qz
                sums[1, d, i] = cross + px * qz - pz * qx
                sums[2, d, i] = heights


@helper
def _fill_cells(ours: WindowedClip, theirs: WindowedClip, tile: FineTile, weights: Floats1D) -> None:
    """Write the distance D of the requested cells to `tile.grid`, from the sums of the frame pairs in their windows."""
    grid, extent, place, sums = tile.grid, tile.extent, tile.place, tile.sums
    n = len(weights)
    half = n // 2
    last = grid.shape[0] + 2 * half - 1
    cx, cz = ours.centers[place[0] - half, 0], ours.centers[place[0] - half, 1]
    dx, dz = theirs.centers[place[1] - half, 0], theirs.centers[place[1] - half, 1]
    for i in range(grid.shape[0]):
        f = place[0] + i
        ax, az = ours.means[f, 0] - cx, ours.means[f, 1] - cz
        for j in range(extent[i, 0], extent[i, 1]):
            if grid[i, j] >= 0.0:
                continue
            g = place[1] + j
            bx, bz = theirs.means[g, 0] - dx, theirs.means[g, 1] - dz
            d = j - i + last
            along = across = up = 0.0
            for k in range(n):
                along += weights[k] * sums[0, d, i + k]
                across += weights[k] * sums[1, d, i + k]
                up += weights[k] * sums[2, d, i + k]
            along -= ax * bx + az * bz
            across -= ax * bz - az * bx
            rest = ours.spreads[f] + theirs.spreads[g] + up - 2.0 * math.sqrt(along * along + across * across)
            grid[i, j] = max(rest, 0.0)


@helper
def _fill_tile(ours: WindowedClip, theirs: WindowedClip, tile: FineTile, weights: Floats1D) -> None:
    """Compute the sums of the needed frame pairs, and the distance D of the requested cells of a tile."""
    half = len(weights) // 2
    _mark_pairs(tile, half)
    _sum_pairs(ours, theirs, tile, half)
    _fill_cells(ours, theirs, tile, weights)


@kernel
def find_fine_minima(
    ours: WindowedClip, theirs: WindowedClip, coarse: CoarseGrid, cells: SearchedCells, weights: Floats1D
) -> Ints2D:
    """Return the cells (N, 2) that are local minima of D, near promising cells of the coarse grid.

    weights : (2 L + 1,) weights of the frames in a window.
    """
    rows, columns, sizes, min_lag, limit = cells
    corner, every = coarse.corner, coarse.every
    found = np.empty((64, 2), dtype=np.int64)
    n = 0
    half = len(weights) // 2
    reach = every - 1
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
            # Add a border of one cell where there is one: a minimum is compared with its neighbors.
            place = (max(top - 1, sizes[0][0]), max(left - 1, sizes[1][0]))
            ends = (min(bottom + 1, sizes[0][1]), min(right + 1, sizes[1][1]))
            grid = whole[: ends[0] - place[0], : ends[1] - place[1]]
            marked = False
            for r in range(max((top - reach - corner[0]) // every, 0), coarse.values.shape[0]):
                i = corner[0] + r * every
                if i >= bottom + reach:
                    break
                max_value = limit + ours.slack[i]
                for c in range(max((left - reach - corner[1]) // every, 0), coarse.values.shape[1]):
                    j = corner[1] + c * every
                    if j >= right + reach:
                        break
                    if not coarse.values[r, c] <= max_value + theirs.slack[j] or j - i + 2 * reach < min_lag:
                        continue
                    if _is_valley(coarse.values, r, c):
                        if not marked:
                            grid[:] = math.inf
                            extent[:, 0], extent[:, 1] = grid.shape[1], 0
                            marked = True
                        _request_cells(grid, extent, i - place[0], j - place[1], reach)
            if not marked:
                continue
            needed = needed_whole[: grid.shape[0] + 2 * half, : grid.shape[1] + 2 * half]
            tile = FineTile(grid, extent, place, needed, sums)
            _fill_tile(ours, theirs, tile, weights)
            likely[:] = False
            unsure = False
            for i in range(top - place[0], bottom - place[0]):
                for j in range(max(left - place[1], extent[i, 0]), min(right - place[1], extent[i, 1])):
                    lag = place[1] + j - place[0] - i
                    if grid[i, j] <= limit and lag >= min_lag and is_minimum(grid, i, j):
                        likely[i, j] = True
            # Most cells are ruled out by now. Candidates that remain need all of their neighbors.
            for i in range(top - place[0], bottom - place[0]):
                for j in range(left - place[1], right - place[1]):
                    if likely[i, j] and _request_cells(grid, extent, i, j, 1):
                        unsure = True
            if unsure:
                _fill_tile(ours, theirs, tile, weights)
            for i in range(top - place[0], bottom - place[0]):
                for j in range(left - place[1], right - place[1]):
                    if not likely[i, j] or not is_minimum(grid, i, j):
                        continue
                    if n == len(found):
                        more = np.empty((2 * n, 2), dtype=np.int64)
                        for k in range(n):
                            more[k, 0], more[k, 1] = found[k, 0], found[k, 1]
                        found = more
                    found[n, 0], found[n, 1] = place[0] + i, place[1] + j
                    n += 1
    return found[:n].copy()
