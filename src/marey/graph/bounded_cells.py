"""Compare only frames that may be within a limit.

The features of `marey.compare.pose_bounds` give a lower bound. The squared distance of two windows is at least the
weighted mean of the squared distances of their frames, and this is at least the squared distance of their mean
features. A frame pair whose features are farther apart than the limit cannot be a transition. It cannot prevent one
either, because a minimum within the limit has no neighbor that is smaller. So the other pairs, compared by all markers,
give the same minima as the whole grid.

Frames are in groups of eight. The distance of features is a metric, so no frames of two groups are within the limit if
the centers of the groups are farther apart than the limit plus both radii.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from marey.compare import Clouds
from marey.compare.minima import check_limit
from marey.compare.pairing import Pairing, choose_runner
from marey.compare.pose_bounds import Embedding
from marey.compare.sweep import LastResults, decide_minima
from marey.core.arrays import Floats, Ints, set_readonly
from marey.graph.alignment import center_clip
from marey.graph.alike_kernels import CenteredClip
from marey.graph.bounded_cells_kernels import (
    CellRange,
    ClipFeatures,
    NearList,
    count_near_groups,
    find_sparse_minima,
    list_near_cells,
)

if TYPE_CHECKING:
    from marey.graph.minima import Block

# Number of frames in a group, and of groups whose centers are stored together; the kernels depend on it.
_GROUP = 8
# Number of blocks whose groups are compared by one call.
_BATCH = 256
# If more than this fraction of a block's cells must be compared, comparing all of them is faster.
_MAX_NEAR = 0.2
# The same for cells to decide one by one, because a neighbor has nearly the same distance.
_MAX_OPEN = 0.0005
# Maximum number of markers that features are computed from.
_MAX_MARKERS = 24
# Errors of distances between features in single precision, relative to the distance and to the lengths of the features.
_RELATIVE_ERROR, _ERROR = 2.0**-17, 2.0**-20
# Error of D in double precision, relative to the squares that it is a difference of.
_DOUBLE_ERROR = 2.0**-44

Singles = NDArray[np.float32]
NO_CELLS: Ints = set_readonly(np.empty((0, 2), dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class NearCells:
    """A search for minima up to a limit that compares only frames whose features are within the limit.

    clouds, frame_weights, limit : as for `marey.graph.minima.search_minima`.
    reach : distance in meters up to which frames are compared: the limit, and rounding errors of the features.
    clips : the features of each clip.
    center : `center_clip`, wrapped to reuse the results of other blocks.
    """

    clouds: Sequence[Clouds]
    frame_weights: Floats
    limit: float
    reach: float
    clips: list[ClipFeatures]
    center: Callable[[Clouds, int, int], CenteredClip]

    @classmethod
    def build(cls, clouds: Sequence[Clouds], frame_weights: Floats, limit: float) -> NearCells:
        """Compute the features of all clips."""
        features = average_features(clouds, frame_weights)
        largest = max(float(np.abs(each).max(initial=0.0)) for each in features)
        reach = limit * (1.0 + _RELATIVE_ERROR) + _ERROR * largest * math.sqrt(features[0].shape[1])
        clips = [group_features(each) for each in features]
        return cls(clouds, frame_weights, limit, reach, clips, LastResults(center_clip))

    def count_all(self, blocks: Sequence[Block]) -> list[int]:
        """Return how many cells of each block are in pairs of groups that may be near."""
        batches = [blocks[k : k + _BATCH] for k in range(0, len(blocks), _BATCH)]
        return list(chain.from_iterable(choose_runner(map)(self._count, batches)))

    def _count(self, blocks: Sequence[Block]) -> list[int]:
        return [
            count_near_groups(self.clips[block.a], self.clips[block.b], self._find_span(block), self.reach) * _GROUP**2
            for block in blocks
        ]

    def find(self, block: Block) -> tuple[Ints, int] | None:
        """Find the minima (N, 2) of a block, and count the cells that are compared. Return None if comparing all cells
        is faster."""
        half = len(self.frame_weights) // 2
        span = self._find_span(block)
        n_cells = (span.stop - span.start) * (span.last - span.first)
        cells = np.empty((int(_MAX_NEAR * n_cells) + _GROUP**2, 2), dtype=np.int32)
        n = list_near_cells(self.clips[block.a], self.clips[block.b], span, self.reach, cells)
        if n <= 0:
            return None if n else (NO_CELLS, 0)
        # Cells are numbered from the first one of the span.
        near = cells[:n] - np.array([span.start, span.first], dtype=np.int32)
        a, b = self.clouds[block.a], self.clouds[block.b]
        ours = self.center(a, span.start, span.stop + 2 * half)
        theirs = center_clip(b, span.first, span.last + 2 * half)
        top, left = span.start + half, span.first + half
        own = (block.rows[0] - top, block.rows[1] - top, block.columns[0] - left, block.columns[1] - left)
        min_lag = len(self.frame_weights) + top - left if block.a == block.b else -len(a) - len(b)
        where = NearList(near, own, check_limit(self.limit), min_lag, _DOUBLE_ERROR)
        found = find_sparse_minima(ours, theirs, self.frame_weights, where)
        if np.count_nonzero(found[:, 2]) > _MAX_OPEN * n_cells:
            return None
        found[:, :2] += (top, left)
        return decide_minima(Pairing(a, b, self.frame_weights), found, where.limit), n

    def _find_span(self, block: Block) -> CellRange:
        """Return the cells of a block and their neighbors, numbered from the first complete windows of both clips."""
        half = len(self.frame_weights) // 2
        (start, stop), (first, last) = (
            (max(run[0] - half - 1, 0), min(run[1] - half + 1, len(self.clouds[clip]) - 2 * half))
            for clip, run in ((block.a, block.rows), (block.b, block.columns))
        )
        # Cells left of the lag serve as neighbors.
        min_lag = len(self.frame_weights) - 2 if block.a == block.b else -stop
        return CellRange(start, stop, first, last, min_lag)


def average_features(clouds: Sequence[Clouds], frame_weights: Floats) -> list[Singles]:
    """Return for each clip the mean features (F - 2 L, K) of its complete windows."""
    few = [_take_markers(each) for each in clouds]
    embedding = Embedding.fit([each for each, _ in few])
    return list(choose_runner(map)(partial(_average, embedding, frame_weights), few))


def _average(embedding: Embedding, frame_weights: Floats, few: tuple[Clouds, float]) -> Singles:
    features = embedding.apply(few[0]).astype(np.float64)
    n = max(len(features) - len(frame_weights) + 1, 0)
    means = sum(
        (weight * features[k : n + k] for k, weight in enumerate(frame_weights)), np.zeros((n, features.shape[1]))
    )
    return (few[1] * means).astype(np.float32)


def _take_markers(clouds: Clouds) -> tuple[Clouds, float]:
    """Return a subset of the markers, and the factor that makes their distance a lower bound of that of all markers."""
    step = math.ceil(clouds.n_markers / _MAX_MARKERS)
    weights = clouds.weights[::step]
    total = float(weights.sum())
    if step == 1:
        return replace(clouds, contacts=None), 1.0
    points = set_readonly(np.ascontiguousarray(clouds.points[:, ::step]))
    chosen = replace(clouds, points=points, weights=weights / total, names=clouds.names[::step], contacts=None)
    return chosen, math.sqrt(total)


def group_features(features: Singles) -> ClipFeatures:
    """Group the features (F, K) of consecutive frames."""
    frames = _split(features)
    middle = 0.5 * (frames.min(axis=1) + frames.max(axis=1))
    radii = np.sqrt(np.square(frames.astype(np.float64) - middle[:, None]).sum(axis=2).max(axis=1, initial=0.0))
    # Rounding up, and room for the rounding of centers and of distances between them.
    wide = (radii * (1.0 + _RELATIVE_ERROR) + _ERROR * np.abs(middle).max(initial=0.0)).astype(np.float32)
    spread = set_readonly(_split(wide[:, None])[..., 0].copy())
    return ClipFeatures(_as_columns(frames), _as_columns(_split(middle)), spread)


def _split(rows: Singles) -> Singles:
    """Split rows (F, K) into eights (G, 8, K); the last one is filled up with the last row."""
    missing = -len(rows) % _GROUP
    return np.concatenate([rows, *[rows[-1:]] * missing]).reshape(-1, _GROUP, rows.shape[1])


def _as_columns(groups: Singles) -> Singles:
    return set_readonly(np.ascontiguousarray(groups.swapaxes(1, 2)))
