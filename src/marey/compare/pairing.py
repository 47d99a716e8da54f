"""Compute grids, complete or in blocks: a pair of clips, one tile of their grid at a time.

The sums of Kovar 4.8 are products of matrices whose rows are frames, followed by weighted sums along diagonals. Tiles
keep the products in the processor's caches, and separate centers preserve precision for clips that travel far.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marey.compare import grid_kernels
from marey.compare.clouds import Clouds
from marey.core.arrays import Bools, Floats, set_readonly

Span = tuple[int, int, int, int]
"""First row, stop row, first column, stop column (half-open)."""

TILE_ROWS, TILE_COLUMNS = 256, 1024
# Grids with fewer cells use one thread, because starting others would take longer than the work.
_SHARED = 60_000
# Matrix products are computed in pieces of at most this many multiplications: a matrix library uses one thread for
# these. Its own threads would wait for each other and for marey's, which is slow on a busy processor.
PIECE = 500_000
# Running totals are faster for windows of at least this many frames on either side.
_RUNNING = 3

# Maximum number of pending results per thread, because they take memory.
_AHEAD = 4


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Two clips to compare, and how to compare them.

    a, b : the markers of the clips.
    frame_weights : (2 L + 1,) weights of the window.
    align : whether each pair of frames is aligned first.
    penalty : None, infinity to refuse cells whose contacts differ, or the m^2 to add if all contacts differ.
    """

    a: Clouds
    b: Clouds
    frame_weights: Floats
    align: bool = True
    penalty: float | None = None

    def __post_init__(self) -> None:
        # Arrays that were sent to another process come back writable.
        object.__setattr__(self, "frame_weights", set_readonly(self.frame_weights.view()))

    @property
    def half(self) -> int:
        """Number of frames L on either side of a window's center."""
        return len(self.frame_weights) // 2

    def fill(self, out: Floats, span: Span, n_workers: int | None = None) -> None:
        """Write D of the cells of `span` to `out`, a C-contiguous array of exactly these cells.

        Up to `n_workers` threads are used. The full grid of a clip with itself is symmetric: one half is computed, the
        other is mirrored.
        """
        center, is_own = self.center(), self.a is self.b and span == (0, len(self.a), 0, len(self.b))
        n_workers = min(n_workers or count_workers(), 1 if size(span) < _SHARED else count_workers())
        with ThreadPoolExecutor(max_workers=n_workers) as pool:
            for first in range(span[2], span[3], TILE_COLUMNS):
                last = min(first + TILE_COLUMNS, span[3])
                right = self.side(self.b, first, last, center).as_right()
                tiles = list(_iterate_strips(span, first, last, is_own, n_workers))
                job = _Job(self, right, center, out, (span[0], span[2]), is_own)
                if n_workers == 1:
                    job.run(tiles)
                else:
                    list(pool.map(job.run, [tiles[k::n_workers] for k in range(n_workers)]))
        if is_own:
            np.fill_diagonal(out, 0.0)

    def center(self) -> Floats:
        """Return a point near the markers of both clips; heights are relative to it, because alignment keeps them."""
        ends = [clouds.points[[0, -1]].mean(axis=(0, 1)) for clouds in (self.a, self.b)]
        return np.asarray(0.5 * (ends[0] + ends[1]))

    def side(self, clouds: Clouds, start: int, stop: int, center: Floats, n_rows: int | None = 0) -> CloudFactors:
        """Return one side of the comparison: frames `start` to `stop`, padded by the frames that their windows need and
        split into pieces; see `CloudFactors.of`.
        """
        begin, end = max(start - self.half, 0), min(stop + self.half, len(clouds))
        points = clouds.points[begin:end]
        if self.align:
            near = points[:: max(len(points) // 4, 1)].mean(axis=(0, 1))
            center = np.array([near[0], center[1], near[2]])
        return CloudFactors.of(points, clouds.weights, center, begin, n_rows)

    def is_triangle(self, n_columns: int) -> bool:
        """Return whether to use running totals.

        They need a triangular window, and are faster only if it is long, but shorter than the grid of `n_columns`.
        """
        return n_columns > 2 * self.half + 1 and is_long_triangle(self.frame_weights)


def is_long_triangle(weights: Floats) -> bool:
    """Return whether the weights (2 L + 1,) of a window form a triangle that is long enough for running totals."""
    half = len(weights) // 2
    if half < _RUNNING:
        return False
    wanted = half + 1.0 - np.abs(np.arange(-half, half + 1))
    return bool(np.abs(weights * wanted.sum() / wanted - 1.0).max() < 1e-14)


def size(span: Span) -> int:
    """Return the number of cells in a span of rows and columns."""
    return (span[1] - span[0]) * (span[3] - span[2])


def count_workers() -> int:
    """Return the number of threads for the tiles of a large grid."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(available, 8))


def scratch_bytes(n_rows: int, n_columns: int, n_markers: int, half: int, n_workers: int) -> int:
    """Return the maximum temporary memory of `Pairing.fill` in bytes, without its result.

    n_rows, n_columns : numbers of frames of the two clips.
    half : frames of a window on each side of its middle frame.
    n_workers : number of threads.
    """
    tile_rows, tile_columns = (min(n, most) + 2 * half for n, most in ((n_rows, TILE_ROWS), (n_columns, TILE_COLUMNS)))
    # Sides are padded to full pieces, by less than an eighth except for the smallest.
    rows, columns = tile_rows + tile_rows // 8 + 8, tile_columns + tile_columns // 8 + 8
    products, running = 3 * rows * columns, 3 * (half + 4) * (columns + half) + 8 * columns
    left, right = (8 * n_markers + 3) * rows, (13 * n_markers + 6) * columns
    return 8 * (n_workers * (products + running + left) + right)


def _iterate_strips(span: Span, first: int, last: int, is_own: bool, n_workers: int) -> Iterator[Span]:
    """Yield the tiles of these columns, top to bottom; in the grid of a clip with itself, right of the diagonal."""
    n_rows = span[1] - span[0]
    n_strips = max(math.ceil(n_rows / TILE_ROWS), 1)
    height = math.ceil(n_rows / (math.ceil(n_strips / n_workers) * n_workers))
    for start in range(span[0], span[1], height):
        stop = min(start + height, span[1])
        if not is_own:
            yield start, stop, first, last
        elif last > start:
            yield start, stop, max(first, start), last


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """The computation of the tiles of some columns of the grid; several threads may share it.

    right : the columns as right factor. center : see `Pairing.center`. out, place : the array to write to, and the row
        and column of the grid at which it begins. is_own : whether a clip is compared with itself.
    """

    pairing: Pairing
    right: CloudFactors
    center: Floats
    out: Floats
    place: tuple[int, int]
    is_own: bool

    def run(self, tiles: list[Span]) -> None:
        scratch = _Scratch()
        for span in tiles:
            self._fill_distances(span, scratch)
            if self.pairing.penalty is not None:
                self._penalize(span)
            if self.is_own:
                _mirror(self.out, span)

    def _fill_distances(self, span: Span, scratch: _Scratch) -> None:
        pairing = self.pairing
        left = pairing.side(pairing.a, span[0], span[1], self.center)
        right = self.right.since(span[2] - pairing.half)
        dot = scratch.product(0, left.flat, right.flat)
        up = scratch.product(1, left.heights, right.heights)
        corner, sizes = (left.begin, right.begin), (len(pairing.a), len(pairing.b))
        running = pairing.is_triangle(dot.shape[1])
        tile = grid_kernels.Tile(corner, span, sizes, self.place, pairing.frame_weights, running)
        if pairing.align:
            cross = scratch.product(2, left.flat, right.rotated)
            products = grid_kernels.Products(dot, cross, up, left.sums, right.sums)
            grid_kernels.fill_aligned_rows(products, tile, self.out)
        else:
            grid_kernels.square_distances(dot, up, left.sums, right.sums)
            grid_kernels.fill_fixed_rows(dot, tile, self.out)

    def _penalize(self, span: Span) -> None:
        """Add a penalty in proportion to the contact points that differ, or set cells to infinity if any differs."""
        start, stop, first, last = span
        left, right = select_shared_contacts(self.pairing.a, self.pairing.b)
        here, there = left[start:stop].astype(np.float64), right[first:last].astype(np.float64)
        differ = here @ (1.0 - there).T + (1.0 - here) @ there.T
        row, column = self.place
        part = self.out[start - row : stop - row, first - column : last - column]
        if self.pairing.penalty == math.inf:
            part[differ > 0.5] = math.inf
        else:
            part += differ * (float(self.pairing.penalty or 0.0) / left.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class CloudFactors:
    """One clip's frames, starting at `begin`, as matrices whose products are Kovar's sums; see `grid_kernels.Factors`.

    Each matrix is divided into pieces of R frames, padded with zeros: (pieces, R, n), or (pieces, n, R) as a right
    factor. Matrix libraries multiply small matrices fastest in this layout. `sums` is (3, frames).
    """

    begin: int
    flat: Floats
    rotated: Floats
    heights: Floats
    sums: Floats

    @classmethod
    def of(cls, points: Floats, weights: Floats, center: Floats, begin: int, n_rows: int | None = 0) -> CloudFactors:
        """Compute the factors of points (F, M, 3), for markers with nonzero weight.

        `n_rows` sets the size of the pieces: 0 for products with pieces of equal size, a number for products with that
        many rows at a time, None for a single piece.
        """
        if not weights.all():
            points, weights = points.compress(weights > 0, axis=1), weights[weights > 0]
        n_frames, n_markers = points.shape[:2]
        room = PIECE / (2 * n_markers)
        most = n_frames if n_rows is None else max(int(room / n_rows if n_rows else math.sqrt(room)), 8)
        n_pieces = math.ceil(n_frames / most)
        shape = (n_pieces, math.ceil(n_frames / n_pieces))
        flat, rotated = np.zeros((*shape, 2 * n_markers)), np.zeros((*shape, 2 * n_markers))
        heights, sums = np.zeros((*shape, n_markers)), np.empty((3, n_frames))
        factors = grid_kernels.Factors(
            flat.reshape(-1, 2 * n_markers), rotated.reshape(-1, 2 * n_markers), heights.reshape(-1, n_markers), sums
        )
        grid_kernels.fill_factors(points, np.sqrt(weights), center, factors)
        return cls(begin, flat, rotated, heights, sums)

    def as_right(self) -> CloudFactors:
        """Return the same frames as a right factor."""
        flat, rotated, heights = (
            np.ascontiguousarray(matrix.swapaxes(1, 2)) for matrix in (self.flat, self.rotated, self.heights)
        )
        return replace(self, flat=flat, rotated=rotated, heights=heights)

    def since(self, frame: int) -> CloudFactors:
        """Drop the pieces of a right factor that end before `frame`."""
        n = self.flat.shape[2]
        skip = max(frame - self.begin, 0) // n
        if skip == 0:
            return self
        flat, rotated, heights = self.flat[skip:], self.rotated[skip:], self.heights[skip:]
        sums = np.ascontiguousarray(self.sums[:, skip * n :])
        return CloudFactors(self.begin + skip * n, flat, rotated, heights, sums)


class _Scratch:
    """Three arrays that are reused for all tiles."""

    def __init__(self) -> None:
        self._held: dict[int, Floats] = {}

    def product(self, k: int, left: Floats, right: Floats) -> Floats:
        """Return the products (R, C) of all frame pairs, written to the k-th array.

        left, right : matrices of the two clips in pieces, as in `CloudFactors`.
        """
        shape = (left.shape[0], left.shape[1], right.shape[0], right.shape[2])
        size = math.prod(shape)
        if k not in self._held or self._held[k].size < size:
            self._held[k] = np.empty(size)
        held = self._held[k][:size]
        np.matmul(left[:, None], right[None], out=held.reshape(shape).swapaxes(1, 2))
        return held.reshape(shape[0] * shape[1], shape[2] * shape[3])


def _mirror(out: Floats, span: Span) -> None:
    """Copy the cells right of the diagonal to the left of it."""
    start, stop, first, last = span
    if first < stop:
        square = out[start : min(stop, last), first : min(stop, last)]
        if first == start:
            square[:] = np.triu(square) + np.triu(square, 1).T
        first = stop
    if first < last:
        out[first:last, start:stop] = out[start:stop, first:last].T


def select_shared_contacts(a: Clouds, b: Clouds) -> tuple[Bools, Bools]:
    """Return the contact masks (F, K) of both clips, for the points that both have."""
    if a.contacts is None or b.contacts is None:
        nothing = np.zeros((1, 0), dtype=bool)
        return nothing, nothing
    shared = [name for name in a.contacts.names if name in b.contacts.names]
    columns_a, columns_b = ([c.index(name) for name in shared] for c in (a.contacts, b.contacts))
    return a.contacts.mask[:, columns_a], b.contacts.mask[:, columns_b]


# Threads for blocks of work ----------------------------------------------------------------------------------------


def choose_runner(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return the mapping function for a builder whose blocks are compiled and use one thread each.

    ``map`` means all cores of this process. Any other `run` decides by itself how many blocks to compute at once.
    """
    return _map_on_threads if run is map else run


def _map_on_threads(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Map `function` over `items` on several threads, and yield the results in order."""
    wanted = list(items)
    n = min(count_workers(), len(wanted))
    if n < 2:
        yield from map(function, wanted)
        return
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(n) as pool:
        try:
            for item in wanted:
                waiting.append(pool.submit(function, item))
                if len(waiting) > _AHEAD * n:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
