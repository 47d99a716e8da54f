"""Tiles of the grids of all pairs, and the kept cells of one of them: the unit of work of a build."""

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
from marey.find.coarse import Coarse
from marey.find.region import Rules, kept_cells, quantise

# Cells along a tile's side at most: the fewer tiles, the fewer cells are looked at twice as others' surroundings.
SIDE = 2048
# Rows whose D is held at a time.
_BAND = 256


@dataclass(frozen=True, slots=True)
class Tile:
    """Cells of the grid of clips a <= b: first row, beyond the last, first column, beyond the last."""

    a: int
    b: int
    span: Span

    @property
    def n_cells(self) -> int:
        """How many."""
        return (self.span[1] - self.span[0]) * (self.span[3] - self.span[2])


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """All that a tile's cells follow from.

    clouds : of each clip.
    frame_weights : of the window.
    rules : which cells are kept.
    masks : for each clip (F,) the frames that count, or None for all.
    coarse : how to look at every n-th frame first, or None.
    """

    clouds: Sequence[Clouds]
    frame_weights: Floats
    rules: Rules
    masks: Sequence[Bools | None]
    coarse: Coarse | None = None

    def __call__(self, tile: Tile) -> NDArray[np.uint8]:
        """The tile's kept cells, packed; of a clip's own grid those on the diagonal and right of it."""
        start, stop, first, last = tile.span
        shape = (stop - start, last - first)
        if not (self._mask(tile.a, start, stop).any() and self._mask(tile.b, first, last).any()):
            return _nothing(shape)
        around = self._around(tile)
        values, allowed = self._values(tile, around)
        if allowed is not None and not allowed.any():
            return _nothing(shape)
        values[~self._mask(tile.a, *around[:2])] = TOO_FAR
        values[:, ~self._mask(tile.b, *around[2:])] = TOO_FAR
        kept = kept_cells(values, self.rules)
        if allowed is not None:
            kept &= allowed
        top, left = start - around[0], first - around[2]
        kept = kept[top : top + shape[0], left : left + shape[1]]
        if tile.a == tile.b:
            kept = np.triu(kept, start - first)
        return packed(Cells.of(values[top : top + shape[0], left : left + shape[1]], kept))

    def _around(self, tile: Tile) -> Span:
        """The tile with all cells that decide on those in it."""
        start, stop, first, last = tile.span
        n_rows, n_columns = len(self.clouds[tile.a]), len(self.clouds[tile.b])
        halo = self.rules.halo
        return max(start - halo, 0), min(stop + halo, n_rows), max(first - halo, 0), min(last + halo, n_columns)

    def _mask(self, clip: int, start: int, stop: int) -> Bools:
        mask = self.masks[clip]
        return np.ones(stop - start, dtype=bool) if mask is None else mask[start:stop]

    def _values(self, tile: Tile, span: Span) -> tuple[Units, Bools | None]:
        """Roots of D in units, and which of them are to be looked at where it is not all."""
        ours, theirs = self.clouds[tile.a], self.clouds[tile.b]
        allowed = None
        if self.coarse is None:
            values = np.empty((span[1] - span[0], span[3] - span[2]), dtype=np.uint16)
            fill_units(Pairing(ours, theirs, self.frame_weights), span, values)
        else:
            values, allowed = self.coarse.values(ours, theirs, self.frame_weights, span)
        if tile.a == tile.b:
            # Rounding leaves a little on the diagonal, whose cells are the same frames.
            same = np.arange(max(span[0], span[2]), min(span[1], span[3]))
            values[same - span[0], same - span[2]] = 0
        return values, allowed


def fill_units(pairing: Pairing, span: Span, out: Units) -> None:
    """Roots of D of the cells of `span` into `out`, in units, a band of rows at a time."""
    band = np.empty((min(_BAND, span[1] - span[0]), span[3] - span[2]))
    for start in range(span[0], span[1], _BAND):
        stop = min(start + _BAND, span[1])
        distances = band[: stop - start]
        # One thread, as others may be at work on other tiles; the last digits depend on it.
        pairing.fill(distances, (start, stop, span[2], span[3]), 1)
        out[start - span[0] : stop - span[0]] = quantise(distances)


def tiles_of(a: int, b: int, n_rows: int, n_columns: int, side: int = SIDE) -> list[Tile]:
    """The tiles of one pair's grid, row by row; of a clip's own grid, without those left of the diagonal."""
    rows, columns = _spans(n_rows, side), _spans(n_columns, side)
    return [Tile(a, b, (*r, *c)) for r in rows for c in columns if a != b or c[1] > r[0]]


def _spans(n: int, side: int) -> list[tuple[int, int]]:
    """0 .. n in equal parts of `side` at most."""
    ends = np.linspace(0, n, math.ceil(n / side) + 1).round().astype(int).tolist()
    return list(pairwise(ends))


def assembled(tiles: Sequence[Tile], parts: Sequence[Cells], shape: tuple[int, int]) -> Cells:
    """One pair's cells from those of its tiles."""
    bands: dict[int, list[int]] = {}
    for k, tile in enumerate(tiles):
        bands.setdefault(tile.span[0], []).append(k)
    rows = [
        join_columns([parts[k] for k in band], [tiles[k].span[2] for k in band], shape[1]) for band in bands.values()
    ]
    whole = join_rows(rows)
    return whole.mirrored() if tiles[0].a == tiles[0].b else whole


def packed(cells: Cells) -> NDArray[np.uint8]:
    """A tile's cells as one array of bytes: rows, columns, runs and rises in 32 bits each, then `Cells.saved`, what
    takes two bytes before what takes one."""
    counts, first, lengths, bases, rises = cells.saved
    head = np.array([*cells.shape, len(first), len(rises)], dtype=np.int32)
    wide = (head, counts.astype(np.uint16), first.astype(np.uint16), bases)
    return np.concatenate([part.view(np.uint8) for part in (*wide, lengths, rises)])


def _nothing(shape: tuple[int, int]) -> NDArray[np.uint8]:
    """A tile without cells, packed."""
    return packed(Cells.of(np.zeros(shape, dtype=np.uint16), np.zeros(shape, dtype=bool)))


def unpacked(array: NDArray[np.uint8]) -> Cells:
    """The cells that `packed` packed."""
    n_rows, n_columns, n_runs, n_rises = array[:16].view(np.int32).tolist()
    ends = np.cumsum([16, 2 * n_rows, 2 * n_runs, 2 * n_runs, n_runs, n_rises]).tolist()
    counts, first, bases = (array[a:b].view(np.uint16) for a, b in pairwise(ends[:4]))
    lengths, rises = array[ends[3] : ends[4]], array[ends[4] : ends[5]].view(np.int8)
    return Cells((n_rows, n_columns), counts, first, lengths, bases, rises)
