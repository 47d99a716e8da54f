"""`marey pmg`: building a character step by step or from a recipe, playing it, and bad input."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from marey import Motion, Skeleton
from marey.cli.main import main
from marey.cli.pmg_play import arrival
from marey.control import SampledCharacter
from marey.io import load_motion, save
from marey.pmg import ParametricMotionGraph
from marey.samples import sample

RECIPE = """
name = "small"
fps = 30
samples = [6, 30]
[[nodes]]
name = "walk"
kind = "gait"
mirror = true
[[nodes.clips]]
sample = "walk"
speed = 1.1
turn_rate = [0, 30, 60]
seconds = 4
variation = 0
[[edges]]
from = "walk"
to = "walk"
good = 0.15
bad = 0.2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pmg")


@pytest.fixture(scope="module")
def char(folder):
    recipe, path = folder / "small.toml", folder / "small.json"
    recipe.write_text(RECIPE)
    assert main(["pmg", "build", str(recipe), "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def walks(folder):
    (folder / "walks").mkdir()
    for k, rate in enumerate((0.0, 0.5, 1.0)):
        result = sample("walk", seconds=4.0, turn_rate=rate, speed=1.1, fps=30.0, variation=0.0).motion
        save(result, folder / "walks" / f"w{k}.bvh")
    return folder / "walks"


def test_export_writes_a_page_or_two_files(char, folder, capsys):
    page, clips = folder / "small.html", folder / "game" / "small.glb"
    clips.parent.mkdir()
    assert main(["pmg", "export", str(char), "-o", str(page), "--max-clips", "5", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["clips"] == 5
    assert report["bytes"] == [page.stat().st_size] < [5_000_000]
    assert report["lost_nodes"] == []
    assert main(["pmg", "export", str(char), "-o", str(clips), "--max-clips", "5"]) == 0
    assert "5 clips" in capsys.readouterr().out
    assert SampledCharacter.load(clips).name == "small"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("small.glb", "a .glb and a .json file are written; choose another name for both, such as "),
        ("small.txt", "saved as .html, .htm, .glb or .json"),
    ],
)
def test_export_refuses_wrong_names(char, folder, capsys, name, message):
    before = char.read_bytes()
    assert main(["pmg", "export", str(char), "-o", str(folder / name)]) == 2
    assert message in capsys.readouterr().err
    assert char.read_bytes() == before


def read_report(capsys):
    return json.loads(capsys.readouterr().out)


def test_a_recipe_becomes_a_character_that_is_described(char, capsys):
    capsys.readouterr()
    assert main(["pmg", "info", str(char), "--json"]) == 0
    report = read_report(capsys)
    (node,) = report["nodes"]
    assert node["parameters"][0]["unit"] == "degrees"
    assert node["parameters"][0]["high"] > 50.0
    assert report["edges"][0]["good"] == 0.15
    assert report["dead_ends"] == []
    assert main(["pmg", "info", str(char)]) == 0
    out = capsys.readouterr().out
    assert "small: 1 node, 1 edge" in out
    assert "walk -> walk: good 15.0 cm, bad 20.0 cm" in out


def test_a_character_step_by_step(folder, walks, capsys):
    path = folder / "me.json"
    assert main(["pmg", "new", str(path), "--name", "me"]) == 0
    files = sorted(map(str, walks.glob("*.bvh")))
    add = ["pmg", "add", str(path), "walk", "--clips", *files, "--mirror", "--fps", "30", "--low=-40", "--high", "40"]
    assert main(add) == 0
    assert "! walk is a dead end" in capsys.readouterr().out
    assert main(["pmg", "info", str(path)]) == 1
    before = path.read_bytes()
    picture = folder / "costs.png"
    connect = ["pmg", "connect", str(path), "walk", "walk", "--samples", "5,20", "--plot", str(picture)]
    assert main([*connect, "--good", "1e-9", "--bad", "1e-8"]) == 1
    assert picture.exists()
    assert path.read_bytes() == before
    capsys.readouterr()
    assert main([*connect, "--json"]) == 0
    report = read_report(capsys)
    assert report["from"] == report["to"] == "walk"
    assert report["worst"] <= report["good"] <= report["bad"]
    assert len(report["costs"]) == 21
    assert ParametricMotionGraph.load(path)["walk"].high[0] == pytest.approx(np.radians(40.0))


def test_settings_of_nodes_and_streams_are_options(char, folder, walks, capsys):
    path = folder / "steps.json"
    assert main(["pmg", "new", str(path), "--length", "0.2", "--markers", "lower"]) == 0
    add = ["pmg", "add", str(path), "left", "--clips", str(walks), "--fps", "30", "--steps", "1", "--bandwidth", "5"]
    assert main([*add, "--margin", "0.25"]) == 0
    graph = ParametricMotionGraph.load(path)
    assert (graph.seams.length, graph.seams.markers) == (0.2, "lower")
    assert graph["left"].space.bandwidth.tolist() == [pytest.approx(np.radians(5.0))]
    assert graph["left"].space.margin == 0.25
    walk = ["pmg", "walk", str(char), "--seconds", "2", "-o", str(folder / "placed.npz")]
    more = ["--start", "walk", "--parameters", "10", "--place", "3,1,90", "--cleaning", "max_stretch=0.1,smooth=false"]
    assert main([*walk, *more]) == 0
    begin = load_motion(folder / "placed.npz").travel[0]
    np.testing.assert_allclose(begin[[0, 2]], [3.0, 1.0], atol=0.1)
    capsys.readouterr()
    assert main([*walk, "--cleaning", "stretch=1"]) == 2
    assert "--cleaning has no setting 'stretch'; there are" in capsys.readouterr().err


def test_a_folder_of_clips_and_auto(folder, walks, capsys):
    path = folder / "auto.json"
    main(["pmg", "new", str(path)])
    assert main(["pmg", "add", str(path), "walk", "--clips", str(walks), "--mirror", "--fps", "30"]) == 0
    capsys.readouterr()
    assert main(["pmg", "auto", str(path), "--good", "0.15", "--bad", "0.2", "--samples", "4,20", "--json"]) == 0
    report = read_report(capsys)
    assert [(edge["from"], edge["to"]) for edge in report["edges"]] == [("walk", "walk")]
    assert report["failed"] == report["pruned"] == []


@pytest.mark.filterwarnings("ignore:retargeted")
@pytest.mark.parametrize("more", [(), ("--feature", "turn")])
def test_later_nodes_are_retargeted_onto_the_character_or_onto_a_file(tmp_path, walks, more, capsys):
    """The hips become joint 0 in the file of --retarget, as in clips."""
    files = sorted(map(str, walks.glob("*.bvh")))
    walk = load_motion(files[2])
    body = walk.skeleton
    offsets = 1.1 * np.insert(body.offsets, 0, 0.0, axis=0)
    roles = {role: body.names[joint] for role, joint in body.roles.items()}
    rig = Skeleton(("Carrier", *body.names), np.array([-1, *(body.parents + 1)]), offsets, roles)
    turns = np.insert(walk.rotations, 0, [1.0, 0.0, 0.0, 0.0], axis=1)
    tall = str(tmp_path / "tall.npz")
    save(Motion(rig, 1.1 * walk.root_positions, turns, walk.fps), tall)
    path = str(tmp_path / "duo.json")
    main(["pmg", "new", path])
    add = ["pmg", "add", path]
    assert main([*add, "tall", "--clips", tall, "--mirror", "--fps", "30"]) == 0
    capsys.readouterr()
    assert main([*add, "walk", "--clips", *files]) == 2
    assert "build all nodes onto one skeleton with --retarget" in capsys.readouterr().err
    assert main([*add, "walk", "--retarget", *more, "--clips", *files]) == 0
    assert main([*add, "again", f"--retarget={tall}", *more, "--clips", *files]) == 0
    graph = ParametricMotionGraph.load(path)
    for node in graph.nodes.values():
        own = node.motion(node.middle).skeleton
        assert own.names == body.names
        np.testing.assert_allclose(own.offsets[1:], 1.1 * body.offsets[1:], atol=1e-5)


def test_what_leads_nowhere_is_not_saved_away(folder, walks, capsys):
    path = folder / "none.json"
    main(["pmg", "new", str(path)])
    main(["pmg", "add", str(path), "walk", "--clips", str(walks), "--fps", "30"])
    before = path.read_bytes()
    assert main(["pmg", "auto", str(path), "--good", "1e-9", "--bad", "1e-8", "--samples", "4,10"]) == 1
    assert "walk was a dead end" in capsys.readouterr().out
    assert path.read_bytes() == before


def test_a_space_of_single_actions(folder, capsys):
    examples = folder / "ducks"
    examples.mkdir()
    for height in (1.0, 1.3, 1.6):
        save(sample("duck", height=height, fps=30.0, variation=0.0).motion, examples / f"{height}.bvh")
    files, space = sorted(map(str, examples.glob("*.bvh"))), folder / "duck.npz"
    assert main(["parametric", "build", *files, "--feature", "position:head:y@lowest", "-o", str(space)]) == 0
    path = folder / "ducker.json"
    main(["pmg", "new", str(path)])
    assert main(["pmg", "add", str(path), "duck", "--space", str(space), "--names", "height"]) == 0
    capsys.readouterr()
    assert main(["pmg", "info", str(path), "--json"]) == 1
    assert read_report(capsys)["nodes"][0]["parameters"][0]["name"] == "height"


def test_playing_at_random_and_to_a_point(char, folder, capsys):
    out = folder / "walk.bvh"
    capsys.readouterr()
    assert main(["pmg", "walk", str(char), "--seconds", "4", "--seed", "2", "-o", str(out), "--json"]) == 0
    report = read_report(capsys)
    assert report["frames"] == len(load_motion(out)) == 120
    assert report["worst_fraction_of_bad"] <= 1.0
    assert main(["pmg", "go", str(char), "--to", "2,4", "-o", str(folder / "go.npz"), "--json"]) == 0
    report = read_report(capsys)
    assert report["reached"]
    there = load_motion(folder / "go.npz").travel[-1, [0, 2]]
    assert np.linalg.norm(there - [2.0, 4.0]) < 0.3
    assert main(["pmg", "go", str(char), "--to=-90,90", "--seconds", "2", "-o", str(folder / "go.npz")]) == 1
    assert "did not arrive" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["graph", "boxes", "costs", "lengths"])
def test_pictures(char, folder, kind):
    out = folder / f"{kind}.png"
    assert main(["pmg", "plot", str(char), "-o", str(out), "--kind", kind]) == 0
    assert out.read_bytes()[:4] == b"\x89PNG"


def test_reach(char, folder, capsys):
    out = folder / "reach.svg"
    capsys.readouterr()
    assert main(["pmg", "reach", str(char), "-o", str(out), "--seconds", "2", "--cell", "0.5", "--json"]) == 0
    assert read_report(capsys)["cells_reached"] > 0
    assert out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["new", "{char}"], "already exists; remove it first, or choose another name"),
        (["new", "x.txt"], "a character is saved as .json, got .txt"),
        (["info", "{folder}/nothing.json"], "nothing.json"),
        (["add", "{char}", "run"], "give either --clips or --space"),
        (["add", "{char}", "run", "--clips", "{folder}/gone.bvh"], "gone.bvh"),
        (["add", "{char}", "walk", "--space", "{space}"], "already has a node 'walk'"),
        (
            ["add", "{char}", "w", "--space", "{space}", "--low", "1,2"],
            "--low must have one number for each",
        ),
        (["connect", "{char}", "walk", "wlak"], "no node 'wlak' in 'small'; similar: 'walk'"),
        (["connect", "{char}", "walk", "walk", "--good", "0.2", "--bad", "0.1"], "--good must be at most --bad"),
        (["connect", "{char}", "walk", "walk", "--samples", "1"], "--samples must be two numbers of at least 2"),
        (["build", "{folder}/gone.toml", "-o", "{folder}/x.json"], "gone.toml"),
        (["build", "walkin", "-o", "{folder}/x.json"], "similar: 'walking'"),
        (["build", "walking", "-o", "{folder}/x.txt"], "a character is saved as .json"),
        (["build", "walking", "-o", "{folder}/no/x.json"], "does not exist; create it first"),
        (["go", "{char}", "--to", "3", "-o", "{folder}/x.bvh"], "x,z in meters such as 3,5"),
        (["go", "{char}", "--to", "3,5", "--heading", "nan", "-o", "{folder}/x.bvh"], "a finite number"),
        (["walk", "{char}", "-o", "{char}"], "is an input"),
        (["walk", "{char}", "-o", "{folder}/x.bvh", "--seconds", "nan"], "a finite number, not 'nan'"),
        (["walk", "{char}", "-o", "{folder}/x.bvh", "--seconds", "inf"], "a finite number, not 'inf'"),
        (["connect", "{char}", "walk", "walk", "--part", "some"], "--part requires --good"),
        (["add", "{char}", "walk", "--clips", "{folder}/gone.bvh"], "already has a node 'walk'"),
        (["plot", "{char}", "-o", "{folder}/x.png", "--edge", "a,b"], "--edge requires --kind boxes"),
        (["plot", "{char}", "-o", "{folder}/x.png", "--kind", "boxes", "--edge", "a,b"], "unknown edge 'a,b'"),
    ],
)
def test_wrong_use_gives_one_sentence_and_writes_nothing(char, folder, arguments, message, capsys):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    capsys.readouterr()
    assert main(["pmg", *(each.format(char=char, folder=folder, space=space_of(char)) for each in arguments)]) == 2
    assert message in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_recipe_with_an_unknown_key_writes_nothing(folder, capsys):
    path = folder / "odd.toml"
    path.write_text(RECIPE.replace("mirror", "miror"))
    assert main(["pmg", "build", str(path), "-o", str(folder / "odd.json")]) == 2
    assert "node 'walk': unknown key 'miror'; similar: 'mirror'" in capsys.readouterr().err
    assert not (folder / "odd.json").exists()


@pytest.mark.parametrize(
    "arguments", [["walk"], ["go", "--to", "1,2"], ["reach"], ["auto"], ["plot", "--kind", "graph"],
                  ["plot", "--kind", "lengths"], ["plot", "--kind", "costs"], ["plot", "--kind", "boxes"]],
)  # fmt: skip
def test_a_character_without_nodes(tmp_path, arguments, capsys):
    path, out = tmp_path / "empty.json", tmp_path / ("x.bvh" if arguments[0] in ("walk", "go") else "x.png")
    assert main(["pmg", "new", str(path)]) == 0
    assert main(["pmg", "info", str(path)]) == 0
    name, *more = arguments
    assert main(["pmg", name, str(path), *more, *(["-o", str(out)] if name != "auto" else [])]) == 2
    assert "'empty' has no nodes yet; add a node first" in capsys.readouterr().err
    assert not out.exists()


def test_a_recipe_without_edges_writes_nothing_and_others_report_what_failed(folder, capsys):
    text = RECIPE[: RECIPE.index("[[edges]]")] + "[auto]\ngood = {}\nbad = 0.2\n"
    path, out = folder / "loose.toml", folder / "loose.json"
    path.write_text(text.format(0.0001))
    assert main(["pmg", "build", str(path), "-o", str(out)]) == 1
    err = capsys.readouterr().err
    assert "[auto]: with good = 0.0001 m, no node is left that can continue" in err
    assert not list(folder.glob("loose*.npz"))
    assert not out.exists()
    path.write_text(text.format(0.15))
    capsys.readouterr()
    assert main(["pmg", "build", str(path), "-o", str(out), "--json"]) == 0
    report = read_report(capsys)
    assert report["failed"] == report["pruned"] == []


def space_of(char):
    return char.with_name(json.loads(char.read_text())["nodes"][0]["space"]["file"])


def test_a_given_space_stays(folder, char, capsys):
    space = folder / "mine.walk.npz"
    space.write_bytes(space_of(char).read_bytes())
    before = space.read_bytes()
    assert main(["pmg", "new", str(folder / "mine.json")]) == 0
    for node, given in (("walk", space), ("stroll", space_of(char))):
        assert main(["pmg", "add", str(folder / "mine.json"), node, "--space", str(given)]) == 0
    assert space.read_bytes() == space_of(char).read_bytes() == before
    assert main(["pmg", "walk", str(char), "--seconds", "1", "-o", str(space_of(char))]) == 2
    assert "this is an input file" in capsys.readouterr().err
    assert space_of(char).read_bytes() == before


def test_a_heading_is_met_on_the_first_visit(char, folder, capsys):
    off = np.array([1.0, 0.25, 0.2, 0.28, 0.5, 0.2, 0.2, 0.4, 0.0])
    aside = np.radians([0.0, 50.0, 30.0, 25.0, 0.0, 19.0, 15.0, 0.0, 0.0])
    assert arrival(off, aside) == (6, True)
    assert arrival(off, np.zeros(9)) == (2, True)
    assert arrival(off[:5], aside[:5])[1] is False
    out = folder / "turned.npz"
    capsys.readouterr()
    assert main(["pmg", "go", str(char), "--to", "2,4", "--heading", "30", "-o", str(out), "--json"]) == 0
    report = read_report(capsys)
    assert report["reached"]
    assert report["missed"] <= 0.3
    assert report["heading_off_degrees"] <= 20.0
    assert main(["pmg", "go", str(char), "--to", "0,1", "--heading", "180", "--seconds", "2", "-o", str(out)]) == 1
    assert "did not arrive" in capsys.readouterr().out


def test_a_character_is_steered_by_keys_commands_and_sequences(char, tmp_path, capsys):
    out = tmp_path / "out.npz"
    for options in (["--keys", "w:1 a:5"], ["--command", "1:direction=90", "--seconds", "6"]):
        assert main(["pmg", "steer", str(char), "-o", str(out), *options]) == 0
        path = load_motion(out).travel[:, [0, 2]]
        assert len(path) == 180
        assert np.arctan2(*(path[-1] - path[-16])) == pytest.approx(np.pi / 2, abs=0.5)
        assert "away from" not in capsys.readouterr().out
    assert main(["pmg", "steer", str(char), "-o", str(out), "--keys", "w:1 s:0.2"]) == 0
    assert re.search(r"faces 1[5-8]\d degrees away from the requested direction", capsys.readouterr().out)
    node = next(iter(ParametricMotionGraph.load(char).nodes))
    assert main(["pmg", "steer", str(char), "-o", str(out), "--sequence", f"{node}*2, {node}"]) == 0
    assert 2.0 < load_motion(out).duration < 6.0
    for options, message in (
        (["--sequence", f"{node}*0"], "a sequence must be names of nodes such as"),
        (["--sequence", "fly"], "no node 'fly'"),
        (["--sequence", node, "--look"], "--sequence cannot be combined with"),
    ):
        assert main(["pmg", "steer", str(char), "-o", str(out), *options]) == 2
        assert message in capsys.readouterr().err
