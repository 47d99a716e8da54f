"""How far planted feet slide, and where feet point."""

from __future__ import annotations

import math

import numpy as np

from marey.compiled import Bools2D, Floats2D, Floats3D, Ints2D, Out, kernel
from marey.core.placement_kernels import find_left_axes


@kernel
def measure_slides(mask: Bools2D, paths: Floats3D, slides: Out[Floats2D]) -> int:
    """Write a row for each plant: how far it slides on the floor in meters, its frames, half-open, and its point.

    mask, paths : (F, K) and (F, K, 3) contacts and positions of points. The slide is the diagonal of the area covered.
    Needs K (F // 2 + 1) rows, and returns how many there are.
    """
    n_frames, count = mask.shape[0], 0
    x0, x1, z0, z1 = 0.0, 0.0, 0.0, 0.0
    for k in range(mask.shape[1]):
        start = -1
        for f in range(n_frames + 1):
            if f < n_frames and mask[f, k]:
                x, z = paths[f, k, 0], paths[f, k, 2]
                if start < 0:
                    start, x0, x1, z0, z1 = f, x, x, z, z
                x0, x1, z0, z1 = min(x0, x), max(x1, x), min(z0, z), max(z1, z)
            elif start >= 0:
                slides[count, 0], slides[count, 1], slides[count, 2] = np.hypot(x1 - x0, z1 - z0), start, f
                slides[count, 3] = k
                count, start = count + 1, -1
    return count


@kernel
def measure_directions(
    positions: Floats3D, step: int, hips: int, feet: Ints2D, pairs: Ints2D, upright: float, cosines: Out[Floats2D]
) -> int:
    """Write the cosines (n, 2) between the direction of both feet on the floor and the facing of an upright body.

    positions : (F, J, 3), of which every frame in `step` counts. hips, feet : joints; of each foot, ankle and toes.
    pairs : like those of `find_left_axes`. upright : minimum cosine between the vertical and the direction from foot to
        hips.
    Returns the number of frames in which the body is upright.
    """
    left, n = np.empty((1, 3)), 0
    for f in range(0, positions.shape[0], step):
        stands = True
        for side in range(2):
            x = positions[f, hips, 0] - positions[f, feet[side, 0], 0]
            y = positions[f, hips, 1] - positions[f, feet[side, 0], 1]
            z = positions[f, hips, 2] - positions[f, feet[side, 0], 2]
            stands = stands and y > upright * math.sqrt(x * x + y * y + z * z)
        if not stands:
            continue
        find_left_axes(positions[f : f + 1], pairs, left)
        for side in range(2):
            x = positions[f, feet[side, 1], 0] - positions[f, feet[side, 0], 0]
            z = positions[f, feet[side, 1], 2] - positions[f, feet[side, 0], 2]
            cosines[n, side] = (z * left[0, 0] - x * left[0, 2]) / max(math.sqrt(x * x + z * z), 1e-9)
        n += 1
    return n
