"""Write the space files of a character. They are named by their content, so that none is ever changed.

The character's .json file, which is renamed last, decides which of them belong to it: until then the previous character
is complete, and from then on the new one is. Files that no character needs anymore are removed after that.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from marey.errors import MareyError
from marey.io.file_kinds import read_format
from marey.io.files import FileTransaction, StagedFile, file_digest, read_bytes, sync_folder
from marey.io.folder import create_hidden_folder, free_name

__all__ = ["SpaceFile", "SpaceFiles", "copy_character", "iterate_node_files"]

# Digits of the SHA-256 digest in the name of a file.
_N_DIGITS = 12


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
    """Writer for the space files of a character: `put` each under a temporary name, then `commit` all of them.

    Parameters
    ----------
    target : path of the character's .json file.
    saved : files that already exist, keyed by the identity of the object they hold; `commit` updates it.
    writing : writes the .json file and the spaces.
    spare : files to keep, such as inputs of a command.
    """

    def __init__(
        self,
        target: Path,
        saved: dict[int, SpaceFile],
        writing: FileTransaction,
        spare: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        self.target = target.absolute()
        self.abouts: dict[int, dict[str, Any]] = {}
        self._saved, self._values = saved, dict[int, Any]()
        self._writing = writing
        self._spare = {os.path.realpath(each) for each in spare}
        self._staged: list[StagedFile] = []

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
            is_current = known is not None and _compute_digest(known.file) == known.about["sha256"]
            if known is not None and is_current and known.character == self.target:
                self.abouts[id(value)] = known.about
            else:
                content = read_bytes(known.file) if known is not None and is_current else self._to_bytes(value, kind)
                self.abouts[id(value)] = self._write(content, kind, name)
            self._values[id(value)] = value
        return self.abouts[id(value)]

    def _to_bytes(self, value: Any, kind: str) -> bytes:
        with create_hidden_folder(self.target.parent) as folder:
            value.save(folder / f"space{_choose_suffix(kind)}")
            return read_bytes(folder / f"space{_choose_suffix(kind)}")

    def _write(self, content: bytes, kind: str, name: str) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        suffix = _choose_suffix(kind)
        stem = f"{self.target.stem}.{re.sub(r'[^A-Za-z0-9_-]+', '_', name)[:40]}.{digest[:_N_DIGITS]}"

        def is_other(tried: str) -> bool:
            path = self.target.with_name(f"{tried}{suffix}")
            return path.exists() and _compute_digest(path) != digest

        file = free_name(stem, is_other, gap="-") + suffix
        path = self.target.with_name(file)
        if not path.exists() and all(staged.target != str(path) for staged in self._staged):
            self._staged.append(self._writing.stage(path, [content]))
        return {"kind": kind, "file": file, "sha256": digest}

    def commit(self, described: StagedFile) -> None:
        """Move the spaces and then the .json file to their final names, and remove spaces that nothing needs."""
        _commit(self._writing, self._staged, described, self._spare)
        for key in [key for key, each in self._saved.items() if each.character == self.target]:
            del self._saved[key]
        for key, about in self.abouts.items():
            self._saved[key] = SpaceFile(self._values[key], self.target, about)


def copy_character(source: Path, target: Path) -> None:
    """Copy a character, or another .json file without spaces, to a new name, as atomically as it is saved.

    Raise `FileExistsError` if the name of a space is taken by other content.
    """
    with FileTransaction() as writing:
        staged = []
        for name, digest in sorted(set(iterate_node_files(source))):
            space = target.with_name(name)
            if not space.exists():
                staged.append(writing.stage(space, [read_bytes(source.with_name(name))]))
            elif _compute_digest(space) != digest:
                raise FileExistsError(f"{name} already exists")
        _commit(writing, staged, writing.stage(target, [read_bytes(source)]))


def _commit(
    writing: FileTransaction, spaces: list[StagedFile], described: StagedFile, spare: Iterable[str] = ()
) -> None:
    """Rename new spaces and then the .json file; then remove spaces that no file in the folder names.

    These are the previous character's spaces, and those of killed builds.
    """
    target = Path(described.target).absolute()
    candidates = {name: digest for name, digest in iterate_node_files(target) if len(digest) == 64}
    try:
        writing.commit(*spaces, described)
    except BaseException:
        for space in spaces if os.path.exists(described.temporary) else ():  # none of them existed before
            Path(space.target).unlink(missing_ok=True)
        raise
    sync_folder(target.parent)
    made = re.compile(rf"{re.escape(target.stem)}\.[\w-]+\.([0-9a-f]{{{_N_DIGITS}}})(-\d+)?(\.npz|\.gaze\.json)")
    for path in target.parent.iterdir():
        match = made.fullmatch(path.name)
        if match is not None:
            candidates.setdefault(path.name, match[1])
    named = _names_in(target.parent) if candidates else set()
    for name, digest in candidates.items():
        path = target.with_name(name)
        is_other = path.is_symlink() or not path.is_file() or os.path.realpath(path) in set(spare)
        if name not in named and not is_other and _compute_digest(path).startswith(digest):
            with suppress(OSError):  # the character is saved; this one stays until it is saved again
                path.unlink()


def iterate_node_files(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the SHA-256 digest of each file that a character refers to; nothing if it cannot be read."""
    try:
        nodes = [node["space"] for node in json.loads(path.read_bytes())["nodes"]]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return  # errors are reported when the character is loaded
    while nodes:
        about = nodes.pop()
        if isinstance(about, dict):
            nodes += [about.get("space"), about.get("gaze")]
            name, digest = about.get("file"), about.get("sha256")
            if isinstance(name, str) and Path(name).name:
                yield Path(name).name, digest if isinstance(digest, str) else ""


def _names_in(folder: Path) -> set[str]:
    """Return the names of all space files that characters and recipes in a folder mention."""
    names: set[str] = set()
    for path in folder.iterdir():
        if path.suffix == ".json" and read_format(path) == "marey.pmg":
            names |= {name for name, _ in iterate_node_files(path)}
        elif path.suffix == ".toml" and path.is_file():
            names |= set(re.findall(r"[^\"'/\\\s]+\.npz", path.read_text(errors="replace")))
    return names


def _choose_suffix(kind: str) -> str:
    return ".gaze.json" if kind == "gaze" else ".npz"


def _compute_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file, or "" if it cannot be read."""
    try:
        return file_digest(path)
    except MareyError:
        return ""
