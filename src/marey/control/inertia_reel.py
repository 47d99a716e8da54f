"""Clips concatenated into plain arrays, for players that read frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from marey.clean import get_floor, move_to_floor
from marey.core.annotations import join_contacts
from marey.core.arrays import Bools, Floats, Ints, set_readonly
from marey.core.clips import name_clip, prepare_clips
from marey.core.contacts import ContactPoint
from marey.core.motion import Motion
from marey.core.placement import bake_hips_into_root, find_facing
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import filters, quat

# Seconds: standard deviation of the Gaussian filter that removes the sway of each step from the heading.
_SWAY = 0.12


@dataclass(frozen=True, slots=True, eq=False)
class Reel:
    """The frames of C clips of one character, concatenated into N rows.

    skeleton, fps : shared by all clips. names : names of the clips.
    borders : (C + 1,) first row of each clip, then N.
    root : (N, 3) position of joint 0, meters. rotations : (N, J, 4) local rotations; joint 0 rotates with the hips.
    root_rate, turn_rate : velocities toward the next frame, (N, 3) m/s and (N, J, 3) rad/s in the joints' own axes.
    ground : (N, 3) rigid2d: heading of the character without step sway, and position of the hips on the floor.
    contacts : (N, K) contact flags of the K `points`.
    bones : (N, J, 3) bone offsets in meters if any clip's bones change over time, else None.
    floor : floor height in meters, the same for all clips.
    """

    skeleton: Skeleton
    fps: float
    names: tuple[str, ...]
    borders: Ints
    root: Floats
    rotations: Floats
    root_rate: Floats
    turn_rate: Floats
    ground: Floats
    contacts: Bools
    points: tuple[ContactPoint, ...]
    bones: Floats | None
    floor: float

    def __len__(self) -> int:
        return len(self.root)

    def find_clip(self, row: int) -> int:
        """Return the index of the clip that contains a row."""
        return int(np.searchsorted(self.borders, row, side="right")) - 1

    def last_row(self, row: int) -> int:
        """Return the last row of the clip that contains a row."""
        return int(self.borders[self.find_clip(row) + 1]) - 1

    def motion(self) -> Motion:
        """Return all frames as one motion. The character jumps at the end of each clip."""
        return Motion(self.skeleton, self.root, self.rotations, self.fps, bone_offsets=self.bones)


def make_reel(motions: Sequence[Motion]) -> Reel:
    """Concatenate clips of one character.

    The clips are resampled to one frame rate and moved to one floor height. Contacts are detected in clips that have
    none.
    """
    ready = tuple(rotate_root_with_hips(motion) for motion in _prepare_clips(motions))
    floor = get_floor(ready[0], 0.0)
    ready = tuple(move_to_floor(motion, floor) for motion in ready)
    joined = join_contacts([(motion.contacts, len(motion)) for motion in ready])
    n = sum(len(motion) for motion in ready)
    rates = [_compute_rates(motion) for motion in ready]
    return Reel(
        skeleton=ready[0].skeleton,
        fps=ready[0].fps,
        names=tuple(name_clip(motion, k).strip("'") for k, motion in enumerate(ready)),
        borders=np.concatenate([[0], np.cumsum([len(motion) for motion in ready])]),
        root=set_readonly(np.concatenate([motion.root_positions for motion in ready])),
        rotations=set_readonly(np.concatenate([motion.rotations for motion in ready])),
        root_rate=set_readonly(np.concatenate([rate for rate, _ in rates])),
        turn_rate=set_readonly(np.concatenate([turn for _, turn in rates])),
        ground=set_readonly(np.concatenate([ground_path(motion) for motion in ready])),
        contacts=set_readonly(np.zeros((n, 0), dtype=bool)) if joined is None else joined.mask,
        points=() if joined is None else joined.points,
        bones=_bones(ready),
        floor=floor,
    )


def rotate_root_with_hips(motion: Motion) -> Motion:
    """Move the rotation of the hips to joint 0, and leave the joints in between unrotated; the poses do not change.

    Otherwise, if the hips rotate under a fixed joint 0, moving the character would rotate the two against each other.
    """
    given = bake_hips_into_root(motion)
    skeleton = given.skeleton
    chain = skeleton.chain(skeleton.roles["hips"])
    if len(chain) == 1:
        return given
    world = given.world().rotations
    rotations = given.rotations.copy()
    hips = world[:, chain[-1]]
    rotations[:, chain[0]] = hips
    rotations[:, list(chain[1:])] = quat.identity()
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in chain[:-1] and joint not in chain:
            rotations[:, joint] = quat.inv_mul(hips, world[:, joint])
    turned = replace(given, rotations=set_readonly(rotations))
    return replace(turned, root_positions=set_readonly(given.root_positions + (given.travel - turned.travel)))


def ground_path(motion: Motion) -> Floats:
    """Return (F, 3) rigid2d: heading of the character without step sway, and position of the hips on the floor."""
    world = motion.world().positions
    hips = world[:, motion.skeleton.roles["hips"]]
    yaw = filters.gaussian(find_facing(motion.skeleton, world), _SWAY * motion.fps)
    return np.stack([yaw, hips[:, 0], hips[:, 2]], axis=1)


def _prepare_clips(motions: Sequence[Motion]) -> tuple[Motion, ...]:
    from marey.clean import detect_contacts

    ready = prepare_clips(motions, "a stream", detect=detect_contacts, bake_hips=False).motions
    for k, motion in enumerate(ready):
        if len(motion) < 2:
            raise InvalidValue(f"{name_clip(motion, k)} has one frame, but a stream needs clips of at least 2 frames")
    return ready


def _bones(motions: Sequence[Motion]) -> Floats | None:
    if all(motion.bone_offsets is None for motion in motions):
        return None
    return set_readonly(np.concatenate([motion.frame_offsets for motion in motions]))


def _compute_rates(motion: Motion) -> tuple[Floats, Floats]:
    root = np.diff(motion.root_positions, axis=0) * motion.fps
    turn = quat.log(quat.inv_mul(motion.rotations[:-1], motion.rotations[1:])) * motion.fps
    return np.concatenate([root, root[-1:]]), np.concatenate([turn, turn[-1:]])
