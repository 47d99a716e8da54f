"""Find key poses of a clip, and those that recur."""

from __future__ import annotations

import math

from marey.compiled import Bools1D, Floats1D, Floats2D, Floats3D, Ints1D, Out, kernel


@kernel
def measure_turning(
    rotations: Floats3D, frames: Ints1D, joints: Ints1D, groups: Floats2D, angles: Out[Floats2D]
) -> None:
    """Write half the angles by which joints (m,) rotate between n frames, summed for each group: (n - 1, g).

    rotations : (F, J, 4). groups : (m, g) weights of the joints.
    """
    for i in range(len(frames) - 1):
        angles[i] = 0.0
        for k in range(len(joints)):
            a, b, cosine = rotations[frames[i], joints[k]], rotations[frames[i + 1], joints[k]], 0.0
            for c in range(4):
                cosine += a[c] * b[c]
            angle = math.acos(min(math.fabs(cosine), 1.0))
            for g in range(groups.shape[1]):
                angles[i, g] += groups[k, g] * angle


@kernel
def find_rests(speeds: Floats2D, frames: Ints1D, step: float, rests: Out[Floats1D]) -> int:
    """Write the times, in frames, of the local minima of each column of `speeds` (n, g), and return how many there are.

    `speeds` are measured between the `frames` (n + 1,), which are `step` apart. Each time is at the vertex of a
    parabola through three speeds; there are at most n g times.
    """
    count = 0
    for i in range(1, speeds.shape[0] - 1):
        for g in range(speeds.shape[1]):
            before, here, after = speeds[i - 1, g], speeds[i, g], speeds[i + 1, g]
            if here < before and here <= after:
                vertex = 0.5 * (before - after) / max(before - 2.0 * here + after, 1e-12)
                rests[count] = frames[i] + step * (0.5 + min(max(vertex, -1.0), 1.0))
                count += 1
    return count


@kernel
def blend_poses(
    rotations: Floats3D, at: Floats1D, joints: Ints1D, weights: Floats1D, vectors: Out[Floats2D], sums: Out[Floats1D]
) -> None:
    """Write the rotations of joints (m,) at n times, in frames, as vectors (n, 4 m), and the sums of their components.

    Rotations between frames are interpolated. Each quaternion has the sign that makes its largest component positive.
    weights : (m,) factors.
    """
    for i in range(len(at)):
        low = min(int(at[i]), rotations.shape[0] - 2)
        part, sums[i] = at[i] - low, 0.0
        for k in range(len(joints)):
            near, far, cosine = rotations[low, joints[k]], rotations[low + 1, joints[k]], 0.0
            for c in range(4):
                cosine += near[c] * far[c]
            sign, length, largest = -1.0 if cosine < 0.0 else 1.0, 0.0, 0.0
            for c in range(4):
                value = near[c] + part * (sign * far[c] - near[c])
                vectors[i, 4 * k + c] = value
                length += value * value
                if math.fabs(value) > math.fabs(largest):
                    largest = value
            factor = weights[k] / math.sqrt(length) * (-1.0 if largest < 0.0 else 1.0)
            for c in range(4):
                vectors[i, 4 * k + c] *= factor
                sums[i] += vectors[i, 4 * k + c]


@kernel
def find_recurring(
    vectors: Floats2D,
    times: Floats1D,
    sums: Floats1D,
    order: Ints1D,
    radius: float,
    apart: float,
    recurs: Out[Bools1D],
) -> None:
    """Set `recurs` (n,) for vectors (n, m) that recur: another vector is closer than `radius`, at a time more than
    `apart` away.

    Only vectors whose components have about the same sum can be this close, so few pairs are compared in full.

    sums : (n,) sums of the components, divided by the square root of m. order : (n,) indices that sort them.
    """
    limit = radius * radius
    recurs[:] = False
    for a in range(len(order)):
        i = order[a]
        for b in range(a + 1, len(order)):
            j = order[b]
            if sums[j] > sums[i] + radius:
                break
            if abs(times[i] - times[j]) <= apart or (recurs[i] and recurs[j]):
                continue
            total = 0.0
            for k in range(vectors.shape[1]):
                total += (vectors[i, k] - vectors[j, k]) * (vectors[i, k] - vectors[j, k])
                if total >= limit:
                    break
            if total < limit:
                recurs[i] = recurs[j] = True


@kernel
def count_in_time(offsets: Floats1D, edges: Ints1D, apart: float, best: Out[Ints1D], counts: Out[Ints1D]) -> None:
    """For each group of offsets, find the offset that has most offsets of the group closer than `apart` to it.

    offsets : (n,) offsets, sorted by group.
    edges : (g + 1,) first offset of each group, and n.
    best : (g,) receives the index of that offset.
    counts : (g,) receives the number of offsets close to it, including itself.
    """
    for group in range(len(edges) - 1):
        best[group], counts[group] = edges[group], 0
        for i in range(edges[group], edges[group + 1]):
            n = 0
            for j in range(edges[group], edges[group + 1]):
                if math.fabs(offsets[i] - offsets[j]) < apart:
                    n += 1
            if n > counts[group]:
                best[group], counts[group] = i, n
