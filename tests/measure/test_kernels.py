"""Compiled loops against slow, obvious twins."""

from __future__ import annotations

import numpy as np
import pytest

from marey.measure import gait_kernels, glitch_kernels
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
