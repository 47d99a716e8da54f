"""Quadratic B-splines: compared with SciPy, exact inverses, and optimal fits."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import BSpline

from marey.errors import InvalidValue
from marey.maths import bspline
from tests.strategies import LAWS, numbers, weights
from tests.twins.timewarp import increasing_fit


def by_scipy(points):
    spans = len(points) - 2
    return BSpline((np.arange(len(points) + 3) - 2) / spans, points, 2)


def rising(n_points, columns=(), seed=0, least=0.01):
    return np.cumsum(np.random.default_rng(seed).uniform(least, 1.0, (n_points, *columns)), axis=0)


def steps():
    return st.integers(2, 12).flatmap(weights).map(lambda sizes: np.maximum(sizes, 0.02))


@pytest.mark.parametrize("columns", [(), (3,), (2, 3)])
@pytest.mark.parametrize("n_points", [3, 4, 9])
def test_values_and_slopes_are_scipys(n_points, columns):
    points = np.random.default_rng(n_points).normal(size=(n_points, *columns))
    u = np.linspace(0.0, 1.0, 41).reshape(1, 41)
    expected = by_scipy(points)
    np.testing.assert_allclose(bspline.evaluate(points, u), expected(u), atol=1e-13)
    np.testing.assert_allclose(bspline.derivative(points, u), expected.derivative()(u), atol=1e-12)
    assert bspline.evaluate(points, 0.3).shape == columns


def test_borders_are_means_of_neighbors():
    points = rising(7)
    np.testing.assert_allclose(
        bspline.evaluate(points, np.linspace(0, 1, 6)), (points[1:] + points[:-1]) / 2, rtol=1e-15
    )
    np.testing.assert_allclose(bspline.derivative(points, np.linspace(0, 1, 6)), 5 * np.diff(points), rtol=1e-12)


def test_the_spline_is_linear_beyond_its_ends():
    points = rising(6, (2,))
    out = bspline.evaluate(points, [-0.5, 0.0, 1.0, 1.25])
    ends = bspline.derivative(points, [0.0, 1.0])
    np.testing.assert_allclose(out[0], out[1] - 0.5 * ends[0], atol=1e-13)
    np.testing.assert_allclose(out[3], out[2] + 0.25 * ends[1], atol=1e-13)
    np.testing.assert_allclose(bspline.derivative(points, [-3.0, 3.0]), ends, atol=1e-13)


@given(steps(), st.booleans(), numbers((20,), 2.5).map(lambda u: u + 0.5))
@LAWS
def test_inverse_is_exact_both_ways(sizes, cyclic, u):
    points = np.concatenate([[0.3], 0.3 + np.cumsum(sizes)])
    if cyclic:
        points = np.concatenate([points, points[:2] + points[-1] - points[0] + sizes[0]])
    values = bspline.evaluate(points, u, cyclic=cyclic)
    back = bspline.inverse(points, values, cyclic=cyclic)
    np.testing.assert_allclose(back, u, rtol=0, atol=1e-12)
    np.testing.assert_allclose(bspline.evaluate(points, back, cyclic=cyclic), values, rtol=0, atol=1e-12)


def test_a_cyclic_spline_has_no_seam():
    points = bspline.with_period(rising(9, (3,)), [10.0, 0.0, 7.0])
    u = np.linspace(-1.0, 1.0, 33)
    np.testing.assert_allclose(
        bspline.evaluate(points, u + 1, cyclic=True), bspline.evaluate(points, u, cyclic=True) + [10, 0, 7], atol=1e-12
    )
    for f in (bspline.evaluate, bspline.derivative):
        just_before, after = f(points, [1 - 1e-13, 1.0], cyclic=True)
        np.testing.assert_allclose(just_before, after, atol=1e-9)


def basis(n_points, at):
    return bspline.evaluate(np.eye(n_points), at)


@pytest.mark.parametrize("n_points", [3, 5, 20, 60])
def test_fit_is_least_squares(n_points):
    rng = np.random.default_rng(n_points)
    at = (np.arange(150) + rng.uniform(size=150)) / 150
    samples = rng.normal(size=(150, 2, 2))
    expected = np.linalg.lstsq(basis(n_points, at), samples.reshape(150, 4), rcond=None)[0]
    fitted = bspline.fit(samples, n_points, at=at)
    assert fitted.shape == (n_points, 2, 2)
    residual = basis(n_points, at) @ (fitted.reshape(n_points, 4) - expected)
    assert np.abs(residual).max() < 1e-7


def test_fit_gives_a_spline_back():
    points = np.random.default_rng(0).normal(size=(12, 3)) + 1e3
    samples = bspline.evaluate(points, np.linspace(0, 1, 50))
    np.testing.assert_allclose(bspline.fit(samples, 12), points, atol=1e-8)


@pytest.mark.parametrize("n_points", [3, 4, 5, 7, 9, 10, 11, 12, 30])
def test_cyclic_fit_is_least_squares(n_points):
    rng = np.random.default_rng(n_points)
    at = np.linspace(0.0, 1.0, 91)[:-1]
    samples, period = rng.normal(size=(90, 2)), np.array([2.0, 0.0])
    spans = n_points - 2
    tie = np.zeros((n_points, spans))
    tie[np.arange(n_points), np.arange(n_points) % spans] = 1.0
    rounds = (np.arange(n_points) // spans)[:, None] * period
    seen = basis(n_points, at)
    unknown = np.linalg.lstsq(seen @ tie, samples - seen @ rounds, rcond=None)[0]
    fitted = bspline.fit(samples, n_points, at=at, period=period)
    np.testing.assert_allclose(fitted, tie @ unknown + rounds, atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("noise", [0.3, 3.0, 30.0])
def test_increasing_fit_is_the_best_increasing_one(noise, seed):
    rng = np.random.default_rng(seed)
    n_points, at = 16, np.linspace(0.0, 1.0, 60)
    samples = 50.0 * at + noise * rng.normal(size=60)
    samples[0], samples[-1] = 0.0, 50.0
    least = 0.05 * 50.0 / (n_points - 2)
    expected = increasing_fit(basis(n_points, at), samples, least)
    fitted = bspline.fit_increasing(samples, n_points)
    assert np.diff(fitted).min() >= least * (1 - 1e-9)

    def cost(points):
        return ((basis(n_points, at) @ points - samples) ** 2).sum()

    assert cost(fitted) <= cost(expected) * (1 + 1e-9)
    if noise == 30.0:
        assert (np.diff(fitted) < least * (1 + 1e-6)).any()


@given(
    st.integers(4, 40).flatmap(lambda n: numbers((n, 2), 3.0)),
    st.integers(3, 14),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 1.0]),
)
@LAWS
def test_increasing_fits_never_turn_back(noise, n_points, exact_ends, cyclic, smooth):
    n = len(noise)
    samples = np.linspace(0.0, 10.0, n)[:, None] + noise
    samples[0], samples[-1] = [0.0, -1.0], [10.0, 5.0]
    at = np.linspace(0.0, 1.0, n)
    if cyclic:
        period = samples[-1] - samples[0]
        result = bspline.fit_increasing(
            samples[:-1], n_points, at=at[:-1], period=period, exact_ends=exact_ends, smooth=smooth
        )
        np.testing.assert_allclose(result[-2:] - result[:2], [period, period], atol=1e-9)
    else:
        result = bspline.fit_increasing(samples, n_points, exact_ends=exact_ends, smooth=smooth)
    least = 0.05 * (samples[-1] - samples[0])
    slopes = bspline.derivative(result, np.linspace(0.0, 1.0, 101))
    assert (slopes >= least * (1 - 1e-9)).all()
    if exact_ends:
        ends = bspline.evaluate(result, [0.0, 1.0])
        np.testing.assert_allclose(ends, samples[[0, -1]], rtol=0, atol=1e-12 if not cyclic else 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_cyclic_increasing_fit_meets_the_optimality_conditions(seed):
    """A search finds no step that can be lengthened at the cost of another to reduce the residuals."""
    rng = np.random.default_rng(seed)
    n_points, at = 10, np.linspace(0.0, 1.0, 41)[:-1]
    samples = 20.0 * at + 8.0 * rng.normal(size=40)
    result = bspline.fit_increasing(samples, n_points, at=at, period=20.0)
    spans, least = n_points - 2, 0.05 * 20.0 / (n_points - 2)

    def cost(points):
        return ((basis(n_points, at) @ points - samples) ** 2).sum()

    step = np.diff(result)[:spans]
    assert (step < least * (1 + 1e-9)).any()
    best = cost(result)
    for _ in range(2000):
        change = rng.normal(size=spans) * 10.0 ** rng.uniform(-5, 0)
        other = np.maximum(step + change, least)
        other *= 1.0
        excess = other.sum() - 20.0
        other[np.argmax(other)] -= excess
        if other.min() < least:
            continue
        start = result[0] + rng.normal() * 10.0 ** rng.uniform(-5, 0)
        points = start + np.concatenate([[0.0], np.cumsum(other)])
        assert cost(bspline.with_period(np.append(points, 0.0), 20.0)) >= best - 1e-9 * best


def test_smoothing_straightens():
    rng = np.random.default_rng(0)
    samples = np.linspace(0, 10, 60) + rng.normal(size=60)
    rough, smooth = (bspline.fit(samples, 20, smooth=weight) for weight in (0.0, 1e6))
    assert np.abs(np.diff(smooth, 2)).max() < 1e-3 * np.abs(np.diff(rough, 2)).max()
    np.testing.assert_allclose(np.polyval(np.polyfit(np.linspace(0, 1, 60), samples, 1), [0, 1]),
                               bspline.evaluate(smooth, [0.0, 1.0]), atol=1e-2)  # fmt: skip


def test_few_samples_still_make_a_curve():
    np.testing.assert_allclose(bspline.evaluate(bspline.fit([1.0, 3.0], 6), [0.0, 0.5, 1.0]), [1, 2, 3], atol=1e-5)


@pytest.mark.parametrize(("n_samples", "every", "expected"), [(2, 4, 3), (5, 4, 3), (6, 4, 4), (301, 4, 77), (4, 1, 4)])
def test_number_of_points(n_samples, every, expected):
    assert bspline.n_points_for(n_samples, every) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bspline.evaluate([1.0, 2.0], 0.5), " with K at least 3, not shape (2,)"),
        (
            lambda: bspline.inverse([1.0, 1.0, 2.0], 0.5),
            "points must have shape (K,) and increase",
        ),
        (lambda: bspline.inverse(np.ones((4, 2)), 0.5), "and increase; otherwise u is not unique"),
        (lambda: bspline.fit([], 4), "samples must have shape (N, ...) with N at least 1"),
        (lambda: bspline.fit([1.0, np.nan], 4), ": samples must be finite, not nan"),
        (lambda: bspline.fit([1.0, 2.0], 2), "n_points must be at least 3, not 2"),
        (
            lambda: bspline.fit([1.0, 2.0], 4, at=[0.5, 0.2]),
            "`at` must have one value from 0 to 1 for each of the 2 samples",
        ),
        (lambda: bspline.fit([1.0, 2.0], 4, smooth=-1), ": smooth must be finite and at least 0, not -1"),
        (
            lambda: bspline.fit_increasing([2.0, 1.0], 4),
            ": the last sample must be greater than the first, not a difference of -1",
        ),
        (
            lambda: bspline.fit_increasing([1.0, 2.0], 4, least=1.0),
            ": `least` must be greater than 0 and less than 1, not 1.0",
        ),
        (lambda: bspline.n_points_for(9, 0), "bspline.n_points_for: knot_every must be greater than 0 samples, not 0"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(InvalidValue, match=re.escape(message)):
        call()
