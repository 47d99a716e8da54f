"""Compute D, the squared distance of two frames over their windows, and the transform that aligns them.

Both frames must have complete windows.

A clip is stored as markers (F, 3, N) for F frames: x, z and y of each marker relative to the frame's weighted center on
the floor, times the square root of the marker's weight. N is the number of markers, padded with zeros to a multiple of
eight for SIMD.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints2D, Out, helper, kernel
from marey.compiled.lanes import load_lanes, sum_lanes, zero_lanes


class CenteredClip(NamedTuple):
    """A clip of F frames whose markers are relative to each frame's center.

    markers : (F, 3, N); see the module.
    centers : (F, 2) x and z of the weighted center, meters.
    squares : (F,) weighted mean squared distance from the center along the floor, m^2.
    """

    markers: Floats3D
    centers: Floats2D
    squares: Floats1D


@kernel
def center_markers(
    points: Floats3D, weights: Floats1D, markers: Out[Floats3D], centers: Out[Floats2D], squares: Out[Floats1D]
) -> None:
    """Fill the arrays of a `CenteredClip` from points (F, M, 3) and weights (M,) that sum to 1.

    The markers array may have N >= M columns; those from M on are left unchanged.
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
        centers[f, 0], centers[f, 1], squares[f] = x, z, square


@helper
def compare_frames(p: Floats3D, i: int, q: Floats3D, j: int) -> tuple[float, float, float]:
    """Return sums over the markers of two frames of (F, 3, N): dot product and cross product along the floor, and
    squared height difference."""
    n = p.shape[2]
    i, j = 3 * n * i, 3 * n * j
    dot = cross = heights = zero_lanes()
    for m in range(0, n, 8):
        x, z = load_lanes(p, i + m), load_lanes(p, i + n + m)
        u, v = load_lanes(q, j + m), load_lanes(q, j + n + m)
        rise = load_lanes(p, i + 2 * n + m) - load_lanes(q, j + 2 * n + m)
        dot = dot + (x * u + z * v)
        cross = cross + (x * v - z * u)
        heights = heights + rise * rise
    return sum_lanes(dot), sum_lanes(cross), sum_lanes(heights)


@kernel
def align_cells(ours: CenteredClip, theirs: CenteredClip, cells: Ints2D, weights: Floats1D, out: Out[Floats2D]) -> None:
    """Compute D in m^2 and the transform (theta, x, z) that moves `theirs` onto `ours` at each cell.

    cells : (C, 2) frame of `ours` and frame of `theirs`; both must have complete windows.
    weights : (2 L + 1,) weights of the frames in a window, with sum 1.
    out : (C, 4) receives D, theta, x, z.

    Centers are taken relative to the first frame of the window, to keep precision far from the origin.
    """
    half = len(weights) // 2
    p, a, a_squares = ours
    q, b, b_squares = theirs
    for c in range(len(cells)):
        i, j = cells[c, 0] - half, cells[c, 1] - half
        ax = az = bx = bz = both = dot = cross = heights = 0.0
        for k in range(len(weights)):
            weight = weights[k]
            along, across, up = compare_frames(p, i + k, q, j + k)
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
        out[c, 0] = max(both + heights - 2.0 * np.hypot(dot, cross), 0.0)
        out[c, 1] = theta
        out[c, 2] = ax - (bx * cosine + bz * sine)
        out[c, 3] = az - (bz * cosine - bx * sine)
