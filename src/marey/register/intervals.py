"""Match intervals of several rows (Kovar 5.2.3): each group has one interval per row, connected by overlaps; other
intervals are dropped or split.

Where this differs from the source:

- If the rows' first intervals are not connected, the one that *ends* first is dropped. The source drops the one that
  starts first, "as it cannot be part of any match". With three rows, a long interval can be part of a match: a later
  interval of another row may connect it to the third row.
- Of several possible splits, the source takes the one in which the entire ranges overlap most (5.5). Long intervals
  then cause wrong splits: with rows A = 0-10, B = 0-6 7-10, C = 0-2 3-6 7-10 it splits A alone, at the mean of two
  unrelated gaps. Here the first parts after the split are compared, each pair by the fraction of its union that both
  cover.
- A gap is placed at the mean of the gaps of the voters (the rows that are not split), after stretching them to the
  entire interval (5.6). If a part then no longer overlaps the interval that it should match, they are not stretched.
- Intervals that merely touch do not overlap: the edges of detected contacts are uncertain, and a tiny overlap would
  split a plant in two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from marey.core.arrays import Bools, Floats

# Intervals whose overlap is less than this fraction of the shorter one belong to different events.
_SLIVER = 0.1


class Interval(NamedTuple):
    """An interval of time."""

    start: float
    stop: float


@dataclass(frozen=True, slots=True)
class Matching:
    """Result of matching.

    groups : matches in order, each with one interval of every row.
    dropped : (row, interval) of intervals that are in no group.
    gaps : (row, interval) of gaps inserted to split an interval.
    """

    groups: tuple[tuple[Interval, ...], ...]
    dropped: tuple[tuple[int, Interval], ...]
    gaps: tuple[tuple[int, Interval], ...]


def match_intervals(rows: Sequence[Sequence[Interval]]) -> Matching:
    """Group corresponding intervals of n rows; the intervals of a row are sorted and do not overlap."""
    waiting = [[Interval(*interval) for interval in row] for row in rows]
    groups: list[tuple[Interval, ...]] = []
    dropped: list[tuple[int, Interval]] = []
    gaps: list[tuple[int, Interval]] = []
    while waiting and all(waiting):
        if not _is_connected([row[0] for row in waiting]):
            i = min(range(len(waiting)), key=lambda i: (waiting[i][0].stop, waiting[i][0].start))
            dropped.append((i, waiting[i].pop(0)))
            continue
        gap = _find_best_gaps(waiting)
        groups.append(_list_first_parts(waiting, gap))
        for i, row in enumerate(waiting):
            first = row.pop(0)
            if i in gap:
                gaps.append((i, gap[i]))
                row.insert(0, Interval(gap[i].stop, first.stop))
    dropped += [(i, interval) for i, row in enumerate(waiting) for interval in row]
    return Matching(tuple(groups), tuple(dropped), tuple(gaps))


def is_overlapping(a: Interval, b: Interval) -> bool:
    """Return whether two intervals overlap by more than a tiny fraction of the shorter one."""
    return bool(_find_overlaps(np.array([a]), np.array([b]))[0, 0])


def _find_overlaps(a: Floats, b: Floats) -> Bools:
    """Compute which of the intervals (n, 2) and (m, 2) overlap, (n, m); NaN stands for no interval."""
    shared = np.minimum(a[:, None, 1], b[:, 1]) - np.maximum(a[:, None, 0], b[:, 0])
    shorter = np.minimum((a[:, 1] - a[:, 0])[:, None], b[:, 1] - b[:, 0])
    return (shared > 0.0) & (shared >= _SLIVER * shorter)


def _is_connected(intervals: Sequence[Interval]) -> bool:
    """Return whether every row can be reached from every other row through overlaps."""
    near = _find_overlaps(np.array(intervals), np.array(intervals))
    reached = np.arange(len(intervals)) == 0
    while not reached.all():
        wider = near[reached].any(axis=0) | reached
        if (wider == reached).all():
            return False
        reached = wider
    return True


def _find_subsuming(rows: Sequence[Sequence[Interval]]) -> Bools:
    """Return a mask (n, n): whether the first interval of row i covers the first two intervals of row j and should be
    split."""
    first = np.array([row[0] for row in rows])
    second = np.array([row[1] if len(row) > 1 else (np.nan, np.nan) for row in rows])
    over: Bools = _find_overlaps(first, first) & _find_overlaps(first, second) & ~_find_overlaps(second, second)
    np.fill_diagonal(over, False)
    return over


def _find_best_gaps(rows: Sequence[Sequence[Interval]]) -> dict[int, Interval]:
    """Find the gap to insert for each row whose first interval must be split; empty if no row must be split."""
    n = len(rows)
    over = _find_subsuming(rows)
    best: dict[int, Interval] = {}
    quality = -1.0
    tried: set[frozenset[int]] = set()
    for i in np.flatnonzero(over.any(axis=1)).tolist():
        split = _close_set(i, over)
        if len(split) == n or split in tried:
            continue
        tried.add(split)
        voters = [row for j, row in enumerate(rows) if j not in split]
        for stretched in (True, False):
            gaps = {k: _average_gap(rows[k][0], voters, stretched) for k in sorted(split)}
            parts = _list_first_parts(rows, gaps)
            if _is_connected(parts):
                if _measure_likeness(parts) > quality:
                    best, quality = gaps, _measure_likeness(parts)
                break
    return best


def _close_set(i: int, over: Bools) -> frozenset[int]:
    """Return the smallest set of rows that contains `i` and whose members each subsume all rows outside the set."""
    inside = np.arange(len(over)) == i
    while True:
        # No member subsumes another member, so the rows that all members subsume are outside the set.
        outside = over[inside].all(axis=0) & ~inside
        if (outside == ~inside).all():
            return frozenset(np.flatnonzero(inside).tolist())
        inside = ~outside


def _average_gap(interval: Interval, voters: Sequence[Sequence[Interval]], stretched: bool) -> Interval:
    """Return the gap that splits `interval`: the mean of the voters' first gaps, `stretched` or not (Kovar 5.6)."""
    starts = stops = 0.0
    for row in voters:
        first, second = row[0], row[1]
        if not stretched:
            starts += min(max(first.stop, interval.start), interval.stop)
            stops += min(max(second.start, interval.start), interval.stop)
            continue
        # A voter with a third interval here causes another split later; until then, only its first two intervals count.
        end = second.stop if len(row) > 2 and is_overlapping(row[2], interval) else interval.stop
        end = min(end, interval.stop)
        scale = (end - interval.start) / (second.stop - first.start)
        starts += interval.start + scale * (first.stop - first.start)
        stops += interval.start + scale * (second.start - first.start)
    return Interval(starts / len(voters), stops / len(voters))


def _list_first_parts(rows: Sequence[Sequence[Interval]], gaps: dict[int, Interval]) -> tuple[Interval, ...]:
    return tuple(Interval(row[0].start, gaps[i].start) if i in gaps else row[0] for i, row in enumerate(rows))


def _measure_likeness(intervals: Sequence[Interval]) -> float:
    """Return the sum, over all pairs of intervals, of the ratio of intersection to union."""
    total = 0.0
    for i, a in enumerate(intervals):
        for b in intervals[:i]:
            union = max(a.stop, b.stop) - min(a.start, b.start)
            total += max(min(a.stop, b.stop) - max(a.start, b.start), 0.0) / union if union > 0.0 else 1.0
    return total
