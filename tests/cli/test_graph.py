"""`marey graph`: from a folder of clips to motion, and bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest

from marey.cli.main import main
from marey.core.placement import find_placement
from marey.io import load_motion, save
from marey.samples import sample
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
    report = json.loads(capsys.readouterr().out)
    assert report["clips"] == 5
    assert report["transitions"] > 100
    assert {each["label"] for each in report["labels"]} == {"walk", "sneak"}
    assert report["labels"][0]["seconds_to"].keys() == {"walk"}
    assert report["components"] == [{"seconds": report["seconds_kept"], "labels": ["sneak", "walk"]}]
    assert report["response_median_s"] > 0.0
    assert main(["graph", "info", str(built)]) == 0
    shown = capsys.readouterr().out
    for words in (
        "nodes, ",
        "edges (mean length 0.",
        "transitions (mean distance",
        "1 connected component: ",
        "s to walk",
        "transition points per second",
    ):
        assert words in shown
    assert "median response time to a new direction" in shown
    assert main(["graph", "info", str(built), "--no-response"]) == 0
    assert "a new direction" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["--threshold", "1%"], "try a --threshold larger than 0.0"),
        (["--similarity", "0.95"], "try a --similarity smaller than 0.95"),
        (["--threshold", "0.2"], None),
    ],
)
def test_a_graph_that_uses_little_of_its_clips_has_a_hint(folder, tmp_path, capsys, options, hint):
    arguments = ["graph", "build", str(folder), "-o", str(tmp_path / "g.npz"), *options]
    main(arguments)
    out = capsys.readouterr().out
    assert ("hint:" in out) == (hint is not None)
    assert hint is None or f"to use more of the clips, {hint}" in out
    assert ("or add mirrored clips with --mirrored" in out) == (hint is not None)
    main([*arguments, "--json"])
    used = json.loads(capsys.readouterr().out)
    assert (bool(used["clips_left_out"]) or used["seconds_kept"] < used["seconds"] / 3.0) == (hint is not None)


def test_a_graph_that_drops_a_clip_has_a_hint(folder, tmp_path, capsys):
    """Even if it uses most of the others."""
    save(sample("kick").motion[:40], tmp_path / "kick.bvh")
    main(["graph", "build", str(folder), str(tmp_path / "kick.bvh"), "-o", str(tmp_path / "g.npz"), "--threshold=0.2"])
    out = capsys.readouterr().out
    assert "kick" in out.partition("not used, because")[2].splitlines()[0]
    assert "hint: to use more of the clips, try a --threshold larger than 0.2 m, or add mirrored clips with" in out


def test_findings_of_one_kind_are_grouped(folder, tmp_path, capsys):
    assert main(["graph", "build", str(folder), "-o", str(tmp_path / "g.npz"), "--threshold", "0.06"]) == 1
    out, err = capsys.readouterr()
    assert "no route from sneak or walk to any other label; raise the threshold" in out
    assert ", built in " in out
    assert err == ""  # without a terminal, neither a progress bar nor an estimate


@pytest.mark.slow("builds several graphs; tests/graph covers each option")
def test_variations_registered_transitions_and_similarity(folder, tmp_path, capsys):
    def built_with(*options):
        code = main(["graph", "build", str(folder), "-o", str(tmp_path / "g.npz"), "--json", *options])
        report = json.loads(capsys.readouterr().out)
        assert report["build_s"] > 0.0
        return code, report

    assert built_with("--threshold", "0.2", "--variations", "2")[1]["clips"] == 9
    plain, more = built_with("--threshold", "0.15"), built_with("--threshold", "0.15", "--registered")
    assert (plain[0], more[0]) == (1, 0)  # only longer transitions lead from walking to sneaking
    assert plain[1]["clips"] == more[1]["clips"] == 5
    assert more[1]["transitions"] > plain[1]["transitions"]
    assert built_with("--similarity", "0.8", "--window", "0.4")[1]["transitions"] > 100


def test_an_estimate_is_printed_once(capsys):
    from marey.cli import graph_build

    now = [0.0]
    report = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_build.time, "monotonic", lambda: now[0])
        progress = graph_build._with_estimate(report.append, 60_000)
        for k in range(1, 11):
            now[0] += 10.0
            progress(k / 10)
    assert report == [k / 10 for k in range(1, 11)]
    assert capsys.readouterr().err == "comparing 60000 frames with each other takes about 1 min 40 s\n"
    assert [graph_build.format_duration(s) for s in (40, 200, 7500)] == ["40 s", "3 min 20 s", "2 h 5 min"]


@pytest.mark.parametrize("command", ["graph", "find"])
def test_a_clip_is_never_written_over_and_results_among_clips_are_named(command, tmp_path, capsys):
    for clip in walks():
        save(clip, tmp_path / f"{clip.name}.npz")
    clip = (tmp_path / "walk1.npz").read_bytes()
    build = [command, "build", str(tmp_path), "-o"]
    assert main([*build, str(tmp_path / "walk1.npz")]) == 2
    assert "this is an input file; choose another name" in capsys.readouterr().err
    assert (tmp_path / "walk1.npz").read_bytes() == clip
    assert main([*build, str(tmp_path / "made.npz")]) == 0
    assert "skipping" not in capsys.readouterr().err
    assert main([*build, str(tmp_path / "made.npz")]) == 0  # it may overwrite its own output
    assert main([*build, str(tmp_path / "other.npz")]) == 0
    assert f"made.npz, which is a {'graph' if command == 'graph' else 'web'}, not a clip" in capsys.readouterr().err


def test_a_walk_ends_at_the_requested_place(built, tmp_path, capsys):
    out = tmp_path / "w.bvh"
    arguments = ["graph", "walk", str(built), "-o", str(out), "--seconds", "3", "--label", "walk", "--json"]
    assert main([*arguments, "--land", "-3,4,30"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["land_shift_m"] <= 0.3
    np.testing.assert_allclose(load_motion(out).travel[-1, [0, 2]], [-3.0, 4.0], atol=1e-4)


def test_a_path_is_landed_on_and_a_circle_avoided(built, tmp_path, capsys):
    path, out = tmp_path / "p.csv", tmp_path / "w.npz"
    path.write_text("0,0\n0,6\n")
    arguments = ["graph", "path", str(built), "--path", str(path), "-o", str(out), "--style", "walk"]
    assert main([*arguments, "--land", "0.05,6"]) == 0
    assert "to end exactly at the target" in capsys.readouterr().out
    np.testing.assert_allclose(load_motion(out).travel[-1, [0, 2]], [0.05, 6.0], atol=1e-6)
    for heading in (40, -90):
        assert main([*arguments, "--land", f"0.1,6,{heading}"]) == 0
        last = load_motion(out)[-1:]
        np.testing.assert_allclose(np.degrees(find_placement(last, 0)[0]), heading, atol=1e-4)
    assert main([*arguments, "--avoid", "0,3,0.3"]) == 0
    assert np.hypot(*(load_motion(out).travel[:, [0, 2]] - [0.0, 3.0]).T).min() > 0.2


def test_places_and_clips_are_reached(built, tmp_path, capsys):
    out = tmp_path / "w.npz"
    arguments = ["graph", "reach", str(built), "-o", str(out)]
    assert main([*arguments, "--at", "2,5", "--label", "walk"]) == 0
    np.testing.assert_allclose(load_motion(out).travel[-1, [0, 2]], [2.0, 5.0], atol=1e-6)
    printed = capsys.readouterr().out
    assert "exactly at the target" in printed
    assert "limbs scaled by at most" in printed
    assert main([*arguments, "--from", "walk0", "--clip", "sneak1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report["cleanup"]) == {"limb_scaling_max", "residue_max"}
    assert (report["parts"][0]["clip"], report["parts"][-1]["clip"]) == ("walk0", "sneak1")
    assert [part["into"] for part in (report["parts"][0], report["parts"][-1])] == [None, None]
    assert report["seconds"] > 2.5
    np.testing.assert_allclose(load_motion(out).travel[0, [0, 2]], 0.0, atol=1e-6)
    assert main([*arguments, "--clip", "walk1", "--at", "1,6,0", "--label", "walk"]) == 0


def test_objectives_are_searched(built, tmp_path, capsys):
    out = tmp_path / "w.npz"
    arguments = ["graph", "search", str(built), "-o", str(out), "--feet", "none"]
    assert main([*arguments, "--speed", "1", "--seconds", "2", "--window", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["complete"]
    assert 60 <= len(load_motion(out)) == report["frames"]
    budget = ["--speed", "1", "--seconds", "2", "--window", "none", "--max-expanded", "20"]
    assert main([*arguments, *budget]) == 0
    assert "complete, a budget ran out before the best walk was known;" in capsys.readouterr().out
    first = load_motion(out).travel[0, [0, 2]]
    (tmp_path / "p.csv").write_text("0,0\n0,3\n")
    start = ["--start", f"0,{-first[0]},{-first[1]},0"]
    for objective in (["--style", "walk"], ["--point", "0,1"], ["--path", str(tmp_path / "p.csv")]):
        limits = ["--max-expanded", "300", "--max-expanded-per-window", "100"]
        assert main([*arguments, *objective, *start, *limits]) in (0, 1)
        assert "partial walks expanded" in capsys.readouterr().out


def test_other_characters_are_avoided(built, tmp_path):
    (tmp_path / "p.csv").write_text("0,0\n0,4\n")
    path = ["graph", "path", str(built), "--path", str(tmp_path / "p.csv"), "--style", "walk", "--feet", "none", "-o"]
    assert main([*path, str(tmp_path / "one.npz")]) == 0
    others = ["--other-characters", str(tmp_path / "one.npz"), "--min-distance", "0.4"]
    assert main([*path, str(tmp_path / "two.npz"), "--avoid", "9,9,1"]) == 0
    # The same path at the same time starts within the minimum distance, so there is no walk.
    assert main([*path, str(tmp_path / "three.npz"), *others]) == 1


def test_registered_transitions_are_added_to_a_graph(built, tmp_path, capsys):
    out = tmp_path / "more.npz"
    register = ["graph", "register", str(built), "-o", str(out), "--threshold", "0.3", "--max-transitions", "4"]
    assert main([*register, "--lengths", "1,0.8", "--json"]) == 0
    more = json.loads(capsys.readouterr().out)["transitions"]
    assert main(["graph", "info", str(built), "--no-response", "--json"]) == 0
    assert 0 < more - json.loads(capsys.readouterr().out)["transitions"] <= 12


def test_all_commands_report_the_same_duration(built, tmp_path, capsys):
    out = tmp_path / "w.npz"
    capsys.readouterr()
    seconds = []
    for arguments in (
        ["graph", "walk", str(built), "-o", str(out), "--seconds", "3"],
        ["info", str(out)],
        ["measure", str(out)],
    ):
        assert main([*arguments, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        report = report[0] if isinstance(report, list) else report
        seconds.append(report.get("seconds") or report["motion"]["seconds"])
    assert seconds == [load_motion(out).duration] * 3


def test_it_is_steered(built, tmp_path):
    out = tmp_path / "w.npz"
    commands = [
        "--command",
        "0:direction=0",
        "--command",
        "0:label=walk",
        "--command",
        "5:direction=90",
        "--command",
        "9:label=sneak",
    ]
    assert main(["graph", "steer", str(built), "-o", str(out), "--seconds", "16", *commands]) == 0
    result = load_motion(out)
    way = result.travel[:, [0, 2]]
    assert len(result) == 480
    np.testing.assert_allclose(way[0], 0.0, atol=0.05)
    assert way[150, 1] > 3.0
    assert way[-1, 0] > way[150, 0] + 2.0
    assert result.labels.mask("walk", 480)[:100].all()
    assert result.labels.mask("sneak", 480)[-30:].all()


def test_the_old_option_for_commands_works_with_a_note(built, tmp_path, capsys):
    new, old = tmp_path / "new.npz", tmp_path / "old.npz"
    for out, option in ((new, "--command"), (old, "--wish")):
        steer = ["graph", "steer", str(built), "-o", str(out), "--seconds", "4"]
        assert main([*steer, option, "0:direction=90", option, "2:direction=0"]) == 0
    assert "--wish is deprecated, use --command" in capsys.readouterr().err
    np.testing.assert_array_equal(load_motion(new).rotations, load_motion(old).rotations)


def test_a_walk_is_written(built, tmp_path, capsys):
    out = tmp_path / "w.bvh"
    assert main(["graph", "walk", str(built), "-o", str(out), "--seconds", "5", "--label", "walk", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    result = load_motion(out)
    assert len(result) == report["frames"] == 150
    assert result.source.provenance[-2]["op"] == "graph walk"


def test_a_path_is_walked_and_drawn(built, tmp_path, capsys):
    path, out, picture = tmp_path / "p.csv", tmp_path / "w.glb", tmp_path / "w.png"
    path.write_text("0,0\n0,5\n1,8\n")
    arguments = ["graph", "path", str(built), "--path", str(path), "-o", str(out), "--plot", str(picture)]
    assert main([*arguments, "--style", "walk@4", "--style", "sneak"]) == 0
    assert "distance from the path: " in capsys.readouterr().out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert np.hypot(*load_motion(out).travel[-1, [0, 2]] - [1, 8]) < 0.5


def test_a_walk_that_ends_far_from_its_path_is_a_finding(built, tmp_path, capsys):
    path = tmp_path / "p.csv"
    path.write_text("0,0\n0,3\n0,2\n")  # no clip turns around on the spot
    arguments = ["graph", "path", str(built), "--path", str(path), "-o", str(tmp_path / "w.bvh")]
    assert main([*arguments, "--seconds", "2"]) == 0  # stops before the end, as requested
    assert "!" not in capsys.readouterr().out
    assert main(arguments) == 1
    assert "  ! the walk ends" in capsys.readouterr().out


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


def test_a_path_that_cannot_be_walked_is_reported(built, tmp_path, capsys):
    (tmp_path / "p.csv").write_text("0,0\n0,0.4\n0.3,0.4\n0.3,0\n0.6,0\n0.6,0.4\n9,0.4\n")
    out = tmp_path / "w.bvh"
    # No character can stay out of a circle that it starts in.
    arguments = ["graph", "path", str(built), "--path", str(tmp_path / "p.csv"), "-o", str(out)]
    assert main([*arguments, "--avoid", "0,0,2"]) == 1
    assert "no walk covers this path of " in capsys.readouterr().err
    assert not out.exists()


def test_a_crowd_is_written(built, tmp_path, capsys):
    arguments = ["graph", "crowd", str(built), "--characters", "3", "--radius", "4", "--seconds", "3"]
    assert main([*arguments, "-o", str(tmp_path / "crowd"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nearest_m"] > 0.3
    assert len(list((tmp_path / "crowd").glob("*.bvh"))) == 3
    (tmp_path / "paths").mkdir()
    for k in range(2):
        (tmp_path / "paths" / f"{k}.csv").write_text(f"{2 * k},0\n{2 * k},5\n")
    assert main([*arguments, "-o", str(tmp_path / "c.glb"), "--paths", str(tmp_path / "paths")]) == 0
    assert "2 characters for 3 s, minimum distance" in capsys.readouterr().out


def test_a_label_goes_into_the_sidecar(tmp_path, capsys):
    save(walks()[0], tmp_path / "a.bvh")
    assert main(["graph", "label", str(tmp_path / "a.bvh"), "start", "--to", "0.5"]) == 0
    assert ("start", 0, 15) in list(load_motion(tmp_path / "a.bvh").labels)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["build", "EMPTY", "-o", "OUT"], 2, "no"),
        (["build", "MISSING", "-o", "OUT"], 2, "no"),
        (["build", "CLIPS", "-o", "OUT", "--threshold", "0.0001"], 1, "the smallest that works is"),
        (["build", "CLIPS", "-o", "OUT", "--threshold", "much"], 2, "meters such as 0.06"),
        (["build", "CLIPS", "-o", "OUT", "--pair", "walk"], 2, "FROM:TO=LIMIT"),
        (["build", "CLIPS", "-o", "OUT", "--pair", "walk:fly=0.1"], 2, "not 'fly'"),
        (["walk", "GRAPH", "-o", "OUT", "--label", "fly"], 2, "no label 'fly'"),
        (["walk", "GRAPH", "-o", "OUT", "--seconds", "0"], 2, "--seconds must be greater than 0 seconds, not 0"),
        (["walk", "GRAPH", "-o", "GRAPH"], 2, "is an input"),
        (["path", "GRAPH", "-o", "OUT"], 2, "either --path FILE or --word WORD"),
        (["path", "GRAPH", "-o", "OUT", "--word", "4-2"], 2, "word must contain only the letters"),
        (
            ["path", "GRAPH", "-o", "OUT", "--word", "no", "--style", "@3"],
            2,
            "LABEL, or LABEL@METERS with more than 0 meters",
        ),
        (["info", "NOWHERE"], 2, "no such file"),
        (
            ["build", "CLIPS", "-o", "OUT", "--similarity", "0.7", "--threshold", "0.1"],
            2,
            "cannot be combined with --similarity",
        ),
        (
            ["build", "CLIPS", "-o", "OUT", "--similarity", "0.7", "--pair", "a:b=1"],
            2,
            "cannot be combined with --similarity",
        ),
        (
            ["build", "CLIPS", "-o", "OUT", "--similarity", "0.7", "--registered"],
            2,
            "cannot be combined with --similarity",
        ),
        (["build", "CLIPS", "-o", "OUT", "--fade", "0.2"], 2, "--fade applies only with --similarity"),
        (["build", "CLIPS", "-o", "OUT", "--weight", "hips"], 2, "NAME=NUMBER with a number of at least 0, such as"),
        (["search", "GRAPH", "-o", "OUT"], 2, "give one objective"),
        (
            ["search", "GRAPH", "-o", "OUT", "--point", "2,4", "--max-error", "-1"],
            2,
            "--max-error must be at least 0 m",
        ),
        (["search", "GRAPH", "-o", "OUT", "--speed", "-1"], 2, "marey: --speed must be at least 0 m/s, not -1\n"),
        (
            ["search", "GRAPH", "-o", "OUT", "--speed", "1", "--seconds", "0"],
            2,
            "--seconds must be greater than 0, not",
        ),
        (
            ["path", "CLIPS/walk0.bvh", "-o", "OUT", "--word", "no"],
            2,
            "a motion graph is saved as .npz, got .bvh (a motion); name a file that holds a motion graph",
        ),
        (["search", "GRAPH", "-o", "OUT", "--clip", "walk0"], 2, "--clip needs a position and direction"),
        (["search", "GRAPH", "-o", "OUT", "--speed", "1", "--step", "3"], 2, "--step must be at most the --window"),
        (["path", "GRAPH", "-o", "OUT", "--word", "no", "--start", "1.5,0,0,0"], 2, "the number of a node first"),
        (["register", "GRAPH", "-o", "OUT", "--lengths", "20", "--threshold", "0.21"], 1, "lower --lengths"),
        (["build", "CLIPS", "-o", "OUT", "--similarity", "7"], 2, "greater than 0 and at most 1"),
        (["build", "CLIPS", "-o", "OUT", "--similarity", "1"], 1, "the largest that works is 0."),
        (["build", "CLIPS", "-o", "OUT", "--variations", "-2"], 2, "--variations"),
        (["build", "CLIPS", "-o", "BVH"], 2, "a motion graph is saved as .npz, got .bvh"),
        (["build", "CLIPS", "-o", "NOWHERE"], 2, "does not exist; create it first"),
        (["walk", "GRAPH", "-o", "OUT", "--land", "3"], 2, "X,Z[,DEG] such as"),
        (["path", "GRAPH", "-o", "OUT", "--word", "no", "--land", "90,90"], 1, "from the target"),
        (["path", "GRAPH", "-o", "OUT", "--word", "no", "--length", "3"], 2, "scale a word with --width"),
        (["path", "GRAPH", "-o", "OUT", "--word", "no", "--plot", "BVH"], 2, "a plot is saved as .png or .svg"),
        (["reach", "GRAPH", "-o", "OUT"], 2, "no target given"),
        (["reach", "GRAPH", "-o", "OUT", "--clip", "walk1", "--at", "1,2"], 2, "also needs a direction"),
        (["reach", "GRAPH", "-o", "OUT", "--clip", "walk9"], 2, "no clip 'walk9' in this graph"),
        (["steer", "GRAPH", "-o", "OUT", "--command", "3:up=1"], 2, "SECONDS:direction=DEGREES"),
        (["steer", "GRAPH", "-o", "OUT", "--command", "1:label=fly"], 2, "no label 'fly'"),
        (["steer", "GRAPH", "-o", "OUT", "--seconds", "0"], 2, "--seconds must be at least one frame of 0.0333 s"),
        (["steer", "GRAPH", "-o", "OUT", "--command", "3:speed=-1"], 2, "--command must be a speed of at least 0"),
        (["steer", "GRAPH", "-o", "OUT", "--command", "30:speed=1"], 2, "--command at 30 s has no effect"),
        (["thin", "GRAPH", "-o", "OUT", "--loss", "100"], 2, "below 1"),
        (["walk", "GRAPH", "-o", "OUT", "--seconds", "1e8"], 2, "--seconds must be at most 86400 (a day)"),
        (["steer", "GRAPH", "-o", "OUT", "--seconds", "nan"], 2, "--seconds must be at most 86400 (a day)"),
        (["build", "CLIPS", "-o", "OUT", "--window", "0"], 2, "--window must be greater than 0 seconds, not 0"),
        (["build", "CLIPS", "-o", "OUT", "--coarse", "0"], 2, "--coarse-step must be at least 1"),
        (["path", "GRAPH", "-o", "OUT", "--path", "TWICE"], 2, "twice.csv:2: the point 0,0 repeats"),
        (["label", "WALK", "(unlabeled)"], 2, "is reserved for frames without a label"),
        (["crowd", "GRAPH", "-o", "OUT_FOLDER", "--paths", "MISSING"], 2, "no such folder"),
        (["crowd", "GRAPH", "-o", "CLIPS"], 2, "already contains .bvh files"),
        (["crowd", "GRAPH", "-o", "BVH"], 2, "a crowd in one file is saved as .glb"),
    ],
)
def test_bad_use(built, folder, tmp_path, capsys, arguments, code, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "twice.csv").write_text("0,0\n0,0\n0,4\n")
    places = {
        "EMPTY": tmp_path / "empty", "MISSING": tmp_path / "nowhere", "CLIPS": folder, "GRAPH": built,
        "TWICE": tmp_path / "twice.csv", "WALK": folder / "walk0.bvh", "OUT_FOLDER": tmp_path / "out",
        "OUT": tmp_path / "out.npz", "BVH": tmp_path / "out.bvh", "NOWHERE": tmp_path / "nowhere" / "out.npz",
    }  # fmt: skip
    before = built.read_bytes()
    assert main(["graph", *(str(places.get(each, each)) for each in arguments)]) == code
    assert message in capsys.readouterr().err
    assert built.read_bytes() == before
    assert not list(tmp_path.glob("**/out*"))
