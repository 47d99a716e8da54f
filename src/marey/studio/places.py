"""Where a session's files are: the opened folder, what was uploaded, what can be fetched."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from urllib.parse import quote

from marey.errors import InvalidValue, LimitExceeded, UnknownFormat
from marey.io.files import SIDECAR_SUFFIX, split_name
from marey.studio.folder import SUFFIXES, Folder
from marey.studio.messages import FolderList, Where
from marey.studio.temporary import new_folder

# Bytes of one upload, of all uploads of a session, and how many there may be.
UPLOAD_BYTES = 256 * 2**20
SESSION_BYTES = 2 * 2**30
MOST_UPLOADS = 1_000
# Bytes that uploads leave free on the disk.
FREE_BYTES = 512 * 2**20
# Files made for download that are kept; the oldest goes first.
MOST_OFFERS = 64
_LONGEST_NAME = 120
_UNFIT = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')


class Places:
    """The folders of one session. The temporary one goes with it.

    kept : bytes that panels keep there, by panel; what they keep is not there for uploads.
    """

    def __init__(self, session: str, folder: Folder | None) -> None:
        self.session = session
        self.folder = folder
        self.own = new_folder()
        self.uploads, self.exports, self.jobs = (self.own / name for name in ("uploads", "exports", "jobs"))
        for path in (self.uploads, self.exports, self.jobs):
            path.mkdir()
        self._uploads = Folder(self.uploads)
        self.kept: dict[str, int] = {}
        self._offers: dict[str, Path] = {}
        self._taken: dict[str, int] = {}
        self._coming: dict[Arrival, int] = {}

    def close(self) -> None:
        """Remove what was temporary."""
        shutil.rmtree(self.own, ignore_errors=True)

    def listed(self) -> FolderList:
        """The opened folder's files; none where no folder is open."""
        return FolderList("", (), 0) if self.folder is None else self.folder.listed()

    def find(self, path: str, where: Where) -> Path:
        """A motion file of the folder or of the uploads."""
        if where == "uploads":
            return self._uploads.find(path)
        if self.folder is None:
            raise InvalidValue("no folder is open; start with `marey studio FOLDER`, or drop files on the page")
        return self.folder.find(path)

    def room_for(self, name: str, size: int) -> None:
        """Refuse an upload whose name is none for a motion file, or that is too much beside what is there or coming."""
        is_sidecar = name.endswith(SIDECAR_SUFFIX)
        if (
            not name
            or _UNFIT.search(name)
            or name.startswith(".")
            or len(name.encode(errors="replace")) > _LONGEST_NAME
        ):
            raise InvalidValue(f"expected a file name such as 'walk.bvh', got {name[:80]!r}")
        if not is_sidecar and split_name(name)[1] not in (*SUFFIXES, ".asf"):
            raise UnknownFormat(f"no motion file; supported are {', '.join(SUFFIXES)}", path=name)
        if size > UPLOAD_BYTES:
            raise LimitExceeded(f"is larger than {UPLOAD_BYTES // 2**20} MB, the most that can be uploaded", path=name)
        others = {other: taken for other, taken in self._taken.items() if other != name}
        coming = sum(self._coming.values()) + sum(self.kept.values())
        if size + sum(others.values()) + coming > SESSION_BYTES or len(others) + len(self._coming) >= MOST_UPLOADS:
            raise LimitExceeded("does not fit any more, so much was uploaded already; reload the page", path=name)
        if shutil.disk_usage(self.own).free - size < FREE_BYTES:
            raise LimitExceeded(
                "does not fit on the disk of this machine; make room in its temporary folder", path=name
            )

    def arrival(self, name: str) -> Arrival:
        """A file that begins to arrive; its bytes count from the first on, as many may come at the same time."""
        return Arrival(self, name)

    def take(self, name: str, part: Path) -> None:
        """Put a file that has arrived where uploads are."""
        self._taken[name] = part.stat().st_size
        os.replace(part, self.uploads / name)

    def offer(self, path: Path) -> str:
        """The URL by which the page can fetch a file that was made for it."""
        self._offers.pop(path.name, None)
        self._offers[path.name] = path
        while len(self._offers) > MOST_OFFERS:
            oldest = next(iter(self._offers))
            gone = self._offers.pop(oldest)
            if gone.parent == self.exports:
                gone.unlink(missing_ok=True)
        return f"/download/{self.session}/{quote(path.name)}"

    def offered(self, name: str) -> Path | None:
        """The file that was offered under a name."""
        return self._offers.get(name)


class Arrival:
    """An upload on its way, as a context: within it, `add` is told of each piece."""

    def __init__(self, places: Places, name: str) -> None:
        self._places = places
        self._name = name
        self.size = 0

    def __enter__(self) -> Arrival:
        self._places._coming[self] = 0
        return self

    def __exit__(self, *_: object) -> None:
        self._places._coming.pop(self, None)

    def add(self, size: int) -> None:
        """Count another piece; refuses it where there is no room any more."""
        coming = self._places._coming
        coming.pop(self)
        self.size += size
        try:
            self._places.room_for(self._name, self.size)
        finally:
            coming[self] = self.size


def fit_name(name: str) -> str:
    """`name` as a file's, without what file systems and browsers do not take."""
    fit = _UNFIT.sub("_", name.encode(errors="replace").decode()).strip(" .")
    while len(fit.encode()) > _LONGEST_NAME:
        fit = fit[:-1]
    return fit or "motion"
