"""Compute blend weights for parameters from the k nearest samples (Kovar 6.3.3)."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, Ints

__all__ = ["mix_weights", "neighbor_weights"]

# A sample closer than this fraction of the farthest neighbor's distance counts as equal to the target.
_THERE = 1e-12


def neighbor_weights(target: Floats, samples: Floats, k: int) -> tuple[Ints, Floats]:
    """Find the nearest samples and their weights, which are nonnegative and sum to 1.

    The weight of a sample at distance D is proportional to 1 / D - 1 / E, where E is the distance of the k-th sample
    (Kovar 6.5). It is 0 for the k-th sample, so weights are continuous when another sample takes its place. A sample at
    the target gets all the weight. If all samples are equally far away, all weights are equal. With at most k samples,
    none is ever replaced, and weights are proportional to 1 / D.

    Parameters
    ----------
    target : (d,) target parameters.
    samples : (m, d) parameters of the samples. Both must be scaled to make distances comparable between dimensions.
    k : number of neighbors.

    Returns
    -------
    Indices (q,) of the samples with a positive weight, nearest first, and their weights (q,).
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
    # All weights are multiplied by the nearest distance, which cancels, to avoid overflow for tiny distances.
    weights = away[0] / away - (0.0 if np.isinf(furthest) else away[0] / furthest)
    weights = np.maximum(weights, 0.0)
    total = float(weights.sum())
    if total <= _THERE:
        return near, np.full(len(near), 1.0 / len(near))
    used = weights > 0.0
    return near[used], weights[used] / total


def mix_weights(sample_weights: Floats, which: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """Combine weighted samples, which are themselves blends of examples, into weights of the examples.

    Parameters
    ----------
    sample_weights : (q,) weights of the samples.
    which : (q, s) examples that each sample is blended from.
    weights : (q, s) weights of these examples.

    Returns
    -------
    Indices (e,) of the examples with a nonzero weight, and their weights (e,).
    """
    examples, place = np.unique(which.ravel(), return_inverse=True)
    total = np.zeros(len(examples))
    np.add.at(total, place.ravel(), (sample_weights[:, None] * weights).ravel())
    used = total != 0.0
    return examples[used], total[used]
