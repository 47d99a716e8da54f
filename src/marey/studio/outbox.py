"""Queues of messages to a page. Every queue is bounded: a page that does not read cannot fill the memory."""

from __future__ import annotations

import asyncio
from collections import deque

# Replies kept for a page that may reconnect: maximum count and bytes.
KEPT = 512
KEPT_BYTES = 32 * 2**20
# Maximum queued frame blocks, and live frames of each stream. If the queue is full, the oldest live frame is dropped.
BLOCKS = 8
LIVE = 16


class TooSlow(Exception):
    """Raised when replies were dropped because the page read too slowly."""


class Outbox:
    """The messages to one page: numbered texts, stored for a reconnecting page, and binary messages, sent only once.

    Frames that belong to a text are sent just before it.
    """

    def __init__(self) -> None:
        self.last = 0
        self._texts: deque[tuple[int, str]] = deque()
        self._bytes = 0
        self._frames: dict[int, bytes] = {}
        self._blocks: deque[bytes] = deque()
        self._live: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._attached = asyncio.Event()
        self.sent_live = 0
        self.dropped_live = 0
        self.n_streams = 1

    # --- Producer side

    def put_text(self, text: str, frames: bytes | None = None) -> None:
        """Queue a reply: a JSON object, to which the message number is added.

        frames : a binary message to send just before it; dropped if no page is connected.
        """
        self.last += 1
        numbered = f'{{"n":{self.last},{text[1:]}'
        self._texts.append((self.last, numbered))
        self._bytes += len(numbered)
        if frames is not None and self._attached.is_set():
            self._frames[self.last] = frames
            while len(self._frames) > BLOCKS:  # the page requests them if they do not come
                del self._frames[next(iter(self._frames))]
        while len(self._texts) > 1 and (len(self._texts) > KEPT or self._bytes > KEPT_BYTES):
            self._bytes -= len(self._texts.popleft()[1])
        self._wake.set()

    async def put_block(self, block: bytes) -> None:
        """Queue requested frames once there is room. Drop them if no page is connected: it will request them again."""
        while len(self._blocks) >= BLOCKS and self._attached.is_set():
            self._room.clear()
            await self._room.wait()
        if self._attached.is_set():
            self._blocks.append(block)
            self._wake.set()

    def put_live(self, frame: bytes) -> None:
        """Queue a live frame; if the queue is full, drop the oldest."""
        while len(self._live) >= LIVE * self.n_streams:
            self._live.popleft()
            self.dropped_live += 1
        self._live.append(frame)
        self._wake.set()

    def drop_live(self) -> None:
        """Drop all queued live frames. None may arrive after the stream has ended."""
        self._live.clear()

    # --- Consumer side

    @property
    def is_attached(self) -> bool:
        """Whether a page is connected."""
        return self._attached.is_set()

    async def wait_attached(self) -> None:
        """Wait until a page is connected."""
        await self._attached.wait()

    def attach(self) -> None:
        """Mark a page as connected."""
        self._attached.set()
        self._wake.set()

    def detach(self) -> None:
        """Mark the page as disconnected and drop queued frames."""
        self._attached.clear()
        self._frames.clear()
        self._blocks.clear()
        self._live.clear()
        self._room.set()

    def has_lost(self, seen: int) -> bool:
        """Return whether a text with a number greater than `seen` was dropped."""
        first = self._texts[0][0] if self._texts else self.last + 1
        return seen < first - 1

    async def take(self, seen: int) -> str | bytes:
        """Wait for the next message for a page that has seen all texts up to number `seen`, and return it.

        Texts come before frame blocks, and those before live frames.
        """
        while True:
            self._wake.clear()
            if self.last > seen:
                if self.has_lost(seen):
                    raise TooSlow
                if (frames := self._frames.pop(seen + 1, None)) is not None:
                    return frames
                return self._texts[len(self._texts) - (self.last - seen)][1]
            if self._blocks:
                self._room.set()
                return self._blocks.popleft()
            if self._live:
                self.sent_live += 1
                return self._live.popleft()
            await self._wake.wait()
