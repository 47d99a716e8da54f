"""Compiled kernels: length of the shortest path of a character that cannot turn on the spot.

Key: the goal is given in the character's coordinates: `ahead` and `left` in meters, and `turn`, the heading there, in
radians to the left. rl and rr are the radii of the tightest circles to the left and right, in meters. (vx, vy) is the
vector between the centers of two circles, d its length; psi is the heading on the straight line between them.
"""

from __future__ import annotations

import math

import numpy as np

from marey.compiled import Floats1D, Floats2D, Out, helper, kernel

_CIRCLE = 2.0 * math.pi


@helper
def _wrap_positive(angle: float) -> float:
    """Wrap an angle to [0, 2 pi). Return 0 if it is within rounding error of a full circle."""
    out = angle - _CIRCLE * math.floor(angle / _CIRCLE)
    return 0.0 if out > _CIRCLE - 1e-9 else out


@helper
def _measure_arc_then_straight(ahead: float, left: float, rl: float, rr: float) -> float:
    """Measure the path to a point in meters: along a circle to either side, then straight ahead."""
    best = math.inf
    for side in range(2):
        r, across = (rl, left) if side == 0 else (rr, -left)
        u = across - r
        d = np.hypot(u, ahead)
        if d >= r - 1e-12:
            straight = math.sqrt(max(d * d - r * r, 0.0))
            best = min(best, r * _wrap_positive(math.atan2(ahead, -u) - math.atan2(straight, r)) + straight)
    return best


@helper
def _measure_same_sides(ahead: float, left: float, turn: float, r: float, between: float) -> float:
    """Measure, in meters, the shortest path with left arcs at both ends.

    In between it goes straight, or along a circle of radius `between` to the right.
    """
    vx, vy = ahead - r * math.sin(turn), left + r * math.cos(turn) - r
    d, toward = math.sqrt(vx * vx + vy * vy), math.atan2(vy, vx)
    best = r * (_wrap_positive(toward) + _wrap_positive(turn - toward)) + d
    reach = r + between
    if d <= 2.0 * reach:
        off = math.acos(min(d / (2.0 * reach), 1.0))
        for side in range(2):
            # Headings where the circles touch: a quarter turn beyond the direction to the middle circle's center, as
            # seen from the first and from the last circle.
            lean = off if side == 0 else -off
            first, last = toward + lean + 0.5 * math.pi, toward - lean + 1.5 * math.pi
            way = r * (_wrap_positive(first) + _wrap_positive(turn - last)) + between * _wrap_positive(first - last)
            best = min(best, way)
    return best


@helper
def _measure_opposite_sides(ahead: float, left: float, turn: float, rl: float, rr: float) -> float:
    """Measure, in meters, the path left, straight, then right; infinite if the circles overlap."""
    vx, vy = ahead + rr * math.sin(turn), left - rr * math.cos(turn) - rl
    d, reach = math.sqrt(vx * vx + vy * vy), rl + rr
    if d < reach:
        return math.inf
    straight = math.sqrt(d * d - reach * reach)
    psi = math.atan2(vy, vx) + math.atan2(reach, straight)
    return rl * _wrap_positive(psi) + straight + rr * _wrap_positive(psi - turn)


@helper
def _measure_dubins(ahead: float, left: float, turn: float, rl: float, rr: float) -> float:
    """Measure the path to a point and heading in meters: the shortest of Dubins' six path types."""
    best = min(_measure_same_sides(ahead, left, turn, rl, rr), _measure_same_sides(ahead, -left, -turn, rr, rl))
    return min(
        best,
        min(_measure_opposite_sides(ahead, left, turn, rl, rr), _measure_opposite_sides(ahead, -left, -turn, rr, rl)),
    )


@helper
def measure_path(place: Floats1D, goal: Floats1D, rl: float, rr: float) -> float:
    """Measure the shortest path in meters from `place` (3,) to `goal` (3,), rigid2d; goal[0] is NaN for any heading."""
    cosine, sine = math.cos(place[0]), math.sin(place[0])
    x, z = goal[1] - place[1], goal[2] - place[2]
    ahead, left = x * sine + z * cosine, x * cosine - z * sine
    if math.isnan(goal[0]):
        return _measure_arc_then_straight(ahead, left, rl, rr)
    return _measure_dubins(ahead, left, goal[0] - place[0], rl, rr)


@kernel
def measure_paths(places: Floats2D, goal: Floats1D, rl: float, rr: float, out: Out[Floats1D]) -> None:
    """Measure the shortest paths in meters from `places` (N, 3) to `goal` (3,) into `out` (N,); see `measure_path`."""
    for n in range(len(places)):
        out[n] = measure_path(places[n], goal, rl, rr)
