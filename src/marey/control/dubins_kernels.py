"""Compiled: lengths of the shortest paths of a character that cannot turn on the spot.

Key: the goal is seen from the character, `ahead` and `left` in metres, `turn` the heading there, in radians to the
left; rl and rr are the radii of the tightest circles to the left and to the right. v joins two circles' centers, psi is
the heading on the straight between them.
"""

from __future__ import annotations

import math

import numpy as np

from marey.compiled import Floats1D, Floats2D, Out, helper, kernel

_ROUND = 2.0 * math.pi


@helper
def _around(angle: float) -> float:
    """The angle from 0 up to a full circle; what is a hair short of a full circle is none."""
    out = angle - _ROUND * math.floor(angle / _ROUND)
    return 0.0 if out > _ROUND - 1e-9 else out


@helper
def arc_then_straight(ahead: float, left: float, rl: float, rr: float) -> float:
    """Metres to a point: along a circle to either side, then straight on."""
    best = math.inf
    for side in range(2):
        r, across = (rl, left) if side == 0 else (rr, -left)
        u = across - r
        d = np.hypot(u, ahead)
        if d >= r - 1e-12:
            straight = math.sqrt(max(d * d - r * r, 0.0))
            best = min(best, r * _around(math.atan2(ahead, -u) - math.atan2(straight, r)) + straight)
    return best


@helper
def _alike(ahead: float, left: float, turn: float, r: float, between: float) -> float:
    """To the left at both ends; straight on between, or along a circle of radius `between` to the right."""
    vx, vy = ahead - r * math.sin(turn), left + r * math.cos(turn) - r
    d, toward = math.sqrt(vx * vx + vy * vy), math.atan2(vy, vx)
    best = r * (_around(toward) + _around(turn - toward)) + d
    reach = r + between
    if d <= 2.0 * reach:
        off = math.acos(min(d / (2.0 * reach), 1.0))
        for side in range(2):
            # The middle circle's centre, seen from the first and from the last; headings are a quarter ahead of that.
            lean = off if side == 0 else -off
            first, last = toward + lean + 0.5 * math.pi, toward - lean + 1.5 * math.pi
            way = r * (_around(first) + _around(turn - last)) + between * _around(first - last)
            best = min(best, way)
    return best


@helper
def _unlike(ahead: float, left: float, turn: float, rl: float, rr: float) -> float:
    """To the left, straight on, to the right."""
    vx, vy = ahead + rr * math.sin(turn), left - rr * math.cos(turn) - rl
    d, reach = math.sqrt(vx * vx + vy * vy), rl + rr
    if d < reach:
        return math.inf
    straight = math.sqrt(d * d - reach * reach)
    psi = math.atan2(vy, vx) + math.atan2(reach, straight)
    return rl * _around(psi) + straight + rr * _around(psi - turn)


@helper
def dubins(ahead: float, left: float, turn: float, rl: float, rr: float) -> float:
    """Metres to a point with a heading: the shortest of Dubins' six kinds of path."""
    best = min(_alike(ahead, left, turn, rl, rr), _alike(ahead, -left, -turn, rr, rl))
    return min(best, min(_unlike(ahead, left, turn, rl, rr), _unlike(ahead, -left, -turn, rr, rl)))


@helper
def path_length(place: Floats1D, goal: Floats1D, rl: float, rr: float) -> float:
    """Metres of the shortest path from a place (3,) rigid2d to goal (3,), whose heading may be NaN for any."""
    cosine, sine = math.cos(place[0]), math.sin(place[0])
    x, z = goal[1] - place[1], goal[2] - place[2]
    ahead, left = x * sine + z * cosine, x * cosine - z * sine
    if math.isnan(goal[0]):
        return arc_then_straight(ahead, left, rl, rr)
    return dubins(ahead, left, goal[0] - place[0], rl, rr)


@kernel
def measure_paths(places: Floats2D, goal: Floats1D, rl: float, rr: float, out: Out[Floats1D]) -> None:
    """Metres (N,) into `out`: the shortest paths from places (N, 3) to goal (3,); see `path_length`."""
    for n in range(len(places)):
        out[n] = path_length(places[n], goal, rl, rr)
