"""Blend weights: numbers, or functions of time.

Only the ratios of weights count: they are divided by their sum, which has to be above 0. Single weights may be negative
or above the sum, which continues beyond the motions rather than between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, convert_array, set_readonly
from marey.errors import InvalidValue

__all__ = ["WeightFunction", "Weighting", "keyed_weights", "sample_votes", "speed_shares"]

WeightFunction = Callable[[float], ArrayLike]

# Rows of weights that are looked at together, to bound the memory that this takes.
_ROWS = 1024
# Parts of a span of the timewarp in each of which the flow of time is bounded.
_PARTS = 8
# Time flows at no less than this share of what the weights above 0 alone would make of it, and at no more than its
# inverse.
_MIN_FLOW = 0.25
# A sum this small beside the weights themselves means that they cancel, and dividing by it would blow them up.
_CANCEL = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Weighting:
    """The weights of n motions over time: `constant` (n,), or `function` of the seconds since the beginning."""

    n: int
    constant: Floats | None
    function: WeightFunction | None

    @classmethod
    def of(cls, given: Any, n: int) -> Weighting:
        """Weights as a user gives them: n numbers, or a function."""
        if isinstance(given, Weighting):
            return given
        if callable(given):
            return cls(n, None, given)
        return cls(n, set_readonly(_normalize(given, n, "")), None)

    def at(self, seconds: Floats) -> Floats:
        """(T, n) with sums of 1, at times (T,)."""
        if self.constant is not None:
            return np.broadcast_to(self.constant, (len(seconds), self.n))
        assert self.function is not None
        rows = [_normalize(self.function(t), self.n, f" at {t:g} s") for t in seconds.tolist()]
        return np.array(rows).reshape(len(seconds), self.n)


def _normalize(given: Any, n: int, when: str) -> Floats:
    weights = convert_array(given, f"weights{when}")
    if weights.shape != (n,):
        got = f"{weights.size} numbers" if weights.ndim == 1 else f"shape {weights.shape}"
        raise InvalidValue(f"expected {n} weights, one for each motion, got {got}{when}")
    if not np.isfinite(weights).all():
        raise InvalidValue(f"weights must be finite numbers, got {weights.tolist()}{when}")
    total, size = float(weights.sum()), float(np.abs(weights).sum())
    if not total > _CANCEL * size:
        raise InvalidValue(
            f"weights must have a sum above 0, as they are divided by it, got {weights.tolist()} with a sum of "
            f"{total:g}{when}"
        )
    return np.asarray(weights / total)


def speed_shares(weights: Floats, slopes: Floats) -> Floats:
    """Limit each motion's weight on the flow of time, ``du/dt = sum of weights / slopes``.

    That is its weight, as long as time then flows everywhere at a quarter to four times the rate that the weights above
    0 alone, which never stop it, would give. Other weights are drawn toward those just as far as it takes: the timing
    goes on beyond the motions only so far, and of two motions stays there however large the weights become.

    Parameters
    ----------
    weights : (..., n) with sums of 1.
    slopes : (m + 1, n) of the timewarp at its knots, all above 0, linear between them.

    Returns
    -------
    (..., n) with sums of 1; weights that are all 0 or more are their own.
    """
    shares = np.asarray(weights / weights.sum(axis=-1, keepdims=True))
    beyond = (shares < 0.0).any(axis=-1)
    if beyond.any():
        lowest, highest = _bound_votes(slopes)
        rows = shares[beyond]
        for k in range(0, len(rows), _ROWS):
            rows[k : k + _ROWS] = _restrain_weights(rows[k : k + _ROWS], lowest, highest)
        shares[beyond] = rows
    return shares


def sample_votes(slopes: Floats) -> Floats:
    """(m, P + 1, n) 1 / slope at the ends of P equal parts of each of the m spans."""
    at = np.arange(_PARTS + 1)[:, None] / _PARTS
    return np.asarray(1.0 / (slopes[:-1, None] * (1.0 - at) + slopes[1:, None] * at))


def _bound_votes(slopes: Floats) -> tuple[Floats, Floats]:
    """(P, n) smallest and largest 1 / slope in each part of each span: within one it only rises or falls."""
    votes = sample_votes(slopes)
    ends = votes[:, :-1], votes[:, 1:]
    n = slopes.shape[1]
    return np.minimum(*ends).reshape(-1, n), np.maximum(*ends).reshape(-1, n)


def _restrain_weights(shares: Floats, lowest: Floats, highest: Floats) -> Floats:
    """Shares (T, n), mixed with those above 0 alone where time would flow too slowly, backward or too fast."""
    ahead, back = np.maximum(shares, 0.0), np.minimum(shares, 0.0)
    alone = ahead / ahead.sum(axis=1, keepdims=True)
    # (T, P) bounds of the flow that the shares give, and those of what is surely safe.
    slow, fast = ahead @ lowest.T + back @ highest.T, ahead @ highest.T + back @ lowest.T
    safe_slow, safe_fast = alone @ lowest.T, alone @ highest.T
    too_slow = np.maximum(_MIN_FLOW * safe_slow - slow, 0.0) / (safe_slow - np.minimum(slow, _MIN_FLOW * safe_slow))
    most = safe_fast / _MIN_FLOW
    too_fast = np.maximum(fast - most, 0.0) / (np.maximum(fast, most) - safe_fast)
    mixed = np.maximum(too_slow, too_fast).max(axis=1)[:, None]
    return np.asarray((1.0 - mixed) * shares + mixed * alone)


def keyed_weights(seconds: ArrayLike, weights: ArrayLike) -> WeightFunction:
    """Make a smooth (C1) function through weights (T, n) at times (T,), constant before the first and after the last.

    Between keys it never leaves the range of their values (monotone cubic pieces).
    """
    times = convert_array(seconds, "times of weights")
    rows = convert_array(weights, "weights")
    if times.ndim != 1 or rows.ndim != 2 or len(times) != len(rows) or not len(times):
        raise InvalidValue(
            f"expected one row of weights for each time, got shapes {times.shape} of times and {rows.shape} of weights"
        )
    if not (np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
        raise InvalidValue("times of weights must be finite and increase from row to row")
    for t, row in zip(times.tolist(), rows, strict=True):
        _normalize(row, rows.shape[1], f" at {t:g} s")
    if len(times) == 1:
        return lambda t: rows[0]
    from scipy.interpolate import PchipInterpolator

    curve = PchipInterpolator(times, rows, axis=0)
    first, last = float(times[0]), float(times[-1])
    return lambda t: np.asarray(curve(min(max(t, first), last)))
