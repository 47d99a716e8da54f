"""Find where a character is and which way it faces, and move it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey.core import placement_kernels
from marey.core.arrays import Bools, Floats, Ints, set_readonly
from marey.core.contacts import Contacts
from marey.core.kinematics import chain_rotations, joint_path
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.core.source import Source
from marey.errors import DifferentSkeletons, format_list
from marey.maths import quat

# Meters by which bones of the same body may differ because of rounding in files.
_SAME_BONE = 1e-3
# Height of the neck above the hips, as a fraction of their distance, below which a body is tilted.
_STEEP = 0.35
_ACROSS = (("left_upper_leg", "right_upper_leg"), ("left_upper_arm", "right_upper_arm"))


def find_left_axis(skeleton: Skeleton, positions: Floats) -> Floats:
    """Return the body's left as a horizontal unit vector (..., 3), from positions (..., J, 3); +X if undefined.

    Hips and shoulders are averaged, because they rotate against each other in every step.
    """
    joints = pair_joints(skeleton)
    flat = np.ascontiguousarray(positions).reshape(-1, *positions.shape[-2:])
    out = np.empty((len(flat), 3))
    placement_kernels.find_left_axes(flat, joints, out)
    return out.reshape(*positions.shape[:-2], 3)


def pair_joints(skeleton: Skeleton) -> Ints:
    """Return pairs of left and right joints (P, 2) whose connecting lines show the direction to the body's left."""
    roles = skeleton.roles
    pairs = [pair for pair in _ACROSS if pair[0] in roles and pair[1] in roles] or _ACROSS[:1]
    return np.array([(roles[left], roles[right]) for left, right in pairs])


def find_facing(skeleton: Skeleton, positions: Floats) -> Floats:
    """Return the facing direction as yaw (F,) in radians, continuous over the frames of positions (F, J, 3).

    While the body is upside down, as in a cartwheel, its left side points right, so the direction is interpolated from
    the last upright frame to the next one.
    """
    top, hips = _find_trunk(skeleton)
    facing = np.empty(len(positions))
    joints = pair_joints(skeleton)
    if placement_kernels.find_yaws(np.ascontiguousarray(positions), joints, hips, top, facing):
        return facing
    left = find_left_axis(skeleton, positions)
    yaw = np.arctan2(-left[..., 2], left[..., 0])
    upright = _find_upright(positions[:, top] - positions[:, hips])
    if upright.all():
        return np.unwrap(yaw)
    frames = np.flatnonzero(upright)
    return np.interp(np.arange(len(yaw)), frames, np.unwrap(yaw[frames]))


def _find_trunk(skeleton: Skeleton) -> tuple[int, int]:
    """Return the joints at the top of the trunk and at its bottom; the root twice if they are unknown."""
    roles = skeleton.roles
    top = next((roles[name] for name in ("neck", "head", "chest") if name in roles), None)
    return (0, 0) if top is None or "hips" not in roles else (top, roles["hips"])


def _find_upright(trunk: Floats) -> Bools:
    """Return a mask (F,) that is True where the body is upright, and False where it is upside down or tilts into or out
    of that pose.

    trunk : (F, 3) from the hips to the top of the trunk.
    """
    height = trunk[:, 1] / np.maximum(np.linalg.norm(trunk, axis=1), 1e-9)
    steep = height < _STEEP
    runs = np.cumsum(np.diff(steep, prepend=False))
    upside_down = np.unique(runs[height < 0.0])
    found = ~np.isin(runs, upside_down)
    return found if found.any() else np.ones(len(trunk), dtype=bool)


def bake_hips_into_root(motion: Motion, skeleton: Skeleton | None = None) -> Motion:
    """Convert hip travel to root travel: movement stored in varying hip offsets becomes movement of joint 0.

    `skeleton` replaces the motion's own skeleton and must have the same joints. It is needed because files with
    traveling hips may have a different hip offset in every clip.
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


def mix_frames(
    skeleton: Skeleton,
    first: tuple[Floats, Floats, Floats | None],
    second: tuple[Floats, Floats, Floats | None],
    alpha: Floats,
) -> tuple[Floats, Floats, Floats | None]:
    """Interpolate between two sets of F frames, each given as root positions (F, 3), local rotations (F, J, 4) and bone
    offsets (F, J, 3) or None.

    If a joint that stays in place carries the hips, hips with the same heading in the world may have very different
    local rotations. Therefore position and rotation of the hips are interpolated in the world, and those of joint 0
    follow.

    alpha : (F,) weights of `second`.
    """
    (roots, rotations, offsets), (other_roots, other_rotations, other_offsets) = first, second
    mixed = quat.slerp(rotations, other_rotations, alpha[:, None])
    bones = None
    if offsets is not None or other_offsets is not None:
        one = skeleton.offsets if offsets is None else offsets
        bones = one + alpha[:, None, None] * ((skeleton.offsets if other_offsets is None else other_offsets) - one)
    hips = skeleton.roles.get("hips", 0)
    if hips == 0:
        return roots + alpha[:, None] * (other_roots - roots), mixed, bones
    paths = [joint_path(skeleton, *frames[:2], hips, frames[2]) for frames in (first, second)]
    chain = skeleton.chain(hips)
    turned = quat.slerp(chain_rotations(rotations, chain), chain_rotations(other_rotations, chain), alpha)
    mixed[:, hips] = quat.inv_mul(chain_rotations(mixed, chain[:-1]), turned)
    origin = joint_path(skeleton, np.zeros_like(roots), mixed, hips, bones)
    return paths[0] + alpha[:, None] * (paths[1] - paths[0]) - origin, mixed, bones


def make_hips_root(motion: Motion) -> Motion:
    """Return the motion with the hips as joint 0, which some operations require; world poses stay the same.

    Joints that are not below the hips are removed: in some files, a joint that lies on the floor carries the body.
    """
    skeleton = motion.skeleton
    hips = skeleton.roles["hips"]
    if hips == 0:
        return motion
    kept = np.flatnonzero(skeleton.is_below(hips))
    index = {old: new for new, old in enumerate(kept.tolist())}
    offsets = skeleton.offsets[kept].copy()
    offsets[0] = 0.0
    body = Skeleton(
        tuple(skeleton.names[j] for j in kept),
        np.array([index.get(parent, -1) for parent in skeleton.parents[kept].tolist()]),
        offsets,
        {role: skeleton.names[joint] for role, joint in skeleton.roles.items() if joint in index},
    )
    world = motion.world()
    rotations = motion.rotations[:, kept].copy()
    rotations[:, 0] = world.rotations[:, hips]
    bones = None if motion.bone_offsets is None else motion.bone_offsets[:, kept].copy()
    if bones is not None:
        bones[:, 0] = 0.0
        bones = bones if (bones != offsets).any() else None
    contacts = motion.contacts
    if contacts is not None:
        columns = [k for k, point in enumerate(contacts.points) if point.joint in index]
        points = tuple(replace(contacts.points[k], joint=index[contacts.points[k].joint]) for k in columns)
        contacts = Contacts(points, contacts.mask[:, columns])
    return replace(
        motion,
        skeleton=body,
        root_positions=world.positions[:, hips],
        rotations=rotations,
        bone_offsets=bones,
        contacts=contacts,
        source=Source(
            path=motion.source.path,
            format=motion.source.format,
            fps=motion.source.fps,
            floor=motion.source.floor,
            provenance=motion.source.provenance,
        ),
    )


def set_travel(motion: Motion, travel: Floats) -> Motion:
    """Move the hips to another path, (F, 3) meters. Frames that do not move stay bit-identical."""
    return replace(motion, root_positions=set_readonly(motion.root_positions + (travel - motion.travel)))


def find_placement(motion: Motion, frame: int) -> Floats:
    """Return the placement of the character in a frame as rigid2d (theta, x, z): facing direction in radians, hip
    position in meters."""
    return pose_placement(motion.skeleton, motion[frame].world().positions[0])


def pose_placement(skeleton: Skeleton, positions: Floats) -> Floats:
    """Return the placement of a pose with world positions (J, 3), as `find_placement` does."""
    left = find_left_axis(skeleton, positions)
    x, _, z = positions[skeleton.roles["hips"]]
    return np.array([np.arctan2(-left[2], left[0]), x, z])


RETARGET = "retarget them onto one skeleton with `retarget=True`"
"""Remedy for motions of different skeletons, where the caller has the option `retarget`."""
RETARGET_FIRST = "retarget them onto one skeleton first"
"""Remedy for motions of different skeletons, where the caller has no such option."""


def check_same_skeleton(first: Skeleton, second: Skeleton, where: str, remedy: str = RETARGET_FIRST) -> None:
    """Raise InvalidValue unless both skeletons have the same joints and bones.

    where : name of the operation, for the message. remedy : what to do.
    """
    difference = find_skeleton_difference(first, second)
    if difference:
        raise DifferentSkeletons(
            f"{where} needs motions that share a skeleton, but they have {difference}",
            remedy=remedy,
        )


def find_skeleton_difference(first: Skeleton, second: Skeleton) -> str:
    """Describe how the joints or bones of two skeletons differ; empty if they do not."""
    if not first.fits(second):
        return f"different skeletons: {_describe_joints(first, second)}"
    apart = np.linalg.norm(first.offsets - second.offsets, axis=1)
    # Offsets from the root to the hips only determine where the hips start.
    apart[list(first.chain(first.roles.get("hips", 0)))] = 0.0
    if apart.max() <= _SAME_BONE:
        return ""
    worst = np.argsort(-apart)[: int((apart > _SAME_BONE).sum())]
    bones = [f"{first.names[j]!r} by {100 * apart[j]:.1f} cm" for j in worst]
    return f"different proportions: offsets differ at {format_list(bones, 4)}"


def _describe_joints(first: Skeleton, second: Skeleton) -> str:
    parts = []
    for mine, other, which in ((first, second, "first"), (second, first, "second")):
        only = [repr(name) for name in mine.names if name not in other.names]
        if only:
            parts.append(f"only the {which} has {format_list(only, 3)}")
    if parts:
        return ", ".join(parts)
    moved = [repr(name) for name in first.names if _get_parent_name(first, name) != _get_parent_name(second, name)]
    return f"{format_list(moved)} have different parents" if moved else "their joints are in a different order"


def _get_parent_name(skeleton: Skeleton, name: str) -> str | None:
    parent = int(skeleton.parents[skeleton.index(name)])
    return None if parent < 0 else skeleton.names[parent]


def to_rotvec_rate(rotvec: Floats, rate: Floats) -> Floats:
    """Return the time derivative of a rotation vector (..., 3), given the angular velocity `rate` (..., 3).

    `rate` is in the rotated frame's own axes. This applies the inverse of the right Jacobian of the exponential map.
    """
    angle = np.linalg.norm(rotvec, axis=-1, keepdims=True)
    half = 0.5 * angle
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    factor = np.where(small, 1.0 / 12.0, (1.0 - half / np.tan(np.where(small, 1.0, half))) / safe**2)
    once = np.cross(rotvec, rate)
    return np.asarray(rate + 0.5 * once + factor * np.cross(rotvec, once))
