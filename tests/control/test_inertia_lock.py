"""Planted feet stay where they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.clean import point_paths
from marey.control import FootLock, LockedStream
from marey.core import Motion
from marey.core.arrays import set_readonly
from marey.errors import InvalidValue
from marey.measure import measure
from tests.control.clips import largest_bend, walks


def drifting(walk: Motion, speed: float) -> Motion:
    """Return a walk that constantly slides to its left."""
    root = walk.root_positions.copy()
    root[:, 0] += speed * np.arange(len(walk)) / walk.fps
    return replace(walk, root_positions=set_readonly(root))


def locked(walk: Motion, **options) -> tuple[Motion, FootLock]:
    lock = FootLock(walk.skeleton, walk.fps, walk.contacts.points, **options)
    frames = zip(walk.root_positions, walk.rotations, walk.contacts.mask, strict=True)
    return replace(walk, rotations=set_readonly(np.stack([lock(*frame) for frame in frames]))), lock


def test_planted_feet_are_unchanged():
    walk = walks()[2]
    result, lock = locked(walk)
    np.testing.assert_allclose(result.rotations, walk.rotations, atol=1e-6)
    np.testing.assert_allclose(lock.moved, 0.0, atol=1e-6)


def test_feet_that_slide_are_held():
    walk = drifting(walks()[1], 0.1)
    result, _ = locked(walk)
    slides = [measure(one)["slide_contact"].value for one in (walk, result)]
    assert slides[0] == pytest.approx(0.1, rel=1e-6)
    assert slides[1] < 0.01
    assert largest_bend(result) < 1.6 * largest_bend(walk)


def test_only_legs_turn_and_feet_keep_their_orientation_and_height():
    walk = drifting(walks()[1], 0.1)
    result, _ = locked(walk)
    roles = walk.skeleton.roles
    legs = [roles[f"{side}_{part}"] for side in ("left", "right") for part in ("upper_leg", "lower_leg", "foot")]
    others = np.setdiff1d(np.arange(len(walk.skeleton)), legs)
    np.testing.assert_array_equal(result.rotations[:, others], walk.rotations[:, others])
    feet = [roles["left_foot"], roles["right_foot"]]
    before, after = walk.world(), result.world()
    np.testing.assert_allclose(np.abs((before.rotations * after.rotations).sum(axis=-1))[:, feet], 1.0, atol=1e-9)
    np.testing.assert_allclose(before.positions[:, feet, 1], after.positions[:, feet, 1], atol=0.01)


def test_a_lifted_foot_returns_to_its_own_path():
    walk = drifting(walks()[1], 0.1)
    held, _ = locked(walk, half_life=0.03)
    paths = [point_paths(one, walk.contacts.points) for one in (walk, held)]
    apart = np.linalg.norm(paths[0] - paths[1], axis=-1)[:, 1]
    swinging = [
        stop for start, stop in zip(*_edges(~walk.contacts.mask[:, :2].any(axis=1)), strict=True) if stop - start > 15
    ]
    assert len(swinging) >= 3
    assert max(apart[stop - 1] for stop in swinging) < 0.005 < 0.03 < apart.max()


def _edges(mask):
    steps = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return steps[::2], steps[1::2]


def test_a_foot_that_is_pulled_too_far_is_dragged_no_further_than_it_has_to_be():
    walk = drifting(walks()[1], 1.0)
    lock = FootLock(walk.skeleton, walk.fps, walk.contacts.points, max_offset=0.1)
    moved = []
    for frame in zip(walk.root_positions, walk.rotations, walk.contacts.mask, strict=True):
        lock(*frame)
        moved.append(lock.moved)
    sizes = np.linalg.norm(moved, axis=-1)
    assert sizes.max() <= 0.1 + 1e-9
    # In every stance the foot is held for the first tenth of a meter; after that, the distance stays the same.
    assert (np.abs(sizes - 0.1) < 1e-9).mean() > 0.3


def test_the_frames_of_any_stream_can_be_held():
    walk = drifting(walks()[1], 0.1)
    frames = iter(walk[i] for i in range(len(walk)))

    commands = []

    class Film:
        fps = walk.fps

        def request(self, **command):
            commands.append(command)

        def frame(self):
            return next(frames)

    stream = LockedStream(Film())
    stream.request(direction=1.0)
    result = np.concatenate([stream.frame().rotations for _ in range(100)])
    np.testing.assert_array_equal(result, locked(walk)[0].rotations[:100])
    assert commands == [{"direction": 1.0}]
    frames = iter([replace(walk[3], contacts=None)])
    np.testing.assert_array_equal(stream.frame().rotations, walk[3].rotations)


def test_wrong_settings_are_refused():
    walk = walks()[0]
    with pytest.raises(InvalidValue, match="max_offset in meters must be a number greater than 0"):
        FootLock(walk.skeleton, walk.fps, walk.contacts.points, max_offset=0.0)
    with pytest.raises(InvalidValue, match="half_life in seconds must be a number greater than 0"):
        FootLock(walk.skeleton, walk.fps, walk.contacts.points, half_life=-1.0)
