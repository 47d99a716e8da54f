"""Kernels that compress and decompress the cells of a grid; see `cells` for the arrays.

A *list* holds M cells one by one: starts (R + 1,), the index of each row's first cell; columns (M,), sorted within a
row; and units (M,), the values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.compiled import (
    Int8s1D,
    Int32s1D,
    Ints1D,
    Ints2D,
    Out,
    UInt8s1D,
    UInt8s2D,
    UInt16s1D,
    UInt16s2D,
    helper,
    kernel,
)

CellList = tuple[Ints1D, Int32s1D, UInt16s1D]
EncodedRuns = tuple[Int32s1D, Int32s1D, UInt8s1D, UInt16s1D, Int8s1D]


class Runs(NamedTuple):
    """M cells, stored row by row as N runs of consecutive cells.

    row_runs, row_rises : (R + 1,) index of each row's first run and first rise.
    first, lengths, bases : (N,) first column of each run, its number of cells, and the value of its first cell.
    rises : (M - N,) change in value from each cell of a run to the next.
    """

    row_runs: Int32s1D
    row_rises: Int32s1D
    first: UInt16s1D
    lengths: UInt8s1D
    bases: UInt16s1D
    rises: Int8s1D


class WideRuns(NamedTuple):
    """`Runs` for grids with 2^16 columns or more."""

    row_runs: Int32s1D
    row_rises: Int32s1D
    first: Int32s1D
    lengths: UInt8s1D
    bases: UInt16s1D
    rises: Int8s1D


@kernel
def list_kept_cells(kept: UInt8s2D, values: UInt16s2D) -> CellList:
    """Return the cells of a dense grid where `kept` is set, as a list."""
    n_rows, n_columns = kept.shape
    starts = np.zeros(n_rows + 1, dtype=np.int64)
    for i in range(n_rows):
        n = 0
        for j in range(n_columns):
            n += kept[i, j]
        starts[i + 1] = starts[i] + n
    columns, units = np.empty(starts[n_rows], dtype=np.int32), np.empty(starts[n_rows], dtype=np.uint16)
    for i in range(n_rows):
        m = starts[i]
        if m == starts[i + 1]:
            continue
        for j in range(n_columns):
            if kept[i, j]:
                columns[m], units[m] = j, values[i, j]
                m += 1
    return starts, columns, units


@kernel
def encode_cells(
    starts: Ints1D, columns: Int32s1D, units: UInt16s1D, coarse: int, longest: int, steepest: int
) -> EncodedRuns:
    """Compress a list into row_counts, run_first, run_lengths, run_bases and rises.

    A run ends if the next cell is not adjacent, if the run has `longest` cells, or if the value, rounded to `coarse`
    units, changes by more than `steepest`.
    """
    n_rows, n_runs = len(starts) - 1, 0
    row_counts = np.zeros(n_rows, dtype=np.int32)
    for i in range(n_rows):
        before, last, length = -2, 0, 0
        for m in range(starts[i], starts[i + 1]):
            value = (int(units[m]) + coarse // 2) // coarse
            if columns[m] != before + 1 or length == longest or abs(value - last) > steepest:
                row_counts[i] += 1
                length = 0
            length += 1
            before, last = columns[m], value
        n_runs += row_counts[i]
    run_first, run_lengths = np.empty(n_runs, dtype=np.int32), np.empty(n_runs, dtype=np.uint8)
    run_bases, rises = np.empty(n_runs, dtype=np.uint16), np.empty(len(columns) - n_runs, dtype=np.int8)
    n, rise = -1, 0
    for i in range(n_rows):
        before, last, length = -2, 0, 0
        for m in range(starts[i], starts[i + 1]):
            value = (int(units[m]) + coarse // 2) // coarse
            if columns[m] != before + 1 or length == longest or abs(value - last) > steepest:
                n += 1
                run_first[n], run_bases[n] = columns[m], value
                length = 0
            else:
                rises[rise] = value - last
                rise += 1
            length += 1
            run_lengths[n] = length
            before, last = columns[m], value
    return row_counts, run_first, run_lengths, run_bases, rises


@kernel
def list_cells(runs: Runs, coarse: int) -> CellList:
    """Decompress runs into a list."""
    return _list_cells(runs, coarse)


@kernel
def list_wide_cells(runs: WideRuns, coarse: int) -> CellList:
    """Decompress wide runs into a list."""
    return _list_cells(runs, coarse)


@helper
def _list_cells(runs: Runs | WideRuns, coarse: int) -> CellList:
    row_runs, _, run_first, run_lengths, run_bases, rises = runs
    n_rows = len(row_runs) - 1
    starts = np.zeros(n_rows + 1, dtype=np.int64)
    size = len(run_first) + len(rises)
    columns, units = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.uint16)
    m = rise = 0
    for i in range(n_rows):
        for n in range(row_runs[i], row_runs[i + 1]):
            value = int(run_bases[n])
            for k in range(run_lengths[n]):
                if k > 0:
                    value += rises[rise]
                    rise += 1
                columns[m], units[m] = run_first[n] + k, value * coarse
                m += 1
        starts[i + 1] = m
    return starts, columns, units


@kernel
def find_value_range(run_lengths: UInt8s1D, run_bases: UInt16s1D, rises: Int8s1D) -> tuple[int, int]:
    """Return the smallest value, or 0 if none is negative, and the largest value of all runs."""
    lowest, highest, rise = 0, 0, 0
    for n in range(len(run_lengths)):
        value = int(run_bases[n])
        highest = max(highest, value)
        for _ in range(1, run_lengths[n]):
            value += rises[rise]
            rise += 1
            lowest, highest = min(lowest, value), max(highest, value)
    return lowest, highest


@kernel
def transpose_cells(starts: Ints1D, columns: Int32s1D, units: UInt16s1D, n_columns: int) -> CellList:
    """Exchange rows and columns of a list."""
    out_starts = np.zeros(n_columns + 1, dtype=np.int64)
    for m in range(len(columns)):
        out_starts[columns[m] + 1] += 1
    for j in range(n_columns):
        out_starts[j + 1] += out_starts[j]
    ends = out_starts[:-1].copy()
    rows, out = np.empty_like(columns), np.empty_like(units)
    for i in range(len(starts) - 1):
        for m in range(starts[i], starts[i + 1]):
            j = columns[m]
            rows[ends[j]], out[ends[j]] = i, units[m]
            ends[j] += 1
    return out_starts, rows, out


@kernel
def take_right_cells(starts: Ints1D, columns: Int32s1D, units: UInt16s1D, lag: int) -> CellList:
    """Return the cells of a list that lie at least `lag` columns to the right of the diagonal."""
    n_rows, n = len(starts) - 1, 0
    for i in range(n_rows):
        for m in range(starts[i], starts[i + 1]):
            n += columns[m] - i >= lag
    out_starts = np.zeros(n_rows + 1, dtype=np.int64)
    out_columns, out = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.uint16)
    n = 0
    for i in range(n_rows):
        for m in range(starts[i], starts[i + 1]):
            if columns[m] - i >= lag:
                out_columns[n], out[n] = columns[m], units[m]
                n += 1
        out_starts[i + 1] = n
    return out_starts, out_columns, out


@kernel
def join_lists(tile_starts: Ints2D, columns: Int32s1D, units: UInt16s1D) -> CellList:
    """Join the lists of T tiles that are side by side into one.

    tile_starts : (T, R + 1) index of the first cell of each tile's rows in `columns` and `units`.
    columns, units : (M,) the cells of one tile after another.
    """
    n_tiles, n_rows = tile_starts.shape[0], tile_starts.shape[1] - 1
    starts = np.zeros(n_rows + 1, dtype=np.int64)
    out_columns, out = np.empty_like(columns), np.empty_like(units)
    n = 0
    for i in range(n_rows):
        for t in range(n_tiles):
            for m in range(tile_starts[t, i], tile_starts[t, i + 1]):
                out_columns[n], out[n] = columns[m], units[m]
                n += 1
        starts[i + 1] = n
    return starts, out_columns, out


@kernel
def unpack_cells(runs: Runs, coarse: int, corner: tuple[int, int], out: Out[UInt16s2D]) -> None:
    """Write the values of cells to `out`, a part of the grid that begins at `corner` (row, column). Other cells of
    `out` are left unchanged."""
    _unpack_cells(runs, coarse, corner, out)


@kernel
def unpack_wide_cells(runs: WideRuns, coarse: int, corner: tuple[int, int], out: Out[UInt16s2D]) -> None:
    """Do the same as `unpack_cells` for wide runs."""
    _unpack_cells(runs, coarse, corner, out)


@helper
def _unpack_cells(runs: Runs | WideRuns, coarse: int, corner: tuple[int, int], out: UInt16s2D) -> None:
    row_runs, row_rises, run_first, run_lengths, run_bases, rises = runs
    top, left = corner
    n_rows, n_columns = out.shape
    for i in range(n_rows):
        rise = row_rises[top + i]
        for n in range(row_runs[top + i], row_runs[top + i + 1]):
            value = int(run_bases[n])
            for k in range(run_lengths[n]):
                if k > 0:
                    value += rises[rise]
                    rise += 1
                j = run_first[n] + k - left
                if 0 <= j < n_columns:
                    out[i, j] = value * coarse
