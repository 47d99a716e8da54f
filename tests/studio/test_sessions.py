"""Sessions: they survive a lost connection, end with the page, and have limited memory."""

from __future__ import annotations

import asyncio
import os
import socket as sockets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from marey import Motion
from marey.studio import outbox as boxes
from marey.studio.live import Live, MotionPlayer
from marey.studio.messages import FolderList
from marey.studio.outbox import BLOCKS, LIVE, Outbox, TooSlow
from marey.studio.panels.look_messages import ListFolder
from marey.studio.registry import Command
from marey.studio.session import MAX_WAITING, PanelState, Session
from tests.studio.client import WAIT, Failed, FakePage, Server


def session_of(server: Server, page: FakePage) -> Session:
    session = server.studio.sessions.find(page.welcome["session"])
    assert session is not None
    return session


def lose(page: FakePage) -> None:
    """End a connection like a lost network: without a close frame."""
    page.socket.socket.shutdown(sockets.SHUT_RDWR)
    page.socket.close()


def until(holds: object, what: str) -> None:
    end = time.monotonic() + WAIT
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end, f"{what} did not come about"
        time.sleep(0.01)


# --- Coming back


def test_a_lost_page_resumes_its_session(server: Server) -> None:
    page = FakePage(server)
    motion = page.do("open", path="walk.bvh")["motion"]
    missed = page.send("set_labels", motion=motion, labels=[])
    seen, session = page.seen, session_of(server, page)
    until(lambda: session.outbox.last > seen, "the answer")
    lose(page)
    until(lambda: not session.outbox.is_attached, "the loss")
    with FakePage(server, page.welcome["session"], seen, page.number) as back:
        assert (back.welcome["resumed"], back.welcome["lost"], back.welcome["received"]) == (True, False, missed)
        assert [each["motion"] for each in back.welcome["motions"]] == [motion]
        assert back.answer(missed)["labels"] == []
        assert back.do("undo", motion=motion)["labels"] != []


def test_work_continues_while_the_page_is_lost(server: Server) -> None:
    page = FakePage(server)
    motion = page.do("open", path="walk.bvh")["motion"]
    job = page.send("operate", operation="measure", settings={}, motion=motion)
    page.do("list")
    session = session_of(server, page)
    lose(page)
    until(lambda: not session.outbox.is_attached, "the loss")
    with FakePage(server, page.welcome["session"], page.seen, page.number) as back:
        assert back.answer(job)["rows"]


def test_a_command_that_is_sent_again_is_not_done_again(server: Server) -> None:
    with FakePage(server) as page:
        motion = page.do("open", path="walk.bvh")["motion"]
        page.number -= 1
        again = page.send("open", path="walk.bvh")
        assert page.do("list")["files"]
        assert again not in page.answers
        assert page.do("motion", motion=motion)["motion"] == motion
        with pytest.raises(Failed, match="clip 'm2' is not open"):
            page.do("motion", motion="m2")


def test_a_reloaded_page_finds_its_motions_and_no_old_answers(server: Server) -> None:
    page = FakePage(server)
    page.do("open", path="walk.bvh")
    page.close()
    with FakePage(server, page.welcome["session"]) as back:
        assert back.welcome["resumed"]
        assert [each["name"] for each in back.welcome["motions"]] == ["walk"]
        back.number = back.welcome["received"]
        back.do("list")
        assert back.answers == {}


def test_a_second_page_takes_the_session_over(server: Server) -> None:
    first = FakePage(server)
    with FakePage(server, first.welcome["session"]) as second:
        with pytest.raises(ConnectionClosed) as ended:
            first.socket.recv(timeout=WAIT)
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 4001
        assert second.do("list")["files"]
        time.sleep(0.05)
        assert session_of(server, second).outbox.is_attached


def test_an_unknown_session_is_a_new_one(server: Server) -> None:
    with FakePage(server, "nobody's") as page:
        assert not page.welcome["resumed"]
        assert page.welcome["session"] != "nobody's"


def test_dropped_replies_are_reported(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "KEPT", 3)
    page = FakePage(server)
    for _ in range(6):
        page.do("list")
    page.close()
    with FakePage(server, page.welcome["session"], 1, page.number) as back:
        assert back.welcome["lost"]
        assert back.do("list")["files"]


# --- Going


def test_the_worker_ends_with_its_page(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marey.studio.sessions.WORK", 0.05)
    monkeypatch.setattr("marey.studio.sessions.CLOSED", 0.1)
    page = FakePage(server)
    motion = page.do("open", path="walk.bvh")["motion"]
    page.send("operate", operation="clean", settings={}, motion=motion)
    session = session_of(server, page)
    until(lambda: session.jobs.process is not None, "the worker")
    worker = session.jobs.process
    page.close()
    until(lambda: not Path(f"/proc/{worker}").exists() if os.path.isdir("/proc") else True, "the worker's end")
    until(lambda: server.studio.sessions.find(session.id) is None, "the session's end")
    until(lambda: not session.places.own.exists(), "the temporary folder's end")


def test_a_job_is_canceled(server: Server, page: FakePage) -> None:
    motion = page.do("open", path="walk.bvh")["motion"]
    running = page.send("operate", operation="clean", settings={}, motion=motion)
    waiting = page.send("operate", operation="measure", settings={}, motion=motion)
    page.do("cancel", job=waiting)
    page.do("cancel", job=running)
    page.do("cancel", job=12345)
    for job in (running, waiting):
        with pytest.raises(Failed) as failed:
            page.answer(job)
        assert (failed.value.type, failed.value.text) == ("Cancelled", "the work was canceled")
    assert page.do("motion", motion=motion)["undo"] == 0


def test_a_worker_that_dies_is_replaced(server: Server, page: FakePage) -> None:
    motion = page.do("open", path="walk.bvh")["motion"]
    session = session_of(server, page)
    page.operate("measure", motion)
    worker = session.jobs.process
    assert worker is not None
    os.kill(worker, 9)
    until(lambda: session.jobs.process is None, "its end")
    assert page.operate("measure", motion)["rows"]


def test_errors_of_the_worker_keep_their_names(page: FakePage) -> None:
    motion = page.do("open", path="walk.bvh")["motion"]
    with pytest.raises(Failed) as failed:
        page.operate("clean", motion, settings={"floor": 99.0})
    assert failed.value.type == "InvalidValue"
    assert "check “Floor height”" in failed.value.text


def test_unexpected_errors_are_reported_in_one_sentence(
    server: Server, page: FakePage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(session: Session, message: ListFolder) -> FolderList:
        raise RuntimeError("no luck")

    monkeypatch.setitem(server.studio._commands._found, "list", Command(ListFolder, FolderList, broken, True))
    with pytest.raises(Failed, match="RuntimeError: unexpected: no luck"):
        page.do("list")
    assert "the command list failed" in caplog.text


# --- Bounds


def test_texts_are_kept_within_bounds_and_numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        box = Outbox()
        for i in range(5):
            box.put_text(f'{{"i":{i}}}')
        assert await box.take(2) == '{"n":3,"i":2}'
        assert not box.has_lost(0)
        monkeypatch.setattr(boxes, "KEPT_BYTES", 40)
        box.put_text('{"i":5}')
        assert box.has_lost(2)
        assert not box.has_lost(3)
        assert await box.take(5) == '{"n":6,"i":5}'
        with pytest.raises(TooSlow):
            await box.take(0)

    asyncio.run(run())


def test_the_newest_live_frames_win() -> None:
    async def run() -> None:
        box = Outbox()
        box.attach()
        for i in range(1000):
            box.put_live(bytes([i % 256]))
        assert box.dropped_live == 1000 - LIVE
        first = await box.take(0)
        assert first == bytes([(1000 - LIVE) % 256])
        box.put_text("{}")
        assert await box.take(0) == '{"n":1,}'  # texts go before frames

    asyncio.run(run())


def test_nothing_of_a_stream_waits_once_it_is_stopped(walk: Motion) -> None:
    async def run() -> None:
        box = Outbox()
        box.attach()
        live = Live(box, lambda event: None)
        stream = live.start(MotionPlayer(walk, 60.0), 240.0).stream
        while len(box._live) < 3:
            await asyncio.sleep(0.005)
        live.stop(stream + 1)
        assert box._live
        live.stop(stream)
        async with asyncio.timeout(WAIT):
            while box._live:
                await asyncio.sleep(0.005)

    asyncio.run(run())


def test_requested_frames_wait_for_space_in_the_queue() -> None:
    async def run() -> None:
        box = Outbox()
        await box.put_block(b"no page yet")
        box.attach()
        for _ in range(BLOCKS):
            await box.put_block(b"x")
        late = asyncio.ensure_future(box.put_block(b"late"))
        await asyncio.sleep(0)
        assert not late.done()
        assert await box.take(0) == b"x"
        await asyncio.wait_for(late, WAIT)
        later = asyncio.ensure_future(box.put_block(b"gone"))
        await asyncio.sleep(0)
        box.detach()
        await asyncio.wait_for(later, WAIT)

    asyncio.run(run())


def test_a_page_that_asks_and_does_not_read_cannot_fill_the_memory(server: Server) -> None:
    page = FakePage(server, max_queue=1)
    motion = page.do("open", path="walk.bvh")["motion"]
    session = session_of(server, page)
    for _ in range(3 * MAX_WAITING):
        page.send("frames", motion=motion, start=0, stop=121)
    until(lambda: len(session._tasks) > 0, "work")
    time.sleep(0.3)
    assert len(session._tasks) <= MAX_WAITING
    assert len(session.outbox._blocks) <= BLOCKS
    assert len(session.outbox._texts) <= boxes.KEPT
    with FakePage(server) as other:  # other clients do not notice
        assert other.do("list")["files"]
    lose(page)
    until(lambda: not session._tasks, "an end to it")


def test_a_slow_page_gets_the_newest_live_frames(server: Server) -> None:
    page = FakePage(server, max_queue=1)
    motion = page.do("open", path="walk.bvh")["motion"]
    session = session_of(server, page)
    page.do("live_start", motion=motion, rate=240.0)
    session.outbox.put_live(b"x" * (32 * 2**20))  # more than the network takes in: nothing goes out anymore
    until(lambda: session.outbox.dropped_live > 20, "dropped frames")
    assert len(session.outbox._live) == LIVE
    lose(page)


def test_eight_pages_at_once_get_their_streams(server: Server) -> None:
    pages = [FakePage(server) for _ in range(8)]
    for page in pages:
        motion = page.do("open", path="walk.bvh")["motion"]
        page.do("live_start", motion=motion, rate=20.0)  # pending messages fit into buffers
    for page in pages:
        while len(page.binary) < 20:
            page.receive()
        assert page.do("live_statistics")["dropped"] == 0
        page.close()


def test_there_is_an_end_to_sessions(clips: Path, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marey.studio.sessions.MAX_SESSIONS", 1)
    server = Server(clips, built)
    page = FakePage(server)
    with pytest.raises(ConnectionClosed, match="1008.*the limit of 1 open pages is reached"):
        FakePage(server)
    session = session_of(server, page)
    page.close()
    until(lambda: not session.outbox.is_attached, "the page's end")
    with FakePage(server) as other:  # a session whose page has gone makes room
        assert other.do("list")["files"]
        assert len(server.studio.sessions) == 1
    server.stop()


def test_panel_state_is_created_once() -> None:
    """Two simultaneous commands must not each start a draft of their own."""
    state, begun = PanelState(), threading.Barrier(4)

    def begin() -> object:
        time.sleep(0.02)
        return object()

    def ask() -> object:
        begun.wait()
        return state.get_or_create("draft", begin)

    with ThreadPoolExecutor(4) as pool:
        found = [each.result() for each in [pool.submit(ask) for _ in range(4)]]
    assert len(set(map(id, found))) == 1
    assert state["draft"] is found[0]


def test_a_busy_page_does_not_keep_others_waiting(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def slow(session: Session, message: ListFolder) -> FolderList:
        if session.id == busy.welcome["session"]:
            assert release.wait(WAIT)
        return session.places.list_files()

    monkeypatch.setitem(server.studio._commands._found, "list", Command(ListFolder, FolderList, slow, True))
    with FakePage(server) as busy, FakePage(server) as other:
        asked = [busy.send("list") for _ in range(MAX_WAITING - 1)]
        assert other.do("list")["files"]
        release.set()
        for number in asked:  # all of them: closing waits until they are read
            busy.answer(number)


def test_a_worker_without_work_is_released(server: Server, page: FakePage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marey.studio.jobs.IDLE_SECONDS", 0.05)
    motion = page.do("open", path="walk.bvh")["motion"]
    jobs = session_of(server, page).jobs
    page.operate("measure", motion)
    until(lambda: jobs.process is None, "the release")
    page.operate("measure", motion)
