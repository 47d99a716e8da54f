"""Step 3 of the cleanup: move the body so that its limbs reach their targets (Kovar 3.2.4).

Each constrained limb says that the displacement must lie in a ball. The nearest displacement in all balls is found from
the balls' surfaces: one, the circle in which two meet, the points in which three do. Plants come before targets
that are out of reach. First of all, the body moves with its straight legs and arms, which may not rotate much, by least
squares. What the frames ask for is then smoothed, as a displacement: smoothing positions would flatten the bob of the
hips and change more with every run.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.clean.layout_kernels import (
    ASKED,
    BASE,
    DEPTH,
    END,
    FREE,
    HOVER,
    INTO,
    IS_FOOT,
    KIND,
    LACK,
    LIFT,
    MID,
    MOMENT,
    O2,
    POINT1,
    POINT2,
    POSE,
    RIGHT,
    SHIFT,
    X1,
    CleanBody,
    CleanOptions,
    CleanState,
    D,
    P,
    Q,
    R,
    SourceFrames,
    T,
)
from marey.compiled import Floats2D, helper, kernel
from marey.maths.vector_kernels import (
    Vec,
    add,
    cross,
    dot,
    exp,
    fade,
    mul,
    put,
    qua,
    size,
    squared,
    sub,
    times,
    turn,
    unit,
    vec,
)

Array = Any

_INSIDE = 1e-12
# Where the balls have nothing in common: rounds of moving towards the mean of the nearest points.
_ROUNDS = 60
# How much a displacement counts against the scaling of one straight limb by as much.
_RIDGE = 0.08
# Columns of balls beside centre and radius: the limb's length, and how much it counts.
_LENGTH, _WEIGHT, _N_BALL = 4, 5, 6


@helper
def reach_targets(body: CleanBody, options: CleanOptions, frames: SourceFrames, state: CleanState, t: int) -> None:
    """Write what frame t asks of the displacement x into `state.shifts`.

    Least squares: straight limbs are to keep their length, (x - d) . u = 0 for each, and x is to be small. What that
    leaves to the balls is asked for besides.
    """
    row, positions = state.shifts[t], frames.positions[t]
    balls, which, n, held = _find_balls(body, frames, state, options.stretch, 0.0, t)
    for i in range(ASKED):
        row[i] = 0.0
    for i in range(n):
        e = which[i]
        base, knee, end = _limb_joints(body.limbs[e], positions)
        upper, lower = sub(knee, base), sub(end, knee)
        target, length = vec(state.values[t, e], T), size(upper) + size(lower)
        straight = balls[i, _WEIGHT] * _straightness(upper, lower, options.damping)
        line = unit(sub(end, base), (0.0, 1.0, 0.0))
        # A target out of reach does not carry the body away: no further than a limb is long.
        needed = min(max(dot(sub(target, vec(state.values[t, e], P)), line), -length), length)
        put(row, RIGHT, add(vec(row, RIGHT), times(straight * needed, line)))
        put(row, MOMENT, add(vec(row, MOMENT), times(straight * line[0], line)))
        put(
            row,
            MOMENT + 3,
            add(vec(row, MOMENT + 3), times(straight, (line[1] * line[1], line[1] * line[2], line[2] * line[2]))),
        )
    eased = _solve(row, _RIDGE)
    for i in range(n):
        put(balls[i], 0, sub(vec(balls[i], 0), eased))
    put(row, INTO, _move_into(balls, n, held, (0.0, 0.0, 0.0), 0.0))


@helper
def _find_balls(
    body: CleanBody, frames: SourceFrames, state: CleanState, stretch: float, stretched: float, t: int
) -> tuple[Array, Array, int, int]:
    """The balls (E, _N_BALL) in which frame t wants the displacement, whose limbs they are, how many, how many plants.

    stretched : fraction by which limbs are scaled for the balls; `stretch` is that by which they may be. Plants come
    first.
    The ball of a target that is out of reach while plants hold is as wide as it must be to meet those of the plants,
    and the further off the target is, the wider, until it asks for nothing.
    """
    n_limbs = state.flags.shape[1]
    balls, which = np.empty((n_limbs, _N_BALL)), np.zeros(n_limbs, np.int64)
    n, held = 0, 0
    for later in (False, True):
        for e in range(n_limbs):
            kind = state.flags[t, e, KIND]
            if kind == FREE or (kind >= POSE) != later:
                continue
            base, knee, end = _limb_joints(body.limbs[e], frames.positions[t])
            length = size(sub(knee, base)) + size(sub(end, knee))
            put(balls[n], 0, sub(vec(state.values[t, e], T), base))
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
def _widen(balls: Array, i: int, held: int, stretch: float) -> None:
    """Widen ball i where it is out of reach of the first `held`, and the less it counts, the more."""
    centre, length = vec(balls[i], 0), balls[i, _LENGTH]
    within, n = np.empty((held + 1, 4)), held + 1
    # The body moves no further than the limb is long.
    put(within[held], 0, times(-1.0, centre))
    within[held, 3] = length
    for j in range(held):
        put(within[j], 0, sub(vec(balls[j], 0), centre))
        within[j, 3] = (1.0 + stretch) * balls[j, _LENGTH]
    away = size(nearest_in_balls(within, n))
    gap = away - (1.0 + stretch) * length
    if gap > 0.0:
        weight = fade(gap / length)
        balls[i, 3] = max(balls[i, 3] + gap, away + (1.0 - weight) * max(size(centre) - away, 0.0))
        balls[i, _WEIGHT] = weight


@helper
def _move_into(balls: Array, n: int, held: int, before: Vec, stretched: float) -> Vec:
    """The way into all balls, or near them, for a body displaced by `before`; plants, the first `held`, come first.

    No further than a limb is long: it is the target that is out of reach then.
    """
    way = _limit_way(balls, n, nearest_in_balls(balls, n), before, stretched)
    if held == n or held == 0 or _in_all(balls, held, way):
        return way
    left = balls[:held].copy()
    for i in range(held):
        put(left[i], 0, sub(vec(balls[i], 0), way))
    return _limit_way(balls, held, add(way, nearest_in_balls(left, held)), before, stretched)


@helper
def _limit_way(balls: Array, n: int, way: Vec, before: Vec, stretched: float) -> Vec:
    least = 0.0
    for i in range(n):
        least = balls[i, _LENGTH] if i == 0 else min(least, balls[i, _LENGTH])
    most = max((1.0 + stretched) * least, size(before))
    return sub(_limit_length(add(before, way), most), before) if n > 0 else way


@helper
def _limit_length(v: Vec, most: float) -> Vec:
    length = size(v)
    return times(most / length, v) if length > most else v


@helper
def _limb_joints(limb: Array, positions: Array) -> tuple[Vec, Vec, Vec]:
    """Hip, knee and ankle."""
    return vec(positions[limb[BASE]], 0), vec(positions[limb[MID]], 0), vec(positions[limb[END]], 0)


@helper
def _straightness(upper: Vec, lower: Vec, damping: float) -> float:
    """How little a knee may rotate: 0 where it is not damped, 1 where it is straight."""
    if damping >= math.pi:
        return 0.0
    lengths = size(upper) * size(lower)
    angle = math.pi - math.acos(min(max(dot(upper, lower) / max(lengths, 1e-12), -1.0), 1.0))
    weight: float = 1.0 - fade(max(angle - damping, 0.0) / (math.pi - damping))
    return weight


@helper
def _solve(row: Array, ridge: float) -> Vec:
    """x with (moment + ridge) x = right."""
    a, b, c = row[MOMENT] + ridge, row[MOMENT + 1], row[MOMENT + 2]
    d, e, f = row[MOMENT + 3] + ridge, row[MOMENT + 4], row[MOMENT + 5] + ridge
    rows = cross((a, b, c), (b, d, e)), cross((b, d, e), (c, e, f)), cross((c, e, f), (a, b, c))
    whole = dot((a, b, c), rows[1])
    right = vec(row, RIGHT)
    x = add(add(times(right[0], rows[1]), times(right[1], rows[2])), times(right[2], rows[0]))
    return times(1.0 / whole, x)


@kernel
def nearest_in_balls(balls: Floats2D, n: int) -> Vec:
    """The point nearest to the origin in the first n balls (n, 4): centre and radius."""
    origin = (0.0, 0.0, 0.0)
    if _in_all(balls, n, origin):
        return origin
    best, least = origin, np.inf
    for i in range(n):
        point = _on_one(balls[i], origin)
        least, best = _better(balls, n, point, least, best)
    if least < np.inf:
        return best
    for i in range(n):
        for j in range(i + 1, n):
            found, centre, axis, radius = _circle(balls[i], balls[j])
            if not found:
                continue
            away = sub(origin, centre)
            away = sub(away, times(dot(away, axis), axis))
            point = add(centre, times(radius, unit(away, _across(axis))))
            least, best = _better(balls, n, point, least, best)
            for k in range(j + 1, n):
                for sign in (-1.0, 1.0):
                    met, point = _on_three(balls[k], centre, axis, radius, sign)
                    if met:
                        least, best = _better(balls, n, point, least, best)
    return best if least < np.inf else _compromise(balls, n)


@helper
def _in_all(balls: Array, n: int, point: Vec) -> bool:
    inside = True
    for i in range(n):
        inside = inside and size(sub(point, vec(balls[i], 0))) <= balls[i, 3] * (1.0 + 1e-9) + _INSIDE
    return inside


@helper
def _better(balls: Array, n: int, point: Vec, least: float, best: Vec) -> tuple[float, Vec]:
    length = size(point)
    if length < least and _in_all(balls, n, point):
        return length, point
    return least, best


@helper
def _on_one(ball: Array, point: Vec) -> Vec:
    """The nearest point of one ball."""
    centre = vec(ball, 0)
    away = sub(point, centre)
    length = size(away)
    if length <= ball[3]:
        return point
    return add(centre, times(ball[3] / length, away))


@helper
def _circle(a: Array, b: Array) -> tuple[bool, Vec, Vec, float]:
    """Where the surfaces of two balls meet: whether they do, centre, axis and radius."""
    one, two = vec(a, 0), vec(b, 0)
    apart = sub(two, one)
    length = size(apart)
    if length < 1e-12 or length > a[3] + b[3] or length < abs(a[3] - b[3]):
        return False, one, apart, 0.0
    along = 0.5 * (length + (a[3] * a[3] - b[3] * b[3]) / length)
    axis = times(1.0 / length, apart)
    return True, add(one, times(along, axis)), axis, math.sqrt(max(a[3] * a[3] - along * along, 0.0))


@helper
def _across(axis: Vec) -> Vec:
    """A unit vector across `axis`."""
    other = (1.0, 0.0, 0.0) if abs(axis[0]) < 0.7 else (0.0, 1.0, 0.0)
    return unit(cross(axis, other), (0.0, 0.0, 1.0))


@helper
def _on_three(ball: Array, centre: Vec, axis: Vec, radius: float, sign: float) -> tuple[bool, Vec]:
    """One of the two points of a circle that lie on a ball's surface, and whether there are such."""
    away = sub(vec(ball, 0), centre)
    height = dot(away, axis)
    flat = sub(away, times(height, axis))
    length = size(flat)
    if length < 1e-12 or radius < 1e-12:
        return False, centre
    # |flat - radius u|^2 + height^2 = ball radius^2
    cosine = (length * length + radius * radius + height * height - ball[3] * ball[3]) / (2.0 * length * radius)
    if abs(cosine) > 1.0:
        return False, centre
    u = times(1.0 / length, flat)
    v = cross(axis, u)
    sine = sign * math.sqrt(1.0 - cosine * cosine)
    return True, add(centre, add(times(radius * cosine, u), times(radius * sine, v)))


@helper
def _compromise(balls: Array, n: int) -> Vec:
    """A point whose distances to balls without a common point are small."""
    point = (0.0, 0.0, 0.0)
    for _ in range(_ROUNDS):
        total = (0.0, 0.0, 0.0)
        for i in range(n):
            total = add(total, _on_one(balls[i], point))
        point = times(1.0 / n, total)
    return point


@helper
def smooth_shift(
    body: CleanBody, options: CleanOptions, frames: SourceFrames, state: CleanState, t: int, n_ready: int
) -> None:
    """Write the smoothed displacement of frame t.

    What the frames ask for is smoothed, not what each would get by itself: so a frame that asks for nothing follows its
    neighbors. Where this leaves a target further than a limb may be stretched, what lacks is noted.
    """
    window, shifts = options.root, state.shifts
    asked, weight = np.zeros(ASKED), 0.0
    for s in range(max(0, t - window), min(n_ready, t + window + 1)):
        tap = options.taps[abs(s - t)]
        for i in range(ASKED):
            asked[i] += tap * shifts[s, i]
        weight += tap
    for i in range(ASKED):
        asked[i] /= weight
    shift = add(_solve(asked, _RIDGE), vec(asked, INTO))
    put(shifts[t], SHIFT, shift)
    put(shifts[t], LACK, _find_lack(body, frames, state, options.stretch, shift, t))


@helper
def complete_shift(
    body: CleanBody, options: CleanOptions, frames: SourceFrames, state: CleanState, t: int, n_ready: int
) -> None:
    """Add what lacks to the displacement of frame t, eased in and out, and find how deep each hand and foot then is.

    As in `lift_source`, the most that lacks within a few frames is smoothed over as many.
    """
    half, shifts = options.lift, state.shifts
    total, weight = (0.0, 0.0, 0.0), 0.0
    for n in range(-half, half + 1):
        tap = 1.0 + math.cos(math.pi * n / (half + 1))
        most, longest = (0.0, 0.0, 0.0), 0.0
        for s in range(max(0, t + n - half), min(n_ready, t + n + half + 1)):
            lack = vec(shifts[s], LACK)
            if size(lack) > longest:
                most, longest = lack, size(lack)
        total = add(total, times(tap, most))
        weight += tap
    shift = add(vec(shifts[t], SHIFT), times(1.0 / weight, total))
    shift = add(shift, _find_lack(body, frames, state, options.stretch, shift, t))
    put(shifts[t], SHIFT, shift)
    floor = options.floor
    for e in range(state.flags.shape[1]):
        row, limb = state.values[t, e], body.limbs[e]
        lowest = floor
        for k in range(2):
            if limb[POINT1 + k] >= 0:
                lowest = min(lowest, row[X1 + 3 * k + 1] + follow_shift(row, limb, shift)[1])
        row[DEPTH] = floor - lowest


@helper
def _find_lack(body: CleanBody, frames: SourceFrames, state: CleanState, stretch: float, shift: Vec, t: int) -> Vec:
    """What a displacement lacks for all limbs to reach their targets when fully stretched, or to come near them."""
    balls, _, n, held = _find_balls(body, frames, state, stretch, stretch, t)
    for i in range(n):
        put(balls[i], 0, sub(vec(balls[i], 0), shift))
        balls[i, 3] *= 1.0 - 1e-9
    return _move_into(balls, n, held, shift, stretch)


@helper
def follow_shift(row: Array, limb: Array, shift: Vec) -> Vec:
    """What a free hand or foot does when the body is displaced.

    Feet are pushed down no further than they hover above their plants, as on legs that are too short: those of others
    would come near the floor while they swing.
    """
    if limb[IS_FOOT] == 0 or shift[1] >= 0.0:
        return shift
    s, h = shift[1], row[HOVER]
    return shift[0], (s * h / math.sqrt(math.sqrt(squared(s * s) + squared(h * h))) if h > 0.0 else 0.0), shift[2]


@helper
def lift_source(body: CleanBody, options: CleanOptions, state: CleanState, t: int, n_ready: int) -> None:
    """Find how far frame t is lifted for points under the floor, and what is then left to each constrained limb.

    The lift is the deepest within a few frames, smoothed over as many: it is smooth, never less than the depth, and
    nothing where nothing is under the floor.
    """
    half, values = options.lift, state.values
    for e in range(state.flags.shape[1]):
        row, limb = values[t, e], body.limbs[e]
        total, weight = 0.0, 0.0
        for n in range(-half, half + 1):
            tap = 1.0 + math.cos(math.pi * n / (half + 1))
            deepest = 0.0
            for s in range(max(0, t + n - half), min(n_ready, t + n + half + 1)):
                deepest = max(deepest, values[s, e, DEPTH])
            total += tap * deepest
            weight += tap
        row[LIFT] = total / weight
        if state.flags[t, e, KIND] != FREE:
            source, pivot = qua(row, Q), find_pivot(row, limb)
            moved = sub(turn(mul(exp(vec(row, R)), source), pivot), turn(source, pivot))
            along = follow_shift(row, limb, vec(state.shifts[t], SHIFT))
            left = add(sub(sub(vec(row, T), vec(row, P)), along), moved)
            put(row, D, (left[0], left[1] - row[LIFT], left[2]))


@helper
def find_pivot(row: Array, limb: Array) -> Vec:
    """The point of a foot whose adjustment fades, in the ankle's frame: the ball, about which it rolls off."""
    if limb[IS_FOOT] == 0 or limb[POINT2] < 0:
        return 0.0, 0.0, 0.0
    return vec(row, O2)
