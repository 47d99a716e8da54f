"""List, read and write match webs and parametric motions in the open folder. Paths outside of it are refused."""

from __future__ import annotations

import shutil

from marey.errors import InvalidValue
from marey.io.folder import copy_file
from marey.studio.panels.author_files import check_name, find_files, find_result, kind_in_folder, opened_folder
from marey.studio.panels.find_messages import SavedFile, SavedKind
from marey.studio.places import Places

_KINDS: dict[str, SavedKind] = {"web": "web", "parametric": "space"}
_SUFFIX = ".npz"
# Maximum bytes of a file.
_MAX_BYTES = 2**30


def list_saved(places: Places) -> tuple[SavedFile, ...]:
    """List the match webs and spaces in the folder and its subfolders. Reads only the format tag of each file."""
    return tuple(SavedFile(path, kind) for path, kind in find_files(places, _SUFFIX, _KINDS))


def copy_saved(places: Places, path: str, kind: SavedKind, into: str) -> None:
    """Copy a file from the folder to `into`, a path of the session. Later changes do not affect the copy."""
    shutil.copyfile(find_result(places, path, kind, _KINDS, _MAX_BYTES), into)


def save_into(places: Places, file: str, name: str, kind: SavedKind, *, replace: bool) -> tuple[str, bool]:
    """Copy a file of the session to the folder. Returns its name, and whether the name was taken and nothing was saved.

    Overwrites only files of the same kind, and only with `replace`.
    """
    called = f"{check_name(name.removesuffix(_SUFFIX))}{_SUFFIX}"
    target = opened_folder(places).inside(called)
    if target.exists() and kind_in_folder(target, _KINDS) != kind:
        raise InvalidValue(f"{called} already exists and is a different kind of file; choose another name")
    try:
        copy_file(file, target, replace=replace)
    except FileExistsError:
        return called, True
    return called, False
