"""Kernels that pack the cells of a grid for files: differences from predictions, which compress to half the size.

Kept cells lie in bands along diagonals, and D is smooth: a cell is predicted from its neighbors to the left and in the
rows above. If the neighbors to the left, above and between these two are kept, they define a plane; otherwise, cells on
one side define a parabola or a line. The edges of the bands are predicted from the edges of the row above, one column
further to the right. Differences have one byte; `FAR` marks a cell or edge whose difference does not fit, so that its
value follows in a list of its own.
"""

from __future__ import annotations

import numpy as np

from marey.compiled import (
    Int8s1D,
    Int32s1D,
    Int32s2D,
    Ints1D,
    Out,
    UInt16s1D,
    helper,
    kernel,
)

FAR = -128
# What predicted a cell: a plane, or anything else.
_PLANE, _LINE = 0, 1


@kernel
def pack_edges(
    starts: Ints1D, columns: Int32s1D, counts: Out[Int32s1D], edges: Out[Int8s1D], far: Out[Int32s1D]
) -> tuple[int, int]:
    """Pack the columns of M cells, as starts (R + 1,) and columns (M,), see `cells_kernels`.

    counts : (R,) number of intervals of each row. edges, far : (2 M,) at most; returns how many there are.
    """
    n_edges, n_far = 0, 0
    here, above, n_above = np.empty(2 * len(columns), np.int32), np.empty(2 * len(columns), np.int32), 0
    for i in range(len(starts) - 1):
        n = 0
        for m in range(starts[i], starts[i + 1]):
            if m == starts[i] or columns[m] != columns[m - 1] + 1:
                here[n] = columns[m]
                n += 2
            here[n - 1] = columns[m] + 1
        counts[i] = n // 2
        at, k = 0, 0
        for e in range(n):
            at = at + 1 if e > 0 else 0
            k, guess = _guess_edge(above, n_above, k, e, at)
            at = here[e]
            if -FAR > at - guess > FAR:
                edges[n_edges] = at - guess
            else:
                edges[n_edges], far[n_far] = FAR, at
                n_far += 1
            n_edges += 1
        here, above, n_above = above, here, n
    return n_edges, n_far


@kernel
def unpack_edges(
    counts: Int32s1D, n_columns: int, edges: Int8s1D, far: Int32s1D, spans: Out[Int32s1D]
) -> tuple[int, int]:
    """Undo `pack_edges`: write the edges (2 N,) of the intervals of all rows.

    Returns how many entries of `edges` and of `far` were used; the first number is negative if the data are damaged.

    counts, edges, far : as from `pack_edges`.
    n_columns : number of columns of the grid.
    spans : (2 N,) output.
    """
    n_edges, n_far, before, n_before = 0, 0, 0, 0
    for i in range(len(counts)):
        n, at, k, first = 2 * counts[i], 0, 0, n_edges
        above = spans[before : before + n_before]
        for e in range(n):
            at = at + 1 if e > 0 else 0
            k, guess = _guess_edge(above, n_before, k, e, at)
            if n_edges >= len(edges):
                return -1, 0
            value = guess + edges[n_edges]
            if edges[n_edges] == FAR:
                if n_far >= len(far):
                    return -1, 0
                value = far[n_far]
                n_far += 1
            if value < at or value > n_columns:
                return -1, 0
            spans[n_edges] = at = value
            n_edges += 1
        before, n_before = first, n
    return n_edges, n_far


@helper
def _guess_edge(above: Int32s1D, n_above: int, k: int, e: int, low: int) -> tuple[int, int]:
    """Return the number of the edge above, from k on, that predicts edge e of a row, and the column it predicts.

    low : smallest possible column.
    """
    while k < n_above and ((k + e) % 2 != 0 or above[k] + 1 < low):
        k += 1
    return k, int(above[k]) + 1 if k < n_above else low


@kernel
def list_spans(counts: Int32s1D, spans: Int32s1D, starts: Out[Ints1D], columns: Out[Int32s1D]) -> None:
    """Write the index of each row's first cell (R + 1,) and the columns of all cells, from the edges (2 N,).

    counts : (R,) number of intervals of each row.
    spans : (2 N,) their edges.
    """
    n, m = 0, 0
    for i in range(len(counts)):
        starts[i] = m
        for _ in range(counts[i]):
            for j in range(spans[n], spans[n + 1]):
                columns[m] = j
                m += 1
            n += 2
    starts[len(counts)] = m


@kernel
def pack_values(
    starts: Ints1D,
    columns: Int32s1D,
    values: UInt16s1D,
    n_columns: int,
    planes: Out[Int8s1D],
    lines: Out[Int8s1D],
    far: Out[UInt16s1D],
) -> tuple[int, int, int]:
    """Pack the values (M,) of cells as differences from predictions.

    starts, columns : the cells.
    planes, lines : at most (M,) each; receive the differences from predictions by planes, and by lines or parabolas.
    far : at most (M,); receives the values whose difference does not fit.
    Returns how many entries of each were written.
    """
    n_planes, n_lines, n_far = 0, 0, 0
    rows = np.full((4, n_columns + 3), -1, np.int32)
    for i in range(len(starts) - 1):
        _clear_row(rows, starts, columns, i)
        for m in range(starts[i], starts[i + 1]):
            j, value = int(columns[m]), int(values[m])
            kind, guess = _guess_value(rows, i, j)
            rows[i % 4, j + 3] = value
            code = FAR
            if -FAR > value - guess > FAR:
                code = value - guess
            else:
                far[n_far] = value
                n_far += 1
            if kind == _PLANE:
                planes[n_planes] = code
                n_planes += 1
            else:
                lines[n_lines] = code
                n_lines += 1
    return n_planes, n_lines, n_far


@kernel
def unpack_values(
    starts: Ints1D,
    columns: Int32s1D,
    n_columns: int,
    planes: Int8s1D,
    lines: Int8s1D,
    far: UInt16s1D,
    values: Out[UInt16s1D],
) -> tuple[int, int, int]:
    """Undo `pack_values`; return how many entries of planes, lines and far were used. The first number is negative if
    the data are damaged.

    starts, columns : the cells. planes, lines, far : from `pack_values`.
    n_columns : number of columns of the grid.
    values : (M,) output.
    """
    n_planes, n_lines, n_far = 0, 0, 0
    rows = np.full((4, n_columns + 3), -1, np.int32)
    for i in range(len(starts) - 1):
        _clear_row(rows, starts, columns, i)
        for m in range(starts[i], starts[i + 1]):
            j = int(columns[m])
            kind, guess = _guess_value(rows, i, j)
            if (n_planes >= len(planes)) if kind == _PLANE else (n_lines >= len(lines)):
                return -1, 0, 0
            if kind == _PLANE:
                code = int(planes[n_planes])
                n_planes += 1
            else:
                code = int(lines[n_lines])
                n_lines += 1
            value = guess + code
            if code == FAR:
                if n_far >= len(far):
                    return -1, 0, 0
                value = int(far[n_far])
                n_far += 1
            if value < 0 or value > 65535:
                return -1, 0, 0
            values[m] = rows[i % 4, j + 3] = value
    return n_planes, n_lines, n_far


@helper
def _clear_row(rows: Int32s2D, starts: Ints1D, columns: Int32s1D, i: int) -> None:
    """Remove the cells of row i - 4, whose place row i takes."""
    if i >= 4:
        for m in range(starts[i - 4], starts[i - 3]):
            rows[i % 4, columns[m] + 3] = -1


@helper
def _guess_value(rows: Int32s2D, i: int, j: int) -> tuple[int, int]:
    """Predict the value of a cell from its neighbors; return the kind of prediction (`_PLANE` or `_LINE`) and the
    value.

    rows : (4, C + 3) the latest four rows, each with three columns before the first; -1 where there is no cell.
    """
    now, above = i % 4, (i + 3) % 4
    left, up, corner = int(rows[now, j + 2]), int(rows[above, j + 3]), int(rows[above, j + 2])
    if left >= 0 and up >= 0 and corner >= 0:
        return _PLANE, left + up - corner
    second = int(rows[now, j + 1])
    if left >= 0 and second >= 0:
        return _LINE, _extend(left, second, int(rows[now, j]))
    second = int(rows[(i + 2) % 4, j + 3])
    if up >= 0 and second >= 0:
        return _LINE, _extend(up, second, int(rows[(i + 1) % 4, j + 3]))
    return _LINE, max(corner if corner >= 0 else left if left >= 0 else up, 0)


@helper
def _extend(first: int, second: int, third: int) -> int:
    """Return the value that precedes `first` and `second` on a line, or on a parabola through `third` too unless that
    is negative."""
    return 2 * first - second if third < 0 else 3 * (first - second) + third
