"""Heavy work in a process of its own, with progress; whoever asked may cancel it."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from marey.errors import MareyError, NoResult
from marey.studio.parcels import pack, unpack

# The id of the command that is being answered, for those that a panel's function calls.
COMMAND: ContextVar[int] = ContextVar("COMMAND", default=0)
# Bytes of one line from the worker.
_LONGEST_LINE = 64 * 2**20


class Cancelled(NoResult):
    """The work was ended by whoever asked for it."""


class WorkFailed(MareyError):
    """An error from the worker; `kind` is the name of its type there."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Jobs:
    """The work of one session, one piece after the other, in one worker that is started when it is first needed."""

    def __init__(self, folder: Path, tell: Callable[[int, float, str], None]) -> None:
        self._folder = folder
        self._tell = tell
        self._turn = asyncio.Lock()
        self._worker: asyncio.subprocess.Process | None = None
        self._dying: list[asyncio.subprocess.Process] = []
        self._running: dict[int, asyncio.Task[Any]] = {}
        self._count = 0

    async def run(self, call: str, **arguments: Any) -> dict[str, Any]:
        """Call ``module:function`` of the studio in the worker; the command that is being answered tells of progress.

        Arguments and results are plain data, motions and arrays.
        """
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        try:
            async with self.cancellable(), self._turn:
                return await self._work(call, arguments, folder, COMMAND.get())
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def here(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function on a thread of this process."""
        async with self.cancellable():
            return await asyncio.to_thread(function, *arguments)

    @asynccontextmanager
    async def cancellable(self) -> AsyncIterator[None]:
        """Within it, the command that is being answered can be cancelled, wherever it waits."""
        command, task = COMMAND.get(), asyncio.current_task()
        if task is not None:
            self._running[command] = task
        try:
            yield
        except asyncio.CancelledError:
            if command in self._running or task is None:  # the server ends, not this work alone
                raise
            task.uncancel()
            raise Cancelled("the work was cancelled") from None
        finally:
            self._running.pop(command, None)

    def tell(self, share: float, text: str) -> None:
        """Tell how far the command is that is being answered."""
        self._tell(COMMAND.get(), share, text)

    async def _work(self, call: str, arguments: dict[str, Any], folder: Path, command: int) -> dict[str, Any]:
        sent = await _to_the_end(pack, arguments, folder)
        worker = await self._ready()
        if worker.stdin is None or worker.stdout is None:
            raise WorkFailed("WorkerDied", "the worker cannot be reached; try again")
        line = json.dumps({"call": call, "folder": str(folder), "arguments": sent}) + "\n"
        whole = False
        try:
            worker.stdin.write(line.encode())
            await worker.stdin.drain()
            while True:
                answer = await worker.stdout.readline()
                if not answer:
                    raise WorkFailed("WorkerDied", "the worker ended before its work did, maybe for want of memory")
                told = json.loads(answer)
                if "share" not in told:
                    break
                self._tell(command, told["share"], told["text"])
            whole = True
        except (ConnectionError, ValueError) as error:
            raise WorkFailed("WorkerDied", f"the worker cannot be reached ({error}); try again") from None
        finally:
            if not whole:  # it is still at work on what nobody waits for
                self.kill()
        if "error" in told:
            raise WorkFailed(told["error"]["type"], told["error"]["text"])
        result: dict[str, Any] = await _to_the_end(unpack, told["result"], folder)
        return result

    async def _ready(self) -> asyncio.subprocess.Process:
        """The worker, started where there is none."""
        if self._worker is None or self._worker.returncode is not None:
            self._worker = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "marey.studio.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_LONGEST_LINE,
            )
        return self._worker

    @property
    def process(self) -> int | None:
        """The worker's process id, where one runs."""
        alive = self._worker is not None and self._worker.returncode is None
        return self._worker.pid if alive and self._worker is not None else None

    @property
    def running(self) -> tuple[int, ...]:
        """Ids of the commands whose work goes on, or waits for its turn."""
        return tuple(self._running)

    def cancel(self, command: int) -> None:
        """End the work that a command asked for; nothing happens where it has none."""
        task = self._running.pop(command, None)
        if task is not None:
            task.cancel()

    def cancel_all(self) -> None:
        """End all work."""
        for command in list(self._running):
            self.cancel(command)

    def kill(self) -> None:
        """End the worker; the next piece of work starts another."""
        worker, self._worker = self._worker, None
        if worker is not None and worker.returncode is None:
            with suppress(ProcessLookupError):
                worker.kill()
            self._dying = [each for each in self._dying if each.returncode is None]
            self._dying.append(worker)

    async def close(self) -> None:
        """End all work and the worker, and wait until it has gone."""
        self.cancel_all()
        self.kill()
        for worker in self._dying:
            await worker.wait()
        self._dying.clear()


async def _to_the_end(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run on a thread, and when cancelled wait until it is done, so that nobody writes into a folder that is gone."""
    running = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        with suppress(Exception):
            await running
        raise
