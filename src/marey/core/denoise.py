"""Remove noise from vectors over time, and keep fast movements.

A local polynomial is fitted around every sample, in windows of several lengths.

Captures have noise that is not white, because a solver smoothed it. `smooth_adaptively` uses the longest window whose
result agrees with those of all shorter ones, within the noise (intersection of confidence intervals; Goldenshluger and
Nemirovski 1997, Katkovnik 1999).

Detected positions have white noise. Stein's unbiased estimate (1981) then says, from the data and their noise alone,
how far each result is from the truth near a sample. `smooth_white_noise` averages the results, with weights that
decrease exponentially with that estimate (Leung and Barron 2006). The only free parameter is the range over which
errors are estimated.
"""

from __future__ import annotations

import math

import numpy as np

from marey.core.arrays import Floats
from marey.maths import ease_in, filters

__all__ = ["measure_noise", "smooth_adaptively", "smooth_white_noise"]

# Half lengths of the windows in samples; the degree of the polynomials.
_HALVES = (2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 48)
_DEGREE = 2
# Results agree if they differ by less than this many times the sum of their standard errors, over all axes.
_AGREE = 1.0
# The noise of a single sample may be this many times larger than the average noise.
_OUTLIER = 2.7
# Standard deviation, in samples, of the Gaussian by which the choice of windows is smoothed.
_SPREAD = 2.0
# Standard deviation, in samples, of the Gaussian over which the error of a result is estimated. Its effective width is
# 2 sqrt(pi) times this, 11 samples. With three axes, the estimate is accurate to about a quarter of the variance. On
# eleven recorded clips with 1 cm of noise, the errors for 2, 3 and 4 samples differ by at most 0.3 mm.
_NEAR = 3.0
# Weights are exp(-error / (4 variance)): the highest contrast for which Leung and Barron prove that the average is
# nearly as good as the best of the results.
_CONTRAST = 0.25
# Median length of vectors with this many normally distributed numbers.
_MEDIAN_LENGTHS = {3: 1.538, 4: 1.832}
# Noise below this, in meters or half radians, is treated as rounding error.
_ROUNDING = 1e-7
# Threshold for the ratio of sixth to fourth differences, relative to that of white noise: lower ratios mean movement.
_MOVEMENT, _NOISE = 0.6, 0.9
# Sixth differences need this many samples.
_MIN_SAMPLES = 7


def smooth_adaptively(values: Floats, longest: float, strength: float = 1.0) -> tuple[Floats, Floats]:
    """Smooth vectors over time in proportion to their noise, and preserve fast movements.

    Parameters
    ----------
    values : (F, n, d) n vectors of 3 or 4 numbers over time.
    longest : the longest window in samples.
    strength : factor for the noise; larger values smooth more.

    Returns
    -------
    The smoothed values, and the standard deviation of the noise (n,) along each axis.
    """
    noise = measure_noise(values)
    level = strength * np.maximum(noise, _ROUNDING)
    fits, own = _fit_windows(values, longest)
    errors = np.sqrt(own)  # standard error of a fitted sample, as a fraction of the noise
    allowed = _AGREE * math.sqrt(values.shape[2]) * level
    chosen = np.zeros(values.shape[:2])
    alive = np.ones(values.shape[:2], dtype=bool)
    for k in range(1, len(fits)):
        for j in range(k):
            apart = np.linalg.norm(fits[k] - fits[j], axis=2)
            alive &= apart <= (allowed * (errors[k] + errors[j]) if j else _OUTLIER * allowed)
        chosen[alive] = k
    # Smooth the choice of windows over time, because abrupt changes of the window length would add noise.
    chosen = np.clip(filters.gaussian(chosen, _SPREAD), 0.0, chosen)
    out = np.zeros_like(values)
    for k, fit in enumerate(fits):
        out += np.maximum(1.0 - np.abs(chosen - k), 0.0)[:, :, None] * fit
    return out, noise


def smooth_white_noise(values: Floats, longest: float, noise: Floats) -> Floats:
    """Smooth vectors (F, n, d) that have a known white noise, so that their expected error is smallest.

    longest : the longest window in samples.
    noise : (n,) standard deviation of the noise along each axis.
    """
    variance = np.maximum(noise, _ROUNDING) ** 2
    fits, own = _fit_windows(values, longest)
    errors = [
        filters.gaussian(np.square(fit - values).sum(axis=2), _NEAR) / variance + values.shape[2] * (2.0 * weight - 1.0)
        for fit, weight in zip(fits, own, strict=True)
    ]
    costs = (_CONTRAST * 2.0 * math.sqrt(math.pi) * _NEAR) * np.stack(errors)
    weights = np.exp(costs.min(axis=0) - costs)
    return np.asarray(np.einsum("kfn,kfnd->fnd", weights / weights.sum(axis=0), np.stack(fits)))


def _fit_windows(values: Floats, longest: float) -> tuple[list[Floats], list[float]]:
    """Smooth with windows of growing length.

    Returns the values smoothed by each window, starting with the unchanged values; and for each window, the weight of a
    sample in its own smoothed value.
    """
    from scipy.signal import savgol_coeffs, savgol_filter

    fits, own = [values], [1.0]
    for half in _HALVES:
        width = 2 * half + 1
        if width <= min(len(values), max(longest, 5.0)):
            fits.append(savgol_filter(values, width, _DEGREE, axis=0))
            own.append(float(savgol_coeffs(width, _DEGREE)[half]))
    return fits, own


def measure_noise(values: Floats) -> Floats:
    """Return the standard deviation (n,) of the white noise along each axis of values (F, n, d); 0 for fewer than 7
    frames.

    For white noise, sixth differences are as large as fourth differences, after normalization. For movement they are
    smaller, and then do not count as noise.
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
