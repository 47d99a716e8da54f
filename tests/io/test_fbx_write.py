"""Written FBX files: they are read back, and other programs find what they need."""

import contextlib
import zlib
from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.errors import DifferentSkeletons, InvalidValue, MareyError, ParseError
from marey.io.canonical import to_motion
from marey.io.fbx_document import Element, FbxDocument, PackedArray
from marey.io.fbx_read import read_fbx
from marey.io.fbx_write import write_fbx
from tests.io.glb_motions import make_motion


def check_same(data: bytes, motion: marey.Motion) -> None:
    raw = read_fbx(data, "walk.fbx")
    assert raw.warnings == []
    assert raw.stated_unit == 0.01
    found = to_motion(raw, unit="cm")
    assert abs(found.fps / motion.fps - 1.0) < 1e-4
    assert len(found) == len(motion)
    np.testing.assert_allclose(found.world().positions, motion.world().positions, atol=1e-6)
    np.testing.assert_allclose(found.skeleton.offsets, motion.skeleton.offsets, atol=1e-9)


@pytest.mark.parametrize("body", [True, False])
@pytest.mark.parametrize("fps", [120.0, 29.97, 1 / 0.0083333, 7.5, 30.0])
def test_a_motion_is_the_same_after_loading(fps: float, body: bool) -> None:
    motion = make_motion(fps=fps)
    data = write_fbx([motion], body=body)
    check_same(data, motion)
    assert (b"Geometry" in data) == body


def test_moving_bones_are_the_same_after_loading() -> None:
    motion = make_motion(slide=True)
    assert motion.bone_offsets is not None
    check_same(write_fbx([motion]), motion)


@pytest.mark.filterwarnings("ignore:.*has 3 animations")
def test_several_motions_come_back(tmp_path) -> None:
    first, second = make_motion(seed=1, n_frames=12), make_motion(seed=2, n_frames=5)
    second = replace(second, skeleton=first.skeleton, fps=first.fps, bone_offsets=None)
    motions = [replace(first, name="walk"), replace(second, name="run"), replace(second[:4], name="run")]
    marey.save(motions, tmp_path / "all.fbx")
    assert marey.clip_names(tmp_path / "all.fbx") == ("walk", "run", "run_2")
    for name, motion in zip(marey.clip_names(tmp_path / "all.fbx"), motions, strict=True):
        found = marey.load(tmp_path / "all.fbx", clip=name, unit="cm")
        assert len(found) == len(motion)
        np.testing.assert_allclose(found.world().positions, motion.world().positions, atol=1e-6)


def test_same_motion_same_bytes() -> None:
    assert write_fbx([make_motion()]) == write_fbx([make_motion()])


def test_body_is_bound_at_rest() -> None:
    motion = make_motion()
    document = FbxDocument(write_fbx([motion]), "x.fbx")
    (pose,) = [element for element in document.sections["Objects"] if element.name == "Pose"]
    nodes = [entry for entry in pose.children if entry.name == "PoseNode"]
    assert len(nodes) == len(motion.skeleton) + 1
    places = [document.floats(node.child("Matrix"), "matrix").reshape(4, 4)[3, :3] / 100.0 for node in nodes[1:]]
    np.testing.assert_allclose(places, motion.skeleton.rest_positions + motion.skeleton.offsets[0], atol=1e-12)


def test_save_and_load_keep_annotations(tmp_path) -> None:
    walk = marey.detect_contacts(marey.samples.sample("walk", seconds=1.0, fps=30.0).motion)
    marey.save(walk, tmp_path / "walk.fbx")
    back = marey.load(tmp_path / "walk.fbx")
    assert back.contacts is not None
    assert back.source.format == "fbx"
    assert back.skeleton.fits(walk.skeleton)
    np.testing.assert_allclose(back.world().positions, walk.world().positions, atol=1e-6)
    marey.save(back, tmp_path / "again.bvh")
    assert marey.load(tmp_path / "again.bvh").source.unit == 0.01


def test_wrong_options(tmp_path) -> None:
    motion = make_motion()
    with pytest.raises(DifferentSkeletons, match="the same skeleton, but that of 'other' differs from"):
        marey.save([motion, replace(marey.samples.straight_walk(), name="other")], tmp_path / "two.fbx")
    with pytest.raises(InvalidValue, match=r"the same frame rate, but .* is at 31 Hz and"):
        marey.save([motion, replace(motion, fps=31.0)], tmp_path / "two.fbx")
    with pytest.raises(InvalidValue, match=r"`unit=` and `up=` can only be chosen for .bvh"):
        marey.save(motion, tmp_path / "a.fbx", unit="m")
    with pytest.raises(InvalidValue, match="too large for FBX"):
        write_fbx([replace(motion, root_positions=motion.root_positions + 1e38)])


def test_damaged_binary_files_raise_typed_errors() -> None:
    data = write_fbx([make_motion(n_frames=3)])
    for n in (10, 25, 27, 40, 200, len(data) // 2, len(data) - 200):
        with pytest.raises(ParseError):
            read_fbx(data[:n], "x.fbx")
    rng = np.random.default_rng(0)
    for _ in range(40):
        damaged = bytearray(data)
        for at in rng.integers(0, len(data), 4):
            damaged[at] = rng.integers(0, 256)
        with contextlib.suppress(MareyError):
            read_fbx(bytes(damaged), "x.fbx")


def test_compressed_bombs_are_refused() -> None:
    document = FbxDocument(write_fbx([make_motion(n_frames=3)]), "x.fbx")
    for count, message in ((3, "must have 24 bytes, got 25"), (2**27, "its arrays would take 10.. MB")):
        packed = PackedArray("l", count, True, memoryview(zlib.compress(bytes(2**20))))
        with pytest.raises(MareyError, match=message):
            document.ints(Element("KeyTime", [packed]), "KeyTime")
