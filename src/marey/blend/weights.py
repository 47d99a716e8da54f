"""Blend weights: numbers, or functions of time.

Only the ratios of weights matter: they are divided by their sum, which must be greater than 0. Single weights may be
negative or larger than the sum, which extrapolates beyond the motions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, convert_array, set_readonly
from marey.core.options import LARGEST
from marey.errors import InvalidValue

__all__ = ["WeightFunction", "Weighting", "interpolate_weights", "limit_speed_weights", "sample_votes"]

WeightFunction = Callable[[float], ArrayLike]

# Number of rows of weights that are processed at once, to limit memory use.
_ROWS = 1024
# Number of parts of a timewarp span in which the speed of u is bounded separately.
_PARTS = 8
# The speed of u is at least this fraction of its speed with only the positive weights, and at most that speed divided
# by this fraction.
_MIN_FLOW = 0.25
# If the sum is this small relative to the weights, they cancel out, and normalized weights would be huge.
_CANCEL = 1e-3
# Minimum time between keys in seconds; the slope between keys that are closer can overflow.
_MIN_STEP = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Weighting:
    """Weights of n motions over time: `constant` (n,), or a `function` of the seconds from the start."""

    n: int
    constant: Floats | None
    function: WeightFunction | None

    @classmethod
    def of(cls, given: Any, n: int) -> Weighting:
        """Validate weights given by a user: n numbers, or a function."""
        if isinstance(given, Weighting):
            return given
        if callable(given):
            return cls(n, None, given)
        return cls(n, set_readonly(_normalize(given, n, "")), None)

    def at(self, seconds: Floats) -> Floats:
        """Evaluate the weights (T, n), with sums of 1, at times (T,)."""
        if self.constant is not None:
            return np.broadcast_to(self.constant, (len(seconds), self.n))
        assert self.function is not None
        rows = [_normalize(self.function(t), self.n, f" at {t:g} s") for t in seconds.tolist()]
        return np.array(rows).reshape(len(seconds), self.n)


def _normalize(given: Any, n: int, when: str) -> Floats:
    weights = convert_array(given, f"weights{when}")
    if weights.shape != (n,):
        got = f"{weights.size}" if weights.ndim == 1 else f"an array of shape {weights.shape}"
        raise InvalidValue(f"weights must be {n} numbers, one per motion, not {got}{when}", parameter="weights")
    if not np.isfinite(weights).all():
        raise InvalidValue(f"weights must be finite numbers, not {weights.tolist()}{when}")
    total, size = float(weights.sum()), float(np.abs(weights).sum())
    if not total > _CANCEL * size:
        raise InvalidValue(
            "weights must have a sum greater than 0, because they are divided by it, but "
            f"{weights.tolist()} add up to {total:g}{when}"
        )
    return np.asarray(weights / total)


def limit_speed_weights(weights: Floats, slopes: Floats) -> Floats:
    """Limit the weights that determine the speed of u, ``du/dt = sum of weights / slopes``.

    Weights are unchanged if u advances at a quarter to four times the speed that the positive weights alone would give.
    Otherwise they are moved toward the positive weights as little as necessary. Timing is therefore extrapolated only
    up to this limit, however large the weights are.

    Parameters
    ----------
    weights : (..., n) with sums of 1.
    slopes : (m + 1, n) slopes of the timewarp at its m + 1 knots, all greater than 0, linear between them.

    Returns
    -------
    (..., n) with sums of 1; unchanged if no weight is negative.
    """
    fractions = np.asarray(weights / weights.sum(axis=-1, keepdims=True))
    beyond = (fractions < 0.0).any(axis=-1)
    if beyond.any():
        lowest, highest = _bound_votes(slopes)
        rows = fractions[beyond]
        for k in range(0, len(rows), _ROWS):
            rows[k : k + _ROWS] = _restrain_weights(rows[k : k + _ROWS], lowest, highest)
        fractions[beyond] = rows
    return fractions


def sample_votes(slopes: Floats) -> Floats:
    """Compute 1 / slope, (m, P + 1, n), at the ends of P equal parts of each of the m spans."""
    at = np.arange(_PARTS + 1)[:, None] / _PARTS
    return np.asarray(1.0 / (slopes[:-1, None] * (1.0 - at) + slopes[1:, None] * at))


def _bound_votes(slopes: Floats) -> tuple[Floats, Floats]:
    """Find the smallest and largest 1 / slope (P, n) in each part of each span; within a part, 1 / slope is
    monotonic."""
    votes = sample_votes(slopes)
    ends = votes[:, :-1], votes[:, 1:]
    n = slopes.shape[1]
    return np.minimum(*ends).reshape(-1, n), np.maximum(*ends).reshape(-1, n)


def _restrain_weights(fractions: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Mix weights (T, n) with the positive weights alone where time would flow too slowly, backward or too fast."""
    ahead, back = np.maximum(fractions, 0.0), np.minimum(fractions, 0.0)
    alone = ahead / ahead.sum(axis=1, keepdims=True)
    # Bounds (T, P) of the speed of u with these weights, and with the positive weights alone.
    slow, fast = ahead @ lowest.T + back @ highest.T, ahead @ highest.T + back @ lowest.T
    safe_slow, safe_fast = alone @ lowest.T, alone @ highest.T
    too_slow = np.maximum(_MIN_FLOW * safe_slow - slow, 0.0) / (safe_slow - np.minimum(slow, _MIN_FLOW * safe_slow))
    most = safe_fast / _MIN_FLOW
    too_fast = np.maximum(fast - most, 0.0) / (np.maximum(fast, most) - safe_fast)
    mixed = np.maximum(too_slow, too_fast).max(axis=1)[:, None]
    return np.asarray((1.0 - mixed) * fractions + mixed * alone)


def interpolate_weights(seconds: ArrayLike, weights: ArrayLike) -> WeightFunction:
    """Make a smooth (C1) function through weights (T, n) at times (T,), constant before the first and after the last.

    Between keys it never leaves the range of their values (monotone cubic pieces).

    Examples
    --------
    >>> from marey.blend import interpolate_weights
    >>> weights = interpolate_weights([0.0, 2.0], [[1.0, 0.0], [0.0, 1.0]])
    >>> weights(1.0)
    array([0.5, 0.5])
    >>> marey.blend([walk, run], weights).labels.names
    ('run', 'walk')
    """
    times = convert_array(seconds, "times of weights")
    rows = convert_array(weights, "weights")
    if times.ndim != 1 or rows.ndim != 2 or len(times) != len(rows) or not len(times):
        raise InvalidValue(
            f"weights must have one row per time, not shape {rows.shape} for times of shape {times.shape}"
        )
    if not (np.isfinite(times).all() and (np.diff(times) >= _MIN_STEP).all()):
        raise InvalidValue(
            "weights must have finite times that increase from row to row, by 1 microsecond or more",
            parameter="weights",
        )
    for t, row in zip(times.tolist(), rows, strict=True):
        _normalize(row, rows.shape[1], f" at {t:g} s")
    if np.abs(rows).max() > LARGEST:
        raise InvalidValue(
            f"weights must be from {-LARGEST:g} to {LARGEST:g}, not {rows.flat[np.abs(rows).argmax()]:g}",
            parameter="weights",
        )
    if len(times) == 1:
        return lambda t: rows[0]
    from scipy.interpolate import PchipInterpolator

    curve = PchipInterpolator(times, rows, axis=0)
    first, last = float(times[0]), float(times[-1])
    return lambda t: np.asarray(curve(min(max(t, first), last)))
