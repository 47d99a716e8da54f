"""Split distance grids into tiles, the unit of work of a build, and compute the kept cells of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from marey.compare import Clouds
from marey.compare.pairing import Pairing, Span
from marey.core.arrays import Bools, Floats
from marey.find.cells import TOO_FAR, Cells, Units, join_columns, join_rows
from marey.find.region import find_halo, find_kept_cells, quantize
from marey.find.region_kernels import Rules

# Maximum side of a tile in cells. Tiles overlap in their margins, so fewer tiles means fewer cells computed twice.
SIDE = 2048
# Number of rows of D held in memory at a time.
_BAND = 256


@dataclass(frozen=True, slots=True)
class GridTile:
    """A tile of the grid of clips a <= b. Its span is first row, end row, first column, end column; ends are
    exclusive."""

    a: int
    b: int
    span: Span

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return (self.span[1] - self.span[0]) * (self.span[3] - self.span[2])


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Callable that computes which cells of a tile are kept.

    clouds : point clouds of each clip.
    frame_weights : (2 L + 1,) weights of the frames in a window.
    rules : which cells to keep.
    masks : for each clip, a mask (F,) of the frames to use, or None for all.
    """

    clouds: Sequence[Clouds]
    frame_weights: Floats
    rules: Rules
    masks: Sequence[Bools | None]

    def __call__(self, tile: GridTile) -> NDArray[np.uint8]:
        """Compute which cells of a tile are kept, and pack them."""
        return pack_cells(self.find_cells(tile))

    def find_cells(self, tile: GridTile) -> Cells:
        """Compute which cells of a tile are kept. In the grid of a clip with itself, only cells on the diagonal or to
        the right of it are kept.
        """
        start, stop, first, last = tile.span
        shape = (stop - start, last - first)
        if not (self._mask(tile.a, start, stop).any() and self._mask(tile.b, first, last).any()):
            return Cells.from_grid(np.zeros(shape, dtype=np.uint16), np.zeros(shape, dtype=bool))
        around = self._around(tile)
        values = self._values(tile, around)
        if self.masks[tile.a] is not None:
            values[~self._mask(tile.a, *around[:2])] = TOO_FAR
        if self.masks[tile.b] is not None:
            values[:, ~self._mask(tile.b, *around[2:])] = TOO_FAR
        kept = find_kept_cells(values, self.rules)
        top, left = start - around[0], first - around[2]
        kept = kept[top : top + shape[0], left : left + shape[1]]
        if tile.a == tile.b:
            kept = np.triu(kept, start - first)
        return Cells.from_grid(values[top : top + shape[0], left : left + shape[1]], kept)

    def _around(self, tile: GridTile) -> Span:
        """Return the span of the tile plus a margin of all cells that affect it."""
        start, stop, first, last = tile.span
        n_rows, n_columns = len(self.clouds[tile.a]), len(self.clouds[tile.b])
        halo = find_halo(self.rules)
        return max(start - halo, 0), min(stop + halo, n_rows), max(first - halo, 0), min(last + halo, n_columns)

    def _mask(self, clip: int, start: int, stop: int) -> Bools:
        mask = self.masks[clip]
        return np.ones(stop - start, dtype=bool) if mask is None else mask[start:stop]

    def _values(self, tile: GridTile, span: Span) -> Units:
        """Compute the square roots of D in units of `cells.STEP`."""
        values = np.empty((span[1] - span[0], span[3] - span[2]), dtype=np.uint16)
        fill_units(Pairing(self.clouds[tile.a], self.clouds[tile.b], self.frame_weights), span, values)
        if tile.a == tile.b:
            # On the diagonal, frames are identical: remove rounding errors.
            same = np.arange(max(span[0], span[2]), min(span[1], span[3]))
            values[same - span[0], same - span[2]] = 0
        return values


def fill_units(pairing: Pairing, span: Span, out: Units) -> None:
    """Write the square roots of D of the cells of `span` to `out`, in units of `cells.STEP`, one band of rows at a
    time."""
    band = np.empty((min(_BAND, span[1] - span[0]), span[3] - span[2]))
    for start in range(span[0], span[1], _BAND):
        stop = min(start + _BAND, span[1])
        distances = band[: stop - start]
        # Use one thread: other threads may be working on other tiles, and the last digits depend on the number of
        # threads.
        pairing.fill(distances, (start, stop, span[2], span[3]), 1)
        out[start - span[0] : stop - span[0]] = quantize(distances)


def split_into_tiles(a: int, b: int, n_rows: int, n_columns: int, side: int = SIDE) -> list[GridTile]:
    """Split the grid of one clip pair into tiles, row by row. In the grid of a clip with itself, tiles to the left of
    the diagonal are left out."""
    rows, columns = _spans(n_rows, side), _spans(n_columns, side)
    return [GridTile(a, b, (*r, *c)) for r in rows for c in columns if a != b or c[1] > r[0]]


def _spans(n: int, side: int) -> list[tuple[int, int]]:
    """Split the range 0 to n into nearly equal parts of at most `side`."""
    ends = np.linspace(0, n, math.ceil(n / side) + 1).round().astype(int).tolist()
    return list(pairwise(ends))


def join_tiles(tiles: Sequence[GridTile], parts: Sequence[Cells], shape: tuple[int, int]) -> Cells:
    """Assemble the cells of one clip pair, a grid of `shape` cells, from the cells of its tiles, `parts`."""
    bands: dict[int, list[int]] = {}
    for k, tile in enumerate(tiles):
        bands.setdefault(tile.span[0], []).append(k)
    rows = [
        join_columns([parts[k] for k in band], [tiles[k].span[2] for k in band], shape[1]) for band in bands.values()
    ]
    joined = join_rows(rows)
    return joined.mirror() if tiles[0].a == tiles[0].b else joined


def pack_cells(cells: Cells) -> NDArray[np.uint8]:
    """Pack a tile's cells into an array of bytes: the numbers of rows, columns, runs and rises as int32, then
    `Cells.arrays`, with two-byte arrays before one-byte arrays."""
    counts, first, lengths, bases, rises = cells.arrays
    head = np.array([*cells.shape, len(first), len(rises)], dtype=np.int32)
    wide = (head, counts.astype(np.uint16), first.astype(np.uint16), bases)
    return np.concatenate([part.view(np.uint8) for part in (*wide, lengths, rises)])


def unpack_tile(array: NDArray[np.uint8]) -> Cells:
    """Unpack the cells that `pack_cells` packed."""
    n_rows, n_columns, n_runs, n_rises = array[:16].view(np.int32).tolist()
    ends = np.cumsum([16, 2 * n_rows, 2 * n_runs, 2 * n_runs, n_runs, n_rises]).tolist()
    counts, first, bases = (array[a:b].view(np.uint16) for a, b in pairwise(ends[:4]))
    lengths, rises = array[ends[3] : ends[4]], array[ends[4] : ends[5]].view(np.int8)
    return Cells((n_rows, n_columns), counts, first, lengths, bases, rises)
