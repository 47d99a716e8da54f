"""The local minima of a large grid, found while its rows are computed: the grid itself is never held.

A tile of the grid at a time, and a few rows of a tile at a time, so that the products of markers stay in the cache of
the processor that takes them, sums them along diagonals, and looks for minima. One thread works on a span; callers
distribute spans over threads or processes.

Products are taken in single precision first, and cells that this leaves open are measured in double precision, one by
one. Where too many are open, as where nothing moves, the entire tile is swept again in double precision. In both cases
the minima are those of D in double precision.
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

# Cells of a tile, and rows whose products are taken together.
TILE_ROWS, TILE_COLUMNS = 512, 512
_STRIP = 96
# Cells of a tile that are measured one by one, at most: more take longer than to sweep it in double precision.
_MAX_OPEN = 0.015
# From this error on, m^2, single precision decides nothing, or its numbers do not reach that far.
_LARGEST_ERROR = 1e6

Factors = tuple[NDArray[Any], ...]


def span_minima(pairing: Pairing, span: Span, limit: float, min_lag: int | None = None) -> Ints:
    """(N, 2) cells of a span that are local minima of D up to `limit` m^2, in row-major order; see `local_minima`.

    Only pairs of frames around which full windows fit count, as cells and as neighbors. With `min_lag`, only those at
    least this many columns right of the diagonal.
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
    """The same for any window, from cells that are computed first."""
    rows, columns = _around(own[:2], inner[:2]), _around(own[2:], inner[2:])
    values = np.empty((rows[1] - rows[0], columns[1] - columns[0]))
    pairing.fill(values, (*rows, *columns), 1)
    inside = (own[0] - rows[0], own[1] - rows[0], own[2] - columns[0], own[3] - columns[0])
    cells = find_minima(values, limit, 0, inside, (rows[0], columns[0]))
    return np.asarray(cells[cells[:, 1] - cells[:, 0] >= min_lag])


def _around(run: tuple[int, int], inner: tuple[int, int]) -> tuple[int, int]:
    """One cell more to each side, as far as there is one, so that a minimum at the edge is a minimum."""
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
            # What lies left of the lag is not computed, as far as full pieces go.
            part = right.since(rows[0] + min_lag - 1 - pairing.half)
            first = part.begin + pairing.half
            tile = (*tall, max(wide[0], first), wide[1])
            found.append(sweeper.find(left, part, (*rows, max(columns[0], first), columns[1]), tile))
    return np.concatenate(found)


def even_runs(start: int, stop: int, largest: int) -> list[tuple[int, int]]:
    """start .. stop in as few runs of at most `largest` as possible, about equally long."""
    n = max(math.ceil((stop - start) / largest), 1)
    ends = [start + (stop - start) * k // n for k in range(n + 1)]
    return list(pairwise(ends))


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Frames of one clip from `begin` on, in pieces of equal length, with zeros after the last frame.

    means : (3, F - 2 half) from `average_windows`.
    rows : flat and heights in single precision, as left factors. columns : the same as right factors, (pieces, n, R),
    flat, rotated by a right angle, heights; () if the side is not one.
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
        """A run of frames and those around it; as right factor with this many rows, else as left factor."""
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
        """Of a right factor, without the pieces that end before `frame`."""
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
    """Right factors of flat and heights."""
    flat, heights = (np.ascontiguousarray(m.reshape(n_pieces, -1, m.shape[1]).swapaxes(1, 2)) for m in rows)
    n_markers = heights.shape[1]
    return flat, np.concatenate([flat[:, n_markers:], -flat[:, :n_markers]], axis=1), heights


def bound_error(left: Side, right: Side) -> float:
    """The most by which D is wrong if products are taken in single precision, m^2.

    A sum of n products of rounded numbers, in whatever order, is wrong by at most n + 2 units of the last place of the
    factors' lengths multiplied (Higham, Accuracy and Stability, 3.1), and a mean of such sums by no more. D has twice
    the sum for the heights, and twice the length of the vector of two sums for the floor. What follows is rounded a few
    times, and never larger than the spreads of both windows.
    """
    unit = 2.0**-24
    n_flat, n_heights = left.frames.flat.shape[1], left.frames.heights.shape[1]
    flat, heights = (math.sqrt(left.frames.sums[k].max() * right.frames.sums[k].max()) for k in (2, 3))
    products = 2.0 * (math.sqrt(2.0) * (n_flat + 2) * flat + (n_heights + 2) * heights)
    # Somewhat more, for what is rounded in double precision, and for squares too small for single precision.
    spreads = float(left.means[2].max() + right.means[2].max())
    return float(1.01 * unit * (products + 8.0 * spreads) + 1e-21)


class _Sweeper:
    """Finds the minima of one tile after another, in memory that serves all of them."""

    def __init__(self, pairing: Pairing, n_columns: int, limit: float, min_lag: int) -> None:
        self.weights, self.limit, self.min_lag = pairing.frame_weights, limit, min_lag
        self.pad = pairing.half + 1
        self.strip = max(_STRIP, self.pad)
        most = min(n_columns, TILE_COLUMNS) + 2
        self.found = np.empty(((self.strip + 2) * (most + 2) // 2, 3), dtype=np.int64)

    def find(self, left: Side, right: Side, own: Span, tile: Span) -> Ints:
        """(N, 2) the minima in a tile's own cells; its other cells are their neighbors."""
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
        """(N, 3) see `SweepState.found`, in single precision if there is any slack; False if too many are open."""
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
