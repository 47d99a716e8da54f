"""Folders of files: list them, tell what each file holds, find free names, and save without overwriting."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from marey.errors import InvalidValue, UnwritableFile
from marey.io.archive import read_format
from marey.io.files import MOTION_SUFFIXES, new_file_mode

__all__ = ["CLIP_SUFFIXES", "copy_file", "free_name", "place_new", "result_kind", "walk_files"]

# An .asf file is the skeleton of the .amc files in the same folder.
CLIP_SUFFIXES = tuple(suffix for suffix in MOTION_SUFFIXES if suffix != ".asf")
_MAX_TRIED = 10_000
# Characters of a name that are kept when a number is added.
_MAX_BASE = 114


def walk_files(
    root: str | os.PathLike[str], *, skip: Path | None = None, on_error: Callable[[OSError], None] | None = None
) -> Iterator[tuple[Path, list[str]]]:
    """Yield each folder below `root`, itself first, with the names of its files, both sorted and without hidden ones.

    skip : a folder to leave out. on_error : called with the error of a folder that cannot be read.
    """
    for place, folders, files in os.walk(root, onerror=on_error):
        here = Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and here / name != skip)
        yield here, sorted(name for name in files if not name.startswith("."))


def result_kind(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of built result in an .npz or .json file, such as ``"graph"``; None for motions and others.

    Reads only the format name.
    """
    form = read_format(path)
    kind = form.removeprefix("marey.")
    return None if kind in (form, "motion") else kind


def free_name(name: str, is_taken: Callable[[str], bool], fit: Callable[[str], str] = str, gap: str = " ") -> str:
    """Return `name`, or the first of ``name 2``, ``name 3`` and so on that is not taken.

    fit : shortens or corrects each name before it is tried. gap : stands between the name and the number.
    """
    for k in range(1, _MAX_TRIED):
        tried = fit(name if k == 1 else f"{name[:_MAX_BASE]}{gap}{k}")
        if not is_taken(tried):
            return tried
    raise InvalidValue(f"the folder already has {_MAX_TRIED} files named {name!r}; choose another name")


def place_new(temporary: Path, target: Path) -> None:
    """Move a file to a new name. Raises `FileExistsError` if the name is taken."""
    try:
        os.link(temporary, target)  # unlike a rename, a hard link never overwrites
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: creating an empty file reserves the name
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        os.replace(temporary, target)


def copy_file(source: str | os.PathLike[str], target: Path, *, replace: bool) -> None:
    """Copy a file to `target`, which appears complete or not at all.

    Raises `FileExistsError` if the name is taken, unless `replace`.
    """
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=".part", dir=target.parent)
        with os.fdopen(handle, "wb") as stream, open(source, "rb") as content:
            shutil.copyfileobj(content, stream)
        os.chmod(temporary, new_file_mode(target))
        if replace:
            os.replace(temporary, target)
        else:
            place_new(Path(temporary), target)
    except FileExistsError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnwritableFile(f"cannot be written ({reason})", path=target.name) from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)
