"""A session: all that one page has open. It outlives a lost connection for some minutes."""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import Any

from marey import __version__
from marey.errors import MareyError
from marey.studio.describe import info_of
from marey.studio.folder import Folder
from marey.studio.frames import pack_frames
from marey.studio.jobs import COMMAND, Jobs, WorkFailed
from marey.studio.kept import Kept
from marey.studio.live import Live
from marey.studio.messages import Binary, Event, MotionInfo, UnderWay, Welcome
from marey.studio.motions import BLOCK_FRAMES, Motions
from marey.studio.outbox import Outbox
from marey.studio.places import UPLOAD_BYTES, Places
from marey.studio.registry import PANELS, Command, Commands
from marey.studio.shared import Shared
from marey.studio.wire import decode, encode

# Commands of one page that may be under way, letters of their messages, and blocks of frames that may be in the making.
MOST_WAITING = 256
MOST_LETTERS = 16 * 2**20
MOST_BLOCKS = 4

_log = logging.getLogger("marey.studio")


class Session:
    """What panels work with.

    motions : those that are open, with their history; `info` describes one as replies do.
    places : the folder, the uploads, and files for download.
    shared : files that all sessions of the server use.
    jobs : ``await session.jobs.run("marey.studio.work:clean", motion=...)`` works in another process.
    live : ``session.live.start(source, rate)`` streams frames.
    tell : sends an event.
    kept : what a panel keeps between commands, such as a graph, under the panel's name; ``kept.once`` begins it.
    """

    def __init__(self, folder: Folder | None, shared: Shared) -> None:
        self.id = secrets.token_urlsafe(12)
        self.motions = Motions()
        self.places = Places(self.id, folder)
        self.shared = shared
        self.outbox = Outbox()
        self.jobs = Jobs(self.places.jobs, self._progress)
        self.live = Live(self.outbox, self.tell)
        self.kept = Kept()
        self._loop = asyncio.get_running_loop()
        self._received = 0
        self._resumed = False
        self._turn = asyncio.Lock()
        self._blocks = asyncio.Semaphore(MOST_BLOCKS)
        self._letters = 0
        self._tasks: set[asyncio.Task[None]] = set()
        # Commands under way by their ids: name, and the share and text of the last progress.
        self._asked: dict[int, tuple[str, float, str]] = {}

    def info(self, motion: str) -> MotionInfo:
        """An open motion as the page is told of it."""
        opened = self.motions.opened(motion)
        return info_of(motion, opened, self.id, self.motions.skinned(motion), self.motions.sources(motion))

    def tell(self, event: Event) -> None:
        """Send an event; from any thread."""
        text = encode({"kind": "event", "event": event.event, **_plain(event)})
        self._loop.call_soon_threadsafe(self.outbox.put_text, text)

    def welcome(self, seen: int) -> Welcome:
        """What the page has to know when it comes, or comes back having seen messages up to `seen`."""
        lost = seen >= 0 and self.outbox.has_lost(seen)
        folder = self.places.folder
        return Welcome(
            self.id,
            self._resumed,
            self._received,
            lost,
            __version__,
            "" if folder is None else folder.name,
            tuple(self.info(name) for name in self.motions.ids()),
            PANELS,
            UPLOAD_BYTES,
            BLOCK_FRAMES,
            tuple(UnderWay(job, *self._asked[job]) for job in self.jobs.running if job in self._asked),
        )

    def come_back(self) -> None:
        """From now on, whoever is welcomed has been here before."""
        self._resumed = True

    def take(self, commands: Commands, message: dict[str, Any], letters: int) -> None:
        """Begin to answer a message of that many letters; called in the server's loop."""
        number, do = message.pop("id", None), message.pop("do", None)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**32:
            self._fail(0, "InvalidValue", 'a message needs an "id", a whole number from 1 on')
            return
        command = commands.get(do) if isinstance(do, str) else None
        if command is None:
            self._fail(number, "UnknownName", f"there is no command {str(do)[:40]!r}")
            return
        if number <= self._received and not command.reads:
            return  # it was sent again by a page that came back, and its answer is under way
        self._received = max(self._received, number)
        if len(self._tasks) >= MOST_WAITING and do != "cancel":
            self._fail(number, "Busy", f"{MOST_WAITING} commands are under way, which is the limit; wait for some")
            return
        if self._letters + letters > MOST_LETTERS and self._letters:
            self._fail(number, "Busy", "too much is under way to take a message of that size; wait for some of it")
            return
        self._letters += letters
        task = asyncio.get_running_loop().create_task(self._answer(command, number, message))
        self._tasks.add(task)
        self._asked[number] = (command.message.do, 0.0, "")
        task.add_done_callback(lambda done: self._over(done, number, letters))

    def _over(self, task: asyncio.Task[None], number: int, letters: int) -> None:
        self._tasks.discard(task)
        self._asked.pop(number, None)
        self._letters -= letters

    async def _answer(self, command: Command, number: int, fields: dict[str, Any]) -> None:
        COMMAND.set(number)
        try:
            message = decode(command.message, fields)
            if command.reply is Binary:
                await self._send_frames(command, number, message)
                return
            if command.in_loop:
                reply = await command.call(self, message)
            elif command.reads:
                reply = await asyncio.to_thread(command.call, self, message)
            else:
                async with self._turn:
                    reply = await asyncio.to_thread(command.call, self, message)
            self.outbox.put_text(encode({"id": number, "kind": "done", "result": reply}))
        except WorkFailed as error:
            self._fail(number, error.kind, str(error))
        except MareyError as error:
            self._fail(number, type(error).__name__, str(error))
        except Exception as error:
            _log.exception("the command %s failed", command.message.do)
            self._fail(number, type(error).__name__, f"unexpected: {error} (this is a bug; the terminal shows where)")

    async def _send_frames(self, command: Command, number: int, message: Any) -> None:
        """Frames that were asked for; while the page does not take those that wait, no more are made."""
        async with self._blocks:
            if command.in_loop:
                block = await command.call(self, message)
            else:
                block = await asyncio.to_thread(command.call, self, message)
            packed = pack_frames(block.positions, block.rotations, number=number, first=block.first)
            await self.outbox.put_block(packed)

    def _fail(self, number: int, kind: str, text: str) -> None:
        folder = self.places.folder
        for place in (self.places.own, self.shared.own, None if folder is None else folder.root):
            if place is not None:
                text = text.replace(f"{place}/", "").replace(str(place), "the folder")
        self.outbox.put_text(encode({"id": number, "kind": "failed", "error": {"type": kind, "text": text}}))

    def _progress(self, number: int, share: float, text: str) -> None:
        if number in self._asked:
            self._asked[number] = (self._asked[number][0], share, text)
        if self.outbox.is_attached:
            self.outbox.put_text(encode({"id": number, "kind": "progress", "share": share, "text": text}))

    async def close(self) -> None:
        """End everything and remove what was temporary."""
        self.live.stop()
        await self.jobs.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.places.close()


def _plain(value: Any) -> dict[str, Any]:
    from dataclasses import fields

    return {field.name: getattr(value, field.name) for field in fields(value)}
