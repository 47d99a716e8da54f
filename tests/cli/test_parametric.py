"""`marey parametric`: from a web or files to a space, from a target to a motion, and bad input."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from marey.cli.main import main
from marey.cli.parametric import _group_notes
from marey.core.placement import find_placement
from marey.io import load_motion, save
from marey.parametric import ParametricMotion, position
from marey.samples import sample
from tests.find_medleys import KICK, kick_space, kick_web


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    path = tmp_path_factory.mktemp("web") / "w.npz"
    kick_web().save(path)
    return path


@pytest.fixture(scope="module")
def space(web, tmp_path_factory):
    path = tmp_path_factory.mktemp("space") / "s.npz"
    times = [f"{KICK[0]}f", f"{KICK[1]}f"]
    options = ["--threshold", "0.07", "--feature", "position:right_ball", "--samples", "200"]
    assert main(["parametric", "build", str(web), "take0", *times, *options, "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walks")
    for k, turn in enumerate((-0.4, -0.2, 0.0, 0.2, 0.4)):
        walk = sample("walk", seconds=2.0, turn_rate=turn, speed=1.2, fps=30.0, variation=0.0).motion
        save(walk, folder / f"walk{k}.bvh")
    return sorted(str(path) for path in folder.glob("*.bvh"))


def _target(k=8):
    return [f"{value:.4f}" for value in kick_space().samples[k]]


def test_a_space_from_a_web(space, capsys):
    assert main(["parametric", "range", str(space), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in report["parameters"]] == [f"right_ball {axis}" for axis in "xyz"]
    assert len(report["examples"]) == 6
    np.testing.assert_allclose(report["example_parameters"], kick_space().parameters, atol=1e-9)
    assert all(row["low"] < row["high"] for row in report["parameters"])
    assert ParametricMotion.load(space).names == kick_space().names


def test_a_range_says_what_can_be_combined(space, capsys):
    assert main(["parametric", "range", str(space)]) == 0
    text = capsys.readouterr().out
    fraction = ParametricMotion.load(space).reachable().fraction
    assert fraction < 0.9
    assert f"{100 * fraction:.0f} % of all combinations in these ranges can be reached; what goes together:" in text
    header, *rows = text.partition("goes together:\n")[2].splitlines()[:5]
    assert header.split(", m")[:3] == ["  right_ball y", "  right_ball x", "  right_ball z"]
    bounds = [[float(word) for word in row.replace(" to ", " ").split()] for row in rows]
    assert np.allclose([each[1] for each in bounds[:-1]], [each[0] for each in bounds[1:]], atol=0.011)
    assert main(["parametric", "range", str(space), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reachable_fraction"] == fraction


def test_matches_can_be_dropped(web, tmp_path, capsys):
    arguments = ["parametric", "build", str(web), "take0", f"{KICK[0]}f", f"{KICK[1]}f", "--threshold", "0.07"]
    arguments += ["--feature", "position:right_ball", "--samples", "50", "--drop", "2", "-o", str(tmp_path / "s.npz")]
    assert main([*arguments, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["examples"]) == 5


def test_a_space_from_files_takes_degrees(walks, tmp_path, capsys):
    out, result = tmp_path / "s.npz", tmp_path / "turn.bvh"
    assert main(["parametric", "build", *walks, "--feature", "turn", "--samples", "50", "-o", str(out), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["parameters"]
    assert row["unit"] == "degrees"
    assert main(["parametric", "range", str(out), "--json"]) == 0
    turns = json.loads(capsys.readouterr().out)["example_parameters"]
    assert min(turns)[0] < -20.0  # degrees, like the parameters
    assert main(["parametric", "make", str(out), "1", "2", "-o", str(result)]) == 2
    assert "a target must have 1 number (turn in degrees), not 2" in capsys.readouterr().err
    assert row["low"] < -20.0
    assert row["high"] > 20.0
    assert main(["parametric", "make", str(out), "-15", "-o", str(result), "--refine", "4", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["target"] == pytest.approx([-15.0])
    assert abs(report["error_by_unit"]["degrees"]) < 1.0
    assert len(load_motion(result)) == report["frames"]


def test_parameters_can_be_given_by_hand(walks, tmp_path, capsys):
    out, table = tmp_path / "s.npz", tmp_path / "moods.csv"
    given = ["--values", "-2,-1,0,1,2", "--names", "mood"]
    assert main(["parametric", "build", *walks, *given, "-o", str(out), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["low"], row["high"]) for row in report["parameters"]] == [("mood", -2.0, 2.0)]
    table.write_text("mood,energy\n0,1\n1,2\n0.5,3\n1,1\n0,2\n")
    assert (
        main(
            ["parametric", "build", *walks, "--values", str(table), "--names", "mood,energy", "-o", str(out), "--json"]
        )
        == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in report["parameters"]] == ["mood", "energy"]
    assert report["example_parameters"] == [[0.0, 1.0], [1.0, 2.0], [0.5, 3.0], [1.0, 1.0], [0.0, 2.0]]
    assert main(["parametric", "make", str(out), "0.5", "2", "-o", str(tmp_path / "m.bvh")]) == 0
    assert main(["parametric", "make", str(out), "0.5", "2", "-o", str(tmp_path / "m.bvh"), "--refine", "2"]) == 2
    assert "was given by hand; omit --refine" in capsys.readouterr().err
    table.write_text("0,1\n1\n")
    assert main(["parametric", "build", *walks, "--values", str(table), "-o", str(out)]) == 2
    assert "moods.csv:2: expected as many numbers as in the first line, got 1 number" in capsys.readouterr().err


def test_scales_and_tolerances_are_in_degrees(walks, tmp_path):
    out = tmp_path / "s.npz"
    options = ["--samples", "20", "--scale", "2,0.1", "--redundant", "0.01", "--seed", "3", "--delta", "0.05"]
    assert main(["parametric", "build", *walks, "--feature", "turn,speed", *options, "-o", str(out)]) == 0
    space = ParametricMotion.load(out)
    np.testing.assert_allclose(space.scale, [np.radians(2.0), 0.1])
    assert space.delta == 0.05


def test_a_kick_is_made_and_drawn(space, tmp_path, capsys):
    out, picture = tmp_path / "kick.bvh", tmp_path / "kick.png"
    arguments = [*_target(), "-o", str(out), "--refine", "4", "--plot", str(picture), "--json"]
    assert main(["parametric", "make", str(space), *arguments]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["error_by_unit"]["m"] < 0.005
    assert report["written"] == [str(out), str(picture)]
    assert not report["projected"]
    assert picture.read_bytes()[:4] == b"\x89PNG"
    motion = load_motion(out)
    assert motion.name == "kick"
    hit = position("right_ball")(motion)
    assert np.linalg.norm(hit - [float(value) for value in _target()]) < 0.05


def test_unreachable_targets_are_reported_and_still_written(space, tmp_path, capsys):
    out = tmp_path / "far.bvh"
    assert main(["parametric", "make", str(space), "-2.5", "1.0", "1.0", "-o", str(out)]) == 1
    assert "out of reach; used the nearest reachable target" in capsys.readouterr().out
    assert out.exists()
    picture = tmp_path / "far.svg"
    arguments = ["-2.5", "1.0", "1.0", "-o", str(out), "--plot", str(picture), "--json"]
    assert main(["parametric", "make", str(space), *arguments]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["projected"]
    np.testing.assert_allclose(report["error"], np.subtract(report["reached"], [-2.5, 1.0, 1.0]))
    assert report["error_by_unit"]["m"] > 1.0
    assert picture.exists()


def test_a_target_moved_by_rounding_only_is_within_reach(space, tmp_path, capsys):
    result = ParametricMotion.load(space)
    high = result.samples[np.argmax(result.samples[:, 1])]
    target = high + [0.0, result.scale[1] * 1.02, 0.0]
    assert 1.0 < result.reachable().distance(target) < 1.1
    arguments = [*(f"{value:.6f}" for value in target), "-o", str(tmp_path / "k.bvh")]
    assert main(["parametric", "make", str(space), *arguments]) == 0
    assert "out of reach" not in capsys.readouterr().out
    assert main(["parametric", "make", str(space), *arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert not report["projected"]
    assert 0.0 < report["moved_by_unit"]["m"] < 0.1 * result.scale[1]


def test_a_motion_begins_at_the_given_start(space, tmp_path):
    for more, begins in (([], (0.0, 0.0, 0.0)), (["--start", "-2,0.5,90"], (np.pi / 2.0, -2.0, 0.5))):
        out = tmp_path / "kick.npz"
        assert main(["parametric", "make", str(space), *_target(), "-o", str(out), "--no-cleanup", *more]) == 0
        motion = load_motion(out)
        np.testing.assert_allclose(find_placement(motion, 0), begins, atol=1e-6)


def test_durations_are_whole_frames(tmp_path, capsys):
    result = ParametricMotion.build(kick_space().registration.motions, "duration", samples=20)
    result.save(tmp_path / "s.npz")
    low, high = result.reachable().low[0], result.reachable().high[0]
    frames = np.floor(30.0 * 0.5 * (low + high))
    for fraction, count in ((0.0, 0), (0.5, 1)):
        target = f"{(frames + fraction) / 30.0:.6f}"
        arguments = [str(tmp_path / "s.npz"), target, "-o", str(tmp_path / "k.bvh"), "--refine", "4"]
        assert main(["parametric", "make", *arguments]) == 0
        out = capsys.readouterr().out
        assert out.count("  ! the duration is rounded to whole frames of 0.033 s") == count


def test_skipped_frames_are_reported_once(walks, tmp_path, capsys):
    kick = replace(kick_space().registration.motions[0], name="stranger")
    save(kick, tmp_path / "stranger.npz")
    arguments = [*walks[:3], str(tmp_path / "stranger.npz"), "--feature", "turn", "--samples", "10"]
    assert main(["parametric", "build", *arguments, "-o", str(tmp_path / "s.npz")]) == 0
    report = capsys.readouterr()
    assert report.out.count("'stranger' is left out") == 1
    assert "stranger" not in report.err
    assert "contacts of 'stranger'" not in report.out


def test_notes_on_omitted_examples_precede_grouped_notes():
    notes = [f"motion {k} ('a{k}') was resampled from 60 to 120 Hz" for k in range(5)]
    notes += ["motion 7 ('b') is left out: too far", "motion 9 ('c') is left out: too far"]
    assert _group_notes(notes) == [*notes[5:], f"{notes[0]} (and 4 more like this)"]


def test_the_range_is_drawn(space, tmp_path, capsys):
    assert main(["parametric", "range", str(space), "--plot", str(tmp_path / "r.svg")]) == 0
    assert (tmp_path / "r.svg").read_text().startswith("<?xml")
    out = capsys.readouterr().out
    assert "6 examples" in out
    assert "right_ball y" in out


_SEARCH = ["build", "WEB", "take0", "QUERY", "--threshold", "0.07"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([*_SEARCH, "-o", "OUT"], 2, "missing option --feature; or give"),
        ([*_SEARCH, "--feature", "turn", "--values", "0,1", "-o", "OUT"], 2, "either --feature to measure or --values"),
        ([*_SEARCH, "--values", "x", "-o", "OUT"], 2, "--values must be numbers such as 0,0.5,1 or a .csv file"),
        ([*_SEARCH, "--feature", "height", "-o", "OUT"], 2, "no feature named 'height'"),
        ([*_SEARCH, "--feature", "position", "-o", "OUT"], 2, "position needs a joint or role"),
        ([*_SEARCH, "--feature", "position:wing", "-o", "OUT"], 2, "wing"),
        ([*_SEARCH, "--feature", "position:right_ball@noon", "-o", "OUT"], 2, "no moment named 'noon'"),
        ([*_SEARCH, "--feature", "turn", "-o", "PNG"], 2, "a parametric motion is saved as .npz, got .png"),
        ([*_SEARCH, "--feature", "turn", "-o", "NOWHERE"], 2, "does not exist; create it first"),
        ([*_SEARCH, "--feature", "turn", "-o", "WEB"], 2, "is an input"),
        ([*_SEARCH, "--feature", "turn", "-o", "OUT", "--samples", "-1"], 2, "samples"),
        ([*_SEARCH, "--feature", "turn", "-o", "OUT", "--drop", "1,2,3,4,5"], 2, "at least two examples"),
        (["build", "WEB", "take0", "QUERY", "--feature", "turn", "-o", "OUT"], 2, "--threshold is missing"),
        (["build", "MISSING", "take0", "QUERY", "--feature", "turn", "-o", "OUT"], 2, "together with --threshold"),
        (["build", "WEB", "take0", "--threshold", "0.07", "--feature", "turn", "-o", "OUT"], 2, "START and STOP"),
        (["build", "WEB", "--threshold", "0.07", "--feature", "turn", "-o", "OUT"], 2, "give WEB CLIP START STOP"),
        (
            ["build", "WEB", "take0", "QUERY", "--threshold", "1e-4", "--feature", "turn", "-o", "OUT"],
            1,
            "nearest match is",
        ),
        (["build", "WALK", "--feature", "turn", "-o", "OUT"], 2, "at least two examples, not 1"),
        (["build", "WALK", "WEB", "--feature", "turn", "-o", "OUT"], 2, "w.npz"),
        (["make", "SPACE", "1", "2", "-o", "BVH"], 2, "a target must have 3 numbers"),
        (["make", "SPACE", "1", "2", "up", "-o", "BVH"], 2, "a target must consist of finite numbers, not 'up'"),
        (["make", "SPACE", "1", "2", "nan", "-o", "BVH"], 2, "a target must consist of finite numbers, not 'nan'"),
        (
            ["make", "SPACE", "--refines", "3", "-o", "BVH"],
            2,
            "a target must consist of finite numbers, not '--refines'",
        ),
        (["make", "SPACE", "TARGET", "-o", "SPACE"], 2, "is an input"),
        (["make", "SPACE", "TARGET", "-o", "TEXT"], 2, ".txt"),
        (["make", "SPACE", "TARGET", "-o", "BVH", "--plot", "TEXT"], 2, ".png or .svg"),
        (["make", "SPACE", "TARGET", "-o", "BVH", "--refine", "-3"], 2, "--refine"),
        (["make", "SPACE", "TARGET", "-o", "BVH", "--start", "1,2"], 2, "X,Z,DEGREES such as"),
        (["make", "SPACE", "TARGET", "-o", "BVH", "--start", "1,2,nan"], 2, "X,Z,DEGREES such as"),
        ([*_SEARCH[:3], "-1", "8", *_SEARCH[4:], "--feature", "turn", "-o", "OUT"], 2, "seconds such as 1.2"),
        (["make", "WEB", "TARGET", "-o", "BVH"], 2, "w.npz"),
        (["range", "MISSING"], 2, "no such file"),
        (["range", "SPACE", "--plot", "TEXT"], 2, ".png or .svg"),
    ],
)
def test_bad_use(web, space, walks, tmp_path, capsys, arguments, code, message):
    places = {
        "WEB": [web], "SPACE": [space], "WALK": [walks[0]], "MISSING": [tmp_path / "missing.npz"],
        "OUT": [tmp_path / "out.npz"], "PNG": [tmp_path / "out.png"], "BVH": [tmp_path / "out.bvh"],
        "TEXT": [tmp_path / "out.txt"], "NOWHERE": [tmp_path / "nowhere" / "s.npz"],
        "QUERY": [f"{KICK[0]}f", f"{KICK[1]}f"], "TARGET": _target(),
    }  # fmt: skip
    given = [str(part) for each in arguments for part in places.get(each, [each])]
    before = space.read_bytes()
    assert main(["parametric", *given]) == code
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())
    assert space.read_bytes() == before
