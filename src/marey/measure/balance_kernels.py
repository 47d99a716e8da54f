"""Balance: the distance of a point from the area that supports a body."""

from __future__ import annotations

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Out, kernel


@kernel
def measure_outside(
    points: Floats3D, tops: Floats2D, point: Floats2D, directions: Floats2D, distance: Out[Floats1D]
) -> None:
    """Write how far a point (F, 2) on the floor is outside the area of support, (F,) meters; negative inside.

    points, tops : (F, K, 3) points of a body, of which those below their height (F, K) support it. directions : (2, D)
        directions in which the area is bounded.
    """
    n_directions = directions.shape[1]
    edges = np.empty(n_directions)
    for f in range(points.shape[0]):
        edges[:] = -np.inf
        for k in range(points.shape[1]):
            if points[f, k, 1] < tops[f, k]:
                x, z = points[f, k, 0], points[f, k, 2]
                for d in range(n_directions):
                    edges[d] = max(edges[d], x * directions[0, d] + z * directions[1, d])
        worst = -np.inf
        for d in range(n_directions):
            worst = max(worst, point[f, 0] * directions[0, d] + point[f, 1] * directions[1, d] - edges[d])
        distance[f] = worst
