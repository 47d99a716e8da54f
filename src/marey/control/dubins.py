"""Deprecated: lengths of the shortest paths of a character that cannot turn on the spot (Dubins 1957).

The planner computes how long a path takes; see `marey.control.planner`.

Key: the goal is given in the character's coordinates: `ahead` and `left` in meters, and `turn`, the heading there, in
radians to the left. rl and rr are the radii of the tightest circles to the left and right, in meters. (vx, vy) is the
vector between the centers of two circles, d its length; psi is the heading on the straight line between them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, freeze_array
from marey.deprecation import warn_renamed
from marey.errors import InvalidValue
from marey.maths import rigid2d

__all__ = ["arc_and_straight", "dubins_length"]

_CIRCLE = 2.0 * math.pi
# Meters; wider circles count as straight.
_WIDEST = 1e4
_INSTEAD = "marey.control.get_planner(char).go_to"


def dubins_length(places: ArrayLike, goal: ArrayLike, radius: float | tuple[float, float]) -> Floats:
    """Deprecated: return the lengths (...) in meters of the shortest paths from places to a goal (Dubins paths).

    A path starts and ends with arcs of the tightest circles, with a straight line or a third arc in between.

    Parameters
    ----------
    places : (..., 3) rigid2d (theta, x, z), positions and headings of characters.
    goal : (3,) rigid2d, position and heading on arrival.
    radius : radius of the tightest circle in meters, or a pair for left and right; infinite for a side to which the
        character cannot turn.
    """
    warn_renamed("marey.control.dubins_length", _INSTEAD)
    here, there = np.asarray(places, dtype=np.float64), freeze_array(goal, "goal", (3,))
    if here.ndim < 1 or here.shape[-1] != 3:
        raise InvalidValue(f"places must have shape (..., 3), not {here.shape}")
    both = np.broadcast_to(np.asarray(radius, dtype=np.float64), (2,)) if np.ndim(radius) < 2 else np.zeros(2)
    if np.isnan(both).any() or (both <= 0.0).any():
        raise InvalidValue(
            f"radius must be a distance in meters, greater than 0, or a pair (left, right), not {radius!r}"
        )
    rl, rr = np.minimum(both, _WIDEST).tolist()
    apart = rigid2d.apply(rigid2d.invert(here), np.broadcast_to(there[1:], (*here.shape[:-1], 2)))
    rows = np.concatenate([apart, (there[0] - here[..., :1])], axis=-1).reshape(-1, 3).tolist()
    found = [_measure_dubins(ahead, left, turn, rl, rr) for left, ahead, turn in rows]
    return np.asarray(found).reshape(here.shape[:-1])


def arc_and_straight(places: ArrayLike, goal: ArrayLike, radius: float) -> Floats:
    """Deprecated: return the lengths (...) in meters of the shortest paths to a point: along a circle, then straight.

    This is the Dubins path if the final heading does not matter. A point inside the circle on one side is reached along
    the circle on the other side.

    Parameters
    ----------
    places : (..., 3) rigid2d (theta, x, z), positions and headings of characters.
    goal : (2,) x and z in meters.
    radius : radius of the tightest circle in meters.
    """
    warn_renamed("marey.control.arc_and_straight", _INSTEAD)
    here, there = np.asarray(places, dtype=np.float64), np.asarray(goal, dtype=np.float64)
    left, ahead = np.moveaxis(rigid2d.apply(rigid2d.invert(here), np.broadcast_to(there, (*here.shape[:-1], 2))), -1, 0)
    lengths = [_turn_left(side * left, ahead, radius) for side in (1.0, -1.0)]
    return np.minimum(*lengths)


def _turn_left(left: Floats, ahead: Floats, r: float) -> Floats:
    """Return the lengths of paths that turn left and then go straight; infinite for points inside the circle.

    After an angle t, the character is at r (1 - cos t, sin t) and continues along (sin t, cos t).
    """
    u = left - r
    d = np.hypot(u, ahead)
    straight = np.sqrt(np.maximum(d * d - r * r, 0.0))
    turn = np.arctan2(ahead, -u) - np.arctan2(straight, r)
    turn = np.where(turn < -1e-9, turn + 2.0 * np.pi, np.maximum(turn, 0.0))
    return np.where(d < r - 1e-12, np.inf, r * turn + straight)


def _wrap_positive(angle: float) -> float:
    """Wrap an angle to [0, 2 pi). Return 0 if it is within rounding error of a full circle."""
    out = angle - _CIRCLE * math.floor(angle / _CIRCLE)
    return 0.0 if out > _CIRCLE - 1e-9 else out


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


def _measure_opposite_sides(ahead: float, left: float, turn: float, rl: float, rr: float) -> float:
    """Measure, in meters, the path left, straight, then right; infinite if the circles overlap."""
    vx, vy = ahead + rr * math.sin(turn), left - rr * math.cos(turn) - rl
    d, reach = math.sqrt(vx * vx + vy * vy), rl + rr
    if d < reach:
        return math.inf
    straight = math.sqrt(d * d - reach * reach)
    psi = math.atan2(vy, vx) + math.atan2(reach, straight)
    return rl * _wrap_positive(psi) + straight + rr * _wrap_positive(psi - turn)


def _measure_dubins(ahead: float, left: float, turn: float, rl: float, rr: float) -> float:
    """Measure the path to a point and heading in meters: the shortest of Dubins' six path types."""
    best = min(_measure_same_sides(ahead, left, turn, rl, rr), _measure_same_sides(ahead, -left, -turn, rr, rl))
    return min(
        best,
        min(_measure_opposite_sides(ahead, left, turn, rl, rr), _measure_opposite_sides(ahead, -left, -turn, rr, rl)),
    )
