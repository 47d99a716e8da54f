"""NPZ: a motion as plain NumPy arrays, for scripts that only use ``numpy.load``.

A zip of ``.npy`` files, without pickled objects. F frames, J joints; right-handed, Y up, meters, wxyz.

=================  ==========  ========  ==================================================================
array              shape       type      content
=================  ==========  ========  ==================================================================
format             ()          text      ``marey.motion``
version            ()          integer   1
name               ()          text      name of the clip
fps                ()          float     frames per second
names              (J,)        text      joint names; End Sites are joints too, named ``<Parent>End``
parents            (J,)        integer   index of each joint's parent, always lower; -1 for joint 0
offsets            (J, 3)      float     position of each joint in its parent's frame
root_positions     (F, 3)      float     position of joint 0 in the world
rotations          (F, J, 4)   float     local unit quaternions, child in parent
bone_offsets       (F, J, 3)   float     offsets in every frame; only if they vary
source_format      ()          text      format of the source file, such as ``bvh``; or ""
source_unit        ()          float     meters per unit of that file
source_up          ()          text      its up axis, such as ``y`` or ``z``
frame_time_text    ()          text      if known: the frame time exactly as written
channels           (J,)        text      if known: each joint's BVH channels, separated by blanks
file_names         (J,)        text      only if different: the joint names in that file
=================  ==========  ========  ==================================================================

Arrays whose names begin with ``source_`` describe the source file; all others are in marey's own unit and axes.
Unknown arrays are ignored. Contacts, labels and other annotations are in the sidecar. The same motion always gives
the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.errors import InvalidValue, ParseError
from marey.io import limits
from marey.io.archive import Head, pack, read_arrays, text_array
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

# Maximum deviation from unit length of quaternions stored as float32; larger deviations are errors.
_NEARLY_UNIT = 1e-3
_UNIT = 1e-6


def write_npz(motion: Motion) -> bytes:
    """Return the bytes of an NPZ file with the motion."""
    return pack(FORMAT, VERSION, _arrays(motion))


def read_npz(data: bytes, path: str) -> RawMotion:
    """Read a motion from the bytes of an NPZ file; `path` is for messages.

    Numbers may be of any width and byte order. Sizes are checked before anything is unpacked.
    """
    check = partial(_check_heads, file_bytes=len(data), path=path)
    arrays = read_arrays(path, FORMAT, VERSION, _REQUIRED, _OPTIONAL, check, data)
    texts = _texts(arrays, path)
    numbers = _numbers(arrays, path)
    rotations = _unit_rotations(numbers["rotations"], path)
    try:
        skeleton = Skeleton(texts["names"], arrays["parents"].astype(np.int64), numbers["offsets"])
    except InvalidValue as error:
        raise ParseError(str(error), path=path) from None
    fps = float(numbers["fps"])
    if fps <= 0.0:
        raise ParseError(f"fps must be positive, not {fps:g}; save the file again with a valid frame rate", path=path)
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
        evidence=_describe_evidence(texts, numbers),
    )


def _arrays(motion: Motion) -> dict[str, NDArray[Any]]:
    """Return the arrays of the file, keyed by name, in file order."""
    source = motion.source
    arrays: dict[str, NDArray[Any]] = {
        "name": text_array(motion.name, "the motion's name"),
        "fps": np.array(motion.fps),
        "names": text_array(motion.skeleton.names, "joint names"),
        "parents": motion.skeleton.parents,
        "offsets": motion.skeleton.offsets,
        "root_positions": motion.root_positions,
        "rotations": motion.rotations,
    }
    if motion.bone_offsets is not None:
        arrays["bone_offsets"] = motion.bone_offsets
    arrays["source_format"] = text_array(source.format, "the source's format")
    arrays["source_unit"] = np.array(source.unit)
    arrays["source_up"] = text_array(source.up, "the source's upward axis")
    if source.frame_time_text is not None:
        arrays["frame_time_text"] = text_array(source.frame_time_text, "the frame time")
    if source.channels is not None and len(source.channels) == len(motion.skeleton):
        arrays["channels"] = text_array([" ".join(joint) for joint in source.channels], "channels")
    if len(source.file_names) == len(motion.skeleton):
        arrays["file_names"] = text_array(source.file_names, "joint names of the file")
    return arrays


def _check_heads(heads: Mapping[str, Head], file_bytes: int, path: str) -> None:
    """Check every shape, type and size before anything is unpacked."""
    if len(heads["rotations"].shape) != 3 or 0 in heads["rotations"].shape:
        raise ParseError(f"rotations must have shape (F, J, 4), not {heads['rotations'].shape}", path=path)
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
    for name, head in heads.items():
        shape, kind = shapes.get(name, ()), kinds.get(name, "U")
        if head.shape != shape:
            raise ParseError(f"array {name!r} must have shape {shape}, not {head.shape}", path=path)
        if head.dtype.kind not in kind:
            wanted = {"U": "text", "iu": "integers", "fiu": "numbers"}[kind]
            raise ParseError(f"array {name!r} must hold {wanted}, not {head.dtype}", path=path)


def _numbers(arrays: Mapping[str, NDArray[Any]], path: str) -> dict[str, Floats]:
    """Return the numeric arrays as float64; raise an error if any number is not finite."""
    numbers: dict[str, Floats] = {}
    for name, array in arrays.items():
        if array.dtype.kind == "U" or name == "parents":
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            numbers[name] = np.ascontiguousarray(array, dtype=np.float64).reshape(array.shape)
        if not np.isfinite(numbers[name]).all():
            raise ParseError(f"array {name!r} must hold finite numbers only", path=path)
    return numbers


def _texts(arrays: Mapping[str, NDArray[Any]], path: str) -> dict[str, tuple[str, ...]]:
    """Return the text arrays as tuples; a single string becomes a tuple of one."""
    texts: dict[str, tuple[str, ...]] = {}
    for name, array in arrays.items():
        if array.dtype.kind == "U":
            texts[name] = tuple(np.atleast_1d(array).tolist())
    for joint in texts.get("channels", ()):
        unknown = set(joint.split()) - _CHANNELS
        if unknown:
            raise ParseError(f"array 'channels' has an unknown channel {min(unknown)[:40]!r}", path=path)
    return texts


def _unit_rotations(rotations: Floats, path: str) -> Floats:
    lengths = np.sqrt(np.einsum("fjk,fjk->fj", rotations, rotations))
    worst = float(np.abs(lengths - 1.0).max())
    if not worst <= _NEARLY_UNIT:
        raise ParseError(
            "array 'rotations' must hold unit quaternions (w, x, y, z), but some do not have length 1", path=path
        )
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


def _describe_evidence(texts: Mapping[str, tuple[str, ...]], numbers: Mapping[str, Floats]) -> list[str]:
    source_format = texts.get("source_format", ("",))[0]
    if not source_format:
        return []
    unit = f" with a unit of {float(numbers['source_unit']):g} m" if "source_unit" in numbers else ""
    return [f"made from a .{source_format[:40]} file{unit}"]
