"""Serialize data exchanged with the worker: a line of JSON, followed by the bytes of all arrays.

Motions are sent without the rows of the file that they came from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source

_MOTION, _ARRAY, _SIZE = "$motion", "$array", "$size"
# Arrays start at multiples of this many bytes.
_ALIGNMENT = 16
_SOURCE = (
    *("path", "format", "unit", "up", "frame_time_text", "file_names"),
    *("channels", "floor", "evidence", "provenance"),
)


def pack(message: Mapping[str, Any]) -> bytes:
    """Return the bytes of a message of plain data, arrays and motions."""
    parts: list[bytes] = []
    content = _to_json(message, parts)
    size = sum(map(len, parts))
    return b"".join((json.dumps(content | {_SIZE: size}).encode(), b"\n", *parts))


def read_line(line: bytes) -> tuple[dict[str, Any], int]:
    """Parse the line of a message; return its content for `unpack`, and the number of bytes that follow the line."""
    content: dict[str, Any] = json.loads(line)
    return content, content.pop(_SIZE)


def unpack_all(message: bytes) -> dict[str, Any]:
    """Restore a message from all of its bytes."""
    line, _, data = message.partition(b"\n")
    content: dict[str, Any] = unpack(read_line(line)[0], data)
    return content


def unpack(content: Any, data: bytes) -> Any:
    """Restore a value from its JSON form and the bytes of its arrays, which are read-only. Tuples become lists."""
    if isinstance(content, list):
        return [unpack(each, data) for each in content]
    if not isinstance(content, dict):
        return content
    if _ARRAY in content:
        start, dtype, shape = content[_ARRAY]
        return np.frombuffer(data, np.dtype(dtype), int(np.prod(shape)), start).reshape(shape)
    if _MOTION in content:
        return _to_motion(unpack(content[_MOTION], data))
    return {name: unpack(each, data) for name, each in content.items()}


def _to_json(value: Any, parts: list[bytes]) -> Any:
    """Convert a value to JSON data; the bytes of arrays are appended to `parts`."""
    if isinstance(value, Motion):
        return {_MOTION: _to_json(_pack_motion(value), parts)}
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError("arrays of objects cannot be sent")
        start = sum(map(len, parts))
        parts.append(value.tobytes() + bytes(-value.nbytes % _ALIGNMENT))
        return {_ARRAY: [start, value.dtype.str, value.shape]}
    if isinstance(value, Mapping):
        return {str(name): _to_json(each, parts) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(each, parts) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def _pack_motion(motion: Motion) -> dict[str, Any]:
    skeleton, contacts = motion.skeleton, motion.contacts
    return {
        "skeleton": [skeleton.names, skeleton.parents.tolist(), skeleton.offsets.tolist(), skeleton.role_map],
        "root_positions": motion.root_positions,
        "rotations": motion.rotations,
        "fps": motion.fps,
        "name": motion.name,
        "points": None if contacts is None else [[each.name, each.joint, each.offset] for each in contacts.points],
        "mask": None if contacts is None else contacts.mask,
        "labels": list(motion.labels),
        "bone_offsets": motion.bone_offsets,
        "source": {name: getattr(motion.source, name) for name in _SOURCE},
    }


def _to_motion(parts: dict[str, Any]) -> Motion:
    contacts = None
    if parts["points"] is not None:
        contacts = Contacts(tuple(ContactPoint(*point) for point in parts["points"]), parts["mask"])
    return Motion(
        _to_skeleton(json.dumps(parts["skeleton"])),
        parts["root_positions"],
        parts["rotations"],
        parts["fps"],
        parts["name"],
        contacts,
        Labels(tuple(Label(*label) for label in parts["labels"])),
        parts["bone_offsets"],
        Source(**parts["source"]),
    )


@lru_cache(maxsize=16)
def _to_skeleton(text: str) -> Skeleton:
    """Restore a skeleton from its JSON form. Motions with the same skeleton share the object and its detected roles."""
    names, parents, offsets, role_map = json.loads(text)
    return Skeleton(tuple(names), np.array(parents), np.array(offsets), role_map)
