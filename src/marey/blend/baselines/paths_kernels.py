"""Search for paths through a grid: depth first, with pruning; a search can be resumed.

Steps are 0 = right (advances the second motion), 1 = down (advances the first), 2 = diagonal (advances both). The state
of a path is the run of straight steps at its end: 0 for none, 1 .. run for steps to the right, run + 1 .. 2 run for
steps down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.compiled import Bools2D, Floats1D, Floats2D, Floats3D, Ints1D, Ints2D, Out, helper, kernel

RIGHT, DOWN, BOTH = 0, 1, 2


class SearchGrid(NamedTuple):
    """The grid, and which cells paths may use.

    values : (R, C) cost of each cell. allowed : (R, C) cells that may be visited.
    rows_left, columns_left : (R,), (C,) lower bounds on the cost of all rows below, and of all columns to the right.
    """

    values: Floats2D
    allowed: Bools2D
    rows_left: Floats1D
    columns_left: Floats1D


class SearchRules(NamedTuple):
    """Rules of the search.

    to_corner : whether paths end in the last cell; otherwise they end where they first meet the last row or column.
    run : maximum number of consecutive straight steps in one direction.
    short_first : try the diagonal step first, then the cheaper of the others; otherwise right, down, diagonal.
    """

    to_corner: bool
    run: int
    short_first: bool


class SearchState(NamedTuple):
    """Progress of a search.

    seen : (R, C, 2 run + 1) lowest cost at which each cell was reached in each state.
    stack : (N, 6) row, column, state, number of steps tried, and the order of the steps in two columns.
    costs : (N,) cost of the path up to each entry of the stack.
    path : (N, 2) the best path so far.
    best : (1,) its cost.
    counts : (3,) depth of the stack, length of the best path, cells visited.
    """

    seen: Out[Floats3D]
    stack: Out[Ints2D]
    costs: Out[Floats1D]
    path: Out[Ints2D]
    best: Out[Floats1D]
    counts: Out[Ints1D]


@kernel
def next_state(state: int, step: int, run: int) -> int:
    """Return the state after one more step, or -1 if the run would become too long."""
    if step == BOTH:
        return 0
    if step == RIGHT:
        after = state + 1 if 1 <= state <= run else 1
        return after if after <= run else -1
    after = state + 1 if state > run else run + 1
    return after if after <= 2 * run else -1


@kernel
def is_within_reach(rows: int, columns: int, state: int, run: int) -> bool:
    """Return whether a path in `state` can still reach the corner, `rows` and `columns` away.

    Each remaining row allows one diagonal step followed by up to `run` steps to the right, in addition to the rest of
    the current run. The same holds for columns.
    """
    right = state if state <= run else 0
    down = state - run if state > run else 0
    return columns <= rows * (run + 1) + run - right and rows <= columns * (run + 1) + run - down


@helper
def _is_no_better(seen: Floats1D, state: int, cost: float, run: int) -> bool:
    """Return whether a cell was already reached at no higher cost, in a state that allows at least the same steps."""
    if cost >= seen[0]:
        return True
    first = 1 if state <= run else run + 1
    known = np.inf
    for other in range(first, state + 1):
        known = min(known, seen[other])
    return cost >= known


@kernel
def search_paths(grid: SearchGrid, rules: SearchRules, progress: SearchState, budget: int) -> bool:
    """Continue a search for at most `budget` steps; return whether it is finished."""
    values, allowed, rows_left, columns_left = grid
    to_corner, run, short_first = rules
    seen, stack, costs, path, best, counts = progress
    last_row, last_column = values.shape[0] - 1, values.shape[1] - 1
    depth, visited = counts[0], counts[2]
    spent = 0
    while depth > 0 and spent < budget:
        top = depth - 1
        i, j, state, tried = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if tried == 3:
            depth -= 1
            continue
        if tried == 0:
            first, second = RIGHT, DOWN
            if short_first:
                first, second = BOTH, RIGHT
                if i < last_row and (j == last_column or values[i + 1, j] < values[i, j + 1]):
                    second = DOWN
            stack[top, 4], stack[top, 5] = first, second
        step = stack[top, 4] if tried == 0 else stack[top, 5] if tried == 1 else 3 - stack[top, 4] - stack[top, 5]
        stack[top, 3] = tried + 1
        spent += 1
        row = i + (1 if step != RIGHT else 0)
        column = j + (1 if step != DOWN else 0)
        if row > last_row or column > last_column or not allowed[row, column]:
            continue
        after = next_state(state, step, run)
        if after < 0 or (to_corner and not is_within_reach(last_row - row, last_column - column, after, run)):
            continue
        cost = costs[top] + values[row, column]
        by_rows, by_columns = rows_left[row], columns_left[column]
        left = max(by_rows, by_columns) if to_corner else min(by_rows, by_columns)
        if cost + left >= best[0] or _is_no_better(seen[row, column], after, cost, run):
            continue
        seen[row, column, after] = cost
        visited += 1
        stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = row, column, after, 0
        costs[depth] = cost
        ended = (row == last_row and column == last_column) if to_corner else (row == last_row or column == last_column)
        if ended:
            best[0] = cost
            counts[1] = depth + 1
            for k in range(depth + 1):
                path[k, 0], path[k, 1] = stack[k, 0], stack[k, 1]
        else:
            depth += 1
    counts[0], counts[2] = depth, visited
    finished: bool = depth == 0
    return finished


@kernel
def find_bottleneck(values: Floats2D, start: tuple[int, int], to_corner: bool, run: int) -> float:
    """Return the minimum, over all paths, of the largest cell on the path; infinite if there is no path."""
    n_rows, n_columns = values.shape
    start_row, start_column = start
    n_states = 2 * run + 1
    reach = np.full((n_rows, n_columns, n_states), np.inf)
    reach[start_row, start_column, 0] = values[start_row, start_column]
    least = np.inf
    for i in range(start_row, n_rows):
        for j in range(start_column, n_columns):
            at_border = i == n_rows - 1 or j == n_columns - 1
            if (i == n_rows - 1 and j == n_columns - 1) if to_corner else at_border:
                for state in range(n_states):
                    least = min(least, reach[i, j, state])
                if not to_corner:
                    continue
            for state in range(n_states):
                if reach[i, j, state] == np.inf:
                    continue
                for step in range(3):
                    row = i + (1 if step != RIGHT else 0)
                    column = j + (1 if step != DOWN else 0)
                    after = next_state(state, step, run)
                    if row < n_rows and column < n_columns and after >= 0:
                        dearest = max(reach[i, j, state], values[row, column])
                        reach[row, column, after] = min(reach[row, column, after], dearest)
    return least
