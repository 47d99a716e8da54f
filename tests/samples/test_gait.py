"""Locomotion has the requested parameters, and moves as people do."""

from itertools import pairwise

import numpy as np
import pytest

from marey.core import Motion
from marey.maths import quat
from marey.samples import straight_walk
from tests.samples.checks import bends, made, paths, strikes

_X = np.array([1.0, 0.0, 0.0])


def headings(motion: Motion) -> np.ndarray:
    """Return the yaw of the hip line, (F,) radians, continuous."""
    world, roles = motion.world().positions, motion.skeleton.roles
    across = world[:, roles["left_upper_leg"]] - world[:, roles["right_upper_leg"]]
    return np.unwrap(np.arctan2(-across[:, 2], across[:, 0]))


def curve_speed(motion: Motion) -> float:
    steps = np.diff(motion.travel[:, [0, 2]], axis=0)
    return float(np.linalg.norm(steps, axis=1).sum() / motion.duration)


@pytest.mark.parametrize("speed", [0.6, 1.0, 1.4, 2.0])
def test_walking_speed_is_as_requested(speed: float) -> None:
    for seed in (0, 1):
        motion = made("walk", seed, speed=speed, seconds=20.0).motion
        net = np.linalg.norm((motion.travel[-1] - motion.travel[0])[[0, 2]])
        assert net / motion.duration == pytest.approx(speed, rel=0.03)
    plain = straight_walk(speed, 5.0)
    assert (plain.travel[-1, 2] - plain.travel[0, 2]) / plain.duration == pytest.approx(speed, rel=0.01)


@pytest.mark.parametrize(("name", "speed"), [("walk", 1.2), ("run", 3.0), ("carry_box", 1.2), ("sneak", 0.5)])
@pytest.mark.parametrize("rate", [-0.6, 0.6])
def test_turn_rate_is_as_requested_and_the_body_leans_into_the_turn(name: str, speed: float, rate: float) -> None:
    motion = made(name, speed=speed, turn_rate=rate, seconds=10.0, variation=0.0).motion
    moving = motion.duration - sum(
        (label.stop - label.start) / motion.fps for label in motion.labels if label.name == "pause"
    )
    turned = headings(motion)
    assert (turned[-1] - turned[0]) / moving == pytest.approx(rate, rel=0.25 if name == "sneak" else 0.06)
    world, roles = motion.world().positions, motion.skeleton.roles
    up = world[:, roles["neck"]] - world[:, roles["hips"]]
    left = np.stack([np.cos(turned), np.zeros(len(turned)), -np.sin(turned)], axis=1)
    tilt = np.rad2deg(np.arctan2((up * left).sum(axis=1), up[:, 1])).mean()
    assert tilt * rate > 0.0
    expected = np.rad2deg(np.arctan(speed * abs(rate) / 9.81))
    assert 0.5 * expected - 0.5 < abs(tilt) < 1.2 * expected + 0.5


@pytest.mark.parametrize("speed", [2.2, 3.0, 4.0, 5.0])
def test_runs_have_flight_phases_and_plausible_stances(speed: float) -> None:
    motion = made("run", 1, 120.0, speed=speed).motion
    in_air = ~motion.contacts.mask.any(axis=1)
    assert 0.1 < in_air.mean() < 0.6
    touching = motion.contacts.mask[:, 0] | motion.contacts.mask[:, 1]
    edges = np.flatnonzero(np.diff(touching.astype(int)))
    stances = [(b - a) / motion.fps for a, b in pairwise(edges) if touching[a + 1]]
    assert min(stances) > 0.09
    assert max(stances) < 0.30


@pytest.mark.parametrize("speed", [0.6, 1.3, 2.0])
def test_walks_always_have_a_foot_on_the_floor_and_plausible_stances(speed: float) -> None:
    motion = made("walk", 1, 120.0, speed=speed, seconds=8.0).motion
    assert motion.contacts.mask.any(axis=1).all()
    for side in (0, 2):
        touching = motion.contacts.mask[:, side] | motion.contacts.mask[:, side + 1]
        edges = np.flatnonzero(np.diff(touching.astype(int)))
        stances = [(b - a) / motion.fps for a, b in pairwise(edges) if touching[a + 1]]
        assert min(stances) > 0.45
        assert max(stances) < 1.0


@pytest.mark.parametrize("name", ["walk", "run", "walk_to_run", "turn_around", "start_and_stop", "sneak", "stairs"])
def test_phase_is_an_integer_where_the_left_foot_strikes_and_half_where_the_right_does(name: str) -> None:
    one = made(name, 0, 240.0)
    for point, offset in (("left", 0.0), ("right", 0.5)):
        contacts = one.motion.contacts
        touching = contacts.mask[:, contacts.index(f"{point}_heel")] | contacts.mask[:, contacts.index(f"{point}_ball")]
        first = np.flatnonzero(np.diff(touching.astype(int)) > 0) + 1
        assert len(first) > 1
        phase = one.phase[first] - offset
        assert np.abs(phase - np.round(phase)).max() < 0.02
    known = one.phase[np.isfinite(one.phase)]
    assert (np.diff(known) > 0.0).all()


def test_feet_roll_from_heel_to_toe() -> None:
    motion = made("walk", 0, 240.0, variation=0.0).motion
    heel, ball = (motion.contacts.intervals(f"left_{part}")[1:-1] for part in ("heel", "ball"))
    for (on, off), (ball_on, ball_off) in zip(heel, ball, strict=False):
        assert on < ball_on < off < ball_off


@pytest.mark.parametrize("speed", [1.0, 1.5])
def test_shoulders_go_against_hips_and_arms_against_legs(speed: float) -> None:
    motion = made("walk", 0, 60.0, speed=speed, variation=0.0, seconds=10.0).motion
    world, roles = motion.world().positions, motion.skeleton.roles

    def yaw(role: str) -> np.ndarray:
        across = world[:, roles[f"left_{role}"]] - world[:, roles[f"right_{role}"]]
        return np.arctan2(-across[:, 2], across[:, 0])

    def fore(role: str) -> np.ndarray:
        return world[:, roles[f"left_{role}"], 2] - world[:, roles[f"right_{role}"], 2]

    assert np.corrcoef(yaw("upper_leg"), yaw("upper_arm"))[0, 1] < -0.9
    assert np.corrcoef(fore("foot"), fore("hand"))[0, 1] < -0.8
    assert 2.0 < np.rad2deg(np.ptp(yaw("upper_leg"))) < 20.0
    height = motion.travel[:, 1]
    assert 0.02 < np.ptp(height) < 0.07
    rises = np.flatnonzero(np.diff(np.sign(np.diff(height))) < 0)
    assert len(rises) == pytest.approx(
        2 * (made("walk", 0, 60.0, speed=speed, variation=0.0, seconds=10.0).phase[-1]), abs=2
    )


def test_legs_swing_with_a_bent_knee() -> None:
    """Knees bend by 60 to 75 degrees in the swing of a walk, by more than 85 in that of a run."""
    walk = bends(made("walk", variation=0.0).motion, "left_lower_leg", "left_foot", -_X)
    run = bends(made("run", variation=0.0).motion, "left_lower_leg", "left_foot", -_X)
    assert 55.0 < np.rad2deg(walk.max()) < 80.0
    assert 85.0 < np.rad2deg(run.max()) < 130.0


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_start_and_stop_begins_and_ends_standing(seed: int) -> None:
    one = made("start_and_stop", seed, speed=1.4)
    motion = one.motion
    for end in (slice(0, 30), slice(-30, None)):
        assert motion.contacts.mask[end].all()
        assert np.isnan(one.phase[end]).all()
        assert np.ptp(motion.travel[end], axis=0).max() < 0.08
    middle = motion.travel[len(motion) // 2 - 10 : len(motion) // 2 + 10]
    assert np.linalg.norm(middle[-1] - middle[0]) * motion.fps / 19 == pytest.approx(1.4, rel=0.1)
    feet = paths(motion)[-1]
    apart = np.linalg.norm(feet[0] - feet[2])
    assert 0.1 < apart < 0.3


@pytest.mark.parametrize(("name", "angle"), [("turn_around", np.pi), ("turn_around", -2.0), ("turn_in_place", -1.5)])
def test_turns_turn_by_their_angle(name: str, angle: float) -> None:
    motion = made(name, angle=angle, variation=0.0).motion
    turned = headings(motion)
    assert turned[-1] - turned[0] == pytest.approx(angle, abs=0.2)
    if name == "turn_in_place":
        assert np.ptp(motion.travel[:, [0, 2]], axis=0).max() < 0.15


def test_walk_to_run_begins_with_double_supports_and_ends_with_flights() -> None:
    motion = made("walk_to_run").motion
    supports = motion.contacts.mask.reshape(len(motion), 2, 2).any(axis=2).sum(axis=1)
    third = len(motion) // 3
    assert supports[:third].min() >= 1
    assert supports[-third:].min() == 0


def test_sneaking_is_low_and_pauses() -> None:
    motion = made("sneak", crouch=0.2, pauses=2).motion
    assert motion.travel[:, 1].max() < made("walk").motion.travel[:, 1].min() - 0.1
    pauses = [label for label in motion.labels if label.name == "pause"]
    assert len(pauses) == 2
    for _, start, stop in pauses:
        assert motion.contacts.mask[start:stop].reshape(-1, 2, 2).any(axis=2).all()
        assert np.linalg.norm(motion.travel[stop] - motion.travel[start]) < 0.08


@pytest.mark.parametrize("load", ["carry_box", "carry_cup"])
@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_a_load_does_not_change_the_gait(load: str, rate: float) -> None:
    walk, carried = (made(name, 3, turn_rate=rate).motion for name in ("walk", load))
    roles = walk.skeleton.roles
    lower = [roles["hips"]] + [
        roles[f"{side}_{part}"] for side in ("left", "right") for part in ("upper_leg", "lower_leg", "foot", "ball")
    ]
    np.testing.assert_array_equal(walk.rotations[:, lower], carried.rotations[:, lower])
    np.testing.assert_array_equal(walk.root_positions, carried.root_positions)
    np.testing.assert_array_equal(walk.contacts.mask, carried.contacts.mask)


def test_hands_keep_the_box_between_them() -> None:
    motion = made("carry_box", turn_rate=0.4, width=0.4).motion
    world, roles = motion.world().positions, motion.skeleton.roles
    apart = np.linalg.norm(world[:, roles["left_hand"]] - world[:, roles["right_hand"]], axis=1)
    assert np.abs(apart - 0.4).max() < 1e-6


@pytest.mark.parametrize("way", ["up", "down"])
def test_stairs_are_climbed_tread_by_tread(way: str) -> None:
    motion = made("stairs", way=way, steps=4, rise=0.15).motion
    points = paths(motion)
    mask = motion.contacts.mask
    flat = [(mask[:, k] & mask[:, k + 1], points[:, k], points[:, k + 1]) for k in (0, 2)]
    levels = {round(float(y), 9) for on, heel, _ in flat for y in heel[on, 1]}
    np.testing.assert_allclose(sorted(levels), 0.15 * np.arange(5), atol=1e-8)
    # A tread reaches from just behind the heels that stand on it to just before the tips of the toes.
    treads = {}
    for on, heel, ball in flat:
        for start, stop in zip(heel[on], ball[on], strict=True):
            low, high = treads.get(round(float(start[1]), 6), (np.inf, -np.inf))
            treads[round(float(start[1]), 6)] = (min(low, start[2]), max(high, stop[2] + 0.075))
    tips = motion.world().positions[:, [motion.skeleton.roles[f"{s}_toe_tip"] for s in ("left", "right")]]
    everything = np.concatenate([points, tips], axis=1)
    for level, (low, high) in treads.items():
        over = (everything[..., 2] > low + 0.005) & (everything[..., 2] < high - 0.005)
        others = [span for other, span in treads.items() if other > level]
        clear = np.ones_like(over)
        for a, b in others:
            clear &= (everything[..., 2] < a - 0.02) | (everything[..., 2] > b + 0.02)
        assert everything[..., 1][over & clear].min() > level - 1e-3


def test_the_plain_walk_repeats_itself() -> None:
    one = made("walk", 0, 600.0, variation=0.0, seconds=4.0)
    first, second = (int(np.argmin(np.abs(one.phase - whole))) for whole in (1.0, 2.0))
    again = quat.angle_between(one.motion.rotations[first], one.motion.rotations[second])
    assert np.rad2deg(again.max()) < 1.0
    assert len(strikes(one.motion, "left_heel")) >= 3
