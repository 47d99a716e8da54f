"""The Characters panel: characters and gaze maps made over a real socket, saved, loaded, and refused if invalid."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import marey
from marey.layer import GazeMap
from marey.pmg import ParametricMotionGraph
from marey.pmg.walker import sample_walks
from marey.studio.panels.author import _connection_note
from tests.studio.client import Failed, FakePage, Server


@pytest.fixture(scope="module")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three walks on curves, 60 Hz; and links that lead out of the folder."""
    outside = tmp_path_factory.mktemp("outside")
    folder = tmp_path_factory.mktemp("takes")
    for k, walk in enumerate(sample_walks(n_turns=3, speeds=(1.1,), fps=30.0)):
        marey.save(replace(walk, name=f"walk{k}"), folder / f"walk{k}.bvh")
    (outside / "space.npz").write_bytes(b"secret")
    (outside / "c.json").write_text('{"format":"marey.pmg"}', encoding="utf-8")
    (folder / "out.npz").symlink_to(outside / "space.npz")
    (folder / "link.json").symlink_to(outside / "c.json")
    report = {"format": "marey.pmg", "version": 1, "nodes": [{"space": {"kind": "gait", "file": "out.npz"}}]}
    (folder / "hostile.json").write_text(json.dumps(report), encoding="utf-8")
    (folder / "other.json").write_text('{"format": "of nobody"}', encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def author(takes: Path, built: Path) -> Iterator[FakePage]:
    """A page with the walks open and a node made of them; the tests below do not change these."""
    server = Server(takes, built)
    with FakePage(server) as page:
        motions = [page.do("open", path=f"walk{k}.bvh")["motion"] for k in range(3)]
        page.motions = motions  # type: ignore[attr-defined]
        page.server = server  # type: ignore[attr-defined]
        result = page.do("author_add", name="walk", motions=motions, settings={"mirror": True})
        assert result["note"].startswith("'walk' was built from ")
        yield page
    server.stop()


def test_a_node_is_built_from_clips_and_reports_its_ranges(author: FakePage) -> None:
    (node,) = author.do("author_show")["nodes"]
    (turn,) = node["ranges"]
    assert (node["name"], turn["name"], turn["unit"], node["request"]) == ("walk", "turn", "rad", "by name")
    assert turn["low"] == pytest.approx(-turn["high"], rel=0.05)
    assert math.radians(60.0) < turn["high"] < math.radians(120.0)
    assert node["stuck"]
    info = author.do("author_motion", node="walk", parameters=[0.5])
    assert info["seconds"] == pytest.approx(node["seconds"], rel=0.3)
    again = author.do("author_motion", node="walk", parameters=[-0.5], result=info["motion"])
    assert again["motion"] == info["motion"]
    assert again["revision"] > info["revision"]
    assert again["history"] == ["updated"]
    again = author.do("author_motion", node="walk", parameters=[0.2], result=info["motion"])
    assert (again["history"], again["undo"]) == (["updated (2 times)"], 2)
    again = author.do("author_motion", node="walk", parameters=[0.3], result=info["motion"], merge_undo=True)
    assert again["undo"] == 2, "what a slider does in one move is undone as one"


def test_costs_are_drawn_and_thresholds_tried_as_the_library_has_it(author: FakePage, takes: Path) -> None:
    chart = author.do("author_compare", source="walk", target="walk", settings={"n_source": 12, "n_target": 40})
    assert author.progress, "comparing tells how far it is"
    assert sum(chart["counts"]) <= 12 * 40
    assert chart["best"] == sorted(chart["best"])
    assert chart["good"] >= chart["best"][-1] * 0.999
    tried = author.do("author_try", source="walk", target="walk", good=chart["good"], bad=chart["bad"], sample=3)
    costs = np.array(tried["costs"])
    points = np.array(tried["points"])[:, 0]
    inside = (points >= tried["low"][0]) & (points <= tried["high"][0])
    assert not (inside & (costs > chart["bad"])).any(), "no bad motion is in the box"
    assert (inside & (costs <= chart["good"])).any()
    assert tried["stuck"] == 0
    low = author.do("author_try", source="walk", target="walk", good=0.8 * chart["best"][-1], bad=0.3)
    assert low["stuck"] > 0
    advised = re.search(
        r"with turn .* degrees, have no transition .*: raise “Accept costs below” to ([0-9.]+) cm", low["note"]
    )
    assert advised, low["note"]
    good = float(advised[1]) / 100.0
    assert author.do("author_try", source="walk", target="walk", good=good, bad=0.3)["stuck"] == 0
    for do in ("author_try", "author_connect"):
        with pytest.raises(Failed, match="must not exceed “Reject costs above”, got 20 and 10 cm"):
            author.do(do, source="walk", target="walk", good=0.2, bad=0.1)
        with pytest.raises(Failed, match="must be finite and greater than 0, not -1 and 10 cm"):
            author.do(do, source="walk", target="walk", good=-0.01, bad=0.1)
    with pytest.raises(Failed, match=r"^NoResult: \d+ of 12 motions of 'walk', with turn .*to [0-9.]+ cm"):
        author.do("author_connect", source="walk", target="walk", good=0.8 * chart["best"][-1], bad=0.3)

    result = author.do("author_connect", source="walk", target="walk", good=chart["good"], bad=chart["bad"])
    (edge,) = result["edges"]
    assert result["note"] == "Connected 'walk' → 'walk'."
    assert not result["nodes"][0]["stuck"]
    assert 0.0 < edge["reachable"] <= 1.0
    assert edge["good"] == pytest.approx(chart["good"], rel=1e-4)

    walked = author.do("author_walk", seconds=3.0, seed=1)
    assert walked["n_frames"] == 90

    settings = {"max_clips": 6}
    page = author.do("author_export", name="mine", settings=settings)
    assert [file["name"] for file in page["files"]] == ["mine.html"]
    exported = author.do("author_export", name="mine", format="glb", settings=settings)
    assert [file["name"] for file in exported["files"]] == ["mine.json", "mine.glb"]
    assert 2 <= exported["clips"] == page["clips"] <= 6

    files = author.do("author_save", kind="character", name="mine")["files"]
    assert [re.sub("[0-9a-f]{12}", "DIGEST", name) for name in files] == ["mine.json", "mine.walk.DIGEST.npz"]
    loaded = ParametricMotionGraph.load(takes / "mine.json")
    assert list(loaded.edges) == [("walk", "walk")]
    assert loaded.name == author.do("author_show")["name"] == "mine"
    with pytest.raises(Failed, match="is a different kind"):
        author.do("author_save", kind="character", name="other")
    assert author.do("author_show")["name"] == "mine"
    with pytest.raises(Failed, match=r"mine.json already exists; check “Overwrite”"):
        author.do("author_save", kind="character", name="mine")
    assert author.do("author_save", kind="character", name="mine", replace=True)["files"] == files
    assert [each["path"] for each in author.do("author_sources")["files"]] == ["hostile.json", "mine.json"]
    before = author.do("author_show")
    assert author.do("author_load", path="mine.json")["edges"] == before["edges"]
    session = author.server.studio.sessions.find(author.welcome["session"])  # type: ignore[attr-defined]
    assert session is not None
    saved = [path for path in session.places.own.joinpath("author").rglob("*") if path.is_file()]
    assert {path.parent for path in saved} == {saved[0].parent}, "only what the worker was handed last is kept"
    assert session.places.panel_bytes == {"author": sum(path.stat().st_size for path in saved)}


def test_an_edge_of_a_part_reports_what_the_whole_node_lacks() -> None:
    draft: Any = SimpleNamespace(graph=SimpleNamespace(edges={("some", "walk"): None}))
    assert _connection_note(draft, "some", "walk", "walk") == (
        "Connected 'some' → 'walk', the sub-range of 'walk' that can continue; 'walk' itself is still a dead end."
    )
    draft.graph.edges["walk", "run"] = None
    assert _connection_note(draft, "some", "walk", "walk") == (
        "Connected 'some' → 'walk', the sub-range of 'walk' that can continue."
    )


def test_parts_are_added_and_taken_away(author: FakePage) -> None:
    before = author.do("author_show")
    result = author.do("author_part", name="left", of="walk", low=[0.0], high=[9.0])
    assert result["nodes"][1]["of"] == "walk"
    assert result["nodes"][1]["ranges"][0]["high"] == before["nodes"][0]["ranges"][0]["high"]
    with pytest.raises(Failed, match="a node named 'left' already exists"):
        author.do("author_part", name="left", of="walk", low=[0.0], high=[1.0])
    with pytest.raises(Failed, match="have no computed transitions"):
        author.do("author_connect", source="left", target="walk", good=0.1, bad=0.2)
    stuck = author.do("drive_list")["stuck"]
    assert stuck.startswith("dead end: ")
    assert "'left'" in stuck
    removed = author.do("author_remove", name="left")
    assert (removed["nodes"], removed["edges"]) == (before["nodes"], before["edges"])
    assert author.do("author_restore", version=result["version"]) == result
    assert author.do("author_restore", version=before["version"]) == before
    with pytest.raises(Failed, match="no longer stored"):
        author.do("author_restore", version=999)


@pytest.mark.parametrize(
    ("do", "fields", "message"),
    [
        ("author_add", {"name": "x", "motions": []}, "a gait node needs 1 to 200 clips, got 0; select more clips"),
        ("author_add", {"name": "../x", "motions": ["m1"]}, "expected a name of letters"),
        ("author_add", {"name": "walk", "motions": ["m1"]}, "a node named 'walk' already exists"),
        ("author_recipe", {"recipe": "wlking"}, "no built-in character 'wlking'"),
        ("author_recipe", {"recipe": "walking", "nodes": ["fly"]}, "has no node 'fly'; it has walk"),
        ("author_compare", {"source": "walk", "target": "fly"}, "no node 'fly'"),
        (
            "author_compare",
            {"source": "walk", "target": "walk", "settings": {"n_source": 1}},
            "must be from 2 to 10000, not 1",
        ),
        (
            "author_part",
            {"name": "p", "of": "walk", "low": [0.0, 1.0], "high": [1.0]},
            "has 1 parameters, got 2 minima and 1 maxima",
        ),
        ("author_disconnect", {"source": "walk", "target": "fly"}, "no edge from 'walk' to 'fly'"),
        ("author_walk", {"seconds": 1e6}, "expected 1 to 600 s"),
        ("author_export", {"name": "a/b"}, "expected a name of letters"),
        ("author_save", {"kind": "character", "name": "a/b"}, "expected a name of letters"),
        ("author_save", {"kind": "character", "name": "other"}, "other.json already exists and is a different kind"),
        ("author_load", {"path": "../c.json"}, "expected a path within the open folder"),
        ("author_load", {"path": "link.json"}, "is outside the open folder"),
        ("author_load", {"path": "hostile.json"}, "is outside the open folder"),
        ("author_load", {"path": "other.json"}, "is not a character"),
        ("author_load", {"path": "none.json"}, "no such file"),
        ("author_gaze", {"path": "hostile.json"}, "is not a gaze map"),
        ("author_gaze_remove", {"example": 0}, "the first, which looks straight ahead, cannot be removed"),
    ],
)
def test_what_does_not_fit_is_refused(author: FakePage, do: str, fields: dict[str, object], message: str) -> None:
    author.do("author_gaze")
    before = author.do("author_show")
    with pytest.raises(Failed, match=message):
        author.do(do, **fields)
    assert author.do("author_show") == before


def test_examples_of_a_gaze_map_are_added_and_removed(author: FakePage, takes: Path) -> None:
    shipped = GazeMap.default()
    chart = author.do("author_gaze", shipped=True)
    assert len(chart["examples"]) == len(shipped.examples)
    assert chart["examples"][0]["cost"] is None
    np.testing.assert_allclose(chart["region"], shipped.region)
    GazeMap.build(shipped.examples[1::5], rng=7).save(takes / "few.json")
    few = author.do("author_gaze", path="few.json")["examples"]
    assert len(author.do("author_gaze_remove", example=1)["examples"]) == len(few) - 1
    costs = [each["cost"] for each in author.do("author_gaze_costs")["examples"]]
    assert costs[0] is None
    assert all(cost is not None and 0.0 <= cost < 2.0 for cost in costs[1:])
    assert max(costs[1:]) > math.radians(1.0), "an example at the edge is missed by the others"
    assert author.do("author_save", kind="gaze", name="looks")["files"] == ["looks.json"]
    looks = GazeMap.load(takes / "looks.json")
    assert (len(looks.examples), looks.seed) == (len(few) - 1, 7)
    walk = author.do("open", path="walk1.bvh")
    looked = author.do("author_gaze_aim", yaw=0.3, pitch=0.1, motion=walk["motion"])
    assert (looked["motion"]["n_frames"], looked["note"]) == (walk["n_frames"], "")
    beyond = author.do("author_gaze_aim", yaw=3.0, pitch=1.0, motion=walk["motion"], result=looked["motion"]["motion"])
    assert beyond["motion"]["motion"] == looked["motion"]["motion"]
    assert beyond["note"] == "" or beyond["note"].endswith(".")
    with pytest.raises(Failed, match="mark the look on the timeline"):
        author.do("author_gaze_add", motion=walk["motion"], yaw=0.5, pitch=0.0)


def test_without_a_folder_nothing_is_saved(built: Path) -> None:
    server = Server(None, built)
    try:
        with FakePage(server) as page:
            assert page.do("author_sources")["files"] == []
            with pytest.raises(Failed, match="no folder is open"):
                page.do("author_save", kind="character", name="mine")
            with pytest.raises(Failed, match="no nodes yet"):
                page.do("author_walk")
    finally:
        server.stop()


@pytest.fixture(scope="module")
def boxer(tmp_path_factory: pytest.TempPathFactory, built: Path) -> Iterator[FakePage]:
    """A page with four punches open, a saved space of them, and two recipes, one of which leads out of the folder."""
    from marey.parametric import ParametricMotion
    from marey.samples import sample

    folder = tmp_path_factory.mktemp("punches")
    points = [(0.0, 1.3, 0.6), (0.25, 1.5, 0.6), (0.3, 1.2, 0.55), (0.1, 1.4, 0.75)]
    punches = [
        replace(sample("punch", fps=30.0, **dict(zip("xyz", point, strict=True))).motion, name=f"punch{k}")
        for k, point in enumerate(points)
    ]
    for punch in punches:
        marey.save(punch, folder / f"{punch.name}.npz")
    ParametricMotion.build(punches, "position:right_hand@farthest", samples=0, crop=None).save(folder / "punches.npz")
    node = '[[nodes]]\nname = "punch"\nkind = "parametric"\nfeature = "position:right_hand@farthest"\n[[nodes.clips]]\n'
    (folder / "boxer.toml").write_text(
        f'name = "b"\n{node}files = ["punch*.npz"]\n[auto]\ngood = 0.5\nbad = 0.6\n'.replace("punch*", "punch[0-3]")
    )
    (folder / "out.toml").write_text(f'name = "b"\n{node}files = ["../*.bvh"]\n[auto]\n')
    server = Server(folder, built)
    with FakePage(server) as page:
        page.motions = [page.do("open", path=f"punch{k}.npz")["motion"] for k in range(4)]  # type: ignore[attr-defined]
        page.folder = folder  # type: ignore[attr-defined]
        yield page
    server.stop()


def test_examples_of_an_action_become_a_node(boxer: FakePage) -> None:
    feature = "position:right_hand@farthest"
    boxer.do("author_new", name="b")
    made = boxer.do("author_action", name="punch", motions=boxer.motions, feature=feature, at_point=True)  # type: ignore[attr-defined]
    (node,) = made["nodes"]
    assert made["note"] == "'punch' was built from 4 examples."
    assert ([each["name"] for each in node["ranges"]], node["request"]) == (["x", "y", "z"], "at a point")
    made = boxer.do("author_action", name="saved", path="punches.npz")
    assert [(each["name"], each["request"]) for each in made["nodes"]][1] == ("saved", "at a point")
    assert boxer.do("author_sources")["spaces"] == ["punches.npz"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"motions": []}, "an action node needs 2 to 200 clips, got 0; select more clips"),
        ({"motions": ["x"] * 201}, "an action node needs 2 to 200 clips, got 201; select fewer clips"),
        ({"feature": "position:tail@farthest"}, "tail"),
        ({"feature": "duration", "at_point": True}, "needs the three coordinates of a joint"),
        ({"path": "../punches.npz"}, "expected a path within the open folder"),
        ({"path": "punch0.npz"}, "is not a target control saved by marey"),
    ],
)
def test_actions_that_do_not_fit_are_refused(boxer: FakePage, fields: dict[str, Any], message: str) -> None:
    given = {"name": "other", "motions": boxer.motions, "feature": "duration", **fields}  # type: ignore[attr-defined]
    with pytest.raises(Failed, match=re.escape(message)):
        boxer.do("author_action", **given)


def test_recipes_are_opened_and_saved(boxer: FakePage) -> None:
    folder: Path = boxer.folder  # type: ignore[attr-defined]
    assert boxer.do("author_sources")["recipe_files"] == ["boxer.toml", "out.toml"]
    boxer.do("author_new", name="b")
    with pytest.raises(Failed, match="was not built from a recipe"):
        boxer.do("author_save_recipe", name="mine")
    assert [each["name"] for each in boxer.do("author_open_recipe", path="boxer.toml")["nodes"]] == ["punch"]
    assert boxer.do("author_save_recipe", name="mine")["files"] == ["mine.toml"]
    assert (folder / "mine.toml").read_text() == (folder / "boxer.toml").read_text()
    with pytest.raises(Failed, match=r"mine.toml already exists; check"):
        boxer.do("author_save_recipe", name="mine")
    with pytest.raises(Failed, match="expected a path within the open folder"):
        boxer.do("author_open_recipe", path="out.toml")
    (folder / "mine.toml").unlink()
