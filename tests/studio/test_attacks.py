"""Attacks by clients that have the cookie: hostile pages and files. None can leave the folder or fill the memory."""

from __future__ import annotations

import io
import json
import os
import pickle
import socket
import struct
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

import marey
from marey.studio.motion_history import Motions, Opened
from marey.studio.places import Places
from marey.studio.sockets import MAX_FRAGMENTS
from tests.studio.client import WAIT, Failed, FakePage, Server


def until(holds: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.01)


def upload(server: Server, page: FakePage, name: str, body: bytes) -> tuple[int, str]:
    path = f"/upload?session={page.welcome['session']}&name={quote(name)}"
    status, _, answer = server.request("POST", path, None, body)
    return status, json.loads(answer).get("text", "")


# --- The folder


@pytest.fixture
def outside(clips: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder outside with a motion; a folder, a file and a cycle in the open folder link to it."""
    (tmp_path / "secret.bvh").write_bytes((clips / "walk.bvh").read_bytes())
    links = {"door": tmp_path, "hole.bvh": tmp_path / "secret.bvh", "round.bvh": clips / "round.bvh"}
    for name, target in links.items():
        (clips / name).symlink_to(target)
    yield tmp_path
    for name in links:
        (clips / name).unlink()


@pytest.mark.parametrize(
    "path",
    [
        "door/secret.bvh",
        "hole.bvh",
        "round.bvh",
        "deep/../../secret.bvh",
        "..",
        "/etc/passwd",
        "C:\\secret.bvh",
        "deep\\..\\..\\secret.bvh",
        "walk.bvh/../../secret.bvh",
        "walk.bvh\0.bvh",
        "./walk.bvh",
        "~/secret.bvh",
        "%2e%2e/secret.bvh",
        "x" * 5000 + ".bvh",
        "\ud800.bvh",
    ],
)
def test_no_path_leads_out(page: FakePage, outside: Path, path: str) -> None:
    for where in ("folder", "uploads"):
        with pytest.raises(Failed) as failed:
            page.do("open", path=path, where=where)
        assert failed.value.type in ("InvalidValue", "UnreadableFile", "UnknownFormat")
        assert str(outside) not in failed.value.text
    assert not [each for each in page.do("list")["files"] if "secret" in each["path"] or "hole" in each["path"]]


def test_a_pipe_is_refused(page: FakePage, clips: Path) -> None:
    """Opening one would wait forever for a writer."""
    for name in ("pipe.bvh", "odd.marey.json"):
        os.mkfifo(clips / name)
    (clips / "odd.bvh").write_bytes((clips / "deep/turn.bvh").read_bytes())
    try:
        with pytest.raises(Failed, match="no such file"):
            page.do("open", path="pipe.bvh")
        assert page.do("open", path="odd.bvh")["labels"] == []
        assert "pipe.bvh" not in [each["path"] for each in page.do("list")["files"]]
    finally:
        for name in ("pipe.bvh", "odd.marey.json", "odd.bvh"):
            (clips / name).unlink()


def test_a_file_that_becomes_a_link_is_not_given_away(
    server: Server, page: FakePage, clips: Path, tmp_path: Path
) -> None:
    """The skin is fetched after the motion was opened: its path is checked again."""
    secret = tmp_path / "secret.glb"
    secret.write_bytes(b"secret")
    mine = clips / "mine.glb"
    mine.write_bytes((clips / "both.glb").read_bytes())
    info = page.do("open", path="mine.glb", settings={"clip": "turn"})
    assert server.request("GET", info["skin"])[2] == mine.read_bytes()
    mine.unlink()
    mine.symlink_to(secret)
    status, _, body = server.request("GET", info["skin"])
    mine.unlink()
    assert status == 404
    assert b"secret" not in body.replace(b"mine.glb", b"")
    assert str(tmp_path).encode() not in body


def test_saving_does_not_write_through_a_link(page: FakePage, clips: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious.json"
    target.write_text("precious")
    (clips / "mine.bvh").write_bytes((clips / "deep/turn.bvh").read_bytes())
    side = clips / "mine.marey.json"
    try:
        motion = page.do("open", path="mine.bvh")["motion"]
        page.do("set_labels", motion=motion, labels=[{"name": "a", "start": 0, "stop": 5}])
        side.symlink_to(target)
        with pytest.raises(Failed, match="its companion file mine.marey.json is outside the open folder"):
            page.do("save", motion=motion)
        assert target.read_text() == "precious"
    finally:
        side.unlink()
        (clips / "mine.bvh").unlink()


# --- Uploads


def test_simultaneous_uploads_are_counted_together(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each upload alone would fit; together, all still running, they do not."""
    monkeypatch.setattr("marey.studio.places.SESSION_BYTES", 100_000)
    with FakePage(server) as page:
        session = page.welcome["session"]
        places = server.studio.sessions.find(session).places  # type: ignore[union-attr]
        lines = [f"POST /upload?session={session}&name={{}}.bvh HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in server.own().items()]
        lines += ["Transfer-Encoding: chunked", "", ""]
        open_ones = []
        for i in range(4):
            one = socket.create_connection(("127.0.0.1", server.address.port), timeout=WAIT)
            one.sendall("\r\n".join(lines).format(i).encode() + b"7530\r\n" + b"x" * 30_000 + b"\r\n")
            open_ones.append(one)
            if i < 3:
                until(lambda i=i: sum(places._arriving.values()) == 30_000 * (i + 1), "the bytes to be counted")
        assert open_ones[3].recv(4096).startswith(b"HTTP/1.1 413")
        for one in open_ones:
            one.close()
        until(lambda: not places._arriving, "an end to the uploads")
        assert not [path for path in places.own.iterdir() if path.is_file()]
        assert upload(server, page, "a.bvh", b"x" * 90_000)[0] == 200


def test_uploads_leave_room_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    places = Places("s", None)
    monkeypatch.setattr("marey.studio.places.FREE_BYTES", 2**62)
    with pytest.raises(marey.errors.LimitExceeded, match="not enough disk space"):
        places.check_upload("walk.bvh", 1)
    places.close()


class Bomb:
    """An object whose unpickling runs code."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (os.environ["MAREY_BOMB"],)


def test_nothing_is_unpickled(server: Server, page: FakePage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAREY_BOMB", str(tmp_path / "burst"))
    objects = np.empty(1, dtype=object)
    objects[0] = Bomb()
    packed = io.BytesIO()
    np.savez(packed, rotations=objects, names=objects, format=objects)
    bombs = {"a.npz": packed.getvalue(), "b.npz": pickle.dumps(Bomb()), "c.bvh": pickle.dumps(Bomb())}
    for name, body in bombs.items():
        assert upload(server, page, name, body)[0] == 200
        with pytest.raises(Failed):
            page.do("open", path=name, where="uploads")
    assert not (tmp_path / "burst").exists()
    pickle.loads(bombs["b.npz"])
    assert (tmp_path / "burst").exists()  # it would have run by now


def test_a_file_that_unpacks_to_more_than_the_memory_is_refused(server: Server, page: FakePage) -> None:
    header = (
        b"\x93NUMPY\x01\x00v\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (40000000, 31, 4), }".ljust(117)
        + b"\n"
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("rotations.npy", "w") as entry:
        entry.write(header + bytes(2**25))
    assert len(packed.getvalue()) < 100_000
    assert upload(server, page, "bomb.npz", packed.getvalue())[0] == 200
    with pytest.raises(Failed) as failed:
        page.do("open", path="bomb.npz", where="uploads")
    assert failed.value.type in ("LimitExceeded", "ParseError", "UnreadableFile", "UnknownFormat")


# --- Memory


def raw_socket(server: Server) -> socket.socket:
    """Return a WebSocket, just after its handshake, to which a test writes raw bytes."""
    result = socket.create_connection(("127.0.0.1", server.address.port), timeout=WAIT)
    lines = ["GET /ws HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"]
    lines += ["Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]
    lines += [f"{name}: {text}" for name, text in server.own().items()]
    result.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    assert result.recv(4096).startswith(b"HTTP/1.1 101")
    return result


def piece(opcode: int, body: bytes) -> bytes:
    """Return a short frame with a mask of zeros."""
    return struct.pack("!BB4x", opcode, 0x80 | len(body)) + body


@pytest.mark.parametrize("hostile", [piece(0x89, b"x" * 125), piece(0x00, b"")], ids=["pings", "empty pieces"])
def test_endless_input_ends_the_connection(server: Server, hostile: bytes) -> None:
    """Each ping is answered. The answers would pile up for a client that does not read; so would empty fragments."""
    result = raw_socket(server)
    result.sendall(piece(0x01, b"{"))
    some = hostile * (2 * MAX_FRAGMENTS)
    with pytest.raises(OSError, match=r"reset|[Bb]roken pipe|aborted"):
        result.sendall(some * 200)
    result.close()
    with FakePage(server) as other:
        assert other.do("list")["files"]


def test_frames_are_not_made_for_a_page_that_does_not_read(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    page = FakePage(server, max_queue=1)
    motion = page.do("open", path="walk.bvh")["motion"]
    session = server.studio.sessions.find(page.welcome["session"])
    assert session is not None
    result = []
    frames = session.motions.frames
    monkeypatch.setattr(session.motions, "frames", lambda *asked: result.append(asked) or frames(*asked))
    for _ in range(4):  # more than the network and the client's queue take in: nothing goes out anymore
        session.outbox.put_live(b"x" * (32 * 2**20))
    waiting = [(len(session.outbox._live), time.monotonic())]

    def is_stuck() -> bool:
        """Return whether nothing was sent for a second."""
        if len(session.outbox._live) != waiting[0][0]:
            waiting[0] = (len(session.outbox._live), time.monotonic())
        return waiting[0][0] < 4 and time.monotonic() > waiting[0][1] + 1.0

    until(is_stuck, "the network to be full")
    for _ in range(100):
        page.send("frames", motion=motion, start=0, stop=121)
    until(lambda: len(session._tasks) >= 50, "the commands")
    time.sleep(0.2)
    # Eight wait, four are being made and one is being sent; the network may still hold a few more.
    assert len(result) < 50
    page.socket.socket.shutdown(socket.SHUT_RDWR)
    page.socket.close()
    until(lambda: not session._tasks, "an end to it")


def test_large_messages_do_not_pile_up(server: Server, page: FakePage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marey.studio.session.MAX_MESSAGE_CHARS", 1_000_000)
    motion = page.do("open", path="walk.bvh")["motion"]
    session = server.studio.sessions.find(page.welcome["session"])
    assert session is not None
    held = threading.Event()
    motion_of = session.motions.motion
    monkeypatch.setattr(session.motions, "motion", lambda name: held.wait(WAIT) and motion_of(name))
    labels = [{"name": "x" * 100, "start": 0, "stop": 1}] * 3000
    requested = [page.send("set_labels", motion=motion, labels=labels) for _ in range(6)]
    report = []
    for number in requested[2:]:
        with pytest.raises(Failed) as failed:
            page.answer(number)
        report.append(failed.value.type)
    assert report == ["Busy"] * 4
    assert session._message_chars <= 1_000_000
    held.set()
    monkeypatch.undo()
    until(lambda: not session._message_chars, "room")
    assert len(page.do("motion", motion=motion)["labels"]) == 3000


def test_labels_are_bounded(page: FakePage) -> None:
    motion = page.do("open", path="walk.bvh")["motion"]
    with pytest.raises(Failed, match="expected at most 5000 labels on a motion, got 5001"):
        page.do("set_labels", motion=motion, labels=[{"name": "x", "start": 0, "stop": 1}] * 5001)
    with pytest.raises(Failed, match="a label name of at most 200 characters, got 201"):
        page.do("set_labels", motion=motion, labels=[{"name": "x" * 201, "start": 0, "stop": 1}])


def test_open_motions_are_bounded_with_their_history(walk: marey.Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    motions = Motions()
    name = motions.add(Opened(walk))
    size = motions._bytes()
    assert size == sum(each.nbytes for each in (walk.root_positions, walk.rotations, walk.contacts.mask))
    motions.change(name, walk, marey.Motion(walk.skeleton, walk.root_positions, walk.rotations, walk.fps), "plain")
    assert motions._bytes() == size  # shared
    monkeypatch.setattr("marey.studio.motion_history.MAX_BYTES", 3 * size)
    for _ in range(5):
        before = motions.motion(name)
        after = marey.Motion(walk.skeleton, walk.root_positions + 1.0, np.array(walk.rotations), walk.fps)
        motions.change(name, before, after, "moved")
    assert motions._bytes() <= 3 * size
    assert 1 <= motions.opened(name).at <= 3
    with pytest.raises(marey.errors.InvalidValue, match="GB of motion data would be open; close some"):
        motions.add(Opened(marey.Motion(walk.skeleton, walk.root_positions + 2.0, np.array(walk.rotations), walk.fps)))


def test_a_message_that_is_not_text_ends_the_connection_quietly(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    page = FakePage(server)
    page.socket.socket.sendall(b"\x81\x83\x00\x00\x00\x00\xff\xfe{")  # a text frame, masked with zeros
    with pytest.raises(ConnectionClosed) as closed:
        page.socket.recv(timeout=WAIT)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1007
    assert not caplog.records
