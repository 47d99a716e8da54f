"""The local minima of a large grid, found while its rows are computed: the grid itself is never held.

A tile of the grid at a time, and a few rows of a tile at a time, so that the products of markers stay in the cache of
the processor that takes them, sums them along diagonals, and looks for minima. One thread works on a span; callers
share spans among threads or processes.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from marey.compare.pairing import Pairing, Side, Span
from marey.core._arrays import Floats, Ints, settle

# Cells of a tile, and rows whose products are taken together.
TILE_ROWS, TILE_COLUMNS = 256, 512
_STRIP = 48


def span_minima(pairing: Pairing, span: Span, limit: float, min_lag: int | None = None) -> Ints:
    """(N, 2) cells of a span that are local minima of D up to `limit` m^2, in row-major order; see `local_minima`.

    Only pairs of frames around which whole windows fit count, as cells and as neighbours. With `min_lag`, only those at
    least so many columns right of the diagonal.
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
    from marey.compare import minima_kernels

    rows, columns = _around(own[:2], inner[:2]), _around(own[2:], inner[2:])
    values = np.empty((rows[1] - rows[0], columns[1] - columns[0]))
    pairing.fill(values, (*rows, *columns), 1)
    inside = (own[0] - rows[0], own[1] - rows[0], own[2] - columns[0], own[3] - columns[0])
    cells = minima_kernels.minima(settle(values), limit, 0, inside, (rows[0], columns[0]))
    return np.asarray(cells[cells[:, 1] - cells[:, 0] >= min_lag])


def _around(run: tuple[int, int], inner: tuple[int, int]) -> tuple[int, int]:
    """One cell more to each side, as far as there is one, so that a minimum at the edge is a minimum."""
    return max(run[0] - 1, inner[0]), min(run[1] + 1, inner[1])


def _swept(pairing: Pairing, own: Span, inner: Span, limit: float, min_lag: int) -> Ints:
    centre = pairing.centre()
    found = [np.empty((0, 2), dtype=np.int64)]
    scratch = _Scratch(pairing, own[3] - own[2])
    bands = []
    for rows in even_runs(own[0], own[1], TILE_ROWS):
        tall = _around(rows, inner[:2])
        bands.append((rows, tall, pairing.side(pairing.a, *tall, centre, None)))
    for columns in even_runs(own[2], own[3], TILE_COLUMNS):
        wide = _around(columns, inner[2:])
        theirs = pairing.side(pairing.b, *wide, centre, scratch.strip).as_right()
        for rows, tall, ours in bands:
            if columns[1] - 1 - rows[0] < min_lag:
                break
            # What lies left of the lag is not computed, as far as whole pieces go.
            part = theirs.since(rows[0] + min_lag - 1 - pairing.half)
            first = part.begin + pairing.half
            tile = (*tall, max(wide[0], first), wide[1])
            scratch.sweep(ours, part, (*rows, max(columns[0], first), columns[1]), tile, limit, min_lag, found)
    return np.concatenate(found)


def even_runs(start: int, stop: int, largest: int) -> list[tuple[int, int]]:
    """start .. stop in as few runs of at most `largest` as possible, about equally long."""
    n = max(math.ceil((stop - start) / largest), 1)
    ends = [start + (stop - start) * k // n for k in range(n + 1)]
    return list(pairwise(ends))


class _Scratch:
    """What one tile after another is computed in; see `sweep_kernels.sweep`."""

    def __init__(self, pairing: Pairing, n_columns: int) -> None:
        self.weights = pairing.frame_weights
        self.pad = pairing.half + 1
        self.strip = max(_STRIP, self.pad)
        most = min(n_columns, TILE_COLUMNS) + 2
        self.found = np.empty(((self.strip + 2) * (most + 2) // 2, 2), dtype=np.int64)
        self.held = np.empty(0)

    def state(self, width: int) -> tuple[Floats, Floats, Floats]:
        """Products, runs and totals of lines of this width, in memory that serves one tile after another."""
        n_products, n_runs = 3 * (self.pad + self.strip) * width, 3 * (self.pad + 1) * width
        if len(self.held) < n_products + n_runs + 6 * width:
            self.held = np.empty(n_products + n_runs + 6 * width)
        products = self.held[:n_products].reshape(3, -1, width)
        products[..., : self.pad] = products[:, self.strip :] = 0.0
        rest = self.held[n_products : n_products + n_runs + 6 * width]
        rest[:] = 0.0
        return products, rest[:n_runs].reshape(3, -1, width), rest[n_runs:].reshape(3, 2, width)

    def sweep(
        self, ours: Side, theirs: Side, own: Span, tile: Span, limit: float, min_lag: int, found: list[Ints]
    ) -> None:
        """Add to `found` those minima of a tile that are its own, the others being their neighbours."""
        from marey.compare import sweep_kernels

        pad, strip = self.pad, self.strip
        n_pieces, _, n = theirs.flat.shape
        products, runs, totals = self.state(pad + n_pieces * n)
        lines = np.full((3, tile[3] - tile[2] + 2), np.inf)
        means = [np.empty((3, tile[1] - tile[0])), np.empty((3, tile[3] - tile[2]))]
        for side, mean in zip((ours, theirs), means, strict=True):
            sweep_kernels.window_means(side.sums, self.weights, mean)
        inside = (own[0] - tile[0], own[1] - tile[0], own[2] - tile[2], own[3] - tile[2])
        factors = ((ours.flat, theirs.flat), (ours.flat, theirs.turned), (ours.heights, theirs.heights))
        n_rows = ours.sums.shape[1]
        for start in range(0, n_rows, strip):
            stop = min(start + strip, n_rows)
            products[:, :pad] = products[:, strip:]
            for product, (left, right) in zip(products[:, pad : pad + stop - start, pad:], factors, strict=True):
                into = product.reshape(stop - start, n_pieces, n).swapaxes(0, 1)
                np.matmul(left[0, start:stop], right, out=into)
            n_found = sweep_kernels.sweep(
                products, runs, totals, lines, (start, stop), means[0], means[1], limit, inside, (tile[0], tile[2]),
                min_lag, self.found,
            )  # fmt: skip
            if n_found:
                found.append(self.found[:n_found].copy())
