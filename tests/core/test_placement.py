"""Placement: the hips become joint 0, and poses in the world stay the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.clean import point_paths
from marey.core import ContactPoint, Contacts
from marey.core.placement import find_facing, find_left_axis, make_hips_root
from marey.samples import sample
from tests.control.clips import below_a_stand


def test_the_hips_become_the_root() -> None:
    walk = sample("walk", seconds=1.0).motion
    assert make_hips_root(walk) is walk
    carried = below_a_stand(walk)
    points = (
        ContactPoint("stand", 0, np.zeros(3)),
        ContactPoint("toe", carried.skeleton.roles["left_ball"], np.ones(3)),
    )
    mask = np.arange(2 * len(walk)).reshape(-1, 2) % 3 == 0
    carried = replace(carried, contacts=Contacts(points, mask))
    freed = make_hips_root(carried)
    assert freed.skeleton.names == walk.skeleton.names
    assert dict(freed.skeleton.roles.items()) == dict(walk.skeleton.roles.items())
    np.testing.assert_allclose(freed.world().positions, carried.world().positions[:, 1:], atol=1e-12)
    assert freed.contacts is not None
    assert freed.contacts.names == ("toe",)
    np.testing.assert_array_equal(freed.contacts.mask[:, 0], mask[:, 1])
    np.testing.assert_allclose(
        point_paths(freed, freed.contacts.points), point_paths(carried, points)[:, 1:], atol=1e-12
    )


def test_left_is_the_mean_direction_of_hips_and_shoulders() -> None:
    walk = sample("walk", seconds=1.0).motion
    roles, positions = walk.skeleton.roles, walk.world().positions.copy()
    sides = [(roles[f"left_{part}"], roles[f"right_{part}"]) for part in ("upper_leg", "upper_arm")]
    for left, right in sides:
        positions[0, left], positions[0, right] = [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]
    across = [(positions[:, left] - positions[:, right]) * [1.0, 0.0, 1.0] for left, right in sides]
    mean = sum(each[1:] / np.linalg.norm(each[1:], axis=1, keepdims=True) for each in across)
    found = find_left_axis(walk.skeleton, positions)
    np.testing.assert_allclose(found[1:], mean / np.linalg.norm(mean, axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_array_equal(found[0], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(find_left_axis(walk.skeleton, positions[3]), found[3])


def test_facing_is_continuous_and_follows_the_left_side() -> None:
    walk = sample("walk", seconds=8.0, turn_rate=1.2).motion
    positions = walk.world().positions
    facing, left = find_facing(walk.skeleton, positions), find_left_axis(walk.skeleton, positions)
    np.testing.assert_allclose(facing, np.unwrap(np.arctan2(-left[:, 2], left[:, 0])), atol=1e-12)
    assert facing[-1] - facing[0] > 6.5
    fallen = positions.copy()
    fallen[50:60, :, 1] *= -1.0
    kept = find_facing(walk.skeleton, fallen)
    np.testing.assert_allclose(kept[:40], facing[:40], atol=1e-12)
    assert np.abs(np.diff(kept)).max() < 0.5
