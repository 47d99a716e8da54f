"""Step 3 of the cleanup: move the figure so that its limbs reach their targets (Kovar 3.2.4).

Each constrained limb says that the displacement must lie in a ball. The nearest displacement in all balls is found from
the balls' surfaces: one, the circle in which two meet, the points in which three do. The displacement, not the
position, is then smoothed: smoothing positions would flatten the bob of the hips and change more with every run.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from marey.clean.layout import (
    BASE,
    DAMPING,
    DEPTH,
    END,
    FLOOR,
    FREE,
    IS_FOOT,
    KIND,
    L3,
    LIFT,
    LIFTING,
    MID,
    POINT1,
    STRETCH,
    X1,
    D,
    P,
    T,
)  # fmt: skip
from marey.clean.vector_kernels import add, cross, dot, fade, put, size, sub, times, unit, vec
from marey.core.compiled import kernel

Array = Any
Vec = Any

_INSIDE = 1e-12
# Where the balls have nothing in common: rounds of moving towards the mean of the nearest points.
_ROUNDS = 60
# How much a displacement counts against the scaling of one straight limb by as much.
_RIDGE = 0.08


@kernel
def reach_targets(
    state: Array, flags: Array, limbs: Array, positions: Array, amounts: Array, shifts: Array, t: int
) -> None:
    """The displacement of frame t by itself, into columns 0 to 2 of `shifts`."""
    n_limbs = flags.shape[1]
    balls = np.empty((n_limbs, 4))
    n = 0
    # Least squares: the displacement x that leaves straight limbs their length, (x - d) . u = 0 for each, and is small.
    moment, right = np.zeros((3, 3)), np.zeros(3)
    for e in range(n_limbs):
        if flags[t, e, KIND] == FREE:
            continue
        base = vec(positions[t, limbs[e, BASE]], 0)
        knee = vec(positions[t, limbs[e, MID]], 0)
        end = vec(positions[t, limbs[e, END]], 0)
        target = vec(state[t, e], T)
        put(balls[n], 0, sub(target, base))
        upper, lower = sub(knee, base), sub(end, knee)
        balls[n, 3] = size(upper) + size(lower)
        n += 1
        straight = _straightness(upper, lower, amounts[DAMPING])
        line = unit(sub(end, base), (0.0, 1.0, 0.0))
        needed = dot(sub(target, vec(state[t, e], P)), line)
        for i in range(3):
            right[i] += straight * needed * line[i]
            for j in range(3):
                moment[i, j] += straight * line[i] * line[j]
    eased = _solve(moment, right, _RIDGE)
    for i in range(n):
        put(balls[i], 0, sub(vec(balls[i], 0), eased))
    shift = add(eased, nearest_in_balls(balls, n))
    # A target out of reach does not carry the figure away: no further than a limb is long.
    most = 0.0
    for i in range(n):
        most = balls[i, 3] if i == 0 else min(most, balls[i, 3])
    length = size(shift)
    put(shifts[t], 0, times(most / length, shift) if length > most else shift)


@kernel
def _straightness(upper: Vec, lower: Vec, damping: float) -> float:
    """How little a knee may turn: 0 where it is not damped, 1 where it is straight."""
    if damping >= math.pi:
        return 0.0
    lengths = size(upper) * size(lower)
    angle = math.pi - math.acos(min(max(dot(upper, lower) / max(lengths, 1e-12), -1.0), 1.0))
    share: float = 1.0 - fade(max(angle - damping, 0.0) / (math.pi - damping))
    return share


@kernel
def _solve(moment: Array, right: Array, ridge: float) -> Vec:
    """x with (moment + ridge) x = right, for a symmetric moment (3, 3)."""
    a, b, c = moment[0, 0] + ridge, moment[0, 1], moment[0, 2]
    d, e, f = moment[1, 1] + ridge, moment[1, 2], moment[2, 2] + ridge
    rows = cross((a, b, c), (b, d, e)), cross((b, d, e), (c, e, f)), cross((c, e, f), (a, b, c))
    whole = dot((a, b, c), rows[1])
    x = add(add(times(right[0], rows[1]), times(right[1], rows[2])), times(right[2], rows[0]))
    return times(1.0 / whole, x)


@kernel
def nearest_in_balls(balls: Array, n: int) -> Vec:
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


@kernel
def _in_all(balls: Array, n: int, point: Vec) -> bool:
    inside = True
    for i in range(n):
        inside = inside and size(sub(point, vec(balls[i], 0))) <= balls[i, 3] * (1.0 + 1e-9) + _INSIDE
    return inside


@kernel
def _better(balls: Array, n: int, point: Vec, least: float, best: Vec) -> tuple[float, Vec]:
    length = size(point)
    if length < least and _in_all(balls, n, point):
        return length, point
    return least, best


@kernel
def _on_one(ball: Array, point: Vec) -> Vec:
    """The nearest point of one ball."""
    centre = vec(ball, 0)
    away = sub(point, centre)
    length = size(away)
    if length <= ball[3]:
        return point
    return add(centre, times(ball[3] / length, away))


@kernel
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


@kernel
def _across(axis: Vec) -> Vec:
    """A unit vector across `axis`."""
    other = (1.0, 0.0, 0.0) if abs(axis[0]) < 0.7 else (0.0, 1.0, 0.0)
    return unit(cross(axis, other), (0.0, 0.0, 1.0))


@kernel
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


@kernel
def _compromise(balls: Array, n: int) -> Vec:
    """A point whose distances to balls without a common point are small."""
    point = (0.0, 0.0, 0.0)
    for _ in range(_ROUNDS):
        total = (0.0, 0.0, 0.0)
        for i in range(n):
            total = add(total, _on_one(balls[i], point))
        point = times(1.0 / n, total)
    return point


@kernel
def smooth_shift(
    state: Array, flags: Array, limbs: Array, positions: Array, shifts: Array, taps: Array, spans: Array,
    amounts: Array, t: int, low: int, high: int,
) -> None:  # fmt: skip
    """The smoothed displacement of frame t, into columns 3 to 5.

    Where smoothing leaves a target further than a limb may be stretched, what lacks goes into columns 6 to 8.
    """
    window = spans[L3]
    total, weight = (0.0, 0.0, 0.0), 0.0
    for s in range(max(low, t - window), min(high, t + window + 1)):
        tap = taps[abs(s - t)]
        total = add(total, times(tap, vec(shifts[s], 0)))
        weight += tap
    shift = times(1.0 / weight, total)
    put(shifts[t], 3, shift)
    put(shifts[t], 6, _missing(state, flags, limbs, positions, shift, amounts[STRETCH], t))


@kernel
def complete_shift(
    state: Array, flags: Array, limbs: Array, positions: Array, shifts: Array, spans: Array, amounts: Array,
    t: int, low: int, high: int,
) -> None:  # fmt: skip
    """The displacement of frame t with what lacks, eased in and out, and how deep each hand and foot then is.

    As in `lift_source`, the most that lacks within a few frames is smoothed over as many.
    """
    half = spans[LIFTING]
    total, weight = (0.0, 0.0, 0.0), 0.0
    for n in range(-half, half + 1):
        tap = 1.0 + math.cos(math.pi * n / (half + 1))
        most, longest = (0.0, 0.0, 0.0), 0.0
        for s in range(max(low, t + n - half), min(high, t + n + half + 1)):
            lack = vec(shifts[s], 6)
            if size(lack) > longest:
                most, longest = lack, size(lack)
        total = add(total, times(tap, most))
        weight += tap
    shift = add(vec(shifts[t], 3), times(1.0 / weight, total))
    shift = add(shift, _missing(state, flags, limbs, positions, shift, amounts[STRETCH], t))
    put(shifts[t], 3, shift)
    floor = amounts[FLOOR]
    for e in range(flags.shape[1]):
        row, limb = state[t, e], limbs[e]
        lowest = floor
        for k in range(2):
            if limb[POINT1 + k] >= 0:
                lowest = min(lowest, row[X1 + 3 * k + 1] + followed(limb, shift)[1])
        row[DEPTH] = floor - lowest


@kernel
def _missing(state: Array, flags: Array, limbs: Array, positions: Array, shift: Vec, stretch: float, t: int) -> Vec:
    """What a displacement lacks for all limbs to reach their targets when fully stretched; nothing if they never do."""
    if stretch <= 0.0:
        return 0.0, 0.0, 0.0
    n_limbs = flags.shape[1]
    balls, n = np.empty((n_limbs, 4)), 0
    for e in range(n_limbs):
        if flags[t, e, KIND] != FREE:
            base = vec(positions[t, limbs[e, BASE]], 0)
            knee = vec(positions[t, limbs[e, MID]], 0)
            end = vec(positions[t, limbs[e, END]], 0)
            put(balls[n], 0, sub(sub(vec(state[t, e], T), base), shift))
            balls[n, 3] = (1.0 - 1e-9) * (1.0 + stretch) * (size(sub(knee, base)) + size(sub(end, knee)))
            n += 1
    more = nearest_in_balls(balls, n)
    least = 0.0
    for i in range(n):
        least = balls[i, 3] if i == 0 else min(least, balls[i, 3])
    return more if size(add(shift, more)) <= least else (0.0, 0.0, 0.0)


@kernel
def followed(limb: Array, shift: Vec) -> Vec:
    """What a free hand or foot does when the figure is displaced: feet are not pushed down."""
    return (shift[0], max(shift[1], 0.0), shift[2]) if limb[IS_FOOT] != 0 else shift


@kernel
def lift_source(
    state: Array, flags: Array, limbs: Array, shifts: Array, spans: Array, t: int, low: int, high: int
) -> None:
    """How far frame t is lifted for points under the floor, and what is then left to each constrained limb.

    The lift is the deepest within a few frames, smoothed over as many: it is smooth, never less than the depth, and
    nothing where nothing is under the floor.
    """
    half = spans[LIFTING]
    for e in range(flags.shape[1]):
        row = state[t, e]
        total, weight = 0.0, 0.0
        for n in range(-half, half + 1):
            tap = 1.0 + math.cos(math.pi * n / (half + 1))
            deepest = 0.0
            for s in range(max(low, t + n - half), min(high, t + n + half + 1)):
                deepest = max(deepest, state[s, e, DEPTH])
            total += tap * deepest
            weight += tap
        row[LIFT] = total / weight
        if flags[t, e, KIND] != FREE:
            left = sub(sub(vec(row, T), vec(row, P)), followed(limbs[e], vec(shifts[t], 3)))
            put(row, D, (left[0], left[1] - row[LIFT], left[2]))
