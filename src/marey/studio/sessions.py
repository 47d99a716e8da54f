"""All sessions of a server: who comes, who comes back, and who is gone for good."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from marey.errors import LimitExceeded
from marey.studio.folder import Folder
from marey.studio.session import Session
from marey.studio.shared import Shared

MOST_SESSIONS = 64
# Seconds: how long a session waits for a page that was lost, or that was closed, which a reload looks like; and how
# long work goes on for one that was closed.
LOST, CLOSED, WORK = 600.0, 60.0, 5.0
# How WebSockets end when a page is closed, left or reloaded, and not merely lost.
_WENT = (1000, 1001)


@dataclass(slots=True, eq=False)
class _Seat:
    session: Session
    page: object | None = None
    leaving: asyncio.Task[None] | None = None


class Sessions:
    """Sessions by id."""

    def __init__(self, folder: Folder | None) -> None:
        self._folder = folder
        self.shared = Shared()
        self._seats: dict[str, _Seat] = {}

    def __len__(self) -> int:
        return len(self._seats)

    def find(self, name: str) -> Session | None:
        """The session with an id, if it is still there."""
        seat = self._seats.get(name)
        return None if seat is None else seat.session

    async def enter(self, name: str, page: object) -> tuple[Session, object | None]:
        """The session that a page had, or a new one; and the page that sat there until now, if one did."""
        seat = self._seats.get(name)
        if seat is None:
            await self._make_room()
            session = Session(self._folder, self.shared)
            seat = self._seats[session.id] = _Seat(session)
        else:
            seat.session.come_back()
            if seat.leaving is not None:
                seat.leaving.cancel()
                seat.leaving = None
        before, seat.page = seat.page, page
        return seat.session, before

    def leave(self, session: Session, page: object, code: int) -> None:
        """A page's connection has ended with a WebSocket code; the session waits for it to come back."""
        seat = self._seats.get(session.id)
        if seat is None or seat.page is not page:
            return
        seat.page = None
        session.outbox.detach()
        seat.leaving = asyncio.get_running_loop().create_task(self._expire(session, code in _WENT))

    async def close(self) -> None:
        """End all sessions."""
        for seat in self._seats.values():
            if seat.leaving is not None:
                seat.leaving.cancel()
        for name in list(self._seats):
            await self._drop(name)
        self.shared.close()

    async def _expire(self, session: Session, went: bool) -> None:
        if went:
            await asyncio.sleep(WORK)
            session.live.stop()
            session.jobs.cancel_all()
            session.jobs.kill()
            await asyncio.sleep(CLOSED - WORK)
        else:
            await asyncio.sleep(LOST)
        await self._drop(session.id)

    async def _make_room(self) -> None:
        if len(self._seats) < MOST_SESSIONS:
            return
        empty = next((name for name, seat in self._seats.items() if seat.page is None), None)
        if empty is None:
            raise LimitExceeded(f"{MOST_SESSIONS} pages are open, which is the limit; close some")
        leaving = self._seats[empty].leaving
        if leaving is not None:
            leaving.cancel()
        await self._drop(empty)

    async def _drop(self, name: str) -> None:
        seat = self._seats.pop(name, None)
        if seat is not None:
            await seat.session.close()
