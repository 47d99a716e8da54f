"""Reading GLB: files written by hand, compared with a slow evaluation of the node graph."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marey.errors import UnknownName
from marey.io.glb_read import clip_names, read_glb
from marey.io.glb_write import write_glb
from marey.maths import quat
from tests.io.glb_motions import check_same
from tests.io.make_glb import (
    TIMES,
    TURNS,
    Glb,
    arm,
    armature,
    as_motion,
    check_meaning,
    quat_xyzw,
    world_matrices,
)

# Files made by hand.


@pytest.mark.parametrize("interpolation", ["LINEAR", "STEP"])
def test_rest_rotations_are_taken_out_and_joints_stay_in_place(interpolation: str) -> None:
    glb = Glb(arm(), [0, 1, 2])
    glb.key(0, "rotation", TIMES, TURNS, interpolation)
    glb.key(1, "rotation", TIMES, TURNS[::-1], interpolation)
    glb.key(0, "translation", TIMES, np.random.default_rng(0).normal(size=(4, 3)), interpolation)
    raw = check_meaning(glb.pack())
    assert raw.names == ("a", "b", "c")
    assert raw.fps == 10.0
    assert raw.bone_offsets is None


@pytest.mark.parametrize("fps", [10.0, 24.0, 33.3])
def test_cubic_splines(fps: float) -> None:
    rng = np.random.default_rng(4)
    keys = np.stack([rng.normal(size=(4, 4)), TURNS, rng.normal(size=(4, 4))], axis=1).reshape(12, 4)
    glb = Glb(arm(), [0, 1, 2])
    glb.key(1, "rotation", TIMES, keys, "CUBICSPLINE")
    glb.key(0, "translation", TIMES, rng.normal(size=(12, 3)), "CUBICSPLINE")
    raw = check_meaning(glb.pack(), fps=fps)
    assert raw.evidence == [f"rate {fps:g} Hz as given"]


@pytest.mark.parametrize(("dtype", "top"), [("i1", 127), ("u1", 255), ("<i2", 32767), ("<u2", 65535)])
def test_normalized_integers(dtype: str, top: int) -> None:
    turns = np.abs(TURNS) if dtype in ("u1", "<u2") else TURNS
    glb = Glb(arm(), [0, 1, 2])
    glb.key(1, "rotation", TIMES, glb.accessor(np.rint(turns * top), dtype, normalized=True))
    raw = check_meaning(glb.pack())
    wanted = turns[0] / np.linalg.norm(turns[0])
    rest = np.array(quat_xyzw("z", 80))
    own = quat.mul_inv(wanted[[3, 0, 1, 2]], rest[[3, 0, 1, 2]])
    parent = np.array(quat_xyzw("x", 30))[[3, 0, 1, 2]]
    expected = quat.mul(parent, quat.mul_inv(own, parent))
    assert quat.angle_between(raw.rotations[0, 1], expected) < 2.0 / top


def test_sparse_accessors_with_and_without_a_base() -> None:
    glb = Glb(arm(), [0, 1, 2])
    at = {"bufferView": glb.view(np.array([1, 3], "<u2").tobytes()), "componentType": 5123}
    turned = {"bufferView": glb.view(TURNS[[2, 0]].astype("<f4").tobytes())}
    glb.key(1, "rotation", TIMES, glb.accessor(TURNS, sparse={"count": 2, "indices": at, "values": turned}))
    moved = {"bufferView": glb.view(np.array([[1, 2, 3], [4, 5, 6]], "<f4").tobytes())}
    zeros = glb.accessor(np.zeros((4, 3)), sparse={"count": 2, "indices": at, "values": moved})
    del glb.document["accessors"][zeros]["bufferView"]
    glb.key(0, "translation", TIMES, zeros)
    raw = check_meaning(glb.pack())
    np.testing.assert_allclose(raw.root_positions[[0, 1, 4]], [[0, 0, 0], [1, 2, 3], [4, 5, 6]])


def test_interleaved_keys() -> None:
    rows = np.concatenate([TIMES[:, None], TURNS, np.arange(12).reshape(4, 3)], axis=1).astype("<f4")
    glb = Glb(arm(), [0, 1, 2])
    view = glb.view(rows.tobytes(), byteStride=32)
    times = glb.accessor(TIMES, bufferView=view)
    glb.key(1, "rotation", times, glb.accessor(TURNS, bufferView=view, byteOffset=4))
    glb.key(0, "translation", times, glb.accessor(np.zeros((4, 3)), bufferView=view, byteOffset=20))
    raw = check_meaning(glb.pack())
    np.testing.assert_allclose(raw.root_positions[-1], [9, 10, 11])


@pytest.mark.parametrize(
    "above",
    [
        {},
        {"scale": [-0.01, 0.01, 0.01]},
        {"scale": [-0.01, -0.01, 0.01]},
        {"scale": [-0.01, -0.01, -0.01]},
    ],
)
def test_an_armature_above_the_root_is_baked_in(above: dict[str, Any]) -> None:
    raw = check_meaning(armature(**above).pack())
    assert raw.names == ("hips", "leg", "foot", "spine")
    assert raw.fps == 30.0
    assert raw.evidence == ["rate 30 Hz: the keys lie 1/30 s or multiples of it apart"]
    assert raw.warnings == []
    np.testing.assert_allclose(np.linalg.norm(raw.offsets[2]), 0.8)


def test_an_armature_that_moves_is_composed_frame_by_frame() -> None:
    glb = armature()
    times = np.arange(7) / 15
    glb.key(1, "rotation", times, np.array([quat_xyzw("xy", [-90, 20 * i]) for i in range(7)]))
    glb.key(0, "translation", times, np.random.default_rng(0).normal(size=(7, 3)))
    raw = check_meaning(glb.pack())
    assert raw.warnings == []
    assert len(raw.root_positions) == 15 - 2


def test_a_constant_scale_track_counts_as_the_scale() -> None:
    glb = armature(scale=[1, 1, 1])
    glb.key(1, "scale", [0, 0.4], np.full((2, 3), 0.01))
    data = glb.pack()
    raw = read_glb(data, "x.glb")
    assert raw.warnings == []
    np.testing.assert_allclose(raw.root_positions, read_glb(armature().pack(), "x.glb").root_positions, atol=1e-8)


def test_matrix_nodes() -> None:
    glb = armature()
    for node in glb.document["nodes"][:2]:
        document = {"nodes": [{k: v for k, v in node.items() if k != "children"}]}
        node["matrix"] = world_matrices(document, b"", 0.0)[0].T.ravel().tolist()
        for part in ("translation", "rotation", "scale"):
            node.pop(part, None)
    raw = check_meaning(glb.pack())
    assert raw.warnings == []


@pytest.mark.parametrize("flip", [[-1, 1, 1], [-1, -1, -1]])
def test_a_mirrored_matrix(flip: list[int]) -> None:
    nodes = arm()
    nodes.append({"name": "top", "children": [0], "matrix": np.diag([*flip, 1]).ravel().tolist()})
    glb = Glb(nodes, [0, 1, 2])
    glb.key(1, "rotation", TIMES, TURNS)
    glb.key(0, "rotation", TIMES, TURNS)
    assert check_meaning(glb.pack()).warnings == []


def test_uneven_scale_is_exact_at_rest_with_a_warning() -> None:
    glb = armature(scale=[0.01, 0.02, 0.01])
    raw = read_glb(glb.pack(), "x.glb")
    assert raw.warnings == ["non-uniform scale, which shears the nodes below, is exact only at rest: 'Armature'"]
    glb.document.pop("animations")
    check_meaning(glb.pack())


def test_uneven_scale_of_one_joint_is_exact_for_its_children() -> None:
    glb = Glb(arm(scale=[1, 2, 1])[:2], [0, 1])
    glb.document["nodes"][1].pop("children")
    glb.key(0, "rotation", TIMES, TURNS)
    raw = check_meaning(glb.pack())
    assert len(raw.warnings) == 1


def test_sheared_matrices_are_exact_at_rest() -> None:
    nodes = arm()
    nodes[0].pop("rotation")
    nodes[0].pop("translation")
    nodes[0]["matrix"] = [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0.2, 2, 0, 1, 2, 3, 1]
    raw = check_meaning(Glb(nodes, [0, 1, 2]).pack())
    assert raw.warnings == ["non-uniform scale, which shears the nodes below, is exact only at rest: 'a'"]


def test_animated_scale_is_ignored_with_a_warning() -> None:
    glb = armature()
    glb.key(3, "scale", [0, 0.4], [[2, 2, 2], [3, 3, 3]])
    glb.key(4, "scale", [0, 0.4], [[1, 1, 1], [3, 3, 3]])  # the foot has no children, so nothing is lost
    raw = read_glb(glb.pack(), "x.glb")
    assert raw.warnings == ["animated scale is ignored; the rest size is kept: 'leg'"]
    np.testing.assert_allclose(raw.rotations, read_glb(armature().pack(), "x.glb").rotations)


def test_joints_that_slide_have_bone_offsets() -> None:
    glb = Glb(arm(), [0, 1, 2])
    glb.key(1, "rotation", TIMES, TURNS)
    glb.key(2, "translation", TIMES, [[0.4, 0, 0], [0.5, 0, 0], [0.4, 0.1, 0], [0.4, 0, 0]])
    glb.key(1, "translation", TIMES, np.repeat([[0, 0.5, 0.1]], 4, axis=0))
    raw = check_meaning(glb.pack())
    assert raw.bone_offsets is not None
    np.testing.assert_array_equal(raw.bone_offsets[:, 1], np.repeat(raw.offsets[None, 1], 5, axis=0))


def test_translations_that_repeat_the_rest_pose_are_no_bone_offsets() -> None:
    glb = Glb(arm(), [0, 1, 2])
    glb.key(1, "translation", TIMES, np.repeat([[1e-7, 0.5, 0.1]], 4, axis=0))
    assert read_glb(glb.pack(), "x.glb").bone_offsets is None


def test_translations_that_differ_from_the_rest_pose_are_bone_offsets() -> None:
    glb = Glb(arm(), [0, 1, 2])
    glb.key(1, "translation", TIMES, np.repeat([[0, 0.6, 0.1]], 4, axis=0))
    raw = check_meaning(glb.pack())
    assert raw.bone_offsets is not None


# Which joints.


def test_nodes_between_joints_join_them() -> None:
    nodes = [
        {"name": "a", "children": [1, 4]},
        {"name": "between", "children": [2], "translation": [0, 1, 0], "rotation": quat_xyzw("x", 10)},
        {"name": "b", "children": [3], "translation": [0, 1, 0]},
        {"name": "mesh", "translation": [9, 9, 9]},
        {"name": "c", "translation": [1, 0, 0]},
    ]
    glb = Glb(nodes, [4, 2, 0])
    glb.key(1, "rotation", TIMES, TURNS)
    raw = check_meaning(glb.pack())
    assert raw.names == ("a", "c", "between", "b")
    assert raw.parents.tolist() == [-1, 0, 0, 2]


def test_joints_without_a_common_joint_hang_from_their_common_node() -> None:
    nodes = [
        {"name": "world", "children": [1]},
        {"name": "pelvis", "children": [2, 3], "translation": [0, 1, 0]},
        {"name": "left", "translation": [0.1, 0, 0]},
        {"name": "right", "translation": [-0.1, 0, 0]},
    ]
    raw = check_meaning(Glb(nodes, [2, 3]).pack())
    assert raw.names == ("pelvis", "left", "right")


def test_of_several_trees_the_largest_is_read() -> None:
    nodes = [{"name": "x"}, {"name": "a", "children": [2]}, {"name": "b"}]
    raw = read_glb(Glb(nodes, [0, 1, 2]).pack(), "x.glb")
    assert raw.names == ("a", "b")
    assert raw.warnings == ["the joints hang from 2 separate roots; the tree of 'a' is read, not 'x'"]


def test_without_a_skin_the_animated_nodes_and_what_hangs_from_them_are_read() -> None:
    glb = Glb(
        [
            {"name": "scene", "children": [1, 5]},
            *[{**n, "children": [c + 1 for c in n["children"]]} if "children" in n else n for n in arm()],
            {"name": "lamp"},
        ]
    )
    glb.key(2, "rotation", TIMES, TURNS)
    raw = check_meaning(glb.pack())
    assert raw.names == ("b", "c", "prop")


def test_without_a_skin_or_an_animation_all_nodes_are_read() -> None:
    raw = check_meaning(Glb(arm()).pack())
    assert raw.names == ("a", "b", "c", "prop")
    assert (len(raw.rotations), raw.fps, raw.name) == (1, 30.0, "made")
    assert raw.evidence == ["rate 30 Hz assumed: the file has fewer than two keys"]
    assert read_glb(Glb(arm()).pack(), "x.glb", fps=50).fps == 50.0


def test_the_skin_that_the_clip_moves_is_read() -> None:
    nodes = [{"name": "a", "children": [1]}, {"name": "b"}, {"name": "a", "children": [3]}, {"name": "b"}]
    glb = Glb(nodes)
    glb.document["skins"] = [{"joints": [0, 1]}, {"joints": [2, 3]}]
    glb.clip("first")
    glb.key(1, "rotation", TIMES, TURNS)
    glb.clip("second")
    glb.key(2, "translation", [0, 1], [[1, 2, 3], [1, 2, 3]])
    np.testing.assert_array_equal(read_glb(glb.pack(), "x.glb", clip="second").root_positions[0], [1, 2, 3])
    np.testing.assert_array_equal(read_glb(glb.pack(), "x.glb", clip="first").root_positions[0], [0, 0, 0])


def test_names_are_made_up_and_made_different() -> None:
    nodes = [{"children": [1, 2]}, {"name": "bone", "children": [3]}, {"name": "bone"}, {"name": ""}]
    raw = read_glb(Glb(nodes, [0, 1, 2, 3]).pack(), "x.glb")
    assert raw.names == ("node_0", "bone", "bone_2", "node_3")
    assert raw.source.file_names == ("node_0", "bone", "bone", "node_3")
    assert raw.warnings == ["duplicate joint names: the second 'bone' is called 'bone_2'"]


# Which clip, at which rate.


def test_a_clip_is_chosen_by_name_or_index() -> None:
    glb = Glb(arm(), [0, 1, 2])
    for name, x in (("walk", 1), (None, 2), ("run", 3), ("run", 4)):
        glb.clip(name)
        glb.key(0, "translation", [0, 1], [[x, 0, 0], [x, 0, 0]])
    data = glb.pack()
    assert clip_names(data, "x.glb") == ("walk", "animation_1", "run", "run_2")
    for clip, x in ((None, 1), (2, 3), ("animation_1", 2), ("run_2", 4), ("walk", 1)):
        assert read_glb(data, "x.glb", clip=clip).root_positions[0, 0] == x
    assert read_glb(data, "dir/take7.glb", clip=1).name == "take7"
    with pytest.raises(UnknownName, match=r"x\.glb: no animation 'wlak' in the file; it has 'walk'.*similar: 'walk'"):
        read_glb(data, "x.glb", clip="wlak")
    for clip in (4, -1):
        with pytest.raises(UnknownName, match=f"no animation {clip} in the file"):
            read_glb(data, "x.glb", clip=clip)
    with pytest.raises(UnknownName, match="it has none"):
        read_glb(Glb(arm()).pack(), "x.glb", clip="walk")


DENSE = "rate {0} Hz: the keys lie 1/{0} s or multiples of it apart"
SPARSE = "rate {} Hz: the keys are sparse, and each lies on a frame at this common rate"
RATES = [
    (np.arange(20) / 30, 30.0, DENSE.format(30)),
    (5 + np.arange(5000) / 120, 120.0, DENSE.format(120)),
    (np.arange(100) * 1.001 / 30, 30 / 1.001, DENSE.format("29.97")),
    (np.array([0, 1, 2, 5, 6, 20, 21]) / 60, 60.0, DENSE.format(60)),
    (np.array([0, 0.5, 1.0]), 30.0, SPARSE.format(30)),
    (np.array([0, 1.25]), 24.0, SPARSE.format(24)),
    (np.array([0, 0.3141, 0.9, 1.7777]), 30.0, "rate 30 Hz assumed: the keys lie on no uniform grid"),
    (np.array([2.5]), 30.0, "rate 30 Hz assumed: the file has fewer than two keys"),
    (np.r_[np.arange(60) / 25, 2.3456], 25.0, "rate 25 Hz: most keys lie 1/25 s or multiples of it apart"),
]  # fmt: skip


@pytest.mark.parametrize(("times", "fps", "evidence"), RATES)
def test_the_rate_is_recognized_from_the_keys(times: np.ndarray, fps: float, evidence: str) -> None:
    times = np.sort(times)
    glb = Glb(arm(), [0, 1, 2])
    glb.key(0, "translation", times, np.linspace([0, 0, 0], [1, 2, 3], len(times)))
    raw = read_glb(glb.pack(), "x.glb")
    assert raw.fps == pytest.approx(fps, rel=1e-6)
    if fps == round(fps):
        assert raw.fps == fps
    assert raw.evidence == [evidence]
    assert len(raw.rotations) == int((times[-1] - times[0]) * fps + 0.01) + 1


def test_channels_with_their_own_times_are_resampled_together() -> None:
    glb = Glb(arm(), [0, 1, 2])
    glb.key(0, "rotation", np.array([1.0, 1.2, 1.7]), TURNS[:3])
    glb.key(1, "rotation", np.array([1.1, 1.5]), TURNS[1:3], "STEP")
    glb.key(0, "translation", np.array([1.3]), [[1, 2, 3]])
    raw = check_meaning(glb.pack(), fps=37.0)
    assert len(raw.rotations) == int(0.7 * 37) + 1


def test_a_rate_in_extras_that_makes_no_sense_is_ignored() -> None:
    for wrong in ("fast", -3, 0, [30], 1e300):
        glb = Glb(arm(), [0, 1, 2])
        glb.clip("walk", extras={"marey": {"fps": wrong}})
        glb.key(0, "rotation", TIMES, TURNS)
        raw = read_glb(glb.pack(), "x.glb")
        assert raw.fps == 10.0
        assert raw.warnings == ["the rate in the animation's extras is not a positive number and is ignored"]


def test_what_does_not_move_joints_is_passed_over() -> None:
    glb = Glb([*arm(), {"name": "mesh"}], [0, 1, 2])
    glb.key(4, "weights", [0, 1], [[0], [1]])
    glb.document["animations"][0]["channels"].append({"sampler": 0, "target": {"path": "pointer"}})
    glb.document["extensionsRequired"] = ["KHR_draco_mesh_compression"]
    raw = read_glb(glb.pack(), "x.glb")
    assert raw.warnings == ["the animation moves no joint of the skeleton; its rest pose is read"]
    glb.key(0, "rotation", TIMES, TURNS)
    glb.key(0, "rotation", TIMES, TURNS[::-1])
    raw = check_meaning(_without_last_channel(glb))
    raw = read_glb(glb.pack(), "x.glb")
    assert raw.warnings == ["two channels animate the same property; the first is read: 'a'"]


def _without_last_channel(glb: Glb) -> bytes:
    other = copy.deepcopy(glb)
    other.document["animations"][0]["channels"] = other.document["animations"][0]["channels"][2:-1]
    return other.pack()


def test_bytes_after_the_end_give_a_warning() -> None:
    raw = read_glb(Glb(arm(), [0, 1, 2]).pack() + b"more", "x.glb")
    assert raw.warnings == ["4 bytes follow the end of the GLB file and are ignored"]


# A real file.


def test_rigged_body_joint_by_joint(data_folder: Path) -> None:
    path = data_folder / "gltf" / "RiggedFigure.glb"
    if not path.exists():
        pytest.skip(f"no {path}")
    data = path.read_bytes()
    raw = check_meaning(data, atol=1e-5, rest_atol=1e-6)
    assert (len(raw.names), raw.names[0], raw.fps, len(raw.rotations)) == (19, "torso_joint_1", 24.0, 31)
    assert raw.bone_offsets is None
    assert raw.warnings == []
    again = as_motion(read_glb(write_glb([as_motion(raw)]), "again.glb"))
    check_same(again, as_motion(raw))
