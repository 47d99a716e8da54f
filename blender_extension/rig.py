"""From world poses of joints (Y up) to bones of an armature (Z up). Only NumPy, so that it can be tested anywhere."""

from __future__ import annotations

import numpy as np

# Columns are marey's axes in Blender: X stays, Y up becomes Z, Z becomes -Y.
AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
_SHORTEST = 0.02  # meters; Blender removes bones without length


def to_matrices(rotations: np.ndarray) -> np.ndarray:
    """Convert quaternions (..., 4), w x y z, to matrices (..., 3, 3)."""
    w, x, y, z = np.moveaxis(np.asarray(rotations, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def find_rest(parents: tuple[int, ...], positions: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """Return the positions (J, 3) of the joints in the rest pose, in Blender's axes, from one world pose."""
    matrices = to_matrices(rotations)
    rest = np.zeros((len(parents), 3))
    for joint, parent in enumerate(parents):
        if parent >= 0:
            rest[joint] = rest[parent] + matrices[parent].T @ (positions[joint] - positions[parent])
    return rest @ AXES.T


def find_tails(parents: tuple[int, ...], rest: np.ndarray) -> np.ndarray:
    """Return where each bone ends (J, 3): at the mean of its children, or a little further for the last of a chain."""
    tails = np.empty_like(rest)
    for joint, parent in enumerate(parents):
        children = [k for k, other in enumerate(parents) if other == joint]
        tail = rest[children].mean(axis=0) if children else rest[joint]
        if np.linalg.norm(tail - rest[joint]) < _SHORTEST:
            along = rest[joint] - rest[parent] if parent >= 0 else np.zeros(3)
            size = np.linalg.norm(along)
            tail = rest[joint] + (0.3 * along if size > _SHORTEST / 0.3 else np.array([0.0, 0.0, 2 * _SHORTEST]))
        tails[joint] = tail
    return tails


def find_basis(
    parents: tuple[int, ...], bones: np.ndarray, rest: np.ndarray, positions: np.ndarray, rotations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose of each bone relative to its rest pose: rotations (J, 3, 3) and locations (J, 3).

    Parameters
    ----------
    bones : (J, 3, 3) rest orientation of each bone in the armature.
    rest : (J, 3) rest position of each joint, in Blender's axes.
    positions, rotations : (J, 3) and (J, 4), a world pose with Y up.
    """
    world = AXES @ to_matrices(rotations) @ AXES.T @ bones
    heads = positions @ AXES.T
    turns, moves = np.empty_like(world), np.empty_like(heads)
    for joint, parent in enumerate(parents):
        if parent < 0:
            still, place = bones[joint], rest[joint]
            turned = world[joint]
        else:
            still, turned = bones[parent].T @ bones[joint], world[parent].T @ world[joint]
            # Where the joint would be if only rotations changed; the difference is a change of the bone's length.
            place = heads[parent] + world[parent] @ bones[parent].T @ (rest[joint] - rest[parent])
        turns[joint] = still.T @ turned
        unturned = bones[joint] if parent < 0 else world[parent] @ still
        moves[joint] = unturned.T @ (heads[joint] - place)
    return turns, moves
