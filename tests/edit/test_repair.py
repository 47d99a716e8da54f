"""Repair broken frames, and level a tilted floor."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.clean import find_floor_plane, point_paths
from marey.cli.main import main
from marey.edit import level, repair, retarget
from marey.errors import NoResult
from marey.maths import quat
from marey.measure import find_glitches

from ..check.helpers import clip, rotate_joint, tilt, zero_pose
from ..clean.floored import MADE, displaced


def step(motion):
    return motion.source.provenance[-1]


def same(a, b):
    return np.array_equal(a.rotations, b.rotations) and np.array_equal(a.root_positions, b.root_positions)


def test_a_good_clip_stays_bit_for_bit():
    walk = marey.detect_contacts(clip("walk"))
    fixed = repair(walk)
    assert same(fixed, walk)
    assert np.array_equal(fixed.contacts.mask, walk.contacts.mask)
    assert dict(step(fixed)) == {"op": "repair", "trimmed": [0, 0], "interpolated": [], "unflipped": [], "left": []}


@pytest.mark.parametrize(("start", "stop"), [(100, 101), (100, 105)])
def test_broken_frames_are_interpolated_per_joint(start, stop):
    walk = clip("walk")
    fixed = repair(rotate_joint(walk, "left_upper_arm", 110, start, stop))
    arm = walk.skeleton.roles["left_upper_arm"]
    assert step(fixed)["interpolated"] == [[start, stop, [walk.skeleton.names[arm]]]]
    wrong = np.zeros(walk.rotations.shape[:2], dtype=bool)
    wrong[start:stop, arm] = True
    assert np.array_equal(fixed.rotations[~wrong], walk.rotations[~wrong])
    assert np.degrees(quat.angle_between(fixed.rotations, walk.rotations).max()) < 1.0
    assert not find_glitches(fixed)


def test_zeroed_poses_and_a_displaced_root():
    walk = clip("walk")
    broken = zero_pose(walk, 200, 203)
    root = walk.root_positions.copy()
    root[200:203] = 0.0
    fixed = repair(replace(broken, root_positions=root))
    assert np.linalg.norm(fixed.world().positions - walk.world().positions, axis=2).max() < 0.02


def test_broken_ends_are_trimmed():
    walk = clip("walk")
    broken = rotate_joint(rotate_joint(walk, "left_upper_arm", 90, 0, 3), "right_upper_leg", 90, 358, 361)
    fixed = repair(broken)
    assert step(fixed)["trimmed"] == [3, 3]
    assert same(fixed, walk[3:358])


def test_a_flip_is_rotated_back():
    walk = clip("walk")
    fixed = repair(rotate_joint(walk, "left_upper_arm", 170, 100, 160))
    (span,) = step(fixed)["unflipped"]
    assert span[:2] == [100, 160]
    assert np.degrees(quat.angle_between(fixed.rotations, walk.rotations).max()) < 3.0
    assert not find_glitches(fixed)


def test_a_cut_is_left():
    broken = rotate_joint(clip("walk"), "left_upper_arm", 150, 100, 361)
    fixed = repair(broken)
    assert same(fixed, broken)
    assert step(fixed)["left"] == [100]


def test_real_clips(data_folder):
    clip = marey.load(data_folder / "cmu-hard" / "09_10.bvh")
    fixed = repair(clip)
    assert step(fixed)["trimmed"] == [5, 0]
    assert same(fixed, clip[5:])
    assert not marey.check(fixed).is_severe
    walk = marey.load(data_folder / "cmu" / "016" / "16_17.bvh")
    assert step(repair(walk))["interpolated"][0][:2] == [474, 475]
    rest = marey.load(data_folder / "cmu" / "016" / "16_15.bvh", trim_rest=False)
    assert step(repair(rest))["trimmed"] == [3, 0]


def is_unchanged(motion, level):
    once = repair(motion, level=level)
    return same(repair(once, level=level), once)


@pytest.mark.parametrize("spans", [[(0, 3), (20, 22)], [(8, 10), (12, 14), (30, 31)], [(340, 343), (352, 354)]])
def test_a_second_repair_changes_nothing(spans):
    broken = clip("walk")
    for k, (start, stop) in enumerate(spans):
        broken = zero_pose(broken, start, stop)
        broken = rotate_joint(broken, "left_upper_arm", 100 + 10 * k, stop + 2, stop + 4)
    assert is_unchanged(broken, level=False)
    assert is_unchanged(tilt(broken, 3.0), level=True)


@pytest.mark.slow("repairs all hard clips")
def test_a_second_repair_of_hard_clips_changes_nothing(data_folder, tmp_path):
    suffixes = itertools.cycle([".bvh", ".glb", ".npz", ".glb", ".npz", ".bvh", ".npz", ".bvh", ".glb"])
    body = marey.load(data_folder / "cmu" / "007" / "07_01.bvh").skeleton
    for path in sorted((data_folder / "cmu-hard").glob("*.bvh")):
        given = marey.load(path)
        for name, motion in (("own", given), ("other", retarget(given, body))):
            file = tmp_path / f"{path.stem}{name}{next(suffixes)}"
            marey.save(motion, file)
            read = marey.load(file)
            assert is_unchanged(read, level=True), path.name
            assert "broken_frames" not in marey.check(repair(read), severity="severe").kinds, path.name


@pytest.mark.parametrize("degrees", [2.0, 5.0])
def test_level(degrees):
    walk = clip("medley")
    fixed = level(tilt(walk, degrees, (0.6, 0.0, 0.8)))
    assert np.degrees(step(fixed)["tilt"]) == pytest.approx(degrees, abs=0.1)
    assert not find_floor_plane(fixed).is_tilted
    moved = fixed.world().positions - walk.world().positions
    assert np.linalg.norm(moved - moved[0, 0], axis=2).max() < 0.06
    assert np.abs(marey.find_floor(fixed) - marey.find_floor(fixed[:200])) < 0.02


def test_a_level_clip_is_not_changed():
    walk = clip("walk")
    assert same(level(walk), walk)
    assert step(level(walk))["tilt"] == 0.0
    with pytest.raises(NoResult, match="do not stand on one plane"):
        level(clip("stairs"))


@pytest.mark.parametrize(("degrees", "rise"), [(0.0, 0.08), (0.0, -0.06), (3.0, 0.08)])
def test_level_removes_a_slow_drift(degrees, rise):
    medley = clip("medley")
    root = medley.root_positions.copy()
    root[:, 1] += rise * np.linspace(0.0, 1.0, len(root))
    given = tilt(replace(medley, root_positions=root), degrees)
    fixed = level(given)
    assert step(fixed)["drift"] == pytest.approx(rise, abs=0.02)
    assert np.degrees(step(fixed)["tilt"]) == pytest.approx(degrees, abs=0.3)
    left = find_floor_plane(fixed)
    assert not left.is_tilted
    assert abs(left.drift) < 0.02


def test_repair_levels_on_request():
    tilted = tilt(clip("walk"), 4.0)
    assert same(repair(tilted), tilted)
    fixed = repair(tilted, level=True)
    assert np.degrees(step(fixed)["tilt"]) == pytest.approx(4.0, abs=0.1)
    assert repair(clip("stand"), level=True).source.provenance[-1]["tilt"] == 0.0


def test_the_commands_say_what_they_did(tmp_path, capsys):
    broken = rotate_joint(rotate_joint(clip("walk"), "left_upper_arm", 90, 0, 3), "left_upper_arm", 110, 100, 102)
    marey.save(tilt(broken, 3.0), tmp_path / "in.bvh")
    assert main(["edit", "repair", str(tmp_path / "in.bvh"), str(tmp_path / "out.bvh"), "--level"]) == 0
    said = capsys.readouterr().out
    assert "trimmed the first 3 frames" in said
    assert "interpolated frames 100 to 101: LeftArm" in said
    assert "leveled a floor tilted by 3.0 degrees" in said
    assert main(["check", str(tmp_path / "out.bvh")]) == 0
    assert main(["edit", "level", str(tmp_path / "out.bvh"), str(tmp_path / "level.bvh")]) == 0
    assert "nothing was changed" in capsys.readouterr().out


def test_a_cleaned_body_is_not_repaired():
    """Cleanup of hands and knees leaves no jumps: nothing is trimmed, and the contacts stay."""
    crawl = MADE["crawl"]().motion
    held = marey.clean(displaced(crawl), body=True)
    fixed = repair(held)
    assert np.array_equal(fixed.rotations, held.rotations)
    assert np.array_equal(fixed.contacts.mask, held.contacts.mask)


def test_planted_points_stay_in_place_after_a_repair():
    """Frames that were broken lose the contacts of points that the repair cannot hold."""
    held = marey.clean(displaced(MADE["crawl"]().motion), body=True)
    fixed = repair(zero_pose(held, 60, 63))
    assert len(fixed) == len(held)
    paths = point_paths(fixed, fixed.contacts.points)
    for k, name in enumerate(fixed.contacts.names):
        for start, stop in fixed.contacts.intervals(name):
            assert np.linalg.norm(np.ptp(paths[start:stop, k], axis=0)) < 0.005, name


def test_joints_that_carry_what_still_jumps_are_repaired_before_good_frames_are():
    """A zeroed pose in which the legs hardly change, on a tilted floor: only its own frames are interpolated."""
    fixed = repair(tilt(zero_pose(clip("walk"), 40, 43), 4.0), level=False)
    (span,) = fixed.source.provenance[-1]["interpolated"]
    assert span[1] - span[0] < 12


def test_a_recorded_leg_that_spins(data_folder):
    """The foot neither jumps nor swings around when the leg no longer spins."""
    motion = marey.load(data_folder / "cmu-hard" / "106_20.bvh", file_fps=60)
    repaired = repair(motion)
    (spin,) = (one for one in repaired.source.provenance[-1]["interpolated"] if one[0] > 600)
    assert spin[:2] == [629, 650]
    foot = motion.skeleton.roles["right_foot"]
    before, after = (
        np.linalg.norm(np.diff(m.world().positions[620:660, foot], axis=0), axis=1).max() * m.fps
        for m in (motion, repaired)
    )
    assert before > 9.0
    assert after < 2.0
