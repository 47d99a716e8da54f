"""Writing BVH: unchanged parts are written as they were; changed parts are continuous, and the same motion."""

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import marey
from marey.core import Motion, Skeleton, Source
from marey.errors import MareyWarning
from marey.io.bvh_write import write_bvh
from marey.maths import quat
from tests.io.dialects import DIALECTS, ORDERS, Dialect, channel_names, make_truth
from tests.twins.bvh import Evaluated, evaluate

TRUTH = make_truth()


def text_of(motion: Motion, unit: float = 1.0, up: str = "y", rigid: bool = False) -> str:
    return b"".join(write_bvh(motion, unit=unit, up=up, rigid=rigid)).decode()


def load_text(text: str | bytes, folder: Path, **options) -> Motion:
    path = folder / "motion.bvh"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MareyWarning)
        return marey.load_motion(path, **{"unit": "m", "up": "y", **options})


@cache
def make(name: str) -> Dialect:
    return DIALECTS[name](TRUTH)


def load_dialect(name: str, folder: Path) -> Motion:
    dialect = make(name)
    return load_text(dialect.data, folder, **dialect.options)


def columns(evaluated: Evaluated) -> dict[str, np.ndarray]:
    """Return the values of each joint's channels, (F, n), by its heading."""
    table, first, found = np.array(evaluated.rows), 0, {}
    for node in evaluated.nodes:
        found[node.heading] = table[:, first : first + len(node.channels)]
        first += len(node.channels)
    return found


def check_world(motion: Motion, text: str, unit: float = 1.0, tolerance: float = 1e-6) -> None:
    """Check with the slow evaluator that the text is the motion; joints are in depth-first order."""
    evaluated = evaluate(text)
    np.testing.assert_allclose(evaluated.positions * unit, motion.world().positions, atol=tolerance)


def angles_of(text: str, heading: str) -> np.ndarray:
    evaluated = evaluate(text)
    node = next(n for n in evaluated.nodes if n.heading == heading)
    turning = [k for k, name in enumerate(node.channels) if name.endswith("rotation")]
    return columns(evaluated)[heading][:, turning]


# Real files.


def real_files(data_folder: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    """Return every real file and its text: the shortest of each folder complete, the first 90 frames of others."""
    paths = sorted(data_folder.rglob("*.bvh"))
    assert paths
    whole = {min(each, key=lambda path: path.stat().st_size) for _, each in groupby(paths, lambda path: path.parent)}
    for path in paths:
        text = path.read_text()
        if path not in whole:
            head, rows = re.split(r"(?<=\n)(?=Frame Time:)", text)
            lines = rows.splitlines(keepends=True)[:91]
            text = re.sub(r"Frames:(\s*)\d+", rf"Frames:\g<1>{len(lines) - 1}", head) + "".join(lines)
        to = folder / path.name
        to.write_text(text)
        yield to, text


@pytest.mark.slow("reads and writes all recorded files")
def test_real_files_are_written_as_they_were(data_folder: Path, tmp_path: Path) -> None:
    """Check that texts have the same tokens, except for the spelling of numbers, and numbers equal to 1e-6."""
    for path, text in real_files(data_folder, tmp_path):
        motion = marey.load(path, trim_rest=False)
        marey.save(motion, tmp_path / "again.bvh")
        before = text.split("MOTION")
        after = (tmp_path / "again.bvh").read_text().split("MOTION")
        assert same_tokens(before[0], after[0])
        before_head, before_rows = split_rows(before[1])
        after_head, after_rows = split_rows(after[1])
        assert before_head == after_head
        assert before_rows.shape == after_rows.shape
        assert np.abs(before_rows - after_rows).max() <= 1e-6
        again = marey.load(tmp_path / "again.bvh", trim_rest=False)
        assert again.source.unit == motion.source.unit
        assert again.source.up == motion.source.up
        np.testing.assert_allclose(again.world().positions, motion.world().positions, atol=1e-6)


@pytest.mark.slow("reads all recorded files with a slow twin")
def test_real_files_load_as_the_format_defines(data_folder: Path, tmp_path: Path) -> None:
    """Compare with the slow evaluator at some frames of every file. The axis is given: its detection is tested
    elsewhere."""
    for path, text in real_files(data_folder, tmp_path):
        motion = marey.load(path, up="y", trim_rest=False)
        every = max(1, len(motion) // 4)
        evaluated = evaluate(text, every=every)
        here = motion.world().positions[::every] / motion.source.unit
        scale = np.abs(evaluated.positions).max()
        np.testing.assert_allclose(here, evaluated.positions, atol=1e-9 * scale)


def same_tokens(before: str, after: str) -> bool:
    """Compare words exactly, and numbers to 1e-6."""
    words, others = before.split(), after.split()
    assert len(words) == len(others)
    for word, other in zip(words, others, strict=True):
        if word != other:
            assert abs(float(word) - float(other)) <= 1e-6, (word, other)
    return True


def split_rows(text: str) -> tuple[list[str], np.ndarray]:
    lines = [line for line in text.splitlines() if line.strip()]
    return [" ".join(line.split()) for line in lines[:2]], np.loadtxt(lines[2:], ndmin=2)


# What was not changed.


def test_same_bytes_every_time(tmp_path: Path) -> None:
    motion = load_dialect("every_order", tmp_path)
    assert text_of(motion) == text_of(motion) == text_of(load_dialect("every_order", tmp_path))
    assert text_of(load_text(text_of(motion), tmp_path)) == text_of(motion)


def test_sliced_and_moved_motions_keep_the_numbers_of_the_file(tmp_path: Path) -> None:
    motion = load_dialect("every_order", tmp_path)
    whole = columns(evaluate(text_of(motion)))
    part = motion[10:20]
    for heading, values in columns(evaluate(text_of(part))).items():
        np.testing.assert_array_equal(values, whole[heading][10:20])
    moved = motion.moved((0.7, 1.0, -2.0))
    check_world(moved, text_of(moved))
    for heading, values in columns(evaluate(text_of(moved))).items():
        if heading != "ROOT Hips":
            np.testing.assert_array_equal(values, whole[heading])
    shifted = motion.moved((0.0, 1.0, -2.0))
    np.testing.assert_array_equal(angles_of(text_of(shifted), "ROOT Hips"), whole["ROOT Hips"][:, 3:])


def test_angles_beyond_a_turn_are_kept(tmp_path: Path) -> None:
    text = text_of(load_dialect("lf", tmp_path))
    lines = text.split("\n")
    first = lines.index("Frame Time: 0.0083333") + 1
    for k in range(first, first + 40):
        words = lines[k].split()
        words[4] = f"{float(words[4]) + 720 - 1080 * (k % 2):.6f}"
        lines[k] = " ".join(words)
    again = text_of(load_text("\n".join(lines), tmp_path))
    assert np.ptp(angles_of(again, "ROOT Hips")[:, 1]) > 1000
    np.testing.assert_allclose(evaluate(again).rows, evaluate("\n".join(lines)).rows, atol=1e-6)


def test_one_changed_joint_leaves_the_others_alone(tmp_path: Path) -> None:
    motion = load_dialect("every_order", tmp_path)
    j = motion.skeleton.index("LeftArm")
    rotations = motion.rotations.copy()
    rotations[:, j] = quat.mul(rotations[:, j], quat.from_axis_angle([0.0, 1.0, 0.0], 0.3))
    bent = replace(motion, rotations=rotations)
    before, after = columns(evaluate(text_of(motion))), columns(evaluate(text_of(bent)))
    check_world(bent, text_of(bent))
    for heading in before:
        assert np.array_equal(before[heading], after[heading]) == (heading != "JOINT LeftArm")


def test_frame_time_is_written_so_that_it_reads_the_same(tmp_path: Path) -> None:
    motion = load_dialect("frame_time_without_zero", tmp_path)
    assert evaluate(text_of(motion)).frame_time == ".0083333"
    assert evaluate(text_of(replace(motion, fps=30.0))).frame_time == "0.0333333"
    for fps in (24.0, 29.97, 30000 / 1001, 59.94, 60.0, 100.0, 119.88, 120.0, 7.3, 1000.0, 0.25, 144.0, 99999.0, 1 / 3):
        again = load_text(text_of(replace(motion, fps=fps)), tmp_path)
        assert again.fps == pytest.approx(fps, rel=1e-9)


def test_z_up_files_are_written_z_up(tmp_path: Path) -> None:
    text = text_of(load_dialect("every_order", tmp_path), up="z")
    motion = load_text(text, tmp_path, up="z")
    marey.save(motion, tmp_path / "again.bvh")
    again = (tmp_path / "again.bvh").read_text()
    np.testing.assert_allclose(evaluate(again).rows, evaluate(text).rows, atol=1e-6)
    assert again == text
    ours = motion.world().positions
    np.testing.assert_allclose(evaluate(text).positions, ours[..., [0, 2, 1]] * [1, -1, 1], atol=1e-6)


@pytest.mark.parametrize("up", ["x", "y", "z", "-x", "-y", "-z"])
@pytest.mark.parametrize("unit", ["m", "cm", "mm", "in", "cmu"])
def test_other_units_and_axes_on_request(up: str, unit: str, tmp_path: Path) -> None:
    motion = load_dialect("position_channels_on_every_joint", tmp_path)
    marey.save(motion, tmp_path / "other.bvh", unit=unit, up=up)
    again = marey.load_motion(tmp_path / "other.bvh", unit=unit, up=up)
    assert again.source.channels == motion.source.channels
    np.testing.assert_allclose(again.world().positions, motion.world().positions, atol=1e-6)


def test_file_offsets_that_channels_replace_follow_the_unit(tmp_path: Path) -> None:
    motion = load_dialect("position_channels_on_every_joint", tmp_path)
    assert evaluate(text_of(motion)).nodes[1].offset == [450.0, -3.0, 1.0]
    assert evaluate(text_of(motion, unit=0.01)).nodes[1].offset == [45000.0, -300.0, 100.0]


# Names.


def test_names_of_end_sites_and_duplicates_are_restored(tmp_path: Path) -> None:
    written = evaluate(text_of(load_dialect("end_site_with_a_name", tmp_path)))
    assert [node.heading for node in written.nodes if "End" in node.heading] == ["End Site Tip of it"] * 5
    written = evaluate(text_of(load_dialect("duplicate_names", tmp_path)))
    assert [node.heading for node in written.nodes].count("JOINT Arm") == 2


def test_a_joint_that_is_called_like_an_end_site_stays_a_joint(tmp_path: Path) -> None:
    text = text_of(load_dialect("joint_named_like_an_end_site", tmp_path))
    headings = [node.heading for node in evaluate(text).nodes]
    assert headings[2:6] == ["JOINT Neck", "End Site", "JOINT NeckEnd", "End Site"]
    still = text.replace("JOINT RightArm", "JOINT SpineEnd")
    motion = load_text(still.replace("JOINT RightForeArm", "JOINT SpineEndEnd"), tmp_path)
    assert text_of(motion).count("JOINT SpineEnd") == 2


def test_renamed_joints_are_written_with_their_new_names(tmp_path: Path) -> None:
    motion = load_dialect("duplicate_names", tmp_path)
    names = tuple("Elbow" if name == "Arm_3" else name for name in motion.skeleton.names)
    skeleton = Skeleton(names, motion.skeleton.parents, motion.skeleton.offsets)
    assert "JOINT Elbow\n" in text_of(replace(motion, skeleton=skeleton))


def test_names_that_a_file_cannot_hold_are_changed_with_a_warning(tmp_path: Path) -> None:
    skeleton = Skeleton(("a{b}", " two\nlines ", "\t", "x\ud800"), [-1, 0, 1, 2], np.eye(4, 3))
    motion = Motion(skeleton, np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 4, 1)), 30.0)
    with pytest.warns(MareyWarning, match="'a{b}' to 'a_b_'"):
        text = text_of(motion)
    assert [node.heading for node in evaluate(text).nodes] == ["ROOT a_b_", "JOINT two_lines", "JOINT _", "JOINT x?"]
    again = load_text(text, tmp_path)
    np.testing.assert_allclose(again.world().positions, motion.world().positions, atol=1e-9)


# Motions that were never in a BVH file.


def random_motion(rng: np.random.Generator, parents: list[int], n_frames: int = 8) -> Motion:
    names = tuple(f"J{k}" for k in range(len(parents)))
    skeleton = Skeleton(names, parents, rng.normal(size=(len(parents), 3)))
    rotations = quat.normalize(rng.normal(size=(n_frames, len(parents), 4)))
    return Motion(skeleton, rng.normal(size=(n_frames, 3)), rotations, 25.0)


def test_sane_defaults() -> None:
    motion = random_motion(np.random.default_rng(0), [-1, 0, 1, 1])
    evaluated = evaluate(text_of(motion, unit=0.01))
    assert evaluated.nodes[0].channels == ["Xposition", "Yposition", "Zposition", "Zrotation", "Xrotation", "Yrotation"]
    assert evaluated.nodes[0].offset == [0, 0, 0]
    assert all(node.channels == ["Zrotation", "Xrotation", "Yrotation"] for node in evaluated.nodes[1:])
    assert evaluated.frame_time == "0.04"
    np.testing.assert_allclose(evaluated.positions * 0.01, motion.world().positions, atol=1e-6)


def test_joints_in_any_order_are_written_depth_first(tmp_path: Path) -> None:
    """The joints of a skeleton need not be in the order of the hierarchy; the columns follow the hierarchy."""
    motion = random_motion(np.random.default_rng(1), [-1, 0, 0, 1, 2, 1, 0, 4, 3])
    again = load_text(text_of(motion), tmp_path)
    assert again.skeleton.names == ("J0", "J1", "J3", "J8", "J5", "J2", "J4", "J7", "J6")
    order = [motion.skeleton.index(name) for name in again.skeleton.names]
    np.testing.assert_allclose(again.world().positions, motion.world().positions[:, order], atol=1e-6)


def test_end_sites_of_any_motion_are_written_as_such() -> None:
    skeleton = Skeleton(("Hips", "Head", "HeadEnd", "HeadEndEnd", "HeadEnd2"), [-1, 0, 1, 2, 1], np.eye(5, 3))
    rotations = np.tile([1.0, 0, 0, 0], (3, 5, 1))
    motion = Motion(skeleton, np.zeros((3, 3)), rotations, 30.0)
    headings = [node.heading for node in evaluate(text_of(motion)).nodes]
    assert headings == ["ROOT Hips", "JOINT Head", "End Site", "End Site", "End Site"]
    rotations[:, 4] = [0.6, 0.8, 0.0, 0.0]  # an End Site cannot rotate
    headings = [node.heading for node in evaluate(text_of(replace(motion, rotations=rotations))).nodes]
    assert headings == ["ROOT Hips", "JOINT Head", "End Site", "End Site", "JOINT HeadEnd2"]
    rotations[:, 3] = [0.6, 0.8, 0.0, 0.0]  # nor have a child joint
    headings = [node.heading for node in evaluate(text_of(replace(motion, rotations=rotations))).nodes]
    assert headings == ["ROOT Hips", "JOINT Head", "JOINT HeadEnd", "JOINT HeadEndEnd", "JOINT HeadEnd2"]


def test_names_of_other_formats_are_restored() -> None:
    skeleton = Skeleton(("Hips", "Bone", "Bone_2", "Bone_2End"), [-1, 0, 1, 2], np.eye(4, 3))
    source = Source(format="glb", file_names=("Hips", "Bone", "Bone", "Bone_2End"))
    motion = Motion(skeleton, np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 4, 1)), 30.0, source=source)
    headings = [node.heading for node in evaluate(text_of(motion)).nodes]
    assert headings == ["ROOT Hips", "JOINT Bone", "JOINT Bone", "End Site"]


def test_a_source_of_another_skeleton_does_no_harm(tmp_path: Path) -> None:
    source = load_dialect("every_order", tmp_path).source
    motion = replace(random_motion(np.random.default_rng(2), list(range(-1, 16))), source=source)
    assert len(source.channels) == len(motion.skeleton)
    check_world(motion, text_of(motion))
    few = replace(random_motion(np.random.default_rng(3), [-1, 0]), source=source)
    check_world(few, text_of(few))
    nothing = replace(few, source=Source(channels=((), ())))
    check_world(nothing, text_of(nothing))


def test_large_numbers_are_written(tmp_path: Path) -> None:
    motion = random_motion(np.random.default_rng(4), [-1, 0])
    far = replace(motion, root_positions=motion.root_positions + 9e6)
    again = load_text(text_of(far), tmp_path)
    np.testing.assert_allclose(again.root_positions, far.root_positions, rtol=1e-15)


# Bones that change length.


def stretched(motion: Motion, joints: list[str]) -> Motion:
    bones = np.tile(motion.skeleton.offsets, (len(motion), 1, 1))
    for name in joints:
        bones[:, motion.skeleton.index(name)] *= np.linspace(1.0, 1.2, len(motion))[:, None]
    return replace(motion, bone_offsets=bones)


def test_stretched_bones_get_position_channels_and_no_others(tmp_path: Path) -> None:
    motion = stretched(load_dialect("every_order", tmp_path), ["LeftForeArm", "RightLeg", "HeadEnd"])
    text = text_of(motion)
    check_world(motion, text)
    placed = [n.heading for n in evaluate(text).nodes if "Xposition" in n.channels]
    assert placed == ["ROOT Hips", "JOINT HeadEnd", "JOINT LeftForeArm", "JOINT RightLeg"]
    offsets = [node.offset for node in evaluate(text).nodes]
    np.testing.assert_allclose(offsets, motion.skeleton.offsets, atol=1e-6)
    again = load_text(text, tmp_path)
    np.testing.assert_allclose(again.bone_offsets[:, 1:], motion.bone_offsets[:, 1:], atol=1e-6)
    unsourced = stretched(random_motion(np.random.default_rng(5), [-1, 0, 1]), ["J2"])
    again = load_text(text_of(unsourced), tmp_path)
    np.testing.assert_allclose(again.world().positions, unsourced.world().positions, atol=1e-6)


@pytest.mark.parametrize("name", ["every_order", "position_channels_on_every_joint", "position_channels_on_some_axes"])
def test_rigid_leaves_stretching_out(name: str, tmp_path: Path) -> None:
    motion = load_dialect(name, tmp_path)
    marey.save(stretched(motion, ["LeftForeArm", "RightLeg"]), tmp_path / "rigid.bvh", rigid=True)
    text = (tmp_path / "rigid.bvh").read_text()
    assert [n.heading for n in evaluate(text).nodes if any("position" in c for c in n.channels)] == ["ROOT Hips"]
    check_world(motion, text)


def test_other_offsets_are_written_though_the_file_had_position_channels(tmp_path: Path) -> None:
    """A skeleton scaled after loading: channels and OFFSETs must follow it, not the file."""
    for name in ("position_channels_on_every_joint", "position_channels_on_some_axes", "every_order"):
        motion = load_dialect(name, tmp_path)
        skeleton = motion.skeleton
        larger = replace(motion, skeleton=Skeleton(skeleton.names, skeleton.parents, skeleton.offsets * 1.5))
        check_world(larger, text_of(larger))


def test_a_root_that_has_no_position_channels(tmp_path: Path) -> None:
    motion = load_dialect("root_offset_without_position_channels", tmp_path)
    moved = replace(motion, root_positions=motion.root_positions + [1.0, 2.0, 3.0])
    assert len(evaluate(text_of(moved)).nodes[0].channels) == 3
    check_world(moved, text_of(moved))
    path = motion.root_positions + np.linspace(0, 1, len(motion))[:, None]
    moving = replace(motion, root_positions=path)
    assert len(evaluate(text_of(moving)).nodes[0].channels) == 6
    check_world(moving, text_of(moving))


def test_a_joint_with_few_channels_gets_more_only_if_it_needs_them(tmp_path: Path) -> None:
    motion = load_dialect("one_and_two_channels", tmp_path)
    knee = motion.skeleton.index("LeftLeg")
    rotations = motion.rotations.copy()
    rotations[:, knee] = quat.mul(rotations[:, knee], quat.from_axis_angle([1.0, 0.0, 0.0], 0.4))
    more = replace(motion, rotations=rotations)
    assert next(n for n in evaluate(text_of(more)).nodes if n.heading == "JOINT LeftLeg").channels == ["Xrotation"]
    check_world(more, text_of(more))
    rotations[:, knee] = quat.mul(rotations[:, knee], quat.from_axis_angle([0.0, 1.0, 0.0], 0.1))
    neck = motion.skeleton.index("Neck")
    rotations[:, neck] = quat.from_axis_angle([0.0, 1.0, 0.0], 0.1)
    twisted = replace(motion, rotations=rotations)
    check_world(twisted, text_of(twisted))
    channels = {n.heading: n.channels for n in evaluate(text_of(twisted)).nodes}
    assert channels["JOINT LeftLeg"] == ["Xrotation", "Zrotation", "Yrotation"]
    assert channels["JOINT Neck"] == ["Zrotation", "Xrotation", "Yrotation"]


# Continuity.


def spinning(order: str, turns: np.ndarray) -> Motion:
    """Return a root with rotations `turns` (F, 3, 3) and channels in this order."""
    skeleton = Skeleton(("Hips", "Head"), [-1, 0], [[0.0, 0, 0], [0.0, 1, 0]])
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (len(turns), 2, 1))
    rotations[:, 0] = Rotation.from_matrix(turns).as_quat(scalar_first=True)
    source = Source(format="bvh", channels=(channel_names(order), channel_names("ZXY")))
    return Motion(skeleton, np.zeros((len(turns), 3)), rotations, 60.0, source=source)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_several_full_turns_are_written_without_jumps(order: str, axis: str) -> None:
    """Straight through gimbal lock, about the axis of the middle channel."""
    degrees = np.linspace(-900.0, 1100.0, 401)
    motion = spinning(order, Rotation.from_euler(axis, degrees[:, None], degrees=True).as_matrix())
    text = text_of(motion)
    check_world(motion, text)
    steps = np.abs(np.diff(angles_of(text, "ROOT Hips"), axis=0))
    assert steps.max() < 180.0
    if axis in (order[0], order[2]):  # one channel is enough
        assert steps.sum(axis=1).max() < 5.001


@pytest.mark.parametrize("order", ORDERS)
def test_tumbling_is_written_without_jumps(order: str) -> None:
    seconds = np.linspace(0.0, 6.0, 1500)
    spin = np.stack([150 * seconds, 97 * seconds + 40 * np.sin(seconds), 211 * seconds], axis=1)
    motion = spinning(order, Rotation.from_euler("XYZ", spin, degrees=True).as_matrix())
    text = text_of(motion)
    check_world(motion, text)
    steps = np.abs(np.diff(angles_of(text, "ROOT Hips"), axis=0))
    assert steps.max() < 180.0
    assert np.median(steps) < 2.0
    wild = spinning(order, Rotation.random(300, rng=np.random.default_rng(8)).as_matrix())
    check_world(wild, text_of(wild))
    assert np.abs(np.diff(angles_of(text_of(wild), "ROOT Hips"), axis=0)).max() <= 180.0
