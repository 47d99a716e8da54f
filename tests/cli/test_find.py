"""`marey find`: from a folder of long clips to the kicks in it, and bad input."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from marey.cli.main import main
from marey.io import load_motion, save
from marey.samples import sample
from tests.find_medleys import KICK, takes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clips")
    for clip in takes():
        save(clip, folder / f"{clip.name}.npz")
    return folder


@pytest.fixture(scope="module")
def web(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("web") / "w.npz"
    assert main(["find", "build", str(folder), "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def query():
    """Return the position of a kick in take0, as the command line takes it."""
    return ["take0", f"{KICK[0]}f", f"{KICK[1]}f"]


def test_build_and_info(web, capsys):
    assert main(["find", "info", str(web), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["clips"] == 2
    assert report["names"] == ["take0", "take1"]
    assert {"kick", "walk", "stand"} <= set(report["labels"])
    assert report["size_ratio"] > 0.0
    assert main(["find", "info", str(web)]) == 0
    out = capsys.readouterr().out
    assert "2 clips" in out
    assert "  take0  " in out


def test_markers_heights_and_labels_are_passed_on(folder, tmp_path, capsys):
    out = tmp_path / "w.npz"
    arguments = ["--markers", "upper", "--remove-height", "--label", "kick", "--label", "punch", "--json"]
    assert main(["find", "build", str(folder), "-o", str(out), *arguments]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["written"] == str(out)
    assert (report["markers"], report["remove_height"], report["only"]) == ("upper", True, ["kick", "punch"])


def test_all_kicks_are_found(web, query, capsys):
    assert main(["find", "search", str(web), *query, "--threshold", "0.07", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    kicks = [(clip.name, label.start, label.stop) for clip in takes() for label in clip.labels if label.name == "kick"]
    found = [report["query"], *report["matches"]]
    assert len(found) == len(kicks)
    for name, start, stop in kicks:
        (match,) = [m for m in found if m["clip"] == name and m["start"] < 0.5 * (start + stop) < m["stop"]]
        assert abs(match["start"] - start) <= 5
        assert abs(match["stop"] - stop) <= 5
    distances = [match["distance_m"] for match in report["matches"]]
    assert distances == sorted(distances)
    assert len(report["edges"]) >= len(report["matches"])


def test_times_are_seconds_or_frames(web, query, capsys):
    lists = []
    for times in (query[1:], [f"{KICK[0] / 30:.3f}", f"{KICK[1] / 30:.3f}"]):
        assert main(["find", "search", str(web), "0", *times, "--threshold", "0.07", "--json"]) == 0
        lists.append(json.loads(capsys.readouterr().out)["matches"])
    assert lists[0] == lists[1]


def test_matches_are_listed_cut_and_drawn(web, query, tmp_path, capsys):
    cut, pictures = tmp_path / "cut", [tmp_path / name for name in ("m.png", "g.svg", "t.png")]
    options = ["--cut", str(cut), "--plot", str(pictures[0]), "--plot-graph", str(pictures[1])]
    options += ["--plot-threshold", str(pictures[2]), "--rows", "3"]
    assert main(["find", "search", str(web), *query, "--threshold", "0.07", *options]) == 0
    out = capsys.readouterr().out
    files = sorted(cut.glob("*.bvh"))
    assert len(files) == 6
    assert f"5 matches of take0 {KICK[0] / 30:.2f} to {KICK[1] / 30:.2f} s" in out
    assert f"wrote 6 motions, the query first: {files[0]} to {files[-1].name}" in out
    assert "gap" not in out
    assert len(load_motion(files[0])) == KICK[1] - KICK[0]
    assert files[0].name == f"0_take0_{KICK[0]}-{KICK[1]}.bvh"
    assert pictures[0].read_bytes()[:4] == b"\x89PNG"
    assert pictures[1].read_text().startswith("<?xml")
    assert pictures[2].stat().st_size > 1000


def test_matches_are_dropped_by_number(web, query, capsys):
    whole, part = [], []
    for drop, rows in (([], whole), (["--drop", "1,3"], part)):
        assert main(["find", "search", str(web), *query, "--threshold", "0.07", "--json", *drop]) == 0
        rows += json.loads(capsys.readouterr().out)["matches"]
    left = [(m["clip"], m["start"]) for k, m in enumerate(whole, 1) if k not in (1, 3)]
    assert sorted((m["clip"], m["start"]) for m in part) == sorted(left)


def test_labels_restrict(web, query, capsys):
    assert main(["find", "search", str(web), *query, "--threshold", "0.07", "--label", "walk"]) == 1
    assert "nothing with the label 'walk' within" in capsys.readouterr().err


def test_an_example_from_outside(web, tmp_path, capsys):
    kick = replace(sample("kick", rng=5, fps=60.0, height=1.0).motion, name="mine")
    save(kick, tmp_path / "mine.bvh")
    (label,) = kick.labels
    times = [f"{label.start}f", f"{label.stop}f"]
    assert main(["find", "search", str(web), str(tmp_path / "mine.bvh"), *times, "--threshold", "0.1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["query"]["clip"] == "mine"
    assert len(report["matches"]) == 6
    assert main(["find", "search", str(web), str(tmp_path / "mine.bvh"), "--threshold", "0.2"]) == 0


def test_without_a_threshold_it_only_suggests(web, query, tmp_path, capsys):
    assert main(["find", "search", str(web), *query]) == 2
    out, err = capsys.readouterr()
    assert "nothing was searched" in err
    assert "    5   <- suggested" in out
    assert "a pose held still is" in out
    picture = tmp_path / "t.png"
    assert main(["find", "search", str(web), *query, "--suggest", "--json", "--plot-threshold", str(picture)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["written"] == [str(picture)]
    arguments = [*query, "--threshold", str(report["threshold_m"]), "--json"]
    assert main(["find", "search", str(web), *arguments]) == 0
    assert len(json.loads(capsys.readouterr().out)["matches"]) == report["matches"]
    assert {"threshold_m": report["threshold_m"], "matches": report["matches"]} in report["counts"]


def test_a_cluster_that_is_not_needed_is_reported(web, folder, tmp_path, capsys):
    address = "tcp://127.0.0.1:1"
    out = tmp_path / "again.npz"
    assert main(["find", "build", str(folder), "-o", str(out), "--cluster", address]) == 0
    assert f"everything was cached, so the cluster at {address} was not used" in capsys.readouterr().err
    assert out.read_bytes() == web.read_bytes()
    assert main(["find", "build", str(folder), "-o", str(out)]) == 0
    assert "cluster" not in capsys.readouterr().err


def test_the_grid_is_drawn(web, tmp_path):
    arguments = ["--from", "0f", "--to", "200f", "--second-from", "100f", "--second-to", "250f"]
    assert main(["find", "grid", str(web), "take0", "take1", "-o", str(tmp_path / "g.png"), *arguments]) == 0
    assert (tmp_path / "g.png").read_bytes()[:4] == b"\x89PNG"
    assert main(["find", "grid", str(web), "take0", "-o", str(tmp_path / "own.svg"), "--to", "150f"]) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["build", "EMPTY", "-o", "OUT"], 2, "no"),
        (["build", "MISSING", "-o", "OUT"], 2, "no"),
        (["build", "CLIPS", "-o", "PNG"], 2, "a match web is saved as .npz, got .png"),
        (["build", "CLIPS", "-o", "NOWHERE"], 2, "does not exist; create it first"),
        (["build", "CLIPS", "-o", "OUT", "--markers", "wings"], 2, "wings"),
        (["build", "CLIPS", "-o", "OUT", "--label", "fly"], 2, "fly"),
        (["build", "CLIPS", "-o", "OUT", "--fps", "0"], 2, "fps"),
        (["build", "CLIPS", "-o", "OUT", "--limit", "9"], 2, "--max-distance must be from 1e-05 to 0.65535 meters"),
        (["info", "NOWHERE"], 2, "no such file"),
        (["info", "CLIP"], 2, "marey"),
        (["search", "WEB", "take9", "1", "2", "--threshold", "0.1"], 2, "neither a clip of this match web nor a file"),
        (["search", "WEB", "7", "1", "2", "--threshold", "0.1"], 2, "an index from 0 to 1, not 7"),
        (["search", "WEB", "take0", "1", "--threshold", "0.1"], 2, "give START and STOP for 'take0'"),
        (["search", "WEB", "take0", "--threshold", "0.1"], 2, "give START and STOP"),
        (["search", "WEB", "take0", "1", "9999", "--threshold", "0.1"], 2, "of 'take0', not 1 s to 9999 s"),
        (["search", "WEB", "take0", "1f", "9999f", "--threshold", "0.1"], 2, "(30 fps), not 1 and 9999"),
        (["search", "WEB", "take0", "2", "1", "--threshold", "0.1"], 2, "START must be before STOP"),
        (["search", "WEB", "take0", "30f", "32f", "--threshold", "0.1"], 2, "the query must have at least"),
        (["search", "WEB", "take0", "soon", "2", "--threshold", "0.1"], 2, "seconds such as 1.2"),
        (["search", "WEB", "take0", "-1", "8", "--threshold", "0.1"], 2, "seconds such as 1.2, or a frame such as 36f"),
        (["search", "WEB", "take0", "1", "-2.5", "--threshold", "0.1"], 2, "not '-2.5'"),
        (["search", "WEB", "QUERY", "--thresold", "0.1"], 2, "unknown option '--thresold'; similar: '--threshold'"),
        (["search", "WEB", "QUERY", "--threshold", "0.0001"], 1, "the nearest match is"),
        (["search", "WEB", "QUERY", "--threshold", "-1"], 2, "threshold in meters"),
        (["search", "WEB", "QUERY", "--threshold", "nan"], 2, "threshold in meters"),
        (
            ["search", "WEB", "QUERY", "--threshold", "0.07", "--label", "fly"],
            2,
            "the label 'fly'; there are 'guard', 'kick'",
        ),
        (["search", "WEB", "QUERY", "--threshold", "0.07", "--drop", "0"], 2, "the query, match 0"),
        (["search", "WEB", "QUERY", "--threshold", "0.07", "--drop", "99"], 2, "match indices from 1 to 5"),
        (["search", "WEB", "QUERY", "--threshold", "0.07", "--drop", "one"], 2, "match numbers"),
        (["search", "WEB", "QUERY", "--threshold", "0.07", "--overlap", "1"], 2, "two fractions"),
        (["search", "WEB", "QUERY", "--threshold", "0.07", "--overlap", "0.1,0.5"], 2, "0 <= new <= same < 1"),
        (["search", "WEB", "QUERY", "--threshold", "0.07", "--most", "0"], 2, "at least 1"),
        (["search", "WEB", "QUERY", "--threshold", "0.07", "--plot", "TEXT"], 2, ".png or .svg"),
        (
            ["search", "WEB", "QUERY", "--threshold", "0.07", "--plot", "PNG", "--plot-graph", "PNG"],
            2,
            "two outputs have this name",
        ),
        (["search", "WEB", "QUERY", "--threshold", "0.07", "--cut", "CLIPS"], 2, "is not empty; give --cut a new"),
        (["search", "WEB", "QUERY", "--threshold", "0.07", "--cut", "WEB"], 2, "is a file; give --cut a new"),
        (["search", "WEB", "QUERY", "--cut", "EMPTY"], 2, "require --threshold"),
        (["search", "CLIP", "take0", "1", "2", "--threshold", "0.1"], 2, "marey"),
        (["grid", "WEB", "take0", "take9", "-o", "PNG"], 2, "no clip 'take9'"),
        (["grid", "WEB", "take0", "-o", "PNG", "--from", "9999"], 2, "--from is beyond the end"),
    ],
)
def test_bad_use(web, folder, query, tmp_path, capsys, arguments, code, message):
    (tmp_path / "empty").mkdir()
    places = {
        "EMPTY": tmp_path / "empty", "MISSING": tmp_path / "missing", "CLIPS": folder, "WEB": web,
        "CLIP": folder / "take0.npz", "OUT": tmp_path / "out.npz", "PNG": tmp_path / "out.png",
        "TEXT": tmp_path / "out.txt", "NOWHERE": tmp_path / "nowhere" / "w.npz",
    }  # fmt: skip
    given = []
    for part in arguments:
        given += query if part == "QUERY" else [str(places.get(part, part))]
    assert main(["find", *given]) == code
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err
    assert not any((tmp_path / name).exists() for name in ("out.npz", "out.png", "out.txt"))
    assert not list((tmp_path / "empty").iterdir()) or "build" in arguments
