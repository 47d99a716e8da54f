"""Step 3 of the cleanup: move the body until its limbs can reach their targets (Kovar 3.2.4).

Each constrained limb restricts the displacement of the body to a ball (a solid sphere). The smallest displacement that
is in all balls lies on the surface of one, on the circle where two surfaces meet, or at a point where three meet.
Plants take priority over targets that are out of reach. Before that, the body follows its straight legs and arms, which
may not rotate much, by least squares. The requirements of the frames are then smoothed, as displacements: smoothing
positions would flatten the vertical bob of the hips, more with every run.

Key: t = frame; `row` = values of a limb in the frame, or of the displacement (`shifts`); `limb` = joints of the limb,
in the columns of `layout_kernels`; n_ready = number of frames that may be read.
"""

from __future__ import annotations

import math

import numpy as np

from marey.clean import layout_kernels as layout
from marey.clean.layout_kernels import CleanBody, CleanOptions, CleanState, SourceFrames
from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, helper, kernel
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Vec

_INSIDE = 1e-12
# If the balls have no common point: iterations of moving toward the mean of their nearest points.
_ROUNDS = 60
# Cost of a displacement relative to scaling one straight limb by the same length.
_RIDGE = 0.08
# Columns of balls after center and radius: the limb's length, and its weight.
_LENGTH, _WEIGHT, _N_BALL = 4, 5, 6


@helper
def reach_targets(body: CleanBody, options: CleanOptions, frames: SourceFrames, state: CleanState, t: int) -> None:
    """Write the requirements of frame t on the displacement of the body to `state.shifts`.

    They are the terms of a least-squares problem, in which each straight limb should keep its length while the
    displacement stays small; and the further move that brings the body into the balls.
    """
    row, positions = state.shifts[t], frames.positions[t]
    balls, which, n, held = _find_balls(body, frames, state, options.stretch, 0.0, t)
    for i in range(layout.ASKED):
        row[i] = 0.0
    for i in range(n):
        e = which[i]
        base, knee, end = _limb_joints(body.limbs[e], positions)
        upper, lower = vec.sub(knee, base), vec.sub(end, knee)
        target, length = vec.get(state.values[t, e], layout.T), vec.norm(upper) + vec.norm(lower)
        straight = balls[i, _WEIGHT] * _measure_straightness(upper, lower, options.damping)
        line = vec.normalize(vec.sub(end, base), (0.0, 1.0, 0.0))
        # A target out of reach moves the body by at most the length of the limb.
        needed = min(max(vec.dot(vec.sub(target, vec.get(state.values[t, e], layout.P)), line), -length), length)
        vec.put(row, layout.RIGHT, vec.add(vec.get(row, layout.RIGHT), vec.scale(straight * needed, line)))
        vec.put(row, layout.MOMENT, vec.add(vec.get(row, layout.MOMENT), vec.scale(straight * line[0], line)))
        vec.put(
            row,
            layout.MOMENT + 3,
            vec.add(
                vec.get(row, layout.MOMENT + 3),
                vec.scale(straight, (line[1] * line[1], line[1] * line[2], line[2] * line[2])),
            ),
        )
    eased = _solve(row, _RIDGE)
    for i in range(n):
        vec.put(balls[i], 0, vec.sub(vec.get(balls[i], 0), eased))
    vec.put(row, layout.INTO, _move_into(balls, n, held, (0.0, 0.0, 0.0), 0.0))


@helper
def _find_balls(
    body: CleanBody, frames: SourceFrames, state: CleanState, stretch: float, stretched: float, t: int
) -> tuple[Floats2D, Ints1D, int, int]:
    """Return the balls (E, _N_BALL) that bound the displacement in frame t, their limbs, and how many balls and plants.

    stretch : maximum scaling of limbs, as a fraction, which decides which targets are out of reach.
    stretched : scaling of limbs, as a fraction, that the radii of the balls include.

    Plants come first. The ball of a target that is out of reach while plants hold is widened until it meets those of
    the plants. The farther away the target, the wider its ball, until it no longer restricts anything.
    """
    n_limbs = state.flags.shape[1]
    balls, which = np.empty((n_limbs, _N_BALL)), np.zeros(n_limbs, np.int64)
    n, held = 0, 0
    for later in (False, True):
        for e in range(n_limbs):
            kind = state.flags[t, e, layout.KIND]
            if kind == layout.FREE or (kind >= layout.POSE) != later:
                continue
            base, knee, end = _limb_joints(body.limbs[e], frames.positions[t])
            length = vec.norm(vec.sub(knee, base)) + vec.norm(vec.sub(end, knee))
            vec.put(balls[n], 0, vec.sub(vec.get(state.values[t, e], layout.T), base))
            balls[n, 3] = (1.0 + stretched) * length
            balls[n, _LENGTH], balls[n, _WEIGHT] = length, 1.0
            which[n] = e
            n += 1
        if not later:
            held = n
    for i in range(held, n):
        _widen(balls, i, held, stretch)
    return balls, which, n, held


@helper
def _widen(balls: Floats2D, i: int, held: int, stretch: float) -> None:
    """Enlarge ball i if the first `held` balls leave it out of reach; the lower its weight, the more."""
    center, length = vec.get(balls[i], 0), balls[i, _LENGTH]
    within, n = np.empty((held + 1, 4)), held + 1
    # The body moves by at most the length of the limb.
    vec.put(within[held], 0, vec.scale(-1.0, center))
    within[held, 3] = length
    for j in range(held):
        vec.put(within[j], 0, vec.sub(vec.get(balls[j], 0), center))
        within[j, 3] = (1.0 + stretch) * balls[j, _LENGTH]
    away = vec.norm(find_nearest_in_balls(within, n))
    gap = away - (1.0 + stretch) * length
    if gap > 0.0:
        weight = vec.fade(gap / length)
        balls[i, 3] = max(balls[i, 3] + gap, away + (1.0 - weight) * max(vec.norm(center) - away, 0.0))
        balls[i, _WEIGHT] = weight


@helper
def _move_into(balls: Floats2D, n: int, held: int, before: Vec, stretched: float) -> Vec:
    """Return the displacement that moves the body into all balls, or near them, after a displacement `before`.

    Plants, the first `held` balls, take priority. The total is at most the length of a limb: beyond that, the target is
    out of reach.
    """
    move = _limit_move(balls, n, find_nearest_in_balls(balls, n), before, stretched)
    if held == n or held == 0 or _is_in_all(balls, held, move):
        return move
    left = balls[:held].copy()
    for i in range(held):
        vec.put(left[i], 0, vec.sub(vec.get(balls[i], 0), move))
    return _limit_move(balls, held, vec.add(move, find_nearest_in_balls(left, held)), before, stretched)


@helper
def _limit_move(balls: Floats2D, n: int, move: Vec, before: Vec, stretched: float) -> Vec:
    shortest = 0.0
    for i in range(n):
        shortest = balls[i, _LENGTH] if i == 0 else min(shortest, balls[i, _LENGTH])
    max_length = max((1.0 + stretched) * shortest, vec.norm(before))
    return vec.sub(_limit_length(vec.add(before, move), max_length), before) if n > 0 else move


@helper
def _limit_length(v: Vec, max_length: float) -> Vec:
    length = vec.norm(v)
    return vec.scale(max_length / length, v) if length > max_length else v


@helper
def _limb_joints(limb: Ints1D, positions: Floats2D) -> tuple[Vec, Vec, Vec]:
    """Return the positions of hip, knee and ankle."""
    return (
        vec.get(positions[limb[layout.BASE]], 0),
        vec.get(positions[limb[layout.MID]], 0),
        vec.get(positions[limb[layout.END]], 0),
    )


@helper
def _measure_straightness(upper: Vec, lower: Vec, damping: float) -> float:
    """Return the degree to which damping restricts the rotation of a knee: 0 if it is not damped, 1 if the knee is
    straight."""
    if damping >= math.pi:
        return 0.0
    lengths = vec.norm(upper) * vec.norm(lower)
    angle = math.pi - math.acos(min(max(vec.dot(upper, lower) / max(lengths, 1e-12), -1.0), 1.0))
    weight: float = 1.0 - vec.fade(max(angle - damping, 0.0) / (math.pi - damping))
    return weight


@helper
def _solve(row: Floats1D, ridge: float) -> Vec:
    """Return the solution x of (moment + ridge * I) x = right, with moment and right from the frame's row of
    `shifts`."""
    a, b, c = row[layout.MOMENT] + ridge, row[layout.MOMENT + 1], row[layout.MOMENT + 2]
    d, e, f = row[layout.MOMENT + 3] + ridge, row[layout.MOMENT + 4], row[layout.MOMENT + 5] + ridge
    rows = vec.cross((a, b, c), (b, d, e)), vec.cross((b, d, e), (c, e, f)), vec.cross((c, e, f), (a, b, c))
    whole = vec.dot((a, b, c), rows[1])
    right = vec.get(row, layout.RIGHT)
    x = vec.add(vec.add(vec.scale(right[0], rows[1]), vec.scale(right[1], rows[2])), vec.scale(right[2], rows[0]))
    return vec.scale(1.0 / whole, x)


@kernel
def find_nearest_in_balls(balls: Floats2D, n: int) -> Vec:
    """Return the point nearest to the origin in the first n balls (n, 4), given as center and radius."""
    origin = (0.0, 0.0, 0.0)
    if _is_in_all(balls, n, origin):
        return origin
    best, min_distance = origin, np.inf
    for i in range(n):
        point = _project_onto_ball(balls[i], origin)
        min_distance, best = _take_nearer(balls, n, point, min_distance, best)
    if min_distance < np.inf:
        return best
    for i in range(n):
        for j in range(i + 1, n):
            found, center, axis, radius = _intersect_balls(balls[i], balls[j])
            if not found:
                continue
            away = vec.sub(origin, center)
            away = vec.sub(away, vec.scale(vec.dot(away, axis), axis))
            point = vec.add(center, vec.scale(radius, vec.normalize(away, _find_perpendicular(axis))))
            min_distance, best = _take_nearer(balls, n, point, min_distance, best)
            for k in range(j + 1, n):
                for sign in (-1.0, 1.0):
                    met, point = _find_on_circle(balls[k], center, axis, radius, sign)
                    if met:
                        min_distance, best = _take_nearer(balls, n, point, min_distance, best)
    return best if min_distance < np.inf else _find_compromise(balls, n)


@helper
def _is_in_all(balls: Floats2D, n: int, point: Vec) -> bool:
    inside = True
    for i in range(n):
        inside = inside and vec.norm(vec.sub(point, vec.get(balls[i], 0))) <= balls[i, 3] * (1.0 + 1e-9) + _INSIDE
    return inside


@helper
def _take_nearer(balls: Floats2D, n: int, point: Vec, min_distance: float, best: Vec) -> tuple[float, Vec]:
    length = vec.norm(point)
    if length < min_distance and _is_in_all(balls, n, point):
        return length, point
    return min_distance, best


@helper
def _project_onto_ball(ball: Floats1D, point: Vec) -> Vec:
    """Return the nearest point of one ball."""
    center = vec.get(ball, 0)
    away = vec.sub(point, center)
    length = vec.norm(away)
    if length <= ball[3]:
        return point
    return vec.add(center, vec.scale(ball[3] / length, away))


@helper
def _intersect_balls(a: Floats1D, b: Floats1D) -> tuple[bool, Vec, Vec, float]:
    """Return whether the surfaces of two balls meet, and the center, axis and radius of the circle where they do."""
    one, two = vec.get(a, 0), vec.get(b, 0)
    apart = vec.sub(two, one)
    length = vec.norm(apart)
    if length < 1e-12 or length > a[3] + b[3] or length < abs(a[3] - b[3]):
        return False, one, apart, 0.0
    along = 0.5 * (length + (a[3] * a[3] - b[3] * b[3]) / length)
    axis = vec.scale(1.0 / length, apart)
    return True, vec.add(one, vec.scale(along, axis)), axis, math.sqrt(max(a[3] * a[3] - along * along, 0.0))


@helper
def _find_perpendicular(axis: Vec) -> Vec:
    """Return a unit vector perpendicular to `axis`."""
    other = (1.0, 0.0, 0.0) if abs(axis[0]) < 0.7 else (0.0, 1.0, 0.0)
    return vec.normalize(vec.cross(axis, other), (0.0, 0.0, 1.0))


@helper
def _find_on_circle(ball: Floats1D, center: Vec, axis: Vec, radius: float, sign: float) -> tuple[bool, Vec]:
    """Return whether a circle meets a ball's surface, and one of the two common points (chosen by `sign`)."""
    away = vec.sub(vec.get(ball, 0), center)
    height = vec.dot(away, axis)
    flat = vec.sub(away, vec.scale(height, axis))
    length = vec.norm(flat)
    if length < 1e-12 or radius < 1e-12:
        return False, center
    # |flat - radius u|^2 + height^2 = ball radius^2
    cosine = (length * length + radius * radius + height * height - ball[3] * ball[3]) / (2.0 * length * radius)
    if abs(cosine) > 1.0:
        return False, center
    u = vec.scale(1.0 / length, flat)
    v = vec.cross(axis, u)
    sine = sign * math.sqrt(1.0 - cosine * cosine)
    return True, vec.add(center, vec.add(vec.scale(radius * cosine, u), vec.scale(radius * sine, v)))


@helper
def _find_compromise(balls: Floats2D, n: int) -> Vec:
    """Return a point that is close to all balls, if they have no common point."""
    point = (0.0, 0.0, 0.0)
    for _ in range(_ROUNDS):
        total = (0.0, 0.0, 0.0)
        for i in range(n):
            total = vec.add(total, _project_onto_ball(balls[i], point))
        point = vec.scale(1.0 / n, total)
    return point


@helper
def smooth_shift(
    body: CleanBody, options: CleanOptions, frames: SourceFrames, state: CleanState, t: int, n_ready: int
) -> None:
    """Write the smoothed displacement of frame t.

    Smoothing acts on the requirements of the frames, not on a solution for each frame, so a frame without requirements
    follows its neighbors. If this leaves a target farther away than a limb may be stretched, the missing displacement
    is stored too.
    """
    window, shifts = options.root, state.shifts
    asked, weight = np.zeros(layout.ASKED), 0.0
    for s in range(max(0, t - window), min(n_ready, t + window + 1)):
        tap = options.taps[abs(s - t)]
        for i in range(layout.ASKED):
            asked[i] += tap * shifts[s, i]
        weight += tap
    for i in range(layout.ASKED):
        asked[i] /= weight
    shift = vec.add(_solve(asked, _RIDGE), vec.get(asked, layout.INTO))
    vec.put(shifts[t], layout.SHIFT, shift)
    vec.put(shifts[t], layout.LACK, _find_lack(body, frames, state, options.stretch, shift, t))


@helper
def complete_shift(
    body: CleanBody, options: CleanOptions, frames: SourceFrames, state: CleanState, t: int, n_ready: int
) -> None:
    """Add the missing displacement of frame t, eased in and out, and find the depth of each hand and foot; both are
    written to `state`.

    As in `lift_source`, the largest missing displacement within a few frames is smoothed over as many frames.
    """
    half, shifts = options.lift, state.shifts
    total, weight = (0.0, 0.0, 0.0), 0.0
    for n in range(-half, half + 1):
        tap = options.raised[half, abs(n)]
        largest, longest = (0.0, 0.0, 0.0), 0.0
        for s in range(max(0, t + n - half), min(n_ready, t + n + half + 1)):
            lack = vec.get(shifts[s], layout.LACK)
            if vec.norm(lack) > longest:
                largest, longest = lack, vec.norm(lack)
        total = vec.add(total, vec.scale(tap, largest))
        weight += tap
    shift = vec.add(vec.get(shifts[t], layout.SHIFT), vec.scale(1.0 / weight, total))
    shift = vec.add(shift, _find_lack(body, frames, state, options.stretch, shift, t))
    vec.put(shifts[t], layout.SHIFT, shift)
    floor = options.floor
    for e in range(state.flags.shape[1]):
        row, limb = state.values[t, e], body.limbs[e]
        lowest = floor
        for k in range(2):
            if limb[layout.POINT1 + k] >= 0:
                lowest = min(lowest, row[layout.X1 + 3 * k + 1] + follow_shift(row, limb, shift)[1])
        # A frame that is much too low is broken, or the floor is wrong: then a lift would only move it elsewhere.
        too_low = max(floor - lowest - options.highest, 0.0) / options.highest
        row[layout.DEPTH] = min(floor - lowest, options.highest) * vec.fade(too_low)
        row[layout.OVER] = floor - lowest - row[layout.DEPTH]


@helper
def _find_lack(body: CleanBody, frames: SourceFrames, state: CleanState, stretch: float, shift: Vec, t: int) -> Vec:
    """Return the displacement still missing for all fully stretched limbs to reach their targets, or to come close.

    shift : displacement of the body so far, in meters.
    """
    balls, _, n, held = _find_balls(body, frames, state, stretch, stretch, t)
    for i in range(n):
        vec.put(balls[i], 0, vec.sub(vec.get(balls[i], 0), shift))
        balls[i, 3] *= 1.0 - 1e-9
    return _move_into(balls, n, held, shift, stretch)


@helper
def follow_shift(row: Floats1D, limb: Ints1D, shift: Vec) -> Vec:
    """Return how a free hand or foot moves when the body is displaced.

    Feet are pushed down only as far as they hover above their plants, which happens if legs are too short; other feet
    would come too close to the floor during swing.

    row : values of the limb.
    shift : displacement of the body, in meters.
    """
    if limb[layout.IS_FOOT] == 0 or shift[1] >= 0.0:
        return shift
    s, h = shift[1], row[layout.HOVER]
    return shift[0], (s * h / math.sqrt(math.sqrt(vec.square(s * s) + vec.square(h * h))) if h > 0.0 else 0.0), shift[2]


@helper
def lift_source(body: CleanBody, options: CleanOptions, state: CleanState, t: int, n_ready: int) -> None:
    """Write the lift of frame t for points under the floor, and the remaining adjustment of each constrained limb, to
    `state`.

    The lift is the maximum depth within a few frames, smoothed over as many frames: it is smooth, never less than the
    depth, and 0 where nothing is under the floor.
    """
    half, values = options.lift, state.values
    for e in range(state.flags.shape[1]):
        row, limb = values[t, e], body.limbs[e]
        row[layout.LIFT] = smooth_peak(values, layout.DEPTH, half, options.raised, t, (e, n_ready))
        if state.flags[t, e, layout.KIND] != layout.FREE:
            source, pivot = vec.get_quat(row, layout.Q), find_pivot(row, limb)
            moved = vec.sub(
                vec.rotate(vec.mul(vec.exp(vec.get(row, layout.R)), source), pivot), vec.rotate(source, pivot)
            )
            along = follow_shift(row, limb, vec.get(state.shifts[t], layout.SHIFT))
            left = vec.add(vec.sub(vec.sub(vec.get(row, layout.T), vec.get(row, layout.P)), along), moved)
            vec.put(row, layout.D, (left[0], left[1] - row[layout.LIFT], left[2]))


@helper
def smooth_peak(values: Floats3D, column: int, half: int, raised: Floats2D, t: int, where: tuple[int, int]) -> float:
    """Return the maximum of a column within `half` frames, at least 0, smoothed over the same window.

    raised : from `CleanOptions`. where : the limb, and the number of frames that may be read.
    """
    e, n_ready = where
    total, weight = 0.0, 0.0
    for n in range(-half, half + 1):
        tap = raised[half, abs(n)]
        peak = 0.0
        for s in range(max(0, t + n - half), min(n_ready, t + n + half + 1)):
            peak = max(peak, values[s, e, column])
        total += tap * peak
        weight += tap
    return total / weight


@helper
def find_pivot(row: Floats1D, limb: Ints1D) -> Vec:
    """Return the point about which a foot rolls while its adjustment fades, in the ankle's frame: the ball."""
    if limb[layout.IS_FOOT] == 0 or limb[layout.POINT2] < 0:
        return 0.0, 0.0, 0.0
    return vec.get(row, layout.O2)
