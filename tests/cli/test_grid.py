"""`marey grid`: what it writes and says, and wrong use."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli.main import main
from marey.cli.values import MarkerNames
from marey.compare import MARKER_SETS, distance_grid
from marey.register.dtw import dtw
from marey.samples import sample
from tests.plot.pictures import png_size, svg_size

WALK = sample("walk", seconds=1.5, fps=30.0).motion
RUN = sample("run", seconds=1.2, fps=30.0).motion


@pytest.fixture
def clips(tmp_path, monkeypatch):
    marey.save(WALK, tmp_path / "walk.npz")
    marey.save(RUN, tmp_path / "run.npz")
    marey.save(sample("run", seconds=1.2, fps=60.0).motion, tmp_path / "fast.npz")
    monkeypatch.chdir(tmp_path)
    return ["walk.npz", "run.npz"]


def test_plot_and_readable_numbers(clips, capsys):
    assert main(["grid", *clips, "-o", "grid.png"]) == 0
    out = capsys.readouterr().out
    grid = distance_grid(WALK, RUN)
    assert f"walk ({len(WALK)} frames) with run ({len(RUN)} frames) at 30 Hz" in out
    assert f"min {np.sqrt(grid.values.min()):.3f}" in out
    assert f"{len(grid.minima())} local minima" in out
    assert out.endswith("wrote grid.png\n")
    assert png_size(Path("grid.png"))[0] == 1800


def test_numbers_as_json(clips, capsys):
    arguments = ["--json", "--path", "--slope", "3", "--threshold", "0.3", "--window", "0.3", "--markers", "large"]
    assert main(["grid", *clips, "-o", "grid.svg", *arguments]) == 0
    report = json.loads(capsys.readouterr().out)
    grid = distance_grid(WALK, RUN, window=0.3, markers="large")
    path = dtw(grid.values, slope_limit=3)
    assert report["files"] == clips
    assert report["distance_m"]["max"] == pytest.approx(np.sqrt(grid.values.max()))
    assert report["path"]["distance_m"] == pytest.approx(path.distance)
    assert report["no_path"] is None
    assert report["window_frames"] == 9
    assert report["markers"] == list(grid.a.names)
    cells = grid.minima(0.3)
    assert sorted(cell["frames"] for cell in report["minima"]) == cells.tolist()
    distances = [cell["distance_m"] for cell in report["minima"]]
    assert distances == sorted(distances)
    best = report["best"]
    move = grid.transform(*best["frames"])
    assert [best["move"][key] for key in ("theta_rad", "x_m", "z_m")] == pytest.approx(move.tolist())
    assert svg_size(Path("grid.svg"))[0] == 648


def test_the_numbers_as_csv_and_npz(clips):
    assert main(["grid", *clips, "--csv", "grid.csv", "--npz", "grid.npz", "--path", "--end", "border"]) == 0
    grid = distance_grid(WALK, RUN)
    with open("grid.csv", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0][0] == "seconds"
    assert np.array(rows[0][1:], dtype=float) == pytest.approx(np.arange(len(RUN)) / 30.0, abs=1e-5)
    body = np.array(rows[1:], dtype=float)
    assert body[:, 0] == pytest.approx(np.arange(len(WALK)) / 30.0, abs=1e-5)
    assert body[:, 1:] == pytest.approx(np.sqrt(grid.values), rel=1e-5)
    with np.load("grid.npz") as arrays:
        assert str(arrays["format"]) == "marey.grid"
        assert int(arrays["version"]) == 1
        assert (arrays["values"] == grid.values).all()
        assert (arrays["minima"] == grid.minima()).all()
        assert (arrays["moves"] == grid.transform(*grid.minima().T)).all()
        assert (arrays["path"] == dtw(grid.values, end="border").cells).all()
        assert arrays["names"].tolist() == ["walk", "run"]


def test_one_motion_with_itself(clips, capsys):
    assert main(["grid", "walk.npz", "-o", "own.png"]) == 0
    out = capsys.readouterr().out
    grid = distance_grid(WALK)
    assert f"{len(grid.minima())} local minima" in out
    listed = [line.split(" s and ") for line in out.splitlines() if " s and " in line]
    assert listed
    assert all(float(a) < float(b.split()[0]) for a, b in listed)


def test_other_rates_are_resampled_with_a_note(clips, capsys):
    assert main(["grid", "walk.npz", "fast.npz", "-o", "grid.png"]) == 0
    out = capsys.readouterr().out
    assert "resampled 'run' from 60 to 30 Hz" in out
    assert "at 30 Hz" in out


def test_contacts_refused_or_penalised(clips, capsys):
    assert main(["grid", *clips, "--contacts", "refuse", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    refused = np.isinf(distance_grid(WALK, RUN, contacts="refuse").values)
    assert report["refused_cells"] == int(refused.sum()) > 0
    assert main(["grid", *clips, "--contacts", "0.2"]) == 0
    out = capsys.readouterr().out
    assert "refused" not in out
    from dataclasses import replace

    marey.save(replace(WALK, contacts=None, name="bare"), "bare.bvh")
    assert main(["grid", "bare.bvh", "run.npz", "--contacts", "refuse"]) == 0
    assert "detected the contacts of 'bare'" in capsys.readouterr().out


def test_no_path_within_the_slope_limit_is_reported_and_the_grid_still_written(clips, capsys):
    short = sample("run", seconds=0.4, fps=30.0).motion
    marey.save(short, "short.npz")
    assert main(["grid", "walk.npz", "short.npz", "-o", "grid.png", "--path"]) == 1
    captured = capsys.readouterr()
    assert "slope limit 2" in captured.out
    assert png_size(Path("grid.png"))[0] == 1800


def test_the_options_know_all_sets_of_markers():
    assert tuple(MARKER_SETS) == MarkerNames.SETS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["walk.npz", "none.bvh"], "none.bvh: no such file"),
        (["walk.npz", "-o", "grid.pdf"], "a plot is saved as .png or .svg"),
        (["walk.npz", "--npz", "walk.npz"], "walk.npz: this is an input file"),
        (["walk.npz", "--npz", "out", "--csv", "out"], "two outputs have this name"),
        (["walk.npz", "--window", "-1"], "--window must be at least 0 seconds"),
        (["walk.npz", "--markers", "hips,left_hnd"], "similar: 'left_hand'"),
        (["walk.npz", "--markers", ","], "markers must name at least one marker, got none"),
        (["walk.npz", "--contacts", "forbid"], "'refuse' or a penalty in meters"),
        (["walk.npz", "--contacts", "-1"], "a finite penalty of at least 0 m"),
        (["walk.npz", "--shape", "round"], "--shape must be one of"),
        (["walk.npz", "--threshold", "-1"], "threshold must be at least 0 m"),
        (["walk.npz", "--slope", "3"], "--end and --slope require --path"),
        (["walk.npz", "--path", "--slope", "0"], "slope"),
        ([], "missing argument A"),
    ],
)
def test_wrong_use(arguments, message, clips, capsys):
    assert main(["grid", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert sorted(path.name for path in Path().iterdir() if not path.name.endswith(".json")) == [
        "fast.npz",
        "run.npz",
        "walk.npz",
    ]
