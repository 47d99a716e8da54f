"""List, read and write characters and gaze maps in the open folder. Paths outside of it are refused."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from marey.errors import InvalidValue, LimitExceeded, ParseError, UnreadableFile
from marey.studio.folder import Folder
from marey.studio.panels.author_messages import AuthoredFile, FileKind
from marey.studio.places import Places

_FORMATS: dict[str, FileKind] = {"marey.pmg": "character", "marey.gaze_map": "gaze"}
_FORMAT = re.compile(rb'^\s*\{\s*"format"\s*:\s*"([a-z_.]{1,40})"')
_SIDECAR = ".marey.json"
# Limits: listed files, searched folders, bytes of a file.
_MAX_LISTED, _MAX_FOLDERS = 500, 2_000
_MAX_BYTES = 16 * 2**20
Kind = TypeVar("Kind")
_NAME = re.compile(r"[\w][\w .-]{0,79}")


def opened_folder(places: Places) -> Folder:
    """Return the open folder. Raises an error if none is open."""
    if places.folder is None:
        raise InvalidValue("no folder is open to save to or load from; start with `marey studio FOLDER`")
    return places.folder


def find_files(
    places: Places, suffix: str, read_kind: Callable[[Path], Kind | None], skip: str | None = None
) -> Iterator[tuple[str, Kind]]:
    """Yield the path and the kind of each file with `suffix` in the open folder and its subfolders.

    Paths are relative to the folder. Leaves out files whose name ends in `skip` or whose kind, from `read_kind`, is
    None. Stops after 500 files or 2000 folders.
    """
    if places.folder is None:
        return
    root, n_found = places.folder.root, 0
    for k, (place, folders, files) in enumerate(os.walk(root)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.startswith(".") or not name.lower().endswith(suffix) or (skip and name.endswith(skip)):
                continue
            kind = read_kind(Path(place, name))
            if kind is not None and n_found < _MAX_LISTED:
                n_found += 1
                yield Path(place, name).relative_to(root).as_posix(), kind
        if n_found >= _MAX_LISTED or k >= _MAX_FOLDERS:
            return


def list_authored(places: Places) -> tuple[AuthoredFile, ...]:
    """List the characters and gaze maps in the folder and its subfolders. Reads only the first bytes of each file."""
    found: Iterator[tuple[str, FileKind]] = find_files(places, ".json", _kind, skip=_SIDECAR)
    return tuple(AuthoredFile(path, kind) for path, kind in found)


def find_authored(places: Places, path: str, kind: FileKind) -> Path:
    """Return the path of a file of one kind in the folder.

    Raises an error if it is too large, or if it or a file it refers to is outside the folder.
    """
    folder = opened_folder(places)
    found = folder.inside(path)
    if not found.is_file():
        raise UnreadableFile("no such file in the open folder", path=path)
    if found.stat().st_size > _MAX_BYTES:
        raise LimitExceeded(f"is larger than the limit of {_MAX_BYTES // 2**20} MB", path=path)
    if _kind(found) != kind:
        what = "character" if kind == "character" else "gaze map"
        raise ParseError(f"is not a {what} file", path=path)
    for name in _referenced_files(found):
        folder.inside((Path(path).parent / name).as_posix().removeprefix("./"))
    return found


def copy_into_folder(places: Places, file: Path, *, kind: FileKind, replace: bool) -> tuple[str, ...]:
    """Copy a file, and the files that it refers to, into the open folder. Return their names there.

    If the folder already has a file of that kind and name, the file and those it refers to are overwritten if `replace`
    is True, otherwise `InvalidValue` is raised. Other files are never overwritten: they always raise `InvalidValue`.
    """
    folder = opened_folder(places)
    names = [*_referenced_files(file), file.name]
    targets = {name: folder.inside(name) for name in names}
    there = [name for name in names if targets[name].exists()]
    if there:
        is_same_kind = _kind(targets[file.name]) == kind if targets[file.name].is_file() else False
        before = {file.name, *_referenced_files(targets[file.name])} if is_same_kind else set()
        foreign = next((name for name in there if name not in before), None)
        if foreign is not None:
            raise InvalidValue(f"{foreign} already exists and is a different kind of file; choose another name")
        if not replace:
            raise InvalidValue(f"{file.name} already exists; check “Overwrite”, or choose another name")
    for name in names:
        part = targets[name].with_name(f".{name}.part")
        shutil.copyfile(file.with_name(name), part)
        os.replace(part, targets[name])
    return tuple(reversed(names))


def check_name(name: str) -> str:
    """Check that a name is a valid file name, and return it."""
    if not _NAME.fullmatch(name) or name.endswith((".", " ")):
        raise InvalidValue(f"expected a name of letters, digits, spaces, '-' and '_', got {name[:80]!r}")
    return name


def _kind(path: Path) -> FileKind | None:
    """Read the kind of a JSON file from its first bytes; None for other files and for links."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as stream:
            begins = _FORMAT.match(stream.read(120))
    except OSError:
        return None
    return None if begins is None else _FORMATS.get(begins[1].decode())


def _referenced_files(path: Path) -> list[str]:
    """Return the unique names of the files that a character refers to."""
    try:
        content: Any = json.loads(path.read_bytes())
        named = [node["space"].get("file") for node in content.get("nodes", ())]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []  # errors are reported when the character is loaded
    return sorted({Path(name).name for name in named if isinstance(name, str) and Path(name).name})
