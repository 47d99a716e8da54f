"""Characters and gaze maps in the opened folder: which there are, and reading and writing them without getting out."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

from marey.errors import InvalidValue, LimitExceeded, ParseError, UnreadableFile
from marey.studio.folder import Folder
from marey.studio.panels.author_messages import AuthoredFile, FileKind
from marey.studio.places import Places

_FORMATS: dict[str, FileKind] = {"marey.pmg": "character", "marey.gaze_map": "gaze"}
_FORMAT = re.compile(rb'^\s*\{\s*"format"\s*:\s*"([a-z_.]{1,40})"')
_SIDECAR = ".marey.json"
# Most files that are listed and folders that are looked into, and the largest file that is read, in bytes.
_MOST_LISTED, _MOST_FOLDERS = 500, 2_000
_MOST_BYTES = 16 * 2**20
_NAME = re.compile(r"[\w][\w .-]{0,79}")


def opened_folder(places: Places) -> Folder:
    """The folder, where one is open."""
    if places.folder is None:
        raise InvalidValue("no folder is open, so nothing can be saved or loaded; start with `marey studio FOLDER`")
    return places.folder


def list_authored(places: Places) -> tuple[AuthoredFile, ...]:
    """The characters and gaze maps in and below the folder; of each file only the first bytes are read."""
    found: list[AuthoredFile] = []
    if places.folder is None:
        return ()
    root = places.folder.root
    for k, (place, folders, files) in enumerate(os.walk(root)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.endswith(".json") or name.endswith(_SIDECAR) or name.startswith("."):
                continue
            path = Path(place, name)
            kind = _kind(path)
            if kind is not None:
                found.append(AuthoredFile(path.relative_to(root).as_posix(), kind))
        if len(found) >= _MOST_LISTED or k >= _MOST_FOLDERS:
            break
    return tuple(found[:_MOST_LISTED])


def find_authored(places: Places, path: str, kind: FileKind) -> Path:
    """A file of the folder that can be read: it, and what it names, is inside, and not too large."""
    folder = opened_folder(places)
    found = folder.inside(path)
    if not found.is_file():
        raise UnreadableFile("no such file in the opened folder", path=path)
    if found.stat().st_size > _MOST_BYTES:
        raise LimitExceeded(f"is larger than {_MOST_BYTES // 2**20} MB, the most that is read", path=path)
    if _kind(found) != kind:
        what = "character" if kind == "character" else "gaze map"
        raise ParseError(f"is no {what}", path=path)
    for name in _spaces(found):
        folder.inside((Path(path).parent / name).as_posix().removeprefix("./"))
    return found


def take_into(places: Places, made: Path, *, kind: FileKind, replace: bool) -> tuple[str, ...]:
    """Put a file from elsewhere, and those that it names, into the folder; gives their names there.

    Nothing but an earlier version of the same is ever replaced.
    """
    folder = opened_folder(places)
    names = [*_spaces(made), made.name]
    targets = {name: folder.inside(name) for name in names}
    there = [name for name in names if targets[name].exists()]
    if there:
        ours = _kind(targets[made.name]) == kind if targets[made.name].is_file() else False
        before = {made.name, *_spaces(targets[made.name])} if ours else set()
        foreign = next((name for name in there if name not in before), None)
        if foreign is not None:
            raise InvalidValue(f"{foreign} is in the folder already and is something else; choose another name")
        if not replace:
            raise InvalidValue(f"{made.name} is in the folder already; tick “Replace”, or choose another name")
    for name in names:
        part = targets[name].with_name(f".{name}.part")
        shutil.copyfile(made.with_name(name), part)
        os.replace(part, targets[name])
    return tuple(reversed(names))


def checked_name(name: str) -> str:
    """A name that files can have."""
    if not _NAME.fullmatch(name) or name.endswith((".", " ")):
        raise InvalidValue(f"expected a name of letters, digits, spaces, '-' and '_', got {name[:80]!r}")
    return name


def _kind(path: Path) -> FileKind | None:
    """What a JSON file holds, by how it begins; None for anything else, and for links."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as stream:
            begins = _FORMAT.match(stream.read(120))
    except OSError:
        return None
    return None if begins is None else _FORMATS.get(begins[1].decode())


def _spaces(path: Path) -> list[str]:
    """The files beside it that a character names, each once."""
    try:
        told: Any = json.loads(path.read_bytes())
        named = [node["space"].get("file") for node in told.get("nodes", ())]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []  # what is wrong with it is told when it is loaded
    return sorted({Path(name).name for name in named if isinstance(name, str) and Path(name).name})
