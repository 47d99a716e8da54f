"""Tables of synchronized loops, sampled once: the data that a blend tree reads during playback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from marey.clean import get_floor, move_to_floor
from marey.control.blend_tree_kernels import Loops
from marey.control.inertia_reel import ground_path, rotate_root_with_hips
from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.contacts import ContactPoint
from marey.core.kinematics import rotate_root
from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d
from marey.register.registration import RegistrationCurve

__all__ = ["LoopTable", "make_table", "sample_clip"]

# Samples in the table for each frame of the longest loop.
_ROWS = 2


@dataclass(frozen=True, slots=True, eq=False)
class LoopTable:
    """n loops, each sampled at M evenly spaced phases of their common cycle.

    rotations : (n, M, J, 4) local rotations of the J joints; joint 0 as if the character faced +Z.
    root : (n, M, 3) meters, position of joint 0 relative to the point on the ground below the hips.
    steps : (n, M, 3) motion on the floor (theta, x, z) from each sample to the next, in the character's own
        coordinates.
    seconds : (n, M) time from each sample to the next.
    contacts : (n, M, K) contact flags of the K `points`.
    bones : (n, M, J, 3) bone offsets in meters if any loop's bones change over time, else None.
    floor : floor height in meters.
    """

    skeleton: Skeleton
    fps: float
    rotations: Floats
    root: Floats
    steps: Floats
    seconds: Floats
    contacts: Bools
    points: tuple[ContactPoint, ...]
    bones: Floats | None
    floor: float

    @property
    def loops(self) -> Loops:
        """The arrays as the kernels take them."""
        return Loops(self.seconds, self.steps, self.rotations, self.root, self.contacts)

    @property
    def turn_rates(self) -> Floats:
        """(n,) mean turn rate of each loop over a cycle, rad/s, positive to the left."""
        return np.asarray(self.steps[..., 0].sum(axis=1) / self.seconds.sum(axis=1))

    @property
    def speeds(self) -> Floats:
        """(n,) mean speed of each loop along its path, m/s."""
        return np.asarray(np.linalg.norm(self.steps[..., 1:], axis=2).sum(axis=1) / self.seconds.sum(axis=1))


def make_table(reg: RegistrationCurve) -> LoopTable:
    """Sample the loops of a cyclic registration in sync."""
    if reg.loops is None:
        raise InvalidValue(
            "registration must be cyclic", parameter="registration", remedy="register the motions with `cyclic=True`"
        )
    floor = get_floor(reg.motions[0], 0.0)
    loops = [rotate_root_with_hips(move_to_floor(motion, floor)) for motion in reg.motions]
    n_rows = _ROWS * max(len(motion) for motion in loops)
    u = np.arange(n_rows + 1) / n_rows
    seconds = reg.timewarp(u)
    parts = [
        _sample_loop(loop, travel, seconds[:, j]) for j, (loop, travel) in enumerate(zip(loops, reg.loops, strict=True))
    ]
    rotations, root, steps, bones = (np.stack([part[k] for part in parts]) for k in range(4))
    points, contacts = _sample_contacts(loops, seconds[:-1])
    return LoopTable(
        skeleton=loops[0].skeleton,
        fps=reg.fps,
        rotations=set_readonly(_align_signs(rotations)),
        root=set_readonly(root),
        steps=set_readonly(steps),
        seconds=set_readonly(np.ascontiguousarray(np.diff(seconds, axis=0).T)),
        contacts=set_readonly(contacts),
        points=points,
        bones=None if all(loop.bone_offsets is None for loop in loops) else set_readonly(bones),
        floor=floor,
    )


def _sample_loop(loop: Motion, travel: Floats, seconds: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Sample a loop at times `seconds` (M + 1,): rotations (M, J, 4), root (M, 3), steps (M, 3) and bones (M, J, 3).

    travel : (3,) rigid2d of one cycle.
    """
    rotations, root, steps, bones = sample_clip(_repeat_loop(loop, travel), len(loop) / loop.fps + seconds)
    return rotations[:-1], root[:-1], steps, bones[:-1]


def sample_clip(motion: Motion, seconds: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Sample a motion at M times: rotations (M, J, 4), root (M, 3) and bones (M, J, 3) relative to the ground below the
    hips, and steps (M - 1, 3) of that ground point."""
    path = ground_path(motion)
    frames = seconds * motion.fps
    ground = np.stack([np.interp(frames, np.arange(len(path)), path[:, k]) for k in range(3)], axis=1)
    seen = motion.at(seconds)
    back = rigid2d.invert(ground)
    steps = rigid2d.compose(back[:-1], ground[1:])
    return rotate_root(seen.rotations, back), rigid2d.apply(back, seen.root_positions), steps, seen.frame_offsets


def _repeat_loop(loop: Motion, travel: Floats) -> Motion:
    """Extend a loop by one cycle before it and two after it, because interpolation must never reach an end."""
    twice = rigid2d.compose(travel, travel)
    parts = [loop.moved(rigid2d.invert(travel)), loop, loop.moved(travel), loop.moved(twice)]
    return replace(
        loop,
        root_positions=set_readonly(np.concatenate([part.root_positions for part in parts])),
        rotations=set_readonly(quat.unroll(np.concatenate([part.rotations for part in parts]))),
        bone_offsets=None
        if loop.bone_offsets is None
        else set_readonly(np.concatenate([loop.bone_offsets] * len(parts))),
        contacts=None,
        labels=Labels(),
        source=replace(loop.source, channel_values=None),
    )


def _align_signs(rotations: Floats) -> Floats:
    """Flip quaternion signs in (n, M, J, 4) to agree between rows and between loops, so vectors can be averaged."""
    for j in range(len(rotations)):
        rotations[j] = quat.unroll(rotations[j])
        flip = (rotations[j] * rotations[0]).sum(axis=(0, 2)) < 0.0
        rotations[j][:, flip] *= -1.0
    return rotations


def _sample_contacts(loops: Sequence[Motion], seconds: Floats) -> tuple[tuple[ContactPoint, ...], Bools]:
    having = [loop.contacts for loop in loops if loop.contacts is not None]
    points = having[0].points if having else ()
    mask = np.zeros((len(loops), len(seconds), len(points)), dtype=bool)
    for j, loop in enumerate(loops):
        if loop.contacts is None:
            continue
        frame = np.floor(seconds[:, j] * loop.fps + 0.5).astype(np.int64) % len(loop)
        for k, point in enumerate(points):
            if point.name in loop.contacts.names:
                mask[j, :, k] = loop.contacts.mask[frame, loop.contacts.index(point.name)]
    return points, mask
