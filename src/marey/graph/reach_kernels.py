"""The goals of `marey.graph.approach`: a position, or a clip at a position; see `marey.graph.beam_kernels`.

States are ranked by the cost of their transitions so far plus an estimate of the remaining cost: the length of the
shortest path with bounded curvature (Dubins 1957) to the goal, plus a penalty for the time until the target clip can be
entered.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Bools1D, Floats1D, Floats2D, Ints1D, Ints2D, Out, helper, kernel
from marey.graph.beam_kernels import (
    COST,
    EDGE,
    KEY,
    NODE,
    Beam,
    EdgeLayout,
    Expanded,
    Limits,
    Starts,
    Trail,
    Transform,
    add_state,
    apply_move,
    find_table_size,
    get_place,
    is_noted,
    search_beam,
)
from marey.maths.vector_kernels import square

_CIRCLE = 2.0 * np.pi
# Extra weight of each meter of error beyond `ReachSettings.tolerance`.
_STEEPNESS = 5.0


class ReachSpace(NamedTuple):
    """Allowed edges, positions along them, and obstacles; the graph has N nodes, E edges and P frames.

    allowed : (E,) whether each edge may be used.
    poses : (P, 3) facing in radians, x and z of the hips on the frames of all edges; empty if the goal is a clip.
    node_points : (N, 2) x, z of the hips at each node, in the coordinates of its clip, meters.
    node_headings : (N,) direction of travel at each node, radians.
    avoid : (M, 3) x, z, radius in meters of circles to keep out of.
    """

    allowed: Bools1D
    poses: Floats2D
    node_points: Floats2D
    node_headings: Floats1D
    avoid: Floats2D


class ReachGoal(NamedTuple):
    """The goal of a search: a position, or a clip at a given placement.

    steer : (T, 3) x, z, heading of the placements to steer toward; NaN for any heading.
    position : (3,) x, z, facing (NaN for any) of the target position, where the walk may end on any frame. Empty if the
        goal is a clip; walks then end with one of the tails of their node.
    wanted : (4,) cos, sin, x, z of the world transform that the clip should have.
    entry : (2,) point of the clip, x, z in meters, at which placement errors of the clip are measured; a radian of
        rotation counts as a meter.
    """

    steer: Floats2D
    position: Floats1D
    wanted: Floats1D
    entry: Floats1D


class Tails(NamedTuple):
    """T tails: routes that lead into the target clip, sorted by their first node; see `find_tails`.

    first : (N + 1,) tails ``first[n]`` to ``first[n + 1]``, half-open, start at node n.
    moves : (T, 4) cos, sin, x, z of the transform by which each tail changes the world transform.
    edges : (T, 2) the first edge of each tail, and the tail that continues after it, or -1.
    frames, transitions : (T,) number of frames and of transitions of each tail.
    wait : (N,) penalty of each node in meters, proportional to the time from there to an edge into the clip.
    """

    first: Ints1D
    moves: Floats2D
    edges: Ints2D
    frames: Ints1D
    transitions: Floats1D
    wait: Floats1D


class ReachSettings(NamedTuple):
    """Costs of a walk, in addition to `Limits.per_frame` for each frame.

    tolerance : error in meters beyond which the cost of an end grows faster. Up to it, the cost is the error, but at
        least `Limits.min_cost`.
    penalty : cost in meters of each transition.
    turn_weight : meters that a radian of heading error counts for at a position.
    only_clips : whether a walk must begin with a clip edge.
    min_frames : minimum number of frames of the walk.
    radius : assumed turning radius of the character, meters.
    """

    tolerance: float
    penalty: float
    turn_weight: float
    only_clips: bool
    min_frames: int
    radius: float


class ReachSearch(NamedTuple):
    """The complete problem: graph, goal, routes into the target clip, costs and limits."""

    layout: EdgeLayout
    space: ReachSpace
    goal: ReachGoal
    tails: Tails
    settings: ReachSettings
    limits: Limits


class InEdges(NamedTuple):
    """The E edges of a graph, indexed by the node that they enter.

    tails, lengths, blends : (E,) the node that each edge leaves, its number of frames, and whether it is a transition.
    moves : (E, 4) cos, sin, x, z of the transform by which each edge changes the world transform.
    allowed : (E,) whether each edge may be used.
    first_in : (N + 1,) the edges ``in_edges[first_in[n] : first_in[n + 1]]`` enter node n.
    in_edges : (E,) edge indices, sorted by the node that they enter.
    """

    tails: Ints1D
    lengths: Ints1D
    blends: Bools1D
    moves: Floats2D
    allowed: Bools1D
    first_in: Ints1D
    in_edges: Ints1D


@helper
def _wrap_positive(angle: float) -> float:
    """Wrap an angle to [0, 2 pi). Angles within 1e-9 below 2 pi, which are rounding errors, become 0."""
    out = angle % _CIRCLE
    return out if out < _CIRCLE - 1e-9 else 0.0


@kernel
def measure_dubins_path(
    x: float, z: float, ahead: float, goal_x: float, goal_z: float, heading: float, radius: float
) -> float:
    """Return the length in meters of the shortest path of arc, straight line and arc (Dubins 1957) to a goal.

    x, z, ahead : start position in meters, and direction of travel there.
    goal_x, goal_z, heading : goal position in meters, and direction of travel there; if the heading is NaN, it is free
        and there is no last arc.
    radius : turning radius in meters.

    Angles are in radians from +Z, positive to the left. If no such path exists, the straight distance is returned.
    """
    free = np.isnan(heading)
    last = 0.0 if free else radius
    into = 0.0 if free else heading
    best = np.inf
    for k in range(2 if free else 4):
        first_side = 1.0 if k % 2 == 0 else -1.0
        last_side = 1.0 if k < 2 else -1.0
        # Vector from the center of one circle to that of the other. The left normal of an angle is (cos, -sin) in x, z.
        dx = goal_x + last * last_side * math.cos(into) - x - radius * first_side * math.cos(ahead)
        dz = goal_z - last * last_side * math.sin(into) - z + radius * first_side * math.sin(ahead)
        off = radius * first_side - last * last_side
        far = np.hypot(dx, dz)
        if far < abs(off):
            continue
        angle = ahead if far == 0.0 else math.atan2(dx, dz) + math.asin(off / far)
        arcs = radius * _wrap_positive(first_side * (angle - ahead))
        if not free:
            arcs += last * _wrap_positive(last_side * (into - angle))
        best = min(best, arcs + np.sqrt(far * far - off * off))
    return best if best < np.inf else np.hypot(goal_x - x, goal_z - z)


@helper
def _wrap(angle: float) -> float:
    """Wrap an angle to [-pi, pi)."""
    return (angle + np.pi) % _CIRCLE - np.pi


@helper
def _measure_left(place: Transform, point: Floats1D, heading: float, goals: Floats2D, radius: float) -> float:
    """Return the length in meters of the shortest Dubins path from a node to any of the goals.

    place : world transform of the node's clip.
    point, heading : (2,) x, z and direction of travel at the node, in the coordinates of its clip.
    goals : (T, 3) x, z, heading.
    """
    c, s, x, z = place
    wx, wz = point[0] * c + point[1] * s + x, point[1] * c - point[0] * s + z
    ahead = heading + math.atan2(s, c)
    best = np.inf
    for t in range(goals.shape[0]):
        best = min(best, measure_dubins_path(wx, wz, ahead, goals[t, 0], goals[t, 1], goals[t, 2], radius))
    return best


@kernel
def search_reach(starts: Starts, search: ReachSearch, trail: Trail) -> None:
    """Search for the walk with the lowest cost, from any of the starts.

    If the walk ends with a tail, `trail.end` holds the index of the tail in place of the edge, and 0 in place of the
    frame count.
    """
    search_beam(starts, search, _identify, _expand, trail)


@helper
def _identify(search: ReachSearch, state: Floats1D, marks: Ints1D, best_cost: float, frame: int) -> int:
    """Return a number that states share if they are interchangeable; start states never are."""
    if frame == 0:
        return -1 - int(marks[EDGE])
    node = marks[NODE]
    return _hash_state(get_place(state), search.layout.cells[node], search.space.node_points[node])


@helper
def _expand(search: ReachSearch, beam: Beam, where: Expanded, trail: Trail) -> None:
    """End the walk with the tails of a state, or play the edges out of it."""
    layout, space, tails, settings = search.layout, search.space, search.tails, search.settings
    slot = where.frame % beam.counts.shape[0]
    state, node = beam.numbers[slot, where.number], beam.marks[slot, where.number, NODE]
    place = get_place(state)
    theta = math.atan2(state[1], state[0])
    to_place = search.goal.position.shape[0] == 3
    must_play_clip = settings.only_clips and where.frame == 0
    if not to_place and not must_play_clip:
        _end_in_clip(search, node, place, state[COST], where, trail)
    for edge in range(layout.first_out[node], layout.first_out[node + 1]):
        if not space.allowed[edge] or (must_play_clip and layout.blends[edge]):
            continue
        cost = state[COST] + (settings.penalty if layout.blends[edge] else 0.0)
        if not _is_free(edge, place, layout, space.avoid):
            continue
        if to_place:
            _end_at_position(search, edge, place, theta, cost, where, trail)
        head = layout.heads[edge]
        after = add_state(beam, where, layout, edge, 0)
        left = tails.wait[head] + _measure_left(
            get_place(after), space.node_points[head], space.node_headings[head], search.goal.steer, settings.radius
        )
        after[COST], after[KEY] = cost, left + cost


@helper
def _end_in_clip(search: ReachSearch, node: int, place: Transform, cost: float, where: Expanded, trail: Trail) -> None:
    """Try to end the walk with each of the tails of a node, after transitions that cost `cost`.

    place : world transform of the node's clip.
    where : the state to end.
    trail : receives the walk if it is the best so far.
    """
    near, per_frame = search.limits.min_cost, search.limits.per_frame
    settings, tails, best, end = search.settings, search.tails, trail.best, trail.end
    wanted, entry = search.goal.wanted, search.goal.entry
    wanted_turn = math.atan2(wanted[1], wanted[0])
    wanted_x = entry[0] * wanted[0] + entry[1] * wanted[1] + wanted[2]
    wanted_z = entry[1] * wanted[0] - entry[0] * wanted[1] + wanted[3]
    for t in range(tails.first[node], tails.first[node + 1]):
        frames = where.frame + tails.frames[t]
        score = near + per_frame * frames + cost + settings.penalty * tails.transitions[t]
        if frames < settings.min_frames or score >= best[0]:
            continue
        c, s, x, z = apply_move(place, tails.moves[t])
        dx = entry[0] * c + entry[1] * s + x - wanted_x
        dz = entry[1] * c - entry[0] * s + z - wanted_z
        turn = _wrap(math.atan2(s, c) - wanted_turn)
        off = np.sqrt(dx * dx + dz * dz + turn * turn)
        score += _measure_miss(off, near, settings.tolerance) - near
        if score < best[0] and _is_free_tail(t, place, tails, search.layout, search.space.avoid):
            best[0], best[1] = score, off
            end[0], end[1], end[2] = where.record, t, 0


@helper
def _end_at_position(
    search: ReachSearch, edge: int, place: Transform, theta: float, cost: float, where: Expanded, trail: Trail
) -> None:
    """Try to end the walk on each frame of an edge, after transitions that cost `cost`; `theta` is the angle of
    `place`."""
    position, poses, settings = search.goal.position, search.space.poses, search.settings
    first, best, end = search.layout.first[edge], trail.best, trail.end
    c, s, x, z = place
    for j in range(first, search.layout.first[edge + 1]):
        played = j - first + 1
        if where.frame + played < settings.min_frames:
            continue
        px, pz = poses[j, 1], poses[j, 2]
        off = np.hypot(px * c + pz * s + x - position[0], pz * c - px * s + z - position[1])
        if not np.isnan(position[2]):
            off = max(off, settings.turn_weight * abs(_wrap(poses[j, 0] + theta - position[2])))
        miss = _measure_miss(off, search.limits.min_cost, settings.tolerance)
        score = miss + search.limits.per_frame * (where.frame + played) + cost
        if score < best[0]:
            best[0], best[1] = score, off
            end[0], end[1], end[2] = where.record, edge, played


@kernel
def find_tails(
    graph: InEdges,
    enters: Ints1D,
    entry: Floats1D,
    max_frames: int,
    max_of_node: int,
    numbers: Out[Floats2D],
    marks: Out[Ints2D],
) -> int:
    """Find tails, routes that end with one of the edges `enters`, by a backward search, shortest first; return their
    number.

    entry : (2,) point of the clip, x, z. Of the tails from one node that bring it to nearly the same position and
        heading, only the shortest is kept.
    max_frames : maximum number of frames of a tail.
    max_of_node : maximum number of tails from each node; tails of a single edge do not count.
    numbers : (T, 4) receives cos, sin, x, z of the transform by which each tail changes the world transform.
    marks : (T, 5) receives its first node, its first edge, the tail that continues after it or -1, and its numbers of
        frames and of transitions.
    """
    tails, lengths, blends, moves, allowed, first_in, in_edges = graph
    n_nodes = first_in.shape[0] - 1
    capacity = numbers.shape[0]
    # Queue by length as linked lists: the last tail of each length, and the previous tail of the same length.
    last = np.full(max_frames + 1, -1, np.int64)
    before = np.full(capacity, -1, np.int64)
    counts = np.zeros(n_nodes, np.int64)
    table = np.full((find_table_size(capacity), 2), -1, np.int64)
    n = 0
    for q in range(enters.shape[0]):
        edge = enters[q]
        frames = lengths[edge]
        if n == capacity or frames > max_frames:
            continue
        for c in range(4):
            numbers[n, c] = moves[edge, c]
        marks[n, 0], marks[n, 1], marks[n, 2], marks[n, 3], marks[n, 4] = tails[edge], edge, -1, frames, 1
        before[n] = last[frames]
        last[frames] = n
        n += 1
    for frames in range(max_frames + 1):
        k = last[frames]
        while k >= 0:
            node = marks[k, 0]
            for q in range(first_in[node], first_in[node + 1]):
                edge = in_edges[q]
                longer = frames + lengths[edge]
                tail = tails[edge]
                if n == capacity or longer > max_frames or not allowed[edge] or counts[tail] >= max_of_node:
                    continue
                whole = apply_move((moves[edge, 0], moves[edge, 1], moves[edge, 2], moves[edge, 3]), numbers[k])
                if is_noted(_hash_state(whole, tail, entry), 0, table):
                    continue
                numbers[n, 0], numbers[n, 1], numbers[n, 2], numbers[n, 3] = whole
                marks[n, 0], marks[n, 1], marks[n, 2], marks[n, 3] = tail, edge, k, longer
                marks[n, 4] = marks[k, 4] + (1 if blends[edge] else 0)
                counts[tail] += 1
                before[n] = last[longer]
                last[longer] = n
                n += 1
            k = before[k]
    return n


@helper
def _measure_miss(off: float, near: float, tolerance: float) -> float:
    """Return the cost of an end with an error of `off` meters.

    Errors beyond `tolerance` cost more: a longer walk is worth it if its end can be corrected by `land_at`.
    """
    return max(off, near) + _STEEPNESS * max(0.0, off - tolerance)


@helper
def _is_free_tail(tail: int, place: Transform, tails: Tails, layout: EdgeLayout, avoid: Floats2D) -> bool:
    """Return whether all edges of a tail keep out of circles.

    place : world transform of the clip at which the tail begins.
    avoid : (M, 3) x, z and radius of each circle, in meters.
    """
    if avoid.shape[0] == 0:
        return True
    while tail >= 0:
        edge = tails.edges[tail, 0]
        if not _is_free(edge, place, layout, avoid):
            return False
        place = apply_move(place, layout.moves[edge])
        tail = tails.edges[tail, 1]
    return True


@helper
def _is_free(edge: int, place: Transform, layout: EdgeLayout, avoid: Floats2D) -> bool:
    """Return whether an edge keeps out of circles.

    place : world transform of the edge's clip.
    avoid : (M, 3) x, z and radius of each circle, in meters.
    """
    if avoid.shape[0] == 0:
        return True
    c, s, x, z = place
    for k in range(layout.first[edge], layout.first[edge + 1]):
        px, pz = layout.points[k, 0], layout.points[k, 1]
        wx, wz = px * c + pz * s + x, pz * c - px * s + z
        for m in range(avoid.shape[0]):
            if square(wx - avoid[m, 0]) + square(wz - avoid[m, 1]) < square(avoid[m, 2]):
                return False
    return True


@helper
def _hash_state(place: Transform, cell: int, point: Floats1D) -> int:
    """Return a number that states share if they have the same cell, heading bin (15 degrees) and position bin (20 cm).

    place : world transform of the clip. point : the node's point in the clip's coordinates.
    """
    c, s, x, z = place
    px, pz = point[0], point[1]
    column = int(np.floor((px * c + pz * s + x) * 5.0)) & 1023
    row = int(np.floor((pz * c - px * s + z) * 5.0)) & 1023
    turn = int(np.floor((math.atan2(s, c) + np.pi) * (24.0 / _CIRCLE)))
    return ((cell * 32 + turn) * 1024 + column) * 1024 + row
