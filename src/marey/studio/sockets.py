"""The WebSocket protocol of uvicorn, with an end to what it would take from a hostile client without one.

Messages are bounded by their size and by reading no further than the page's own commands are taken. Two things pass
by both: pings, each of which puts an answer into a buffer that somebody who does not read never empties; and pieces
of one message that are empty, so that their number is not limited by its size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    from websockets.frames import Frame

# Pieces of one message.
MOST_PIECES = 4096


class BoundedProtocol(WebSocketsSansIOProtocol):
    """Drops the connection of whoever does what no browser does."""

    def handle_ping(self) -> None:
        """Answer, unless earlier answers still wait to be read."""
        super().handle_ping()
        if not self.writable.is_set():
            self.transport.abort()

    def handle_cont(self, event: Frame) -> None:
        """Take another piece of a message, up to a number that no message needs."""
        if len(self.frames) >= MOST_PIECES:
            self.frames = []
            self.transport.abort()
            return
        super().handle_cont(event)
