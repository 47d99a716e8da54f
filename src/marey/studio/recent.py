"""The folders and projects that were opened last, in a small file of the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from marey.errors import MareyError
from marey.io.archive import read_json, write_json

Kind = Literal["folder", "project"]
FORMAT, VERSION = "marey.recent", 1
MAX_ENTRIES = 12


def find_recent_file() -> Path:
    """Return the path of the list: the environment variable MAREY_RECENT if it is set, else a file in the user's cache
    folder."""
    given = os.environ.get("MAREY_RECENT")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "marey" / "recent.json"


class Recent:
    """The list of recent folders and projects. Without a file, nothing is remembered."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file

    def entries(self) -> list[tuple[Kind, Path]]:
        """Return what still exists, newest first."""
        exists = {"folder": os.path.isdir, "project": os.path.isfile}  # False for names that no disk can hold
        return [(kind, path) for kind, path in self._read() if exists[kind](path)]

    def add(self, kind: Kind, path: Path) -> None:
        """Move a folder or project to the top of the list. Errors while writing the list are ignored."""
        if self._file is None:
            return
        kept = [each for each in self.entries() if each != (kind, path)][: MAX_ENTRIES - 1]
        content = [{"kind": each, "path": str(at)} for each, at in [(kind, path), *kept]]
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_json(self._file, FORMAT, VERSION, {"entries": content})
        except (MareyError, OSError):
            return

    def _read(self) -> list[tuple[Kind, Path]]:
        if self._file is None:
            return []
        try:
            entries = read_json(self._file, FORMAT, VERSION).get("entries")
        except MareyError:
            return []
        found: list[tuple[Kind, Path]] = []
        for each in entries if isinstance(entries, list) else []:
            kind, path = (each.get("kind"), each.get("path")) if isinstance(each, dict) else (None, None)
            if kind in ("folder", "project") and isinstance(path, str) and path and "\0" not in path:
                found.append((kind, Path(path)))
        return found[:MAX_ENTRIES]
