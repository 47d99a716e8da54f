"""The correlation study finds what samples were generated with."""

from dataclasses import replace

import numpy as np
import pytest

from marey.errors import NotBlendable
from marey.io import load_motion
from marey.layer import find_correlations
from marey.layer.gait import find_gait
from marey.maths import quat
from marey.plot.layer import draw_correlation, draw_neck
from marey.samples import sample


@pytest.fixture(scope="module")
def found():
    return find_correlations(sample("walk", rng=1).motion)


def names(found, relation, kind):
    return {f"{trend.joint} {trend.axis}" for trend in found.select(relation, kind)}


def test_arms_swing_against_the_legs_of_their_side(found):
    skeleton = found.motion.skeleton
    left, right = (skeleton.names[skeleton.roles[f"{side}_upper_arm"]] for side in ("left", "right"))
    for kind in ("global", "local"):
        assert f"{left} pitch" in names(found, "counter-phase", kind)
        assert f"{right} pitch" in names(found, "in phase", kind)


def test_the_spine_twists_between_hips_and_shoulders_and_the_head_against_it(found):
    skeleton = found.motion.skeleton
    spine = {f"{skeleton.names[joint]} twist" for joint in skeleton.roles.spine}
    assert spine <= names(found, "counter-phase", "local")
    assert f"{skeleton.names[skeleton.roles['head']]} twist" in names(found, "in phase", "local")


def test_the_trunk_bobs_with_each_step(found):
    skeleton = found.motion.skeleton
    assert f"{skeleton.names[skeleton.roles['chest']]} pitch" in names(found, "with each step", "global")


def test_hips_are_in_counter_phase_with_one_another(found):
    left, right = found.hips
    assert left.relation == "in phase"
    assert right.relation == "counter-phase"
    assert 0.2 < left.swing < 0.9
    assert left.curve.shape == (len(found.motion),)


def test_trends_follow_their_curves_and_are_sorted_by_swing(found):
    listed = found.select("counter-phase", "global")
    assert [trend.swing for trend in listed] == sorted((trend.swing for trend in listed), reverse=True)
    for trend in listed:
        assert np.std(trend.values - trend.curve) < 0.35 * np.std(trend.values)


def test_held_arms_do_not_swing():
    carried = find_correlations(sample("carry_box").motion)
    skeleton = carried.motion.skeleton
    arm = f"{skeleton.names[skeleton.roles['left_upper_arm']]} pitch"
    assert arm not in names(carried, "in phase", "local") | names(carried, "counter-phase", "local")


def test_slow_changes_of_the_trunk_do_not_hide_what_moves_with_the_steps(found):
    """In long takes, the trunk leans and turns by more than it moves in time with the legs."""
    motion = found.motion
    chest = motion.skeleton.roles["chest"]
    lean = 0.3 * np.sin(np.linspace(0.0, 3.0 * np.pi, len(motion)))[:, None] * np.array([1.0, 0.7, 0.7])
    rotations = motion.rotations.copy()
    rotations[:, chest] = quat.mul(rotations[:, chest], quat.exp(lean))
    leaning = find_correlations(replace(motion, rotations=rotations))
    for relation in ("in phase", "counter-phase"):
        before, after = (names(each, relation, "local") for each in (found, leaning))
        assert len(before & after) >= 0.9 * len(before)


def test_a_body_that_sways_from_leg_to_leg_moves_with_each_stride(found):
    motion = found.motion
    gait = find_gait(motion, "it")
    phase = np.nan_to_num(gait.run_phase()[0])
    sway = 0.2 * np.sin(2.0 * np.pi * (phase + 0.25 - _swing_phase(found, phase)))
    rotations = motion.rotations.copy()
    head = motion.skeleton.roles["head"]
    rotations[:, head] = quat.mul(quat.exp(sway[:, None] * np.array([0.0, 0.0, 1.0])), rotations[:, head])
    got = find_correlations(replace(motion, rotations=rotations))
    assert f"{motion.skeleton.names[head]} roll" in names(got, "with each stride", "local")


def _swing_phase(found, phase):
    """Return the phase of the wave relative to the swing of the hips, in cycles."""
    swing = found.hips[0].curve - found.hips[1].curve
    return float(np.angle(np.sum(swing * np.exp(2j * np.pi * phase))) / (2.0 * np.pi)) + 0.25


def test_carrying_is_correlated_in_a_long_take_with_a_turn(data_folder):
    """Heck 4.1: correlations are strongest where the upper body is constrained."""
    motion = load_motion(data_folder / "cmu" / "111" / "111_36.bvh")
    got = find_correlations(motion)
    related = [trend for trend in got.trends if trend.kind == "global" and trend.relation]
    assert len(related) >= 0.6 * sum(trend.kind == "global" for trend in got.trends)
    for joint in motion.skeleton.roles.spine:
        assert f"{motion.skeleton.names[joint]} roll" in names(got, "with each stride", "global")


def test_a_clip_without_steps_is_refused():
    with pytest.raises(NotBlendable, match="must have at least 2 consecutive steps, but"):
        find_correlations(sample("stand").motion)


def test_plots_show_curves_and_the_neck(found):
    figure = draw_correlation(found)
    labels = [text for axes in figure.axes for text in axes.get_legend_handles_labels()[1]]
    assert "left hip" in labels
    assert any("counter-phase" in label for label in labels)
    panels = draw_neck({"one": found.motion, "two": found.motion}).axes
    assert len(panels) == 3
    assert all(len(panel.lines) == 2 for panel in panels)
