"""Characters: nodes of every kind, invalid input, and files."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from marey.control import RandomWalk
from marey.errors import (
    InvalidValue,
    NoResult,
    ParseError,
    UnknownFormat,
    UnknownName,
    UnknownVersion,
    UnreadableFile,
    UnwritableFile,
)
from marey.parametric import ParametricMotion, turn
from marey.pmg import FunctionSpace, GaitSpace, Node, ParametricMotionGraph, request_by_name
from marey.samples import body_skeleton, sample
from tests.pmg.characters import fresh_walker, slider, small_walker, turn_space, two_speed_walker


def glider():
    char = ParametricMotionGraph("glider")
    char.add("glide", slider(body_skeleton()), names=["turn"], low=[-1.0], high=[1.0], units=["rad"])
    char.connect("glide", "glide", n_source=6, n_target=20)
    return char


def test_a_function_can_be_a_node_and_plays():
    char = glider()
    played = char.stream(RandomWalk(0)).record(6.0)
    assert len(played) == 180
    assert played.contacts is None
    assert {label.name for label in played.labels} == {"glide"}
    steps = np.linalg.norm(np.diff(played.travel, axis=0), axis=1)
    assert steps.max() < 1.5 * steps.mean()


def test_paths_of_functions_are_sampled():
    node = glider()["glide"]
    path = node.paths(np.array([[0.5]]))[0]
    assert path[-1, 0] - path[0, 0] == pytest.approx(0.5, abs=0.02)
    np.testing.assert_allclose(path[-1, 1:] - path[0, 1:], [0.0, 1.0], atol=1e-6)


def test_a_parametric_motion_can_be_a_node():
    takes = [
        sample("walk", rng=k, fps=30.0, seconds=3.0, turn_rate=rate, variation=0.0).motion
        for k, rate in enumerate((-0.5, 0.0, 0.5))
    ]
    space = ParametricMotion.build(takes, turn())
    char = ParametricMotionGraph("blended")
    node = char.add("walk", space)
    assert node.names == space.names
    edge = char.connect("walk", "walk", n_source=4, n_target=6)
    assert len(edge) == 4
    assert len(char.stream(RandomWalk(1)).record(4.0)) == 120


def test_ranges_can_be_narrowed():
    char = ParametricMotionGraph("narrow")
    node = char.add("walk", turn_space(), low=[-0.5], high=[0.5])
    assert node.low[0] == -0.5
    np.testing.assert_array_equal(node.project([3.0]), [0.5])
    with pytest.raises(InvalidValue, match="turn must be within"):
        char.add("too far", turn_space(), low=[-9.0], high=[9.0])


def test_commands_become_parameters_by_name():
    node = two_speed_walker()["walk"]
    here = np.array([3.0, 1.0, 1.0])
    found = request_by_name(node, {"direction": -3.0, "speed": 1.0}, here)
    np.testing.assert_allclose(found, [2.0 * np.pi - 6.0, 1.0])
    assert request_by_name(node, {}, here)[1] == pytest.approx(node.middle[1])


def test_samples_are_stratified_and_hold_the_corners():
    node = Node("box", FunctionSpace(lambda _: None, ("a", "b"), np.zeros(2), np.ones(2)), [0.0, 0.0], [1.0, 0.5])
    found = node.samples(20, np.random.default_rng(0), corners=True)
    for corner in (node.low, node.high):
        assert (np.abs(found - corner).max(axis=1) < 1e-12).any()
    plain = (node.samples(20, np.random.default_rng(0)) - node.low) / node.scale
    np.testing.assert_array_equal(np.sort((plain * 20).astype(int), axis=0), np.arange(20)[:, None] * [1, 1])


def test_bad_nodes_are_refused():
    char = fresh_walker()
    with pytest.raises(InvalidValue, match="already has a node 'walk'"):
        char.add("walk", turn_space())
    with pytest.raises(InvalidValue, match="a function with `names=`, `low=` and `high=`"):
        char.add("f", lambda target: None)
    with pytest.raises(InvalidValue, match="must return a Motion, not NoneType"):
        char.add("f", lambda target: None, names="x", low=0.0, high=1.0)
    with pytest.raises(InvalidValue, match="`low` must be at most `high` for parameter 'x', not 2 to 1"):
        FunctionSpace(lambda target: None, ("x",), np.array([2.0]), np.array([1.0]))
    with pytest.raises(InvalidValue, match="'fast' has 60 fps, but 'walk' has 30; resample one of them"):
        char.add("fast", slider(body_skeleton(), fps=60.0), names="turn", low=-1.0, high=1.0)
    with pytest.raises(InvalidValue, match="does not fit at the ends"):
        char.add("short", slider(body_skeleton(), seconds=0.2), names="turn", low=-1.0, high=1.0)
    with pytest.raises(InvalidValue, match="request must be a function"):
        char.add("r", turn_space(), request=3)
    assert list(char.nodes) == ["walk"]


def test_another_skeleton_is_refused():
    from marey.core.skeleton import Skeleton

    other = Skeleton(("hips", "head"), (-1, 0), np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0]]))
    char = fresh_walker()
    with pytest.raises(InvalidValue, match="nodes 'walk' and 'other' needs motions that share a skeleton"):
        char.add("other", slider(other), names="turn", low=-1.0, high=1.0)


def test_dead_ends_are_reported_and_not_played():
    char = fresh_walker()
    char.restrict("left", "walk", [0.5], char["walk"].high)
    char.connect("walk", "walk", n_source=4, n_target=10)
    char.connect("walk", "left", n_source=4, n_target=10)
    assert char.dead_ends() == ("left",)
    with pytest.raises(NoResult, match="no clip can follow 'left'"):
        char.stream(RandomWalk(0))
    char.disconnect("walk", "left")
    with pytest.raises(UnknownName, match="no edge from"):
        char.disconnect("walk", "left")
    with pytest.raises(NoResult, match="has no nodes"):
        ParametricMotionGraph("empty").stream(RandomWalk(0))


def test_a_saved_character_plays_the_same(tmp_path):
    char = small_walker()
    char.save(tmp_path / "walker.json")
    assert (tmp_path / "walker.json").stat().st_size < 50_000
    again = ParametricMotionGraph.load(tmp_path / "walker.json")
    a, b = (each.stream(RandomWalk(4), feet=None).record(10.0) for each in (char, again))
    np.testing.assert_allclose(a.root_positions, b.root_positions, atol=1e-5)
    assert again.edges["walk", "walk"].good == char.edges["walk", "walk"].good


def test_parts_use_one_file(tmp_path):
    char = fresh_walker()
    char.restrict("left", "walk", [0.5], char["walk"].high)
    char.save(tmp_path / "c.json")
    assert len(list(tmp_path.iterdir())) == 2
    assert re.fullmatch(r"c\.walk\.[0-9a-f]{12}\.npz", space_file(tmp_path / "c.json").name)
    assert ParametricMotionGraph.load(tmp_path / "c.json")["left"].parent == "walk"


def space_file(path):
    """Return the file of a character's only space."""
    (name,) = {node["space"]["file"] for node in json.loads(path.read_text())["nodes"]}
    return path.with_name(name)


def everything(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_loading_and_saving_changes_nothing(tmp_path):
    turn_space().save(tmp_path / "a.npz")
    GaitSpace.load(tmp_path / "a.npz").save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    char = fresh_walker()
    char.save(tmp_path / "c.json")
    (tmp_path / "copy.json").write_bytes((tmp_path / "c.json").read_bytes())
    before = everything(tmp_path)
    char.save(tmp_path / "c.json")
    for name in ("c", "copy"):
        again = ParametricMotionGraph.load(tmp_path / f"{name}.json")
        again.connect("walk", "walk", n_source=4, n_target=8)
        again.save(tmp_path / f"{name}.json")
        ParametricMotionGraph.load(tmp_path / f"{name}.json")
    after = everything(tmp_path)
    assert set(after) == set(before)
    assert {name for name in after if after[name][0] != before[name][0]} == {"c.json", "copy.json"}
    assert {name for name in after if after[name][1] != before[name][1]} == {"c.json", "copy.json"}


def test_a_character_takes_its_spaces_along(tmp_path):
    fresh_walker().save(tmp_path / "c.json")
    char = ParametricMotionGraph.load(tmp_path / "c.json")
    (tmp_path / "other").mkdir()
    for path in (tmp_path / "other" / "c.json", tmp_path / "d.json"):
        char.save(path)
        assert space_file(path).read_bytes() == space_file(tmp_path / "c.json").read_bytes()
    old = space_file(tmp_path / "d.json")
    old.unlink()
    char.save(tmp_path / "d.json")
    assert ParametricMotionGraph.load(tmp_path / "d.json").nodes.keys() == {"walk"}
    char.remove("walk")
    char.add("walk", two_speed_walker()["walk"].space)
    char.save(tmp_path / "d.json")
    assert ParametricMotionGraph.load(tmp_path / "d.json")["walk"].names == ("turn", "speed")
    assert ParametricMotionGraph.load(tmp_path / "c.json")["walk"].names == ("turn",)
    assert not old.exists(), "no character needs it anymore"


def test_files_of_others_are_neither_replaced_nor_removed(tmp_path):
    path, clip = tmp_path / "c.json", tmp_path / "c.walk.npz"
    clip.write_bytes(b"a clip")
    fresh_walker().save(path)
    first = space_file(path)
    (tmp_path / "copy.json").write_bytes(path.read_bytes())
    foreign = tmp_path / "c.walk.0123456789ab.npz"
    foreign.write_bytes(b"not made by marey")
    char = ParametricMotionGraph("c")
    char.add("walk", two_speed_walker()["walk"].space)
    char.save(path)
    assert clip.read_bytes() == b"a clip"
    assert foreign.exists()
    assert first.exists(), "copy.json needs it"
    ParametricMotionGraph.load(tmp_path / "copy.json")
    second = space_file(path)
    (tmp_path / "me.toml").write_text(f'space = "{second.name}"')
    fresh_walker().save(path)
    assert second.exists(), "a recipe needs it"
    second.write_bytes(b"changed")
    first.write_bytes(b"changed by hand")
    (tmp_path / "copy.json").unlink()
    fresh_walker().save(path)
    assert first.read_bytes() == b"changed by hand"
    assert space_file(path).name == first.name.replace(".npz", "-2.npz")
    ParametricMotionGraph.load(path)


def test_a_failure_leaves_the_character_that_was_there(tmp_path, monkeypatch):
    char = fresh_walker()
    char.save(tmp_path / "c.json")
    char.add("fast", two_speed_walker()["walk"].space)
    char.add("slow", replace(turn_space(), sources=()))
    before = everything(tmp_path)
    whole = GaitSpace.save

    def fails(space, path):
        if not space.sources:
            raise UnwritableFile("cannot be written (no space left)", path=path)
        whole(space, path)

    monkeypatch.setattr(GaitSpace, "save", fails)
    with pytest.raises(UnwritableFile, match="no space left"):
        char.save(tmp_path / "c.json")
    assert everything(tmp_path) == before


def test_rotations_in_files_must_be_unit_quaternions(tmp_path):
    bent = replace(turn_space(), turns=1.1 * turn_space().turns)
    bent.save(tmp_path / "bent.npz")
    with pytest.raises(ParseError, match="must be unit quaternions, but their lengths differ from 1 by up to 0.1"):
        GaitSpace.load(tmp_path / "bent.npz")


def test_ranges_are_printed_in_degrees():
    char = fresh_walker()
    with pytest.raises(InvalidValue, match=r"turn must be within -\d\d\.\d+ to \d\d\.\d+ degrees, not 0 to 171.9"):
        char.add("wide", turn_space(), low=[0.0], high=[3.0])
    with pytest.raises(InvalidValue, match=r"`low` must be at most `high` .*, not 57.2958 to 0 degrees"):
        char.add("turned", turn_space(), low=[1.0], high=[0.0])
    assert "degrees" in repr(char["walk"])


def test_functions_are_given_again(tmp_path):
    char = glider()
    char.save(tmp_path / "glider.json")
    with pytest.raises(
        UnknownName, match="'glide' is a Python function, which cannot be saved; pass it again: spaces="
    ):
        ParametricMotionGraph.load(tmp_path / "glider.json")
    again = ParametricMotionGraph.load(tmp_path / "glider.json", spaces={"glide": char["glide"].space})
    assert len(again.stream(RandomWalk(0)).record(1.0)) == 30


def test_bad_files_are_refused(tmp_path):
    char = small_walker()
    with pytest.raises(UnknownFormat, match=r"saved as \.json, got \.txt; change the file name"):
        char.save(tmp_path / "walker.txt")
    path = tmp_path / "walker.json"
    with pytest.raises(UnreadableFile, match="no such file"):
        ParametricMotionGraph.load(path)
    char.save(path)
    report = json.loads(path.read_text())
    for change, kind, text in (
        ({"format": "other"}, UnknownVersion, "expected a character"),
        ({"version": 99}, UnknownVersion, "this version of marey reads 1"),
        ({"nodes": [{"name": "walk"}]}, ParseError, "is not a valid character .*; build it again"),
        ({"nodes": []}, UnknownName, "no node 'walk'"),
    ):
        path.write_text(json.dumps(report | change))
        with pytest.raises(kind, match=text):
            ParametricMotionGraph.load(path)
    path.write_text("{")
    with pytest.raises(ParseError, match="not valid JSON"):
        ParametricMotionGraph.load(path)
    path.write_text(json.dumps(report))
    small = two_speed_walker()["walk"].space
    small.save(space_file(path))
    with pytest.raises(ParseError, match="has changed since 'walker.json' was saved"):
        ParametricMotionGraph.load(path)
