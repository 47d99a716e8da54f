"""Files that all sessions of a server use, each made by whoever needs it first. They go with the server."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from marey.studio.temporary import new_folder

if TYPE_CHECKING:
    from marey.studio.jobs import Jobs


class Shared:
    """Files by name; used in the server's loop alone."""

    def __init__(self) -> None:
        self.own: Path | None = None
        self._files: dict[str, Path] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._count = 0

    async def file(self, name: str, jobs: Jobs, make: Callable[[Path], Awaitable[object]]) -> Path:
        """The file of a name, made where it was not yet.

        Parameters
        ----------
        name : one of a few, such as a recipe's: what is known of names is never forgotten.
        jobs : of the session that asks, so that whoever waits for another page's work can cancel that.
        make : writes a file at a path, whose folder is its own. Where it fails, the next who asks tries again.
        """
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with jobs.cancellable():
            if lock.locked():
                jobs.tell(0.0, "waiting: another page is making this already")
            await lock.acquire()
        try:
            if name not in self._files:
                self._files[name] = await self._made(make)
            return self._files[name]
        finally:
            lock.release()

    async def _made(self, make: Callable[[Path], Awaitable[object]]) -> Path:
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

    def close(self) -> None:
        """Remove all files."""
        if self.own is not None:
            shutil.rmtree(self.own, ignore_errors=True)
