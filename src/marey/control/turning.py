"""The distance to a point for a character that cannot turn on the spot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats
from marey.maths import rigid2d

__all__ = ["arc_and_straight"]


def arc_and_straight(places: ArrayLike, goal: ArrayLike, radius: float) -> Floats:
    """Meters of the shortest path from places to a point: along a circle to either side, then straight.

    This is the Dubins path if the final heading does not matter. A point inside the circle on one side is reached by
    the circle on the other side.

    Parameters
    ----------
    places : (..., 3) rigid2d, positions and headings of characters.
    goal : (2,) x and z.
    radius : meters of the tightest circle.
    """
    here, there = np.asarray(places, dtype=np.float64), np.asarray(goal, dtype=np.float64)
    left, ahead = np.moveaxis(rigid2d.apply(rigid2d.invert(here), np.broadcast_to(there, (*here.shape[:-1], 2))), -1, 0)
    ways = [_one_side(side * left, ahead, radius) for side in (1.0, -1.0)]
    return np.minimum(*ways)


def _one_side(left: Floats, ahead: Floats, r: float) -> Floats:
    """Turning left: after an angle t the character is at r (1 - cos t, sin t) and continues along (sin t, cos t)."""
    u = left - r
    d = np.hypot(u, ahead)
    straight = np.sqrt(np.maximum(d * d - r * r, 0.0))
    turn = np.arctan2(ahead, -u) - np.arctan2(straight, r)
    turn = np.where(turn < -1e-9, turn + 2.0 * np.pi, np.maximum(turn, 0.0))
    return np.where(d < r - 1e-12, np.inf, r * turn + straight)
