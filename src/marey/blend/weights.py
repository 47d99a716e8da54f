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

from marey.core._arrays import Floats, as_type, settle
from marey.errors import InvalidValue

__all__ = ["WeightFunction", "Weighting", "keyed_weights", "speed_shares"]

WeightFunction = Callable[[float], ArrayLike]

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
        return cls(n, settle(_normalized(given, n, "")), None)

    def at(self, seconds: Floats) -> Floats:
        """(T, n) with sums of 1, at times (T,)."""
        if self.constant is not None:
            return np.broadcast_to(self.constant, (len(seconds), self.n))
        assert self.function is not None
        rows = [_normalized(self.function(t), self.n, f" at {t:g} s") for t in seconds.tolist()]
        return np.array(rows).reshape(len(seconds), self.n)


def _normalized(given: Any, n: int, when: str) -> Floats:
    weights = as_type(given, f"weights{when}")
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


def speed_shares(weights: Floats) -> Floats:
    """(..., n) |w| / sum |w|: how much each motion has to say on the flow of time, which must never turn back."""
    size = np.abs(weights)
    return np.asarray(size / size.sum(axis=-1, keepdims=True))


def keyed_weights(seconds: ArrayLike, weights: ArrayLike) -> WeightFunction:
    """A smooth (C1) function through weights (T, n) at times (T,), constant before the first and after the last.

    Between keys it never leaves the range of their values (monotone cubic pieces).
    """
    times = as_type(seconds, "times of weights")
    rows = as_type(weights, "weights")
    if times.ndim != 1 or rows.ndim != 2 or len(times) != len(rows) or not len(times):
        raise InvalidValue(
            f"expected one row of weights for each time, got shapes {times.shape} of times and {rows.shape} of weights"
        )
    if not (np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
        raise InvalidValue("times of weights must be finite and increase from row to row")
    for t, row in zip(times.tolist(), rows, strict=True):
        _normalized(row, rows.shape[1], f" at {t:g} s")
    if len(times) == 1:
        return lambda t: rows[0]
    from scipy.interpolate import PchipInterpolator

    curve = PchipInterpolator(times, rows, axis=0)
    first, last = float(times[0]), float(times[-1])
    return lambda t: np.asarray(curve(min(max(t, first), last)))
