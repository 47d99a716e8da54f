"""Arrays on disk: folders of .npy files that are written atomically and memory-mapped for reading.

A checksum follows the array in each file, so that damage is found when it is read.
"""

from __future__ import annotations

import math
import mmap
import os
import shutil
import sys
import time
import uuid
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import set_readonly
from marey.errors import ParseError, UnwritableFile

PART_SUFFIX = ".part"
CHECKSUM_BYTES = 4
# Files of at least this size are memory-mapped rather than read. Before Python 3.13, each mapping keeps a file open,
# and a process may have only a few thousand open files; the limit is therefore higher there.
MAPPED_BYTES = 2**20 if sys.version_info >= (3, 13) else 2**24
# A partial folder older than this, in seconds, was abandoned.
_STALE = 24 * 3600.0


def write_arrays(folder: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write each array to ``folder/NAME.npy``. If `folder` already exists, do nothing.

    Folders are named by a hash of everything that determines their content, so an existing folder has the same content.
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
            if not folder.is_dir():  # otherwise another process was faster and wrote the same content
                raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnwritableFile(
            f"cannot be written ({reason}); choose another folder with `cache=`", path=folder
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write one array to a .npy file, followed by its checksum."""
    with open(path, "wb") as stream:
        plain = np.ascontiguousarray(array)
        np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(plain))
        data = view_bytes(plain)
        stream.write(data)
        stream.write(compute_checksum(data))


def view_bytes(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array in C order. `ndarray.tofile` would not report why it cannot write."""
    return array.reshape(-1).view(np.uint8).data


def compute_checksum(data: memoryview | bytes) -> bytes:
    """Return a checksum of `CHECKSUM_BYTES` bytes, which detects damaged data."""
    return zlib.crc32(data).to_bytes(CHECKSUM_BYTES, "little")


def read_arrays(folder: Path, names: Mapping[str, bool]) -> dict[str, NDArray[Any]]:
    """Read arrays by name, read-only. `names` maps each name to whether the array is required."""
    wanted = {name: folder / f"{name}.npy" for name in names}
    return {name: read_array(path) for name, path in wanted.items() if names[name] or path.exists()}


def read_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Read an array that `write_array` wrote, read-only. Large arrays are memory-mapped and stay on disk until used.

    Raise `ParseError` if the file is missing, truncated or changed, or was not written by `write_array`.
    """
    try:
        with open(path, "rb") as stream:
            if np.lib.format.read_magic(stream) != (1, 0):
                raise ValueError("another version of the NumPy format")
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
            start, n_bytes = stream.tell(), math.prod(shape) * dtype.itemsize
            if (
                fortran
                or dtype.kind not in "biuf"
                or os.fstat(stream.fileno()).st_size != start + n_bytes + CHECKSUM_BYTES
            ):
                raise ValueError("truncated, or not plain numbers")
            is_mapped = n_bytes >= MAPPED_BYTES
            content = memoryview(_map_file(stream.fileno()))[start:] if is_mapped else memoryview(stream.read())
            if compute_checksum(content[:n_bytes]) != content[n_bytes:]:
                raise ValueError("the checksum does not match")
            return set_readonly(np.frombuffer(content[:n_bytes], dtype).reshape(shape))
    except (OSError, ValueError, EOFError) as error:
        raise ParseError(
            f"is damaged ({error}); delete the cache folder, which can be built again", path=path
        ) from None


def _map_file(handle: int) -> mmap.mmap:
    if sys.version_info >= (3, 13):
        return mmap.mmap(handle, 0, access=mmap.ACCESS_READ, trackfd=False)
    return mmap.mmap(handle, 0, access=mmap.ACCESS_READ)


def sweep(folder: Path) -> None:
    """Remove partial folders that killed builds left behind more than a day ago."""
    for part in folder.glob(f"*/.*{PART_SUFFIX}"):
        try:
            if time.time() - part.stat().st_mtime > _STALE:
                shutil.rmtree(part, ignore_errors=True)
        except OSError:  # another process has just removed it
            continue
