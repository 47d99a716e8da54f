"""Beam search of `marey.graph.follow`.

A state consists of a node, the world transform of its clip (c, s, x, z), the arc length traveled along the path, the
cost so far, the style index, and the current spot (x, z) with the number of frames spent there; see `FollowSettings`.
States are stored in slots by the frame at which they begin. The slots form a ring buffer.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Bools2D, Floats1D, Floats2D, Floats3D, Ints1D, Ints2D, Out, helper, kernel
from marey.graph.layout_kernels import (
    EdgeLayout,
    Starts,
    Trail,
    apply_move,
    find_longest,
    find_next_frame,
    find_table_size,
    is_noted,
    keep_first,
    sort_indices,
)
from marey.maths.vector_kernels import square


class Course(NamedTuple):
    """The path to follow, and the styles along it.

    points : (C, 2) x, z of evenly spaced path points, meters.
    spacing : distance between the points, meters.
    ends : (S,) arc length in meters at which each of the S styles ends.
    styles : (E, S) whether each of the graph's E edges may be used in each style.
    early : a style may begin this many meters before the previous one ends.
    """

    points: Floats2D
    spacing: float
    ends: Floats1D
    styles: Bools2D
    early: float


class Bounds(NamedTuple):
    """Obstacles and the time limit of a walk.

    avoid : (M, 3) x, z, radius in meters of circles to keep out of.
    others : (T, M, 2) x, z in meters of other characters on each of T frames; NaN where absent.
    apart : minimum distance in meters to other characters.
    last_frame : number of frames after which a walk ends; 0 if it ends at the end of the path.
    """

    avoid: Floats2D
    others: Floats3D
    apart: float
    last_frame: int


class FollowSettings(NamedTuple):
    """Costs of a walk and limits of the search.

    min_step : minimum arc length in meters that each frame counts for.
    spot, patience, dawdling : a spot is a position that the character has not left by more than `spot` meters. After
        `patience` frames on one spot, every further frame costs `dawdling` (m^2).
    penalty : cost of a transition, m^2.
    end_weight : weight of the squared distance at the end, in frames.
    reward : bonus in m^2 per meter of arc length when states at one frame are compared.
    max_frames : maximum number of frames of a walk.
    width : number of states to expand per frame.
    """

    min_step: float
    spot: float
    patience: int
    dawdling: float
    penalty: float
    end_weight: float
    reward: float
    max_frames: int
    width: int


class FollowSearch(NamedTuple):
    """The complete problem: graph, path, obstacles and settings."""

    layout: EdgeLayout
    course: Course
    bounds: Bounds
    settings: FollowSettings


@kernel
def extend_state(state: Floats1D, style: int, edge: int, frame: int, search: FollowSearch, out: Out[Floats1D]) -> int:
    """Play an edge from a state, starting at frame `frame`, and update arc length, cost and spot.

    state : (9,) c, s, x, z, arc length, cost, spot x, spot z, frames on the spot.
    out : (5,) receives the state's new values from the arc length on. If the walk ends, only the first two are written.

    Returns the number of frames played if the walk ends within the edge (end of the path in the last style, or last
    frame), 0 if it does not end, or -1 if the edge enters a circle or comes too close to another character.
    """
    first, points, steps = search.layout.first, search.layout.points, search.layout.steps
    course, spacing, ends = search.course.points, search.course.spacing, search.course.ends
    avoid, others, apart = search.bounds.avoid, search.bounds.others, search.bounds.apart
    min_step, spot = search.settings.min_step, search.settings.spot
    c, s, x, z, arc, cost = state[0], state[1], state[2], state[3], state[4], state[5]
    sx, sz, since = state[6], state[7], state[8]
    last = course.shape[0] - 1
    total = ends[-1]
    end = ends[style]
    for k in range(first[edge], first[edge + 1]):
        px, pz = points[k, 0], points[k, 1]
        wx = px * c + pz * s + x
        wz = pz * c - px * s + z
        for m in range(avoid.shape[0]):
            ax, az = wx - avoid[m, 0], wz - avoid[m, 1]
            if ax * ax + az * az < avoid[m, 2] * avoid[m, 2]:
                return -1
        now = frame + k - first[edge]
        if now < others.shape[0]:
            for m in range(others.shape[1]):
                ax, az = wx - others[now, m, 0], wz - others[now, m, 1]
                if ax * ax + az * az < apart * apart:
                    return -1
        arc += max(steps[k], min_step)
        position = min(arc, end) / spacing
        i = min(int(position), last - 1)
        t = position - i
        dx = wx - (course[i, 0] + t * (course[i + 1, 0] - course[i, 0]))
        dz = wz - (course[i, 1] + t * (course[i + 1, 1] - course[i, 1]))
        cost += dx * dx + dz * dz
        since += 1.0
        if square(wx - sx) + square(wz - sz) > spot * spot:
            sx, sz, since = wx, wz, 0.0
        elif since > search.settings.patience:
            cost += search.settings.dawdling
        if (arc >= total and style == ends.shape[0] - 1) or now + 1 == search.bounds.last_frame:
            out[0], out[1] = arc, cost
            return int(k - first[edge] + 1)
    out[0], out[1], out[2], out[3], out[4] = arc, cost, sx, sz, since
    return 0


@kernel
def search_follow(starts: Starts, search: FollowSearch, best_cost: float, trail: Trail) -> float:
    """Search for a walk that costs less than `best_cost`, from any of the starts; return the lowest cost.

    Start states have shape (S, 9); see `extend_state`. `trail` receives the walk; its `end` is -1 if none is cheaper.
    """
    first_out, heads, lengths = search.layout.first_out, search.layout.heads, search.layout.lengths
    blends, moves, cells = search.layout.blends, search.layout.moves, search.layout.cells
    first, points = search.layout.first, search.layout.points
    course, spacing, ends, styles, early = search.course
    records, end = trail
    settings = search.settings
    n_starts = starts.states.shape[0]
    width, reward = settings.width, settings.reward
    n_styles = ends.shape[0]
    n_slots = find_longest(lengths) + 1
    room = max(6 * width, n_starts)
    # c, s, x, z, arc, cost, spot x, spot z, frames | node, style, parent, edge
    numbers = np.empty((n_slots, room, 9))
    marks = np.empty((n_slots, room, 4), np.int64)
    counts = np.zeros(n_slots, np.int64)
    for k in range(n_starts):
        for c in range(9):
            numbers[0, k, c] = starts.states[k, c]
        marks[0, k, 0], marks[0, k, 1], marks[0, k, 2], marks[0, k, 3] = starts.nodes[k], 0, -1, -1
    counts[0] = n_starts
    table = np.full((find_table_size(room), 2), -1, np.int64)
    chosen = np.empty(max(width, n_starts), np.int64)
    n_records = 0
    out = np.empty(5)
    end[0] = end[1] = end[2] = -1
    frame = find_next_frame(counts, 0, settings.max_frames)
    while frame < settings.max_frames:
        slot = frame % n_slots
        n_here = counts[slot]
        counts[slot] = 0
        order = _rank(numbers[slot], n_here, reward)
        n_max = width if frame else n_starts
        n_chosen = _choose(numbers[slot], marks[slot], cells, order, best_cost, table, frame, chosen[:n_max])
        for q in range(n_chosen):
            k = chosen[q]
            if n_records >= records.shape[0]:
                return best_cost
            record = n_records
            records[record, 0], records[record, 1] = marks[slot, k, 2], marks[slot, k, 3]
            n_records += 1
            node, style = marks[slot, k, 0], marks[slot, k, 1]
            arc = numbers[slot, k, 4]
            for edge in range(first_out[node], first_out[node + 1]):
                style_after = style
                if style + 1 < n_styles and arc >= ends[style] - early and styles[edge, style + 1]:
                    style_after = style + 1
                elif not styles[edge, style]:
                    continue
                played = extend_state(numbers[slot, k], style_after, edge, frame, search, out)
                if played < 0:
                    continue
                cost = out[1] + (settings.penalty if blends[edge] else 0.0)
                if cost >= best_cost:
                    continue
                c, s, x, z = numbers[slot, k, 0], numbers[slot, k, 1], numbers[slot, k, 2], numbers[slot, k, 3]
                if played > 0:
                    last = first[edge] + played - 1
                    # If time runs out before the end of the path, compare with the path point at the arc length.
                    goal = min(int(min(out[0], ends[-1]) / spacing + 0.5), course.shape[0] - 1)
                    dx = points[last, 0] * c + points[last, 1] * s + x - course[goal, 0]
                    dz = points[last, 1] * c - points[last, 0] * s + z - course[goal, 1]
                    whole = cost + settings.end_weight * (dx * dx + dz * dz)
                    if whole < best_cost:
                        best_cost = whole
                        end[0], end[1], end[2] = record, edge, played
                    continue
                target = (frame + lengths[edge]) % n_slots
                n = counts[target]
                if n == room:
                    # The slot is full: keep only the best states.
                    n = 3 * width
                    keep_first(_rank(numbers[target], room, reward), n, numbers[target], marks[target])
                after = apply_move((c, s, x, z), moves[edge])
                numbers[target, n, 0], numbers[target, n, 1], numbers[target, n, 2], numbers[target, n, 3] = after
                numbers[target, n, 4], numbers[target, n, 5] = out[0], cost
                numbers[target, n, 6], numbers[target, n, 7], numbers[target, n, 8] = out[2], out[3], out[4]
                marks[target, n, 0], marks[target, n, 1] = heads[edge], style_after
                marks[target, n, 2], marks[target, n, 3] = record, edge
                counts[target] = n + 1
        frame = find_next_frame(counts, frame + 1, settings.max_frames)
    return best_cost


@helper
def _rank(numbers: Floats2D, n: int, reward: float) -> Ints1D:
    """Return the indices of the first n states of a slot, from best to worst."""
    keys = np.empty(n)
    for k in range(n):
        keys[k] = numbers[k, 5] - reward * numbers[k, 4]
    return sort_indices(keys)


@helper
def _choose(
    numbers: Floats2D,
    marks: Ints2D,
    cells: Ints1D,
    order: Ints1D,
    best_cost: float,
    table: Ints2D,
    stamp: int,
    chosen: Ints1D,
) -> int:
    """Fill `chosen` with the best states, at most one of each kind, and return their number.

    States are of one kind if they have the same cell (see `EdgeLayout`), style, heading bin (15 degrees) and arc length
    bin (25 cm). States are visited in the given order; those that already cost `best_cost` or more are skipped.
    """
    n_chosen = 0
    for q in range(len(order)):
        k = order[q]
        if numbers[k, 5] >= best_cost:
            continue
        heading = int(np.floor((math.atan2(numbers[k, 1], numbers[k, 0]) + np.pi) * (24.0 / (2.0 * np.pi))))
        kind = ((cells[marks[k, 0]] * 32 + heading) * 4096 + int(numbers[k, 4] * 4.0)) * 16 + marks[k, 1]
        if is_noted(kind, stamp, table):
            continue
        chosen[n_chosen] = k
        n_chosen += 1
        if n_chosen == len(chosen):
            break
    return n_chosen
