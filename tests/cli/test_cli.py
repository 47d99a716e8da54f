"""The command line: what it prints, where, and with which exit code."""

import dataclasses
import gc
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli import demo
from marey.cli import main as cli_main
from marey.cli.files import print_json
from marey.cli.main import COMMANDS, main
from marey.edit import mirror
from marey.samples import straight_walk

WALK = straight_walk(seconds=1.0)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    path = tmp_path / "walk.bvh"
    marey.save(WALK, path)
    return path


def test_help_lists_every_command_and_each_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n  {name} " in listed
        assert main([name, "--help"]) == 0
        assert "Example:" in capsys.readouterr().out


def test_no_line_in_a_list_of_commands_is_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    groups = ["edit", "graph", "find", "parametric", "gaze", "pmg", "library"]
    for group in ([], *([name] for name in groups)):
        assert main([*group, "--help"]) == 0
        lines = capsys.readouterr().out.split("--help  Show this message and exit.")[1].splitlines()
        assert len(lines) > 2
        assert not [line for line in lines if line.endswith("...")]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert marey.__version__ in capsys.readouterr().out


def test_info_reports_what_is_in_a_file(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--full", str(clip)]) == 0
    out = capsys.readouterr().out
    assert "BVH, 61 frames at 60 Hz, 1.00 s" in out
    assert "unit cm from the sidecar" in out
    assert "Y up from the sidecar" in out
    assert "\n  name      walk\n" in out
    assert "left_heel" in out
    assert "LeftForeArm" in out
    assert "left_forearm" in out


def test_info_as_json(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--json", str(clip), str(clip)]) == 0
    reports = json.loads(capsys.readouterr().out)
    assert len(reports) == 2
    report = reports[0]
    assert (report["name"], report["frames"]) == ("walk", 61)
    assert report["unit"] == "cm"
    assert report["speed_mps"] == pytest.approx(1.3, rel=0.05)
    assert report["roles_missing"] == []
    assert len(report["skeleton"]) == report["joints"] == 27


def test_info_with_findings_exits_with_one(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip.write_text(clip.read_text().replace("Frames: 61", "Frames: 99"))
    clip.with_name("walk.marey.json").unlink()
    assert main(["info", str(clip)]) == 1
    assert "warning   the header announces 99 frames, but there are 61 rows" in capsys.readouterr().out


def test_info_continues_after_a_bad_file(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = clip.with_name("bad.bvh")
    bad.write_text("nonsense")
    assert main(["info", str(bad), str(clip)]) == 2
    captured = capsys.readouterr()
    assert "61 frames" in captured.out
    assert captured.err.startswith(f"marey: {bad}:1: not a BVH file")


def test_info_of_odd_motion_without_roles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rod.bvh"
    path.write_text(
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
        "End Site\n{\nOFFSET 0 9 0\n}\n}\n"
        "MOTION\nFrames: 1\nFrame Time: 0.1\n1 2 3\n"
    )
    assert main(["info", "--full", str(path)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"roles +0 of \d+\n +missing: hips", out)
    assert "from a rest pose 9 units across (no legs recognized): " in out


@pytest.mark.parametrize("suffix", ["bvh", "glb", "npz"])
def test_convert(clip: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / f"out.{suffix}"
    assert main(["convert", str(clip), str(out)]) == 0
    assert "61 frames" in capsys.readouterr().out
    assert np.abs(marey.load(out).world().positions - WALK.world().positions).max() < 1e-5


def test_convert_options(clip: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.bvh"
    assert main(["convert", str(clip), str(out)]) == 0
    assert np.abs(marey.load(out).travel - WALK.travel).max() < 1e-5  # nothing is removed unless asked for
    assert main(["convert", "--file-fps", "30", "--to-unit", "m", "--to-up", "z", str(clip), str(out)]) == 0
    again = marey.load(out)
    assert (again.fps, again.source.unit, again.source.up) == (30.0, 1.0, "z")
    assert main(["convert", "--fps", "30", str(clip), str(out)]) == 0
    assert (len(marey.load(out)), marey.load(out).fps) == (31, 30.0)
    assert main(["convert", "--remove", "travel", str(clip), str(out)]) == 0
    assert np.abs(marey.load(out).travel[:, [0, 2]]).max() < 1e-6
    (tmp_path / "takes").mkdir()
    marey.save(WALK, tmp_path / "takes" / "walk.npz")
    assert main(["convert", "--remove", "start", "--to", "glb", str(tmp_path / "takes"), str(tmp_path / "game")]) == 0
    moved = marey.load(tmp_path / "game" / "walk.glb")
    assert np.abs(moved.travel[0, [0, 2]]).max() < 1e-5 < np.linalg.norm(moved.travel[-1, [0, 2]])
    both = tmp_path / "both.glb"
    assert main(["convert", "--no-body", str(clip), str(clip), str(both)]) == 0
    assert len(marey.clip_names(both)) == 2


def test_the_output_may_be_an_option(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name = str(clip)
    for k, line in enumerate(
        (["clean", name, "-o"], ["convert", name, "--output"], ["edit", "crop", name, "--to", "20f", "-o"])
    ):
        assert main([*line, f"{k}.npz"]) == 0
        assert (tmp_path / f"{k}.npz").is_file()
    assert main(["convert", "-o", "both.glb", name, "2.npz"]) == 0
    assert len(marey.io.clip_names("both.glb")) == 2
    capsys.readouterr()
    assert main(["clean", name, "a.npz", "-o", "b.npz"]) == 2
    assert "OUT was given twice: a.npz and -o b.npz" in capsys.readouterr().err
    assert main(["clean", name]) == 2
    assert "missing argument OUT" in capsys.readouterr().err


def test_convert_never_overwrites_its_input(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = clip.read_bytes()
    assert main(["convert", str(clip), str(clip)]) == 2
    assert "this is an input file; choose another name" in capsys.readouterr().err
    assert clip.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "nowhere.bvh"], "marey: nowhere.bvh: no such file"),
        (["info", "."], "marey: .: this is a folder, expected a file; name a file in it"),
        (["info", "notes"], "marey: notes: no such file or folder"),
        (["clean", "takes", "cleaned"], "marey: takes: no such file or folder"),
        (["convert", "nowhere.bvh", "out.glb"], "no such file"),
        (["convert", "{clip}", "out.max"], "cannot save as '.max'; supported formats are .bvh, .fbx, .glb, .npz"),
        (
            ["convert", "{clip}", "out/"],
            "cannot save to a file name without a suffix; in a folder, name the file, such as out/walk.bvh; supported "
            "formats are .bvh",
        ),
        (["convert", "{clip}", "nowhere/out.glb"], "the folder 'nowhere' does not exist"),
        (["info", "--unit", "furlong", "{clip}"], "marey: --unit must be one of"),
        (["info", "--up", "w", "{clip}"], "marey: --up must be one of 'y', 'z', 'x', '-y', '-z', '-x', not 'w'"),
        (["info", "--fps", "x", "{clip}"], "marey: --fps must be a number, not 'x'"),
        (["samples", "--seed", "x"], "marey: --seed must be an integer, not 'x'"),
        (
            ["edit", "crop", "{clip}", "out.bvh", "--from", "x"],
            "marey: --from must be a time of at least 0: seconds such as 1.2, or a frame",
        ),
        (
            ["render", "{clip}", "-o", "x.png", "--at", "99"],
            "--at must be from 0 to 1.00 s (frame 60) of 'walk', not 99 s",
        ),
        (["render", "{clip}", "-o", "x.png", "--at", "99f"], "of 'walk', not 99f"),
        (["edit", "crp"], "marey: unknown command 'crp'; similar: 'crop'"),
        (
            ["blend", "{clip}", "{clip}", "-o", "x.bvh", "--slop", "3"],
            "'--slop'; similar: '--slope-limit'",
        ),
        (
            ["blend", "{clip}", "{clip}", "-o", "x.bvh", "--weights", "0.5"],
            "marey: --weights must be 2 numbers",
        ),
        (["clean", "{clip}", "out.bvh", "--max-stretch"], "marey: option '--max-stretch' requires an argument"),
        (["clean", "{clip}", "out.bvh", "more"], "marey: got unexpected extra argument (more); see marey clean --help"),
        (["info", "--file-fps", "0", "{clip}"], "--file-fps must be greater than 0 and at most 100000"),
        (["info", "--root", "Nose", "{clip}"], "no root 'Nose'"),
        (["info", "--clip", "1", "{clip}"], "--clip does not apply to a .bvh file"),
        (["bench", "lod"], "unknown benchmark 'lod'; available: load"),
        (["inof"], "unknown command 'inof'"),
        (["info"], "marey: missing argument FILES; see marey info --help"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_code_two(
    clip: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(clip.parent)
    assert main([argument.replace("{clip}", clip.name) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1


def test_debug_shows_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--debug", "info", "nowhere.bvh"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_bug_is_one_sentence_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(cli_main.cli, "main", broken)
    assert main(["info", "x.bvh"]) == 2
    assert "unexpected ZeroDivisionError" in capsys.readouterr().err


def test_warnings_go_to_stderr_as_one_line(clip: Path, tmp_path: Path) -> None:
    clip.write_text(clip.read_text().replace("Frames: 61", "Frames: 99"))
    clip.with_suffix(".marey.json").unlink()  # it belongs to the unchanged file
    command = [sys.executable, "-m", "marey", "convert", str(clip), str(tmp_path / "out.glb")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [
        f"marey: warning: {clip}: the header announces 99 frames, but there are 61 rows; all rows are read; "
        "the file is probably cut off"
    ]


def test_a_closed_pipe_is_not_an_error(clip: Path) -> None:
    for arguments in (
        ["info", "--full", *[str(clip)] * 30],
        ["check", str(clip), "--json"],
        ["graph", "--help"],
        ["-h"],
    ):
        reader, writer = os.pipe()
        os.close(reader)  # before anything is written
        done = subprocess.run(
            [sys.executable, "-m", "marey", *arguments], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(writer)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow("runs the complete demo")
def test_demo_makes_and_checks_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    for name in ("walk.bvh", "walk.glb", "clips.glb", "held.bvh", "walk.png", "steered.bvh", "steered.png"):
        assert (tmp_path / "out" / name).stat().st_size > 1000
    assert "read back" in shown
    assert re.search(r"foot slide while planted +1\d\d\.\d\d +0\.00 +mm/s", shown)
    assert re.search(r"floor penetration +12\.00 +0\.00 +mm", shown)
    assert "100 % of the slide removed" in shown


def test_the_files_of_the_last_demo_give_way_and_no_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "_make", lambda folder: demo.write_formats(folder, WALK))
    assert main(["demo", str(tmp_path / "out")]) == 0
    (tmp_path / "out" / "mine.txt").write_text("mine")
    (tmp_path / "out" / "steered.png").write_text("of an earlier demo")
    assert main(["demo", str(tmp_path / "out")]) == 0
    assert "read back" in capsys.readouterr().out
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left == {".marey-demo", "mine.txt", "walk.bvh", "walk.glb", "walk.npz", "walk.marey.json"}
    (tmp_path / "walk.bvh").write_text("mine")
    assert main(["demo", str(tmp_path)]) == 2
    assert "was not written by the demo" in capsys.readouterr().err
    assert (tmp_path / "walk.bvh").read_text() == "mine"
    (tmp_path / "file").write_text("")
    assert main(["demo", str(tmp_path / "file")]) == 2
    assert "cannot create the folder" in capsys.readouterr().err


def test_files_are_converted_without_heavy_packages(clip: Path, tmp_path: Path) -> None:
    code = (
        "import sys\nfrom marey.cli.main import main\n"
        f"assert main(['info', {str(clip)!r}]) == 0\n"
        f"assert main(['convert', {str(clip)!r}, {str(tmp_path / 'o.glb')!r}]) == 0\n"
        "assert 'numba' not in sys.modules and 'matplotlib' not in sys.modules and 'scipy' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_several_clips_in_a_file_are_nothing_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "both.glb"
    bare = dataclasses.replace(WALK, contacts=None, labels=marey.Labels())
    marey.save([bare, mirror(bare)], path)
    assert main(["info", str(path)]) == 0
    output = capsys.readouterr()
    assert "note      showing clip 'straight_walk'; choose another with --clip" in output.out
    assert output.err == ""
    assert main(["info", "--clip", "1", "--json", str(path)]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["clip"] == report["clips"][1]
    assert report["warnings"] == []


def test_one_bad_file_of_several_does_not_stop_the_others(clip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("info", "measure"):
        assert main([command, "nowhere.bvh", str(clip)]) == 2
        report = capsys.readouterr()
        assert "nowhere.bvh: no such file" in report.err
        assert "61 frames" in report.out


def test_a_pipe_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import os

    pipe = tmp_path / "pipe.bvh"
    os.mkfifo(pipe)
    assert main(["info", str(pipe)]) == 2
    assert "is a pipe or a device, expected a file" in capsys.readouterr().err


def test_one_frame_is_one_frame(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.bvh"
    marey.save(WALK[:1], path)
    for command, *out in (["info"], ["convert", str(tmp_path / "out.npz")]):
        assert main([command, str(path), *out]) == 0
        shown = capsys.readouterr().out
        assert "1 frame " in shown
        assert "1 frames" not in shown


def test_an_implausible_rate_is_reported_wherever_it_matters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "quick.bvh"
    marey.save(dataclasses.replace(straight_walk(seconds=6.0), fps=150.0, contacts=None), path)
    out = str(tmp_path / "out.bvh")
    for arguments, code in (
        (["info", str(path)], 1),
        (["contacts", str(path)], 0),
        (["plot", "feet", str(path), "-o", str(tmp_path / "feet.png")], 0),
        (["clean", str(path), out], 0),
    ):
        assert main(arguments) == code
        report = capsys.readouterr()
        assert "so the rate of 150 Hz seems wrong" in report.out + report.err


def test_json_has_null_for_numbers_that_are_not_finite(capsys):
    print_json({"rate": math.nan, "rows": [(1.0, math.inf), "é"], "n": 3})
    assert json.loads(capsys.readouterr().out) == {"rate": None, "rows": [[1.0, None], "é"], "n": 3}


def test_a_command_does_not_collect_garbage_while_it_loads_modules_and_exits(monkeypatch):
    thresholds = []
    before = gc.get_threshold()
    gc.set_threshold(700)  # an earlier test may have run a command in this process
    monkeypatch.setattr(cli_main, "main", lambda arguments: thresholds.append(gc.get_threshold()[0]) or 3)
    monkeypatch.setattr(sys, "argv", ["marey"])
    try:
        with pytest.raises(SystemExit) as end:
            cli_main.run()
        assert end.value.code == 3
        assert thresholds[0] > 7_000
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def test_an_option_with_one_value_is_not_given_twice(clip, capsys):
    """Otherwise the last value would win, and the first would be ignored."""
    assert main(["clean", "walk.bvh", "out.bvh", "--fps", "30", "--fps", "60"]) == 2
    assert "--fps was given twice; give it once" in capsys.readouterr().err
    assert main(["info", str(clip), "--full", "--full"]) == 0
