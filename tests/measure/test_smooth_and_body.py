"""Jitter, acceleration, turning, limb lengths and the floor."""

from dataclasses import replace

import numpy as np
import pytest

from marey.measure import body, smoothness
from tests.measure.simple_motions import N_BODY, ROLES, SKELETON, statue, straight, turned


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_jitter_of_a_cubic_is_its_third_derivative_at_any_rate(fps: float) -> None:
    time = np.arange(40) / fps
    metric = smoothness.jitter(statue(np.stack([2.0 * time**3, 0 * time, time], axis=1), fps))
    assert metric.value == pytest.approx(6 * 2.0 / 100, rel=1e-6)
    assert metric.unit == "10^2 m/s^3"


def test_jitter_of_noise_goes_with_the_cube_of_the_rate() -> None:
    path = np.random.default_rng(0).normal(size=(50, 3)) * 1e-3
    slow, quick = (smoothness.jitter(statue(path, fps)).value for fps in (30.0, 60.0))
    assert slow is not None
    assert quick == pytest.approx(8 * slow)


@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_acceleration_of_a_throw_is_gravity(fps: float) -> None:
    time = np.arange(30) / fps
    fall = statue(np.stack([time, 3.0 - 0.5 * 9.81 * time**2, 0 * time], axis=1), fps)
    assert smoothness.acceleration_rms(fall).value == pytest.approx(9.81, rel=1e-6)


def test_steady_motion_has_neither_jitter_nor_acceleration() -> None:
    clip = straight(1.0, 0.0)
    assert smoothness.jitter(clip).value == pytest.approx(0.0, abs=1e-6)
    assert smoothness.acceleration_rms(clip).value == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("fps", [30.0, 120.0])
def test_a_joint_that_turns_steadily(fps: float) -> None:
    clip = straight(0.0, 0.0, fps=fps)
    clip = turned(clip, "left_forearm", 2.5 * np.arange(len(clip)) / fps)
    highest, usual = smoothness.angular_velocity_max(clip), smoothness.angular_velocity_p999(clip)
    assert highest.value == pytest.approx(2.5)
    assert usual.value == pytest.approx(2.5)
    assert highest.unit == usual.unit == "rad/s"


def test_a_glitch_is_named_and_left_out_of_the_percentile() -> None:
    clip = straight(0.0, 0.0, seconds=10.0)
    angles = np.zeros(len(clip))
    angles[100:] = 0.5
    clip = turned(clip, "right_hand", angles)
    highest = smoothness.angular_velocity_max(clip)
    assert highest.value == pytest.approx(0.5 * 60)
    assert highest.note == "RightHand, frame 99 to 100"
    assert smoothness.angular_velocity_p999(clip).value == pytest.approx(0.0, abs=1e-6)


def test_turning_takes_the_short_way_whatever_the_signs() -> None:
    clip = turned(straight(0.0, 0.0), "spine", 0.01 * np.arange(121.0))
    flipped = clip.rotations.copy()
    flipped[::2] *= -1
    value = smoothness.angular_velocity_max(replace(clip, rotations=flipped)).value
    assert value == pytest.approx(0.6)


def test_penetration_of_a_statue_that_sinks() -> None:
    y = np.where(np.arange(40) < 10, -0.02, 0.01)
    clip = statue(np.stack([0 * y, y, 0 * y], axis=1))
    mean, deepest = body.penetration_mean(clip), body.penetration_max(clip)
    assert mean.value == pytest.approx(20.0 * 10 / 40)
    assert deepest.value == pytest.approx(20.0)
    assert deepest.note == "frame 0"
    assert mean.unit == deepest.unit == "mm"


def test_nothing_penetrates_a_floor_far_below() -> None:
    clip = straight(1.0, 0.5)
    assert body.penetration_mean(clip).value == 0.0
    assert body.penetration_max(clip) == replace(body.penetration_max(clip), value=0.0, note="")


def test_one_frame_can_penetrate() -> None:
    assert body.penetration_max(statue(np.array([[0.0, -0.01, 0.0]]))).value == pytest.approx(10.0)


def test_a_stretched_limb() -> None:
    clip = straight(0.0, 0.0)
    offsets = np.repeat(SKELETON.offsets[None], len(clip), axis=0)
    shin = ROLES["left_foot"]
    offsets[30:60, shin] *= 1.03
    stretched = replace(clip, bone_offsets=offsets)
    largest, mean = body.limb_change_max(stretched), body.limb_change_mean(stretched)
    assert largest.value == pytest.approx(0.03)
    assert largest.note == "LeftFoot, frame 30, while left_ball is planted in frames 0-120"
    assert body.limb_change_max(replace(stretched, contacts=None)).note == "LeftFoot, frame 30"
    assert mean.value == pytest.approx(0.03 * 30 / len(clip) / (len(SKELETON) - 1))


def test_a_root_above_the_hips_is_not_a_limb() -> None:
    clip = straight(0.0, 0.0)
    offsets = np.repeat(SKELETON.offsets[None], len(clip), axis=0)
    offsets[:, 0] = np.arange(len(clip))[:, None]
    assert body.limb_change_max(replace(clip, bone_offsets=offsets)).value == pytest.approx(0.0)


def test_rigid_motion_has_no_limb_change() -> None:
    clip = straight(1.0, 0.0)
    assert body.limb_change_max(clip).value == body.limb_change_mean(clip).value == 0.0


def test_end_sites_do_not_count() -> None:
    assert len(SKELETON) > N_BODY
    clip = straight(0.0, 0.0)
    wild = clip.rotations.copy()
    wild[::2, SKELETON.is_end_site] = [0.0, 1.0, 0.0, 0.0]
    assert smoothness.angular_velocity_max(replace(clip, rotations=wild)).value == pytest.approx(0.0, abs=1e-6)
