"""Broken frames, flips and jumps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.edit import repair, resample
from marey.maths import quat
from marey.measure import find_glitches, find_loose_joints

from ..check.helpers import add_noise, clip, rotate_joint


def spans(motion):
    return [(glitch.kind, glitch.start, glitch.stop) for glitch in find_glitches(motion)]


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("name", ["walk", "punch_grid", "kick_grid", "leap"])
def test_fast_actions_have_none(name, fps):
    assert spans(resample(clip(name), fps)) == []


@pytest.mark.parametrize(("start", "stop"), [(0, 4), (100, 101), (100, 106), (355, 361)])
def test_broken_frames_at_the_ends_and_inside(start, stop):
    walk = rotate_joint(clip("walk"), "left_upper_arm", 100, start, stop)
    assert spans(walk) == [("broken", start, stop)]
    (glitch,) = find_glitches(walk)
    assert walk.skeleton.roles["left_hand"] in glitch.joints
    assert walk.skeleton.roles["right_hand"] not in glitch.joints


def test_a_long_flip_and_a_cut():
    assert spans(rotate_joint(clip("walk"), "left_upper_arm", 150, 100, 160)) == [("flip", 100, 160)]
    assert spans(rotate_joint(clip("walk"), "left_upper_arm", 150, 100, 361)) == [("jump", 99, 101)]


def test_a_displaced_root():
    walk = clip("walk")
    root = walk.root_positions.copy()
    root[50:53] += (0.0, 0.0, 0.5)
    assert spans(replace(walk, root_positions=root)) == [("broken", 50, 53)]


def test_noise_is_not_a_glitch():
    for seed in range(3):
        assert spans(add_noise(clip("walk"), 0.01, seed)) == []
        assert spans(add_noise(resample(clip("walk"), 120), 0.01, seed)) == []


def test_a_larger_body_is_not_a_glitch():
    walk = clip("walk")
    skeleton = replace(walk.skeleton, offsets=20.0 * walk.skeleton.offsets)
    assert spans(replace(walk, skeleton=skeleton, root_positions=20.0 * walk.root_positions)) == []


def test_toes_are_loose():
    walk = rotate_joint(clip("walk"), "left_ball", 120, 100, 101)
    assert spans(walk) == []
    loose = find_loose_joints(walk)
    assert loose.joints == (walk.skeleton.roles["left_ball"],)
    assert loose.frames == (100, 101)


def test_a_clip_of_three_frames_has_none():
    assert find_glitches(clip("walk")[:3]) == ()
    assert np.isfinite(find_glitches(rotate_joint(clip("walk")[:9], "left_upper_arm", 100, 0, 1))[0].speed)


@pytest.mark.parametrize(("angle", "kinds"), [(160.0, ["spin"]), (-160.0, ["spin"]), (110.0, [])])
def test_a_leg_that_spins_about_its_axis(angle, kinds):
    """Faster and farther than a hip can rotate; the foot stays where it is. A simultaneous jump of the leg is part of
    it."""
    walk = clip("walk")
    thigh, foot = (walk.skeleton.roles[f"left_{part}"] for part in ("upper_leg", "foot"))
    axis = walk.skeleton.offsets[walk.skeleton.roles["left_lower_leg"]]
    frames = np.arange(len(walk))
    angles = np.radians(angle) * np.interp(frames, [79, 89, 94, 104], [0.0, 1.0, 1.0, 0.0])
    turns = quat.exp(angles[:, None] * axis / np.linalg.norm(axis))
    rotations = walk.rotations.copy()
    rotations[:, thigh] = quat.mul(rotations[:, thigh], turns)
    spun = replace(walk, rotations=rotations)
    found = find_glitches(spun)
    assert [glitch.kind for glitch in found] == kinds
    if not kinds:
        return
    (spin,) = found
    assert spin.joints[0] == thigh
    assert spin.angle == pytest.approx(np.radians(160.0), abs=0.2)
    assert abs(spin.start - 80) <= 3
    assert abs(spin.stop - 104) <= 3
    repaired = repair(spun)
    assert find_glitches(repaired) == ()
    assert np.abs(repaired.world().positions - walk.world().positions)[:, foot].max() < 0.15
    assert (repaired.rotations[:60] == walk.rotations[:60]).all()
