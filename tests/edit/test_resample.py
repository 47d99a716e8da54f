"""Changes of the frame rate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.core import Label, Labels, Motion, Skeleton
from marey.edit import resample
from marey.errors import InvalidValue
from marey.maths import quat
from tests.edit.helpers import keeps_bones, last_step, same, same_notes, walk

STICK = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0.0, 1, 0]]))


def swinging(hertz: float, fps: float = 120.0, seconds: float = 4.0, size: float = 0.3) -> Motion:
    t = np.arange(round(seconds * fps) + 1) / fps
    wave = size * np.sin(2 * np.pi * hertz * t)
    turns = np.zeros((len(t), 2, 3))
    turns[:, 1, 0] = wave
    root = np.stack([wave, np.zeros_like(t), t], axis=1)
    return Motion(STICK, root, quat.exp(turns), fps)


def test_the_same_rate_changes_nothing():
    motion = walk()
    again = resample(motion, motion.fps)
    assert same(again, motion)
    assert same_notes(again, motion)
    assert last_step(again) == {"op": "resample", "fps": 60.0}


def test_upwards_it_is_slerp_and_straight_lines():
    motion = walk()
    twice = resample(motion, 120)
    assert len(twice) == 2 * len(motion) - 1
    assert np.array_equal(twice.rotations[::2], motion.rotations)
    assert np.allclose(twice.root_positions[1::2], 0.5 * (motion.root_positions[1:] + motion.root_positions[:-1]))
    halves = quat.slerp(motion.rotations[:-1], motion.rotations[1:], 0.5)
    assert quat.angle_between(twice.rotations[1::2], halves).max() < 1e-9


@pytest.mark.parametrize("fps", [24.0, 30.0, 50.0, 59.94, 144.0])
def test_bones_ends_and_duration_do_not_change(fps):
    motion = walk()
    result = resample(motion, fps)
    assert result.fps == fps
    assert 0.0 <= motion.duration - result.duration < 1.0 / fps
    assert keeps_bones(result)
    assert np.allclose(result.root_positions[0], motion.root_positions[0], atol=1e-9)
    assert quat.angle_between(result.rotations[0], motion.rotations[0]).max() < 1e-7


def test_what_the_new_rate_cannot_carry_is_filtered_out():
    fast = swinging(25.0)
    naive, limited = (resample(fast, 30, band_limited=how) for how in (False, True))
    inside = slice(10, -10)
    assert np.abs(naive.root_positions[inside, 0]).max() > 0.2  # an alias of 5 Hz
    assert np.abs(limited.root_positions[inside, 0]).max() < 0.01
    assert quat.angle(limited.rotations[inside, 1]).max() < 0.01


@pytest.mark.parametrize("hertz", [0.5, 2.0, 6.0])
def test_what_it_can_carry_passes(hertz):
    slow = swinging(hertz)
    result = resample(slow, 30)
    true = swinging(hertz, fps=30.0)
    inside = slice(10, -10)
    assert np.abs(result.root_positions[inside] - true.root_positions[inside]).max() < 0.005
    assert quat.angle_between(result.rotations[inside], true.rotations[inside]).max() < 0.005
    # Straight travel reaches both ends exactly.
    assert np.allclose(result.root_positions[:, 2], true.root_positions[:, 2], atol=1e-9)


def test_contacts_and_labels_keep_their_times():
    motion = walk()
    for fps in (30.0, 90.0, 120.0, 24.0):
        result = resample(motion, fps)
        for name in motion.contacts.names:
            before, after = motion.contacts.intervals(name), result.contacts.intervals(name)
            assert len(before) == len(after)
            for (a, b), (c, d) in zip(before, after, strict=True):
                assert abs((a - 0.5) / motion.fps - (c - 0.5) / fps) <= 0.5 / fps + 0.5 / motion.fps
                assert abs((b - 0.5) / motion.fps - (d - 0.5) / fps) <= 0.5 / fps + 0.5 / motion.fps
        assert result.labels.names == motion.labels.names
        assert next(x for x in result.labels if x.name == "walk") == Label("walk", 0, len(result))


def test_a_short_label_keeps_a_frame():
    motion = replace(walk(), labels=Labels((Label("blink", 17, 18),)))
    (label,) = resample(motion, 10).labels
    assert (label.start, label.stop) == (3, 4)


def test_one_frame_stays_one_frame():
    assert len(resample(walk()[5], 24)) == 1


@pytest.mark.parametrize("fps", [0.0, -30.0, np.nan, np.inf, "fast", None])
def test_a_rate_that_is_none_is_refused(fps):
    with pytest.raises(InvalidValue, match="fps must be a finite number greater than 0"):
        resample(walk(), fps)


def test_a_rate_without_end_is_refused():
    with pytest.raises(InvalidValue, match="the result would have"):
        resample(walk(), 1e9)
