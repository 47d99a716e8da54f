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
    soles, positions, joints = rng.normal(size=(60, 4, 3)), rng.normal(size=(60, 9, 3)), np.array([0, 3, 4, 7, 8])
    frames, tops, point = np.arange(1, 60, 3), np.tile([0.3, 0.5], (20, 1)), rng.normal(size=(20, 2))
    directions, found = np.stack([np.cos(angles), np.sin(angles)]), np.empty(20)
    balance_kernels.measure_outside(soles, positions, joints, frames, tops, point, directions, found)
    points, limits = np.concatenate([soles, positions[:, joints]], axis=1)[frames], np.repeat([0.3, 0.5], [4, 5])
    expected = [twin.distance_outside(*each, directions) for each in zip(points, [limits] * 20, point, strict=True)]
    assert found == pytest.approx(expected)
    assert (found < 0.0).any()
    assert (found > 0.0).any()


@pytest.mark.parametrize("n", [2, 3, 4, 30])
def test_center_of_mass(n: int) -> None:
    rng = np.random.default_rng(n)
    positions, joints, weights = rng.normal(size=(n, 6, 3)), np.array([0, 2, 5]), np.array([0.5, 0.2, 0.3])
    path, push, lowest = np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
    balance_kernels.average_joints(positions, joints, weights, path)
    np.testing.assert_allclose(path, twin.mean_path(positions, joints, weights), atol=1e-14)
    balance_kernels.differentiate_twice(path, push)
    np.testing.assert_allclose(push, twin.second_gradient(path), atol=1e-14)
    balance_kernels.find_lowest(positions, joints, lowest)
    assert lowest.tolist() == twin.lowest_heights(positions, joints).tolist()


@pytest.mark.parametrize("angle", [0.3, 1.9])
def test_gait_axis(angle: float) -> None:
    rng = np.random.default_rng(4)
    hips = np.cumsum(rng.normal([0.02 * np.sin(angle), 0.02 * np.cos(angle)], 0.002, (50, 2)), axis=0)
    across, facing = rng.normal([0.2, 0.0], 0.01, (50, 2)), np.empty((50, 2))
    is_aside = gait_kernels.find_gait_axis(hips, across, facing)
    expected, expected_aside = twin.gait_axis(hips, across)
    assert is_aside == expected_aside == (angle > 1.0)
    np.testing.assert_allclose(facing, expected, atol=1e-14)


@pytest.mark.parametrize("shift", [0.0, 0.4, 3.0])
def test_passes(shift: float) -> None:
    rng = np.random.default_rng(6)
    values = np.sin(np.arange(200) / 9.0) + rng.normal(shift, 0.1, 200)
    extremes, found = np.array(twin.extremes(values.tolist(), 1.0)), np.empty(200)
    count = gait_kernels.find_passes(values, extremes, 1.0, found)
    assert count >= len(extremes) - 3
    np.testing.assert_allclose(found[:count], twin.passes(values, extremes.tolist(), 1.0), atol=1e-12)


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
