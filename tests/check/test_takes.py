"""Key poses: poses that recur do not identify a time."""

from __future__ import annotations

import numpy as np

from marey.check import takes_kernels


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
