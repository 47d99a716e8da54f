"""Single frames as live sources yield them, and motions made of such frames."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.contacts import ContactPoint, Contacts
from marey.core.labels import Label, Labels
from marey.core.motion import Motion, wrap_frame
from marey.core.skeleton import Skeleton
from marey.core.source import Source

__all__ = ["SourceFrame", "join_frames", "stack_frames", "take_frame"]


_NO_SOURCE = Source()


class SourceFrame(NamedTuple):
    """One frame of a live source.

    root : (3,) position of joint 0, meters.
    rotations : (J, 4) local rotations of J joints.
    contacts : (K,) True for the contact points that touch the floor; None if unknown.
    bones : (J, 3) bone offsets in meters if they change over time, else None.
    labels : names of the labels that include this frame.
    origin : a motion whose name and source the frame keeps, or None.

    Examples
    --------
    >>> from marey.play import SourceFrame
    >>> frame = SourceFrame(walk.root_positions[0], walk.rotations[0], walk.contacts.mask[0])
    >>> frame.root.shape, frame.rotations.shape, frame.contacts.shape
    ((3,), (27, 4), (4,))
    """

    root: Floats
    rotations: Floats
    contacts: Bools | None
    bones: Floats | None = None
    labels: tuple[str, ...] = ()
    origin: Motion | None = None


def take_frame(motion: Motion, frame: int = 0) -> SourceFrame:
    """Return one frame of a motion.

    Examples
    --------
    >>> from marey.play import take_frame
    >>> frame = take_frame(walk, 30)
    >>> frame.root.shape, frame.rotations.shape
    ((3,), (27, 4))
    """
    return SourceFrame(
        motion.root_positions[frame],
        motion.rotations[frame],
        None if motion.contacts is None else motion.contacts.mask[frame],
        None if motion.bone_offsets is None else motion.bone_offsets[frame],
        motion.labels.at(frame),
        motion,
    )


def stack_frames(
    frames: Sequence[SourceFrame],
    skeleton: Skeleton,
    fps: float,
    points: Sequence[ContactPoint],
    *,
    name: str = "",
    source: Source | None = None,
) -> Motion:
    """Return frames as one motion. It has contacts if all frames have them.

    Parameters
    ----------
    frames : at least one frame.
    points : the contact points of their flags.
    skeleton, fps, name, source : as in `Motion`.

    Examples
    --------
    >>> from marey.play import stack_frames, take_frame
    >>> frames = [take_frame(walk, i) for i in range(10)]
    >>> stack_frames(frames, walk.skeleton, walk.fps, walk.contacts.points)
    <Motion '': 10 frames at 60 Hz, 27 joints>
    """
    if len(frames) == 1:
        root, rotation, flags, bone, names, _ = frames[0]
        touching = None if flags is None or not points else _make_contacts(tuple(points)).with_flags(flags)
        return wrap_frame(
            skeleton, root, rotation, fps, name, touching, _label_frame(names), source or _NO_SOURCE, bone
        )
    roots, rotations, contacts, bones, labels, _ = zip(*frames, strict=True)
    known = [each for each in contacts if each is not None]
    offsets = None
    if any(each is not None for each in bones):
        offsets = _stack([skeleton.offsets if each is None else each for each in bones])
    return Motion(
        skeleton,
        _stack(roots),
        _stack(rotations),
        fps,
        name=name,
        contacts=Contacts(tuple(points), _stack(known)) if points and len(known) == len(frames) else None,
        labels=_find_label_runs(labels),
        bone_offsets=offsets,
        source=source or _NO_SOURCE,
    )


def join_frames(motions: Sequence[Motion]) -> Motion:
    """Join the first frame of each motion into one motion, for example the frames from a stream.

    Examples
    --------
    >>> from marey.play import join_frames
    >>> stream = character.stream(marey.control.FollowDirection(0.0))
    >>> join_frames([stream.frame() for i in range(10)])
    <Motion 'walker': 10 frames at 30 Hz, 27 joints>
    """
    first = motions[0]
    points = () if first.contacts is None else first.contacts.points
    return stack_frames([take_frame(motion) for motion in motions], first.skeleton, first.fps, points, name=first.name)


def _stack(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Stack arrays along a new first axis."""
    return set_readonly(np.stack(arrays))


@lru_cache(maxsize=64)
def _make_contacts(points: tuple[ContactPoint, ...]) -> Contacts:
    """Return contacts with the given points and no frames; cached, so that points are checked only once."""
    return Contacts(points, np.zeros((0, len(points)), dtype=bool))


@lru_cache(maxsize=256)
def _label_frame(names: tuple[str, ...]) -> Labels:
    return Labels(tuple(Label(name, 0, 1) for name in names if name))


def _find_label_runs(labels: Sequence[tuple[str, ...]]) -> Labels:
    """Return one label for each run of consecutive frames that have the same name in `labels`, the names of each
    frame."""
    begun: dict[str, int] = {}
    runs: list[Label] = []
    for i, names in enumerate([*labels, ()]):
        for name in [each for each in begun if each not in names]:
            runs.append(Label(name, begun.pop(name), i))
        for name in filter(None, names):
            begun.setdefault(name, i)
    return Labels(tuple(runs))
