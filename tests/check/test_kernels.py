"""Compiled loops of the checks against NumPy."""

from __future__ import annotations

import numpy as np

from marey.check import body_kernels, feet_kernels
from marey.core.arrays import find_runs
from marey.core.placement import find_left_axis, pair_joints
from marey.samples import sample


def test_joints_that_shake() -> None:
    rng, starts = np.random.default_rng(1), np.array([0, 40])
    positions = np.cumsum(rng.normal(0.0, 0.001, (90, 6, 3)), axis=0)
    positions[:, 2] += rng.normal(0.0, 0.01, (90, 3))
    positions[:40, 4] += rng.normal(0.0, 0.01, (40, 3))  # in half of the frames only
    joints, found = np.array([0, 2, 4, 5]), np.empty(4, dtype=bool)
    windows = [positions[start : start + 50, joints] for start in starts]
    lengths = np.concatenate([np.square(np.diff(each, n=4, axis=0)).sum(axis=2) for each in windows])
    middle = np.sort(lengths, axis=0)[len(lengths) // 2]
    for limit in (1e-4, 1e-2, *(0.999 * middle), *(1.001 * middle)):
        body_kernels.find_shaky_joints(positions, joints, starts, 50, float(limit), found)
        assert found.tolist() == (middle > limit).tolist()


def test_slides_of_planted_feet() -> None:
    rng = np.random.default_rng(2)
    mask, paths = rng.random((50, 3)) < 0.6, np.cumsum(rng.normal(0.0, 0.01, (50, 3, 3)), axis=0)
    mask[:5, 0] = mask[-5:, 1] = True
    slides = np.empty((3 * 26, 4))
    count = feet_kernels.measure_slides(mask, paths, slides)
    expected = [
        (np.linalg.norm(np.ptp(paths[a:b, k][:, [0, 2]], axis=0)), a, b, k)
        for k in range(3)
        for a, b in find_runs(mask[:, k])
    ]
    np.testing.assert_allclose(slides[:count], expected, atol=1e-14)


def test_directions_of_feet() -> None:
    motion = sample("walk", seconds=2.0, turn_rate=0.5).motion
    skeleton, positions = motion.skeleton, motion.world().positions.copy()
    positions[10:20, skeleton.roles["hips"], 1] = -1.0  # not upright
    hips = skeleton.roles["hips"]
    feet = np.array([[skeleton.roles[f"{side}_{part}"] for part in ("foot", "ball")] for side in ("left", "right")])
    found = np.empty((len(positions), 2))
    count = feet_kernels.measure_directions(positions, 3, hips, feet, pair_joints(skeleton), 0.7, found)
    kept = np.array([f for f in range(0, len(positions), 3) if not 10 <= f < 20])
    left = find_left_axis(skeleton, positions[kept])
    ahead = np.cross(left, [0.0, 1.0, 0.0])
    ways = positions[kept][:, feet[:, 1]] - positions[kept][:, feet[:, 0]]
    ways[..., 1] = 0.0
    expected = np.einsum("fsk,fk->fs", ways, ahead) / np.linalg.norm(ways, axis=2)
    np.testing.assert_allclose(found[:count], expected, atol=1e-12)
    assert expected.mean() > 0.5  # feet that leave the floor point down
