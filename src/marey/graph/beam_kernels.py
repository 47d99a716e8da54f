"""The compiled beam of `marey.graph.follow`.

A state is a node with the world transform of its clip (c, s, x, z), the length gone (arc), the cost so far, the spot
(x, z) that was last left behind with the frames since then, and the number of the style that it is in. States lie in
slots by the frame at which they begin, and slots are used in a ring.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel

Array = Any


@kernel
def extend(
    state: Array,
    style: int,
    edge: int,
    first: Array,
    points: Array,
    steps: Array,
    course: Array,
    spacing: float,
    ends: Array,
    floor_step: float,
    spot: float,
    patience: int,
    dawdling: float,
    avoid: Array,
    frame: int,
    others: Array,
    apart: float,
    last_frame: int,
    out: Array,
) -> int:
    """Play an edge from `state` (c, s, x, z, arc, cost, spot x, spot z, frames there), and write the state's new values
    from its arc on into out (5,).

    Frames cost `dawdling` each once the figure has been within `spot` metres of one place for `patience` frames.
    `frame` is when the edge begins; others (T, M, 2) is where others are on each frame, NaN where they are not there.
    Returns the number of frames until the whole course is gone or the last frame is reached, 0 if neither is, or -1
    where the edge enters a region to be avoided or comes nearer to another than `apart`.
    """
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
        arc += max(steps[k], floor_step)
        at = min(arc, end) / spacing
        i = min(int(at), last - 1)
        t = at - i
        dx = wx - (course[i, 0] + t * (course[i + 1, 0] - course[i, 0]))
        dz = wz - (course[i, 1] + t * (course[i + 1, 1] - course[i, 1]))
        cost += dx * dx + dz * dz
        since += 1.0
        if (wx - sx) ** 2 + (wz - sz) ** 2 > spot * spot:
            sx, sz, since = wx, wz, 0.0
        elif since > patience:
            cost += dawdling
        if (arc >= total and style == ends.shape[0] - 1) or now + 1 == last_frame:
            out[0], out[1] = arc, cost
            return int(k - first[edge] + 1)
    out[0], out[1], out[2], out[3], out[4] = arc, cost, sx, sz, since
    return 0


@kernel
def beam(
    starts: Array,
    start_nodes: Array,
    cells: Array,
    first_out: Array,
    heads: Array,
    lengths: Array,
    blends: Array,
    styles: Array,
    first: Array,
    points: Array,
    steps: Array,
    moves: Array,
    course: Array,
    spacing: float,
    ends: Array,
    early: float,
    floor_step: float,
    spot: float,
    patience: int,
    dawdling: float,
    avoid: Array,
    others: Array,
    apart: float,
    last_frame: int,
    width: int,
    reward: float,
    penalty: float,
    end_weight: float,
    most_frames: int,
    best_cost: float,
    trail: Array,
    found: Array,
) -> float:
    """Search; the trail of states that were expanded goes to `trail` (R, 2) as (parent record, edge).

    cells (N,) are numbers that nodes have in common where one is as good as another: see `_best`.
    found (3,) gets the last record's parent, its edge and the frames of it that are played, or -1 where nothing better
    than `best_cost` was found. Returns the best cost.
    """
    n_styles = ends.shape[0]
    n_slots = 0
    for e in range(lengths.shape[0]):
        n_slots = max(n_slots, lengths[e])
    n_slots += 1
    room = max(6 * width, starts.shape[0])
    # c, s, x, z, arc, cost, spot x, spot z, frames | node, style, parent, edge
    numbers = np.empty((n_slots, room, 9))
    marks = np.empty((n_slots, room, 4), np.int64)
    counts = np.zeros(n_slots, np.int64)
    for k in range(starts.shape[0]):
        numbers[0, k] = starts[k]
        marks[0, k, 0], marks[0, k, 1], marks[0, k, 2], marks[0, k, 3] = start_nodes[k], 0, -1, -1
    counts[0] = starts.shape[0]
    table_size = 1
    while table_size < 4 * room:
        table_size *= 2
    table = np.full((table_size, 2), -1, np.int64)
    chosen = np.empty(max(width, starts.shape[0]), np.int64)
    n_records = 0
    out = np.empty(5)
    moved = np.empty(9)
    found[0] = found[1] = found[2] = -1
    quiet = 0
    for frame in range(most_frames):
        slot = frame % n_slots
        n_here = counts[slot]
        counts[slot] = 0
        if n_here == 0:
            quiet += 1
            if quiet >= n_slots:
                break
            continue
        quiet = 0
        n_chosen = _best(
            numbers[slot],
            marks[slot],
            cells,
            n_here,
            width if frame else starts.shape[0],
            reward,
            best_cost,
            table,
            frame,
            chosen,
        )
        for q in range(n_chosen):
            k = chosen[q]
            if n_records >= trail.shape[0]:
                return best_cost
            record = n_records
            trail[record, 0], trail[record, 1] = marks[slot, k, 2], marks[slot, k, 3]
            n_records += 1
            node, style = marks[slot, k, 0], marks[slot, k, 1]
            arc = numbers[slot, k, 4]
            for edge in range(first_out[node], first_out[node + 1]):
                style_after = style
                if style + 1 < n_styles and arc >= ends[style] - early and styles[edge, style + 1]:
                    style_after = style + 1
                elif not styles[edge, style]:
                    continue
                played = extend(
                    numbers[slot, k], style_after, edge, first, points, steps, course, spacing, ends, floor_step,
                    spot, patience, dawdling, avoid, frame, others, apart, last_frame, out,
                )  # fmt: skip
                if played < 0:
                    continue
                cost = out[1] + (penalty if blends[edge] else 0.0)
                if cost >= best_cost:
                    continue
                if played > 0:
                    at = first[edge] + played - 1
                    c, s = numbers[slot, k, 0], numbers[slot, k, 1]
                    # Where time is over, what counts is the place on the course at which it is so.
                    goal = min(int(min(out[0], ends[-1]) / spacing + 0.5), course.shape[0] - 1)
                    dx = points[at, 0] * c + points[at, 1] * s + numbers[slot, k, 2] - course[goal, 0]
                    dz = points[at, 1] * c - points[at, 0] * s + numbers[slot, k, 3] - course[goal, 1]
                    whole = cost + end_weight * (dx * dx + dz * dz)
                    if whole < best_cost:
                        best_cost = whole
                        found[0], found[1], found[2] = record, edge, played
                    continue
                # W o move
                c, s = numbers[slot, k, 0], numbers[slot, k, 1]
                mc, ms, mx, mz = moves[edge, 0], moves[edge, 1], moves[edge, 2], moves[edge, 3]
                moved[0] = c * mc - s * ms
                moved[1] = s * mc + c * ms
                moved[2] = mx * c + mz * s + numbers[slot, k, 2]
                moved[3] = mz * c - mx * s + numbers[slot, k, 3]
                moved[4], moved[5], moved[6], moved[7], moved[8] = out[0], cost, out[2], out[3], out[4]
                target = (frame + lengths[edge]) % n_slots
                n = counts[target]
                if n == room:
                    # Full: keep the best, and go on.
                    n = _thin(numbers[target], marks[target], n, 3 * width, reward)
                numbers[target, n] = moved
                marks[target, n, 0], marks[target, n, 1] = heads[edge], style_after
                marks[target, n, 2], marks[target, n, 3] = record, edge
                counts[target] = n + 1
    return best_cost


@inner
def _best(
    numbers: Array,
    marks: Array,
    cells: Array,
    n: int,
    width: int,
    reward: float,
    best_cost: float,
    table: Array,
    stamp: int,
    chosen: Array,
) -> int:
    """The best states of a slot, one of each kind: of those in one cell of a clip, of like heading and arc, the first
    counts."""
    keys = np.empty(n)
    for k in range(n):
        keys[k] = numbers[k, 5] - reward * numbers[k, 4]
    order = np.argsort(keys)
    size = table.shape[0]
    n_chosen = 0
    for q in range(n):
        k = order[q]
        if numbers[k, 5] >= best_cost:
            continue
        heading = int(np.floor((np.arctan2(numbers[k, 1], numbers[k, 0]) + np.pi) * (24.0 / (2.0 * np.pi))))
        kind = ((cells[marks[k, 0]] * 32 + heading) * 4096 + int(numbers[k, 4] * 4.0)) * 16 + marks[k, 1]
        at = (kind * 2654435761) % size
        seen = False
        while table[at, 1] == stamp:
            if table[at, 0] == kind:
                seen = True
                break
            at = (at + 1) % size
        if seen:
            continue
        table[at, 0], table[at, 1] = kind, stamp
        chosen[n_chosen] = k
        n_chosen += 1
        if n_chosen == width:
            break
    return n_chosen


@inner
def _thin(numbers: Array, marks: Array, n: int, keep: int, reward: float) -> int:
    """Keep the best states of a slot in front; returns how many."""
    keys = np.empty(n)
    for k in range(n):
        keys[k] = numbers[k, 5] - reward * numbers[k, 4]
    order = np.argsort(keys)[:keep]
    kept_numbers = numbers[order].copy()
    kept_marks = marks[order].copy()
    for k in range(keep):
        for c in range(numbers.shape[1]):
            numbers[k, c] = kept_numbers[k, c]
        for c in range(marks.shape[1]):
            marks[k, c] = kept_marks[k, c]
    return keep
