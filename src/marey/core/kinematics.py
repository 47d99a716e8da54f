"""Forward kinematics: from local rotations to joints in the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.core.kinematics_kernels import forward, forward_pose
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import quat


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Joints in the world: positions (F, J, 3) meters, rotations (F, J, 4)."""

    positions: Floats
    rotations: Floats


def forward_kinematics(
    skeleton: Skeleton, root_positions: Floats, rotations: Floats, bone_offsets: Floats | None = None
) -> World:
    """All frames at once.

    Parameters
    ----------
    root_positions : (F, 3) meters.
    rotations : (F, J, 4) local unit quaternions.
    bone_offsets : (F, J, 3) meters, or None for the skeleton's own offsets.
    """
    n_joints = len(skeleton)
    n_frames = len(rotations)
    local = _check_input(rotations, "rotations", (n_frames, n_joints, 4))
    root = _check_input(root_positions, "root_positions", (n_frames, 3))
    if bone_offsets is None:
        offsets = skeleton.offsets[None]
    else:
        offsets = _check_input(bone_offsets, "bone_offsets", (n_frames, n_joints, 3))
    positions = np.empty((n_frames, n_joints, 3))
    world_rotations = np.empty((n_frames, n_joints, 4))
    forward(skeleton.parents, offsets, root, local, positions, world_rotations)
    return World(set_readonly(positions), set_readonly(world_rotations))


def pose_world(
    skeleton: Skeleton, root_position: Floats, rotations: Floats, bone_offsets: Floats | None = None
) -> tuple[Floats, Floats]:
    """One frame, for streams: (3,), (J, 4) and (J, 3) in; positions (J, 3) and rotations (J, 4) out.

    The caller may modify the results.
    """
    n_joints = len(skeleton)
    local = _check_input(rotations, "rotations", (n_joints, 4))
    root = _check_input(root_position, "root_position", (3,))
    offsets = skeleton.offsets
    if bone_offsets is not None:
        offsets = _check_input(bone_offsets, "bone_offsets", (n_joints, 3))
    positions, world_rotations = np.empty((n_joints, 3)), np.empty((n_joints, 4))
    forward_pose(skeleton.parents, offsets, root, local, positions, world_rotations)
    return positions, world_rotations


def joint_path(
    skeleton: Skeleton,
    root_positions: Floats,
    rotations: Floats,
    joint: int,
    bone_offsets: Floats | None = None,
) -> Floats:
    """World path of one joint, (F, 3) meters, computed only from the joints above it."""
    chain = skeleton.chain(joint)
    position = root_positions
    rotation = rotations[:, chain[0]]
    for j in chain[1:]:
        offset = skeleton.offsets[j] if bone_offsets is None else bone_offsets[:, j]
        position = position + quat.rotate(rotation, offset)
        rotation = quat.mul(rotation, rotations[:, j])
    return position if len(chain) == 1 else set_readonly(position)


def _check_input(values: Any, name: str, shape: tuple[int, ...]) -> Floats:
    """A C-contiguous array of the right shape; kernels do not check it."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise InvalidValue(f"{name} must have shape {shape}, got {array.shape}")
    return array
