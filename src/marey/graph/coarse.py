"""Find transition points from coarse to fine: compare every n-th frame first, then all frames around promising cells.

Coarse cells are compared with every n-th frame of the window. The fine grid is examined where a coarse cell is the
smallest of its row or column and not too far above the limit. Minima lie in valleys, often several in one, and a valley
stays in a row or column for longer than a coarse step, while the minima of the coarse grid itself miss many of them.
How far above the limit a coarse cell may be depends on the clips: between coarse frames, a frame differs from its
neighbors as much as frames of its clip that are half a coarse step apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from marey.compare import Clouds
from marey.compare.minima import check_limit
from marey.compare.pairing import Pairing
from marey.core.arrays import Floats, set_readonly
from marey.errors import InvalidValue
from marey.graph.coarse_kernels import CoarseGrid, SearchedCells, WindowedClip, find_fine_minima
from marey.graph.minima import Block, align_at_cells, center_clip


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One clip in the form that the search needs.

    few : every n-th frame of the clip.
    offset : index of the first of these frames.
    windows : all frames, and the windows around them.
    """

    few: Clouds
    offset: int
    windows: WindowedClip


def make_coarse_search(
    clouds: Sequence[Clouds], weights: Floats, limit: float | None, step: int
) -> Callable[[Block], Floats]:
    """A function that finds nearly all minima of a block, comparing only every `step`-th frame with every other, and
    the rest where the result is promising.

    Every result is a local minimum of D among all frames, with its exact distance. A few minima can be missed: on the
    clips tried, fewer than 1 in 100. The gain is largest when the limit excludes most cells, with long clips, and with
    a step of 3 or 4 frames at 30 to 60 Hz. If many cells are within the limit, or without a limit, the full search is
    faster.
    """
    half = len(weights) // 2
    if not 2 <= step <= half:
        raise InvalidValue(
            f"coarse_step must be from 2 to {half} frames for windows of {2 * half + 1} frames, not {step}"
        )
    sides = [_side(each, weights, step) for each in clouds]
    few_weights = weights[half % step :: step]
    few_weights = set_readonly(few_weights / few_weights.sum())
    return partial(_minima_in, clouds, sides, weights, few_weights, step, check_limit(limit))


def _side(clouds: Clouds, frame_weights: Floats, coarse: int) -> Side:
    offset = len(frame_weights) // 2 % coarse
    markers, centers, squares = center_clip(clouds, 0, len(clouds))
    means, spreads = _windowed(centers, squares, frame_weights)
    few = replace(clouds, points=set_readonly(clouds.points[offset::coarse]), fps=clouds.fps / coarse, contacts=None)
    return Side(few, offset, WindowedClip(markers, centers, means, spreads, _slack(clouds, frame_weights, coarse)))


def _windowed(centers: Floats, squares: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The mean (F, 2) and squared spread (F,) of the window around each frame, where the window is complete."""
    half = len(weights) // 2
    means, spreads = centers.copy(), squares.copy()
    if len(centers) > 2 * half:
        at = np.arange(half, len(centers) - half)
        around = at[:, None] + np.arange(-half, half + 1)
        moved = centers[around] - centers[at][:, None]
        mean = np.einsum("fkc,k->fc", moved, weights)
        means[at] += mean
        spreads[at] = squares[around] @ weights + (moved**2).sum(axis=2) @ weights - (mean**2).sum(axis=1)
    return means, spreads


def _slack(clouds: Clouds, frame_weights: Floats, coarse: int) -> Floats:
    """(F,) slack in m^2 for each frame: the larger D to the frames half a coarse step before and after it.

    If changes were independent, their squares would add up and half of D would suffice. They are not, even less for
    larger steps. Measured on walks, fights and dances, this slack finds 99 % at steps of 2 to 4 frames at 30 Hz.
    """
    half, step = len(frame_weights) // 2, (coarse + 1) // 2
    out = np.zeros(len(clouds))
    # Only frames with complete windows are compared.
    first = np.arange(half, len(clouds) - half - step)
    if len(first):
        values = align_at_cells(clouds, clouds, frame_weights, np.stack([first, first + step], axis=1))[:, 2]
        out[first] = values
        out[first + step] = np.maximum(out[first + step], values)
    return set_readonly(0.5 * coarse * out)


def _minima_in(
    clouds: Sequence[Clouds],
    sides: Sequence[Side],
    weights: Floats,
    few_weights: Floats,
    coarse: int,
    limit: float,
    block: Block,
) -> Floats:
    """(N, 6) as `marey.graph.minima.find_minima`."""
    a, b = sides[block.a], sides[block.b]
    half = len(weights) // 2
    sizes = ((half, len(a.windows.spreads) - half), (half, len(b.windows.spreads) - half))
    spans = [
        _coarse_span(run, size, a.offset, coarse) for run, size in zip((block.rows, block.columns), sizes, strict=True)
    ]
    few = np.empty((spans[0][1] - spans[0][0], spans[1][1] - spans[1][0]))
    Pairing(a.few, b.few, few_weights).fill(few, (*spans[0], *spans[1]), 1)
    corner = (a.offset + spans[0][0] * coarse, b.offset + spans[1][0] * coarse)
    min_lag = 2 * half + 1 if block.a == block.b else -(2**40)
    cells = find_fine_minima(
        a.windows,
        b.windows,
        CoarseGrid(few, corner, coarse),
        SearchedCells(block.rows, block.columns, sizes, min_lag, limit),
        weights,
    )
    return align_at_cells(clouds[block.a], clouds[block.b], weights, cells)


def _coarse_span(run: tuple[int, int], size: tuple[int, int], offset: int, coarse: int) -> tuple[int, int]:
    """Half-open range of coarse frames within one coarse step of a run of frames that have complete windows, plus one
    more on each side if there is one, so that the minimum of a row is recognized."""
    first = max(run[0] - coarse + 1, size[0]), min(run[1] + coarse - 2, size[1] - 1)
    begin, end = -((offset - first[0]) // coarse), (first[1] - offset) // coarse
    least, most = -((offset - size[0]) // coarse), (size[1] - 1 - offset) // coarse
    return max(begin - 1, least), min(end + 1, most) + 1
