"""What waits to be sent to a page. Every queue is bounded: a page that does not read cannot fill the memory."""

from __future__ import annotations

import asyncio
from collections import deque

# Replies that are kept for a page that may come back: how many, and how many bytes of them.
KEPT = 512
KEPT_BYTES = 32 * 2**20
# Blocks of frames, and live frames, that wait; of the latter the newest win.
BLOCKS = 8
LIVE = 16


class TooSlow(Exception):
    """The page has not read for so long that replies had to be dropped."""


class Outbox:
    """Texts with rising numbers, which are kept for a while, and binary messages, which are not."""

    def __init__(self) -> None:
        self.last = 0
        self._texts: deque[tuple[int, str]] = deque()
        self._bytes = 0
        self._blocks: deque[bytes] = deque()
        self._live: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._attached = asyncio.Event()
        self.sent_live = 0
        self.dropped_live = 0

    # --- Filled by whoever answers

    def put_text(self, text: str) -> None:
        """Queue a reply: JSON of an object, without its number, which comes first."""
        self.last += 1
        numbered = f'{{"n":{self.last},{text[1:]}'
        self._texts.append((self.last, numbered))
        self._bytes += len(numbered)
        while len(self._texts) > 1 and (len(self._texts) > KEPT or self._bytes > KEPT_BYTES):
            self._bytes -= len(self._texts.popleft()[1])
        self._wake.set()

    async def put_block(self, block: bytes) -> None:
        """Queue frames that were asked for, once there is room; dropped where no page is there, as it asks again."""
        while len(self._blocks) >= BLOCKS and self._attached.is_set():
            self._room.clear()
            await self._room.wait()
        if self._attached.is_set():
            self._blocks.append(block)
            self._wake.set()

    def put_live(self, frame: bytes) -> None:
        """Queue a live frame; where too many wait already, the oldest of them is dropped."""
        while len(self._live) >= LIVE:
            self._live.popleft()
            self.dropped_live += 1
        self._live.append(frame)
        self._wake.set()

    def drop_live(self) -> None:
        """Take back the live frames that wait: of a stream that is ended nothing comes after the word of its end."""
        self._live.clear()

    # --- Emptied by the connection

    @property
    def is_attached(self) -> bool:
        """Whether a page is there."""
        return self._attached.is_set()

    async def wait_attached(self) -> None:
        """Until a page is there."""
        await self._attached.wait()

    def attach(self) -> None:
        """A page is there."""
        self._attached.set()
        self._wake.set()

    def detach(self) -> None:
        """The page has gone; what it would not miss goes too."""
        self._attached.clear()
        self._blocks.clear()
        self._live.clear()
        self._room.set()

    def has_lost(self, seen: int) -> bool:
        """Whether some text after number `seen` is no longer kept."""
        first = self._texts[0][0] if self._texts else self.last + 1
        return seen < first - 1

    async def take(self, seen: int) -> str | bytes:
        """The next message for a page that has seen texts up to `seen`: texts first, then blocks, then live frames."""
        while True:
            self._wake.clear()
            if self.last > seen:
                if self.has_lost(seen):
                    raise TooSlow
                return self._texts[len(self._texts) - (self.last - seen)][1]
            if self._blocks:
                self._room.set()
                return self._blocks.popleft()
            if self._live:
                self.sent_live += 1
                return self._live.popleft()
            await self._wake.wait()
