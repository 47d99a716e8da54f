"""The library view: an index of the folder's files, made in the background.

A separate worker process reads the files, a few at a time. Their summaries are stored on disk, so that only new and
changed files are read when the studio is started again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marey.errors import InvalidValue, MareyError
from marey.studio import library_messages as messages
from marey.studio.folder import Folder
from marey.studio.jobs import Jobs
from marey.studio.messages import FileEntry
from marey.studio.places import choose_cache
from marey.studio.registry import command
from marey.studio.threads import to_thread

if TYPE_CHECKING:
    from marey.studio.session import Session

# Files that are read before their rows are sent, and maximum number of thumbnails in one message.
_CHUNK, _MAX_THUMBNAILS = 32, 100
EVENTS = messages.EVENTS

Report = Callable[[Sequence[messages.LibraryRow], int, int], None]


class Library:
    """What the files of a folder contain. Use only in the server's event loop."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._jobs = Jobs(lambda *_: None)
        self._turn = asyncio.Lock()
        self._cache: Path | None = None
        self._rows: dict[str, tuple[FileEntry, messages.LibraryRow]] = {}
        self._thumbnails: dict[str, dict[str, Any]] = {}

    async def update(self, report: Report) -> messages.LibraryDone:
        """Read all files that are new or have changed; `report` gets the rows of all files, a few at a time."""
        async with self._turn:
            files = (await to_thread(self._folder.list_files)).files
            known = [row for file in files if (row := self._get_row(file)) is not None]
            done, total = len(known), len(files)
            report(known, done, total)
            new = [file for file in files if self._get_row(file) is None]
            try:
                for start in range(0, len(new), _CHUNK):
                    chunk = new[start : start + _CHUNK]
                    rows = await self._read(chunk)
                    done += len(chunk)
                    report(rows, done, total)
            finally:
                await self.close()
            skipped = sum(bool(self._rows[file.path][1].reason) for file in files)
            return messages.LibraryDone(total, skipped)

    def get_thumbnails(self, paths: Sequence[str]) -> messages.Thumbnails:
        """Return the thumbnails of those files that are indexed."""
        if len(paths) > _MAX_THUMBNAILS:
            raise InvalidValue(f"expected at most {_MAX_THUMBNAILS} paths, got {len(paths)}")
        found = ((path, self._thumbnails[path]) for path in paths if path in self._thumbnails)
        return messages.Thumbnails(
            tuple(
                messages.Thumbnail(path, **{**fields, "points": tuple(fields["points"].ravel().tolist())})
                for path, fields in found
            )
        )

    async def close(self) -> None:
        """End the worker process; the next update starts a new one."""
        await self._jobs.close()

    def _get_row(self, file: FileEntry) -> messages.LibraryRow | None:
        known = self._rows.get(file.path)
        return None if known is None or known[0] != file else known[1]

    async def _read(self, files: Sequence[FileEntry]) -> list[messages.LibraryRow]:
        if self._cache is None:
            self._cache = await to_thread(choose_cache, self._folder.root)
        safe = await to_thread(self._find_safe, files)
        found: dict[str, dict[str, Any]] = {}
        reason = "is a link to a file outside the folder"
        if safe:
            try:
                answer = await self._jobs.run(
                    "marey.studio.library_work:summarize",
                    folder=str(self._folder.root),
                    paths=safe,
                    cache=str(self._cache),
                )
                found = {row["path"]: row for row in answer["rows"]}
            except MareyError as error:
                reason = error.message
        rows = []
        for file in files:
            fields = found.get(file.path, {"path": file.path, "reason": reason})
            thumbnail = fields.pop("thumbnail", None)
            findings = tuple(messages.LibraryFinding(**each) for each in fields.get("findings", ()))
            row = messages.LibraryRow(
                **{**fields, "labels": tuple(fields.get("labels", file.labels)), "findings": findings}
            )
            self._rows[file.path] = file, row
            self._thumbnails.pop(file.path, None)
            if thumbnail is not None:
                self._thumbnails[file.path] = thumbnail
            rows.append(row)
        return rows

    def _find_safe(self, files: Sequence[FileEntry]) -> list[str]:
        """Return the paths of the files that may be read: neither they nor their companions are links elsewhere."""
        safe = []
        for file in files:
            try:
                self._folder.find(file.path)
            except MareyError:
                continue
            safe.append(file.path)
        return safe


@command(messages.IndexLibrary, reads=True)
async def index_library(session: Session, message: messages.IndexLibrary) -> messages.LibraryDone:
    """Read the files of the folder in the background."""
    library = _get_library(session)
    if library is None:
        return messages.LibraryDone(0, 0)

    def report(rows: Sequence[messages.LibraryRow], done: int, total: int) -> None:
        session.send_event(messages.LibraryRows(tuple(rows), done, total))

    return await library.update(report)


@command(messages.GetThumbnails, reads=True)
async def get_thumbnails(session: Session, message: messages.GetThumbnails) -> messages.Thumbnails:
    """Return the poses of some indexed files."""
    library = _get_library(session)
    return messages.Thumbnails(()) if library is None else library.get_thumbnails(message.paths)


def _get_library(session: Session) -> Library | None:
    folder = session.places.folder
    if folder is None:
        return None
    libraries, root = session.shared.libraries, str(folder.root)
    if root not in libraries:
        libraries[root] = Library(folder)
    return libraries[root]
