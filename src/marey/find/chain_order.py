"""Order matches along chains of similar matches, so that true matches come first in sets of many actions.

Kovar sorts matches by the sum of distances along the match graph. In a set of mixed actions, that puts a similar
section of another action before a distant variation of the right one. Here every match is compared with every other.
Matches are ordered by the largest gap on the best chain from the query to them. A variation that is far from the query
but close to another variation thus comes before another action, which is close to none of them.

Matches are compared at their own speed, over the query's duration around their middles. Performances of one action take
about equally long. A section of another action was often stretched or shortened to match, and differs before and after.

A separate module, so that the order can be tested without a search.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.core.arrays import Floats, interpolate

# Number of times, evenly spread over each match, at which matches are compared.
_N_TIMES = 24


def cut_window(points: Floats, start: int, stop: int, n_frames: int) -> Floats:
    """Return `n_frames` of points (F, J, 3) around the middle of a match; beyond its clip, the end pose is held."""
    first = round((start + stop - n_frames) / 2)
    return np.asarray(points[np.clip(np.arange(first, first + n_frames), 0, len(points) - 1)])


def order_by_chain(points: Sequence[Floats], weights: Floats) -> list[int]:
    """Return the indices of matches, sorted by the largest gap on the best chain from the query, which is index 0.

    Parameters
    ----------
    points : for each match, (F, J, 3) marker positions on the compared frames.
    weights : (J,) weights of the markers.
    """
    gaps = compare_matches(points, weights)
    nearest = gaps[0].copy()
    left = np.arange(1, len(gaps))
    order = [0]
    while len(left):
        k = int(left[np.argmin(nearest[left])])
        order.append(k)
        left = left[left != k]
        nearest = np.minimum(nearest, np.maximum(nearest[k], gaps[k]))
    return order


def compare_matches(points: Sequence[Floats], weights: Floats) -> Floats:
    """Return the distances D (n, n) in m^2 between matches, compared at evenly spaced times over their whole length.

    Each pair is aligned by the best rotation about the vertical and the best translation over the floor.
    """
    share = weights / weights.sum()
    aligned = np.stack([interpolate(each, np.linspace(0.0, len(each) - 1.0, _N_TIMES)) for each in points])
    middle = np.einsum("ntjc,j->nc", aligned, share) / _N_TIMES
    middle[:, 1] = 0.0
    scaled = (aligned - middle[:, None, None]) * np.sqrt(share / _N_TIMES)[:, None]
    x, y, z = (scaled[..., axis].reshape(len(points), -1) for axis in range(3))
    size = np.sum(scaled**2, axis=(1, 2, 3))
    overlap = np.hypot(x @ z.T - z @ x.T, x @ x.T + z @ z.T) + y @ y.T
    return np.asarray(np.maximum(size[:, None] + size[None] - 2.0 * overlap, 0.0))
