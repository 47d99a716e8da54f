"""Folders of files: list them, identify what each file holds, find free names, and save without overwriting."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from marey.errors import InvalidValue, MareyError, UnwritableFile
from marey.io.archive import array_names, read_npy_head
from marey.io.file_kinds import read_format
from marey.io.files import GENERATOR, GLTF_SUFFIXES, MOTION_SUFFIXES, PART_SUFFIX, split_name, sweep_parts, write_bytes

__all__ = [
    "CLIP_SUFFIXES",
    "copy_file",
    "create_hidden_folder",
    "describe_other",
    "free_name",
    "own_format",
    "result_kind",
    "walk_files",
]

# An .asf file is the skeleton of the .amc files in the same folder.
CLIP_SUFFIXES = tuple(suffix for suffix in MOTION_SUFFIXES if suffix != ".asf")
# Byte patterns of files that marey wrote. Most formats have a field for the name of the program. BVH has none, so marey
# writes a space after the last brace; the CSV file of a distance grid begins with time 0.
_MARKS = {
    ".bvh": rb"\n} \nMOTION\n",
    ".fbx": rb"CreatorS\x05\0\0\0marey",
    **dict.fromkeys(GLTF_SUFFIXES, rb'"generator":"marey[",]'),
    ".usda": rb'string creator = "marey"',
    ".csv": rb"\Aseconds,0,",
    ".png": rb"tEXtSoftware\0marey",
    ".svg": rb"<dc:title>marey</dc:title>",
    ".gif": rb"!\xfe\x05marey\0",
    ".webp": rb"EXIF.{0,60}marey\0",
    ".mp4": rb"\xa9cmt.{4}data.{8}marey",
    **dict.fromkeys((".html", ".htm"), rb'<meta name="generator" content="marey">'),
}
_MAX_TRIED = 10_000
# Maximum length of a name when a number is added.
_MAX_BASE = 114
# Maximum bytes of a name that becomes part of a file name; systems allow 255 for the whole.
_MAX_PLAIN = 120
_CHUNK = 2**20


def walk_files(
    root: str | os.PathLike[str], *, skip: Path | None = None, on_error: Callable[[OSError], None] | None = None
) -> Iterator[tuple[Path, list[str]]]:
    """Yield `root` and each folder below it with the names of its files, sorted; hidden files and folders are skipped.

    skip : a folder to leave out. on_error : called with the error of a folder that cannot be read.
    """
    for place, folders, files in os.walk(root, onerror=on_error):
        here = Path(place)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and here / name != skip)
        yield here, sorted(name for name in files if not name.startswith("."))


def result_kind(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of built result in an .npz or .json file, such as ``"graph"``; None for motions and others.

    Read only the format name.
    """
    form = read_format(path)
    kind = form.removeprefix("marey.")
    return None if kind in (form, "motion") else kind


def own_format(path: str | os.PathLike[str]) -> str:
    """Return the format name in a file that marey wrote, such as ``"marey.graph"``; "" for files of other programs.

    For common formats such as BVH or PNG, return "marey" if the file names marey as the program that wrote it. A
    program that changes such a file usually replaces this name.
    """
    import mmap
    import zipfile

    suffix = split_name(path)[1]
    if suffix in (".json", ".npz"):
        form = read_format(path)
        if form.startswith(f"{GENERATOR}."):
            return form
        if suffix == ".npz" and zipfile.is_zipfile(path):
            with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
                return "marey.motion" if archive.comment == GENERATOR.encode() else ""
        return ""
    mark = _MARKS.get(suffix)
    if mark is None:
        return ""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return "" if re.search(mark, content) is None else GENERATOR
    except (OSError, ValueError):  # cannot be read, or is empty
        return ""


def describe_other(path: str | os.PathLike[str]) -> str | None:
    """Return the kind of a NumPy file that holds no motion, such as ``"graph"``; None for motions and other suffixes.

    Read only headers. Files that cannot be read count as motions, so loading them raises the error that explains it.
    """
    import zipfile

    suffix = split_name(path)[1]
    if suffix not in (".npy", ".npz") or not os.path.isfile(path):  # reading a pipe would block
        return None
    try:
        if suffix == ".npy":
            from marey.io.npy import is_motion

            head = read_npy_head(path)
            return None if is_motion(head.shape) else f"NumPy array of shape {head.shape}"
        if (kind := result_kind(path)) is not None:
            return kind
        if not read_format(path):
            from marey.io.kimodo import is_kimodo
            from marey.io.smpl import is_smpl

            with zipfile.ZipFile(path) as archive:
                names = array_names(archive)
            return None if is_smpl(names) or is_kimodo(names) else "set of arrays of another program"
    except (MareyError, OSError, zipfile.BadZipFile, ValueError, RuntimeError, NotImplementedError):
        return None
    return None


def free_name(name: str, is_taken: Callable[[str], bool], fit: Callable[[str], str] = str, gap: str = " ") -> str:
    """Return `name`, or the first of ``name 2``, ``name 3`` and so on that is not taken.

    fit : shortens or corrects each name before it is tried. gap : stands between the name and the number.
    """
    for k in range(1, _MAX_TRIED):
        tried = fit(name if k == 1 else f"{name[:_MAX_BASE]}{gap}{k}")
        if not is_taken(tried):
            return tried
    raise InvalidValue(f"{name!r} and its numbered variants up to {_MAX_TRIED - 1} are in use; choose another name")


def plain_name(name: str, allowed: str = "-_.") -> str:
    """Return a name that can be part of a file name on any system: letters, digits and those `allowed`, at most 120
    bytes."""
    plain = "".join(letter if letter.isalnum() or letter in allowed else "_" for letter in name)
    return plain.encode()[:_MAX_PLAIN].decode(errors="ignore")


def copy_file(source: str | os.PathLike[str], target: str | os.PathLike[str], *, replace: bool) -> None:
    """Copy a file to `target`, which appears complete or not at all.

    Raise `FileExistsError` if the name is taken, unless `replace`.
    """
    with open(source, "rb") as stream:
        write_bytes(target, iter(lambda: stream.read(_CHUNK), b""), replace=replace)


@contextmanager
def create_hidden_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Context manager: create a hidden folder in `folder` for incomplete files, and remove it at the end."""
    sweep_parts(os.path.abspath(folder))
    try:
        hidden = tempfile.TemporaryDirectory(prefix=".", suffix=PART_SUFFIX, dir=folder, ignore_cleanup_errors=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnwritableFile(f"nothing can be written to this folder ({reason})", path=folder) from None
    with hidden as name:
        yield Path(name)
