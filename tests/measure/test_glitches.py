"""Broken frames, flips and jumps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.edit import resample
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
