"""u(t): exact for one motion, the solution of Kovar 5.9 for several."""

import numpy as np
import pytest

from marey.blend.advance import compute_knot_slopes, compute_span_times, find_u, integrate_u
from marey.blend.weights import limit_speed_weights
from marey.register.curves import TimewarpCurve
from tests.blend import twin


@pytest.fixture(scope="module")
def curve():
    """Three motions whose relative speeds change up to sevenfold within a few frames."""
    rng = np.random.default_rng(3)
    steps = rng.uniform(0.02, 0.14, (23, 3))
    return TimewarpCurve(np.concatenate([[[0.0, 0.0, 0.0]], np.cumsum(steps, axis=0)]) - 0.5 * steps[0])


def slopes_of(curve):
    return compute_knot_slopes(curve.points)


def test_slopes_at_the_knots_are_those_of_the_curve(curve):
    np.testing.assert_allclose(slopes_of(curve), curve.slope(curve.knots), rtol=1e-12)


@pytest.mark.parametrize("j", [0, 1, 2])
def test_one_motion_alone_is_played_as_it_is(curve, j):
    weights = np.eye(3)[j]
    whole = compute_span_times(slopes_of(curve), weights)[-1]
    assert whole == pytest.approx(curve.durations[j], abs=1e-12)
    seconds = np.linspace(0.0, whole, 77)
    u = find_u(slopes_of(curve), weights, seconds)
    np.testing.assert_allclose(curve(u)[:, j] - curve(0.0)[j], seconds, atol=1e-12)


@pytest.mark.parametrize("weights", [(0.5, 0.3, 0.2), (1.08, -0.05, -0.03), (0.0, 0.9, 0.1)])
def test_constant_weights_solve_the_differential_equation(curve, weights):
    weights = np.array(weights)
    whole = compute_span_times(slopes_of(curve), weights)[-1]
    seconds = np.linspace(0.0, whole, 40)[:-1]
    u = find_u(slopes_of(curve), weights, seconds)
    np.testing.assert_allclose(u, twin.advance(curve, lambda t: weights, seconds), atol=3e-8)
    assert (np.diff(u) > 0.0).all()


@pytest.mark.parametrize("weights", [(1.4, -0.3, -0.1), (3.0, -2.0, 0.0), (-200.0, 201.0, 0.0)])
def test_weights_that_would_turn_time_back_are_restrained_and_then_solved_for(curve, weights):
    weights = np.array(weights)
    shares = limit_speed_weights(weights, slopes_of(curve))
    assert np.abs(shares - weights).max() > 0.01
    whole = compute_span_times(slopes_of(curve), weights)[-1]
    seconds = np.linspace(0.0, whole, 40)[:-1]
    u = find_u(slopes_of(curve), weights, seconds)
    np.testing.assert_allclose(u, twin.advance(curve, lambda t: shares, seconds), atol=3e-8)
    assert (np.diff(u) > 0.0).all()


def test_time_always_increases():
    rng = np.random.default_rng(8)
    for _ in range(60):
        n, knots = int(rng.integers(2, 5)), int(rng.integers(4, 20))
        points = np.cumsum(np.exp(rng.uniform(-2.0, 0.0, (knots, n))), axis=0) / knots
        slopes = compute_knot_slopes(points)
        weights = rng.normal(0.0, np.exp(rng.uniform(-2.0, 3.0)), n)
        weights[0] += 1.0 - weights.sum()
        borders = compute_span_times(slopes, weights)
        assert (np.diff(borders) > 0.0).all()
        u = find_u(slopes, weights, np.linspace(0.0, borders[-1], 200))
        assert (np.diff(u) > 0.0).all()
        assert u[-1] == pytest.approx(1.0, abs=1e-12)


def test_time_increases_when_weights_jump(curve):
    rng = np.random.default_rng(9)
    for _ in range(20):
        far = rng.normal(0.0, 3.0, (4, 3))
        far[:, 0] += 1.0 - far.sum(axis=1)
        seconds = np.linspace(0.0, 0.5, 20)
        u = integrate_u(slopes_of(curve), lambda t, far=far: far[(np.asarray(t) * 61.0).astype(int) % 4], seconds)
        assert len(u) > 2
        assert (np.diff(u) > 0.0).all()


def test_durations_go_on_beyond_the_motions():
    """For two motions at constant speeds, exactly 1 / sum(w / duration), until time would almost stop."""
    slopes = np.tile([3.0, 2.0], (6, 1))
    for weights in ([1.0, 0.0], [1.1, -0.1], [1.5, -0.5], [0.0, 1.0], [-0.5, 1.5], [-1.0, 2.0]):
        exact = 1.0 / (weights[0] / 3.0 + weights[1] / 2.0)
        assert compute_span_times(slopes, np.array(weights))[-1] == pytest.approx(exact, rel=1e-12)
    lasting = [
        compute_span_times(slopes, np.array([w, 1.0 - w]))[-1]
        for w in (-500.0, -8.0, -1.0, 0.0, 1.0, 1.5, 2.5, 8.0, 500.0)
    ]
    assert (np.diff(lasting) > -1e-9).all()
    assert lasting[-1] == pytest.approx(4.0 * 3.0, rel=1e-9)
    assert lasting[0] == pytest.approx(2.0 / 4.0, rel=1e-9)


def test_a_single_euler_step_a_frame_would_drift(curve):
    """What Kovar's formula does, and why marey differs."""
    weights = np.array([0.5, 0.5, 0.0])
    whole = compute_span_times(slopes_of(curve), weights)[-1]
    seconds = np.arange(0.0, whole, 1 / 30)
    u = [0.0]
    for _ in seconds[1:]:
        u.append(u[-1] + float((weights / curve.slope(u[-1])).sum()) / 30)
    exact = find_u(slopes_of(curve), weights, seconds)
    assert np.abs(curve(np.array(u)) - curve(exact)).max() > 1e-3


def test_changing_weights_solve_the_differential_equation(curve):
    def weights_at(seconds):
        fraction = 0.5 + 0.5 * np.sin(3.0 * np.asarray(seconds))
        return np.stack([fraction, 0.7 * (1.0 - fraction), 0.3 * (1.0 - fraction)], axis=-1)

    seconds = np.arange(0.0, 1.5, 1 / 60)
    u = integrate_u(slopes_of(curve), weights_at, seconds)
    assert len(u) == len(seconds)
    np.testing.assert_allclose(u, twin.advance(curve, weights_at, seconds), atol=3e-8)


def test_constant_weights_as_a_function_give_the_same_result(curve):
    weights = np.array([0.2, 0.2, 0.6])
    whole = compute_span_times(slopes_of(curve), weights)[-1]
    seconds = np.arange(0.0, whole, 1 / 60)
    u = integrate_u(slopes_of(curve), lambda t: np.broadcast_to(weights, (len(t), 3)), seconds)
    np.testing.assert_allclose(u, find_u(slopes_of(curve), weights, seconds), atol=3e-8)


def test_backwards_undoes_forwards(curve):
    def weights_at(seconds):
        fraction = np.clip(seconds, 0.0, 1.0)
        return np.stack([fraction, 1.0 - fraction, 0.0 * fraction], axis=-1)

    seconds = np.linspace(0.0, 1.0, 61)
    ahead = integrate_u(slopes_of(curve), weights_at, seconds, start=0.1)
    back = integrate_u(slopes_of(curve), weights_at, seconds[::-1], start=float(ahead[-1]), backward=True)
    np.testing.assert_allclose(back[::-1], ahead, atol=3e-8)


def test_it_stops_where_the_timewarp_ends(curve):
    one = np.eye(3)[0]
    n_frames = int(np.floor(curve.durations[0] * 50)) + 1
    u = integrate_u(slopes_of(curve), lambda t: np.broadcast_to(one, (len(t), 3)), np.arange(400) / 50)
    assert len(u) == n_frames
    assert u[-1] <= 1.0


def test_loops_go_on_over_the_seam():
    seconds = np.array([[0.0, 0.0], [0.1, 0.3], [0.35, 0.4], [0.5, 0.9], [0.8, 1.2]])
    fine = np.stack([np.interp(np.linspace(0, 4, 41), np.arange(5), seconds[:, j]) for j in range(2)], axis=1)
    curve = TimewarpCurve.fit(fine, cyclic=True)
    slopes = compute_knot_slopes(curve.points)
    for j in range(2):
        weights = np.eye(2)[j]
        times = np.arange(0.0, 5.0, 1 / 60)
        u = integrate_u(slopes, lambda t, w=weights: np.broadcast_to(w, (len(t), 2)), times, cyclic=True)
        assert len(u) == len(times)
        np.testing.assert_allclose(curve(u)[:, j] - curve(0.0)[j], times, atol=1e-7)
