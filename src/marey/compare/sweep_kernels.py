"""Find the local minima of D from products of markers, row by row, without storing the grid.

Key: each frame's markers are relative to their mean on the floor, and the path is the trajectory of this mean. dot,
cross, up = products of the markers of frame pairs as in `grid_kernels`; the products of the two paths are added here,
in double precision. A triangular window is a box of boxes, each of half + 1 frames along the diagonal: run = sum of
that many products, total = sum of that many runs; each is updated from the previous one on its diagonal. Rows arrive
one after another; D of a row is known `half` rows later, and whether its cells are minima one row after that. All lines
start with `half + 1` zeros, for the columns before the first.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from marey.compiled import (
    Floats1D,
    Floats2D,
    Floats3D,
    Ints2D,
    Out,
    UInt8s1D,
    helper,
    kernel,
)


class Frames(NamedTuple):
    """Frames of a clip, each relative to its own mean on the floor, with markers scaled by the roots of their weights.

    flat : (F, 2 M) x and z.
    heights : (F, M) y, relative to a height for each marker.
    sums : (4, F) the mean's x and z, relative to a center of the clip, and the mean squares of flat and of heights.
    """

    flat: Out[Floats2D]
    heights: Out[Floats2D]
    sums: Out[Floats2D]


class SweepState(NamedTuple):
    """State for computing one strip of rows after another.

    runs, totals : (3, half + 2, half + 1 + C) and (3, 2, half + 1 + C), the state between calls.
    found : (N, 2) row and column of minima of these rows.
    """

    runs: Out[Floats3D]
    totals: Out[Floats3D]
    found: Out[Ints2D]


class SweepTile(NamedTuple):
    """Cells of the grid, r rows and c columns.

    our_path, their_path : (2, half + 1 + R), (2, half + 1 + C) x and z of the rows and columns of the products.
    ours, theirs : (3, r), (3, c) from `average_windows`; row t of the products is the last one in the window of
        row t - 2 half of the tile.
    own : cells that may be minima, half-open: first row, stop row, first column, stop column; the others only serve as
        neighbors.
    place : row and column of the grid at which the tile begins.
    """

    our_path: Floats2D
    their_path: Floats2D
    ours: Floats2D
    theirs: Floats2D
    own: tuple[int, int, int, int]
    place: tuple[int, int]


class Bounds(NamedTuple):
    """Which cells count: D at most limit (m^2), column - row at least min_lag; see `screen_kernels` for slack (m^2)."""

    limit: float
    min_lag: int
    slack: float


class Scratch(NamedTuple):
    """Memory for one row: `least` and `flags` are as long as a line; `words` views the flags, eight per uint64."""

    least: Any
    flags: UInt8s1D
    words: Any


@kernel
def fill_frames(points: Floats3D, roots: Floats1D, center: Floats1D, levels: Floats1D, out: Frames) -> None:
    """Compute `out` from points (F, M, 3): the path relative to `center` (x, z), heights relative to `levels` (M,)."""
    flat, heights, sums = out.flat, out.heights, out.sums
    n_markers = len(roots)
    for f in range(len(points)):
        mean_x = mean_z = total = 0.0
        for m in range(n_markers):
            weight = roots[m] * roots[m]
            mean_x += weight * (points[f, m, 0] - center[0])
            mean_z += weight * (points[f, m, 2] - center[1])
            total += weight
        mean_x, mean_z = mean_x / total, mean_z / total
        x0, z0 = center[0] + mean_x, center[1] + mean_z
        square = high = 0.0
        for m in range(n_markers):
            x, z = (points[f, m, 0] - x0) * roots[m], (points[f, m, 2] - z0) * roots[m]
            y = (points[f, m, 1] - levels[m]) * roots[m]
            flat[f, m], flat[f, n_markers + m], heights[f, m] = x, z, y
            square += x * x + z * z
            high += y * y
        sums[0, f], sums[1, f], sums[2, f], sums[3, f] = mean_x, mean_z, square, high


@kernel
def average_windows(sums: Floats2D, weights: Floats1D, out: Out[Floats2D]) -> None:
    """Write mean x, mean z and spread of each window to `out` (3, F - 2 L), from the sums (4, F) of `Frames`."""
    n_weights = len(weights)
    for f in range(out.shape[1]):
        mean_x = mean_z = square = 0.0
        for k in range(n_weights):
            x, z = sums[0, f + k], sums[1, f + k]
            mean_x += weights[k] * x
            mean_z += weights[k] * z
            square += weights[k] * (sums[2, f + k] + sums[3, f + k] + (x * x + z * z))
        out[0, f], out[1, f], out[2, f] = mean_x, mean_z, square - mean_x * mean_x - mean_z * mean_z


@helper
def _add(total: Floats1D, before: Floats1D, coming: Floats1D, gone: Floats1D) -> None:
    for k in range(len(total)):
        total[k] = before[k] + (coming[k] - gone[k])


@helper
def _add_with_path(
    run: Floats1D,
    before: Floats1D,
    coming: Floats1D,
    gone: Floats1D,
    path: tuple[Floats1D, Floats1D, Floats1D, Floats1D],
    now: tuple[float, float],
    then: tuple[float, float],
) -> None:
    """Do the same as `_add`, with the products of the paths added to `coming` and `gone`.

    path : x and z of one path, and x and z of the same path half + 1 frames earlier, as lines.
    now, then : x and z of the other path, now and half + 1 frames earlier.
    """
    (xs, zs, old_xs, old_zs), (x, z), (old_x, old_z) = path, now, then
    for k in range(len(run)):
        more, less = x * xs[k] + z * zs[k], old_x * old_xs[k] + old_z * old_zs[k]
        run[k] = before[k] + ((coming[k] + more) - (gone[k] + less))


@helper
def _minimum(a: Any, b: Any) -> Any:
    return a if a < b else b


@helper
def _write_distances(line: Floats1D, totals: Any, unit: float, ours: tuple[float, float, float], theirs: Any) -> None:
    (dots, crosses, ups), (x, z, spread), (bx, bz, spreads) = totals, ours, theirs
    for k in range(len(line)):
        p = dots[k] * unit - (x * bx[k] + z * bz[k])
        q = crosses[k] * unit - (x * bz[k] - z * bx[k])
        d = ((spread + spreads[k]) - 2.0 * ups[k] * unit) - 2.0 * math.sqrt(p * p + q * q)
        line[k] = d if d > 0.0 else 0.0


@helper
def _write_column_minima(above: Any, here: Any, below: Any, out: Any) -> None:
    for k in range(len(out)):
        out[k] = _minimum(here[k], _minimum(above[k], below[k]))


@helper
def _flag_minima(here: Any, left: Any, middle: Any, right: Any, limit: Any, out: UInt8s1D) -> None:
    for k in range(len(out)):
        around = _minimum(_minimum(left[k], right[k]), _minimum(middle[k], limit))
        out[k] = np.uint8(1) if here[k] <= around else np.uint8(0)


@helper
def _is_minimum(above: Any, here: Any, below: Any, k: int) -> bool:
    """Return whether no neighbor is smaller, and no neighbor earlier in row-major order is equal."""
    value = here[k]
    for column in range(k - 1, k + 2):
        if not (value < above[column] and value <= below[column]):
            return False
    return bool(value < here[k - 1] and value <= here[k + 1])


@helper
def _find_row_minima(lines: Any, found: Ints2D, tile: Any, i: int, bounds: Bounds, work: Scratch, n: int) -> int:
    """Append the minima of row i of the tile, whose neighboring rows are known, to the first n that were found.

    Return the new number of minima, or -1 if there is no room for them.
    """
    own, place = tile.own, tile.place
    least, flags, words = work.least, work.flags, work.words
    above, here, below = lines[(i - 1) % 3], lines[i % 3], lines[(i + 1) % 3]
    row = place[0] + i
    first, last = max(own[2], row + bounds.min_lag - place[1]), own[3]
    if first >= last:
        return n
    # Cell k of the tile is at k + 1 in a line.
    stop = last + 2
    _write_column_minima(above[first:stop], here[first:stop], below[first:stop], least[first:stop])
    _flag_minima(
        here[first + 1 : last + 1], least[first:last], least[first + 1 : last + 1], least[first + 2 : last + 2],
        bounds.limit, flags[first:last],
    )  # fmt: skip
    begin = first // 8
    flags[8 * begin : first] = np.uint8(0)
    flags[last : last + 8] = np.uint8(0)
    for word in range(begin, (last + 7) // 8):
        # Nearly all words are 0.
        if words[word] == 0:
            continue
        for k in range(8 * word, 8 * word + 8):
            if not flags[k]:
                continue
            if not _is_minimum(above, here, below, k + 1):
                continue
            if n == len(found):
                return -1
            found[n, 0], found[n, 1] = row, place[1] + k
            n += 1
    return n


@helper
def _search_rows(lines: Any, found: Ints2D, tile: Any, i: int, bounds: Bounds, work: Scratch, n: int) -> int:
    """Append the minima of the row before row i, which has just been written, and those of row i if it is the last."""
    own, n_rows = tile.own, tile.ours.shape[-1]
    stop = i + 1 if i + 1 == n_rows else i
    for row in range(max(i - 1, own[0]), min(stop, own[1])):
        if row == i:
            lines[(i + 1) % 3] = math.inf
        n = _find_row_minima(lines, found, tile, row, bounds, work, n)
        if n < 0:
            break
    return n


@helper
def _make_scratch(lines: Any) -> Scratch:
    flags = np.zeros((lines.shape[1] + 15) // 8 * 8, dtype=np.uint8)
    return Scratch(np.empty_like(lines[0]), flags, flags.view(np.uint64))


@helper
def _first_column(place: tuple[int, int], bounds: Bounds, t: int) -> int:
    """Return the first column of the products needed in row t: a neighbor of a neighbor of a cell at the lag."""
    return max(t + place[0] - place[1] + bounds.min_lag - 2, 0)


@kernel
def sweep_rows(
    products: Floats3D,
    lines: Out[Floats2D],
    state: SweepState,
    tile: SweepTile,
    rows: tuple[int, int],
    bounds: Bounds,
) -> int:
    """Process the products of rows start .. stop, and return how many minima are now in `state.found`.

    Diagonals left of `bounds.min_lag`, other than the two that serve as neighbors, are neither read nor written.

    products : (3, N, half + 1 + C) dot, cross and up; row t is at t modulo N, and rows before the first are zeros.
    lines : (3, 2 + c) D of the last three rows of the tile, kept between calls.
    """
    runs, totals = state.runs, state.totals
    our_path, ours, theirs, xs, zs = tile.our_path, tile.ours, tile.theirs, tile.their_path[0], tile.their_path[1]
    n_slots = runs.shape[1]
    pad = n_slots - 1
    half = pad - 1
    unit = 1.0 / (pad * pad)
    width = products.shape[2]
    n_cells = theirs.shape[1]
    work = _make_scratch(lines)
    n_found = 0
    stop = pad + 2 * half + n_cells
    for t in range(rows[0], rows[1]):
        column = _first_column(tile.place, bounds, t)
        begin = pad + column
        path = (xs[begin:], zs[begin:], xs[begin - pad : width - pad], zs[begin - pad : width - pad])
        row, old = t % products.shape[1], (t - pad) % products.shape[1]
        parity = t % 2
        x, z, old_x, old_z = our_path[0, pad + t], our_path[1, pad + t], our_path[0, t], our_path[1, t]
        for k in range(3):
            now, before, gone = runs[k, t % n_slots], runs[k, (t - 1) % n_slots], runs[k, (t + 1) % n_slots]
            run, last = now[begin:], before[begin - 1 : width - 1]
            more, less = products[k, row, begin:], products[k, old, begin - pad : width - pad]
            if k == 0:
                _add_with_path(run, last, more, less, path, (x, z), (old_x, old_z))
            elif k == 1:
                _add_with_path(run, last, more, less, path, (-z, x), (-old_z, old_x))
            else:
                _add(run, last, more, less)
            total, before = totals[k, parity, begin:], totals[k, 1 - parity, begin - 1 : width - 1]
            _add(total, before, run, gone[begin - pad : width - pad])
        i = t - 2 * half
        if i < 0:
            continue
        skip = max(column - 2 * half, 0)
        since = pad + 2 * half + skip
        mean = (ours[0, i], ours[1, i], ours[2, i])
        their_means = (theirs[0, skip:], theirs[1, skip:], theirs[2, skip:])
        of_row = (totals[0, parity, since:stop], totals[1, parity, since:stop], totals[2, parity, since:stop])
        _write_distances(lines[i % 3, 1 + skip : 1 + n_cells], of_row, unit, mean, their_means)
        n_found = _search_rows(lines, state.found, tile, i, bounds, work, n_found)
        if n_found < 0:
            break
    return n_found
