"""A cache of arrays on disk: results for the same inputs are computed only once."""

from __future__ import annotations

import os
import shutil
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import set_readonly
from marey.errors import InvalidValue, ParseError, UnwritableFile
from marey.store.arrays import read_array, write_arrays
from marey.store.index import Index

Item = TypeVar("Item")
Value = TypeVar("Value")

# Arrays up to this many bytes are stored in the index: one file for each of a hundred thousand pairs of clips would be
# slow.
_INSIDE = 2**18
# Results are written in batches, at intervals of about this many seconds.
_WRITE_SECONDS = 1.0
_FETCHED = 500


class BatchWriter(Generic[Value]):
    """Context manager that stores values by key in batches; on exit, even after an error, it stores the last batch."""

    def __init__(self, put: Callable[[Mapping[str, Value]], None]) -> None:
        self._put, self._values, self._written = put, dict[str, Value](), time.monotonic()

    def __enter__(self) -> BatchWriter[Value]:
        return self

    def __exit__(self, *error: object) -> None:
        self.write()

    def add(self, key: str, value: Value) -> None:
        """Store a value with the next batch."""
        self._values[key] = value
        if time.monotonic() - self._written > _WRITE_SECONDS:
            self.write()

    def write(self) -> None:
        """Store the values that are waiting."""
        if self._values:
            self._put(self._values)
        self._values, self._written = {}, time.monotonic()


@contextmanager
def close_results(results: Iterator[Any]) -> Iterator[None]:
    """Context manager that ends the worker processes of a runner, even if not all of its results were used."""
    try:
        yield
    finally:
        close = getattr(results, "close", None)
        if close is not None:
            close()


class Cache:
    """Arrays by key in a folder that can be deleted at any time. Create one with `Cache.open`.

    Several processes may use a folder at once. A key is a hash of everything that a result depends on (see `key`), so
    the array stored under a key never changes.

    Examples
    --------
    >>> from marey.store import Cache
    >>> cache = Cache.open("cache")
    >>> key = Cache.key("squares", 3)
    >>> cache.put(key, np.arange(3) ** 2)
    >>> cache.get(key)
    array([0, 1, 4])
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = Index(folder)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Cache:
        """Open the cache in a folder. The folder is created when there is something to write.

        A cache written by a newer version of marey raises an error; one from an older version is discarded.
        """
        place = Path(folder)
        if place.exists() and not place.is_dir():
            raise UnwritableFile(
                "is a file, expected a folder for the cache; choose a folder with `cache=`", path=folder
            )
        if not place.exists() and not place.absolute().parent.is_dir():
            raise UnwritableFile(
                f"the folder {str(place.parent)!r} does not exist; create it first, or choose another with `cache=`",
                path=folder,
            )
        return cls(place)

    def __repr__(self) -> str:
        return f"<Cache {str(self.folder)!r}>"

    @staticmethod
    def key(*parts: object) -> str:
        """Return a hash of the parts: None, bools, numbers, strings, bytes, arrays, and lists or tuples of these."""
        digest = blake2b(digest_size=20)
        _feed(digest, parts)
        return digest.hexdigest()

    def get(self, key: str) -> NDArray[Any] | None:
        """Return the array stored under a key, read-only; None if there is none."""
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[str]) -> dict[str, NDArray[Any]]:
        """Return the arrays by key, read-only, for those keys that are in the cache."""
        out: dict[str, NDArray[Any]] = {}
        for key, array in self.index.arrays(keys).items():
            try:
                out[key] = read_array(self._array_path(key) / "array.npy") if array is None else array
            except ParseError:  # missing or damaged: remove it, so it can be written again
                shutil.rmtree(self._array_path(key), ignore_errors=True)
        return out

    def put(self, key: str, array: NDArray[Any]) -> None:
        """Store an array of numbers under a key."""
        self.put_many({key: array})

    def put_many(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Store several arrays, all or none of them."""
        plain = {key: _plain(array) for key, array in arrays.items()}
        apart = [key for key, array in plain.items() if array.nbytes > _INSIDE]
        for key in apart:
            write_arrays(self._array_path(key), {"array": plain[key]})
        self.index.put_arrays(plain, apart)

    def map(
        self,
        function: Callable[[Item], NDArray[Any]],
        items: Iterable[Item],
        keys: Sequence[str],
        *,
        run: Callable[..., Any] = map,
    ) -> Iterator[NDArray[Any]]:
        """Yield ``run(function, items)``, but compute only the results that are not in the cache yet.

        Results come in the order of the items and are stored as they arrive, so interrupted work continues where it
        stopped.

        Parameters
        ----------
        function : takes one item and returns an array.
        items : the items to map.
        keys : one key per item, under which its result is stored; see `key`.
        run : runner; see `marey.store.run`.
        """
        wanted = list(items)
        if len(wanted) != len(keys):
            raise InvalidValue(f"keys must have one entry for each of the {len(wanted)} items, not {len(keys)}")
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
        with close_results(computed), BatchWriter(self.put_many) as writer:
            for at in range(0, len(items), _FETCHED):
                part = keys[at : at + _FETCHED]
                held = self.get_many(key for key in part if key in known)
                for item, key in zip(items[at : at + _FETCHED], part, strict=True):
                    if key in held:
                        yield held[key]
                        continue
                    # A known key without an array was deleted in the meantime, so compute it here.
                    result = _plain(function(item) if key in known else next(computed))
                    writer.add(key, result)
                    yield result

    def clip_folder(self, key: str) -> Path:
        """Return the folder for the arrays of a prepared clip."""
        return self.folder / "clips" / key[:2] / key

    def _array_path(self, key: str) -> Path:
        return self.folder / "arrays" / key[:2] / key


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array read-only and in C order, copied if it is writeable."""
    plain = np.asarray(array, order="C")
    if plain.dtype.kind not in "biuf":
        raise InvalidValue(f"a cached array must hold numbers, not {plain.dtype}")
    return plain if not plain.flags.writeable else set_readonly(plain.copy())


def _feed(digest: blake2b, part: object) -> None:
    """Add a part to the digest with its kind and length; different lists of parts never give the same bytes."""
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
            "parts of a key must be None, bool, numbers, str, bytes, arrays or lists of these, not "
            f"{type(part).__name__}"
        )
    digest.update(struct.pack("<cq", kind, len(content)) + content)
