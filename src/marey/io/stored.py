"""Files of built results. A class declares the parts of its file once; writing, reading and checking are derived::

class DirectionTable(Stored):
    FILE = FileFormat("marey.directions", 1, {
        "choices": Part("integer", ("nodes", "directions")),
        "label": Part("text", optional=True),
    })

table.save("table.npz")
DirectionTable.load("table.npz")
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.errors import InvalidValue
from marey.io import limits
from marey.io.archive import Head, read_arrays, read_json, text_array, validating, write_arrays, write_json

__all__ = ["CLIPS", "FileFormat", "Part", "Stored"]

# Kinds of NumPy types that a part may have in a file, how messages name one value, and the type that is returned.
_KINDS: dict[str, tuple[str, str, Any]] = {
    "float": ("fiu", "a number", np.float64),
    "integer": ("iu", "an integer", np.int64),
    "flag": ("b", "true or false", np.bool_),
    "text": ("U", "text", np.str_),
    "json": ("U", "text", np.str_),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a file: a value or an array.

    Attributes
    ----------
    kind : "float", "integer", "flag", "text", or "json" for nested values.
    shape : length of each axis; a name stands for any length, the same wherever the name appears in the file. ``()``
        is a single value, None any shape. A text of one axis is a tuple of strings.
    optional : whether the part may be missing from files; a value of None is not written.
    stored_as : NumPy type in the file, if it is smaller than the returned one, such as "f4".
    is_raw : whether the type in the file is returned.
    is_finite : whether infinite numbers and NaN are errors.
    """

    kind: Literal["float", "integer", "flag", "text", "json"]
    shape: tuple[int | str, ...] | None = ()
    optional: bool = False
    stored_as: str = ""
    is_raw: bool = False
    is_finite: bool = True

    def to_array(self, value: Any, name: str) -> NDArray[Any]:
        """Return a value as an array for the archive."""
        if self.kind == "json":
            return np.array(json.dumps(value))
        if self.kind == "text":
            return text_array(value if isinstance(value, str) else list(value), name.replace("_", " "))
        return np.asarray(value, dtype=self.stored_as or None)

    def from_array(self, array: NDArray[Any], name: str) -> Any:
        """Return the value that an array of the archive holds."""
        if self.kind == "json":
            return json.loads(str(array))
        if self.kind == "text":
            return tuple(array.tolist()) if self.shape else str(array)
        if not self.is_raw:
            array = array.astype(_KINDS[self.kind][2], copy=False)
        if self.is_finite and not np.isfinite(array).all():
            raise InvalidValue(f"{name} must hold finite numbers only")
        return array.item() if self.shape == () else array

    def to_json(self, value: Any) -> Any:
        """Return a value as numbers, strings and lists."""
        return value if self.kind == "json" else np.asarray(value).tolist()

    def from_json(self, value: Any, name: str, lengths: dict[int | str, int]) -> Any:
        """Convert numbers, strings and lists of a JSON file to the value of this part; see `check` for `lengths`."""
        if self.kind == "json":
            return value
        array = np.array(value)
        if array.size == 0:  # no type can be read from an empty list
            array = array.astype(_KINDS[self.kind][2])
        self.check(array.dtype, array.shape, name, lengths)
        return self.from_array(array, name)

    def check(self, dtype: np.dtype[Any], shape: tuple[int, ...], name: str, lengths: dict[int | str, int]) -> None:
        """Raise InvalidValue unless type and shape are as declared. `lengths` maps the named axes seen so far to their
        lengths; new ones are added."""
        kinds, words, _ = _KINDS[self.kind]
        if dtype.kind not in kinds:
            found = next((each[1] for each in _KINDS.values() if dtype.kind in each[0]), "nested values")
            raise InvalidValue(f"{'' if shape == () else 'each value of '}{name} must be {words}, not {found}")
        if self.shape is None:
            return
        wanted = tuple(lengths.get(n, n) for n in self.shape)
        if len(shape) != len(wanted) or any(
            isinstance(n, int) and n != got for n, got in zip(wanted, shape, strict=True)
        ):
            axes = f"({', '.join(map(str, wanted))}{',' * (len(wanted) == 1)})"
            raise InvalidValue(f"{name} must have shape {axes}, not {shape}")
        lengths.update({n: got for n, got in zip(self.shape, shape, strict=True) if isinstance(n, str)})


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A file of one kind of result: an .npz archive, or JSON for small ones that people may edit.

    Attributes
    ----------
    name, version : written to the file, and checked when it is read.
    parts : what the file holds, keyed by name.
    has_clips : whether it also holds motions with one skeleton and frame rate, as the part "clips".
    is_json : whether it is JSON.
    """

    name: str
    version: int
    parts: Mapping[str, Part]
    has_clips: bool = False
    is_json: bool = False

    @property
    def _stored(self) -> Mapping[str, Part]:
        return {**CLIPS, **self.parts} if self.has_clips else self.parts

    def write(self, path: str | os.PathLike[str], values: Mapping[str, Any]) -> None:
        """Write the parts to a file."""
        given = {name: part for name, part in self.parts.items() if not (part.optional and values[name] is None)}
        if self.is_json:
            content = {name: part.to_json(values[name]) for name, part in given.items()}
            write_json(path, self.name, self.version, content)
            return
        arrays = _clip_arrays(values["clips"]) if self.has_clips else {}
        arrays |= {name: part.to_array(values[name], name) for name, part in given.items()}
        write_arrays(path, self.name, self.version, arrays)

    def read(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Read the parts of a file, with types and shapes as declared. Optional parts that it lacks are None."""
        if self.is_json:
            return self._read_json(path)
        stored = self._stored
        names: tuple[list[str], list[str]] = ([], [])
        for name, part in stored.items():
            names[part.optional].append(name)

        def check(heads: Mapping[str, Head]) -> None:
            lengths: dict[int | str, int] = {}
            with validating(path, self.name):
                for name, head in heads.items():
                    stored[name].check(head.dtype, head.shape, name, lengths)

        arrays = read_arrays(path, self.name, self.version, *names, check)
        with validating(path, self.name):
            values = {name: stored[name].from_array(array, name) for name, array in arrays.items()}
        values = dict.fromkeys(stored) | values
        if self.has_clips:
            with validating(path, "marey.motion"):
                clips = _make_clips(values)
                for clip in clips:
                    limits.check_motion(clip, os.fspath(path))
            values = {"clips": clips} | {name: values[name] for name in self.parts}
        return values

    def _read_json(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        content = read_json(path, self.name, self.version)
        lengths: dict[int | str, int] = {}
        with validating(path, self.name):
            return {
                name: None if part.optional and name not in content else part.from_json(content[name], name, lengths)
                for name, part in self.parts.items()
            }

    @contextmanager
    def open(self, path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
        """Read the parts of a file. Exceptions in the block are reported as errors of the file."""
        values = self.read(path)
        with validating(path, self.name):
            yield values


class Stored:
    """A result that can be saved. Subclasses declare `FILE`; its parts are their attributes, unless they override
    `_to_parts` and `_from_parts`."""

    __slots__ = ()
    FILE: ClassVar[FileFormat]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file; after loading it, nothing has to be built again."""
        self.FILE.write(path, self._to_parts())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file written by `save`."""
        with cls.FILE.open(path) as parts:
            return cls._from_parts(parts)

    def _to_parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.FILE.parts}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        return cls(**parts)


CLIPS: Mapping[str, Part] = {
    "clip_names": Part("text", ("clips",)),
    "clip_lengths": Part("integer", ("clips",)),
    "clip_fps": Part("float"),
    "joint_names": Part("text", ("joints",)),
    "joint_parents": Part("integer", ("joints",)),
    "joint_offsets": Part("float", ("joints", 3)),
    "role_names": Part("text", ("roles",)),
    "role_joints": Part("text", ("roles",)),
    "root_positions": Part("float", ("frames", 3)),
    "rotations": Part("float", ("frames", "joints", 4)),
    "contact_names": Part("text", ("contact points",)),
    "contact_joints": Part("integer", ("contact points",)),
    "contact_offsets": Part("float", ("contact points", 3)),
    "contact_mask": Part("flag", ("frames", "contact points")),
    "contact_known": Part("flag", ("clips",)),
    "label_names": Part("text", ("labels",)),
    "label_spans": Part("integer", ("labels", 3)),
    "floors": Part("float", ("clips",), is_finite=False),
    "bone_offsets": Part("float", ("frames", "joints", 3), optional=True),
}
"""Parts of files with clips. All frames of all clips are in one array, in meters and unit quaternions wxyz. Only
roles that were assigned explicitly are stored. Contact offsets are relative to the joint. `contact_known` says whether
a clip has contacts. A label span is clip, start frame and stop frame. Unknown floor heights are NaN. Bone offsets are
stored if they vary."""


def _clip_arrays(clips: Sequence[Motion]) -> dict[str, NDArray[Any]]:
    """Return the clips as arrays, keyed by name; they must have the same skeleton, rate and contact points."""
    first = clips[0]
    points = next((clip.contacts.points for clip in clips if clip.contacts is not None), ())
    names = [point.name for point in points]
    for clip in clips:
        if clip.fps != first.fps or not clip.skeleton.fits(first.skeleton):
            what = "skeleton" if clip.fps == first.fps else "frame rate"
            raise InvalidValue(
                f"clips must share a skeleton and a frame rate, but the {what} of {clip.name!r} differs from that of "
                f"{first.name!r}"
            )
        if clip.contacts is not None and list(clip.contacts.names) != names:
            raise InvalidValue(f"clips must have the same contact points, but those of {clip.name!r} differ")
    masks = [np.zeros((len(c), len(names)), dtype=bool) if c.contacts is None else c.contacts.mask for c in clips]
    labels = [(k, label) for k, clip in enumerate(clips) for label in clip.labels]
    roles = first.skeleton.role_map
    varies = any(clip.bone_offsets is not None for clip in clips)
    values: dict[str, Any] = {
        "clip_names": [clip.name for clip in clips],
        "clip_lengths": [len(clip) for clip in clips],
        "clip_fps": first.fps,
        "joint_names": first.skeleton.names,
        "joint_parents": first.skeleton.parents,
        "joint_offsets": first.skeleton.offsets,
        "role_names": roles,
        "role_joints": roles.values(),
        "root_positions": np.concatenate([clip.root_positions for clip in clips]),
        "rotations": np.concatenate([clip.rotations for clip in clips]),
        "contact_names": names,
        "contact_joints": np.array([point.joint for point in points], dtype=np.int64),
        "contact_offsets": np.array([point.offset for point in points]).reshape(-1, 3),
        "contact_mask": np.concatenate(masks),
        "contact_known": [clip.contacts is not None for clip in clips],
        "label_names": [label.name for _, label in labels],
        "label_spans": np.array([(k, label.start, label.stop) for k, label in labels], dtype=np.int64).reshape(-1, 3),
        "floors": [np.nan if clip.source.floor is None else clip.source.floor for clip in clips],
        "bone_offsets": np.concatenate([clip.frame_offsets for clip in clips]) if varies else None,
    }
    return {name: CLIPS[name].to_array(value, name) for name, value in values.items() if value is not None}


def _make_clips(values: Mapping[str, Any]) -> tuple[Motion, ...]:
    roles = dict(zip(values["role_names"], values["role_joints"], strict=True))
    skeleton = Skeleton(values["joint_names"], values["joint_parents"], values["joint_offsets"], roles)
    places = zip(values["contact_names"], values["contact_joints"].tolist(), values["contact_offsets"], strict=True)
    points = tuple(ContactPoint(name, joint, offset) for name, joint, offset in places)
    stops = np.cumsum(values["clip_lengths"])
    if len(values["rotations"]) != (stops[-1] if len(stops) else 0):
        raise InvalidValue(f"the file holds {len(values['rotations'])} frames, but its clips have {stops[-1]}")
    offsets = values["bone_offsets"]
    labels: dict[int, list[Label]] = {}
    for name, (clip, start, stop) in zip(values["label_names"], values["label_spans"].tolist(), strict=True):
        labels.setdefault(clip, []).append(Label(name, start, stop))
    out = []
    for k, (name, stop, length) in enumerate(
        zip(values["clip_names"], stops.tolist(), values["clip_lengths"].tolist(), strict=True)
    ):
        run = slice(stop - length, stop)
        floor = float(values["floors"][k])
        out.append(
            Motion(
                skeleton,
                values["root_positions"][run],
                values["rotations"][run],
                values["clip_fps"],
                name=name,
                contacts=Contacts(points, values["contact_mask"][run]) if values["contact_known"][k] else None,
                labels=Labels(tuple(labels.get(k, ()))),
                bone_offsets=None if offsets is None else offsets[run],
                source=Source(path="", floor=None if np.isnan(floor) else floor),
            )
        )
    return tuple(out)
