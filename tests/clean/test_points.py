"""Heels, balls and hands, and their paths."""

import numpy as np
import pytest

from marey.clean import contact_points, find_contacts, point_paths
from marey.clean.points import place_joints
from marey.core import ContactPoint, Motion, Skeleton
from marey.errors import InvalidValue, JointNotFound
from marey.maths import quat
from marey.samples import body_skeleton, sample
from tests.core.skeletons import RIGS

NAMES = ("left_heel", "left_ball", "right_heel", "right_ball")
HANDS = ("left_wrist", "left_fingertips", "right_wrist", "right_fingertips")


def rest_place(skeleton, point):
    return skeleton.rest_positions[point.joint] + point.offset


def test_each_foot_has_heel_and_ball_and_hands_are_optional():
    skeleton = body_skeleton()
    assert tuple(point.name for point in contact_points(skeleton)) == NAMES
    assert tuple(point.name for point in contact_points(skeleton, hands=True)) == NAMES + HANDS


def test_a_heel_lies_level_with_the_ball_behind_the_ankle():
    skeleton = body_skeleton()
    places = {point.name: rest_place(skeleton, point) for point in contact_points(skeleton)}
    ankle = skeleton.rest_positions[skeleton.roles["left_foot"]]
    assert places["left_heel"][1] == pytest.approx(places["left_ball"][1], abs=2e-6)
    behind = 0.36 * np.linalg.norm(skeleton.offsets[skeleton.roles["left_ball"]])
    assert ankle[2] - places["left_heel"][2] == pytest.approx(behind, abs=2e-6)


def test_the_points_of_generated_samples_are_the_usual_ones():
    motion = sample("walk").motion
    for given, usual in zip(motion.contacts.points, contact_points(motion.skeleton), strict=True):
        assert given.name == usual.name
        assert given.joint == usual.joint
        np.testing.assert_allclose(given.offset, usual.offset, atol=1e-3)


def test_a_floor_under_the_rest_pose_puts_the_points_on_it():
    skeleton = body_skeleton()
    floor = skeleton.rest_positions[:, 1].min() - 0.03
    for point in contact_points(skeleton, floor=floor):
        assert rest_place(skeleton, point)[1] == pytest.approx(floor, abs=2e-6)


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.label)
def test_every_known_rig_has_points_or_a_reason(rig):
    skeleton = Skeleton(rig.names, rig.parents, rig.offsets)
    still = Motion(skeleton, np.zeros((4, 3)), quat.identity((4, len(skeleton))), 30.0)
    points = contact_points(skeleton, hands=True, standing=still)
    assert {point.name.partition("_")[0] for point in points} == {"left", "right"}
    assert {point.name for point in points} >= {"left_heel", "right_heel", "left_wrist", "right_wrist"}


def test_a_joint_at_the_heel_is_the_heel():
    base = body_skeleton()
    ankle = base.roles["left_foot"]
    skeleton = Skeleton(
        (*base.names, "LeftHeelBone"), np.append(base.parents, ankle), np.vstack([base.offsets, [0.0, -0.07, -0.04]])
    )
    heel = contact_points(skeleton)[0]
    assert (heel.name, heel.joint) == ("left_heel", len(base))
    assert not heel.offset.any()


def test_a_foot_without_toes_has_its_ankle_alone():
    base = body_skeleton()
    keep = [j for j, name in enumerate(base.names) if "ToeBase" not in name]
    new = {j: i for i, j in enumerate(keep)}
    parents = np.array([-1 if base.parents[j] < 0 else new[int(base.parents[j])] for j in keep])
    skeleton = Skeleton(tuple(base.names[j] for j in keep), parents, base.offsets[keep])
    points = contact_points(skeleton)
    assert tuple(point.name for point in points) == ("left_heel", "right_heel")
    assert points[0].joint == skeleton.roles["left_foot"]


def test_paths_are_the_points_in_the_world():
    motion = sample("walk").motion
    points = contact_points(motion.skeleton, hands=True)
    world = motion.world()
    paths = point_paths(motion, points)
    assert paths.shape == (len(motion), 8, 3)
    for k, point in enumerate(points):
        expected = world.positions[:, point.joint] + quat.rotate(world.rotations[:, point.joint], point.offset)
        np.testing.assert_allclose(paths[:, k], expected, atol=1e-12)
    assert not paths.flags.writeable


def lying(motion):
    """Return the same motion on a skeleton whose bones all point along X in the rest pose."""
    skeleton, world = motion.skeleton, motion.world()
    offsets = np.zeros_like(skeleton.offsets)
    offsets[1:, 0] = skeleton.bone_lengths[1:]
    turned = [np.tile([1.0, 0.0, 0.0, 0.0], (len(motion), 1))] * len(skeleton)
    for j in range(len(skeleton)):
        children = np.flatnonzero(skeleton.parents == j)
        bone = [c for c in children if skeleton.bone_lengths[c] > 0]
        if bone:  # a frame that carries +X along the bone to the first child, in the original frame of the joint
            along = quat.between([1.0, 0.0, 0.0], skeleton.offsets[bone[0]])
            turned[j] = quat.mul(world.rotations[:, j], np.tile(along, (len(motion), 1)))
        else:
            turned[j] = world.rotations[:, j]
    local = np.stack(turned, axis=1)
    for j in range(len(skeleton) - 1, 0, -1):
        local[:, j] = quat.inv_mul(turned[int(skeleton.parents[j])], turned[j])
    rolled = Skeleton(skeleton.names, skeleton.parents, offsets)
    return Motion(rolled, motion.root_positions, local, motion.fps, bone_offsets=moved_offsets(motion, turned))


def moved_offsets(motion, turned):
    skeleton, positions = motion.skeleton, motion.world().positions
    offsets = np.zeros_like(positions)
    for j in range(1, len(skeleton)):
        parent = int(skeleton.parents[j])
        offsets[:, j] = quat.inv_rotate(turned[parent], positions[:, j] - positions[:, parent])
    return offsets


def test_soles_are_found_in_the_motion_if_the_rest_pose_does_not_stand():
    motion = sample("walk").motion
    other = lying(motion)
    np.testing.assert_allclose(other.world().positions, motion.world().positions, atol=1e-9)
    with pytest.raises(
        InvalidValue,
        match="the rest pose is not a standing pose, so it does not show the soles; pass a motion in which the feet "
        "stand as `standing`",
    ):
        contact_points(other.skeleton)
    with pytest.raises(InvalidValue, match="floor must be None if the rest pose"):
        contact_points(other.skeleton, floor=0.0, standing=other)
    found = find_contacts(other).contacts
    for name in NAMES:
        truth = motion.contacts.mask[:, motion.contacts.index(name)]
        assert (found.mask[:, found.index(name)] == truth).mean() > 0.97


def test_bad_input_raises_a_one_sentence_error():
    tail = Skeleton(("Root", "Tail"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0, 0, -0.3]]))
    with pytest.raises(JointNotFound, match=r"role 'left_foot' was not found.*`roles=`"):
        contact_points(tail)
    motion = sample("walk").motion
    with pytest.raises(InvalidValue, match="contact point 'nose' is on joint 99, but the skeleton has only 27 joints"):
        point_paths(motion, [ContactPoint("nose", 99, np.zeros(3))])


def test_joints_in_the_world_are_those_of_the_whole_motion():
    motion = sample("walk", seconds=1.0).motion
    stretched = Motion(motion.skeleton, motion.root_positions, motion.rotations, motion.fps,
                       bone_offsets=np.tile(1.1 * motion.skeleton.offsets, (len(motion), 1, 1)))  # fmt: skip
    for each in (motion, stretched):
        world = each.world()
        for joints in ([motion.skeleton.roles["right_ball"], 0, motion.skeleton.roles["left_hand"]], [3, 3], [0]):
            some, slots = place_joints(each, joints)
            np.testing.assert_array_equal(some.positions[:, slots], world.positions[:, joints])
            np.testing.assert_array_equal(some.rotations[:, slots], world.rotations[:, joints])
