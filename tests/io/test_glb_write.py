"""Written GLB files: they are read back, mean the same to other programs, and their body mesh is valid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.core import Motion, Skeleton
from marey.errors import InvalidValue
from marey.io.glb_body import build_body_mesh
from marey.io.glb_read import clip_names, read_glb
from marey.io.glb_write import write_glb
from marey.maths import quat
from tests.io.glb_motions import NAMES, PARENTS, check_same, make_motion
from tests.io.make_glb import (
    as_motion,
    take_apart,
    world_matrices,
)

# Round trips.


@pytest.mark.parametrize("body", [True, False])
@pytest.mark.parametrize("fps", [120.0, 29.97, 1 / 0.0083333, 7.5])
def test_a_motion_is_the_same_after_loading(fps: float, body: bool) -> None:
    motion = make_motion(fps=fps)
    raw = read_glb(write_glb([motion], body=body), "walk.glb")
    check_same(as_motion(raw), motion)
    assert raw.bone_offsets is None
    assert raw.name == "walk"
    assert raw.evidence == [f"rate {fps:g} Hz as marey stored it"]
    assert raw.warnings == []


def test_moving_bones_are_the_same_after_loading() -> None:
    motion = make_motion(slide=True)
    raw = read_glb(write_glb([motion]), "walk.glb")
    check_same(as_motion(raw), motion)
    assert raw.bone_offsets is not None
    np.testing.assert_allclose(raw.bone_offsets, motion.bone_offsets, atol=1e-6)


def test_a_written_file_describes_the_motion_by_the_specification() -> None:
    motion = make_motion(n_frames=12, slide=True)
    document, binary = take_apart(write_glb([make_motion(seed=9), motion]))
    world = motion.world()
    skin = document["skins"][0]
    for frame in range(len(motion)):
        matrices = world_matrices(document, binary, float(np.float32(frame / motion.fps)), clip=1)
        for j, node in enumerate(skin["joints"]):
            np.testing.assert_allclose(matrices[node][:3, 3], world.positions[frame, j], atol=1e-5)
            turn = quat.to_matrix(world.rotations[frame, j])
            np.testing.assert_allclose(matrices[node][:3, :3], turn, atol=1e-5)
    entry = document["accessors"][skin["inverseBindMatrices"]]
    start = document["bufferViews"][entry["bufferView"]]["byteOffset"]
    inverses = np.frombuffer(binary, "<f4", entry["count"] * 16, start).reshape(-1, 4, 4).transpose(0, 2, 1)
    del document["animations"]
    rest = world_matrices(document, binary, 0.0)
    for node, inverse in zip(skin["joints"], inverses, strict=True):
        np.testing.assert_allclose(rest[node] @ inverse, np.eye(4), atol=1e-6)


def test_a_single_frame_is_the_same_after_loading() -> None:
    motion = make_motion(n_frames=1, fps=48.0, slide=True)
    check_same(as_motion(read_glb(write_glb([motion]), "pose.glb")), motion)


def test_a_motionless_clip_keeps_its_length() -> None:
    walk = make_motion(n_frames=1)
    still = replace(
        walk, root_positions=np.repeat(walk.root_positions, 50, 0), rotations=np.repeat(walk.rotations, 50, 0)
    )
    data = write_glb([still])
    check_same(as_motion(read_glb(data, "still.glb")), still)
    assert len(data) < len(write_glb([make_motion(n_frames=50)])) - 40 * 16 * len(NAMES) // 2


def test_long_clips_keep_every_frame_in_spite_of_float32_times() -> None:
    rng = np.random.default_rng(1)
    n = 60_000
    skeleton = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0, 0, 0], [0, 1.0, 0]]))
    rotations = quat.normalize(rng.normal(size=(n, 2, 4)))
    motion = Motion(skeleton, rng.normal(size=(n, 3)), rotations, 120.0, "noise")
    check_same(as_motion(read_glb(write_glb([motion]), "noise.glb")), motion)


def test_a_long_motion_with_little_movement_can_be_read_again() -> None:
    n = 30_000
    skeleton = Skeleton(tuple(f"j{i}" for i in range(80)), np.arange(-1, 79), np.full((80, 3), 0.01))
    root = np.random.default_rng(0).normal(size=(n, 3))
    motion = Motion(skeleton, root, quat.identity((n, 80)), 120.0, "glide")
    raw = read_glb(write_glb([motion]), "glide.glb")
    np.testing.assert_allclose(raw.root_positions, root, atol=1e-5)


def test_several_motions_share_one_skeleton() -> None:
    motions = [make_motion(seed=i, n_frames=10 + i, fps=30.0 * (i + 1), name=f"clip {i}") for i in range(3)]
    motions[1] = replace(make_motion(seed=5, slide=True), name="clip 1")
    data = write_glb(motions)
    document, _ = take_apart(data)
    assert len(document["skins"]) == 1
    assert clip_names(data, "x.glb") == ("clip 0", "clip 1", "clip 2")
    for i, motion in enumerate(motions):
        check_same(as_motion(read_glb(data, "x.glb", clip=i)), motion)
        check_same(as_motion(read_glb(data, "x.glb", clip=motion.name)), motion)


def test_different_skeletons_get_their_own_nodes_and_skins() -> None:
    walk = make_motion(name="walk")
    offsets = walk.skeleton.offsets.copy()
    offsets[1:] *= 1.5
    tall = replace(make_motion(seed=3, name="tall"), skeleton=Skeleton(NAMES, np.array(PARENTS), offsets))
    one = Motion(Skeleton(("dot",), np.array([-1]), np.zeros((1, 3))), np.ones((5, 3)), quat.identity((5, 1)), 30.0)
    data = write_glb([walk, tall, walk, one])
    document, _ = take_apart(data)
    assert len(document["skins"]) == 3
    names = [node["name"] for node in document["nodes"]]
    assert len(set(names)) == len(names)
    assert "character2:Hips" in names
    assert clip_names(data, "x.glb") == ("walk", "tall", "walk_2", "motion")
    for clip, motion in zip(range(4), (walk, tall, walk, one), strict=True):
        check_same(as_motion(read_glb(data, "x.glb", clip=clip)), motion)
    warnings = read_glb(data, "x.glb").warnings
    assert warnings == ["the file has 4 animations; 'walk' is read, `clip=` chooses among 'tall', 'walk_2', 'motion'"]


def test_skeletons_that_differ_in_the_root_offset_alone_are_one() -> None:
    walk = make_motion()
    offsets = walk.skeleton.offsets.copy()
    offsets[0] = 0
    moved = replace(walk, skeleton=Skeleton(NAMES, np.array(PARENTS), offsets))
    document, _ = take_apart(write_glb([walk, moved]))
    assert len(document["skins"]) == 1


def test_joint_names_of_any_kind_are_restored() -> None:
    names = ("mixamorig:Hips", "Bein links ß", "脚", 'a"b\\c\n', "body")
    skeleton = Skeleton(names, np.array([-1, 0, 1, 2, 0]), np.full((5, 3), 0.1))
    motion = Motion(skeleton, np.zeros((3, 3)), quat.identity((3, 5)), 30.0, "Gehen – 歩く")
    raw = read_glb(write_glb([motion]), "x.glb")
    assert raw.names == names
    assert raw.name == "Gehen – 歩く"


def test_the_same_motion_gives_the_same_bytes_and_is_unchanged() -> None:
    motion = make_motion(slide=True)
    before = [a.copy() for a in (motion.rotations, motion.root_positions, motion.skeleton.offsets)]
    assert write_glb([motion]) == write_glb([make_motion(slide=True)])
    for array, was in zip((motion.rotations, motion.root_positions, motion.skeleton.offsets), before, strict=True):
        np.testing.assert_array_equal(array, was)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(InvalidValue, match="at least one motion"):
        write_glb([])
    walk = make_motion()
    far = replace(walk, root_positions=walk.root_positions * 1e39)
    with pytest.raises(InvalidValue, match=r"positions of 'walk' are too large for GLB"):
        write_glb([far])
    dense = replace(walk, fps=1e-30)
    with pytest.raises(
        InvalidValue, match="'walk' is too long for GLB, whose float32 times cannot .*; save it in parts"
    ):
        write_glb([replace(walk, fps=1e300), dense])


# The body mesh.


def test_the_body_is_closed_and_faces_outwards() -> None:
    skeleton = make_motion().skeleton
    mesh = build_body_mesh(skeleton, np.ones(len(skeleton), dtype=bool))
    triangles = mesh.positions.reshape(-1, 3, 3)
    crossed = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    assert (np.einsum("ij,ij->i", crossed, mesh.normals[::3]) > 0).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0)
    for shape in triangles.reshape(-1, 8, 3, 3):
        middle = shape.reshape(-1, 3).mean(axis=0)
        faces = np.cross(shape[:, 1] - shape[:, 0], shape[:, 2] - shape[:, 0])
        assert (np.einsum("ij,ij->i", faces, shape.mean(axis=1) - middle) > 0).all()
        np.testing.assert_allclose(faces.sum(axis=0), 0.0, atol=1e-12)


def test_the_body_spans_the_bones_and_follows_their_upper_joints() -> None:
    skeleton = make_motion().skeleton
    mesh = build_body_mesh(skeleton, np.ones(len(skeleton), dtype=bool))
    rest = skeleton.rest_positions + skeleton.offsets[0]
    for j in (1, 2, 3, 4, 5, 6, 8):
        own = mesh.positions[mesh.joints == PARENTS[j]]
        assert np.linalg.norm(own - rest[j], axis=1).min() < 1e-12
        assert np.linalg.norm(own - rest[PARENTS[j]], axis=1).min() < 1e-12
    assert np.abs(mesh.positions - rest.mean(axis=0)).max() < 1.5


def test_bones_that_travel_and_bones_of_no_length_have_no_shape() -> None:
    skeleton = Skeleton(
        ("root", "a", "b", "c"),
        np.array([-1, 0, 1, 2]),
        np.array([[0, 0, 0], [0, 1.0, 0], [0, 0, 0], [1.0, 0, 0]]),
    )
    rigid = np.array([True, False, True, True])
    mesh = build_body_mesh(skeleton, rigid)
    assert set(mesh.joints.tolist()) == {2, 3}  # the bone b-c, and the leaf c


@pytest.mark.parametrize("offsets", [np.zeros((3, 3)), np.full((3, 3), 1e-30)])
def test_a_skeleton_without_length_is_one_lump(offsets: np.ndarray) -> None:
    skeleton = Skeleton(("a", "b", "c"), np.array([-1, 0, 1]), offsets)
    mesh = build_body_mesh(skeleton, np.ones(3, dtype=bool))
    assert len(mesh.positions) == 24
    assert np.isfinite(mesh.normals).all()
    motion = Motion(skeleton, np.zeros((2, 3)), quat.identity((2, 3)), 30.0)
    assert read_glb(write_glb([motion]), "x.glb").names == ("a", "b", "c")
