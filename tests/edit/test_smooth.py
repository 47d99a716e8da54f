"""Removal of noise that preserves fast actions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.clean import point_paths
from marey.cli.main import main
from marey.core.denoise import measure_noise
from marey.edit import resample, smooth
from marey.errors import InvalidValue
from marey.maths import quat

from ..check.helpers import add_noise, clip
from ..tiers import mostly_slow


def add_rotation_noise(motion, degrees, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.normal(0.0, np.radians(degrees), (*motion.rotations.shape[:2], 3))
    root = motion.root_positions + rng.normal(0.0, 0.01, motion.root_positions.shape)
    return replace(motion, rotations=quat.mul(motion.rotations, quat.exp(noise)), root_positions=root)


def distance(a, b):
    return np.linalg.norm(a.world().positions - b.world().positions, axis=2)


def peak_speed(motion, role):
    path = motion.world().positions[:, motion.skeleton.roles[role]]
    return np.linalg.norm(path[2:] - path[:-2], axis=1).max() * motion.fps / 2


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("name", mostly_slow(["walk", "punch", "sneak", "kick"], "more of the same", n_fast=2))
def test_noise_of_a_centimeter_falls_by_half(name, fps):
    motion = resample(clip(name), fps)
    noisy = add_noise(motion, 0.01)
    assert distance(smooth(noisy), motion).mean() < 0.5 * distance(noisy, motion).mean()
    noisy = add_rotation_noise(motion, 1.5)
    left = 0.6 if name == "punch" and fps == 30.0 else 0.5  # a punch lasts only a few frames
    assert distance(smooth(noisy), motion).mean() < left * distance(noisy, motion).mean()


@pytest.mark.parametrize("file", ["77_17", "140_02"])
def test_captures_do_not_jitter_more(file, data_folder):
    """Errors of neighboring joints compensate in captures; separate smoothing would make hands and feet shake."""
    motion = marey.load(data_folder / "cmu-hard" / f"{file}.bvh")
    before, after = (marey.measure(one)["jitter"].value for one in (motion, smooth(motion)))
    assert after < 0.9 * before


def test_errors_that_compensate_are_smoothed_together():
    walk = clip("walk", seconds=2.0)
    rng = np.random.default_rng(0)
    noise = quat.exp(rng.normal(0.0, 0.02, (len(walk), 3)))
    rotations = walk.rotations.copy()
    thigh = walk.skeleton.roles["left_upper_leg"]
    rotations[:, 0] = quat.mul(rotations[:, 0], noise)
    for joint in np.flatnonzero(walk.skeleton.parents == 0):  # only the hips shake
        rotations[:, joint] = quat.inv_mul(noise, rotations[:, joint])
    shaken = replace(walk, rotations=rotations)
    assert marey.measure(smooth(shaken))["jitter"].value < marey.measure(shaken)["jitter"].value
    turned = quat.angle_between(smooth(shaken).world().rotations[:, thigh], walk.world().rotations[:, thigh])
    assert turned.max() < 0.01


@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_noise_falls_by_half_in_a_recorded_walk(fps, data_folder):
    motion = resample(marey.load(data_folder / "cmu" / "016" / "16_15.bvh"), fps)
    noisy = add_noise(motion, 0.01)
    assert distance(smooth(noisy), motion).mean() < 0.45 * distance(noisy, motion).mean()


@pytest.mark.parametrize("fps", [30.0, 60.0])
@pytest.mark.parametrize(("name", "role"), [("punch", "right_hand"), ("kick", "right_foot"), ("leap", "left_hand")])
def test_fast_actions_keep_their_speed(name, role, fps):
    motion = resample(clip(name), fps)
    assert peak_speed(smooth(motion), role) == pytest.approx(peak_speed(motion, role), rel=0.01)
    noisy = smooth(add_noise(motion, 0.01))
    assert peak_speed(noisy, role) > 0.95 * peak_speed(motion, role)


@pytest.mark.parametrize("name", ["walk", "run", "punch", "medley"])
def test_a_clip_without_noise_does_not_change(name):
    motion = clip(name)
    assert distance(smooth(motion), motion).max() < 1e-3


def test_contacts_stay_where_they_were():
    walk = marey.detect_contacts(clip("walk"))
    result = smooth(add_noise(walk, 0.01))
    assert result.contacts is not None
    assert np.array_equal(result.contacts.mask, walk.contacts.mask)
    paths, before = (point_paths(motion, walk.contacts.points) for motion in (result, walk))
    for k, name in enumerate(walk.contacts.names):
        for start, stop in walk.contacts.intervals(name):
            moved = paths[start:stop, k].mean(axis=0) - before[start:stop, k].mean(axis=0)
            assert np.linalg.norm(moved) < 0.015


def test_planted_feet_are_steadier_than_before():
    walk = clip("walk")
    noisy = add_noise(walk, 0.01)
    before, after = (marey.measure(motion)["slide_contact"].value for motion in (noisy, smooth(noisy)))
    assert after < 0.5 * before


def test_strength_and_window():
    noisy = add_noise(clip("walk"), 0.01)
    jitter = [marey.measure(smooth(noisy, strength=s))["jitter"].value for s in (0.3, 1.0, 2.0)]
    assert jitter[0] > jitter[1] > jitter[2]
    assert np.allclose(smooth(noisy, strength=0).rotations, noisy.rotations)
    with pytest.raises(InvalidValue, match="strength must be"):
        smooth(noisy, strength=-1)
    assert distance(smooth(noisy, max_window=0.1), noisy).mean() < distance(smooth(noisy), noisy).mean()


def test_noise_is_measured_and_recorded():
    rng = np.random.default_rng(1)
    assert measure_noise(rng.normal(0.0, 0.02, (4000, 2, 3))) == pytest.approx([0.02, 0.02], rel=0.08)
    noisy = smooth(add_noise(clip("walk"), 0.01))
    assert noisy.source.provenance[-1]["noise"] == pytest.approx(0.01, rel=0.2)


def test_short_clips_are_returned_unchanged():
    walk = clip("walk")[:5]
    assert np.array_equal(smooth(walk).rotations, walk.rotations)
    assert len(smooth(clip("walk")[:14])) == 14


def test_the_command_reports_the_noise(tmp_path, capsys):
    marey.save(add_rotation_noise(clip("walk"), 1.0), tmp_path / "in.bvh")
    assert main(["edit", "smooth", str(tmp_path / "in.bvh"), str(tmp_path / "out.bvh"), "--strength", "1.2"]) == 0
    assert "mm at the root" in capsys.readouterr().out
