"""NPZ: a motion as plain NumPy arrays, for scripts that need no more than ``numpy.load``.

A zip of ``.npy`` files, without pickled objects. F frames, J joints; right-handed, Y up, metres, wxyz.

=================  ==========  ========  ==================================================================
array              shape       type      content
=================  ==========  ========  ==================================================================
format             ()          text      ``marey.motion``
version            ()          integer   1
name               ()          text      of the clip
fps                ()          float     frames per second
names              (J,)        text      joint names; End Sites are joints too, named ``<Parent>End``
parents            (J,)        integer   index of each joint's parent, which comes first; -1 for joint 0
offsets            (J, 3)      float     each joint in its parent's frame
root_positions     (F, 3)      float     joint 0 in the world
rotations          (F, J, 4)   float     local unit quaternions, child in parent
bone_offsets       (F, J, 3)   float     only where bones move: offsets frame by frame
source_format      ()          text      of the file that the motion came from, such as ``bvh``; or ""
source_unit        ()          float     metres per unit of that file
source_up          ()          text      its upward axis, such as ``y`` or ``z``
frame_time_text    ()          text      only if it had one: the frame time as it was spelt
channels           (J,)        text      only if it had them: each joint's BVH channels, blanks between
file_names         (J,)        text      only if they differ: the joint names as that file has them
=================  ==========  ========  ==================================================================

Arrays whose names begin with ``source_`` say where the motion came from; all others are in marey's own unit
and axes. Further arrays in the file are passed over. Contacts, labels and the like are in the sidecar. The
same motion always gives the same bytes.
"""

from __future__ import annotations

import io
import math
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core._arrays import Floats
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.errors import InvalidValue, LimitExceeded, MareyError, ParseError, UnknownVersion
from marey.io import limits
from marey.io.raw import RawMotion
from marey.maths import quat

FORMAT = "marey.motion"
VERSION = 1

_REQUIRED = ("name", "fps", "names", "parents", "offsets", "root_positions", "rotations")
_OPTIONAL = (
    "bone_offsets",
    "source_format",
    "source_unit",
    "source_up",
    "frame_time_text",
    "channels",
    "file_names",
)
_CHANNELS = {f"{axis}{kind}" for axis in "XYZ" for kind in ("position", "rotation")}

# Text is stored four bytes a letter and padded to the longest, so one endless name would weigh on all.
_MAX_TEXT = 4096
# Code points D800 to DFFF stand for halves of letters, which no text may hold on their own.
_SURROGATES = 0xD800 >> 11
# The earliest time that a zip can hold; a real one would make every save differ.
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
# Motion is mostly noise in its last bits: higher levels take longer and save another percent.
_LEVEL = 3
# Quaternions this far from unit length are what 32-bit writers leave; further off they mean something else.
_NEARLY_UNIT = 1e-3
_UNIT = 1e-6

_HEADER = re.compile(
    r"\{\s*'descr':\s*'(?P<dtype>[^']{1,40})',\s*'fortran_order':\s*(?P<fortran>True|False),\s*"
    r"'shape':\s*\((?P<shape>[0-9, ]{0,99})\),?\s*\}\s*"
)
_DTYPE = re.compile(r"[<>|=]?[biufU][0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class _Head:
    """What a member's header says, before its data are touched; `start` is where they begin."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    start: int


def write_npz(motion: Motion) -> bytes:
    """The motion as the bytes of an NPZ file."""
    arrays = _arrays(motion)
    n_bytes = sum(array.nbytes for array in arrays.values())
    packed = _pack(arrays, zipfile.ZIP_DEFLATED)
    # A long motion that hardly moves packs so well that a reader on guard would take it for a bomb.
    if n_bytes > limits.MAX_EXPANSION * len(packed) + limits.EXPANSION_FLOOR // 2:
        packed = _pack(arrays, zipfile.ZIP_STORED)
    return packed


def read_npz(data: bytes, path: str) -> RawMotion:
    """A motion from the bytes of an NPZ file; `path` is for messages.

    Numbers may be of any width and byte order. Sizes are checked before anything is unpacked.
    """
    with _reporting(path), zipfile.ZipFile(io.BytesIO(data)) as archive:
        heads = _read_heads(archive, path)
        _check_format(archive, heads, path)
        missing = [name for name in _REQUIRED if name not in heads]
        if missing:
            raise ParseError(f"expected an array {missing[0]!r}, found none", path=path)
        _check_heads(heads, len(data), path)
        arrays = {name: _load(archive, name, head, path) for name, head in heads.items()}
    texts = _texts(arrays, path)
    numbers = _numbers(arrays, path)
    rotations = _unit_rotations(numbers["rotations"], path)
    try:
        skeleton = Skeleton(texts["names"], arrays["parents"].astype(np.int64), numbers["offsets"])
    except InvalidValue as error:
        raise ParseError(str(error), path=path) from None
    fps = float(numbers["fps"])
    if fps <= 0.0:
        raise ParseError(f"expected a positive fps, got {fps:g}", path=path)
    return RawMotion(
        names=skeleton.names,
        parents=skeleton.parents,
        offsets=skeleton.offsets,
        root_positions=numbers["root_positions"],
        rotations=rotations,
        bone_offsets=numbers.get("bone_offsets"),
        fps=fps,
        name=texts["name"][0] or PurePath(path).stem,
        source=_source(texts, path),
        unit=1.0,
        up="y",
        evidence=_evidence(texts, numbers),
    )


def _arrays(motion: Motion) -> dict[str, NDArray[Any]]:
    """By name, in the order of the file."""
    source = motion.source
    arrays: dict[str, NDArray[Any]] = {
        "format": np.array(FORMAT),
        "version": np.array(VERSION, dtype="<i8"),
        "name": _text_array(motion.name, "the motion's name"),
        "fps": np.array(motion.fps, dtype="<f8"),
        "names": _text_array(motion.skeleton.names, "joint names"),
        "parents": motion.skeleton.parents.astype("<i8", copy=False),
        "offsets": motion.skeleton.offsets,
        "root_positions": motion.root_positions,
        "rotations": motion.rotations,
    }
    if motion.bone_offsets is not None:
        arrays["bone_offsets"] = motion.bone_offsets
    arrays["source_format"] = _text_array(source.format, "the source's format")
    arrays["source_unit"] = np.array(source.unit, dtype="<f8")
    arrays["source_up"] = _text_array(source.up, "the source's upward axis")
    if source.frame_time_text is not None:
        arrays["frame_time_text"] = _text_array(source.frame_time_text, "the frame time")
    if source.channels is not None and len(source.channels) == len(motion.skeleton):
        arrays["channels"] = _text_array([" ".join(joint) for joint in source.channels], "channels")
    if len(source.file_names) == len(motion.skeleton):
        arrays["file_names"] = _text_array(source.file_names, "joint names of the file")
    return {
        name: array.astype("<f8", copy=False) if array.dtype.kind == "f" else array for name, array in arrays.items()
    }


def _text_array(text: str | tuple[str, ...] | list[str], what: str) -> NDArray[Any]:
    for part in (text,) if isinstance(text, str) else text:
        if len(part) > _MAX_TEXT or part.endswith("\0"):
            raise InvalidValue(
                f"an NPZ file holds text of up to {_MAX_TEXT} letters that does not end in a zero byte, "
                f"but {what} has {part[:20]!r}... of {len(part)}; rename it first"
            )
    array = np.array(text, dtype=np.str_)
    return array.astype(array.dtype.newbyteorder("<"))


def _pack(arrays: Mapping[str, NDArray[Any]], method: int) -> bytes:
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
    """What zipfile and zlib raise on broken archives, as a ParseError."""
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
        RuntimeError,  # encrypted, or packed by a method that zipfile does not know
        ValueError,
    ) as error:
        raise ParseError(f"not a readable NPZ file ({_reason(error)})", path=path) from None


def _reason(error: BaseException) -> str:
    return re.sub(r"\s+", " ", str(error))[:120].lower() or type(error).__name__


def _read_heads(archive: zipfile.ZipFile, path: str) -> dict[str, _Head]:
    """The headers of all arrays that are of interest; no more than that is unpacked."""
    heads: dict[str, _Head] = {}
    present = set(archive.namelist())
    for name in ("format", "version", *_REQUIRED, *_OPTIONAL):
        if f"{name}.npy" not in present:
            continue
        info = archive.getinfo(f"{name}.npy")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ParseError(f"array {name!r} is packed in a way that NPZ files do not use", path=path)
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


def _parse_head(begin: bytes, name: str, path: str) -> _Head:
    """Read as text, never evaluated, from a member's first bytes."""
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
        return _Head(np.dtype(match["dtype"]), shape, match["fortran"] == "True", start)
    except (TypeError, ValueError):
        raise ParseError(f"array {name!r} has the unknown type {match['dtype']!r}", path=path) from None


def _check_format(archive: zipfile.ZipFile, heads: dict[str, _Head], path: str) -> None:
    """Refuse what is not ours or newer, by name; take the two members that say so out of `heads`."""
    marks = []
    for name, kind in (("format", "U"), ("version", "iu")):
        head = heads.pop(name, None)
        if head is None:
            raise ParseError(f"not a motion that marey wrote: there is no array {name!r} in it", path=path)
        if head.shape != () or head.dtype.kind not in kind or head.dtype.itemsize > 4 * _MAX_TEXT:
            raise ParseError(f"array {name!r} is malformed", path=path)
        marks.append(_load(archive, name, head, path).item())
    if marks[0] != FORMAT:
        raise UnknownVersion(f"expected format {FORMAT!r}, got {marks[0][:40]!r}", path=path)
    if marks[1] != VERSION:
        raise UnknownVersion(
            f"the file is of version {marks[1]}, and this marey reads version {VERSION}; update marey",
            path=path,
        )


def _check_heads(heads: Mapping[str, _Head], file_bytes: int, path: str) -> None:
    """Every shape, type and size, before anything is unpacked."""
    if len(heads["rotations"].shape) != 3 or 0 in heads["rotations"].shape:
        raise ParseError(f"rotations must have shape (F, J, 4), got {heads['rotations'].shape}", path=path)
    f, j = heads["rotations"].shape[:2]
    limits.check_frames(f, path)
    limits.check_joints(j, path)
    limits.check_size(f, j, file_bytes, path)
    shapes: dict[str, tuple[int, ...]] = {
        "names": (j,), "parents": (j,), "channels": (j,), "file_names": (j,),
        "offsets": (j, 3), "root_positions": (f, 3), "rotations": (f, j, 4), "bone_offsets": (f, j, 3),
    }  # fmt: skip
    kinds = {"parents": "iu", **dict.fromkeys(("fps", "source_unit"), "fiu")}
    kinds |= dict.fromkeys(("offsets", "root_positions", "rotations", "bone_offsets"), "fiu")
    total = 0
    for name, head in heads.items():
        shape, kind = shapes.get(name, ()), kinds.get(name, "U")
        if head.shape != shape:
            raise ParseError(f"array {name!r} must have shape {shape}, got {head.shape}", path=path)
        if head.dtype.kind not in kind:
            wanted = {"U": "text", "iu": "integers", "fiu": "numbers"}[kind]
            raise ParseError(f"array {name!r} must hold {wanted}, got {head.dtype}", path=path)
        total += math.prod(shape) * max(head.dtype.itemsize, 8)
    if total > limits.MAX_EXPANSION * file_bytes + limits.EXPANSION_FLOOR:
        raise LimitExceeded(
            f"its arrays would take {total / 2**20:.0f} MB from a file of {file_bytes / 2**20:.2f} MB",
            path=path,
        )


def _load(archive: zipfile.ZipFile, name: str, head: _Head, path: str) -> NDArray[Any]:
    n_bytes = math.prod(head.shape) * head.dtype.itemsize
    with archive.open(f"{name}.npy") as stream:
        stream.read(head.start)
        # One byte more than there should be, so that zipfile reaches the end and compares checksums.
        content = stream.read(n_bytes + 1)
    if len(content) != n_bytes:
        raise ParseError(f"array {name!r} is cut off", path=path)
    if head.dtype.kind == "U":
        codes = np.frombuffer(content, np.dtype("u4").newbyteorder(head.dtype.byteorder))
        if (codes > sys.maxunicode).any() or (codes >> 11 == _SURROGATES).any():
            raise ParseError(f"array {name!r} holds letters that do not exist", path=path)
    return np.ndarray(head.shape, head.dtype, content, order="F" if head.fortran else "C")


def _numbers(arrays: Mapping[str, NDArray[Any]], path: str) -> dict[str, Floats]:
    """The arrays of floats as float64, all finite."""
    numbers: dict[str, Floats] = {}
    for name, array in arrays.items():
        if array.dtype.kind == "U" or name == "parents":
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            numbers[name] = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
        if not np.isfinite(numbers[name]).all():
            raise ParseError(f"array {name!r} holds values that are not finite", path=path)
    return numbers


def _texts(arrays: Mapping[str, NDArray[Any]], path: str) -> dict[str, tuple[str, ...]]:
    """The arrays of text as tuples, a single text as a tuple of one."""
    texts: dict[str, tuple[str, ...]] = {}
    for name, array in arrays.items():
        if array.dtype.kind == "U":
            texts[name] = tuple(np.atleast_1d(array).tolist())
    for joint in texts.get("channels", ()):
        unknown = set(joint.split()) - _CHANNELS
        if unknown:
            raise ParseError(f"array 'channels' holds the unknown channel {min(unknown)[:40]!r}", path=path)
    return texts


def _unit_rotations(rotations: Floats, path: str) -> Floats:
    lengths = np.sqrt(np.einsum("fjk,fjk->fj", rotations, rotations))
    worst = float(np.abs(lengths - 1.0).max())
    if not worst <= _NEARLY_UNIT:
        raise ParseError("array 'rotations' must hold unit quaternions, wxyz, but some are not of length 1", path=path)
    return quat.normalize(rotations) if worst > _UNIT else rotations


def _source(texts: Mapping[str, tuple[str, ...]], path: str) -> Source:
    channels = texts.get("channels")
    return Source(
        path=path,
        format="npz",
        frame_time_text=texts["frame_time_text"][0] if "frame_time_text" in texts else None,
        channels=None if channels is None else tuple(tuple(joint.split()) for joint in channels),
        file_names=texts.get("file_names", ()),
    )


def _evidence(texts: Mapping[str, tuple[str, ...]], numbers: Mapping[str, Floats]) -> list[str]:
    made_from = texts.get("source_format", ("",))[0]
    if not made_from:
        return []
    unit = f" with a unit of {float(numbers['source_unit']):g} m" if "source_unit" in numbers else ""
    return [f"made from a .{made_from[:40]} file{unit}"]
