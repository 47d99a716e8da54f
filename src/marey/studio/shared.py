"""Files shared by all sessions of a server, created on first use and removed with the server; work for later."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marey.errors import MareyError
from marey.io.temporary import new_folder
from marey.studio.jobs import Jobs

if TYPE_CHECKING:
    from marey.studio.library import Library


class Shared:
    """Shared files, keyed by name. Use only in the server's event loop.

    libraries : what the files of each open folder contain, keyed by folder.
    later : jobs that no page waits for.
    """

    def __init__(self) -> None:
        self.libraries: dict[str, Library] = {}
        self.own: Path | None = None
        self._files: dict[str, Path] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._count = 0
        self.later = Jobs(lambda *_: None)
        self._tasks: set[asyncio.Task[None]] = set()

    def run_later(self, work: Coroutine[Any, Any, object]) -> None:
        """Run something that no page waits for. Errors are ignored: a page that needs the result computes it itself."""

        async def run() -> None:
            with suppress(MareyError):
                await work

        task = asyncio.get_running_loop().create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def file(self, name: str, jobs: Jobs, make: Callable[[Path], Awaitable[object]]) -> Path:
        """Return the file stored under a name, creating it if necessary.

        Parameters
        ----------
        name : one of a small set, such as the recipe names, because entries are never removed.
        jobs : the jobs of the calling session, so that its user can cancel while it waits for another page's job.
        make : writes the file to the given path in a new folder. If it fails, the next call tries again.
        """
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with jobs.cancellable():
            if lock.locked():
                jobs.report_progress(0.0, "waiting: another page is already building this")
            await lock.acquire()
        try:
            if name not in self._files:
                self._files[name] = await self._make_file(make)
            return self._files[name]
        finally:
            lock.release()

    async def _make_file(self, make: Callable[[Path], Awaitable[object]]) -> Path:
        if self.own is None:
            self.own = new_folder()
        self._count += 1
        folder = self.own / str(self._count)
        folder.mkdir()
        try:
            await make(folder / "shared.json")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return folder / "shared.json"

    async def close(self) -> None:
        """Stop all work, and remove all files."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.later.close()
        if self.own is not None:
            shutil.rmtree(self.own, ignore_errors=True)
