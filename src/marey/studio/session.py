"""A session: everything that one page has open. It survives a lost connection for ten minutes."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from marey import __version__
from marey.errors import MareyError
from marey.studio.describe import describe_motion
from marey.studio.folder import Folder
from marey.studio.forms import word_error
from marey.studio.frames import pack_frames
from marey.studio.jobs import COMMAND, Jobs, WorkFailed
from marey.studio.live import Live
from marey.studio.messages import Binary, Event, MotionInfo, RunningJob, Welcome
from marey.studio.motion_history import BLOCK_FRAMES, Motions
from marey.studio.outbox import Outbox
from marey.studio.places import UPLOAD_BYTES, Places
from marey.studio.recent import Recent
from marey.studio.registry import PANELS, Command, Commands
from marey.studio.shared import Shared
from marey.studio.threads import PageThreads, to_thread
from marey.studio.wire import decode, encode

# Limits for one page: running commands, total characters of their messages, and frame blocks being prepared.
MAX_WAITING = 256
MAX_MESSAGE_CHARS = 16 * 2**20
MAX_BLOCKS = 4

_log = logging.getLogger("marey.studio")
State = TypeVar("State")


class PanelState(dict[str, Any]):
    """State that panels store between the commands of one page: values keyed by name.

    `get_or_create` is thread-safe, because commands run on several threads and must share one value.
    """

    def __init__(self) -> None:
        super().__init__()
        self._making = threading.RLock()

    def get_or_create(self, name: str, make: Callable[[], State]) -> State:
        """Return the value stored under a name, creating it exactly once if it does not exist."""
        with self._making:
            if name not in self:
                self[name] = make()
            value: State = self[name]
            return value


class Session:
    """The state and the services that panels use to handle the commands of one page.

    motions : the open motions with their history; `info` describes one for the page.
    places : the folder, uploads and downloads.
    shared : files shared by all sessions of the server.
    jobs : ``await session.jobs.run("marey.studio.work:detect", motion=...)`` runs in the worker process.
    live : ``session.live.start(source, rate)`` streams frames.
    send_event : sends an event.
    recent : folders and projects that were opened last.
    can_browse : whether the page may open other folders: only if no other machine can connect.
    state : what panels store between commands, such as a graph, keyed by panel name; see ``state.get_or_create``.
    """

    def __init__(
        self, folder: Folder | None, shared: Shared, recent: Recent | None = None, *, can_browse: bool = False
    ) -> None:
        self.recent = Recent() if recent is None else recent
        self.can_browse = can_browse
        self.id = secrets.token_urlsafe(12)
        self.motions = Motions()
        self.places = Places(self.id, folder)
        self.shared = shared
        self.outbox = Outbox()
        self.jobs = Jobs(self._report_progress)
        self.live = Live(self.outbox, self.send_event)
        self.state = PanelState()
        self._threads = PageThreads()
        self._loop = asyncio.get_running_loop()
        self._received = 0
        self._resumed = False
        self._turn = asyncio.Lock()
        self._blocks = asyncio.Semaphore(MAX_BLOCKS)
        self._message_chars = 0
        self._tasks: set[asyncio.Task[None]] = set()
        # Running commands by id: name, and fraction and text of the last progress report.
        self._running: dict[int, tuple[str, float, str]] = {}
        # Frames to send with the replies to running commands, by their ids.
        self._frames: dict[int, bytes] = {}

    def open_folder(self, folder: Folder) -> None:
        """Open another folder. Motions from the previous folder stay open, but have no file in the new one."""
        for name in self.motions.ids():
            self.motions.forget_file(name)
        self.places.folder = folder
        self.recent.add("folder", folder.root)
        self.state.pop("project", None)

    def info(self, motion: str) -> MotionInfo:
        """Describe an open motion for the page."""
        opened = self.motions.opened(motion)
        return describe_motion(
            motion,
            opened,
            self.id,
            self.motions.find_skin_source(motion),
            self.motions.sources(motion),
            self.motions.find_before(motion),
        )

    def send_frames_with_reply(self, motion: str) -> None:
        """Send a motion's first block of frames just before the reply to the current command.

        The page then shows the motion without requesting its frames.
        """
        number = COMMAND.get()
        block = self.motions.frames(motion, 0, min(len(self.motions.recording(motion)), BLOCK_FRAMES))
        self._frames[number] = pack_frames(block.positions, block.rotations, number=number, first=0)

    def send_event(self, event: Event) -> None:
        """Send an event. Thread-safe."""
        text = encode({"kind": "event", "event": event.event, **event.fields()})
        self._loop.call_soon_threadsafe(self.outbox.put_text, text)

    def welcome(self, seen: int) -> Welcome:
        """Return the data for a page that connects, or reconnects after having seen messages up to number `seen`."""
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
            tuple(RunningJob(job, *self._running[job]) for job in self.jobs.running if job in self._running),
        )

    def mark_resumed(self) -> None:
        """Mark the session as resumed."""
        self._resumed = True

    def take(self, commands: Commands, message: dict[str, Any], n_chars: int) -> None:
        """Start handling a message of `n_chars` characters; call it in the event loop."""
        number, do = message.pop("id", None), message.pop("do", None)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < 2**32:
            self._fail(0, "InvalidValue", 'a message needs an "id", a positive integer')
            return
        command = commands.get(do) if isinstance(do, str) else None
        if command is None:
            self._fail(number, "UnknownName", f"unknown command {str(do)[:40]!r}")
            return
        if number <= self._received and not command.reads:
            return  # a reconnected page sent it again; its answer will follow
        self._received = max(self._received, number)
        if len(self._tasks) >= MAX_WAITING and do != "cancel":
            self._fail(
                number, "Busy", f"the limit of {MAX_WAITING} running commands is reached; wait for some to finish"
            )
            return
        if self._message_chars + n_chars > MAX_MESSAGE_CHARS and self._message_chars:
            self._fail(number, "Busy", "too many large messages are being processed; wait for some to finish")
            return
        self._message_chars += n_chars
        task = asyncio.get_running_loop().create_task(self._answer(command, number, message))
        self._tasks.add(task)
        self._running[number] = (str(message.get("operation", do)), 0.0, "")
        task.add_done_callback(lambda done: self._finish(done, number, n_chars))

    def _finish(self, task: asyncio.Task[None], number: int, n_chars: int) -> None:
        self._tasks.discard(task)
        self._running.pop(number, None)
        self._frames.pop(number, None)
        self._message_chars -= n_chars

    async def _answer(self, command: Command, number: int, fields: dict[str, Any]) -> None:
        COMMAND.set(number)
        self._threads.use()
        try:
            message = decode(command.message, fields)
            if command.reply is Binary:
                await self._send_frames(command, number, message)
                return
            if command.in_loop:
                reply = await command.call(self, message)
            elif command.reads:
                reply = await to_thread(command.call, self, message)
            else:
                async with self._turn:
                    reply = await to_thread(command.call, self, message)
            self.outbox.put_text(encode({"id": number, "kind": "done", "result": reply}), self._frames.get(number))
        except MareyError as error:
            kind = error.kind if isinstance(error, WorkFailed) else type(error).__name__
            self._fail(number, kind, word_error(error, command.message), error.parameter)
        except Exception as error:
            _log.exception("the command %s failed", command.message.do)
            self._fail(
                number, type(error).__name__, f"unexpected: {error} (this is a bug; see the terminal for details)"
            )

    async def _send_frames(self, command: Command, number: int, message: Any) -> None:
        """Send requested frames; wait while the queue of frame blocks is full."""
        async with self._blocks:
            if command.in_loop:
                block = await command.call(self, message)
            else:
                block = await to_thread(command.call, self, message)
            packed = pack_frames(block.positions, block.rotations, number=number, first=block.first)
            await self.outbox.put_block(packed)

    def _fail(self, number: int, kind: str, text: str, parameter: str | None = None) -> None:
        # Any error text may contain a path, even one from the operating system. Remove folders of this computer.
        folder = self.places.folder
        for place in (self.places.own, self.shared.own, None if folder is None else folder.root):
            if place is not None:
                text = text.replace(f"{place}{os.sep}", "").replace(str(place), "the folder")
        error = {"type": kind, "text": text, "parameter": parameter or ""}
        self.outbox.put_text(encode({"id": number, "kind": "failed", "error": error}))

    def _report_progress(self, number: int, fraction: float, text: str) -> None:
        if number in self._running:
            self._running[number] = (self._running[number][0], fraction, text)
        if self.outbox.is_attached:
            self.outbox.put_text(encode({"id": number, "kind": "progress", "fraction": fraction, "text": text}))

    async def close(self) -> None:
        """Stop everything and remove temporary files."""
        self.live.stop()
        await self.jobs.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._threads.close()
        self.places.close()
