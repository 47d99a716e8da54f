"""What a figure needs to know of a motion: which bones to draw in which color, where the floor is, who faces where."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from marey.clean import find_floor
from marey.core.arrays import Bools, Floats, Ints, check_index
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import quat

UP = np.array([0.0, 1.0, 0.0])
# A "bone" whose length changes by more than this share is the way from a resting root to the figure.
_NO_BONE = 0.5
# Share of the sideways line that has to be level before it tells where a body faces: not in a cartwheel.
_LEVEL = 0.35


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """F frames of a figure, ready to be drawn.

    positions : (F, J, 3) meters, heights above the floor.
    travel : (F, 3) meters, the hips' path; the middle of all joints where the hips are not known.
    heading : (F,) radians, 0 towards +Z, positive to the left, continuous; NaN where the body is not upright.
    bones : (B, 2) joints at both ends of each bone.
    sides : B times "left", "right" or "middle".
    in_head : (B,) bones that a drawn head hides.
    head : the head's joint and the one at its top (the same where there is none); None where not known.
    size : meters, about the figure's stature.
    floor : meters, the floor's height in the world.
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
        """The joints that are part of the body."""
        return np.unique(self.bones) if len(self.bones) else np.arange(self.positions.shape[1])


def see_body(motion: Motion) -> Body:
    """The body of a motion, whatever of it is known."""
    world = motion.world()
    roles = motion.skeleton.roles
    floor = floor_height(motion, world.positions)
    positions = world.positions - floor * UP
    travel = positions[:, roles["hips"]] if "hips" in roles else positions.mean(axis=1)
    heading = _heading(motion.skeleton, positions)
    if heading is None:  # without sides only changes are known: those of the root
        heading = np.unwrap(quat.twist_angle(world.rotations[:, 0], UP))
    bones = _bones(motion)
    skull = _below_head(motion.skeleton)
    sides = _sides(motion.skeleton)
    return Body(
        positions=positions,
        travel=travel,
        heading=heading,
        bones=bones,
        sides=tuple(sides[child] for _, child in bones.tolist()),
        in_head=np.isin(bones[:, 1], skull[1:]),
        head=_head(motion.skeleton, skull),
        size=_size(motion.skeleton, positions),
        floor=floor,
    )


def floor_height(motion: Motion, positions: Floats) -> float:
    """The floor's height in the world, meters: as set, else as the feet at rest tell, else under the lowest foot."""
    if motion.source.floor is not None:
        return motion.source.floor
    with suppress(InvalidValue):  # no feet, or none that comes to rest
        return find_floor(motion)
    roles = motion.skeleton.roles
    feet = [joint for role, joint in roles.items() if role.endswith(("foot", "ball", "toe_tip"))]
    lowest = positions[:, feet or slice(None), 1].min(axis=1)
    return float(np.percentile(lowest, 2.0))


def span(motion: Motion, start: int, stop: int | None) -> tuple[int, int]:
    """Checked half-open frames; `stop` None is the end."""
    first = check_index(start, "start")
    last = len(motion) if stop is None else check_index(stop, "stop")
    if not 0 <= first < last <= len(motion):
        raise InvalidValue(
            f"expected frames 0 <= start < stop <= {len(motion)} of {motion.name!r}, got {first} to {last}"
        )
    return first, last


def spans(
    motions: Motion | Sequence[Motion], start: int | Sequence[int], stop: int | Sequence[int] | None
) -> list[tuple[Motion, int, int]]:
    """Each of several motions with its checked frames; `start` and `stop` are for all, or one for each."""
    clips = [motions] if isinstance(motions, Motion) else list(motions)
    if not clips:
        raise InvalidValue("expected at least one motion to draw, got none")
    starts = list(start) if isinstance(start, Sequence) else [start] * len(clips)
    stops = list(stop) if isinstance(stop, Sequence) else [stop] * len(clips)
    if not len(starts) == len(stops) == len(clips):
        raise InvalidValue(
            f"expected one start and one stop for each of {len(clips)} motions, got {len(starts)} and {len(stops)}"
        )
    return [(clip, *span(clip, a, b)) for clip, a, b in zip(clips, starts, stops, strict=True)]


def forward(heading: float) -> Floats:
    """The unit vector on the floor towards which a heading points."""
    return np.array([np.sin(heading), 0.0, np.cos(heading)])


def mean_heading(heading: Floats) -> float | None:
    """The circular mean, radians; None where headings cancel out."""
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
    heading[known] = np.unwrap(np.arctan2(-across[known, 2], across[known, 0]))  # left times up is forward
    return heading


def _bones(motion: Motion) -> Ints:
    skeleton = motion.skeleton
    above: tuple[int, ...] = ()
    if "hips" in skeleton.roles:
        above = skeleton.chain(skeleton.roles["hips"])  # a root on the floor is no part of the body
    bones = [(int(skeleton.parents[j]), j) for j in range(1, len(skeleton)) if j not in above]
    if motion.bone_offsets is not None:
        lengths = np.linalg.norm(motion.bone_offsets, axis=2)
        shortest, longest = lengths.min(axis=0), lengths.max(axis=0)
        bones = [bone for bone in bones if shortest[bone[1]] >= (1.0 - _NO_BONE) * longest[bone[1]]]
    return np.array(bones, dtype=np.int64).reshape(-1, 2)


def _sides(skeleton: Skeleton) -> list[str]:
    """For each joint the side of the body that it is on; what hangs from a limb is on the limb's side."""
    side = ["middle"] * len(skeleton)
    for role, joint in skeleton.roles.items():
        if role.startswith(("left_", "right_")):
            side[joint] = role.split("_")[0]
    for j, parent in enumerate(skeleton.parents[1:].tolist(), start=1):
        if side[j] == "middle":
            side[j] = side[parent]
    return side


def _below_head(skeleton: Skeleton) -> list[int]:
    """The head's joint and all that hang from it; nothing where it is not known."""
    if "head" not in skeleton.roles:
        return []
    skull = [skeleton.roles["head"]]
    for j in range(skull[0] + 1, len(skeleton)):
        if int(skeleton.parents[j]) in skull:
            skull.append(j)
    return skull


def _head(skeleton: Skeleton, skull: list[int]) -> tuple[int, int] | None:
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
