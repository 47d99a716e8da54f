"""Findings of `marey.check` in damaged clips, and no severe findings in good ones."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

import marey
from marey import Markers
from marey.check import CheckReport, check_clips, warn_of_findings
from marey.check.takes import find_key_poses, find_same_takes
from marey.cli.main import main
from marey.core import Skeleton, Source
from marey.edit import resample, smooth
from marey.errors import InvalidValue, MareyWarning
from marey.pmg import build_recipe, read_recipe
from marey.samples import sample, sample_names

from .helpers import add_noise, clip, rotate_joint, tilt, turn_upside_down, zero_pose


def find(report: CheckReport, kind: str) -> list:
    return [finding for finding in report if finding.kind == kind]


@pytest.mark.parametrize("name", sample_names())
def test_generated_clips_have_no_findings(name):
    assert [finding.message for finding in marey.check(clip(name))] == []


@pytest.mark.parametrize(
    "file", ["007/07_01", "002/02_01", "016/16_21", "016/16_35", "144/144_20", "111/111_36", "085/85_02", "049/49_06"]
)
def test_good_captures_have_no_severe_findings(file, data_folder):
    assert not marey.check(marey.load(data_folder / "cmu" / f"{file}.bvh")).is_severe


@pytest.mark.parametrize(("file", "stop"), [("cmu-hard/09_10", 5), ("cmu/016/16_15", 2), ("cmu/016/16_23", 3)])
def test_broken_first_frames_of_real_clips(file, stop, data_folder):
    report = marey.check(marey.load(data_folder / f"{file}.bvh"), severity="severe")
    (finding,) = find(report, "broken_frames")
    assert (finding.start, finding.stop, finding.operation) == (0, stop, "edit repair")
    assert finding.value > 50.0
    assert finding.unit == "m/s"


def test_a_subject_that_was_recorded_at_another_rate(data_folder):
    """Only four of the eight clips have enough gait to show it."""
    found = 0
    for path in sorted((data_folder / "cmu" / "143").glob("*.bvh")):
        findings = find(marey.check(marey.load(path)), "frame_rate")
        found += len(findings)
        for finding in findings:
            assert finding.options == {"file_fps": 60.0}
            assert finding.operation == "convert"
        assert not find(marey.check(marey.load(path, file_fps=60)), "frame_rate")
    assert found >= 4


def test_flipping_thumbs_are_one_mild_finding(data_folder):
    (finding,) = marey.check(marey.load(data_folder / "cmu-hard" / "131_06.bvh")).findings[:1]
    assert (finding.kind, finding.severity, finding.joints) == ("loose_joints", "mild", ("RThumb",))


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_a_zeroed_pose_is_found_at_every_rate(fps):
    walk = resample(clip("walk"), fps)
    middle = len(walk) // 2
    (finding,) = find(marey.check(zero_pose(walk, middle, middle + 2)), "broken_frames")
    assert (finding.start, finding.stop, finding.severity) == (middle, middle + 2, "severe")


def test_broken_frames_do_not_look_like_a_wrong_rate():
    walk = clip("walk", fps=30.0, seconds=2.0)
    assert marey.check(zero_pose(walk, 40, 42)).kinds == ("broken_frames",)


def test_frozen_frames():
    walk = clip("walk")
    frames = np.concatenate([np.arange(100), np.full(40, 100), np.arange(101, len(walk))])
    frozen = replace(walk, root_positions=walk.root_positions[frames], rotations=walk.rotations[frames])
    (finding,) = find(marey.check(frozen), "frozen")
    assert (finding.start, finding.stop, finding.severity) == (100, 140, "severe")
    assert finding.value == pytest.approx(40 / 60)
    ones = [5] * len(walk)
    still = replace(walk, root_positions=walk.root_positions[ones], rotations=walk.rotations[ones])
    (finding,) = find(marey.check(still), "frozen")
    assert (finding.severity, finding.operation) == ("mild", "")


def test_repeated_frames():
    walk = clip("walk")
    frames = np.arange(len(walk)) // 2 * 2
    doubled = replace(walk, root_positions=walk.root_positions[frames], rotations=walk.rotations[frames])
    (finding,) = find(marey.check(doubled), "repeated_frames")
    assert finding.options == {"fps": 30}


def test_a_wrong_rate():
    fast = replace(clip("walk"), fps=120.0, source=Source(format="bvh"))
    (finding,) = find(marey.check(fast), "frame_rate")
    assert finding.options == {"file_fps": 60.0}
    assert finding.remedy == "read the file with `file_fps=60`"


def test_a_rest_pose(data_folder):
    path = data_folder / "cmu" / "007" / "07_01.bvh"
    (finding,) = find(marey.check(marey.load(path, trim_rest=False)), "rest_pose")
    assert (finding.start, finding.stop) == (0, 1)
    assert not find(marey.check(marey.load(path)), "rest_pose")


def test_doubtful_units_and_axes(data_folder):
    chain = marey.check(marey.load(data_folder / "nasty-real" / "sinusoidal.bvh"))
    assert {"unit", "axis"} <= set(chain.kinds)
    large = marey.check(marey.load(data_folder / "cmu" / "007" / "07_01.bvh", unit="m"))
    assert "the body is" in find(large, "unit")[0].message
    walk = marey.load(data_folder / "cmu" / "016" / "16_21.bvh")
    taller = replace(walk.skeleton, offsets=10.0 * walk.skeleton.offsets)
    report = marey.check(replace(walk, skeleton=taller, root_positions=10.0 * walk.root_positions))
    assert find(report, "unit")
    assert not find(report, "frame_rate")


def test_bones_that_change():
    walk = clip("walk")
    offsets = walk.frame_offsets.copy()
    joint = walk.skeleton.roles["left_foot"]
    offsets[50:80, joint] *= 1.1
    (finding,) = find(marey.check(replace(walk, bone_offsets=offsets)), "bone_lengths")
    assert (finding.start, finding.stop) == (50, 80)
    assert finding.value == pytest.approx(0.1)
    assert finding.joints == (walk.skeleton.names[joint],)


def test_a_tilted_floor():
    (finding,) = find(marey.check(tilt(clip("medley"), 4.0)), "tilted_floor")
    assert np.degrees(finding.value) == pytest.approx(4.0, abs=0.2)
    assert finding.severity == "severe"


def test_sliding_feet():
    walk = clip("walk")
    root = walk.root_positions.copy()
    root[:, 0] += 0.1 * np.arange(len(walk)) / walk.fps  # a constant slide
    (finding,) = find(marey.check(replace(walk, root_positions=root)), "foot_slide")
    assert 0.021 < finding.value < 0.2
    assert finding.operation == "clean"


def test_a_single_foot_that_glides_while_it_is_planted():
    walk = sample("walk").motion
    mask = walk.contacts.mask.copy()
    mask[60:120, walk.contacts.names.index("left_ball")] = True
    (finding,) = find(marey.check(replace(walk, contacts=replace(walk.contacts, mask=mask))), "foot_slide")
    assert finding.value > 0.12
    assert finding.severity == "mild"
    assert finding.joints == ("left_ball",)


def test_feet_below_the_floor():
    squat = clip("duck")
    root = squat.root_positions.copy()
    root[80:93, 1] -= 0.15 * (1.0 - np.abs(np.linspace(-1.0, 1.0, 13)))  # too steep to be a floor
    (finding,) = find(marey.check(replace(squat, root_positions=root)), "penetration")
    assert finding.operation == "clean"


@pytest.mark.parametrize(
    ("file", "part"), [("128_11", "LeftLeg"), ("113_14", "LeftHandIndex1"), ("140_02", "RightLeg")]
)
def test_knees_and_hands_below_the_floor_need_a_cleanup_of_the_body(file, part, data_folder):
    (finding,) = find(marey.check(marey.load(data_folder / "cmu-hard" / f"{file}.bvh")), "penetration")
    assert (finding.joints, finding.operation, finding.severity) == ((part,), "clean", "mild")
    assert finding.options == {"body": True}


def test_toes_may_be_deepest_while_others_need_a_cleanup_of_the_body(data_folder):
    (finding,) = find(marey.check(marey.load(data_folder / "cmu-hard" / "117_08.bvh")), "penetration")
    assert (finding.joints, finding.operation, finding.options) == (("LeftToeBase",), "clean", {"body": True})


def test_jitter():
    noisy = marey.check(add_noise(clip("walk"), 0.01))
    (finding,) = find(noisy, "jitter")
    assert finding.value == pytest.approx(0.01, rel=0.25)
    assert not find(noisy, "broken_frames")
    assert not find(marey.check(add_noise(clip("walk"), 0.0005)), "jitter")


def test_gaps_of_markers():
    valid = np.ones((100, 2), dtype=bool)
    valid[10:40, 1] = False
    (finding,) = marey.check(Markers(("A", "B"), np.zeros((100, 2, 3)), valid, 100.0))
    assert (finding.kind, finding.joints, finding.start, finding.stop) == ("marker_gaps", ("B",), 10, 40)
    assert finding.value == pytest.approx(0.3)


@pytest.mark.parametrize("name", ["reach_grid", "leap"])
def test_clips_of_one_take_are_found(name):
    """Find a take that was cleaned, cropped, resampled or all of it; other takes are not the same."""
    whole = clip(name)
    held = marey.clean(
        replace(whole, root_positions=whole.root_positions + 0.01 * np.sin(np.arange(len(whole)))[:, None])
    )
    fifth = len(whole) // 5
    parts = [held, whole[fifth:-fifth], resample(whole, fps=24.0), resample(held[fifth:], fps=50.0)]
    parts = [replace(part, name=f"part {k}") for k, part in enumerate(parts)]
    others = [clip(each) for each in ("run", "turn_in_place", "punch_grid", "turn_around")]
    reports = check_clips([whole, *parts, *others])
    assert ["duplicate" in report.kinds for report in reports] == [False] + 4 * [True] + 4 * [False]


def test_captures_of_one_person_are_different_takes(data_folder):
    walks = [marey.load(path) for path in sorted((data_folder / "cmu" / "016").glob("*.bvh"))]
    if not walks:
        pytest.skip(f"no clips of cmu/016 in {data_folder}")
    assert not any("duplicate" in report.kinds for report in check_clips(walks))
    pair = check_clips([walks[0], replace(marey.clean(walks[0])[40:], name="again")])
    assert "same take" in find(pair[1], "duplicate")[0].message


def test_duplicates_and_shared_rates():
    walk = replace(clip("walk"), name="a")
    moved = replace(walk, name="c", root_positions=walk.root_positions + 0.5)
    reports = check_clips([walk, replace(walk, name="b"), moved, clip("run")])
    assert [report.kinds for report in reports] == [(), ("duplicate",), ("duplicate",), ()]
    fast = replace(clip("walk"), fps=120.0, source=Source(format="bvh"))
    still = replace(clip("look_around"), fps=120.0, source=Source(format="bvh"), name="look")
    assert find(check_clips([fast, still])[1], "frame_rate")[0].severity == "mild"
    assert not find(check_clips([clip("walk"), still])[1], "frame_rate")


def test_a_report_is_plain_data():
    report = marey.check(rotate_joint(clip("walk"), "left_upper_arm", 120, 100, 102))
    assert report
    assert len(report) == 1
    assert report.is_severe
    data = report.to_dict()
    assert data["frames"] == len(clip("walk"))
    assert data["findings"][0]["kind"] == "broken_frames"
    assert data["findings"][0]["start"] == 100
    assert not marey.check(clip("walk"))


def test_very_short_and_bodiless_clips(data_folder):
    assert not marey.check(clip("walk")[0])
    assert not marey.check(clip("walk")[:3])
    assert not marey.check(marey.load(data_folder / "nasty-real" / "sinusoidal.bvh")).is_severe


def test_wrong_arguments():
    with pytest.raises(InvalidValue, match="severity must be"):
        marey.check(clip("walk"), severity="bad")
    with pytest.raises(InvalidValue, match="motion"):
        marey.check("walk.bvh")


def test_one_warning_for_severe_findings():
    broken = replace(zero_pose(clip("walk"), 100, 102), name="bad")
    with pytest.warns(MareyWarning, match=r"1 of 2 clips has severe findings \(bad\): broken frames; run") as caught:
        warn_of_findings([clip("walk"), broken])
    assert len(caught) == 1


def test_builders_warn_of_severe_findings():
    broken = replace(zero_pose(clip("walk"), 100, 104), name="bad")
    for build in (marey.MotionGraph.build, marey.MatchWeb.build):
        with pytest.warns(MareyWarning, match=r"1 of 2 clips has severe findings \(bad\)"):
            build([clip("walk"), broken], fps=30)


def test_characters_warn_of_severe_findings(tmp_path):
    for k, rate in enumerate((-0.6, 0.0, 0.6)):
        walk = clip("walk", seconds=4.0, turn_rate=rate, speed=1.1, variation=0.0)
        marey.save(zero_pose(walk, 2, 5) if k == 1 else walk, tmp_path / f"w{k}.bvh")
    (tmp_path / "recipe.toml").write_text(
        'name = "one"\nsamples = [4, 20]\nfps = 30\n[[nodes]]\nname = "walk"\nkind = "gait"\nlow = -15\nhigh = 15\n'
        '[[nodes.clips]]\nfiles = ["w?.bvh"]\n[auto]\ngood = 0.15\nbad = 0.2\n'
    )
    with pytest.warns(MareyWarning, match=r"1 of 3 clips has severe findings \(w1\)"):
        build_recipe(read_recipe(tmp_path / "recipe.toml"))


@pytest.fixture(scope="module")
def too_fast(tmp_path_factory):
    """Make a folder with three walks, recorded at 60 Hz, whose files state 120 Hz."""
    folder = tmp_path_factory.mktemp("fast")
    for k, rate in enumerate((-0.1, 0.0, 0.1)):
        walk = clip("walk", seconds=4.0, turn_rate=rate, speed=1.1, variation=0.0, fps=60.0)
        marey.save(replace(walk, fps=120.0), folder / f"w{k}.bvh")
    (folder / "recipe.toml").write_text(
        'name = "one"\nsamples = [4, 20]\nfps = 30\n[[nodes]]\nname = "walk"\nkind = "gait"\n'
        '[[nodes.clips]]\nfiles = ["w?.bvh"]\n[auto]\ngood = 0.3\nbad = 0.4\n'
    )
    return folder


@pytest.mark.filterwarnings("always::marey.errors.MareyWarning")
def test_builders_name_the_true_rate_of_the_files(too_fast, tmp_path, capsys):
    folder, out = str(too_fast), str(tmp_path)
    char = f"{out}/c.json"
    assert main(["pmg", "new", char]) == 0
    builds = {
        ("graph", "build", folder, "-o", f"{out}/g.npz", "--cache", f"{out}/cache"): "--file-fps 60",
        ("find", "build", folder, "-o", f"{out}/w.npz", "--cache", f"{out}/cache"): "--file-fps 60",
        ("pmg", "build", f"{folder}/recipe.toml", "-o", f"{out}/d.json"): "file_fps = 60 in [[nodes.clips]]",
        ("pmg", "add", char, "walk", "--clips", folder): "--file-fps 60",
    }
    for arguments, remedy in builds.items():
        capsys.readouterr()
        assert main([*arguments]) in (0, 1)  # 1 for dead ends
        warned = [line for line in capsys.readouterr().err.splitlines() if "severe" in line]
        assert len(warned) == 1
        assert "their frame rate seems wrong (120 Hz): read the clips with " + remedy in warned[0]


@pytest.mark.filterwarnings("always::marey.errors.MareyWarning")
def test_one_wrong_rate_of_several_is_corrected_alone(too_fast, tmp_path, capsys):
    """One option for all inputs would damage the others."""
    wrong, right = str(tmp_path / "clips" / "w0.bvh"), str(tmp_path / "clips" / "right.bvh")
    (tmp_path / "clips").mkdir()
    shutil.copy(too_fast / "w0.bvh", wrong)
    marey.save(clip("walk", seconds=4.0, speed=1.1, variation=0.0, fps=60.0), right)
    (tmp_path / "recipe.toml").write_text((too_fast / "recipe.toml").read_text().replace("w?", "clips/*"))
    convert = "`marey convert IN OUT --file-fps 60`"
    commands = {
        ("splice", right, wrong, "-o", f"{tmp_path}/s.bvh"): f"{wrong}: .*: set the rate with {convert}",
        ("measure", right, wrong): f"stride rate .*: set the rate with {convert}",
        ("measure", wrong): "stride rate .*: set the rate with --file-fps 60",
        ("clean", wrong, f"{tmp_path}/c.bvh"): f"{wrong}: .*: set the rate with --file-fps 60",
        ("find", "build", f"{tmp_path}/clips", "-o", f"{tmp_path}/w.npz"): (
            rf"1 of 2 clips has severe findings \(w0\); their frame rate seems wrong \(120 Hz\): first correct only "
            f"these: {convert}"
        ),
        ("pmg", "build", f"{tmp_path}/recipe.toml", "-o", f"{tmp_path}/d.json"): (
            r"\(120 Hz\): read only these with file_fps = 60 in \[\[nodes.clips\]\] of the recipe"
        ),
    }
    for arguments, expected in commands.items():
        main([*arguments])
        got = capsys.readouterr()
        assert re.search(expected, got.out + got.err), (arguments, got)
        assert "file_fps=" not in got.out + got.err


@pytest.mark.filterwarnings("always::marey.errors.MareyWarning")
def test_recipes_and_pmg_add_take_the_true_rate(too_fast, tmp_path, capsys):
    text = (too_fast / "recipe.toml").read_text().replace('"w?.bvh"]', f'"{too_fast}/w1.bvh"]\nfile_fps = 60')
    (tmp_path / "recipe.toml").write_text(text)
    char = f"{tmp_path}/c.json"
    assert main(["pmg", "new", char]) == 0
    assert main(["pmg", "add", char, "walk", "--clips", f"{too_fast}/w1.bvh", "--file-fps", "60", "--fps", "30"]) == 0
    for graph in (build_recipe(read_recipe(tmp_path / "recipe.toml")), marey.ParametricMotionGraph.load(char)):
        cycle = graph["walk"].space([0.0])
        assert np.linalg.norm(cycle.travel[-1] - cycle.travel[0]) / cycle.duration == pytest.approx(1.1, rel=0.1)
    assert "severe" not in capsys.readouterr().err


def test_absurd_motion_is_severe():
    walk = clip("walk", seconds=2.0, fps=30.0)
    seconds = np.arange(len(walk)) / walk.fps
    fast = replace(walk, root_positions=walk.root_positions + np.outer(seconds, [0.0, 0.0, 1e6]))
    body = replace(walk.skeleton, offsets=walk.skeleton.offsets * 1e4)
    tall = replace(walk, skeleton=body, root_positions=walk.root_positions * 1e4)
    other = {"Left": "Right", "Right": "Left"}
    names = tuple(re.sub("Left|Right", lambda side: other[side[0]], name) for name in walk.skeleton.names)
    swapped = replace(walk, skeleton=Skeleton(names, walk.skeleton.parents, walk.skeleton.offsets))
    for motion, kind, text in (
        (fast, "speed", r"the body travels at 1,000,00\d m/s, which is impossible"),
        (tall, "unit", r"the body is 17,\d\d\d.\d\d m tall, so the unit may be wrong"),
        (swapped, "swapped_sides", "both feet point backward"),
    ):
        (found,) = find(marey.check(motion), kind)
        assert found.severity == "severe"
        assert re.search(text, found.message)
    assert not {"speed", "swapped_sides"} & set(marey.check(walk).kinds)


def test_upside_down_bodies_have_no_swapped_sides():
    assert "swapped_sides" not in marey.check(turn_upside_down(clip("walk"))).kinds


@pytest.mark.parametrize("axes", [[0, 2], [0, 1, 2]])
def test_clips_without_travel_are_found(axes):
    walk = clip("walk")
    root = walk.root_positions.copy()
    root[:, axes] = root[0, axes]
    (found,) = find(marey.check(replace(walk, root_positions=root)), "in_place")
    assert found.severity == "mild"
    assert "the hips stay in one place while a foot moves by" in found.message
    assert not any("in_place" in marey.check(clip(name)).kinds for name in ("walk", "stand", "punch"))


def test_noise_is_not_a_wrong_frame_rate():
    walk = clip("walk")
    noise = np.random.default_rng(0).normal(0.0, 0.02, walk.root_positions.shape)
    report = marey.check(replace(walk, root_positions=walk.root_positions + noise))
    assert "jitter" in report.kinds
    assert "frame_rate" not in report.kinds


def test_zeroed_frames_are_broken_not_frozen():
    """Repair interpolates or trims them; a crop would lose good frames, or reach beyond the end."""
    walk = clip("walk")
    for start, stop in ((0, 8), (100, 108), (len(walk) - 8, len(walk))):
        root = walk.root_positions.copy()
        root[start:stop] = 0.0
        kinds = marey.check(replace(zero_pose(walk, start, stop), root_positions=root)).kinds
        assert "broken_frames" in kinds
        assert "frozen" not in kinds


@pytest.mark.parametrize("n_frames", [1, 2, 3, 40])
def test_short_clips_of_a_set_are_checked(n_frames):
    """A clip may be too short to contain any pose in which the body pauses."""
    walk = clip("walk")
    assert len(check_clips([walk[:n_frames], walk[50 : 50 + n_frames]])) == 2


EDITS = {
    "clean": marey.clean,
    "slow": lambda motion: resample(motion, 30.0),
    "smooth": smooth,
    "crop": lambda motion: motion[len(motion) // 4 : 3 * len(motion) // 4],
}


@pytest.mark.slow("edits many clips")
def test_takes_of_real_clips(data_folder):
    """Different clips of a person are never of one take; nearly all edits of a clip are."""
    people = [sorted((data_folder / "cmu" / name).glob("*.bvh")) for name in ("016", "143", "111")]
    if not all(people):
        pytest.skip(f"no clips in {data_folder}")
    n_found = n_edits = 0
    for paths in people:
        motions = [marey.load(path) for path in paths]
        poses = [find_key_poses(motion) for motion in motions]
        assert not find_same_takes(poses)
        for motion, own in zip(motions, poses, strict=True):
            for edit in EDITS.values():
                n_found += bool(find_same_takes([own, find_key_poses(edit(motion))]))
                n_edits += 1
    assert n_edits > 100
    assert n_found > 0.95 * n_edits


def test_clips_without_movement_are_frozen_and_compared():
    walk = clip("walk")
    root, rotations = (np.repeat(each[:1], 5, axis=0) for each in (walk.root_positions, walk.rotations))
    still = replace(walk[:5], root_positions=root, rotations=rotations, contacts=None)
    first, second = check_clips([still, still])
    assert first.kinds == ("frozen",)
    assert "duplicate" in second.kinds
