"""Time curves for the generators: functions of seconds, independent of the frame rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marey.core.arrays import Floats

Curve = Callable[[Floats], Floats]
_FAR = 1e6


def min_jerk(s: Floats) -> Floats:
    """Evaluate the minimum-jerk curve, which describes how a hand moves to a target.

    It goes from 0 at s = 0 to 1 at s = 1, is at rest at both ends, and constant beyond them.
    """
    s = np.clip(s, 0.0, 1.0)
    out: Floats = s * s * s * (10.0 + s * (6.0 * s - 15.0))
    return out


def hermite(s: Floats, start: Any, end: Any, start_slope: Any = 0.0, end_slope: Any = 0.0) -> Floats:
    """Evaluate the cubic over s in [0, 1] that has the given values and slopes (per unit of s) at its ends."""
    square = s * s
    cube = square * s
    out: Floats = (
        (2 * cube - 3 * square + 1) * start
        + (3 * square - 2 * cube) * end
        + (cube - 2 * square + s) * start_slope
        + (cube - square) * end_slope
    )
    return out


def bump(s: Floats, peak: float) -> Floats:
    """Evaluate a bump that is 0 and flat at both ends of [0, 1] and beyond, and 1 at `peak` (at most 1/2)."""
    s = np.clip(s, 0.0, 1.0)
    fall = 2.0 / peak - 2.0
    out: Floats = (s / peak) ** 2 * ((1.0 - s) / (1.0 - peak)) ** fall
    return out


def plateau(s: Floats, edge: float) -> Floats:
    """Evaluate a smooth plateau that is 0 at both ends of [0, 1], and 1 from `edge` to 1 - `edge`."""
    return min_jerk(s / edge) * min_jerk((1.0 - s) / edge)


def ease_between(t: Floats, times: Sequence[float], values: Any) -> Floats:
    """Interpolate between N keys with minimum jerk, coming to rest at each key.

    t : (F,) seconds. times : (N,) seconds, increasing. values : (N,) or (N, K). Return (F,) or (F, K).
    """
    keys = np.asarray(values, dtype=float)
    at = np.asarray(times, dtype=float)
    i = np.clip(np.searchsorted(at, t, side="right") - 1, 0, len(at) - 2)
    progress = min_jerk((t - at[i]) / (at[i + 1] - at[i]))
    if keys.ndim > 1:
        progress = progress[..., None]
    out: Floats = keys[i] + (keys[i + 1] - keys[i]) * progress
    return out


def through(t: Floats, times: Sequence[float], values: Any) -> Floats:
    """Evaluate a cubic spline through all keys that is at rest at the first and last key, and constant beyond them."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(np.asarray(times), np.asarray(values, dtype=float), bc_type="clamped")
    out: Floats = spline(np.clip(t, times[0], times[-1]))
    return out


def spline(t: Floats, values: Floats) -> Curve:
    """Return the natural cubic spline through `values` at times `t`."""
    from scipy.interpolate import CubicSpline

    spline: Curve = CubicSpline(t, values, bc_type="natural")
    return spline


def wobble(rng: np.random.Generator, slow: float, fast: float, size: float = 1.0) -> Curve:
    """Return smooth noise between two frequencies in Hz, with root mean square `size`: a sum of six sines."""
    n = 6
    rates = 2 * np.pi * np.exp(rng.uniform(np.log(slow), np.log(fast), n))
    phases = rng.uniform(0.0, 2 * np.pi, n)
    amplitude = size * np.sqrt(2.0 / n)

    def curve(t: Floats) -> Floats:
        out: Floats = amplitude * np.sin(np.multiply.outer(t, rates) + phases).sum(axis=-1)
        return out

    return curve


def integral(t: Floats, values: Floats) -> Floats:
    """Return the cumulative integral of `values` over times `t` (trapezoidal rule); it starts at 0."""
    steps = 0.5 * np.diff(t) * (values[1:] + values[:-1])
    return np.concatenate([[0.0], np.cumsum(steps)])


def far(sign: float) -> float:
    """Return a time before (negative sign) or after (positive sign) everything else, in seconds."""
    return sign * _FAR
