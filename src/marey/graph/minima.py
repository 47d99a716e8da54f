"""Find transition points: local minima of the distance grids of all clip pairs, block by block (Kovar 4.1.1.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.compare import Clouds
from marey.compare.clouds import check_frame_weights, check_pair
from marey.compare.minima import check_limit
from marey.compare.pairing import Pairing, choose_runner
from marey.compare.sweep import LastResults, Sides, even_runs, make_sides, span_minima
from marey.core.arrays import Floats, set_readonly
from marey.core.protocols import ResultCache
from marey.graph.alignment import align_at_cells, align_centered, center_clip
from marey.graph.alike_kernels import CenteredClip
from marey.graph.bounded_cells import NearCells
from marey.graph.transitions import Align, FramePairs, Transitions

Progress = Callable[[float], None]
# Memory per grid cell: its value, plus work space of the search for minima.
_BYTES_PER_CELL = 16
# Maximum side of a block in frames. In the grid of a clip with itself, blocks on the diagonal are computed whole, so
# larger blocks would waste work.
_LARGEST_SIDE = 1024
# Minimum number of minima that are unpacked together.
_BATCH = 2**18


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the distance grid of clips a (rows) and b (columns); `rows` and `columns` are half-open ranges."""

    a: int
    b: int
    rows: tuple[int, int]
    columns: tuple[int, int]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return (self.rows[1] - self.rows[0]) * (self.columns[1] - self.columns[0])


def find_transitions(
    clouds: Sequence[Clouds], frame_weights: Floats, limit: float | None, *, max_memory: int, **options: Any
) -> Transitions:
    """Find every local minimum of D up to `limit` meters, and the transform that aligns its frames.

    The parameters are those of `search_minima`.
    """
    return search_minima(clouds, frame_weights, limit, max_memory=max_memory, **options).collect()


def search_minima(
    clouds: Sequence[Clouds],
    frame_weights: Floats,
    limit: float | None,
    *,
    coarse_step: int = 1,
    max_memory: int,
    run: Callable[..., Any] = map,
    progress: Progress | None = None,
    cache: ResultCache | None = None,
    poses: Sequence[str] = (),
    penalize: Callable[[FramePairs], Floats] | None = None,
) -> Minima:
    """Search for every local minimum of D, the squared distance of two frames, up to `limit` meters, over all pairs of
    clips. The search itself runs when the minima are first read.

    Only frames with complete windows of 2 L + 1 frames count. In the grid of a clip with itself, pairs must be at least
    2 L + 1 frames apart: closer pairs are similar only because they are nearly the same frames. Each pair of frames is
    found once.

    Parameters
    ----------
    clouds : the point clouds of all clips.
    frame_weights : (2 L + 1,) weights of the frames in a window.
    limit : largest distance in meters; None for no limit.
    coarse_step : compare only every n-th frame at first; see `marey.graph.coarse`. 1 compares all frames.
    max_memory : maximum memory for a distance grid, in bytes; and for minima that can be read from the cache again.
    run : function that maps work over blocks; ``map`` uses all cores of this process.
    progress : called with the fraction done, from 0 to 1.
    cache : known blocks are read from it and not searched again.
    poses : cache keys of the clouds; required with a cache.
    penalize : returns the distances (T,) of frame pairs in meters with a penalty added; by default none is added.
    """
    for other in clouds[1:]:
        check_pair(clouds[0], other)
    weights = check_frame_weights(frame_weights)
    blocks = split_into_blocks([len(each) for each in clouds], len(weights) // 2, max_memory)
    check_limit(limit)  # fail before any work
    if coarse_step == 1:
        look: Callable[[Block], Floats] = partial(
            find_minima, clouds, weights, limit, sides=make_sides(weights), center=LastResults(center_clip)
        )
    else:
        from marey.graph.coarse import make_coarse_search

        look = make_coarse_search(clouds, weights, limit, coarse_step)
    pack, spread = partial(_pack_minima, look), choose_runner(run)
    n_cells = sum(block.n_cells for block in blocks)
    costs: Sequence[float] = [block.n_cells for block in blocks]
    if limit is not None and coarse_step == 1:
        near = NearCells.build(clouds, weights, limit)
        counts = near.count_all(blocks)
        blocks, costs = [block for block, n in zip(blocks, counts, strict=True) if n], [n for n in counts if n]
        pack = partial(_pack_near_minima, near, pack)
    else:
        n_cells = 0
    if cache is None:
        read, max_kept = partial(spread, pack, blocks), None
    else:
        keys = [_block_key(cache, poses, weights, limit, block, coarse_step) for block in blocks]
        read, max_kept = partial(cache.map, pack, blocks, keys, run=spread), max_memory
    return Minima(clouds, weights, MinimaSearch(blocks, costs, read, n_cells), max_kept, progress, penalize)


@dataclass(frozen=True, slots=True, eq=False)
class MinimaSearch:
    """A search of blocks for minima.

    blocks : the blocks that may have minima.
    costs : estimated work for each block, in any unit.
    read : yields the packed minima of each block.
    n_cells : number of cells of all blocks, if the results of a block begin with the number of cells that were
        compared; 0 if all cells are compared.
    """

    blocks: Sequence[Block]
    costs: Sequence[float]
    read: Callable[[], Iterator[NDArray[Any]]]
    n_cells: int


class Minima:
    """All local minima of the distance grids, sorted by clips and frames. They need not fit into memory.

    Reading them for the first time searches the blocks. 12 bytes per minimum are kept; if they can be read from a cache
    and need more than `max_memory` bytes, nothing is kept, and every pass reads the cache.

    skipped : fraction of the cells that were not compared, known after the first pass.
    """

    def __init__(
        self,
        clouds: Sequence[Clouds],
        weights: Floats,
        search: MinimaSearch,
        max_memory: int | None,
        progress: Progress | None,
        penalize: Callable[[FramePairs], Floats] | None,
    ) -> None:
        self.skipped = 0.0
        self._clouds, self._weights, self._search = clouds, weights, search
        self._max_memory, self._progress, self._penalize = max_memory, progress, penalize
        self._parts: list[NDArray[Any]] | None = None

    def batches(self) -> Iterator[FramePairs]:
        """Yield all pairs, sorted by clips and frames, in batches; clips and frames are 32-bit integers."""
        blocks: list[Block] = []
        parts: list[NDArray[Any]] = []
        n = 0
        for block, part in zip(self._search.blocks, self._read(), strict=True):
            # Blocks with the same rows are consecutive; only these must be sorted together.
            if n >= _BATCH and (block.a, block.b, block.rows) != (blocks[-1].a, blocks[-1].b, blocks[-1].rows):
                yield self._unpack(blocks, parts)
                blocks, parts, n = [], [], 0
            blocks.append(block)
            parts.append(part)
            n += len(part)
        if n:
            yield self._unpack(blocks, parts)

    def up_to(self, max_distance: float) -> tuple[FramePairs, Align]:
        """Return the pairs up to a distance in meters, and a function that computes their transforms."""
        near = FramePairs.concatenate([pairs.select(pairs.distances <= max_distance) for pairs in self.batches()])
        return near, lambda which: self._align(near.select(which))

    def collect(self) -> Transitions:
        """Return all minima as transitions; they must fit into memory."""
        pairs, align = self.up_to(np.inf)
        clips, frames = (set_readonly(each.astype(np.int64)) for each in (pairs.clips, pairs.frames))
        transforms = set_readonly(align(np.arange(len(pairs))))
        return Transitions(clips, frames, set_readonly(pairs.distances), transforms, self.skipped)

    def _read(self) -> Iterator[NDArray[Any]]:
        """Yield the packed minima of all blocks."""
        if self._parts is not None:
            yield from self._parts
            return
        total, done, n_bytes, n_compared = sum(self._search.costs), 0.0, 0, 0
        parts: list[NDArray[Any]] | None = []
        for cost, part in zip(self._search.costs, self._search.read(), strict=True):
            if self._search.n_cells:
                n_compared += int(part[0, 0])
                part = part[1:]
            done += cost
            if self._progress is not None:
                self._progress(done / total)
            n_bytes += part.nbytes
            if parts is not None:
                parts.append(part)
                if self._max_memory is not None and n_bytes > self._max_memory:
                    parts = None
            yield part
        if self._search.n_cells:
            self.skipped = 1.0 - n_compared / self._search.n_cells
        self._parts, self._progress = parts, None

    def _unpack(self, blocks: Sequence[Block], parts: Sequence[NDArray[Any]]) -> FramePairs:
        """Unpack the minima of consecutive blocks and sort them."""
        packed = np.concatenate(parts)
        block = np.repeat(np.arange(len(blocks)), [len(part) for part in parts])
        corners = np.array([(each.rows[0], each.columns[0]) for each in blocks], dtype=np.int32)
        clips = np.array([(each.a, each.b) for each in blocks], dtype=np.int32)[block]
        frames = np.stack([packed[:, 0] >> 16, packed[:, 0] & 0xFFFF], axis=1).astype(np.int32) + corners[block]
        # The minima of a block are in order, and blocks come from left to right.
        order = np.lexsort((frames[:, 0], clips[:, 1], clips[:, 0]))
        squares = np.ascontiguousarray(packed[:, 1:]).view(np.float64)[:, 0]
        pairs = FramePairs(clips[order], frames[order], np.sqrt(squares[order]))
        if self._penalize is None:
            return pairs
        return FramePairs(pairs.clips, pairs.frames, self._penalize(pairs))

    def _align(self, pairs: FramePairs) -> Floats:
        """Compute the transforms (T, 3) of pairs that are sorted by clips."""
        changes = np.flatnonzero((pairs.clips[1:] != pairs.clips[:-1]).any(axis=1)) + 1
        runs = list(pairwise([0, *changes.tolist(), len(pairs)])) if len(pairs) else []
        out = np.empty((len(pairs), 3))

        def align(run: tuple[int, int]) -> None:
            a, b = (self._clouds[clip] for clip in pairs.clips[run[0]])
            cells = pairs.frames[slice(*run)].astype(np.int64)
            out[slice(*run)] = align_at_cells(a, b, self._weights, cells)[:, 3:]

        for _ in choose_runner(map)(align, runs):
            pass
        return out


def _pack_minima(look: Callable[[Block], Floats], block: Block) -> NDArray[Any]:
    """Find the minima of a block with `look`, and pack them into 12 bytes each (N, 3): row and column in the block with
    16 bits each, and D. For minima that become transitions, the transforms are computed again."""
    return _pack_cells(block, look(block))


def _pack_cells(block: Block, found: Floats) -> NDArray[Any]:
    out = np.empty((len(found), 3), dtype=np.uint32)
    places = found[:, :2].astype(np.uint32) - np.array([block.rows[0], block.columns[0]], dtype=np.uint32)
    out[:, 0] = places[:, 0] << 16 | places[:, 1]
    out[:, 1:] = np.ascontiguousarray(found[:, 2:3]).view(np.uint32)
    return set_readonly(out)


def _pack_near_minima(near: NearCells, pack: Callable[[Block], NDArray[Any]], block: Block) -> NDArray[Any]:
    """Find the minima of a block among near cells, and pack them as `_pack_minima` does, after a row with the number of
    cells that were compared. If many cells are near, `pack` compares all of them."""
    found = near.find(block)
    if found is None:
        packed, n = pack(block), block.n_cells
    else:
        cells, n = found
        a, b = near.clouds[block.a], near.clouds[block.b]
        packed = _pack_cells(block, align_at_cells(a, b, near.frame_weights, cells))
    return set_readonly(np.concatenate([np.array([[n, 0, 0]], dtype=np.uint32), packed]))


def _block_key(
    cache: ResultCache, poses: Sequence[str], weights: Floats, limit: float | None, block: Block, coarse_step: int
) -> str:
    """Return the cache key of a block's minima; the first number is the version of the algorithm."""
    version = 3 if limit is None or coarse_step > 1 else 4
    pair = (poses[block.a], poses[block.b], block.a == block.b)
    return cache.key("minima", version, coarse_step, pair, weights, limit, block.rows, block.columns)


def split_into_blocks(lengths: Sequence[int], half: int, max_memory: int) -> list[Block]:
    """Split the grids of all clip pairs into blocks of at most `max_memory` bytes. In the grid of a clip with itself,
    blocks below the diagonal are left out."""
    side = min(max(64, int(np.sqrt(max_memory / _BYTES_PER_CELL))), _LARGEST_SIDE)
    runs = [even_runs(half, n - half, side) if n > 2 * half else [] for n in lengths]
    out = []
    for a, row_runs in enumerate(runs):
        for b in range(a, len(runs)):
            for rows in row_runs:
                for columns in runs[b]:
                    if a != b or columns[1] > rows[0]:
                        out.append(Block(a, b, rows, columns))
    return out


def find_minima(
    clouds: Sequence[Clouds],
    frame_weights: Floats,
    limit: float | None,
    block: Block,
    *,
    sides: Sides | None = None,
    center: Callable[[Clouds, int, int], CenteredClip] | None = None,
) -> Floats:
    """Find the block's minima up to `limit` meters. Each row of the result (N, 6) is row, column, D in m^2, and the
    rigid2d (theta, x, z) that moves b's frame onto a's.

    sides, center : `make_sides` and `center_clip`, wrapped to reuse the results of other blocks.
    """
    own = block.a == block.b
    a, b = clouds[block.a], clouds[block.b]
    pairing = Pairing(a, b, frame_weights)
    min_lag = len(frame_weights) if own else None
    cells = span_minima(pairing, (*block.rows, *block.columns), check_limit(limit), min_lag, sides)
    half = len(frame_weights) // 2
    (first, last), (left, right) = block.rows, block.columns
    center = center_clip if center is None else center
    centered = center(a, first - half, last + half), center(b, left - half, right + half)
    return align_centered(centered, (first - half, left - half), frame_weights, cells)
