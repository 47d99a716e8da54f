"""Find the local minima up to a limit among the few cells of a grid that may be within the limit.

Features of frames give a lower bound of their distance (`marey.graph.bounded_cells`). Cells whose bound is above the
limit are not compared: they are no minima within the limit, and not smaller than one. Frames are in groups of eight,
each with a center and a radius in feature space. The frames of two groups are compared only if the distance of the
centers is at most the limit plus both radii.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from marey.compiled import (
    Floats1D,
    Floats2D,
    Int32s1D,
    Int32s2D,
    Ints2D,
    Out,
    Singles2D,
    Singles3D,
    helper,
    kernel,
)
from marey.compiled.lanes import compare_lanes, load_lanes, spread_lanes
from marey.graph.alike_kernels import CenteredClip, compare_frames

# Flag in addition to the eight bits for rivals: D may be above the limit; as in `marey.compare.sweep_kernels`.
_AT_LIMIT = 256


class ClipFeatures(NamedTuple):
    """Features of the frames of a clip, in groups of eight; K is a multiple of four.

    frames : (G, K, 8) features of the frames of each group; the last group is filled up with its last frame.
    centers : (G / 8, K, 8) centers of the groups, eight groups at a time; the last ones are filled up in the same way.
    radii : (G / 8, 8) distance from each center to the farthest frame of its group.
    """

    frames: Singles3D
    centers: Singles3D
    radii: Singles2D


class CellRange(NamedTuple):
    """Cells of a grid: rows start .. stop, columns first .. last (half-open), and column - row at least min_lag."""

    start: int
    stop: int
    first: int
    last: int
    min_lag: int


@helper
def _find_near(point: Singles2D, points: Singles3D, eight: int, cap: Any) -> int:
    """Return which of eight points have a squared distance of at most `cap` (lanes) from a point, as bits.

    point : (K, 8) each feature of the point eight times. eight : index of the points in `points`.
    """
    # Two sums, so that no addition waits for the one before.
    p = q = spread_lanes(np.float32(0.0))
    start, half = eight * point.size, point.size // 2
    for k in range(0, half, 16):
        x = load_lanes(point, k) - load_lanes(points, start + k)
        y = load_lanes(point, k + 8) - load_lanes(points, start + k + 8)
        p, q = p + x * x, q + y * y
    # Most points are far already by half of the features.
    if compare_lanes(p + q, cap) == 0:
        return 0
    for k in range(half, point.size, 16):
        x = load_lanes(point, k) - load_lanes(points, start + k)
        y = load_lanes(point, k + 8) - load_lanes(points, start + k + 8)
        p, q = p + x * x, q + y * y
    return compare_lanes(p + q, cap)


@helper
def _copy_point(points: Singles3D, i: int, out: Singles2D) -> None:
    """Write each feature of point i to a row of `out` (K, 8)."""
    for k in range(len(out)):
        for m in range(8):
            out[k, m] = points[i // 8, k, i % 8]


@helper
def _list_near_groups(
    a: ClipFeatures, g: int, b: ClipFeatures, span: CellRange, limit: float, point: Singles2D, out: Int32s1D
) -> int:
    """Write those groups of b to `out` that may have a frame within `limit` meters of one in group g of a.

    Returns their number. `point` is work space.
    """
    n = 0
    first = max(span.first, max(8 * g, span.start) + span.min_lag) // 8
    stop = (span.last + 7) // 8
    reach = spread_lanes(np.float32(limit) + a.radii[g // 8, g % 8])
    _copy_point(a.centers, g, point)
    for eight in range(first // 8, (stop + 7) // 8):
        far = reach + load_lanes(b.radii, 8 * eight)
        bits = _find_near(point, b.centers, eight, far * far)
        group = 8 * eight
        while bits:
            if bits & 1 and first <= group < stop:
                out[n] = group
                n += 1
            bits >>= 1
            group += 1
    return n


@kernel
def count_near_groups(a: ClipFeatures, b: ClipFeatures, span: CellRange, limit: float) -> int:
    """Return the number of pairs of groups that may have frames within `limit` meters."""
    point = np.empty((a.frames.shape[1], 8), dtype=np.float32)
    groups = np.empty(b.radii.size, dtype=np.int32)
    n = 0
    for g in range(span.start // 8, (span.stop + 7) // 8):
        n += _list_near_groups(a, g, b, span, limit, point, groups)
    return n


@kernel
def list_near_cells(a: ClipFeatures, b: ClipFeatures, span: CellRange, limit: float, cells: Out[Int32s2D]) -> int:
    """Write the cells (N, 2) of a span whose features are within `limit` meters to `cells`.

    The cells of each diagonal are in order. Returns their number, or -1 if there is no room for all of them.
    """
    point = np.empty((a.frames.shape[1], 8), dtype=np.float32)
    groups = np.empty(b.radii.size, dtype=np.int32)
    cap = spread_lanes(np.float32(limit) * np.float32(limit))
    n = 0
    for g in range(span.start // 8, (span.stop + 7) // 8):
        n_groups = _list_near_groups(a, g, b, span, limit, point, groups)
        for i in range(max(8 * g, span.start), min(8 * g + 8, span.stop)):
            if n + 8 * n_groups > len(cells):
                return -1
            _copy_point(a.frames, i, point)
            first = max(span.first, i + span.min_lag)
            for k in range(n_groups):
                bits = _find_near(point, b.frames, int(groups[k]), cap)
                column = 8 * groups[k]
                while bits:
                    if bits & 1 and first <= column < span.last:
                        cells[n, 0], cells[n, 1] = i, column
                        n += 1
                    bits >>= 1
                    column += 1
    return n


class NearList(NamedTuple):
    """Where to look for minima.

    cells : (N, 2) cells in the order of `list_near_cells`, relative to the first complete window of both clips.
    own : first row, stop row, first column and stop column of the range of cells that may be minima, numbered in the
        same way.
    limit : largest D of a minimum, m^2.
    min_lag : smallest column - row of a minimum.
    error : largest error of D relative to the squares that it is a difference of. Neighbors whose D differs by less are
        rivals.
    """

    cells: Int32s2D
    own: tuple[int, int, int, int]
    limit: float
    min_lag: int
    error: float


@helper
def _sort_cells(cells: Int32s2D, order: Int32s1D, by_row: bool, n_columns: int, ends: Int32s1D, out: Int32s1D) -> None:
    """Write `order` to `out`, sorted by rows or by diagonals; cells with the same key stay in order.

    On return, the items of key k of `out` end at `ends[k]`; the caller provides one more element than there are keys.
    """
    ends[:] = 0
    for c in range(len(cells)):
        key = cells[c, 0] if by_row else cells[c, 0] - cells[c, 1] + n_columns - 1
        ends[key + 1] += 1
    for k in range(1, len(ends)):
        ends[k] += ends[k - 1]
    for n in range(len(order)):
        c = order[n]
        key = cells[c, 0] if by_row else cells[c, 0] - cells[c, 1] + n_columns - 1
        out[ends[key]] = c
        ends[key] += 1


@helper
def _measure_cells(
    ours: CenteredClip, theirs: CenteredClip, means: tuple[Floats2D, Floats2D], cells: Int32s2D, order: Int32s1D,
    weights: Floats1D, values: Floats1D,
) -> None:  # fmt: skip
    """Write D of cells, sorted by diagonals, to `values`. Each pair of frames is compared only once.

    means : means of the windows of both clips.
    order : (N,) order of the cells by diagonals.
    """
    p, a, q, b = ours.markers, ours.centers, theirs.markers, theirs.centers
    n_weights = len(weights)
    products = np.empty((3, len(a) + n_weights))
    diagonal, done = -len(b), 0
    for n in range(len(order)):
        i, j = int(cells[order[n], 0]), int(cells[order[n], 1])
        if i - j != diagonal:
            diagonal, done = i - j, 0
        for row in range(max(i, done), i + n_weights):
            column = row - diagonal
            dot, cross, up = compare_frames(p, row, q, column)
            products[0, row] = dot + (a[row, 0] * b[column, 0] + a[row, 1] * b[column, 1])
            products[1, row] = cross + (a[row, 0] * b[column, 1] - a[row, 1] * b[column, 0])
            products[2, row] = up
        done = i + n_weights
        dot = cross = up = 0.0
        for k in range(n_weights):
            dot += weights[k] * products[0, i + k]
            cross += weights[k] * products[1, i + k]
            up += weights[k] * products[2, i + k]
        x, z, spread = means[0][0, i], means[0][1, i], means[0][2, i]
        u, v, other = means[1][0, j], means[1][1, j], means[1][2, j]
        dot -= x * u + z * v
        cross -= x * v - z * u
        d = (spread + other) + up - 2.0 * math.sqrt(dot * dot + cross * cross)
        values[order[n]] = d if d > 0.0 else 0.0


@helper
def _average_windows(clip: CenteredClip, weights: Floats1D) -> Floats2D:
    """Return mean x, mean z and spread along the floor (3, F - 2 L) of each window."""
    out = np.zeros((3, len(clip.squares) - len(weights) + 1))
    for f in range(out.shape[1]):
        x = z = square = 0.0
        for k in range(len(weights)):
            u, v = clip.centers[f + k, 0], clip.centers[f + k, 1]
            x += weights[k] * u
            z += weights[k] * v
            square += weights[k] * (clip.squares[f + k] + u * u + v * v)
        out[0, f], out[1, f], out[2, f] = x, z, square - x * x - z * z
    return out


@helper
def _find_rivals(lines: Floats2D, i: int, j: int, bound: float) -> int:
    """Return the neighbors of a cell with D of at most `bound`, one bit for each, in row-major order.

    Column j is at j + 1 of the line of its row, which is at row modulo 3.
    """
    bits = 0
    for place in range(8):
        other = place if place < 4 else place + 1
        bits |= int(lines[(i + other // 3 + 2) % 3, j + other % 3] <= bound) << place
    return bits


@helper
def _move_to_middle(clip: CenteredClip) -> tuple[CenteredClip, float]:
    """Return the clip with its centers relative to that of the middle frame, and the largest square in the sums that
    give D."""
    centers = np.empty_like(clip.centers)
    middle, largest = len(centers) // 2, 0.0
    for f in range(len(centers)):
        x, z = clip.centers[f, 0] - clip.centers[middle, 0], clip.centers[f, 1] - clip.centers[middle, 1]
        centers[f, 0], centers[f, 1] = x, z
        largest = max(largest, clip.squares[f] + x * x + z * z)
    return CenteredClip(clip.markers, centers, clip.squares), largest


@kernel
def find_sparse_minima(ours: CenteredClip, theirs: CenteredClip, weights: Floats1D, where: NearList) -> Ints2D:
    """Return those of the given cells that may be minima, with their rivals, (N, 3), in row-major order.

    The columns are row, column, and the rivals as bits, one for each neighbor. A neighbor is a rival if its D differs
    from that of the cell by less than the rounding error of D (`NearList.error`). The first bit above those of the
    neighbors is set if D may be above the limit. Cells with a neighbor that is certainly smaller are left out.
    """
    cells = where.cells
    ours, scale = _move_to_middle(ours)
    theirs, other_scale = _move_to_middle(theirs)
    slack = where.error * (scale + other_scale)
    n_rows, n_columns = len(ours.squares) - len(weights) + 1, len(theirs.squares) - len(weights) + 1
    n = len(cells)
    order, by_diagonal = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    for c in range(n):
        order[c] = c
    ends = np.empty(n_rows + n_columns, dtype=np.int32)
    _sort_cells(cells, order, False, n_columns, ends, by_diagonal)
    values = np.empty(n)
    means = (_average_windows(ours, weights), _average_windows(theirs, weights))
    _measure_cells(ours, theirs, means, cells, by_diagonal, weights, values)
    # From lower left to upper right diagonals, so that the columns of each row are in order.
    for c in range(n):
        order[c] = by_diagonal[n - 1 - c]
    ends = np.empty(n_rows + 1, dtype=np.int32)
    by_row = by_diagonal
    _sort_cells(cells, order, True, n_columns, ends, by_row)
    lines = np.full((3, n_columns + 2), np.inf)
    found = np.empty((n, 3), dtype=np.int64)
    n_found = 0
    for i in range(n_rows):
        # Row i + 1 replaces row i - 2.
        if i >= 2:
            for k in range(ends[i - 3] if i >= 3 else 0, ends[i - 2]):
                lines[(i - 2) % 3, 1 + cells[by_row[k], 1]] = np.inf
        if i == 0:
            for k in range(ends[0]):
                lines[0, 1 + cells[by_row[k], 1]] = values[by_row[k]]
        if i + 1 < n_rows:
            for k in range(ends[i], ends[i + 1]):
                lines[(i + 1) % 3, 1 + cells[by_row[k], 1]] = values[by_row[k]]
        if not where.own[0] <= i < where.own[1]:
            continue
        for k in range(ends[i - 1] if i >= 1 else 0, ends[i]):
            j, value = int(cells[by_row[k], 1]), values[by_row[k]]
            if not where.own[2] <= j < where.own[3] or j - i < where.min_lag or value > where.limit + slack:
                continue
            if _find_rivals(lines, i, j, value - slack) == 0:
                rivals = _find_rivals(lines, i, j, value + slack) | (_AT_LIMIT if value + slack > where.limit else 0)
                found[n_found, 0], found[n_found, 1], found[n_found, 2] = i, j, rivals
                n_found += 1
    return found[:n_found].copy()
