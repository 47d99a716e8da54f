"""The Drive panel: the streams of each controller, changes of the controller during playback, and response times."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock

import numpy as np
import pytest

from marey.control import (
    BlendTree,
    BlendTreeSettings,
    FollowDirection,
    GoTo,
    GoToSettings,
    MatchingData,
    MatchingSettings,
    get_planner,
)  # fmt: skip
from marey.core.motion import Motion
from marey.core.protocols import Stream
from marey.core.skeleton import Skeleton
from marey.edit import retarget
from marey.errors import InvalidValue
from marey.graph import GraphStreamSettings, MotionGraph
from marey.maths import quat, rigid2d
from marey.pmg import GaitSpace, ParametricMotionGraph
from marey.pmg.walker import sample_walks
from marey.samples import sample
from marey.studio import cached_characters
from marey.studio.jobs import Cancelled, Jobs
from marey.studio.live import Live
from marey.studio.motion_history import Motions
from marey.studio.outbox import Outbox
from marey.studio.panels import author_work, drive, drive_source
from marey.studio.panels.author_state import Draft
from marey.studio.panels.drive_controllers import (
    CharacterDriver,
    Driver,
    GraphDriver,
    MatchingDriver,
    TreeDriver,
    describe_limits,
)
from marey.studio.panels.drive_messages import CompareDrive, DriveRequest, StartDrive
from marey.studio.panels.drive_models import Models, measure_size
from marey.studio.panels.drive_source import (
    DriveSource,
    InterpolatedStream,
    Record,
    ResponseClock,
    make_upper,
    measure_turn,
)
from marey.studio.panels.drive_steering import Steering, find_turning
from marey.studio.session import PanelState, Session
from tests.pmg.characters import small_walker
from tests.pmg.recipes import small_character
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
    data, tree, graph = MatchingData.build(walks), BlendTree.from_walks(walks), MotionGraph.build(walks)
    return {
        "character": lambda: CharacterDriver(character, "lock"),
        "graph": lambda: GraphDriver(graph, GraphStreamSettings(feet="lock")),
        "matching": lambda: MatchingDriver(data, MatchingSettings(feet="lock")),
        "tree": lambda: TreeDriver(tree, BlendTreeSettings(feet="lock")),
    }


WAYS = ("character", "graph", "matching", "tree")


@pytest.mark.parametrize("way", WAYS)
def test_each_controller_turns_as_requested_and_shows_its_reach(
    drivers: dict[str, Callable[[], Driver]], way: str
) -> None:
    record = Record()
    source = DriveSource(drivers[way](), record)
    source.frame()
    wanted = float(source.body_state.place[0]) + math.pi / 2
    source.request(DriveRequest(direction=wanted))
    reaches: list[tuple[Any, Any]] = []
    for _ in range(480):
        report = source.frame().info
        assert report is not None
        if "reach" in report:
            reaches.append((report["place"], report["reach"]))
        json.dumps(report, allow_nan=False)
    assert abs(math.remainder(source.body_state.place[0] - wanted, 2 * math.pi)) < math.radians(25.0)
    assert len(record.answers) == 1
    assert 0.1 < record.answers[0] < 6.0
    assert record.seconds == pytest.approx(481 / 60)
    for place, lines in reaches[1:]:
        apart = [math.dist(point, place[1:]) for line in lines for point in line]
        assert apart, "there is always somewhere to be"
        assert max(apart) < 4.0


@pytest.mark.parametrize(("first", "then"), [("character", "matching"), ("matching", "tree"), ("tree", "graph")])
def test_a_new_controller_starts_at_the_position_of_the_character(
    drivers: dict[str, Callable[[], Driver]], first: str, then: str
) -> None:
    before = DriveSource(drivers[first](), Record())
    before.request(DriveRequest(direction=1.0))
    for _ in range(101):
        shown = before.frame()
    after = DriveSource(drivers[then](), Record())
    after.continue_from(before.body_state)
    begun = after.frame()
    np.testing.assert_allclose(begun.positions, shown.positions, atol=1e-6)
    with pytest.raises(InvalidValue, match="already playing"):
        after.continue_from(before.body_state)
    last = begun.positions
    for _ in range(30):
        now = after.frame().positions
        assert np.abs(now - last).max() < 0.15, "nothing jumps"
        last = now


def test_frames_are_the_streams_own_moved_as_one(drivers: dict[str, Callable[[], Driver]]) -> None:
    """After the previous pose has faded, the poses shown are those of the stream, moved by one transform."""
    before = DriveSource(drivers["tree"](), Record())
    for _ in range(40):
        before.frame()
    source = DriveSource(drivers["tree"](), Record())
    source.continue_from(before.body_state)
    own = drivers["tree"]().stream
    frames = [(source.frame(), own.frame(), source.frame()) for _ in range(60)]
    move = rigid2d.between(_place(frames[0][1]), before.body_state.place)
    world = frames[-1][1].world()
    np.testing.assert_allclose(frames[-1][0].positions, rigid2d.apply(move, world.positions[0]), atol=1e-3)


def _place(frame: Motion) -> Any:
    from marey.core.placement import find_placement

    return find_placement(frame, 0)


@pytest.mark.parametrize("way", ["character", "matching", "tree"])
def test_a_point_is_gone_to(drivers: dict[str, Callable[[], Driver]], way: str) -> None:
    record = Record()
    source = DriveSource(drivers[way](), record)
    place = source.body_state.place
    source.request(DriveRequest(point=(float(place[1]) + 1.5, float(place[2]) + 2.5)))
    for _ in range(1800):
        report = source.frame().info
        assert report is not None
        if report["reached"] is not None:
            break
    assert report["reached"] == pytest.approx(record.seconds)
    assert math.dist(source.body_state.place[1:], place[1:] + [1.5, 2.5]) < 0.3
    source.request(DriveRequest(direction=0.0))
    assert (source.frame().info or {})["reached"] is None, "it is reported until the next request"


def test_a_recording_can_be_added_to_the_clips(drivers: dict[str, Callable[[], Driver]]) -> None:
    source = DriveSource(drivers["matching"](), Record())
    shown = [source.frame() for _ in range(20)]
    assert (shown[-1].info or {})["kept"] == pytest.approx(20 / 60, abs=0.06)
    # Another controller of the same character goes on with the recording; another character starts a new one.
    after = DriveSource(drivers["matching"](), Record())
    after.continue_recording(source)
    shown += [after.frame() for _ in range(5)]
    saved = after.recording()
    assert (len(saved), saved.fps) == (25, 60.0)
    np.testing.assert_allclose(saved.world().positions, [each.positions for each in shown], atol=1e-9)
    assert np.abs(quat.angle_between(saved.world().rotations, [each.rotations for each in shown])).max() < 1e-6
    after.fps = 30.0
    other = DriveSource(drivers["matching"](), Record())
    other.continue_recording(after)
    assert other.kept_seconds == 0.0


@pytest.mark.parametrize(("fps", "times"), [(24.0, 3), (30.0, 2), (60.0, 1), (120.0, 1)])
def test_few_frames_per_second_are_shown_as_sixty_or_more(walks: list[Motion], fps: float, times: int) -> None:
    walk = walks[0].at(np.arange(12) / fps)
    walk = replace(walk, fps=fps)
    fine = InterpolatedStream(
        cast("Stream", SimpleNamespace(fps=fps, frame=iter([walk[k : k + 1] for k in range(12)]).__next__))
    )
    assert (fine.times, fine.fps) == (times, fps * times)
    poses = [fine.frame() for _ in range(10 * times + 1)]
    np.testing.assert_array_equal([pose.root for pose in poses[::times]], walk.root_positions[:11])
    np.testing.assert_array_equal([pose.rotations for pose in poses[::times]], walk.rotations[:11])
    wanted = walk.at(np.arange(10 * times + 1) / fine.fps)
    np.testing.assert_allclose([pose.root for pose in poses], wanted.root_positions, atol=1e-3)
    assert quat.angle_between([pose.rotations for pose in poses], wanted.rotations).max() < 0.02
    assert fine.delay == pytest.approx((times - 1) / fine.fps)


def test_answers_are_timed_as_they_are_defined() -> None:
    record = Record()
    clock = ResponseClock(100.0, record)
    clock.request(1.0, 0.0)
    for k in range(100):  # it faces that direction from frame 60 on
        clock.step(0.0 if k < 59 else 1.0 + math.radians(14.0))
    assert record.answers == [pytest.approx(0.59)]
    clock.request(1.05, 1.0)
    assert clock.waiting is None, "hardly another request"
    clock.request(-1.0, 1.0)
    for _ in range(50):
        clock.step(1.0)
    assert clock.waiting == pytest.approx(0.5)
    clock.request(2.5, 1.0)
    assert record.unanswered == 1, "given up for another"
    for _ in range(801):
        clock.step(0.0)
    assert (record.unanswered, clock.waiting) == (2, None)
    report = record.summarize("tree")
    assert (report.answered, report.unanswered, report.median, report.slowest) == (1, 2, *[pytest.approx(0.59)] * 2)


def _sweep(clock: ResponseClock, *directions: float, frames: int) -> None:
    """Make requests, each for some frames, to a character that faces 0."""
    for direction in directions:
        clock.request(direction, 0.0)
        for _ in range(frames):
            clock.step(0.0)


def test_controllers_make_the_same_turns(drivers: dict[str, Callable[[], Driver]]) -> None:
    record, driver = Record(), drivers["graph"]()
    source = DriveSource(driver, record)
    for turn in (90.0, -90.0):
        measure_turn(source, driver, turn)
    assert len(record.answers) + record.unanswered == 2
    assert record.answers


def test_controllers_are_compared_with_the_same_clips(
    drivers: dict[str, Callable[[], Driver]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def make(session: Any, state: Any, message: StartDrive) -> Driver:
        assert message.source == "clips"
        if message.way in ("graph", "character"):
            raise InvalidValue("too few clips")
        return drivers[message.way]()

    async def run_in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)

    monkeypatch.setattr(drive, "_make_driver", make)
    monkeypatch.setattr(drive_source, "TURNS", (90.0, -90.0))
    reported: list[tuple[float, str]] = []
    jobs = Jobs(lambda _, fraction, text: reported.append((fraction, text)))
    monkeypatch.setattr(jobs, "run_in_thread", run_in_thread)
    session = SimpleNamespace(motions=Motions(), jobs=jobs, state=PanelState())
    table = asyncio.run(drive.compare_drive(cast("Session", session), CompareDrive(motions=("m1", "m2"))))
    assert [(each.way, each.character, each.rate) for each in table.compared] == [
        ("matching", "2 open clips", 30.0),
        ("tree", "2 open clips", 30.0),
    ]
    assert all(each.answered + each.unanswered == 2 for each in table.compared)
    assert table.ways == (), "nothing was driven"
    assert table.failed == {"character": "too few clips", "graph": "too few clips"}
    fractions = [fraction for fraction, _ in reported]
    assert fractions == sorted(fractions)
    assert (0.875 + 0.125 / 2, "blend tree: turn 2 of 2") in reported


def test_a_canceled_comparison_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def make(session: Any, state: Any, message: StartDrive) -> Driver:
        raise Cancelled("the work was canceled")

    monkeypatch.setattr(drive, "_make_driver", make)
    session = SimpleNamespace(motions=Motions(), jobs=Jobs(lambda *_: None), state=PanelState())
    with pytest.raises(Cancelled):
        asyncio.run(drive.compare_drive(cast("Session", session), CompareDrive(motions=())))


def test_a_character_is_built_from_the_clips_of_other_controllers(walks: list[Motion], tmp_path: Path) -> None:
    author_work.parametric(lambda *_: None, walks, str(tmp_path / "walker.json"))
    driver = CharacterDriver(ParametricMotionGraph.load(tmp_path / "walker.json"), "lock")
    assert [node.name for node in driver.nodes] == ["walk"]


def test_a_sweep_of_requests_is_one_turn() -> None:
    record = Record()
    clock = ResponseClock(100.0, record)
    _sweep(clock, *np.arange(0.3, 2.1, 0.2), frames=49)
    assert record.unanswered == 0
    assert clock.waiting == pytest.approx(0.49), "since the last change"
    _sweep(clock, *np.linspace(1.9, 1.0, 90), frames=10)  # slowly: 10 degrees take longer than 0.5 s
    requested = clock.waiting
    for _ in range(30):
        clock.step(1.0)
    assert record.answers == [pytest.approx(requested, abs=0.011)]
    _sweep(clock, -1.0, frames=50)
    _sweep(clock, *np.linspace(-1.2, -2.0, 9), frames=5)
    assert record.unanswered == 1, "what had lasted was given up, what the hand passed was not"
    clock.request(0.1, 0.0)
    assert record.unanswered == 1
    assert clock.waiting is None, "it faces there already"


def test_expired_requests_are_withdrawn(character: ParametricMotionGraph) -> None:
    driver = CharacterDriver(character, "free")
    driver.request({"direction": 1.0, "node": "fly", "speed": 1.2, "values": {"turn": 1.0, "height": 1.0}})
    request = driver._steering._follow.command
    assert (request["direction"], request["node"], request["turn"]) == (1.0, None, 1.0)
    assert not {"speed", "height"} & set(request), "requests that only another character knows are ignored"
    driver.request({"node": "walk"})
    request = driver._steering._follow.command
    assert (request["direction"], request["node"], request["turn"]) == (None, "walk", None)


def test_clips_have_short_names(walks: list[Motion], drivers: dict[str, Callable[[], Driver]]) -> None:
    assert max(len(walk.name) for walk in walks) > 40
    for way in ("graph", "matching"):
        driver = drivers[way]()
        assert 0 < len(driver.doing) <= 40
    result = author_work.clips(lambda progress, text: None, [])["clips"]
    assert [result[0].name, result[-1].name] == ["walk, curve 1 of 11", "walk, curve 11 of 11"]


def test_streams_are_ones_that_can_be_steered(drivers: dict[str, Callable[[], Driver]]) -> None:
    for make in drivers.values():
        assert isinstance(make().stream, Stream)


def test_the_floor_is_at_0_whatever_the_drivers_is(drivers: dict[str, Callable[[], Driver]]) -> None:
    plain, raised = drivers["tree"](), drivers["tree"]()
    raised.stream.floor = 0.3
    source = DriveSource(raised, Record())
    expected = DriveSource(plain, Record()).frame().positions - [0.0, 0.3, 0.0]
    np.testing.assert_allclose(source.frame().positions, expected, atol=1e-12)
    requested: list[Any] = []
    setattr(raised, "request", requested.append)  # noqa: B010
    source.request(DriveRequest(target=(0.0, 1.0, 0.0)))
    assert requested[0]["point"][1] == pytest.approx(1.3)
    source.frame()
    source.frame()
    assert source.recording().source.floor == 0.0


def test_a_direction_table_keeps_the_requested_speed() -> None:
    graph = MotionGraph.build(sample_walks(n_turns=3, speeds=(0.8, 1.1, 1.4), fps=30.0))
    driver = GraphDriver(graph, GraphStreamSettings(feet=None))
    assert driver.speed is not None
    assert driver.speed == pytest.approx((0.75, 1.5))
    gone = []
    for speed in driver.speed:
        driver.request({"direction": 0.0, "speed": speed})
        end = time.monotonic() + 240.0
        while driver.stream._command["speed"] != speed and time.monotonic() < end:
            time.sleep(0.01)  # its table is built while the stream plays
        way = np.array([driver.stream.frame().travel[0] for _ in range(240)])[90:]
        gone.append(float(np.hypot(*np.diff(way[:, [0, 2]], axis=0).T).mean() * 30.0))
    assert gone == pytest.approx(driver.speed, abs=0.25)


def _node(**ranges: tuple[float, float]) -> Any:
    low, high = ([pair[k] for pair in ranges.values()] for k in (0, 1))
    return SimpleNamespace(names=tuple(ranges), low=low, high=high, middle=None)


class _Graph(SimpleNamespace):
    def __getitem__(self, name: str) -> Any:
        return self.nodes[name]


def test_nodes_that_fit_the_request_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = {
        "walk": _node(turn=(-1.0, 1.0), speed=(0.8, 1.6)),
        "jog": _node(turn=(-1.0, 1.0), speed=(1.5, 2.2)),
        "run": _node(turn=(-1.0, 1.0), speed=(2.1, 3.0)),
        "sit": _node(seat=(0.3, 0.5)),
    }
    line = ["sit", "walk", "jog", "run"]  # each leads to its neighbors
    planner = SimpleNamespace(seconds_to_node=lambda a, _, b: float(abs(line.index(a) - line.index(b)) - 1))
    monkeypatch.setattr("marey.studio.panels.drive_steering.get_planner", lambda graph: planner)
    steering = Steering(SimpleNamespace(nodes={}))  # type: ignore[arg-type]
    steering._steered = ("walk", "jog", "run")

    def fit(node: str, **request: Any) -> str | None:
        steering._follow = FollowDirection(**request)
        graph = _Graph(nodes=nodes)
        return steering._fit(SimpleNamespace(node=node, graph=graph))  # type: ignore[arg-type]

    assert fit("walk") is None
    assert fit("sit") is None, "no direction is requested"
    assert fit("sit", direction=1.0) == "walk"
    assert fit("sit", direction=1.0, speed=5.0) == "run"
    assert [fit("walk", speed=each) for each in (0.1, 1.55, 1.9, 4.0)] == [None, None, "jog", "run"]
    assert fit("run", speed=1.0) == "walk"


def test_a_controller_that_cannot_play_gives_a_reason(character: ParametricMotionGraph, tmp_path: Path) -> None:
    half = ParametricMotionGraph("half")
    assert drive._describe_draft(Draft(half, tmp_path, {})) == ("", "")
    half.add("walk", character["walk"].space)
    assert drive._describe_draft(Draft(half, tmp_path, {})) == ("half", "dead end: 'walk'")
    assert drive._describe_draft(Draft(character, tmp_path, {})) == ("walker", "")


def test_a_result_that_was_added_counts_as_an_open_motion(
    monkeypatch: pytest.MonkeyPatch, walks: list[Motion], drivers: dict[str, Callable[[], Driver]]
) -> None:
    source = DriveSource(drivers["tree"](), Record())
    n_joints = len(source.joints)
    assert source.max_bytes >= 60 * 30 * 8 * (3 + 7 * n_joints), "a minute of root, rotations and bones"
    motions = Motions()
    monkeypatch.setattr("marey.studio.motion_history.MAX_BYTES", source.max_bytes + 1_000)
    motions.reserve("driven", source.max_bytes)
    with pytest.raises(InvalidValue, match="close some"):
        motions.add_result(walks[0])
    with pytest.raises(InvalidValue, match="close some"):
        motions.reserve("drive models", 2_000)
    motions.reserve("driven", 0)
    motions.add_result(walks[0])


def test_models_that_were_not_used_for_longest_go_first(monkeypatch: pytest.MonkeyPatch, walks: list[Motion]) -> None:
    arrays = (walks[0].root_positions, walks[0].rotations)
    one = measure_size(walks[0])
    assert one >= sum(each.nbytes for each in arrays)
    assert measure_size({"a": [walks[0], walks[0]]}) == one, "each array once"
    monkeypatch.setattr("marey.studio.panels.drive_models.MAX_BYTES", 250)
    held: list[int] = []
    models = Models(held.append)
    for name in "abc":
        models.put(name, np.zeros(100, dtype=np.int8))
        models.get("a" if name != "c" else "c")
    assert [name in models for name in "abc"] == [True, False, True]
    models.put("large", np.zeros(1_000, dtype=np.int8))
    assert (len(models), models.size, held) == (1, 1_000, [100, 200, 200, 1_000])
    models.put("large", np.zeros(100, dtype=np.int8))
    assert held[-1] == 100, "in place of the one of that name"


def test_models_that_are_refused_drive_no_other_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marey.studio.panels.drive_models.MAX_BYTES", 250)

    def hold(size: int) -> None:
        if size > 300:
            raise InvalidValue("close some")

    models = Models(hold)
    models.put("a", np.zeros(100, dtype=np.int8))
    with pytest.raises(InvalidValue, match="close some"):
        models.put("large", np.zeros(1_000, dtype=np.int8))
    assert ("a" in models, "large" in models, models.size) == (True, False, 100)


def test_a_failed_start_does_not_change_the_records(
    monkeypatch: pytest.MonkeyPatch, drivers: dict[str, Callable[[], Driver]]
) -> None:
    async def scene() -> None:
        monkeypatch.setattr(drive, "_make_driver", AsyncMock(return_value=drivers["tree"]()))
        motions, live = Motions(), Live(Outbox(), lambda event: None)
        session = SimpleNamespace(motions=motions, live=live, state=PanelState())
        await drive.start_drive(cast("Session", session), StartDrive("tree"))
        before = motions._reserved["driven"]
        source = session.state["drive"].find(None).source
        assert before == source.max_bytes
        monkeypatch.setattr(source, "max_bytes", before - 1)  # another would be larger
        motions.reserve("driven", before - 1)
        monkeypatch.setattr(live, "take_ticket", lambda: -1)
        with pytest.raises(Cancelled, match="another stream was started"):
            await drive.start_drive(cast("Session", session), StartDrive("tree"))
        assert (motions._reserved["driven"], session.state["drive"].find(None).source) == (before - 1, source)
        live.stop()

    asyncio.run(scene())


def test_a_late_start_does_not_end_the_current_drive(drivers: dict[str, Callable[[], Driver]]) -> None:
    async def scene() -> None:
        live = Live(Outbox(), lambda event: None)
        late = live.take_ticket()
        newer = live.take_ticket()
        source = DriveSource(drivers["tree"](), Record())
        stream = live.start(source, 30.0, newer).stream
        with pytest.raises(Cancelled, match="another stream was started"):
            live.start(source, 30.0, late)
        live.stop(stream - 1)
        assert live.playing == (stream,), "another's stream goes on"
        second = live.start(source, 30.0, beside=[stream]).stream
        assert live.playing == (stream, second)
        waiting = live.take_ticket()
        live.stop(stream)
        assert live.playing == (second,)
        live.stop()
        assert live.playing == ()
        with pytest.raises(Cancelled):
            live.start(source, 30.0, waiting)

    asyncio.run(scene())


# --- Over the socket


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, built: Path, character: ParametricMotionGraph) -> Iterator[FakePage]:
    folder = tmp_path_factory.mktemp("driven")
    character.save(folder / "walker.json")
    server = Server(folder, built)
    with FakePage(server) as result:
        yield result
    server.stop()


def _live(page: FakePage, stream: int, n: int) -> list[tuple[Any, dict[str, Any]]]:
    """Return the next n frames of a stream and their info."""
    out: list[tuple[Any, dict[str, Any]]] = []
    while len(out) < n:
        while not page.binary:
            page.receive()
        of, positions, report = _read(page.binary.pop(0))
        if of == stream:
            out.append((positions, report))
    return out


def _read(data: bytes) -> tuple[int, Any, dict[str, Any]]:
    """Return stream, positions (J, 3) and info of a live frame; 0 for a frame of another kind."""
    header, positions, rotations = unpack(data)
    if header[1] != 2:
        return 0, positions[0], {}
    return header[3], positions[0], json.loads(data[16 + positions.nbytes + rotations.nbytes + 8 :])


def test_a_saved_character_is_driven_and_another_controller_continues(page: FakePage) -> None:
    assert page.do("drive_list")["files"] == ["walker.json"]
    page.do("drive_prepare", name="nobody")  # not on disk: nothing to load
    with pytest.raises(Failed, match="nothing has been driven yet"):
        page.do("drive_keep")
    started = page.do("drive_start", way="character", source="file", name="walker.json")
    assert [node["name"] for node in started["nodes"]] == ["walk"]
    assert (started["speed"], started["delay"], started["started"]["rate"]) == (None, pytest.approx(1 / 60), 60.0)
    page.do("drive_request", direction=1.5)
    frames = _live(page, started["started"]["stream"], 12)
    assert "reach" in frames[0][1] or any("reach" in report for _, report in frames)
    assert frames[-1][1]["doing"] == "walk"

    page.binary.clear()
    other = page.do("drive_start", way="tree")
    last = [report for of, _, report in map(_read, page.binary) if of == started["started"]["stream"]][-1]
    assert other["started"]["stream"] == started["started"]["stream"] + 1
    ((begun, report),) = _live(page, other["started"]["stream"], 1)
    assert math.dist(report["place"][1:], last["place"][1:]) < 1.0
    assert abs(begun[:, 1]).max() < 2.5
    page.do("drive_request", point=[1.0, 1.0])
    _live(page, other["started"]["stream"], 5)
    ways = {each["way"]: each for each in page.do("drive_statistics")["ways"]}
    assert set(ways) == {"character", "tree"}
    assert page.do("drive_keep")["motion"]["name"] == "driven"
    # Another character starts beside it. Each follows its own requests, and one can be replaced while the other
    # continues.
    first = other["started"]["stream"]
    second = page.do("drive_start", way="tree", beside=True)["started"]["stream"]
    page.do("drive_request", stream=first, direction=0.0)
    page.do("drive_request", stream=second, direction=1.5)
    places = [_live(page, stream, 1)[0][1]["place"] for stream in (first, second)]
    assert 0.3 < math.dist(places[0][1:], places[1][1:]) < 2.5
    third = page.do("drive_start", way="tree", stream=first)["started"]["stream"]
    page.binary.clear()
    _live(page, second, 3)
    _live(page, third, 3)
    page.do("live_stop", stream=second)
    page.do("live_stop", stream=third)
    other = page.do("drive_start", way="tree")
    page.do("live_stop", stream=started["started"]["stream"])
    _live(page, other["started"]["stream"], 3)  # the later one continues
    page.do("live_stop", stream=other["started"]["stream"])


@pytest.mark.parametrize(
    ("do", "fields", "message"),
    [
        ("drive_start", {"way": "fly"}, "expected 'character' or 'graph' or 'matching' or 'tree'"),
        ("drive_start", {"way": "character", "name": "wlking"}, "no built-in character 'wlking'"),
        ("drive_start", {"way": "character", "source": "file", "name": "../x.json"}, "expected a path within"),
        ("drive_start", {"way": "character", "source": "draft"}, "has no nodes yet"),
        ("drive_start", {"way": "tree", "motions": ["m99"]}, "clip 'm99' is not open"),
        ("drive_request", {"direction": "left"}, "expected a finite number"),
    ],
)
def test_what_cannot_be_driven_is_refused(page: FakePage, do: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Failed, match=message):
        page.do(do, **fields)


def test_a_character_stops_without_a_request_and_looks_first() -> None:
    driver = CharacterDriver(small_character("stopping"), "lock")
    source = DriveSource(driver, Record(), look=True)
    source.request(DriveRequest(direction=0.0))
    for _ in range(round(2.0 * source.fps)):
        source.frame()
    source.request(DriveRequest(direction=0.0, stop=True))
    frames = [source.frame() for _ in range(round(9.0 * source.fps))]
    hips = np.array([frame.positions[driver.stream.skeleton.roles["hips"]] for frame in frames])
    last = hips[-round(source.fps) :]
    assert np.linalg.norm(last[-1] - last[0]) < 0.1 < np.linalg.norm(hips[0] - hips[-1])
    plain, looking = (DriveSource(CharacterDriver(small_walker(), "lock"), Record(), look) for look in (False, True))
    apart = []
    for each in (plain, looking):
        each.frame()
        each.request(DriveRequest(direction=1.5))
    for _ in range(round(0.6 * plain.fps)):
        a, b = plain.frame(), looking.frame()
        apart.append(np.abs(a.rotations - b.rotations).max())
    assert max(apart) > 0.1


def test_a_blend_tree_plays_an_action_once_and_holds_a_fall_until_it_ends(walks):
    from marey.control import OneShot
    from marey.edit import resample
    from marey.samples import sample

    throw, fall = (resample(sample(name).motion, walks[0].fps) for name in ("throw", "fall"))
    tree = BlendTree.from_walks(
        walks, actions={"throw": OneShot(throw, joints=["upper"]), "fall": OneShot(fall, hold=True)}
    )
    driver = TreeDriver(tree, BlendTreeSettings(feet="lock"))
    assert [node.name for node in driver.nodes] == ["throw", "fall"]
    asked = []
    driver.stream.request = lambda **command: asked.append(command)  # type: ignore[method-assign]
    for node in ("throw", "throw", None, "fall", None, "nothing"):
        driver.request({"direction": 0.0, "node": node})
    assert [each["action"] for each in asked if "action" in each] == ["throw", "fall", None]


def test_the_upper_body_of_another_clip_is_carried(drivers: dict[str, Callable[[], Driver]]) -> None:
    box = sample("carry_box", fps=30.0, seconds=4.0).motion
    plain, carrying = (
        DriveSource(drivers["tree"](), Record(), upper=upper) for upper in (None, make_upper(drivers["tree"](), box))
    )
    hands = [carrying.skeleton.roles[f"{side}_hand"] for side in ("left", "right")]
    gaps = []
    for source in (plain, carrying):
        shown = np.array([source.frame().positions[hands] for _ in range(90)])[-30:]
        gaps.append(np.linalg.norm(shown[:, 0] - shown[:, 1], axis=1))
    assert np.ptp(gaps[1]) < 0.5 * np.ptp(gaps[0]), "hands that carry a box do not swing"


@pytest.mark.filterwarnings("ignore:.*retarget")
def test_a_long_clip_of_another_body_is_retargeted_to_the_character(drivers: dict[str, Callable[[], Driver]]) -> None:
    box = sample("carry_box", fps=30.0, seconds=12.0).motion
    body = box.skeleton
    taller = retarget(box, Skeleton(body.names, body.parents, 1.1 * body.offsets))
    driver = drivers["tree"]()
    source = DriveSource(drivers["tree"](), Record(), upper=make_upper(driver, taller))
    assert source.skeleton == driver.stream.record(0.1).skeleton
    assert np.isfinite(source.frame().positions).all()


def test_plans_on_disk_spare_the_computation(
    character: ParametricMotionGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    built = tmp_path / "built"
    built.mkdir()
    character.save(built / "shared.json")
    assert cached_characters.find_cached("walking") is None
    path = cached_characters.store("walking", built / "shared.json")
    assert path == cached_characters.find_cached("walking") != built / "shared.json"
    loaded = ParametricMotionGraph.load(path)
    assert cached_characters.read_plans(loaded, path) is None
    cached_characters.save_plans(loaded, path)
    again = ParametricMotionGraph.load(path)
    limits = cached_characters.read_plans(again, path)
    assert limits == describe_limits(character)
    monkeypatch.setattr("marey.control.planner.build_table", pytest.fail)
    assert CharacterDriver(again, "lock", limits=limits).limits == limits
    (path.parent / "drive.npz").write_bytes(b"damaged")
    assert cached_characters.read_plans(again, path) is None
    cached_characters.remove("walking")
    assert cached_characters.find_cached("walking") is None


def test_a_character_turns_to_a_point_until_walks_there_are_planned(
    character: ParametricMotionGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    character.save(tmp_path / "walker.json")
    graph = ParametricMotionGraph.load(tmp_path / "walker.json")
    driver = CharacterDriver(graph, "lock", waits=False)
    planner = get_planner(graph, find_turning(graph), GoToSettings().short_way)
    source = DriveSource(driver, Record())
    source.request(DriveRequest(point=(30.0, 0.0)))
    for _ in range(90):
        source.frame()
    assert not planner.has_table("point")
    planner.table("point")
    asked: list[GoTo] = []
    choose = GoTo.choose
    monkeypatch.setattr(GoTo, "choose", lambda one, state: asked.append(one) or choose(one, state))
    for _ in range(90):
        source.frame()
    assert asked


def test_plans_are_made_while_a_character_walks(
    page: FakePage, character: ParametricMotionGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "built").mkdir()
    character.save(tmp_path / "built" / "shared.json")
    path = cached_characters.store("walking", tmp_path / "built" / "shared.json")
    built = [each["name"] for each in page.do("drive_list")["recipes"] if each["is_built"]]
    assert built == ["walking"]
    page.do("drive_start", way="character", source="recipe", name="walking")
    end = time.monotonic() + 120.0
    while not (path.parent / "drive.npz").is_file() and time.monotonic() < end:
        page.receive()  # the server disconnects pages that do not read
    assert cached_characters.read_plans(ParametricMotionGraph.load(path), path) == describe_limits(character)
    page.do("live_stop")
