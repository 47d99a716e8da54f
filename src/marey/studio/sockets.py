"""Uvicorn's WebSocket protocol with limits against hostile clients.

Message size is limited, and reading pauses until the page's commands are handled. Two things escape both limits:
pings, each of which queues an answer that a client may never read; and empty fragments of one message, which do not
count toward the message size. The class is not in `marey.studio.serve`, because that module must be importable without
uvicorn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from websockets.frames import Frame

# Maximum number of fragments of one message.
MAX_FRAGMENTS = 4096


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
