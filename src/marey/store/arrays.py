"""Arrays on disk: folders of .npy files that are written atomically and memory-mapped for reading."""

from __future__ import annotations

import math
import mmap
import os
import shutil
import sys
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import set_readonly
from marey.errors import ParseError, UnwritableFile

PART_SUFFIX = ".part"
# From this size on, files are mapped rather than read. A mapping holds an open file before Python 3.13, and a process
# may have only some thousand of these: there, only what is long enough to be worth one is mapped.
MAPPED_BYTES = 2**20 if sys.version_info >= (3, 13) else 2**24
# A partial folder older than this, in seconds, was abandoned.
_STALE = 24 * 3600.0


def write_arrays(folder: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write each array to ``folder/NAME.npy``; where `folder` exists already, it is left as it is.

    Folders are named after what is in them, so one that exists has the same content, written by somebody else.
    """
    part = folder.parent / f".{folder.name}.{uuid.uuid4().hex}{PART_SUFFIX}"
    try:
        if folder.is_dir():
            return
        part.mkdir(parents=True)
        for name, array in arrays.items():
            write_array(part / f"{name}.npy", array)
        try:
            part.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was the faster, with the same content
                raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnwritableFile(f"cannot be written ({reason}); choose another folder with cache=", path=folder) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_array(path: Path, array: NDArray[Any]) -> None:
    """One array as a .npy file."""
    with open(path, "wb") as stream:
        np.lib.format.write_array(stream, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)


def read_arrays(folder: Path, names: Mapping[str, bool]) -> dict[str, NDArray[Any]]:
    """The arrays by name, read-only; `names` says of each whether it has to be there."""
    wanted = {name: folder / f"{name}.npy" for name in names}
    return {name: read_array(path) for name, path in wanted.items() if names[name] or path.exists()}


def read_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The array of a .npy file, read-only; a large one stays on disk until it is used.

    A file that is missing, cut off or not in NumPy's format is a `ParseError`.
    """
    try:
        with open(path, "rb") as stream:
            if np.lib.format.read_magic(stream) != (1, 0):
                raise ValueError("another version of the NumPy format")
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
            start, n_bytes = stream.tell(), math.prod(shape) * dtype.itemsize
            if fortran or dtype.kind not in "biuf" or os.fstat(stream.fileno()).st_size != start + n_bytes:
                raise ValueError("truncated, or not plain numbers")
            if n_bytes < MAPPED_BYTES:
                return set_readonly(np.frombuffer(stream.read(n_bytes), dtype).reshape(shape))
            return set_readonly(np.ndarray(shape, dtype, _map_file(stream.fileno()), start))
    except (OSError, ValueError, EOFError) as error:
        raise ParseError(
            f"is damaged ({error}); delete the cache folder, which can be built again", path=path
        ) from None


def _map_file(handle: int) -> mmap.mmap:
    if sys.version_info >= (3, 13):
        return mmap.mmap(handle, 0, access=mmap.ACCESS_READ, trackfd=False)
    return mmap.mmap(handle, 0, access=mmap.ACCESS_READ)


def sweep(folder: Path) -> None:
    """Remove what builds that were killed long ago have left unfinished."""
    for part in folder.glob(f"*/.*{PART_SUFFIX}"):
        try:
            if time.time() - part.stat().st_mtime > _STALE:
                shutil.rmtree(part, ignore_errors=True)
        except OSError:  # somebody else has just swept it away
            continue
