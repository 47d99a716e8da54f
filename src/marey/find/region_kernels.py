"""Compiled loops of the rules that decide which cells of a grid are kept; see `region` for the rules.

All take values (R, C) in uint16, roots of D in units of `cells.STEP`, and write uint8 arrays of the same shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.core.compiled import kernel

Array = Any

# Bits of a cell's mark.
HORIZONTAL, VERTICAL, VALID, CHAIN = 1, 2, 4, 8
# A cost that no path has; costs are capped below it.
NEVER = 255


@kernel
def quantised(distances: Array, step: float, far: int, out: Array) -> None:
    """Roots of D in units of `step`, rounded, `far` for that and beyond."""
    scale = 1.0 / step
    for i in range(distances.shape[0]):
        line, into = distances[i], out[i]
        for j in range(distances.shape[1]):
            root = math.sqrt(line[j]) * scale + 0.5
            into[j] = far if root >= far else np.uint16(root)


@kernel
def mark_minima(values: Array, cap: int, marks: Array) -> None:
    """Set HORIZONTAL or VERTICAL where no neighbour to left and right, or above and below, is less; from cap on none.

    Neighbours that the grid lacks are not less.
    """
    n_rows, n_columns = values.shape
    for i in range(n_rows):
        above, here, below = values[max(i - 1, 0)], values[i], values[min(i + 1, n_rows - 1)]
        mark = marks[i]
        for j in range(n_columns):
            v = here[j]
            mark[j] = VERTICAL if (v <= above[j]) & (v <= below[j]) & (v < cap) else 0
        for j in range(1, n_columns - 1):
            v = here[j]
            mark[j] |= HORIZONTAL if (v <= here[j - 1]) & (v <= here[j + 1]) & (v < cap) else 0
        for j in (0, n_columns - 1):
            v = here[j]
            if v < cap and v <= here[max(j - 1, 0)] and v <= here[min(j + 1, n_columns - 1)]:
                mark[j] |= HORIZONTAL


@kernel
def mark_valid(values: Array, cap: int, ratio: float, reach: int, marks: Array) -> None:
    """Set VALID on minima and on what extends them: cells no less than the minimum and below `ratio` times it.

    reach : cells that an extension has at most.
    """
    n_rows, n_columns = values.shape
    for i in range(n_rows):
        for j in range(n_columns):
            mark = marks[i, j]
            if mark & (HORIZONTAL | VERTICAL) == 0:
                continue
            marks[i, j] |= VALID
            least = values[i, j]
            top = min(float(cap), ratio * least)
            if mark & HORIZONTAL:
                for k in range(j + 1, min(j + reach + 1, n_columns)):
                    if values[i, k] < least or values[i, k] >= top:
                        break
                    marks[i, k] |= VALID
                for k in range(j - 1, max(j - reach - 1, -1), -1):
                    if values[i, k] < least or values[i, k] >= top:
                        break
                    marks[i, k] |= VALID
            if mark & VERTICAL:
                for k in range(i + 1, min(i + reach + 1, n_rows)):
                    if values[k, j] < least or values[k, j] >= top:
                        break
                    marks[k, j] |= VALID
                for k in range(i - 1, max(i - reach - 1, -1), -1):
                    if values[k, j] < least or values[k, j] >= top:
                        break
                    marks[k, j] |= VALID


@kernel
def _longest_before(values: Array, near: int, marks: Array, most: int, free: Array, bound: Array) -> None:
    """Manhattan length, at most `most`, of the longest chain of minima below `near` that ends at each of them.

    free : of those that begin here or came by a diagonal step. bound : by a straight one, behind a diagonal one only;
    NEVER where there is none.
    """
    n_rows, n_columns = marks.shape
    for i in range(n_rows):
        for j in range(n_columns):
            free[i, j], bound[i, j] = NEVER, NEVER
            if marks[i, j] & (HORIZONTAL | VERTICAL) == 0 or values[i, j] >= near:
                continue
            free[i, j] = 0
            if i > 0 and j > 0 and free[i - 1, j - 1] != NEVER:
                length = int(free[i - 1, j - 1])
                if bound[i - 1, j - 1] != NEVER:
                    length = max(length, int(bound[i - 1, j - 1]))
                free[i, j] = min(length + 2, most)
            length = -1
            if i > 0 and free[i - 1, j] != NEVER:
                length = int(free[i - 1, j])
            if j > 0 and free[i, j - 1] != NEVER:
                length = max(length, int(free[i, j - 1]))
            if length >= 0:
                bound[i, j] = min(length + 1, most)


@kernel
def mark_chains(values: Array, near: int, marks: Array, least: int, free: Array, bound: Array) -> None:
    """Set CHAIN on minima through which a chain of minima below `near`, of Manhattan length `least` or more, goes.

    free, bound : room for two numbers for each cell.
    """
    n_rows, n_columns = marks.shape
    _longest_before(values, near, marks, least, free, bound)
    # Lengths behind a cell, of the row below and of this one; after a diagonal step any may follow, else diagonals.
    diagonal, straight = np.full((2, n_columns + 1), -1), np.full((2, n_columns + 1), -1)
    for i in range(n_rows - 1, -1, -1):
        now, below = i % 2, 1 - i % 2
        diagonal[now, :], straight[now, :] = -1, -1
        for j in range(n_columns - 1, -1, -1):
            if free[i, j] == NEVER:
                continue
            diagonal[now, j] = 0
            if diagonal[below, j + 1] >= 0:
                diagonal[now, j] = min(max(diagonal[below, j + 1], straight[below, j + 1]) + 2, least)
            after = max(diagonal[below, j], diagonal[now, j + 1])
            if after >= 0:
                straight[now, j] = min(after + 1, least)
            length = int(free[i, j]) + max(diagonal[now, j], straight[now, j])
            if bound[i, j] != NEVER:
                length = max(length, int(bound[i, j]) + diagonal[now, j])
            if length >= least:
                marks[i, j] |= CHAIN


@kernel
def mark_kept(marks: Array, most: int, kept: Array) -> None:
    """Set kept on valid cells from which a path of `most` steps at most, inside the valid region, leads to or comes
    from a chain; no two steps of it in succession are straight.
    """
    n_rows, n_columns = marks.shape
    never = 1 << 20
    free, bound = np.full((2, n_columns + 2), never), np.full((2, n_columns + 2), never)
    for i in range(n_rows):
        now, before = i % 2, 1 - i % 2
        free[now, :], bound[now, :] = never, never
        for j in range(n_columns):
            kept[i, j] = 0
            if marks[i, j] & VALID == 0:
                continue
            if marks[i, j] & CHAIN:
                free[now, j + 1] = 0
            else:
                free[now, j + 1] = min(free[before, j], bound[before, j]) + 1
                bound[now, j + 1] = min(free[before, j + 1], free[now, j]) + 1
            if min(free[now, j + 1], bound[now, j + 1]) <= most:
                kept[i, j] = 1
    free[:, :], bound[:, :] = never, never
    for i in range(n_rows - 1, -1, -1):
        now, before = i % 2, 1 - i % 2
        free[now, :], bound[now, :] = never, never
        for j in range(n_columns - 1, -1, -1):
            if marks[i, j] & VALID == 0:
                continue
            if marks[i, j] & CHAIN:
                free[now, j] = 0
            else:
                free[now, j] = min(free[before, j + 1], bound[before, j + 1]) + 1
                bound[now, j] = min(free[before, j], free[now, j + 1]) + 1
            if min(free[now, j], bound[now, j]) <= most:
                kept[i, j] = 1
