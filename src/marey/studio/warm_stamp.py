"""Whether the kernels' caches are filled: a small file that says so, for the kernels as they are now."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from marey import __version__

_PACKAGE = Path(__file__).resolve().parent.parent
_NAME = "marey-warm.json"
# A kernel's index in its cache.
_INDEX = "*.nbi"


def is_warm(places: Iterable[Path] | None = None) -> bool:
    """Whether the caches were filled for these kernels, by this Numba, on this machine, and are still there.

    Numba is not loaded for that. Where it cannot be told, they are taken for cold.

    places : the folders in which the file may be; the usual ones where they are not given.
    """
    return any(_says_so(place / _NAME) for place in (places_of_stamp() if places is None else places))


def can_cache() -> bool:
    """Whether Numba has a folder for its caches."""
    return bool(_cache_folders())


def write_stamp(places: Iterable[Path] | None = None) -> bool:
    """Remember that the caches are filled, in the first of the places that can be written to; whether one can."""
    folders = {str(folder): sorted(path.name for path in folder.glob(_INDEX)) for folder in _cache_folders()}
    told = json.dumps({"key": key(), "caches": folders})
    for place in places_of_stamp() if places is None else places:
        part = place / f"{_NAME}.{os.getpid()}"
        try:
            place.mkdir(parents=True, exist_ok=True)
            part.write_text(told, encoding="utf-8")
            os.replace(part, place / _NAME)
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            continue
        return True
    return False


def key(package: Path = _PACKAGE) -> str:
    """What a compiled kernel depends on: versions, the machine, and the kernels' sources as Numba knows them."""
    try:
        numba = version("numba")
    except PackageNotFoundError:
        numba = ""
    parts: list[Any] = [__version__, numba, sys.implementation.cache_tag, platform.machine(), platform.node()]
    for path in sorted(package.rglob("*_kernels.py")):
        stat = path.stat()
        parts.append((str(path), stat.st_mtime_ns, stat.st_size))
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _says_so(path: Path) -> bool:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        if told["key"] != key():
            return False
        return all(set(names) <= set(os.listdir(folder)) for folder, names in told["caches"].items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def places_of_stamp() -> list[Path]:
    """Where the file may be: with the caches where a folder is set for these, else in the package, else the user's."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(os.environ["NUMBA_CACHE_DIR"])]
    own = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    users = Path(own) if own else Path("~/.cache").expanduser()
    return [_PACKAGE / "__pycache__", users / "marey"]


def _cache_folders() -> set[Path]:
    """The folders in which Numba keeps the kernels of all modules that are loaded; none where it keeps none."""
    import marey.core._kernels  # noqa: F401

    found = set()
    for name, module in list(sys.modules.items()):
        if name.startswith("marey.") and name.endswith("_kernels"):
            for value in vars(module).values():
                folder = getattr(getattr(value, "stats", None), "cache_path", None)
                if folder:
                    found.add(Path(folder))
    return found
