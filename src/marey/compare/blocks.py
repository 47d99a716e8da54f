"""Compute grids that are too large for memory, one block of cells at a time, within a memory limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from marey.compare.clouds import Recording
from marey.compare.grid import make_pairing
from marey.compare.minima import check_limit
from marey.compare.minima_kernels import find_minima
from marey.compare.pairing import TILE_COLUMNS, TILE_ROWS, Pairing, Span, count_workers, scratch_bytes
from marey.compare.settings import GridSettings
from marey.core.arrays import Floats, Ints, check_index, set_readonly
from marey.core.settings import options_of
from marey.deprecation import bundled_parameters
from marey.errors import InvalidValue

__all__ = ["DEFAULT_MEMORY", "GridBlock", "grid_blocks", "grid_minima"]

DEFAULT_MEMORY = 256 * 1024**2
"""Default memory limit in bytes."""

# Minimum side of a block in frames; smaller blocks spend most of their time on windows that extend beyond them.
_SMALLEST = 32

# Parameters that are now fields of the settings.
_MOVED = {each.name: each.name for each in options_of(GridSettings)}


@dataclass(frozen=True, slots=True, eq=False)
class GridBlock:
    """A block of a grid: its rows and columns, half-open, and its squared distances D (R, C) in m^2."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    values: Floats = field(repr=False)


@bundled_parameters("settings", GridSettings, **_MOVED)
def grid_blocks(
    a: Recording,
    b: Recording | None = None,
    *,
    memory: int = DEFAULT_MEMORY,
    settings: GridSettings | None = None,
) -> Iterator[GridBlock]:
    """Yield the grid of `distance_grid` in blocks, left to right and top to bottom, each cell once.

    Parameters
    ----------
    memory : memory limit in bytes, not counting the clips' own markers; 256 MB by default. At most two blocks may be
        alive at once: release block k before requesting block k + 2.
    settings : the other parameters of `distance_grid`. Invalid ones raise an error here, before the first block.

    Examples
    --------
    >>> blocks = marey.compare.grid_blocks(walk, run, memory=1_000_000)
    >>> sum(block.values.size for block in blocks) == len(walk) * len(run)
    True
    """
    pairing = make_pairing(a, b, GridSettings() if settings is None else settings)
    return _blocks(pairing, _Plan.of(pairing, memory, margin=0))


@bundled_parameters("settings", GridSettings, **_MOVED)
def grid_minima(
    a: Recording,
    b: Recording | None = None,
    *,
    threshold: float | None = None,
    min_lag: int | None = None,
    memory: int = DEFAULT_MEMORY,
    settings: GridSettings | None = None,
) -> tuple[Ints, Floats]:
    """Find the local minima of a grid too large for memory: cells (N, 2) in row-major order, and their D (N,) in m^2.

    threshold, min_lag : as in `DistanceGrid.minima`.
    memory, settings : as in `grid_blocks`; the limit does not count the minima themselves.

    Examples
    --------
    >>> cells, distances = marey.compare.grid_minima(walk, run, threshold=0.3)
    >>> cells.shape[1], len(cells) == len(distances)
    (2, True)
    """
    pairing = make_pairing(a, b, GridSettings() if settings is None else settings)
    limit = check_limit(threshold)
    if min_lag is None:
        min_lag = len(pairing.frame_weights) if pairing.a is pairing.b else 0
    lag = check_index(min_lag, "min_lag")
    cells, found = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
    plan = _Plan.of(pairing, memory, margin=1)
    for block, inner in zip(_blocks(pairing, plan), plan.spans(), strict=True):
        place = (block.rows[0], block.columns[0])
        own = (inner[0] - place[0], inner[1] - place[0], inner[2] - place[1], inner[3] - place[1])
        cells.append(find_minima(block.values, limit, lag, own, place))
        found.append(block.values[cells[-1][:, 0] - place[0], cells[-1][:, 1] - place[1]])
    every, values = np.concatenate(cells), np.concatenate(found)
    order = np.lexsort((every[:, 1], every[:, 0]))
    return set_readonly(every[order]), set_readonly(values[order])


@dataclass(frozen=True, slots=True)
class _Plan:
    """Division of an n_rows by n_columns grid into blocks of `height` by `width` cells, with a margin around each. Each
    block is computed by `n_workers` threads."""

    n_rows: int
    n_columns: int
    height: int
    width: int
    margin: int
    n_workers: int

    @classmethod
    def of(cls, pairing: Pairing, memory: int, margin: int) -> _Plan:
        given = check_index(memory, "memory")
        sizes = (len(pairing.a), len(pairing.b))

        def scratch(n_rows: int, n_columns: int, n_workers: int) -> int:
            return scratch_bytes(n_rows, n_columns, pairing.a.n_markers, pairing.half, n_workers)

        for n_workers in range(count_workers(), 0, -1):
            # One block is computed while the caller still holds the previous one.
            n_cells = (given - scratch(TILE_ROWS, TILE_COLUMNS, n_workers)) // 16
            if 2 * 16 * n_cells > given or (n_workers == 1 and n_cells > TILE_ROWS * TILE_COLUMNS):
                width = min(sizes[1], max(n_cells // min(sizes[0], 4 * TILE_ROWS) - 2 * margin, TILE_COLUMNS))
                height = min(sizes[0], n_cells // (width + 2 * margin) - 2 * margin)
                if height >= 1:
                    return cls(*sizes, height, width, margin, n_workers)
        side = 4 * TILE_ROWS
        while side >= _SMALLEST:
            height, width = min(side, sizes[0]), min(side, sizes[1])
            needed = scratch(height, width, 1) + 16 * (height + 2 * margin) * (width + 2 * margin)
            if needed <= given:
                return cls(*sizes, height, width, margin, 1)
            side //= 2
        raise InvalidValue(
            f"memory must be at least {math.ceil(needed / 1024)} kB for this grid, not {given / 1024:.6g} kB"
        )

    def spans(self) -> Iterator[Span]:
        """Yield the spans of the blocks, without margins."""
        for start in range(0, self.n_rows, self.height):
            for first in range(0, self.n_columns, self.width):
                yield start, min(start + self.height, self.n_rows), first, min(first + self.width, self.n_columns)

    def with_margin(self, span: Span) -> Span:
        """Return a span with its margin, clamped to the grid."""
        start, stop, first, last = span
        more = self.margin
        return (
            max(start - more, 0),
            min(stop + more, self.n_rows),
            max(first - more, 0),
            min(last + more, self.n_columns),
        )


def _blocks(pairing: Pairing, plan: _Plan) -> Iterator[GridBlock]:
    for inner in plan.spans():
        span = plan.with_margin(inner)
        values = np.empty((span[1] - span[0], span[3] - span[2]))
        pairing.fill(values, span, plan.n_workers)
        yield GridBlock(span[:2], span[2:], set_readonly(values))
        del values
