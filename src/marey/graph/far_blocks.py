"""Skip the parts of distance grids where no two frames can be within a limit.

The features of `marey.compare.embedding` give a lower bound. The squared distance of two windows is at least the
weighted mean of the squared distances of their frames, and this is at least the squared distance of their mean
features. If all features of a block are farther apart than the limit, the block has no transition and is skipped. The
result is the same as without skipping.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from marey.compare import Clouds
from marey.compare.embedding import Embedding
from marey.compare.pairing import choose_runner
from marey.core.arrays import Floats, set_readonly

# Side in frames of the parts to skip or search. In smaller parts, most of the time would go into the windows at their
# borders.
_SIDE = 128
# If more than this fraction of a block remains, searching the whole block is faster than searching its parts.
_WORTHWHILE = 0.6
# Maximum number of markers that features are computed from.
_MAX_MARKERS = 24
# Error of a product of features in single precision, relative to their squared lengths.
_ERROR = 64.0 * 2.0**-24

Singles = NDArray[np.float32]


class Block(Protocol):
    """A block of the grid of two clips; see `marey.graph.minima.Block`."""

    @property
    def a(self) -> int: ...
    @property
    def b(self) -> int: ...
    @property
    def rows(self) -> tuple[int, int]: ...
    @property
    def columns(self) -> tuple[int, int]: ...


B = TypeVar("B", bound=Block)
Part = tuple[tuple[int, int], tuple[int, int]]
"""Rows and columns of a part of a block, half-open."""


@dataclass(frozen=True, slots=True, eq=False)
class NearBlocks(Generic[B]):
    """Blocks with frames that may be within a limit.

    blocks : the blocks to search. parts : for each of them, rows and columns of the parts to search.
    skipped : fraction of all cells that are skipped.
    """

    blocks: list[B]
    parts: dict[B, list[Part]]
    skipped: float


def find_near_blocks(
    blocks: Sequence[B], clouds: Sequence[Clouds], frame_weights: Floats, limit: float
) -> NearBlocks[B]:
    """Find the parts of blocks where frames may be within `limit` meters."""
    features = average_features(clouds, frame_weights)
    parts: dict[B, list[Part]] = {}
    n_all = n_left = 0
    for block, found in zip(blocks, choose_runner(map)(partial(_split, features, limit), blocks), strict=True):
        n_all += _count_cells((block.rows, block.columns))
        n_left += sum(map(_count_cells, found))
        if found:
            parts[block] = found
    return NearBlocks(list(parts), parts, 1.0 - n_left / n_all if n_all else 0.0)


def search_parts(look: Callable[[Any], Floats], parts: Mapping[Any, list[Part]], block: Any) -> Floats:
    """Search only the remaining parts of a block with `look`. Return the rows of all results, sorted by frames."""
    found = [look(replace(block, rows=rows, columns=columns)) for rows, columns in parts[block]]
    rows = np.concatenate(found)
    return set_readonly(rows[np.lexsort((rows[:, 1], rows[:, 0]))])


def _count_cells(part: Part) -> int:
    (top, bottom), (left, right) = part
    return (bottom - top) * (right - left)


def average_features(clouds: Sequence[Clouds], frame_weights: Floats) -> list[Singles]:
    """Return for each clip the mean features (F, K) of the window around each frame.

    Frames without a complete window have their own features.
    """
    few = [_take_markers(each) for each in clouds]
    embedding = Embedding.fit([each for each, _ in few])
    half = len(frame_weights) // 2
    out = []
    for each, root in few:
        features = embedding.apply(each).astype(np.float64) * root
        means = features.copy()
        n = len(features)
        if n > 2 * half:
            means[half : n - half] = sum(
                weight * features[k : n - 2 * half + k] for k, weight in enumerate(frame_weights)
            )
        out.append(means.astype(np.float32))
    return out


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


def _split(features: Sequence[Singles], limit: float, block: Block) -> list[Part]:
    """Return the rows and columns of the parts of a block in which frames may be within the limit."""
    a, b = features[block.a][slice(*block.rows)], features[block.b][slice(*block.columns)]
    squares = [np.einsum("fk,fk->f", each, each) for each in (a, b)]
    slack = _ERROR * (math.sqrt(squares[0].max()) + math.sqrt(squares[1].max())) ** 2
    # |a - b|^2 <= cap, as a product: a b - |b|^2 / 2 >= (|a|^2 - cap) / 2.
    right = np.concatenate([b.T, -0.5 * squares[1][None]])
    left = np.concatenate([a, np.ones((len(a), 1), dtype=np.float32)], axis=1)
    floors = 0.5 * (squares[0] - np.float32(limit**2 + slack))
    edges = [*range(0, len(b), _SIDE), len(b)]
    out: list[Part] = []
    for top in range(0, len(a), _SIDE):
        bottom = min(top + _SIDE, len(a))
        products = left[top:bottom] @ right
        nearest = np.maximum.reduceat(products, edges[:-1], axis=1)
        is_near = (nearest >= floors[top:bottom, None]).any(axis=0)
        for first, last in _list_runs(is_near):
            columns = (block.columns[0] + edges[first], block.columns[0] + edges[last])
            out.append(((block.rows[0] + top, block.rows[0] + bottom), columns))
    whole = (block.rows, block.columns)
    return out if sum(map(_count_cells, out)) < _WORTHWHILE * _count_cells(whole) else [whole]


def _list_runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the runs of True, half-open."""
    changes = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in list(pairwise(changes))[::2]]
