"""`marey graph`: from a folder of clips to motion, and what is wrong with the input."""

from __future__ import annotations

import json

import numpy as np
import pytest

from marey.cli.main import main
from marey.io import load_motion, save
from tests.graph.clips import sneaks, walks


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clips")
    for clip in (*walks(), *sneaks()):
        save(clip, folder / f"{clip.name}.bvh")
    return folder


@pytest.fixture(scope="module")
def built(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "g.npz"
    assert main(["graph", "build", str(folder), "-o", str(path), "--threshold", "0.2"]) == 0
    return path


def test_build_and_info(built, capsys):
    assert main(["graph", "info", str(built), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["clips"] == 5
    assert told["transitions"] > 100
    assert {each["label"] for each in told["labels"]} == {"walk", "sneak"}
    assert main(["graph", "info", str(built), "--response"]) == 0
    assert "a new direction is answered in" in capsys.readouterr().out


def test_a_walk_is_written(built, tmp_path, capsys):
    out = tmp_path / "w.bvh"
    assert main(["graph", "walk", str(built), "-o", str(out), "--seconds", "5", "--label", "walk", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    made = load_motion(out)
    assert len(made) == told["frames"] == 150
    assert made.source.provenance[-2]["op"] == "graph walk"


def test_a_path_is_walked_and_drawn(built, tmp_path, capsys):
    path, out, picture = tmp_path / "p.csv", tmp_path / "w.glb", tmp_path / "w.png"
    path.write_text("0,0\n0,5\n1,8\n")
    arguments = ["graph", "path", str(built), "--path", str(path), "-o", str(out), "--plot", str(picture)]
    assert main([*arguments, "--style", "walk@4", "--style", "sneak"]) == 0
    assert "cm from the path in the mean" in capsys.readouterr().out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert np.hypot(*load_motion(out).travel[-1, [0, 2]] - [1, 8]) < 0.5


def test_a_table_and_pictures(built, tmp_path, capsys):
    assert main(["graph", "table", str(built), "-o", str(tmp_path / "t.npz"), "--directions", "8"]) == 0
    assert "8 directions at each of" in capsys.readouterr().out
    for kind in ("graph", "threshold"):
        assert main(["graph", "plot", str(built), "-o", str(tmp_path / f"{kind}.svg"), "--kind", kind]) == 0
        assert (tmp_path / f"{kind}.svg").read_text().startswith("<?xml")


def test_a_graph_is_thinned(built, tmp_path, capsys):
    assert main(["graph", "thin", str(built), "-o", str(tmp_path / "s.npz"), "--loss", "20", "--json"]) == 0
    before, after = json.loads(capsys.readouterr().out)["transitions"]
    assert 0 < after < before


def test_a_path_that_cannot_be_walked_is_said(built, tmp_path, capsys):
    (tmp_path / "p.csv").write_text("0,0\n0,0.4\n0.3,0.4\n0.3,0\n0.6,0\n0.6,0.4\n9,0.4\n")
    arguments = ["graph", "path", str(built), "--path", str(tmp_path / "p.csv"), "-o", str(tmp_path / "w.bvh")]
    code = main([*arguments, "--beam", "2", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert code == int(told["mean_uncovered_m"] > 0.5 or told["end_distance_m"] > 1.0)


def test_a_crowd_is_written(built, tmp_path, capsys):
    arguments = ["graph", "crowd", str(built), "--figures", "3", "--radius", "4", "--seconds", "3"]
    assert main([*arguments, "-o", str(tmp_path / "crowd"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nearest_m"] > 0.3
    assert len(list((tmp_path / "crowd").glob("*.bvh"))) == 3
    (tmp_path / "paths").mkdir()
    for k in range(2):
        (tmp_path / "paths" / f"{k}.csv").write_text(f"{2 * k},0\n{2 * k},5\n")
    assert main([*arguments, "-o", str(tmp_path / "c.glb"), "--paths", str(tmp_path / "paths")]) == 0
    assert "2 figures for 3 s, never nearer than" in capsys.readouterr().out


def test_a_label_goes_into_the_sidecar(tmp_path, capsys):
    save(walks()[0], tmp_path / "a.bvh")
    assert main(["graph", "label", str(tmp_path / "a.bvh"), "start", "--to", "0.5"]) == 0
    assert ("start", 0, 16) in list(load_motion(tmp_path / "a.bvh").labels)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["build", "EMPTY", "-o", "OUT"], 2, "no"),
        (["build", "MISSING", "-o", "OUT"], 2, "no"),
        (["build", "CLIPS", "-o", "OUT", "--threshold", "0.0001"], 1, "the least that does is"),
        (["build", "CLIPS", "-o", "OUT", "--threshold", "much"], 2, "expected metres such as 0.06"),
        (["build", "CLIPS", "-o", "OUT", "--pair", "walk"], 2, "expected FROM:TO=LIMIT"),
        (["build", "CLIPS", "-o", "OUT", "--pair", "walk:fly=0.1"], 2, "name the label 'fly'"),
        (["walk", "GRAPH", "-o", "OUT", "--label", "fly"], 2, "no label 'fly'"),
        (["walk", "GRAPH", "-o", "OUT", "--seconds", "0"], 2, "a walk lasts at least a frame"),
        (["walk", "GRAPH", "-o", "GRAPH"], 2, "is an input"),
        (["path", "GRAPH", "-o", "OUT"], 2, "either by --path FILE or by --word WORD"),
        (["path", "GRAPH", "-o", "OUT", "--word", "42"], 2, "a word is written with the letters"),
        (["path", "GRAPH", "-o", "OUT", "--word", "no", "--style", "@3"], 2, "expected LABEL or LABEL@METRES"),
        (["info", "MISSING"], 2, "no such file"),
    ],
)
def test_bad_use(built, folder, tmp_path, capsys, arguments, code, message):
    (tmp_path / "empty").mkdir()
    places = {
        "EMPTY": tmp_path / "empty", "MISSING": tmp_path / "nowhere", "CLIPS": folder, "GRAPH": built,
        "OUT": tmp_path / "out.npz",
    }  # fmt: skip
    before = built.read_bytes()
    assert main(["graph", *(str(places.get(each, each)) for each in arguments)]) == code
    assert message in capsys.readouterr().err
    assert built.read_bytes() == before
    assert not (tmp_path / "out.npz").exists()
