"""Damage clips as captures are damaged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marey import Motion
from marey.maths import quat
from marey.samples import sample


def clip(name: str, **parameters: object) -> Motion:
    """Return a sample without contacts and floor, as if loaded from a file."""
    motion = sample(name, **parameters).motion
    return replace(motion, contacts=None, source=replace(motion.source, floor=None))


def rotate_joint(motion: Motion, role: str, degrees: float, start: int, stop: int) -> Motion:
    rotations = motion.rotations.copy()
    joint = motion.skeleton.roles[role]
    rotations[start:stop, joint] = quat.mul(
        rotations[start:stop, joint], quat.from_axis_angle([0.0, 0.0, 1.0], np.radians(degrees))
    )
    return replace(motion, rotations=rotations)


def zero_pose(motion: Motion, start: int, stop: int) -> Motion:
    rotations = motion.rotations.copy()
    rotations[start:stop] = (1.0, 0.0, 0.0, 0.0)
    return replace(motion, rotations=rotations)


def tilt(motion: Motion, degrees: float, axis: tuple[float, float, float] = (1.0, 0.0, 0.0)) -> Motion:
    rotation = quat.from_axis_angle(axis, np.radians(degrees))
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.mul(rotation, rotations[:, 0])
    return replace(motion, rotations=rotations, root_positions=quat.rotate(rotation, motion.root_positions))


def add_noise(motion: Motion, meters: float, seed: int = 0) -> Motion:
    """Add noise along each axis of every joint: offsets and root move, as in a capture without a rigid skeleton."""
    rng = np.random.default_rng(seed)
    world = motion.world()
    noisy = world.positions + rng.normal(0.0, meters, world.positions.shape)
    offsets = np.zeros_like(noisy)
    parents = motion.skeleton.parents
    for j in range(1, len(motion.skeleton)):
        offsets[:, j] = quat.inv_rotate(world.rotations[:, parents[j]], noisy[:, j] - noisy[:, parents[j]])
    return replace(motion, root_positions=noisy[:, 0], bone_offsets=offsets)


def turn_upside_down(motion: Motion) -> Motion:
    """Turn the body upside down in every frame, on the same path."""
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.mul(quat.from_axis_angle([1.0, 0.0, 0.0], np.pi), rotations[:, 0])
    return replace(motion, rotations=rotations, contacts=None)
