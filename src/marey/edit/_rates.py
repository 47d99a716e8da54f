"""Poses with velocities, and offsets between poses."""

from __future__ import annotations

from dataclasses import dataclass, replace

from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.core.placement import set_travel, to_rotvec_rate
from marey.maths import quat


@dataclass(frozen=True, slots=True, eq=False)
class RatedPose:
    """One pose and its velocities.

    root, root_rate : (3,) position and velocity of the hips, meters and m/s. They describe the hips, not joint 0.
    rotations, turn_rate : (J, 4) local rotations, and (J, 3) angular velocities in rad/s in each joint's own axes.
    offsets, offset_rate : (J, 3) bone offsets in meters, and their rates in m/s.
    """

    root: Floats
    root_rate: Floats
    rotations: Floats
    turn_rate: Floats
    offsets: Floats
    offset_rate: Floats

    def ahead(self, seconds: float) -> RatedPose:
        """Extrapolate the pose by `seconds` at its current rates."""
        return RatedPose(
            self.root + seconds * self.root_rate,
            self.root_rate,
            quat.mul(self.rotations, quat.exp(seconds * self.turn_rate)),
            self.turn_rate,
            self.offsets + seconds * self.offset_rate,
            self.offset_rate,
        )

    def with_rates_from(self, other: RatedPose) -> RatedPose:
        """Return this pose with the rates of another."""
        return replace(self, root_rate=other.root_rate, turn_rate=other.turn_rate, offset_rate=other.offset_rate)


def pose_at(motion: Motion, frame: int, before: int, after: int) -> RatedPose:
    """Return the pose at `frame`, with its mean rates from frame `before` to frame `after`; zero if these are equal."""
    offsets = motion.frame_offsets
    seconds = (after - before) / motion.fps
    per_second = 0.0 if after == before else 1.0 / seconds
    travel = motion.travel
    turn = quat.log(quat.inv_mul(motion.rotations[before], motion.rotations[after]))
    return RatedPose(
        travel[frame],
        (travel[after] - travel[before]) * per_second,
        motion.rotations[frame],
        turn * per_second,
        offsets[frame],
        (offsets[after] - offsets[before]) * per_second,
    )


@dataclass(frozen=True, slots=True, eq=False)
class PoseOffset:
    """The offset from one pose to another, and from the rates of the one to the rates of the other.

    root : (3,) meters. rotations : (J, 3) rotation vectors in the joints' local axes, radians. offsets : (J, 3) bone
        offsets, meters.
    root_rate, rotations_rate, offsets_rate : the offsets of their rates, per second.
    """

    root: Floats
    root_rate: Floats
    rotations: Floats
    rotations_rate: Floats
    offsets: Floats
    offsets_rate: Floats


def offset_between(start: RatedPose, end: RatedPose) -> PoseOffset:
    """Return the offset that, added to `start`, gives `end` with its rates."""
    vectors = quat.log(quat.inv_mul(start.rotations, end.rotations))
    carried = quat.inv_rotate(quat.exp(vectors), start.turn_rate)
    return PoseOffset(
        end.root - start.root,
        end.root_rate - start.root_rate,
        vectors,
        to_rotvec_rate(vectors, end.turn_rate - carried),
        end.offsets - start.offsets,
        end.offset_rate - start.offset_rate,
    )


def add_offsets(motion: Motion, frames: slice, root: Floats, vectors: Floats, offsets: Floats) -> Motion:
    """Add offsets on some frames: `root` (n, 3) to the path of the hips, `vectors` (n, J, 3), `offsets` (n, J, 3)."""
    travel, rotations = motion.travel.copy(), motion.rotations.copy()
    travel[frames] += root
    rotations[frames] = quat.mul(rotations[frames], quat.exp(vectors))
    bones = None
    if motion.bone_offsets is not None:
        bones = motion.bone_offsets.copy()
        bones[frames] += offsets
    rotated = replace(
        motion, rotations=set_readonly(rotations), bone_offsets=None if bones is None else set_readonly(bones)
    )
    return set_travel(rotated, travel)
