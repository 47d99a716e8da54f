"""`marey measure`."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli.main import main
from marey.samples import straight_walk

WALK = straight_walk(seconds=2.0)


@pytest.fixture
def clips(tmp_path: Path) -> tuple[str, str]:
    source, result = tmp_path / "source.bvh", tmp_path / "made.bvh"
    marey.save(WALK, source)
    slid = WALK.root_positions * np.array([1.0, 1.0, 1.1])
    marey.save(replace(WALK, root_positions=slid), result)
    return str(result), str(source)


def test_the_table_has_every_metric_with_its_unit(clips: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", clips[0]]) == 0
    out = capsys.readouterr().out
    assert "121 frames at 60 Hz, 2.00 s" in out
    rows = {line.strip().partition("  ")[0]: line for line in out.splitlines()[2:]}
    assert "mm/frame" in rows["foot slide, weighted by height"]
    value, unit = rows["jitter"].split()[1:3]
    assert unit == "m/s³"
    assert float(value) == pytest.approx(100.0 * marey.measure(marey.load(clips[0]))["jitter"].value, rel=1e-3)
    assert main(["measure", clips[0], "--json"]) == 0
    assert '"10^2 m/s^3"' in capsys.readouterr().out  # the key for scripts
    assert "deg/s" in rows["angular velocity, maximum"]
    assert "against" not in out


def test_the_source_has_its_own_column(clips: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    result, source = clips
    assert main(["measure", result, "--against", source, "--full"]) == 0
    out = capsys.readouterr().out
    assert f"against {source}: 121 frames" in out
    title = "  distance from start to end "
    (row,) = [line.removeprefix(title).split() for line in out.splitlines() if line.startswith(title)]
    assert float(row[0]) == pytest.approx(1.1 * float(row[1]), rel=1e-3)
    assert "Mode-Adaptive" in out


def test_json(clips: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    result, source = clips
    assert main(["measure", result, source, "--against", source, "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert first["file"] == result
    assert first["against"]["file"] == source
    metric = first["metrics"]["slide_contact"]
    assert metric["unit"] == "m/s"
    assert "PhysDiff" in metric["source"]
    assert metric["value"] > metric["against"]
    same = second["metrics"]
    assert all(one["value"] == one["against"] for name, one in same.items() if not name.startswith("edit_"))


def test_what_cannot_be_had_is_a_dash_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "one.bvh"
    marey.save(WALK[0], path)
    assert main(["measure", str(path)]) == 2
    assert "must have at least 2 frames to be measured, not 1" in capsys.readouterr().err
    marey.save(WALK[0:2], path)
    assert main(["measure", str(path)]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  jitter ")]
    assert row.split()[1] == "-"
    assert row.endswith("needs at least 4 frames, but the motion has 2 frames")


def test_bad_files_are_one_sentence_and_exit_code_2(
    clips: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = str(tmp_path / "absent.bvh")
    assert main(["measure", absent]) == 2
    assert main(["measure", clips[0], "--against", absent]) == 2
    assert capsys.readouterr().err.count("absent.bvh") == 2
    assert main(["measure", absent, clips[0], "--json"]) == 2
    output = capsys.readouterr()
    assert len(json.loads(output.out)) == 1
    assert output.err.count("\n") == 1


def test_a_leading_rest_pose_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rest.bvh"
    rotations, root = WALK.rotations.copy(), WALK.root_positions.copy()
    rotations[0], root[0] = [1.0, 0.0, 0.0, 0.0], root[1]
    marey.save(replace(WALK, rotations=rotations, root_positions=root, contacts=None), path)
    assert main(["measure", str(path), "--json"]) == 0
    trimmed = capsys.readouterr()
    assert "frame 0 is a rest pose and is skipped; --keep-rest-pose keeps it" in trimmed.err
    assert main(["measure", str(path), "--keep-rest-pose", "--json"]) == 0
    whole = capsys.readouterr()
    assert whole.err == ""
    assert main(["measure", str(path), "--trim-rest", "--json"]) == 0
    assert "--trim-rest is deprecated: a leading rest pose is skipped by default" in capsys.readouterr().err
    before, after = (json.loads(out)[0]["metrics"]["angular_velocity_max"]["value"] for out in (whole.out, trimmed.out))
    assert before > 3 * after


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "--help"]) == 0
    assert "marey measure clean.bvh --against walk.bvh" in capsys.readouterr().out
