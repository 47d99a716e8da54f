"""C3D: parse the header and the parameters of a file.

According to the manual of the format, the parameters are authoritative and the header is a copy. In real files the two
may differ; then the length of the file decides which is right.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Floats
from marey.errors import ParseError, warn_user
from marey.io import limits
from marey.io.raw import CUT_OFF

BLOCK = 512
_KEY = 0x50
_PROCESSORS = {84: "intel", 85: "dec", 86: "mips"}
_SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}
_MAX_DIMENSIONS = 7
_MAX_RATE = 1e6
# The format counts parameter blocks in one byte; allow twice as many for writers that let it overflow.
_MAX_PARAMETER_BYTES = 2 * 256 * BLOCK
_FULL_WORD = 0xFFFF


@dataclass(frozen=True, slots=True)
class C3dParameter:
    """One parameter of a C3D file.

    kind : type of its values: -1 text, 1 byte, 2 integer, 4 float. dimensions : lengths of its axes. content : its
        bytes.
    """

    kind: int
    dimensions: tuple[int, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a file, keyed by group and name, both in upper case. `processor` is as in `Layout`."""

    processor: str
    groups: dict[str, dict[str, C3dParameter]]

    def numbers(self, group: str, name: str) -> list[float]:
        """Return a parameter's numbers, flat; [] if it is absent, empty or text."""
        parameter = self.groups.get(group, {}).get(name)
        if parameter is None or parameter.kind == -1:
            return []
        if parameter.kind == 4:
            return _decode_floats(parameter.content, self.processor)
        order = ">" if self.processor == "mips" else "<"
        return [float(value) for value in np.frombuffer(parameter.content, f"{order}i{parameter.kind}").tolist()]

    def number(self, group: str, name: str) -> float:
        """Return a parameter's first number, 0 if it has none."""
        return next(iter(self.numbers(group, name)), 0.0)

    def count(self, group: str, name: str) -> int:
        """Return a parameter's first number as a count, 0 if it has none; integers are read as unsigned."""
        value = self.number(group, name)
        if not math.isfinite(value):
            return 0
        kind = self.kind(group, name)
        return max(int(value), 0) if kind == 4 else int(value) % 256**kind

    def kind(self, group: str, name: str) -> int:
        """Return the number for a parameter's type, as in `C3dParameter`; 2 if the parameter is absent."""
        parameter = self.groups.get(group, {}).get(name)
        return 2 if parameter is None else parameter.kind

    def texts(self, group: str, name: str) -> list[str]:
        """Return the strings of a parameter and its continuations, without surrounding blanks.

        LABELS continues in LABELS2, LABELS3, ..., which are needed for more than 255 entries.
        """
        present = self.groups.get(group, {})
        found: list[str] = []
        for i in itertools.count(1):
            parameter = present.get(name if i == 1 else f"{name}{i}")
            if parameter is None:
                break
            found.extend(_split_texts(parameter))
        return found


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the points are in the file and how they are stored.

    Parameters
    ----------
    processor : "intel", "dec" or "mips"; they differ in byte order and float format.
    start : the first byte of the first frame.
    n_points, n_analog : a frame holds four values per point, then `n_analog` analog values.
    scale : file units per step of the 16-bit integers; negative if points are 32-bit floats.
    n_frames : the number of complete frames in the file.
    fps : frames per second.
    """

    processor: str
    start: int
    n_points: int
    n_analog: int
    scale: float
    n_frames: int
    fps: float

    @property
    def is_float(self) -> bool:
        return self.scale < 0.0

    @property
    def frame_bytes(self) -> int:
        return (4 * self.n_points + self.n_analog) * (4 if self.is_float else 2)


@dataclass(frozen=True, slots=True)
class _Header:
    """The fields of the header that marey uses.

    n_points, n_analog : points and analog values per frame. first, last : numbers of the first and the last frame.
        data_block : block of 512 bytes at which the data begin.
    n_samples : analog samples per channel and frame. scale, rate : as `scale` and `fps` in `Layout`.
    """

    n_points: int
    n_analog: int
    first: int
    last: int
    data_block: int
    n_samples: int
    scale: float
    rate: float


def float_type(processor: str) -> str:
    """Return the NumPy type in which `to_floats` expects the processor's floats."""
    return {"intel": "<f4", "dec": "<u4", "mips": ">f4"}[processor]


def to_floats(raw: NDArray[Any], processor: str) -> Floats:
    """Convert 32-bit floats in the processor's format to float64; any shape."""
    if processor == "dec":
        # VAX floats store the upper half first, and their exponent is larger by two. An exponent of 0 means the
        # number 0; numbers too small for an IEEE exponent become 0.
        bits = (raw << np.uint32(16)) | (raw >> np.uint32(16))
        has_exponent = (bits & np.uint32(0x7F800000)) > np.uint32(2 << 23)
        raw = np.where(has_exponent, bits - np.uint32(2 << 23), np.uint32(0)).view(np.float32)
    with np.errstate(invalid="ignore"):  # signaling NaNs raise a floating-point warning
        return raw.astype(np.float64)


def read_layout(data: bytes, path: str) -> tuple[Layout, Parameters]:
    """Parse the header and parameters, and check everything they state about the points against the file's length."""
    if len(data) < 2 * BLOCK:
        raise ParseError(f"not a C3D file: expected at least {2 * BLOCK} bytes, got {len(data)}", path=path)
    if data[1] != _KEY or data[0] < 2:
        raise ParseError("not a C3D file: the key byte 0x50 is missing in its header", path=path)
    at = (data[0] - 1) * BLOCK
    if at + 4 > len(data):
        raise ParseError(f"the file ends before its parameters, which should begin at byte {at}", path=path)
    processor = _PROCESSORS.get(data[at + 3])
    if processor is None:
        raise ParseError(f"expected processor type 84, 85 or 86, got {data[at + 3]}", path=path)
    header = _read_header(data, processor)
    header_start = (header.data_block - 1) * BLOCK
    stop = header_start if at < header_start < len(data) else len(data)
    groups, end = _read_records(data, at, min(stop, at + _MAX_PARAMETER_BYTES), processor, path)
    parameters = Parameters(processor, groups)

    fps = parameters.number("POINT", "RATE") or header.rate
    if not 0.0 < fps <= _MAX_RATE:
        raise ParseError(f"expected a frame rate greater than 0 and up to {_MAX_RATE:g} Hz, got {fps:g}", path=path)
    stated = _count_frames(parameters, header)
    if stated < 1:
        raise ParseError(
            f"the last frame must not come before the first, got frames {header.first} to {header.last} in the header",
            path=path,
        )
    layout, room = _choose_layout(parameters, header, (at, end, len(data)), (stated, fps), path)
    limits.check_markers(layout.n_points, path)
    limits.check_frames(layout.n_frames, path)
    if layout.n_frames < 1:
        raise ParseError(
            f"a frame of {layout.n_points} points needs {layout.frame_bytes} bytes, but only {room} remain for the "
            "data; the file is truncated or its header is wrong",
            path=path,
        )
    if layout.n_frames < stated:
        warn_user(
            f"{path}: the file ends after {layout.n_frames} of {stated:.7g} frames and {CUT_OFF}, or its header is "
            "wrong; the complete frames were kept"
        )
    return layout, parameters


def _read_header(data: bytes, processor: str) -> _Header:
    order = ">" if processor == "mips" else "<"
    n_points, n_analog, first, last = struct.unpack(f"{order}4H", data[2:10])
    data_block, n_samples = struct.unpack(f"{order}2H", data[16:20])
    scale, rate = _decode_floats(data[12:16] + data[20:24], processor)
    return _Header(n_points, n_analog, first, last, data_block, n_samples, scale, rate)


def _read_records(
    data: bytes, at: int, stop: int, processor: str, path: str
) -> tuple[dict[str, dict[str, C3dParameter]], int]:
    """Read the group and parameter records from byte `at`, at most up to `stop`; also return the byte after the last.

    Groups and parameters come in any order. Each record gives the position of the next, so anything between them, such
    as descriptions, is skipped.
    """
    names: dict[int, str] = {}
    found: list[tuple[int, str, C3dParameter]] = []
    offsets = struct.Struct(">H" if processor == "mips" else "<H")
    position = end = at + 4
    while position < stop:
        start = position
        # A negative length marks a locked record.
        length = abs(int.from_bytes(data[start : start + 1], signed=True))
        if length == 0:
            break
        link = start + 2 + length
        if link + 2 > stop:
            raise ParseError(f"the parameter record at byte {start} is truncated at byte {stop}", path=path)
        number = int.from_bytes(data[start + 1 : start + 2], signed=True)
        name = data[start + 2 : link].decode("latin-1").strip().upper()
        (offset,) = offsets.unpack_from(data, link)
        end = link + 2
        if number > 0:
            parameter, end = _read_parameter(data, end, stop, name, path)
            found.append((number, name, parameter))
        elif number < 0 and names.setdefault(-number, name) != name:
            both = f"{names[-number][:32]!r} and {name[:32]!r}"
            raise ParseError(f"the parameter groups {both} have the same number {-number}", path=path)
        if offset == 0:
            break
        position = link + offset
        if not end <= position <= stop:
            raise ParseError(
                f"the record after {name[:32]!r} should begin between bytes {end} and {stop}, but its offset points "
                "to byte "
                f"{position}",
                path=path,
            )
    groups: dict[str, dict[str, C3dParameter]] = {name: {} for name in names.values()}
    for number, name, parameter in found:
        if number in names:
            groups[names[number]].setdefault(name, parameter)
    return groups, end


def _read_parameter(data: bytes, position: int, stop: int, name: str, path: str) -> tuple[C3dParameter, int]:
    """Read a parameter, starting at its type byte; also return the byte after its content."""
    kind = int.from_bytes(data[position : position + 1], signed=True)
    n_dimensions = data[position + 1] if position + 1 < stop else _MAX_DIMENSIONS + 1
    begin = position + 2 + n_dimensions
    if kind not in _SIZES or n_dimensions > _MAX_DIMENSIONS or begin > stop:
        raise ParseError(f"parameter {name[:32]!r} has an unknown type or too many dimensions", path=path)
    dimensions = tuple(data[position + 2 : begin])
    end = begin + math.prod(dimensions) * _SIZES[kind]
    if end > stop:
        raise ParseError(f"parameter {name[:32]!r} extends past the end of the parameter section", path=path)
    return C3dParameter(kind, dimensions, data[begin:end]), end


def _count_frames(parameters: Parameters, header: _Header) -> int:
    """Return the stated number of frames.

    It is POINT:LONG_FRAMES, else POINT:FRAMES; if 16 bits do not suffice, the TRIAL group; else the header.
    """
    if (long := parameters.count("POINT", "LONG_FRAMES")) > 0:
        return long
    frames = parameters.count("POINT", "FRAMES")
    is_full = frames == _FULL_WORD and parameters.kind("POINT", "FRAMES") != 4
    if frames > 0 and not is_full:
        return frames
    first, last = (_long_number(parameters.numbers("TRIAL", f"ACTUAL_{end}_FIELD")) for end in ("START", "END"))
    if last >= first >= 0:
        return last - first + 1
    return frames if is_full else header.last - header.first + 1


def _long_number(words: list[float]) -> int:
    """Combine two 16-bit words, the lower first, into one number. Return -1 if there are not exactly two."""
    if len(words) != 2 or not all(map(math.isfinite, words)):
        return -1
    return (int(words[0]) & _FULL_WORD) + ((int(words[1]) & _FULL_WORD) << 16)


def _choose_layout(
    parameters: Parameters, header: _Header, section: tuple[int, int, int], timing: tuple[int, float], path: str
) -> tuple[Layout, int]:
    """Return the layout of the data, and the number of bytes available for it.

    If parameters and header contradict each other, the layout that the data fill to the last block is used. If there is
    none, the parameters are used, provided that there is enough data.

    Parameters
    ----------
    section : first byte of the parameters, the byte after them, and the file's length.
    timing : the stated number of frames, and frames per second.
    """
    at, _, length = section
    stated, fps = timing
    choices = {
        "where the data begin": _find_starts(parameters, header, section, path),
        "the number of points": _point_counts(parameters, header, path),
        "the scale": _find_scales(parameters, header, path),
        "the analog values in a frame": _analog_counts(parameters, header, fps),
    }

    def count_free_bytes(layout: Layout) -> int:
        return (at if layout.start < at else length) - layout.start

    readings = [
        Layout(parameters.processor, int(start), int(points), int(analog), scale, stated, fps)
        for start, points, scale, analog in itertools.product(*choices.values())
    ]
    chosen = readings[0]
    if len(readings) > 1:
        spare = [count_free_bytes(reading) - stated * reading.frame_bytes for reading in readings]
        filling = [reading for reading, n_bytes in zip(readings, spare, strict=True) if 0 <= n_bytes < BLOCK]
        doubts = "; ".join(
            f"{what}: {' or '.join(f'{value:g}' for value in values)}"
            for what, values in choices.items()
            if len(values) > 1
        )
        if not filling and spare[0] < 0:
            message = (
                f"parameters and header contradict each other ({doubts}), and neither matches the length of the file"
            )
            raise ParseError(message, path=path)
        chosen = filling[0] if filling else chosen
        warn_user(
            f"{path}: parameters and header contradict each other ({doubts}); {chosen.n_points} points and "
            f"{chosen.n_analog} analog values per frame, scale {chosen.scale:g}, starting at byte {chosen.start}, "
            f"{'match the length of the file' if filling else 'are taken from the parameters'}"
        )
    n_frames = min(stated, count_free_bytes(chosen) // chosen.frame_bytes)
    return replace(chosen, n_frames=n_frames), count_free_bytes(chosen)


def _find_starts(parameters: Parameters, header: _Header, section: tuple[int, int, int], path: str) -> list[float]:
    """Return the possible starts of the data: outside the header and the parameters, and within the file."""
    at, end, length = section
    blocks = (parameters.count("POINT", "DATA_START"), header.data_block)
    starts = [(block - 1) * BLOCK for block in blocks if block >= 2]
    usable = [float(start) for start in starts if start < length and not at <= start < end]
    if not usable:
        raise ParseError(
            f"the data should begin in block {header.data_block}, which is past the end of the file", path=path
        )
    return _drop_repeated(usable)


def _point_counts(parameters: Parameters, header: _Header, path: str) -> list[float]:
    if not parameters.numbers("POINT", "USED"):
        raise ParseError("the parameter POINT:USED (number of points) is missing or not a number", path=path)
    used = parameters.count("POINT", "USED")
    if used < 1:
        raise ParseError(f"the file has no points (POINT:USED is {used})", path=path)
    return _drop_repeated([float(used), float(header.n_points or used)])


def _find_scales(parameters: Parameters, header: _Header, path: str) -> list[float]:
    """Return POINT:SCALE, and also the header's scale if that implies the other storage format."""
    stated = parameters.number("POINT", "SCALE")
    scales = [scale for scale in (stated, header.scale) if math.isfinite(scale) and scale != 0.0]
    if not scales:
        message = f"the scale must not be 0, got {header.scale:g} in the header and {stated:g} in POINT:SCALE"
        raise ParseError(message, path=path)
    return scales[:1] if (scales[0] < 0.0) == (scales[-1] < 0.0) else scales


def _analog_counts(parameters: Parameters, header: _Header, fps: float) -> list[float]:
    """Return the analog values per frame from the parameters, and from the header if the two disagree."""
    used = parameters.count("ANALOG", "USED")
    rate = parameters.number("ANALOG", "RATE")
    samples = round(rate / fps) if 0.0 < rate <= _FULL_WORD * fps else header.n_samples
    if header.n_analog == used * header.n_samples:
        return [float(header.n_analog)]
    return _drop_repeated([float(used * samples), float(header.n_analog)])


def _drop_repeated(values: Iterable[float]) -> list[float]:
    return list(dict.fromkeys(values))


def _split_texts(parameter: C3dParameter) -> Iterator[str]:
    if parameter.kind != -1:
        return
    width = parameter.dimensions[0] if parameter.dimensions else 1
    for begin in range(0, len(parameter.content), max(width, 1)):
        yield _decode_text(parameter.content[begin : begin + width])


def _decode_text(content: bytes) -> str:
    content = content.partition(b"\0")[0]
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.strip()


def _decode_floats(content: bytes, processor: str) -> list[float]:
    return [float(value) for value in to_floats(np.frombuffer(content, float_type(processor)), processor)]
