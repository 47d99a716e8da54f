"""A session's files: the open folder, uploads and downloads."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from urllib.parse import quote

from marey.errors import InvalidValue, LimitExceeded, UnknownFormat, UnreadableFile
from marey.io.files import SIDECAR_SUFFIX, split_name
from marey.io.temporary import new_folder
from marey.studio.folder import SUFFIXES, Folder
from marey.studio.messages import FolderList, Where

# Limits: bytes of one upload, bytes of all uploads of a session, number of uploads.
UPLOAD_BYTES = 256 * 2**20
SESSION_BYTES = 2 * 2**30
MAX_UPLOADS = 1_000
# Bytes that uploads must leave free on the disk.
FREE_BYTES = 512 * 2**20
# Maximum number of files kept for download; the oldest are removed.
MAX_OFFERS = 64
_MAX_NAME_BYTES = 120
_CACHE_NAME = ".marey-cache"
_UNFIT = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
# Names of devices on Windows, whatever their suffix.
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


class Places:
    """The folders of one session. The temporary folder `own` is removed with the session.

    panel_bytes : bytes that each panel stores there, keyed by panel; they count toward the upload limit.
    """

    def __init__(self, session: str, folder: Folder | None) -> None:
        self.session = session
        self.folder = folder
        self.own = new_folder()
        self.uploads, self.exports = self.own / "uploads", self.own / "exports"
        for path in (self.uploads, self.exports):
            path.mkdir()
        self._uploads = Folder(self.uploads)
        self.panel_bytes: dict[str, int] = {}
        self._offers: dict[str, Path] = {}
        self._upload_sizes: dict[str, int] = {}
        self._arriving: dict[Upload, int] = {}

    def close(self) -> None:
        """Remove the temporary folder."""
        shutil.rmtree(self.own, ignore_errors=True)

    def list_files(self) -> FolderList:
        """List the motion files in the open folder; empty if no folder is open."""
        return FolderList("", (), 0) if self.folder is None else self.folder.list_files()

    def find(self, path: str, where: Where) -> Path:
        """Return the motion file at `path` in the open folder or the uploads."""
        if where == "uploads":
            return self._uploads.find(path)
        if self.folder is None:
            raise InvalidValue("no folder is open; start with `marey studio FOLDER`, or drop files on the page")
        return self.folder.find(path)

    def find_file(self, path: str) -> Path:
        """Return a file of any kind in the open folder."""
        if self.folder is None:
            raise InvalidValue("no folder is open; start with `marey studio FOLDER`")
        found = self.folder.inside(path)
        if not found.is_file():
            raise UnreadableFile("no such file in the open folder", path=path)
        return found

    def check_upload(self, name: str, size: int) -> None:
        """Raise an error if `name` is not a valid motion file or sidecar name, or if `size` bytes exceed a limit."""
        is_sidecar = name.endswith(SIDECAR_SUFFIX)
        if (
            not name
            or _UNFIT.search(name)
            or name.startswith(".")
            or is_device(name)
            or len(name.encode(errors="replace")) > _MAX_NAME_BYTES
        ):
            raise InvalidValue(f"expected a file name such as 'walk.bvh', got {name[:80]!r}")
        if not is_sidecar and split_name(name)[1] not in (*SUFFIXES, ".asf"):
            raise UnknownFormat(f"not a motion file; supported formats: {', '.join(SUFFIXES)}", path=name)
        if size > UPLOAD_BYTES:
            raise LimitExceeded(f"is larger than the upload limit of {UPLOAD_BYTES // 2**20} MB", path=name)
        others = {other: taken for other, taken in self._upload_sizes.items() if other != name}
        coming = sum(self._arriving.values()) + sum(self.panel_bytes.values())
        if size + sum(others.values()) + coming > SESSION_BYTES or len(others) + len(self._arriving) >= MAX_UPLOADS:
            raise LimitExceeded(
                "exceeds the upload limit of this session; reload the page to start a new one", path=name
            )
        if shutil.disk_usage(self.own).free - size < FREE_BYTES:
            raise LimitExceeded(
                "not enough disk space in the temporary folder of the computer that runs the studio; free "
                "some space and upload again",
                path=name,
            )

    def start_upload(self, name: str) -> Upload:
        """Start an upload. Its bytes count toward the limit as they arrive, because several uploads may run at once."""
        return Upload(self, name)

    def accept_upload(self, name: str, part: Path) -> None:
        """Move a finished upload to the uploads folder."""
        self._upload_sizes[name] = part.stat().st_size
        os.replace(part, self.uploads / name)

    def offer(self, path: Path) -> str:
        """Offer a file for download. Return its URL."""
        self._offers.pop(path.name, None)
        self._offers[path.name] = path
        while len(self._offers) > MAX_OFFERS:
            oldest = next(iter(self._offers))
            gone = self._offers.pop(oldest)
            if gone.parent == self.exports:
                gone.unlink(missing_ok=True)
        return f"/download/{self.session}/{quote(path.name)}"

    def find_offer(self, name: str) -> Path | None:
        """Return the file offered for download under a name, if there is one."""
        return self._offers.get(name)


class Upload:
    """Context manager of a running upload; call `add` for each chunk."""

    def __init__(self, places: Places, name: str) -> None:
        self._places = places
        self._name = name
        self.size = 0

    def __enter__(self) -> Upload:
        self._places._arriving[self] = 0
        return self

    def __exit__(self, *_: object) -> None:
        self._places._arriving.pop(self, None)

    def add(self, size: int) -> None:
        """Count another chunk of `size` bytes. Raise an error if the upload exceeds a limit."""
        coming = self._places._arriving
        coming.pop(self)
        self.size += size
        try:
            self._places.check_upload(self._name, self.size)
        finally:
            coming[self] = self.size


def is_device(name: str) -> bool:
    """Return whether a file of this name would be a device on Windows: CON, NUL.bvh and the like."""
    return _DEVICES.fullmatch(name) is not None


def suggest_file_name(name: str) -> str:
    """Return a file name without spaces and special characters: ``walk_mirrored`` for ``walk (mirrored)``."""
    return re.sub(r"[\s()[\]{},;%&#…'`$!]+", "_", fit_name(name)).strip("_.") or "motion"


def fit_name(name: str) -> str:
    """Turn `name` into a valid file name for file systems and browsers."""
    fit = _UNFIT.sub("_", name.encode(errors="replace").decode()).strip(" .")
    while len(fit.encode()) > _MAX_NAME_BYTES:
        fit = fit[:-1]
    return f"_{fit}" if is_device(fit) else fit or "motion"


def choose_cache(root: Path) -> Path:
    """Return the folder for the index: that of `marey library` if there is one, else one in the user's cache folder.

    Opening a folder must not write into it.
    """
    own = root / _CACHE_NAME
    if own.is_dir() and os.access(own, os.W_OK):
        return own
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    shared = Path(base) / "marey" / "library"
    try:
        shared.mkdir(parents=True, exist_ok=True)
    except OSError:
        return new_folder()
    return shared if os.access(shared, os.W_OK) else new_folder()
