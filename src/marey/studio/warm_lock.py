"""One warm-up at a time on one set of caches: others wait, and then may find them filled."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from marey.studio.warm_stamp import places_of_stamp

_NAME = "marey-warm.lock"
# Seconds between two looks at what another holds.
_LOOK = 1.0


@contextmanager
def alone(places: Iterable[Path] | None = None, look: float = _LOOK) -> Iterator[bool]:
    """Wait until no other process is within this; whether there was one.

    The system holds the lock, and lets go of it with the process, however that ends. Where no lock can be had, none is
    waited for.

    places : the folders in which the file may be; those of the stamp where they are not given.
    look : seconds between two looks.
    """
    file = _opened(places_of_stamp() if places is None else places)
    waited = False
    try:
        while file is not None and _is_taken(file):
            waited = True
            time.sleep(look)
        yield waited
    finally:
        if file is not None:
            file.close()


def _opened(places: Iterable[Path]) -> IO[bytes] | None:
    for place in places:
        try:
            place.mkdir(parents=True, exist_ok=True)
            return (place / _NAME).open("ab")
        except OSError:
            continue
    return None


def _is_taken(file: IO[bytes]) -> bool:
    """Take the lock; whether another has it. A disk without locks has none."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return True
    except OSError:
        return False
    return False
