"""The studio's temporary folders: their names say whose they are, so that those of a server that was killed can go."""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
import zlib
from pathlib import Path

_NAME = re.compile(r"marey-studio-([0-9a-f]{8})-([0-9]{1,10})-.+")


def new_folder() -> Path:
    """A folder of this process, which nobody else can look into."""
    return Path(tempfile.mkdtemp(prefix=f"marey-studio-{_machine()}-{os.getpid()}-"))


def remove_stale(place: Path | None = None) -> int:
    """Remove the folders whose process is gone, as after a kill, and tell how many.

    Only this user's own folders of this machine are; links are neither removed nor followed.

    Parameters
    ----------
    place : where they are; the system's temporary folder where it is not given.
    """
    if not hasattr(os, "getuid"):  # who owns a folder, and whether a process runs, is asked in other ways there
        return 0
    removed = 0
    try:
        with os.scandir(tempfile.gettempdir() if place is None else place) as entries:
            stale = [Path(entry.path) for entry in entries if _is_stale(entry)]
    except OSError:
        return 0
    for folder in stale:
        shutil.rmtree(folder, ignore_errors=True)
        removed += not folder.exists()
    return removed


def _is_stale(entry: os.DirEntry[str]) -> bool:
    named = _NAME.fullmatch(entry.name)
    if named is None or named[1] != _machine():
        return False
    try:
        ours = entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.getuid()
        return ours and not _runs(int(named[2]))
    except OSError:  # it has gone meanwhile
        return False


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it does, and is another user's
        return True
    return True


def _machine() -> str:
    """Of this machine or container: others, whose processes cannot be seen, may share the temporary folder."""
    return f"{zlib.crc32(platform.node().encode(errors='replace')):08x}"
