"""Jumps between frames that cannot be seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.control.inertia import InertialPlayer
from marey.control.inertia_reel import make_reel, rotate_root_with_hips
from marey.core import Motion
from marey.core.arrays import set_readonly
from marey.core.kinematics import pose_world
from marey.edit._rates import offset_between, pose_at
from marey.edit.deseam import _decay_spring
from marey.errors import InvalidValue
from marey.maths import rigid2d
from marey.samples import sample
from tests.control.clips import below_a_stand, walks


def played(player: InertialPlayer, n: int) -> Motion:
    shown = [player.step() for _ in range(n)]
    return Motion(
        player.reel.skeleton, np.stack([one[0] for one in shown]), np.stack([one[1] for one in shown]), player.reel.fps
    )


def test_without_jumps_a_clip_is_played_as_it_is():
    walk = walks()[2]
    player = InertialPlayer(make_reel([walk]), place=(0.3, 1.0, -2.0))
    result, wanted = played(player, 50), walk.moved((0.3, 1.0, -2.0))[1:51]
    np.testing.assert_allclose(result.world().positions, wanted.world().positions, atol=1e-12)
    assert player.remaining == len(walk) - 51


def test_it_begins_at_the_origin_facing_ahead():
    player = InertialPlayer(make_reel(walks()), row=700)
    np.testing.assert_allclose(player.ground, 0.0, atol=1e-12)


def test_a_jump_keeps_pose_and_velocity():
    reel = make_reel(walks())
    player, stayed = InertialPlayer(reel, row=100), InertialPlayer(reel, row=100)
    before, after = played(player, 3), played(stayed, 4)
    player.jump(500)
    root, rotations, *_ = player.get_frame()
    np.testing.assert_array_equal(rotations, before.rotations[-1])
    np.testing.assert_array_equal(root, before.root_positions[-1])
    result = pose_world(reel.skeleton, *player.step()[:2])[0]
    # The first frame after the jump continues at the old velocity; the spring has acted for one frame by then.
    off = np.linalg.norm(result - after.world().positions[-1], axis=-1).max()
    jump = np.linalg.norm(reel.motion()[504].world().positions - after.world().positions[-1], axis=-1).max()
    assert off < 0.02 < 0.2 < jump


def test_offsets_are_those_of_deseam_s_spring():
    reel, life = make_reel(walks()), 0.1
    player = InertialPlayer(reel, half_life=life, row=100)
    player.step()
    now = player.get_frame()
    twin = InertialPlayer(reel, half_life=life, row=100)
    twin.step()
    coming = twin.step()
    player.jump(600)
    going = Motion(reel.skeleton, np.stack([now[0], coming[0]]), np.stack([now[1], coming[1]]), reel.fps)
    landed = reel.motion()[600:602].moved(player.place)
    offset = offset_between(pose_at(landed, 0, 0, 1), pose_at(going, 0, 0, 1))
    x, v = player.offset
    np.testing.assert_allclose(x[0], offset.root, atol=1e-12)
    np.testing.assert_allclose(v[0], offset.root_rate, atol=1e-9)
    np.testing.assert_allclose(x[1:], offset.rotations, atol=1e-9)
    np.testing.assert_allclose(v[1:], offset.rotations_rate, atol=1e-7)
    for _ in range(12):
        player.step()
    t = np.array([12 / reel.fps])
    np.testing.assert_allclose(
        player.offset[0][1:], _decay_spring(t, life, offset.rotations, offset.rotations_rate)[0], atol=1e-9
    )


def test_offsets_die_away():
    reel = make_reel(walks())
    player = InertialPlayer(reel, half_life=0.05, row=100)
    player.jump(450)
    result = played(player, 75)[-1]
    wanted = reel.motion()[525].moved(player.place)
    np.testing.assert_allclose(result.world().positions, wanted.world().positions, atol=1e-6)


def test_a_jump_may_take_another_place_and_follow_another_jump():
    reel = make_reel(walks())
    player = InertialPlayer(reel, row=100)
    place = rigid2d.compose((0.1, 0.02, 0.0), player.place)
    player.jump(110, place)
    player.jump(450)
    result = played(player, 100)
    steps = np.diff(result.world().positions, axis=0)
    assert np.linalg.norm(steps, axis=-1).max() * reel.fps < 6.0


def test_the_root_rotates_with_the_hips_and_poses_stay():
    walk = walks()[2]
    result = rotate_root_with_hips(below_a_stand(walk))
    np.testing.assert_allclose(result.world().positions[:, 1:], walk.world().positions, atol=1e-9)
    np.testing.assert_allclose(result.world().rotations[:, 0], result.world().rotations[:, 1], atol=1e-12)
    assert rotate_root_with_hips(walk) is walk


def test_clips_get_one_floor_one_rate_and_contacts():
    low = replace(walks()[0], root_positions=walks()[0].root_positions - [0.0, 0.5, 0.0], contacts=None)
    low = replace(low, source=replace(low.source, floor=-0.5))
    slow = sample("walk", seconds=3, fps=30).motion
    reel = make_reel([walks()[0], low, slow])
    n = len(low)
    np.testing.assert_allclose(reel.root[:n, 1], reel.root[n : 2 * n, 1], atol=1e-12)
    assert reel.fps == 60.0
    assert len(reel) == 2 * n + 181
    assert reel.contacts[n : 2 * n].any()


def test_bones_that_change_go_over_smoothly_too():
    long = replace(
        walks()[0], bone_offsets=set_readonly(np.tile(1.02 * walks()[0].skeleton.offsets, (len(walks()[0]), 1, 1)))
    )
    reel = make_reel([long, walks()[1]])
    player = InertialPlayer(reel, row=100)
    np.testing.assert_allclose(player.get_frame().bones, 1.02 * reel.skeleton.offsets)
    player.jump(450)
    np.testing.assert_allclose(player.get_frame().bones, 1.02 * reel.skeleton.offsets)
    bones = np.stack([player.step().bones for _ in range(120)])
    np.testing.assert_allclose(bones[-1], reel.skeleton.offsets, atol=1e-6)
    assert np.abs(np.diff(bones, axis=0)).max() < 0.001


@pytest.mark.parametrize(
    ("clips", "message"),
    [
        ([], "at least one clip, got none"),
        ([walks()[0], walks()[0][:1]], "has one frame"),
        ([walks()[0], below_a_stand(walks()[0])], "have different skeletons"),
    ],
)
def test_clips_that_cannot_be_played_are_refused(clips, message):
    with pytest.raises(InvalidValue, match=message):
        make_reel(clips)


def test_wrong_rows_and_ends_are_refused():
    reel = make_reel([walks()[0]])
    with pytest.raises(InvalidValue, match="row must be from 0 to"):
        InertialPlayer(reel, row=len(reel))
    with pytest.raises(InvalidValue, match="half_life in seconds must be a number greater than 0"):
        InertialPlayer(reel, half_life=0.0)
    player = InertialPlayer(reel, row=len(reel) - 1)
    with pytest.raises(InvalidValue, match="'right' has ended"):
        player.step()
    player.jump(3)
    player.step()
    assert player.row == 4
