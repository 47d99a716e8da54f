"""Scan an index of poses for the ends of possible matches.

An index stores one block per clip, one after the other in a flat array. The block of a clip with F frames has
``3 M + K`` rows of F numbers: x, y and z of the M markers, and K features of the pose (`marey.compare.pose_bounds`).
So the block of a clip whose first frame has the number s among all frames begins at ``(3 M + K) s``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.compiled import Ints1D, Ints2D, Out, Singles1D, Singles2D, helper, kernel


class Blocks(NamedTuple):
    """The blocks of the C clips of an index; the module explains their layout.

    values : all blocks, one after another.
    starts : (C + 1,) index of each clip's first frame, then the total number of frames.
    n_markers, n_features : M and K; K is a multiple of 4.
    """

    values: Singles1D
    starts: Ints1D
    n_markers: int
    n_features: int


@kernel
def scan_anchors(
    blocks: Blocks, spans: Ints2D, anchors: Singles2D, gaps: Ints2D, limit: float, costs: Out[Singles1D]
) -> int:
    """Align a few frames of the query, the anchors, with the frames of spans, by their features.

    For each frame f of a span at which an alignment may end, set ``costs[f]`` to the smallest sum of squared feature
    distances of an alignment that ends there, or to infinity if that is above `limit`. Frames are numbered over all
    clips. Return the number of features compared.

    spans : (S, 4) clip, first frame, end frame, and the first frame where an alignment may end.
    anchors : (m, k) the first k features of the anchors; k is a multiple of 4.
    gaps : (m - 1, 2) smallest and largest number of frames from one anchor to the next.
    """
    values, starts, n_markers, n_features = blocks
    n_anchors, n_used, n_compared = len(anchors), anchors.shape[1], 0
    widest, pad = 1, 1
    for s in range(len(spans)):
        widest = max(widest, spans[s, 2] - spans[s, 1])
    for k in range(len(gaps)):
        pad = max(pad, gaps[k, 1] + 1)
    cap = np.float32(limit)
    best, total = np.full((2, pad + widest), np.inf, np.float32), np.empty(widest, np.float32)
    for s in range(len(spans)):
        clip, first, n = spans[s, 0], spans[s, 1], spans[s, 2] - spans[s, 1]
        length = starts[clip + 1] - starts[clip]
        begin = (3 * n_markers + n_features) * starts[clip] + 3 * n_markers * length + first
        out, lead = costs[starts[clip] + first : starts[clip] + first + n], spans[s, 3] - first
        is_near = True
        for k in range(n_anchors):
            total[:n] = 0.0
            for d in range(0, n_used, 4):
                at = begin + d * length
                add_squares(values, at, length, anchors[k], d, total, n)
            n_compared += n * n_used
            if k > 0:
                _add_smallest(best, pad, n, gaps[k - 1, 0], gaps[k - 1, 1], total)
            n_near, kept = 0, best[0, pad : pad + n]
            for j in range(n):
                kept[j] = total[j]
                n_near += 1 if total[j] <= cap else 0
            is_near = n_near > 0
            if not is_near:
                break
        if is_near:
            for j in range(lead, n):
                out[j] = total[j] if total[j] <= cap else np.inf
        else:
            out[lead:] = np.inf
    return n_compared


@helper
def add_squares(values: Singles1D, row: int, length: int, anchor: Singles1D, d: int, total: Singles1D, n: int) -> None:
    """Add to `total` the squared differences between features d to d + 3 of n frames and of `anchor`.

    row : index in `values` of feature d of the first frame. length : number of frames of the clip.
    """
    first, second = values[row : row + n], values[row + length : row + length + n]
    third, fourth = values[row + 2 * length : row + 2 * length + n], values[row + 3 * length : row + 3 * length + n]
    a, b, c, e = anchor[d], anchor[d + 1], anchor[d + 2], anchor[d + 3]
    for j in range(n):
        p, q, r, s = first[j] - a, second[j] - b, third[j] - c, fourth[j] - e
        total[j] += (p * p + q * q) + (r * r + s * s)


@helper
def _add_smallest(best: Singles2D, pad: int, n: int, near: int, far: int, total: Singles1D) -> None:
    """Add to each total[j] the smallest of best[0, pad + j - far] to best[0, pad + j - near]; `best` is changed in
    place.

    The minimum over a range of frames is built from ranges that double in length. The first `pad` values stay infinite.
    """
    reach, now = 1, 0
    while 2 * reach <= far - near + 1:
        first, second, out = best[now, pad : pad + n], best[now, pad - reach : pad - reach + n], best[1 - now, pad:]
        for j in range(n):
            a, b = first[j], second[j]
            out[j] = a if a < b else b
        now = 1 - now
        reach *= 2
    early = pad - (far - reach + 1)
    first, second = best[now, pad - near : pad - near + n], best[now, early : early + n]
    for j in range(n):
        a, b = first[j], second[j]
        total[j] += a if a < b else b
