"""Compare a query with parts of clips of an index, the spans, by the rules of a match web.

For each span: D of all pairs of frames, with some frames around them; the cells that a match web would keep; and the
best path through these cells that ends at each frame. All arrays are small enough for the processor's caches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.compare.grid_kernels import Products, Tile, write_aligned_rows
from marey.compiled import Floats1D, Floats2D, Floats3D, Ints2D, UInt8s2D, UInt16s2D, helper, kernel
from marey.find.index_kernels import Blocks
from marey.find.region_kernels import MarkArrays, Rules, write_kept, write_marks, write_units
from marey.find.search_kernels import CELL, PathEnds, choose_step


class SpanQuery(NamedTuple):
    """A query, and how it is compared.

    points : (F, M, 3) markers of the query's clip. roots : (M,) square roots of the markers' weights.
    weights : (2 L + 1,) weights of the frames in a window. running : whether these form a long triangle; see
        `grid_kernels.Tile`.
    start, stop : frames of the query, half-open.
    margin : number of frames around the query and the spans that decide which cells are kept.
    step, far : meters per unit of the grids' values, and the value of cells that are never used.
    coarse : values of kept cells are rounded to multiples of this many units.
    extra, cap : extra cost of a straight step, and maximum cost of a path, m^2.
    """

    points: Floats3D
    roots: Floats1D
    weights: Floats1D
    running: bool
    start: int
    stop: int
    margin: int
    step: float
    far: int
    coarse: int
    extra: float
    cap: float


class _Factors(NamedTuple):
    """Markers of frames times the roots of their weights, relative to a center: x, y and z; and sums of each frame."""

    x: Floats2D
    y: Floats2D
    z: Floats2D
    sums: Floats2D


@kernel
def compare_spans(blocks: Blocks, spans: Ints2D, query: SpanQuery, rules: Rules, out: PathEnds) -> int:
    """Find the best paths that end at each frame of each span; return the number of cells computed.

    spans : (S, 4) clip, first frame, end frame, and the first frame where a path may end.
    out : the paths of the frames of one span after the other; a path's first frame is relative to its span.
    """
    half, start, stop, margin = len(query.weights) // 2, query.start, query.stop, query.margin
    n_query = len(query.points)
    top, bottom = max(start - margin, 0), min(stop + margin, n_query)
    begin, end = max(top - half, 0), min(bottom + half, n_query)
    center = query.points[start, 0, 1]
    ours = _read_query(query, begin, end, center)
    n_rows, n_all, widest = bottom - top, end - begin, 1
    for s in range(len(spans)):
        widest = max(widest, spans[s, 2] - spans[s, 1])
    lines, codes = np.empty((2, 3, widest + 2)), np.empty((3, widest + 2), np.int64)
    n_cells = at = 0
    for s in range(len(spans)):
        clip, first, last = spans[s, 0], spans[s, 1], spans[s, 2]
        length = blocks.starts[clip + 1] - blocks.starts[clip]
        left, right = max(first - margin, 0), min(last + margin, length)
        since, until = max(left - half, 0), min(right + half, length)
        n, n_columns = until - since, right - left
        theirs = _read_clip(blocks, clip, since, until, query.roots, center)
        dot, cross, up = np.empty((n_all, n)), np.empty((n_all, n)), np.empty((n_all, n))
        _multiply(ours, theirs, dot, cross, up)
        distances, values = np.empty((n_rows, n_columns)), np.empty((n_rows, n_columns), np.uint16)
        tile = Tile((begin, since), (top, bottom, left, right), (n_query, length), (top, left), query.weights,
                    query.running and n > 2 * half + 1)  # fmt: skip
        write_aligned_rows(Products(dot, cross, up, ours.sums, theirs.sums), tile, distances)
        write_units(distances, query.step, query.far, values)
        marks, member = np.empty((n_rows, n_columns), np.uint8), np.empty((n_rows, n_columns), np.uint8)
        free, bound = np.empty((n_rows, n_columns), np.uint8), np.empty((n_rows, n_columns), np.uint8)
        kept = np.empty((n_rows, n_columns), np.uint8)
        write_marks(values, rules, MarkArrays(marks, member, free, bound))
        write_kept(marks, rules.bridge, kept)
        width = last - first
        ends = PathEnds(out.totals[at : at + width], out.counts[at : at + width], out.firsts[at : at + width])
        _find_paths(values, kept, (start - top, first - left), query, lines, codes, ends)
        ends.totals[: spans[s, 3] - first] = np.inf
        at += width
        n_cells += n_rows * n_columns
    return n_cells


@helper
def _read_query(query: SpanQuery, begin: int, end: int, center: float) -> _Factors:
    """Return the factors of the query's frames, each (R, M), relative to a marker of its first frame."""
    points, n = query.points, end - begin
    n_markers = points.shape[1]
    x, y, z = np.empty((n, n_markers)), np.empty((n, n_markers)), np.empty((n, n_markers))
    sums = np.zeros((3, n))
    origin_x, origin_z = points[query.start, 0, 0], points[query.start, 0, 2]
    for f in range(n):
        for m in range(n_markers):
            root = query.roots[m]
            x[f, m] = (points[begin + f, m, 0] - origin_x) * root
            y[f, m] = (points[begin + f, m, 1] - center) * root
            z[f, m] = (points[begin + f, m, 2] - origin_z) * root
            sums[0, f] += x[f, m] * root
            sums[1, f] += z[f, m] * root
            sums[2, f] += x[f, m] * x[f, m] + y[f, m] * y[f, m] + z[f, m] * z[f, m]
    return _Factors(x, y, z, sums)


@helper
def _read_clip(blocks: Blocks, clip: int, since: int, until: int, roots: Floats1D, center: float) -> _Factors:
    """Return the factors of frames of a clip, each (M, C), relative to a marker of the first of them."""
    values, starts, n_markers, n_features = blocks
    n, length = until - since, starts[clip + 1] - starts[clip]
    begin = (3 * n_markers + n_features) * starts[clip] + since
    x, y, z = np.empty((n_markers, n)), np.empty((n_markers, n)), np.empty((n_markers, n))
    sums = np.zeros((3, n))
    origin_x, origin_z = float(values[begin]), float(values[begin + 2 * n_markers * length])
    for m in range(n_markers):
        root = roots[m]
        px, py, pz = x[m], y[m], z[m]
        at = begin + m * length
        gx, gy = values[at : at + n], values[at + n_markers * length : at + n_markers * length + n]
        gz = values[at + 2 * n_markers * length : at + 2 * n_markers * length + n]
        for j in range(n):
            px[j] = (float(gx[j]) - origin_x) * root
            py[j] = (float(gy[j]) - center) * root
            pz[j] = (float(gz[j]) - origin_z) * root
            sums[0, j] += px[j] * root
            sums[1, j] += pz[j] * root
            sums[2, j] += px[j] * px[j] + py[j] * py[j] + pz[j] * pz[j]
    return _Factors(x, y, z, sums)


@helper
def _multiply(ours: _Factors, theirs: _Factors, dot: Floats2D, cross: Floats2D, up: Floats2D) -> None:
    """Write the products of all pairs of frames; see `grid_kernels`. Two markers at a time."""
    n_markers, n = theirs.x.shape
    for i in range(len(ours.x)):
        d, c, u = dot[i], cross[i], up[i]
        d[:], c[:], u[:] = 0.0, 0.0, 0.0
        for m in range(0, n_markers - 1, 2):
            x, y, z = ours.x[i, m], ours.y[i, m], ours.z[i, m]
            x2, y2, z2 = ours.x[i, m + 1], ours.y[i, m + 1], ours.z[i, m + 1]
            bx, by, bz = theirs.x[m], theirs.y[m], theirs.z[m]
            bx2, by2, bz2 = theirs.x[m + 1], theirs.y[m + 1], theirs.z[m + 1]
            for j in range(n):
                d[j] += (x * bx[j] + z * bz[j]) + (x2 * bx2[j] + z2 * bz2[j])
                c[j] += (x * bz[j] - z * bx[j]) + (x2 * bz2[j] - z2 * bx2[j])
                u[j] += y * by[j] + y2 * by2[j]
        if n_markers % 2:
            m = n_markers - 1
            x, y, z = ours.x[i, m], ours.y[i, m], ours.z[i, m]
            bx, by, bz = theirs.x[m], theirs.y[m], theirs.z[m]
            for j in range(n):
                d[j] += x * bx[j] + z * bz[j]
                c[j] += x * bz[j] - z * bx[j]
                u[j] += y * by[j]


@helper
def _find_paths(
    values: UInt16s2D,
    kept: UInt8s2D,
    corner: tuple[int, int],
    query: SpanQuery,
    lines: Floats3D,
    codes: Ints2D,
    out: PathEnds,
) -> None:
    """Find the best path through kept cells that ends at each frame, as `search_kernels.find_best_paths` does.

    corner : row and column of `values` and `kept` where the query and the span begin.
    lines, codes : (2, 3, C + 2), (3, C + 2) arrays to work with: costs of paths and of cells, in three rows.
    """
    n_frames, width = query.stop - query.start, len(out.totals)
    extra, cap, coarse = query.extra, query.cap, query.coarse
    unit = (query.step * coarse) * (query.step * coarse)
    lines[:, :, : width + 2] = np.inf
    out.totals[:] = np.inf
    was_alive = True
    for k in range(n_frames):
        now = k % 3
        row, is_kept = values[corner[0] + k], kept[corner[0] + k]
        here, here_cost, here_code = lines[0, now], lines[1, now], codes[now]
        before, before_cost, before_code = lines[0, now - 1], lines[1, now - 1], codes[now - 1]
        last, last_code = lines[0, now - 2], codes[now - 2]
        is_last, alive = k == n_frames - 1, False
        for j in range(width):
            column = j + 2
            here[column], here_cost[column] = np.inf, np.inf
            if not is_kept[corner[1] + j]:
                continue
            value = (int(row[corner[1] + j]) + coarse // 2) // coarse
            own = float(value * value) * unit
            here_cost[column] = own
            if k == 0:
                total, path = own, CELL + j
            else:
                down = last[column - 1] + before_cost[column] + extra
                across = before[column - 2] + here_cost[column - 1] + extra
                behind = before_code[column - 1], last_code[column - 1], before_code[column - 2]
                total, path = choose_step((before[column - 1], down, across), behind, True)
                total += own
            if total <= cap:
                here[column], here_code[column] = total, path
                alive = True
                if is_last:
                    out.totals[j], out.counts[j], out.firsts[j] = total, path // CELL, path % CELL
        if not alive and not was_alive:
            return
        was_alive = alive
