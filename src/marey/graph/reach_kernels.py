"""The compiled beam of `marey.graph.approach`: towards a place, or into a clip at a place.

A state is a node with the world transform of its clip (c, s, x, z). States lie in slots by the frame at which they
begin, slots are used in a ring, and in each slot those are kept that have least left to go: the length of the shortest
way that does not turn too sharply (Dubins 1957), and the time that it takes to get to where the goal can be entered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel

Array = Any
_TURN = 2.0 * np.pi
# How many times more a metre counts beyond what is near enough.
_STEEP = 5.0


@kernel
def around(angle: float) -> float:
    """The angle from 0 to below a full turn; what rounding leaves of none is none."""
    out = angle % _TURN
    return out if out < _TURN - 1e-9 else 0.0


@kernel
def bent_length(x: float, z: float, ahead: float, goal_x: float, goal_z: float, heading: float, radius: float) -> float:
    """Metres of the shortest way, an arc, a straight line and an arc, from a place and direction to another.

    Angles are in radians from +Z, positive to the left. Where `heading` is NaN it does not matter, and there is no
    last arc.
    """
    free = np.isnan(heading)
    last = 0.0 if free else radius
    into = 0.0 if free else heading
    best = np.inf
    for k in range(2 if free else 4):
        first_side = 1.0 if k % 2 == 0 else -1.0
        last_side = 1.0 if k < 2 else -1.0
        # From the centre of one circle to that of the other; to the left of an angle is (cos, -sin) in x, z.
        dx = goal_x + last * last_side * np.cos(into) - x - radius * first_side * np.cos(ahead)
        dz = goal_z - last * last_side * np.sin(into) - z + radius * first_side * np.sin(ahead)
        off = radius * first_side - last * last_side
        far = np.hypot(dx, dz)
        if far < abs(off):
            continue
        angle = ahead if far == 0.0 else np.arctan2(dx, dz) + np.arcsin(off / far)
        turned = radius * around(first_side * (angle - ahead))
        if not free:
            turned += last * around(last_side * (into - angle))
        best = min(best, turned + np.sqrt(far * far - off * off))
    return best if best < np.inf else np.hypot(goal_x - x, goal_z - z)


@inner
def wrapped(angle: float) -> float:
    """From -pi to pi."""
    return (angle + np.pi) % _TURN - np.pi


@inner
def left_to_go(
    c: float, s: float, x: float, z: float, px: float, pz: float, heading: float, goals: Array, radius: float
) -> float:
    """Metres from a node, at (px, pz) and going in `heading` where its clip lies at c, s, x, z, to the nearest of goals
    (T, 3) x, z, heading."""
    wx, wz = px * c + pz * s + x, pz * c - px * s + z
    ahead = heading + np.arctan2(s, c)
    best = np.inf
    for t in range(goals.shape[0]):
        best = min(best, bent_length(wx, wz, ahead, goals[t, 0], goals[t, 1], goals[t, 2], radius))
    return best


@kernel
def reach_beam(
    starts: Array,
    start_nodes: Array,
    only_clips: bool,
    cells: Array,
    first_out: Array,
    heads: Array,
    lengths: Array,
    blends: Array,
    allowed: Array,
    first: Array,
    points: Array,
    poses: Array,
    moves: Array,
    node_points: Array,
    node_headings: Array,
    avoid: Array,
    goals: Array,
    wait: Array,
    at: Array,
    tail_first: Array,
    tail_moves: Array,
    tail_frames: Array,
    tail_costs: Array,
    tail_edges: Array,
    entry: Array,
    wanted: Array,
    turn_weight: float,
    least_frames: int,
    most_frames: int,
    radius: float,
    width: int,
    near: float,
    well: float,
    per_frame: float,
    penalty: float,
    best: Array,
    trail: Array,
    found: Array,
) -> int:
    """Search from starts (S, 4), all nodes at frame 0; the trail of states that were expanded goes to trail (R, 2).

    goals (T, 3) are places x, z, heading to steer for, and wait (N,) metres that each node counts as further away. Ends
    are scored by how far off they are, no less than `near` and much more beyond `well`, with `per_frame` for each frame
    and `penalty` for each transition. Where `at` is (3,) x, z, facing (NaN if it does not matter), every frame from
    `least_frames` on may be an end: poses (P, 3) are facing, x and z on the frames of edges. Where it is empty, walks
    end by the tails of their node, see `find_tails`: they put a clip that should be at `wanted` (4,) somewhere else,
    which counts by how far the point `entry` (2,) of that clip is off, a radian as a metre.

    best (2,) is the least score so far and how far off it is, and gets those of a better one; found (3,) gets the last
    record, the edge from there and the frames of it that are played, or for a tail its number and 0, or -1. Returns how
    many records there are.
    """
    n_slots = 0
    for e in range(lengths.shape[0]):
        n_slots = max(n_slots, lengths[e])
    n_slots += 1
    room = max(6 * width, starts.shape[0])
    numbers = np.empty((n_slots, room, 6))  # c, s, x, z, what transitions cost, what is left to go
    marks = np.empty((n_slots, room, 3), np.int64)  # node, parent, edge
    counts = np.zeros(n_slots, np.int64)
    for k in range(starts.shape[0]):
        numbers[0, k, :4] = starts[k]
        numbers[0, k, 4] = numbers[0, k, 5] = 0.0
        marks[0, k, 0], marks[0, k, 1], marks[0, k, 2] = start_nodes[k], -1, -1 - k
    counts[0] = starts.shape[0]
    size = 1
    while size < 4 * room:
        size *= 2
    table = np.full((size, 2), -1, np.int64)
    found[0] = found[1] = found[2] = -1
    to_place = at.shape[0] == 3
    wanted_turn = np.arctan2(wanted[1], wanted[0])
    wanted_x = entry[0] * wanted[0] + entry[1] * wanted[1] + wanted[2]
    wanted_z = entry[1] * wanted[0] - entry[0] * wanted[1] + wanted[3]
    n_records = 0
    quiet = 0
    for frame in range(most_frames):
        if near + per_frame * frame >= best[0]:
            break
        slot = frame % n_slots
        n_here = counts[slot]
        counts[slot] = 0
        if n_here == 0:
            quiet += 1
            if quiet >= n_slots:
                break
            continue
        quiet = 0
        order = np.argsort(numbers[slot, :n_here, 5] + numbers[slot, :n_here, 4])
        n_taken = 0
        for q in range(n_here):
            k = order[q]
            node = marks[slot, k, 0]
            c, s, x, z = numbers[slot, k, 0], numbers[slot, k, 1], numbers[slot, k, 2], numbers[slot, k, 3]
            if frame > 0 and _noted(_kind(c, s, x, z, cells[node], node_points[node]), frame, table):
                continue
            if n_records >= trail.shape[0]:
                return n_records
            record = n_records
            trail[record, 0], trail[record, 1] = marks[slot, k, 1], marks[slot, k, 2]
            n_records += 1
            theta = np.arctan2(s, c)
            for t in range(0 if to_place else tail_first[node], 0 if to_place else tail_first[node + 1]):
                frames = frame + tail_frames[t]
                score = near + per_frame * frames + numbers[slot, k, 4] + penalty * tail_costs[t]
                if frames < least_frames or score >= best[0] or (only_clips and frame == 0):
                    continue
                nc, ns, nx, nz = _onto(c, s, x, z, tail_moves[t])
                dx = entry[0] * nc + entry[1] * ns + nx - wanted_x
                dz = entry[1] * nc - entry[0] * ns + nz - wanted_z
                turn = wrapped(np.arctan2(ns, nc) - wanted_turn)
                off = np.sqrt(dx * dx + dz * dz + turn * turn)
                score += _missed(off, near, well) - near
                if score < best[0] and _free_tail(t, c, s, x, z, tail_edges, first, points, moves, avoid):
                    best[0], best[1] = score, off
                    found[0], found[1], found[2] = record, t, 0
            for edge in range(first_out[node], first_out[node + 1]):
                if not allowed[edge] or (only_clips and frame == 0 and blends[edge]):
                    continue
                cost = numbers[slot, k, 4] + (penalty if blends[edge] else 0.0)
                if not _free(edge, c, s, x, z, first, points, avoid):
                    continue
                nc, ns, nx, nz = _onto(c, s, x, z, moves[edge])
                if to_place:
                    for j in range(first[edge], first[edge + 1]):
                        played = j - first[edge] + 1
                        if frame + played < least_frames:
                            continue
                        px, pz = poses[j, 1], poses[j, 2]
                        off = np.hypot(px * c + pz * s + x - at[0], pz * c - px * s + z - at[1])
                        if not np.isnan(at[2]):
                            off = max(off, turn_weight * abs(wrapped(poses[j, 0] + theta - at[2])))
                        score = _missed(off, near, well) + per_frame * (frame + played) + cost
                        if score < best[0]:
                            best[0], best[1] = score, off
                            found[0], found[1], found[2] = record, edge, played
                head = heads[edge]
                target = (frame + lengths[edge]) % n_slots
                n = counts[target]
                if n == room:
                    n = _thin(numbers[target], marks[target], n, 3 * width)
                numbers[target, n, 0], numbers[target, n, 1], numbers[target, n, 2] = nc, ns, nx
                numbers[target, n, 3], numbers[target, n, 4] = nz, cost
                numbers[target, n, 5] = wait[head] + left_to_go(
                    nc, ns, nx, nz, node_points[head, 0], node_points[head, 1], node_headings[head], goals, radius
                )
                marks[target, n, 0], marks[target, n, 1], marks[target, n, 2] = head, record, edge
                counts[target] = n + 1
            n_taken += 1
            if n_taken == width and frame > 0:
                break
    return n_records


@kernel
def find_tails(
    enters: Array,
    tails: Array,
    lengths: Array,
    blends: Array,
    moves: Array,
    allowed: Array,
    first_in: Array,
    in_edges: Array,
    entry: Array,
    most_frames: int,
    most_of_node: int,
    numbers: Array,
    marks: Array,
) -> int:
    """Ways that end with one of the edges `enters`, searched backwards from there, soonest first; returns how many.

    numbers (T, 4) gets what each does to the world transform, and marks (T, 5) its first node, first edge, the number
    of the way that goes on from there or -1, its frames and its transitions. Of ways from one node that bring the point
    `entry` (2,) of the clip to much the same place and heading, the soonest is kept, and of each node at most
    `most_of_node`.
    """
    n_nodes = first_in.shape[0] - 1
    room = numbers.shape[0]
    last = np.full(most_frames + 1, -1, np.int64)  # the last way of each length that waits, and the one before each
    before = np.full(room, -1, np.int64)
    counts = np.zeros(n_nodes, np.int64)
    size = 1
    while size < 4 * room:
        size *= 2
    table = np.full((size, 2), -1, np.int64)
    n = 0
    for q in range(enters.shape[0]):
        edge = enters[q]
        frames = lengths[edge]
        if n == room or frames > most_frames:
            continue
        numbers[n] = moves[edge]
        marks[n, 0], marks[n, 1], marks[n, 2], marks[n, 3], marks[n, 4] = tails[edge], edge, -1, frames, 1
        before[n] = last[frames]
        last[frames] = n
        n += 1
    for frames in range(most_frames + 1):
        k = last[frames]
        while k >= 0:
            node = marks[k, 0]
            for q in range(first_in[node], first_in[node + 1]):
                edge = in_edges[q]
                longer = frames + lengths[edge]
                tail = tails[edge]
                if n == room or longer > most_frames or not allowed[edge] or counts[tail] >= most_of_node:
                    continue
                mc, ms, mx, mz = moves[edge, 0], moves[edge, 1], moves[edge, 2], moves[edge, 3]
                nc, ns, nx, nz = _onto(mc, ms, mx, mz, numbers[k])
                if _noted(_kind(nc, ns, nx, nz, tail, entry), 0, table):
                    continue
                numbers[n, 0], numbers[n, 1], numbers[n, 2], numbers[n, 3] = nc, ns, nx, nz
                marks[n, 0], marks[n, 1], marks[n, 2], marks[n, 3] = tail, edge, k, longer
                marks[n, 4] = marks[k, 4] + (1 if blends[edge] else 0)
                counts[tail] += 1
                before[n] = last[longer]
                last[longer] = n
                n += 1
            k = before[k]
    return n


@inner
def _missed(off: float, near: float, well: float) -> float:
    """What an end costs that is so many metres off; a longer way to one that can be landed on is worth it."""
    return max(off, near) + _STEEP * max(0.0, off - well)


@inner
def _onto(c: float, s: float, x: float, z: float, move: Array) -> tuple[float, float, float, float]:
    """A transform after a move."""
    mc, ms, mx, mz = move[0], move[1], move[2], move[3]
    return c * mc - s * ms, s * mc + c * ms, mx * c + mz * s + x, mz * c - mx * s + z


@inner
def _free_tail(
    tail: int, c: float, s: float, x: float, z: float, tail_edges: Array, first: Array, points: Array, moves: Array,
    avoid: Array,
) -> bool:  # fmt: skip
    """Whether all edges of a tail keep out of the circles; tail_edges (T, 2) are its first edge and the tail that goes
    on from there."""
    if avoid.shape[0] == 0:
        return True
    while tail >= 0:
        edge = tail_edges[tail, 0]
        if not _free(edge, c, s, x, z, first, points, avoid):
            return False
        c, s, x, z = _onto(c, s, x, z, moves[edge])
        tail = tail_edges[tail, 1]
    return True


@inner
def _free(edge: int, c: float, s: float, x: float, z: float, first: Array, points: Array, avoid: Array) -> bool:
    """Whether an edge keeps out of the circles avoid (M, 3)."""
    if avoid.shape[0] == 0:
        return True
    for k in range(first[edge], first[edge + 1]):
        px, pz = points[k, 0], points[k, 1]
        wx, wz = px * c + pz * s + x, pz * c - px * s + z
        for m in range(avoid.shape[0]):
            if (wx - avoid[m, 0]) ** 2 + (wz - avoid[m, 1]) ** 2 < avoid[m, 2] ** 2:
                return False
    return True


@inner
def _noted(kind: int, stamp: int, table: Array) -> bool:
    """Whether a kind has been noted with this stamp before; it is now."""
    size = table.shape[0]
    place = (kind * 2654435761) % size
    while table[place, 1] == stamp:
        if table[place, 0] == kind:
            return True
        place = (place + 1) % size
    table[place, 0], table[place, 1] = kind, stamp
    return False


@inner
def _kind(c: float, s: float, x: float, z: float, cell: int, point: Array) -> int:
    """A number for states within 15 degrees and 20 cm of each other."""
    px, pz = point[0], point[1]
    column = int(np.floor((px * c + pz * s + x) * 5.0)) & 1023
    row = int(np.floor((pz * c - px * s + z) * 5.0)) & 1023
    turn = int(np.floor((np.arctan2(s, c) + np.pi) * (24.0 / _TURN)))
    return ((cell * 32 + turn) * 1024 + column) * 1024 + row


@inner
def _thin(numbers: Array, marks: Array, n: int, keep: int) -> int:
    """Keep the best states of a slot in front; returns how many."""
    order = np.argsort(numbers[:n, 5] + numbers[:n, 4])[:keep]
    kept_numbers = numbers[order].copy()
    kept_marks = marks[order].copy()
    for k in range(keep):
        for c in range(numbers.shape[1]):
            numbers[k, c] = kept_numbers[k, c]
        for c in range(marks.shape[1]):
            marks[k, c] = kept_marks[k, c]
    return keep
