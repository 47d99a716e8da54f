"""Webs and spaces in the opened folder: which there are, and reading and writing them without getting out."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from marey.errors import InvalidValue, LimitExceeded, ParseError, UnreadableFile, UnwritableFile
from marey.store.scan import npz_form
from marey.studio.exporting import place_new
from marey.studio.panels.author_files import checked_name, opened_folder
from marey.studio.panels.find_messages import SavedFile, SavedKind
from marey.studio.places import Places

_CALLED = {"web": "a compared set", "space": "an aimable motion"}
_SUFFIX = ".npz"
# Most files that are listed and folders that are looked into, and the largest file that is taken, in bytes.
_MOST_LISTED, _MOST_FOLDERS = 500, 2_000
_MOST_BYTES = 2**30


def list_saved(places: Places) -> tuple[SavedFile, ...]:
    """The webs and spaces in and below the folder; of each file only what it says it is gets read."""
    if places.folder is None:
        return ()
    found: list[SavedFile] = []
    root = places.folder.root
    for k, (place, folders, files) in enumerate(os.walk(root)):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.startswith(".") or not name.lower().endswith(_SUFFIX):
                continue
            path = Path(place, name)
            kind = _kind(path)
            if kind is not None:
                found.append(SavedFile(path.relative_to(root).as_posix(), kind))
        if len(found) >= _MOST_LISTED or k >= _MOST_FOLDERS:
            break
    return tuple(found[:_MOST_LISTED])


def copy_saved(places: Places, path: str, kind: SavedKind, into: str) -> None:
    """Copy a file of the folder to a place of the session's own, so that it stays as it was when it was taken."""
    found = opened_folder(places).inside(path)
    if not found.is_file():
        raise UnreadableFile("no such file in the opened folder", path=path)
    if found.stat().st_size > _MOST_BYTES:
        raise LimitExceeded(f"is larger than {_MOST_BYTES // 2**20} MB, the most that is read", path=path)
    if _kind(found) != kind:
        raise ParseError(f"is not {_CALLED[kind]} that marey has saved", path=path)
    shutil.copyfile(found, into)


def save_into(places: Places, made: str, name: str, kind: SavedKind, *, replace: bool) -> tuple[str, bool]:
    """Put a file of the session into the folder; its name there, and whether one was there, which then is left alone.

    Nothing but an earlier one of the same kind is ever replaced, and that only where it is allowed.
    """
    folder = opened_folder(places)
    called = f"{checked_name(name.removesuffix(_SUFFIX))}{_SUFFIX}"
    target = folder.inside(called)
    if target.exists() and _kind(target) != kind:
        raise InvalidValue(f"{called} is in the folder already and is something else; choose another name")
    part = target.with_name(f".{secrets.token_hex(4)}.part")
    try:
        shutil.copyfile(made, part)
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
    """What an archive holds; None for anything else, and for links."""
    from marey.find.files import FORMAT as WEB
    from marey.parametric.files import FORMAT as SPACE

    kinds: dict[str, SavedKind] = {WEB: "web", SPACE: "space"}
    return None if path.is_symlink() or not path.is_file() else kinds.get(npz_form(path))
