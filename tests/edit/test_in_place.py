"""Motions in place: only the travel is removed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.clean import move_to_floor
from marey.core.placement import find_facing, find_placement
from marey.edit import cycle, make_in_place
from marey.edit.describe import describe_edit
from marey.edit.in_place import is_in_place
from tests.edit.helpers import keeps_bones, last_step, same, same_notes, walk
from tests.edit.test_traveling_hips import body_of, carried


def find_pose(motion):
    """Return joints relative to the hips and their facing direction (F, J, 3), and heights of the hips (F,)."""
    positions, hips = motion.world().positions, motion.skeleton.roles["hips"]
    yaw = find_facing(motion.skeleton, positions)[:, None]
    x, y, z = np.moveaxis(positions - positions[:, hips, None], -1, 0)
    local = np.stack([np.cos(yaw) * x - np.sin(yaw) * z, y, np.sin(yaw) * x + np.cos(yaw) * z], axis=-1)
    return local, positions[:, hips, 1]


@pytest.mark.parametrize("remove", ["start", "travel", "turns"])
def test_poses_and_heights_stay(remove):
    motion = walk().moved((0.7, 3.0, -2.0))
    result = make_in_place(motion, remove=remove)
    for now, before in zip(find_pose(result), find_pose(motion), strict=True):
        np.testing.assert_allclose(now, before, atol=1e-9)
    assert keeps_bones(result)
    assert same_notes(result, motion)


def test_the_start_is_the_origin_and_the_rest_follows():
    motion = walk()
    result = make_in_place(motion.moved((0.7, 3.0, -2.0)), remove="start")
    np.testing.assert_allclose(find_placement(result, 0), 0.0, atol=1e-9)
    assert same(result, make_in_place(motion, remove="start"), 1e-9)
    there, here = (np.linalg.norm(np.diff(each.travel, axis=0), axis=1) for each in (motion, result))
    np.testing.assert_allclose(here, there, atol=1e-9)
    assert not is_in_place(result)


@pytest.mark.parametrize("remove", ["start", "travel", "turns"])
@pytest.mark.parametrize("is_known", [True, False])
def test_the_floor_is_at_height_0(remove, is_known):
    motion = walk()
    raised = move_to_floor(motion, 0.045)
    raised = raised if is_known else replace(raised, source=replace(raised.source, floor=None))
    result = make_in_place(raised, remove=remove)
    assert result.source.floor == 0.0
    np.testing.assert_allclose(find_pose(result)[1], find_pose(motion)[1], atol=1e-9 if is_known else 0.005)
    unknown = make_in_place(replace(raised[:3], source=replace(raised.source, floor=None)), remove=remove)
    np.testing.assert_allclose(find_pose(unknown)[1], find_pose(raised)[1][:3], atol=1e-9)


def test_hips_stay_over_the_origin_and_turns_remain_unless_they_are_removed():
    motion = walk(turn_rate=0.6)
    kept, straight = make_in_place(motion), make_in_place(motion, remove="turns")
    for result in (kept, straight):
        np.testing.assert_allclose(result.travel[:, [0, 2]], 0.0, atol=1e-9)
        assert is_in_place(result)
    facing, original = (find_facing(each.skeleton, each.world().positions) for each in (kept, motion))
    np.testing.assert_allclose(facing, original - original[0], atol=1e-9)
    assert np.abs(find_facing(straight.skeleton, straight.world().positions)).max() < np.radians(12.0)
    assert last_step(kept)["turn"] == pytest.approx(1.8, abs=0.1)


def test_smoothing_keeps_the_sway_of_the_hips():
    sway = make_in_place(walk(), smooth=0.4).travel[:, [0, 2]]
    assert 0.005 < np.abs(sway).max() < 0.1


def test_a_loop_stays_a_loop():
    loop = cycle(walk(turn_rate=0.0))
    pair = cycle(walk(turn_rate=0.0), repeats=2)
    once, twice = (make_in_place(each).world().positions for each in (loop, pair))
    np.testing.assert_allclose(twice[len(loop) :], once, atol=0.01)


def test_the_hips_travel_not_joint_0():
    result = make_in_place(carried(walk()))
    assert result.bone_offsets is None
    np.testing.assert_allclose(body_of(result), body_of(make_in_place(walk())), atol=1e-9)


def test_the_removed_travel_is_described():
    motion = walk()
    step = last_step(make_in_place(motion, remove="turns"))
    assert step["distance"] == pytest.approx(np.linalg.norm(np.diff(motion.travel[:, [0, 2]], axis=0), axis=1).sum())
    (line,) = describe_edit(make_in_place(motion, remove="turns"))
    assert line.startswith("removed a travel of ")
    assert line.endswith(" to the left")
    (line,) = describe_edit(make_in_place(motion, remove="start"))
    assert line.startswith("starts over the origin, facing +Z; travels ")


def test_feet_that_slide_on_purpose_are_not_reported():
    from marey.check import check

    assert not {"foot_slide", "in_place"} & set(check(make_in_place(walk())).kinds)
