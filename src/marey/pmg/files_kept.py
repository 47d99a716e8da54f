"""The files beside a character: what has not changed is left alone, what has is put in place all at once."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from marey.errors import MareyError, UnwritableFile
from marey.io.files import read_bytes, write_bytes

__all__ = ["Kept", "SpaceFiles"]


class Kept(NamedTuple):
    """Which file a space is in.

    value : the space, held so that its identity stays its own. character : the .json that refers to it.
    about : kind, file and sha256, as the .json has them.
    """

    value: Any
    character: Path
    about: dict[str, Any]

    @property
    def file(self) -> Path:
        """Where it is."""
        return self.character.with_name(self.about["file"])


class SpaceFiles:
    """Writes what a character refers to: `put` each under a temporary name, then `settle` all, or `drop` them.

    Parameters
    ----------
    target : the .json of the character.
    kept : by identity, what is in files already.
    spare : files of the user's that must not be written over.
    """

    def __init__(self, target: Path, kept: dict[int, Kept], spare: Iterable[str | os.PathLike[str]] = ()) -> None:
        self.target = target.absolute()
        self.abouts: dict[int, dict[str, Any]] = {}
        self._kept, self._values = kept, dict[int, Any]()
        self._spare = {os.path.realpath(each) for each in spare}
        self._waiting: list[tuple[Path, Path]] = []

    def put(self, value: Any, kind: str, name: str) -> dict[str, Any]:
        """What the .json is to say of a value that has ``save``."""
        if id(value) not in self.abouts:
            known = self._kept.get(id(value))
            if known is not None and known.character == self.target and _digest(known.file) == known.about["sha256"]:
                self.abouts[id(value)] = known.about
            else:
                self.abouts[id(value)] = self._written(value, kind, name, known)
            self._values[id(value)] = value
        return self.abouts[id(value)]

    def _written(self, value: Any, kind: str, name: str, known: Kept | None) -> dict[str, Any]:
        # Names that the character uses elsewhere are taken too: what is there may stay as it is.
        taken = {about["file"] for about in self.abouts.values()}
        taken |= {
            each.about["file"]
            for key, each in self._kept.items()
            if each.character == self.target and key != id(value)
        }  # fmt: skip
        stem = f"{self.target.stem}.{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}"
        suffix = ".gaze.json" if kind == "gaze" else ".npz"
        file, number = f"{stem}{suffix}", 2
        while file in taken:
            file, number = f"{stem}{number}{suffix}", number + 1
        path = self.target.with_name(file)
        if os.path.realpath(path) in self._spare:
            raise UnwritableFile(
                "was given, and the character's own copy would be written over it; rename it", path=path
            )
        waiting = path.with_name(f".{os.getpid()}.part.{file}")
        self._waiting.append((waiting, path))
        if known is not None and _digest(known.file) == known.about["sha256"]:
            write_bytes(waiting, [read_bytes(known.file)])
        else:
            value.save(waiting)
        return {"kind": kind, "file": file, "sha256": _digest(waiting)}

    def settle(self) -> None:
        """Give the files their names; one that is there already, the same, stays."""
        for waiting, path in self._waiting:
            try:
                if path.is_file() and _digest(path) == _digest(waiting):
                    continue
                os.replace(waiting, path)
            except OSError as error:
                raise UnwritableFile(f"cannot be written ({error.strerror or error})", path=path) from None
        gone = [key for key, each in self._kept.items() if each.character == self.target and key not in self.abouts]
        for key in gone:
            del self._kept[key]
        for key, about in self.abouts.items():
            self._kept[key] = Kept(self._values[key], self.target, about)

    def drop(self) -> None:
        """Remove what was not settled."""
        for waiting, _ in self._waiting:
            waiting.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    """Of a file's bytes; "" where there is none to be read."""
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except MareyError:
        return ""
