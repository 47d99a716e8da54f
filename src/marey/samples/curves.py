"""Curves in time for the generators: each is a function of seconds, whatever the frame rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marey.core.arrays import Floats

Curve = Callable[[Floats], Floats]
_FAR = 1e6


def min_jerk(s: Floats) -> Floats:
    """From 0 at s = 0 to 1 at s = 1, at rest at both ends and beyond them: how a hand moves to a target."""
    s = np.clip(s, 0.0, 1.0)
    out: Floats = s * s * s * (10.0 + s * (6.0 * s - 15.0))
    return out


def hermite(s: Floats, start: Any, end: Any, start_slope: Any = 0.0, end_slope: Any = 0.0) -> Floats:
    """The cubic over s in [0, 1] with these values and slopes (by s) at its ends."""
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
    """0 and flat at both ends of [0, 1] and beyond, 1 at `peak`, which is at most 1/2."""
    s = np.clip(s, 0.0, 1.0)
    fall = 2.0 / peak - 2.0
    out: Floats = (s / peak) ** 2 * ((1.0 - s) / (1.0 - peak)) ** fall
    return out


def plateau(s: Floats, edge: float) -> Floats:
    """0 at both ends of [0, 1], 1 from fraction `edge` to 1 - `edge`, smooth."""
    return min_jerk(s / edge) * min_jerk((1.0 - s) / edge)


def ease_between(t: Floats, times: Sequence[float], values: Any) -> Floats:
    """From key to key, coming to rest at each: (F,) for N values, (F, K) for (N, K)."""
    keys = np.asarray(values, dtype=float)
    at = np.asarray(times, dtype=float)
    i = np.clip(np.searchsorted(at, t, side="right") - 1, 0, len(at) - 2)
    progress = min_jerk((t - at[i]) / (at[i + 1] - at[i]))
    if keys.ndim > 1:
        progress = progress[..., None]
    out: Floats = keys[i] + (keys[i + 1] - keys[i]) * progress
    return out


def through(t: Floats, times: Sequence[float], values: Any) -> Floats:
    """A smooth curve through all keys that is at rest at the first and the last, and beyond them."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(np.asarray(times), np.asarray(values, dtype=float), bc_type="clamped")
    out: Floats = spline(np.clip(t, times[0], times[-1]))
    return out


def spline(t: Floats, values: Floats) -> Curve:
    """The natural cubic spline through samples on a grid of times."""
    from scipy.interpolate import CubicSpline

    spline: Curve = CubicSpline(t, values, bc_type="natural")
    return spline


def wobble(rng: np.random.Generator, slow: float, fast: float, size: float = 1.0) -> Curve:
    """Smooth noise between two frequencies in Hz, of root mean square `size`: six sines."""
    n = 6
    rates = 2 * np.pi * np.exp(rng.uniform(np.log(slow), np.log(fast), n))
    phases = rng.uniform(0.0, 2 * np.pi, n)
    amplitude = size * np.sqrt(2.0 / n)

    def curve(t: Floats) -> Floats:
        out: Floats = amplitude * np.sin(np.multiply.outer(t, rates) + phases).sum(axis=-1)
        return out

    return curve


def integral(t: Floats, values: Floats) -> Floats:
    """Running integral over a grid of times, 0 at the first (trapezoids)."""
    steps = 0.5 * np.diff(t) * (values[1:] + values[:-1])
    return np.concatenate([[0.0], np.cumsum(steps)])


def far(sign: float) -> float:
    """A time before or after everything."""
    return sign * _FAR
