"""Drive: what is streamed in each way, how ways are changed while it plays, and what counts as an answer."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.errors import InvalidValue
from marey.graph import MotionGraph
from marey.maths import quat, rigid2d
from marey.pmg import GaitSpace, ParametricMotionGraph
from marey.pmg.walker import sample_walks
from marey.studio.panels import author_work
from marey.studio.panels.drive_messages import DriveWish
from marey.studio.panels.drive_response import Record, ResponseClock
from marey.studio.panels.drive_source import DriveSource
from marey.studio.panels.drive_ways import (
    CharacterDriver,
    Driver,
    GraphDriver,
    MatchingDriver,
    TreeDriver,
    make_data,
    make_tree,
)
from tests.studio.client import Failed, FakePage, Server, unpack


@pytest.fixture(scope="module")
def walks() -> list[Motion]:
    return sample_walks(n_turns=5, speeds=(1.1,), fps=30.0)


@pytest.fixture(scope="module")
def character(walks: list[Motion]) -> ParametricMotionGraph:
    graph = ParametricMotionGraph("walker")
    graph.add("walk", GaitSpace.build(walks))
    graph.connect("walk", "walk", n_source=20, n_target=60)
    return graph


@pytest.fixture(scope="module")
def drivers(walks: list[Motion], character: ParametricMotionGraph) -> dict[str, Callable[[], Driver]]:
    data, tree, graph = make_data(walks), make_tree(walks), MotionGraph.build(walks)
    return {
        "character": lambda: CharacterDriver(character, "lock"),
        "graph": lambda: GraphDriver(graph, "lock"),
        "matching": lambda: MatchingDriver(data, "lock"),
        "tree": lambda: TreeDriver(tree, "lock"),
    }


WAYS = ("character", "graph", "matching", "tree")


@pytest.mark.parametrize("way", WAYS)
def test_each_way_turns_where_it_is_told_to_and_shows_its_reach(
    drivers: dict[str, Callable[[], Driver]], way: str
) -> None:
    record = Record()
    source = DriveSource(drivers[way](), record)
    source.frame()
    wanted = float(source.stood.place[0]) + math.pi / 2
    source.wish(DriveWish(direction=wanted))
    reaches: list[tuple[Any, Any]] = []
    for _ in range(240):
        told = source.frame().told
        assert told is not None
        if "reach" in told:
            reaches.append((told["place"], told["reach"]))
        json.dumps(told, allow_nan=False)
    assert abs(math.remainder(source.stood.place[0] - wanted, 2 * math.pi)) < math.radians(25.0)
    assert len(record.answers) == 1
    assert 0.1 < record.answers[0] < 6.0
    assert record.seconds == pytest.approx(241 / 30)
    for place, lines in reaches[1:]:
        apart = [math.dist(point, place[1:]) for line in lines for point in line]
        assert apart, "there is always somewhere to be"
        assert max(apart) < 4.0


@pytest.mark.parametrize(("first", "then"), [("character", "matching"), ("matching", "tree"), ("tree", "graph")])
def test_a_new_way_begins_where_the_figure_stands(
    drivers: dict[str, Callable[[], Driver]], first: str, then: str
) -> None:
    before = DriveSource(drivers[first](), Record())
    before.wish(DriveWish(direction=1.0))
    for _ in range(50):
        shown = before.frame()
    after = DriveSource(drivers[then](), Record())
    after.go_on_from(before.stood)
    begun = after.frame()
    np.testing.assert_allclose(begun.positions, shown.positions, atol=1e-6)
    with pytest.raises(InvalidValue, match="plays already"):
        after.go_on_from(before.stood)
    last = begun.positions
    for _ in range(30):
        now = after.frame().positions
        assert np.abs(now - last).max() < 0.25, "nothing jumps"
        last = now


def test_frames_are_the_streams_own_moved_as_one(drivers: dict[str, Callable[[], Driver]]) -> None:
    """Once the pose before has died away, what is shown is what the stream gives, carried by one move."""
    before = DriveSource(drivers["tree"](), Record())
    for _ in range(40):
        before.frame()
    source = DriveSource(drivers["tree"](), Record())
    source.go_on_from(before.stood)
    own = drivers["tree"]().stream
    frames = [(source.frame(), own.frame()) for _ in range(60)]
    move = rigid2d.between(_place(frames[0][1]), before.stood.place)
    world = frames[-1][1].world()
    np.testing.assert_allclose(frames[-1][0].positions, rigid2d.apply(move, world.positions[0]), atol=1e-3)


def _place(frame: Motion) -> Any:
    from marey.edit._figure import place

    return place(frame.skeleton, frame.world(), 0)


@pytest.mark.parametrize("way", ["character", "matching", "tree"])
def test_a_point_is_gone_to(drivers: dict[str, Callable[[], Driver]], way: str) -> None:
    record = Record()
    source = DriveSource(drivers[way](), record)
    place = source.stood.place
    source.wish(DriveWish(point=(float(place[1]) + 1.5, float(place[2]) + 2.5)))
    for _ in range(900):
        told = source.frame().told
        assert told is not None
        if told["reached"] is not None:
            break
    assert told["reached"] == pytest.approx(record.seconds)
    assert math.dist(source.stood.place[1:], place[1:] + [1.5, 2.5]) < 0.3
    source.wish(DriveWish(direction=0.0))
    assert (source.frame().told or {})["reached"] is None, "it is told until something else is wished"


def test_what_was_driven_can_be_kept(drivers: dict[str, Callable[[], Driver]]) -> None:
    source = DriveSource(drivers["matching"](), Record())
    shown = [source.frame() for _ in range(20)]
    kept = source.keep(0.5)
    assert len(kept) == 15
    np.testing.assert_allclose(kept.world().positions, [each.positions for each in shown[-15:]], atol=1e-9)
    assert np.abs(quat.angle_between(kept.world().rotations, [each.rotations for each in shown[-15:]])).max() < 1e-6


def test_answers_are_timed_as_they_are_defined() -> None:
    record = Record()
    clock = ResponseClock(100.0, record)
    clock.ask(1.0, 0.0)
    for k in range(100):  # it faces there from the 60th frame on
        clock.step(0.0 if k < 59 else 1.0 + math.radians(14.0))
    assert record.answers == [pytest.approx(0.59)]
    clock.ask(1.05, 1.0)
    assert clock.waiting is None, "hardly another wish"
    clock.ask(-1.0, 1.0)
    for _ in range(10):
        clock.step(1.0)
    assert clock.waiting == pytest.approx(0.1)
    clock.ask(2.5, 1.0)
    assert record.unanswered == 1, "given up for another"
    for _ in range(801):
        clock.step(0.0)
    assert (record.unanswered, clock.waiting) == (2, None)
    told = record.told("tree")
    assert (told.answered, told.unanswered, told.median, told.slowest) == (1, 2, *[pytest.approx(0.59)] * 2)


def test_wishes_that_are_over_are_taken_back(character: ParametricMotionGraph) -> None:
    driver = CharacterDriver(character, "free")
    driver.ask({"direction": 1.0, "node": "fly", "speed": 1.2, "values": {"turn": 1.0, "height": 1.0}})
    wish = driver._steering._follow.wish
    assert (wish["direction"], wish["node"], wish["turn"]) == (1.0, None, 1.0)
    assert not {"speed", "height"} & set(wish), "what only another character knows is no wish for this one"
    driver.ask({"node": "walk"})
    wish = driver._steering._follow.wish
    assert (wish["direction"], wish["node"], wish["turn"]) == (None, "walk", None)


def test_clips_are_told_by_short_names(walks: list[Motion], drivers: dict[str, Callable[[], Driver]]) -> None:
    assert max(len(walk.name) for walk in walks) > 40
    for way in ("graph", "matching"):
        driver = drivers[way]()
        assert 0 < len(driver.doing) <= 40
    made = author_work.clips(lambda share, text: None, [])["clips"]
    assert [made[0].name, made[-1].name] == ["walk, curve 1 of 11", "walk, curve 11 of 11"]


def test_streams_are_ones_that_can_be_steered(drivers: dict[str, Callable[[], Driver]]) -> None:
    for make in drivers.values():
        assert isinstance(make().stream, Stream)


# --- Over the socket


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, built: Path, character: ParametricMotionGraph) -> Iterator[FakePage]:
    folder = tmp_path_factory.mktemp("driven")
    character.save(folder / "walker.json")
    server = Server(folder, built)
    with FakePage(server) as made:
        yield made
    server.stop()


def _live(page: FakePage, stream: int, n: int) -> list[tuple[Any, dict[str, Any]]]:
    """The next n frames of a stream, and what they tell."""
    out: list[tuple[Any, dict[str, Any]]] = []
    while len(out) < n:
        while not page.binary:
            page.receive()
        data = page.binary.pop(0)
        header, positions, rotations = unpack(data)
        if header[1] == 2 and header[3] == stream:
            out.append((positions[0], json.loads(data[16 + positions.nbytes + rotations.nbytes + 8 :])))
    return out


def test_a_saved_character_is_driven_and_another_way_goes_on(page: FakePage) -> None:
    assert page.do("drive_list")["files"] == ["walker.json"]
    with pytest.raises(Failed, match="nothing has been driven yet"):
        page.do("drive_keep")
    started = page.do("drive_start", way="character", source="file", name="walker.json")
    assert [node["name"] for node in started["nodes"]] == ["walk"]
    assert (started["speed"], started["delay"], started["started"]["rate"]) == (None, 0.0, 30.0)
    page.do("drive_wish", direction=1.5)
    frames = _live(page, started["started"]["stream"], 12)
    assert "reach" in frames[0][1] or any("reach" in told for _, told in frames)
    assert frames[-1][1]["doing"] == "walk"

    other = page.do("drive_start", way="tree")
    assert other["started"]["stream"] == started["started"]["stream"] + 1
    ((begun, told),) = _live(page, other["started"]["stream"], 1)
    before = np.array(frames[-1][1]["place"])
    assert math.dist(told["place"][1:], before[1:]) < 8.0
    assert abs(begun[:, 1]).max() < 2.5
    page.do("drive_wish", point=[1.0, 1.0])
    _live(page, other["started"]["stream"], 5)
    ways = {each["way"]: each for each in page.do("drive_figures")["ways"]}
    assert set(ways) == {"character", "tree"}
    assert page.do("drive_keep", seconds=0.5)["motion"]["name"] == "driven"
    page.do("live_stop")


@pytest.mark.parametrize(
    ("do", "fields", "message"),
    [
        ("drive_start", {"way": "fly"}, "expected 'character' or 'graph' or 'matching' or 'tree'"),
        ("drive_start", {"way": "character", "name": "wlking"}, "no recipe 'wlking' comes with marey"),
        ("drive_start", {"way": "character", "source": "file", "name": "../x.json"}, "expected a path within"),
        ("drive_start", {"way": "character", "source": "draft"}, "has no nodes yet"),
        ("drive_start", {"way": "tree", "motions": ["m99"]}, "no motion 'm99' is open"),
        ("drive_keep", {"seconds": 1e9}, "up to 60 s are kept"),
        ("drive_wish", {"direction": "left"}, "expected a finite number"),
    ],
)
def test_what_cannot_be_driven_is_refused(page: FakePage, do: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Failed, match=message):
        page.do(do, **fields)
