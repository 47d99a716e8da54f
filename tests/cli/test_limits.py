"""`marey limits`, and --joint-limits of the commands that take its file."""

import json
from pathlib import Path

import pytest

import marey
from marey.cli.main import main
from marey.samples import straight_walk

WALK = straight_walk(seconds=2.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    marey.save(WALK, "walk.bvh")
    marey.save(straight_walk(seconds=2.0, speed=1.9), "quick.bvh")
    return tmp_path


def test_limits_are_learned_and_respected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["limits", "walk.bvh", "quick.bvh", "-o", "limits.json", "--margin", "3"]) == 0
    out = capsys.readouterr().out
    assert "limits of 21 joints from 242 frames" in out
    assert "wrote limits.json" in out
    both = ["blend", "walk.bvh", "quick.bvh", "--weights", "-2", "3"]
    assert main([*both, "-o", "wild.npz"]) == 0
    assert main([*both, "-o", "kept.npz", "--joint-limits", "limits.json"]) == 0
    assert main(["clean", "wild.npz", "clean.npz", "--joint-limits", "limits.json"]) in (0, 1)
    capsys.readouterr()
    files = ["wild.npz", "kept.npz", "clean.npz"]
    assert main(["measure", *files, "--joint-limits", "limits.json", "--json"]) == 0
    excess = [report["metrics"]["limit_excess_max"]["value"] for report in json.loads(capsys.readouterr().out)]
    assert excess[0] > 0.02
    assert max(excess[1:]) < 1e-6


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["limits", "walk.bvh", "-o", "limits.json", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    low, high = (report["joints"]["LeftLeg"][side] for side in ("low_rad", "high_rad"))
    assert max(b - a for a, b in zip(low, high, strict=True)) > 0.5


def test_wrong_use_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.asf").write_text(":version 1.10")
    assert main(["limits", "x.asf", "walk.bvh", "-o", "limits.json"]) == 2
    assert "an ASF file contains its own joint limits; give it alone" in capsys.readouterr().err
    assert main(["limits", "walk.bvh", "-o", "limits.npz"]) == 2
    assert ".json" in capsys.readouterr().err
    Path("other.json").write_text('{"format": "marey.gaze_map", "version": 1}')
    assert main(["measure", "walk.bvh", "--joint-limits", "other.json"]) == 2
    assert "other.json" in capsys.readouterr().err
