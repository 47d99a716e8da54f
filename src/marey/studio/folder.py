"""The open folder: lists its motion files and refuses paths that lead outside of it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from marey.errors import InvalidValue, UnknownFormat, UnreadableFile
from marey.io.files import MARKER_SUFFIXES, SIDECAR_SUFFIX, split_name
from marey.io.folder import CLIP_SUFFIXES, describe_other, walk_files
from marey.studio.messages import FileEntry, FolderList

SUFFIXES = (*CLIP_SUFFIXES, *MARKER_SUFFIXES)
# Maximum number of listed files, and maximum bytes of a sidecar that is read for the list.
MAX_LISTED = 5_000
_SMALL = 64 * 2**10
# File system limits: bytes of a name, characters of a path.
_MAX_NAME_BYTES, _MAX_PATH_CHARS = 255, 2_000
_OUTSIDE = "is outside the open folder; open the folder that contains it"


class Folder:
    """A folder on disk. Paths inside it are relative and use forward slashes, like `FileEntry.path`."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        path = Path(root)
        if not path.exists():
            raise UnreadableFile("no such folder", path=root)
        if not path.is_dir():
            raise UnreadableFile("is a file, expected a folder", path=root)
        self.root = path.resolve()

    @property
    def name(self) -> str:
        """The folder's display name."""
        return self.root.name or str(self.root)

    def find(self, path: str) -> Path:
        """Return the motion file at `path`, with all links resolved. A path outside the folder raises an error.

        A file whose skeleton or sidecar is a link out of the folder is refused too, because loading would follow it.
        """
        found = self.inside(path)
        if split_name(found)[1] not in (*SUFFIXES, ".asf"):
            raise UnknownFormat(f"not a motion file; supported formats: {', '.join(SUFFIXES)}", path=path)
        if not found.is_file():
            raise UnreadableFile("no such file in the open folder", path=path)
        companions = [found.with_suffix(SIDECAR_SUFFIX), Path(f"{found}{SIDECAR_SUFFIX}")]
        if split_name(found)[1] == ".amc":
            companions += [each for each in found.parent.iterdir() if each.suffix.lower() == ".asf"]
        for each in companions:
            if each.is_symlink() and not self._contains(each):
                raise UnreadableFile(f"its companion file {each.name} {_OUTSIDE}", path=path)
        return found

    def inside(self, path: str) -> Path:
        """Resolve `path` inside the folder, following links. The file need not exist."""
        parts = path.split("/")
        plain = path and "\0" not in path and "\\" not in path and not any(part in ("", ".", "..") for part in parts)
        fits = len(path) <= _MAX_PATH_CHARS and all(
            len(part.encode(errors="replace")) <= _MAX_NAME_BYTES for part in parts
        )
        if not plain or not fits:
            raise InvalidValue(f"expected a path within the open folder such as 'takes/walk.bvh', got {path[:80]!r}")
        joined = self.root.joinpath(*parts)
        if not self._contains(joined):
            raise UnreadableFile(_OUTSIDE, path=path)
        return joined.resolve()

    def _contains(self, path: Path) -> bool:
        try:
            return path.resolve().is_relative_to(self.root)
        except (OSError, RuntimeError, ValueError):  # circular links, names that are too long
            return False

    def list_files(self) -> FolderList:
        """List the motion files in the folder and its subfolders, sorted by name.

        Motion files are not read, only small sidecars and the headers of NPZ and NPY files: graphs, characters, other
        results and arrays that are not motions are not listed.
        """
        found: list[tuple[str, os.stat_result]] = []
        skipped = 0
        sidecars: set[str] = set()
        for here, files in walk_files(self.root):
            for name in files:
                path = os.path.join(here, name)
                if name.endswith(SIDECAR_SUFFIX):
                    sidecars.add(path)
                elif split_name(name)[1] in SUFFIXES:
                    about = self._stat_motion_file(path)
                    skipped += about is not None and len(found) >= MAX_LISTED
                    if about is not None and len(found) < MAX_LISTED:
                        found.append((path, about))
        return FolderList(self.name, tuple(self._entry(path, about, sidecars) for path, about in found), skipped)

    def _stat_motion_file(self, path: str) -> os.stat_result | None:
        """Return a file's stat; None for links out of the folder, for anything but files, and for saved results."""
        try:
            about = os.lstat(path)
            if stat.S_ISLNK(about.st_mode):
                if not self._contains(Path(path)):
                    return None
                about = os.stat(path)
        except OSError:
            return None
        return about if stat.S_ISREG(about.st_mode) and describe_other(path) is None else None

    def _entry(self, path: str, about: os.stat_result, sidecars: set[str]) -> FileEntry:
        own, shared = path + SIDECAR_SUFFIX, os.path.splitext(path)[0] + SIDECAR_SUFFIX
        side = own if own in sidecars else shared
        has_side = side in sidecars
        return FileEntry(
            os.path.relpath(path, self.root).replace(os.sep, "/"),
            about.st_size,
            about.st_mtime,
            split_name(path)[1][1:],
            has_side,
            _labels(side) if has_side else (),
        )


def _labels(side: str) -> tuple[str, ...]:
    """Return the label names in a small sidecar. Its errors are ignored here and reported when its motion is opened."""
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
