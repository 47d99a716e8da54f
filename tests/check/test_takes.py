"""Key poses: when a body moves least, and which poses recur."""

from __future__ import annotations

import numpy as np

from marey.check import takes_kernels
from marey.maths import quat


def test_recurring_poses_are_those_near_one_at_another_time() -> None:
    rng = np.random.default_rng(5)
    vectors, times = rng.normal(0.0, 0.1, (80, 6)), np.sort(rng.uniform(0.0, 3.0, 80))
    sums = vectors.sum(axis=1) / 6**0.5
    found = np.empty(80, dtype=bool)
    takes_kernels.find_recurring(vectors, times, sums, np.argsort(sums), 0.15, 0.5, found)
    near = np.linalg.norm(vectors[:, None] - vectors, axis=2) < 0.15
    expected = (near & (np.abs(times[:, None] - times) > 0.5)).any(axis=1)
    assert found.tolist() == expected.tolist()
    assert 5 < found.sum() < 75


def test_turning_is_the_angle_between_frames() -> None:
    rng = np.random.default_rng(6)
    rotations = quat.exp(rng.normal(0.0, 0.5, (20, 4, 3)))
    frames, joints, groups = np.array([0, 2, 5, 19]), np.array([1, 3]), np.array([[1.0, 0.0], [0.5, 1.0]])
    found = np.empty((3, 2))
    takes_kernels.measure_turning(rotations, frames, joints, groups, found)
    angles = 0.5 * quat.angle_between(rotations[frames[:-1]][:, joints], rotations[frames[1:]][:, joints])
    np.testing.assert_allclose(found, angles @ groups, atol=1e-7)


def test_rests_are_the_vertices_of_parabolas() -> None:
    frames, at = np.arange(11) * 4, np.empty(20)
    middle = frames[:-1] + 2.0
    speeds = np.stack([(middle - 13.5) ** 2, (middle - 30.0) ** 2], axis=1)
    count = takes_kernels.find_rests(speeds, frames, 4.0, at)
    np.testing.assert_allclose(at[:count], [13.5, 30.0], atol=1e-9)


def test_poses_between_frames_are_blended() -> None:
    rng = np.random.default_rng(7)
    rotations = quat.exp(rng.normal(0.0, 1.0, (5, 3, 3)))
    rotations[1] *= -1.0  # the same rotations
    at, joints, weights = np.array([0.25, 3.0, 4.5]), np.array([0, 2]), np.array([1.0, 0.1])
    vectors, sums = np.empty((3, 8)), np.empty(3)
    takes_kernels.blend_poses(rotations, at, joints, weights, vectors, sums)
    np.testing.assert_allclose(sums, vectors.sum(axis=1), atol=1e-12)
    poses = vectors.reshape(3, 2, 4) / weights[:, None]
    np.testing.assert_allclose(np.linalg.norm(poses, axis=2), 1.0)
    assert (np.take_along_axis(poses, np.abs(poses).argmax(axis=2)[..., None], axis=2) > 0.0).all()
    assert quat.angle_between(poses[1], rotations[3, joints]).max() < 1e-7
    near, far = (quat.angle_between(poses[0], rotations[k, joints]) for k in (0, 1))
    np.testing.assert_allclose(near + far, quat.angle_between(rotations[0, joints], rotations[1, joints]), atol=1e-6)
    assert (near < far).all()


def test_offsets_with_the_most_others_in_time() -> None:
    rng = np.random.default_rng(8)
    offsets, edges = rng.uniform(0.0, 1.0, 30), np.array([0, 1, 12, 30])
    best, counts = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64)
    takes_kernels.count_in_time(offsets, edges, 0.1, best, counts)
    for group, (a, b) in enumerate([(0, 1), (1, 12), (12, 30)]):
        near = (np.abs(offsets[a:b, None] - offsets[a:b]) < 0.1).sum(axis=1)
        assert (best[group], counts[group]) == (a + near.argmax(), near.max())
