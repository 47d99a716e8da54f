"""Stride rates, and frame rates of files that cannot be right."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.core import Motion, Skeleton
from marey.maths import quat
from marey.measure import find_strides, rate_finding, stride_rate
from marey.samples import sample, straight_walk
from tests.measure.simple_motions import pendulum_walk, statue, straight, turned


@pytest.mark.parametrize("rate", [0.6, 0.9, 1.3])
@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_stride_rate_of_swinging_legs(rate: float, fps: float) -> None:
    assert stride_rate(pendulum_walk(rate, 1.2, fps=fps)) == pytest.approx(rate, rel=5e-3)


def test_stride_rate_on_the_spot() -> None:
    assert stride_rate(pendulum_walk(1.0, 0.0)) == pytest.approx(1.0, rel=5e-3)


def test_side_steps_are_strides_although_the_feet_do_not_pass() -> None:
    time = np.arange(300) / 60
    walk = statue(np.stack([0.6 * time, 0 * time, 0 * time], axis=1))
    spread = 0.15 + 0.15 * np.sin(2 * np.pi * 0.8 * time)
    walk = turned(walk, "left_upper_leg", spread, axis=(0.0, 0.0, 1.0))
    walk = turned(walk, "right_upper_leg", -spread, axis=(0.0, 0.0, 1.0))
    assert stride_rate(walk) == pytest.approx(0.8, rel=5e-3)


def test_noise_makes_no_strides() -> None:
    rng = np.random.default_rng(1)
    for motion, rate in ((straight(0.0, 0.0, seconds=5.0), None), (pendulum_walk(0.9, 1.2), 0.9)):
        shaken = replace(motion, root_positions=motion.root_positions + rng.normal(0, 0.003, (len(motion), 3)))
        legs = turned(shaken, "left_upper_leg", rng.normal(0, 0.01, len(motion)))
        assert stride_rate(legs) == (None if rate is None else pytest.approx(rate, rel=0.02))


def test_a_stride_has_its_length_turn_and_duty() -> None:
    walk = straight_walk(speed=1.2, seconds=4.0)
    strides = find_strides(walk)
    rate = stride_rate(walk)
    assert rate is not None
    assert len(strides) >= 4
    for stride in strides[1:-1]:
        assert stride.length == pytest.approx(1.2 / rate, rel=0.05)
        assert abs(stride.turn) < 0.05
        assert 0.5 < stride.duty < 0.75


def test_strides_do_not_depend_on_the_stated_rate() -> None:
    walk = straight_walk(seconds=4.0)
    assert find_strides(replace(walk, fps=240.0)) == find_strides(walk)


@pytest.mark.parametrize("transform", [(2.1, 30.0, -4.0), (-1.0, 0.0, 0.0)])
def test_stride_rate_is_the_same_anywhere(transform: tuple[float, float, float]) -> None:
    walk = straight_walk(seconds=4.0)
    assert stride_rate(walk.moved(transform)) == pytest.approx(stride_rate(walk))


def _sway() -> Motion:
    time = np.arange(240) / 60
    return turned(straight(0.0, 0.0, seconds=239 / 60), "hips", 0.2 * np.sin(5 * time), axis=(0.0, 1.0, 0.0))


def _kicks() -> Motion:
    time = np.arange(240) / 60
    return turned(straight(0.0, 0.0, seconds=239 / 60), "right_upper_leg", 0.8 * np.sin(5 * time))


@pytest.mark.parametrize(
    "motion",
    [straight(0.0, 0.0), straight(1.5, 0.0), _sway(), _kicks(), statue(np.zeros((1, 3)))],
    ids=["stands", "glides", "sways", "kicks", "one frame"],
)
def test_no_gait(motion: Motion) -> None:
    assert stride_rate(motion) is None
    assert rate_finding(motion) is None


def test_no_legs() -> None:
    chain = Skeleton(("a", "b", "c"), np.array([-1, 0, 1]), np.array([[0, 0, 0], [0, 1, 0], [0, 1, 0]]))
    motion = Motion(chain, np.zeros((20, 3)), quat.identity((20, 3)), 30.0)
    assert stride_rate(motion) is None
    assert rate_finding(motion) is None


def test_walks_at_their_own_rate_are_plausible() -> None:
    for speed in (0.6, 1.2, 1.8):
        assert rate_finding(straight_walk(speed=speed, seconds=5.0)) is None


def test_a_walk_played_twice_too_fast_is_noticed_and_half_the_rate_suggested() -> None:
    walk = straight_walk(speed=1.3, seconds=5.0)
    report = rate_finding(replace(walk, fps=120.0))
    assert report is not None
    assert "in a walk" in report
    assert "the rate of 120 Hz seems wrong" in report
    assert "at 60 Hz they would be" in report
    assert "`file_fps=60`" in report


def test_four_times_too_fast_needs_more_than_half() -> None:
    report = rate_finding(replace(straight_walk(speed=1.3, seconds=5.0), fps=240.0))
    assert report is not None
    assert "at 80 Hz" in report or "at 60 Hz" in report


def test_small_bodies_may_step_more_quickly() -> None:
    walk = straight_walk(speed=1.3, seconds=5.0)
    small = replace(
        walk,
        skeleton=replace(walk.skeleton, offsets=0.3 * walk.skeleton.offsets),
        root_positions=0.3 * walk.root_positions,
        fps=60.0 / 0.3**0.5,
        contacts=None,
    )
    assert rate_finding(small) is None
    assert rate_finding(replace(small, fps=2 * small.fps)) is not None


# Recorded at 60 Hz although their files state 120 Hz, and straight for long enough to detect it.
_WRONG = {"143_11", "143_13", "143_32", "143_41"}


@pytest.mark.slow("reads and measures all recorded clips")
def test_recorded_clips_with_a_wrong_rate_are_found_and_no_others(data_folder: Path) -> None:
    files = sorted(data_folder.glob("cmu/*/*.bvh")) + sorted(data_folder.glob("bandai-namco/*.bvh"))
    if not files:
        pytest.skip(f"no BVH files in {data_folder}")
    found = {}
    for path in files:
        motion = marey.load_motion(path)
        report = rate_finding(motion)
        if report is not None:
            found[path.stem] = report
            assert rate_finding(replace(motion, fps=60.0)) is None
    there = {path.stem for path in files}
    assert set(found) == _WRONG & there
    assert all("at 60 Hz they would be" in report for report in found.values())


def test_recorded_walks_have_the_stride_rate_of_walks(data_folder: Path) -> None:
    for name, rate in (
        ("cmu/002/02_01", 0.91),
        ("cmu/007/07_01", 0.93),
        ("bandai-namco/dataset-2_walk_normal_001", 0.91),
    ):
        path = data_folder / f"{name}.bvh"
        if path.exists():
            assert stride_rate(marey.load_motion(path)) == pytest.approx(rate, abs=0.03)


@pytest.mark.parametrize("rate", [-0.9, 0.9])
def test_a_walk_in_a_curve_shows_a_rate_that_is_much_too_high(rate: float) -> None:
    curve = sample("walk", seconds=4.0, turn_rate=rate, variation=0.0).motion
    assert min(abs(stride.turn) for stride in find_strides(curve)) > np.radians(20.0)
    for factor, is_found in ((1.0, False), (1.9, False), (4.0, True)):
        assert (rate_finding(replace(curve, fps=factor * curve.fps)) is not None) == is_found


def test_strides_of_a_giant_say_nothing_about_the_rate():
    walk = straight_walk(seconds=5.0)
    fast = replace(walk, fps=3.0 * walk.fps)
    body = replace(fast.skeleton, offsets=20.0 * fast.skeleton.offsets)
    assert rate_finding(fast) is not None
    assert rate_finding(replace(fast, skeleton=body, root_positions=20.0 * fast.root_positions)) is None
