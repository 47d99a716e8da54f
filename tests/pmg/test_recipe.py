"""Recipes: their content, the report of each mistake, and that the same recipe gives the same character."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.errors import MareyWarning, NoResult, ParseError, UnreadableFile
from marey.io import save
from marey.parametric import ParametricMotion
from marey.pmg import REQUESTS, ActionSpace, GaitSpace, build_recipe, read_recipe, shipped_recipes
from marey.pmg.recipe_clips import load_clips
from marey.samples import sample

DUCK = """
name = "ducker"
fps = 30
samples = [4, 20]
[[nodes]]
name = "duck"
kind = "parametric"
parameters = ["height"]
[[nodes.clips]]
sample = "duck"
height = [1.0, 1.3, 1.6]
variation = 0
[[edges]]
from = "duck"
to = "duck"
good = 0.05
bad = 0.08
"""


def written(folder, text, name="me.toml"):
    path = folder / name
    path.write_text(text)
    return path


def test_shipped_recipes_are_valid_and_have_a_description():
    shipped = shipped_recipes()
    walkers = {"walking", "stopping", "stepping", "right-turner", "running", "walk-run"}
    assert set(shipped) == walkers | {"cartwheeling", "boxing", "everyday"}
    assert all(shipped.values())
    for name in shipped:
        recipe = read_recipe(name)
        assert recipe.nodes
        assert all(node.request in REQUESTS for node in recipe.nodes)


def test_the_same_recipe_gives_the_same_character(tmp_path):
    path = written(tmp_path, DUCK)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        build_recipe(read_recipe(path)).save(tmp_path / folder / "c.json")
    a, b = ({path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()} for folder in "ab")
    assert a == b


def test_a_character_from_files_next_to_the_recipe(tmp_path):
    (tmp_path / "walks").mkdir()
    for k, rate in enumerate((-0.6, 0.0, 0.6)):
        result = sample("walk", seconds=4.0, turn_rate=rate, speed=1.1, fps=60.0, variation=0.0).motion
        save(result, tmp_path / "walks" / f"w{k}.bvh")
    text = """
name = "walker"
fps = 30
samples = [4, 20]
[[nodes]]
name = "walk"
kind = "gait"
mirror = true
low = -20
high = 20
[[nodes.clips]]
files = ["walks/*.bvh"]
[auto]
good = 0.15
bad = 0.2
"""
    char = build_recipe(read_recipe(written(tmp_path, text)))
    node = char["walk"]
    assert char.fps == 30.0
    np.testing.assert_allclose(np.degrees([node.low[0], node.high[0]]), [-20.0, 20.0])
    assert ("walk", "walk") in char.edges
    (tmp_path / "walks" / "w0.bvh").rename(tmp_path / "walks" / "w0.BVH")
    (tmp_path / "walks" / "notes.txt").write_text("not a clip")
    ParametricMotion.build([sample("duck").motion] * 2, values=[0, 1], samples=0).save(tmp_path / "walks" / "s.npz")
    anything = build_recipe(read_recipe(written(tmp_path, text.replace("walks/*.bvh", "walks/*"))))
    np.testing.assert_allclose(anything["walk"].low, node.low)
    (tmp_path / "walks" / "w0.BVH").unlink()
    missing = text.replace("walks/*.bvh", "walks/w0.bvh")
    with pytest.raises(
        UnreadableFile, match=r"me.toml: node 'walk', clips 1, files: no file 'walks/w0.bvh' in the recipe's folder"
    ):
        build_recipe(read_recipe(written(tmp_path, missing)))


def test_a_node_from_a_saved_space(tmp_path):
    motions = [sample("duck", height=height, fps=30.0, variation=0.0).motion for height in (1.0, 1.3, 1.6)]
    ParametricMotion.build(motions, "position:head:y@lowest", samples=0).save(tmp_path / "duck.npz")
    head, tail = DUCK.split("parameters")
    text = head + 'space = "duck.npz"\nnames = ["height"]\n' + tail[tail.index("[[edges]]") :]
    char = build_recipe(read_recipe(written(tmp_path, text)))
    assert isinstance(char["duck"].space, ActionSpace)
    assert char["duck"].names == ("height",)
    with pytest.raises(
        UnreadableFile, match=r"me.toml: node 'duck': space must be a file in .*, which has no 'duk.npz'"
    ):
        build_recipe(read_recipe(written(tmp_path, text.replace("duck.npz", "duk.npz"))))


def test_a_part_uses_the_same_space_with_other_ranges(tmp_path):
    text = DUCK + '[[nodes]]\nname = "low"\nkind = "part"\nof = "duck"\nlow = 1.0\nhigh = 1.2\n'
    text = text.replace("[[edges]]", "#").replace("from =", "#").replace("to =", "#")
    text = text.replace("good = 0.05\nbad = 0.08", "") + "[auto]\n"
    char = build_recipe(read_recipe(written(tmp_path, text)))
    assert char["low"].space is char["duck"].space
    assert char["low"].high[0] == 1.2


def test_clips_of_one_step_for_faster_answers(tmp_path):
    node = """
[[nodes]]
name = "SIDE"
kind = "gait"
steps = 1
side = "SIDE"
mirror = true
[[nodes.clips]]
sample = "walk"
speed = 1.1
turn_rate = [0, 40]
seconds = 4
variation = 0
"""
    text = 'name = "stepper"\nfps = 30\nsamples = [4, 20]\n[seams]\nlength = 0.2\n'
    text += node.replace("SIDE", "left") + node.replace("SIDE", "right")
    for a, b in (("left", "right"), ("right", "left")):
        text += f'[[edges]]\nfrom = "{a}"\nto = "{b}"\n'
    char = build_recipe(read_recipe(written(tmp_path, text)))
    assert set(char.edges) == {("left", "right"), ("right", "left")}
    assert char["left"].motion([0.0]).duration < 1.2
    with pytest.raises(ParseError, match=r"steps must be 1 \(a step of one side\) or 2 \(a full cycle\), not 3"):
        read_recipe(written(tmp_path, text.replace("steps = 1", "steps = 3", 1)))


def test_clips_are_cut_by_labels_and_by_passings_of_the_feet(tmp_path):
    text = DUCK.replace('sample = "duck"', 'sample = "duck"\nfrom = "duck:start-0.2"\nto = "duck:end+0.1"')
    recipe = read_recipe(written(tmp_path, text))
    whole = sample("duck", height=1.0, fps=30.0, variation=0.0, rng=0).motion
    label = next(iter(whole.labels))
    first = load_clips(recipe, recipe.nodes[0].clips)[0].motion
    assert len(first) == label.stop - label.start + 3 + 6 + 1
    np.testing.assert_array_equal(first.rotations[0], whole.rotations[label.start - 6])
    walks = read_recipe("everyday")
    stop = next(node for node in walks.nodes if node.name == "stop")
    lengths = [clip.motion.duration for clip in load_clips(replace(walks, fps=30.0), stop.clips[:1])]
    assert 2.0 < min(lengths) <= max(lengths) < 4.5


@pytest.mark.parametrize(
    ("old", "new", "report"),
    [
        ("samples =", "sampels =", "the recipe: unknown key 'sampels'; similar: 'samples'"),
        ("parameters =", "paramters =", "node 'duck': unknown key 'paramters'; similar: 'parameters'"),
        ('parameters = ["height"]', "", "or 'parameters' (of samples), got neither"),
        ('sample = "duck"', 'file = ["duck.bvh"]', "node 'duck', clips 1: unknown key 'file'; similar: 'files'"),
        ('sample = "duck"', 'sampel = "duck"', "node 'duck', clips 1: unknown key 'sampel'; similar: 'sample'"),
        ('sample = "duck"', "", "node 'duck', clips 1: 'sample' is missing; give either 'sample' or 'files'"),
        ("[[nodes.clips]]", "mirorr = true\n[[nodes.clip]]", "node 'duck': unknown key 'mirorr'; similar: 'mirror'"),
        ("[[nodes.clips]]", "[[nodes.clip]]", "node 'duck': unknown key 'clip'; similar: 'clips'"),
        ("[[nodes.clips]]", "[[clips]]", "the recipe: clips belongs to a node; write [[nodes.clips]]"),
        ("[[nodes.clips]]", "[nodes.clips]", "node 'duck': clips must be tables, written [[nodes.clips]]"),
        ('from = "duck"', 'form = "duck"', "edge 1: unknown key 'form'; similar: 'from'"),
        ("[[edges]]", "[[edgse]]", "the recipe: unknown key 'edgse'; similar: 'edges'"),
        ("height = [", "heigth = [", "node 'duck', clips 1: unknown key 'heigth'; similar: 'height'"),
        ("good = 0.05", "good = 0.5", "'duck': 'good' must be at most 'bad', but they are 0.5 m and 0.08 m; swap"),
        ("good = 0.05", "good = -1", "good must be a number greater than 0, not -1"),
        ('to = "duck"', 'to = "dcuk"', "edge 'duck' to 'dcuk': to: no node 'dcuk'; similar: 'duck'; nodes: 'duck'"),
        ('kind = "parametric"', 'kind = "parmetric"', "kind must be one of 'gait', 'parametric', 'part'"),
        ('sample = "duck"', 'sample = "dukc"', "sample: no sample 'dukc'; similar: 'duck'"),
        ("height = [1.0,", "height = [0.1,", "height must be from 0.85 to 1.65 m, not 0.1"),
        ("variation = 0", "variation = {from = 0, to = 1, count = 1}", "count must be from 2 to 10000, not 1"),
        ("fps = 30", "fps = true", "fps must be a number greater than 0, not True"),
        ("fps = 30", "seed = 1.5", "seed must be a whole number of at least 0, not 1.5"),
        ("samples = [4, 20]", "samples = [4]", "samples must be two whole numbers from 2 to 10000"),
        ('name = "ducker"', "", "the recipe: name is missing"),
        ('name = "ducker"', 'nmae = "ducker"\n[[nodes]]\nnam = "x"', "the recipe: unknown key 'nmae'; similar: 'name'"),
        ('name = "ducker"', 'nmae = "ducker"', "the recipe: unknown key 'nmae'; similar: 'name'"),
        ('variation = 0', 'from = "duck-0.2"', "from must be seconds, or a moment such as 'walk:start-0.3'"),
        ("[[edges]]", "[edges]", "edges must be tables, written"),
        ("bad = 0.08", 'part = "x"\nbad = 0.08\nrequest = 1', "unknown key 'request'"),
        ('parameters = ["height"]', 'parameters = ["height"]\nrequest = "by nmae"', "request must be one of 'by name'"),
        ('name = "ducker"', "name = ducker", "is not valid TOML"),
    ],
)  # fmt: skip
def test_each_mistake_is_reported_with_file_and_key(tmp_path, old, new, report):
    assert old in DUCK
    with pytest.raises(ParseError) as caught:
        read_recipe(written(tmp_path, DUCK.replace(old, new, 1)))
    assert report in str(caught.value)
    assert "me.toml: " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_thresholds_in_centimeters_cause_a_warning(tmp_path):
    for old, new in (
        ("good = 0.05\nbad = 0.08", "good = 5\nbad = 8"),
        ("[[edges]]", "[auto]\ngood = 5\nbad = 8\n[[edges]]"),
    ):
        assert old in DUCK
        with pytest.warns(MareyWarning, match=r"me.toml: .*good is in meters, .*; for 5 cm write 0.05"):
            build_recipe(read_recipe(written(tmp_path, DUCK.replace(old, new, 1))))


def test_mistakes_that_only_building_finds(tmp_path):
    cases = {
        ("variation = 0", 'from = "sit:start"'): "no label 'sit'; labels: 'duck'",
        ("variation = 0", "from = 0.5\nto = 0.2"): "'from' must come before 'to'",
        ('["height"]', '["heigth"]'): "sample 'duck' has no numeric parameter 'heigth'; it has height",
        (
            '["height"]',
            '["height"]\nlow = [1.0, 2.0]\nhigh = 3.0',
        ): "low must have one number for each of 1 parameters, not 2",
    }
    for (old, new), report in cases.items():
        with pytest.raises(ParseError, match=report) as caught:
            build_recipe(read_recipe(written(tmp_path, DUCK.replace(old, new, 1))))
        assert "node 'duck'" in str(caught.value)
    with pytest.raises(NoResult, match=r"edge 'duck' to 'duck': no edge from 'duck' to 'duck'.*raise good"):
        build_recipe(
            read_recipe(written(tmp_path, DUCK.replace("variation = 0", "").replace("good = 0.05", "good = 1e-9")))
        )


def test_no_such_recipe():
    with pytest.raises(UnreadableFile, match="neither a .toml file nor a built-in recipe.*'boxing'"):
        read_recipe("boxng")
    with pytest.raises(UnreadableFile, match=r"nowhere.toml"):
        read_recipe("nowhere.toml")


@pytest.mark.filterwarnings("ignore:retargeted")
def test_files_of_several_people_become_one_character(tmp_path):
    """`retarget` brings the files of all nodes onto one skeleton, the most frequent or that of a file."""
    walk = sample("walk", seconds=4.5, fps=30.0, variation=0.0).motion
    body = walk.skeleton
    tall = replace(walk, skeleton=replace(body, offsets=1.1 * body.offsets), root_positions=1.1 * walk.root_positions)
    for name, motion in (("a", walk), ("b", walk), ("tall", tall)):
        save(motion, tmp_path / f"{name}.bvh")
    text = 'name = "p"\nfps = 30\nsamples = [2, 4]\n[auto]\ngood = 0.5\nbad = 0.6\n'
    for name, files in (("walk", '"a.bvh", "tall.bvh"'), ("other", '"b.bvh"')):
        text += f'[[nodes]]\nname = "{name}"\nkind = "gait"\n[[nodes.clips]]\nfiles = [{files}]\n'
    with pytest.raises(ParseError, match="retarget them onto one skeleton with retarget = true"):
        build_recipe(read_recipe(written(tmp_path, text)))
    for retarget, size in (("true", 1.0), ('"tall.bvh"', 1.1)):
        graph = build_recipe(read_recipe(written(tmp_path, f"retarget = {retarget}\n{text}")))
        np.testing.assert_allclose(graph["walk"].space([0.0]).skeleton.offsets, size * body.offsets, atol=1e-5)
    with pytest.raises(ParseError, match="retarget must be true, false or a string, not 3"):
        read_recipe(written(tmp_path, f"retarget = 3\n{text}"))


@pytest.mark.filterwarnings("ignore:retargeted")
@pytest.mark.parametrize(
    "first", ['space = "walk.npz"', 'clips = [{ sample = "walk", turn_rate = [0, 30], seconds = 4 }]']
)
def test_files_follow_the_skeleton_of_saved_spaces_and_samples(tmp_path, first):
    walks = [sample("walk", seconds=4.0, turn_rate=rate, fps=30.0, variation=0.0).motion for rate in (0.0, 0.5)]
    body = walks[0].skeleton
    GaitSpace.build(walks).save(tmp_path / "walk.npz")
    for k, walk in enumerate(walks):
        tall = replace(body, offsets=1.1 * body.offsets)
        save(replace(walk, skeleton=tall, root_positions=1.1 * walk.root_positions), tmp_path / f"tall{k}.bvh")
    text = 'name = "p"\nfps = 30\nretarget = true\nsamples = [2, 4]\n[auto]\ngood = 0.5\nbad = 0.6\n'
    for name, of in (("tall", '[[nodes.clips]]\nfiles = ["tall*.bvh"]'), ("first", first)):
        text += f'[[nodes]]\nname = "{name}"\nkind = "gait"\n{of}\n'
    graph = build_recipe(read_recipe(written(tmp_path, text)))
    np.testing.assert_allclose(graph["tall"].space([0.1]).skeleton.offsets, body.offsets, atol=1e-5)
