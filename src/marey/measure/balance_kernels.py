"""Balance: the center of mass and how it is pushed, the lowest point, and the area that supports a body."""

from __future__ import annotations

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Out, helper, kernel


@kernel
def average_joints(positions: Floats3D, joints: Ints1D, weights: Floats1D, path: Out[Floats2D]) -> None:
    """Write the weighted sum (F, 3) of the positions (F, J, 3) of n joints; weights (n,)."""
    for f in range(positions.shape[0]):
        x, y, z = 0.0, 0.0, 0.0
        for k in range(len(joints)):
            j = joints[k]
            x += positions[f, j, 0] * weights[k]
            y += positions[f, j, 1] * weights[k]
            z += positions[f, j, 2] * weights[k]
        path[f, 0], path[f, 1], path[f, 2] = x, y, z


@kernel
def find_lowest(positions: Floats3D, joints: Ints1D, lowest: Out[Floats1D]) -> None:
    """Write the smallest height (F,) of n joints, from positions (F, J, 3)."""
    for f in range(positions.shape[0]):
        low = positions[f, joints[0], 1]
        for k in range(1, len(joints)):
            low = min(low, positions[f, joints[k], 1])
        lowest[f] = low


@kernel
def differentiate_twice(path: Floats2D, out: Out[Floats2D]) -> None:
    """Write the central differences of the central differences of the rows of `path` (F, n), F >= 2.

    At the ends, they are one-sided.
    """
    n = path.shape[0]
    for f in range(n):
        a, b = max(f - 1, 0), min(f + 1, n - 1)
        for c in range(path.shape[1]):
            out[f, c] = (_differentiate(path, b, c) - _differentiate(path, a, c)) / (b - a)


@helper
def _differentiate(path: Floats2D, f: int, c: int) -> float:
    a, b = max(f - 1, 0), min(f + 1, path.shape[0] - 1)
    step: float = (path[b, c] - path[a, c]) / (b - a)
    return step


@kernel
def measure_outside(
    soles: Floats3D,
    positions: Floats3D,
    joints: Ints1D,
    frames: Ints1D,
    tops: Floats2D,
    point: Floats2D,
    directions: Floats2D,
    distance: Out[Floats1D],
) -> None:
    """Write how far a point (n, 2) on the floor is outside the area of support, (n,) meters; negative inside.

    soles, positions : (F, K, 3) and (F, J, 3) points of a body, of which the joints (m,) count.
    frames : (n,) the frames to measure.
    tops : (n, 2) heights below which soles, and joints, support the body.
    directions : (2, D) directions in which the area is bounded.
    """
    n_soles, n_directions = soles.shape[1], directions.shape[1]
    edges = np.empty(n_directions)
    for f in range(len(frames)):
        edges[:] = -np.inf
        for k in range(n_soles + len(joints)):
            at = soles[frames[f], k] if k < n_soles else positions[frames[f], joints[k - n_soles]]
            if at[1] < tops[f, 0 if k < n_soles else 1]:
                for d in range(n_directions):
                    edges[d] = max(edges[d], at[0] * directions[0, d] + at[2] * directions[1, d])
        worst = -np.inf
        for d in range(n_directions):
            worst = max(worst, point[f, 0] * directions[0, d] + point[f, 1] * directions[1, d] - edges[d])
        distance[f] = worst
