"""Remove noise from vectors over time, and keep fast movements.

A local polynomial is fitted around every sample, in windows of growing length. The longest window whose result agrees
with those of all shorter ones, within the noise, is used (intersection of confidence intervals; Goldenshluger and
Nemirovski 1997, Katkovnik 1999).
"""

from __future__ import annotations

import math

import numpy as np

from marey.core.arrays import Floats
from marey.maths import ease_in, filters

__all__ = ["measure_noise", "smooth_adaptively"]

# Half lengths of the windows in samples; the degree of the polynomials.
_HALVES = (2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48)
_DEGREE = 2
# Results agree if they differ by less than this many times the sum of their standard errors, over all axes.
_AGREE = 1.0
# The noise of a single sample may be this many times larger.
_OUTLIER = 2.7
# Standard deviation, in samples, of the Gaussian by which the choice of windows is smoothed.
_SPREAD = 2.0
# Median length of vectors with this many normally distributed numbers.
_MEDIAN_LENGTHS = {3: 1.538, 4: 1.832}
# Noise below this, in meters and half radians, is rounding.
_ROUNDING = 1e-7
# Ratio of sixth to fourth differences, relative to white noise: movement below, noise above.
_MOVEMENT, _NOISE = 0.6, 0.9
# Sixth differences need this many samples.
_MIN_SAMPLES = 7


def smooth_adaptively(
    values: Floats, longest: float, strength: float = 1.0, noise: Floats | None = None
) -> tuple[Floats, Floats]:
    """Smooth vectors along their first axis as much as their noise allows; keep fast movements.

    Parameters
    ----------
    values : (F, n, d) n vectors of 3 or 4 numbers over time.
    longest : the longest window in samples.
    strength : multiplies the noise.
    noise : (n,) along each axis; by default it is measured.

    Returns
    -------
    The smoothed values, and the noise (n,) along each axis.
    """
    from scipy.signal import savgol_coeffs, savgol_filter

    noise = measure_noise(values) if noise is None else noise
    level = strength * np.maximum(noise, _ROUNDING)
    fits, errors = [values], [1.0]
    for half in _HALVES:
        width = 2 * half + 1
        if width <= min(len(values), max(longest, 5.0)):
            fits.append(savgol_filter(values, width, _DEGREE, axis=0))
            errors.append(float(np.linalg.norm(savgol_coeffs(width, _DEGREE))))
    allowed = _AGREE * math.sqrt(values.shape[2]) * level
    chosen = np.zeros(values.shape[:2])
    alive = np.ones(values.shape[:2], dtype=bool)
    for k in range(1, len(fits)):
        for j in range(k):
            apart = np.linalg.norm(fits[k] - fits[j], axis=2)
            alive &= apart <= (allowed * (errors[k] + errors[j]) if j else _OUTLIER * allowed)
        chosen[alive] = k
    # Neighboring samples use similar windows; otherwise switching between windows would be a new noise.
    chosen = np.clip(filters.gaussian(chosen, _SPREAD), 0.0, chosen)
    out = np.zeros_like(values)
    for k, fit in enumerate(fits):
        out += np.maximum(1.0 - np.abs(chosen - k), 0.0)[:, :, None] * fit
    return out, noise


def measure_noise(values: Floats) -> Floats:
    """Return the white noise (n,) along each axis of values (F, n, d); 0 for fewer than 7 samples.

    Sixth differences of white noise are as large as fourth ones, relative to what each order passes. Those of movement
    are smaller, and do not count as noise.
    """
    if len(values) < _MIN_SAMPLES:
        return np.zeros(values.shape[1])
    fourth = np.diff(values, n=4, axis=0)
    noise = _median_length(fourth) / math.sqrt(70.0)
    check = _median_length(np.diff(fourth, n=2, axis=0)) / math.sqrt(924.0)
    return np.asarray(check * ease_in((check / np.maximum(noise, 1e-300) - _MOVEMENT) / (_NOISE - _MOVEMENT)))


def _median_length(vectors: Floats) -> Floats:
    lengths = np.sqrt(np.einsum("fnk,fnk->fn", vectors, vectors))
    return np.asarray(np.median(lengths, axis=0) / _MEDIAN_LENGTHS[vectors.shape[2]])
