"""Many blends measured at once, compared with the same blends made one by one."""

import numpy as np
import pytest

from marey.blend import blend
from marey.blend.advance import find_u
from marey.blend.weights import limit_speed_weights
from marey.parametric import duration, function, orientation, position, speed, turn
from marey.parametric.measured import _RULE, BlendMeasurer, find_blend_frames
from marey.parametric.sampling import random_weights, sample_weights, thin_samples
from marey.parametric.target_weights import mix_weights, neighbor_weights
from marey.parametric.track_kernels import find_frame_places, find_span_ends
from tests.parametric.takes import space


@pytest.mark.parametrize(
    ("features", "moments"),
    [
        ((position("right_hand"), orientation("chest", "highest", moment_joint="right_hand")), (0.45, 0.3)),
        ((turn(), speed("right_hand", "max"), duration()), (np.nan,) * 3),
        ((position("center_of_mass", axes="yz"), function(lambda motion: len(motion))), (0.61, np.nan)),
    ],
)
def test_many_at_once_are_as_one_by_one(features, moments):
    reg = space("reach").registration
    measured = BlendMeasurer(reg, features, moments)
    rng = np.random.default_rng(4)
    which, weights = sample_weights(space("reach").parameters, 12, 0.1, 0.2, rng)
    found = measured.measure_weights(which, weights)
    for row, chosen, fraction in zip(found, which, weights, strict=True):
        whole = np.zeros(reg.n_motions)
        np.add.at(whole, chosen, fraction)
        motion = blend(reg, whole, feet=None)
        u, starts = find_blend_frames(reg, whole[None])
        assert starts.tolist() == [0, len(motion)]
        np.testing.assert_allclose(measured.measure_motion(motion, u), row, atol=1e-6)


def slow_shares(target, samples, k):
    """Kovar 6.5 as printed, for targets that are not samples."""
    order = sorted(range(len(samples)), key=lambda i: np.linalg.norm(samples[i] - target))[:k]
    apart = [np.linalg.norm(samples[i] - target) for i in order]
    raw = {i: 1.0 / d - 1.0 / apart[-1] for i, d in zip(order, apart, strict=True)}
    return {i: value / sum(raw.values()) for i, value in raw.items() if value > 0.0}


def test_weights_are_those_of_the_source():
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((40, 3))
    for target in rng.standard_normal((20, 3)):
        near, weights = neighbor_weights(target, samples, 12)
        expected = slow_shares(target, samples, 12)
        assert set(near.tolist()) == set(expected)
        np.testing.assert_allclose(weights, [expected[i] for i in near.tolist()], rtol=1e-9)


def test_a_sample_has_all_the_weight_at_its_point_and_equal_ones_split_it():
    samples = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    near, weights = neighbor_weights(np.array([1.0, 0.0]), samples, 3)
    assert (near.tolist(), weights.tolist()) == ([1], [1.0])
    near, weights = neighbor_weights(np.zeros(2), samples[1:], 4)
    assert sorted(near.tolist()) == [0, 1, 2, 3]
    np.testing.assert_allclose(weights, 0.25)
    near, weights = neighbor_weights(np.zeros(2), samples[1:], 2)
    np.testing.assert_allclose(weights.sum(), 1.0)


def test_few_samples_are_all_used_without_a_jump():
    samples = np.array([[0.0], [1.0]])
    for x in (0.25, 0.5, 0.9):
        near, weights = neighbor_weights(np.array([x]), samples, 12)
        assert dict(zip(near.tolist(), weights.tolist(), strict=True))[1] == pytest.approx(x)


def test_mixed_weights_add_up_by_example():
    which, weights = np.array([[0, 2], [2, 5]]), np.array([[0.5, 0.5], [1.1, -0.1]])
    examples, fraction = mix_weights(np.array([0.25, 0.75]), which, weights)
    assert examples.tolist() == [0, 2, 5]
    np.testing.assert_allclose(fraction, [0.125, 0.95, -0.075])


@pytest.mark.parametrize("delta", [0.0, 0.1, 0.3])
def test_random_weights_are_valid_and_fill_the_range(delta):
    rows = random_weights(2000, 4, delta, np.random.default_rng(1))
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)
    assert rows.min() >= -delta - 1e-12
    assert rows.max() <= 1.0 + delta + 1e-12
    # The order of the rows does not matter.
    assert np.ptp(rows.mean(axis=0)) < 0.06
    assert rows.max() > 0.9 + delta
    assert rows.min() < 0.05 - delta


def test_samples_are_blended_from_the_nearest_examples():
    rng = np.random.default_rng(2)
    parameters = rng.uniform(size=(30, 2))
    which, weights = sample_weights(parameters, 200, 0.1, 0.2, rng)
    assert which.shape == weights.shape == (200, 3)
    assert all(len(set(row)) == 3 for row in which.tolist())
    spread = np.linalg.norm(parameters[which] - parameters[which].mean(axis=1, keepdims=True), axis=2).mean()
    assert spread < 0.2


def test_thinning_keeps_the_first_and_drops_near_ones():
    rows = np.array([[0.0], [0.05], [1.0], [1.05], [2.0]])
    assert thin_samples(rows, 0.1, 2).tolist() == [0, 1, 2, 4]


def test_frames_advance_evenly_where_examples_differ_greatly_in_speed():
    # Newton's method alone jumps between the ends of such spans: a kick would stand still and then teleport.
    rng = np.random.default_rng(8)
    for _ in range(40):
        slopes = np.exp(rng.uniform(np.log(0.08), np.log(5.0), (16, 6)))
        weights = rng.dirichlet(np.ones(6)) * 1.3 - 0.05
        weights = limit_speed_weights((weights / weights.sum())[None], slopes)
        borders = np.empty((1, 16))
        find_span_ends(slopes, weights, _RULE, borders)
        seconds = np.arange(int(borders[0, -1] * 30.0)) / 30.0
        u = np.empty(len(seconds))
        find_frame_places(slopes, weights, borders, np.array([0, len(u)]), 30.0, _RULE, u)
        expected = find_u(slopes, weights[0], seconds)
        np.testing.assert_allclose(u, expected, atol=1e-4)
        at = np.linspace(0.0, 1.0, 60001)
        flow = (weights[0] / slopes_at(slopes, at)).sum(axis=1)
        times = np.concatenate([[0.0], np.cumsum(0.5 * (1.0 / flow[1:] + 1.0 / flow[:-1]) * np.diff(at))])
        np.testing.assert_allclose(np.interp(expected, at, times), seconds, atol=1e-4)


def slopes_at(slopes, u):
    return np.stack([np.interp(u, np.linspace(0.0, 1.0, len(slopes)), each) for each in slopes.T], axis=1)
