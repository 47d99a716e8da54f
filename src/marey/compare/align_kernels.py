"""Find the floor-plane transform that best aligns one window of markers with another, and the remaining distance.

Key: p = marker of a, q = marker of b; w = weight; A, B as in Kovar 4.2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, Out, helper, kernel
from marey.maths.vector_kernels import square


class ClipPair(NamedTuple):
    """Two clips and the window in which their frames are compared.

    a, b : (Fa, M, 3), (Fb, M, 3) markers, meters.
    marker_weights : (M,) weights of the markers, sum 1.
    frame_weights : (2 L + 1,) weights of the window's frames, sum 1.
    """

    a: Floats3D
    b: Floats3D
    marker_weights: Floats1D
    frame_weights: Floats1D


@helper
def _clip_window(i: float, j: float, n_a: int, n_b: int, half: int) -> tuple[int, int]:
    """Return how many frames the window extends back and forward before it leaves either clip."""
    back = min(half, math.floor(min(i, j)))
    forth = min(half, math.floor(min(n_a - 1 - i, n_b - 1 - j)))
    return back, forth


@kernel
def align_windows(
    clips: ClipPair, frames_a: Floats1D, frames_b: Floats1D, free: bool, moves: Out[Floats2D], distances: Out[Floats1D]
) -> None:
    """Compute the transforms (N, 3) of b at frames_b (N,) onto a at frames_a (N,), and D (N,) in m^2.

    D is the squared distance that remains after the transform. Frames may be fractional; markers are then interpolated
    linearly. Sums are taken about the centers of the windows, to keep precision far from the origin. Unless `free`, the
    transform is the identity.
    """
    a, b, marker_weights, frame_weights = clips.a, clips.b, clips.marker_weights, clips.frame_weights
    half = len(frame_weights) // 2
    n_markers = a.shape[1]
    for k in range(len(frames_a)):
        i, j = frames_a[k], frames_b[k]
        back, forth = _clip_window(i, j, len(a), len(b), half)
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
                        heights += w * square(py - qy)
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
            rest = aa + bb - 2.0 * np.hypot(dot, cross) + heights
        else:
            moves[k, 0] = moves[k, 1] = moves[k, 2] = 0.0
            shift = square(ax - bx) + square(az - bz)
            rest = aa + bb - 2.0 * dot + heights + shift * total
        distances[k] = max(rest / total, 0.0)
