"""All places where clips look alike: local minima of the grids of all pairs, block by block (Kovar 4.1.1.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from marey.compare import Clouds, frame_distances, local_minima
from marey.compare.pairing import Pairing
from marey.core._arrays import Floats, Ints
from marey.core.protocols import Cache
from marey.graph.transitions import Transitions

Progress = Callable[[float], None]
# Cells of a grid: its values, and what the search for minima needs beside them.
_BYTES_PER_CELL = 16
# Frames along a block's side at most: of a clip's own grid, the blocks on the diagonal are computed whole.
_LARGEST_SIDE = 1024


@dataclass(frozen=True, slots=True)
class Block:
    """Cells rows x columns, half-open, of the grid of clips a and b."""

    a: int
    b: int
    rows: tuple[int, int]
    columns: tuple[int, int]

    @property
    def n_cells(self) -> int:
        """How many."""
        return (self.rows[1] - self.rows[0]) * (self.columns[1] - self.columns[0])


def find_alike(
    clouds: Sequence[Clouds],
    frame_weights: Floats,
    limit: float | None,
    *,
    max_memory: int,
    run: Callable[..., Any] = map,
    progress: Progress | None = None,
    cache: Cache | None = None,
    poses: Sequence[str] = (),
) -> Transitions:
    """Every local minimum of D whose root is at most `limit` metres, over all pairs of clips and each with itself.

    Only frames around which whole windows fit count, and on a clip's own grid only pairs that are 2 L + 1 frames apart:
    nearer ones are alike because they are nearly the same frames. Each pair of frames is found once.

    With a `cache`, blocks that it has are not looked at again; `poses` are then keys of what each of the clouds shows.
    """
    half = len(frame_weights) // 2
    blocks = blocks_of([len(each) for each in clouds], half, max_memory)
    total = sum(block.n_cells for block in blocks)
    done = 0
    found: list[tuple[Block, Ints]] = []
    look = partial(minima_in, clouds, frame_weights, limit)
    results = (
        run(look, blocks)
        if cache is None
        else cache.map(
            look, blocks, [_block_key(cache, poses, frame_weights, limit, block) for block in blocks], run=run
        )
    )
    for block, cells in zip(blocks, results, strict=True):
        found.append((block, cells))
        done += block.n_cells
        if progress is not None:
            progress(done / total)
    return _with_transforms(clouds, frame_weights, found)


def _block_key(cache: Cache, poses: Sequence[str], weights: Floats, limit: float | None, block: Block) -> str:
    """What the minima of a block go by; the number changes with how they are found."""
    pair = (poses[block.a], poses[block.b], block.a == block.b)
    return cache.key("minima", 1, pair, weights, limit, block.rows, block.columns)


def blocks_of(lengths: Sequence[int], half: int, max_memory: int) -> list[Block]:
    """All grids in blocks of at most `max_memory` bytes, without the lower half of a clip's own grid."""
    side = min(max(64, int(np.sqrt(max_memory / _BYTES_PER_CELL))), _LARGEST_SIDE)
    out = []
    for a, n_rows in enumerate(lengths):
        for b in range(a, len(lengths)):
            for rows in _runs(half, n_rows - half, side):
                for columns in _runs(half, lengths[b] - half, side):
                    if a != b or columns[1] > rows[0]:
                        out.append(Block(a, b, rows, columns))
    return out


def minima_in(clouds: Sequence[Clouds], frame_weights: Floats, limit: float | None, block: Block) -> Ints:
    """(N, 2) frames of the block's minima."""
    half = len(frame_weights) // 2
    pairing = Pairing(clouds[block.a], clouds[block.b], frame_weights)
    # One cell more on each side, as far as there is one, so that a minimum at the block's edge is a minimum.
    rows = max(block.rows[0] - 1, half), min(block.rows[1] + 1, len(pairing.a) - half)
    columns = max(block.columns[0] - 1, half), min(block.columns[1] + 1, len(pairing.b) - half)
    values = np.empty((rows[1] - rows[0], columns[1] - columns[0]))
    pairing.fill(values, (*rows, *columns))
    cells = local_minima(values, limit) + np.array([rows[0], columns[0]])
    inside = (cells[:, 0] >= block.rows[0]) & (cells[:, 0] < block.rows[1])
    inside &= (cells[:, 1] >= block.columns[0]) & (cells[:, 1] < block.columns[1])
    if block.a == block.b:
        inside &= cells[:, 1] - cells[:, 0] >= 2 * half + 1
    return np.asarray(cells[inside])


def _runs(start: int, stop: int, size: int) -> list[tuple[int, int]]:
    return [(at, min(at + size, stop)) for at in range(start, stop, size)]


def _with_transforms(clouds: Sequence[Clouds], weights: Floats, found: list[tuple[Block, Ints]]) -> Transitions:
    clips, frames, distances, transforms = [], [], [], []
    for block, cells in found:
        if not len(cells):
            continue
        moves, values = frame_distances(
            clouds[block.a], cells[:, 0].astype(float), clouds[block.b], cells[:, 1].astype(float), weights
        )
        clips.append(np.broadcast_to([block.a, block.b], (len(cells), 2)))
        frames.append(cells)
        distances.append(np.sqrt(values))
        transforms.append(moves)
    if not clips:
        return Transitions(np.zeros((0, 2), int), np.zeros((0, 2), int), np.zeros(0), np.zeros((0, 3)))
    parts = (np.concatenate(part) for part in (clips, frames, distances, transforms))
    found_all = Transitions(*parts)
    order = np.lexsort((*found_all.frames.T[::-1], *found_all.clips.T[::-1]))
    return found_all.taken(order)
