"""Data structures and helpers that the beam searches through a motion graph share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.compiled import Bools1D, Floats1D, Floats2D, Ints1D, Ints2D, Out, helper


class EdgeLayout(NamedTuple):
    """A motion graph of N nodes and E edges, with the hip positions on the P frames of all edges. Ranges are half-open.

    cells : (N,) cell of each node; nodes in one cell count as interchangeable.
    first_out : (N + 1,) edges ``first_out[n]`` to ``first_out[n + 1]`` leave node n.
    heads : (E,) the node that each edge enters.
    lengths : (E,) number of frames of each edge.
    blends : (E,) whether the edge is a transition.
    first : (E + 1,) edge e has the frames ``first[e]`` to ``first[e + 1]``.
    points : (P, 2) x, z of the hips in the coordinates of the edge's first clip, meters, without sway.
    steps : (P,) distance in meters from the previous frame.
    moves : (E, 4) cos, sin, x, z of the transform by which each edge changes the world transform of the next clip.
    """

    cells: Ints1D
    first_out: Ints1D
    heads: Ints1D
    lengths: Ints1D
    blends: Bools1D
    first: Ints1D
    points: Floats2D
    steps: Floats1D
    moves: Floats2D


class Starts(NamedTuple):
    """The S start states of a search.

    states : (S, 4 or more) cos, sin, x, z of the world transform of each node's clip, then the values that the search
        adds to a state.
    nodes : (S,) start nodes.
    """

    states: Floats2D
    nodes: Ints1D


class Trail(NamedTuple):
    """The result of a search, as a chain of records that leads back to the start.

    records : (R, 2) for each expanded state, the record of its parent and the edge from the parent.
    end : (3,) the last record, the edge taken from it, and how many frames of that edge are played; -1 if no walk was
        found.
    """

    records: Out[Ints2D]
    end: Out[Ints1D]


Transform = tuple[float, float, float, float]
"""cos, sin, x, z of a rigid transform of the floor plane."""


@helper
def find_longest(lengths: Ints1D) -> int:
    """Return the number of frames of the longest edge."""
    longest = 0
    for e in range(lengths.shape[0]):
        longest = max(longest, lengths[e])
    return longest


@helper
def find_table_size(n: int) -> int:
    """Return the size of a hash table for n states: the smallest power of two that is at least 4 n."""
    size = 1
    while size < 4 * n:
        size *= 2
    return size


@helper
def apply_move(place: Transform, move: Floats1D) -> Transform:
    """Compose a transform with a move (4,) of cos, sin, x, z; the move is applied first."""
    c, s, x, z = place
    mc, ms, mx, mz = move[0], move[1], move[2], move[3]
    return c * mc - s * ms, s * mc + c * ms, mx * c + mz * s + x, mz * c - mx * s + z


@helper
def find_next_frame(counts: Ints1D, frame: int, max_frames: int) -> int:
    """Return the first frame from `frame` on whose slot holds states, or `max_frames` if there is none before it.

    counts : (N,) number of states in each slot; frame f has slot f modulo N.
    """
    n_slots = counts.shape[0]
    for later in range(frame, min(frame + n_slots, max_frames)):
        if counts[later % n_slots] > 0:
            return later
    return max_frames


@helper
def is_noted(kind: int, stamp: int, table: Ints2D) -> bool:
    """Return whether `kind` is already in the hash table (T, 2) with this stamp, and insert it if not.

    Entries with another stamp count as empty, so the table need not be cleared.
    """
    size = table.shape[0]
    place = (kind * 2654435761) % size
    while table[place, 1] == stamp:
        if table[place, 0] == kind:
            return True
        place = (place + 1) % size
    table[place, 0], table[place, 1] = kind, stamp
    return False


@helper
def keep_first(order: Ints1D, keep: int, numbers: Floats2D, marks: Ints2D) -> None:
    """Move the first `keep` states of `order` to the front of the slot; the others are dropped.

    numbers, marks : (R, any) float and integer values of the slot's states.
    """
    kept_numbers = np.empty((keep, numbers.shape[1]))
    kept_marks = np.empty((keep, marks.shape[1]), np.int64)
    for k in range(keep):
        for c in range(numbers.shape[1]):
            kept_numbers[k, c] = numbers[order[k], c]
        for c in range(marks.shape[1]):
            kept_marks[k, c] = marks[order[k], c]
    for k in range(keep):
        for c in range(numbers.shape[1]):
            numbers[k, c] = kept_numbers[k, c]
        for c in range(marks.shape[1]):
            marks[k, c] = kept_marks[k, c]


# Ranges of up to this many items are sorted by insertion.
_SMALL = 15


@helper
def sort_indices(keys: Floats1D) -> Ints1D:
    """Return the indices that sort keys (N,) in ascending order, by quicksort. The order of equal keys is undefined.

    Replaces NumPy's argsort, which in compiled code needs Numba's lists.
    """
    n = len(keys)
    order = np.empty(n, np.int64)
    for k in range(n):
        order[k] = k
    # Push the larger part on the stack and continue with the smaller: the stack never exceeds log2(n) entries.
    waiting = np.empty((64, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, n - 1
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        low, high = waiting[n_waiting, 0], waiting[n_waiting, 1]
        while high - low >= _SMALL:
            i = _partition(keys, order, low, high)
            if high - i > i - low:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = i + 1, high
                high = i - 1
            else:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = low, i - 1
                low = i + 1
            n_waiting += 1
        for i in range(low + 1, high + 1):
            k = order[i]
            j = i
            while j > low and keys[k] < keys[order[j - 1]]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = k
    return order


@helper
def _partition(keys: Floats1D, order: Ints1D, low: int, high: int) -> int:
    """Partition order[low : high + 1] around the median of three keys; return the position of the median."""
    mid = (low + high) >> 1
    if keys[order[mid]] < keys[order[low]]:
        order[low], order[mid] = order[mid], order[low]
    if keys[order[high]] < keys[order[mid]]:
        order[high], order[mid] = order[mid], order[high]
    if keys[order[mid]] < keys[order[low]]:
        order[low], order[mid] = order[mid], order[low]
    pivot = keys[order[mid]]
    order[high], order[mid] = order[mid], order[high]
    i, j = low, high - 1
    while True:
        while i < high and keys[order[i]] < pivot:
            i += 1
        while j >= low and pivot < keys[order[j]]:
            j -= 1
        if i >= j:
            break
        order[i], order[j] = order[j], order[i]
        i += 1
        j -= 1
    order[i], order[high] = order[high], order[i]
    return i
