"""Kernels for the rules that decide which cells of a grid are kept; see `region`.

Values (R, C) are uint16, square roots of D in units of `cells.STEP`; results are uint8 arrays of the same shape.

A straight step is a horizontal or vertical one. Paths never take two straight steps in succession, so a path that
enters a cell by a straight step depends only on paths that entered the neighbor diagonally. A whole row can therefore
be computed at once from the previous row. Lengths are float32, so SIMD compares eight at a time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats2D, Ints2D, Out, Singles1D, UInt8s1D, UInt8s2D, UInt16s2D, helper, kernel

# Bits of a cell's mark.
HORIZONTAL, VERTICAL, VALID, CHAIN, LEVEL = 1, 2, 4, 8, 16
# Marks a cell without a path; path lengths are capped below it.
NEVER = 255
_NONE, _ZERO, _ONE, _TWO, _FAR = np.float32(-1000.0), np.float32(0.0), np.float32(1.0), np.float32(2.0), np.float32(1e6)


class Rules(NamedTuple):
    """The rules of a web, with lengths in cells and distances in units of `cells.STEP`; see `region`.

    cap : cells with values of at least this are not used.
    near : cells with values of at least this are not on chains or level paths.
    ratio : the valid region ends where the square root of D is this many times that of the minimum.
    reach : maximum number of cells of the valid region on either side of a minimum.
    chain : minimum Manhattan length of a chain.
    bridge : maximum number of steps of a bridge.
    level : minimum Manhattan length of a level path.
    """

    cap: int
    near: int
    ratio: float
    reach: int
    chain: int
    bridge: int
    level: int


class MarkArrays(NamedTuple):
    """Arrays (R, C): the marks of cells, and three work arrays."""

    marks: Out[UInt8s2D]
    member: Out[UInt8s2D]
    free: Out[UInt8s2D]
    bound: Out[UInt8s2D]


@kernel
def quantize_distances(distances: Floats2D, step: float, far: int, out: Out[UInt16s2D]) -> None:
    """Convert D to square roots in units of `step`, rounded; values of `far` or more become `far`."""
    scale = 1.0 / step
    for i in range(distances.shape[0]):
        line, target = distances[i], out[i]
        for j in range(distances.shape[1]):
            root = math.sqrt(line[j]) * scale + 0.5
            target[j] = far if root >= far else np.uint16(root)


@kernel
def mark_cells(values: UInt16s2D, rules: Rules, out: MarkArrays) -> None:
    """Write the marks of all cells to `out`: HORIZONTAL, VERTICAL, VALID, CHAIN and LEVEL."""
    write_marks(values, _list_all_columns(values.shape), rules, out)


@kernel
def mark_kept(marks: UInt8s2D, max_steps: int, kept: Out[UInt8s2D]) -> None:
    """Set `kept` on LEVEL cells, and on valid cells that a path of at most `max_steps` steps inside the valid region
    connects to a chain, in either direction."""
    write_kept(marks, _list_all_columns(marks.shape), max_steps, kept)


@helper
def _list_all_columns(shape: tuple[int, int]) -> Ints2D:
    columns = np.zeros((shape[0], 2), np.int64)
    columns[:, 1] = shape[1]
    return columns


@helper
def write_marks(values: UInt16s2D, columns: Ints2D, rules: Rules, out: MarkArrays) -> None:
    """Do the same as `mark_cells`, for other kernels and for a band of the grid.

    columns : (R, 2) the columns of each row, half-open. Neither first nor last columns decrease from row to row. Values
        of other cells must not be below `rules.cap`; their marks are not written.
    """
    marks, member, free, bound = out
    _mark_minima(values, columns, rules.cap, marks)
    _mark_valid(values, columns, rules.cap, rules.ratio, rules.reach, marks)
    _mark_members(values, columns, rules.near, marks, HORIZONTAL | VERTICAL, member)
    _mark_paths(member, columns, rules.chain, CHAIN, marks, free, bound)
    _mark_members(values, columns, rules.near, marks, VALID, member)
    _mark_paths(member, columns, rules.level, LEVEL, marks, free, bound)


@helper
def _mark_minima(values: UInt16s2D, columns: Ints2D, cap: int, marks: UInt8s2D) -> None:
    """Set HORIZONTAL on local minima along rows, VERTICAL on local minima along columns. Values of `cap` or more do not
    count.

    At the border of the grid, only the neighbor that exists is compared.
    """
    n_rows, n_columns = values.shape
    for i in range(n_rows):
        first, last = columns[i, 0], columns[i, 1]
        above, here, below = values[max(i - 1, 0), first:last], values[i], values[min(i + 1, n_rows - 1), first:last]
        mark, middle = marks[i, first:last], here[first:last]
        for j in range(last - first):
            v = middle[j]
            mark[j] = VERTICAL if (v <= above[j]) & (v <= below[j]) & (v < cap) else 0
        for j in range(1, last - first - 1):
            v = middle[j]
            mark[j] |= HORIZONTAL if (v <= middle[j - 1]) & (v <= middle[j + 1]) & (v < cap) else 0
        for j in (first, last - 1):
            v = here[j]
            if v < cap and v <= here[max(j - 1, 0)] and v <= here[min(j + 1, n_columns - 1)]:
                mark[j - first] |= HORIZONTAL


@helper
def _mark_valid(values: UInt16s2D, columns: Ints2D, cap: int, ratio: float, reach: int, marks: UInt8s2D) -> None:
    """Set VALID on minima and on the cells around them, while values are at least the minimum and below `ratio` times
    it.

    cap : values of at least this are not used.
    reach : maximum number of cells on either side of a minimum.
    """
    for i in range(len(values)):
        for j in range(columns[i, 0], columns[i, 1]):
            mark = marks[i, j]
            if mark & (HORIZONTAL | VERTICAL) == 0:
                continue
            marks[i, j] |= VALID
            top = min(float(cap), ratio * values[i, j])
            if mark & HORIZONTAL:
                _extend_minimum(values, marks, (i, j), (0, 1), reach, top)
                _extend_minimum(values, marks, (i, j), (0, -1), reach, top)
            if mark & VERTICAL:
                _extend_minimum(values, marks, (i, j), (1, 0), reach, top)
                _extend_minimum(values, marks, (i, j), (-1, 0), reach, top)


@helper
def _extend_minimum(
    values: UInt16s2D, marks: UInt8s2D, cell: tuple[int, int], step: tuple[int, int], reach: int, top: float
) -> None:
    """Set VALID on up to `reach` cells from a minimum in direction `step`, while values are at least the minimum and
    below `top`."""
    (row, column), (down, right) = cell, step
    lowest = values[row, column]
    for _ in range(reach):
        row, column = row + down, column + right
        if row < 0 or row >= values.shape[0] or column < 0 or column >= values.shape[1]:
            break
        if values[row, column] < lowest or values[row, column] >= top:
            break
        marks[row, column] |= VALID


@helper
def _mark_members(values: UInt16s2D, columns: Ints2D, near: int, marks: UInt8s2D, bits: int, out: UInt8s2D) -> None:
    """Set `out` to 1 on cells with values below `near` and any of the bits, else to 0."""
    for i in range(values.shape[0]):
        first, last = columns[i, 0], columns[i, 1]
        here, mark, target = values[i, first:last], marks[i, first:last], out[i, first:last]
        for j in range(last - first):
            target[j] = 1 if (here[j] < near) & ((mark[j] & bits) != 0) else 0


@helper
def _write_next_lengths(
    is_in: UInt8s1D,
    max_length: np.float32,
    side: int,
    free: Singles1D,
    bound: Singles1D,
    free_now: Singles1D,
    bound_now: Singles1D,
) -> None:
    """Write the lengths of the longest paths to the cells of a row to `free_now` and `bound_now`, from those of the
    previous row.

    is_in : (C,) whether each cell of the row may be on a path.
    max_length : cap on lengths.
    side : -1 if paths come from the left, 1 if from the right.
    free, free_now : (C + 2,) Manhattan length of the longest path that begins at a cell or enters it diagonally, for
        the previous and for this row; negative if there is none. One column of margin at either end.
    bound, bound_now : (C + 2,) the same for paths that enter a cell by a straight step.
    """
    n = len(is_in)
    ours, before, straight = free_now[1 : n + 1], free[1 + side : n + 1 + side], bound[1 + side : n + 1 + side]
    for j in range(n):
        x = before[j] if before[j] > straight[j] else straight[j]
        x = x + _TWO
        x = x if x > _ZERO else _ZERO
        x = x if x < max_length else max_length
        ours[j] = x if is_in[j] else _NONE
    ours, beside, before = bound_now[1 : n + 1], free_now[1 + side : n + 1 + side], free[1 : n + 1]
    for j in range(n):
        x = before[j] if before[j] > beside[j] else beside[j]
        x = x + _ONE
        x = x if x < max_length else max_length
        ours[j] = x if is_in[j] else _NONE


@helper
def _write_bytes(lengths: Singles1D, out: UInt8s1D) -> None:
    """Write lengths as bytes; `NEVER` if there is no path."""
    for j in range(len(out)):
        x = lengths[j + 1]
        out[j] = np.uint8(np.int32(x if x >= _ZERO else np.float32(NEVER)))


@helper
def _make_lines(size: int, value: np.float32) -> tuple[Singles1D, Singles1D, Singles1D, Singles1D]:
    """Return four work arrays (size,) filled with a value."""
    a, b = np.full(size, value, np.float32), np.full(size, value, np.float32)
    return a, b, a.copy(), b.copy()


@helper
def _mark_paths(
    member: UInt8s2D, columns: Ints2D, min_length: int, bit: int, marks: UInt8s2D, free: UInt8s2D, bound: UInt8s2D
) -> None:
    """Set `bit` on the cells of `member` that lie on a path of such cells with a Manhattan length of at least
    `min_length`.

    free, bound : (R, C) work arrays.
    """
    n_rows, n_columns = member.shape
    max_length, size = np.float32(min_length), n_columns + 2
    free_a, free_b, bound_a, bound_b = _make_lines(size, _NONE)
    for i in range(n_rows):
        first, last = columns[i, 0], columns[i, 1]
        end = last + 2
        diagonal, straight = free_b[first:end], bound_b[first:end]
        _write_next_lengths(
            member[i, first:last], max_length, -1, free_a[first:end], bound_a[first:end], diagonal, straight
        )
        _write_bytes(diagonal, free[i, first:last])
        _write_bytes(straight, bound[i, first:last])
        diagonal[0], straight[0] = _NONE, _NONE  # clear values of an earlier row that began farther left
        free_a, free_b, bound_a, bound_b = free_b, free_a, bound_b, bound_a
    free_a[:], free_b[:], bound_a[:], bound_b[:] = _NONE, _NONE, _NONE, _NONE
    for i in range(n_rows - 1, -1, -1):
        first, last = columns[i, 0], columns[i, 1]
        end = last + 2
        _write_next_lengths(
            member[i, first:last], max_length, 1, free_a[first:end], bound_a[first:end],
            free_b[first:end], bound_b[first:end],
        )  # fmt: skip
        free_b[last + 1], bound_b[last + 1] = _NONE, _NONE  # clear values of a row that ended farther right
        mark, came, came_straight = marks[i, first:last], free[i, first:last], bound[i, first:last]
        diagonal, straight = free_b[first + 1 : last + 1], bound_b[first + 1 : last + 1]
        for j in range(last - first):
            x = diagonal[j] if diagonal[j] > straight[j] else straight[j]
            x = x + np.float32(came[j]) if came[j] != NEVER else _NONE
            y = diagonal[j] + np.float32(came_straight[j]) if came_straight[j] != NEVER else _NONE
            mark[j] |= bit if (x >= max_length) | (y >= max_length) else 0
        free_a, free_b, bound_a, bound_b = free_b, free_a, bound_b, bound_a


@helper
def _write_next_steps(
    mark: UInt8s1D, side: int, free: Singles1D, bound: Singles1D, free_now: Singles1D, bound_now: Singles1D
) -> None:
    """Write the number of steps from the nearest chain to the cells of a row, from the numbers of the previous row.

    mark : (C,) marks of the row.
    The other parameters are as in `_write_next_lengths`, with steps in place of lengths.
    """
    n = len(mark)
    ours, before, straight = free_now[1 : n + 1], free[1 + side : n + 1 + side], bound[1 + side : n + 1 + side]
    for j in range(n):
        x = (before[j] if before[j] < straight[j] else straight[j]) + _ONE
        x = x if mark[j] & VALID else _FAR
        ours[j] = _ZERO if mark[j] & CHAIN else x
    ours, beside, before = bound_now[1 : n + 1], free_now[1 + side : n + 1 + side], free[1 : n + 1]
    for j in range(n):
        x = (before[j] if before[j] < beside[j] else beside[j]) + _ONE
        x = x if mark[j] & VALID else _FAR
        ours[j] = _FAR if mark[j] & CHAIN else x


@helper
def write_kept(marks: UInt8s2D, columns: Ints2D, max_steps: int, kept: UInt8s2D) -> None:
    """Do the same as `mark_kept`, for other kernels and for a band of the grid; see `write_marks`."""
    n_rows, n_columns = marks.shape
    top, size = np.float32(max_steps), n_columns + 2
    free_a, free_b, bound_a, bound_b = _make_lines(size, _FAR)
    for i in range(n_rows):
        first, last = columns[i, 0], columns[i, 1]
        end = last + 2
        mark, keep = marks[i, first:last], kept[i, first:last]
        _write_next_steps(mark, -1, free_a[first:end], bound_a[first:end], free_b[first:end], bound_b[first:end])
        free_b[first], bound_b[first] = _FAR, _FAR
        diagonal, straight = free_b[first + 1 : last + 1], bound_b[first + 1 : last + 1]
        for j in range(last - first):
            x = diagonal[j] if diagonal[j] < straight[j] else straight[j]
            keep[j] = 1 if (x <= top) | ((mark[j] & LEVEL) != 0) else 0
        free_a, free_b, bound_a, bound_b = free_b, free_a, bound_b, bound_a
    free_a[:], free_b[:], bound_a[:], bound_b[:] = _FAR, _FAR, _FAR, _FAR
    for i in range(n_rows - 1, -1, -1):
        first, last = columns[i, 0], columns[i, 1]
        end = last + 2
        mark, keep = marks[i, first:last], kept[i, first:last]
        _write_next_steps(mark, 1, free_a[first:end], bound_a[first:end], free_b[first:end], bound_b[first:end])
        free_b[last + 1], bound_b[last + 1] = _FAR, _FAR
        diagonal, straight = free_b[first + 1 : last + 1], bound_b[first + 1 : last + 1]
        for j in range(last - first):
            x = diagonal[j] if diagonal[j] < straight[j] else straight[j]
            keep[j] |= 1 if x <= top else 0
        free_a, free_b, bound_a, bound_b = free_b, free_a, bound_b, bound_a
