"""What searches through a motion graph need of it, and how states are compared and thinned out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.compiled import Bools1D, Floats1D, Floats2D, Ints1D, Ints2D, Out, helper


class EdgeLayout(NamedTuple):
    """A motion graph of N nodes and E edges, and where the hips are on the P frames of all edges.

    cells : (N,) numbers that nodes share where one is as good as another.
    first_out : (N + 1,) the edges that leave node n are ``first_out[n]`` to ``first_out[n + 1]``.
    heads : (E,) the node at which each edge ends.
    lengths : (E,) frames of each edge.
    blends : (E,) whether it is a transition.
    first : (E + 1,) the frames of edge e are ``first[e]`` to ``first[e + 1]``.
    points : (P, 2) x, z in the world of the edge's first clip, meters, without the sway of the hips.
    steps : (P,) meters from the frame before.
    moves : (E, 4) cos, sin, x, z: how an edge changes the world transform of what follows.
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
    """Where a search begins.

    states : (S, 4 or more) cos, sin, x, z of the clips' transforms, and what else a state has.
    nodes : (S,).
    """

    states: Floats2D
    nodes: Ints1D


class Trail(NamedTuple):
    """What a search has found.

    records : (R, 2) for each state that was expanded the record of its parent and the edge from there.
    end : (3,) the last record, the edge from there and the frames of it that are played; -1 where nothing was found.
    """

    records: Out[Ints2D]
    end: Out[Ints1D]


Transform = tuple[float, float, float, float]
"""cos, sin, x, z of a rigid transform of the floor."""


@helper
def find_longest(lengths: Ints1D) -> int:
    """The frames of the longest edge."""
    longest = 0
    for e in range(lengths.shape[0]):
        longest = max(longest, lengths[e])
    return longest


@helper
def find_table_size(n: int) -> int:
    """The size of a hash table for n states: a power of two, at least four times as many."""
    size = 1
    while size < 4 * n:
        size *= 2
    return size


@helper
def apply_move(place: Transform, move: Floats1D) -> Transform:
    """A transform after a move (4,)."""
    c, s, x, z = place
    mc, ms, mx, mz = move[0], move[1], move[2], move[3]
    return c * mc - s * ms, s * mc + c * ms, mx * c + mz * s + x, mz * c - mx * s + z


@helper
def find_next_frame(counts: Ints1D, frame: int, max_frames: int) -> int:
    """The first frame from `frame` on whose slot holds states, or `max_frames` if there is none before that.

    counts : (N,) states in each slot; frame f has slot f modulo N.
    """
    n_slots = counts.shape[0]
    for later in range(frame, min(frame + n_slots, max_frames)):
        if counts[later % n_slots] > 0:
            return later
    return max_frames


@helper
def is_noted(kind: int, stamp: int, table: Ints2D) -> bool:
    """Whether a kind is in the hash table (T, 2) with this stamp already; it is afterwards."""
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
    """Put the first `keep` states in this order to the front."""
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


# Ranges no longer than this are sorted by insertion.
_SMALL = 15


@helper
def sort_indices(keys: Floats1D) -> Ints1D:
    """The indices of keys (N,) from the smallest to the largest, by quicksort; equal keys come in no particular order.

    As NumPy's argsort, which in compiled code needs Numba's lists.
    """
    n = len(keys)
    order = np.empty(n, np.int64)
    for k in range(n):
        order[k] = k
    # The larger part waits, so that no more parts wait than n has binary digits.
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
    """Divide order[low : high + 1] by the median of three keys; returns the median's place."""
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
