"""Stride detection kernels: extremes of a signal, and measures of strides."""

from __future__ import annotations

import math

from marey.compiled import Floats1D, Floats2D, Floats3D, Ints1D, Ints2D, Out, helper, kernel

# Columns of `measure_strides`: smaller and larger movement of a foot, length and duty factor.
SMALLER, LARGER, LENGTH, DUTY = 0, 1, 2, 3


@kernel
def find_extremes(values: Floats1D, swing: float, frames: Out[Ints1D]) -> int:
    """Find the frames of alternating maxima and minima of `values` (F,), with neighbors at least `swing` apart.

    Write them into `frames`, (F,) at least, and return how many there are.
    """
    n, low, high, rising = 0, 0, 0, 0  # whether it rises is not known yet
    for i in range(values.shape[0]):
        value = values[i]
        if value > values[high]:
            high = i
        if value < values[low]:
            low = i
        if rising >= 0 and value <= values[high] - swing:
            frames[n] = high
            n += 1
            rising, low = -1, i
        elif rising <= 0 and value >= values[low] + swing:
            frames[n] = low
            n += 1
            rising, high = 1, i
    if rising != 0:
        frames[n] = high if rising > 0 else low
        n += 1
    return n


@kernel
def find_gait_axis(hips: Floats2D, across: Floats2D, facing: Out[Floats2D]) -> bool:
    """Write the facing of the hips, unit vectors (F, 2); return whether the body mostly travels sideways.

    hips, across : (F, 2) position of the hips, and vector from the right hip joint to the left one, x and z.
    """
    ahead, aside = 0.0, 0.0
    for f in range(hips.shape[0]):
        length = _distance(across[f, 0], across[f, 1])
        x, z = (across[f, 0] / length, across[f, 1] / length) if length > 0.0 else (across[f, 0], across[f, 1])
        facing[f, 0], facing[f, 1] = -z, x
        if f > 0:
            u, w = hips[f, 0] - hips[f - 1, 0], hips[f, 1] - hips[f - 1, 1]
            ahead += math.fabs(w * x - u * z)
            aside += math.fabs(u * x + w * z)
    return aside > ahead


@kernel
def find_passes(separation: Floats1D, extremes: Ints1D, swing: float, frames: Out[Floats1D]) -> int:
    """Find where `separation` (F,) passes 0, or the middle of a swing that stays on one side of 0, between `extremes`.

    Writes fractional frame numbers, at most one per pair of extremes, and returns how many there are. The clip may cut
    off the first and the last swing, so they count only if they pass 0.
    """
    count, n = 0, len(extremes)
    for i in range(n - 1):
        a, b = extremes[i], extremes[i + 1]
        low, high = min(separation[a], separation[b]), max(separation[a], separation[b])
        level = 0.0 if low <= -0.25 * swing and high >= 0.25 * swing else 0.5 * (low + high)
        if level != 0.0 and (i == 0 or i == n - 2):
            continue
        n_crossings = 0
        for f in range(a, b):
            if (separation[f] - level < 0.0) != (separation[f + 1] - level < 0.0):
                n_crossings += 1
        middle = n_crossings // 2
        for f in range(a, b):
            before, after = separation[f] - level, separation[f + 1] - level
            if (before < 0.0) != (after < 0.0):
                if middle == 0:
                    frames[count] = f + before / (before - after)
                    count += 1
                    break
                middle -= 1
    return count


@kernel
def measure_strides(
    spans: Ints2D, soles: Floats3D, hips: Floats2D, still: float, low: float, out: Out[Floats2D]
) -> None:
    """Measure n strides, from frame `spans[i, 0]` to `spans[i, 1]`.

    soles : (F, 4, 3) left and right ankle, left and right ball, meters. hips : (F, 3).
    still, low : a foot is in stance if an ankle or ball moves at less than this fraction of the body's speed, and is at
        most this far above its lowest point in the stride, in meters.
    out : (n, 4) the movements of the ankles on the floor, the smaller one first; the length in meters; the duty factor.
    """
    for i in range(spans.shape[0]):
        a, b = spans[i, 0], spans[i, 1]
        left, right = _extent(soles, a, b, 0), _extent(soles, a, b, 1)
        out[i, SMALLER], out[i, LARGER] = min(left, right), max(left, right)
        length = _distance(hips[b, 0] - hips[a, 0], hips[b, 2] - hips[a, 2])
        n_stance = 0
        for foot in range(2):
            lowest_ankle, lowest_ball = _lowest(soles, a, b, foot), _lowest(soles, a, b, foot + 2)
            for f in range(a, b):
                stands = False
                for k in (foot, foot + 2):
                    step = _distance(soles[f + 1, k, 0] - soles[f, k, 0], soles[f + 1, k, 2] - soles[f, k, 2])
                    lowest = lowest_ankle if k == foot else lowest_ball
                    if step < still * length / (b - a) and soles[f + 1, k, 1] < lowest + low:
                        stands = True
                if stands:
                    n_stance += 1
        out[i, LENGTH], out[i, DUTY] = length, n_stance / (2.0 * (b - a))


@helper
def _distance(x: float, z: float) -> float:
    return math.sqrt(x * x + z * z)


@helper
def _extent(points: Floats3D, a: int, b: int, k: int) -> float:
    """Return the diagonal of the area on the floor that point k covers in frames a to b, both included."""
    x0, x1, z0, z1 = points[a, k, 0], points[a, k, 0], points[a, k, 2], points[a, k, 2]
    for f in range(a + 1, b + 1):
        x, z = points[f, k, 0], points[f, k, 2]
        x0, x1, z0, z1 = min(x0, x), max(x1, x), min(z0, z), max(z1, z)
    return _distance(x1 - x0, z1 - z0)


@helper
def _lowest(points: Floats3D, a: int, b: int, k: int) -> float:
    lowest: float = points[a, k, 1]
    for f in range(a + 1, b + 1):
        lowest = min(lowest, points[f, k, 1])
    return lowest
