"""Measure the distance between an interval of motion and a character that stands still, from markers.

Key (Kovar 4.8): w is the weight of a frame in the window; a are sums over the windows around the interval's frames, b
over the window around the still frame. The inner loops run along the interval, so they vectorize.
"""

from __future__ import annotations

import math

import numpy as np

from marey.compiled import Floats1D, Floats2D, Floats3D, helper, kernel


@kernel
def measure_stillness(
    points: Floats3D, marker_weights: Floats1D, frame_weights: Floats1D, start: int, stop: int
) -> float:
    """Return the square root of the mean D, in meters, between frames `start` to `stop`, half-open, and the first or
    the last of them, whichever is smaller.

    points : (F, M, 3) markers of the whole clip; windows are truncated at its ends.
    marker_weights : (M,) weights of the markers, with sum 1.
    frame_weights : (2 L + 1,) weights of the frames in a window.
    """
    half = len(frame_weights) // 2
    begin, end = max(start - half, 0), min(stop + half, len(points))
    n_markers = points.shape[1]
    flat, sums = np.empty((3, n_markers, end - begin)), np.zeros((3, end - begin))
    for m in range(n_markers):
        root = math.sqrt(marker_weights[m])
        for f in range(end - begin):
            # Relative to a marker of the interval, to keep precision far from the origin.
            x = (points[begin + f, m, 0] - points[start, 0, 0]) * root
            y = (points[begin + f, m, 1] - points[start, 0, 1]) * root
            z = (points[begin + f, m, 2] - points[start, 0, 2]) * root
            flat[0, m, f], flat[1, m, f], flat[2, m, f] = x, y, z
            sums[0, f] += root * x
            sums[1, f] += root * z
            sums[2, f] += x * x + y * y + z * z
    nearest = np.inf
    for still in (start, stop - 1):
        nearest = min(
            nearest, _measure_mean_distance(flat, sums, frame_weights, still - begin, start - begin, stop - begin)
        )
    return math.sqrt(nearest)


@helper
def _measure_mean_distance(
    flat: Floats3D, sums: Floats2D, frame_weights: Floats1D, still: int, start: int, stop: int
) -> float:
    """Return the mean D in m^2 between frames `start` to `stop`, half-open, and the frame `still`.

    flat : (3, M, F) x, y, z of the markers, times the square root of their weight.
    sums : (3, F) weighted means of x and z, and of the squared norm, over the markers.
    """
    half, n_markers, n_frames = len(frame_weights) // 2, flat.shape[1], flat.shape[2]
    # Rows: dot, cross, product of heights; mean x, mean z, mean square of a; the same of b; sum of the frame weights.
    total = np.zeros((10, stop - start))
    for r in range(-half, half + 1):
        g = still + r
        if g < 0 or g >= n_frames:
            continue
        w, first, last = frame_weights[half + r], max(start + r, 0), min(stop + r, n_frames)
        part = total[:, first - r - start : last - r - start]
        dot, cross, up = part[0], part[1], part[2]
        for m in range(n_markers):
            x, y, z = flat[0, m, first:last], flat[1, m, first:last], flat[2, m, first:last]
            wx, wy, wz = w * flat[0, m, g], w * flat[1, m, g], w * flat[2, m, g]
            for k in range(last - first):
                dot[k] += x[k] * wx + z[k] * wz
                cross[k] += x[k] * wz - z[k] * wx
                up[k] += y[k] * wy
        for c in range(3):
            ours, theirs, given, fixed = part[3 + c], part[6 + c], sums[c, first:last], w * sums[c, g]
            for k in range(last - first):
                ours[k] += w * given[k]
                theirs[k] += fixed
        for k in range(last - first):
            part[9, k] += w
    mean = 0.0
    for k in range(stop - start):
        unit = 1.0 / total[9, k]
        ax, az, aa = total[3, k] * unit, total[4, k] * unit, total[5, k] * unit
        bx, bz, bb = total[6, k] * unit, total[7, k] * unit, total[8, k] * unit
        p = total[0, k] * unit - (ax * bx + az * bz)
        q = total[1, k] * unit - (ax * bz - az * bx)
        spread = aa - ax * ax - az * az + bb - bx * bx - bz * bz
        mean += max(spread - 2.0 * (total[2, k] * unit + math.sqrt(p * p + q * q)), 0.0)
    return mean / (stop - start)
