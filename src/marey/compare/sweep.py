"""Find the local minima of a large grid while its rows are computed; the grid itself is never stored.

Works on one tile of the grid at a time, and on a few rows of a tile at a time. This keeps the products of markers in
the processor's cache while they are computed, summed along diagonals and searched for minima. One thread works on a
span; callers distribute spans over threads or processes.

Products are first computed in single precision; cells that this leaves undecided are measured in double precision, one
by one. If too many are undecided, for example where nothing moves, the entire tile is swept again in double precision.
In both cases the minima are those of D in double precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.compare.clouds import Clouds
from marey.compare.minima_kernels import find_minima
from marey.compare.pairing import PIECE, Pairing, Span, size
from marey.compare.sweep_kernels import (
    Bounds,
    Frames,
    SweepState,
    SweepTile,
    average_windows,
    decide_cells,
    fill_frames,
    screen_rows,
    sweep_rows,
)
from marey.core.arrays import Floats, Ints

# Maximum size of a tile in cells, and number of rows whose products are computed together.
TILE_ROWS, TILE_COLUMNS = 512, 512
_STRIP = 96
# Maximum fraction of a tile's cells to measure one by one; for more, sweeping it in double precision is faster.
_MAX_OPEN = 0.015
# With larger errors, m^2, single precision decides nothing or overflows.
_LARGEST_ERROR = 1e6

Factors = tuple[NDArray[Any], ...]


def span_minima(pairing: Pairing, span: Span, limit: float, min_lag: int | None = None) -> Ints:
    """Return the cells (N, 2) of a span that are local minima of D up to `limit` m^2, in row-major order.

    As in `local_minima`, but only frame pairs with full windows count, as cells and as neighbors. With `min_lag`, only
    cells at least this many columns right of the diagonal count.
    """
    half = pairing.half
    inner = (half, len(pairing.a) - half, half, len(pairing.b) - half)
    start, stop = max(span[0], inner[0]), min(span[1], inner[1])
    first, last = max(span[2], inner[2]), min(span[3], inner[3])
    if min_lag is not None:
        first, stop = max(first, start + min_lag), min(stop, last - min_lag)
    if start >= stop or first >= last:
        return np.empty((0, 2), dtype=np.int64)
    own = (start, stop, first, last)
    lag = -len(pairing.a) if min_lag is None else min_lag
    n_columns = min(last - first, TILE_COLUMNS)
    if pairing.align and pairing.penalty is None and pairing.is_triangle(n_columns + 2 * half):
        cells = _swept(pairing, own, inner, limit, lag)
        return cells[np.lexsort((cells[:, 1], cells[:, 0]))]
    return _filled(pairing, own, inner, limit, lag)


def _filled(pairing: Pairing, own: Span, inner: Span, limit: float, min_lag: int) -> Ints:
    """Find the same minima for any window, from cells that are computed first."""
    rows, columns = _around(own[:2], inner[:2]), _around(own[2:], inner[2:])
    values = np.empty((rows[1] - rows[0], columns[1] - columns[0]))
    pairing.fill(values, (*rows, *columns), 1)
    inside = (own[0] - rows[0], own[1] - rows[0], own[2] - columns[0], own[3] - columns[0])
    cells = find_minima(values, limit, 0, inside, (rows[0], columns[0]))
    return np.asarray(cells[cells[:, 1] - cells[:, 0] >= min_lag])


def _around(run: tuple[int, int], inner: tuple[int, int]) -> tuple[int, int]:
    """Extend a run by one cell on each side, within `inner`: minima at the edge need their neighbors."""
    return max(run[0] - 1, inner[0]), min(run[1] + 1, inner[1])


def _swept(pairing: Pairing, own: Span, inner: Span, limit: float, min_lag: int) -> Ints:
    levels = 0.5 * sum(
        clouds.points[:: max(len(clouds) // 8, 1), :, 1].mean(axis=0) for clouds in (pairing.a, pairing.b)
    )
    found = [np.empty((0, 2), dtype=np.int64)]
    sweeper = _Sweeper(pairing, own[3] - own[2], limit, min_lag)
    bands = []
    for rows in even_runs(own[0], own[1], TILE_ROWS):
        tall = _around(rows, inner[:2])
        bands.append((rows, tall, Side.of(pairing.a, tall, pairing.frame_weights, levels)))
    for columns in even_runs(own[2], own[3], TILE_COLUMNS):
        wide = _around(columns, inner[2:])
        right = Side.of(pairing.b, wide, pairing.frame_weights, levels, sweeper.strip)
        for rows, tall, left in bands:
            if columns[1] - 1 - rows[0] < min_lag:
                break
            # Skip the full pieces left of the lag.
            part = right.since(rows[0] + min_lag - 1 - pairing.half)
            first = part.begin + pairing.half
            tile = (*tall, max(wide[0], first), wide[1])
            found.append(sweeper.find(left, part, (*rows, max(columns[0], first), columns[1]), tile))
    return np.concatenate(found)


def even_runs(start: int, stop: int, largest: int) -> list[tuple[int, int]]:
    """Split start .. stop into as few runs of at most `largest` as possible, of about equal length."""
    n = max(math.ceil((stop - start) / largest), 1)
    ends = [start + (stop - start) * k // n for k in range(n + 1)]
    return list(pairwise(ends))


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Frames of one clip, starting at `begin`, in pieces of equal length, padded with zeros.

    means : (3, F - 2 half) from `average_windows`.
    rows : flat and heights in single precision, as left factors.
    columns : flat, flat rotated by a right angle, and heights as right factors, (pieces, n, R); () for a left factor.
    """

    begin: int
    n_pieces: int
    frames: Frames
    means: Floats
    rows: Factors
    columns: Factors

    @classmethod
    def of(
        cls, clouds: Clouds, run: tuple[int, int], frame_weights: Floats, levels: Floats, n_rows: int | None = None
    ) -> Side:
        """Build a side from a run of frames and those around it.

        It is a right factor for `n_rows` rows, or a left factor if `n_rows` is None.
        """
        half = len(frame_weights) // 2
        begin = run[0] - half
        points, weights = clouds.points[begin : run[1] + half], clouds.weights
        if not weights.all():
            points, levels = points.compress(weights > 0, axis=1), levels.compress(weights > 0)
            weights = weights.compress(weights > 0)
        n_frames, n_markers = points.shape[:2]
        n_pieces = 1 if n_rows is None else math.ceil(n_frames / max(PIECE // (2 * n_markers * n_rows), 8))
        n = n_pieces * math.ceil(n_frames / n_pieces)
        frames = Frames(np.zeros((n, 2 * n_markers)), np.zeros((n, n_markers)), np.zeros((4, n)))
        center = points[:: max(n_frames // 4, 1), :, ::2].mean(axis=(0, 1))
        fill_frames(points, np.sqrt(weights), center, levels, frames)
        singles = frames.flat.astype(np.float32), frames.heights.astype(np.float32)
        means = np.empty((3, n_frames - 2 * half))
        average_windows(frames.sums, frame_weights, means)
        return cls(begin, n_pieces, frames, means, singles, () if n_rows is None else as_columns(singles, n_pieces))

    def since(self, frame: int) -> Side:
        """Drop the pieces of a right factor that end before `frame`."""
        n = len(self.frames.flat) // self.n_pieces
        skip = max(frame - self.begin, 0) // n
        if skip == 0:
            return self
        flat, heights, sums = self.frames
        frames = Frames(flat[skip * n :], heights[skip * n :], sums[:, skip * n :].copy())
        rows, columns = (
            (self.rows[0][skip * n :], self.rows[1][skip * n :]),
            tuple(each[skip:] for each in self.columns),
        )
        means = self.means[:, skip * n :].copy()
        return Side(self.begin + skip * n, self.n_pieces - skip, frames, means, rows, columns)


def as_columns(rows: Factors, n_pieces: int) -> Factors:
    """Return flat and heights as right factors."""
    flat, heights = (np.ascontiguousarray(m.reshape(n_pieces, -1, m.shape[1]).swapaxes(1, 2)) for m in rows)
    n_markers = heights.shape[1]
    return flat, np.concatenate([flat[:, n_markers:], -flat[:, :n_markers]], axis=1), heights


def bound_error(left: Side, right: Side) -> float:
    """Return the maximum error of D, in m^2, if products are computed in single precision.

    A sum of n products of rounded numbers, in any order, has an error of at most n + 2 units in the last place of the
    product of the factors' lengths (Higham, Accuracy and Stability, 3.1), and so has a mean of such sums. D has twice
    the sum for the heights, and twice the length of the vector of two sums for the floor. The rest is rounded a few
    times, and is never larger than the spreads of both windows.
    """
    unit = 2.0**-24
    n_flat, n_heights = left.frames.flat.shape[1], left.frames.heights.shape[1]
    flat, heights = (math.sqrt(left.frames.sums[k].max() * right.frames.sums[k].max()) for k in (2, 3))
    products = 2.0 * (math.sqrt(2.0) * (n_flat + 2) * flat + (n_heights + 2) * heights)
    # A little more, for rounding in double precision and for squares too small for single precision.
    spreads = float(left.means[2].max() + right.means[2].max())
    return float(1.01 * unit * (products + 8.0 * spreads) + 1e-21)


class _Sweeper:
    """Finds the minima of one tile after another, reusing its memory."""

    def __init__(self, pairing: Pairing, n_columns: int, limit: float, min_lag: int) -> None:
        self.weights, self.limit, self.min_lag = pairing.frame_weights, limit, min_lag
        self.pad = pairing.half + 1
        self.strip = max(_STRIP, self.pad)
        most = min(n_columns, TILE_COLUMNS) + 2
        self.found = np.empty(((self.strip + 2) * (most + 2) // 2, 3), dtype=np.int64)

    def find(self, left: Side, right: Side, own: Span, tile: Span) -> Ints:
        """Return the minima (N, 2) among a tile's own cells; its other cells only serve as neighbors."""
        error = bound_error(left, right)
        if error < _LARGEST_ERROR:
            cells, is_done = self._sweep(left, right, own, tile, 2.0 * error)
            if is_done:
                is_minimum = np.empty(len(cells), dtype=bool)
                begins = (left.begin, right.begin)
                decide_cells(cells, left.frames, right.frames, begins, self.weights, self.limit, is_minimum)
                return cells[is_minimum, :2]
        return self._sweep(left, right, own, tile, 0.0)[0][:, :2]

    def _sweep(self, first: Side, second: Side, own: Span, tile: Span, slack: float) -> tuple[Ints, bool]:
        """Return cells (N, 3) as in `SweepState.found`, and whether few enough of them are still undecided.

        Uses single precision if `slack` is not 0.
        """
        pad, strip = self.pad, self.strip
        (left, heights), right = first.rows, second.columns
        sweep: Any = screen_rows
        if not slack:
            (left, heights), right = first.frames[:2], as_columns(second.frames[:2], second.n_pieces)
            sweep = sweep_rows
        n_pieces, _, n = right[0].shape
        width = pad + n_pieces * n
        products = np.empty((3, pad + strip, width), dtype=left.dtype)
        products[..., :pad] = products[:, strip:] = 0.0
        lines = np.full((3, tile[3] - tile[2] + 2), np.inf, dtype=left.dtype)
        state = SweepState(np.zeros((3, pad + 1, width)), np.zeros((3, 2, width)), self.found)
        cells, bounds = self._tile(first, second, own, tile), Bounds(self.limit, self.min_lag, slack)
        found = [np.empty((0, 3), dtype=np.int64)]
        n_open, max_open = 0, _MAX_OPEN * size(tile)
        n_rows = tile[1] - tile[0] + 2 * (pad - 1)
        for start in range(0, n_rows, strip):
            stop = min(start + strip, n_rows)
            products[:, :pad] = products[:, strip:]
            factors = zip((left, left, heights), right, products[:, pad : pad + stop - start, pad:], strict=True)
            for a, b, product in factors:
                np.matmul(a[start:stop], b, out=product.reshape(stop - start, n_pieces, n).swapaxes(0, 1))
            n_found = sweep(products, lines, state, cells, (start, stop), bounds)
            if n_found > 0:
                found.append(self.found[:n_found].copy())
                n_open += int(np.count_nonzero(found[-1][:, 2]))
            if n_found < 0 or n_open > max_open:
                return found[0], False
        return np.concatenate(found), True

    def _tile(self, left: Side, right: Side, own: Span, tile: Span) -> SweepTile:
        our_path, their_path = (np.zeros((2, self.pad + len(side.frames.flat))) for side in (left, right))
        our_path[:, self.pad :], their_path[:, self.pad :] = left.frames.sums[:2], right.frames.sums[:2]
        inside = (own[0] - tile[0], own[1] - tile[0], own[2] - tile[2], own[3] - tile[2])
        return SweepTile(our_path, their_path, left.means, right.means, inside, (tile[0], tile[2]))
