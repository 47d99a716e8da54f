"""Screen a tile of the grid for cells that may be local minima, in single precision, without storing the grid.

Key: dot, cross, up = products of the markers of frame pairs as in `sweep_kernels`, relative to each frame's mean on the
floor; path = trajectory of this mean. Products are rounded to integers, so their totals over triangular windows are
exact, and errors do not accumulate from row to row. The second difference of a total along the diagonal is that of the
products half + 1 frames apart. So eight neighboring diagonals are advanced together, and their last two totals are all
that they need. Products of the paths are not small, so they are added in double precision.

D has the precision of the products, and `slack` is twice its error. A neighbor whose D differs by less than `slack` is
a rival; `cell_kernels` compares rivals in double precision.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from marey.compare.sweep_kernels import Bounds
from marey.compiled import Floats2D, Ints2D, Out, Singles1D, Singles2D, Singles3D, helper, kernel
from marey.compiled.lanes import (
    compare_lanes,
    float_lanes,
    least_lanes,
    load_lanes,
    multiply_add,
    repeat_lane,
    root_lanes,
    round_lanes,
    spread_lanes,
    store_lanes,
)

# Rows and columns whose products are computed together.
ROWS, COLUMNS = 6, 16
# Number of vectors of eight diagonals that are advanced row by row, so that their products stay in the fastest cache.
_BLOCK = 16
# Flag in addition to the eight bits for rivals: D may be above the limit.
_AT_LIMIT = 256


class ScreenRows(NamedTuple):
    """Frames of the rows of a tile, extended by half a window at each end, and by zeros to a multiple of `ROWS` frames.

    flat : (F, 2 M) x and z of the markers. turned : (F, 2 M) -z and x. heights : (F, M).
    path : (4, 2 half + 2 + F) x, z, -2 x and -2 z of the path, preceded by zeros.
    means : (2, r) mean x and z of the path in each window, times half + 1.
    spreads : (r,) mean squared distance of the markers in a window from their mean, m^2.
    """

    flat: Singles2D
    turned: Singles2D
    heights: Singles2D
    path: Floats2D
    means: Floats2D
    spreads: Singles1D


class ScreenColumns(NamedTuple):
    """Frames of the columns of a tile, in P panels of `COLUMNS` frames.

    flat : (P, 2 M, COLUMNS). heights : (P, M, COLUMNS).
    path : (2, F) x and z. means : (2, c). spreads : (c,); all as in `ScreenRows`.
    """

    flat: Singles3D
    heights: Singles3D
    path: Floats2D
    means: Floats2D
    spreads: Singles1D


class ScreenTile(NamedTuple):
    """Cells of the grid, r rows and c columns.

    half : number of frames on either side of a window's center. strip : number of rows whose products are computed
        before their totals, a multiple of `ROWS`.
    units : value in m^2 of one integer unit of the products dot and cross, and of up.
    shape : r and c. own, place : as in `SweepTile`.
    max_open : maximum number of undecided cells.
    """

    half: int
    strip: int
    units: tuple[float, float]
    shape: tuple[int, int]
    own: tuple[int, int, int, int]
    place: tuple[int, int]
    max_open: int


class Screen(NamedTuple):
    """Work space for one strip of rows. Rows of length W have a margin at the left: column 0 of the tile is at index
    `margin`.

    products : (3, S, W). totals : (2, 3, D) last two totals of each of D diagonals. path_totals : (2, 2, D).
    columns : (4, W) path of the columns, and the means of the windows that end there.
    spreads : (W,) spreads of these windows.
    lines : (strip + 3, W) D of the rows of a strip, preceded by the last two rows of the strip before it.
    """

    products: Any
    totals: Any
    path_totals: Any
    columns: Floats2D
    spreads: Singles1D
    lines: Singles2D
    margin: int


@helper
def _multiply(rows: Singles2D, t: int, panels: Singles3D, panel: int, out: Any, plane: int, margin: int) -> None:
    """Write products of rows t .. t + 5 with a panel to a plane of `out` (3, S, W), where row t is at t modulo S."""
    n = rows.shape[1]
    a, b, c, d, e, f = t * n, t * n + n, t * n + 2 * n, t * n + 3 * n, t * n + 4 * n, t * n + 5 * n
    at = panel * n * COLUMNS
    a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = e0 = e1 = f0 = f1 = spread_lanes(np.float32(0.0))
    for k in range(n):
        x, y = load_lanes(panels, at), load_lanes(panels, at + 8)
        row = repeat_lane(rows, a + k)
        a0, a1 = multiply_add(row, x, a0), multiply_add(row, y, a1)
        row = repeat_lane(rows, b + k)
        b0, b1 = multiply_add(row, x, b0), multiply_add(row, y, b1)
        row = repeat_lane(rows, c + k)
        c0, c1 = multiply_add(row, x, c0), multiply_add(row, y, c1)
        row = repeat_lane(rows, d + k)
        d0, d1 = multiply_add(row, x, d0), multiply_add(row, y, d1)
        row = repeat_lane(rows, e + k)
        e0, e1 = multiply_add(row, x, e0), multiply_add(row, y, e1)
        row = repeat_lane(rows, f + k)
        f0, f1 = multiply_add(row, x, f0), multiply_add(row, y, f1)
        at += COLUMNS
    where = margin + panel * COLUMNS
    _store(out, plane, t, where, a0, a1)
    _store(out, plane, t + 1, where, b0, b1)
    _store(out, plane, t + 2, where, c0, c1)
    _store(out, plane, t + 3, where, d0, d1)
    _store(out, plane, t + 4, where, e0, e1)
    _store(out, plane, t + 5, where, f0, f1)


@helper
def _store(out: Any, plane: int, row: int, column: int, first: Any, second: Any) -> None:
    at = (plane * out.shape[1] + row % out.shape[1]) * out.shape[2] + column
    store_lanes(out, at, round_lanes(first))
    store_lanes(out, at + 8, round_lanes(second))


@helper
def _multiply_strip(ours: ScreenRows, theirs: ScreenColumns, work: Screen, rows: tuple[int, int], first: int) -> None:
    """Compute the products of rows ``rows[0]`` to ``rows[1]`` with all columns from the panel of column `first` on."""
    for panel in range(first // COLUMNS, len(theirs.flat)):
        for t in range(rows[0], rows[1], ROWS):
            _multiply(ours.flat, t, theirs.flat, panel, work.products, 0, work.margin)
            _multiply(ours.turned, t, theirs.flat, panel, work.products, 1, work.margin)
            _multiply(ours.heights, t, theirs.heights, panel, work.products, 2, work.margin)


@helper
def _advance(totals: Any, now: int, last: int, change: Any) -> Any:
    """Return the next eight totals, computed from their second difference `change`, and write them over the totals two
    steps back."""
    before = load_lanes(totals, last)
    total = (before + before) - load_lanes(totals, now) + change
    store_lanes(totals, now, total)
    return total


@helper
def _difference(products: Any, at: tuple[int, int, int]) -> Any:
    middle = load_lanes(products, at[1])
    return load_lanes(products, at[0]) - (middle + middle) + load_lanes(products, at[2])


@helper
def _advance_paths(ours: ScreenRows, work: Screen, t: int, pad: int, columns: Any, totals: Any) -> tuple[Any, Any]:
    """Return eight totals of dot and cross of the paths, relative to the means of the windows, in single precision.

    columns : places in the path of the columns, at three times. totals : places in `Screen.path_totals`.
    """
    path, n, others, width = ours.path, ours.path.shape[1], work.columns, work.columns.shape[1]
    x, z = repeat_lane(path, t), repeat_lane(path, n + t)
    u, v = load_lanes(others, columns[2]), load_lanes(others, columns[2] + width)
    dot, cross = x * u + z * v, x * v - z * u
    x, z = repeat_lane(path, 2 * n + t + pad), repeat_lane(path, 3 * n + t + pad)
    u, v = load_lanes(others, columns[1]), load_lanes(others, columns[1] + width)
    dot, cross = dot + x * u + z * v, cross + x * v - z * u
    x, z = repeat_lane(path, t + 2 * pad), repeat_lane(path, n + t + 2 * pad)
    u, v = load_lanes(others, columns[0]), load_lanes(others, columns[0] + width)
    dot, cross = dot + x * u + z * v, cross + x * v - z * u
    now, last, length = totals
    dot = _advance(work.path_totals, now, last, dot)
    cross = _advance(work.path_totals, now + length, last + length, cross)
    means, i, n = ours.means, max(t - 2 * pad + 2, 0), ours.means.shape[1]
    x, z = repeat_lane(means, i), repeat_lane(means, n + i)
    u, v = load_lanes(others, columns[0] + 2 * width), load_lanes(others, columns[0] + 3 * width)
    return float_lanes(dot - x * u - z * v), float_lanes(cross - x * v + z * u)


@helper
def _advance_diagonals(
    ours: ScreenRows, work: Screen, tile: ScreenTile, rows: tuple[int, int], base: int, block: tuple[int, int]
) -> None:
    """Write D of rows start .. stop for a block of vectors of diagonals, half-open; the first vector is at `base`."""
    products, totals, lines, margin = work.products, work.totals, work.lines, work.margin
    half = tile.half
    pad = half + 1
    n_slots, width, length = products.shape[1], products.shape[2], totals.shape[2]
    plane = n_slots * width
    scale = 1.0 / (pad * pad)
    unit, path_unit = spread_lanes(np.float32(tile.units[0] * scale)), spread_lanes(np.float32(scale))
    up_unit = spread_lanes(np.float32(2.0 * tile.units[1] * scale))
    stop = tile.shape[1] + 2 * half
    for t in range(rows[0], rows[1]):
        first = max(block[0], (-t - base) // 8)
        last = min(block[1], (stop - 1 - t - base) // 8 + 1)
        here, middle, gone = t % n_slots, (t - pad) % n_slots, (t - 2 * pad) % n_slots
        here, middle, gone = here * width, middle * width - pad, gone * width - 2 * pad
        now, before = t % 2 * length, (t + 1) % 2 * length
        line = (t - rows[0] + 2) * width
        spread = repeat_lane(ours.spreads, max(t - 2 * half, 0))
        for v in range(first, last):
            column, k = margin + base + t + 8 * v, 8 * v
            at = here + column, middle + column, gone + column
            new, old = 3 * now + k, 3 * before + k
            p = float_lanes(_advance(totals, new, old, _difference(products, at))) * unit
            at = at[0] + plane, at[1] + plane, at[2] + plane
            new, old = new + length, old + length
            q = float_lanes(_advance(totals, new, old, _difference(products, at))) * unit
            at = at[0] + plane, at[1] + plane, at[2] + plane
            new, old = new + length, old + length
            ups = float_lanes(_advance(totals, new, old, _difference(products, at)))
            at = column, column - pad, column - 2 * pad
            dot, cross = _advance_paths(ours, work, t, pad, at, (2 * now + k, 2 * before + k, length))
            p, q = multiply_add(dot, path_unit, p), multiply_add(cross, path_unit, q)
            far = root_lanes(multiply_add(q, q, p * p))
            store_lanes(lines, line + column, spread + load_lanes(work.spreads, column) - ups * up_unit - (far + far))


@helper
def _least_of_three(lines: Singles2D, at: int) -> Any:
    return least_lanes(least_lanes(load_lanes(lines, at - 1), load_lanes(lines, at + 1)), load_lanes(lines, at))


@helper
def _find_rivals(lines: Singles2D, line: int, k: int, bound: Any) -> int:
    """Return the neighbors with D of at most `bound`, one bit for each, in row-major order."""
    above, here, below = lines[line - 1], lines[line], lines[line + 1]
    bits = 0
    for column in range(3):
        bits |= (above[k - 1 + column] <= bound) << column
        bits |= (below[k - 1 + column] <= bound) << (5 + column)
    return int(bits | (here[k - 1] <= bound) << 3 | (here[k + 1] <= bound) << 4)


@helper
def _find_in_row(
    lines: Singles2D, found: Ints2D, line: int, begin: int, stop: int, bounds: Any, cell: tuple[int, int], counts: Any
) -> tuple[int, int]:
    """Append the cells of a line of `lines`, columns begin .. stop, that may be minima to the first n that were found.

    cell : row and column of the grid at column `begin`. counts : n, and the number of these cells that have rivals.
        Return the new counts.
    """
    n, n_open = counts
    limit, slack = np.float32(bounds.limit), np.float32(bounds.slack)
    limits, slacks = spread_lanes(limit), spread_lanes(slack)
    width = lines.shape[1]
    for k in range(begin, stop, 8):
        at = line * width + k
        beside = least_lanes(load_lanes(lines, at - 1), load_lanes(lines, at + 1))
        around = least_lanes(_least_of_three(lines, at - width), _least_of_three(lines, at + width))
        bits = compare_lanes(load_lanes(lines, at), least_lanes(least_lanes(around, beside), limits) + slacks)
        if bits == 0:
            continue
        for bit in range(min(8, stop - k)):
            if bits >> bit & 1:
                bound = lines[line, k + bit] + slack
                rivals = _find_rivals(lines, line, k + bit, bound) | (_AT_LIMIT if bound > limit else 0)
                found[n, 0], found[n, 1], found[n, 2] = cell[0], cell[1] + k + bit - begin, rivals
                n += 1
                n_open += rivals != 0
    return n, n_open


@helper
def _make_work(theirs: ScreenColumns, tile: ScreenTile, n_diagonals: int) -> Screen:
    pad = tile.half + 1
    margin = (2 * pad + 15) // 8 * 8
    width = margin + COLUMNS * (len(theirs.flat) + 1)
    columns, spreads = np.zeros((4, width)), np.zeros(width, dtype=np.float32)
    for j in range(theirs.path.shape[1]):
        columns[0, margin + j], columns[1, margin + j] = theirs.path[0, j], theirs.path[1, j]
    at = margin + 2 * tile.half
    for j in range(tile.shape[1]):
        columns[2, at + j], columns[3, at + j], spreads[at + j] = (
            theirs.means[0, j],
            theirs.means[1, j],
            theirs.spreads[j],
        )
    products = np.zeros((3, tile.strip + 2 * pad, width), dtype=np.int32)
    length = (n_diagonals + 15) // 8 * 8
    totals, path_totals = np.zeros((2, 3, length), dtype=np.int32), np.zeros((2, 2, length))
    lines = np.full((tile.strip + 3, width), np.float32(math.inf))
    return Screen(products, totals, path_totals, columns, spreads, lines, margin)


@kernel
def screen_tile(ours: ScreenRows, theirs: ScreenColumns, tile: ScreenTile, bounds: Bounds, found: Out[Ints2D]) -> int:
    """Find the cells of a tile that may be minima, and their rivals as bits, see `_find_rivals`: (N, 3) in `found`.

    Diagonals left of `bounds.min_lag`, other than the two that serve as neighbors, are not computed. Return the number
    of cells, or -1 if more than `tile.max_open` are undecided. `found` must have room for a quarter of the tile's cells
    (rounded up in each direction), `tile.max_open` more cells, and the cells of one row.
    """
    half, strip, own, place = tile.half, tile.strip, tile.own, tile.place
    n_rows, n_columns = tile.shape[0] + 2 * half, tile.shape[1] + 2 * half
    lag = bounds.min_lag + place[0] - place[1]
    base = max(lag - 2, 1 - n_rows)
    n_vectors = (n_columns - base + 7) // 8
    work = _make_work(theirs, tile, max(n_columns - base, 0))
    lines, edge = work.lines, work.margin + 2 * half
    counts = (0, 0)
    for start in range(0, n_rows, strip):
        rows = start, min(start + strip, n_rows)
        _multiply_strip(ours, theirs, work, rows, max(start + base, 0))
        for block in range(0, n_vectors, _BLOCK):
            _advance_diagonals(ours, work, tile, rows, base, (block, min(block + _BLOCK, n_vectors)))
        for t in range(rows[0], rows[1]):
            line = t - start + 2
            lines[line, edge - 1] = lines[line, work.margin + n_columns] = math.inf
            if t < 2 * half:
                lines[line] = math.inf
        n_known = rows[1] - start
        if rows[1] == n_rows:
            lines[n_known + 2] = math.inf
        # Rows whose neighbors are known.
        for line in range(1, n_known + (2 if rows[1] == n_rows else 1)):
            i = start + line - 2 - 2 * half
            first = max(own[2], i + lag)
            if own[0] <= i < own[1] and first < own[3]:
                cell = place[0] + i, place[1] + first
                counts = _find_in_row(lines, found, line, edge + first, edge + own[3], bounds, cell, counts)
                if counts[1] > tile.max_open:
                    return -1
        for k in range(lines.shape[1]):
            lines[0, k], lines[1, k] = lines[n_known, k], lines[n_known + 1, k]
    return counts[0]
