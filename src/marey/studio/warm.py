"""The warm-up: what is compiled at its first use is compiled beforehand, in a process of its own, and kept on disk.

It begins once a page has shown its first figure, does nothing where the caches are filled already, and ends with the
server.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from marey.studio.messages import GettingReady
from marey.studio.temporary import new_folder
from marey.studio.warm_stamp import is_warm

# Seconds after the first figure, in which its page fetches the rest of its frames.
_LATER = 1.0
_PROCESS = (sys.executable, "-m", "marey.studio.warm_process")
# It is to take one core at the most.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

_log = logging.getLogger("marey.studio")


class WarmUp:
    """The warm-up of one server; used in its loop alone. `now` is how far it is, while it runs.

    Parameters
    ----------
    tell : sends an event to all pages.
    is_warm : whether there is nothing to do; asked on a thread.
    process : the command that does the work; a folder for its files is added to it.
    """

    def __init__(
        self,
        tell: Callable[[GettingReady], None],
        is_warm: Callable[[], bool] = is_warm,
        process: Sequence[str] = _PROCESS,
    ) -> None:
        self._tell = tell
        self._is_warm = is_warm
        self._command = tuple(process)
        self._task: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self.now: GettingReady | None = None

    def begin(self) -> None:
        """Somebody sees a figure: begin, where that is not done yet."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """End it; nothing of it is left."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    @property
    def process(self) -> int | None:
        """Its process id, while it runs."""
        return None if self._process is None else self._process.pid

    async def _run(self) -> None:
        await asyncio.sleep(_LATER)
        if await asyncio.to_thread(self._is_warm):
            return
        folder = new_folder()
        try:
            await self._work(folder)
        except (OSError, ValueError, LookupError) as error:  # whoever uses something compiles it then, as without it
            _log.info("the warm-up could not be run: %s", error)
        finally:
            if self.now is not None:
                self._say(GettingReady(self.now.of, self.now.of))
            self.now = None
            shutil.rmtree(folder, ignore_errors=True)

    async def _work(self, folder: Path) -> None:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            str(folder),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, **_ONE_THREAD},
            creationflags=getattr(subprocess, "IDLE_PRIORITY_CLASS", 0),
        )
        self._process = process
        try:
            while process.stdout is not None and (line := await process.stdout.readline()):
                told = json.loads(line)
                if "failed" in told:
                    _log.info("a piece of the warm-up failed: %s", told["failed"])
                    continue
                self._say(GettingReady(int(told["done"]), int(told["of"]), str(told.get("piece", ""))))
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            self._process = None

    def _say(self, now: GettingReady) -> None:
        self.now = now
        self._tell(now)
