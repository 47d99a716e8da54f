"""Balance: the center of mass, and frame rates at which feet could not support it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.measure.balance import find_center_of_mass, is_unsupported
from marey.measure.subject import Subject
from marey.samples import sample, sample_names


@pytest.mark.parametrize("name", sample_names())
def test_bodies_are_supported_at_their_own_rate(name):
    assert not is_unsupported(Subject(sample(name).motion))


@pytest.mark.parametrize("name", ["kick_grid", "punch_grid", "sit", "box_dance", "turn_around"])
def test_bodies_are_not_supported_at_twice_their_rate(name):
    motion = sample(name).motion
    assert is_unsupported(Subject(replace(motion, fps=2.0 * motion.fps)))


def test_quick_actions_of_real_clips(data_folder):
    """Kicks recorded at 60 Hz whose files state 120 Hz: their gait is too short to show it."""
    path = data_folder / "cmu-hard" / "106_20.bvh"
    (finding,) = (one for one in marey.check(marey.load(path)) if one.kind == "frame_rate")
    assert finding.options == {"file_fps": 60.0}
    assert "its feet can support" in finding.message
    assert "frame_rate" not in marey.check(marey.load(path, file_fps=60)).kinds
    for other in ("cmu/144/144_05", "cmu/144/144_20", "cmu/085/85_02", "cmu/049/49_06", "cmu-hard/79_54"):
        assert "frame_rate" not in marey.check(marey.load(data_folder / f"{other}.bvh")).kinds


def test_the_center_of_mass_is_in_the_trunk():
    motion = sample("stand").motion
    center = find_center_of_mass(motion.skeleton, motion.world())
    hips, neck = (motion.world().positions[:, motion.skeleton.roles[role]] for role in ("hips", "neck"))
    assert ((hips[:, 1] < center[:, 1] + 0.1) & (center[:, 1] < neck[:, 1])).all()
    assert np.abs(center - hips)[:, [0, 2]].max() < 0.1


def test_a_body_that_lies_or_has_no_feet_is_not_judged():
    walk = sample("walk", seconds=2.0).motion
    fast = replace(walk, fps=240.0)
    assert not is_unsupported(Subject(fast[:30]))
