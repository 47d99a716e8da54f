"""Find local minima of a grid: the frame pairs at which two clips are most similar (Kovar 4.1.1.1)."""

from __future__ import annotations

import numpy as np

from marey.compare.minima_kernels import find_minima
from marey.core.arrays import Floats, Ints, check_index, set_readonly
from marey.errors import InvalidValue

__all__ = ["local_minima"]


def local_minima(values: Floats, threshold: float | None = None, *, min_lag: int = 0) -> Ints:
    """Return the cells (N, 2) of a grid (R, C) that are smaller than their eight neighbors, in row-major order.

    At the border, only existing neighbors count. Of equal neighbors, the first in row-major order counts as smaller, so
    a flat rectangle yields its first cell. Infinite cells and NaN are never minima.

    Parameters
    ----------
    values : (R, C) squared distances D in m^2.
    threshold : maximum distance, the square root of D, in meters; no limit by default.
    min_lag : minimum ``abs(row - column)`` in frames; 0 by default.

    Examples
    --------
    >>> marey.compare.local_minima(np.array([[4.0, 3.0, 4.0], [3.0, 1.0, 3.0], [4.0, 3.0, 2.0]]))
    array([[1, 1]])
    """
    grid = np.asarray(values, dtype=np.float64)
    if grid.ndim != 2:
        raise InvalidValue(f"values must be a two-dimensional grid, not shape {grid.shape}")
    limit = check_limit(threshold)
    lag = check_index(min_lag, "min_lag")
    inner = (0, grid.shape[0], 0, grid.shape[1])
    return set_readonly(find_minima(np.ascontiguousarray(grid), limit, lag, inner, (0, 0)))


def check_limit(threshold: float | None) -> float:
    """Convert a threshold in meters to a limit on D in m^2."""
    if threshold is None:
        return float(np.finfo(np.float64).max)
    if not threshold >= 0:
        raise InvalidValue(f"threshold must be at least 0 m, not {threshold!r}")
    return min(float(threshold) ** 2, float(np.finfo(np.float64).max))
