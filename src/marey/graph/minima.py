"""Find transition points: local minima of the distance grids of all clip pairs, block by block (Kovar 4.1.1.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from marey.compare import Clouds
from marey.compare.clouds import check_frame_weights, check_pair
from marey.compare.minima import check_limit
from marey.compare.pairing import Pairing, choose_runner
from marey.compare.sweep import LastResults, Sides, even_runs, make_sides, span_minima
from marey.core.arrays import Floats, Ints, set_readonly
from marey.core.protocols import ResultCache
from marey.graph.alike_kernels import CenteredClip, align_cells, center_markers
from marey.graph.far_blocks import find_near_blocks, search_parts
from marey.graph.transitions import Transitions

Progress = Callable[[float], None]
# Memory per grid cell: its value, plus work space of the search for minima.
_BYTES_PER_CELL = 16
# Maximum side of a block in frames. In the grid of a clip with itself, blocks on the diagonal are computed whole, so
# larger blocks would waste work.
_LARGEST_SIDE = 1024


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
) -> Transitions:
    """Find every local minimum of D, the squared distance of two frames, up to `limit` meters, over all pairs of clips.

    Only frames with complete windows of 2 L + 1 frames count. In the grid of a clip with itself, pairs must be at least
    2 L + 1 frames apart: closer pairs are similar only because they are nearly the same frames. Each pair of frames is
    found once.

    Parameters
    ----------
    clouds : the markers of all clips.
    frame_weights : (2 L + 1,) weights of the frames in a window.
    limit : largest distance in meters; None for no limit.
    coarse_step : compare only every n-th frame at first; see `marey.graph.coarse`. 1 compares all frames.
    max_memory : maximum memory for a distance grid, in bytes.
    run : function that maps work over blocks; ``map`` uses all cores of this process.
    progress : called with the fraction done, from 0 to 1.
    cache : known blocks are read from it and not searched again.
    poses : cache keys of the clouds; required with a cache.
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
    skipped = 0.0
    if limit is not None and coarse_step == 1:
        near = find_near_blocks(blocks, clouds, weights, limit)
        blocks, skipped = near.blocks, near.skipped
        look = partial(search_parts, look, near.parts)
    keys = None
    if cache is not None:
        keys = [_block_key(cache, poses, weights, limit, block, coarse_step) for block in blocks]
    return replace(_collect_minima(blocks, look, run, progress, cache, keys), skipped=skipped)


def _collect_minima(
    blocks: Sequence[Block],
    look: Callable[[Block], Floats],
    run: Callable[..., Any],
    progress: Progress | None,
    cache: ResultCache | None,
    keys: Sequence[str] | None,
) -> Transitions:
    """Run `look` on all blocks and collect the results, sorted by clips and frames."""
    spread = choose_runner(run)
    results = spread(look, blocks) if cache is None else cache.map(look, blocks, keys or (), run=spread)
    total = sum(block.n_cells for block in blocks)
    done = 0
    parts: list[Floats] = []
    for block, found in zip(blocks, results, strict=True):
        parts.append(found)
        done += block.n_cells
        if progress is not None:
            progress(done / total)
    return _as_transitions(blocks, parts)


def _block_key(
    cache: ResultCache, poses: Sequence[str], weights: Floats, limit: float | None, block: Block, coarse_step: int
) -> str:
    """Return the cache key of a block's minima; the first number is the version of the algorithm."""
    pair = (poses[block.a], poses[block.b], block.a == block.b)
    return cache.key("minima", 2, coarse_step, pair, weights, limit, block.rows, block.columns)


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
    return _align(centered, (first - half, left - half), frame_weights, cells)


def align_at_cells(a: Clouds, b: Clouds, frame_weights: Floats, cells: Ints) -> Floats:
    """Compute D and the aligning transform at cells (N, 2) with complete windows; rows of the result (N, 6) are as in
    `find_minima`.

    The result for a cell does not depend on the other cells.
    """
    half = len(frame_weights) // 2
    if not len(cells):
        return set_readonly(np.empty((0, 6)))
    first = cells.min(axis=0) - half
    last = cells.max(axis=0) + half + 1
    ours, theirs = (center_clip(clouds, int(i), int(j)) for clouds, i, j in zip((a, b), first, last, strict=True))
    return _align((ours, theirs), (int(first[0]), int(first[1])), frame_weights, cells)


def _align(
    clips: tuple[CenteredClip, CenteredClip], begins: tuple[int, int], frame_weights: Floats, cells: Ints
) -> Floats:
    """Compute the result of `align_at_cells` for centered clips that begin at frames `begins`."""
    found, out = np.empty((len(cells), 4)), np.empty((len(cells), 6))
    align_cells(*clips, cells - begins, frame_weights, found)
    out[:, :2], out[:, 2:] = cells, found
    return set_readonly(out)


def center_clip(clouds: Clouds, start: int, stop: int) -> CenteredClip:
    """Return frames `start` to `stop`, half-open, in the form that the kernels need."""
    n = stop - start
    clip = CenteredClip(np.zeros((n, 3, -(-clouds.n_markers // 8) * 8)), np.empty((n, 2)), np.empty(n))
    center_markers(clouds.points[start:stop], clouds.weights, *clip)
    return clip


def _as_transitions(blocks: Sequence[Block], parts: list[Floats]) -> Transitions:
    """Collect the minima of all blocks, sorted by clips and frames. Empties `parts` to save memory."""
    n = sum(len(part) for part in parts)
    clips, frames = np.empty((n, 2), dtype=np.int64), np.empty((n, 2), dtype=np.int64)
    distances, transforms = np.empty(n), np.empty((n, 3))
    at = 0
    parts.reverse()
    # Blocks with the same rows are consecutive; only these must be sorted together.
    for (a, b, _), group in groupby(blocks, key=lambda block: (block.a, block.b, block.rows)):
        found = np.concatenate([parts.pop() for _ in group])
        found = np.take(found, found[:, 0].argsort(kind="stable"), axis=0)  # each part is in order
        to = slice(at, at + len(found))
        clips[to], frames[to] = (a, b), found[:, :2]
        distances[to], transforms[to] = np.sqrt(found[:, 2]), found[:, 3:]
        at = to.stop
    return Transitions(set_readonly(clips), set_readonly(frames), set_readonly(distances), set_readonly(transforms))
