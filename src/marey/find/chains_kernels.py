"""Join marked cells into chains, and connect chains by bridges; see `region` for the terms.

A straight step is a horizontal or vertical one. Paths never take two straight steps in succession.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.compiled import Floats3D, Int32s2D, Ints1D, Ints2D, Ints3D, UInt8s2D, UInt16s2D, helper, kernel
from marey.find.region_kernels import CHAIN, VALID

# The last step of a path to a cell: none (the path begins there), diagonal, from above, from the left.
BEGIN, DIAGONAL, DOWN, RIGHT = 0, 1, 2, 3


@helper
def _measure_chains(marks: UInt8s2D, length: Any, come: Any) -> None:
    """Compute the longest chain that ends at each cell; a straight step must follow a diagonal step or the beginning.

    length : (2, R, C) receives its Manhattan length if its last step is diagonal or none (0), or straight (1); -1 if
        there is no such chain.
    come : (2, R, C) receives its last step.
    marks : (R, C) bits of the cells.
    """
    n_rows, n_columns = marks.shape
    for i in range(n_rows):
        for j in range(n_columns):
            length[0, i, j], length[1, i, j], come[0, i, j], come[1, i, j] = -1, -1, BEGIN, BEGIN
            if marks[i, j] & CHAIN == 0:
                continue
            length[0, i, j] = 0
            if i > 0 and j > 0 and length[0, i - 1, j - 1] >= 0:
                length[0, i, j] = max(length[0, i - 1, j - 1], length[1, i - 1, j - 1]) + 2
                come[0, i, j] = DIAGONAL
            if i > 0 and length[0, i - 1, j] >= 0:
                length[1, i, j], come[1, i, j] = length[0, i - 1, j] + 1, DOWN
            if j > 0 and length[0, i, j - 1] >= length[1, i, j]:
                length[1, i, j], come[1, i, j] = length[0, i, j - 1] + 1, RIGHT


@helper
def _sort_longest_first(length: Any) -> Ints1D:
    """Return row-major indices of the cells where chains end, longest chain first; ties by index."""
    _, n_rows, n_columns = length.shape
    first = np.zeros(n_rows + n_columns + 1, np.int64)
    for i in range(n_rows):
        for j in range(n_columns):
            longest = max(length[0, i, j], length[1, i, j])
            if longest >= 0:
                first[longest] += 1
    n = 0
    for longest in range(len(first) - 1, -1, -1):
        n, first[longest] = n + first[longest], n
    order = np.empty(n, np.int64)
    for i in range(n_rows):
        for j in range(n_columns):
            longest = max(length[0, i, j], length[1, i, j])
            if longest >= 0:
                order[first[longest]] = i * n_columns + j
                first[longest] += 1
    return order


@kernel
def find_chains(marks: UInt8s2D, min_length: int) -> tuple[Int32s2D, Ints2D, Ints1D]:
    """Find disjoint chains with a Manhattan length of at least `min_length`, longest first.

    Returns
    -------
    owner : (R, C) int32, index of the chain that each cell is on, or -1.
    cells : (N, 2) row and column of the cells of one chain after another.
    ends : (K,) index in `cells` at which each of K chains ends, exclusive.
    """
    n_rows, n_columns = marks.shape
    length, come = np.empty((2, n_rows, n_columns), np.int32), np.empty((2, n_rows, n_columns), np.uint8)
    _measure_chains(marks, length, come)
    owner = np.full((n_rows, n_columns), -1, np.int32)
    order = _sort_longest_first(length)
    cells, ends = np.empty((len(order), 2), np.int64), np.empty(len(order), np.int64)
    n = m = 0
    for place in order:
        i, j = place // n_columns, place % n_columns
        state = 1 if length[1, i, j] > length[0, i, j] else 0
        begin = m
        i0, j0 = i, j
        while owner[i, j] < 0:
            owner[i, j] = n
            cells[m, 0], cells[m, 1] = i, j
            m += 1
            i0, j0 = i, j
            step = come[state, i, j]
            if step == BEGIN:
                break
            i, j = i - (step != RIGHT), j - (step != DOWN)
            # A straight step is preceded by a diagonal one, a diagonal step by whichever gives the longer chain.
            state = 0 if step != DIAGONAL or length[0, i, j] >= length[1, i, j] else 1
        if m == begin:
            continue
        if cells[begin, 0] + cells[begin, 1] - i0 - j0 < min_length:
            for k in range(begin, m):
                owner[cells[k, 0], cells[k, 1]] = -1
            m = begin
            continue
        _reverse(cells, begin, m)
        ends[n] = m
        n += 1
    return owner, cells[:m].copy(), ends[:n].copy()


@helper
def _reverse(cells: Ints2D, begin: int, end: int) -> None:
    """Reverse the order of rows `begin` to `end`, half-open."""
    for k in range((end - begin) // 2):
        a, b = begin + k, end - 1 - k
        cells[a, 0], cells[a, 1], cells[b, 0], cells[b, 1] = cells[b, 0], cells[b, 1], cells[a, 0], cells[a, 1]


@helper
def _make_room(rows: Ints2D, n: int) -> Ints2D:
    """Return an array with room for another row after the first n: the same array, or a copy of twice the size."""
    if n < len(rows):
        return rows
    more = np.empty((2 * len(rows), 2), np.int64)
    for k in range(n):
        more[k, 0], more[k, 1] = rows[k, 0], rows[k, 1]
    return more


@kernel
def find_bridges(
    values: UInt16s2D, marks: UInt8s2D, owner: Int32s2D, cells: Ints2D, ends: Ints1D, max_steps: int
) -> tuple[Ints2D, Ints1D]:
    """Find bridges: paths of at most `max_steps` steps from each chain's last cell to each other chain.

    Paths stay inside the valid region and end where they first meet a chain. For each cell of the other chain, the path
    with the smallest sum of D is found. Of these, the one with the smallest mean D is returned.

    Returns
    -------
    cells : (N, 2) row and column of the cells of one bridge after another.
    ends : (B,) index in `cells` at which each of B bridges ends, exclusive.
    """
    n_rows, n_columns = values.shape
    size = max_steps + 1
    cost, steps = np.empty((2, size, size)), np.empty((2, size, size), np.int64)
    come = np.empty((2, size, size), np.uint8)
    best, where = np.full(len(ends), np.inf), np.zeros((len(ends), 3), np.int64)
    targets = np.empty(len(ends), np.int64)
    # Only the first column of out_ends is used: `_make_room` takes two columns.
    out, out_ends = np.empty((64, 2), np.int64), np.empty((64, 2), np.int64)
    n = n_paths = 0
    for c in range(len(ends)):
        i0, j0 = cells[ends[c] - 1, 0], cells[ends[c] - 1, 1]
        n_targets = 0
        for state in range(2):
            for a in range(size):
                for b in range(size):
                    cost[state, a, b] = np.inf
        cost[0, 0, 0], steps[0, 0, 0] = float(values[i0, j0]) ** 2, 0
        for a in range(min(size, n_rows - i0)):
            for b in range(a // 2, min(size, n_columns - j0, 2 * a + 2)):
                if a + b == 0 or marks[i0 + a, j0 + b] & VALID == 0:
                    continue
                d = float(values[i0 + a, j0 + b]) ** 2
                _extend_bridge(cost, steps, come, a, b, d, max_steps)
                target = owner[i0 + a, j0 + b]
                for state in range(2):
                    if target < 0 or not cost[state, a, b] < np.inf:
                        continue
                    mean = cost[state, a, b] / (steps[state, a, b] + 1)
                    if target != c and mean < best[target]:
                        if best[target] == np.inf:
                            targets[n_targets] = target
                            n_targets += 1
                        best[target] = mean
                        where[target, 0], where[target, 1], where[target, 2] = state, a, b
                    # A bridge ends where it meets a chain: do not extend it.
                    cost[state, a, b] = np.inf
        for q in range(n_targets):
            target = targets[q]
            state, a, b = where[target, 0], where[target, 1], where[target, 2]
            begin = n
            while a + b > 0:
                out = _make_room(out, n)
                out[n, 0], out[n, 1] = i0 + a, j0 + b
                n += 1
                step, state = int(come[state, a, b]) % 4, int(come[state, a, b]) // 4
                a, b = a - (step != RIGHT), b - (step != DOWN)
            out = _make_room(out, n)
            out[n, 0], out[n, 1] = i0, j0
            n += 1
            _reverse(out, begin, n)
            out_ends = _make_room(out_ends, n_paths)
            out_ends[n_paths, 0] = n
            n_paths += 1
            best[target] = np.inf
    return out[:n].copy(), out_ends[:n_paths, 0].copy()


@helper
def _extend_bridge(cost: Floats3D, steps: Ints3D, come: Any, a: int, b: int, d: float, max_steps: int) -> None:
    """Compute the smallest sums of D over paths to cell (a, b), whose own D is `d`, with a diagonal last step (0) and
    with a straight one (1). `come` receives the last step plus 4 times the previous state."""
    if a > 0 and b > 0:
        before = 0 if cost[0, a - 1, b - 1] <= cost[1, a - 1, b - 1] else 1
        if steps[before, a - 1, b - 1] < max_steps and cost[before, a - 1, b - 1] < np.inf:
            cost[0, a, b], steps[0, a, b] = cost[before, a - 1, b - 1] + d, steps[before, a - 1, b - 1] + 1
            come[0, a, b] = DIAGONAL + 4 * before
    if a > 0 and cost[0, a - 1, b] < np.inf and steps[0, a - 1, b] < max_steps:
        cost[1, a, b], steps[1, a, b], come[1, a, b] = cost[0, a - 1, b] + d, steps[0, a - 1, b] + 1, DOWN
    if b > 0 and cost[0, a, b - 1] + d < cost[1, a, b] and steps[0, a, b - 1] < max_steps:
        cost[1, a, b], steps[1, a, b], come[1, a, b] = cost[0, a, b - 1] + d, steps[0, a, b - 1] + 1, RIGHT
