"""Find the local minima of a large grid while its rows are computed; the grid itself is never stored.

The search works on one tile of the grid at a time, and on a few rows of a tile at a time. This keeps the products of
markers in the processor's cache while they are computed, summed along diagonals and searched for minima. One thread
works on a span; callers distribute spans over threads or processes.

All cells are first screened in single precision; cells that this leaves undecided are measured in double precision, one
by one. If too many are undecided, for example where nothing moves, the entire tile is swept again in double precision.
In both cases the minima are those of D in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from marey.compare.cell_kernels import decide_cells
from marey.compare.clouds import Clouds
from marey.compare.minima_kernels import find_minima
from marey.compare.pairing import PIECE, Pairing, Span, size
from marey.compare.sweep_kernels import (
    Bounds,
    Frames,
    ScreenState,
    ScreenTile,
    SweepState,
    SweepTile,
    average_windows,
    fill_frames,
    screen_rows,
    sweep_rows,
)
from marey.core.arrays import Floats, Ints

# Maximum size of a tile in cells, and number of rows whose products are computed together. Wide tiles have fewer cells
# around them that only serve as neighbors; low strips of them stay in the cache.
TILE_ROWS, TILE_COLUMNS = 1024, 1024
_STRIP = 48
# Maximum fraction of a tile's cells to measure one by one; for more, sweeping it in double precision is faster.
_MAX_OPEN = 0.015
# Maximum error in m^2 for single precision; with a larger one, no cell would be decided, or values would overflow.
_LARGEST_ERROR = 1e6
# Totals of products in integers are less than 2 to this power, so that their next values fit into 32 bits.
_TOTAL_BITS = 30.6
# Number of results to keep: all sides of a clip of about 10,000 frames.
_MAX_RESULTS = 20

Factors = tuple[NDArray[Any], ...]
Sides = Callable[[Clouds, Clouds, tuple[int, int], int | None], "SweepFactors"]
P = ParamSpec("P")
T = TypeVar("T")


def span_minima(
    pairing: Pairing, span: Span, limit: float, min_lag: int | None = None, sides: Sides | None = None
) -> Ints:
    """Return the cells (N, 2) of a span that are local minima of D up to `limit` m^2, in row-major order.

    As in `local_minima`, but only frame pairs with full windows count, as cells and as neighbors. With `min_lag`, only
    cells at least this many columns right of the diagonal count. `sides` saves work on other spans of the same clips.
    """
    half = pairing.half
    inner = (half, len(pairing.a) - half, half, len(pairing.b) - half)
    start, stop = max(span[0], inner[0]), min(span[1], inner[1])
    first, last = max(span[2], inner[2]), min(span[3], inner[3])
    lag = -len(pairing.a) if min_lag is None else min_lag
    if start >= min(stop, last - lag) or first >= last:
        return np.empty((0, 2), dtype=np.int64)
    n_columns = min(last - first, TILE_COLUMNS)
    if pairing.align and pairing.penalty is None and pairing.is_triangle(n_columns + 2 * half):
        sides = make_sides(pairing.frame_weights) if sides is None else sides
        return _swept(pairing, (start, stop, first, last), inner, limit, lag, sides)
    return _find_in_cells(pairing, (start, min(stop, last - lag), max(first, start + lag), last), inner, limit, lag)


def _find_in_cells(pairing: Pairing, own: Span, inner: Span, limit: float, min_lag: int) -> Ints:
    """Find the same minima for any window shape, by computing all cells of the span first."""
    rows, columns = _extend_run(own[:2], inner[:2]), _extend_run(own[2:], inner[2:])
    values = np.empty((rows[1] - rows[0], columns[1] - columns[0]))
    pairing.fill(values, (*rows, *columns), 1)
    inside = (own[0] - rows[0], own[1] - rows[0], own[2] - columns[0], own[3] - columns[0])
    cells = find_minima(values, limit, 0, inside, (rows[0], columns[0]))
    return np.asarray(cells[cells[:, 1] - cells[:, 0] >= min_lag])


def _extend_run(run: tuple[int, int], inner: tuple[int, int]) -> tuple[int, int]:
    """Extend a run by one cell on each side, within `inner`, because minima at the edge need their neighbors."""
    return max(run[0] - 1, inner[0]), min(run[1] + 1, inner[1])


def _swept(pairing: Pairing, own: Span, inner: Span, limit: float, min_lag: int, sides: Sides) -> Ints:
    found = [np.empty((0, 2), dtype=np.int64)]
    sweeper = _Sweeper(pairing, own[3] - own[2], limit, min_lag)
    a, b = pairing.a, pairing.b
    bands = []
    for rows in even_runs(own[0], own[1], TILE_ROWS):
        tall = _extend_run(rows, inner[:2])
        bands.append((rows, tall, sides(a, b, tall, None)))
    for columns in even_runs(own[2], own[3], TILE_COLUMNS):
        wide = _extend_run(columns, inner[2:])
        if columns[1] - min_lag <= own[0]:
            continue
        right = sides(a, b, wide, sweeper.strip)
        for rows, tall, left in bands:
            # Leave out rows, and full pieces of columns, that have no cells right of the lag.
            stop = min(rows[1], columns[1] - min_lag)
            if stop <= rows[0]:
                break
            part = right.since(rows[0] + min_lag - 1 - pairing.half)
            first = part.begin + pairing.half
            tile = (tall[0], min(tall[1], stop + 1), max(wide[0], first), wide[1])
            found.append(sweeper.find(left, part, (rows[0], stop, max(columns[0], first), columns[1]), tile))
    cells = np.concatenate(found)
    # The cells of each tile are in order, and tiles come from left to right.
    return np.take(cells, cells[:, 0].argsort(kind="stable"), axis=0)


def decide_minima(pairing: Pairing, cells: Ints, limit: float) -> Ints:
    """Return which cells (M, 2) of (N, 3) cells with rivals are minima of D up to `limit` m^2, decided in double
    precision; the cells are as in `SweepState.found`."""
    is_open = cells[:, 2] != 0
    if not is_open.any():
        return cells[:, :2]
    half = pairing.half
    lows, highs = cells[is_open, :2].min(axis=0) - half - 1, cells[is_open, :2].max(axis=0) + half + 2
    starts = np.maximum(lows, 0)
    levels = np.zeros(pairing.a.n_markers)
    ours, theirs = (
        SweepFactors.of(clouds, (int(start) + half, int(stop) - half), pairing.frame_weights, levels).frames
        for clouds, start, stop in zip((pairing.a, pairing.b), starts, highs, strict=True)
    )
    is_minimum, decided = ~is_open, np.empty(np.count_nonzero(is_open), dtype=bool)
    begins = (int(starts[0]), int(starts[1]))
    decide_cells(cells[is_open], ours, theirs, begins, pairing.frame_weights, limit, decided)
    is_minimum[is_open] = decided
    return cells[is_minimum, :2]


def even_runs(start: int, stop: int, largest: int) -> list[tuple[int, int]]:
    """Split start .. stop into as few runs of at most `largest` as possible, of about equal length."""
    n = max(math.ceil((stop - start) / largest), 1)
    ends = [start + (stop - start) * k // n for k in range(n + 1)]
    return list(pairwise(ends))


class LastResults(Generic[P, T]):
    """A function with a cache of its last results, which threads share; other processes start with an empty cache."""

    def __init__(self, function: Callable[P, T]) -> None:
        self._function = function
        self.call: Callable[..., T] = lru_cache(_MAX_RESULTS)(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.call(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return LastResults, (self._function,)


def make_sides(frame_weights: Floats) -> Sides:
    """Return a function that builds sides of clips, and keeps the last ones for other spans of the same clips."""
    return LastResults(partial(_build_side, frame_weights))


def _build_side(frame_weights: Floats, a: Clouds, b: Clouds, run: tuple[int, int], n_rows: int | None) -> SweepFactors:
    """Build the side of clip a, or of clip b if `n_rows` is given; see `SweepFactors.of`."""
    levels = 0.5 * sum(clouds.points[:: max(len(clouds) // 8, 1), :, 1].mean(axis=0) for clouds in (a, b))
    return SweepFactors.of(a if n_rows is None else b, run, frame_weights, levels, n_rows)


@dataclass(frozen=True, slots=True, eq=False)
class SweepFactors:
    """One factor of the matrix products that compare all frames of two clips.

    begin : first frame. n_pieces : number of pieces of equal length that the frames are split into.
    frames : values of the frames, padded with zeros.
    means : (3, F - 2 half) from `average_windows`.
    units : divisors of the horizontal values and of the heights in single precision.
    rows : horizontal values and heights in single precision, laid out as left factors.
    columns : the same, laid out as right factors by `as_columns`; () for a left factor.
    """

    begin: int
    n_pieces: int
    frames: Frames
    means: Floats
    units: tuple[float, float]
    rows: Factors
    columns: Factors

    @classmethod
    def of(
        cls, clouds: Clouds, run: tuple[int, int], frame_weights: Floats, levels: Floats, n_rows: int | None = None
    ) -> SweepFactors:
        """Build the factor for the frames `run` (start, stop), including those of the windows at its ends.

        n_rows : rows of the left factor that a right factor is multiplied with; None makes a left factor.
        """
        half = len(frame_weights) // 2
        begin = run[0] - half
        points, weights = clouds.points[begin : run[1] + half], clouds.weights
        if not weights.all():
            points, levels = points.compress(weights > 0, axis=1), levels.compress(weights > 0)
            weights = weights.compress(weights > 0)
        n_frames, n_markers = points.shape[:2]
        n_pieces, largest = 1, 1.0
        if n_rows is not None:
            n_pieces = math.ceil(n_frames / max(PIECE // (2 * n_markers * n_rows), 8))
            largest = 2.0**_TOTAL_BITS / (half + 1) ** 2
        n = n_pieces * math.ceil(n_frames / n_pieces)
        frames = Frames(np.zeros((n, 2 * n_markers)), np.zeros((n, n_markers)), np.zeros((4, n)))
        center = points[:: max(n_frames // 4, 1), :, ::2].mean(axis=(0, 1))
        fill_frames(points, np.sqrt(weights), center, levels, frames)
        means = np.empty((3, n_frames - 2 * half))
        average_windows(frames.sums, frame_weights, means)
        # The longest frame of a left factor has length 1; its product with the longest of a right factor is `largest`.
        flat_unit, up_unit = (math.sqrt(frames.sums[k].max()) / largest or 1.0 for k in (2, 3))
        rows = (_round_to_single(frames.flat, flat_unit), _round_to_single(frames.heights, up_unit))
        columns = () if n_rows is None else as_columns(rows, n_pieces)
        return cls(begin, n_pieces, frames, means, (flat_unit, up_unit), rows, columns)

    def since(self, frame: int) -> SweepFactors:
        """Drop the pieces of a right factor that end before `frame`."""
        n = len(self.frames.flat) // self.n_pieces
        pieces = max(frame - self.begin, 0) // n
        if pieces == 0:
            return self
        skip = pieces * n
        flat, heights, sums = self.frames
        return replace(
            self,
            begin=self.begin + skip,
            n_pieces=self.n_pieces - pieces,
            frames=Frames(flat[skip:], heights[skip:], sums[:, skip:].copy()),
            means=self.means[:, skip:].copy(),
            rows=tuple(each[skip:] for each in self.rows),
            columns=tuple(each[:, pieces:] for each in self.columns),
        )


def _round_to_single(values: Floats, unit: float) -> NDArray[Any]:
    out = np.empty(values.shape, dtype=np.float32)
    return np.multiply(values, 1.0 / unit, out=out, casting="same_kind")


def as_columns(rows: Factors, n_pieces: int) -> Factors:
    """Return flat and heights as right factors: flat and flat rotated by a right angle (2, pieces, n, R), and heights
    (1, pieces, n, R)."""
    flat, heights = (np.ascontiguousarray(m.reshape(n_pieces, -1, m.shape[1]).swapaxes(1, 2)) for m in rows)
    n_markers = heights.shape[1]
    rotated = np.concatenate([flat[:, n_markers:], -flat[:, :n_markers]], axis=1)
    return np.stack([flat, rotated]), heights[None]


def bound_error(left: SweepFactors, right: SweepFactors, n_rows: int) -> float:
    """Return the maximum error of D, in m^2, if it is computed in single precision.

    A sum of n products of rounded numbers, in any order, has an error of at most n + 2 units in the last place of the
    product of the factors' lengths (Higham, Accuracy and Stability, 3.1), and so has a mean of such sums. Rounding the
    products to integers adds less than one integer unit; converting the totals back adds at most three units in the
    last place. Each of `n_rows` rows adds a few units of double precision to the second difference of the path's
    totals. D has twice the sum for the heights, and twice the length of the vector of two sums for the floor. The rest
    is rounded less than ten times, and is never larger than the spreads of both windows.
    """
    unit = 2.0**-24
    n_flat, n_heights = left.frames.flat.shape[1], left.frames.heights.shape[1]
    flat, heights = (math.sqrt(left.frames.sums[k].max() * right.frames.sums[k].max()) for k in (2, 3))
    path = math.prod(math.hypot(*np.abs(side.frames.sums[:2]).max(axis=1)) for side in (left, right))
    flat_unit, up_unit = (a * b for a, b in zip(left.units, right.units, strict=True))
    on_floor = unit * (n_flat + 5) * flat + flat_unit + 2.0**-53 * (4.0 * n_rows**2 + 16.0) * path
    products = 2.0 * (math.sqrt(2.0) * on_floor + unit * (n_heights + 6) * heights + up_unit)
    # Add a margin for rounding in double precision, and for squares that are too small for single precision.
    spreads = float(left.means[2].max() + right.means[2].max())
    return float(1.01 * (products + 10.0 * unit * spreads) + 1e-21)


class _Sweeper:
    """A search for the minima of one tile after another, which reuses its memory."""

    def __init__(self, pairing: Pairing, n_columns: int, limit: float, min_lag: int) -> None:
        self.weights, self.limit, self.min_lag = pairing.frame_weights, limit, min_lag
        self.pad = pairing.half + 1
        self.strip = max(_STRIP, 2 * self.pad)
        most = min(n_columns, TILE_COLUMNS) + 2
        self.found = np.empty(((self.strip + 2) * (most + 2) // 2, 3), dtype=np.int64)

    def find(self, left: SweepFactors, right: SweepFactors, own: Span, tile: Span) -> Ints:
        """Return the minima (N, 2) among a tile's own cells; its other cells only serve as neighbors."""
        error = bound_error(left, right, tile[1] - tile[0] + 2 * (self.pad - 1))
        if error < _LARGEST_ERROR:
            cells = self._screen(left, right, own, tile, 2.0 * error)
            if cells is not None:
                is_minimum = np.empty(len(cells), dtype=bool)
                begins = (left.begin, right.begin)
                decide_cells(cells, left.frames, right.frames, begins, self.weights, self.limit, is_minimum)
                return cells[is_minimum, :2]
        return self._sweep(left, right, own, tile)

    def _screen(self, left: SweepFactors, right: SweepFactors, own: Span, tile: Span, slack: float) -> Ints | None:
        """Return cells (N, 3) as in `ScreenState.found`, or None if too many of them are undecided."""
        n_before = 2 * self.pad
        width = n_before + len(right.frames.flat)
        state = ScreenState(np.zeros((9, width), dtype=np.int32), np.zeros((6, width)), self.found)
        units = (left.units[0] * right.units[0], left.units[1] * right.units[1])
        cells = ScreenTile(*_paths_and_means(left, right, n_before, tile), self.pad - 1, units, *_places(own, tile))
        lines = np.full((3, tile[3] - tile[2] + 2), np.inf, dtype=np.float32)
        bounds = Bounds(self.limit, self.min_lag, slack)
        return self._search(
            left.rows,
            right.columns,
            n_before,
            tile,
            lambda products, rows: screen_rows(products, lines, state, cells, rows, bounds),
        )

    def _sweep(self, left: SweepFactors, right: SweepFactors, own: Span, tile: Span) -> Ints:
        """Return the minima (N, 2), found in double precision."""
        pad, width = self.pad, self.pad + len(right.frames.flat)
        cells = SweepTile(*_paths_and_means(left, right, pad, tile), *_places(own, tile))
        state = SweepState(np.zeros((3, pad + 1, width)), np.zeros((3, 2, width)), self.found)
        lines, bounds = np.full((3, tile[3] - tile[2] + 2), np.inf), Bounds(self.limit, self.min_lag, 0.0)
        found = self._search(
            left.frames[:2],
            as_columns(right.frames[:2], right.n_pieces),
            pad,
            tile,
            lambda products, rows: sweep_rows(products, lines, state, cells, rows, bounds),
        )
        assert found is not None  # nothing is left undecided
        return found[:, :2]

    def _search(
        self,
        rows: Factors,
        columns: Factors,
        n_before: int,
        tile: Span,
        search: Callable[[NDArray[Any], tuple[int, int]], int],
    ) -> Ints | None:
        """Compute the products of one strip of rows after another, with `n_before` zeros before each, and search them.

        Return all cells (N, 3) that were found, or None if too many of them are undecided.
        """
        strip = self.strip
        _, n_pieces, _, n = columns[0].shape
        # Two strips in turn: rows of the strip before are still needed.
        products = np.empty((3, 2 * strip, n_before + n_pieces * n), dtype=rows[0].dtype)
        products[..., :n_before] = products[:, 2 * strip - n_before :] = 0.0
        found = [np.empty((0, 3), dtype=np.int64)]
        n_open, max_open = 0, _MAX_OPEN * size(tile)
        n_rows = tile[1] - tile[0] + 2 * (self.pad - 1)
        for start in range(0, n_rows, strip):
            stop = min(start + strip, n_rows)
            # Leave out pieces left of the lag and of the neighbors there.
            skip = max(start + tile[0] - tile[2] + self.min_lag - 2, 0) // n
            first = start % (2 * strip)
            out = products[:, first : first + stop - start, n_before + skip * n :]
            k = 0
            for a, b in zip(rows, columns, strict=True):
                part = out[k : k + len(b)].reshape(len(b), stop - start, n_pieces - skip, n)
                np.matmul(a[start:stop], b[:, skip:], out=part.swapaxes(1, 2))
                k += len(b)
            n_found = search(products, (start, stop))
            if n_found > 0:
                found.append(self.found[:n_found].copy())
                n_open += int(np.count_nonzero(found[-1][:, 2]))
            if n_found < 0 or n_open > max_open:
                return None
        return np.concatenate(found)


def _paths_and_means(
    left: SweepFactors, right: SweepFactors, n_before: int, tile: Span
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the paths of both sides after `n_before` zeros, and the means of their windows, as in `SweepTile`."""
    ours, theirs = (np.zeros((2, n_before + len(side.frames.flat))) for side in (left, right))
    ours[:, n_before:], theirs[:, n_before:] = left.frames.sums[:2], right.frames.sums[:2]
    return ours, theirs, left.means[:, : tile[1] - tile[0]].copy(), right.means


def _places(own: Span, tile: Span) -> tuple[Span, tuple[int, int]]:
    """Return the span of a tile's own cells relative to its first cell, and this cell."""
    inside = (own[0] - tile[0], own[1] - tile[0], own[2] - tile[2], own[3] - tile[2])
    return inside, (tile[0], tile[2])
