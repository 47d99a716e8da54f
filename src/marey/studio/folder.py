"""The opened folder: what is in it, and that nobody gets out of it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from marey.errors import InvalidValue, UnknownFormat, UnreadableFile
from marey.io.files import MARKER_SUFFIXES, MOTION_SUFFIXES, SIDECAR_SUFFIX, split_name
from marey.io.npz import FORMAT as MOTION_FORMAT
from marey.store.scan import npz_form
from marey.studio.messages import FileEntry, FolderList

SUFFIXES = (*(suffix for suffix in MOTION_SUFFIXES if suffix != ".asf"), *MARKER_SUFFIXES)
# Most files that a list has, and the largest sidecar that is read for it, in bytes.
MOST_LISTED = 5_000
_SMALL = 64 * 2**10
# Bytes of a name, and letters of a path: what file systems take, so that they need not be asked.
_LONGEST_NAME, _LONGEST_PATH = 255, 2_000
_OUTSIDE = "is not in the opened folder; open the folder that it is in"


class Folder:
    """A folder on disk. Paths within it are given with forward slashes, as `path` of a list's entries."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        path = Path(root)
        if not path.exists():
            raise UnreadableFile("no such folder", path=root)
        if not path.is_dir():
            raise UnreadableFile("is a file, expected a folder", path=root)
        self.root = path.resolve()

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.root.name or str(self.root)

    def find(self, path: str) -> Path:
        """The motion file at `path`, with all links resolved; one that is not inside is refused.

        So are files whose skeleton or sidecar, which loading would read, are links to somewhere else.
        """
        found = self.inside(path)
        if split_name(found)[1] not in (*SUFFIXES, ".asf"):
            raise UnknownFormat(f"no motion file; supported are {', '.join(SUFFIXES)}", path=path)
        if not found.is_file():
            raise UnreadableFile("no such file in the opened folder", path=path)
        beside = [found.with_suffix(SIDECAR_SUFFIX)]
        if split_name(found)[1] == ".amc":
            beside += [each for each in found.parent.iterdir() if each.suffix.lower() == ".asf"]
        for each in beside:
            if each.is_symlink() and not self._holds(each):
                raise UnreadableFile(f"{each.name}, which belongs to it, {_OUTSIDE}", path=path)
        return found

    def inside(self, path: str) -> Path:
        """`path` within the folder, links resolved; it need not exist."""
        parts = path.split("/")
        plain = path and "\0" not in path and "\\" not in path and not any(part in ("", ".", "..") for part in parts)
        fits = len(path) <= _LONGEST_PATH and all(len(part.encode(errors="replace")) <= _LONGEST_NAME for part in parts)
        if not plain or not fits:
            raise InvalidValue(f"expected a path within the folder such as 'takes/walk.bvh', got {path[:80]!r}")
        joined = self.root.joinpath(*parts)
        if not self._holds(joined):
            raise UnreadableFile(_OUTSIDE, path=path)
        return joined.resolve()

    def _holds(self, path: Path) -> bool:
        try:
            return path.resolve().is_relative_to(self.root)
        except (OSError, RuntimeError, ValueError):  # links in a circle, names that are too long
            return False

    def listed(self) -> FolderList:
        """The motion files in and below the folder in order of their names.

        None is opened, but for small sidecars and for what NPZ files say they are: graphs, characters' spaces and other
        results that lie beside the motions are left out.
        """
        found: list[tuple[str, os.stat_result]] = []
        left_out = 0
        sidecars: set[str] = set()
        for place, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                path = os.path.join(place, name)
                if name.endswith(SIDECAR_SUFFIX):
                    sidecars.add(path)
                elif not name.startswith(".") and split_name(name)[1] in SUFFIXES:
                    about = self._look_at(path)
                    left_out += about is not None and len(found) >= MOST_LISTED
                    if about is not None and len(found) < MOST_LISTED:
                        found.append((path, about))
        return FolderList(self.name, tuple(self._entry(path, about, sidecars) for path, about in found), left_out)

    def _look_at(self, path: str) -> os.stat_result | None:
        """How a file stands; None for links that lead outside, for what is no file, and for results."""
        try:
            about = os.lstat(path)
            if stat.S_ISLNK(about.st_mode):
                if not self._holds(Path(path)):
                    return None
                about = os.stat(path)
        except OSError:
            return None
        return about if stat.S_ISREG(about.st_mode) and not _is_result(path) else None

    def _entry(self, path: str, about: os.stat_result, sidecars: set[str]) -> FileEntry:
        side = os.path.splitext(path)[0] + SIDECAR_SUFFIX
        has_side = side in sidecars
        return FileEntry(
            os.path.relpath(path, self.root).replace(os.sep, "/"),
            about.st_size,
            about.st_mtime,
            split_name(path)[1][1:],
            has_side,
            _labels(side) if has_side else (),
        )


def _is_result(path: str) -> bool:
    """Whether a file is an archive of marey's that is no motion."""
    if split_name(path)[1] != ".npz":
        return False
    form = npz_form(path)
    return form.startswith("marey.") and form != MOTION_FORMAT


def _labels(side: str) -> tuple[str, ...]:
    """The label names of a small sidecar; what is wrong with it is told when its file is opened."""
    try:
        about = os.lstat(side)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _SMALL:
            return ()
        with open(side, "rb") as stream:
            content = json.loads(stream.read(_SMALL))
        names = {label["name"] for label in content.get("labels", ())}
        return tuple(sorted(name for name in names if isinstance(name, str)))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ()
