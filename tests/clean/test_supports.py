"""Feet above the floor: on steps and platforms, or in the air."""

from dataclasses import replace

import numpy as np
import pytest

from marey.clean import detect_contacts, find_contacts
from tests.clean.puppets import Foot, puppet, raised, shaken, standing

HIPS = (0.0, 0.95, 0.0)
STEP = 0.2
# The left foot goes up a step at 1 s, the right follows at 2.5 s, the left comes down again in front at 4 s.
UP_LEFT = Foot(
    [(0, 0.1, 0, 0, 0), (1, 0.1, 0, 0, 0), (1.3, 0.1, 0.3, 0.1, 0), (1.6, 0.1, STEP, 0.3, 0), (4.0, 0.1, STEP, 0.3, 0),
     (4.3, 0.1, 0.3, 0.5, 0), (4.6, 0.1, 0, 0.8, 0), (6, 0.1, 0, 0.8, 0)]
)  # fmt: skip
UP_RIGHT = Foot(
    [(0, -0.1, 0, 0, 0), (2.5, -0.1, 0, 0, 0), (2.8, -0.1, 0.3, 0.1, 0), (3.1, -0.1, STEP, 0.3, 0),
     (6, -0.1, STEP, 0.3, 0)]
)  # fmt: skip
OVER_STEP = [(0, 0, 0.95, 0), (1.6, 0, 0.95, 0.1), (2.5, 0, 1.1, 0.3), (4, 0, 1.15, 0.3), (6, 0, 1.0, 0.6)]
STEPPING = puppet(UP_LEFT, UP_RIGHT, OVER_STEP, 6.0)


def seconds(motion, name):
    return [(a / motion.fps, b / motion.fps) for a, b in detect_contacts(motion).contacts.intervals(name)]


def assert_spans(spans, expected):
    assert len(spans) == len(expected), spans
    np.testing.assert_allclose(spans, expected, atol=0.051)


def test_feet_are_planted_on_a_step():
    assert_spans(seconds(STEPPING, "left_ball"), [(0, 1.0), (1.6, 4.0), (4.6, 6.0)])
    assert_spans(seconds(STEPPING, "right_ball"), [(0, 2.5), (3.1, 6.0)])
    assert_spans(seconds(STEPPING, "left_heel"), [(0, 1.0), (1.6, 4.0), (4.6, 6.0)])
    assert find_contacts(STEPPING).raised == pytest.approx((STEP,), abs=1e-6)


def test_they_do_so_wherever_the_floor_is_and_in_noise():
    for motion in (raised(STEPPING, -7.0), shaken(STEPPING, 0.001)):
        assert_spans(seconds(motion, "left_ball"), [(0, 1.0), (1.6, 4.0), (4.6, 6.0)])


def test_the_floor_can_be_the_only_support():
    contacts = detect_contacts(STEPPING, planes=()).contacts
    assert_spans([(a / 60, b / 60) for a, b in contacts.intervals("left_ball")], [(0, 1.0), (4.6, 6.0)])


def test_a_plane_given_counts_whether_it_bears_the_body_or_not():
    held = Foot([(0, 0.1, 0, 0, 0), (1, 0.1, 0, 0, 0), (1.5, 0.1, 0.4, 0.2, 0), (4, 0.1, 0.4, 0.2, 0)])
    motion = puppet(held, standing(-0.1), HIPS, 4.0)
    contacts = detect_contacts(motion, planes=[0.4]).contacts
    assert_spans([(a / 60, b / 60) for a, b in contacts.intervals("left_ball")], [(0, 1.0), (1.5, 4.0)])


def test_a_plane_may_slope():
    """y = 0.1 + 0.5 z: the foot rests on it at z = 0.4."""
    held = Foot([(0, 0.1, 0, 0, 0), (1, 0.1, 0, 0, 0), (1.5, 0.1, 0.3, 0.4, 0), (4, 0.1, 0.3, 0.4, 0)])
    motion = puppet(held, standing(-0.1), HIPS, 4.0)
    contacts = detect_contacts(motion, planes=[(0.1, 0.0, 0.5)]).contacts
    assert_spans([(a / 60, b / 60) for a, b in contacts.intervals("left_ball")], [(0, 1.0), (1.5, 4.0)])
    assert detect_contacts(motion, planes=[(0.1, 0.5, 0.0)]).contacts.mask[120:, 1].sum() == 0


@pytest.mark.parametrize("height", [0.06, 0.15, 0.5])
def test_standing_on_one_leg_the_other_is_in_the_air(height):
    held = Foot([(0, 0.1, 0, 0, 0), (1, 0.1, 0, 0, 0), (1.5, 0.1, height, 0.1, 0), (3.5, 0.1, height, 0.1, 0),
                 (4, 0.1, 0, 0, 0), (5, 0.1, 0, 0, 0)])  # fmt: skip
    motion = puppet(held, standing(-0.1), HIPS, 5.0)
    assert_spans(seconds(motion, "left_ball"), [(0, 1.0), (4.0, 5.0)])
    assert seconds(motion, "right_ball") == [(0, len(motion) / 60)]


def test_sitting_with_both_feet_lifted_nothing_bears_the_body():
    keys = [
        (0, 0, 0.45, 0),
        (1, 0, 0.45, 0),
        (1.5, 0.25, 0.5, 0),
        (4, 0.25, 0.5, 0),
        (4.5, 0, 0.45, 0),
        (6, 0, 0.45, 0),
    ]
    left, right = (Foot([(t, x, y, z, pitch) for t, y, z, pitch in keys]) for x in (0.1, -0.1))
    motion = puppet(left, right, (0.0, 0.5, 0.0), 6.0)
    for name in ("left_ball", "right_ball", "left_heel"):
        assert_spans(seconds(motion, name), [(0, 1.0), (4.5, 6.0)])


def test_feet_side_by_side_on_a_platform_bear_the_body_together():
    """They leave it and reach the floor in one jump, so neither foot ever bears the body alone."""
    keys = [(0, 0.5, 0, 0), (2, 0.5, 0, 0), (2.2, 0.7, 0.2, 0), (2.6, 0, 0.6, 0), (5, 0, 0.6, 0)]
    left, right = (Foot([(t, x, y, z, pitch) for t, y, z, pitch in keys]) for x in (0.2, -0.2))
    motion = puppet(left, right, [(0, 0, 1.4, 0), (2, 0, 1.4, 0), (2.6, 0, 0.9, 0.6), (5, 0, 0.9, 0.6)], 5.0)
    for name in ("left_ball", "right_ball", "right_heel"):
        assert_spans(seconds(motion, name), [(0, 2.0), (2.6, 5.0)])


def test_still_feet_at_the_top_of_a_jump_have_no_support():
    """From 1 s on, feet and hips rise and fall for 0.5 s, accelerated by gravity."""
    motion = puppet(standing(0.1), standing(-0.1), HIPS, 3.0)
    t = np.arange(len(motion)) / 60.0
    fly = np.where((t > 1.0) & (t < 1.5), 0.5 * 9.81 * (t - 1.0) * (1.5 - t), 0.0)
    root = motion.root_positions + np.stack([np.zeros_like(fly), fly, np.zeros_like(fly)], axis=1)
    contacts = detect_contacts(replace(motion, root_positions=root)).contacts
    assert not contacts.mask[63:88].any()
    assert contacts.mask[:60].all()
    assert contacts.mask[92:].all()


def test_a_foot_rested_on_a_step_in_use_touches_it():
    """After the step has borne the body, the left foot returns to it while the right one stands on the floor."""
    on, off = (0.1, STEP, 0.3, 0), (0.1, 0, 0, 0)
    moving = (0.1, 0.3, 0.15, 0)
    times = [(0, on), (2, on), (2.4, moving), (2.8, off), (4, off), (4.4, moving), (4.8, on), (7, on)]
    left = Foot([(t, *key) for t, key in times])
    right = Foot([(0, -0.1, STEP, 0.3, 0), (0.5, -0.1, STEP, 0.3, 0), (0.9, -0.1, 0.3, 0.1, 0), (1.3, -0.1, 0, 0, 0),
                  (7, -0.1, 0, 0, 0)])  # fmt: skip
    motion = puppet(left, right, [(0, 0, 1.1, 0.3), (1.3, 0, 1.05, 0.2), (2, 0, 0.95, 0), (7, 0, 0.95, 0)], 7.0)
    assert_spans(seconds(motion, "left_ball"), [(0, 2.0), (2.8, 4.0), (4.8, 7.0)])
