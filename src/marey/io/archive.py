"""Read and write files of built results: a format name, a version and the content, none of it executable.

Results with large arrays are NPZ archives (`read_arrays`, `write_arrays`); small ones that people may edit are JSON
objects (`read_json`, `write_json`). The same content always gives the same bytes. Array sizes and types are checked
before anything is unpacked. A file of another kind or version raises the same error everywhere.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from marey.errors import (
    FileError,
    InvalidValue,
    LimitExceeded,
    MareyError,
    ParseError,
    UnknownFormat,
    UnknownName,
    UnknownVersion,
    format_list,
)
from marey.io import limits
from marey.io.file_kinds import KINDS, describe_format
from marey.io.files import GENERATOR, MOTION_SUFFIXES, read_bytes, split_name, write_bytes
from marey.io.text_numbers import refuse_constant

if TYPE_CHECKING:
    import zipfile  # slow to import, and needed only to read archives

__all__ = [
    "Head",
    "array_names",
    "check_format",
    "check_suffix",
    "check_total",
    "encode_json",
    "pack",
    "read_arrays",
    "read_json",
    "text_array",
    "validating",
    "write_arrays",
    "write_json",
]

# Text takes four bytes per character and is padded to the longest entry, so one very long name would enlarge them all.
_MAX_TEXT = 4096
# Code points D800 to DFFF are surrogates, which are invalid on their own.
_SURROGATES = 0xD800 >> 11
# The earliest time that a zip file can store; with the current time, every save would differ.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
# The last bits of motion data are mostly noise: higher levels take longer and save only one more percent.
_LEVEL = 3
# How users can convert pickled dictionaries. Marey never loads them, because that may run any code.
EXPLAIN_PICKLES = (
    "if you trust the file, store its arrays with NumPy: d = numpy.load('take.npy', allow_pickle=True).item() or "
    "d = pickle.load(open('take.pkl', 'rb')), then numpy.savez('take.npz', **d)"
)

_HEADER = re.compile(
    r"\{\s*'descr':\s*'(?P<dtype>[^']{1,40})',\s*'fortran_order':\s*(?P<fortran>True|False),\s*"
    r"'shape':\s*\((?P<shape>[0-9, ]{0,99})\),?\s*\}\s*"
)
_DTYPE = re.compile(r"[<>|=]?[biufU][0-9]{1,9}")


def check_suffix(path: str | os.PathLike[str], suffix: str | tuple[str, ...], kind: str, reads: bool = False) -> None:
    """Raise UnknownFormat if a file name does not have the suffix of its kind.

    path : the file to read (`reads`) or write; the case of the suffix does not matter.
    suffix : the required suffix, such as ``".npz"``, or a tuple of allowed ones.
    kind : what the file holds, with its article, such as ``"a motion graph"``.
    """
    allowed = (suffix,) if isinstance(suffix, str) else suffix
    if not os.path.basename(os.fspath(path)).lower().endswith(allowed):
        known = " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))
        got = split_name(path)[1] or "no suffix"
        what = " (a motion)" if reads and got in MOTION_SUFFIXES else ""
        remedy = f"name a file that holds {kind}" if reads else "change the file name"
        raise UnknownFormat(f"{kind} is saved as {known}, got {got}{what}; {remedy}", path=os.fspath(path))


@contextmanager
def validating(path: str | os.PathLike[str], form: str) -> Iterator[None]:
    """Context manager: turn exceptions about invalid content, raised while building an object of format `form`, into
    ParseError."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (FileError, UnknownName):
        raise
    except (MareyError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error) or type(error).__name__
        kind = KINDS[form].partition(" ")[2]
        raise ParseError(f"is not a valid {kind} ({reason}); build it again", path=path) from None
    except MemoryError:
        raise LimitExceeded(f"{KINDS[form]} of this size does not fit into memory; build it again", path=path) from None


def check_format(got: tuple[object, object], expected: tuple[str, int], path: str | os.PathLike[str]) -> None:
    """Raise UnknownVersion if a file has another format or version; `got` and `expected` are (format name, version)."""
    (form, version), (expected_form, expected_version) = got, expected
    if form != expected_form:
        raise UnknownVersion(
            f"expected {describe_format(expected_form)}, got {describe_format(str(form)[:40])}", path=path
        )
    if version != expected_version:
        is_newer = isinstance(version, int | float) and version > expected_version
        raise UnknownVersion(
            f"the file has format version {str(version)[:40]}, but this version of marey reads {expected_version}; "
            f"{'update marey' if is_newer else 'build it again'}",
            path=path,
        )


def write_arrays(path: str | os.PathLike[str], form: str, version: int, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to an .npz file, with the format name and version."""
    check_suffix(path, ".npz", KINDS[form])
    write_bytes(path, [pack(form, version, arrays)])


def read_json(path: str | os.PathLike[str], form: str, version: int, *, required: bool = True) -> dict[str, Any]:
    """Read a JSON object that has the given format name and version.

    With `required` False, files written by hand may leave out both.
    """
    kind = KINDS[form]
    check_suffix(path, ".json", kind, reads=True)
    try:
        content = json.loads(read_bytes(path).decode("utf-8-sig"), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        reason = getattr(error, "msg", None) or str(error)
        raise ParseError(f"not valid JSON ({reason}); expected {kind}", path=path, line=line) from None
    if not isinstance(content, dict) or (required and "format" not in content):
        raise ParseError(f'expected {kind}, a JSON object with "format": "{form}"', path=path)
    stated = {"format": form, "version": None if required else version} | content
    check_format((stated["format"], stated["version"]), (form, version), path)
    return content


def write_json(path: str | os.PathLike[str], form: str, version: int, content: Mapping[str, Any]) -> None:
    """Write a JSON object with format name and version, one line per innermost object or list."""
    check_suffix(path, ".json", KINDS[form])
    write_bytes(path, [encode_json(form, version, content)])


def encode_json(form: str, version: int, content: Mapping[str, Any]) -> bytes:
    """Return the bytes that `write_json` writes. Raise InvalidValue for text that is not valid Unicode."""
    entries = {"format": form, "version": version, **content}
    lines = [f" {json.dumps(key)}: {_to_json(value, 1)}" for key, value in entries.items()]
    try:
        return "".join(["{\n", ",\n".join(lines), "\n}\n"]).encode()
    except UnicodeEncodeError as error:
        wrong = error.object[max(error.start - 20, 0) : error.end + 20]
        raise InvalidValue(f"text must be valid Unicode to be saved, got {wrong!a}; rename it first") from None


def _to_json(value: Any, depth: int) -> str:
    if isinstance(value, Mapping) and any(isinstance(each, Mapping) for each in value.values()):
        parts = [f"{_to_json(key, 0)}: {_to_json(each, depth + 1)}" for key, each in value.items()]
    elif isinstance(value, list | tuple) and any(isinstance(each, Mapping) for each in value):
        parts = [_to_json(each, depth + 1) for each in value]
    else:
        return json.dumps(value, ensure_ascii=False)
    begin, end = "{}" if isinstance(value, Mapping) else "[]"
    separator = "\n" + " " * (depth + 1)
    return begin + separator + f",{separator}".join(parts) + "\n" + " " * depth + end


_MAX_HEADER = 16384


@dataclass(frozen=True, slots=True)
class Head:
    """The header of an array in an archive, read before the array's data.

    dtype, shape, fortran : type, shape and memory order of the array.
    start : the byte of the file at which the data begin.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int


def pack(form: str, version: int, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of an NPZ file with the arrays, little-endian, and the format name and version."""
    return pack_other_arrays({"format": np.array(form), "version": np.array(version, dtype="<i8"), **arrays})


def pack_other_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of an NPZ file with the arrays, little-endian; the comment of the zip file names marey."""
    members = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in arrays.items()}
    packed = _zip_arrays(members, compress=True)
    # A long motion that hardly moves compresses so well that `read_arrays` would reject it as a zip bomb.
    if sum(each.nbytes for each in members.values()) > limits.MAX_EXPANSION * len(packed) + limits.EXPANSION_FLOOR // 2:
        packed = _zip_arrays(members, compress=False)
    return packed


def read_arrays(
    path: str | os.PathLike[str],
    form: str,
    version: int,
    required: Iterable[str],
    optional: Iterable[str] = (),
    check: Callable[[dict[str, Head]], None] | None = None,
    data: bytes | None = None,
) -> dict[str, NDArray[Any]]:
    """Read the arrays of an .npz file, of any width and byte order; they are read-only.

    Parameters
    ----------
    path : the file; also named in messages.
    form, version : the expected format name and version; any others raise an error that names them.
    required, optional : names of the arrays to read; other arrays are ignored.
    check : called with the headers, keyed by array name, before anything is unpacked, to raise an error if they are
        wrong.
    data : the contents of the file, if already read.
    """
    wanted, name = tuple(required), os.fspath(path)
    if data is None:
        check_suffix(path, ".npz", KINDS[form], reads=True)
        data = read_bytes(path)
    with _open_archive(data, name) as archive:
        heads = _read_heads(archive, ("format", "version", *wanted, *optional), name)
        _check_format(archive, heads, form, version, name)
        missing = [array for array in wanted if array not in heads]
        if missing:
            raise ParseError(
                f"array {missing[0]!r} is missing; this is not a complete file of {KINDS.get(form, form)}", path=name
            )
        if check is not None:
            check(heads)
        check_total(heads, len(data), name)
        return {array: _load(archive, array, head, name) for array, head in heads.items()}


def list_arrays(data: bytes, path: str) -> tuple[str, ...]:
    """Return the names of the arrays in an NPZ file written by any program."""
    with _open_archive(data, path) as archive:
        return array_names(archive)


def array_names(archive: zipfile.ZipFile) -> tuple[str, ...]:
    """Return the names of the arrays in an open archive; other files in it are skipped."""
    return tuple(name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy"))


def read_other_arrays(data: bytes, path: str, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Read the named arrays from an NPZ file of another program; those that it lacks are left out."""
    with _open_archive(data, path) as archive:
        heads = _read_heads(archive, names, path)
        check_total(heads, len(data), path)
        return {array: _load(archive, array, head, path) for array, head in heads.items()}


def read_npy_head(path: str | os.PathLike[str]) -> Head:
    """Read the header of an NPY file only."""
    with open(path, "rb") as stream:
        return _parse_head(stream.read(_MAX_HEADER), "", os.fspath(path))


def read_npy(data: bytes, path: str) -> NDArray[Any]:
    """Read the array of an NPY file, of numbers or text; it is read-only. Arrays of objects are refused."""
    head = _parse_head(data[:_MAX_HEADER], "", path)
    expected = math.prod(head.shape) * head.dtype.itemsize
    if len(data) - head.start != expected:
        raise ParseError(f"has {len(data) - head.start} bytes after its header, which requires {expected}", path=path)
    order: Literal["F", "C"] = "F" if head.fortran else "C"
    array: NDArray[Any] = np.ndarray(head.shape, head.dtype, data[head.start :], order=order)
    if head.dtype.kind in "fiu" and array.size:
        _check_magnitude(array, "", path)
    return array


def check_total(heads: Mapping[str, Head], file_bytes: int, path: str) -> None:
    """Raise LimitExceeded for arrays that would take far more memory than the file itself."""
    total = sum(math.prod(head.shape) * max(head.dtype.itemsize, 8) for head in heads.values())
    limits.check_expansion("its arrays", total, file_bytes, path)


def text_array(text: str | tuple[str, ...] | list[str], what: str) -> NDArray[Any]:
    """Return text as an array for an archive; `what` names it in error messages."""
    for part in (text,) if isinstance(text, str) else text:
        if len(part) > _MAX_TEXT or part.endswith("\0"):
            raise InvalidValue(
                f"{what} must have at most {_MAX_TEXT} characters and must not end in a zero byte to be stored in an "
                f"NPZ file, got {part[:20]!r}... with {len(part)}; rename it first"
            )
        if any("\ud800" <= letter <= "\udfff" for letter in part):
            raise InvalidValue(f"{what} must be valid Unicode, got {part[:40]!a}; rename it first")
    array = np.array(text, dtype=np.str_)
    return array.astype(array.dtype.newbyteorder("<"))


def _zip_arrays(arrays: Mapping[str, NDArray[Any]], *, compress: bool) -> bytes:
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as archive:
        archive.comment = GENERATOR.encode()
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy", _ZIP_TIME)
            info.create_system, info.external_attr, info.compress_type = 3, 0o644 << 16, archive.compression
            # `open` has no parameters for these: the level, and the size, which decides how sizes are stored.
            info._compresslevel, info.file_size = _LEVEL, array.nbytes  # type: ignore[attr-defined]
            with archive.open(info, "w") as member:  # in pieces, so the member is never in memory as a whole
                if compress and array.dtype == np.int8:
                    # Differences from predictions: noise without repetitions, which this packs better and faster.
                    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_HUFFMAN_ONLY)
                    member._compressor = packer  # type: ignore[attr-defined]
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
    return out.getvalue()


@contextmanager
def _open_archive(data: bytes, path: str) -> Iterator[zipfile.ZipFile]:
    """Open the contents of an NPZ file; exceptions about broken archives become ParseError."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield archive
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
    """Read the headers of the named arrays; unpack nothing else."""
    from zipfile import ZIP_DEFLATED, ZIP_STORED

    heads: dict[str, Head] = {}
    present = set(archive.namelist())
    for name in names:
        if f"{name}.npy" not in present:
            continue
        info = archive.getinfo(f"{name}.npy")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ParseError(
                f"array {name!r} is compressed with a method that NPZ files do not use; expected stored or deflated",
                path=path,
            )
        with archive.open(info) as stream:
            heads[name] = _parse_head(stream.read(16384), name, path)
        head = heads[name]
        stated = info.file_size - head.start
        expected = math.prod(head.shape) * head.dtype.itemsize
        if stated != expected:
            raise ParseError(f"array {name!r} has {stated} bytes, but its header requires {expected}", path=path)
    return heads


def _parse_head(begin: bytes, name: str, path: str) -> Head:
    """Parse the header of an array from its first bytes, as text that is never evaluated."""
    called = f"array {name!r}" if name else "the array"
    if begin[:6] != b"\x93NUMPY" or begin[6:7] not in (b"\1", b"\2", b"\3"):
        raise ParseError(f"{called} is not in the NumPy format", path=path)
    width = 2 if begin[6] == 1 else 4
    start = 8 + width + int.from_bytes(begin[8 : 8 + width], "little")
    match = _HEADER.fullmatch(begin[8 + width : start].decode("latin-1")) if start <= len(begin) else None
    if match is None:
        raise ParseError(f"{called} has a damaged header", path=path)
    shape = tuple(int(part) for part in match["shape"].replace(" ", "").split(",") if part)
    if match["dtype"].endswith("O"):
        raise ParseError(f"{called} holds Python objects, which are never unpickled; {EXPLAIN_PICKLES}", path=path)
    if not _DTYPE.fullmatch(match["dtype"]):
        raise ParseError(f"{called} has type {match['dtype']!r}, expected numbers or text", path=path)
    try:
        return Head(np.dtype(match["dtype"]), shape, match["fortran"] == "True", start)
    except (TypeError, ValueError):
        raise ParseError(f"{called} has the unknown type {match['dtype']!r}", path=path) from None


def _check_format(archive: zipfile.ZipFile, heads: dict[str, Head], form: str, version: int, path: str) -> None:
    """Check the format name and version, and remove their two entries from `heads`."""
    marks = []
    for name, kind in (("format", "U"), ("version", "iu")):
        head = heads.pop(name, None)
        if head is None:
            kind = KINDS.get(form, form)
            what = _describe_other(archive) if name == "format" else "a file without the array 'version'"
            raise ParseError(f"not {kind} written by marey, but {what}", path=path)
        if head.shape != () or head.dtype.kind not in kind or head.dtype.itemsize > 4 * _MAX_TEXT:
            raise ParseError(f"array {name!r} must be a single value of the right type; the file is damaged", path=path)
        marks.append(_load(archive, name, head, path).item())
    check_format((marks[0], marks[1]), (form, version), path)


def _describe_other(archive: zipfile.ZipFile) -> str:
    """Describe an NPZ file of another program, for messages."""
    names = format_list([repr(name[:40]) for name in array_names(archive)], 4)
    return f"an NPZ file of another program, with the arrays {names}" if names else "a ZIP archive without arrays"


def _load(archive: zipfile.ZipFile, name: str, head: Head, path: str) -> NDArray[Any]:
    n_bytes = math.prod(head.shape) * head.dtype.itemsize
    with archive.open(f"{name}.npy") as stream:
        stream.read(head.start)
        # Read one byte more than expected: zipfile then reaches the end and compares checksums.
        content = stream.read(n_bytes + 1)
    if len(content) != n_bytes:
        raise ParseError(f"array {name!r} is truncated", path=path)
    if head.dtype.kind == "U":
        codes = np.frombuffer(content, np.dtype("u4").newbyteorder(head.dtype.byteorder))
        if (codes > sys.maxunicode).any() or (codes >> 11 == _SURROGATES).any():
            raise ParseError(f"array {name!r} holds invalid characters", path=path)
    array: NDArray[Any] = np.ndarray(head.shape, head.dtype, content, order="F" if head.fortran else "C")
    if head.dtype.kind in "fiu" and array.size:
        _check_magnitude(array, name, path)
    return array


def _check_magnitude(array: NDArray[Any], name: str, path: str) -> None:
    """Raise LimitExceeded for finite numbers that are too large for any result; their squares may overflow."""
    most = limits.MAX_NUMBER
    if float(np.fmax.reduce(array, axis=None)) <= most and float(np.fmin.reduce(array, axis=None)) >= -most:
        return
    sizes = np.abs(array[np.isfinite(array)].astype(np.float64))
    if sizes.size and sizes.max() > most:
        called = f"array {name!r}" if name else "the array"
        raise LimitExceeded(f"{called} has a value of {sizes.max():.3g} (maximum {most:g})", path=path)
