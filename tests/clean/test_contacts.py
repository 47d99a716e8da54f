"""Contacts of generated motion with exact ground truth; laws; and options."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import marey
from marey.clean import ContactSettings, detect_contacts, find_contacts
from marey.core import ContactPoint, Contacts, Motion, Skeleton
from marey.errors import InvalidValue, JointNotFound
from marey.maths import quat
from marey.samples import body_skeleton, sample, sample_names
from tests.clean.puppets import Foot, jittered, puppet, raised, scaled, shaken, standing, unmarked, wobbling
from tests.tiers import mostly_slow, shorten

HIPS = (0.0, 0.9, 0.0)


def f1(found, truth):
    total = found.sum() + truth.sum()
    return 2 * (found & truth).sum() / total if total else 1.0


def edge_errors(found: Contacts, truth: Contacts, name: str):
    """Return for each true contact by how many frames its best match is off at the worse end."""
    errors = []
    for start, stop in truth.intervals(name):
        shared = [(min(stop, b) - max(start, a), a, b) for a, b in found.intervals(name)]
        most, a, b = max(shared, default=(0, 0, 0))
        errors.append(max(abs(a - start), abs(b - stop)) if most > 0 else 10**6)
    return errors


# Truth ----------------------------------------------------------------------------------------------------


@cache
def made(name: str, seed: int, fps: float) -> Motion:
    return sample(name, rng=seed, fps=fps).motion


@pytest.mark.parametrize(
    ("fps", "seed"),
    mostly_slow([(30.0, 0), (30.0, 1), (60.0, 0), (120.0, 0)], "other rates and seeds", n_fast=1),
)
@pytest.mark.parametrize("name", sample_names())
def test_samples_agree_with_their_truth(name, fps, seed):
    motion = made(name, seed, fps)
    found = detect_contacts(unmarked(motion)).contacts
    errors = []
    for k, point in enumerate(motion.contacts.names):
        if point not in found.names:  # hands are not detected by default
            continue
        assert f1(found.mask[:, found.index(point)], motion.contacts.mask[:, k]) >= 0.97, point
        errors += edge_errors(found, motion.contacts, point)
    assert np.mean(np.array(errors) <= 2) >= 0.95


@pytest.mark.parametrize("seed", [17, 21, 22, 38])
@pytest.mark.parametrize("name", ["run", "walk"])
def test_contacts_that_the_clip_cuts_are_neither_missed_nor_made_up(name, seed):
    """At 30 Hz a heel that leaves within the first frames moves as slowly as one that stands."""
    motion = sample(name, rng=seed, fps=30.0).motion
    found = detect_contacts(unmarked(motion)).contacts
    for k, point in enumerate(motion.contacts.names):
        assert f1(found.mask[:, found.index(point)], motion.contacts.mask[:, k]) >= 0.97, point


@pytest.mark.parametrize(
    ("noisy", "fps"),
    mostly_slow([(shaken, 60.0), (jittered, 120.0), (wobbling, 30.0)], "other kinds of noise on all samples", n_fast=1),
    ids=["whole body", "each joint", "leg rotations"],
)
def test_edges_stay_within_four_frames_in_noise(noisy, fps):
    """Noise of 3 mm along each axis. Hardest are balls that land softly, a few millimeters in a tenth of a second."""
    pooled = []
    for name in sample_names():
        errors = []
        for seed in range(shorten(2)):
            motion = made(name, seed, fps)
            found = detect_contacts(noisy(unmarked(motion), 0.003, seed)).contacts
            for point in found.names:  # hands are not detected by default
                errors += edge_errors(found, motion.contacts, point)
        pooled += errors
        assert np.mean(np.array(errors) <= 4) >= (0.8 if name == "turn_in_place" else 0.9), name
    assert np.mean(np.array(pooled) <= 4) >= 0.98


def test_a_foot_rolls_from_heel_to_toe():
    contacts = detect_contacts(sample("walk").motion).contacts
    heels, balls = contacts.intervals("left_heel"), contacts.intervals("left_ball")
    whole = [(h, b) for h in heels for b in balls if h[0] > 0 and b[1] < len(contacts) and h[0] < b[0] < h[1] < b[1]]
    assert len(whole) >= 3  # heel strike, foot flat, heel-off, toe-off, in this order


# Laws -----------------------------------------------------------------------------------------------------


def assert_same(a: Motion, b: Motion):
    np.testing.assert_array_equal(a.contacts.mask, b.contacts.mask)


@pytest.mark.parametrize("name", ["walk", "stairs", "kick"])
def test_where_and_which_way_does_not_matter(name):
    motion = shaken(sample(name).motion, 0.0005)
    moved = raised(motion.moved((2.1, 30.0, -12.0)), 1.5)
    assert_same(detect_contacts(moved), detect_contacts(motion))


@pytest.mark.parametrize("by", [0.3, 4.0])
@pytest.mark.parametrize("name", ["walk", "run", "stairs"])
def test_size_does_not_matter_where_gravity_paces_it(name, by):
    motion = shaken(sample(name).motion, 0.0005)
    assert_same(detect_contacts(scaled(motion, by)), detect_contacts(motion))


@pytest.mark.parametrize("name", ["walk", "run", "step_up_and_down"])
def test_the_rate_does_not_matter(name):
    slow, fast = (detect_contacts(sample(name, fps=fps).motion).contacts for fps in (30.0, 120.0))
    for point in slow.names:
        whole = [(a / 30, b / 30) for a, b in slow.intervals(point) if a > 0 and b < len(slow)]
        ends = np.array(fast.intervals(point)) / 120
        for span in whole:
            assert np.abs(ends - span).max(axis=1).min() <= 1.5 / 30


def test_left_and_right_are_treated_alike():
    way = [(0, 0, 0, 0), (1, 0, 0, 0), (1.4, 0.1, 0.3, 0.2), (1.8, 0, 0.6, 0), (3, 0, 0.6, 0)]
    step = Foot([(t, 0.1, y, z, pitch) for t, y, z, pitch in way])
    other = Foot([(t, -x, y, z, p) for t, x, y, z, p in step.keys])
    left = detect_contacts(puppet(step, standing(-0.1), HIPS, 3.0)).contacts
    right = detect_contacts(puppet(standing(0.1), other, HIPS, 3.0)).contacts
    np.testing.assert_array_equal(left.mask, right.mask[:, [2, 3, 0, 1]])


def test_detecting_again_changes_nothing():
    for motion in (sample("stairs").motion, shaken(sample("walk").motion, 0.002)):
        once = detect_contacts(motion)
        assert_same(detect_contacts(once), once)


def test_the_input_is_unchanged_and_the_floor_is_stored():
    motion = replace(unmarked(sample("walk").motion), contacts=sample("walk").motion.contacts)
    before = motion.contacts.mask.copy()
    found = detect_contacts(motion, floor=0.001)
    np.testing.assert_array_equal(motion.contacts.mask, before)
    assert motion.source.floor is None
    assert found.source.floor == 0.001
    assert found.rotations is motion.rotations
    assert len(found.labels) == len(motion.labels)


# Heights and noise ----------------------------------------------------------------------------------------


def test_each_point_rests_at_its_own_height():
    """The right foot is recorded two centimeters higher than the left, with the noise of a recording."""
    motion = puppet(standing(0.1), standing(-0.1, y=0.02), HIPS, 4.0)
    rng = np.random.default_rng(0)
    wander = 0.3 * np.cumsum(rng.normal(0, 0.0006, motion.bone_offsets.shape), axis=0)
    wander[:, 0] = 0.0
    recorded = replace(motion, bone_offsets=motion.bone_offsets + wander)
    assert detect_contacts(recorded).contacts.mask.mean() > 0.8


def test_a_raised_heel_has_no_contact():
    """A boxer's rear heel is three centimeters up in every frame."""
    motion = puppet(standing(0.1), Foot([(0, -0.1, 0, 0, 0.17), (9, -0.1, 0, 0, 0.17)]), HIPS, 4.0)
    contacts = detect_contacts(motion).contacts
    assert contacts.intervals("right_heel") == ()
    assert contacts.intervals("right_ball") == ((0, len(motion)),)


def test_a_floor_below_joints_that_lie_inside_the_foot_may_be_given():
    motion = raised(replace(sample("walk").motion, contacts=None), 0.042)
    assert_same(detect_contacts(motion, floor=0.0), detect_contacts(motion))


def test_with_a_floor_far_below_nothing_touches():
    """Unless the character counts as walking on something two meters high."""
    motion = sample("walk").motion
    assert not detect_contacts(motion, floor=-2.0, planes=()).contacts.mask.any()
    assert find_contacts(motion, floor=-2.0).raised == pytest.approx((2.0,), abs=1e-3)


def test_the_floor_noted_with_the_motion_counts_and_one_given_counts_more():
    motion = sample("walk").motion
    sunk = replace(motion, source=replace(motion.source, floor=-2.0))
    assert find_contacts(sunk, planes=()).floor == -2.0
    assert not detect_contacts(sunk, planes=()).contacts.mask.any()
    assert find_contacts(sunk, floor=0.0).floor == 0.0
    assert detect_contacts(sunk, floor=0.0).contacts.mask.any()


# Points and hands -----------------------------------------------------------------------------------------


def test_points_that_the_motion_defines_are_used_as_defined():
    walk = sample("walk").motion
    toe = walk.skeleton.roles["left_toe_tip"]
    own = (ContactPoint("left_ball", toe, np.zeros(3)), ContactPoint("tail", 0, np.zeros(3)))
    given = replace(walk, contacts=Contacts(own, np.zeros((len(walk), 2), dtype=bool)))
    contacts = detect_contacts(given).contacts
    assert contacts.names == ("left_heel", "left_ball", "right_heel", "right_ball", "tail")
    assert contacts.points[1].joint == toe
    assert contacts.points[0].joint == walk.skeleton.roles["left_foot"]
    assert contacts.intervals("tail") == ()
    assert contacts.intervals("left_ball")


def test_hands_on_the_floor_and_on_a_table():
    skeleton = body_skeleton()
    rotations = quat.identity((90, len(skeleton)))
    down = quat.from_axis_angle([0.0, 0.0, 1.0], -np.pi / 2)
    rotations[:, skeleton.roles["left_upper_arm"]] = down  # one arm hangs, the other is held out
    feet = 0.06 + 0.43 + 0.42 + 0.08
    motion = Motion(skeleton, np.tile([0.0, feet, 0.0], (90, 1)), rotations, 60.0)
    tip = motion.world().positions[0, skeleton.roles["left_fingertips"], 1]
    floor_only = detect_contacts(motion, hands=True).contacts
    assert floor_only.intervals("left_fingertips") == floor_only.intervals("right_wrist") == ()
    table = detect_contacts(motion, hands=True, planes=[tip]).contacts
    assert table.intervals("left_fingertips") == ((0, 90),)
    assert table.intervals("right_fingertips") == ()
    assert table.intervals("left_ball") == ((0, 90),)


def handstand(rise: float, fps: float = 60.0) -> Motion:
    """Two seconds each upright and on its hands, which are recorded 15 cm up and drift upward at `rise` m/s."""
    skeleton = body_skeleton()
    turn = np.pi * np.r_[np.zeros(120), np.linspace(0.0, 1.0, 60), np.ones(120)]
    rotations = quat.identity((len(turn), len(skeleton)))
    rotations[:, 0] = quat.from_axis_angle([1.0, 0.0, 0.0], turn)
    up = quat.from_axis_angle([0.0, 0.0, 1.0], np.pi / 2)
    rotations[:, skeleton.roles["left_upper_arm"]] = up
    rotations[:, skeleton.roles["right_upper_arm"]] = quat.inv(up)
    motion = Motion(skeleton, np.zeros((len(turn), 3)), rotations, fps)
    joints, on_hands = motion.world().positions, turn > np.pi / 2
    stands_on = np.where(on_hands[:, None], joints[:, skeleton.roles["left_fingertips"]],
                         joints[:, skeleton.roles["left_toe_tip"]])  # fmt: skip
    root = -stands_on * [0.0, 1.0, 1.0]
    root[on_hands, 1] += 0.15 + rise * np.arange(on_hands.sum()) / fps
    return replace(motion, root_positions=root)


def test_hands_that_bear_the_body_are_planted_although_recorded_in_the_air():
    for rise in (0.0, 0.05):
        motion = handstand(rise)
        contacts = detect_contacts(motion, hands=True).contacts
        for point in ("left_wrist", "left_fingertips", "right_wrist", "right_fingertips"):
            ((start, stop),) = contacts.intervals(point)
            assert 145 < start < 160
            assert stop == len(motion)
        assert not contacts.mask[150:, :4].any()
        assert detect_contacts(motion).contacts.names == contacts.names[:4]


def test_raised_hands_have_no_contacts_while_a_foot_is_planted():
    """Hands hang as low and move as slowly with the head below the hips, but the feet are on the floor."""
    skeleton = body_skeleton()
    motion = sample("stand", seconds=3.0).motion
    rotations = motion.rotations.copy()
    bent = quat.from_axis_angle([1.0, 0.0, 0.0], 2.2)
    rotations[:, skeleton.roles.spine[0]] = quat.mul(bent, rotations[:, skeleton.roles.spine[0]])
    bowed = replace(unmarked(motion), rotations=rotations)
    joints, roles = bowed.world().positions, bowed.skeleton.roles
    assert (joints[:, roles["head"], 1] < joints[:, roles["hips"], 1]).all()
    assert not detect_contacts(bowed, hands=True).contacts.mask[:, 4:].any()


@pytest.mark.parametrize("name", ["hop", "leap", "run", "punch_grid", "reach_grid", "duck"])
def test_samples_bear_nothing_on_their_hands(name):
    assert not detect_contacts(unmarked(sample(name).motion), hands=True).contacts.mask[:, 4:].any()


# Editing --------------------------------------------------------------------------------------------------


def test_contacts_can_be_edited_in_the_sidecar(tmp_path):
    path = tmp_path / "walk.bvh"
    marey.save(detect_contacts(sample("walk").motion), path)
    side = tmp_path / "walk.marey.json"
    first = marey.load(path).contacts.intervals("left_ball")[1]
    content = json.loads(side.read_text())
    content["contacts"]["intervals"]["left_ball"][1] = [first[0] + 2, first[1] - 3]
    side.write_text(json.dumps(content))
    edited = marey.load(path)
    assert edited.contacts.intervals("left_ball")[1] == (first[0] + 2, first[1] - 3)


# Choices and bad input ------------------------------------------------------------------------------------


def test_thresholds_choose_what_counts():
    slow_slide = Foot([(0, 0.1, 0, 0, 0), (10, 0.1, 0, 1.0, 0)])
    motion = puppet(slow_slide, standing(-0.1), HIPS, 10.0)
    strict = detect_contacts(motion, enter_speed=0.02, keep_speed=0.03).contacts
    assert strict.mask[:, 1].mean() < detect_contacts(motion).contacts.mask[:, 1].mean()
    long = detect_contacts(sample("run").motion, duration=1.0).contacts
    assert not long.mask[1:-1].all(axis=0).any()
    assert long.mask.sum() < detect_contacts(sample("run").motion).contacts.mask.sum() / 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"enter_speed": 0.7}, "enter_speed must be at most 0.6 .the value of `keep_speed=`., not 0.7"),
        ({"enter_height": 0.0}, "enter_height must be greater than 0 meters, not 0"),
        ({"gap": -1.0}, "gap must be at least 0 seconds, not -1.0"),
        ({"duration": float("nan")}, "duration must be a finite number of seconds, not nan"),
        ({"duration": "long"}, "duration must be a number of seconds, not 'long'"),
    ],
)
def test_wrong_thresholds_are_refused(given, message):
    with pytest.raises(InvalidValue, match=message):
        ContactSettings(**given)


def test_bad_input_raises_a_one_sentence_error():
    walk = sample("walk").motion
    with pytest.raises(InvalidValue, match="'walk' must have at least 4 frames for contacts to be detected, not 1"):
        detect_contacts(walk[3])
    with pytest.raises(InvalidValue, match=r"a plane must be a height in meters or .*not 'high'"):
        detect_contacts(walk, planes=["high"])
    with pytest.raises(InvalidValue, match="floor must be a finite number of meters or None, not nan"):
        detect_contacts(walk, floor=float("nan"))
    wrong = walk.skeleton.with_roles({"left_foot": "Head"})
    with pytest.raises(InvalidValue, match="left foot 'Head' is not a descendant of the left thigh 'LeftUpLeg'"):
        detect_contacts(replace(walk, skeleton=wrong, contacts=None))


def test_motions_without_legs_or_rest_raise_a_one_sentence_error():
    box = Skeleton(("Box", "Lid"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0, 0.3, 0]]))
    with pytest.raises(JointNotFound, match="role 'left_foot' was not found"):
        detect_contacts(Motion(box, np.zeros((9, 3)), quat.identity((9, 2)), 30.0))
    walk = unmarked(sample("walk").motion)
    fast = walk.root_positions + np.arange(len(walk))[:, None] * np.array([0.05, 0.0, 0.0])
    with pytest.raises(InvalidValue, match="no foot comes to rest"):
        detect_contacts(replace(walk, root_positions=fast))


def test_the_result_has_floor_and_supports():
    found = find_contacts(sample("stairs").motion)
    assert found.floor == pytest.approx(0.0, abs=1e-6)
    steps = np.diff([0.0, *found.raised])
    assert len(steps) >= 3
    np.testing.assert_allclose(steps, steps[0], atol=1e-3)


@pytest.mark.parametrize("floor", [5.0, 0.2])
def test_a_floor_far_above_the_feet_is_refused(floor):
    motion = replace(sample("walk", seconds=2.0).motion, contacts=None)
    with pytest.raises(
        InvalidValue,
        match=f"nothing touches the floor at {floor:.3f} m; feet at rest are at 0.000 m; check `floor=`, or",
    ):
        detect_contacts(motion, floor=floor)
    assert detect_contacts(motion, floor=0.02).contacts.mask.any()
