"""Run heavy work in a separate process, with progress reports and cancellation."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from marey.errors import MareyError, NoResult
from marey.studio.parcels import pack, read_line, unpack
from marey.studio.threads import to_thread

# The id of the command that is being answered.
COMMAND: ContextVar[int] = ContextVar("COMMAND", default=0)
# Start and end (0 to 1) of the part of the command that is running, and its title.
_PART: ContextVar[tuple[float, float, str]] = ContextVar("_PART", default=(0.0, 1.0, ""))
# Seconds after which a worker without work is ended.
IDLE_SECONDS = 120.0
# One thread for linear algebra: its matrices are small, and threads that wait for each other in a loop would take the
# cores from the page, which draws at the same time.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}
# Maximum bytes of one line from the worker.
_MAX_LINE_BYTES = 64 * 2**20


class Cancelled(NoResult):
    """Raised when the user cancels a job, or when a newer request replaces it."""


class WorkFailed(MareyError):
    """An error from the worker; `kind` is the name of its exception type.

    is_worded : whether the text already has the labels of the page's controls instead of names of parameters.
    """

    def __init__(
        self,
        kind: str,
        text: str,
        parameter: str | None = None,
        remedy: str | None = None,
        *,
        is_worded: bool = False,
    ) -> None:
        super().__init__(text, parameter=parameter, remedy=remedy)
        self.kind = kind
        self.is_worded = is_worded


class Jobs:
    """The jobs of one session. Jobs run one at a time in a worker process, which starts on first use.

    Parameters
    ----------
    report : called with a command's id, its progress (0 to 1) and a text.
    """

    def __init__(self, report: Callable[[int, float, str], None]) -> None:
        self._report = report
        self._turn = asyncio.Lock()
        self._worker: asyncio.subprocess.Process | None = None
        self._dying: list[asyncio.subprocess.Process] = []
        self._running: dict[int, asyncio.Task[Any]] = {}
        self._idle: asyncio.TimerHandle | None = None

    def _release(self) -> None:
        """Stop a worker that has been idle for a while, to free its memory (more than 100 MB)."""
        if not self._turn.locked():
            self.kill()

    async def run(self, call: str, **arguments: Any) -> dict[str, Any]:
        """Call ``module:function`` of the studio in the worker and report its progress to the current command.

        Arguments and results are plain data, motions and arrays.
        """
        async with self.cancellable(), self._turn:
            if self._idle is not None:
                self._idle.cancel()
            try:
                return await self._work(call, arguments)
            finally:
                self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._release)

    async def run_in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in a thread of this process."""
        async with self.cancellable():
            return await to_thread(function, *arguments)

    @asynccontextmanager
    async def cancellable(self) -> AsyncIterator[None]:
        """Make the current command cancelable, wherever it waits inside this context."""
        command, task = COMMAND.get(), asyncio.current_task()
        if task is not None:
            self._running[command] = task
        try:
            yield
        except asyncio.CancelledError:
            if command in self._running or task is None:  # `cancel` was not called: the server is shutting down
                raise
            task.uncancel()
            raise Cancelled("the work was canceled") from None
        finally:
            self._running.pop(command, None)

    def report_progress(self, fraction: float, text: str) -> None:
        """Report the progress (0 to 1) of the current command, or of its current `part`."""
        start, end, title = _PART.get()
        self._report(COMMAND.get(), start + (end - start) * fraction, ": ".join(filter(None, (title, text))))

    @contextmanager
    def part(self, start: float, end: float, title: str) -> Iterator[None]:
        """Count the progress reported inside this context as that from `start` to `end` of the command."""
        token = _PART.set((start, end, title))
        try:
            self.report_progress(0.0, "")
            yield
        finally:
            _PART.reset(token)

    async def _work(self, call: str, arguments: dict[str, Any]) -> dict[str, Any]:
        sent = await to_thread(pack, {"call": call, "arguments": arguments})
        worker = await self._ready()
        if worker.stdin is None or worker.stdout is None:
            raise WorkFailed("WorkerDied", "the worker process does not respond; try again")
        is_answered = False
        try:
            worker.stdin.write(sent)
            await worker.stdin.drain()
            while True:
                line = await worker.stdout.readline()
                if not line:
                    raise WorkFailed(
                        "WorkerDied",
                        "the worker process stopped unexpectedly, possibly out of memory; try again with less data",
                    )
                answer, size = read_line(line)
                data = await worker.stdout.readexactly(size)
                if "fraction" not in answer:
                    break
                self.report_progress(answer["fraction"], answer["text"])
            is_answered = True
        except (ConnectionError, EOFError, ValueError) as error:
            raise WorkFailed("WorkerDied", f"the worker process does not respond ({error}); try again") from None
        finally:
            if not is_answered:  # the worker may still be busy with an abandoned job
                self.kill()
        if "error" in answer:
            failed = answer["error"]
            raise WorkFailed(failed["type"], failed["text"], failed.get("parameter"), failed.get("remedy"))
        result: dict[str, Any] = await to_thread(unpack, answer["result"], data)
        return result

    async def _ready(self) -> asyncio.subprocess.Process:
        """Return the worker, starting it if necessary."""
        if self._worker is None or self._worker.returncode is not None:
            self._worker = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "marey.studio.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_MAX_LINE_BYTES,
                env={**_ENVIRONMENT, **os.environ},
            )
        return self._worker

    @property
    def process(self) -> int | None:
        """The worker's process id, if it is running."""
        alive = self._worker is not None and self._worker.returncode is None
        return self._worker.pid if alive and self._worker is not None else None

    @property
    def running(self) -> tuple[int, ...]:
        """Ids of the commands whose jobs are running or queued."""
        return tuple(self._running)

    def cancel(self, command: int) -> None:
        """Cancel the job of a command, if it has one."""
        task = self._running.pop(command, None)
        if task is not None:
            task.cancel()

    def cancel_all(self) -> None:
        """Cancel all jobs."""
        for command in list(self._running):
            self.cancel(command)

    def kill(self) -> None:
        """Kill the worker; the next job starts a new one."""
        worker, self._worker = self._worker, None
        if worker is not None and worker.returncode is None:
            with suppress(ProcessLookupError):
                worker.kill()
            self._dying = [each for each in self._dying if each.returncode is None]
            self._dying.append(worker)

    async def close(self) -> None:
        """Cancel all jobs, kill the worker, and wait for it to exit."""
        self.cancel_all()
        if self._idle is not None:
            self._idle.cancel()
        self.kill()
        for worker in self._dying:
            await worker.wait()
        self._dying.clear()
