"""A client of `marey studio`: drive a character and receive its poses. Needs only the standard library and NumPy."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import socket
import struct
import threading
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

_HEADER = struct.Struct("<BBHIII")
_LIVE = 2
_TEXT, _BINARY, _CLOSE, _PING, _PONG = 1, 2, 8, 9, 10
_TIMEOUT = 10.0


class StudioError(Exception):
    """The studio refused a command, or the connection ended."""


class LivePose(NamedTuple):
    """World positions (J, 3) in meters, Y up, and world rotations (J, 4) as w x y z quaternions."""

    positions: np.ndarray
    rotations: np.ndarray
    info: dict[str, Any]


class WebSocket:
    """The client side of a WebSocket (RFC 6455), as far as the studio needs it."""

    def __init__(self, host: str, port: int, path: str, headers: dict[str, str]) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade"]
        lines += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._socket = socket.create_connection((host, port), timeout=_TIMEOUT)
        self._socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self._sending = threading.Lock()
        self._rest = b""
        while b"\r\n\r\n" not in self._rest:
            self._fill()
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            self._socket.close()
            status = head.split(b"\r\n")[0].decode(errors="replace")
            raise StudioError(f"the studio refused the connection: {status}")
        self._socket.settimeout(None)  # building a character takes a while, in which nothing comes

    def send(self, text: str) -> None:
        """Send a text message."""
        self._send(_TEXT, text.encode())

    def receive(self) -> str | bytes:
        """Return the next message; raise `StudioError` at the end."""
        parts, kind = [], 0
        while True:
            first, second = self._take(2)
            size = second & 127
            if size == 126:
                (size,) = struct.unpack(">H", self._take(2))
            elif size == 127:
                (size,) = struct.unpack(">Q", self._take(8))
            data, code = self._take(size), first & 15
            if code == _CLOSE:
                raise StudioError("the studio closed the connection")
            if code == _PING:
                self._send(_PONG, data)
                continue
            if code == _PONG:
                continue
            parts.append(data)
            kind = code or kind
            if first & 128:
                whole = b"".join(parts)
                return whole.decode() if kind == _TEXT else whole

    def close(self) -> None:
        """End the connection; a thread that is receiving gets a `StudioError`."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _send(self, code: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            head = struct.pack(">BB", 128 | code, 128 | size)
        elif size < 65_536:
            head = struct.pack(">BBH", 128 | code, 254, size)
        else:
            head = struct.pack(">BBQ", 128 | code, 255, size)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[k & 3] for k, byte in enumerate(data))
        with self._sending:
            self._socket.sendall(head + mask + masked)

    def _take(self, size: int) -> bytes:
        while len(self._rest) < size:
            self._fill()
        out, self._rest = self._rest[:size], self._rest[size:]
        return out

    def _fill(self) -> None:
        try:
            data = self._socket.recv(65_536)
        except TimeoutError:
            raise StudioError("the studio does not answer") from None
        except OSError as error:
            raise StudioError(f"the connection to the studio ended: {error}") from None
        if not data:
            raise StudioError("the studio closed the connection")
        self._rest += data


class Studio:
    """A connection to a studio on this computer.

    Parameters
    ----------
    address : what `marey studio` prints: ``http://127.0.0.1:PORT/?token=...``.

    Attributes
    ----------
    joints, parents : names and parent indices (-1 for the root) of the character, after `drive`.
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address.strip())
        if parts.hostname is None or "token=" not in parts.query:
            raise StudioError("expected the address that `marey studio` prints, with its token")
        host, port = parts.hostname, parts.port or 80
        try:
            with contextlib.closing(http.client.HTTPConnection(host, port, timeout=_TIMEOUT)) as asking:
                asking.request("GET", f"/?{parts.query}")
                cookie = (asking.getresponse().getheader("Set-Cookie") or "").partition(";")[0]
            if not cookie:
                raise StudioError("the studio refused the token; copy the address again")
            own = {"Origin": f"http://{host}:{port}", "Cookie": cookie}
            self._socket = WebSocket(host, port, "/ws", own)
        except OSError as error:
            raise StudioError(f"no studio answers at {host}:{port}: {error}; start `marey studio`") from None
        self.joints: tuple[str, ...] = ()
        self.parents: tuple[int, ...] = ()
        self._number = 0
        self._latest: LivePose | None = None
        self._error = ""
        self._changed = threading.Condition()
        self._answers: dict[int, dict[str, Any]] = {}
        threading.Thread(target=self._listen, daemon=True).start()
        self._do("hello", session="", seen=-1)

    def drive(self, character: str, file: bool = False, wait: float = 300.0) -> None:
        """Start a character: a recipe that comes with marey, or with `file` a file in the studio's folder."""
        fields = {"way": "character", "source": "file" if file else "recipe", "name": character, "feet": "lock"}
        started = self._do("drive_start", wait, **fields)["started"]
        self.joints, self.parents = tuple(started["joints"]), tuple(started["parents"])

    def request(self, **fields: Any) -> None:
        """Ask for a `direction` in radians from +Z, positive to the left, a `point` (x, z), a `speed`, or to `stop`."""
        self._do("drive_request", **fields)

    def pose(self) -> LivePose | None:
        """Return the newest pose, None before the first; raise `StudioError` if the connection has ended."""
        with self._changed:
            if self._error:
                raise StudioError(self._error)
            return self._latest

    def close(self) -> None:
        """End the connection, and with it the stream."""
        self._socket.close()

    def _do(self, command: str, wait: float = 30.0, **fields: Any) -> dict[str, Any]:
        """Send a command and wait for the answer, at most `wait` seconds."""
        with self._changed:
            self._number += 1
            number = self._number
        self._socket.send(json.dumps({"id": number, "do": command, **fields}))
        with self._changed:
            self._changed.wait_for(lambda: number in self._answers or bool(self._error), wait)
            if number not in self._answers:
                raise StudioError(self._error or f"the studio did not answer within {wait:g} s")
            answer = self._answers.pop(number)
        if answer["kind"] == "failed":
            raise StudioError(answer["error"]["text"])
        result: dict[str, Any] = answer["result"]
        return result

    def _listen(self) -> None:
        try:
            while True:
                message = self._socket.receive()
                if isinstance(message, bytes):
                    self._keep(message)
                    continue
                answer = json.loads(message)
                if answer["kind"] in ("done", "failed"):
                    with self._changed:
                        self._answers[answer["id"]] = answer
                        self._changed.notify_all()
        except (StudioError, OSError, ValueError, KeyError) as error:
            with self._changed:
                self._error = str(error)
                self._changed.notify_all()

    def _keep(self, message: bytes) -> None:
        """Store a live frame as the newest pose."""
        _, kind, joints, _, _, count = _HEADER.unpack_from(message)
        if kind != _LIVE or count != 1:
            return
        numbers = np.frombuffer(message, "<f4", 7 * joints, _HEADER.size).astype(float)
        info = message[_HEADER.size + 28 * joints + 8 :]
        pose = LivePose(
            numbers[: 3 * joints].reshape(joints, 3),
            numbers[3 * joints :].reshape(joints, 4)[:, [3, 0, 1, 2]],
            json.loads(info) if info else {},
        )
        with self._changed:
            self._latest = pose
