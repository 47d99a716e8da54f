"""`marey samples`: files with their ground truth next to them, and errors of one sentence."""

import json
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli import main as cli_main
from marey.samples import sample, sample_names


def run(*arguments: object) -> int:
    return cli_main.main(["samples", *map(str, arguments)])


def test_list_names_every_sample_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "out", "--list") == 0
    out = capsys.readouterr().out
    for name in sample_names():
        assert f"{name}: " in out
    assert "(0.6 to 2 m/s)" in out
    assert "(-70 to 70 degrees/s)" in out
    assert "(left|right)" in out
    assert not (tmp_path / "out").exists()
    assert run("--list", "--json", "-n", "walk") == 0
    (walk,) = json.loads(capsys.readouterr().out)
    assert walk["name"] == "walk"
    assert [p["name"] for p in walk["parameters"]] == ["speed", "turn_rate", "seconds", "variation"]


@pytest.mark.parametrize("suffix", ["bvh", "glb", "npz"])
def test_a_sample_is_written_with_its_truth(tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ("--param", "speed=1.6", "--param", "turn_rate=20", "--param", "seconds=2")
    assert run(tmp_path, "-n", "walk", *settings, "--seed", 3, "--fps", 50, "--format", suffix, "--truth") == 0
    assert "walk" in capsys.readouterr().out
    wanted = sample("walk", rng=3, fps=50.0, speed=1.6, turn_rate=np.radians(20), seconds=2.0)
    read = marey.load(tmp_path / f"walk.{suffix}")
    assert np.abs(read.world().positions - wanted.motion.world().positions).max() < 1e-5
    np.testing.assert_array_equal(read.contacts.mask, wanted.motion.contacts.mask)
    assert read.labels.names == ("turn_left", "walk")
    truth = json.loads((tmp_path / "walk.truth.json").read_text())
    np.testing.assert_allclose(truth["phase_strides"], wanted.phase, atol=1e-6)
    assert truth["parameters"]["speed"] == 1.6


def test_json_contains_targets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "-n", "reach", "-n", "stand", "--json") == 0
    reach, stand = json.loads(capsys.readouterr().out)
    assert reach["targets"][0]["joint"] == "RightHand"
    assert stand["targets"] == []
    assert Path(reach["file"]).exists()


def test_all_of_them_are_written(tmp_path: Path) -> None:
    assert run(tmp_path, "--fps", 10, "--format", "npz") == 0
    assert {path.stem for path in tmp_path.glob("*.npz")} == set(sample_names())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-n", "wlk"), "no sample 'wlk'; similar: 'walk'"),
        (("-n", "walk", "--param", "speed=9"), "sample 'walk': speed must be from 0.6 to 2 m/s, not 9"),
        (
            ("-n", "walk", "--param", "turn_rate=90"),
            "sample 'walk': turn_rate must be from -70 to 70 degrees/s, not 90",
        ),
        (("-n", "walk", "--param", "sped=1"), "has no parameter 'sped'"),
        (("-n", "walk", "--param", "speed"), "--param expects NAME=VALUE, got 'speed'"),
        (("--param", "speed=1"), "--param requires --name"),
        (("-n", "walk", "--fps", "0"), "fps must be a finite number greater than 0"),
    ],
)
def test_wrong_use_gives_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "out", *arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1
    assert not list(tmp_path.glob("out/*"))


def test_a_folder_that_cannot_be_created(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file", "-n", "walk") == 2
    assert "cannot create the folder" in capsys.readouterr().err


def test_json_has_angles_in_degrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli_main.main(["samples", str(tmp_path), "-n", "walk", "--param", "turn_rate=20", "--json", "--truth"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["parameters"]["turn_rate"] == pytest.approx(20.0)
    truth = json.loads((tmp_path / "walk.truth.json").read_text())
    assert truth["parameters"]["turn_rate"] == pytest.approx(0.349, abs=1e-3)
