"""A server on a loopback port and a page without a browser, for the tests."""

from __future__ import annotations

import http.client
import json
import struct
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from websockets.sync.client import ClientConnection, connect

from marey.studio.app import Studio
from marey.studio.folder import Folder
from marey.studio.serve import Address, bind, serve

WAIT = 240.0  # maximum seconds to wait for anything


class Server:
    """A studio in a thread of this process."""

    def __init__(self, folder: Path | None, page: Path) -> None:
        self._server: Any = None
        self.studio = Studio(None if folder is None else Folder(folder), page)
        ready = threading.Event()

        def is_ready(address: Address) -> None:
            self.address = address
            ready.set()

        def run() -> None:
            serve(bind(port=0), self.studio, ready=is_ready, started=self._keep)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        assert ready.wait(WAIT), "the server did not start"
        status, headers, _ = self.request("GET", f"/?token={self.address.token}", {"Host": self.host})
        assert status == 303
        self.cookie = headers["set-cookie"].partition(";")[0]

    def _keep(self, server: Any) -> None:
        self._server = server

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(WAIT)
        assert not self._thread.is_alive()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.address.port}"

    def own(self) -> dict[str, str]:
        """The headers that the page's own requests have."""
        return {"Host": self.host, "Origin": f"http://{self.host}", "Cookie": self.cookie}

    def request(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers with lower-case names, and body; only the headers that HTTP requires are added."""
        connection = http.client.HTTPConnection("127.0.0.1", self.address.port, timeout=WAIT)
        given = self.own() if headers is None else headers
        connection.putrequest(method, path, skip_host="Host" in given, skip_accept_encoding=True)
        for name, value in given.items():
            connection.putheader(name, value)
        if body is not None and not {"Content-Length", "Transfer-Encoding"} & set(given):
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content

    def socket(self, headers: dict[str, str] | None = None, **options: Any) -> ClientConnection:
        """A WebSocket with the given headers."""
        given = dict(self.own() if headers is None else headers)
        given.pop("Host", None)
        origin = given.pop("Origin", None)
        opening = connect(
            f"ws://{self.host}/ws", origin=origin, additional_headers=given, max_size=2**26, compression=None,
            proxy=None, open_timeout=WAIT, ping_interval=None, **options,
        )  # fmt: skip
        return opening.__enter__()


@dataclass
class Failed(Exception):
    """A command that failed."""

    type: str
    text: str
    parameter: str = ""

    def __str__(self) -> str:
        return f"{self.type}: {self.text}"


class FakePage:
    """The page's side of the connection: numbers commands and waits for replies."""

    def __init__(self, server: Server, session: str = "", seen: int = -1, number: int = 0, **options: Any) -> None:
        self.socket = server.socket(**options)
        self.number = number
        self.seen = seen
        self.progress: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        self.answers: dict[int, dict[str, Any]] = {}
        self.binary: list[bytes] = []
        self.welcome = self.do("hello", session=session, seen=seen)

    def send(self, do: str, **fields: Any) -> int:
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "do": do, **fields}))
        return self.number

    def do(self, do: str, **fields: Any) -> dict[str, Any]:
        return self.answer(self.send(do, **fields))

    def operate(self, operation: str, motion: str, **fields: Any) -> dict[str, Any]:
        """Run an operation with the default settings, unless others are given."""
        return self.do("operate", operation=operation, motion=motion, **{"settings": {}, **fields})

    def answer(self, number: int) -> dict[str, Any]:
        while number not in self.answers:
            self.receive()
        message = self.answers.pop(number)
        if message["kind"] == "failed":
            raise Failed(**message["error"])
        return message["result"]

    def receive(self) -> None:
        data = self.socket.recv(timeout=WAIT)
        if isinstance(data, bytes):
            self.binary.append(data)
            return
        message = json.loads(data)
        if message["n"]:
            self.seen = max(self.seen, message["n"])
        if message["kind"] == "progress":
            self.progress.append(message)
        elif message["kind"] == "event":
            self.events.append(message)
        else:
            self.answers[message["id"]] = message

    def frames(
        self, motion: str, start: int, stop: int, step: int | None = None
    ) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
        number = self.send("frames", motion=motion, start=start, stop=stop, step=step)
        while (block := self.block(number)) is None:
            self.receive()
            if number in self.answers:
                self.answer(number)
        return block

    def block(self, number: int) -> tuple[tuple[int, ...], np.ndarray, np.ndarray] | None:
        """Return the frames that came for a command, if they have arrived."""
        for data in self.binary:
            if struct.unpack_from("<BBHIII", data)[1:4:2] == (1, number):
                self.binary.remove(data)
                return unpack(data)
        return None

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> FakePage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def unpack(data: bytes) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """Return header, positions (N, J, 3) and rotations (N, J, 4; xyzw), read as the page reads them."""
    header = struct.unpack_from("<BBHIII", data)
    joints, n = header[2], header[5]
    split = 16 + 12 * n * joints
    positions = np.frombuffer(data, "<f4", 3 * n * joints, 16).reshape(n, joints, 3)
    rotations = np.frombuffer(data, "<f4", 4 * n * joints, split).reshape(n, joints, 4)
    return header, positions, rotations
