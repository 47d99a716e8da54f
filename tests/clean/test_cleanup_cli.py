"""`marey clean`: metrics before and after, a sidecar in, a motion out, exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.clean import point_paths
from marey.cli import main as cli
from marey.samples import sample
from tests.clean.floored import displaced, kneel
from tests.clean.skated import skated, walk


@pytest.fixture
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    marey.save(skated(walk(3.0)), tmp_path / "walk.bvh")
    return tmp_path / "walk.bvh"


def test_cleans_with_the_contacts_of_the_sidecar(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = clip.with_name("clean.bvh")
    assert cli.main(["clean", str(clip), str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    slide = report["metrics"]["slide_contact"]
    assert slide["before"] > 0.1
    assert slide["after"] < 1e-6
    assert report["limb_scaling"]["p99"] < 0.05
    motion = marey.load(out)
    assert marey.measure(motion)["limb_change_max"].value == pytest.approx(report["limb_scaling"]["max"], abs=1e-4)
    assert motion.source.provenance[-1]["op"] == "clean"
    assert motion.contacts.intervals("left_ball") == marey.load(clip).contacts.intervals("left_ball")


def test_the_text_shows_before_and_after(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = clip.with_name("feet.png")
    assert cli.main(["clean", str(clip), str(clip.with_name("clean.glb")), "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    assert "before" in text
    assert "foot slide while planted" in text
    assert "limbs scaled by" in text
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_cleans_a_folder(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = clip.parent / "takes", clip.parent / "cleaned"
    (folder / "sub").mkdir(parents=True)
    motion = marey.load(clip)[:60]
    marey.save(motion, folder / "a.glb")
    marey.save(motion, folder / "sub" / "b.bvh")
    assert cli.main(["clean", str(folder), "-o", str(out), "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [(file["written"], file["status"]) for file in files] == [("a.glb", "cleaned"), ("sub/b.bvh", "cleaned")]
    assert all(file["metrics"]["slide_contact"]["after"] < 1e-6 for file in files)
    np.testing.assert_array_equal(
        marey.load(out / "sub" / "b.bvh").contacts.mask, marey.load(folder / "sub" / "b.bvh").contacts.mask
    )
    (folder / "bad.bvh").write_text("bad")
    assert cli.main(["clean", str(folder), str(clip.parent / "again")]) == 1
    text = capsys.readouterr().out
    assert "failed: not a BVH file" in text
    assert "2 cleaned, 0 skipped, 1 failed" in text
    assert cli.main(["clean", str(folder), str(out), "--plot", "feet.png"]) == 2
    assert "apply to a single file" in capsys.readouterr().err


def test_broken_recordings_of_a_folder_are_counted(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = clip.parent / "takes"
    folder.mkdir()
    motion = marey.load(clip)
    roots = motion.root_positions.copy()
    roots[60:62] += [4.0, 0.0, 0.0]
    marey.save(replace(motion, root_positions=roots), folder / "jump.bvh")
    marey.save(motion, folder / "walk.bvh")
    cli.main(["clean", str(folder), str(clip.parent / "cleaned")])
    assert "1 recording with broken frames: run marey check first" in capsys.readouterr().out


def test_a_target_out_of_reach_exits_with_1(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["--target", "right_hand=1.2:80f@0,9,0"]
    assert cli.main(["clean", str(clip), str(clip.with_name("far.bvh")), *wanted]) == 1
    assert "out of reach of their plants or targets" in capsys.readouterr().out
    assert clip.with_name("far.bvh").is_file()


def test_given_plants(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start, stop = marey.load(clip).contacts.intervals("left_ball")[1]
    wanted = ["--plant", f"left_ball={start}f:{stop}f@0.2,0,2.3"]
    cli.main(["clean", str(clip), str(clip.with_name("moved.bvh")), *wanted, "--json"])
    moved = marey.load(clip.with_name("moved.bvh"))
    place = moved.world().positions[start + 2, moved.skeleton.roles["left_ball"]]
    assert abs(place[0] - 0.2) < 1e-4
    assert json.loads(capsys.readouterr().out)["plants"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "right_hand=1.2@0,0,0"], "NAME=FROM:TO@X,Y,Z"),
        (["--target", "right_hand=a:b@0,0,0"], "seconds such as 1.2, or a frame such as 36f"),
        (["--target", "head=0:1@0,0,0"], "effector of a target must be one of"),
        (["--plant", "nose=0:1@0,0,0"], "point of a plant must be one of the contact points"),
        (["--plant", "left_ball=0:1@0,0,0,1,0,0,0"], "only a position X,Y,Z"),
        (["--max-stretch", "2"], "--max-stretch must be at least 0 and less than 1, not"),
        (["--plane", "0.1", "--floor-only"], "contradict each other"),
        (["--floor", "9"], "m, more than a leg length above the highest foot"),
        (["--plot", "feet.pdf"], "a plot is saved as .png or .svg, got .pdf; change the file name"),
    ],
)
def test_wrong_use_exits_with_2(
    clip: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    out = clip.with_name("bad.bvh")
    assert cli.main(["clean", str(clip), str(out), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_the_input_is_never_overwritten(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = clip.read_bytes()
    assert cli.main(["clean", str(clip), str(clip)]) == 2
    assert "is an input" in capsys.readouterr().err
    assert clip.read_bytes() == before


def test_a_single_frame_is_cleaned_without_metrics(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, out = clip.with_name("one.bvh"), clip.with_name("out.bvh")
    marey.save(marey.load(clip)[10:11], one)
    assert cli.main(["clean", str(one), str(out)]) == 0
    output = capsys.readouterr().out
    assert "one.bvh: 1 frame at 60 Hz" in output
    assert "slide_contact" not in output
    assert len(marey.load(out)) == 1


def test_rigid_metrics_are_those_of_the_written_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from marey.io import load_motion, save
    from marey.measure import measure
    from marey.samples import sample

    save(sample("walk", seconds=3.0).motion, tmp_path / "walk.bvh")
    assert cli.main(["clean", str(tmp_path / "walk.bvh"), str(tmp_path / "out.bvh"), "--rigid", "--json"]) in (0, 1)
    report = json.loads(capsys.readouterr().out)
    written = measure(load_motion(tmp_path / "out.bvh"))
    assert written["slide_contact"].value == pytest.approx(report["metrics"]["slide_contact"]["after"], abs=1e-4)
    assert written["limb_change_max"].value == pytest.approx(0.0, abs=1e-6)
    assert report["limb_scaling"]["max"] == 0.0
    assert set(report["residues_m"]) == {"left_foot", "right_foot"}
    again = ["clean", str(tmp_path / "walk.bvh"), str(tmp_path / "o.bvh"), "--rigid", "--max-stretch", "0.1"]
    assert cli.main(again) == 2
    assert "--rigid allows no stretch" in capsys.readouterr().err


def test_a_picture_that_cannot_be_written_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from marey.io import save
    from marey.samples import sample

    save(sample("walk", seconds=2.0).motion, tmp_path / "walk.bvh")
    arguments = [
        "clean",
        str(tmp_path / "walk.bvh"),
        str(tmp_path / "out.bvh"),
        "--plot",
        str(tmp_path / "no" / "p.png"),
    ]
    assert cli.main(arguments) == 2
    assert "does not exist; create it first" in capsys.readouterr().err
    assert not (tmp_path / "out.bvh").exists()
    assert cli.main([*arguments[:3], "--damping-from", "400"]) == 2
    assert "at most 180 degrees, not 400" in capsys.readouterr().err


def test_the_whole_body_is_cleaned_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, plain, out = (tmp_path / name for name in ("kneel.npz", "feet.npz", "body.npz"))
    marey.save(displaced(kneel(1.0).motion, sink=0.08), source)
    cli.main(["clean", str(source), str(plain), "--floor", "0"])
    said = capsys.readouterr().out
    assert "mm below the floor; --body lifts them above it" in said
    assert cli.main(["clean", str(source), str(out), "--floor", "0", "--body", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["metrics"]["penetration_max"]["after"] < 1e-3
    assert "left_knee" in report["residues_m"]
    assert marey.load(out).contacts.intervals("left_knee")


def test_parts_left_below_the_floor_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    motion = walk(2.0)
    root = motion.root_positions.copy()
    root[50:55, 1] -= 0.5
    marey.save(replace(motion, root_positions=root), tmp_path / "walk.npz")
    cli.main(["clean", str(tmp_path / "walk.npz"), str(tmp_path / "clean.npz")])
    said = capsys.readouterr().out
    assert "mm below the floor in frames 50-54: it is too deep in the recording to be lifted within --max-pull" in said


def test_stretched_limbs_and_broken_frames_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    motion = walk(2.0)
    contacts = marey.detect_contacts(motion).contacts
    (start, stop), *_ = contacts.intervals("left_ball")
    frame = (start + stop) // 2
    place = point_paths(motion, contacts.points)[frame, contacts.index("left_ball")]
    root = motion.root_positions.copy()
    root[90:93] += 0.9
    far = ",".join(f"{value:.3f}" for value in place + [0.0, 0.0, 0.45])
    marey.save(replace(motion, root_positions=root, contacts=contacts), tmp_path / "walk.npz")
    command = ["clean", str(tmp_path / "walk.npz"), str(tmp_path / "clean.npz")]
    cli.main([*command, "--plant", f"left_ball={start}f:{stop}f@{far}"])
    said = capsys.readouterr().out
    assert "frames 90-92 of the recording are broken; repair them first (marey edit repair)" in said
    assert "the bones that lead to the left foot are stretched by 20 % in frames" in said
    assert "is planted in frames" in said
    (finding,) = [one for one in marey.check(marey.load(tmp_path / "clean.npz")) if one.kind == "bone_lengths"]
    assert finding.message.startswith(
        "cleanup stretched limbs: 4 bones change their length by up to 20 %, most in frame"
    )


def test_the_plant_of_a_stretched_bone_is_named() -> None:
    motion = marey.detect_contacts(walk(2.0))
    (start, stop), *_ = motion.contacts.intervals("left_heel")
    bones = np.repeat(motion.skeleton.offsets[None], len(motion), axis=0)
    bones[start + 3, motion.skeleton.roles["left_foot"]] *= 1.1
    note = marey.measure(replace(motion, bone_offsets=bones))["limb_change_max"].note
    assert note.endswith(f"frame {start + 3}, while left_heel is planted in frames {start}-{stop - 1}")


def test_a_folder_is_not_written_to_a_file(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = clip.parent / "out.bvh"
    assert cli.main(["clean", str(clip.parent), str(out)]) == 2
    assert (
        "has the suffix of a file, but the clips of a folder are written to a folder; choose a name without a suffix"
        in capsys.readouterr().err
    )
    assert not out.exists()


def test_copies_of_the_input_may_be_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder may be the result of fixing takes, which copies takes without findings, also of other programs."""
    takes, fixed = tmp_path / "takes", tmp_path / "takes_fixed"
    takes.mkdir()
    fixed.mkdir()
    marey.save(sample("walk", seconds=3.0).motion, tmp_path / "walk.bvh")
    foreign = (tmp_path / "walk.bvh").read_bytes().replace(b"} \nMOTION", b"}\nMOTION")
    for folder in (takes, fixed):
        (folder / "walk.bvh").write_bytes(foreign)
        (folder / "changed.bvh").write_bytes(foreign)
    (fixed / "changed.bvh").write_bytes(foreign + b"\n")
    assert cli.main(["clean", str(takes), str(fixed)]) == 1
    out = capsys.readouterr().out
    assert "1 cleaned, 0 skipped, 1 failed" in out
    assert "failed: exists, and marey did not write it" in out
    assert (fixed / "changed.bvh").read_bytes() == foreign + b"\n"
    assert (takes / "walk.bvh").read_bytes() == foreign


@pytest.mark.parametrize("command", [["clean"], ["convert", "--to", "bvh"]])
def test_edited_clips_are_not_replaced_by_unedited_ones(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder may contain repaired takes, and the original takes are then cleaned to the same folder."""
    takes, fixed = tmp_path / "takes", tmp_path / "takes_fixed"
    takes.mkdir()
    fixed.mkdir()
    marey.save(sample("walk", seconds=3.0).motion, takes / "walk.bvh")
    assert cli.main(["edit", "repair", str(takes / "walk.bvh"), str(fixed / "walk.bvh")]) == 0
    before = (fixed / "walk.bvh").read_bytes()
    arguments = [*command, str(takes), str(fixed)]
    assert cli.main(arguments) == 1
    assert "has edits that would be lost (repair); choose another folder, or" in capsys.readouterr().out
    assert (fixed / "walk.bvh").read_bytes() == before
    assert cli.main([*arguments, "--overwrite"]) == 0
    assert cli.main(arguments) == 0  # its own result
