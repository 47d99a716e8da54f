"""Read and write whole files: inputs are never modified, outputs are written completely or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import TYPE_CHECKING

from marey.errors import InvalidValue, MareyError, UnreadableFile, UnwritableFile

if TYPE_CHECKING:
    from pathlib import Path

MOTION_SUFFIXES = (".bvh", ".amc", ".asf", ".glb", ".npz")
MARKER_SUFFIXES = (".c3d",)
SIDECAR_SUFFIX = ".marey.json"  # replaces the file's own suffix


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read the whole file. Raises `UnreadableFile` if it is missing, unreadable or empty."""
    try:
        kind = os.stat(path).st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):  # reading a pipe without a writer would block forever
            raise UnreadableFile("is a pipe or a device, expected a file; write its content to a file first", path=path)
        with open(os.fspath(path), "rb") as stream:
            data = stream.read()
    except MareyError:
        raise
    except FileNotFoundError:
        raise UnreadableFile("no such file", path=path) from None
    except IsADirectoryError:
        raise UnreadableFile("is a folder, expected a file", path=path) from None
    except PermissionError:
        raise UnreadableFile("cannot be read (permission denied)", path=path) from None
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"cannot be read ({_reason(error)})", path=path) from None
    if not data:
        raise UnreadableFile("the file is empty", path=path)
    return data


def split_name(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Split into stem and lower-case suffix: ``("walk", ".bvh")`` for ``folder/walk.BVH``.

    Works like pathlib, which takes longer to import than this file.
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidValue(f"path must be the name of a file, not {path!r}", parameter="path")
    name, suffix = os.path.splitext(os.path.basename(os.path.normpath(path)))
    return (name, suffix.lower()) if suffix != "." else (name + suffix, "")


def write_bytes(path: str | os.PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    """Write `parts` to a temporary file in the same folder, then rename it: a failure leaves the old file in place."""
    import tempfile  # imported here because readers do not need them
    from pathlib import Path

    target = Path(path)
    temporary: str | None = None
    try:
        if target.is_dir():
            raise UnwritableFile("is a folder, expected a file name to write to", path=path)
        if not target.parent.is_dir():
            raise UnwritableFile(f"the folder {str(target.parent)!r} does not exist; create it first", path=path)
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:64]}.", suffix=".part", dir=target.parent)
        with os.fdopen(handle, "wb") as stream:
            for part in parts:
                stream.write(part)
        os.chmod(temporary, new_file_mode(target))
        os.replace(temporary, target)
        temporary = None
    except MareyError:
        raise
    except (OSError, ValueError) as error:
        raise UnwritableFile(f"cannot be written ({_reason(error)})", path=path) from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def new_file_mode(target: Path) -> int:
    """Return the mode of the replaced file, or the default mode of a new file."""
    if target.exists():
        return target.stat().st_mode & 0o7777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).lower()
