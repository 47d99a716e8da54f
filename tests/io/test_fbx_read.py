"""FBX files are read as other programs read them: checked against a slow matrix product of every node and frame."""

import contextlib

import numpy as np
import pytest

import marey
from marey.core.kinematics import forward_kinematics
from marey.core.skeleton import Skeleton
from marey.errors import LimitExceeded, MareyError, ParseError, UnknownName, UnknownVersion
from marey.io.fbx_read import clip_names, read_fbx
from marey.io.raw import RawMotion
from tests.io.make_fbx import CONSTANT, CUBIC, ORDERS, Bone, Keys, mixamo_like, slow_positions, text_fbx

FPS = 30.0
TIMES = np.arange(8) / FPS


def positions(raw: RawMotion) -> np.ndarray:
    skeleton = Skeleton(raw.names, raw.parents, raw.offsets)
    return forward_kinematics(skeleton, raw.root_positions, raw.rotations, raw.bone_offsets).positions


def check_positions(bones: list[Bone], data: bytes, tolerance: float = 1e-9) -> RawMotion:
    raw = read_fbx(data, "x.fbx")
    expected = slow_positions(bones, np.arange(len(raw.rotations)) / raw.fps)
    names = [bone.name for bone in bones]
    found = positions(raw)
    assert len(raw.names) > 1
    np.testing.assert_allclose(found, expected[:, [names.index(name) for name in raw.names]], atol=tolerance)
    return raw


def random_bones(rng: np.random.Generator, n: int = 6, **properties: object) -> list[Bone]:
    bones = []
    for i in range(n):
        own = {"Lcl Translation": tuple(rng.normal(0.0, 10.0, 3)), "Lcl Rotation": tuple(rng.uniform(-180, 180, 3))}
        keys = {("R", axis): Keys(TIMES, rng.uniform(-180, 180, len(TIMES))) for axis in range(3)}
        if i == 0:
            keys |= {("T", axis): Keys(TIMES, rng.normal(0.0, 50.0, len(TIMES))) for axis in range(3)}
        bones.append(Bone(f"b{i}", i - 1 if i else -1, "LimbNode", own | properties, keys))
    return bones


@pytest.mark.parametrize("order", range(len(ORDERS)))
def test_rotation_orders(order: int) -> None:
    bones = random_bones(np.random.default_rng(order), RotationOrder=order)
    check_positions(bones, text_fbx(bones))


def test_pivots_offsets_and_extra_rotations() -> None:
    rng = np.random.default_rng(1)
    for _ in range(5):
        bones = random_bones(rng)
        for bone in bones:
            for name in ("RotationOffset", "RotationPivot", "ScalingOffset", "ScalingPivot"):
                bone.properties[name] = tuple(rng.normal(0.0, 5.0, 3))
            for name in ("PreRotation", "PostRotation"):
                bone.properties[name] = tuple(rng.uniform(-180, 180, 3))
        check_positions(bones, text_fbx(bones))


def test_inactive_rotation_ignores_order_and_extra_rotations() -> None:
    bones = random_bones(np.random.default_rng(2), RotationActive=0, RotationOrder=3, PreRotation=(10.0, 20.0, 30.0))
    check_positions(bones, text_fbx(bones))


def test_uniform_scale_above_and_between_joints() -> None:
    bones = random_bones(np.random.default_rng(3))
    bones[1].properties["Lcl Scaling"] = (2.0, 2.0, 2.0)
    bones[3].properties |= {"Lcl Scaling": (0.25, 0.25, 0.25), "InheritType": 2}
    bones[4].properties["InheritType"] = 2
    bones[0].kind = "Null"
    bones[0].properties["Lcl Scaling"] = (100.0, 100.0, 100.0)
    raw = check_positions(bones, text_fbx(bones), 1e-7)
    assert raw.names[0] == "b1"


def test_scale_that_is_not_inherited_and_uneven_is_refused() -> None:
    bones = random_bones(np.random.default_rng(3))
    bones[2].properties["Lcl Scaling"] = (1.0, 2.0, 1.0)
    bones[3].properties["InheritType"] = 2
    with pytest.raises(ParseError, match="'b3' does not inherit the scale of its parent"):
        read_fbx(text_fbx(bones), "x.fbx")


def test_bones_that_move_have_bone_offsets() -> None:
    rng = np.random.default_rng(4)
    bones = random_bones(rng)
    home = np.array(bones[3].properties["Lcl Translation"])
    for axis in range(3):
        bones[3].keys["T", axis] = Keys(TIMES, home[axis] + 0.05 * rng.normal(size=len(TIMES)))
    raw = check_positions(bones, text_fbx(bones))
    assert raw.bone_offsets is not None


def test_constant_translation_keys_replace_a_contradicting_rest_offset() -> None:
    bones = random_bones(np.random.default_rng(5))
    bones[3].keys |= {("T", axis): Keys(TIMES[:1], [50.0]) for axis in range(3)}
    raw = check_positions(bones, text_fbx(bones))
    assert raw.bone_offsets is None


def test_file_like_those_of_mixamo() -> None:
    data, bones = mixamo_like()
    raw = check_positions(bones, data)
    assert raw.fps == 30.0
    assert raw.warnings == []
    assert clip_names(data, "x.fbx") == ("mixamo.com",)
    assert raw.names[0] == "mixamorig:Hips"
    assert raw.name == "x"


def test_file_like_those_of_mixamo_gives_meters_and_roles(tmp_path) -> None:
    data, _ = mixamo_like()
    path = tmp_path / "dance.fbx"
    path.write_bytes(data)
    motion = marey.load(path)
    assert motion.source.format == "fbx"
    assert {"hips", "head", "left_foot", "right_hand"} <= motion.skeleton.roles.keys()
    assert any(text.startswith("unit cm from the file") for text in motion.source.evidence)
    np.testing.assert_allclose(np.ptp(motion.skeleton.rest_positions[:, 1]), 1.63, atol=1e-6)


def test_bind_pose_is_the_rest_pose() -> None:
    bones = random_bones(np.random.default_rng(6))
    bind = {}
    for i in range(len(bones)):
        bind[i] = np.eye(4)
        bind[i][:3, 3] = np.sum([bone.properties["Lcl Translation"] for bone in bones[: i + 1]], axis=0)
    plain, bound = check_positions(bones, text_fbx(bones)), check_positions(bones, text_fbx(bones, bind=bind))
    # Without rotations in the bind pose, offsets are the translations themselves.
    expected = np.array([bone.properties["Lcl Translation"] for bone in bones[1:]])
    np.testing.assert_allclose(bound.offsets[1:], expected, atol=1e-9)
    assert np.abs(plain.offsets[1:] - expected).max() > 1.0


def test_constant_and_linear_keys_between_frames() -> None:
    bones = random_bones(np.random.default_rng(7), 3)
    bones[1].keys = {("R", 0): Keys([0.0, 4 / FPS], [0.0, 40.0], CONSTANT), ("R", 1): Keys([0.0, 4 / FPS], [0.0, 40.0])}
    raw = read_fbx(text_fbx(bones), "x.fbx")
    for frame, (x, y) in enumerate([(0, 0), (0, 10), (0, 20), (0, 30), (40, 40)]):
        now = [Bone(b.name, b.parent, b.kind, b.properties, b.keys) for b in bones]
        now[1] = Bone(
            "b1", 0, "LimbNode", bones[1].properties | {"Lcl Rotation": (x, y, bones[1].properties["Lcl Rotation"][2])}
        )
        np.testing.assert_allclose(positions(raw)[frame], slow_positions(now, [frame / FPS])[0], atol=1e-9)


@pytest.mark.parametrize("weights", [None, (0.5, 0.2)])
def test_cubic_keys_follow_their_tangents(weights) -> None:
    """A cubic through given slopes: checked against the Bezier curve drawn point by point."""
    start, stop, slopes = (0.0, 10.0), (1.0, 70.0), (20.0, -30.0)
    flags, packed = CUBIC | 0x400 | 0x800, 0.0
    if weights is not None:
        flags |= 0x3000000
        packed = float(np.array([round(w * 9999) for w in weights], dtype=np.uint16).view(np.float32)[0])
    right, left = weights or (1 / 3, 1 / 3)
    data = [(slopes[0], slopes[1], packed, 0.0), (0.0, 0.0, 0.0, 0.0)]
    bones = [Bone("a", -1), Bone("b", 0, properties={"Lcl Translation": (0.0, 0.0, 1.0)})]
    bones[0].keys["T", 0] = Keys([start[0], stop[0]], [start[1], stop[1]], flags, data)
    raw = read_fbx(text_fbx(bones), "x.fbx")
    s = np.linspace(0.0, 1.0, 100_001)
    basis = np.stack([(1 - s) ** 3, 3 * (1 - s) ** 2 * s, 3 * (1 - s) * s**2, s**3])
    x = np.array([0.0, right, 1.0 - left, 1.0]) @ basis
    y = np.array([start[1], start[1] + slopes[0] * right, stop[1] - slopes[1] * left, stop[1]]) @ basis
    np.testing.assert_allclose(raw.root_positions[:, 0], np.interp(np.arange(31) / FPS, x, y), atol=2e-3)


@pytest.mark.parametrize(
    ("flags", "bias", "slopes"),
    [
        (0x100, 0.0, (20.0, 60.0, 250 / 7, -65 / 7, 10.0)),
        (0x100, 50.0, (20.0, 80.0, 25 / 7, 5 / 14, 10.0)),
        (0x2100, 0.0, (20.0, 50.0, 10.0, -12.5, 10.0)),
        (0x4100, 0.0, (0.0, 60.0, 0.0, 0.0, 0.0)),
    ],
)
def test_automatic_tangents(flags: int, bias: float, slopes: tuple) -> None:
    """The slopes after each key are those that the library ufbx finds."""
    bones = [Bone("a", -1), Bone("b", 0, properties={"Lcl Translation": (0.0, 0.0, 1.0)})]
    times, values = [0.0, 0.5, 0.8, 1.5, 2.0], [0.0, 10.0, 40.0, 20.0, 25.0]
    bones[0].keys["T", 0] = Keys(times, values, CUBIC | flags, [(bias, 0.0, 0.0, 0.0)] * 5)
    path = read_fbx(text_fbx(bones), "x.fbx", fps=5000.0).root_positions[:, 0]
    found = [(path[round(5000 * t) + 1] - path[round(5000 * t)]) * 5000.0 for t in times[:-1]]
    np.testing.assert_allclose(found, slopes[:-1], atol=0.3)


@pytest.mark.parametrize(("flags", "what"), [(CUBIC | 0x200, "TCB"), (CUBIC | 0x400 | 0x10000000, "velocities")])
def test_other_tangents_are_refused_by_name(flags: int, what: str) -> None:
    bones = random_bones(np.random.default_rng(8), 2)
    bones[1].keys["R", 0] = Keys([0.0, 1.0], [0.0, 40.0], flags)
    with pytest.raises(ParseError, match=f"the rotation of 'b1' has (tangents with )?{what}.* bake"):
        read_fbx(text_fbx(bones), "x.fbx")


def test_several_layers_are_refused_by_name() -> None:
    bones = random_bones(np.random.default_rng(9), 3)
    data = text_fbx(bones, stacks=(("Take", ("Base", "Extra")),)).decode()
    more = 'AnimationCurveNode: 9000, "AnimCurveNode::R", "" {\n}\n'
    curve = data[data.index("AnimationCurve:") : data.index("AnimationCurve:", data.index("AnimationCurve:") + 10)]
    curve = curve.replace(curve.split(",")[0], "AnimationCurve: 9001", 1).split("AnimationCurveNode")[0]
    data = data.replace("Objects:  {\n", "Objects:  {\n" + more + curve + "\n")
    data = data.replace(
        "Connections:  {\n",
        'Connections:  {\nC: "OO",9000,1002\nC: "OP",9000,101, "Lcl Rotation"\nC: "OP",9001,9000, "d|X"\n',
    )
    with pytest.raises(ParseError, match=r"keys in 2 layers \('Base', 'Extra'\).*merge the layers"):
        read_fbx(data.encode(), "x.fbx")


def test_clip_chooses_a_stack() -> None:
    bones = random_bones(np.random.default_rng(10), 3)
    data = text_fbx(bones, stacks=(("a", ("Base",)), ("b", ("Base",))), keyed=(1, 0))
    assert read_fbx(data, "x.fbx", clip="b").fps == read_fbx(data, "x.fbx", clip=0).fps == FPS
    with pytest.raises(UnknownName, match="no animation 'a' in the file; it has 'b'"):
        read_fbx(data, "x.fbx", clip="a")


@pytest.mark.parametrize(("settings", "up"), [({"UpAxis": 2, "FrontAxis": 1, "FrontAxisSign": -1}, "z"), ({}, "y")])
def test_up_axis_comes_from_the_file(settings: dict, up: str) -> None:
    bones = random_bones(np.random.default_rng(11), 3)
    raw = check_positions(bones, text_fbx(bones, settings=settings))
    assert raw.up == up


def test_left_handed_scene_is_mirrored() -> None:
    bones = random_bones(np.random.default_rng(12))
    raw = read_fbx(text_fbx(bones, settings={"CoordAxisSign": -1}), "x.fbx")
    expected = slow_positions(bones, TIMES) * [-1.0, 1.0, 1.0]
    np.testing.assert_allclose(positions(raw), expected, atol=1e-9)


@pytest.mark.parametrize(("mode", "rate"), [(11, 24.0), (10, 25.0), (14, 72.5)])
def test_sparse_keys_are_sampled_at_the_rate_of_the_scene(mode: int, rate: float) -> None:
    bones = [Bone("a", -1), Bone("b", 0)]
    bones[0].keys["R", 0] = Keys([0.0, 2.0], [0.0, 90.0])
    raw = read_fbx(text_fbx(bones, settings={"TimeMode": mode, "CustomFrameRate": 72.5}), "x.fbx")
    assert raw.fps == rate
    assert len(raw.rotations) == round(2 * rate) + 1


def test_given_rate_samples_the_curves() -> None:
    bones = random_bones(np.random.default_rng(13), 3)
    assert len(read_fbx(text_fbx(bones), "x.fbx", fps=60.0).rotations) == 2 * len(TIMES) - 1


def test_file_without_animation_is_its_rest_pose() -> None:
    bones = [Bone("a", -1), Bone("b", 0, properties={"Lcl Translation": (0.0, 5.0, 0.0)})]
    raw = check_positions(bones, text_fbx(bones, stacks=()))
    assert len(raw.rotations) == 1


def test_nodes_without_bones_that_move_form_the_skeleton() -> None:
    bones = random_bones(np.random.default_rng(14), 4)
    for bone in bones:
        bone.kind = "Null"
    bones.append(Bone("camera", -1, "Camera", keys=bones[0].keys))
    assert check_positions(bones, text_fbx(bones)).names == ("b0", "b1", "b2", "b3")


def test_stated_unit_is_replaced_if_the_body_cannot_have_it(tmp_path) -> None:
    data, _ = mixamo_like()
    path = tmp_path / "inches.fbx"
    path.write_bytes(data.replace(b'"UnitScaleFactor", "", "", "A",1.0', b'"UnitScaleFactor", "", "", "A",100.0'))
    motion = marey.load(path)
    (reason,) = (text for text in motion.source.evidence if text.startswith("unit"))
    assert reason.startswith("unit: centimeters")
    assert "The file states m, but then the body would be" in reason


@pytest.mark.parametrize("version", [6100, 5800, 9000])
def test_other_versions_are_refused_by_name(version: int) -> None:
    data = text_fbx([Bone("a", -1)], version=version)
    with pytest.raises(
        UnknownVersion, match=f"FBX version {version // 1000}.{version % 1000 // 100}, but only version 7"
    ):
        read_fbx(data, "x.fbx")


def test_bad_text() -> None:
    good = text_fbx(random_bones(np.random.default_rng(15), 2)).decode()
    for old, new, message in (
        ("KeyTime: *8", "KeyTime: *9", "expected 9 numbers in the array, got 8"),
        ("KeyTime: *8 {", "KeyTime: *8 [", "expected"),
        ("Objects:  {", "Objects:  { }", "expected a name, got '}'"),
        ('"OO",101,100', '"OO","x",100', "a connection must be between the numbers of two objects"),
        ('C: "OO",100,0', 'C: "OO",100,101', "is in a cycle or a descendant of one"),
    ):
        assert old in good
        with pytest.raises(ParseError, match=message):
            read_fbx(good.replace(old, new, 1).encode(), "x.fbx")
    with pytest.raises(ParseError, match="not an FBX file"):
        read_fbx(b"HIERARCHY\nROOT Hips", "x.fbx")
    with pytest.raises(ParseError, match="no models and therefore no skeleton"):
        read_fbx(text_fbx([]), "x.fbx")
    with pytest.raises((LimitExceeded, ParseError)):
        read_fbx(good.replace("Objects:  {", "Objects: " + "{ a: " * 5000).encode(), "x.fbx")


def test_real_file_matches_the_same_take_as_bvh(data_folder) -> None:
    path = data_folder / "fbx" / "07_01_cmu.fbx"
    if not path.is_file():
        pytest.skip("no FBX file among the real capture")
    fbx = marey.load(path)
    bvh = marey.load(data_folder / "cmu" / "007" / "07_01.bvh")
    names = [name for name in bvh.skeleton.names if name in fbx.skeleton.names]
    joints = [[motion.skeleton.names.index(name) for name in names] for motion in (fbx, bvh)]
    apart = fbx.world().positions[:, joints[0]] - bvh.world().positions[:, joints[1]]
    # The exporter left out keys within its tolerance.
    assert len(names) == 31
    assert np.abs(apart).max() < 0.005


def test_damaged_files_raise_typed_errors() -> None:
    data, _ = mixamo_like(3)
    rng = np.random.default_rng(0)
    for _ in range(30):
        cut = bytearray(data[: rng.integers(1, len(data))])
        for at in rng.integers(0, len(cut), 3):
            cut[at] = rng.integers(0, 256)
        with contextlib.suppress(MareyError):
            read_fbx(bytes(cut), "x.fbx")


def test_a_bvh_file_of_another_programs_file_has_its_skeleton(tmp_path) -> None:
    # Blender writes the ends of all bones after the bones.
    chain = [Bone("hips", -1), Bone("spine", 0), Bone("leg", 0), Bone("head", 1), Bone("foot", 2)]
    for bone in chain[1:]:
        bone.properties["Lcl Translation"] = (0.0, 10.0, 0.0)
    path = tmp_path / "blender.fbx"
    path.write_bytes(text_fbx(chain))
    motion = marey.load(path)
    assert motion.skeleton.names == ("hips", "spine", "head", "leg", "foot")
    for suffix in ("bvh", "fbx"):
        marey.save(motion, tmp_path / f"again.{suffix}")
        assert marey.load(tmp_path / f"again.{suffix}").skeleton.names[:5] == motion.skeleton.names
