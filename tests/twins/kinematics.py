"""Slow kinematics: one joint of one frame at a time, by matrices and by search."""

from __future__ import annotations

import math

import numpy as np


def matrix(quaternion):
    """Return the rotation matrix (3, 3) of a unit quaternion wxyz by the textbook formula."""
    w, x, y, z = quaternion
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def transform(quaternion, position):
    """Return the matrix (4, 4), parent from child."""
    out = np.eye(4)
    out[:3, :3] = matrix(quaternion)
    out[:3, 3] = position
    return out


def world_matrices(parents, offsets, root_position, rotations):
    """Return the matrices (J, 4, 4), world from joint, of one frame."""
    out = []
    for j, parent in enumerate(parents):
        if parent < 0:
            out.append(transform(rotations[j], root_position))
        else:
            out.append(out[parent] @ transform(rotations[j], offsets[j]))
    return np.array(out)


def motion_matrices(motion):
    """Return the matrices (F, J, 4, 4), world from joint, of every frame."""
    skeleton = motion.skeleton
    frames = []
    for f in range(len(motion)):
        offsets = skeleton.offsets if motion.bone_offsets is None else motion.bone_offsets[f]
        frames.append(world_matrices(skeleton.parents, offsets, motion.root_positions[f], motion.rotations[f]))
    return np.array(frames)


def turn(axis, angle):
    """Return the right-handed rotation matrix (3, 3) about an axis, by the series of Rodrigues."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def nearest_length(upper, lower, knee, hinge, distance, steps=720):
    """Return the limb length nearest to `distance` that rotating the knee about its hinge can give, and the rotation.
    Searches all angles, then ever finer around the best.
    """
    down = matrix(knee) @ lower

    def miss(angle):
        return abs(np.linalg.norm(upper + turn(hinge, angle) @ down) - distance)

    best, width = 0.0, math.pi
    while width > 1e-12:
        best = min((best + width * (2 * k / steps - 1) for k in range(steps + 1)), key=miss)
        width *= 4 / steps
    return np.linalg.norm(upper + turn(hinge, best) @ down), best
