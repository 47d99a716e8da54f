"""Averages of rotations, and signs over time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marey.errors import InvalidValue
from marey.maths import quat
from tests.maths.helpers import (
    SAME,
    N,
    assert_same_rotation,
    assert_unit,
    batches,
    random_quaternions,
)
from tests.strategies import LAWS, quaternions, vectors


def average_twin(q, weights):
    """The definition, by an eigendecomposition of each matrix."""
    moment = np.einsum("n,ni,nj->ij", weights, q, q)
    return np.linalg.eigh(moment)[1][:, -1]


@pytest.mark.parametrize("spread", [1e-9, 0.01, 0.3, 3.0])
@pytest.mark.parametrize("n", [1, 2, 3, 18])
def test_average_is_the_principal_eigenvector(spread, n):
    rng = np.random.default_rng(n)
    center = random_quaternions(40, 1, seed=1)
    q = quat.normalize(center + spread * rng.normal(size=(40, n, 4)))
    weights = rng.uniform(0.1, 1.0, size=n)
    out = quat.average(q, weights)
    assert out.shape == (40, 4)
    assert_unit(out)
    expected = np.array([average_twin(sample, weights) for sample in q])
    assert_same_rotation(out, expected, atol=1e-12)
    assert (out[:, 0] >= 0).all()


@LAWS
@given(st.data())
def test_average_does_not_see_signs_or_order(data):
    n = data.draw(st.integers(1, 6))
    center = data.draw(quaternions())
    nudges = data.draw(vectors((n,), 0.3))
    weights = data.draw(st.lists(st.floats(0.05, 1.0), min_size=n, max_size=n).map(np.array))
    signs = data.draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n).map(np.array))
    order = data.draw(st.permutations(range(n)))
    q = quat.mul(center, quat.exp(nudges))
    out = quat.average(q, weights)
    assert_same_rotation(quat.average(q * signs[:, N], weights), out, atol=1e-13)
    assert_same_rotation(quat.average(q[order], weights[order]), out, atol=1e-13)
    assert_same_rotation(quat.average(q, 17.0 * weights), out, atol=1e-13)
    assert_same_rotation(quat.average(quat.mul(center, q), weights), quat.mul(center, out), atol=1e-13)


@LAWS
@given(batches(quaternions, quaternions))
def test_average_of_two_is_the_middle_or_the_weighted_one(drawn):
    a, b = drawn
    clear = np.abs(quat.dot(a, b)) > 1e-3
    both = np.stack([a, b])
    assert_same_rotation(quat.average(both, [1, 0], axis=0), a)
    middle = quat.average(both, axis=0)
    assert_same_rotation(middle[clear], quat.slerp(a, b, 0.5)[clear], atol=1e-12)


def test_average_takes_weights_for_each_sample_or_each_element():
    q = random_quaternions(5, 3, 2)
    w = np.random.default_rng(1).uniform(0.1, 1.0, size=(5, 3, 2))
    out = quat.average(q, w, axis=1)
    assert out.shape == (5, 2, 4)
    assert_same_rotation(out[4, 1], quat.average(q[4, :, 1], w[4, :, 1]), atol=1e-13)
    shared = quat.average(q, w[0, :, 0], axis=1)
    assert_same_rotation(shared[2, 1], quat.average(q[2, :, 1], w[0, :, 0]), atol=1e-13)
    assert_same_rotation(quat.average(q, w[:1], axis=-3)[3, 0], quat.average(q[3, :, 0], w[0, :, 0]), 1e-13)
    assert quat.average(np.zeros((0, 3, 4)), axis=-2).shape == (0, 4)


def test_average_with_a_negative_weight_extrapolates():
    a, b = quat.identity(), quat.from_axis_angle([0, 1, 0], 0.3)
    out = quat.average([a, b], [1.2, -0.2])
    turn = quat.twist_angle(out, [0, 1, 0])
    assert -0.1 < turn < -0.03
    dominated = quat.average(np.eye(4), [1.2, 1.0, 0.8, -2.0])
    np.testing.assert_allclose(dominated, quat.identity(), **SAME)


def test_average_refuses_bad_weights():
    q = random_quaternions(3)
    with pytest.raises(InvalidValue, match=r"quat\.average: weights must have 3 values, one for each sample, not 2"):
        quat.average(q, [1, 2])
    with pytest.raises(
        InvalidValue, match="quat.average: weights must be finite with a sum greater than 0, not a sum of 0.0"
    ):
        quat.average(q, [1, -1, 0])
    with pytest.raises(InvalidValue, match=": weights must be finite with a sum greater than 0, not a sum of"):
        quat.average(q, [1, np.nan, 0])
    with pytest.raises(InvalidValue, match="quat.average: there must be at least one sample along axis -2, got none"):
        quat.average(np.zeros((0, 4)))
    with pytest.raises(
        InvalidValue, match="quat.average: axis must be the axis of the samples, not -1, the axis of the components"
    ):
        quat.average(q, axis=-1)
    with pytest.raises(InvalidValue, match=": axis must be from -2 to 1, not 2"):
        quat.average(q, axis=2)
    with pytest.raises(InvalidValue, match=r": weights must have a shape that broadcasts to \(3,\), not \(2, 3\)"):
        quat.average(q, np.ones((2, 3)))


@pytest.mark.parametrize("shape", [(200,), (200, 4), (200, 2, 3), (1, 4), (0, 3)])
def test_unroll_is_continuous_and_keeps_the_first_sign(shape):
    rng = np.random.default_rng(3)
    steps = 0.2 * rng.normal(size=(*shape, 3))
    q = quat.exp(np.cumsum(steps, axis=0))
    mixed = q * rng.choice([-1.0, 1.0], size=(*shape, 1))
    out = quat.unroll(mixed)
    assert_same_rotation(out, q, atol=0)
    np.testing.assert_array_equal(out[:1], mixed[:1])
    assert (quat.dot(out[1:], out[:-1]) >= 0).all()
    by_last = quat.unroll(np.moveaxis(mixed, 0, -2), axis=-2)
    np.testing.assert_array_equal(np.moveaxis(by_last, -2, 0), out)


def test_unroll_refuses_the_component_axis():
    with pytest.raises(
        InvalidValue, match="quat.unroll: axis must be the time axis, but 1 is the axis of the quaternion components"
    ):
        quat.unroll(np.ones((3, 4)), axis=1)
