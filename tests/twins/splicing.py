"""Slow twins of the kernels of `marey.layer`."""

import numpy as np
from scipy.spatial.transform import Rotation

from marey.layer.halves import split_body


def rotation(q):
    """Return a quaternion wxyz as SciPy's rotation."""
    return Rotation.from_quat(np.roll(q, -1))


def best_rotation(source, target):
    """Return the rotation about the origin that moves points nearest to targets, by Kabsch's singular values."""
    u, _, vt = np.linalg.svd(source.T @ target)
    sign = np.sign(np.linalg.det(vt.T @ u.T))
    return Rotation.from_matrix(vt.T @ np.diag([1.0, 1.0, sign]) @ u.T)


def hip_frame(positions, roles):
    """x along the hips to the left, y upward as far as that allows."""
    x = positions[roles["left_upper_leg"]] - positions[roles["right_upper_leg"]]
    x = x / np.linalg.norm(x)
    z = np.cross(x, [0.0, 1.0, 0.0])
    z = z / np.linalg.norm(z)
    return Rotation.from_matrix(np.stack([x, np.cross(z, x), z], axis=1))


def trunk(lower, upper):
    """Frame by frame the attachment's orientation in the world before posture, and the shoulders as the hips see them.

    lower, upper : motions of equal length.
    """
    halves = split_body(lower.skeleton)
    roles = lower.skeleton.roles
    a, below, above = halves.attachment, lower.world(), upper.world()
    points = [*(j for j in roles.spine if j != a), roles["left_upper_arm"], roles["right_upper_arm"]]
    turned, shoulders = [], []
    for f in range(len(lower)):
        own, other = (
            rotation(w.rotations[f, a]).inv().apply(w.positions[f, points] - w.positions[f, a]) for w in (above, below)
        )
        stands = rotation(below.rotations[f, a]) * best_rotation(own, other)
        turned.append(stands.as_quat()[[3, 0, 1, 2]])
        shoulders.append(hip_frame(below.positions[f], roles).inv().apply(stands.apply(own[-2:])))
    return np.array(turned), np.array(shoulders)


def best_path(values, n_starts, limit, stray, held):
    """Return the cost of the cheapest path, by trying all paths from the last row backward."""
    from functools import cache

    n_rows, n_columns = values.shape

    @cache
    def cost(i, j):
        if j < 0:
            return np.inf
        if i == 0:
            return values[0, j] if j < n_starts else np.inf
        offers = [cost(i - 1, j - 1) + values[i, j]]
        for r in range(2, limit + 1):
            if j - r >= 0:
                offers.append(cost(i - 1, j - r) + values[i, j - r + 1 : j + 1].mean() + stray)
            if i - r >= 0:
                offers.append(cost(i - r, j - 1) + values[i - r + 1 : i + 1, j].sum() + stray)
        if held[i]:
            offers.append(cost(i - 1, j) + values[i, j] + stray)
        return min(offers)

    return min(cost(n_rows - 1, j) for j in range(n_columns))
