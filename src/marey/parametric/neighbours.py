"""From parameters to weights: k nearest neighbours among the samples (Kovar 6.3.3)."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, Ints

__all__ = ["mixed_weights", "neighbour_shares"]

# A sample this near, as a share of the distance to the furthest neighbour, is the target.
_THERE = 1e-12


def neighbour_shares(target: Floats, samples: Floats, k: int) -> tuple[Ints, Floats]:
    """The nearest samples and their shares, which are 0 or more and add up to 1.

    The share of a sample is 1 / D minus that of the k-th (Kovar 6.5), so that it is 0 when another takes its place. A
    sample that is the target has all; where all are equally far, all have the same. Where there are no more than k
    samples none ever takes another's place, and shares are 1 / D alone.

    Parameters
    ----------
    target : (d,) and samples : (m, d), in units in which distances count.
    k : how many neighbours.

    Returns
    -------
    (q,) indices, nearest first, of samples with a share above 0, and their shares (q,).
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
    # Times the nearest distance, which drops out, so that tiny distances do not overflow.
    shares = away[0] / away - (0.0 if np.isinf(furthest) else away[0] / furthest)
    shares = np.maximum(shares, 0.0)
    total = float(shares.sum())
    if total <= _THERE:
        return near, np.full(len(near), 1.0 / len(near))
    used = shares > 0.0
    return near[used], shares[used] / total


def mixed_weights(shares: Floats, which: Ints, weights: Floats) -> tuple[Ints, Floats]:
    """(e,) examples and their weights (e,), from shares (q,) of samples with weights (q, s) of `which` (q, s)."""
    examples, place = np.unique(which.ravel(), return_inverse=True)
    total = np.zeros(len(examples))
    np.add.at(total, place.ravel(), (shares[:, None] * weights).ravel())
    used = total != 0.0
    return examples[used], total[used]
