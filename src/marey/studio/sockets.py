"""Uvicorn's protocols with limits against hostile clients.

Connections that have not sent a complete request are closed after a while, and their number is limited, so that they
cannot take up all files that the process may open. For WebSockets, message size is limited, and reading pauses until
the page's commands are handled. Two things escape both limits: pings, each of which queues an answer that a client may
never read; and empty fragments of one message, which do not count toward the message size. The classes are not in
`marey.studio.serve`, because that module must be importable without uvicorn.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from websockets.frames import Frame

# Maximum number of fragments of one message.
MAX_FRAGMENTS = 4096
# Seconds that a client may take to send the headers of a request.
HEADER_SECONDS = 10.0
# Maximum number of connections, and of those that have not sent a complete request. Each takes an open file, and many
# systems allow a process 256 of them.
MAX_CONNECTIONS, MAX_WAITING = 160, 64


class BoundedHttp(H11Protocol):
    """HTTP protocol that drops clients that take too long to send a request, and connections beyond the limits."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection. Beyond the limit, close the connection that has waited longest for a request, or else
        the new one."""
        super().connection_made(transport)
        waiting = [each for each in self.connections if isinstance(each, BoundedHttp) and each._deadline is not None]
        self._watch()
        if len(waiting) >= MAX_WAITING:
            oldest = min(waiting, key=lambda each: each._deadline.when() if each._deadline else 0.0)
            oldest._stop_watching()  # it no longer waits; otherwise several new clients would all replace this one
            oldest.transport.abort()
        elif len(self.connections) > MAX_CONNECTIONS:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Receive data, and limit the time for the rest of the headers."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request on this connection."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        self._stop_watching()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Stop watching: the connection becomes a WebSocket."""
        self._stop_watching()
        super().handle_websocket_upgrade(event)

    def _watch(self) -> None:
        is_upgraded = self.transport.get_protocol() is not self
        if is_upgraded or self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class BoundedProtocol(WebSocketsSansIOProtocol):
    """WebSocket protocol that drops clients that flood the server with pings or fragments, as no browser does."""

    def handle_ping(self) -> None:
        """Answer a ping. If the client does not read the answers, drop the connection."""
        super().handle_ping()
        if not self.writable.is_set():
            self.transport.abort()

    def handle_cont(self, event: Frame) -> None:
        """Accept another fragment of a message. Beyond the limit, drop the connection."""
        if len(self.frames) >= MAX_FRAGMENTS:
            self.frames = []
            self.transport.abort()
            return
        super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """Pass on a message. One that is not UTF-8 ends the connection, without uvicorn's traceback in the terminal."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.frames = []
                self.conn.send_close(1007)
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()
