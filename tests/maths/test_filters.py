"""Filters against scipy.ndimage where the edges agree, and against their definitions at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from marey.errors import InvalidValue
from marey.maths import filters
from tests.strategies import LAWS


def noise(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def line_fit_twin(x, sigma):
    """The definition: at each sample, the value of a straight line fitted under the Gaussian, which is truncated at 4
    sigma."""
    radius = int(4 * sigma + 0.5)
    out = np.empty_like(x)
    for i in range(len(x)):
        at = np.arange(max(0, i - radius), min(len(x), i + radius + 1))
        root_weight = np.exp(-0.25 * ((at - i) / sigma) ** 2)
        out[i] = np.polyfit(at - i, x[at], 1, w=root_weight)[1] if len(at) > 1 else x[i]
    return out


@pytest.mark.parametrize("sigma", [0.4, 1.0, 2.5, 7.0])
def test_gaussian_is_scipys_away_from_the_ends(sigma):
    x, radius = noise(120, 4), int(4 * sigma + 0.5)
    inner = slice(radius, -radius)
    expected = ndimage.gaussian_filter1d(x, sigma, axis=0, truncate=4.0)
    np.testing.assert_allclose(filters.gaussian(x, sigma)[inner], expected[inner], rtol=0, atol=1e-14)


@pytest.mark.parametrize("sigma", [0.4, 1.0, 2.5, 7.0, 40.0])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 41, 57, 58])
def test_gaussian_is_the_fitted_line_up_to_the_ends(sigma, n):
    x = noise(n)
    np.testing.assert_allclose(filters.gaussian(x, sigma), line_fit_twin(x, sigma), rtol=0, atol=1e-9)


@LAWS
@given(st.integers(1, 80), st.floats(0.0, 60.0), st.floats(-100.0, 100.0), st.floats(-1.0, 1.0))
def test_gaussian_leaves_constants_and_straight_lines(n, sigma, start, slope):
    constant = np.full((n, 2), start)
    np.testing.assert_allclose(filters.gaussian(constant, sigma), constant, rtol=0, atol=1e-12)
    line = (slope * np.arange(n))[:, None] + constant
    np.testing.assert_allclose(filters.gaussian(line, sigma), line, rtol=0, atol=1e-11)


def test_gaussian_reduces_noise_everywhere():
    x = noise(200, 500)
    spread = filters.gaussian(x, 5.0).std(axis=1)
    assert spread[100] < 0.3
    assert spread.max() < 0.6


def test_gaussian_of_nothing_to_do():
    x = noise(9, 2)
    for sigma in (0.0, 0.1):
        out = filters.gaussian(x, sigma)
        np.testing.assert_array_equal(out, x)
        assert not np.shares_memory(out, x)


@pytest.mark.parametrize("size", [1, 3, 5, 11, 41])
@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_median_is_scipys_with_repeated_ends(size, n):
    x = noise(n, 3)
    np.testing.assert_array_equal(filters.median(x, size), ndimage.median_filter(x, size=(size, 1), mode="nearest"))


def test_median_removes_a_spike_and_keeps_a_step():
    step = np.repeat([0.0, 1.0], 10)
    spiked = step.copy()
    spiked[[1, 15]] = 50.0
    np.testing.assert_array_equal(filters.median(spiked, 5), step)


def test_median_in_blocks_is_the_same(monkeypatch):
    x = noise(50, 4)
    expected = filters.median(x, 7)
    monkeypatch.setattr(filters, "_MEDIAN_BLOCK_VALUES", 64)
    np.testing.assert_array_equal(filters.median(x, 7), expected)


CALLS = [lambda x, axis: filters.gaussian(x, 1.5, axis), lambda x, axis: filters.median(x, 5, axis)]


@pytest.mark.parametrize("call", CALLS, ids=["gaussian", "median"])
@pytest.mark.parametrize("shape", [(12,), (12, 3), (12, 2, 5), (0, 3), (12, 0)])
def test_any_axis_float64_out_and_input_unchanged(call, shape):
    x = noise(*shape).astype(np.float32)
    stored = x.copy()
    x.flags.writeable = False
    out = call(x, 0)
    assert out.dtype == np.float64
    assert out.shape == shape
    assert out.flags.writeable
    for axis in range(1, len(shape)):
        np.testing.assert_array_equal(np.moveaxis(call(np.moveaxis(x, 0, axis), axis), axis, 0), out)
    np.testing.assert_array_equal(np.moveaxis(call(np.moveaxis(x, 0, -1), -1), -1, 0), out)
    np.testing.assert_array_equal(x, stored)


@pytest.mark.parametrize("sigma", [-1.0, np.nan, np.inf])
def test_gaussian_refuses_a_sigma_that_is_none(sigma):
    with pytest.raises(InvalidValue, match=rf"sigma \(in samples\) must be finite and at least 0, not {sigma}"):
        filters.gaussian(np.zeros(5), sigma)


@pytest.mark.parametrize("size", [0, 2, -3, 2.5])
def test_median_refuses_even_and_empty_windows(size):
    with pytest.raises(InvalidValue, match=r"filters.median: size must be an odd number of samples, at least 1, not"):
        filters.median(np.zeros(5), size)


def test_axes_that_are_not_there_are_refused():
    with pytest.raises(InvalidValue, match=": axis must be from -1 to 0, not 1"):
        filters.gaussian(np.zeros(5), 1.0, axis=1)
    with pytest.raises(InvalidValue, match="filters.median: x must be an array with a time axis, not a single number"):
        filters.median(3.0, 3)
