"""Compiled: lengths of the shortest ways of a figure that cannot turn on the spot.

Key: the goal is seen from the figure, `ahead` and `left` in metres, `turn` the heading there, in radians to the left;
rl and rr are the radii of the tightest circles to the left and to the right. v joins two circles' centres, psi is the
heading on the straight between them.
"""

from __future__ import annotations

import math
from typing import Any

from marey.core.compiled import inner, kernel

_ROUND = 2.0 * math.pi


@inner
def _around(angle: float) -> float:
    """The angle from 0 up to a full circle; what is a hair short of a full circle is none."""
    out = angle - _ROUND * math.floor(angle / _ROUND)
    return 0.0 if out > _ROUND - 1e-9 else out


@inner
def arc_then_straight(ahead: float, left: float, rl: float, rr: float) -> Any:
    """Metres to a point: along a circle to either side, then straight on."""
    best = math.inf
    for side in range(2):
        r, across = (rl, left) if side == 0 else (rr, -left)
        u = across - r
        d = math.hypot(u, ahead)
        if d >= r - 1e-12:
            straight = math.sqrt(max(d * d - r * r, 0.0))
            best = min(best, r * _around(math.atan2(ahead, -u) - math.atan2(straight, r)) + straight)
    return best


@inner
def _alike(ahead: float, left: float, turn: float, r: float, between: float) -> Any:
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


@inner
def _unlike(ahead: float, left: float, turn: float, rl: float, rr: float) -> Any:
    """To the left, straight on, to the right."""
    vx, vy = ahead + rr * math.sin(turn), left - rr * math.cos(turn) - rl
    d, reach = math.sqrt(vx * vx + vy * vy), rl + rr
    if d < reach:
        return math.inf
    straight = math.sqrt(d * d - reach * reach)
    psi = math.atan2(vy, vx) + math.atan2(reach, straight)
    return rl * _around(psi) + straight + rr * _around(psi - turn)


@kernel
def dubins(ahead: float, left: float, turn: float, rl: float, rr: float) -> Any:
    """Metres to a point with a heading: the shortest of Dubins' six kinds of way."""
    best = min(_alike(ahead, left, turn, rl, rr), _alike(ahead, -left, -turn, rr, rl))
    return min(best, min(_unlike(ahead, left, turn, rl, rr), _unlike(ahead, -left, -turn, rr, rl)))


@kernel
def ways_to(places: Any, goal: Any, rl: float, rr: float, out: Any) -> None:
    """Metres (N,) into `out`, from places (N, 3) rigid2d to goal (3,), whose heading may be NaN for any."""
    for n in range(len(places)):
        cosine, sine = math.cos(places[n, 0]), math.sin(places[n, 0])
        x, z = goal[1] - places[n, 1], goal[2] - places[n, 2]
        ahead, left = x * sine + z * cosine, x * cosine - z * sine
        if math.isnan(goal[0]):
            out[n] = arc_then_straight(ahead, left, rl, rr)
        else:
            out[n] = dubins(ahead, left, goal[0] - places[n, 0], rl, rr)
