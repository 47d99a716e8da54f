"""Properties of every sample: plants stand, hinges bend one way, angles are smooth, the ground truth is right."""

import numpy as np
import pytest

from marey.samples import sample
from tests.samples.checks import NAMES, bends, made, paths, speed_steps
from tests.tiers import mostly_slow, shorten

SEEDS = range(shorten(3))
_X, _Y, _ = np.eye(3)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_planted_points_are_motionless_on_their_support(name: str, seed: int) -> None:
    motion = made(name, seed).motion
    points = paths(motion)
    for k, point in enumerate(motion.contacts.names):
        for start, stop in motion.contacts.intervals(point):
            assert np.ptp(points[start:stop, k], axis=0).max() < 1e-9
    flat = motion.contacts.mask[:, ::2] & motion.contacts.mask[:, 1::2]
    heel, ball = points[:, ::2, 1], points[:, 1::2, 1]
    assert np.abs(heel - ball)[flat].max() < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_points_that_are_not_planted_move_or_are_in_the_air(name: str, seed: int) -> None:
    motion = made(name, seed).motion
    points = paths(motion)
    speed = np.linalg.norm(np.gradient(points, axis=0), axis=2) * motion.fps
    support = np.where(motion.contacts.mask, points[..., 1], np.nan)
    lowest = float(np.nanmin(support))
    free = ~motion.contacts.mask
    for frames in (1, 2, -1, -2):  # a point that has just left or is about to land hardly moves
        free &= ~np.roll(motion.contacts.mask, frames, axis=0)
    assert ((points[..., 1] > lowest + 0.005) | (speed > 0.03))[free].all()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_goes_through_the_floor(name: str) -> None:
    for seed in SEEDS:
        motion = made(name, seed).motion
        tips = [motion.skeleton.roles[f"{side}_toe_tip"] for side in ("left", "right")]
        assert paths(motion)[..., 1].min() > -1e-9
        assert motion.world().positions[:, tips, 1].min() > -1e-3
        assert motion.world().positions[..., 1].min() > -1e-3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_knees_and_elbows_bend_in_one_direction(name: str, seed: int) -> None:
    motion = made(name, seed).motion
    for side, sign in (("left", 1.0), ("right", -1.0)):
        knee = bends(motion, f"{side}_lower_leg", f"{side}_foot", -_X)
        elbow = bends(motion, f"{side}_forearm", f"{side}_hand", sign * _Y)
        assert np.rad2deg(knee.min()) > 8.0
        assert np.rad2deg(knee.max()) < 150.0
        assert np.rad2deg(elbow.min()) > 4.0
        assert np.rad2deg(elbow.max()) < 150.0


@pytest.mark.parametrize("name", mostly_slow(NAMES, "generates all samples at 500 Hz", n_fast=8))
def test_joint_angles_are_smooth(name: str) -> None:
    """Twice the frame rate halves the steps in angular velocity; a discontinuity would leave them unchanged."""
    coarse, fine = (speed_steps(made(name, 0, fps).motion) for fps in (250.0, 500.0))
    largest = coarse.max(axis=0)
    moving = largest > 0.05
    assert (fine.max(axis=0)[moving] < 0.62 * largest[moving]).all()
    at_60 = made(name).motion
    turned = np.einsum("fjk,fjk->fj", at_60.rotations[1:], at_60.rotations[:-1])
    assert np.rad2deg(2 * np.arccos(np.minimum(turned, 1.0))).max() < 35.0


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_the_same_motion_at_any_rate_and_another_seed_another(name: str) -> None:
    first = made(name)
    again = sample(name, rng=0)
    generator = sample(name, rng=np.random.default_rng(0))
    half = sample(name, rng=0, fps=30.0)
    for other, step in ((again, 1), (generator, 1), (half, 2)):
        np.testing.assert_array_equal(other.motion.rotations, first.motion.rotations[::step])
        np.testing.assert_array_equal(other.motion.root_positions, first.motion.root_positions[::step])
        np.testing.assert_array_equal(other.motion.contacts.mask, first.motion.contacts.mask[::step])
        np.testing.assert_array_equal(other.phase, first.phase[::step])
    another = made(name, 1).motion
    n = min(len(another), len(first.motion))
    apart = np.linalg.norm(another.world().positions[:n] - first.motion.world().positions[:n], axis=-1)
    assert 0.005 < apart.max() < 12.0


@pytest.mark.parametrize("name", NAMES)
def test_the_truth_fits_the_motion(name: str) -> None:
    one = made(name)
    assert one.motion.name == name
    assert len(one.phase) == len(one.motion) == len(one.motion.contacts)
    assert len(one.motion.labels) > 0
    assert one.motion.source.floor == 0.0
    assert one.motion.source.provenance[-1]["name"] == name
    assert one.motion.source.provenance[-1]["rng"] == 0
    assert set(one.parameters) < set(one.motion.source.provenance[-1])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["reach", "reach_grid", "punch", "punch_grid", "kick", "kick_grid", "duck"])
def test_targets_are_met(name: str, seed: int) -> None:
    one = made(name, seed, 500.0)
    motion = one.motion
    positions = motion.world().positions
    assert one.targets
    for target in one.targets:
        frame = target.seconds * motion.fps
        i, fraction = int(frame), frame - int(frame)
        joint = motion.skeleton.index(target.joint)
        there = positions[i, joint] + fraction * (positions[i + 1, joint] - positions[i, joint])
        assert np.linalg.norm(there - target.position) < 1e-3
        assert motion.labels.at(i)
