"""Compiled: from products of markers to distances, a tile of the grid at a time.

Key: dot, cross, up = products of the markers of each frame pair, sum of w (x x' + z z'), w (x z' - z x') and w y y'
(Kovar 4.1.1.2), about a centre of each clip's own; sums (3, F) = a frame's mean x and z, and mean square, about the
same. A window's total is the weighted sum along a diagonal of such products, nothing being added for frames beyond a
clip's end: dividing by the weights of the frames that exist then gives the mean.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel

# Rows after which totals that follow from one another are added up afresh, so that rounding does not pile up.
FRESH = 128


@kernel
def side(points: Any, roots: Any, centre: Any, flat: Any, turned: Any, heights: Any, sums: Any) -> None:
    """One clip as factors of the products: x and z into flat (F, 2 M), z and -x into turned, y into heights (F, M).

    points (F, M, 3) are taken about `centre`, each times the root of its marker's weight; sums (3, F) as above.
    """
    n_frames, n_markers = points.shape[0], points.shape[1]
    for f in range(n_frames):
        mean_x = mean_z = square = 0.0
        for m in range(n_markers):
            root = roots[m]
            x = (points[f, m, 0] - centre[0]) * root
            y = (points[f, m, 1] - centre[1]) * root
            z = (points[f, m, 2] - centre[2]) * root
            flat[f, m] = x
            flat[f, n_markers + m] = z
            turned[f, m] = z
            turned[f, n_markers + m] = -x
            heights[f, m] = y
            mean_x += x * root
            mean_z += z * root
            square += x * x + y * y + z * z
        sums[0, f], sums[1, f], sums[2, f] = mean_x, mean_z, square


@kernel
def squared(dot: Any, up: Any, a: Any, b: Any) -> None:
    """In `dot`, the mean squared distances between the markers of frame pairs, where both clips have one centre.

    What `dot` has beyond the last frames stays as it is.
    """
    for i in range(a.shape[1]):
        line, heights, ours, theirs = dot[i], up[i], a[2, i], b[2]
        for j in range(len(theirs)):
            line[j] = ours + theirs[j] - 2.0 * (line[j] + heights[j])


# Totals of windows ---------------------------------------------------------------------------------------------------


@inner
def _add_row(total: Any, line: Any, shift: int, weight: float) -> None:
    """total[k] += weight line[k + shift], for those k that exist in both."""
    first, last = max(0, -shift), min(len(total), len(line) - shift)
    if first < last:
        into, given = total[first:last], line[first + shift : last + shift]
        for k in range(last - first):
            into[k] += weight * given[k]


@inner
def _add_four(total: Any, product: Any, row: int, shift: int, weights: Any) -> None:
    """The same for four frames of a window that follow one another, where all of these exist."""
    n = len(total)
    w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
    p0, p1 = product[row, shift : shift + n], product[row + 1, shift + 1 : shift + 1 + n]
    p2, p3 = product[row + 2, shift + 2 : shift + 2 + n], product[row + 3, shift + 3 : shift + 3 + n]
    for k in range(n):
        total[k] += (w0 * p0[k] + w1 * p1[k]) + (w2 * p2[k] + w3 * p3[k])


@inner
def _whole_total(total: Any, product: Any, row: int, column: int, weights: Any) -> None:
    """total[k] of the windows about (row, column + k), frame by frame."""
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


@inner
def _next_run(new: Any, old: Any, coming: Any, gone: Any, half: int) -> None:
    """new[k]: the sum of half + 1 products that end in this row at k, from old, which ended a row and column before.

    coming is this row, gone the one half + 1 before it; new and old reach `half` beyond its last column.
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


@inner
def _row(product: Any, row: int, first: int, nothing: Any) -> Any:
    """A row of products, or nothing but zeros before `first` and after the last."""
    return product[row] if first <= row < len(product) else nothing


@inner
def _next_total(new: Any, old: Any, coming: Any, going: Any, half: int) -> None:
    """new[half + k]: the triangle's total about column k, from old, which was about one row and one column before."""
    new[0] = coming[0]
    head, before, more = new[1 : half + 1], old[:half], coming[1 : half + 1]
    for k in range(half):
        head[k] = before[k] + more[k]
    rest, before, more = new[half + 1 :], old[half:-1], coming[half + 1 :]
    for k in range(len(rest)):
        rest[k] = before[k] + more[k] - going[k]


@inner
def _first_total(total: Any, runs: Any, product: Any, row: int, half: int, nothing: Any) -> None:
    """Runs that end in rows row .. row + half, and the triangle's total about `row` that they add up to."""
    n_slots = half + 2
    since = max(row - half, 0)
    total[:] = 0.0
    runs[(row - half - 1) % n_slots] = 0.0
    for s in range(row - half, row + half + 1):
        run, before = runs[s % n_slots], runs[(s - 1) % n_slots]
        _next_run(run, before, _row(product, s, since, nothing), _row(product, s - half - 1, since, nothing), half)
        if s >= row:
            _add_row(total, run, s - row - half, 1.0)


@inner
def _totals(
    product: Any, row: int, column: int, weights: Any, fresh: bool, nothing: Any, runs: Any, totals: Any, turn: int
) -> Any:
    """Totals of the windows about (row, column + k) for all k, a view of one of `totals` (2, C + half).

    Without `runs` (0, ...) each frame is added by itself. With them (half + 2, C + half), totals are those of the whole
    numbers 1, 2 ... for weights and follow from those of the row before, unless `fresh`: as fast for any window.
    """
    half, n_slots = len(weights) // 2, len(runs)
    now = totals[turn]
    if n_slots == 0:
        view = now[: product.shape[1] - column]
        _whole_total(view, product, row, column, weights)
        return view
    if fresh:
        _first_total(now, runs, product, row, half, nothing)
    else:
        last = row + half
        run, before = runs[last % n_slots], runs[(last - 1) % n_slots]
        _next_run(run, before, _row(product, last, 0, nothing), _row(product, row - 1, 0, nothing), half)
        _next_total(now, totals[1 - turn], run, runs[(row - 1) % n_slots], half)
    return now[half + column :]


# Rows of the grid ----------------------------------------------------------------------------------------------------


@inner
def _means(sums: Any, frame: int, weights: Any, back: int, forth: int, out: Any) -> None:
    """out: mean x, mean z and spread of the window about one frame, cut to `back` and `forth` frames."""
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


@inner
def _prefixes(sums: Any, frame: int, weights: Any, back: int, forth: int, out: Any) -> None:
    """out (4, 2 L + 2): weights, and weighted x, z, q, of a window's frames before each of its places."""
    half = len(weights) // 2
    out[:] = 0.0
    for r in range(-half, half + 1):
        k = half + r
        inside = -back <= r <= forth
        w = weights[k] if inside else 0.0
        out[0, k + 1] = out[0, k] + w
        for c in range(3):
            out[c + 1, k + 1] = out[c + 1, k] + (w * sums[c, frame + r] if inside else 0.0)


@inner
def _edge_cell(
    dots: float, crosses: float, ups: float, unit: float, ours: Any, theirs: Any, low: int, high: int
) -> Any:
    """D of a cell whose window is cut at a's ends and at b's: ours are prefixes, theirs means and spread."""
    total = ours[0, high] - ours[0, low]
    x, z = (ours[1, high] - ours[1, low]) / total, (ours[2, high] - ours[2, low]) / total
    spread = (ours[3, high] - ours[3, low]) / total - x * x - z * z
    unit /= total
    p = dots * unit - (x * theirs[0] + z * theirs[1])
    q = crosses * unit - (x * theirs[1] - z * theirs[0])
    d = spread + theirs[2] - 2.0 * (ups * unit + math.sqrt(p * p + q * q))
    return d if d > 0.0 else 0.0


@inner
def _middle(
    line: Any, dots: Any, crosses: Any, ups: Any, unit: float, ours: Any, bx: Any, bz: Any, spreads: Any
) -> None:
    """D of the cells of a row whose windows b does not cut."""
    x, z, spread = ours[0], ours[1], ours[2]
    for k in range(len(line)):
        p = dots[k] * unit - (x * bx[k] + z * bz[k])
        q = crosses[k] * unit - (x * bz[k] - z * bx[k])
        d = (spread + spreads[k]) - 2.0 * (ups[k] * unit + math.sqrt(p * p + q * q))
        line[k] = d if d > 0.0 else 0.0


@kernel
def aligned_rows(
    dot: Any,
    cross: Any,
    up: Any,
    a: Any,
    b: Any,
    corner: Any,
    span: Any,
    sizes: Any,
    weights: Any,
    running: bool,
    out: Any,
    place: Any,
) -> None:
    """D of the cells of `span` (first row, beyond the last, first column, beyond the last) into out.

    dot, cross, up : (R, C) products of frames from `corner` (row, column) on, which reach as far as the windows do.
    a (3, R), b (3, C) : sums of the same frames.
    sizes : frames of both clips.
    running : the weights are a triangle's, and totals may follow from one another; see `_totals`.
    place : the row and column of the grid at which `out` begins.
    """
    half = len(weights) // 2
    start, stop, first, last = span
    n_a, n_b = sizes
    column = first - corner[1]
    n, n_columns = last - first, dot.shape[1]
    low = min(max(half - first, 0), n)
    high = max(min(n_b - half, last) - first, low)
    runs = np.empty((3, half + 2 if running else 0, n_columns + half))
    totals, nothing = np.empty((3, 2, n_columns + half)), np.zeros(n_columns)
    bx, bz, spreads = np.empty(n), np.empty(n), np.empty(n)
    ours, mean, theirs = np.empty((4, 2 * half + 2)), np.empty(3), np.empty(3)
    whole = float((half + 1) ** 2) if running else 1.0
    had_back, had_forth = -1, -1
    total = 1.0
    for i in range(start, stop):
        row, turn = i - corner[0], i % 2
        fresh = (i - start) % FRESH == 0
        dots = _totals(dot, row, column, weights, fresh, nothing, runs[0], totals[0], turn)
        crosses = _totals(cross, row, column, weights, fresh, nothing, runs[1], totals[1], turn)
        ups = _totals(up, row, column, weights, fresh, nothing, runs[2], totals[2], turn)
        back, forth = min(half, i), min(half, n_a - 1 - i)
        if back != had_back or forth != had_forth:
            had_back, had_forth = back, forth
            total = weights[half - back : half + forth + 1].sum()
            for k in range(n):
                j = first + k
                _means(b, column + k, weights, min(back, j), min(forth, n_b - 1 - j), theirs)
                bx[k], bz[k], spreads[k] = theirs
        line = out[i - place[0], first - place[1] : last - place[1]]
        _means(a, row, weights, back, forth, mean)
        _middle(
            line[low:high], dots[low:high], crosses[low:high], ups[low:high], 1.0 / (whole * total), mean,
            bx[low:high], bz[low:high], spreads[low:high],
        )  # fmt: skip
        if low > 0 or high < n:
            _prefixes(a, row, weights, back, forth, ours)
        for part in range(2):
            for k in range(0 if part == 0 else high, low if part == 0 else n):
                j = first + k
                theirs[0], theirs[1], theirs[2] = bx[k], bz[k], spreads[k]
                begin, end = half - min(back, j), half + min(forth, n_b - 1 - j) + 1
                line[k] = _edge_cell(dots[k], crosses[k], ups[k], 1.0 / whole, ours, theirs, begin, end)


@kernel
def fixed_rows(
    square: Any, corner: Any, span: Any, sizes: Any, weights: Any, running: bool, out: Any, place: Any
) -> None:
    """The same without alignment: `square` holds the mean squared distances between the frames' markers."""
    half = len(weights) // 2
    start, stop, first, last = span
    n_a, n_b = sizes
    n_columns = square.shape[1]
    runs = np.empty((half + 2 if running else 0, n_columns + half))
    totals, nothing = np.empty((2, n_columns + half)), np.zeros(n_columns)
    whole = float((half + 1) ** 2) if running else 1.0
    prefix = np.zeros(2 * half + 2)
    prefix[1:] = np.cumsum(weights)
    for i in range(start, stop):
        fresh = (i - start) % FRESH == 0
        found = _totals(square, i - corner[0], first - corner[1], weights, fresh, nothing, runs, totals, i % 2)
        line = out[i - place[0], first - place[1] : last - place[1]]
        back, forth = min(half, i), min(half, n_a - 1 - i)
        for k in range(last - first):
            j = first + k
            low, high = half - min(back, j), half + min(forth, n_b - 1 - j) + 1
            line[k] = max(found[k] / (whole * (prefix[high] - prefix[low])), 0.0)
