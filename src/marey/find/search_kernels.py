"""Timewarping with free ends over the kept cells of a grid, in time linear in their number.

The query is a range of rows of a grid, or a range of its columns; the other axis holds the other clip's frames. Let
v[k, j] be the cost of the best path to query frame k and other frame j, and D[k, j] the cost of that cell. With a slope
limit of 2, as in `marey.register.dtw`, each diagonal step may be followed by at most one straight step, which costs
`extra` more:

    v[0, j] = D[0, j]
    v[k, j] = min of  v[k-1, j-1] + D[k, j]
                      v[k-2, j-1] + D[k-1, j] + D[k, j] + extra
                      v[k-1, j-2] + D[k, j-1] + D[k, j] + extra

Cells are stored by rows (see `cells.Cells`) and processed in that order, whichever axis holds the query. Only three
rows are in memory at a time, and only their kept cells are touched.

Paths that cost more than `cap` are dropped. With n query frames a path has at most 2 n - 1 cells and n - 1 straight
steps, so a path with a mean D of at most T cannot cost more than T (2 n - 1) + extra (n - 1). With that value as cap,
no path with a mean of at most T is lost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Int32s1D, Ints1D, Ints2D, Out, helper, kernel
from marey.find.cells_kernels import Runs, WideRuns

# A path is coded in an int64: its number of cells in the upper 32 bits, its first frame in the lower 32.
CELL = 1 << 32


class PathQuery(NamedTuple):
    """The query, and the costs of paths.

    start, stop : frames of the query, half-open.
    is_row : whether they are rows of the grid; otherwise they are columns.
    step : meters per unit of the cells' values.
    extra : extra cost of a straight step, m^2.
    cap : paths that cost more than this are dropped, m^2.
    """

    start: int
    stop: int
    is_row: bool
    step: float
    extra: float
    cap: float


class PathEnds(NamedTuple):
    """The best path that ends at each of F frames of the other clip.

    totals : (F,) its cost in m^2: the sum of D, plus the extra cost of straight steps; inf if no path ends there.
    counts, firsts : (F,) its number of cells, and the frame where it begins; not written if no path ends there.
    """

    totals: Out[Floats1D]
    counts: Out[Int32s1D]
    firsts: Out[Int32s1D]


class Behind(NamedTuple):
    """The rows of the grid from which paths reach a cell.

    cost : costs of the cells in the row of the cell itself.
    before, before_cost, before_code : costs of the paths, costs of the cells, and codes of the paths one row above.
    last, last_code : costs and codes of the paths two rows above.
    """

    cost: Floats1D
    before: Floats1D
    before_cost: Floats1D
    before_code: Ints1D
    last: Floats1D
    last_code: Ints1D


@kernel
def find_best_paths(runs: Runs, query: PathQuery, out: PathEnds) -> int:
    """Find, for each frame of the other clip, the best path from the query's first frame to its last that ends there;
    return the number of cells examined."""
    return _find_best_paths(runs, query, out)


@kernel
def find_best_wide_paths(runs: WideRuns, query: PathQuery, out: PathEnds) -> int:
    """Do the same as `find_best_paths` for grids with 2^16 columns or more."""
    return _find_best_paths(runs, query, out)


@helper
def _find_best_paths(runs: Runs | WideRuns, query: PathQuery, out: PathEnds) -> int:
    row_runs, _, run_first, run_lengths, run_bases, rises = runs
    start, stop, is_row, step, extra, cap = query
    totals, counts, firsts = out
    totals[:] = np.inf
    if is_row:
        top, bottom, left, right = start, stop, 0, len(totals)
    else:
        top, bottom, left, right = 0, len(totals), start, stop
    # The two columns of margin on the left stay infinite; three rows are used in rotation.
    width = right - left + 2
    best, cost = np.full((3, width), np.inf), np.full((3, width), np.inf)
    codes = np.zeros((3, width), np.int64)
    lows, highs = np.zeros(3, np.int64), np.zeros(3, np.int64)
    unit, n_examined, was_alive = step * step, 0, True
    for i in range(top, bottom):
        now = i % 3
        for run in range(lows[now], highs[now]):
            clear_from, clear_to = max(run_first[run] - left, 0) + 2, run_first[run] - left + 2 + run_lengths[run]
            best[now, clear_from:clear_to] = np.inf
            cost[now, clear_from:clear_to] = np.inf
        low, at_rise = _find_first_run(runs, i, left)
        run, alive = low, False
        here, here_cost, here_code = best[now], cost[now], codes[now]
        behind = Behind(here_cost, best[now - 1], cost[now - 1], codes[now - 1], best[now - 2], codes[now - 2])
        is_first, is_last = is_row and i == start, is_row and i == stop - 1
        while run < row_runs[i + 1] and run_first[run] < right:
            shift, n_cells = run_first[run] - left, int(run_lengths[run])
            value = int(run_bases[run])
            for k in range(1, -shift + 1):
                value += rises[at_rise + k - 1]
            begin, end = max(-shift, 0), min(n_cells, right - left - shift)
            n_examined += end - begin
            for k in range(begin, end):
                if k > begin:
                    value += rises[at_rise + k - 1]
                column = k + shift + 2
                own = float(value * value) * unit
                here_cost[column] = own
                if is_first or (column == 2 and not is_row):
                    total, path = own, CELL + (column - 2 if is_row else i)
                else:
                    total, path = extend_path(behind, column, extra, is_row)
                if total <= cap:
                    here[column], here_code[column] = total, path
                    alive = True
                    if is_last or (column == width - 1 and not is_row):
                        frame = column - 2 if is_row else i
                        totals[frame], counts[frame], firsts[frame] = total, path // CELL, path % CELL
            at_rise += n_cells - 1
            run += 1
        lows[now], highs[now] = low, run
        if is_row and not alive and not was_alive:
            return n_examined
        was_alive = alive
    return n_examined


@helper
def extend_path(behind: Behind, column: int, extra: float, is_row: bool) -> tuple[float, int]:
    """Return the lowest cost of a path to a cell and the code of this path. `behind.cost` has the cell's cost.

    extra : additional cost of a straight step.
    is_row : whether the query's frames are rows.
    """
    own, diagonal = behind.cost[column], behind.before[column - 1]
    down = behind.last[column - 1] + behind.before_cost[column] + extra
    across = behind.before[column - 2] + behind.cost[column - 1] + extra
    # Of equal paths, prefer the straight step along the query's axis, whether that is rows or columns.
    if down < across or (is_row and down == across):
        if down < diagonal:
            return down + own, behind.last_code[column - 1] + 2 * CELL
    elif across < diagonal:
        return across + own, behind.before_code[column - 2] + 2 * CELL
    return diagonal + own, behind.before_code[column - 1] + CELL


@helper
def _find_first_run(runs: Runs | WideRuns, i: int, left: int) -> tuple[int, int]:
    """Return the first run of row i that ends to the right of column `left`, and the index of its first rise."""
    row_runs, row_rises, run_first, run_lengths = runs.row_runs, runs.row_rises, runs.first, runs.lengths
    low, high = row_runs[i], row_runs[i + 1]
    if left == 0:
        return low, row_rises[i]
    while low < high:
        middle = (low + high) // 2
        if run_first[middle] + run_lengths[middle] <= left:
            low = middle + 1
        else:
            high = middle
    rise = row_rises[i]
    for run in range(row_runs[i], low):
        rise += run_lengths[run] - 1
    return low, rise


@kernel
def keep_distinct(clips: Ints1D, starts: Ints1D, stops: Ints1D, same: float, kept: Out[Ints1D]) -> int:
    """Drop intervals that overlap an earlier kept one by more than `same`; return the number of intervals kept.

    clips, starts, stops : (N,) clip and frames of each interval, half-open.
    same : fraction of the shorter interval.
    kept : (N,) receives the indices of the kept intervals.
    """
    n = 0
    for k in range(len(clips)):
        is_new = True
        for index in range(n):
            other = kept[index]
            if clips[other] != clips[k]:
                continue
            shared = min(stops[k], stops[other]) - max(starts[k], starts[other])
            if shared > same * min(stops[k] - starts[k], stops[other] - starts[other]):
                is_new = False
                break
        if is_new:
            kept[n] = k
            n += 1
    return n


@kernel
def find_most_overlap(places: Ints2D, n: int, place: tuple[int, int, int]) -> tuple[int, float]:
    """Return the index of the interval that overlaps most with `place`, and the overlap as a fraction of the shorter
    interval (Kovar 6.1); ties go to the first. Without any overlap, the result is 0 and 0.0.

    places : (N, 3) clip, start, stop of intervals; only the first n are used.
    """
    clip, start, stop = place
    best, max_overlap = 0, 0.0
    for k in range(n):
        if places[k, 0] != clip:
            continue
        shared = min(stop, places[k, 2]) - max(start, places[k, 1])
        overlap = shared / min(stop - start, places[k, 2] - places[k, 1])
        if overlap > max_overlap:
            best, max_overlap = k, overlap
    return best, max_overlap
