"""Positions of joints to motion: fit, noise, gaps, units and axes, sets of points, markers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import marey
from marey.cli.main import cli
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.core.role_profiles import POINT_SETS
from marey.core.solve import BODY
from marey.errors import InvalidValue, MareyError, NoResult, ParseError, UnknownName
from marey.io import solve_with_report
from marey.io.solving import read_joints
from marey.maths import quat
from marey.samples import sample

KINDS = ("walk", "run", "kick", "reach")
CLIPS = ("cmu/016/16_15.bvh", "cmu/049/49_06.bvh", "bandai-namco/dataset-1_punch_normal_001.bvh")
MORE_CLIPS = (*CLIPS, "cmu/016/16_45.bvh", "cmu/143/143_18.bvh")


def joint_positions(motion: Motion) -> tuple[list[str], np.ndarray]:
    """Return the roles of a motion and their positions (F, P, 3)."""
    roles = motion.skeleton.roles
    return list(roles), motion.world().positions[:, list(roles.values())]


def measure_jerk(places: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(places, n=3, axis=0), axis=2).mean())


def solved_positions(motion: Motion, names: list[str]) -> np.ndarray:
    return motion.world().positions[:, [motion.skeleton.index(name) for name in names]]


def add_noise(places: np.ndarray, size: float, seed: int = 0) -> np.ndarray:
    return places + np.random.default_rng(seed).normal(0.0, size, places.shape)


@pytest.mark.parametrize("kind", KINDS)
def test_clean_positions_come_back(kind: str) -> None:
    names, places = joint_positions(sample(kind, fps=30.0).motion)
    result = solve_with_report(places, names=names, file_fps=30)
    assert result.mean_error < 1e-3
    assert result.max_error < 8e-3
    solved = solved_positions(result.motion, names)
    np.testing.assert_allclose(np.linalg.norm(solved - places, axis=2).mean(), result.mean_error, rtol=1e-9)
    assert result.motion.bone_offsets is None
    assert result.gaps == ()
    assert all(result.motion.skeleton.names[joint] == role for role, joint in result.motion.skeleton.roles.items())


@pytest.mark.parametrize("path", CLIPS)
def test_clean_positions_of_real_clips(data_folder, path: str) -> None:
    motion = marey.load(data_folder / path)[:240]
    names, places = joint_positions(motion)
    result = solve_with_report(places, names=names, file_fps=motion.fps)
    assert result.mean_error < 2e-3
    # The spine and the limbs twist as in the clip, without jumps.
    world = result.motion.world().rotations
    speeds = quat.angle_between(world[1:], world[:-1]).max(axis=0) * motion.fps
    true = quat.angle_between(motion.world().rotations[1:], motion.world().rotations[:-1]).max(axis=0) * motion.fps
    for role in ("hips", "chest", "left_upper_leg", "right_upper_arm", "left_foot"):
        own, other = result.motion.skeleton.roles[role], motion.skeleton.roles[role]
        assert speeds[own] < 2.0 * true[other] + 5.0


@pytest.mark.parametrize(
    ("path", "fps", "limit"), [(CLIPS[0], 120, 6e-3), (CLIPS[0], 30, 9e-3), (CLIPS[1], 30, 9e-3), (CLIPS[2], 30, 11e-3)]
)
def test_noise_of_a_centimeter_is_reduced(data_folder, path: str, fps: float, limit: float) -> None:
    motion = marey.load(data_folder / path, fps=fps)[:240]
    names, places = joint_positions(motion)
    noisy = add_noise(places, 0.01)
    result = solve_with_report(noisy, names=names, file_fps=fps)
    solved = solved_positions(result.motion, names)
    assert np.linalg.norm(solved - places, axis=2).mean() < limit < 12e-3
    assert measure_jerk(solved) < 0.3 * measure_jerk(noisy)
    assert 0.007 < result.noise < 0.012
    true = {name: float(np.median(_lengths(motion, name))) for name in ("left_lower_leg", "left_foot", "left_hand")}
    for name, length in true.items():
        assert abs(result.lengths[name] - length) < 5e-3


def _lengths(motion: Motion, role: str) -> np.ndarray:
    joint = motion.skeleton.roles[role]
    places = motion.world().positions
    return np.linalg.norm(places[:, joint] - places[:, motion.skeleton.parents[joint]], axis=1)


@pytest.mark.parametrize("unit", [1.0, 0.01, 0.001])
@pytest.mark.parametrize("up", ["y", "z"])
def test_unit_and_axes_of_an_array_are_recognized(unit: float, up: str) -> None:
    names, places = joint_positions(sample("walk", fps=30.0, seconds=1.5).motion)
    array = places / unit
    if up == "z":
        array = array[..., [0, 2, 1]] * [1.0, -1.0, 1.0]
    motion = marey.solve(array, names=names, file_fps=30)
    assert (motion.source.unit, motion.source.up) == (unit, up)
    np.testing.assert_allclose(solved_positions(motion, names), places, atol=6e-3)
    same = marey.solve(places, names=names, file_fps=30)
    np.testing.assert_allclose(motion.world().positions, same.world().positions, atol=1e-6)


def test_moved_positions_move_the_motion() -> None:
    names, places = joint_positions(sample("kick", fps=30.0).motion)
    turned = quat.rotate(quat.from_axis_angle([0.0, 1.0, 0.0], 1.1), places) + [2.0, 0.0, -1.0]
    first, second = (marey.solve(array, names=names, file_fps=30) for array in (places, turned))
    expected = quat.rotate(quat.from_axis_angle([0.0, 1.0, 0.0], 1.1), first.world().positions) + [2.0, 0.0, -1.0]
    np.testing.assert_allclose(second.world().positions, expected, atol=1e-9)


def test_knees_and_elbows_bend_like_hinges() -> None:
    names, places = joint_positions(sample("run", fps=60.0).motion)
    motion = marey.solve(places, names=names, file_fps=60, strength=0)
    for side in ("left", "right"):
        for role, axis in ((f"{side}_lower_leg", 0), (f"{side}_forearm", 1)):
            vector = quat.log(motion.rotations[:, motion.skeleton.roles[role]])
            bent = np.linalg.norm(vector, axis=1) > 0.5
            assert bent.any()
            assert (np.abs(vector[bent, axis]) > 0.99 * np.linalg.norm(vector[bent], axis=1)).all()


def test_gaps_are_filled_and_reported() -> None:
    names, places = joint_positions(sample("walk", fps=30.0, seconds=2.0).motion)
    holes = places.copy()
    holes[10:20, names.index("left_hand")] = np.nan
    holes[:4, names.index("head")] = np.nan
    result = solve_with_report(holes, names=names, file_fps=30)
    assert [(gap.joint, gap.start, gap.stop) for gap in result.gaps] == [("head", 0, 4), ("left_hand", 10, 20)]
    solved = solved_positions(result.motion, names)
    assert np.linalg.norm(solved - places, axis=2)[10:20, names.index("left_hand")].max() < 0.05
    assert np.linalg.norm(solved - places, axis=2)[:4, names.index("head")].max() < 0.03
    with pytest.raises(NoResult, match=r"'left_hand' is not seen in frames 10 to 20 \(0.33 s\) and 1 more"):
        marey.solve(holes, names=names, file_fps=30, max_gap=0.1)
    assert result.to_dict()["gaps"][0] == {"joint": "head", "start": 0, "stop": 4}
    json.dumps(result.to_dict())


def make_set(name: str, motion: Motion) -> np.ndarray:
    """Return the points of a set for a motion: each is the joint that it stands for, others are NaN."""
    points = POINT_SETS[name]
    roles, places = joint_positions(motion)
    near = {"spine2": "spine", "nose": "head", "head_tip": "head"}
    out = np.full((len(motion), len(points.names), 3), np.nan)
    rotations = motion.world().rotations
    for joint, used in points.joints.items():
        role = near.get(joint, joint)
        place = places[:, roles.index(role)]
        if joint in near:  # a point that moves with this joint
            rotation = rotations[:, motion.skeleton.roles[role]]
            place = place + quat.rotate(rotation, np.broadcast_to([0.0, 0.0, 0.1], place.shape))
        for point in used:
            out[:, points.names.index(point)] = place
    return out


@pytest.mark.parametrize(
    ("name", "path"),
    # Two clips for each set, and each clip with two sets.
    [(name, MORE_CLIPS[(k + j) % 5]) for k, name in enumerate([*POINT_SETS, "markers"]) for j in (0, 2)],
)
def test_sets_of_real_clips(data_folder, name: str, path: str) -> None:
    """Trunks bend, shoulders and heads move: missing points in between do not make the rest inexact."""
    motion = marey.load(data_folder / path, fps=30.0)[:120]
    roles = motion.skeleton.roles
    joints = POINT_SETS[name].joints if name in POINT_SETS else {role: (role,) for role in roles}
    names = POINT_SETS[name].names if name in POINT_SETS else tuple(roles)
    exact = make_set(name, motion) if name in POINT_SETS else joint_positions(motion)[1]
    noisy = add_noise(exact, 0.01)
    true, given = (
        np.stack([each[:, [names.index(point) for point in points]].mean(axis=1) for points in joints.values()], axis=1)
        for each in (exact, noisy)
    )

    def solve_array(array: np.ndarray) -> np.ndarray:
        if name in POINT_SETS:
            return solved_positions(marey.solve(array, names=name, file_fps=30), list(joints))
        markers = Markers(names, array, np.ones(array.shape[:2], dtype=bool), 30.0)  # as from C3D and TRC files
        return solved_positions(marey.solve(markers, joints={role: role for role in roles}), list(joints))

    assert np.linalg.norm(solve_array(exact) - true, axis=2).mean() < 1.2e-3
    solved = solve_array(noisy)
    assert np.linalg.norm(solved - true, axis=2).mean() < 11e-3
    assert measure_jerk(solved) < 0.35 * measure_jerk(given)


@pytest.mark.parametrize("name", POINT_SETS)
def test_every_set_of_points_gives_a_body(name: str) -> None:
    motion = sample("walk", fps=30.0, seconds=2.0).motion
    solved = marey.solve(make_set(name, motion), names=name, file_fps=30)
    for role in ("hips", "left_foot", "right_hand", "left_forearm", "right_lower_leg"):
        if role == "hips" and name in ("coco", "mediapipe"):
            continue  # between the hip joints, unlike the sample's hips
        own = solved.world().positions[:, solved.skeleton.roles[role]]
        other = motion.world().positions[:, motion.skeleton.roles[role]]
        assert np.linalg.norm(own - other, axis=1).mean() < 0.012
    assert not {"hips", "spine", "chest", "neck", "head"} - set(solved.skeleton.roles) - {"spine"}


def test_sets_list_known_points_and_joints() -> None:
    for points in POINT_SETS.values():
        assert set(points.joints) <= set(BODY)
        assert {point for used in points.joints.values() for point in used} <= set(points.names)
        assert len(set(points.names)) == len(points.names)


TRC = """PathFileType\t4\t(X/Y/Z)\twalk.trc
DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames
{fps}\t{fps}\t{n}\t{m}\tmm\t{fps}\t1\t{n}
Frame#\tTime\t{names}
\t\t{axes}

{rows}
"""


def write_trc(path: Path, names: list[str], places: np.ndarray, fps: float) -> Path:
    rows = []
    for i, frame in enumerate(places * 1000.0):
        cells = [f"{value:.4f}" if np.isfinite(value) else "" for value in frame.ravel()]
        rows.append("\t".join([str(i + 1), f"{i / fps:.4f}", *cells]))
    axes = "\t".join(f"{axis}{k + 1}" for k in range(len(names)) for axis in "XYZ")
    header = {"fps": fps, "n": len(places), "m": len(names), "names": "\t\t\t".join(names), "axes": axes}
    path.write_text(TRC.format(rows="\n".join(rows), **header))
    return path


def test_markers_of_a_trc_file_with_a_map(tmp_path: Path) -> None:
    motion = sample("walk", fps=30.0, seconds=2.0).motion
    roles, places = joint_positions(motion)
    holes = places.copy()
    holes[5:8, roles.index("left_hand")] = np.nan
    path = write_trc(tmp_path / "walk.trc", [f"M{k}" for k in range(len(roles))], holes, 30.0)
    markers = marey.load(path)
    assert (markers.fps, markers.source.unit, markers.source.up, markers.name) == (30.0, 0.001, "y", "walk")
    assert not markers.valid[5:8, roles.index("left_hand")].any()
    assert markers.valid.sum() == markers.valid.size - 3
    np.testing.assert_allclose(markers.positions[markers.valid], places[markers.valid], atol=1e-6)
    table = {f"M{k}": role for k, role in enumerate(roles)}
    (tmp_path / "map.json").write_text(json.dumps(table))
    (tmp_path / "map.csv").write_text("marker,joint\n" + "\n".join(f"{point},{role}" for point, role in table.items()))
    results = [solve_with_report(path, joints=tmp_path / f"map.{suffix}") for suffix in ("json", "csv")]
    for result in (*results, solve_with_report(markers, joints=table)):
        np.testing.assert_allclose(solved_positions(result.motion, roles), places, atol=8e-3)
        assert result.gaps[0].joint == "left_hand"
    output = tmp_path / "out.bvh"
    done = CliRunner().invoke(cli, ["solve", str(path), str(output), "--joints", str(tmp_path / "map.csv"), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["mean_error_m"] < 2e-3
    assert len(marey.load(output)) == len(motion)


def test_markers_of_a_real_c3d_file(data_folder) -> None:
    sides = {"WT": "upper_leg", "KNE": "lower_leg", "ANK": "foot", "TOE": "ball", "SHO": "upper_arm", "ELB": "forearm"}
    sides |= {"WRA": "hand", "WRB": "hand", "FIN": "fingertips"}
    table = {"C7": "neck", "CLAV": "neck", "T10": "chest", "STRN": "chest"}
    for letter, side in (("L", "left"), ("R", "right")):
        table |= {f"{letter}{name}": f"{side}_{joint}" for name, joint in sides.items() if name != "WT"}
        table |= {f"{letter}{end}WT": f"{side}_upper_leg" for end in "FB"}
        table |= {f"{letter}{end}HD": "head" for end in "FB"}
    markers = marey.load(data_folder / "c3d/85_02.c3d")[:300]
    result = solve_with_report(markers, joints=table)
    assert result.mean_error < 0.008
    shot = marey.load(data_folder / "cmu/085/85_02.bvh")[:300]
    for roles in (("left_foot", "head"), ("right_foot", "left_hand"), ("left_lower_leg", "right_hand")):
        own, other = (
            np.linalg.norm(
                np.diff(motion.world().positions[:, [motion.skeleton.roles[r] for r in roles]], axis=1), axis=2
            )
            for motion in (result.motion, shot)
        )  # markers are on the skin, centimeters away from the joints
        assert np.abs((own - own.mean()) - (other - other.mean())).mean() < 0.04


def make_humanml(places: np.ndarray) -> np.ndarray:
    """Encode positions (F, 22, 3) as rows (F, 263), as the authors define them, with zeros for what is not read."""
    across = places[:, 1] - places[:, 2]
    angles = np.unwrap(np.arctan2(-across[:, 2], across[:, 0]))
    angles -= angles[0]  # the first frame faces +Z
    rows = np.zeros((len(places), 263))
    rows[:-1, 0] = np.diff(-angles) / 2.0
    back = quat.from_axis_angle([0.0, 1.0, 0.0], -angles)
    steps = quat.rotate(back[1:], np.diff(places[:, 0], axis=0))
    rows[:-1, 1:3] = steps[:, [0, 2]]
    rows[:, 3] = places[:, 0, 1]
    local = places[:, 1:].copy()
    local[..., [0, 2]] -= places[:, :1, [0, 2]]
    rows[:, 4:67] = quat.rotate(back[:, None], local).reshape(len(places), -1)
    return rows


def test_humanml_arrays(tmp_path: Path) -> None:
    walk = sample("walk", fps=20.0, seconds=3.0, turn_rate=0.5).motion
    body = marey.edit.retarget(walk, marey.io.smpl_skeleton(n_joints=22), feet=None)
    places = body.world().positions
    across = places[0, 1] - places[0, 2]
    places = quat.rotate(quat.from_axis_angle([0.0, 1.0, 0.0], np.arctan2(across[2], across[0])), places)
    places = places - places[0, 0] * [1.0, 0.0, 1.0]
    np.save(tmp_path / "joints.npy", places.astype(np.float32))
    np.save(tmp_path / "vectors.npy", make_humanml(places))
    joints, vectors = (marey.load(tmp_path / f"{name}.npy") for name in ("joints", "vectors"))
    assert (joints.fps, joints.source.up, joints.source.unit) == (20.0, "y", 1.0)
    assert "rate 20 Hz, that of HumanML3D" in joints.source.evidence
    order = [joints.skeleton.index(joint) for joint in POINT_SETS["humanml3d"].joints]
    points = [POINT_SETS["humanml3d"].names.index(used[0]) for used in POINT_SETS["humanml3d"].joints.values()]
    np.testing.assert_allclose(joints.world().positions[:, order], places[:, points], atol=2e-3)
    np.testing.assert_allclose(vectors.world().positions, joints.world().positions, atol=1e-4)
    marey.save(vectors, tmp_path / "walk.bvh")
    again = marey.load(tmp_path / "walk.bvh")
    np.testing.assert_allclose(again.world().positions, vectors.world().positions, atol=1e-5)
    np.save(tmp_path / "other.npy", np.zeros((5, 17, 3)))
    with pytest.raises(ParseError, match=r"shape \(5, 17, 3\); expected .*`marey.solve` fits a skeleton"):
        marey.load(tmp_path / "other.npy")


NAMES, PLACES = joint_positions(sample("walk", fps=30.0, seconds=1.0).motion)


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (PLACES, {"names": NAMES}, "do not state their frame rate; give the rate as `file_fps=`"),
        (PLACES[0], {"names": NAMES, "file_fps": 30}, r"of shape \(F, P, 3\), not"),
        ("walk.bvh", {}, "positions can only be read from .npy, .c3d, .trc files"),
        (PLACES[:, :5], {"file_fps": 30}, r"has 5 points; known sets are humanml3d \(22\)"),
        (PLACES[:, :17], {"file_fps": 30}, "has 17 points; known sets"),
        (PLACES, {"names": "cocoa", "file_fps": 30}, "no set of points 'cocoa'; .* similar: 'coco'"),
        (PLACES, {"names": "coco", "file_fps": 30}, "the set 'coco' has 17 points, but the data has"),
        (PLACES, {"names": NAMES[:3], "file_fps": 30}, "one per point, not 3"),
        (PLACES[:, :2], {"names": ["a", "b"], "file_fps": 30}, r"the points \('a', 'b'\) do not show their joints"),
        (PLACES[:, :2], {"names": ["hips", "neck"], "file_fps": 30}, "positions of left_upper_leg, .* are needed"),
        (PLACES[:, :2], {"names": ["a", "b"], "file_fps": 30, "joints": {"c": "hips"}}, "no point 'c' in"),
        (PLACES[:, :2], {"names": ["a", "b"], "file_fps": 30, "joints": {"a": "hip"}}, "no joint 'hip'; expected one"),
        (PLACES * 0.0, {"names": NAMES, "file_fps": 30}, "all positions are the same point"),
    ],
)  # fmt: skip
def test_bad_positions(array, options: dict, message: str) -> None:
    with pytest.raises(MareyError, match=message) as error:
        marey.solve(array, **options)
    assert isinstance(error.value, InvalidValue | UnknownName | MareyError)


def test_markers_have_their_own_rate() -> None:
    markers = marey.Markers(NAMES, PLACES, np.ones(PLACES.shape[:2], dtype=bool), 30.0)
    assert len(marey.solve(markers)) == len(PLACES)
    with pytest.raises(InvalidValue, match="`file_fps=` does not apply to Markers, which already has a frame rate"):
        marey.solve(markers, file_fps=30)
    with pytest.raises(InvalidValue, match="`names=` does not apply to a .trc file, which already has names"):
        marey.solve("walk.trc", names=NAMES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c\n", "1: expected a point and a joint, got 'a,b,c'"),
        ("a,hips\na,neck\n", "2: point 'a' is assigned to two joints"),
        ("# none\n", "expected rows with a point and a joint"),
    ],
)
def test_bad_maps(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "map.csv").write_text(text)
    with pytest.raises(ParseError, match=message):
        read_joints(tmp_path / "map.csv")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("PathFileType", "Path", "not a TRC file"),
        ("Frame#", "Row", "4: expected 'Frame#', 'Time' and the names"),
        ("{rows}", "", "the file has no frames"),
        ("{rows}", "1\t0.0\tx\t1\t2", "7: expected a number, got 'x'"),
        ("{rows}", "1\t0.0\t1e13\t1\t2", "7: expected a number from -1e[+]12 to 1e[+]12, got '1e13'"),
        ("{rows}", "1\t0.0\t1\t1\t2\t3", "7: expected 3 coordinates after frame and time, got 4"),
        ("{fps}\t{fps}", "0\t0", "expected a DataRate"),
    ],
)
def test_bad_trc_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = TRC.replace(old, new).format(
        fps=30, n=1, m=1, names="A", axes="X1\tY1\tZ1", rows="1\t0.0\t1\t2\t3"
    )  # fmt: skip
    (tmp_path / "bad.trc").write_text(text)
    with pytest.raises(ParseError, match=message):
        marey.load(tmp_path / "bad.trc")
