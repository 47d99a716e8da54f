"""The region of goals that a gaze map covers: convex hull of its examples, and projection of goals into it."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Bools, Floats

__all__ = ["convex_hull", "project_into_region"]


def convex_hull(points: Floats) -> Floats:
    """Return the corners (h, 2) of the convex hull of points (n, 2), counterclockwise; two if all lie on a line."""
    ordered = np.unique(points, axis=0)

    def half(rows: Floats) -> list[Floats]:
        chain: list[Floats] = []
        for point in rows:
            while len(chain) >= 2 and _cross(chain[-1] - chain[-2], point - chain[-1]) <= 1e-12:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    corners = half(ordered) + half(ordered[::-1])
    return np.array(corners) if corners else ordered


def project_into_region(goals: Floats, region: Floats) -> tuple[Floats, Floats]:
    """Project goals (N, 2) into a convex region with corners (h, 2).

    Return the goals, or the nearest points of the region (N, 2), and their distances from the goals (N,), 0 inside.
    """
    starts, sides = region, np.roll(region, -1, axis=0) - region
    away = goals[:, None] - starts
    length = np.maximum((sides * sides).sum(axis=1), 1e-18)
    along = np.clip((away * sides).sum(axis=2) / length, 0.0, 1.0)
    nearest = starts + along[..., None] * sides
    apart = np.linalg.norm(goals[:, None] - nearest, axis=2)
    best = apart.argmin(axis=1)
    rows = np.arange(len(goals))
    within: Bools = _cross(sides, away) >= -1e-12
    inside = np.asarray(within.all(axis=1)) if len(region) > 2 else np.zeros(len(goals), dtype=bool)
    moved = np.where(inside[:, None], goals, nearest[rows, best])
    return moved, np.where(inside, 0.0, apart[rows, best])


def _cross(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
