"""Weights as users give them."""

import itertools

import numpy as np
import pytest

from marey.blend.weights import Weighting, interpolate_weights, limit_speed_weights
from marey.errors import InvalidValue


def test_only_ratios_count():
    np.testing.assert_allclose(Weighting.of([1, 3], 2).constant, [0.25, 0.75])
    np.testing.assert_allclose(Weighting.of(lambda t: [t, 3 * t], 2).at(np.array([1.0, 2.0])), [[0.25, 0.75]] * 2)


def test_they_need_not_be_convex():
    np.testing.assert_allclose(Weighting.of([1.5, -0.5], 2).constant, [1.5, -0.5])


def test_time_flows_by_the_weights_themselves_where_it_can():
    slopes = np.tile([3.0, 2.0], (5, 1))
    np.testing.assert_array_equal(limit_speed_weights(np.array([1.5, -0.5]), slopes), [1.5, -0.5])
    convex = np.random.default_rng(2).dirichlet(np.ones(2), 50)
    convex /= convex.sum(axis=1, keepdims=True)
    size = np.abs(convex)
    np.testing.assert_array_equal(limit_speed_weights(convex, slopes), size / size.sum(axis=1, keepdims=True))


def test_time_flows_at_a_quarter_to_four_times_what_the_weights_above_0_give():
    rng = np.random.default_rng(5)
    slopes = np.exp(rng.uniform(-1.0, 1.0, (7, 3)))
    fine = np.concatenate([np.linspace(a, b, 50) for a, b in itertools.pairwise(slopes)])
    weights = rng.normal(0.0, 3.0, (3000, 3))
    weights[:, 0] += 1.0 - weights.sum(axis=1)
    shares = limit_speed_weights(weights, slopes)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    alone = np.maximum(weights, 0.0) / np.maximum(weights, 0.0).sum(axis=1, keepdims=True)
    ratio = (shares @ (1.0 / fine).T) / (alone @ (1.0 / fine).T)
    assert ratio.min() > 0.249
    assert ratio.max() < 4.5
    one_by_one = np.array([limit_speed_weights(row, slopes) for row in weights[:40]])
    np.testing.assert_allclose(shares[:40], one_by_one, atol=1e-12)


def test_speed_weights_change_without_jumps_as_weights_do():
    slopes = np.exp(np.random.default_rng(6).uniform(-1.0, 1.0, (7, 2)))
    along = np.linspace(-4.0, 5.0, 20001)
    shares = limit_speed_weights(np.stack([along, 1.0 - along], axis=1), slopes)
    assert np.abs(np.diff(shares, axis=0)).max() < 1e-3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0], "weights must be 2 numbers, one per motion, not 1"),
        ([[1.0, 2.0]], r"weights must be 2 numbers, one per motion, not an array of shape \(1, 2\)"),
        ([0.0, 0.0], "sum greater than 0"),
        ([1.0, -1.0], "sum greater than 0"),
        ([-1.0, 0.0], "sum greater than 0"),
        ([np.nan, 1.0], "finite"),
        ([np.inf, 1.0], "finite"),
        (["a", "b"], "numbers"),
        (None, "numbers"),
    ],
)
def test_weights_that_do_not_fit(given, message):
    with pytest.raises(InvalidValue, match=message):
        Weighting.of(given, 2)


def test_an_error_in_a_weight_function_names_the_time():
    with pytest.raises(InvalidValue, match="at 2 s"):
        Weighting.of(lambda t: [1.0 - t / 2, 0.0], 2).at(np.array([0.0, 1.0, 2.0]))
    with pytest.raises(InvalidValue, match="weights must be 3 numbers.*at 0 s"):
        Weighting.of(lambda t: [1.0, 0.0], 3).at(np.array([0.0]))


def test_keys_are_met_and_passed_smoothly():
    keys = [[1.0, 0.0], [0.2, 0.8], [0.2, 0.8], [0.0, 1.0]]
    at = interpolate_weights([0.0, 1.0, 2.0, 4.0], keys)
    for t, wanted in zip((0.0, 1.0, 2.0, 4.0, 9.0, -3.0), (*keys, keys[-1], keys[0]), strict=True):
        np.testing.assert_allclose(at(t), wanted, atol=1e-12)
    fine = np.array([at(t) for t in np.linspace(0.0, 4.0, 4001)])
    assert fine.min() >= 0.0
    assert fine.max() <= 1.0
    assert np.abs(np.diff(fine, n=2, axis=0)).max() < 1e-5


@pytest.mark.parametrize(
    ("seconds", "rows", "message"),
    [
        ([0.0, 0.0], [[1, 0], [0, 1]], "increase"),
        ([0.0, 1e-300], [[1, 0], [0, 1]], "by 1 microsecond or more"),
        ([0.0, 1.0], [[1, 0], [1e20, 1]], "from -1e\\+15 to 1e\\+15, not 1e\\+20"),
        ([0.0, 1.0], [[1, 0]], "one row per time"),
        ([0.0, 1.0], [[1, 0], [0, 0]], "sum greater than 0.*at 1 s"),
        ([], [], "one row per time"),
    ],
)
def test_bad_keys(seconds, rows, message):
    with pytest.raises(InvalidValue, match=message):
        interpolate_weights(seconds, rows)
