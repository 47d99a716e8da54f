"""Create, resume and expire the sessions of a server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from marey.errors import LimitExceeded
from marey.studio.folder import Folder
from marey.studio.recent import Recent
from marey.studio.session import Session
from marey.studio.shared import Shared

MAX_SESSIONS = 64
# Seconds that a session lives on after its page lost the connection, and after its page was closed (or reloaded, which
# looks the same); and seconds that jobs continue after the page was closed.
LOST, CLOSED, WORK = 600.0, 60.0, 5.0
# WebSocket close codes of a page that was closed or reloaded, as opposed to a lost connection.
_CLOSED_CODES = (1000, 1001)


@dataclass(slots=True, eq=False)
class _Slot:
    session: Session
    page: object | None = None
    leaving: asyncio.Task[None] | None = None


class Sessions:
    """The sessions of a server, keyed by id."""

    def __init__(self, folder: Folder | None, recent: Recent | None = None) -> None:
        self._folder = folder
        self._recent = recent
        # Whether pages may open other folders.
        self.can_browse = False
        self.shared = Shared()
        self._slots: dict[str, _Slot] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def find(self, name: str) -> Session | None:
        """Return the session with the id `name`, if it still exists."""
        slot = self._slots.get(name)
        return None if slot is None else slot.session

    async def enter(self, name: str, page: object) -> tuple[Session, object | None]:
        """Connect a page to the session with the id `name`, or to a new one.

        Return the session and the page that was connected to it before, if any.
        """
        slot = self._slots.get(name)
        if slot is None:
            await self._make_room()
            session = Session(self._folder, self.shared, self._recent, can_browse=self.can_browse)
            slot = self._slots[session.id] = _Slot(session)
        else:
            slot.session.mark_resumed()
            if slot.leaving is not None:
                slot.leaving.cancel()
                slot.leaving = None
        before, slot.page = slot.page, page
        return slot.session, before

    def leave(self, session: Session, page: object, code: int) -> None:
        """Handle the disconnection of a page with a WebSocket close code. The session waits for it to reconnect."""
        slot = self._slots.get(session.id)
        if slot is None or slot.page is not page:
            return
        slot.page = None
        session.outbox.detach()
        slot.leaving = asyncio.get_running_loop().create_task(self._expire(session, code in _CLOSED_CODES))

    async def close(self) -> None:
        """Close all sessions."""
        for slot in self._slots.values():
            if slot.leaving is not None:
                slot.leaving.cancel()
        for name in list(self._slots):
            await self._drop(name)
        for library in self.shared.libraries.values():
            await library.close()
        await self.shared.close()

    async def _expire(self, session: Session, closed: bool) -> None:
        if closed:
            await asyncio.sleep(WORK)
            session.live.stop()
            session.jobs.cancel_all()
            session.jobs.kill()
            await asyncio.sleep(CLOSED - WORK)
        else:
            await asyncio.sleep(LOST)
        await self._drop(session.id)

    async def _make_room(self) -> None:
        if len(self._slots) < MAX_SESSIONS:
            return
        empty = next((name for name, slot in self._slots.items() if slot.page is None), None)
        if empty is None:
            raise LimitExceeded(f"the limit of {MAX_SESSIONS} open pages is reached; close some of them")
        leaving = self._slots[empty].leaving
        if leaving is not None:
            leaving.cancel()
        await self._drop(empty)

    async def _drop(self, name: str) -> None:
        slot = self._slots.pop(name, None)
        if slot is not None:
            await slot.session.close()
