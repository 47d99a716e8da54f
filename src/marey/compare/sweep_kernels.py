"""Find the local minima of D from products of markers, row by row, without storing the grid.

Key: each frame's markers are relative to their mean on the floor, and the path is the trajectory of this mean. dot,
cross, up = products of the markers of frame pairs as in `grid_kernels`; the products of the two paths are added here,
in double precision. A triangular window is a box of boxes, each of half + 1 frames along the diagonal: run = sum of
that many products, total = sum of that many runs; each is updated from the previous one on its diagonal. Rows arrive
one after another; D of a row is known `half` rows later, and whether its cells are minima one row after that. All lines
start with `half + 1` zeros, for the columns before the first.

Products in single precision suffice to decide nearly all cells. Runs and totals are always in double precision, to keep
errors from accumulating from row to row. D has the precision of the products, and `slack` is twice its error. A
neighbor whose D differs by less than `slack` is a rival; `decide_cells` compares rivals in double precision.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from marey.compiled import (
    Bools1D,
    Floats1D,
    Floats2D,
    Floats3D,
    Ints2D,
    Out,
    Singles2D,
    Singles3D,
    UInt8s1D,
    helper,
    kernel,
)

# Flag in addition to the eight bits for rivals: D may be above the limit.
_AT_LIMIT = 256


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
    found : (N, 3) row and column of minima of these rows, and their rivals as bits, see `_find_rivals`.
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
    """Which cells count: D at most limit (m^2), column - row at least min_lag; slack (m^2) is explained above."""

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
    """Compute the frames of points (F, M, 3): the path relative to `center` (x, z), heights to `levels` (M,)."""
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
def _add(total: Floats1D, before: Floats1D, coming: Any, gone: Any) -> None:
    for k in range(len(total)):
        total[k] = before[k] + (np.float64(coming[k]) - np.float64(gone[k]))


@helper
def _add_with_path(
    run: Floats1D,
    before: Floats1D,
    coming: Any,
    gone: Any,
    path: Floats2D,
    now: tuple[float, float],
    then: tuple[float, float],
) -> None:
    """Do the same as `_add`, plus the products of the paths.

    The products are those of path (2, C) with x and z `now`, and with those half + 1 rows earlier (`then`).
    """
    n, n_all = len(run), path.shape[1]
    (x, z), (old_x, old_z) = now, then
    xs, zs, old_xs, old_zs = path[0, n_all - n :], path[1, n_all - n :], path[0, :n], path[1, :n]
    for k in range(n):
        more, less = x * xs[k] + z * zs[k], old_x * old_xs[k] + old_z * old_zs[k]
        run[k] = before[k] + ((np.float64(coming[k]) + more) - (np.float64(gone[k]) + less))


@helper
def _minimum(a: Any, b: Any) -> Any:
    return a if a < b else b


@helper
def _write_distances(line: Any, totals: Any, unit: float, ours: tuple[float, float, float], theirs: Floats2D) -> None:
    (dots, crosses, ups), (x, z, spread) = totals, ours
    bx, bz, spreads = theirs[0], theirs[1], theirs[2]
    for k in range(len(line)):
        p = dots[k] * unit - (x * bx[k] + z * bz[k])
        q = crosses[k] * unit - (x * bz[k] - z * bx[k])
        # Stored in the line first, which rounds it to the line's precision.
        line[k] = p * p + q * q
        d = ((spread + spreads[k]) - 2.0 * ups[k] * unit) - 2.0 * math.sqrt(line[k])
        line[k] = d if d > 0.0 else 0.0


@helper
def _write_column_minima(above: Any, here: Any, below: Any, out: Any) -> None:
    for k in range(len(out)):
        out[k] = _minimum(here[k], _minimum(above[k], below[k]))


@helper
def _flag_minima(here: Any, left: Any, middle: Any, right: Any, limit: Any, slack: Any, out: UInt8s1D) -> None:
    for k in range(len(out)):
        around = _minimum(_minimum(left[k], right[k]), _minimum(middle[k], limit))
        out[k] = np.uint8(1) if here[k] <= around + slack else np.uint8(0)


@helper
def _is_minimum(above: Any, here: Any, below: Any, k: int) -> bool:
    """Return whether no neighbor is smaller, and no neighbor earlier in row-major order is equal."""
    value = here[k]
    for column in range(k - 1, k + 2):
        if not (value < above[column] and value <= below[column]):
            return False
    return bool(value < here[k - 1] and value <= here[k + 1])


@helper
def _find_rivals(above: Any, here: Any, below: Any, k: int, bound: Any) -> int:
    """Return the neighbors with D of at most `bound`, one bit for each, in row-major order."""
    bits = 0
    for column in range(3):
        bits |= (above[k - 1 + column] <= bound) << column
        bits |= (below[k - 1 + column] <= bound) << (5 + column)
    return int(bits | (here[k - 1] <= bound) << 3 | (here[k + 1] <= bound) << 4)


@helper
def _find_row_minima(lines: Any, found: Ints2D, tile: SweepTile, i: int, bounds: Bounds, work: Scratch, n: int) -> int:
    """Append the minima of row i of the tile, whose neighboring rows are known, to the first n that were found.

    Returns the new number of minima, or -1 if there is no room for them.
    """
    own, place = tile.own, tile.place
    limit, slack = bounds.limit, bounds.slack
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
        limit, slack, flags[first:last],
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
            rivals = 0
            if slack > 0.0:
                bound = here[k + 1] + slack
                rivals = _find_rivals(above, here, below, k + 1, bound) | (_AT_LIMIT if bound > limit else 0)
            elif not _is_minimum(above, here, below, k + 1):
                continue
            if n == len(found):
                return -1
            found[n, 0], found[n, 1], found[n, 2] = row, place[1] + k, rivals
            n += 1
    return n


@helper
def _sweep_rows(
    products: Any, lines: Any, state: SweepState, tile: SweepTile, rows: tuple[int, int], bounds: Bounds
) -> int:
    runs, totals = state.runs, state.totals
    our_path, their_path, ours, theirs, own = tile.our_path, tile.their_path, tile.ours, tile.theirs, tile.own
    n_slots = runs.shape[1]
    pad = n_slots - 1
    half = pad - 1
    unit = 1.0 / (pad * pad)
    width = products.shape[2]
    n_cells = theirs.shape[1]
    least, flags = np.empty_like(lines[0]), np.zeros((n_cells + 17) // 8 * 8, dtype=np.uint8)
    work = Scratch(least, flags, flags.view(np.uint64))
    n_found = 0
    since = pad + 2 * half
    stop = since + n_cells
    for t in range(rows[0], rows[1]):
        row = pad + t - rows[0]
        parity = t % 2
        x, z, old_x, old_z = our_path[0, pad + t], our_path[1, pad + t], our_path[0, t], our_path[1, t]
        for k in range(3):
            now, before, gone = runs[k, t % n_slots], runs[k, (t - 1) % n_slots], runs[k, (t + 1) % n_slots]
            run, last = now[pad:], before[pad - 1 : width - 1]
            more, less = products[k, row, pad:], products[k, row - pad, : width - pad]
            if k == 0:
                _add_with_path(run, last, more, less, their_path, (x, z), (old_x, old_z))
            elif k == 1:
                _add_with_path(run, last, more, less, their_path, (-z, x), (-old_z, old_x))
            else:
                _add(run, last, more, less)
            _add(totals[k, parity, pad:], totals[k, 1 - parity, pad - 1 : width - 1], run, gone[: width - pad])
        i = t - 2 * half
        if i < 0:
            continue
        mean = (ours[0, i], ours[1, i], ours[2, i])
        of_row = (totals[0, parity, since:stop], totals[1, parity, since:stop], totals[2, parity, since:stop])
        _write_distances(lines[i % 3, 1 : 1 + n_cells], of_row, unit, mean, theirs)
        if own[0] <= i - 1 < own[1]:
            n_found = _find_row_minima(lines, state.found, tile, i - 1, bounds, work, n_found)
        if n_found >= 0 and i + 1 == ours.shape[1] and own[0] <= i < own[1]:
            lines[(i + 1) % 3] = math.inf
            n_found = _find_row_minima(lines, state.found, tile, i, bounds, work, n_found)
        if n_found < 0:
            break
    return n_found


@kernel
def sweep_rows(
    products: Floats3D, lines: Out[Floats2D], state: SweepState, tile: SweepTile, rows: tuple[int, int], bounds: Bounds
) -> int:
    """Process rows (first, stop) of the products; return how many minima are now in `state.found`.

    products : (3, half + 1 + S, half + 1 + C) dot, cross and up; the first half + 1 rows are those before.
    lines : (3, 2 + c) D of the last three rows of the tile, kept between calls.
    """
    return _sweep_rows(products, lines, state, tile, rows, bounds)


@kernel
def screen_rows(
    products: Singles3D, lines: Out[Singles2D], state: SweepState, tile: SweepTile, rows: tuple[int, int],
    bounds: Bounds,
) -> int:  # fmt: skip
    """Do the same in single precision: find all cells that may be minima, and their rivals. -1: no room."""
    limit, slack = np.float32(bounds.limit), np.float32(bounds.slack)
    return _sweep_rows(products, lines, state, tile, rows, Bounds(limit, bounds.min_lag, slack))  # type: ignore[arg-type]


# Single cells --------------------------------------------------------------------------------------------------------


@helper
def _add_pair(dots: Floats1D, crosses: Floats1D, ups: Floats1D, p: Any, q: Any, weight: float) -> None:
    """Add, per marker, the contribution of a frame pair to dot, cross and squared height difference."""
    (flat, heights), (their_flat, their_heights) = p, q
    n = len(dots)
    px, pz, qx, qz = flat[:n], flat[n:], their_flat[:n], their_flat[n:]
    for m in range(n):
        dots[m] += weight * (px[m] * qx[m] + pz[m] * qz[m])
        crosses[m] += weight * (px[m] * qz[m] - pz[m] * qx[m])
    for m in range(n):
        difference = heights[m] - their_heights[m]
        ups[m] += weight * (difference * difference)


@helper
def _measure_cell(a: Frames, b: Frames, i: int, j: int, weights: Floats1D, work: Floats2D) -> float:
    """Return D of the windows that begin at frames i and j; `work` is (3, M)."""
    work[:] = 0.0
    x0, z0, u0, v0 = a.sums[0, i], a.sums[1, i], b.sums[0, j], b.sums[1, j]
    ax = az = bx = bz = square = dot = cross = up = 0.0
    for k in range(len(weights)):
        w = weights[k]
        _add_pair(work[0], work[1], work[2], (a.flat[i + k], a.heights[i + k]), (b.flat[j + k], b.heights[j + k]), w)
        x, z, u, v = a.sums[0, i + k] - x0, a.sums[1, i + k] - z0, b.sums[0, j + k] - u0, b.sums[1, j + k] - v0
        ax += w * x
        az += w * z
        bx += w * u
        bz += w * v
        square += w * (a.sums[2, i + k] + b.sums[2, j + k] + (x * x + z * z + u * u + v * v))
        dot += w * (x * u + z * v)
        cross += w * (x * v - z * u)
    for m in range(work.shape[1]):
        dot += work[0, m]
        cross += work[1, m]
        up += work[2, m]
    square -= ax * ax + az * az + bx * bx + bz * bz
    dot -= ax * bx + az * bz
    cross -= ax * bz - az * bx
    d = (square + up) - 2.0 * math.sqrt(dot * dot + cross * cross)
    return d if d > 0.0 else 0.0


@kernel
def decide_cells(
    cells: Ints2D, a: Frames, b: Frames, begins: tuple[int, int], weights: Floats1D, limit: float, out: Out[Bools1D]
) -> None:
    """Decide whether cells (N, 3), with rivals, are minima; the frames begin at `begins` of the two clips."""
    half = len(weights) // 2
    work = np.empty((3, a.heights.shape[1]))
    for c in range(len(cells)):
        rivals = cells[c, 2]
        out[c] = True
        if rivals == 0:
            continue
        i, j = cells[c, 0] - half - begins[0], cells[c, 1] - half - begins[1]
        value = _measure_cell(a, b, i, j, weights, work)
        if value > limit:
            out[c] = False
        for bit in range(8):
            if out[c] and rivals >> bit & 1:
                place = bit if bit < 4 else bit + 1
                other = _measure_cell(a, b, i + place // 3 - 1, j + place % 3 - 1, weights, work)
                out[c] = value < other if bit < 4 else value <= other
