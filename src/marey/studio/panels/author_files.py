"""List, read and write characters and gaze maps in the open folder. Paths outside of it are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from marey.errors import InvalidValue, LimitExceeded, ParseError, UnreadableFile
from marey.io.files import SIDECAR_SUFFIX
from marey.io.folder import result_kind, walk_files
from marey.pmg.node_files import copy_character, iterate_node_files
from marey.studio.folder import Folder
from marey.studio.panels.author_messages import AuthoredFile, FileKind
from marey.studio.places import Places, is_device

_KINDS: dict[str, FileKind] = {"pmg": "character", "gaze_map": "gaze"}
_KIND_NAMES = {"character": "a character", "gaze": "a gaze map", "web": "a search index", "space": "a target control",
               "graph": "a motion graph"}  # fmt: skip
# Limits: listed files, searched folders, bytes of a file.
_MAX_LISTED, _MAX_FOLDERS = 500, 2_000
_MAX_BYTES = 16 * 2**20
Kind = TypeVar("Kind", bound=str)
_NAME = re.compile(r"[\w][\w .-]{0,79}")


def get_open_folder(places: Places) -> Folder:
    """Return the open folder. Raise an error if none is open."""
    if places.folder is None:
        raise InvalidValue("no folder is open to save to or load from; start with `marey studio FOLDER`")
    return places.folder


def kind_in_folder(path: Path, kinds: Mapping[str, Kind]) -> Kind | None:
    """Return the kind of a built result, which is one of `kinds`; None for other files and for links."""
    return None if path.is_symlink() or not path.is_file() else kinds.get(result_kind(path) or "")


def find_files(places: Places, suffix: str, kinds: Mapping[str, Kind]) -> Iterator[tuple[str, Kind]]:
    """Yield the path and the kind of each result with `suffix` in the open folder and its subfolders.

    Paths are relative to the folder. Stop after 500 files or 2000 folders.
    """
    if places.folder is None:
        return
    root, n_found = places.folder.root, 0
    for k, (place, files) in enumerate(walk_files(root)):
        for name in files:
            if not name.lower().endswith(suffix) or name.endswith(SIDECAR_SUFFIX):
                continue
            kind = kind_in_folder(place / name, kinds)
            if kind is not None and n_found < _MAX_LISTED:
                n_found += 1
                yield (place / name).relative_to(root).as_posix(), kind
        if n_found >= _MAX_LISTED or k >= _MAX_FOLDERS:
            return


def find_result(places: Places, path: str, kind: Kind, kinds: Mapping[str, Kind], max_bytes: int) -> Path:
    """Return the path of a result of one kind in the folder. Raise an error if it is too large or of another kind."""
    found = get_open_folder(places).inside(path)
    if not found.is_file():
        raise UnreadableFile("no such file in the open folder", path=path)
    if found.stat().st_size > max_bytes:
        raise LimitExceeded(f"is larger than the limit of {max_bytes // 2**20} MB", path=path)
    if kind_in_folder(found, kinds) != kind:
        raise ParseError(f"is not {_KIND_NAMES[kind]} saved by marey", path=path)
    return found


def list_authored(places: Places) -> tuple[AuthoredFile, ...]:
    """List the characters and gaze maps in the folder and its subfolders. Read only the first bytes of each file."""
    return tuple(AuthoredFile(path, kind) for path, kind in find_files(places, ".json", _KINDS))


def list_recipes(places: Places) -> tuple[str, ...]:
    """List the recipes in the folder and its subfolders."""
    if places.folder is None:
        return ()
    root, found = places.folder.root, list[str]()
    for k, (place, files) in enumerate(walk_files(root)):
        found += [(place / name).relative_to(root).as_posix() for name in files if name.lower().endswith(".toml")]
        if len(found) >= _MAX_LISTED or k >= _MAX_FOLDERS:
            break
    return tuple(found[:_MAX_LISTED])


def find_recipe(places: Places, path: str) -> Path:
    """Return the path of a recipe in the folder. Raise an error if it is too large or uses files outside of it."""
    from marey.pmg import read_recipe

    folder = get_open_folder(places)
    found = folder.inside(path)
    if not found.is_file() or found.suffix.lower() != ".toml":
        raise UnreadableFile("no such recipe in the open folder", path=path)
    if found.stat().st_size > _MAX_BYTES:
        raise LimitExceeded(f"is larger than the limit of {_MAX_BYTES // 2**20} MB", path=path)
    place = found.parent.relative_to(folder.root).as_posix()
    for node in read_recipe(found).nodes:
        used = [name for clips in node.clips for name in clips.files] + ([node.space] if node.space else [])
        for name in used:
            folder.inside(name if place == "." else f"{place}/{name}")
            for each in found.parent.glob(name):
                folder.inside(each.relative_to(folder.root).as_posix())
    return found


def find_authored(places: Places, path: str, kind: FileKind) -> Path:
    """Return the path of a character or gaze map in the folder.

    Raise an error if it is too large, or if it or a file it refers to is outside the folder.
    """
    found = find_result(places, path, kind, _KINDS, _MAX_BYTES)
    for name in _list_referenced_files(found):
        get_open_folder(places).inside((Path(path).parent / name).as_posix().removeprefix("./"))
    return found


def copy_into_folder(places: Places, file: Path, *, kind: FileKind, replace: bool) -> tuple[str, ...]:
    """Copy a file, and the files that it refers to, into the open folder. Return their names there.

    A file of that kind and name is overwritten if `replace` is True, otherwise `InvalidValue` is raised. Files of other
    kinds are never overwritten: they always raise `InvalidValue`.
    """
    folder = get_open_folder(places)
    names = _list_referenced_files(file)
    for name in names:
        folder.inside(name)
    target = folder.inside(file.name)
    if target.exists() and kind_in_folder(target, _KINDS) != kind:
        raise InvalidValue(f"{file.name} already exists and is a different kind of file; choose another name")
    if target.exists() and not replace:
        raise InvalidValue(f"{file.name} already exists; check “Overwrite”, or choose another name")
    try:
        copy_character(file, target)
    except FileExistsError as error:
        raise InvalidValue(f"{error} and is a different kind of file; choose another name") from None
    return (file.name, *reversed(names))


def check_name(name: str) -> str:
    """Check that a name is a valid file name, and return it."""
    if not _NAME.fullmatch(name) or name.endswith((".", " ")) or is_device(name):
        raise InvalidValue(f"expected a name of letters, digits, spaces, '-' and '_', got {name[:80]!r}")
    return name


def _list_referenced_files(path: Path) -> list[str]:
    """Return the unique names of the files that a character refers to."""
    return sorted({name for name, _ in iterate_node_files(path)})
