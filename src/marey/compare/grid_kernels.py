"""Grid kernels: compute distances from products of markers, one tile of the grid at a time.

Key: dot, cross, up = products of the markers of each frame pair, the sums of w (x x' + z z'), w (x z' - z x') and
w y y' (Kovar 4.1.1.2), relative to a center of each clip; sums (3, F) = a frame's mean x and z, and mean square,
relative to the same center. The total of a window is the weighted sum of such products along a diagonal. Frames beyond
the end of a clip add nothing; dividing by the weights of the existing frames gives the mean.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Out, helper, kernel

# Rows after which running totals are recomputed, to keep rounding errors from accumulating.
FRESH = 128


class Products(NamedTuple):
    """Products and sums of the frames starting at a tile's corner, as far as its windows extend.

    dot, cross, up : (R, C) products of frame pairs.
    a, b : (3, R), (3, C) sums of the frames of each clip.
    """

    dot: Floats2D
    cross: Floats2D
    up: Floats2D
    a: Floats2D
    b: Floats2D


class Tile(NamedTuple):
    """Which cells of the grid to compute, and how.

    corner : row and column of the grid at which the products begin.
    span : rows and columns of the cells, half-open: first row, stop row, first column, stop column.
    sizes : number of frames of both clips.
    place : row and column of the grid at which the output begins.
    weights : (2 L + 1,) weights of the window's frames.
    running : whether the weights form a triangle and each total is updated from the previous one; see `_sum_totals`.
    """

    corner: tuple[int, int]
    span: tuple[int, int, int, int]
    sizes: tuple[int, int]
    place: tuple[int, int]
    weights: Floats1D
    running: bool


class Factors(NamedTuple):
    """One clip as factors of the products, and its sums.

    flat : (F, 2 M) x and z.
    rotated : (F, 2 M) z and -x.
    heights : (F, M) y.
    sums : (3, F) as in the key above.
    """

    flat: Out[Floats2D]
    rotated: Out[Floats2D]
    heights: Out[Floats2D]
    sums: Out[Floats2D]


Lines = tuple[Floats1D, Floats1D, Floats1D]


@kernel
def fill_factors(points: Floats3D, roots: Floats1D, center: Floats1D, out: Factors) -> None:
    """Compute the factors of points (F, M, 3) relative to `center`, scaled by the root (M,) of each marker's weight."""
    flat, rotated, heights, sums = out.flat, out.rotated, out.heights, out.sums
    n_frames, n_markers = points.shape[0], points.shape[1]
    for f in range(n_frames):
        mean_x = mean_z = square = 0.0
        for m in range(n_markers):
            root = roots[m]
            x = (points[f, m, 0] - center[0]) * root
            y = (points[f, m, 1] - center[1]) * root
            z = (points[f, m, 2] - center[2]) * root
            flat[f, m] = x
            flat[f, n_markers + m] = z
            rotated[f, m] = z
            rotated[f, n_markers + m] = -x
            heights[f, m] = y
            mean_x += x * root
            mean_z += z * root
            square += x * x + y * y + z * z
        sums[0, f], sums[1, f], sums[2, f] = mean_x, mean_z, square


@kernel
def square_distances(dot: Out[Floats2D], up: Floats2D, a: Floats2D, b: Floats2D) -> None:
    """Convert `dot` to mean squared distances between the markers of frame pairs; both clips have the same center.

    Entries of `dot` beyond the last frames stay unchanged.

    dot : (R, C) weighted dot products of x and z, replaced by the distances.
    up : (R, C) weighted products of the heights.
    a, b : sums over the markers of the R and C frames.
    """
    for i in range(a.shape[1]):
        line, heights, ours, theirs = dot[i], up[i], a[2, i], b[2]
        for j in range(len(theirs)):
            line[j] = ours + theirs[j] - 2.0 * (line[j] + heights[j])


# Totals of windows ---------------------------------------------------------------------------------------------------


@helper
def _add_row(total: Floats1D, line: Floats1D, shift: int, weight: float) -> None:
    """Add weight * line[k + shift] to total[k], for all k for which both exist."""
    first, last = max(0, -shift), min(len(total), len(line) - shift)
    if first < last:
        target, given = total[first:last], line[first + shift : last + shift]
        for k in range(last - first):
            target[k] += weight * given[k]


@helper
def _add_four(total: Floats1D, product: Floats2D, row: int, shift: int, weights: Floats1D) -> None:
    """Do the same as four calls of `_add_row`, for four consecutive frames of a window, all of which must exist."""
    n = len(total)
    w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
    p0, p1 = product[row, shift : shift + n], product[row + 1, shift + 1 : shift + 1 + n]
    p2, p3 = product[row + 2, shift + 2 : shift + 2 + n], product[row + 3, shift + 3 : shift + 3 + n]
    for k in range(n):
        total[k] += (w0 * p0[k] + w1 * p1[k]) + (w2 * p2[k] + w3 * p3[k])


@helper
def _sum_windows(total: Floats1D, product: Floats2D, row: int, column: int, weights: Floats1D) -> None:
    """Write to total[k] the total of the window around (row, column + k), for all k, frame by frame."""
    half = len(weights) // 2
    total[:] = 0.0
    r, last = max(-half, -row), min(half, len(product) - 1 - row)
    while r <= last:
        if r + 3 <= last and column + r >= 0 and column + r + 3 + len(total) <= product.shape[1]:
            _add_four(total, product, row + r, column + r, weights[half + r : half + r + 4])
            r += 4
        else:
            _add_row(total, product[row + r], column + r, weights[half + r])
            r += 1


@helper
def _advance_run(new: Floats1D, old: Floats1D, coming: Floats1D, gone: Floats1D, half: int) -> None:
    """Compute new[k], the sum of half + 1 products that end in this row at column k.

    It is updated from `old`, which ended one row and one column earlier. `coming` is this row, `gone` the row half + 1
    before it; `new` and `old` extend `half` columns past the last.
    """
    n = len(coming)
    new[0] = coming[0]
    for k in range(1, half + 1):
        new[k] = old[k - 1] + coming[k]
    run, before, more, less = new[half + 1 : n], old[half : n - 1], coming[half + 1 :], gone[: n - half - 1]
    for k in range(len(run)):
        run[k] = before[k] + more[k] - less[k]
    for k in range(n, n + half):
        new[k] = old[k - 1] - gone[k - half - 1]


@helper
def _get_row(product: Floats2D, row: int, first: int, zeros: Floats1D) -> Floats1D:
    """Return a row of products; zeros before `first` and after the last row."""
    return product[row] if first <= row < len(product) else zeros


@helper
def _advance_total(new: Floats1D, old: Floats1D, coming: Floats1D, going: Floats1D, half: int) -> None:
    """Compute new[half + k], the triangle's total around column k, from `old`, one row and one column earlier."""
    new[0] = coming[0]
    head, before, more = new[1 : half + 1], old[:half], coming[1 : half + 1]
    for k in range(half):
        head[k] = before[k] + more[k]
    rest, before, more = new[half + 1 :], old[half:-1], coming[half + 1 :]
    for k in range(len(rest)):
        rest[k] = before[k] + more[k] - going[k]


@helper
def _start_total(total: Floats1D, runs: Floats2D, product: Floats2D, row: int, half: int, zeros: Floats1D) -> None:
    """Compute the sums of `half` + 1 rows ("runs") that end in rows row .. row + half, and add them up.

    The total is the sum of the rows around `row` with triangular weights.
    """
    n_slots = half + 2
    since = max(row - half, 0)
    total[:] = 0.0
    runs[(row - half - 1) % n_slots] = 0.0
    for s in range(row - half, row + half + 1):
        run, before = runs[s % n_slots], runs[(s - 1) % n_slots]
        _advance_run(
            run, before, _get_row(product, s, since, zeros), _get_row(product, s - half - 1, since, zeros), half
        )
        if s >= row:
            _add_row(total, run, s - row - half, 1.0)


class RunningTotals(NamedTuple):
    """State for computing the totals of one product from row to row.

    runs : (L + 2, C + L) sums of L + 1 products along the diagonal, or (0, ...) to add each frame separately.
    totals : (2, C + L) totals of this row and the previous one.
    zeros : (C,) zeros.
    """

    runs: Out[Floats2D]
    totals: Out[Floats2D]
    zeros: Floats1D


@helper
def _sum_totals(
    product: Floats2D, row: int, column: int, weights: Floats1D, fresh: bool, running: RunningTotals, parity: int
) -> Floats1D:
    """Return the totals of the windows around (row, column + k) for all k: a view of one of `running.totals`.

    Without runs, each frame is added separately. With runs, totals use integer weights 1, 2, ... and are updated from
    the previous row, unless `fresh`; the time then does not depend on the window.
    """
    runs, totals, zeros = running.runs, running.totals, running.zeros
    half, n_slots = len(weights) // 2, len(runs)
    now: Floats1D = totals[parity]
    if n_slots == 0:
        view: Floats1D = now[: product.shape[1] - column]
        _sum_windows(view, product, row, column, weights)
        return view
    if fresh:
        _start_total(now, runs, product, row, half, zeros)
    else:
        last = row + half
        run, before = runs[last % n_slots], runs[(last - 1) % n_slots]
        _advance_run(run, before, _get_row(product, last, 0, zeros), _get_row(product, row - 1, 0, zeros), half)
        _advance_total(now, totals[1 - parity], run, runs[(row - 1) % n_slots], half)
    rest: Floats1D = now[half + column :]
    return rest


# Rows of the grid ----------------------------------------------------------------------------------------------------


@helper
def _average_window(sums: Floats2D, frame: int, weights: Floats1D, back: int, forth: int, out: Floats1D) -> None:
    """Write to `out` the mean x, mean z and spread of a window from `back` frames before to `forth` after a frame."""
    half = len(weights) // 2
    total = x = z = q = 0.0
    for r in range(-back, forth + 1):
        w = weights[half + r]
        total += w
        x += w * sums[0, frame + r]
        z += w * sums[1, frame + r]
        q += w * sums[2, frame + r]
    x, z = x / total, z / total
    out[0], out[1], out[2] = x, z, q / total - x * x - z * z


@helper
def _write_prefixes(sums: Floats2D, frame: int, weights: Floats1D, back: int, forth: int, out: Floats2D) -> None:
    """Write prefix sums of a window's weights and of its weighted x, z and q to `out` (4, 2 L + 2).

    frame : the window's middle frame.
    back, forth : how many of its frames exist before and after the middle one.
    """
    half = len(weights) // 2
    out[:] = 0.0
    for r in range(-half, half + 1):
        k = half + r
        inside = -back <= r <= forth
        w = weights[k] if inside else 0.0
        out[0, k + 1] = out[0, k] + w
        for c in range(3):
            out[c + 1, k + 1] = out[c + 1, k] + (w * sums[c, frame + r] if inside else 0.0)


@helper
def _measure_edge_cell(
    totals: tuple[float, float, float], unit: float, ours: Floats2D, theirs: Floats1D, low: int, high: int
) -> float:
    """Return D of a cell whose window is cut by both clips; `ours` are prefix sums, `theirs` means and spread.

    totals : sums over the window of dot products, cross products and products of heights.
    unit : factor of these sums.
    low, high : columns of `ours` between which the window lies.
    """
    dots, crosses, ups = totals
    total = ours[0, high] - ours[0, low]
    x, z = (ours[1, high] - ours[1, low]) / total, (ours[2, high] - ours[2, low]) / total
    spread = (ours[3, high] - ours[3, low]) / total - x * x - z * z
    unit /= total
    p = dots * unit - (x * theirs[0] + z * theirs[1])
    q = crosses * unit - (x * theirs[1] - z * theirs[0])
    d = spread + theirs[2] - 2.0 * (ups * unit + math.sqrt(p * p + q * q))
    return d if d > 0.0 else 0.0


@helper
def _write_middle(line: Floats1D, totals: Lines, unit: float, ours: Floats1D, theirs: Lines) -> None:
    """Write D of the cells of a row whose windows are not cut by an end of clip b.

    totals : lines of the totals of dot, cross and up. unit : factor of the totals.
    ours : mean x, mean z and spread of the row's window. theirs : lines of the same for the windows of the columns.
    """
    (dots, crosses, ups), (bx, bz, spreads) = totals, theirs
    x, z, spread = ours[0], ours[1], ours[2]
    for k in range(len(line)):
        p = dots[k] * unit - (x * bx[k] + z * bz[k])
        q = crosses[k] * unit - (x * bz[k] - z * bx[k])
        d = (spread + spreads[k]) - 2.0 * (ups[k] * unit + math.sqrt(p * p + q * q))
        line[k] = d if d > 0.0 else 0.0


@kernel
def fill_aligned_rows(products: Products, tile: Tile, out: Out[Floats2D]) -> None:
    """Write D of the tile's cells to `out`, aligning each pair of windows first."""
    write_aligned_rows(products, tile, out)


@helper
def write_aligned_rows(products: Products, tile: Tile, out: Floats2D) -> None:
    """Do the same as `fill_aligned_rows`, for other kernels."""
    dot, cross, up, a, b = products
    weights, corner, running = tile.weights, tile.corner, tile.running
    half = len(weights) // 2
    start, stop, first, last = tile.span
    n_a, n_b = tile.sizes
    column = first - corner[1]
    n, n_columns = last - first, dot.shape[1]
    low = min(max(half - first, 0), n)
    high = max(min(n_b - half, last) - first, low)
    runs = np.empty((3, half + 2 if running else 0, n_columns + half))
    totals, zeros = np.empty((3, 2, n_columns + half)), np.zeros(n_columns)
    of_dot, of_cross = RunningTotals(runs[0], totals[0], zeros), RunningTotals(runs[1], totals[1], zeros)
    of_up = RunningTotals(runs[2], totals[2], zeros)
    bx, bz, spreads = np.empty(n), np.empty(n), np.empty(n)
    ours, mean, theirs = np.empty((4, 2 * half + 2)), np.empty(3), np.empty(3)
    whole = float((half + 1) ** 2) if running else 1.0
    had_back, had_forth = -1, -1
    total = 1.0
    for i in range(start, stop):
        row, parity = i - corner[0], i % 2
        fresh = (i - start) % FRESH == 0
        dots = _sum_totals(dot, row, column, weights, fresh, of_dot, parity)
        crosses = _sum_totals(cross, row, column, weights, fresh, of_cross, parity)
        ups = _sum_totals(up, row, column, weights, fresh, of_up, parity)
        back, forth = min(half, i), min(half, n_a - 1 - i)
        if back != had_back or forth != had_forth:
            had_back, had_forth = back, forth
            total = 0.0
            for k in range(half - back, half + forth + 1):
                total += weights[k]
            for k in range(n):
                j = first + k
                _average_window(b, column + k, weights, min(back, j), min(forth, n_b - 1 - j), theirs)
                bx[k], bz[k], spreads[k] = theirs[0], theirs[1], theirs[2]
        line = out[i - tile.place[0], first - tile.place[1] : last - tile.place[1]]
        _average_window(a, row, weights, back, forth, mean)
        middle = (dots[low:high], crosses[low:high], ups[low:high])
        _write_middle(
            line[low:high], middle, 1.0 / (whole * total), mean, (bx[low:high], bz[low:high], spreads[low:high])
        )
        if low > 0 or high < n:
            _write_prefixes(a, row, weights, back, forth, ours)
        for part in range(2):
            for k in range(0 if part == 0 else high, low if part == 0 else n):
                j = first + k
                theirs[0], theirs[1], theirs[2] = bx[k], bz[k], spreads[k]
                begin, end = half - min(back, j), half + min(forth, n_b - 1 - j) + 1
                line[k] = _measure_edge_cell((dots[k], crosses[k], ups[k]), 1.0 / whole, ours, theirs, begin, end)


@kernel
def fill_fixed_rows(square: Floats2D, tile: Tile, out: Out[Floats2D]) -> None:
    """Write D of the tile's cells without alignment; `square` holds the mean squared distances between the markers."""
    weights, corner, running = tile.weights, tile.corner, tile.running
    half = len(weights) // 2
    start, stop, first, last = tile.span
    n_a, n_b = tile.sizes
    n_columns = square.shape[1]
    runs = np.empty((half + 2 if running else 0, n_columns + half))
    of_square = RunningTotals(runs, np.empty((2, n_columns + half)), np.zeros(n_columns))
    whole = float((half + 1) ** 2) if running else 1.0
    prefix = np.zeros(2 * half + 2)
    for k in range(2 * half + 1):
        prefix[k + 1] = prefix[k] + weights[k]
    for i in range(start, stop):
        fresh = (i - start) % FRESH == 0
        totals = _sum_totals(square, i - corner[0], first - corner[1], weights, fresh, of_square, i % 2)
        line = out[i - tile.place[0], first - tile.place[1] : last - tile.place[1]]
        back, forth = min(half, i), min(half, n_a - 1 - i)
        for k in range(last - first):
            j = first + k
            low, high = half - min(back, j), half + min(forth, n_b - 1 - j) + 1
            line[k] = max(totals[k] / (whole * (prefix[high] - prefix[low])), 0.0)
