"""Read and write whole files: inputs are never modified, outputs are written completely or not at all."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import NamedTuple

from marey.errors import InvalidValue, MareyError, UnreadableFile, UnwritableFile, similar

MOTION_SUFFIXES = (".bvh", ".amc", ".asf", ".fbx", ".glb", ".vrm", ".npz", ".npy")
# Files that may hold several motions, of which `clip=` chooses one.
MULTI_CLIP_SUFFIXES = (".fbx", ".glb", ".vrm")
# glTF in one file; a VRM file is a GLB file with a humanoid.
GLTF_SUFFIXES = (".glb", ".vrm")
MARKER_SUFFIXES = (".c3d", ".trc")
SAVE_SUFFIXES = (".bvh", ".fbx", ".glb", ".npz", ".usda")
# Name of the program in files that marey writes, in formats that have a field for it; see `folder.own_format`.
GENERATOR = "marey"
SIDECAR_SUFFIX = ".marey.json"  # replaces the file's own suffix
# Temporary files and folders, which also begin with a dot.
PART_SUFFIX = ".marey-part"
# Seconds without a change after which a temporary file was abandoned.
_STALE_SECONDS = 3600.0
# Number of characters of the target's name that the name of a temporary file contains.
_MAX_BASE = 40


def decode_text(data: bytes) -> str:
    """Decode UTF-8 with or without a byte-order mark, else Latin-1, which accepts any bytes; make line ends LF."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


EXPECTED_FILE = "this is a folder, expected a file; name a file in it, or several as FOLDER/*"
"""Message if a folder is given instead of a file."""


def suggest_files(path: str | os.PathLike[str]) -> str:
    """Return ``"; similar: 'walk.bvh'"`` with the files beside a missing one that have similar names, else ``""``."""
    folder, name = os.path.split(os.fspath(path))
    try:
        return similar(name, (each for each in os.listdir(folder or ".") if not each.startswith(".")))
    except OSError:
        return ""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read the whole file. Raise `UnreadableFile` if it is missing, unreadable or empty."""
    try:
        kind = os.stat(path).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):  # reading a pipe without a writer would block forever
            raise UnreadableFile(
                "is a pipe or a device, expected a file", path=path, remedy="write its content to a file first"
            )
        with open(os.fspath(path), "rb") as stream:
            data = stream.read()
    except MareyError:
        raise
    except FileNotFoundError:
        raise UnreadableFile(f"no such file{suggest_files(path)}", path=path) from None
    except IsADirectoryError:
        raise UnreadableFile(EXPECTED_FILE, path=path) from None
    except PermissionError:
        raise UnreadableFile("cannot be read (permission denied)", path=path) from None
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"cannot be read ({_reason(error)})", path=path) from None
    if not data:
        raise UnreadableFile("the file is empty", path=path)
    return data


def split_name(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Split into stem and lower-case suffix: ``("walk", ".bvh")`` for ``folder/walk.BVH``.

    Bytes that are not UTF-8 become text such as ``\\x83``. The rules are those of pathlib, which takes longer to import
    than this file.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidValue(f"path must be the name of a file, not {path!r}", parameter="path")
    name, suffix = os.path.splitext(make_readable(os.path.basename(os.path.normpath(path))))
    return (name, suffix.lower()) if suffix != "." else (name + suffix, "")


def make_readable(name: str) -> str:
    """Return a file name as valid text: bytes that are not UTF-8, as in names from old archives, become ``\\x83``."""
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def write_bytes(path: str | os.PathLike[str], parts: Iterable[bytes | memoryview], *, replace: bool = True) -> None:
    """Write `parts` to a temporary file in the same folder, then rename it: a failure leaves the old file in place.

    Raise `FileExistsError` if there is a file already, unless `replace`.
    """
    with FileTransaction() as files:
        files.commit(files.stage(path, parts), replace=replace)


class StagedFile(NamedTuple):
    """A complete file under a temporary name in the folder of its `target`."""

    target: str
    temporary: str

    @property
    def sha256(self) -> str:
        """The digest of its content."""
        return file_digest(self.temporary)


class FileTransaction:
    """Context manager that writes files which belong together: `stage` all of them, then `commit` them in order.

    Staged files are complete and on the disk before the first is renamed, so a full disk changes nothing. Readers of
    the files must accept each state between two renames; see `io.sidecar` and `pmg.files`. Temporary files that a
    killed process left behind are removed after an hour.
    """

    def __init__(self) -> None:
        self._staged: list[StagedFile] = []

    def __enter__(self) -> FileTransaction:
        return self

    def stage(self, path: str | os.PathLike[str], parts: Iterable[bytes | memoryview]) -> StagedFile:
        """Write a file under a temporary name, with the mode of the file that it will replace."""
        target = os.fspath(path)
        check_file_name(target)
        folder, name = os.path.split(target)
        folder = folder or os.curdir
        with _report_errors(target):
            if os.path.isdir(target):
                raise UnwritableFile("this is a folder, expected a file name to write to", path=path)
            if not os.path.isdir(folder):
                raise UnwritableFile(f"the folder {folder!r} does not exist; create it first", path=path)
            temporary = os.path.join(folder, f".{name[:_MAX_BASE]}.{os.urandom(4).hex()}{PART_SUFFIX}")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)  # does not follow links
            handle = os.open(temporary, flags, 0o666)
            self._staged.append(StagedFile(target, temporary))
            with os.fdopen(handle, "wb") as stream:
                for part in parts:
                    stream.write(part)
                stream.flush()
                os.fsync(stream.fileno())
            if os.path.exists(target):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        return self._staged[-1]

    def commit(self, *staged: StagedFile, replace: bool = True) -> None:
        """Rename staged files to their targets in order; each rename reaches the disk before the next."""
        for k, file in enumerate(staged):
            with _report_errors(file.target):
                (os.replace if replace else place_new)(file.temporary, file.target)
                if k + 1 < len(staged):
                    sync_folder(os.path.dirname(file.target))
            sweep_parts(os.path.dirname(os.path.abspath(file.target)))

    def __exit__(self, *_: object) -> None:
        for file in self._staged:
            with suppress(OSError):
                os.unlink(file.temporary)


def place_new(temporary: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Move a file to a new name. Raise `FileExistsError` if the name is taken."""
    try:
        os.link(temporary, target)  # unlike a rename, a hard link never overwrites
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: creating an empty file reserves the name
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        os.replace(temporary, target)


def remove_file(path: str | os.PathLike[str]) -> None:
    """Remove a file, if it exists. Raise `UnwritableFile` if it cannot be removed."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UnwritableFile(f"cannot be removed ({_reason(error)})", path=path) from None


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Wait until renames in a folder are on the disk, if the system supports this."""
    if os.name != "nt":
        with suppress(OSError):
            handle = os.open(folder or os.curdir, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


@cache
def sweep_parts(folder: str) -> None:
    """Remove temporary files and folders that killed processes left in a folder more than an hour ago.

    Folders are searched once per process. Only names from `FileTransaction` and `create_hidden_folder` are deleted.
    """
    try:
        with os.scandir(folder) as entries:
            parts = [entry for entry in entries if entry.name[:1] == "." and entry.name.endswith(PART_SUFFIX)]
        for entry in parts:
            if time.time() - entry.stat(follow_symlinks=False).st_mtime < _STALE_SECONDS:
                continue
            if entry.is_dir(follow_symlinks=False):
                import shutil

                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)
    except OSError:  # another process has just removed it, or the folder cannot be listed
        return


def check_file_name(path: str) -> None:
    """Raise UnwritableFile for a file name that is not valid Unicode, which JSON and NPZ files cannot hold."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise UnwritableFile("the name is not valid UTF-8; choose another name", path=ascii(path)) from None


def file_digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 digest of a file."""
    import hashlib

    return hashlib.sha256(read_bytes(path)).hexdigest()


@contextmanager
def _report_errors(path: str) -> Iterator[None]:
    """Context manager: turn errors of the operating system into UnwritableFile."""
    try:
        yield
    except (MareyError, FileExistsError):
        raise
    except (OSError, ValueError) as error:
        raise UnwritableFile(f"cannot be written ({_reason(error)})", path=path) from None


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).lower()
