"""Compiled: distance and transform of pairs of frames around which whole windows fit.

Key: a clip is held as markers (F, 3, N): x, z and y of each, about each frame's centre on the floor, times the root of
the marker's weight; N is a multiple of eight, with zeros after the last marker.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from marey.core.compiled import kernel


def summing(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `kernel`, and sums may be added up in any order, which is what lets several be added at once."""
    import numba

    how: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract"}}
    try:
        compiled = numba.njit(cache=True, **how)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder can be written to
        compiled = numba.njit(**how)(function)
    result: Callable[..., Any] = compiled
    return result


@kernel
def centred(points: Any, weights: Any, markers: Any, centres: Any, squares: Any) -> None:
    """Markers (F, M, 3) as above, where N >= M and what is beyond M stays as it is.

    centres : (F, 2) x and z; squares : (F,) mean square about the centre, along the floor.
    """
    for f in range(len(points)):
        x = z = square = 0.0
        for m in range(len(weights)):
            x += weights[m] * points[f, m, 0]
            z += weights[m] * points[f, m, 2]
        for m in range(len(weights)):
            root = math.sqrt(weights[m])
            px, pz = (points[f, m, 0] - x) * root, (points[f, m, 2] - z) * root
            markers[f, 0, m], markers[f, 1, m], markers[f, 2, m] = px, pz, points[f, m, 1] * root
            square += px * px + pz * pz
        centres[f, 0], centres[f, 1], squares[f] = x, z, square


@summing
def pair(p: Any, q: Any) -> Any:
    """Of two frames (3, N): dot and cross along the floor, and the squared difference of heights."""
    px, pz, py = p[0], p[1], p[2]
    qx, qz, qy = q[0], q[1], q[2]
    dot = cross = heights = 0.0
    for m in range(len(px)):
        dot += px[m] * qx[m] + pz[m] * qz[m]
        cross += px[m] * qz[m] - pz[m] * qx[m]
        heights += (py[m] - qy[m]) * (py[m] - qy[m])
    return dot, cross, heights


@kernel
def moves(ours: Any, theirs: Any, cells: Any, weights: Any, out: Any) -> None:
    """For each of cells (N, 2), D in m^2 and the transform of b onto a there, into out (N, 4).

    ours, theirs : of each clip what `centred` gives. Centres of a window's frames are taken about the first one's, so
    that nothing is lost far from the origin.
    """
    half = len(weights) // 2
    p, a, a_squares = ours
    q, b, b_squares = theirs
    for c in range(len(cells)):
        i, j = cells[c, 0] - half, cells[c, 1] - half
        ax = az = bx = bz = both = dot = cross = heights = 0.0
        for k in range(len(weights)):
            weight = weights[k]
            along, across, up = pair(p[i + k], q[j + k])
            x, z, u, v = a[i + k, 0] - a[i, 0], a[i + k, 1] - a[i, 1], b[j + k, 0] - b[j, 0], b[j + k, 1] - b[j, 1]
            ax += weight * x
            az += weight * z
            bx += weight * u
            bz += weight * v
            both += weight * (a_squares[i + k] + b_squares[j + k] + x * x + z * z + u * u + v * v)
            dot += weight * (along + (x * u + z * v))
            cross += weight * (across + (x * v - z * u))
            heights += weight * up
        both -= ax * ax + az * az + bx * bx + bz * bz
        dot -= ax * bx + az * bz
        cross -= ax * bz - az * bx
        ax, az, bx, bz = ax + a[i, 0], az + a[i, 1], bx + b[j, 0], bz + b[j, 1]
        theta = math.atan2(cross, dot)
        cosine, sine = math.cos(theta), math.sin(theta)
        out[c, 0] = max(both + heights - 2.0 * math.hypot(dot, cross), 0.0)
        out[c, 1] = theta
        out[c, 2] = ax - (bx * cosine + bz * sine)
        out[c, 3] = az - (bz * cosine - bx * sine)
