"""List, read and write match webs and parametric motions in the open folder. Paths outside of it are refused."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from marey.errors import InvalidValue, LimitExceeded, ParseError, UnreadableFile, UnwritableFile
from marey.io.archive import read_format
from marey.studio.exporting import place_new
from marey.studio.panels.author_files import check_name, find_files, opened_folder
from marey.studio.panels.find_messages import SavedFile, SavedKind
from marey.studio.places import Places

_KIND_NAMES = {"web": "a search index", "space": "a target control"}
_SUFFIX = ".npz"
# Maximum bytes of a file.
_MAX_BYTES = 2**30


def list_saved(places: Places) -> tuple[SavedFile, ...]:
    """List the match webs and spaces in the folder and its subfolders. Reads only the format tag of each file."""
    found: Iterator[tuple[str, SavedKind]] = find_files(places, _SUFFIX, _kind)
    return tuple(SavedFile(path, kind) for path, kind in found)


def copy_saved(places: Places, path: str, kind: SavedKind, into: str) -> None:
    """Copy a file from the folder to `into`, a path of the session. Later changes do not affect the copy."""
    found = opened_folder(places).inside(path)
    if not found.is_file():
        raise UnreadableFile("no such file in the open folder", path=path)
    if found.stat().st_size > _MAX_BYTES:
        raise LimitExceeded(f"is larger than the limit of {_MAX_BYTES // 2**20} MB", path=path)
    if _kind(found) != kind:
        raise ParseError(f"is not {_KIND_NAMES[kind]} saved by marey", path=path)
    shutil.copyfile(found, into)


def save_into(places: Places, file: str, name: str, kind: SavedKind, *, replace: bool) -> tuple[str, bool]:
    """Copy a file of the session to the folder. Returns its name, and whether the name was taken and nothing was saved.

    Overwrites only files of the same kind, and only with `replace`.
    """
    folder = opened_folder(places)
    called = f"{check_name(name.removesuffix(_SUFFIX))}{_SUFFIX}"
    target = folder.inside(called)
    if target.exists() and _kind(target) != kind:
        raise InvalidValue(f"{called} already exists and is a different kind of file; choose another name")
    part = target.with_name(f".{secrets.token_hex(4)}.part")
    try:
        shutil.copyfile(file, part)
        if replace:
            os.replace(part, target)
            return called, False
        place_new(part, target)
        return called, False
    except FileExistsError:
        return called, True
    except OSError as error:
        raise UnwritableFile(f"cannot be written ({(error.strerror or str(error)).lower()})", path=called) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _kind(path: Path) -> SavedKind | None:
    """Return the kind of an archive; None for other files and for links."""
    from marey.find.files import FORMAT as WEB
    from marey.parametric.files import FORMAT as SPACE

    kinds: dict[str, SavedKind] = {WEB: "web", SPACE: "space"}
    return None if path.is_symlink() or not path.is_file() else kinds.get(read_format(path))
