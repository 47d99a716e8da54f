"""Contacts of the whole body: found when bodies kneel, crawl, lie and roll; held, and lifted out of the floor."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import marey
from marey.clean import Target, clean_with_report, contact_points
from marey.clean.body_paths import damp_reach, fade_out, smooth_peak
from marey.clean.track import track_points
from marey.core.arrays import find_runs
from marey.core.contacts import Contacts
from marey.maths import quat
from marey.samples import body_skeleton, sample
from tests.clean.floored import MADE, Floored, displaced

BODY = ("pelvis", "back", "head", "left_knee", "right_knee", "left_elbow", "right_elbow")


@cache
def made(name: str) -> Floored:
    return MADE[name]()


@cache
def cleaned(name: str):
    """The contacts are the true ones: those found in the motion before it was displaced."""
    given = displaced(made(name).motion)
    contacts = marey.detect_contacts(made(name).motion, body=True).contacts
    return given, clean_with_report(given, contacts=contacts, floor=0.0)


def test_a_body_has_points_for_all_its_parts() -> None:
    names = [point.name for point in contact_points(body_skeleton(), body=True)]
    assert set(BODY) < set(names)
    assert {"left_wrist", "right_fingertips", "left_heel", "right_ball"} < set(names)
    assert len(names) == len(set(names)) == 15


@pytest.mark.parametrize("name", MADE)
def test_contacts_are_found_when_and_where_they_are(name: str) -> None:
    made_one = made(name)
    found = marey.detect_contacts(made_one.motion, body=True).contacts
    for part in BODY:
        mask, truth = found.mask[:, found.index(part)], made_one.truth.get(part)
        if part in made_one.unknown:
            continue
        if truth is None:
            assert mask.mean() < 0.05, part
        else:
            assert (mask & truth).sum() > 0.85 * (mask | truth).sum(), part
    for part in ("left_wrist", "right_wrist"):
        if part in made_one.truth:
            mask, truth = found.mask[:, found.index(part)], made_one.truth[part]
            assert (mask & truth).sum() > 0.85 * (mask | truth).sum(), part


def test_a_displaced_body_still_touches_the_floor() -> None:
    given = displaced(made("kneel").motion, sink=0.06)
    found = marey.detect_contacts(given, body=True, floor=0.0).contacts
    assert found.mask[:, found.index("left_knee")].mean() > 0.9


@pytest.mark.parametrize("name", ["walk", "run", "sit", "kick", "hop"])
def test_nothing_but_feet_touches_the_floor_in_other_motion(name: str) -> None:
    motion = sample(name).motion
    found = marey.detect_contacts(motion, body=True).contacts
    assert not found.mask[:, [found.index(part) for part in BODY]].any()
    held = marey.clean(motion)
    again = marey.clean(motion, contacts=found)
    np.testing.assert_allclose(again.world().positions, held.world().positions, atol=0.02)


@pytest.mark.parametrize("name", MADE)
def test_planted_parts_stay_in_one_place(name: str) -> None:
    _, result = cleaned(name)
    contacts = result.motion.contacts
    track = track_points(result.motion, contacts.points)  # slip paths of parts that roll
    for plant in result.plants:
        path = track.raw[plant.start : plant.stop, contacts.index(plant.point)]
        assert np.ptp(path, axis=0).max() < 1e-6, plant.point
    assert {plant.point for plant in result.plants} >= set(made(name).truth) & set(BODY)


@pytest.mark.parametrize("name", MADE)
def test_the_body_is_above_the_floor_and_changes_little(name: str) -> None:
    given, result = cleaned(name)
    before, after = given.world().positions, result.motion.world().positions
    assert before[..., 1].min() < -0.01
    assert after[..., 1].min() > -1e-6
    assert np.linalg.norm(after - before, axis=2).max() < 0.25
    assert result.metrics["residue_max"] < 1e-6
    assert np.abs(result.scale - 1.0).max() < (0.2 if name == "roll" else 0.12)


@pytest.mark.parametrize("name", MADE)
def test_adjustments_begin_and_end_smoothly(name: str) -> None:
    given, result = cleaned(name)
    change = result.motion.world().positions - given.world().positions
    assert np.linalg.norm(np.diff(change, n=2, axis=0), axis=2).max() * given.fps < (2.0 if name == "crawl" else 0.8)


@pytest.mark.parametrize("name", ["kneel", "lie_down"])
def test_cleaning_a_clean_body_changes_nothing(name: str) -> None:
    _, result = cleaned(name)
    again = marey.clean(result.motion)
    np.testing.assert_allclose(again.world().positions, result.motion.world().positions, atol=1e-6)


def test_a_target_of_a_hand_is_met_while_the_body_is_held() -> None:
    given = displaced(made("kneel").motion)
    contacts = marey.detect_contacts(made("kneel").motion, body=True).contacts
    goal = given.world().positions[60, given.skeleton.roles["left_hand"]] + [0.05, 0.1, 0.1]
    target = Target("left_hand", 50, 70, goal)
    result = clean_with_report(given, contacts=contacts, floor=0.0, targets=[target])
    hand = result.motion.world().positions[50:70, given.skeleton.roles["left_hand"]]
    np.testing.assert_allclose(hand, np.tile(goal, (20, 1)), atol=1e-6)


def test_parts_that_slide_too_far_are_released_and_named() -> None:
    given = displaced(made("kneel").motion, drift=(0.3, 0.0, 0.0))
    contacts = marey.detect_contacts(made("kneel").motion, body=True).contacts
    result = clean_with_report(given, contacts=contacts, floor=0.0)
    assert {"left_knee", "right_knee"} <= {plant.point for plant in result.released}
    moved = np.linalg.norm(result.motion.world().positions - given.world().positions, axis=2)
    assert moved.max() < 0.3


def test_toes_of_a_body_lifted_out_of_the_floor_do_not_move_too_far() -> None:
    """Feet are rotated back where their toes would move farther than 0.3 m; knees stay planted."""
    given = displaced(made("kneel").motion, sink=0.08)
    result = clean_with_report(given, body=True, floor=0.0)
    moved = np.linalg.norm(result.motion.world().positions - given.world().positions, axis=2)
    assert 0.25 < moved.max() < 0.3
    assert result.motion.contacts.intervals("left_knee")


def test_bone_lengths_stay_if_nothing_may_stretch() -> None:
    given = displaced(made("kneel").motion)
    result = clean_with_report(given, body=True, floor=0.0, max_stretch=0.0)
    assert result.motion.bone_offsets is None
    assert set(result.limbs) >= {"pelvis", "left_knee"}


def test_contacts_of_one_knee_alone_are_held() -> None:
    motion = displaced(made("kneel").motion)
    points = [point for point in contact_points(motion.skeleton, body=True) if point.name == "left_knee"]
    held = Contacts(tuple(points), np.ones((len(motion), 1), dtype=bool))
    result = clean_with_report(motion, contacts=held, floor=0.0)
    path = result.motion.world().positions[:, points[0].joint]
    assert np.ptp(path, axis=0).max() < 1e-6


def test_tails_fade_over_the_window_and_meet_between_plants() -> None:
    held = np.zeros(50, dtype=bool)
    held[5:10] = held[20:22] = True
    out = fade_out(np.ones((50, 1)), held, window=30)[:, 0]
    assert (out[held] == 1.0).all()
    np.testing.assert_allclose(out[10:20], 1.0)  # both tails add up to 1
    assert np.all(np.diff(out[21:]) <= 0.0)
    assert 0.0 < out[0] < 1.0
    assert not fade_out(np.ones((9, 2)), np.zeros(9, dtype=bool), 3).any()


def test_a_smoothed_peak_covers_the_depth() -> None:
    depth = np.maximum(np.random.default_rng(0).normal(size=200) - 1.5, 0.0)
    lifted = smooth_peak(depth, 4)
    assert (lifted >= depth - 1e-12).all()
    assert not lifted[depth_is_far(depth, 8)].any()


def depth_is_far(depth: np.ndarray, frames: int) -> np.ndarray:
    """Return the frames that are more than `frames` away from any depth."""
    near = np.convolve(depth > 0.0, np.ones(2 * frames + 1), mode="same") > 0.5
    return ~near


def test_the_body_is_held_in_a_motion_with_contacts_of_the_feet() -> None:
    """A clip that was cleaned before has contacts; those of the other parts are added."""
    motion = marey.detect_contacts(made("kneel").motion)
    found = clean_with_report(motion, body=True).motion.contacts
    assert motion.contacts is not None
    assert found is not None
    assert found.names[: len(motion.contacts.names)] == motion.contacts.names
    assert found.mask[:, found.index("left_knee")].any()


def test_fingers_that_flip_do_not_turn_the_hand_or_the_elbow() -> None:
    """Fingers that were not captured flip for a few frames while the hand is planted; only they may jump."""
    motion = displaced(made("crawl").motion)
    contacts = marey.detect_contacts(made("crawl").motion, body=True).contacts
    side = "left"
    tip = contacts.points[contacts.index(f"{side}_fingertips")].joint
    hand = motion.skeleton.roles[f"{side}_hand"]
    mask = contacts.mask.copy()
    mask[:, contacts.index(f"{side}_fingertips")] = mask[:, contacts.index(f"{side}_wrist")]
    contacts = Contacts(contacts.points, mask)
    runs = find_runs(mask[:, contacts.index(f"{side}_wrist")])
    start, stop = max(runs, key=lambda run: run[1] - run[0])
    middle = (start + stop) // 2
    chain = motion.skeleton.chain(tip)
    finger = chain[chain.index(hand) + 1]
    bones = np.broadcast_to(motion.skeleton.offsets, (len(motion), len(motion.skeleton), 3)).copy()
    for joint in chain[chain.index(hand) + 1 :]:
        bones[middle : middle + 6, joint] = quat.rotate(quat.from_axis_angle([0.0, 1.0, 0.0], 1.4), bones[0, joint])
    flipped = replace(motion, bone_offsets=bones)
    assert np.abs(flipped.world().positions[middle, finger] - motion.world().positions[middle, finger]).max() > 0.01
    results = [clean_with_report(one, contacts=contacts, floor=0.0).motion for one in (motion, flipped)]
    arm = [motion.skeleton.roles[f"{side}_{part}"] for part in ("forearm", "hand")]
    speeds = [np.linalg.norm(np.diff(one.world().positions[:, arm], axis=0), axis=2) * one.fps for one in results]
    assert speeds[1].max() < speeds[0].max() + 0.5
    steps = quat.angle_between(results[1].rotations[1:, hand], results[1].rotations[:-1, hand])
    assert np.degrees(steps[start:stop].max()) < 20.0


def test_a_peak_rises_no_faster_than_asked() -> None:
    depth = np.zeros(80)
    depth[40:43] = 1.0
    for half, step in ((3, 0.1), (6, 0.05), (0, 0.1)):
        lifted = smooth_peak(depth, half, step)
        assert (lifted >= depth - 1e-12).all()
        if half:
            assert np.abs(np.diff(lifted)).max() <= step + 1e-12


def test_a_limb_leaves_its_line_gently() -> None:
    """The knee does not snap when a target that was out of reach comes nearer."""
    upper, lower = np.full(200, 0.4), np.full(200, 0.4)
    distance = np.linspace(0.86, 0.70, 200)
    now = np.full(200, 0.75)
    spanned = damp_reach(distance, now, upper, lower, 0.75 * np.pi)
    scaled = 0.4 * distance / spanned
    aside = np.sqrt(np.maximum(scaled**2 - (0.5 * distance) ** 2, 0.0))
    free = np.sqrt(np.maximum(0.4**2 - (0.5 * distance) ** 2, 0.0))
    assert np.abs(np.diff(aside)).max() < 0.25 * np.abs(np.diff(free)).max()
    np.testing.assert_allclose(damp_reach(now, now, upper, lower, 0.75 * np.pi), now)
