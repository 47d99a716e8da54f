"""Forward kinematics, of whole motions and of a single pose, against 4x4 matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marey.compiled import python_form
from marey.core import Motion, Skeleton, forward_kinematics, pose_world
from marey.core.kinematics import joint_path
from marey.core.kinematics_kernels import forward_pose
from marey.errors import InvalidValue, JointNotFound
from marey.maths import quat
from tests.strategies import LAWS, numbers, quaternions, vectors
from tests.twins.kinematics import motion_matrices

SAME = {"rtol": 0.0, "atol": 1e-12}


@st.composite
def motions(draw):
    n_joints = draw(st.integers(1, 7))
    n_frames = draw(st.integers(1, 3))
    parents = [-1] + [draw(st.integers(0, j - 1)) for j in range(1, n_joints)]
    skeleton = Skeleton([f"j{j}" for j in range(n_joints)], parents, draw(vectors((n_joints,), 2.0)))
    moving = numbers((n_frames, n_joints, 3), 2.0)
    return Motion(
        skeleton,
        draw(vectors((n_frames,))),
        draw(quaternions((n_frames, n_joints))),
        30.0,
        bone_offsets=draw(st.none() | moving),
    )


def random_motion(n_frames, n_joints, seed=0, moving=False, chain=False):
    rng = np.random.default_rng(seed)
    parents = [-1] + [j - 1 if chain else int(rng.integers(0, j)) for j in range(1, n_joints)]
    skeleton = Skeleton([f"j{j}" for j in range(n_joints)], parents, rng.normal(size=(n_joints, 3)) * 0.1)
    return Motion(
        skeleton,
        rng.normal(size=(n_frames, 3)),
        quat.normalize(rng.normal(size=(n_frames, n_joints, 4))),
        30.0,
        bone_offsets=rng.normal(size=(n_frames, n_joints, 3)) if moving else None,
    )


def world_by_poses(motion):
    bones = [None] * len(motion) if motion.bone_offsets is None else motion.bone_offsets
    poses = [
        pose_world(motion.skeleton, *pose) for pose in zip(motion.root_positions, motion.rotations, bones, strict=True)
    ]
    return np.array([p for p, _ in poses]), np.array([r for _, r in poses])


def assert_agrees(motion, atol=1e-12):
    expected = motion_matrices(motion)
    world = motion.world()
    for positions, rotations in ((world.positions, world.rotations), world_by_poses(motion)):
        np.testing.assert_allclose(positions, expected[..., :3, 3], rtol=0, atol=atol)
        np.testing.assert_allclose(quat.to_matrix(rotations), expected[..., :3, :3], rtol=0, atol=atol)


@LAWS
@given(motions())
def test_motions_and_poses_agree_with_matrices(motion):
    assert_agrees(motion)


def test_the_compiled_kernel_gives_the_bytes_of_its_python_form():
    motion = random_motion(1, 9)
    skeleton = motion.skeleton
    positions, rotations = np.empty((9, 3)), np.empty((9, 4))
    python_form(forward_pose)(
        skeleton.parents, skeleton.offsets, motion.root_positions[0], motion.rotations[0], positions, rotations
    )
    world = motion.world()
    np.testing.assert_array_equal(world.positions[0], positions)
    np.testing.assert_array_equal(world.rotations[0], rotations)


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize(("n_frames", "n_joints"), [(1, 1), (1, 6), (5, 1), (5, 6)])
def test_single_frames_and_single_joints(n_frames, n_joints, moving):
    motion = random_motion(n_frames, n_joints, moving=moving)
    assert motion.world().positions.shape == (n_frames, n_joints, 3)
    assert motion.world().rotations.shape == (n_frames, n_joints, 4)
    assert_agrees(motion)


def test_moving_bones_of_one_frame_are_used_and_not_the_skeletons():
    motion = random_motion(1, 4, moving=True)
    plain = Motion(motion.skeleton, motion.root_positions, motion.rotations, 30.0)
    assert_agrees(motion)
    assert np.abs(motion.world().positions - plain.world().positions).max() > 0.1


def test_each_frame_has_its_own_moving_bones():
    motion = random_motion(4, 5, moving=True)
    whole = motion.world().positions
    for f in range(4):
        np.testing.assert_allclose(motion[f].world().positions[0], whole[f], **SAME)


def test_joint_zeros_offset_has_no_effect():
    """In some files root positions are relative to that offset; here the root position is complete."""
    motion = random_motion(3, 4, moving=True)
    shifted = motion.bone_offsets.copy()
    shifted[:, 0] += 5.0
    other = Motion(motion.skeleton, motion.root_positions, motion.rotations, 30.0, bone_offsets=shifted)
    np.testing.assert_array_equal(other.world().positions, motion.world().positions)


def test_a_chain_of_5000_joints():
    motion = random_motion(2, 5000, chain=True)
    assert_agrees(motion, atol=1e-9)
    skeleton = motion.skeleton
    assert skeleton.chain(4999) == tuple(range(5000))
    np.testing.assert_allclose(skeleton.rest_positions[-1], skeleton.offsets[1:].sum(axis=0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        joint_path(skeleton, motion.root_positions, motion.rotations, 4999),
        motion.world().positions[:, 4999],
        rtol=0,
        atol=1e-9,
    )
    assert not skeleton.is_end_site.any()
    assert skeleton.children[4998] == (4999,)


@pytest.mark.parametrize("moving", [False, True])
def test_joint_path_is_that_joints_column(moving):
    motion = random_motion(6, 9, seed=3, moving=moving)
    world = motion.world().positions
    for j in range(9):
        path = joint_path(motion.skeleton, motion.root_positions, motion.rotations, j, motion.bone_offsets)
        np.testing.assert_allclose(path, world[:, j], **SAME)
        assert not path.flags.writeable
    with pytest.raises(JointNotFound, match="joint must be an index from 0 to 8, not 9"):
        joint_path(motion.skeleton, motion.root_positions, motion.rotations, 9)


def test_bones_keep_their_lengths_in_every_pose():
    motion = random_motion(10, 8)
    positions = motion.world().positions
    bones = positions[:, 1:] - positions[:, motion.skeleton.parents[1:]]
    np.testing.assert_allclose(
        np.linalg.norm(bones, axis=-1), np.broadcast_to(motion.skeleton.bone_lengths[1:], (10, 7)), **SAME
    )


def test_inputs_may_be_lists_or_strided_or_of_another_type_and_stay_as_they_are():
    motion = random_motion(4, 3)
    root, local = np.array(motion.root_positions), np.array(motion.rotations)
    expected = motion.world()
    wide = np.zeros((4, 3, 8))
    wide[..., ::2] = local
    for arguments in (
        (root.tolist(), local.tolist()),
        (np.asfortranarray(root), np.asfortranarray(local)),
        (root, wide[..., ::2]),
        (root.astype(">f8"), local.astype(">f8")),
    ):
        world = forward_kinematics(motion.skeleton, *arguments)
        np.testing.assert_array_equal(world.positions, expected.positions)
        positions, _ = pose_world(motion.skeleton, arguments[0][1], arguments[1][1])
        np.testing.assert_allclose(positions, expected.positions[1], **SAME)
    assert root.flags.writeable
    np.testing.assert_array_equal(wide[..., ::2], local)


def test_the_world_is_read_only_and_a_pose_is_the_callers():
    motion = random_motion(2, 3)
    world = motion.world()
    assert not world.positions.flags.writeable
    assert not world.rotations.flags.writeable
    positions, rotations = pose_world(motion.skeleton, motion.root_positions[0], motion.rotations[0])
    assert positions.flags.writeable
    assert rotations.flags.writeable


@pytest.mark.parametrize(
    ("root", "local", "bones", "message"),
    [
        ((2, 3), (3, 4, 4), None, r"root_positions must have shape \(3, 3\), not \(2, 3\)"),
        ((3, 3), (3, 5, 4), None, r"rotations must have shape \(3, 4, 4\), not \(3, 5, 4\)"),
        ((3, 3), (3, 4, 3), None, r"rotations must have shape \(3, 4, 4\), not \(3, 4, 3\)"),
        ((3, 3), (3, 4, 4), (1, 4, 3), r"bone_offsets must have shape \(3, 4, 3\), not \(1, 4, 3\)"),
        ((3, 3), (3, 4, 4), (3, 3, 3), r"bone_offsets must have shape \(3, 4, 3\), not \(3, 3, 3\)"),
    ],
)
def test_wrong_shapes_never_reach_the_kernel(root, local, bones, message):
    skeleton = random_motion(1, 4).skeleton
    bone_offsets = None if bones is None else np.zeros(bones)
    with pytest.raises(InvalidValue, match=message):
        forward_kinematics(skeleton, np.zeros(root), np.ones(local), bone_offsets)


@pytest.mark.parametrize(
    ("root", "local", "bones", "message"),
    [
        ((1, 3), (4, 4), None, r"root_position must have shape \(3,\), not \(1, 3\)"),
        ((3,), (3, 4), None, r"rotations must have shape \(4, 4\), not \(3, 4\)"),
        ((3,), (4, 4), (5, 3), r"bone_offsets must have shape \(4, 3\), not \(5, 3\)"),
    ],
)
def test_wrong_shapes_of_a_pose_never_reach_the_kernel(root, local, bones, message):
    skeleton = random_motion(1, 4).skeleton
    with pytest.raises(InvalidValue, match=message):
        pose_world(skeleton, np.zeros(root), np.ones(local), None if bones is None else np.zeros(bones))
