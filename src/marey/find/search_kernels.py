"""Compiled loops of the search: timewarping with free ends over the kept cells of a grid, in time linear in these.

A query is a run of rows of a grid (`along_rows`) or a run of its columns (`along_columns`); the other clip's frames are
the other axis. With v the cost of the best path to a cell whose query frame is k and whose other frame is j, and D the
cost of a cell (slope limit 2 as in `marey.register.dtw`: a step in both, and at most one straight step behind it, which
costs `extra` more):

    v[0, j] = D[0, j]
    v[k, j] = min of  v[k-1, j-1] + D[k, j]
                      v[k-2, j-1] + D[k-1, j] + D[k, j] + extra
                      v[k-1, j-2] + D[k, j-1] + D[k, j] + extra

Cells are stored by rows, as runs of neighbours: those of row i are `row_runs[i]` to `row_runs[i + 1]`; run r starts at
column `run_first[r]` and has the values `run_values[r]` to `run_values[r + 1]`, roots of D in units of `step`. Only
three rows are held at a time, and only kept cells of them are ever touched.

Paths that cost more than `cap` are given up. With n query frames a path has at most 2 n - 1 cells and n - 1 straight
steps, so one with a mean of at most T cannot cost more than T (2 n - 1) + extra (n - 1): with that cap the paths that
matter are the same as with none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import kernel

Array = Any


@kernel
def along_rows(
    row_runs: Array,
    run_first: Array,
    run_values: Array,
    values: Array,
    step: float,
    start: int,
    stop: int,
    extra: float,
    cap: float,
    totals: Array,
    counts: Array,
    firsts: Array,
) -> int:
    """For each column, the best path from row `start` that ends there in row ``stop - 1``.

    Parameters
    ----------
    totals : (C,) written: the sum of D in m^2, inf where no path ends.
    counts, firsts : (C,) written there: how many cells it has, and the column where it begins.

    Returns
    -------
    How many cells were looked at.
    """
    n_columns = totals.shape[0]
    totals[:] = np.inf
    # Two columns of margin on the left are never reached; three rows take turns.
    best = np.full((3, n_columns + 2), np.inf)
    cost = np.full((3, n_columns + 2), np.inf)
    many = np.zeros((3, n_columns + 2), np.int32)
    begun = np.zeros((3, n_columns + 2), np.int32)
    unit = step * step
    looked_at = 0
    for i in range(start, stop):
        now, before, last = i % 3, (i + 2) % 3, (i + 1) % 3
        if i >= start + 3:
            for run in range(row_runs[i - 3], row_runs[i - 2]):
                left = run_first[run] + 2
                right = left + run_values[run + 1] - run_values[run]
                best[now, left:right] = np.inf
                cost[now, left:right] = np.inf
        alive = False
        for run in range(row_runs[i], row_runs[i + 1]):
            shift = run_first[run] + 2 - run_values[run]
            for k in range(run_values[run], run_values[run + 1]):
                at = k + shift
                root = float(values[k])
                here = root * root * unit
                cost[now, at] = here
                looked_at += 1
                if i == start:
                    if here <= cap:
                        best[now, at] = here
                        many[now, at] = 1
                        begun[now, at] = at - 2
                        alive = True
                    continue
                total = best[before, at - 1]
                come, side, steps = before, at - 1, 1
                other = best[last, at - 1] + cost[before, at] + extra
                if other < total:
                    total = other
                    come, steps = last, 2
                other = best[before, at - 2] + cost[now, at - 1] + extra
                if other < total:
                    total = other
                    come, side, steps = before, at - 2, 2
                total += here
                if total <= cap:
                    best[now, at] = total
                    many[now, at] = many[come, side] + steps
                    begun[now, at] = begun[come, side]
                    alive = True
        if i == stop - 1:
            for run in range(row_runs[i], row_runs[i + 1]):
                left = run_first[run]
                for at in range(left, left + run_values[run + 1] - run_values[run]):
                    totals[at] = best[now, at + 2]
                    counts[at] = many[now, at + 2]
                    firsts[at] = begun[now, at + 2]
        elif not alive and not (i > start and _any(row_runs, run_first, run_values, best, before, i - 1)):
            return looked_at
    return looked_at


@kernel
def _any(row_runs: Array, run_first: Array, run_values: Array, best: Array, slot: int, i: int) -> bool:
    """Whether any path reached row i, which is held in `slot`."""
    for run in range(row_runs[i], row_runs[i + 1]):
        left = run_first[run] + 2
        for at in range(left, left + run_values[run + 1] - run_values[run]):
            if best[slot, at] < np.inf:
                return True
    return False


@kernel
def along_columns(
    row_runs: Array,
    run_first: Array,
    run_values: Array,
    values: Array,
    step: float,
    start: int,
    stop: int,
    extra: float,
    cap: float,
    totals: Array,
    counts: Array,
    firsts: Array,
) -> int:
    """As `along_rows` with rows and columns exchanged: the query is columns `start` to `stop`, results are by row (R,).

    Rows are still gone through from first to last; each finds its runs within the query by halving.
    """
    n_rows, width = totals.shape[0], stop - start
    totals[:] = np.inf
    best = np.full((3, width + 2), np.inf)
    cost = np.full((3, width + 2), np.inf)
    many = np.zeros((3, width + 2), np.int32)
    begun = np.zeros((3, width + 2), np.int32)
    touched = np.zeros(3, np.bool_)
    unit = step * step
    looked_at = 0
    for i in range(n_rows):
        now, before, last = i % 3, (i + 2) % 3, (i + 1) % 3
        if touched[now]:
            best[now, :] = np.inf
            cost[now, :] = np.inf
            touched[now] = False
        # The first run that ends beyond `start`.
        low, high = row_runs[i], row_runs[i + 1]
        while low < high:
            middle = (low + high) // 2
            if run_first[middle] + run_values[middle + 1] - run_values[middle] <= start:
                low = middle + 1
            else:
                high = middle
        for run in range(low, row_runs[i + 1]):
            if run_first[run] >= stop:
                break
            touched[now] = True
            shift = run_first[run] - run_values[run] - start + 2
            left = max(run_values[run], 2 - shift)
            right = min(run_values[run + 1], width + 2 - shift)
            for k in range(left, right):
                at = k + shift
                root = float(values[k])
                here = root * root * unit
                cost[now, at] = here
                looked_at += 1
                if at == 2:
                    if here <= cap:
                        best[now, 2] = here
                        many[now, 2] = 1
                        begun[now, 2] = i
                    continue
                total = best[before, at - 1]
                come, side, steps = before, at - 1, 1
                # In the order of `along_rows`, so that equal paths are told apart alike.
                other = best[before, at - 2] + cost[now, at - 1] + extra
                if other < total:
                    total = other
                    side, steps = at - 2, 2
                other = best[last, at - 1] + cost[before, at] + extra
                if other < total:
                    total = other
                    come, side, steps = last, at - 1, 2
                total += here
                if total <= cap:
                    best[now, at] = total
                    many[now, at] = many[come, side] + steps
                    begun[now, at] = begun[come, side]
        if best[now, width + 1] < np.inf:
            totals[i] = best[now, width + 1]
            counts[i] = many[now, width + 1]
            firsts[i] = begun[now, width + 1]
    return looked_at


@kernel
def keep_distinct(clips: Array, starts: Array, stops: Array, same: float, kept: Array) -> int:
    """Of N stretches, from the first on, those that share at most `same` of the shorter's frames with none before.

    Their places are written to `kept` (N,).

    Returns
    -------
    How many they are.
    """
    n = 0
    for k in range(len(clips)):
        is_new = True
        for at in range(n):
            other = kept[at]
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
def most_overlap(places: Array, n: int, clip: int, start: int, stop: int) -> tuple[int, float]:
    """Of the first n places (N, 3), the one that overlaps most with a stretch of a clip, and the share (Kovar 6.1).

    Of equal ones the first.
    """
    best, most = 0, 0.0
    for k in range(n):
        if places[k, 0] != clip:
            continue
        shared = min(stop, places[k, 2]) - max(start, places[k, 1])
        share = shared / min(stop - start, places[k, 2] - places[k, 1])
        if share > most:
            best, most = k, share
    return best, most
