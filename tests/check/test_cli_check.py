"""`marey check`."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.check import CheckedFile, CheckReport, Finding, check_files
from marey.cli import progress
from marey.cli.check import chain_commands, name_output
from marey.cli.main import main
from marey.store import MotionSet, processes

from .helpers import clip, tilt, zero_pose


@pytest.fixture
def folder(tmp_path):
    marey.save(clip("walk"), tmp_path / "walk.bvh")
    marey.save(zero_pose(clip("sneak"), 100, 103), tmp_path / "broken.bvh")
    marey.save(replace(clip("run"), fps=120.0), tmp_path / "fast.bvh")
    return tmp_path


def test_no_findings(folder, capsys):
    assert main(["check", str(folder / "walk.bvh")]) == 0
    assert capsys.readouterr().out == "1 clip: no findings\n"


def test_progress_bars_name_only_what_is_done(folder, tmp_path, monkeypatch):
    shown = []

    def bar(what):
        shown.append(what)
        return nullcontext()

    monkeypatch.setattr(progress, "bar", bar)
    main(["check", str(folder)])
    assert shown == ["checking"]
    main(["check", str(folder / "fast.bvh"), "--fix", str(tmp_path / "fixed")])
    assert shown == ["checking", "checking", "fixing"]


def test_a_table_of_a_folder(folder, capsys):
    assert main(["check", str(folder)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["file", "frames", "severity", "finding", "how", "bad", "fix"]
    assert any("broken.bvh" in line and "100-102" in line and "marey edit repair IN OUT" in line for line in lines)
    assert any("fast.bvh" in line and "all" in line and "--file-fps 60" in line for line in lines)
    assert not any("walk.bvh" in line for line in lines)
    assert lines[-1] == "2 of 3 clips with findings, 2 with severe ones"


def test_commands_of_the_full_table_and_of_json(folder, capsys):
    broken = str(folder / "broken.bvh")
    assert main(["check", "--full", broken]) == 1
    fixed = f"{folder}_fixed"
    command = f"marey edit repair {broken} {fixed}/broken.bvh"
    assert f"mkdir -p {fixed}\n        {command}\n" in capsys.readouterr().out
    assert main(["check", "--json", broken]) == 1
    (report,) = json.loads(capsys.readouterr().out)
    (finding,) = report["findings"]
    assert (report["file"], finding["start"], finding["stop"], finding["command"]) == (
        broken,
        100,
        103,
        f"mkdir -p {fixed} && {command}",
    )


def test_commands_of_several_findings_are_a_chain(folder, monkeypatch, capsys):
    """Broken first frames are trimmed, so the jump is earlier in the repaired file."""
    walk = tilt(clip("walk"), 4.0)
    root = walk.root_positions.copy()
    root[120:, 0] += 0.5
    monkeypatch.chdir(folder)
    marey.save(zero_pose(replace(walk, root_positions=root), 0, 3), "bad.bvh")
    assert main(["check", "--full", "bad.bvh"]) == 1
    shown = capsys.readouterr().out
    assert "each reads the file that the one before wrote" in shown
    commands = [line.strip() for line in shown.splitlines() if line.startswith("        marey ")]
    fixed = f"../{folder.name}_fixed"
    steps = f"{fixed}/.steps"
    assert f"mkdir -p {steps}\n" in shown
    assert commands[:3] == [
        f"marey edit repair bad.bvh {steps}/bad_1.bvh",
        f"marey edit deseam {steps}/bad_1.bvh {steps}/bad_2.bvh --at 117f",
        f"marey edit level {steps}/bad_2.bvh " + (f"{fixed}/bad.bvh" if len(commands) == 3 else f"{steps}/bad_3.bvh"),
    ]
    (folder.parent / f"{folder.name}_fixed" / ".steps").mkdir(parents=True)
    for command in commands:
        assert main(command.split()[1:]) == 0
    assert main(["check", f"{fixed}/bad.bvh", "--severity", "severe"]) == 0
    assert MotionSet.open(fixed).files == ("bad.bvh",)  # sets do not read the files between


def test_a_chain_has_each_command_once(data_folder):
    (file,) = check_files([data_folder / "cmu-hard" / "111_21.bvh"])
    first, *words = (command.split() for command in chain_commands(file))
    assert first[0] == "mkdir"
    assert [line[1:3] for line in words][:2] == [["edit", "repair"], ["edit", "deseam"]]
    assert [line[1] for line in words].count("clean") == 1
    fixed = f"{data_folder / 'cmu-hard'}_fixed"
    assert [word for line in words for word in line if word.endswith(".bvh")] == [
        file.path, *(f"{fixed}/.steps/111_21_{k}.bvh" for k in (1, 1, 2, 2)), f"{fixed}/111_21.bvh",
    ]  # fmt: skip


def test_fixed_files_go_to_a_folder_beside_the_given_one(tmp_path, monkeypatch):
    (tmp_path / "set" / "a").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "set")
    assert name_output("walk.bvh") == "../set_fixed/walk.bvh"
    assert name_output("./a/walk.fbx", (".",)) == "../set_fixed/a/walk.fbx"
    monkeypatch.chdir(tmp_path)
    assert name_output("set/a/walk.amc", ("set",)) == "set_fixed/a/walk.bvh"
    assert name_output("set/a/walk.npz", ("set/", "other")) == "set_fixed/a/walk.npz"
    assert name_output("set/a/walk.npz", ("set/a/walk.npz",)) == "set/a_fixed/walk.npz"


def test_crops_are_one_command():
    frozen = [
        Finding("frozen", "severe", 10, 20, 0.3, "s", "", "", operation="edit crop", options={"start": 19}),
        Finding("frozen", "severe", 80, 90, 0.3, "s", "", "", operation="edit crop", options={"stop": 81}),
    ]
    file = CheckedFile("a.glb", "run", CheckReport("run", 100, 30.0, tuple(frozen)))
    assert chain_commands(file, "fixed/a.glb") == [
        "mkdir -p fixed", "marey edit crop a.glb fixed/a_run.glb --from 19f --to 81f --clip run",
    ]  # fmt: skip


def test_severity(folder, capsys):
    marey.save(tilt(clip("walk"), 1.5), folder / "tilted.bvh")
    assert main(["check", str(folder / "tilted.bvh")]) == 1
    assert "tilted floor" in capsys.readouterr().out
    assert main(["check", str(folder / "tilted.bvh"), "--severity", "severe"]) == 0


def test_a_bad_file_is_one_finding(folder, capsys):
    (folder / "bad.bvh").write_text("HIERARCHY\nnonsense")
    assert main(["check", str(folder)]) == 2
    captured = capsys.readouterr()
    assert "bad.bvh" in captured.out
    assert "unreadable" in captured.out
    assert "fast.bvh" in captured.out


def test_a_missing_file_and_a_file_of_another_kind(folder, capsys):
    (folder / "README.md").write_text("# Walks\n")
    for name, words in (
        ("nosuch", "no such file"),
        ("missing.bvh", "no such file"),
        ("README.md", "not a motion file"),
    ):
        assert main(["check", str(folder / name), str(folder / "broken.bvh")]) == 2
        shown = capsys.readouterr().out
        assert words in shown
        assert "export it again" not in shown
        assert "broken frames" in shown


def test_a_folder_without_clips(tmp_path, capsys):
    assert main(["check", str(tmp_path)]) == 2
    assert "has no motion files" in capsys.readouterr().err


def test_duplicates_in_a_folder(folder, capsys):
    shutil.copy(folder / "walk.bvh", folder / "zwalk.bvh")
    assert main(["check", str(folder)]) == 1
    shown = capsys.readouterr().out
    assert "duplicate" in shown
    assert f"use only one of {folder / 'walk.bvh'} and {folder / 'zwalk.bvh'}\n" in shown


def test_bone_lengths_after_a_cleanup(tmp_path, capsys):
    walk = clip("walk")
    offsets = walk.frame_offsets.copy()
    offsets[50:80, walk.skeleton.roles["left_foot"]] *= 1.1
    stretched = replace(walk, bone_offsets=offsets)
    marey.save(stretched, tmp_path / "stretched.bvh")
    assert main(["check", str(tmp_path / "stretched.bvh")]) == 1
    assert "bone lengths" in capsys.readouterr().out
    for step in ({"op": "clean", "plants": 1}, {"op": "motion matching", "feet": "lock"}):
        cleaned = replace(stretched, source=stretched.source.with_step(**step))
        marey.save(cleaned, tmp_path / "cleaned.bvh")
        assert main(["check", str(tmp_path / "cleaned.bvh")]) == 0


def test_a_jump_shows_what_makes_it_severe(data_folder, capsys):
    assert main(["check", str(data_folder / "cmu-hard" / "106_20.bvh")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert ["177 degrees" in line for line in lines if " jump " in line] == [True]
    assert ["158 degrees" in line for line in lines if " broken frames " in line] == [True]
    assert main(["check", str(data_folder / "cmu-hard" / "111_21.bvh")]) == 1
    assert ["44 m/s" in line for line in capsys.readouterr().out.splitlines() if " jump " in line] == [True]


def test_processes_give_the_same_reports(folder):
    def plain(files):
        return [file.to_dict() for file in files]

    assert plain(check_files([folder])) == plain(check_files([folder], run=processes(2)))


def test_progress(folder):
    seen = []
    check_files([folder], progress=seen.append)
    assert seen == [pytest.approx(k / 3) for k in (1, 2, 3)]


def test_every_clip_of_a_file_is_checked(data_folder):
    (file,) = check_files([data_folder / "gltf" / "RiggedFigure.glb"])
    assert (file.clip, file.report.n_frames) == ("", 31)


def test_markers(data_folder, capsys):
    assert main(["check", str(data_folder / "c3d")]) == 0
    assert capsys.readouterr().out == "2 clips: no findings\n"


def test_info_lists_the_findings_and_the_tilt(folder, capsys):
    marey.save(tilt(clip("walk"), 2.0), folder / "tilted.bvh")
    assert main(["info", str(folder / "tilted.bvh")]) == 0
    shown = capsys.readouterr().out
    assert "  floor     tilted by 2.0 degrees\n" in shown
    assert "  finding   the floor is tilted by 2.0 degrees" in shown
    assert "level the floor (marey edit level)" in shown
    assert main(["info", str(folder / "broken.bvh")]) == 1
    assert "  finding   frames 100-102: 3 frames broken" in capsys.readouterr().out
    assert main(["info", "--json", str(folder / "fast.bvh")]) == 1
    (report,) = json.loads(capsys.readouterr().out)
    assert report["findings"][0]["command"].endswith("--file-fps 60")
    assert report["floor"]["is_tilted"] is False


def test_following_all_fixes_ends_without_severe_findings(data_folder, tmp_path, capsys, monkeypatch):
    """In 111_21 a leg flips, and hangs below the floor."""
    monkeypatch.chdir(tmp_path)
    cut = marey.load(data_folder / "cmu-hard" / "111_21.bvh")[1840:2140]
    marey.save(replace(cut, source=replace(cut.source, evidence=())), "clip.npz")
    main(["check", "clip.npz", "--full"])
    commands = re.findall(r" {8}marey (.*)", capsys.readouterr().out)
    assert commands
    (tmp_path.parent / f"{tmp_path.name}_fixed" / ".steps").mkdir(parents=True)
    for command in commands:
        assert main(shlex.split(command)) in (0, 1)
    capsys.readouterr()
    main(["check", f"../{tmp_path.name}_fixed/clip.npz", "--severity", "severe"])
    assert "no findings" in capsys.readouterr().out


def test_fix_says_that_findings_are_left(folder, tmp_path, capsys):
    shutil.copy(folder / "walk.bvh", folder / "walk_again.bvh")
    twins = [str(folder / name) for name in ("walk.bvh", "walk_again.bvh")]
    assert main(["check", *twins, "--fix", str(tmp_path / "fixed")]) == 1
    out = capsys.readouterr().out
    assert "walk_again.bvh: copied; wrote " in out
    assert "still found: duplicate" in out
    assert "0 fixed clips; 2 files without fixes copied; findings are left in 1 clip\n" in out


def test_fix_runs_the_commands_and_writes_new_files(folder, capsys):
    """It writes the same as the printed commands."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    fixed = folder.with_name(f"{folder.name}_out")
    assert main(["check", str(folder), "--fix", str(fixed)]) == 0
    shown = capsys.readouterr().out
    assert f"{folder / 'broken.bvh'}: edit repair; wrote {fixed / 'broken.bvh'}\n" in shown
    assert f"{folder / 'fast.bvh'}: convert --file-fps 60; wrote {fixed / 'fast.bvh'}\n" in shown
    assert f"{fixed}: 2 fixed clips; 1 file without fixes copied\n" in shown
    assert sorted(path.name for path in fixed.glob("*.bvh")) == ["broken.bvh", "fast.bvh", "walk.bvh"]
    for name in ("walk.bvh", "walk.marey.json"):
        assert (fixed / name).read_bytes() == (folder / name).read_bytes()
    assert main(["check", str(fixed)]) == 0
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    for words in (["edit", "repair", "broken.bvh"], ["convert", "--file-fps", "60", "fast.bvh"]):
        name = words.pop()
        assert main([*words, str(folder / name), str(fixed / f"2{name}")]) == 0
        one, two = marey.load(fixed / name), marey.load(fixed / f"2{name}")
        assert one.fps == two.fps
        np.testing.assert_allclose(one.world().positions, two.world().positions, atol=1e-5)
    again = ["check", str(folder), "--fix", str(fixed)]
    assert main(again) == 2
    assert "already exists; choose another folder, or replace it with --overwrite" in capsys.readouterr().err
    files = {path: path.read_bytes() for path in fixed.iterdir()}
    (fixed / "fast.bvh").write_text("changed")
    assert main([*again, "--overwrite"]) == 0
    assert {path: path.read_bytes() for path in fixed.iterdir()} == files
    assert main(["check", str(folder / "fast.bvh"), "--fix", str(folder), "--overwrite"]) == 2
    assert "this is an input file" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_fix_reports_what_is_left(folder, capsys):
    text = (folder / "fast.bvh").read_text().splitlines()
    (folder / "fast.bvh").write_text("\n".join(text[:-40]) + "\n")
    (folder / "fast.marey.json").unlink(missing_ok=True)
    fixed = folder.with_name(f"{folder.name}_out")
    assert main(["check", str(folder), "--fix", str(fixed), "--json"]) == 1
    reports = {report["name"]: report.get("fixed") for report in json.loads(capsys.readouterr().out)}
    assert reports == {
        "broken": {"steps": ["edit repair"], "written": f"{fixed}/broken.bvh", "left": []},
        "fast": {"steps": ["convert --file-fps 60"], "written": f"{fixed}/fast.bvh", "left": ["file"]},
        "walk": {"steps": [], "written": f"{fixed}/walk.bvh", "left": []},
    }
    notes = folder.with_name("notes")
    notes.touch()
    for bad, words in (
        (folder / "in", "is inside the checked folder"),
        (folder.with_name("x.bvh"), "has the suffix of a file; choose a folder for the repaired clips"),
        (notes, "is a file; choose a folder for the repaired clips"),
    ):
        assert main(["check", str(folder), "--fix", str(bad)]) == 2
        assert words in capsys.readouterr().err
    (folder / "bad.bvh").write_text("HIERARCHY\nnonsense")
    assert main(["check", str(folder), "--fix", str(folder.with_name(f"{folder.name}_more"))]) == 2


def test_fix_copies_files_with_several_clips_whole(folder, capsys):
    """A clip that must not be copied along with a fixed one is saved alone."""
    walk, broken = marey.load(folder / "walk.bvh"), marey.load(folder / "broken.bvh")
    marey.save([walk, replace(walk[:60], name="short")], folder / "good.glb")
    marey.save([walk, replace(broken, name="broken")], folder / "mixed.glb")
    fixed = folder.with_name(f"{folder.name}_out")
    main(["check", str(folder), "--fix", str(fixed)])
    assert sorted(path.name for path in fixed.glob("*.glb")) == ["good.glb", "mixed_broken.glb", "mixed_walk.glb"]
    assert (fixed / "good.glb").read_bytes() == (folder / "good.glb").read_bytes()
    assert len(marey.load(fixed / "mixed_walk.glb")) == len(walk)


def test_a_cut_off_file_is_severe(folder, capsys):
    walk = folder / "walk.bvh"
    walk.write_bytes(walk.read_bytes()[:-20_000])
    walk.with_suffix(".marey.json").unlink(missing_ok=True)
    assert main(["check", str(walk), "--severity", "severe", "--full"]) == 1
    assert "the file is probably cut off" in capsys.readouterr().out
    assert main(["check", str(walk)]) == 1
    assert "the file is probably cut off; see whether the file was exported" in capsys.readouterr().out


def test_bones_that_change_can_be_made_rigid(folder, capsys):
    """Like a cleaned GLB file without its sidecar, which would say that it was cleaned."""
    walk = clip("walk")
    bones = np.tile(walk.skeleton.offsets, (len(walk), 1, 1))
    bones[40:60, walk.skeleton.roles["left_lower_leg"]] *= 1.04
    stretched = folder / "stretched.glb"
    marey.save(replace(walk, bone_offsets=bones), stretched)
    stretched.with_suffix(".marey.json").unlink(missing_ok=True)
    assert main(["check", str(stretched)]) == 1
    assert "marey convert IN OUT --rigid" in capsys.readouterr().out
    assert main(["check", str(stretched), "--fix", str(folder.with_name(f"{folder.name}_out"))]) == 0
    assert marey.load(folder.with_name(f"{folder.name}_out") / "stretched.glb").bone_offsets is None
