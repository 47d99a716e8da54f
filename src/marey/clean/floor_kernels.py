"""Floor detection kernels: levels among sorted heights, and where feet stand."""

from __future__ import annotations

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
    """Return the index of the first of the sorted `values` that is not below `bound`."""
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
