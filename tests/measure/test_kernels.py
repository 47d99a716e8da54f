"""Compiled loops against slow, obvious twins."""

from __future__ import annotations

import numpy as np
import pytest

from marey.maths import quat
from marey.measure import balance_kernels, gait_kernels, glitch_kernels
from tests.twins import glitches as twin


@pytest.mark.parametrize("n", [3, 4, 60])
def test_joints_that_jump_and_flip(n: int) -> None:
    rng = np.random.default_rng(n)
    joints = np.array([0, 2, 3])
    for size in (0.01, 0.1, 1.0):
        positions = np.cumsum(rng.normal(0.0, size, (n, 5, 3)), axis=0)
        rotations = rng.normal(0.0, 1.0, (n, 5, 4)) * size + [1.0, 0.0, 0.0, 0.0]
        rotations /= np.linalg.norm(rotations, axis=2, keepdims=True)
        found = np.zeros(3, dtype=bool)
        glitch_kernels.find_moving_joints(positions, joints, 0.2, found)
        assert found.tolist() == twin.moving_joints(positions, joints, 0.2).tolist()
        glitch_kernels.find_flipping_joints(rotations, joints, 0.8, found)
        assert found.tolist() == twin.flipping_joints(rotations, joints, 0.8).tolist()


def test_twist() -> None:
    rng, axis = np.random.default_rng(1), np.array([0.0, 0.6, -0.8])
    for size in (0.01, 0.3):
        angles, joint = np.cumsum(rng.normal(0.0, size, 50)), 1
        rotations = np.zeros((50, 2, 4))
        rotations[:, 0, 0] = 1.0
        rotations[:, joint] = quat.mul(quat.exp(angles[:, None] * axis), quat.exp(rng.normal(0.0, size, (50, 3))))
        rotations[::3] *= -1.0
        found = glitch_kernels.measure_twist(rotations, joint, axis)
        assert found == pytest.approx(twin.twist(rotations, joint, axis), abs=1e-9)
    assert glitch_kernels.measure_twist(rotations, 0, axis) == 0.0


def test_distance_outside() -> None:
    rng, angles = np.random.default_rng(2), np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    points, tops, point = rng.normal(size=(20, 9, 3)), np.full((20, 9), 0.3), rng.normal(size=(20, 2))
    directions, found = np.stack([np.cos(angles), np.sin(angles)]), np.empty(20)
    balance_kernels.measure_outside(points, tops, point, directions, found)
    expected = [twin.distance_outside(*each, directions) for each in zip(points, tops, point, strict=True)]
    assert found == pytest.approx(expected)
    assert (found < 0.0).any()
    assert (found > 0.0).any()


@pytest.mark.parametrize("n", [0, 1, 5, 200])
def test_extremes(n: int) -> None:
    values = np.cumsum(np.random.default_rng(n).normal(size=n))
    frames = np.empty(n + 1, dtype=np.int64)
    count = gait_kernels.find_extremes(values, 1.5, frames)
    assert frames[:count].tolist() == twin.extremes(values.tolist(), 1.5)


def test_strides() -> None:
    rng = np.random.default_rng(3)
    soles = np.cumsum(rng.normal(0.0, 0.02, (90, 4, 3)), axis=0)
    hips = np.cumsum(rng.normal(0.02, 0.02, (90, 3)), axis=0)
    spans = np.array([(0, 5), (3, 40), (60, 89)])
    out = np.empty((3, 4))
    gait_kernels.measure_strides(spans, soles, hips, 0.4, 0.05, out)
    for (a, b), row in zip(spans.tolist(), out, strict=True):
        np.testing.assert_allclose(row, twin.stride(soles, hips, a, b, 0.4, 0.05), atol=1e-12)
