"""Faults in file operations: each one fails, or is the last that the process does, in turn (as SQLite tests itself).

`Faults` counts the operations on files of the code that runs in its block, and lets one of them fail with "no space
left on device", or ends the process there: it raises `Killed`, and every later operation does so too, so that no
`finally` can put anything in order. `explore` tries each operation. Each statement sent to SQLite is an operation too.
"""

from __future__ import annotations

import builtins
import errno
import io
import itertools
import os
import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unittest import mock

from marey.errors import MareyError
from marey.io.files import PART_SUFFIX

Kind = Literal["fail", "kill before", "kill after"]
KINDS: tuple[Kind, ...] = ("fail", "kill before", "kill after")
_OPERATIONS = ("open", "replace", "rename", "link", "unlink", "remove", "mkdir", "rmdir", "fsync", "chmod")


_DISK_FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
_DATABASE_FULL = sqlite3.OperationalError("database or disk is full")


class Killed(BaseException):
    """The process is dead: nothing may catch this and continue."""


class Faults:
    """Context manager: of the operations in its block, number `at` (from 0) fails or is the last; none if `at` < 0.

    n : the number of operations so far. statements : how many of them SQLite was to do.
    failed : the name of the operation that failed.
    """

    def __init__(self, at: int = -1, kind: Kind = "fail") -> None:
        self.n = 0
        self.statements = 0
        self.failed = ""
        self._at, self._kind = at, kind
        self._is_dead = False
        self._patches: list[Any] = []

    def __enter__(self) -> Faults:
        for name in _OPERATIONS:
            self._patch(os, name, self._counts(getattr(os, name), lambda args, _: args[1:] != (os.O_RDONLY,)))
        for module in (builtins, io):
            self._patch(module, "open", self._counts(open, lambda args, _: _writes(args)))
        self._patch(sqlite3, "connect", self._counting_connect())
        return self

    def _counting_connect(self) -> Any:
        """Return a `sqlite3.connect` whose connections count each statement that may write."""
        faults = self

        class Connection(sqlite3.Connection):
            def execute(self, *args: Any) -> Any:
                return faults._counts(super().execute, lambda args, _: _changes(args[0]), _DATABASE_FULL)(*args)

            def executemany(self, *args: Any) -> Any:
                return faults._counts(super().executemany, lambda *_: True, _DATABASE_FULL)(*args)

        return partial(sqlite3.connect, factory=Connection)

    def _patch(self, module: Any, name: str, function: Any) -> None:
        patch = mock.patch.object(module, name, function)
        patch.start()
        self._patches.append(patch)

    def __exit__(self, *_: object) -> None:
        for patch in reversed(self._patches):
            patch.stop()

    def _counts(
        self,
        operation: Any,
        counts: Callable[[tuple[Any, ...], dict[str, Any]], bool],
        failure: Exception = _DISK_FULL,
    ) -> Any:
        def wrapped(*args: Any, **options: Any) -> Any:
            if self._is_dead:
                raise Killed
            if not counts(args, options):
                return operation(*args, **options)
            self.n += 1
            self.statements += failure is _DATABASE_FULL
            is_due = self.n - 1 == self._at
            if is_due:
                self.failed = getattr(operation, "__name__", "")
            if is_due and self._kind == "fail":
                raise failure
            if is_due and self._kind == "kill before":
                self._is_dead = True
                raise Killed
            result = operation(*args, **options)
            if is_due:
                self._is_dead = True
                if isinstance(result, int):
                    os.close(result)
                elif result is not None:  # a file or an SQLite cursor
                    result.close()
                raise Killed
            return result

        return wrapped


def _changes(statement: str) -> bool:
    return "=" in statement if statement.startswith("PRAGMA") else not statement.startswith("SELECT")


def _writes(args: tuple[Any, ...]) -> bool:
    mode = args[1] if len(args) > 1 else "r"
    return not isinstance(args[0], int) and isinstance(mode, str) and any(letter in mode for letter in "wxa+")


def read_all(folder: Path) -> dict[str, bytes]:
    """Return the content of all files below a folder, except temporary ones."""
    paths = (path for path in folder.rglob("*") if path.is_file() and PART_SUFFIX not in str(path.relative_to(folder)))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def explore(
    prepare: Callable[[Path], None],
    act: Callable[[Path], object],
    state: Callable[[Path], object],
    folder: Path,
    *,
    step: int = 1,
    kept: Callable[[str], bool] = lambda name: True,
) -> int:
    """Let each operation of ``act(folder)`` fail, or be the last, in turn. Return the number of faults.

    Each time ``prepare(folder)`` makes a new folder first. After each fault ``state(folder)`` is that before or after
    the whole act; doing it again gives the same files as without a fault; and a failure that can be reported leaves no
    temporary file and raises an error of marey.

    Parameters
    ----------
    state : what the files mean; raises an error if they are damaged.
    step : try only every such operation.
    kept : files that are compared, by their paths.
    """

    def compared(place: Path) -> dict[str, bytes]:
        return {name: content for name, content in read_all(place).items() if kept(name)}

    start = folder / "start"
    start.mkdir()
    prepare(start)
    places = (Path(shutil.copytree(start, folder / str(k))) for k in itertools.count())
    with mock.patch.object(os, "fsync", return_value=None):  # no check notices it, and it takes most of the time
        place = next(places)
        before = state(place)
        with Faults() as counted:
            act(place)
        after, files = state(place), compared(place)
        n_faults = 0
        for kind, at in itertools.product(KINDS, range(0, counted.n, step)):
            place = next(places)
            reported = ""
            try:
                with (faults := Faults(at, kind)):
                    act(place)
            except Killed:
                pass
            except MareyError as error:
                reported = str(error)
            n_faults += 1
            where = f"{kind} at operation {at} of {counted.n}"
            assert "\n" not in reported
            is_removal = faults.failed in ("unlink", "remove", "rmdir")
            left = [path for path in place.rglob("*") if PART_SUFFIX in path.name and not is_removal]
            assert not (reported and left), f"{where}: left {left}"
            assert state(place) in (before, after), f"{where}: neither old nor new"
            act(place)
            assert compared(place) == files, f"{where}: doing it again gives other files"
            shutil.rmtree(place)
    return n_faults
