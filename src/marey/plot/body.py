"""Reduce a motion to what a plot needs: bones and their colors, floor height, path and heading."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from marey.clean import find_floor
from marey.core.annotations import check_frames
from marey.core.arrays import Bools, Floats, Ints
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import quat

UP = np.array([0.0, 1.0, 0.0])
# If the distance from a joint to its parent changes by more than this fraction, no bone is drawn between them: the
# parent is probably a root that stays in place while the body moves.
_NO_BONE = 0.5
# Minimum horizontal fraction of the line from right to left side that defines a heading; in a cartwheel, it is lower.
_LEVEL = 0.35


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """F frames of a character with J joints and B bones, ready to be drawn.

    positions : (F, J, 3) meters; heights are above the floor.
    travel : (F, 3) meters, path of the hips; the center of all joints if no joint has the hips role.
    heading : (F,) radians, 0 toward +Z, positive to the left, continuous; NaN in frames in which the body is not
        upright.
    bones : (B, 2) joints at both ends of each bone.
    sides : "left", "right" or "middle" for each bone.
    in_head : (B,) bones that the drawn head hides.
    head : head joint and the joint at the top of the head (the same joint if there is none); None if unknown.
    size : approximate stature in meters.
    floor : height of the floor in world coordinates, meters.
    """

    positions: Floats
    travel: Floats
    heading: Floats
    bones: Ints
    sides: tuple[str, ...]
    in_head: Bools
    head: tuple[int, int] | None
    size: float
    floor: float

    @property
    def joints(self) -> Ints:
        """Joints that are part of the body."""
        return np.unique(self.bones) if len(self.bones) else np.arange(self.positions.shape[1])


def extract_body(motion: Motion) -> Body:
    """Extract the body of a motion, using the roles that are known."""
    world = motion.world()
    roles = motion.skeleton.roles
    floor = floor_height(motion, world.positions)
    positions = world.positions - floor * UP
    travel = positions[:, roles["hips"]] if "hips" in roles else positions.mean(axis=1)
    heading = _heading(motion.skeleton, positions)
    if heading is None:  # without left and right, use the rotation of the root, which shows only changes
        heading = np.unwrap(quat.twist_angle(world.rotations[:, 0], UP))
    bones = _bones(motion)
    skull = _below_head(motion.skeleton)
    sides = _find_sides(motion.skeleton)
    return Body(
        positions=positions,
        travel=travel,
        heading=heading,
        bones=bones,
        sides=tuple(sides[child] for _, child in bones.tolist()),
        in_head=np.isin(bones[:, 1], skull[1:]),
        head=_find_head(motion.skeleton, skull),
        size=_size(motion.skeleton, positions),
        floor=floor,
    )


def floor_height(motion: Motion, positions: Floats) -> float:
    """Return the floor's height in meters: as set, else detected from resting feet, else the lowest foot position."""
    if motion.source.floor is not None:
        return motion.source.floor
    with suppress(InvalidValue):  # no feet, or none that comes to rest
        return find_floor(motion)
    roles = motion.skeleton.roles
    feet = [joint for role, joint in roles.items() if role.endswith(("foot", "ball", "toe_tip"))]
    lowest = positions[:, feet or slice(None), 1].min(axis=1)
    return float(np.percentile(lowest, 2.0))


def spans(
    motions: Motion | Sequence[Motion], start: int | Sequence[int], stop: int | Sequence[int] | None
) -> list[tuple[Motion, int, int]]:
    """Pair each motion with its validated frames; `start` and `stop` are one value for all, or one per motion."""
    clips = [motions] if isinstance(motions, Motion) else list(motions)
    if not clips:
        raise InvalidValue("motions must contain at least one motion to draw")
    starts = list(start) if isinstance(start, Sequence) else [start] * len(clips)
    stops = list(stop) if isinstance(stop, Sequence) else [stop] * len(clips)
    if not len(starts) == len(stops) == len(clips):
        raise InvalidValue(
            f"start and stop must have one entry for each of {len(clips)} motions, not {len(starts)} and {len(stops)}"
        )
    return [(clip, *check_frames(clip, a, b)) for clip, a, b in zip(clips, starts, stops, strict=True)]


def forward(heading: float) -> Floats:
    """Return the unit vector on the floor that a heading points to."""
    return np.array([np.sin(heading), 0.0, np.cos(heading)])


def mean_heading(heading: Floats) -> float | None:
    """Compute the circular mean in radians; None if the headings cancel out."""
    known = heading[np.isfinite(heading)]
    if not known.size:
        return None
    x, z = np.sin(known).mean(), np.cos(known).mean()
    return float(np.arctan2(x, z)) if np.hypot(x, z) > 0.5 else None


def _heading(skeleton: Skeleton, positions: Floats) -> Floats | None:
    roles = skeleton.roles
    across = np.zeros((len(positions), 3))
    for part in ("upper_leg", "upper_arm"):
        if f"left_{part}" in roles and f"right_{part}" in roles:
            across += positions[:, roles[f"left_{part}"]] - positions[:, roles[f"right_{part}"]]
    length = np.linalg.norm(across, axis=1)
    if not length.any():
        return None
    level = np.hypot(across[:, 0], across[:, 2])
    known = level > _LEVEL * np.maximum(length, 1e-9)
    heading = np.full(len(positions), np.nan)
    heading[known] = np.unwrap(np.arctan2(-across[known, 2], across[known, 0]))  # left x up is forward
    return heading


def _bones(motion: Motion) -> Ints:
    skeleton = motion.skeleton
    if len(skeleton) > 3 and not skeleton.parents[1:].any():  # all joints are children of the root, as for markers
        return np.zeros((0, 2), dtype=np.int64)
    above: tuple[int, ...] = ()
    if "hips" in skeleton.roles:
        above = skeleton.chain(skeleton.roles["hips"])  # a root on the floor is not part of the body
    bones = [(int(skeleton.parents[j]), j) for j in range(1, len(skeleton)) if j not in above]
    if motion.bone_offsets is not None:
        lengths = np.linalg.norm(motion.bone_offsets, axis=2)
        shortest, longest = lengths.min(axis=0), lengths.max(axis=0)
        bones = [bone for bone in bones if shortest[bone[1]] >= (1.0 - _NO_BONE) * longest[bone[1]]]
    return np.array(bones, dtype=np.int64).reshape(-1, 2)


def _find_sides(skeleton: Skeleton) -> list[str]:
    """Find the side of the body that each joint is on; descendants of a limb are on the limb's side."""
    side = ["middle"] * len(skeleton)
    for role, joint in skeleton.roles.items():
        if role.startswith(("left_", "right_")):
            side[joint] = role.split("_")[0]
    for j, parent in enumerate(skeleton.parents[1:].tolist(), start=1):
        if side[j] == "middle":
            side[j] = side[parent]
    return side


def _below_head(skeleton: Skeleton) -> list[int]:
    """Collect the head joint and its descendants; empty if no joint has the head role."""
    if "head" not in skeleton.roles:
        return []
    skull = [skeleton.roles["head"]]
    for j in range(skull[0] + 1, len(skeleton)):
        if int(skeleton.parents[j]) in skull:
            skull.append(j)
    return skull


def _find_head(skeleton: Skeleton, skull: list[int]) -> tuple[int, int] | None:
    if not skull:
        return None
    rest = skeleton.rest_positions
    return skull[0], max(skull, key=lambda j: float(np.linalg.norm(rest[j] - rest[skull[0]])))


def _size(skeleton: Skeleton, positions: Floats) -> float:
    roles = skeleton.roles
    legs = [
        np.linalg.norm(positions[0, roles[f"{side}_{a}"]] - positions[0, roles[f"{side}_{b}"]])
        for side in ("left", "right")
        for a, b in (("upper_leg", "lower_leg"), ("lower_leg", "foot"))
        if f"{side}_{a}" in roles and f"{side}_{b}" in roles
    ]
    if legs:
        return float(np.mean(legs)) * 4.2
    return float(np.ptp(positions[0], axis=0).max()) or 1.0
