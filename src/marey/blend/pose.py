"""Compute blended poses: sample the motions between frames, align them, and average (Kovar 5.3.3).

Rotations are averaged as 4-vectors in one hemisphere of the unit quaternions. Positions and orientations of the hips,
which need not be the root, are averaged in aligned world coordinates; the root (joint 0) is then placed accordingly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from marey.blend.pose_kernels import add_rotations, finish_rotations, sample_rotations
from marey.core.arrays import Floats, Ints, interpolate, set_readonly
from marey.core.kinematics import chain_rotations, joint_path
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import NotBlendable
from marey.maths import quat, rigid2d

__all__ = ["Strip", "Strips", "average_pose", "make_strips"]

# If the mean of unit quaternions is shorter than this, they cancel out.
_MIN_NORM = 1e-3
# Times this close to a frame, in frames, are snapped to it.
_ON_FRAME = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """N frames of one motion with J joints, starting at frame `first`.

    travel : (N, 3) positions of the hips, meters.
    rotations : (N, J, 4) local rotations, except for the hips, whose rotations are in world coordinates.
    offsets : (N, J, 3) or (1, J, 3) bone offsets, meters.
    """

    travel: Floats
    rotations: Floats
    offsets: Floats
    first: int
    fps: float

    def frames(self, seconds: Floats) -> Floats:
        """Convert times to fractional row numbers (F,) of the strip; exact integers at frame times."""
        at = seconds * self.fps - self.first
        nearest = np.rint(at)
        at = np.where(np.abs(at - nearest) < _ON_FRAME, nearest, at)
        return np.ascontiguousarray(np.clip(at, 0.0, len(self.rotations) - 1))

    def hips(self, frames: Floats) -> Floats:
        """Interpolate the hip positions (F, 3) linearly between frames."""
        return interpolate(self.travel, frames)

    def bones(self, frames: Floats) -> Floats:
        """Interpolate the bone offsets, (F, J, 3) or (1, J, 3)."""
        return self.offsets if len(self.offsets) == 1 else interpolate(self.offsets, frames)


Strips = tuple[Strip, ...]


def make_strips(motions: Sequence[Motion], seconds: Floats, loops: Floats | None) -> Strips:
    """Extract the frames of each motion needed at times `seconds` (F, n); loops are repeated as far as needed."""
    out = []
    for j, motion in enumerate(motions):
        low, high = 0, len(motion)
        if loops is not None:
            at = seconds[:, j] * motion.fps
            low, high = min(int(np.floor(at.min(initial=0.0))), 0), max(int(np.ceil(at.max(initial=0.0))) + 1, high)
        out.append(_make_strip(motion, low, high, None if loops is None else loops[j]))
    return tuple(out)


def _make_strip(motion: Motion, low: int, high: int, loop: Floats | None) -> Strip:
    offsets = motion.shared_offsets
    n, given = len(motion), _with_hips_in_world(motion)
    if loop is None or (low == 0 and high == n):
        return Strip(motion.travel, given, offsets, 0, motion.fps)
    frames = np.arange(low, high)
    row, rounds = frames % n, frames // n
    travel, rotations = motion.travel[row], given[row]
    free = _find_world_joints(motion.skeleton)
    for k in np.unique(rounds).tolist():
        there = rounds == k
        carried = rigid2d.power(loop, k)
        travel[there] = rigid2d.apply(carried, travel[there])
        for joint in free:
            rotations[there, joint] = quat.mul(rigid2d.to_quat(carried), rotations[there, joint])
    return Strip(travel, rotations, offsets if len(offsets) == 1 else offsets[row], low, motion.fps)


def _find_world_joints(skeleton: Skeleton) -> Ints:
    """Find the joints whose rotations are stored in world coordinates: the root and the hips, which may be the same."""
    return np.unique([0, skeleton.roles["hips"]])


def _with_hips_in_world(motion: Motion) -> Floats:
    """Return local rotations (F, J, 4), with those of the hips in world coordinates.

    If the root stands still while its descendant, the hips, rotates, the local hip rotations of two motions differ as
    much as their headings.
    """
    hips = motion.skeleton.roles["hips"]
    if hips == 0:
        return motion.rotations
    rotations = motion.rotations.copy()
    rotations[:, hips] = chain_rotations(motion.rotations, motion.skeleton.chain(hips))
    return set_readonly(rotations)


def average_pose(
    skeleton: Skeleton,
    read: Strips,
    rows: Sequence[Floats],
    alignments: Floats,
    weights: Floats,
    placed: Floats,
    anchor: int,
) -> tuple[Floats, Floats | None]:
    """Average rotations and bone offsets.

    Parameters
    ----------
    read, rows : the n motions, and for each the fractional row numbers (F,) to sample.
    alignments : (F, n, 3) rigid2d that align the motions.
    weights : (F, n) with sums of 1.
    placed : (F, 3) rigid2d that move the aligned frames to their place in the blend.
    anchor : index of the motion that defines the quaternion hemisphere for the others.

    Returns
    -------
    rotations (F, J, 4), and bone offsets (F, J, 3), or None if no motion has moving bones.
    """
    free = _find_world_joints(skeleton)
    shape = (len(weights), *read[0].rotations.shape[1:])
    side = np.empty(shape)
    sample_rotations(read[anchor].rotations, rows[anchor], free, _get_column(alignments, anchor), side)
    total, one = np.zeros(shape), np.empty(shape)
    for j, strip in enumerate(read):
        weight = np.ascontiguousarray(weights[:, j])
        if j == anchor:
            add_rotations(side, weight, side, total)
        elif weight.any():
            sample_rotations(strip.rotations, rows[j], free, _get_column(alignments, j), one)
            add_rotations(one, weight, side, total)
    shortest = finish_rotations(total, free, np.ascontiguousarray(placed[:, 0]))
    if shortest < _MIN_NORM:
        raise NotBlendable(
            "joint rotations of the motions differ so much that they cancel out with these weights; use "
            "weights closer to one motion"
        )
    hips = skeleton.roles["hips"]
    if hips != 0:
        above = chain_rotations(total, skeleton.chain(hips)[:-1])
        total[:, hips] = quat.inv_mul(above, total[:, hips])
    return total, _average_bones(read, rows, weights)


def _get_column(alignments: Floats, j: int) -> Floats:
    return np.ascontiguousarray(alignments[:, j, 0])


def _average_bones(read: Strips, rows: Sequence[Floats], weights: Floats) -> Floats | None:
    used = [j for j in range(len(read)) if weights[:, j].any()]
    if all(len(read[j].offsets) == 1 for j in used):
        return None
    return np.asarray(sum(weights[:, j, None, None] * read[j].bones(rows[j]) for j in used))


def place_root(motion: Motion, hips: Floats) -> Floats:
    """Compute root positions (F, 3) that put the hips of `motion` at positions (F, 3)."""
    joint = motion.skeleton.roles["hips"]
    if joint == 0:
        return hips
    nowhere = np.zeros_like(hips)
    return np.asarray(hips - joint_path(motion.skeleton, nowhere, motion.rotations, joint, motion.bone_offsets))
