"""Visibility of edits: each of the three parts at known sizes."""

from dataclasses import replace

import numpy as np
import pytest

from marey.core import learn_joint_limits
from marey.edit import resample
from marey.errors import InvalidValue
from marey.measure import EDIT_MEASURES, LIMIT_MEASURES, MEASURES, measure
from marey.measure.subject import Subject
from marey.measure.visibility import measure_visibility
from marey.samples import straight_walk

WALK = straight_walk(seconds=2.0)


def visibility(motion, source=WALK):
    return measure_visibility(Subject(motion, source=Subject(source)))


def test_an_unchanged_motion_has_no_visible_change():
    report = measure(WALK, against=WALK)
    assert list(report) == [one.name for one in (*MEASURES, *EDIT_MEASURES)]
    assert report["edit_visible"].value == 0.0
    assert report["edit_visibility_max"].value == pytest.approx(0.0, abs=1e-9)


def test_moving_and_turning_the_whole_motion_is_no_change():
    moved = WALK.moved((0.7, 3.0, -2.0))
    assert max(part.max() for part in visibility(moved).values()) < 1e-6


@pytest.mark.parametrize("percent", [1.5, 3.0, 6.0])
def test_stretch_counts_in_units_of_three_percent(percent):
    bones = np.repeat(WALK.skeleton.offsets[None], len(WALK), axis=0)
    bones[40, WALK.skeleton.roles["left_foot"]] *= 1.0 + percent / 100.0
    stretch = visibility(replace(WALK, bone_offsets=bones))["stretch"]
    assert stretch[40] == pytest.approx(percent / 3.0)
    assert np.delete(stretch, 40).max() < 1e-9


def test_slide_counts_what_the_source_does_not_slide():
    slid = replace(WALK, root_positions=WALK.root_positions * np.array([1.0, 1.0, 1.2]))
    parts = visibility(slid)
    assert parts["slide"].max() > 1.0
    assert visibility(WALK, slid)["slide"].max() < 0.1  # less slide than in the source is not visible as slide


def test_gained_speed_is_easier_to_see_than_lost_speed():
    path = WALK.root_positions
    faster, slower = (replace(WALK, root_positions=path * np.array([1.0, 1.0, f])) for f in (1.1, 0.9))
    gained, lost = (visibility(motion)["velocity"] for motion in (faster, slower))
    np.testing.assert_allclose(gained.mean() / lost.mean(), 0.2 / 0.15, rtol=0.01)
    time = np.arange(len(WALK)) / WALK.fps
    risen = replace(WALK, root_positions=path + np.stack([0 * time, 0.5 * time, 0 * time], axis=1))
    np.testing.assert_allclose(visibility(risen)["velocity"], 2.0, rtol=1e-6)


def test_other_frames_than_the_source_are_not_compared():
    metric = measure(resample(WALK, 30.0), against=WALK)["edit_visible"]
    assert metric.value is None
    assert "the motion must have the frames of its source" in metric.note


def test_violated_limits_are_reported_with_their_joints():
    limits = learn_joint_limits([WALK], margin=0.0, outliers=0.1)
    report = measure(WALK, joint_limits=limits)
    assert list(report) == [one.name for one in (*MEASURES, *LIMIT_MEASURES)]
    names, excess = limits.find_excess(WALK)
    assert report["limit_excess_max"].value == excess.max()
    assert names[int(excess.max(axis=0).argmax())] in report["limit_excess_max"].note
    assert report["limit_frames"].value == (excess > np.radians(1)).any(axis=1).mean()
    with pytest.raises(InvalidValue, match="must be JointLimits or the name of a file"):
        measure(WALK, joint_limits=3)
