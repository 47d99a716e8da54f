"""Scan a folder of clips: its motion files, the clips in them, and the files they depend on."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from marey.errors import FileError, MareyError, UnreadableFile, UnwritableFile, warn_user
from marey.io.files import MARKER_SUFFIXES, MULTI_CLIP_SUFFIXES, split_name
from marey.io.folder import CLIP_SUFFIXES, describe_other, walk_files
from marey.io.loading import clip_names
from marey.io.sidecar import sidecar_path
from marey.store.cache import Cache
from marey.store.index import FileRow, Index

# A file modified within this many nanoseconds before it was read may change again without a change of its time stamps.
_RACY = 2_000_000_000


class Stamp(NamedTuple):
    """A file and the facts that show whether it has changed: its size, and its time stamps in nanoseconds (`mtime`,
    `ctime`)."""

    path: str
    size: int
    mtime: int
    ctime: int


class ScannedFile(NamedTuple):
    """A file with the digest of its content; `clips` names the motions in it, or is None for a single motion."""

    stamp: Stamp
    digest: str
    clips: tuple[str, ...] | None


def list_files(places: Sequence[Path], pattern: str, excluded: Path) -> tuple[Path, tuple[str, ...], tuple[str, ...]]:
    """List motion files: those in folders and their subfolders, and single files.

    Return the folder that contains all places; the files that match `pattern`; and all files. Paths are relative to
    that folder, sorted, with forward slashes. Hidden files and folders and the folder `excluded` are left out.
    """
    folder = find_common_folder(places)
    found = {file for place in places for file in _list_place(place, excluded)}
    everything = tuple(sorted(Path(os.path.relpath(file, folder)).as_posix() for file in found))
    chosen = tuple(file for file in everything if fnmatch(file if "/" in pattern else file.split("/")[-1], pattern))
    if not chosen:
        raise UnreadableFile(f"none of its {len(everything)} motion files matches the pattern {pattern!r}", path=folder)
    return folder, chosen, everything


def find_common_folder(places: Sequence[Path]) -> Path:
    """Return the folder that contains all files and folders."""
    folders = [place.parent if place.is_file() else place for place in places]
    if len(set(folders)) == 1:
        return folders[0]
    return Path(os.path.commonpath([os.path.abspath(folder) for folder in folders]))


def _list_place(place: Path, excluded: Path) -> list[Path]:
    """List the motion files in a folder, or the file itself.

    Files of recorded markers are listed only if there are no motion files: captures often come as both.
    """
    known = (*CLIP_SUFFIXES, *MARKER_SUFFIXES)
    kinds = ", ".join(known)
    if place.is_file():
        if split_name(place.name)[1] not in known:
            raise UnreadableFile(f"is not a motion file; expected a folder, or a file of type {kinds}", path=place)
        return [place]
    if not place.exists():
        raise UnreadableFile("no such file or folder", path=place)

    def report_closed(error: OSError) -> None:
        if error.filename == os.fspath(place):
            raise UnreadableFile(f"cannot be read ({(error.strerror or str(error)).lower()})", path=place) from None
        warn_user(f"{error.filename}: skipped this folder, because it cannot be read")

    out = [
        here / name
        for here, files in walk_files(place, skip=excluded, on_error=report_closed)
        for name in files
        if split_name(name)[1] in known
    ]
    if not out:
        raise UnreadableFile(f"holds no motion files; expected files of type {kinds}", path=place)
    clips = [file for file in out if split_name(file.name)[1] in CLIP_SUFFIXES]
    if len(clips) < len(out) and all(describe_other(file) is not None for file in clips):
        return out
    return clips


def list_needed_files(path: Path) -> tuple[Path, ...]:
    """Return the other files that loading `path` reads: its sidecar, and the .asf file of an .amc file."""
    out = [side] if (side := sidecar_path(path)).is_file() else []
    if path.suffix.lower() == ".amc":
        from marey.io.amc import find_asf

        try:
            out.append(find_asf(path))
        except FileError:  # loading will report it
            return tuple(out)
    return tuple(out)


def look_at(index: Index, paths: Iterable[Path]) -> tuple[dict[Path, ScannedFile], dict[Path, str]]:
    """Scan files. Return the files that can be read, and the reasons why the others cannot.

    A file is read again only if its size or time stamps differ from the index, or if it was modified just
    before it was last read.
    """
    wanted = list(dict.fromkeys(paths))
    names = {path: Cache.key(os.path.abspath(path)) for path in wanted}
    known = index.files(names.values())
    seen: dict[Path, ScannedFile] = {}
    wrong: dict[Path, str] = {}
    fresh: list[FileRow] = []
    for path in wanted:
        try:
            now = stamp(path)
            row = known.get(names[path])
            if row is None or row[1:4] != now[1:] or now.mtime > row.hashed - _RACY:
                row = _read(path, names[path], now)
                fresh.append(row)
        except OSError as error:
            wrong[path] = error.sentence if isinstance(error, FileError) else (error.strerror or str(error)).lower()
            continue
        seen[path] = ScannedFile(now, row.digest, row.clips)
    if fresh:
        # If this fails, the files are read again next time: a complete cache may be in a read-only folder.
        with suppress(UnwritableFile):
            index.put_files(fresh)
    return seen, wrong


def stamp(path: Path | str) -> Stamp:
    """Return the current size and time stamps of a file; raise an error for pipes and devices."""
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode):
        raise UnreadableFile("is a pipe or a device, expected a file", path=path)
    return Stamp(os.fspath(path), about.st_size, about.st_mtime_ns, about.st_ctime_ns)


def _read(path: Path, name: str, now: Stamp) -> FileRow:
    read_at = time.time_ns()
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=20)).hexdigest()
    return FileRow(name, *now[1:], read_at, digest, _clips(path))


def _clips(path: Path) -> tuple[str, ...] | None:
    """Return the names of the motions in a file with several or none; None for one motion or an unreadable file."""
    suffix = path.suffix.lower()
    if suffix in MULTI_CLIP_SUFFIXES:
        try:
            names = clip_names(path)
        except MareyError:
            return None
        return names if len(names) > 1 else None
    return None if describe_other(path) is None else ()
