"""A motion: a skeleton's pose over time (Kovar 1.1.1)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.core.arrays import (
    Floats,
    FrozenRecord,
    check_fps,
    check_type,
    convert_array,
    freeze_array,
    interpolate,
    is_readonly,
    resolve_frames,
    set_readonly,
)
from marey.core.kinematics import World, WorldCache, joint_path, rotate_root
from marey.core.labels import Labels
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from marey.core.contacts import Contacts

# Tolerance for |q| = 1: looser than rounding errors, tighter than any visible error.
UNIT_TOLERANCE = 1e-6
# Times this close to a frame, in frames, are snapped to it.
_ON_FRAME = 1e-9
_TIMES = "seconds"
_worlds = WorldCache()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Motion(FrozenRecord):
    """F frames of a skeleton of J joints, sampled at a fixed rate.

    Parameters
    ----------
    skeleton : the joints.
    root_positions : (F, 3) world positions of joint 0, meters.
    rotations : (F, J, 4) local unit quaternions (child relative to parent), wxyz.
    fps : frames per second.
    name : name of the clip.
    contacts, labels : annotations of the same frames.
    bone_offsets : (F, J, 3) meters if bone offsets change over time, else None. Those of joint 0 are not used.
    source : the file it came from, and the edits since then.

    Examples
    --------
    >>> walk
    <Motion 'walk': 241 frames at 60 Hz, 27 joints>
    >>> walk.rotations.shape, walk.duration
    ((241, 27, 4), 4.0)
    >>> first = marey.Motion(walk.skeleton, walk.root_positions[:1], walk.rotations[:1], fps=60.0)
    >>> first.world().positions.shape
    (1, 27, 3)
    """

    skeleton: Skeleton
    root_positions: Floats
    rotations: Floats
    fps: float
    name: str = ""
    contacts: Contacts | None = None
    labels: Labels = field(default_factory=Labels)
    bone_offsets: Floats | None = None
    source: Source = field(default_factory=Source)

    def __post_init__(self) -> None:
        n_joints = len(check_type(self.skeleton, Skeleton, "skeleton"))
        check_type(self.labels, Labels, "labels")
        rotations = freeze_array(self.rotations, "rotations", (None, n_joints, 4), finite=False)
        n_frames = len(rotations)
        if n_frames == 0:
            raise InvalidValue("a motion needs at least one frame")
        squares = np.einsum("fjk,fjk->fj", rotations, rotations)
        if not max(squares.max() - 1.0, 1.0 - squares.min()) <= 2 * UNIT_TOLERANCE:
            freeze_array(rotations, "rotations", rotations.shape)  # raises a clearer error if they are not finite
            f, j = (int(i) for i in np.argwhere(np.abs(squares - 1.0) > 2 * UNIT_TOLERANCE)[0])
            raise InvalidValue(
                f"rotations must be unit quaternions; frame {f} of {self.skeleton.names[j]!r} has length "
                f"{np.sqrt(squares[f, j]):.6g}; normalize them first"
            )
        if self.contacts is not None:
            self._check_contacts(self.contacts, n_frames, n_joints)
        beyond = [label for label in self.labels if label.stop > n_frames]
        if beyond:
            raise InvalidValue(
                f"label {beyond[0].name!r} ends at frame {beyond[0].stop}, but the motion has only {n_frames} frames"
            )
        roots = freeze_array(self.root_positions, "root_positions", (n_frames, 3))
        self._put(rotations=rotations, root_positions=roots, fps=check_fps(self.fps))
        if self.bone_offsets is not None:
            self._freeze(bone_offsets=(n_frames, n_joints, 3))
        values = self.source.channel_values
        if values is not None and len(values) != n_frames:  # they no longer match the frames
            self._put(source=replace(self.source, channel_values=None))

    def _check_contacts(self, contacts: Contacts, n_frames: int, n_joints: int) -> None:
        if not hasattr(contacts, "points"):
            raise InvalidValue(f"contacts must be Contacts, not {type(contacts).__name__}", parameter="contacts")
        if len(contacts) != n_frames:
            raise InvalidValue(f"contacts must have as many frames as the motion ({n_frames}), not {len(contacts)}")
        for point in contacts.points:
            if point.joint >= n_joints:
                raise InvalidValue(
                    f"contact point {point.name!r} is on joint {point.joint}, but the skeleton has only "
                    f"{n_joints} joints"
                )

    def __len__(self) -> int:
        return len(self.rotations)

    def __repr__(self) -> str:
        return f"<Motion {self.name!r}: {len(self)} frames at {self.fps:g} Hz, {len(self.skeleton)} joints>"

    def _repr_html_(self) -> str:
        from marey.core.notebook import show_motion

        return show_motion(self)

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.fps

    def __getitem__(self, frames: slice | int) -> Motion:
        """Select frames: ``motion[a:b]`` is frames a to b with contacts and labels, ``motion[i]`` is one frame."""
        start, stop = resolve_frames(frames, len(self))
        return Motion._build_unchecked(
            self.skeleton,
            self.root_positions[start:stop],
            self.rotations[start:stop],
            self.fps,
            self.name,
            None if self.contacts is None else self.contacts.crop(start, stop),
            self.labels.crop(start, stop),
            None if self.bone_offsets is None else self.bone_offsets[start:stop],
            self.source.crop(start, stop),
        )

    def __iter__(self) -> Iterator[Motion]:
        return (self[i] for i in range(len(self)))

    def world(self) -> World:
        """Compute the world poses of all joints: `.positions` (F, J, 3) in meters, `.rotations` (F, J, 4).

        The result is cached and shared with copies of the motion that have the same poses, even if contacts, labels or
        names differ. The cache holds 128 MB for all motions, about 70,000 frames of 31 joints; longer motions are
        computed on each call.

        Examples
        --------
        >>> walk.world().positions[:, walk.skeleton.roles["head"]].shape
        (241, 3)
        """
        return _worlds.get(self.skeleton, self.root_positions, self.rotations, self.bone_offsets)

    @property
    def frame_offsets(self) -> Floats:
        """Bone offsets of every frame, (F, J, 3) meters; repeated for each frame if they are constant."""
        if self.bone_offsets is not None:
            return self.bone_offsets
        return np.broadcast_to(self.skeleton.offsets, (len(self), *self.skeleton.offsets.shape))

    @property
    def shared_offsets(self) -> Floats:
        """Bone offsets in meters: (1, J, 3) if they are constant, (F, J, 3) if they change over time."""
        return self.skeleton.offsets[None] if self.bone_offsets is None else self.bone_offsets

    @property
    def travel(self) -> Floats:
        """Position of the character: world path of the joint with the role hips, (F, 3) meters."""
        hips = self.skeleton.roles["hips"]
        return joint_path(self.skeleton, self.root_positions, self.rotations, hips, self.bone_offsets)

    def at(self, seconds: ArrayLike) -> Motion:
        """Return the pose at one or more times in seconds, as a Motion with one frame per time.

        Between frames, rotations are slerped and positions interpolated linearly (Kovar 1.1.1). The result has neither
        contacts nor labels.

        Examples
        --------
        >>> walk.at(1.255).rotations.shape
        (1, 27, 4)
        >>> len(walk.at([0.0, 0.5, 1.0]))
        3
        """
        times = freeze_array(np.atleast_1d(convert_array(seconds, _TIMES)), _TIMES, (None,))
        slack = 1e-9 * max(1.0, self.duration)
        if times.size == 0:
            raise InvalidValue("seconds must have at least one time, got none")
        if times.min() < -slack or times.max() > self.duration + slack:
            got = " to ".join(dict.fromkeys(f"{each:g}" for each in (times.min(), times.max())))
            raise InvalidValue(f"seconds must be from 0 to {self.duration:g} s, not {got} s")
        frame = np.clip(times * self.fps, 0.0, len(self) - 1)
        # Rounding may make i / fps * fps differ from i; the time of a frame must return exactly that frame.
        frame = np.where(np.abs(frame - np.rint(frame)) < _ON_FRAME, np.rint(frame), frame)
        before = frame.astype(np.int64)
        after = np.minimum(before + 1, len(self) - 1)
        rotations = quat.slerp(self.rotations[before], self.rotations[after], (frame - before)[:, None])
        bones = None if self.bone_offsets is None else set_readonly(interpolate(self.bone_offsets, frame))
        return replace(
            self,
            root_positions=set_readonly(interpolate(self.root_positions, frame)),
            rotations=set_readonly(rotations),
            bone_offsets=bones,
            contacts=None,
            labels=Labels(),
            source=replace(self.source, channel_values=None),
        )

    def moved(self, transform: ArrayLike) -> Motion:
        """Return the motion moved across the floor by `transform`, a rigid2d (theta, x, z) in radians and meters.

        Examples
        --------
        >>> there = walk.moved([np.pi / 2, 1.0, 0.0])  # turned to the left, and moved by 1 m
        >>> np.allclose(there.travel[:, 0], 1.0 + walk.travel[:, 2])
        True
        """
        return move_frames(self, freeze_array(transform, "transform", (3,)))


def wrap_frame(
    skeleton: Skeleton, root: Floats, rotations: Floats, fps: float, name: str, contacts: Contacts | None,
    labels: Labels, source: Source, bones: Floats | None = None,
) -> Motion:  # fmt: skip
    """Return a motion of one frame: `root` (3,), `rotations` (J, 4) and, if given, `bones` (J, 3), with annotations of
    one frame.

    This is equivalent to calling `Motion`, but faster; streams call it for every frame.
    """
    n_joints = len(skeleton)
    offsets = None if bones is None else bones[None]
    is_frozen = _is_frozen(root, (3,)) and _is_frozen(rotations, (n_joints, 4))
    is_frozen &= bones is None or (_is_frozen(bones, (n_joints, 3)) and bool(np.isfinite(bones).all()))
    if is_frozen and source.channel_values is None:
        squares = np.einsum("jk,jk->j", rotations, rotations).tolist()
        is_sound = all(map(math.isfinite, (*root.tolist(), *squares)))
        is_sound &= max(max(squares) - 1.0, 1.0 - min(squares)) <= 2 * UNIT_TOLERANCE
        if is_sound and (contacts is None or all(point.joint < n_joints for point in contacts.points)):
            rate = check_fps(fps)
            return Motion._build_unchecked(
                skeleton, root[None], rotations[None], rate, name, contacts, labels, offsets, source
            )
    return Motion(skeleton, root[None], rotations[None], fps, name, contacts, labels, offsets, source)


def _is_frozen(array: Floats, shape: tuple[int, ...]) -> bool:
    """Return whether a motion can hold the array without a copy."""
    return array.dtype == np.float64 and array.shape == shape and array.flags.c_contiguous and is_readonly(array)


def move_frames(motion: Motion, transforms: Floats) -> Motion:
    """Move each frame across the floor by its own rigid2d transform, (F, 3), or all frames by one, (3,)."""
    return replace(
        motion,
        root_positions=set_readonly(rigid2d.apply(transforms, motion.root_positions)),
        rotations=set_readonly(rotate_root(motion.rotations, transforms)),
    )


def check_motion(value: Any, what: str = "motion") -> Motion:
    """Return `value` if it is a Motion; anything else, such as the name of a file, raises InvalidValue.

    what : the name of the parameter, or a description for the message.
    """
    motion: Motion = check_type(value, Motion, what, remedy="load files with marey.load")
    return motion
