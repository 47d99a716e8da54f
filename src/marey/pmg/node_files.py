"""Write the space files of a character: unchanged files are left alone, the others are replaced together at the end."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from marey.errors import MareyError, UnwritableFile
from marey.io.files import read_bytes, write_bytes
from marey.io.folder import free_name

__all__ = ["SpaceFile", "SpaceFiles"]


class SpaceFile(NamedTuple):
    """The file of a space or gaze map.

    value : the space or gaze map; holding a reference keeps its `id` unique.
    character : path of the .json file that refers to it.
    about : kind, file name and sha256, as in the .json file.
    """

    value: Any
    character: Path
    about: dict[str, Any]

    @property
    def file(self) -> Path:
        """Path of the space file."""
        return self.character.with_name(self.about["file"])


class SpaceFiles:
    """Writer for the space files of a character: `put` each under a temporary name, then `commit` or `discard` all.

    Parameters
    ----------
    target : path of the character's .json file.
    saved : files that already exist, keyed by the identity of the object they hold; `commit` updates it.
    spare : user files that must not be overwritten.
    """

    def __init__(self, target: Path, saved: dict[int, SpaceFile], spare: Iterable[str | os.PathLike[str]] = ()) -> None:
        self.target = target.absolute()
        self.abouts: dict[int, dict[str, Any]] = {}
        self._saved, self._values = saved, dict[int, Any]()
        self._spare = {os.path.realpath(each) for each in spare}
        self._waiting: list[tuple[Path, Path]] = []

    def put(self, value: Any, kind: str, name: str) -> dict[str, Any]:
        """Write an object that has a ``save`` method, and return its description for the .json file.

        An object that was put before, or whose file is up to date, is not written again.

        Parameters
        ----------
        value : the object.
        kind : kind of space for the description, or "gaze".
        name : name of the node; becomes part of the file name.
        """
        if id(value) not in self.abouts:
            known = self._saved.get(id(value))
            if known is not None and known.character == self.target and _digest(known.file) == known.about["sha256"]:
                self.abouts[id(value)] = known.about
            else:
                self.abouts[id(value)] = self._write(value, kind, name, known)
            self._values[id(value)] = value
        return self.abouts[id(value)]

    def _write(self, value: Any, kind: str, name: str, known: SpaceFile | None) -> dict[str, Any]:
        # Names of the character's other files are taken too, because those files may stay as they are.
        taken = {about["file"] for about in self.abouts.values()}
        taken |= {
            each.about["file"]
            for key, each in self._saved.items()
            if each.character == self.target and key != id(value)
        }  # fmt: skip
        stem = f"{self.target.stem}.{re.sub(r'[^A-Za-z0-9_-]+', '_', name)}"
        suffix = ".gaze.json" if kind == "gaze" else ".npz"
        file = free_name(stem, lambda tried: f"{tried}{suffix}" in taken, gap="") + suffix
        path = self.target.with_name(file)
        if os.path.realpath(path) in self._spare:
            raise UnwritableFile(
                "this is an input file, and saving the character would overwrite it; rename the input file", path=path
            )
        waiting = path.with_name(f".{os.getpid()}.part.{file}")
        self._waiting.append((waiting, path))
        if known is not None and _digest(known.file) == known.about["sha256"]:
            write_bytes(waiting, [read_bytes(known.file)])
        else:
            value.save(waiting)
        return {"kind": kind, "file": file, "sha256": _digest(waiting)}

    def commit(self) -> None:
        """Move the files to their final names, unless an identical file exists there."""
        for waiting, path in self._waiting:
            try:
                if path.is_file() and _digest(path) == _digest(waiting):
                    continue
                os.replace(waiting, path)
            except OSError as error:
                raise UnwritableFile(f"cannot be written ({error.strerror or error})", path=path) from None
        gone = [key for key, each in self._saved.items() if each.character == self.target and key not in self.abouts]
        for key in gone:
            del self._saved[key]
        for key, about in self.abouts.items():
            self._saved[key] = SpaceFile(self._values[key], self.target, about)

    def discard(self) -> None:
        """Delete the temporary files that were not moved to their final names."""
        for waiting, _ in self._waiting:
            waiting.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    """Return the SHA-256 digest of a file, or "" if it cannot be read."""
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except MareyError:
        return ""
