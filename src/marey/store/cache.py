"""A cache of arrays on disk: what was computed once from the same inputs is not computed again."""

from __future__ import annotations

import os
import shutil
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import set_readonly
from marey.errors import InvalidValue, ParseError, UnwritableFile
from marey.store.arrays import read_array, write_arrays
from marey.store.index import Index

Item = TypeVar("Item")

# Arrays up to this many bytes lie in the index: a file for each of a hundred thousand pairs of clips would be slow.
_INSIDE = 2**18
# Results are written together, but not later than this many seconds after they were computed.
_WRITE_SECONDS = 1.0
_FETCHED = 500


class Cache:
    """Named arrays in a folder that can be deleted at any time. `Cache.open` gives one.

    Several processes may use a folder at once. Keys are made by `key` from everything that a result depends on, so an
    array never has to change.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = Index(folder)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Cache:
        """Open the cache in a folder, which is created when there is something to write.

        A cache written by a newer marey raises an error; one of an older version is discarded.
        """
        place = Path(folder)
        if place.exists() and not place.is_dir():
            raise UnwritableFile("is a file, expected a folder for the cache; choose a folder with cache=", path=folder)
        if not place.exists() and not place.absolute().parent.is_dir():
            raise UnwritableFile(
                f"the folder {str(place.parent)!r} does not exist; create it first, or choose another with cache=",
                path=folder,
            )
        return cls(place)

    def __repr__(self) -> str:
        return f"<Cache {str(self.folder)!r}>"

    @staticmethod
    def key(*parts: object) -> str:
        """A hash of the parts: None, flags, numbers, text, bytes, arrays, and lists of these."""
        digest = blake2b(digest_size=20)
        _feed(digest, parts)
        return digest.hexdigest()

    def get(self, key: str) -> NDArray[Any] | None:
        """The array stored under this key, read-only; None if there is none."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, NDArray[Any]]:
        """The arrays of those keys that are in the cache."""
        out: dict[str, NDArray[Any]] = {}
        for key, array in self.index.arrays(keys).items():
            try:
                out[key] = read_array(self._apart(key) / "array.npy") if array is None else array
            except ParseError:  # lost or damaged: remove it, so that it can be written again
                shutil.rmtree(self._apart(key), ignore_errors=True)
        return out

    def put(self, key: str, array: NDArray[Any]) -> None:
        """Store an array of numbers under a key."""
        self.put_many({key: array})

    def put_many(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Store several arrays, all or none of them."""
        plain = {key: _plain(array) for key, array in arrays.items()}
        apart = [key for key, array in plain.items() if array.nbytes > _INSIDE]
        for key in apart:
            write_arrays(self._apart(key), {"array": plain[key]})
        self.index.put_arrays(plain, apart)

    def map(
        self,
        function: Callable[[Item], NDArray[Any]],
        items: Iterable[Item],
        keys: Sequence[str],
        *,
        run: Callable[..., Any] = map,
    ) -> Iterator[NDArray[Any]]:
        """``run(function, items)``, of which only those are computed whose key has no array yet.

        Results come in the order of the items and are stored as they come: interrupted work continues where it stopped.

        Parameters
        ----------
        function : of one item, giving an array.
        keys : the key of each item's result; see `key`.
        run : how to map; see `marey.store.run`.
        """
        wanted = list(items)
        if len(wanted) != len(keys):
            raise InvalidValue(f"keys must have one entry for each of the {len(wanted)} items, got {len(keys)}")
        return self._map_missing(function, wanted, keys, run)

    def _map_missing(
        self,
        function: Callable[[Item], NDArray[Any]],
        items: list[Item],
        keys: Sequence[str],
        run: Callable[..., Any],
    ) -> Iterator[NDArray[Any]]:
        known = self.index.known_arrays(keys)
        computed = iter(run(function, [item for item, key in zip(items, keys, strict=True) if key not in known]))
        fresh: dict[str, NDArray[Any]] = {}
        written = time.monotonic()
        try:
            for at in range(0, len(items), _FETCHED):
                part = keys[at : at + _FETCHED]
                held = self.get_many(key for key in part if key in known)
                for item, key in zip(items[at : at + _FETCHED], part, strict=True):
                    if key in held:
                        yield held[key]
                        continue
                    # A key that was known and is gone was deleted by somebody meanwhile.
                    fresh[key] = _plain(function(item) if key in known else next(computed))
                    yield fresh[key]
                    if time.monotonic() - written > _WRITE_SECONDS:
                        self.put_many(fresh)
                        fresh, written = {}, time.monotonic()
        finally:
            if fresh:
                self.put_many(fresh)
            close = getattr(computed, "close", None)
            if close is not None:  # processes end with what they work for
                close()

    def clip_folder(self, key: str) -> Path:
        """Where the arrays of a prepared clip lie."""
        return self.folder / "clips" / key[:2] / key

    def _apart(self, key: str) -> Path:
        return self.folder / "arrays" / key[:2] / key


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """As a read-only array in C order that can be kept."""
    plain = np.asarray(array, order="C")
    if plain.dtype.kind not in "biuf":
        raise InvalidValue(f"a cached array must hold numbers, got {plain.dtype}")
    return plain if not plain.flags.writeable else set_readonly(plain.copy())


def _feed(digest: blake2b, part: object) -> None:
    """Each part with its kind and length, so that different lists of parts never give the same bytes."""
    if part is None:
        kind, content = b"0", b""
    elif isinstance(part, bool | np.bool_):
        kind, content = b"?", bytes([bool(part)])
    elif isinstance(part, int | np.integer):
        kind, content = b"i", str(int(part)).encode()
    elif isinstance(part, float | np.floating):
        kind, content = b"f", struct.pack("<d", float(part))
    elif isinstance(part, str):
        kind, content = b"s", part.encode("utf-8", "surrogatepass")
    elif isinstance(part, bytes):
        kind, content = b"b", part
    elif isinstance(part, np.ndarray) and part.dtype.kind in "biuf":
        array = np.ascontiguousarray(part)
        head = f"{array.dtype.str}{part.shape}".encode()
        digest.update(struct.pack("<cqq", b"a", len(head), array.nbytes) + head)
        digest.update(array.reshape(-1).view(np.uint8).data)
        return
    elif isinstance(part, tuple | list):
        digest.update(struct.pack("<cq", b"l", len(part)))
        for each in part:
            _feed(digest, each)
        return
    else:
        raise InvalidValue(
            f"parts of a key must be None, bool, numbers, str, bytes, arrays or lists of these, got {type(part)}"
        )
    digest.update(struct.pack("<cq", kind, len(content)) + content)
