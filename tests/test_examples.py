"""Every example runs, is short, and does what it says."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.samples import sample, straight_walk

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_examples_are_short_and_explained(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 60
    assert text.startswith('"""')


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    try:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_convert_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    marey.save(straight_walk(seconds=0.5), tmp_path / "a.bvh")
    (tmp_path / "bad.bvh").write_text("nonsense")
    assert run("convert_folder.py", str(tmp_path), str(tmp_path / "out"), monkeypatch=monkeypatch) == 1
    assert "not a BVH file" in capsys.readouterr().err
    assert len(marey.load(tmp_path / "out" / "a.glb")) == 31


def test_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("reach.py", str(tmp_path / "reach.glb"), monkeypatch=monkeypatch) == 0
    millimeters = float(capsys.readouterr().out.split(" at most ")[1].split()[0])
    assert millimeters < 1e-6
    assert len(marey.load(tmp_path / "reach.glb")) == 181


def test_speed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("speed_up.py", str(tmp_path / "s.glb"), monkeypatch=monkeypatch) == 0
    first, fastest, last = (float(part.split()[0]) for part in re.split("from | to ", capsys.readouterr().out)[1:])
    assert fastest > 2.5
    assert first == pytest.approx(1.3, abs=0.25)
    assert last == pytest.approx(1.3, abs=0.25)


def test_walk_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("walk_a_path.py", str(tmp_path / "p.bvh"), monkeypatch=monkeypatch) == 0
    assert float(capsys.readouterr().out.split("from the path ")[1].split()[0]) < 15.0
    end = marey.load(tmp_path / "p.bvh").travel[-1]
    assert end[2] == pytest.approx(10.0, abs=0.5)


def test_aim_a_kick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("aim_a_kick.py", str(tmp_path / "k.bvh"), "1.1", monkeypatch=monkeypatch) == 0
    out = capsys.readouterr().out
    assert out.startswith("11 kicks similar to the one at")
    assert float(out.split(": ")[-1].split(" mm")[0]) < 5.0
    kick = marey.load(tmp_path / "k.bvh")
    ball = kick.world().positions[:, kick.skeleton.roles["right_ball"]]
    assert ball[np.argmax(np.linalg.norm(ball - ball[0], axis=1)), 1] == pytest.approx(1.1, abs=0.04)


def test_carry_on_a_curve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("carry_on_a_curve.py", str(tmp_path / "c.bvh"), monkeypatch=monkeypatch) == 0
    spliced, copied = (float(part.split()[0]) for part in capsys.readouterr().out.split("mean joint error ")[1:])
    assert spliced < 2.0
    assert copied > 2.0 * spliced
    assert len(marey.load(tmp_path / "c.bvh")) == 361


def test_steer_a_character(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = (
        'name = "walker"\nfps = 30\nsamples = [6, 30]\n[[nodes]]\nname = "walk"\nkind = "gait"\nmirror = true\n'
        '[[nodes.clips]]\nsample = "walk"\nspeed = 1.1\nturn_rate = [0, 30, 60]\nseconds = 4\nvariation = 0\n'
        '[[edges]]\nfrom = "walk"\nto = "walk"\ngood = 0.15\nbad = 0.2\n'
    )
    (tmp_path / "w.toml").write_text(recipe)
    assert run("steer_a_character.py", str(tmp_path / "s.bvh"), str(tmp_path / "w.toml"), monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.count("reached (") == 2
    end = marey.load(tmp_path / "s.bvh").travel[-1, [0, 2]]
    assert np.linalg.norm(end - [3.0, 5.0]) < 0.3


@pytest.mark.parametrize("suffix", ["bvh", "glb", "npz"])
def test_five_commands(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output of each command is accepted by the next one, in every format."""
    files = []
    for k, turn in enumerate((0.0, 0.8, -0.8)):
        files.append(str(tmp_path / f"walk{k}.{suffix}"))
        marey.save(sample("walk", rng=k, seconds=6.0, fps=30.0, turn_rate=turn).motion, files[-1])
    assert run("five_commands.py", str(tmp_path / "out"), *files, monkeypatch=monkeypatch) == 0
    printed = capsys.readouterr().out
    for command in ("check", "clean", "graph build", "graph path", "convert"):
        assert f"\nmarey {command} " in f"\n{printed}"
    character = marey.load(tmp_path / "out" / "character.glb")
    assert np.linalg.norm(character.travel[-1, [0, 2]]) > 6.0
