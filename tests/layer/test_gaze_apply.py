"""Looks added to motions: goals are met, parts follow one another, nothing jumps, and legs do not change."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from marey.core import Motion, Skeleton
from marey.errors import InvalidValue, JointNotFound, MareyWarning
from marey.io import load_motion
from marey.layer import gaze_follow
from marey.layer.gaze_body import GazeBody
from marey.layer.gaze_capture import gaze_example
from marey.layer.gaze_map import GazeMap
from marey.layer.gaze_model import GazeShift, angles_to_direction
from marey.maths import quat
from marey.samples import sample
from marey.samples.gaze import gaze_take
from tests.twins.gaze import looking, turned_joints


@pytest.fixture(scope="module")
def gaze():
    return GazeMap.default()


def standing(seconds=3.0, fps=60.0):
    """Return a character that does not move."""
    pose = sample("stand", variation=0.0, seconds=1.0, fps=fps).motion[0]
    n = round(seconds * fps) + 1
    return replace(
        pose,
        root_positions=np.repeat(pose.root_positions, n, axis=0),
        rotations=np.repeat(pose.rotations, n, axis=0),
        contacts=None,
    )


@pytest.fixture(scope="module")
def walk():
    return sample("walk", turn_rate=0.3, seconds=6.0).motion


def rates(rotations, fps):
    """Return angular velocities (F - 1, ...) in rad/s, in the joint's own axes."""
    return quat.log(quat.inv_mul(rotations[:-1], rotations[1:])) * fps


def angle(a, b):
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=-1), (a * b).sum(axis=-1)))


GOALS = np.random.default_rng(5).uniform(np.radians([-150, -36]), np.radians([150, 36]), (25, 2))


@pytest.mark.parametrize("goal", [*GOALS, np.radians([150.0, 36.0]), np.radians([-150.0, 0.0])])
def test_a_goal_is_met_at_the_end_of_the_look(gaze, goal):
    track = gaze.trace(standing(), [(0.5, *goal)])
    end = math.ceil(track.looks[0].end * 60.0)
    assert np.degrees(track.misses(model=True)[end:]).max() < 1.0
    assert np.degrees(track.misses()[end:]).max() < 0.05
    assert track.notes == ()
    # The eyes are where the head of the motion itself has them.
    world = track.motion.world().rotations[:, track.motion.skeleton.roles["head"]]
    ahead = quat.inv_rotate(world[0], np.array([0.0, 0.0, 1.0]))
    seen = quat.rotate(quat.mul(world, track.eyes), ahead)
    assert angle(seen, track.directions).max() < 1e-4
    assert angle(seen[end:], angles_to_direction(goal)).max() < 0.05


def test_a_look_is_the_models(gaze):
    motion, goal = standing(), (1.3, 0.25)
    track = gaze.trace(motion, [(0.5, *goal)])
    shift = gaze.shift(goal)
    roles = motion.skeleton.roles
    twin = turned_joints(motion, shift, 0.5, list(roles.spine), [roles["neck"], roles["head"]])
    assert np.degrees(quat.angle_between(track.motion.rotations, twin)).max() < 0.01
    for frame in (45, 60, 70, 80, 100):
        assert angle(looking(shift, frame / 60.0 - 0.5), angles_to_direction(track.model[frame])) < 0.01


def test_parts_start_in_order_and_overshoot_as_the_model_does(gaze):
    motion = standing(fps=240.0)
    for goal in ((1.2, 0.3), (-1.2, -0.2), (2.5, 0.0)):
        track = gaze.trace(motion, [(0.5, *goal)])
        shift = track.looks[0].shift
        roles = motion.skeleton.roles
        joints = [*roles.spine, roles["neck"]]
        turned = quat.angle(quat.inv_mul(motion.rotations[:, joints], track.motion.rotations[:, joints]))
        turned = np.concatenate([turned, quat.angle(track.eyes)[:, None]], axis=1)
        starts = (turned > 1e-6).argmax(axis=0) / 240.0 - 0.5
        assert (np.diff(starts) < 0.0).all()  # pelvis last, eyes first
        np.testing.assert_allclose(starts, [*(shift.starts * shift.length), 0.0], atol=2.5 / 240.0)
        np.testing.assert_allclose(turned.max(axis=0) / turned[-1] - 1.0, shift.overshoot, rtol=0.02)
        past = angle(angles_to_direction(track.gaze), angles_to_direction((0.0, 0.0))).max()
        assert past > angle(angles_to_direction(goal), angles_to_direction((0.0, 0.0))) * (1.0 + 0.5 * shift.overshoot)


def test_left_and_right_stay_different(gaze):
    motion = standing()
    spine = list(motion.skeleton.roles.spine)
    turned = []
    for side in (1.0, -1.0):
        result = gaze.apply(motion, [(0.5, side * 2.0, 0.0)])
        turned.append(quat.angle(quat.inv_mul(motion.rotations[-1, spine], result.rotations[-1, spine])).sum())
    assert turned[1] > 1.1 * turned[0]


def test_no_velocity_jumps(gaze):
    """At twice the frame rate, changes per frame are half as large, also if a look interrupts another, and on the way
    back."""
    goals = [(0.4, 1.2, 0.3), (0.8, -1.5, -0.2), (2.5, None)]
    jumps = []
    for fps in (120.0, 240.0):
        track = gaze.trace(standing(4.0, fps), goals)
        turning = np.concatenate([rates(track.motion.rotations, fps), rates(track.eyes[:, None], fps)], axis=1)
        assert np.degrees(np.linalg.norm(turning, axis=2).max()) > 50.0
        jumps.append(np.linalg.norm(np.diff(turning, axis=0), axis=2).max())
    assert jumps[1] < 0.55 * jumps[0]


@pytest.mark.parametrize("moment", [1.02, 1.1, 1.3, 1.6, 2.5])
def test_a_look_that_breaks_off_another_overshoots_from_where_the_gaze_was(gaze, moment):
    """The overshoot is the model's fraction of the remaining angle, not of the angle between the two goals."""
    goal = math.radians(100.0)
    track = gaze.trace(standing(5.0), [(1.0, -goal, 0.0), (moment, goal, 0.0)])
    frame = math.ceil(moment * 60.0)
    here = math.degrees(track.gaze[frame, 0])
    beyond = math.degrees(track.gaze[:, 0].max()) - 100.0
    assert beyond == pytest.approx(track.looks[1].shift.overshoot * (100.0 - here), rel=0.1, abs=0.5)
    assert math.degrees(track.looks[1].shift.goal[0]) == pytest.approx(min(100.0 - here, 150.0), abs=4.0)
    if moment <= 1.1:
        assert beyond < 12.0
    assert np.degrees(track.misses()[-1]) < 0.05


@pytest.mark.parametrize("goal", [(170.0, 0.0), (-180.0, 0.0), (60.0, 60.0), (0.0, -70.0)])
def test_neck_and_trunk_follow_a_goal_outside_the_map(gaze, goal):
    still = standing()
    track = gaze.trace(still, [(0.5, *np.radians(goal))])
    assert not track.notes
    assert np.degrees(track.misses()[math.ceil(track.looks[0].end * 60.0) :]).max() < 0.05
    assert np.degrees(track.eye_angles[-1]) < 35.0
    assert np.degrees(np.abs(np.diff(rates(track.motion.rotations, 60.0), axis=0))).max() < 60.0
    spine = still.skeleton.roles["spine"]
    legs = [joint for joint in range(still.rotations.shape[1]) if spine not in still.skeleton.chain(joint)]
    assert np.array_equal(track.motion.rotations[:, legs], still.rotations[:, legs])


def test_a_look_that_begins_before_the_first_frame_is_held():
    raw = np.full((30, 4, 3), 0.2)
    held = gaze_follow._hold_between(raw, np.zeros(30, dtype=np.int64), np.ones(30), 30.0)
    np.testing.assert_allclose(held, raw, atol=1e-12)


def test_a_goal_beyond_what_the_body_can_do_is_reported(gaze, monkeypatch):
    for part in ("_NECK", "_TRUNK"):
        monkeypatch.setattr(gaze_follow, part, np.radians([50.0, 20.0]))
    with pytest.warns(MareyWarning, match=r"yaw 180 and pitch 0 degrees, is out of reach: .* misses it by \d+"):
        track = gaze.trace(standing(), [(0.5, math.radians(180.0), 0.0)])
    assert np.degrees(track.goals[-1]) == pytest.approx([180.0, 0.0], abs=1e-9)
    assert np.degrees(track.misses()[-1]) > 1.0


def test_a_trunk_that_is_twisted_in_a_walk_is_reported(gaze, walk):
    with pytest.warns(MareyWarning, match=r"the trunk is twisted by \d\d degrees at 1\.\d\d s, to look that far back"):
        track = gaze.trace(walk, [(0.5, math.radians(160.0), 0.0)])
    assert len(track.notes) == 1
    for motion, yaw in ((walk, 90.0), (standing(), 160.0)):  # a character that stands can turn hips and legs
        assert not gaze.trace(motion, [(0.5, math.radians(yaw), 0.0)]).notes


def test_a_look_of_the_clip_itself_is_followed_by_the_body(gaze, walk):
    """The head of the clip turns 80 degrees to both sides: the eyes alone would miss by tens of degrees."""
    head = walk.skeleton.roles["head"]
    aside = np.radians(80.0) * np.sin(2.0 * np.pi * 0.4 * np.arange(len(walk)) / walk.fps)
    rotations = walk.rotations.copy()
    rotations[:, head] = quat.mul(rotations[:, head], quat.from_axis_angle([0.0, 1.0, 0.0], aside))
    track = gaze.trace(replace(walk, rotations=rotations), [(0.5, -1.9, 0.0)])
    assert np.degrees(track.misses()[math.ceil(track.looks[0].end * 60.0) :]).max() < 1.0


def test_a_goal_inside_the_map_is_met_where_the_base_looks_away_from_it(gaze):
    """The body cannot turn as far as the goal is from the direction of the clip's own head: the eyes do the rest."""
    still = standing()
    head = still.skeleton.roles["head"]
    rotations = still.rotations.copy()
    rotations[:, head] = quat.mul(rotations[:, head], quat.from_axis_angle([0.0, 1.0, 0.0], np.radians(-8.0)))
    track = gaze.trace(replace(still, rotations=rotations), [(0.5, math.radians(149.0), 0.0)], forward="rest")
    assert np.degrees(track.misses()[-1]) < 0.05
    assert track.notes == ()


def test_eyes_of_a_nonsensical_map_are_limited(gaze):
    wild = GazeMap.build(
        [
            GazeShift(
                (yaw, 0.0), [*quat.identity(4), quat.from_axis_angle([0.0, 1.0, 0.0], yaw)], 0.8, [0.1] * 4, 0.6, 0.1
            )
            for yaw in (-1.9, 1.9)
        ]
    )
    track = wild.trace(standing(), [(0.5, 1.8, 0.0)])
    assert np.degrees(track.eye_angles.max()) < 65.0
    assert np.degrees(track.misses()[-1]) < 0.05  # neck and trunk follow


def test_on_a_walk_the_goal_is_held_and_the_legs_are_left_alone(gaze, walk):
    track = gaze.trace(walk, [(1.0, 1.2, 0.2), (3.5, -1.0, 0.0)])
    for look, stop in zip(track.looks, (3.5, 6.0), strict=True):
        span = slice(math.ceil(look.end * 60.0), round(stop * 60.0))
        assert np.degrees(track.misses()[span]).max() < 0.05
    assert np.degrees(track.eye_angles.max()) < 35.0
    chain = list(GazeBody.from_skeleton(walk.skeleton).chain)
    others = [joint for joint in range(len(walk.skeleton)) if joint not in chain]
    assert np.array_equal(track.motion.rotations[:, others], walk.rotations[:, others])
    assert np.array_equal(track.motion.root_positions, walk.root_positions)
    assert np.array_equal(track.motion.rotations[:60], walk.rotations[:60])
    assert track.motion.contacts is walk.contacts
    assert track.motion.source.provenance[-1]["op"] == "gaze"


def test_the_low_passed_gaze_of_the_base_is_subtracted(gaze):
    base = sample("look_around").motion
    track = gaze.trace(base, [(0.3, 0.4, 0.0)], forward="rest")
    own = gaze.trace(base, [(base.duration, None)], forward="rest")
    assert np.degrees(np.ptp(own.gaze[:, 0])) > 60.0  # the clip itself looks around
    assert np.degrees(track.misses()[90:]).max() < 0.1
    assert np.degrees(track.eye_angles.max()) < 35.0


def test_bobbing_is_taken_up_or_not(gaze, walk):
    steady, bobbing = (gaze.trace(walk, [(0.5, 0.8, 0.0)], steady=steady) for steady in (True, False))
    assert np.degrees(np.std(bobbing.gaze[150:], axis=0)).max() > 0.3
    assert np.degrees(np.std(steady.gaze[150:], axis=0)).max() < 1e-3
    assert np.array_equal(steady.motion.rotations, bobbing.motion.rotations)


def test_a_point_is_followed_while_the_body_moves(gaze, walk):
    point = np.array([7.0, 1.2, 9.0])
    track = gaze.trace(walk, [(1.0, point)])
    away = angle(track.directions, point - track.places)
    settled = slice(math.ceil(track.looks[0].end * 60.0), None)
    assert away[settled].max() < 0.05
    assert np.degrees(np.ptp(track.gaze[settled, 0])) > 30.0
    result = gaze.look_at(walk, [(1.0, point)])
    assert np.array_equal(result.rotations, track.motion.rotations)
    jump = np.abs(np.diff(np.diff(track.gaze, axis=0), axis=0)).max()
    assert np.degrees(jump) < 1.0


def test_a_point_that_passes_behind_is_taken_up_from_the_other_side(gaze):
    round_about = sample("walk", turn_rate=1.2, seconds=6.0, speed=0.9).motion
    track = gaze.trace(round_about, [(0.2, (30.0, 1.5, 0.0))])
    assert len(track.looks) > 1
    assert track.looks[1].time > 0.2
    turning = rates(track.motion.rotations, 60.0)
    assert np.degrees(np.linalg.norm(turning - rates(round_about.rotations, 60.0), axis=2).max()) < 200.0


def test_back_is_the_motion_itself(gaze, walk):
    track = gaze.trace(walk, [(0.5, 1.0, 0.2), (2.0, None)])
    after = math.ceil(track.looks[1].end * 60.0)
    assert np.degrees(quat.angle_between(track.motion.rotations[after:], walk.rotations[after:])).max() < 1e-5
    assert np.degrees(quat.angle(track.eyes[after:])).max() < 1e-5
    assert np.isnan(track.goals[after:]).all()
    assert np.isnan(track.goals[:30]).all()


def test_a_head_that_shakes_faster_than_the_body_follows_is_reported(gaze, walk):
    shaking = replace(walk, rotations=_shaken(walk, 45.0))
    with pytest.warns(MareyWarning, match=r"the gaze target at 0.50 s, yaw 46 .* misses it by"):
        track = gaze.trace(shaking, [(0.5, 0.8, 0.0)])
    assert np.degrees(track.eye_angles.max()) < 44.0


def _shaken(motion, degrees):
    rotations = motion.rotations.copy()
    head = motion.skeleton.roles["head"]
    shake = np.radians(degrees) * np.sin(2.0 * np.pi * 4.0 * np.arange(len(motion)) / motion.fps)
    rotations[:, head] = quat.mul(rotations[:, head], quat.from_axis_angle([0.0, 1.0, 0.0], shake))
    return rotations


def test_eyes_as_joints(gaze, walk):
    track = gaze.trace(walk, [(1.0, 1.0, 0.3)], eyes="add")
    result = track.motion
    assert result.skeleton.names[-2:] == ("Eyes", "EyesEnd")
    assert dict(result.skeleton.roles) == dict(walk.skeleton.roles)
    world = result.world()
    points = world.positions[:, -1] - world.positions[:, -2]
    assert angle(points, track.directions).max() < 1e-4
    np.testing.assert_allclose(world.positions[:, -2], track.places, atol=1e-9)
    given = gaze.trace(
        replace(result, rotations=quat.mul(result.rotations, quat.identity())), [(2.0, None)], eyes=["Eyes"]
    )
    assert np.degrees(quat.angle_between(given.motion.rotations, result.rotations)).max() < 1e-5
    with pytest.raises(InvalidValue, match="already has a joint 'Eyes'"):
        gaze.apply(result, [(1.0, 1.0, 0.3)], eyes="add")
    with pytest.raises(
        InvalidValue,
        match="joint 'LeftHand' cannot be an eye, because it is not a child of the head joint 'Head'; leave",
    ):
        gaze.apply(walk, [(1.0, 1.0, 0.3)], eyes=["LeftHand"])
    with pytest.raises(InvalidValue, match="eyes must be 'add' or a list of children of the head joint, not"):
        gaze.apply(walk, [(1.0, 1.0, 0.3)], eyes="Eyes")
    with pytest.raises(JointNotFound, match="joint 'LeftEye' not in skeleton"):
        gaze.apply(walk, [(1.0, 1.0, 0.3)], eyes=["LeftEye"])


def test_straight_ahead_is_the_clips_the_rest_poses_or_given(gaze):
    still = standing()
    head = still.skeleton.roles["head"]
    rotations = still.rotations.copy()
    rotations[:, head] = quat.mul(rotations[:, head], quat.from_axis_angle([1.0, 0.0, 0.0], np.radians(15.0)))
    bowed = replace(still, rotations=rotations)
    by_clip, by_rest = (gaze.trace(bowed, [(3.0, None)], forward=how).gaze[0] for how in ("clip", "rest"))
    np.testing.assert_allclose(np.degrees(by_clip), [0.0, 0.0], atol=0.5)
    assert np.degrees(by_rest[1]) < -10.0
    given = gaze.trace(bowed, [(3.0, None)], forward=(0.0, 1.0, 0.0)).gaze[0]
    assert np.degrees(given[1]) > 60.0
    for wrong in ("nose", (0.0, 0.0, 0.0), (1.0, 2.0)):
        with pytest.raises(InvalidValue):
            gaze.apply(bowed, [(1.0, 0.1, 0.1)], forward=wrong)


@pytest.mark.parametrize(
    ("goals", "message"),
    [
        ([], "at least one gaze target"),
        (3, "goals must be a list"),
        (
            [(1.0, 60.0, 10.0)],
            r"the gaze target at 1 s must be angles in radians, yaw from -3.142 to 3.142, not 60; convert degrees",
        ),
        ([(1.0, "left", 0.0)], "must be two angles in radians"),
        ([(1.0, np.nan, 0.0)], "must be two angles in radians"),
        ([(1.0,)], r"a gaze target must be"),
        ([(1.0, 0.1, 0.2, 0.3)], r"a gaze target must be"),
        ([(1.0, (1.0, 2.0))], "the point to look at from 1 s must be x, y and z in meters"),
        ([(-1.0, 0.1, 0.2)], "the time of a gaze target must be a number of at least 0"),
        ([(7.0, 0.1, 0.2)], "the gaze target at 7 s is outside walk, which ends at 6.00 s"),
        (
            [(1.0, 0.1, 0.2), (1.0, 0.3, 0.2)],
            "the times of gaze targets must be strictly increasing, not 1 s followed by 1 s",
        ),
    ],
)
def test_goals_that_are_none_are_refused(gaze, walk, goals, message):
    with pytest.raises(InvalidValue, match=message):
        gaze.apply(walk, goals)


def test_look_at_takes_points_alone(gaze, walk):
    with pytest.raises(InvalidValue, match=r"in seconds and meters, not"):
        gaze.look_at(walk, [(1.0, 0.2, 0.3)])


def test_missing_roles_are_reported(gaze, walk):
    names = tuple(f"b{j}" for j in range(len(walk.skeleton)))
    bare = Skeleton(names, walk.skeleton.parents, np.random.default_rng(1).uniform(-0.2, 0.2, (len(names), 3)))
    with pytest.raises(JointNotFound, match="role 'head' was not found among the skeleton's 27 joints; say which"):
        gaze.apply(replace(walk, skeleton=bare, contacts=None), [(1.0, 0.2, 0.3)])
    with pytest.raises(
        JointNotFound,
        match="must be a descendant of the first spine joint 'LeftUpLeg' to be rotated by a look; correct the",
    ):
        gaze.apply(replace(walk, skeleton=walk.skeleton.with_roles({"spine": "LeftUpLeg"})), [(1.0, 0.2, 0.3)])


@pytest.mark.parametrize("n_spine", [1, 2, 3, 5])
def test_any_number_of_spine_joints_gives_the_same_gaze(gaze, n_spine):
    chain = [f"Spine{k}" for k in range(n_spine)]
    names = ["Hips", *chain, "Neck", "Head", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot"]
    names += [f"{side}{part}" for side in ("Left", "Right") for part in ("Arm", "ForeArm", "Hand")]
    above = {"Spine0": "Hips", "Neck": chain[-1], "Head": "Neck"} | {b: a for a, b in itertools.pairwise(chain)}
    for side in ("Left", "Right"):
        above |= {f"{side}UpLeg": "Hips", f"{side}Leg": f"{side}UpLeg", f"{side}Foot": f"{side}Leg"}
        above |= {f"{side}Arm": chain[-1], f"{side}ForeArm": f"{side}Arm", f"{side}Hand": f"{side}ForeArm"}
    offsets = np.zeros((len(names), 3))
    for j, name in enumerate(names[1:], start=1):
        sign = 1.0 if name.startswith("Left") else -1.0 if name.startswith("Right") else 0.0
        side = 0.1 if "UpLeg" in name else 0.2 if "Arm" in name or "Hand" in name else 0.0
        offsets[j] = [
            sign * side,
            -0.4 if "Leg" in name or "Foot" in name else 0.0 if sign else 0.5 / (n_spine + 1),
            0.0,
        ]
    skeleton = Skeleton(tuple(names), np.array([-1, *(names.index(above[name]) for name in names[1:])]), offsets)
    body = GazeBody.from_skeleton(skeleton)
    assert len(body.chain) == n_spine + 2
    np.testing.assert_allclose(body.fractions[-1], 1.0)
    assert (np.diff(body.fractions, axis=0) >= 0.0).all()
    still = Motion(skeleton, np.zeros((151, 3)), np.broadcast_to(quat.identity(), (151, len(names), 4)), 60.0)
    track = gaze.trace(still, [(0.2, 1.4, -0.2)])
    assert np.degrees(track.misses(model=True)[-1]) < 1.0
    assert np.degrees(track.misses()[-1]) < 0.05


def test_a_look_that_was_applied_can_be_captured_again(gaze):
    """The reverse: a map's look of a character at rest, used as an example, gives that look."""
    result = gaze.apply(standing(4.0), [(1.0, 1.4, 0.2)])
    found, truth = gaze_example(result, (1.4, 0.2)), gaze.shift((1.4, 0.2))
    assert np.degrees(quat.angle_between(found.pose, truth.pose)).max() < 0.2
    assert np.abs(found.starts * found.length - truth.starts * truth.length).max() < 1.0 / 60.0
    assert found.overshoot == pytest.approx(truth.overshoot, rel=0.02)


def test_a_map_of_ones_own_looks_like_its_person(gaze):
    takes = [gaze_take(yaw, pitch) for yaw in (-1.2, 0.0, 1.2) for pitch in (-0.4, 0.0, 0.4) if (yaw, pitch) != (0, 0)]
    stiff = [
        GazeShift(
            take.goal,
            np.concatenate([np.tile(quat.identity(), (3, 1)), take.pose[3:4], _eyes(take)]),
            take.length,
            take.starts,
            take.peak,
            0.0,
        )
        for take in takes
    ]
    track = GazeMap.build(stiff).trace(standing(), [(0.5, 0.6, 0.2)])
    roles = track.motion.skeleton.roles
    moved = quat.angle(quat.inv_mul(standing().rotations[-1], track.motion.rotations[-1]))
    assert np.degrees(moved[list(roles.spine)]).max() < 1e-6
    assert np.degrees(moved[roles["neck"]]) > 2.0
    assert np.degrees(track.misses()[-1]) < 0.05


def _eyes(take):
    return quat.between([0.0, 0.0, 1.0], quat.inv_rotate(take.pose[3], angles_to_direction(take.goal)))[None]


# Real capture ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "fps"),
    [("077/77_01", None), ("111/111_36", None), ("143/143_17", 60.0), ("143/143_32", 60.0), ("016/16_15", None)],
)
def test_looks_on_real_clips(gaze, data_folder, name, fps):
    path = data_folder / "cmu" / f"{name}.bvh"
    if not path.exists():
        pytest.skip(f"no {path}")
    motion = load_motion(path, **({} if fps is None else {"file_fps": fps}))
    stop = 0.85 * motion.duration
    track = gaze.trace(motion, [(0.15 * motion.duration, 1.0, 0.1), (stop, None)])
    span = slice(math.ceil(track.looks[0].end * motion.fps), round(stop * motion.fps))
    free = track.eye_angles[span] < np.radians(35.0)
    assert free.mean() > 0.95
    assert np.degrees(track.misses()[span][free]).max() < 0.05
    chain = list(GazeBody.from_skeleton(motion.skeleton).chain)
    before, after = (np.abs(np.diff(rates(m.rotations[:, chain], m.fps), axis=0)).max() for m in (motion, track.motion))
    assert after < 1.1 * before + 0.2
    legs = [joint for joint in range(len(motion.skeleton)) if joint not in chain]
    assert np.array_equal(track.motion.rotations[:, legs], motion.rotations[:, legs])
