"""Cartwheels: hands and feet in turn, upside down in the middle, and in the requested direction."""

from __future__ import annotations

import numpy as np
import pytest

from marey.core.placement import find_facing
from marey.maths import quat
from marey.samples import sample


@pytest.mark.parametrize("angle", [-160.0, -60.0, 15.0])
def test_it_turns_by_the_angle_and_travels_straight_ahead(angle: float) -> None:
    motion = sample("cartwheel", angle=np.radians(angle)).motion
    yaw = find_facing(motion.skeleton, motion.world().positions)
    assert np.degrees(yaw[-1] - yaw[0]) == pytest.approx(angle, abs=0.5)
    x, _, z = motion.travel[-1] - motion.travel[0]
    assert abs(x) < 0.02
    assert 2.0 < z < 3.0


def test_hands_and_feet_touch_the_floor_in_turn_and_stay() -> None:
    result = sample("cartwheel")
    motion = result.motion
    world, contacts = motion.world(), motion.contacts
    assert contacts.names[4:] == ("left_palm", "right_palm")
    for point, mask in zip(contacts.points, contacts.mask.T, strict=True):
        at = world.positions[:, point.joint] + quat.rotate(world.rotations[:, point.joint], point.offset)
        held = mask[1:] & mask[:-1]
        assert np.abs(np.diff(at, axis=0)[held]).max() < 1e-9, point.name
        assert at[mask, 1].max() < 0.06, point.name
    left, right = (np.flatnonzero(mask) for mask in contacts.mask.T[4:])
    assert left[0] < right[0] < left[-1] < right[-1]
    upside_down = world.positions[:, motion.skeleton.roles["head"], 1] < motion.travel[:, 1]
    assert upside_down[right[0] : left[-1]].all()
    assert not contacts.mask[right[0] : left[-1], :4].any(), "a foot is down during the handstand"
    for target in result.targets:
        frame = round(target.seconds * motion.fps)
        at = world.positions[frame, motion.skeleton.names.index(target.joint)]
        np.testing.assert_allclose(at, target.position, atol=0.02)


def test_facing_does_not_flip_upside_down() -> None:
    motion = sample("cartwheel", angle=0.0).motion
    yaw = np.degrees(find_facing(motion.skeleton, motion.world().positions))
    assert np.abs(np.diff(yaw)).max() < 10.0
    assert yaw.min() > -100.0
    assert yaw.max() < 10.0
