"""NPZ archives: named arrays of numbers and text with a format name and a version, and no executable content.

Every built result that marey saves is one of these. The same arrays always give the same bytes; sizes and types are
checked before anything is unpacked.
"""

from __future__ import annotations

import io
import math
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.errors import InvalidValue, LimitExceeded, MareyError, ParseError, UnknownVersion
from marey.io import limits

__all__ = ["Head", "check_total", "pack", "text_array", "unpack"]

# Text takes four bytes per character and is padded to the longest entry, so one very long name would enlarge all.
_MAX_TEXT = 4096
# Code points D800 to DFFF are surrogates, which are invalid on their own.
_SURROGATES = 0xD800 >> 11
# The earliest time that a zip can store; the current time would make every save differ.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
# The last bits of motion data are mostly noise: higher levels take longer and save only one more percent.
_LEVEL = 3

_HEADER = re.compile(
    r"\{\s*'descr':\s*'(?P<dtype>[^']{1,40})',\s*'fortran_order':\s*(?P<fortran>True|False),\s*"
    r"'shape':\s*\((?P<shape>[0-9, ]{0,99})\),?\s*\}\s*"
)
_DTYPE = re.compile(r"[<>|=]?[biufU][0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Head:
    """A member's header, read before its data; `start` is where the data begin."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int


def pack(form: str, version: int, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The arrays as the bytes of an NPZ file, little-endian, with format name and version."""
    members: dict[str, NDArray[Any]] = {"format": np.array(form), "version": np.array(version, dtype="<i8")}
    members |= {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in arrays.items()}
    n_bytes = sum(array.nbytes for array in members.values())
    packed = _zipped(members, zipfile.ZIP_DEFLATED)
    # A long motion that hardly moves compresses so well that a careful reader would take it for a zip bomb.
    if n_bytes > limits.MAX_EXPANSION * len(packed) + limits.EXPANSION_FLOOR // 2:
        packed = _zipped(members, zipfile.ZIP_STORED)
    return packed


def unpack(
    data: bytes,
    path: str,
    form: str,
    version: int,
    required: Iterable[str],
    optional: Iterable[str] = (),
    check: Callable[[dict[str, Head]], None] | None = None,
) -> dict[str, NDArray[Any]]:
    """The arrays of an NPZ file, read-only, of any width and byte order.

    Parameters
    ----------
    data, path : the file; `path` is for messages.
    form, version : the expected format name and version; others raise an error that names them.
    required, optional : the arrays to read; others are ignored.
    check : called with shapes and types before anything is unpacked; raises if they are wrong.
    """
    wanted = tuple(required)
    with _reporting(path), zipfile.ZipFile(io.BytesIO(data)) as archive:
        heads = _read_heads(archive, ("format", "version", *wanted, *optional), path)
        _check_format(archive, heads, form, version, path)
        missing = [name for name in wanted if name not in heads]
        if missing:
            raise ParseError(f"expected an array {missing[0]!r}, found none", path=path)
        if check is not None:
            check(heads)
        check_total(heads, len(data), path)
        return {name: _load(archive, name, head, path) for name, head in heads.items()}


def check_total(heads: Mapping[str, Head], file_bytes: int, path: str) -> None:
    """Raise LimitExceeded for arrays that would take far more memory than the file itself."""
    total = sum(math.prod(head.shape) * max(head.dtype.itemsize, 8) for head in heads.values())
    if total > limits.MAX_EXPANSION * file_bytes + limits.EXPANSION_FLOOR:
        raise LimitExceeded(
            f"its arrays would take {total / 2**20:.0f} MB from a file of {file_bytes / 2**20:.2f} MB",
            path=path,
        )


def text_array(text: str | tuple[str, ...] | list[str], what: str) -> NDArray[Any]:
    """Text for an archive; `what` names it in error messages."""
    for part in (text,) if isinstance(text, str) else text:
        if len(part) > _MAX_TEXT or part.endswith("\0"):
            raise InvalidValue(
                f"an NPZ file holds text of up to {_MAX_TEXT} letters that does not end in a zero byte, "
                f"but {what} has {part[:20]!r}... of {len(part)}; rename it first"
            )
    array = np.array(text, dtype=np.str_)
    return array.astype(array.dtype.newbyteorder("<"))


def _zipped(arrays: Mapping[str, NDArray[Any]], method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", _ZIP_TIME)
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, member.getbuffer(), compress_type=method, compresslevel=_LEVEL)
    return out.getvalue()


@contextmanager
def _reporting(path: str) -> Iterator[None]:
    """Convert exceptions of zipfile and zlib on broken archives to ParseError."""
    try:
        yield
    except MareyError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        OSError,
        OverflowError,
        RuntimeError,  # encrypted, or an unsupported compression method
        ValueError,
    ) as error:
        raise ParseError(f"not a readable NPZ file ({_reason(error)})", path=path) from None


def _reason(error: BaseException) -> str:
    return re.sub(r"\s+", " ", str(error))[:120].lower() or type(error).__name__


def _read_heads(archive: zipfile.ZipFile, names: Iterable[str], path: str) -> dict[str, Head]:
    """The headers of the arrays to read; nothing else is unpacked."""
    heads: dict[str, Head] = {}
    present = set(archive.namelist())
    for name in names:
        if f"{name}.npy" not in present:
            continue
        info = archive.getinfo(f"{name}.npy")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ParseError(f"array {name!r} uses a compression that NPZ files do not use", path=path)
        with archive.open(info) as stream:
            heads[name] = _parse_head(stream.read(16384), name, path)
        head = heads[name]
        stated = info.file_size - head.start
        expected = math.prod(head.shape) * head.dtype.itemsize
        if stated != expected:
            raise ParseError(
                f"array {name!r} should take {expected} bytes by its header, but takes {stated}", path=path
            )
    return heads


def _parse_head(begin: bytes, name: str, path: str) -> Head:
    """Parse a member's first bytes as text, never evaluated."""
    if begin[:6] != b"\x93NUMPY" or begin[6:7] not in (b"\1", b"\2", b"\3"):
        raise ParseError(f"array {name!r} is not in NumPy's format", path=path)
    width = 2 if begin[6] == 1 else 4
    start = 8 + width + int.from_bytes(begin[8 : 8 + width], "little")
    match = _HEADER.fullmatch(begin[8 + width : start].decode("latin-1")) if start <= len(begin) else None
    if match is None:
        raise ParseError(f"array {name!r} has a header that NumPy does not write", path=path)
    shape = tuple(int(part) for part in match["shape"].replace(" ", "").split(",") if part)
    if not _DTYPE.fullmatch(match["dtype"]):
        raise ParseError(
            f"array {name!r} has type {match['dtype']!r}, expected numbers or text; objects are not read",
            path=path,
        )
    try:
        return Head(np.dtype(match["dtype"]), shape, match["fortran"] == "True", start)
    except (TypeError, ValueError):
        raise ParseError(f"array {name!r} has the unknown type {match['dtype']!r}", path=path) from None


def _check_format(archive: zipfile.ZipFile, heads: dict[str, Head], form: str, version: int, path: str) -> None:
    """Check format and version, and remove their two members from `heads`."""
    marks = []
    for name, kind in (("format", "U"), ("version", "iu")):
        head = heads.pop(name, None)
        if head is None:
            raise ParseError(
                f"not a {form.removeprefix('marey.')} file written by marey: it has no array {name!r}", path=path
            )
        if head.shape != () or head.dtype.kind not in kind or head.dtype.itemsize > 4 * _MAX_TEXT:
            raise ParseError(f"array {name!r} is malformed", path=path)
        marks.append(_load(archive, name, head, path).item())
    if marks[0] != form:
        raise UnknownVersion(f"expected format {form!r}, got {marks[0][:40]!r}", path=path)
    if marks[1] != version:
        raise UnknownVersion(
            f"the file has version {marks[1]}, and this marey reads version {version}; "
            f"{'update marey' if marks[1] > version else 'build it again'}",
            path=path,
        )


def _load(archive: zipfile.ZipFile, name: str, head: Head, path: str) -> NDArray[Any]:
    n_bytes = math.prod(head.shape) * head.dtype.itemsize
    with archive.open(f"{name}.npy") as stream:
        stream.read(head.start)
        # One byte more than expected, so that zipfile reaches the end and compares checksums.
        content = stream.read(n_bytes + 1)
    if len(content) != n_bytes:
        raise ParseError(f"array {name!r} is cut off", path=path)
    if head.dtype.kind == "U":
        codes = np.frombuffer(content, np.dtype("u4").newbyteorder(head.dtype.byteorder))
        if (codes > sys.maxunicode).any() or (codes >> 11 == _SURROGATES).any():
            raise ParseError(f"array {name!r} holds invalid characters", path=path)
    return np.ndarray(head.shape, head.dtype, content, order="F" if head.fortran else "C")
