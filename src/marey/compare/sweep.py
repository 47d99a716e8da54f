"""Find the local minima of a large grid while its rows are computed; the grid itself is never stored.

The search works on one tile of the grid at a time, and on a few rows of a tile at a time. This keeps the products of
markers in the processor's cache while they are computed, summed along diagonals and searched for minima. One thread
works on a span; callers distribute spans over threads or processes.

All cells are first screened in single precision (`screen_kernels`); cells that this leaves undecided are measured in
double precision, one by one. If too many are undecided, for example where nothing moves, the entire tile is swept again
in double precision. In both cases, the result is the same as if D were computed in double precision everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from marey.compare.cell_kernels import decide_cells
from marey.compare.clouds import Clouds
from marey.compare.minima_kernels import find_minima
from marey.compare.pairing import PIECE, Pairing, Span, size
from marey.compare.screen_kernels import COLUMNS, ROWS, ScreenColumns, ScreenRows, ScreenTile, screen_tile
from marey.compare.sweep_kernels import Bounds, Frames, SweepState, SweepTile, average_windows, fill_frames, sweep_rows
from marey.core.arrays import Floats, Ints

# Maximum size of a tile in cells, and number of rows whose products are computed together, a multiple of `ROWS`. Wide
# tiles have fewer cells around them that only serve as neighbors; low strips of them stay in the cache.
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

Sides = Callable[[Clouds, Clouds, tuple[int, int], bool], "SweepFactors"]
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
        return _sweep_minima(pairing, (start, stop, first, last), inner, limit, lag, sides)
    return _find_in_cells(pairing, (start, min(stop, last - lag), max(first, start + lag), last), inner, limit, lag)


def _find_in_cells(pairing: Pairing, own: Span, inner: Span, limit: float, min_lag: int) -> Ints:
    """Do the same as `span_minima` for windows of any shape, by computing all cells of the span `own` and their
    neighbors first."""
    rows, columns = _extend_run(own[:2], inner[:2]), _extend_run(own[2:], inner[2:])
    values = np.empty((rows[1] - rows[0], columns[1] - columns[0]))
    pairing.fill(values, (*rows, *columns), 1)
    inside = (own[0] - rows[0], own[1] - rows[0], own[2] - columns[0], own[3] - columns[0])
    cells = find_minima(values, limit, 0, inside, (rows[0], columns[0]))
    return np.asarray(cells[cells[:, 1] - cells[:, 0] >= min_lag])


def _extend_run(run: tuple[int, int], inner: tuple[int, int]) -> tuple[int, int]:
    """Extend a run by one cell on each side, within `inner`, because minima at the edge need their neighbors."""
    return max(run[0] - 1, inner[0]), min(run[1] + 1, inner[1])


def _sweep_minima(pairing: Pairing, own: Span, inner: Span, limit: float, min_lag: int, sides: Sides) -> Ints:
    found = [np.empty((0, 2), dtype=np.int64)]
    sweeper = _Sweeper(pairing, own[3] - own[2], limit, min_lag)
    a, b = pairing.a, pairing.b
    bands = []
    for rows in even_runs(own[0], own[1], TILE_ROWS):
        tall = _extend_run(rows, inner[:2])
        bands.append((rows, tall, sides(a, b, tall, False)))
    for columns in even_runs(own[2], own[3], TILE_COLUMNS):
        wide = _extend_run(columns, inner[2:])
        if columns[1] - min_lag <= own[0]:
            continue
        right = sides(a, b, wide, True)
        for rows, tall, left in bands:
            # Leave out rows that have no cells right of the lag.
            stop = min(rows[1], columns[1] - min_lag)
            if stop <= rows[0]:
                break
            tile = (tall[0], min(tall[1], stop + 1), *wide)
            found.append(sweeper.find(left, right, (rows[0], stop, *columns), tile))
    cells = np.concatenate(found)
    # The cells of each tile are in order, and tiles come from left to right.
    return np.take(cells, cells[:, 0].argsort(kind="stable"), axis=0)


def decide_minima(pairing: Pairing, cells: Ints, limit: float) -> Ints:
    """Return the cells (M, 2) that are minima of D up to `limit` m^2, decided in double precision.

    cells : (N, 3) cells that may be minima, and their rivals, from `screen_tile`.
    """
    is_open = cells[:, 2] != 0
    if not is_open.any():
        return cells[:, :2]
    half = pairing.half
    lows, highs = cells[is_open, :2].min(axis=0) - half - 1, cells[is_open, :2].max(axis=0) + half + 2
    starts = np.maximum(lows, 0)
    levels = np.zeros(pairing.a.n_markers)
    ours, theirs = (
        _make_frames(clouds, (int(start) + half, int(stop) - half), half, levels, 1)
        for clouds, start, stop in zip((pairing.a, pairing.b), starts, highs, strict=True)
    )
    is_minimum, decided = ~is_open, np.empty(np.count_nonzero(is_open), dtype=bool)
    begins = (int(starts[0]), int(starts[1]))
    decide_cells(cells[is_open], ours, theirs, begins, pairing.frame_weights, limit, decided)
    is_minimum[is_open] = decided
    return cells[is_minimum, :2]


def even_runs(start: int, stop: int, largest: int) -> list[tuple[int, int]]:
    """Split the range start .. stop into as few parts of at most `largest` as possible, of about equal length."""
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
    """Return a function that builds `SweepFactors` and caches the last ones for other spans of the same clips."""
    return LastResults(partial(_build_side, frame_weights))


def _build_side(frame_weights: Floats, a: Clouds, b: Clouds, run: tuple[int, int], is_right: bool) -> SweepFactors:
    """Build the factors of clip b (`is_right`) or of clip a; see `SweepFactors.of`."""
    levels = 0.5 * sum(clouds.points[:: max(len(clouds) // 8, 1), :, 1].mean(axis=0) for clouds in (a, b))
    return SweepFactors.of(b if is_right else a, run, frame_weights, levels, is_right)


@dataclass(frozen=True, slots=True, eq=False)
class SweepFactors:
    """One factor of the matrix products that compare all frames of two clips.

    begin : first frame.
    frames : values of the frames, followed by zeros.
    means : (3, F - 2 half) mean x, mean z and spread of each window, from `average_windows`.
    units : divisors of the horizontal values and of the heights in single precision.
    screened : `ScreenRows` or `ScreenColumns`: the frames in single precision, with the path in double precision.
    """

    begin: int
    frames: Frames
    means: Floats
    units: tuple[float, float]
    screened: Any

    @classmethod
    def of(
        cls, clouds: Clouds, run: tuple[int, int], frame_weights: Floats, levels: Floats, is_right: bool
    ) -> SweepFactors:
        """Build the left or the right factor for the range of frames `run` (start, stop), extended by half a window at
        each end.

        levels : (M,) height of each marker that is subtracted, in meters.
        """
        half = len(frame_weights) // 2
        frames = _make_frames(clouds, run, half, levels, COLUMNS if is_right else ROWS)
        n_frames = run[1] - run[0] + 2 * half
        means = np.empty((3, n_frames - 2 * half))
        average_windows(frames.sums, frame_weights, means)
        # The longest frame of a left factor has length 1; its product with the longest of a right factor is `largest`.
        largest = 2.0**_TOTAL_BITS / (half + 1) ** 2 if is_right else 1.0
        units = tuple(math.sqrt(frames.sums[k].max()) / largest or 1.0 for k in (2, 3))
        flat, heights = (_round_to_single(m, unit) for m, unit in zip(frames[:2], units, strict=True))
        path, windows, spreads = frames.sums[:2].copy(), (half + 1) * means[:2], means[2].astype(np.float32)
        screened: ScreenRows | ScreenColumns
        if is_right:
            flat, heights = (
                np.ascontiguousarray(m.reshape(-1, COLUMNS, m.shape[1]).swapaxes(1, 2)) for m in (flat, heights)
            )
            screened = ScreenColumns(flat, heights, path, windows, spreads)
        else:
            path = np.pad(np.concatenate([path, -2.0 * path]), ((0, 0), (2 * half + 2, 0)))
            screened = ScreenRows(flat, _turn(flat), heights, path, windows, spreads)
        return cls(run[0] - half, frames, means, (units[0], units[1]), screened)


def _make_frames(clouds: Clouds, run: tuple[int, int], half: int, levels: Floats, multiple: int) -> Frames:
    """Return the frames of the range `run` (start, stop) of a clip, extended by half a window at each end.

    Heights are relative to `levels` (M,). Zeros follow, so that the number of frames is a multiple of `multiple`.
    """
    points, weights = clouds.points[run[0] - half : run[1] + half], clouds.weights
    if not weights.all():
        points, levels = points.compress(weights > 0, axis=1), levels.compress(weights > 0)
        weights = weights.compress(weights > 0)
    n_frames, n_markers = points.shape[:2]
    n = multiple * math.ceil(n_frames / multiple)
    frames = Frames(np.zeros((n, 2 * n_markers)), np.zeros((n, n_markers)), np.zeros((4, n)))
    center = points[:: max(n_frames // 4, 1), :, ::2].mean(axis=(0, 1))
    fill_frames(points, np.sqrt(weights), center, levels, frames)
    return frames


def _round_to_single(values: Floats, unit: float) -> NDArray[Any]:
    out = np.empty(values.shape, dtype=np.float32)
    return np.multiply(values, 1.0 / unit, out=out, casting="same_kind")


def _turn(flat: NDArray[Any]) -> NDArray[Any]:
    """Rotate markers (F, 2 M) on the floor so that products with other markers become cross products."""
    n_markers = flat.shape[1] // 2
    return np.concatenate([-flat[:, n_markers:], flat[:, :n_markers]], axis=1)


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
        self.found: Ints = np.empty((0, 3), dtype=np.int64)

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
        """Return cells (N, 3) as from `screen_tile`, or None if too many of them are undecided."""
        shape = tile[1] - tile[0], tile[3] - tile[2]
        units = (left.units[0] * right.units[0], left.units[1] * right.units[1])
        max_open = int(_MAX_OPEN * size(tile))
        room = (shape[0] + 1) // 2 * ((shape[1] + 1) // 2) + max_open + shape[1]
        if len(self.found) < room:
            self.found = np.empty((room, 3), dtype=np.int64)
        cells = ScreenTile(self.pad - 1, _STRIP, units, shape, *_places(own, tile), max_open)
        bounds = Bounds(self.limit, self.min_lag, slack)
        n = screen_tile(left.screened, right.screened, cells, bounds, self.found)
        return None if n < 0 else self.found[:n].copy()

    def _sweep(self, left: SweepFactors, right: SweepFactors, own: Span, tile: Span) -> Ints:
        """Return the minima (N, 2), found in double precision, one strip of rows after another."""
        pad, strip = self.pad, max(_STRIP, 2 * self.pad)
        flat, heights = right.frames[:2]
        # The rows of the cross products are turned, as in `ScreenRows`.
        factors = [
            (ours, np.ascontiguousarray(theirs.T))
            for ours, theirs in zip(
                (left.frames.flat, _turn(left.frames.flat), left.frames.heights), (flat, flat, heights), strict=True
            )
        ]
        n_columns = len(flat)
        step = max(PIECE // (strip * flat.shape[1]), 8)
        # Two strips in turn: rows of the strip before are still needed.
        products = np.zeros((3, 2 * strip, pad + n_columns))
        cells = SweepTile(*_paths_and_means(left, right, pad, tile), *_places(own, tile))
        room = np.empty(((strip + 2) * (tile[3] - tile[2] + 2) // 2, 2), dtype=np.int64)
        state = SweepState(np.zeros((3, pad + 1, pad + n_columns)), np.zeros((3, 2, pad + n_columns)), room)
        lines, bounds = np.full((3, tile[3] - tile[2] + 2), np.inf), Bounds(self.limit, self.min_lag, 0.0)
        found = []
        n_rows = tile[1] - tile[0] + 2 * (pad - 1)
        for start in range(0, n_rows, strip):
            stop = min(start + strip, n_rows)
            # Leave out columns left of the lag and of the neighbors there.
            skip = max(start + tile[0] - tile[2] + self.min_lag - 2, 0)
            first = start % (2 * strip)
            for out, (ours, theirs) in zip(products[:, first : first + stop - start, pad:], factors, strict=True):
                for k in range(skip, n_columns, step):
                    np.matmul(ours[start:stop], theirs[:, k : k + step], out=out[:, k : k + step])
            n_found = sweep_rows(products, lines, state, cells, (start, stop), bounds)
            found.append(room[:n_found].copy())
        return np.concatenate(found)


def _paths_and_means(
    left: SweepFactors, right: SweepFactors, n_before: int, tile: Span
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the paths of both sides after `n_before` zeros, and the means of their windows, as in `SweepTile`."""
    ours, theirs = (np.pad(side.frames.sums[:2], ((0, 0), (n_before, 0))) for side in (left, right))
    return ours, theirs, left.means[:, : tile[1] - tile[0]].copy(), right.means


def _places(own: Span, tile: Span) -> tuple[Span, tuple[int, int]]:
    """Return the span of a tile's own cells relative to the tile's first cell, and the position of that first cell in
    the grid."""
    inside = (own[0] - tile[0], own[1] - tile[0], own[2] - tile[2], own[3] - tile[2])
    return inside, (tile[0], tile[2])
