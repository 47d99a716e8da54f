"""Compare a query with parts of clips of an index, the spans, by the rules of a match web.

First, pose features give lower bounds of D (`marey.compare.pose_bounds`). If every path through a span costs too much
by these bounds, the span is skipped. Otherwise the cells that cheap paths can use form a band around a diagonal. In
this band, compute D of the cells and of some cells around them, find the cells that a match web would keep, and find
the best path through them that ends at each frame. All arrays are small enough for the processor's caches.

A path has a mean D of at most T if the sum of D - T along it is at most 0. The sum is then also at most 0 with lower
bounds in place of D. So the smallest sums over all paths to a cell and from it show whether such a path can use it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats3D, Ints2D, Singles2D, UInt8s2D, UInt16s2D, helper, kernel
from marey.find.diagonal_kernels import FrameFactors, measure_diagonal, multiply, read_clip, read_points
from marey.find.index_kernels import Blocks, add_squares
from marey.find.region_kernels import MarkArrays, Rules, write_kept, write_marks
from marey.find.search_kernels import CELL, Behind, PathEnds, extend_path

# Number of diagonals whose products are computed at a time.
_LAGS = 8
# Possible ends of paths that are more frames apart than this are compared separately.
_APART = 4
_INF = np.float32(np.inf)


class SpanQuery(NamedTuple):
    """A query, and how it is compared.

    points : (F, M, 3) markers of the query's clip. roots : (M,) square roots of the markers' weights.
    features : (R, K) features of the query's frames, and of the frames around them that windows need.
    weights : (2 L + 1,) weights of the frames in a window.
    start, stop : frames of the query, half-open.
    margin : number of frames around the query and the band that decide which cells are kept.
    step, far : meters per unit of the grids' values, and the value of cells that are never used.
    coarse : values of kept cells are rounded to multiples of this many units.
    extra, cap : extra cost of a straight step, and maximum cost of a path, m^2.
    max_mean : maximum mean D of a path, m^2.
    """

    points: Floats3D
    roots: Floats1D
    features: Singles2D
    weights: Floats1D
    start: int
    stop: int
    margin: int
    step: float
    far: int
    coarse: int
    extra: float
    cap: float
    max_mean: float


class _Bounds(NamedTuple):
    """Lower bounds of D for a span, and sums along paths; columns begin at 2, with infinity or 0 around them.

    poses : (R, C + 2 L) squared distances of features.
    excess : (n, C + 4) lower bounds of D, minus the maximum mean.
    to : (n + 1, C + 4) smallest sum of a path from the first row to each cell, from row 1 on.
    back : (3, C + 4) smallest sum of a path from each cell to the last row, for three rows.
    band : (n, 2) columns of each row that paths can use, half-open, counted from the first of the span.
    """

    poses: Singles2D
    excess: Singles2D
    to: Singles2D
    back: Singles2D
    band: Ints2D


class _QueryRows(NamedTuple):
    """Frames `top` to `bottom` of the query's clip that are compared, and their factors."""

    factors: FrameFactors
    top: int
    bottom: int


class _Scratch(NamedTuple):
    """Work arrays.

    band : see `_Bounds`.
    lines, codes : (2, 3, C + 2), (3, C + 2) costs of paths and of cells, and codes of paths, in three rows.
    """

    band: Ints2D
    lines: Floats3D
    codes: Ints2D


@kernel
def compare_spans(blocks: Blocks, spans: Ints2D, query: SpanQuery, rules: Rules, out: PathEnds) -> int:
    """Find the best paths that end at each frame of each span; return the number of cells whose D was computed.

    spans : (S, 4) clip, first frame, end frame, and the first frame where a path may end.
    out : the paths of the frames of one span after the other; a path's first frame is relative to its span.
    """
    half, start, stop, margin = len(query.weights) // 2, query.start, query.stop, query.margin
    n_query, n = len(query.points), query.stop - query.start
    top, bottom = max(start - margin, 0), min(stop + margin, n_query)
    above, below = max(top - half, 0), min(bottom + half, n_query)
    factors = read_points(query.points, query.points[start, 0], above, below, query.roots, query.weights)
    ours = _QueryRows(factors, top, bottom)
    widest = 1
    for s in range(len(spans)):
        widest = max(widest, spans[s, 2] - spans[s, 1])
    bounds = _Bounds(
        np.empty((len(query.features), widest + 2 * half), np.float32),
        np.zeros((n, widest + 4), np.float32),
        np.full((n + 1, widest + 4), _INF, np.float32),
        np.empty((3, widest + 4), np.float32),
        np.empty((n, 2), np.int64),
    )
    work = _Scratch(bounds.band, np.empty((2, 3, widest + 2)), np.empty((3, widest + 2), np.int64))
    n_cells = at = 0
    for s in range(len(spans)):
        clip, first, last = spans[s, 0], spans[s, 1], spans[s, 2]
        width = last - first
        ends = PathEnds(out.totals[at : at + width], out.counts[at : at + width], out.firsts[at : at + width])
        ends.totals[:] = np.inf
        _bound_cells(blocks, clip, first, last, query, bounds)
        _sum_forward(bounds, width)
        possible = bounds.to[n, 2 : width + 2]
        j = spans[s, 3] - first
        while j < width:
            if possible[j] > 0.0:
                j += 1
                continue
            final = j
            for other in range(j + 1, width):
                if other - final > _APART:
                    break
                if possible[other] <= 0.0:
                    final = other
            _find_band(bounds, j, final)
            n_cells += _compare_band(blocks, (clip, first, last), (j, final), query, rules, ours, work, ends)
            j = final + 1
        at += width
    return n_cells


@helper
def _bound_cells(blocks: Blocks, clip: int, first: int, last: int, query: SpanQuery, out: _Bounds) -> None:
    """Write `out.excess` of frames `first` to `last` of a clip. Frames of windows beyond the end of a clip count as
    equal, which makes bounds only smaller."""
    values, starts, n_markers, n_features = blocks
    half, width, n_query = len(query.weights) // 2, last - first, len(query.features)
    begin = max(query.start - half, 0)
    length = starts[clip + 1] - starts[clip]
    since, until = max(first - half, 0), min(last + half, length)
    n = until - since
    at = (3 * n_markers + n_features) * starts[clip] + 3 * n_markers * length + since
    for i in range(n_query):
        line = out.poses[i]
        line[:n] = 0.0
        for d in range(0, n_features, 4):
            add_squares(values, at + d * length, length, query.features[i], d, line, n)
    mean = np.float32(-query.max_mean)
    for k in range(query.stop - query.start):
        row = out.excess[k, 2 : width + 2]
        row[:] = mean
        for r in range(-half, half + 1):
            i = query.start + k + r - begin
            if i < 0 or i >= n_query:
                continue
            low, high = max(since - first - r, 0), min(until - first - r, width)
            weight = np.float32(query.weights[half + r])
            target, given = row[low:high], out.poses[i, first + low + r - since : first + high + r - since]
            for j in range(high - low):
                target[j] += weight * given[j]


@helper
def _sum_forward(bounds: _Bounds, width: int) -> None:
    """Write `bounds.to`: the smallest sum of a path from the first row to each cell."""
    excess, to = bounds.excess, bounds.to
    for j in range(2, width + 2):
        to[1, j] = excess[0, j]
    for k in range(1, len(excess)):
        here, diagonal, wide = to[k + 1, 2 : width + 2], to[k, 1 : width + 1], to[k, :width]
        high, own = to[k - 1, 1 : width + 1], excess[k, 2 : width + 2]
        left, above = excess[k, 1 : width + 1], excess[k - 1, 2 : width + 2]
        for j in range(width):
            x, y = diagonal[j], high[j] + above[j]
            x = x if x < y else y
            y = wide[j] + left[j]
            x = x if x < y else y
            here[j] = x + own[j]


@helper
def _find_band(bounds: _Bounds, j: int, final: int) -> None:
    """Write the band of the paths that end at columns `j` to `final`."""
    excess, to, back, band = bounds.excess, bounds.to, bounds.back, bounds.band
    n = len(excess)
    low = max(j - 2 * n, 0)
    width = final + 1 - low
    back[:, low + 2 : final + 5] = _INF
    for k in range(n - 1, -1, -1):
        here, own = back[k % 3, low + 2 : final + 3], excess[k, low + 2 : final + 3]
        if k == n - 1:
            for c in range(j - low, width):
                here[c] = own[c]
        else:
            diagonal, wide = back[(k + 1) % 3, low + 3 : final + 4], back[(k + 1) % 3, low + 4 : final + 5]
            high, beside = back[(k + 2) % 3, low + 3 : final + 4], excess[k + 1, low + 3 : final + 4]
            for c in range(width):
                x, y = high[c], wide[c]
                x = (x if x < y else y) + beside[c]
                y = diagonal[c]
                here[c] = (x if x < y else y) + own[c]
        came = to[k + 1, low + 2 : final + 3]
        begin, end = width, 0
        for c in range(width):
            if came[c] + here[c] - own[c] <= 0.0:
                begin, end = min(begin, c), c + 1
        band[k, 0], band[k, 1] = low + begin, low + end
    for k in range(n - 2, -1, -1):
        band[k, 0] = min(band[k, 0], band[k + 1, 0])
    for k in range(1, n):
        band[k, 1] = max(band[k, 1], band[k - 1, 1])


@helper
def _compare_band(
    blocks: Blocks,
    span: tuple[int, int, int],
    chosen: tuple[int, int],
    query: SpanQuery,
    rules: Rules,
    ours: _QueryRows,
    work: _Scratch,
    out: PathEnds,
) -> int:
    """Find the best paths that end at the chosen frames of a span, first and last; return the number of cells computed.

    span : clip, first frame and end frame. out : the paths of the span.
    """
    (clip, first, _), (factors, top, bottom), band, margin = span, ours, work.band, query.margin
    n_rows, length = bottom - top, blocks.starts[clip + 1] - blocks.starts[clip]
    columns = _widen_band(band, margin, query.start - top, first, n_rows, length)
    left, right = columns[0, 0], columns[n_rows - 1, 1]
    columns -= left
    n_columns = right - left
    low, high = length, -len(query.points)
    for i in range(n_rows):
        low, high = min(low, left + columns[i, 0] - top - i), max(high, left + columns[i, 1] - 1 - top - i)
    rows = np.empty((high + 1 - low, 2), np.int64)
    rows[:, 0], rows[:, 1] = bottom, top
    for i in range(n_rows):
        for j in range(columns[i, 0], columns[i, 1]):
            lag = left + j - top - i - low
            rows[lag, 0], rows[lag, 1] = min(rows[lag, 0], top + i), top + i + 1
    height = query.points[query.start, 0, 1]
    theirs = read_clip(blocks, clip, left, right, height, query.roots, query.weights)
    values = np.full((n_rows, n_columns), np.uint16(query.far))
    products, totals, line = np.empty((_LAGS, 3, factors.x.shape[1])), np.empty((3, n_rows)), np.empty(n_rows)
    n_cells = 0
    for group in range(low, high + 1, _LAGS):
        end = min(group + _LAGS, high + 1)
        begin, until = bottom, top
        for lag in range(group, end):
            begin, until = min(begin, rows[lag - low, 0]), max(until, rows[lag - low, 1])
        half = len(query.weights) // 2
        multiply(factors, theirs, (group, end), (begin - half, until + half), products)
        for lag in range(group, end):
            start, stop = rows[lag - low, 0], rows[lag - low, 1]
            if start < stop:
                sizes = len(query.points), length
                diagonal = lag, start, stop
                measure_diagonal(factors, theirs, diagonal, sizes, query.weights, products[lag - group], totals, line)
                _write_units(line[: stop - start], query, values, start - top, start + lag - left)
                n_cells += stop - start
    for i in range(n_rows):
        values[i, : columns[i, 0]], values[i, columns[i, 1] :] = np.uint16(query.far), np.uint16(query.far)
    marks, member = np.zeros((n_rows, n_columns), np.uint8), np.empty((n_rows, n_columns), np.uint8)
    free, bound = np.empty((n_rows, n_columns), np.uint8), np.empty((n_rows, n_columns), np.uint8)
    kept = np.zeros((n_rows, n_columns), np.uint8)
    write_marks(values, columns, rules, MarkArrays(marks, member, free, bound))
    write_kept(marks, columns, rules.bridge, kept)
    _find_paths(values, kept, columns, (query.start - top, first - left), chosen, query, work, out)
    return n_cells


@helper
def _widen_band(band: Ints2D, margin: int, above: int, first: int, n_rows: int, length: int) -> Ints2D:
    """Return the columns (R, 2) that are compared in each row: the band, and `margin` frames along and across diagonals
    around it, in a clip of `length` frames.

    above : number of rows before the query. first : frame of the clip where the columns of the band begin.
    """
    columns = np.empty((n_rows, 2), np.int64)
    for i in range(n_rows):
        near, far = length, -length
        for k in range(max(i - above - margin, 0), min(i - above + margin + 1, len(band))):
            near, far = min(near, band[k, 0] - k), max(far, band[k, 1] - k)
        shift = first + i - above
        columns[i, 0], columns[i, 1] = max(shift + near - margin, 0), min(shift + far + margin, length)
    return columns


@helper
def _write_units(line: Floats1D, query: SpanQuery, values: UInt16s2D, row: int, column: int) -> None:
    """Write D of a diagonal as square roots in units of `query.step`, from a row and a column on."""
    scale, far = 1.0 / query.step, query.far
    for k in range(len(line)):
        line[k] = math.sqrt(line[k]) * scale + 0.5
    for k in range(len(line)):
        root = line[k]
        values[row + k, column + k] = far if root >= far else np.uint16(root)


@helper
def _find_paths(
    values: UInt16s2D,
    kept: UInt8s2D,
    columns: Ints2D,
    corner: tuple[int, int],
    chosen: tuple[int, int],
    query: SpanQuery,
    work: _Scratch,
    out: PathEnds,
) -> None:
    """Find the best path through kept cells that ends at each chosen frame, as `search_kernels.find_best_paths` does.

    columns : (R, 2) columns of each row of `values` and `kept`.
    corner : row and column of `values` and `kept` where the query and the span begin; the column may be negative.
    chosen : first and last frame of the span at which paths may end.
    """
    lines, codes = work.lines, work.codes
    n_frames, width = query.stop - query.start, len(out.totals)
    extra, cap, coarse = query.extra, query.cap, query.coarse
    unit = (query.step * coarse) * (query.step * coarse)
    lines[:, :, : width + 2] = np.inf
    was_alive = True
    for k in range(n_frames):
        now = k % 3
        row, is_kept = values[corner[0] + k], kept[corner[0] + k]
        here, here_cost, here_code = lines[0, now], lines[1, now], codes[now]
        before, last = lines[:, now - 1], lines[:, now - 2]
        behind = Behind(here_cost, before[0], before[1], codes[now - 1], last[0], codes[now - 2])
        is_last, alive = k == n_frames - 1, False
        begin = max(columns[corner[0] + k, 0] - corner[1], 0)
        here[begin : begin + 2], here_cost[begin : begin + 2] = np.inf, np.inf
        for j in range(begin, min(columns[corner[0] + k, 1] - corner[1], chosen[1] + 1)):
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
                total, path = extend_path(behind, column, extra, True)
            if total <= cap:
                here[column], here_code[column] = total, path
                alive = True
                if is_last and j >= chosen[0]:
                    out.totals[j], out.counts[j], out.firsts[j] = total, path // CELL, path % CELL
        if not alive and not was_alive:
            return
        was_alive = alive
