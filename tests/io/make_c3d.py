"""Small C3D files written byte by byte, in all variants of the format, and a slow reader for them."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

PROCESSORS = {"intel": 84, "dec": 85, "mips": 86}
# (type, dimensions, values): numbers are converted to the processor's format, bytes are written unchanged.
Value = tuple[int, tuple[int, ...], Any]


def integers(*values: int) -> Value:
    return 2, () if len(values) == 1 else (len(values),), values


def floats(*values: float) -> Value:
    return 4, () if len(values) == 1 else (len(values),), values


def texts(*values: str) -> Value:
    width = max(map(len, values))
    return -1, (width, len(values)), b"".join(value.ljust(width).encode() for value in values)


def standing(n_frames: int = 20, up: int = 2, seed: int = 0) -> np.ndarray:
    """Points (F, 8, 3) in mm: a cloud 1.7 m tall that walks away from the origin."""
    rng = np.random.default_rng(seed)
    cloud = rng.uniform(-200, 200, size=(8, 3))
    cloud[:, 2] = np.linspace(20, 1700, 8)
    path = np.outer(np.arange(n_frames), [60.0, 25.0, 0.0]) + [300.0, -2500.0, 0.0]
    return np.roll(cloud[None] + path[:, None], up - 2, axis=-1)


def c3d_bytes(
    points: np.ndarray | None = None,
    *,
    processor: str = "intel",
    scale: float = -0.1,
    residuals: np.ndarray | None = None,
    analog: tuple[int, int] = (0, 1),
    groups: Mapping[str, Mapping[str, Value]] | None = None,
    header: Mapping[str, float] | None = None,
    description: bytes = b"",
    gap: int = 0,
    data: bytes | None = None,
    **changes: Value | None,
) -> bytes:
    """A C3D file, by default of 8 points over 20 frames.

    Parameters
    ----------
    points : (F, M, 3) in mm.
    scale : above 0 the points are integers of that many mm, below 0 floats.
    residuals : (F, M) the fourth number of each point.
    analog : channels, and samples of each in a frame.
    groups : parameter groups beside POINT.
    header : words of the header that shall differ from the parameters.
    description, gap : text after every record, and bytes after that which belong to none.
    data : the whole data section, instead of the points.
    changes : parameters of the POINT group to add, to replace or, as None, to leave out.
    """
    points = standing() if points is None else points
    n_frames, n_points = points.shape[:2]
    channels, samples = analog
    point = {
        "USED": integers(n_points),
        "FRAMES": integers(n_frames & 0xFFFF),
        "SCALE": floats(scale),
        "RATE": floats(100.0),
        "LABELS": texts(*(f"M{i}" for i in range(n_points))),
        "UNITS": (-1, (2,), b"mm"),
        **changes,
    }
    every = {"POINT": {name: value for name, value in point.items() if value is not None}, **(groups or {})}
    if channels and "ANALOG" not in every:
        every["ANALOG"] = {
            "USED": integers(channels),
            "RATE": floats(100.0 * samples),
            "GEN_SCALE": floats(1.0),
            "SCALE": (4, (channels,), [1.0] * channels),
            "OFFSET": (2, (channels,), [0] * channels),
        }
    section = parameter_section(every, processor, description, gap)
    words = {
        "points": n_points, "analog": channels * samples, "first": 1, "last": n_frames & 0xFFFF, "scale": scale,
        "data": 2 + len(section) // 512, "samples": samples, "rate": 100.0, **(header or {}),
    }  # fmt: skip
    head = bytes([2, 0x50])
    head += encode(2, [words["points"], words["analog"], words["first"], words["last"], 10], processor)
    head += encode(4, [words["scale"]], processor) + encode(2, [words["data"], words["samples"]], processor)
    head += encode(4, [words["rate"]], processor)
    if data is None:
        data = data_section(points, residuals, channels * samples, scale, processor)
    return head.ljust(512, b"\0") + section + data + bytes(-len(data) % 512)


def parameter_section(
    groups: Mapping[str, Mapping[str, Value]], processor: str, description: bytes = b"", gap: int = 0
) -> bytes:
    """Return the parameter blocks: the record of each group, then those of its parameters."""
    section = bytearray([1, 0x50, 0, PROCESSORS[processor]])
    for number, (group, parameters) in enumerate(groups.items(), start=1):
        records = [(group, -number, b"")]
        for name, (kind, dimensions, values) in parameters.items():
            content = values if isinstance(values, bytes) else encode(kind, values, processor)
            records.append((name, number, struct.pack("bB", kind, len(dimensions)) + bytes(dimensions) + content))
        for name, identity, body in records:
            body += bytes([len(description)]) + description + bytes(gap)
            section += struct.pack("bb", len(name), identity) + name.encode()
            section += encode(2, [2 + len(body)], processor) + body
    section += bytes(2)
    section += bytes(-len(section) % 512)
    section[2] = len(section) // 512 & 0xFF
    return bytes(section)


def data_section(
    points: np.ndarray, residuals: np.ndarray | None, n_analog: int, scale: float, processor: str
) -> bytes:
    """Return the data frame by frame: x, y, z and residual of each point, then the analog values 1, 2, 3, ..."""
    residuals = np.zeros(points.shape[:2]) if residuals is None else residuals
    places = points if scale < 0 else np.round(points / scale)
    fours = np.concatenate([places, residuals[..., None]], axis=-1).reshape(len(points), -1)
    rows = np.concatenate([fours, np.tile(np.arange(1.0, n_analog + 1), (len(points), 1))], axis=1)
    return encode(4 if scale < 0 else 2, rows.ravel(), processor)


def encode(kind: int, values: Sequence[float] | np.ndarray, processor: str) -> bytes:
    """Return numbers in the processor's format; integers above 32767 are stored as unsigned."""
    order = ">" if processor == "mips" else "<"
    if kind != 4:
        return np.array([int(value) for value in values]).astype(f"{order}i{abs(kind)}").tobytes()
    if processor == "dec":
        return b"".join(map(vax_float, values))
    return np.asarray(values).astype(f"{order}f4").tobytes()


def vax_float(value: float) -> bytes:
    """Encode VAX F floats: 0.1mmm... in binary, times 2 to the exponent less 128, with the upper 16 bits first."""
    if value == 0.0:
        return bytes(4)
    fraction, exponent = math.frexp(abs(value))
    mantissa = round(fraction * 2**24)
    if mantissa == 2**24:
        mantissa, exponent = 2**23, exponent + 1
    bits = (int(value < 0) << 31) | ((exponent + 128) << 23) | (mantissa - 2**23)
    return struct.pack("<HH", bits >> 16, bits & 0xFFFF)


def decode_points(data: bytes) -> np.ndarray:
    """A slow twin for files of 32-bit floats from Intel machines: (F, M, 4) with the residual last."""
    n_points, n_analog, first, last = struct.unpack_from("<4H", data, 2)
    start = 512 * (struct.unpack_from("<H", data, 16)[0] - 1)
    frames = []
    for f in range(last - first + 1):
        at = start + f * 4 * (4 * n_points + n_analog)
        frames.append([struct.unpack_from("<4f", data, at + 16 * i) for i in range(n_points)])
    return np.array(frames)
