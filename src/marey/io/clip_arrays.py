"""Convert motions with the same skeleton and rate to plain arrays, for archives that play without the source files.

=====================  ==============  ====================================================================
array                  shape           content
=====================  ==============  ====================================================================
clip_names             (C,)            names of the clips
clip_lengths           (C,)            number of frames of each; below, F is their sum
clip_fps               ()              frames per second
joint_names            (J,)            names of the joints
joint_parents          (J,)            index of each joint's parent; -1 for joint 0
joint_offsets          (J, 3)          meters
role_names             (R,)            roles assigned by hand ...
role_joints            (R,)            ... and the names of their joints
root_positions         (F, 3)          meters
rotations              (F, J, 4)       local unit quaternions, wxyz
bone_offsets           (F, J, 3)       meters; only if bone offsets vary in any clip
contact_names          (K,)            contact points ...
contact_joints         (K,)            ... the index of the joint that each is attached to ...
contact_offsets        (K, 3)          ... and its offset from that joint, meters
contact_mask           (F, K)          True where a point is in contact
contact_known          (C,)            whether the clip has contact data
label_names            (L,)            labels ...
label_spans            (L, 3)          ... each as clip, start frame, stop frame
floors                 (C,)            floor height in meters, NaN if unknown
=====================  ==============  ====================================================================
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.errors import InvalidValue
from marey.io import limits
from marey.io.archive import read_arrays, text_array, validating, write_arrays

REQUIRED = (
    *("clip_names", "clip_lengths", "clip_fps", "joint_names", "joint_parents", "joint_offsets"),
    *("role_names", "role_joints", "root_positions", "rotations", "contact_names", "contact_joints"),
    *("contact_offsets", "contact_mask", "contact_known", "label_names", "label_spans", "floors"),
)
OPTIONAL = ("bone_offsets",)


def write_clips(
    path: str | os.PathLike[str], form: str, version: int, clips: Sequence[Motion], own: Mapping[str, NDArray[Any]]
) -> None:
    """Write a result to an .npz file: its clips, and its own arrays."""
    write_arrays(path, form, version, {**clip_arrays(clips), **own})


@contextmanager
def read_clips(
    path: str | os.PathLike[str], form: str, version: int, own: Iterable[str], optional: Iterable[str] = ()
) -> Iterator[tuple[tuple[Motion, ...], dict[str, NDArray[Any]]]]:
    """Read the clips of a file, and all of its arrays. Exceptions in the block are reported as errors of the file.

    own, optional : names of the result's own arrays.
    """
    arrays = read_arrays(path, form, version, (*REQUIRED, *own), (*OPTIONAL, *optional))
    clips = clips_from(arrays, os.fspath(path))
    with validating(path, form):
        yield clips, arrays


def clip_arrays(clips: Sequence[Motion]) -> dict[str, NDArray[Any]]:
    """Return the clips as arrays, keyed by name; they must have the same skeleton, rate and contact points."""
    first = clips[0]
    points = next((clip.contacts.points for clip in clips if clip.contacts is not None), ())
    names = [point.name for point in points]
    for clip in clips:
        if clip.fps != first.fps or not clip.skeleton.fits(first.skeleton):
            raise InvalidValue(
                f"clips must share a skeleton and a frame rate, but {clip.name!r} differs from {first.name!r}"
            )
        if clip.contacts is not None and list(clip.contacts.names) != names:
            raise InvalidValue(f"clips must have the same contact points, but those of {clip.name!r} differ")
    masks = [np.zeros((len(c), len(names)), dtype=bool) if c.contacts is None else c.contacts.mask for c in clips]
    labels = [(k, label) for k, clip in enumerate(clips) for label in clip.labels]
    roles = first.skeleton.role_map
    arrays: dict[str, NDArray[Any]] = {
        "clip_names": text_array([clip.name for clip in clips], "clip names"),
        "clip_lengths": np.array([len(clip) for clip in clips]),
        "clip_fps": np.array(first.fps),
        "joint_names": text_array(first.skeleton.names, "joint names"),
        "joint_parents": first.skeleton.parents,
        "joint_offsets": first.skeleton.offsets,
        "role_names": text_array(list(roles), "roles"),
        "role_joints": text_array(list(roles.values()), "joints of roles"),
        "root_positions": np.concatenate([clip.root_positions for clip in clips]),
        "rotations": np.concatenate([clip.rotations for clip in clips]),
        "contact_names": text_array(names, "contact points"),
        "contact_joints": np.array([point.joint for point in points], dtype=np.int64),
        "contact_offsets": np.array([point.offset for point in points]).reshape(-1, 3),
        "contact_mask": np.concatenate(masks),
        "contact_known": np.array([clip.contacts is not None for clip in clips]),
        "label_names": text_array([label.name for _, label in labels], "labels"),
        "label_spans": np.array([(k, label.start, label.stop) for k, label in labels], dtype=np.int64).reshape(-1, 3),
        "floors": np.array([np.nan if clip.source.floor is None else clip.source.floor for clip in clips]),
    }
    if any(clip.bone_offsets is not None for clip in clips):
        arrays["bone_offsets"] = np.concatenate([clip.frame_offsets for clip in clips])
    return arrays


def clips_from(arrays: Mapping[str, NDArray[Any]], path: str) -> tuple[Motion, ...]:
    """Rebuild the clips from their arrays; `path` is for messages."""
    with validating(path, "marey.motion"):
        clips = _clips(arrays)
        for clip in clips:
            limits.check_motion(clip, path)
        return clips


def _clips(arrays: Mapping[str, NDArray[Any]]) -> tuple[Motion, ...]:
    roles = dict(zip(arrays["role_names"].tolist(), arrays["role_joints"].tolist(), strict=True))
    names = tuple(arrays["joint_names"].tolist())
    skeleton = Skeleton(names, arrays["joint_parents"], arrays["joint_offsets"], roles)
    points = tuple(
        ContactPoint(name, joint, offset)
        for name, joint, offset in zip(
            arrays["contact_names"].tolist(),
            arrays["contact_joints"].tolist(),
            arrays["contact_offsets"],
            strict=True,
        )
    )
    stops = np.cumsum(arrays["clip_lengths"])
    if len(arrays["rotations"]) != (stops[-1] if len(stops) else 0):
        raise InvalidValue(f"it holds {len(arrays['rotations'])} frames, but its clips have {stops[-1]}")
    offsets = arrays.get("bone_offsets")
    labels: dict[int, list[Label]] = {}
    for name, (clip, start, stop) in zip(arrays["label_names"].tolist(), arrays["label_spans"].tolist(), strict=True):
        labels.setdefault(clip, []).append(Label(name, start, stop))
    out = []
    for k, (name, stop, length) in enumerate(
        zip(arrays["clip_names"].tolist(), stops.tolist(), arrays["clip_lengths"].tolist(), strict=True)
    ):
        run = slice(stop - length, stop)
        floor = float(arrays["floors"][k])
        out.append(
            Motion(
                skeleton,
                arrays["root_positions"][run],
                arrays["rotations"][run],
                float(arrays["clip_fps"]),
                name=name,
                contacts=Contacts(points, arrays["contact_mask"][run]) if arrays["contact_known"][k] else None,
                labels=Labels(tuple(labels.get(k, ()))),
                bone_offsets=None if offsets is None else offsets[run],
                source=Source(path="", floor=None if np.isnan(floor) else floor),
            )
        )
    return tuple(out)
