"""Uvicorn's WebSocket protocol with limits against hostile clients.

Message size is limited, and reading pauses until the page's commands are handled. Two things escape both limits:
pings, each of which queues an answer that a client may never read; and empty fragments of one message, whose
number is not limited by the message size. The class is not in `marey.studio.serve`, because that module can be imported
without uvicorn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from websockets.frames import Frame

# Maximum number of fragments of one message.
MAX_FRAGMENTS = 4096


class BoundedProtocol(WebSocketsSansIOProtocol):
    """Drops clients that do what no browser does."""

    def handle_ping(self) -> None:
        """Answer, unless earlier answers have not been read."""
        super().handle_ping()
        if not self.writable.is_set():
            self.transport.abort()

    def handle_cont(self, event: Frame) -> None:
        """Accept another fragment of a message, up to a limit."""
        if len(self.frames) >= MAX_FRAGMENTS:
            self.frames = []
            self.transport.abort()
            return
        super().handle_cont(event)
