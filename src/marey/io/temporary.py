"""Create and remove temporary folders, such as those of the studio and of worker processes.

Their names contain the machine and the process id of their owner, to recognize folders left by a killed process.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
import zlib
from pathlib import Path

_NAME = re.compile(r"marey-(?:studio|run)-([0-9a-f]{8})-([0-9]{1,10})-.+")


def new_folder(kind: str = "studio") -> Path:
    """Create a temporary folder that only this user can read. `kind` is "studio" or "run"."""
    return Path(tempfile.mkdtemp(prefix=f"marey-{kind}-{_identify_machine()}-{os.getpid()}-"))


def remove_stale(place: Path | None = None) -> int:
    """Remove the folders of processes that no longer run. Return the number of removed folders.

    Remove only this user's folders from this machine. Links are neither removed nor followed.

    Parameters
    ----------
    place : folder to search; default is the system's temporary folder.
    """
    if not hasattr(os, "getuid"):  # the owner and the process cannot be checked on this system
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
    if named is None or named[1] != _identify_machine():
        return False
    try:
        is_own = entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.getuid()
        return is_own and not _runs(int(named[2]))
    except OSError:  # removed in the meantime
        return False


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs, but belongs to another user
        return True
    return True


def _identify_machine() -> str:
    """Return an id of this machine or container; others may share the temporary folder."""
    return f"{zlib.crc32(platform.node().encode(errors='replace')):08x}"
