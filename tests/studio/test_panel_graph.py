"""Graphs as requested by the page: thresholds, walks, paths and steering."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
from marey.errors import InvalidValue
from marey.graph import GraphSettings, GraphStreamSettings, MotionGraph
from marey.samples import sample
from marey.studio.panels.drive_controllers import GraphDriver
from marey.studio.panels.graph_links import start_node, suggest_threshold
from marey.studio.panels.graph_messages import LimitPoint
from marey.studio.panels.graph_work import smooth_path, turn_angles
from tests.graph.clips import one_label, sneaks, walks
from tests.studio.client import Failed, FakePage, Server, unpack

WALKS = {"straight": {}, "left": {"turn_rate": 0.7}, "right": {"turn_rate": -0.7}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("graphs")
    for name, options in WALKS.items():
        marey.save(sample("walk", fps=30.0, seconds=6.0, **options).motion, at / f"{name}.bvh")
    marey.save(sample("run", fps=30.0, seconds=5.0).motion, at / "run.bvh")
    small = sample("walk", fps=30.0, seconds=2.0).motion
    text = (at / "left.bvh").read_text(encoding="utf-8").replace("Head\n", "Skull\n")
    (at / "other.bvh").write_text(text, encoding="utf-8")
    (at / "other2.bvh").write_text(text.replace("Skull", "Cranium"), encoding="utf-8")
    (at / "broken.bvh").write_text("HIERARCHY", encoding="utf-8")
    marey.save(small, at / "small.bvh")
    return at


@pytest.fixture(scope="module")
def running(folder: Path, built: Path) -> Iterator[Server]:
    server = Server(folder, built)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def page(running: Server) -> Iterator[FakePage]:
    with FakePage(running) as result:
        with pytest.raises(Failed, match="no graph was built yet"):
            result.do("graph_links", threshold=0.1)
        yield result


@pytest.fixture(scope="module")
def graph(page: FakePage) -> dict[str, Any]:
    """The reply to a build from one open motion and the folder's files."""
    opened = page.do("open", path="straight.bvh")["motion"]
    files = ["left.bvh", "right.bvh", "run.bvh", "other.bvh", "broken.bvh"]
    return page.do("graph_build", motions=[opened], files=files, settings={"fps": 30.0})


def test_what_does_not_fit_is_left_out(graph: dict[str, Any]) -> None:
    assert graph["clips"] == ["straight", "left", "right", "run"]
    assert [each["names"] for each in graph["skipped"]] == [["broken.bvh"], ["other.bvh"]]
    assert [each["has_other_skeleton"] for each in graph["skipped"]] == [False, True]
    assert all("/" not in each["reason"] for each in graph["skipped"])
    assert graph["labels"] == ["run", "turn_left", "turn_right", "walk"]
    assert graph["rate"] == 30.0


def test_a_folder_of_several_skeletons_uses_the_most_frequent_one(running: Server) -> None:
    files = ["other.bvh", "other2.bvh", "small.bvh", "left.bvh", "right.bvh"]
    with FakePage(running) as page:
        graph = page.do("graph_build", motions=[], files=files, settings={"fps": 30.0})
        assert graph["clips"] == ["small", "left", "right"]
        assert graph["skipped"] == [{"reason": "another skeleton", "names": files[:2], "has_other_skeleton": True}]
        graph = page.do("graph_build", motions=[], files=files, settings={"fps": 30.0, "retarget": True})
        assert (len(graph["clips"]), graph["skipped"]) == (5, [])


def test_earlier_graphs_can_be_brought_back(running: Server) -> None:
    with FakePage(running) as page:
        built = [page.do("graph_build", motions=[], files=[f"{name}.bvh"]) for name in ("left", "right")]
        page.do("graph_links", threshold=0.07)
        assert page.do("graph_use", number=built[0]["number"])["built"]["clips"] == ["left"]
        again = page.do("graph_use", number=built[1]["number"])
        assert (again["built"]["clips"], again["files"], again["threshold"]) == (["right"], ["right.bvh"], 0.07)
        assert page.do("graph_use", number=0)["built"] is None
        for _ in range(4):
            page.do("graph_build", motions=[], files=["left.bvh"])
        with pytest.raises(Failed, match="only the last 4 graphs can be restored"):
            page.do("graph_use", number=built[1]["number"])


def test_links_are_those_of_the_graph(page: FakePage, graph: dict[str, Any], folder: Path) -> None:
    """The quick statistics are those of a graph that is actually built."""
    clips = [marey.load(folder / f"{name}.bvh") for name in ("straight", "left", "right", "run")]
    limits = {("walk", "run"): 0.2, ("run", "walk"): 0.0}
    pairs = [{"before": a, "after": b, "meters": m} for (a, b), m in limits.items()]
    for threshold, thresholds in ((0.08, {}), (0.15, {}), (0.1, limits)):
        links = page.do("graph_links", threshold=threshold, pairs=pairs if thresholds else [])
        real = MotionGraph.build(clips, threshold, thresholds=thresholds)
        assert links["transitions"] == real.n_transitions
        for part, component in zip(links["labels"], real.components, strict=True):
            assert part["label"] == component.label
            assert part["seconds"] == pytest.approx(component.n_frames / 30.0)
            assert part["reaches"] == list(component.reaches)
        counts = {(each["before"], each["after"]): each["transitions"] for each in links["pairs"]}
        gaits = ("run", "walk")  # each frame has one of them
        assert sum(counts[a, b] for a in gaits for b in gaits) == real.n_transitions
        assert not thresholds or counts["run", "walk"] == 0
        assert 0.0 < links["connected"] <= 1.0
    weights = [point["connected"] for point in graph["curve"]]
    assert weights[0] == 0.0
    assert (np.diff(weights) >= -1e-12).all()
    assert page.do("graph_links", threshold=graph["suggested"]) == graph["links"]


def test_a_reloaded_page_finds_the_graph(page: FakePage, running: Server, graph: dict[str, Any]) -> None:
    pairs = [{"before": "walk", "after": "run", "meters": 0.2}]
    links = page.do("graph_links", threshold=0.12, pairs=pairs)
    shown = page.do("graph_show")
    assert (shown["threshold"], shown["pairs"]) == (0.12, pairs)
    assert shown["settings"] == GraphSettings(fps=30.0).to_dict()
    assert (shown["motions"], len(shown["files"])) == (["m1"], 5)
    assert shown["built"] == {**graph, "links": links}
    with pytest.raises(Failed, match="“Threshold” must be at least 0 m"):
        page.do("graph_links", threshold=-1.0)
    assert page.do("graph_show") == shown
    with FakePage(running) as other:
        assert other.do("graph_show")["built"] is None


def test_random_walk(page: FakePage, graph: dict[str, Any]) -> None:
    threshold, settings = graph["suggested"], {"seconds": 4.0, "rng": 3}
    first, again = (page.do("graph_walk", threshold=threshold, settings=settings) for _ in range(2))
    assert first["motion"]["n_frames"] == 120
    assert first["transitions"] == graph["links"]["transitions"]
    one, two = (page.frames(each["motion"]["motion"], 0, 120)[1] for each in (first, again))
    assert np.array_equal(one, two)
    assert np.abs(one[0, 0, [0, 2]]).max() < 0.3
    labeled = page.do("graph_walk", threshold=threshold, settings={**settings, "label": "walk"})
    walked = [each for each in labeled["motion"]["labels"] if each["name"] == "walk"]
    assert [(each["start"], each["stop"]) for each in walked] == [(0, 120)]
    # Only notes about the requested label are given: at a strict threshold, most labels have some.
    strict = {"threshold": 0.055, "settings": settings}
    assert page.do("graph_walk", **strict)["findings"] == []
    notes = page.do("graph_walk", **{**strict, "settings": {**settings, "label": "walk"}})["findings"]
    assert notes
    assert all("'walk'" in each for each in notes)


def test_path_is_followed(page: FakePage, graph: dict[str, Any]) -> None:
    angle = np.linspace(0.0, 1.2, 60)
    line = np.stack([3.0 - 3.0 * np.cos(angle), 3.0 * np.sin(angle)], axis=1)
    stretches = [{"points": line.tolist(), "label": "walk"}]
    done = page.do("graph_follow", threshold=graph["suggested"], stretches=stretches)
    assert done["length"] == pytest.approx(3.6, abs=0.1)
    assert done["mean_distance"] < 0.25
    assert np.hypot(*(np.array(done["way"][0]) - line[0])) < 0.1
    assert np.allclose(np.array(done["path"])[[0, -1]], line[[0, -1]], atol=1e-3)
    corner = [{"points": [[0, 0], [0, 2.5], [2.5, 2.5]], "label": None}]
    why = page.do("graph_follow", threshold=graph["suggested"], stretches=corner, clean=False)["why"]
    # The walks turn by about 0.7 rad/s at 1.3 m/s.
    assert re.search(r"The path turns by 90° within 1 m at 2\.\d m; the clips turn by 3\d° at most", why)
    with pytest.raises(Failed, match="choose an action for every segment"):
        page.do("graph_follow", threshold=0.1, stretches=[*stretches, {"points": [[9, 9]], "label": None}])
    with pytest.raises(Failed, match=r"at least 0\.5 m long"):
        page.do("graph_follow", threshold=0.1, stretches=[{"points": [[0, 0], [0.1, 0]], "label": None}])
    with pytest.raises(Failed, match="no path was drawn"):
        page.do("graph_follow", threshold=0.1, stretches=[])


def test_the_graph_is_driven(page: FakePage, graph: dict[str, Any]) -> None:
    page.do("graph_links", threshold=graph["suggested"])
    assert page.do("drive_list")["graph"]
    begun = page.do("drive_start", way="graph", built=True, feet="free", graph={"n_directions": 8})
    assert [node["name"] for node in begun["nodes"]] == graph["labels"]
    page.do("drive_request", direction=1.5, node="walk")
    while len(page.binary) < 40:
        page.receive()
    page.do("live_stop")
    frames = [each for each in page.binary if each[1] == 2]
    page.binary.clear()
    places = np.array([unpack(each)[1][0, 0] for each in frames])
    assert {struct.unpack_from("<I", each, 4)[0] for each in frames} == {begun["started"]["stream"]}
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() < 0.2
    assert np.linalg.norm(places[-1] - places[0]) > 0.3


def test_a_label_without_a_route_is_ignored() -> None:
    clips = [one_label(walks()[0], "walk"), one_label(sneaks()[0], "sneak")]
    apart = MotionGraph.build(clips, 0.1, thresholds={("walk", "sneak"): 0.0, ("sneak", "walk"): 0.0})
    driver = GraphDriver(apart, GraphStreamSettings(feet=None))
    assert [node.name for node in driver.nodes] == ["sneak", "walk"]
    first = apart.clips[apart.nodes[driver.stream.upcoming[0], 0]].labels.names[0]
    for label in ("sneak", "walk"):
        driver.request({"direction": 0.0, "node": label})
        for _ in range(40):
            driver.stream.frame()
        assert driver.doing.startswith("no route") == (label != first)


def test_graph_is_saved_whole(page: FakePage, running: Server, graph: dict[str, Any], tmp_path: Path) -> None:
    saved = page.do("graph_save", threshold=graph["suggested"])
    status, _, body = running.request("GET", saved["url"])
    assert status == 200
    (tmp_path / "graph.npz").write_bytes(body)
    loaded = MotionGraph.load(tmp_path / "graph.npz")
    assert loaded.n_transitions == graph["links"]["transitions"]
    # Most of it is walking, and steering begins there.
    start = start_node(loaded)
    assert start is None or loaded.clips[loaded.nodes[start, 0]].name in WALKS


def test_errors_are_one_sentence(page: FakePage, graph: dict[str, Any]) -> None:
    for do, fields, text in (
        ("graph_build", {}, "a graph needs at least one clip"),
        ("graph_build", {"files": ["broken.bvh"]}, "first error: broken.bvh"),
        ("graph_build", {"files": ["../x.bvh"]}, "expected a path within the open folder"),
        ("graph_build", {"files": ["small.bvh"], "settings": {"window": 3.0}}, "smaller “Transition length”"),
        (
            "graph_build",
            {"files": ["small.bvh"], "settings": {"window": 0}},
            "“Transition length” must be greater than 0",
        ),
        ("graph_build", {"files": ["small.bvh"], "settings": {"fps": 1.0}}, "“Frame rate” must be from 5 to 240 Hz"),
        ("graph_walk", {"threshold": 0.0}, "has only dead ends; the smallest that works"),
        ("graph_walk", {"threshold": 0.1, "settings": {"seconds": 1e6}}, "“Duration” must be at most 600"),
        ("graph_walk", {"threshold": 0.1, "settings": {"rng": -1}}, "“Random seed” must be at least 0"),
        ("graph_walk", {"threshold": 0.2, "settings": {"label": "swim"}}, "no label 'swim'"),
        ("graph_links", {"threshold": -1.0}, "“Threshold” must be at least 0 m"),
        (
            "graph_links",
            {"threshold": 0.1, "pairs": [{"before": "a", "after": "b", "meters": 1}]},
            "not 'a'",
        ),
    ):
        with pytest.raises(Failed, match=text):
            page.do(do, **fields)
    assert page.do("graph_links", threshold=graph["suggested"]) == graph["links"]


def test_turns_within_a_meter() -> None:
    angle = np.linspace(0.0, 2.0, 400)
    circle = 2.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    np.testing.assert_allclose(np.abs(turn_angles(circle)), 0.5, atol=0.01)
    standing = np.concatenate([circle[:200], np.repeat(circle[199:200], 50, axis=0), circle[200:]])
    np.testing.assert_allclose(np.abs(turn_angles(standing)), 0.5, atol=0.01)
    assert len(turn_angles(circle[:20])) == 0


def test_smoothing_keeps_ends_and_takes_the_tremble() -> None:
    rng = np.random.default_rng(0)
    z = np.linspace(0.0, 4.0, 81)
    drawn = np.stack([rng.normal(0.0, 0.02, 81), z], axis=1)
    drawn[[0, 40, 80], 0] = 0.0
    path, ends = smooth_path([drawn[:41].tolist(), drawn[41:].tolist()])
    assert np.array_equal(path[[0, -1]], drawn[[0, -1]])
    assert np.hypot(*np.diff(path, axis=0).T).sum() == pytest.approx(4.0, abs=0.03)
    assert ends == pytest.approx([2.0, 4.0], abs=0.05)
    with pytest.raises(InvalidValue, match="no path was drawn"):
        smooth_path([[]])


def test_suggested_is_the_least_that_will_do() -> None:
    weights = [0.0, 0.1, 0.53, 0.55, 0.9]
    points = [LimitPoint(0.1 * k, fraction, k) for k, fraction in enumerate(weights)]
    assert suggest_threshold(points) == pytest.approx(0.3)
    closer = [LimitPoint(0.01 * k, fraction, k) for k, fraction in enumerate(weights)]
    assert suggest_threshold(closer) == GraphSettings().threshold
