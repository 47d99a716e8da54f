"""Compiled: the ways that many clips would lead, and how near they come to a point.

Key: rigid2d (theta, x, z) as in `marey.maths.rigid2d`.
"""

from __future__ import annotations

import math
from typing import Any

from marey.core.compiled import kernel


@kernel
def lay_ways(paths: Any, index: Any, share: Any, enter: Any, leave: Any, here: Any, out: Any) -> None:
    """Ways (N, W, 3) into `out`: clips that begin at moments `enter` where the figure is `here` (N, 3).

    Clip n is the mean of paths (G, P, 3) at index (N, C) with shares (N, C), read from `enter` to `leave`, both from 0
    to 1. Headings count on from the first, and are not wrapped.
    """
    last, n_points = paths.shape[1] - 1, out.shape[1]
    for n in range(len(index)):
        for w in range(n_points):
            at = (enter[n] + (leave[n] - enter[n]) * w / (n_points - 1)) * last
            before = min(max(int(at), 0), last - 1)
            t = at - before
            for k in range(3):
                total = 0.0
                for c in range(index.shape[1]):
                    row = index[n, c]
                    total += share[n, c] * (paths[row, before, k] * (1.0 - t) + paths[row, before + 1, k] * t)
                out[n, w, k] = total
        turn, x0, z0 = here[n, 0] - out[n, 0, 0], out[n, 0, 1], out[n, 0, 2]
        cosine, sine = math.cos(turn), math.sin(turn)
        for w in range(n_points):
            x, z = out[n, w, 1] - x0, out[n, w, 2] - z0
            out[n, w, 0] += turn
            out[n, w, 1] = here[n, 1] + x * cosine + z * sine
            out[n, w, 2] = here[n, 2] + z * cosine - x * sine


@kernel
def pass_by(ways: Any, goal_x: float, goal_z: float, near: Any, along: Any, length: Any) -> None:
    """How near ways (N, W, 3) come to a point, how far along that is, and how long they are, each (N,) metres."""
    for n in range(len(ways)):
        gone, best, at = 0.0, math.inf, 0.0
        for w in range(ways.shape[1] - 1):
            x, z = ways[n, w, 1], ways[n, w, 2]
            dx, dz = ways[n, w + 1, 1] - x, ways[n, w + 1, 2] - z
            step = math.hypot(dx, dz)
            t = ((goal_x - x) * dx + (goal_z - z) * dz) / max(step * step, 1e-12)
            t = min(max(t, 0.0), 1.0)
            apart = math.hypot(x + t * dx - goal_x, z + t * dz - goal_z)
            if apart < best:
                best, at = apart, gone + t * step
            gone += step
        near[n], along[n], length[n] = best, at, gone
