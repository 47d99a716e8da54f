"""Slow twin of characters that follow planted feet: one frame and point at a time, by matrices and least squares."""

from __future__ import annotations

import numpy as np

from marey.maths import quat


def yaw(angle):
    """Return the matrix (2, 2) that rotates x, z by an angle about the vertical."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])


def points_from_root(skeleton, points, rotations):
    out = np.zeros((len(rotations), len(points), 3))
    for f, pose in enumerate(rotations):
        for k, point in enumerate(points):
            place = np.array(point.offset)
            joint = point.joint
            while joint > 0:
                place = skeleton.offsets[joint] + quat.rotate(pose[joint], place)
                joint = int(skeleton.parents[joint])
            out[f, k] = quat.rotate(pose[0], place)
    return out


def steps_of(points, moves):
    """Compute in the world: the character is moved along its path, and each step is rotated back to halfway."""
    out = np.zeros((len(points) - 1, points.shape[1], 2))
    for f, (turn, left, ahead) in enumerate(moves[:, :3]):
        for k in range(points.shape[1]):
            before = yaw(-0.5 * turn) @ points[f, k, [0, 2]]
            after = np.array([left, ahead]) + yaw(0.5 * turn) @ points[f + 1, k, [0, 2]]
            out[f, k] = after - before
    return out


def counts(levels):
    """Return the weight of each point from frame to frame, (F - 1, K)."""
    return np.clip(2.0 * np.minimum(levels[1:], levels[:-1]) - 1.0, 0.0, None)


def corrections(steps, wanted, levels):
    weights = counts(levels)
    total = (weights[..., None] * (wanted - steps)).sum(axis=1)
    return total / np.maximum(weights.sum(axis=1), 1.0)[:, None]


def carry(points, wanted, levels, give):
    """Return the rotation and shift of weighted least squares, frame by frame."""
    weights = counts(levels)
    place, heading = np.zeros(2), 0.0
    out = [np.zeros(3)]
    for f in range(len(points) - 1):
        w = weights[f]
        if w.sum() > 0.0:
            here, gone = points[f, :, [0, 2]].T, points[f + 1, :, [0, 2]].T
            missing = wanted[f] - (gone - here)
            middle = np.average(gone, axis=0, weights=w)
            mean = np.average(missing, axis=0, weights=w)
            around = gone - middle
            along = np.stack([around[:, 1], -around[:, 0]], axis=1)  # effect of a small turn to the left
            turn = (w * ((missing - mean) * along).sum(axis=1)).sum()
            turn /= (w * (along**2).sum(axis=1)).sum() + give * w.sum()
            turn *= min(w.sum(), 1.0)
            shift = middle + min(w.sum(), 1.0) * mean - yaw(turn) @ middle
            place, heading = place + yaw(heading) @ shift, heading + turn
        out.append(np.array([heading, *place]))
    return np.array(out)
