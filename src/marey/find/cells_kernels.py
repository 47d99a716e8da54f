"""Compiled loops over cells in runs; see `cells` for the arrays.

A *list* form has, for each row, its columns one by one: starts (R + 1,), columns (M,).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import kernel

Array = Any


@kernel
def runs_of(kept: Array, values: Array) -> Any:
    """row_runs, run_first, run_values and values of the cells of a dense grid where kept (uint8) is set."""
    n_rows, n_columns = kept.shape
    row_runs = np.zeros(n_rows + 1, dtype=np.int64)
    n_values = 0
    for i in range(n_rows):
        n, before = 0, np.uint8(0)
        for j in range(n_columns):
            now = kept[i, j]
            n += now & (1 - before)
            n_values += now
            before = now
        row_runs[i + 1] = row_runs[i] + n
    run_first = np.empty(row_runs[n_rows], dtype=np.int32)
    run_values = np.empty(row_runs[n_rows] + 1, dtype=np.int32)
    out = np.empty(n_values, dtype=np.uint16)
    n = m = 0
    for i in range(n_rows):
        if row_runs[i] == row_runs[i + 1]:
            continue
        before = np.uint8(0)
        for j in range(n_columns):
            now = kept[i, j]
            if now:
                if not before:
                    run_first[n], run_values[n] = j, m
                    n += 1
                out[m] = values[i, j]
                m += 1
            before = now
    run_values[n] = m
    return row_runs, run_first, run_values, out


@kernel
def runs_of_list(starts: Array, columns: Array) -> Any:
    """row_runs, run_first and run_values of cells in list form, a row's columns in order."""
    n_rows = len(starts) - 1
    row_runs = np.zeros(n_rows + 1, dtype=np.int64)
    for i in range(n_rows):
        n, before = 0, -2
        for m in range(starts[i], starts[i + 1]):
            if columns[m] != before + 1:
                n += 1
            before = columns[m]
        row_runs[i + 1] = row_runs[i] + n
    run_first = np.empty(row_runs[n_rows], dtype=np.int32)
    run_values = np.empty(row_runs[n_rows] + 1, dtype=np.int32)
    n = 0
    for i in range(n_rows):
        before = -2
        for m in range(starts[i], starts[i + 1]):
            if columns[m] != before + 1:
                run_first[n], run_values[n] = columns[m], m
                n += 1
            before = columns[m]
    run_values[n] = starts[n_rows]
    return row_runs, run_first, run_values


@kernel
def flipped(row_runs: Array, run_first: Array, run_values: Array, values: Array, n_columns: int, lag: int) -> Any:
    """The transposed cells in list form, with their values; only those `lag` or more columns right of the diagonal."""
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    for i in range(len(row_runs) - 1):
        for n in range(row_runs[i], row_runs[i + 1]):
            for k in range(run_values[n + 1] - run_values[n]):
                j = run_first[n] + k
                if j - i >= lag:
                    starts[j + 1] += 1
    for j in range(n_columns):
        starts[j + 1] += starts[j]
    at = starts[:-1].copy()
    columns = np.empty(starts[n_columns], dtype=np.int32)
    out = np.empty(starts[n_columns], dtype=np.uint16)
    for i in range(len(row_runs) - 1):
        for n in range(row_runs[i], row_runs[i + 1]):
            for k in range(run_values[n + 1] - run_values[n]):
                j = run_first[n] + k
                if j - i >= lag:
                    columns[at[j]], out[at[j]] = i, values[run_values[n] + k]
                    at[j] += 1
    return starts, columns, out


@kernel
def beside(starts: Array, columns: Array, values: Array, row_runs: Array, run_first: Array, run_values: Array,
           right: Array, lag: int) -> Any:  # fmt: skip
    """Cells in list form, and behind those of each row the cells in runs that lie `lag` or more right of the diagonal.

    right : the values of the cells in runs.
    """
    n_rows = len(row_runs) - 1
    both = np.zeros(n_rows + 1, dtype=np.int64)
    for i in range(n_rows):
        count = starts[i + 1] - starts[i]
        for n in range(row_runs[i], row_runs[i + 1]):
            skip = max(i + lag - run_first[n], 0)
            count += max(run_values[n + 1] - run_values[n] - skip, 0)
        both[i + 1] = both[i] + count
    out_columns = np.empty(both[n_rows], dtype=np.int32)
    out = np.empty(both[n_rows], dtype=np.uint16)
    for i in range(n_rows):
        at = both[i]
        for m in range(starts[i], starts[i + 1]):
            out_columns[at], out[at] = columns[m], values[m]
            at += 1
        for n in range(row_runs[i], row_runs[i + 1]):
            for k in range(max(i + lag - run_first[n], 0), run_values[n + 1] - run_values[n]):
                out_columns[at], out[at] = run_first[n] + k, right[run_values[n] + k]
                at += 1
    return both, out_columns, out


@kernel
def unpacked(
    row_runs: Array, run_first: Array, run_values: Array, values: Array, top: int, left: int, out: Array
) -> None:
    """Values into `out`, which begins at row `top` and column `left` of the grid; its other cells stay as they are."""
    n_rows, n_columns = out.shape
    for i in range(n_rows):
        for n in range(row_runs[top + i], row_runs[top + i + 1]):
            shift = run_first[n] - left
            for k in range(max(-shift, 0), min(run_values[n + 1] - run_values[n], n_columns - shift)):
                out[i, shift + k] = values[run_values[n] + k]


@kernel
def joined(tile_runs: Array, run_first: Array, run_values: Array, values: Array) -> Any:
    """Cells of tiles that stand side by side, as runs of whole rows: row_runs, run_first, run_values and values.

    tile_runs : (T, R + 1) for each tile and row where its runs begin; runs and values of one tile follow another's.
    """
    n_tiles, n_rows = tile_runs.shape[0], tile_runs.shape[1] - 1
    row_runs = np.zeros(n_rows + 1, dtype=np.int64)
    first, begin = np.empty_like(run_first), np.empty(len(run_first) + 1, dtype=np.int32)
    out = np.empty_like(values)
    n = m = 0
    for i in range(n_rows):
        end = -1
        for t in range(n_tiles):
            for k in range(tile_runs[t, i], tile_runs[t, i + 1]):
                if run_first[k] != end:
                    first[n], begin[n] = run_first[k], m
                    n += 1
                length = run_values[k + 1] - run_values[k]
                out[m : m + length] = values[run_values[k] : run_values[k + 1]]
                m += length
                end = run_first[k] + length
        row_runs[i + 1] = n
    begin[n] = m
    return row_runs, first[:n].copy(), begin[: n + 1].copy(), out
