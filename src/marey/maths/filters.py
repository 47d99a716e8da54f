"""Smooth along one axis, by a Gaussian or a running median; other axes are arbitrary."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from marey.errors import InvalidValue
from marey.maths import filter_kernels
from marey.maths._arrays import FloatArray, as_floats, axis_index

__all__ = ["gaussian", "median"]

_TRUNCATE = 4.0
_MEDIAN_BLOCK_VALUES = 1 << 20
# The weights of wider windows would take more than 2 MB.
_MAX_CACHED_RADIUS = 256


def gaussian(x: npt.ArrayLike, sigma: float, axis: int = 0) -> FloatArray:
    """Smooth x by a Gaussian of standard deviation `sigma` samples, truncated at 4 sigma.

    Near an end, where the window is cut, a straight line is fitted to the samples under the Gaussian and evaluated at
    the sample itself. In the middle this is the plain weighted mean. So constants and straight lines stay unchanged
    everywhere: a character that walks through the first frame keeps its speed there, while renormalized weights or a
    reflection would slow it down, and pinning the end sample would keep its noise.

    Parameters
    ----------
    x : an array with at least one axis.
    sigma : in samples, at least 0; anything below 1/8 changes nothing.
    axis : the axis to smooth along; 0 by default.

    Returns
    -------
    float64 of x's shape. A non-finite value makes all results within its window non-finite.

    Examples
    --------
    >>> from marey.maths import filters
    >>> filters.gaussian(np.arange(5.0), sigma=1.0).round(6)  # a straight line stays as it is
    array([0., 1., 2., 3., 4.])
    """
    columns, shape = _as_columns(x, axis, "filters.gaussian")
    if not (math.isfinite(sigma) and sigma >= 0.0):
        raise InvalidValue(f"filters.gaussian: sigma (in samples) must be finite and at least 0, not {sigma}")
    radius = int(_TRUNCATE * sigma + 0.5)
    if radius == 0 or columns.size == 0:
        return _restore_axes(columns.copy(), shape, axis)
    return _restore_axes(_gaussian_kernel(columns, sigma, radius), shape, axis)


def median(x: npt.ArrayLike, size: int, axis: int = 0) -> FloatArray:
    """Filter x by a running median over `size` samples; beyond the ends, the end sample is repeated.

    Parameters
    ----------
    x : an array with at least one axis.
    size : window length in samples, odd; 1 changes nothing.
    axis : the axis to filter along; 0 by default.

    Returns
    -------
    float64 of x's shape; NaN where the window contains NaN.

    Examples
    --------
    >>> from marey.maths import filters
    >>> filters.median([1.0, 1.0, 9.0, 1.0, 1.0], size=3)
    array([1., 1., 1., 1., 1.])
    """
    columns, shape = _as_columns(x, axis, "filters.median")
    if size != int(size) or size < 1 or size % 2 == 0:
        raise InvalidValue(f"filters.median: size must be an odd number of samples, at least 1, not {size}")
    if size == 1 or columns.size == 0:
        return _restore_axes(columns.copy(), shape, axis)
    return _restore_axes(_median_kernel(columns, int(size)), shape, axis)


def _as_columns(x: npt.ArrayLike, axis: int, where: str) -> tuple[FloatArray, tuple[int, ...]]:
    """Return x as (samples, columns), and the shape of x with the filtered axis moved first."""
    given = as_floats(x, where, "x")
    if given.ndim == 0:
        raise InvalidValue(f"{where}: x must be an array with a time axis, not a single number")
    index = axis_index(axis, given.ndim, where)
    moved = given if index == 0 else np.moveaxis(given, index, 0)
    return moved.reshape(len(moved), math.prod(moved.shape[1:])), moved.shape


def _restore_axes(columns: FloatArray, shape: tuple[int, ...], axis: int) -> FloatArray:
    given = columns.reshape(shape)
    return given if axis == 0 else np.ascontiguousarray(np.moveaxis(given, 0, axis))


def _gaussian_kernel(x: FloatArray, sigma: float, radius: int) -> FloatArray:
    n = len(x)
    taps = _make_taps(sigma, radius)
    out = np.empty(x.shape)
    first, stop = min(radius, n), max(n - radius, min(radius, n))
    if first < stop:
        filter_kernels.smooth_middle(np.ascontiguousarray(x), taps, taps[0] + 2.0 * taps[1:].sum(), out)
    if n > 2 * radius and radius <= _MAX_CACHED_RADIUS:
        filter_kernels.smooth_ends(np.ascontiguousarray(x), _end_weights(sigma, radius), out)
        return out
    line_weights: Callable[..., FloatArray] = (
        _line_weights if radius <= _MAX_CACHED_RADIUS else _line_weights.__wrapped__
    )
    for i in (*range(first), *range(stop, n)):
        start, end = max(0, i - radius), min(n, i + radius + 1)
        out[i] = line_weights(sigma, radius, start - i, end - i) @ x[start:end]
    return out


@lru_cache(64)
def _make_taps(sigma: float, radius: int) -> FloatArray:
    return np.asarray(np.exp(-0.5 * (np.arange(radius + 1) / sigma) ** 2))


# Cached, because motions are filtered with few different widths, and the weights near the ends take most of the time.
@lru_cache(16)
def _end_weights(sigma: float, radius: int) -> FloatArray:
    """Return the filter weights (2, r, 2 r) for the first r samples and, counted backward from the end, for the last r
    samples."""
    out = np.zeros((2, radius, 2 * radius))
    for k in range(radius):
        out[0, k, : k + radius + 1] = _line_weights(sigma, radius, -k, radius + 1)
        out[1, k, : k + radius + 1] = _line_weights(sigma, radius, -radius, k + 1)[::-1]
    return out


@lru_cache(1024)
def _line_weights(sigma: float, radius: int, start: int, stop: int) -> FloatArray:
    """Return the weights of the samples at offsets `start` to `stop` for the value at offset 0 of a line that is fitted
    to them.

    The fit itself weights the samples by a Gaussian of standard deviation `sigma`.
    """
    offsets = np.arange(start, stop)
    weight = _make_taps(sigma, radius)[np.abs(offsets)]
    zeroth, first, second = weight.sum(), (weight * offsets).sum(), (weight * offsets**2).sum()
    if second > 0.0:
        weight = weight * (second - first * offsets)
        zeroth = weight.sum()
    return np.asarray(weight / zeroth)


def _median_kernel(x: FloatArray, size: int) -> FloatArray:
    """Return the running median of x, computed in blocks: the windows of all frames at once would take `size` times x's
    memory."""
    half = size // 2
    padded = np.pad(x, ((half, half), (0, 0)), mode="edge")
    windows = sliding_window_view(padded, size, axis=0)
    out = np.empty_like(x)
    step = max(1, _MEDIAN_BLOCK_VALUES // (size * x.shape[1]))
    for start in range(0, len(x), step):
        out[start : start + step] = np.median(windows[start : start + step], axis=-1)
    return out
