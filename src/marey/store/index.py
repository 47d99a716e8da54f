"""The index of a cache: an SQLite file that records which result was computed from which input.

Every call opens the file and runs one transaction. Concurrent threads and processes, or a killed process, cannot leave
it half written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import set_readonly
from marey.errors import MareyError, ParseError, UnknownVersion, UnwritableFile
from marey.store.arrays import CHECKSUM_BYTES, compute_checksum

VERSION = 2
# Four bytes in the header of an SQLite file that identify its application.
_APPLICATION_ID = int.from_bytes(b"mary", "big")
# Seconds to wait while another process writes; each write takes milliseconds.
_PATIENCE = 60.0
# SQLite takes at most 999 values in a query on old systems.
_CHUNK = 500
_TABLES = (
    "files (path TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, ctime INTEGER, hashed INTEGER, digest TEXT, "
    "clips TEXT)",
    "skeletons (key TEXT PRIMARY KEY, content TEXT)",
    "clips (key TEXT PRIMARY KEY, reason TEXT, skeleton TEXT, n_frames INTEGER, about TEXT)",
    "arrays (key TEXT PRIMARY KEY, dtype TEXT, shape TEXT, data BLOB)",
    "summaries (key TEXT PRIMARY KEY, content TEXT)",
)


class FileRow(NamedTuple):
    """A file as it was when its bytes were last read.

    path : hash of its absolute path. size : bytes. mtime, ctime : time stamps of the file. hashed : time of reading.
    All times are in nanoseconds. digest : hash of its content. clips : names of the motions in it, or None if the file
    is a single motion.
    """

    path: str
    size: int
    mtime: int
    ctime: int
    hashed: int
    digest: str
    clips: tuple[str, ...] | None


class ClipRow(NamedTuple):
    """A prepared clip, or the reason why it could not be prepared.

    key, skeleton : keys of the clip and of its skeleton. reason : None if the clip was prepared.
    """

    key: str
    reason: str | None
    skeleton: str
    n_frames: int


class Index:
    """The index in a cache folder. The file is created only when there is something to store."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "index.sqlite"
        if self.path.exists():
            with self._open_to_read():
                pass

    def make(self) -> None:
        """Create the index if there is none; raise an error if the folder cannot be written."""
        with self._writing():
            pass

    def files(self, paths: Iterable[str]) -> dict[str, FileRow]:
        """Return the stored rows of files, by path; unknown files are left out."""
        rows = self._rows("SELECT path, size, mtime, ctime, hashed, digest, clips FROM files WHERE path", paths)
        found = (FileRow(*row) for row in rows)
        return {row.path: row._replace(clips=row.clips and tuple(json.loads(str(row.clips)))) for row in found}

    def put_files(self, rows: Iterable[FileRow]) -> None:
        """Store rows of files."""
        plain = [(*row[:6], None if row.clips is None else json.dumps(row.clips)) for row in rows]
        with self._writing() as db:
            db.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", plain)

    def clips(self, keys: Iterable[str]) -> dict[str, ClipRow]:
        """Return the stored rows of clips, by key; unknown clips are left out."""
        rows = self._rows("SELECT key, reason, skeleton, n_frames FROM clips WHERE key", keys)
        return {row[0]: ClipRow(*row) for row in rows}

    def get_info(self, key: str) -> dict[str, Any] | None:
        """Return the data that `put_clip` stored with a clip in addition to its arrays; None if there is none."""
        rows = self._rows("SELECT about FROM clips WHERE key", [key])
        return json.loads(rows[0][0]) if rows else None

    def skeleton(self, key: str) -> dict[str, Any] | None:
        """Return the skeleton stored under a key, as a dict; None if there is none."""
        rows = self._rows("SELECT content FROM skeletons WHERE key", [key])
        return json.loads(rows[0][0]) if rows else None

    def put_clip(self, row: ClipRow, skeleton: Mapping[str, Any] | None, about: Mapping[str, Any]) -> None:
        """Store a clip with additional data `about`, and its skeleton."""
        with self._writing() as db:
            if skeleton is not None:
                db.execute("INSERT OR IGNORE INTO skeletons VALUES (?, ?)", (row.skeleton, json.dumps(skeleton)))
            db.execute("INSERT OR REPLACE INTO clips VALUES (?, ?, ?, ?, ?)", (*row, json.dumps(about)))

    def forget_clip(self, key: str) -> None:
        """Remove the row of a clip, which will then be prepared again when needed."""
        with self._writing() as db:
            db.execute("DELETE FROM clips WHERE key = ?", (key,))

    def summaries(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the stored summaries of clips, by key; unknown clips are left out."""
        rows = self._rows("SELECT key, content FROM summaries WHERE key", keys)
        return {key: json.loads(content) for key, content in rows}

    def put_summaries(self, contents: Mapping[str, Mapping[str, Any]]) -> None:
        """Store the summaries of clips, by key."""
        with self._writing() as db:
            rows = [(key, json.dumps(content)) for key, content in contents.items()]
            db.executemany("INSERT OR REPLACE INTO summaries VALUES (?, ?)", rows)

    def known_arrays(self, keys: Iterable[str]) -> set[str]:
        """Return the keys that have an array."""
        return {row[0] for row in self._rows("SELECT key FROM arrays WHERE key", keys)}

    def arrays(self, keys: Iterable[str]) -> dict[str, NDArray[Any] | None]:
        """Return the arrays by key, read-only; None for those in separate files. Damaged ones are left out."""
        rows = self._rows("SELECT key, dtype, shape, data FROM arrays WHERE key", keys)
        out: dict[str, NDArray[Any] | None] = {}
        for key, dtype, shape, data in rows:
            if data is None:
                out[key] = None
            elif compute_checksum(data[:-CHECKSUM_BYTES]) == data[-CHECKSUM_BYTES:]:
                flat = np.frombuffer(data[:-CHECKSUM_BYTES], np.dtype(dtype))
                out[key] = set_readonly(flat.reshape(tuple(json.loads(shape))))
        return out

    def put_arrays(self, arrays: Mapping[str, NDArray[Any]], apart: Iterable[str]) -> None:
        """Store arrays. `apart` are keys whose arrays are in separate files; for these, store only that the array
        exists."""
        outside = set(apart)
        rows = [
            (key, array.dtype.str, json.dumps(array.shape), None if key in outside else _pack_array(array))
            for key, array in arrays.items()
        ]
        with self._writing() as db:
            db.executemany("INSERT OR REPLACE INTO arrays VALUES (?, ?, ?, ?)", rows)

    def _rows(self, question: str, values: Iterable[str]) -> list[tuple[Any, ...]]:
        wanted = list(values)
        if not wanted or not self.path.exists():
            return []
        out: list[tuple[Any, ...]] = []
        with self._open_to_read() as db:
            for at in range(0, len(wanted), _CHUNK):
                part = wanted[at : at + _CHUNK]
                out += db.execute(f"{question} IN ({', '.join('?' * len(part))})", part)
        return out

    @contextmanager
    def _open_to_read(self) -> Iterator[sqlite3.Connection]:
        with self._translate_errors(), closing(sqlite3.connect(self.path, _PATIENCE, isolation_level=None)) as db:
            if self._read_version(db) < VERSION:  # empty, or written by an older marey
                with self._writing():
                    pass
            db.execute("BEGIN")
            yield db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction that is rolled back on errors."""
        try:
            self.path.parent.mkdir(exist_ok=True)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise UnwritableFile(
                f"the cache folder cannot be created ({reason}); choose another with `cache=`", path=self.path.parent
            ) from None
        with self._translate_errors(), closing(sqlite3.connect(self.path, _PATIENCE, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            if self._read_version(db) < VERSION:
                _start(db)
            yield db
            db.execute("COMMIT")

    def _read_version(self, db: sqlite3.Connection) -> int:
        """Return the version of the file, 0 if it is new. Raise an error for files of other programs and for newer
        versions."""
        (owner,), (version,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        if (owner, version) == (0, 0) and db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):
            return 0
        if owner != _APPLICATION_ID:
            raise UnknownVersion(
                "is not the index of a marey cache; choose another folder with `cache=`", path=self.path
            )
        if version > VERSION:
            raise UnknownVersion(
                f"the cache has version {version}, but this version of marey reads {VERSION}; update marey, choose "
                "another folder with `cache=`, or delete this one; everything in it can be rebuilt",
                path=self.path,
            )
        return int(version)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Convert SQLite's errors to errors that say what to do."""
        try:
            yield
        except MareyError:
            raise
        except sqlite3.OperationalError as error:
            raise UnwritableFile(
                f"the cache cannot be used ({error}); choose another folder with `cache=`", path=self.path
            ) from None
        except (sqlite3.DatabaseError, ValueError) as error:
            raise ParseError(
                f"the cache is damaged ({error}); delete {str(self.path.parent)!r}, everything in it can be rebuilt",
                path=self.path,
            ) from None


def _pack_array(array: NDArray[Any]) -> bytes:
    data = array.tobytes()
    return data + compute_checksum(data)


def _start(db: sqlite3.Connection) -> None:
    """Create empty tables, and drop the tables of an older version."""
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        db.execute(f'DROP TABLE "{name}"')
    for table in _TABLES:
        db.execute(f"CREATE TABLE {table}")
    db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")
