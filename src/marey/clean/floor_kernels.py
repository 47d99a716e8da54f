"""Floor detection kernels: levels among sorted heights, where feet stand, and planes through these places."""

from __future__ import annotations

import math

import numpy as np

from marey.compiled import Bools2D, Floats1D, Floats2D, Floats3D, Ints1D, Out, helper, kernel


@kernel
def find_lowest_level(heights: Floats1D, width: float, needed: int) -> float:
    """Return the lowest value around which at least `needed` of the sorted `heights` lie within `width`; NaN if none.

    Start with the lowest window that has enough heights, and move it up by at most its width to where it has the
    most. This skips stragglers below the level.
    """
    n = heights.shape[0]
    first = 0
    while first + needed <= n and heights[first + needed - 1] - heights[first] > width:
        first += 1
    if first + needed > n:
        return np.nan
    best, best_stop, max_count, stop = first, first + needed, 0, first
    for start in range(first, n):
        if heights[start] > heights[first] + width:
            break
        while stop < n and heights[stop] <= heights[start] + width:
            stop += 1
        if stop - start > max_count:
            best, best_stop, max_count = start, stop, stop - start
    middle = best + best_stop
    return float(0.5 * (heights[(middle - 1) // 2] + heights[middle // 2]))


@helper
def _find_first_from(values: Floats1D, bound: float) -> int:
    """Return the index of the first of the sorted `values` that is at least `bound`."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < bound:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def measure_level(
    heights: Floats1D, low: float, high: float, width: float, needed: int, quantiles: Out[Floats1D]
) -> bool:
    """Write the 10th and 25th percentile and the median of the sorted `heights` around their lowest level, if any.

    Return whether there is a level. Only heights from `low` to `high` count, within `width` of the level from
    `find_lowest_level`.
    """
    near = heights[_find_first_from(heights, low) : _find_first_from(heights, high)]
    level = find_lowest_level(near, width, needed)
    if np.isnan(level):
        return False
    start, stop = _find_first_from(near, level - width), _find_first_from(near, level + width)
    for i in range(3):
        quantiles[i] = near[start + (stop - start) * (2, 5, 10)[i] // 20]
    return True


@kernel
def find_stands(still: Bools2D, paths: Floats3D, columns: Ints1D, shortest: int, stands: Out[Floats2D]) -> int:
    """Write the stands of points: runs of at least `shortest` frames in which a point is `still` (F, K).

    paths : (F, K, 3). columns : the points that count. stands : rows of the mean position, the time in frames and the
    point; needs ``len(columns) * (F // shortest + 1)`` rows. Return the number of stands.
    """
    n_frames, n = still.shape[0], 0
    for c in range(len(columns)):
        k, start = columns[c], -1
        for f in range(n_frames + 1):
            if f < n_frames and still[f, k]:
                start = f if start < 0 else start
                continue
            if start >= 0 and f - start >= shortest:
                for axis in range(3):
                    total = paths[start, k, axis]
                    for i in range(start + 1, f):
                        total += paths[i, k, axis]
                    stands[n, axis] = total / (f - start)
                stands[n, 3], stands[n, 4] = 0.5 * (start + f), k
                n += 1
            start = -1
    return n


@kernel
def drop_raised(still: Out[Bools2D], paths: Floats3D, mains: Ints1D, feet: Ints1D, raised: float, slope: float) -> None:
    """Clear the frames in which a foot is `still` (F, K) in the air while the other one stands.

    mains : (2,) the point that shows whether a foot stands, left and right.
    feet : (K,) foot of each point: 0, 1, or -1.
    raised, slope : a foot is in the air if it is higher than the other by `raised` meters plus `slope` times their
    horizontal distance.
    """
    for f in range(still.shape[0]):
        for side in range(2):
            k, other = mains[side], mains[1 - side]
            if not still[f, other]:
                continue
            apart = np.hypot(paths[f, k, 0] - paths[f, other, 0], paths[f, k, 2] - paths[f, other, 2])
            if paths[f, k, 1] - paths[f, other, 1] > raised + slope * apart:
                for point in range(still.shape[1]):
                    if feet[point] == side:
                        still[f, point] = False


@helper
def _sum_products(terms: Floats2D, heights: Floats1D, weights: Floats1D, square: Floats2D, right: Floats1D) -> None:
    """Write the normal equations (m, m) and (m,) of a weighted fit of heights (n,) to terms (n, m)."""
    m = terms.shape[1]
    square[:] = 0.0
    right[:] = 0.0
    for i in range(terms.shape[0]):
        for a in range(m):
            weighted = weights[i] * terms[i, a]
            if weighted != 0.0:
                right[a] += weighted * heights[i]
                for b in range(a + 1):
                    square[a, b] += weighted * terms[i, b]


@helper
def _factorize(square: Floats2D) -> None:
    """Replace the lower triangle (m, m) of a positive definite matrix by its Cholesky factor.

    Rows that are zero, of terms without any weight, stay zero.
    """
    for a in range(square.shape[0]):
        for b in range(a + 1):
            total = square[a, b]
            for c in range(b):
                total -= square[a, c] * square[b, c]
            if a == b:
                square[a, a] = math.sqrt(max(total, 0.0))
            else:
                square[a, b] = total / square[b, b] if square[b, b] > 0.0 else 0.0


@helper
def _solve(factor: Floats2D, values: Floats1D) -> None:
    """Replace the right side (m,) by the solution, for a factor of `_factorize`; 0 for rows that are zero."""
    m = factor.shape[0]
    for a in range(m):
        for b in range(a):
            values[a] -= factor[a, b] * values[b]
        values[a] = values[a] / factor[a, a] if factor[a, a] > 0.0 else 0.0
    for a in range(m - 1, -1, -1):
        for b in range(a + 1, m):
            values[a] -= factor[b, a] * values[b]
        values[a] = values[a] / factor[a, a] if factor[a, a] > 0.0 else 0.0


@kernel
def weigh_stands(
    terms: Floats2D, heights: Floats1D, outlier: float, rounds: int, converged: float, weights: Out[Floats1D]
) -> bool:
    """Write the weights (n,) of a robust fit of heights (n,) to terms (n, m): rounds of least absolute values, then
    rounds with Tukey's weights.

    outlier : distance from the fit, in meters, at which Tukey's weight is 0.
    rounds : maximum number of rounds of each kind.
    converged : Tukey's rounds end when no weight changes by this much.
    Returns False if all weights are 0.
    """
    n, m = terms.shape
    square, values = np.empty((m, m)), np.empty(m)
    weights[:] = 1.0
    for i in range(2 * rounds):
        _sum_products(terms, heights, weights, square, values)
        trace = 0.0
        for a in range(m):
            trace += square[a, a]
        for a in range(m):
            # Stands in one line do not determine the slope across it, which this keeps near 0.
            square[a, a] += 1e-9 * trace
        _factorize(square)
        _solve(square, values)
        change, largest = 0.0, 0.0
        for k in range(n):
            off = heights[k]
            for a in range(m):
                off -= terms[k, a] * values[a]
            weight = 1.0 / max(abs(off), 1e-3)
            if i >= rounds:
                share = max(1.0 - (off / outlier) * (off / outlier), 0.0)
                weight = share * share
            change, largest = max(change, abs(weight - weights[k])), max(largest, weight)
            weights[k] = weight
        if not largest > 0.0:
            return False
        if i > rounds and change < converged:
            break
    return True


@kernel
def fit_stands(
    terms: Floats2D,
    heights: Floats1D,
    weights: Floats1D,
    noise: float,
    prior: Floats1D,
    values: Out[Floats1D],
    spread: Out[Floats2D],
) -> float:
    """Fit heights (n,) to terms (n, m): write the coefficients (m,) and their covariance (m, m); return the
    root-mean-square residue in meters.

    noise : minimum scatter of the heights. prior : (m,) added to the diagonal of the normal equations.
    """
    n, m = terms.shape
    square, right, scatter, residue = np.empty((m, m)), np.empty(m), noise, 0.0
    for _ in range(2):
        _sum_products(terms, heights, weights, square, right)
        for a in range(m):
            right[a] /= scatter * scatter
            for b in range(a + 1):
                square[a, b] /= scatter * scatter
            square[a, a] += prior[a]
        _factorize(square)
        for a in range(m):
            values[a] = right[a]
        _solve(square, values)
        spread[:] = 0.0
        for a in range(m):
            if square[a, a] > 0.0:
                spread[a, a] = 1.0
                _solve(square, spread[a])
        total, sum_weights = 0.0, 0.0
        for k in range(n):
            off = heights[k]
            for a in range(m):
                off -= terms[k, a] * values[a]
            total += weights[k] * off * off
            sum_weights += weights[k]
        residue = math.sqrt(total / sum_weights)
        scatter = max(residue, noise)
    return residue
