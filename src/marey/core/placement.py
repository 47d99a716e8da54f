"""Where a character stands, which way it faces, and functions that move it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.core.kinematics import World
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d

_ACROSS = (("left_upper_leg", "right_upper_leg"), ("left_upper_arm", "right_upper_arm"))


def find_left_axis(skeleton: Skeleton, positions: Floats) -> Floats:
    """(..., 3) unit, horizontal: the body's left, from positions (..., J, 3); +X if undefined.

    It averages hips and shoulders, because these rotate against each other in every step.
    """
    roles = skeleton.roles
    pairs = [pair for pair in _ACROSS if pair[0] in roles and pair[1] in roles] or _ACROSS[:1]
    left = np.zeros((*positions.shape[:-2], 3))
    for pair in pairs:
        left += _unit(positions[..., roles[pair[0]], :] - positions[..., roles[pair[1]], :])
    left = _unit(left)
    return np.where(np.any(left, axis=-1, keepdims=True), left, np.array([1.0, 0.0, 0.0]))


def _unit(across: Floats) -> Floats:
    """The normalized horizontal part; zero if there is none."""
    level = across * np.array([1.0, 0.0, 1.0])
    size = np.linalg.norm(level, axis=-1, keepdims=True)
    return np.where(size > 1e-9, level / np.maximum(size, 1e-9), 0.0)


def find_facing(skeleton: Skeleton, positions: Floats) -> Floats:
    """(F,) yaw in radians, continuous over the frames of positions (F, J, 3)."""
    left = find_left_axis(skeleton, positions)
    return np.unwrap(np.arctan2(-left[..., 2], left[..., 0]))


def bake_hips_into_root(motion: Motion, skeleton: Skeleton | None = None) -> Motion:
    """Move joint 0 instead of the hips: travel that is stored as moving hip offsets becomes travel of joint 0.

    `skeleton` replaces the motion's own skeleton and must have the same joints: files whose hips travel may have a
    different hip offset in every clip.
    """
    given = motion.skeleton
    body = given if skeleton is None else skeleton
    chain = list(body.chain(body.roles["hips"])[1:])
    offsets = motion.bone_offsets
    if offsets is not None and chain:
        offsets = offsets.copy()
        offsets[:, chain] = body.offsets[chain]
        if not np.abs(offsets[:, 1:] - body.offsets[1:]).any():
            offsets = None
    if body is given and (not chain or motion.bone_offsets is None):
        return motion
    moved = replace(motion, skeleton=body, bone_offsets=None if offsets is None else set_readonly(offsets))
    shift = motion.travel - moved.travel
    if not shift.any():
        return moved
    return replace(moved, root_positions=set_readonly(moved.root_positions + shift))


def set_travel(motion: Motion, travel: Floats) -> Motion:
    """The motion with its hips on another path, (F, 3) meters. Frames that do not move stay bit-identical."""
    return replace(motion, root_positions=set_readonly(motion.root_positions + (travel - motion.travel)))


def move_frames(motion: Motion, transforms: Floats) -> Motion:
    """Move each frame across the floor by its own transform, (F, 3) rigid2d."""
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.mul(rigid2d.to_quat(transforms), rotations[:, 0])
    return replace(
        motion,
        root_positions=set_readonly(rigid2d.apply(transforms, motion.root_positions)),
        rotations=set_readonly(rotations),
    )


def find_placement(skeleton: Skeleton, world: World, frame: int) -> Floats:
    """(3,) rigid2d of a frame: the position of the hips and the facing direction."""
    left = find_left_axis(skeleton, world.positions[frame])
    x, _, z = world.positions[frame, skeleton.roles["hips"]]
    return np.array([np.arctan2(-left[2], left[0]), x, z])


def check_same_skeleton(first: Skeleton, second: Skeleton, where: str) -> None:
    """Raise InvalidValue unless both skeletons have the same joints and bones."""
    if not first.fits(second):
        raise InvalidValue(
            f"{where} needs motions of one skeleton, got {len(first)} and {len(second)} joints or other names; "
            "retarget one of them first"
        )
    # Joints above the hips only determine where the hips start.
    below = np.ones(len(first), dtype=bool)
    below[list(first.chain(first.roles.get("hips", 0)))] = False
    apart = float(np.abs(first.offsets - second.offsets)[below].max(initial=0.0))
    if apart > 1e-3:
        raise InvalidValue(
            f"{where} needs motions of one skeleton, but bone offsets differ by {apart:.3g} m; retarget one first"
        )


def to_rotvec_rate(rotvec: Floats, rate: Floats) -> Floats:
    """The time derivative of a rotation vector (..., 3) whose frame has angular velocity `rate`.

    `rate` is in the rotated frame's own axes. Applies the inverse of the right Jacobian of the exponential map.
    """
    angle = np.linalg.norm(rotvec, axis=-1, keepdims=True)
    half = 0.5 * angle
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    factor = np.where(small, 1.0 / 12.0, (1.0 - half / np.tan(np.where(small, 1.0, half))) / safe**2)
    once = np.cross(rotvec, rate)
    return np.asarray(rate + 0.5 * once + factor * np.cross(rotvec, once))
