"""Find the part of a grid that two motions have in common."""

from __future__ import annotations

import numpy as np

from marey.compiled import Floats2D, Ints2D, kernel


@kernel
def find_shared_path(gain: Floats2D, limit: int) -> tuple[Ints2D, float]:
    """Return the cells (N, 2) of the path from border to border with the largest total gain, and that gain.

    A path may begin in the first row or column and end in the last row or column. Its moves are (r, 1) or (1, r), with
    r up to `limit`. The gain of a move is the mean gain of the cells that it enters, times its duration, averaged over
    both motions; a staircase therefore gains no more than a diagonal.

    gain : (R, C) gain of each cell.
    """
    rows, columns = gain.shape
    best = np.full((rows, columns), -np.inf)
    came = np.zeros((rows, columns), np.int64)  # r for a move (r, 1), -r for (1, r), 0 where a path begins
    for i in range(rows):
        for j in range(columns):
            if i == 0 or j == 0:
                best[i, j] = gain[i, j]
                continue
            entered = 0.0
            for r in range(1, min(limit, i) + 1):
                entered += gain[i - r + 1, j]
                value = best[i - r, j - 1] + entered * (r + 1) / (2 * r)
                if value > best[i, j]:
                    best[i, j] = value
                    came[i, j] = r
            entered = gain[i, j]
            for r in range(2, min(limit, j) + 1):
                entered += gain[i, j - r + 1]
                value = best[i - 1, j - r] + entered * (r + 1) / (2 * r)
                if value > best[i, j]:
                    best[i, j] = value
                    came[i, j] = -r
    end_i, end_j = rows - 1, columns - 1
    for i in range(rows):
        if best[i, columns - 1] > best[end_i, end_j]:
            end_i, end_j = i, columns - 1
    for j in range(columns):
        if best[rows - 1, j] > best[end_i, end_j]:
            end_i, end_j = rows - 1, j
    cells = np.empty((rows + columns, 2), np.int64)
    n = 0
    i, j = end_i, end_j
    while True:
        cells[n, 0] = i
        cells[n, 1] = j
        n += 1
        step = came[i, j]
        if step == 0:
            break
        if step > 0:
            i -= step
            j -= 1
        else:
            i -= 1
            j += step
    return cells[:n][::-1].copy(), best[end_i, end_j]
