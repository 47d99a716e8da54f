"""The shortest path to a point with a heading, for a character that cannot turn on the spot (Dubins 1957)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from marey.control.dubins_kernels import measure_paths
from marey.core.arrays import Floats, freeze_array
from marey.errors import InvalidValue

__all__ = ["checked_radii", "dubins_way"]

# Meters: wider circles count as straight lines.
WIDEST = 1e4


def dubins_way(places: ArrayLike, goal: ArrayLike, radius: float | tuple[float, float]) -> Floats:
    """Meters of the shortest paths from places to a goal: arcs of the tightest circles, with a straight line between.

    Parameters
    ----------
    places : (..., 3) rigid2d, positions and headings of characters.
    goal : (3,) rigid2d, the position and heading to arrive with.
    radius : meters of the tightest circle, or a pair for left and right; infinite if it cannot turn to a side.
    """
    here = np.asarray(places, dtype=np.float64)
    if here.ndim < 1 or here.shape[-1] != 3:
        raise InvalidValue(f"places must have shape (..., 3), got {here.shape}")
    left, right = checked_radii(radius)
    out = np.empty(here.size // 3)
    measure_paths(np.ascontiguousarray(here.reshape(-1, 3)), freeze_array(goal, "goal", (3,)), left, right, out)
    return np.asarray(out.reshape(here.shape[:-1]))


def checked_radii(radius: float | tuple[float, float]) -> tuple[float, float]:
    """Check the radii to the left and right, and clip them to what counts as straight."""
    both = np.broadcast_to(np.asarray(radius, dtype=np.float64), (2,)) if np.ndim(radius) < 2 else np.zeros(2)
    if np.isnan(both).any() or (both <= 0.0).any():
        raise InvalidValue(f"expected a radius in meters, above 0, or a pair (left, right), got {radius!r}")
    return float(min(both[0], WIDEST)), float(min(both[1], WIDEST))
