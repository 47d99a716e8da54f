"""Curves through keys: monotone slopes, and Hermite pieces that are C1 (cubic) or C2 (quintic)."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats

# Chords with a product below this count as level; the reciprocal of such a chord may overflow.
_LEVEL = 1e-200


def monotone_slopes(x: Floats, y: Floats) -> Floats:
    """Return slopes (N, ...) at increasing keys x (N,) with values y (N, ...), such that no cubic overshoots a value.

    The slope is the weighted harmonic mean of the neighboring chords if they agree in sign, else 0 (Fritsch and
    Butland); at the ends it is the chord's. Between equal values the curve is flat.
    """
    width = np.diff(x).reshape(-1, *[1] * (y.ndim - 1))
    chord = np.diff(y, axis=0) / width
    slopes = np.empty_like(y)
    slopes[0], slopes[-1] = chord[0], chord[-1]
    before, after = chord[:-1], chord[1:]
    weight = (2.0 * width[1:] + width[:-1]) / (3.0 * (width[1:] + width[:-1]))
    same = before * after > _LEVEL
    safe_before, safe_after = np.where(same, before, 1.0), np.where(same, after, 1.0)
    slopes[1:-1] = np.where(same, 1.0 / (weight / safe_before + (1.0 - weight) / safe_after), 0.0)
    return slopes


def hermite(x: Floats, y: Floats, slopes: Floats, query: Floats, continuity: int = 1) -> Floats:
    """Return the values (T, ...) at `query` (T,) of the curve with values y and slopes (N, ...) at keys x (N,).

    Pieces are cubic with continuity 1; with 2 they are quintic, with zero second derivative at every key. Beyond its
    ends the curve continues as a straight line.
    """
    piece = np.clip(np.searchsorted(x, query, side="right") - 1, 0, len(x) - 2)
    tail = [1] * (y.ndim - 1)
    width = (x[piece + 1] - x[piece]).reshape(-1, *tail)
    t = ((query - x[piece]) / (x[piece + 1] - x[piece])).reshape(-1, *tail)
    u = np.clip(t, 0.0, 1.0)
    if continuity == 1:
        rise, out, into = u * u * (3.0 - 2.0 * u), u * (1.0 - u) ** 2, -(u**2) * (1.0 - u)
    else:
        rise = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
        out = u - 6.0 * u**3 + 8.0 * u**4 - 3.0 * u**5
        into = -4.0 * u**3 + 7.0 * u**4 - 3.0 * u**5
    start, end = y[piece], y[piece + 1]
    value = start + (end - start) * rise + width * (slopes[piece] * out + slopes[piece + 1] * into)
    # The basis sum misses a key by rounding errors; return a key's own value exactly.
    value = np.where(u <= 0.0, start, np.where(u >= 1.0, end, value))
    beyond = np.where(t < 0.0, slopes[piece] * t, np.where(t > 1.0, slopes[piece + 1] * (t - 1.0), 0.0)) * width
    return np.asarray(value + beyond)


def fading_slope(t: Floats, length: float) -> Floats:
    """Return t (1 - t / length)^2 for times t, 0 from `length` onward: a displacement that starts with speed 1 and
    fades out."""
    progress = np.clip(t / length, 0.0, 1.0)
    return np.asarray(t * (1.0 - progress) ** 2)
