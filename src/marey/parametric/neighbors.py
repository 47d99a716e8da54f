"""From parameters to weights: k nearest neighbors among the samples (Kovar 6.3.3)."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, Ints

__all__ = ["mix_weights", "neighbor_weights"]

# A sample this close, relative to the distance of the farthest neighbor, is the target.
_THERE = 1e-12


def neighbor_weights(target: Floats, samples: Floats, k: int) -> tuple[Ints, Floats]:
    """Find the nearest samples and their weights, which are nonnegative and sum to 1.

    The weight of a sample is 1 / D minus that of the k-th (Kovar 6.5), so it is 0 when another takes its place. A
    sample at the target has all the weight; if all are equally far, all weights are equal. With at most k samples, none
    is ever replaced, and weights are 1 / D alone.

    Parameters
    ----------
    target : (d,) and samples : (m, d), scaled so that distances are comparable.
    k : number of neighbors.

    Returns
    -------
    (q,) indices, nearest first, of samples with a positive weight, and their weights (q,).
    """
    apart = np.linalg.norm(samples - target, axis=1)
    if len(apart) > k:
        near = np.argpartition(apart, k - 1)[:k]
        near = near[np.argsort(apart[near], kind="stable")]
        furthest = apart[near[-1]]
    else:
        near, furthest = np.argsort(apart, kind="stable"), np.inf
    away = apart[near]
    if away[0] <= _THERE * max(float(away[-1]), 1e-300):
        same = away <= away[0]
        return near[same], np.full(int(same.sum()), 1.0 / same.sum())
    # Multiplied by the nearest distance, which cancels, so that tiny distances do not overflow.
    weights = away[0] / away - (0.0 if np.isinf(furthest) else away[0] / furthest)
    weights = np.maximum(weights, 0.0)
    total = float(weights.sum())
    if total <= _THERE:
        return near, np.full(len(near), 1.0 / len(near))
    used = weights > 0.0
    return near[used], weights[used] / total


def mix_weights(sample_weights: Floats, which: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """(e,) examples and their weights (e,), from weights (q,) of samples that blend `which` (q, s) by `weights`."""
    examples, place = np.unique(which.ravel(), return_inverse=True)
    total = np.zeros(len(examples))
    np.add.at(total, place.ravel(), (sample_weights[:, None] * weights).ravel())
    used = total != 0.0
    return examples[used], total[used]
