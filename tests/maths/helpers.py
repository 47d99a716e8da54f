"""Helpers that the tests of rotations share."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from marey.maths import quat
from tests.strategies import batch_shapes

SAME = {"rtol": 0.0, "atol": 1e-14}
N = np.newaxis


def batches(*strategies):
    """Draw a tuple from strategies that share one batch shape."""
    return batch_shapes().flatmap(lambda shape: st.tuples(*(strategy(shape) for strategy in strategies)))


def as_scipy(q):
    return Rotation.from_quat(np.roll(np.asarray(q).reshape(-1, 4), -1, axis=-1))


def from_scipy(rotation, shape):
    return np.roll(rotation.as_quat(), 1, axis=-1).reshape(shape)


def assert_same_rotation(a, b, atol=1e-14):
    assert a.shape == b.shape
    error = np.minimum(np.abs(a - b).max(axis=-1, initial=0), np.abs(a + b).max(axis=-1, initial=0))
    assert error.max(initial=0) <= atol


def assert_unit(q, atol=1e-14):
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, rtol=0, atol=atol)


def random_quaternions(*shape, seed=0):
    return quat.normalize(np.random.default_rng(seed).normal(size=(*shape, 4)))
