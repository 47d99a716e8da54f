"""Compiled: the floor-plane transform that lays one window of markers onto another, and what is left between them.

Key: p = marker of a, q = marker of b; w = weight; A, B as in Kovar 4.2; at = frame, which may lie between two.
"""

from __future__ import annotations

import math
from typing import Any

from marey.core.compiled import inner, kernel


@inner
def _ends(i: float, j: float, n_a: int, n_b: int, half: int) -> Any:
    """How many frames the window reaches back and forward before it leaves either clip."""
    back = min(half, math.floor(min(i, j)))
    forth = min(half, math.floor(min(n_a - 1 - i, n_b - 1 - j)))
    return back, forth


@kernel
def align(
    a: Any, at_a: Any, b: Any, at_b: Any, marker_weights: Any, frame_weights: Any, free: bool, moves: Any, left: Any
) -> None:
    """For each k the transform of b at at_b[k] onto a at at_a[k] into moves (N, 3), and D in m^2 into left (N,).

    Points between frames lie on the straight line. Sums are taken about the windows' own centres, so that nothing is
    lost far from the origin. Unless `free`, the transform is the identity.
    """
    half = len(frame_weights) // 2
    n_markers = a.shape[1]
    for k in range(len(at_a)):
        i, j = at_a[k], at_b[k]
        back, forth = _ends(i, j, len(a), len(b), half)
        whole_i, whole_j = math.floor(i), math.floor(j)
        part_i, part_j = i - whole_i, j - whole_j
        total = 0.0
        ax = az = bx = bz = 0.0
        for sweep in range(2):
            aa = bb = dot = cross = heights = 0.0
            for r in range(-back, forth + 1):
                weight = frame_weights[half + r]
                f, g = whole_i + r, whole_j + r
                f_next = f + 1 if part_i > 0.0 else f
                g_next = g + 1 if part_j > 0.0 else g
                if sweep == 0:
                    total += weight
                for m in range(n_markers):
                    w = weight * marker_weights[m]
                    px = a[f, m, 0] + part_i * (a[f_next, m, 0] - a[f, m, 0])
                    py = a[f, m, 1] + part_i * (a[f_next, m, 1] - a[f, m, 1])
                    pz = a[f, m, 2] + part_i * (a[f_next, m, 2] - a[f, m, 2])
                    qx = b[g, m, 0] + part_j * (b[g_next, m, 0] - b[g, m, 0])
                    qy = b[g, m, 1] + part_j * (b[g_next, m, 1] - b[g, m, 1])
                    qz = b[g, m, 2] + part_j * (b[g_next, m, 2] - b[g, m, 2])
                    if sweep == 0:
                        ax += w * px
                        az += w * pz
                        bx += w * qx
                        bz += w * qz
                    else:
                        heights += w * (py - qy) ** 2
                        px -= ax
                        pz -= az
                        qx -= bx
                        qz -= bz
                        aa += w * (px * px + pz * pz)
                        bb += w * (qx * qx + qz * qz)
                        dot += w * (px * qx + pz * qz)
                        cross += w * (px * qz - pz * qx)
            if sweep == 0:
                ax /= total
                az /= total
                bx /= total
                bz /= total
        if free:
            theta = math.atan2(cross, dot)
            cosine, sine = math.cos(theta), math.sin(theta)
            moves[k, 0] = theta
            moves[k, 1] = ax - (bx * cosine + bz * sine)
            moves[k, 2] = az - (bz * cosine - bx * sine)
            rest = aa + bb - 2.0 * math.hypot(dot, cross) + heights
        else:
            moves[k, 0] = moves[k, 1] = moves[k, 2] = 0.0
            shift = (ax - bx) ** 2 + (az - bz) ** 2
            rest = aa + bb - 2.0 * dot + heights + shift * total
        left[k] = max(rest / total, 0.0)
