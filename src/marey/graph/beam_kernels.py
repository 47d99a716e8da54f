"""Beam search through a motion graph, for any goal.

A state is a node, the world transform of its clip, and values that the goal adds. States are stored in slots by the
frame at which they begin; the slots form a ring buffer. At each frame the best states are expanded, at most one of each
kind. A goal is a record with the fields `layout` and `limits` and two functions, which are compiled into the search:

``identify(search, state, marks, best_cost, frame)`` returns a number that only interchangeable states share, or -1 if
the state cannot lead to a walk that costs less than `best_cost`.

``expand(search, beam, where, trail)`` plays the edges out of a state, adds the states that they lead to with
`add_state`, and writes better walks to `trail`; see `Expanded`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from marey.compiled import Bools1D, Floats1D, Floats2D, Floats3D, Ints1D, Ints2D, Ints3D, Out, helper

# Columns of a state's numbers: cos, sin, x, z of its clip's world transform, the cost so far, and the key by which
# states at one frame are ranked, lowest first. Goals add their own values after these.
COST, KEY, N_NUMBERS = 4, 5, 6
# Columns of a state's marks: its node, its style, the record of its parent, and the edge from the parent. A start
# state has the parent -1, and edge -1 - k if it is start k.
NODE, STYLE, PARENT, EDGE = 0, 1, 2, 3


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

    states : (S, C) numbers of each state: `N_NUMBERS`, then those of the goal.
    nodes : (S,) start nodes.
    """

    states: Floats2D
    nodes: Ints1D


class Limits(NamedTuple):
    """Limits of a search.

    width : number of states to expand per frame.
    max_frames : maximum number of frames of a walk.
    min_cost, per_frame : no walk of n frames costs less than ``min_cost + per_frame * n``.
    """

    width: int
    max_frames: int
    min_cost: float
    per_frame: float


class Trail(NamedTuple):
    """The result of a search, as a chain of records that leads back to the start.

    records : (R, 2) for each expanded state, the record of its parent and the edge from the parent.
    end : (3,) the last record, the edge taken from it, and how many frames of that edge are played; -1 if no walk was
        found.
    best : (2,) the cost that a walk must stay below, and the error of its end in meters if the goal measures one; both
        are overwritten when a better walk is found.
    """

    records: Out[Ints2D]
    end: Out[Ints1D]
    best: Out[Floats1D]


class Beam(NamedTuple):
    """The states of a search, in N slots of up to R states; frame f has slot f modulo N.

    numbers : (N, R, C) floating-point values of each state.
    marks : (N, R, 4) integer values of each state.
    counts : (N,) number of states in each slot.
    """

    numbers: Floats3D
    marks: Ints3D
    counts: Ints1D


class Expanded(NamedTuple):
    """The state that is being expanded: its frame, its number in the frame's slot, and its record in the trail."""

    frame: int
    number: int
    record: int


Transform = tuple[float, float, float, float]
"""cos, sin, x, z of a rigid transform of the floor plane."""


@helper
def search_beam(
    starts: Starts, search: Any, identify: Callable[..., int], expand: Callable[..., None], trail: Trail
) -> None:
    """Search for a walk from any of the starts that costs less than `trail.best`.

    search : record of the goal.
    identify, expand : functions of the goal.
    """
    width, max_frames, min_cost, per_frame = search.limits
    n_starts, n_columns = starts.states.shape
    n_slots = _find_longest(search.layout.lengths) + 1
    capacity = max(6 * width, n_starts)
    beam = Beam(
        np.empty((n_slots, capacity, n_columns)),
        np.empty((n_slots, capacity, 4), np.int64),
        np.zeros(n_slots, np.int64),
    )
    for k in range(n_starts):
        for c in range(n_columns):
            beam.numbers[0, k, c] = starts.states[k, c]
        marks = beam.marks[0, k]
        marks[NODE], marks[STYLE], marks[PARENT], marks[EDGE] = starts.nodes[k], 0, -1, -1 - k
    beam.counts[0] = n_starts
    table = np.full((find_table_size(capacity), 2), -1, np.int64)
    chosen = np.empty(max(width, n_starts), np.int64)
    trail.end[0] = trail.end[1] = trail.end[2] = -1
    n_records = 0
    frame = _find_next_frame(beam.counts, 0, max_frames)
    while frame < max_frames and min_cost + per_frame * frame < trail.best[0]:
        slot = frame % n_slots
        order = _rank(beam.numbers[slot], beam.counts[slot])
        beam.counts[slot] = 0
        n_max = width if frame else n_starts
        n_chosen = 0
        for q in range(len(order)):
            k = order[q]
            kind = identify(search, beam.numbers[slot, k], beam.marks[slot, k], trail.best[0], frame)
            if kind < 0 or is_noted(kind, frame, table):
                continue
            chosen[n_chosen] = k
            n_chosen += 1
            if n_chosen == n_max:
                break
        for q in range(n_chosen):
            if n_records == trail.records.shape[0]:
                return
            marks = beam.marks[slot, chosen[q]]
            trail.records[n_records, 0], trail.records[n_records, 1] = marks[PARENT], marks[EDGE]
            expand(search, beam, Expanded(frame, chosen[q], n_records), trail)
            n_records += 1
        frame = _find_next_frame(beam.counts, frame + 1, max_frames)


@helper
def add_state(beam: Beam, where: Expanded, layout: EdgeLayout, edge: int, style: int) -> Floats1D:
    """Add the state that an edge leads to from the expanded state; return its numbers (C,).

    The caller writes all of them but the transform. If the slot is full, its worst states are dropped.
    """
    slot = where.frame % beam.counts.shape[0]
    target = (where.frame + layout.lengths[edge]) % beam.counts.shape[0]
    n, capacity = beam.counts[target], beam.numbers.shape[1]
    if n == capacity:
        n = capacity // 2
        _keep_first(_rank(beam.numbers[target], capacity), n, beam.numbers[target], beam.marks[target])
    beam.counts[target] = n + 1
    marks: Ints1D = beam.marks[target, n]
    state: Floats1D = beam.numbers[target, n]
    marks[NODE], marks[STYLE], marks[PARENT], marks[EDGE] = layout.heads[edge], style, where.record, edge
    state[0], state[1], state[2], state[3] = apply_move(get_place(beam.numbers[slot, where.number]), layout.moves[edge])
    return state


@helper
def get_place(state: Floats1D) -> Transform:
    """Return the world transform of a state's clip."""
    return state[0], state[1], state[2], state[3]


@helper
def _find_longest(lengths: Ints1D) -> int:
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
    """Compose a transform with a move (4,) of cos, sin, x, z; the move is applied first.

    place : the transform, as cos, sin, x, z.
    """
    c, s, x, z = place
    mc, ms, mx, mz = move[0], move[1], move[2], move[3]
    return c * mc - s * ms, s * mc + c * ms, mx * c + mz * s + x, mz * c - mx * s + z


@helper
def _find_next_frame(counts: Ints1D, frame: int, max_frames: int) -> int:
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
    """Return whether the number `kind` is in the hash table (T, 2) with the stamp `stamp`; insert it if not.

    Entries with another stamp count as empty, so the table need not be cleared. T is a power of two.
    """
    mask = table.shape[0] - 1
    # The lowest bits of the product are those of `kind`, which often are zero.
    place = ((kind * 2654435761) >> 16) & mask
    while table[place, 1] == stamp:
        if table[place, 0] == kind:
            return True
        place = (place + 1) & mask
    table[place, 0], table[place, 1] = kind, stamp
    return False


@helper
def _rank(numbers: Floats2D, n: int) -> Ints1D:
    """Return the indices of the first n states of a slot, from best to worst."""
    keys = np.empty(n)
    for k in range(n):
        keys[k] = numbers[k, KEY]
    return _sort_indices(keys)


@helper
def _keep_first(order: Ints1D, keep: int, numbers: Floats2D, marks: Ints2D) -> None:
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
def _sort_indices(keys: Floats1D) -> Ints1D:
    """Return the indices that sort keys (N,) in ascending order, by quicksort. The order of equal keys is undefined.

    This replaces NumPy's argsort, which in compiled code needs Numba's lists.
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
