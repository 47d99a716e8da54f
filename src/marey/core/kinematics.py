"""Forward kinematics: from local rotations to world positions and rotations."""

from __future__ import annotations

import operator
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import ReferenceType, ref

import numpy as np

from marey.core.arrays import Floats, Ints, set_readonly
from marey.core.kinematics_kernels import forward, forward_pose
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import quat, rigid2d

# Maximum size of all cached world poses in bytes: about 70,000 frames of 31 joints.
_CACHE_BYTES = 128 * 1024**2
# Computing fewer frames is faster than a cache lookup.
_CACHE_FRAMES = 8


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """World poses of all joints: positions (F, J, 3) in meters, rotations (F, J, 4).

    Examples
    --------
    >>> world = walk.world()
    >>> world.positions.shape, world.rotations.shape
    ((241, 27, 3), (241, 27, 4))
    """

    positions: Floats
    rotations: Floats


class WorldCache:
    """Least-recently-used cache of forward kinematics, keyed by the identity of the (read-only) input arrays.

    Motions with the same poses, such as a motion and its copy with contacts, share one entry. The cache holds at most
    `max_bytes`; larger results are not cached. An entry is dropped when its rotation array is garbage-collected.
    Thread-safe.
    """

    def __init__(self, max_bytes: int = _CACHE_BYTES) -> None:
        self.max_bytes = max_bytes
        self.n_bytes = 0
        self._entries: OrderedDict[int, _Entry] = OrderedDict()
        self._lock = threading.RLock()  # garbage collection may drop an entry while this thread holds the lock

    def get(self, skeleton: Skeleton, root: Floats, rotations: Floats, bone_offsets: Floats | None) -> World:
        """Return `forward_kinematics` of the inputs, from the cache if possible."""
        if len(rotations) < _CACHE_FRAMES:
            return forward_kinematics(skeleton, root, rotations, bone_offsets)
        key = id(rotations)
        others = (skeleton.parents, skeleton.offsets, root, bone_offsets)
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.rotations() is rotations and all(map(operator.is_, entry.others, others)):
                self._entries.move_to_end(key)
                return entry.world
        world = forward_kinematics(skeleton, root, rotations, bone_offsets)
        size = world.positions.nbytes + world.rotations.nbytes
        if size <= self.max_bytes:
            with self._lock:
                self._drop(key)
                self._entries[key] = _Entry(ref(rotations, lambda _: self._drop(key)), others, world, size)
                self.n_bytes += size
                while self.n_bytes > self.max_bytes:
                    self._drop(next(iter(self._entries)))
        return world

    def _drop(self, key: int) -> None:
        with self._lock:
            entry = self._entries.pop(key, None)
            if entry is not None:
                self.n_bytes -= entry.size


class _Entry(NamedTuple):
    rotations: ReferenceType[Floats]
    others: tuple[Any, ...]
    world: World
    size: int


def forward_kinematics(
    skeleton: Skeleton, root_positions: Floats, rotations: Floats, bone_offsets: Floats | None = None
) -> World:
    """Compute the world positions and rotations of all joints, in all frames at once.

    Parameters
    ----------
    root_positions : (F, 3) meters.
    rotations : (F, J, 4) local unit quaternions, wxyz.
    bone_offsets : (F, J, 3) meters, or None for the skeleton's own offsets.

    Examples
    --------
    >>> world = marey.core.forward_kinematics(walk.skeleton, walk.root_positions, walk.rotations)
    >>> world.positions.shape  # frames, joints, xyz in meters
    (241, 27, 3)
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
    """Compute world positions (J, 3) and rotations (J, 4) for a single frame, for streams.

    Inputs are the root position (3,), local rotations (J, 4), and bone offsets (J, 3) or None for the skeleton's own.
    The caller may modify the results.

    Examples
    --------
    >>> positions, rotations = marey.core.pose_world(walk.skeleton, walk.root_positions[0], walk.rotations[0])
    >>> positions.shape, rotations.shape
    ((27, 3), (27, 4))
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
    """Compute the world path of one joint, (F, 3) meters, from the joint and its ancestors only."""
    chain = skeleton.chain(joint)
    position = root_positions
    rotation = rotations[:, chain[0]]
    for j in chain[1:]:
        offset = skeleton.offsets[j] if bone_offsets is None else bone_offsets[:, j]
        position = position + quat.rotate(rotation, offset)
        rotation = quat.mul(rotation, rotations[:, j])
    return position if len(chain) == 1 else set_readonly(position)


def to_local(world: Floats, parents: Ints) -> Floats:
    """Convert world rotations (F, J, 4) to local rotations."""
    local = world.copy()
    local[:, 1:] = quat.inv_mul(world[:, parents[1:]], world[:, 1:])
    return local


def rotate_root(rotations: Floats, transform: Floats) -> Floats:
    """Return local rotations (..., J, 4) of a pose that is moved across the floor by a rigid2d `transform` (..., 3)."""
    moved = rotations.copy()
    moved[..., 0, :] = quat.mul(rigid2d.to_quat(transform), rotations[..., 0, :])
    return moved


def chain_rotations(rotations: Floats, chain: Sequence[int]) -> Floats:
    """Compute the world rotation (F, 4) of the last joint of a chain from local rotations (F, J, 4)."""
    out = rotations[:, chain[0]]
    for joint in chain[1:]:
        out = quat.mul(out, rotations[:, joint])
    return out


def _check_input(values: Any, name: str, shape: tuple[int, ...]) -> Floats:
    """Return a C-contiguous array and check its shape, which the kernels do not."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != shape:
        raise InvalidValue(f"{name} must have shape {shape}, not {array.shape}")
    return array
