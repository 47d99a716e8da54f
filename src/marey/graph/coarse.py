"""Find transition points from coarse to fine: compare every n-th frame first, then all frames around promising cells.

The windows of coarse cells also use only every n-th frame. The fine grid is examined around each coarse cell that is a
local minimum along its row or its column and not too far above the limit. Minima lie in valleys, often several in one.
A valley spans more than a coarse step, so it shows up in the rows or columns of the coarse grid, whereas the 2D minima
of the coarse grid miss many fine minima. How far above the limit a coarse cell may be depends on how fast the clips
change within half a coarse step; see `_compute_slack`.
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
from marey.graph.alignment import align_at_cells, center_clip
from marey.graph.coarse_kernels import CoarseGrid, SearchedCells, WindowedClip, find_fine_minima
from marey.graph.minima import Block


@dataclass(frozen=True, slots=True, eq=False)
class CoarseClip:
    """One clip in the form that the search needs.

    few : the coarse frames, every n-th frame of the clip.
    offset : index in the clip of the first coarse frame.
    windows : all frames, and the windows around them.
    """

    few: Clouds
    offset: int
    windows: WindowedClip


def make_coarse_search(
    clouds: Sequence[Clouds], weights: Floats, limit: float | None, step: int
) -> Callable[[Block], Floats]:
    """Return a function that finds nearly all minima of a block. It compares every `step`-th frame first, and all
    frames where the result is promising.

    Every result is a local minimum of D among all frames, with its exact distance. A few minima can be missed: on the
    test clips, fewer than 1 in 100. The speedup is largest for long clips, a limit that excludes most cells, and a step
    of 3 or 4 frames at 30 to 60 Hz. Without a limit, or if many cells are within it, the full search is faster.

    Parameters
    ----------
    clouds : the point clouds of all clips.
    weights : (2 L + 1,) weights of the frames in a window.
    limit : largest distance in meters, or None.
    step : from 2 to L frames.
    """
    half = len(weights) // 2
    if not 2 <= step <= half:
        raise InvalidValue(
            f"coarse_step must be from 2 to {half} frames for windows of {2 * half + 1} frames, not {step}"
        )
    sides = [_make_side(each, weights, step) for each in clouds]
    few_weights = weights[half % step :: step]
    few_weights = set_readonly(few_weights / few_weights.sum())
    return partial(_find_minima, clouds, sides, weights, few_weights, step, check_limit(limit))


def _make_side(clouds: Clouds, frame_weights: Floats, coarse: int) -> CoarseClip:
    offset = len(frame_weights) // 2 % coarse
    markers, centers, squares = center_clip(clouds, 0, len(clouds))
    means, spreads = _average_windows(centers, squares, frame_weights)
    few = replace(clouds, points=set_readonly(clouds.points[offset::coarse]), fps=clouds.fps / coarse, contacts=None)
    return CoarseClip(
        few, offset, WindowedClip(markers, centers, means, spreads, _compute_slack(clouds, frame_weights, coarse))
    )


def _average_windows(centers: Floats, squares: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the mean (F, 2) and the squared spread (F,) of the window around each frame. Frames without a complete
    window keep their own values."""
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


def _compute_slack(clouds: Clouds, frame_weights: Floats, coarse: int) -> Floats:
    """Return the slack (F,) in m^2 of each frame: D to the frame half a coarse step before or after it, whichever is
    larger, times half the number of frames in a coarse step.

    If the changes from frame to frame were independent, their squares would add up, and half of D would suffice. They
    are correlated, so the slack must grow with the step. Measured on walks, fights and dances, this slack finds 99 % of
    the minima at steps of 2 to 4 frames at 30 Hz.
    """
    half, step = len(frame_weights) // 2, (coarse + 1) // 2
    out = np.zeros(len(clouds))
    first = np.arange(half, len(clouds) - half - step)
    if len(first):
        values = align_at_cells(clouds, clouds, frame_weights, np.stack([first, first + step], axis=1))[:, 2]
        out[first] = values
        out[first + step] = np.maximum(out[first + step], values)
    return set_readonly(0.5 * coarse * out)


def _find_minima(
    clouds: Sequence[Clouds],
    sides: Sequence[CoarseClip],
    weights: Floats,
    few_weights: Floats,
    coarse: int,
    limit: float,
    block: Block,
) -> Floats:
    """Find the minima of a block, in the form (N, 6) that `marey.graph.minima.find_minima` returns."""
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
    """Return the half-open range of coarse frames within one coarse step of the frames `run`, plus one more on each
    side if there is one. Local minima along a row or column can only be recognized with both neighbors.

    size : half-open range of the frames with complete windows.
    """
    first = max(run[0] - coarse + 1, size[0]), min(run[1] + coarse - 2, size[1] - 1)
    begin, end = -((offset - first[0]) // coarse), (first[1] - offset) // coarse
    least, most = -((offset - size[0]) // coarse), (size[1] - 1 - offset) // coarse
    return max(begin - 1, least), min(end + 1, most) + 1
