"""Sample how weights map to parameters, with blends of examples that are close to each other (Kovar 6.3.2)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from marey.core.arrays import Floats, Ints

__all__ = ["Blends", "measure_samples", "random_weights", "sample_weights", "thin_samples"]


class Blends(Protocol):
    """Protocol of an object that blends examples and measures the result, such as `BlendMeasurer`."""

    def measure_weights(self, which: Ints, weights: Floats) -> Floats:
        """Return the parameters (B, d) of B blends of examples `which` (B, q) with weights (B, q)."""


def sample_weights(
    parameters: Floats, n_samples: int, delta: float, expand: float, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Choose the examples and weights of the blends to measure.

    For each random point in a box around the examples' parameters, the d + 1 nearest examples are blended with random
    weights within [-delta, 1 + delta].

    Parameters
    ----------
    parameters : (n, d) parameters of the examples, scaled to make distances comparable between dimensions.
    n_samples : number of blends N.
    expand : how much larger the box is than the bounding box of the examples, as a fraction of its size.

    Returns
    -------
    Examples (N, q) of each blend and their weights (N, q), with q = min(d + 1, n).
    """
    n, d = parameters.shape
    q = min(d + 1, n)
    low, high = parameters.min(axis=0), parameters.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low) * (1.0 + expand)
    points = middle + half * rng.uniform(-1.0, 1.0, (n_samples, d))
    apart = np.linalg.norm(points[:, None] - parameters, axis=2)
    which = np.argsort(apart, axis=1, kind="stable")[:, :q]
    return which, random_weights(n_samples, q, delta, rng)


def random_weights(n: int, q: int, delta: float, rng: np.random.Generator) -> Floats:
    """Return n rows of q random weights with sum 1, each within [-delta, 1 + delta].

    Weights are drawn one after another with partial sums in the same interval; then each row is shuffled.
    """
    out = np.empty((n, q))
    done = np.zeros(n)
    for j in range(q - 1):
        low, high = np.maximum(-delta, -delta - done), np.minimum(1.0 + delta, 1.0 + delta - done)
        out[:, j] = rng.uniform(low, high)
        done += out[:, j]
    out[:, q - 1] = 1.0 - done
    order = rng.permuted(np.tile(np.arange(q), (n, 1)), axis=1)
    return np.take_along_axis(out, order, axis=1)


def thin_samples(parameters: Floats, spacing: float, first: int) -> Ints:
    """Return the indices of the rows (N, d) to keep: a row closer than `spacing` to one kept before it is dropped.

    The first `first` rows, which are the examples, are always kept.
    """
    chosen = list(range(first))
    for k in range(first, len(parameters)):
        if np.linalg.norm(parameters[chosen] - parameters[k], axis=1).min() >= spacing:
            chosen.append(k)
    return np.array(chosen)


def measure_samples(
    measured: Blends, own: Floats, scale: Floats, which: Ints, weights: Floats, spacing: float
) -> tuple[Floats, Ints, Floats]:
    """Measure the samples; return their parameters (m, d), examples (m, q) and weights (m, q).

    The first n of the m samples are the examples themselves. Samples too close to another are dropped.

    Parameters
    ----------
    measured : measures the parameters of blends.
    own : (n, d) parameters of the examples.
    scale : (d,) distance in each dimension that counts as one unit.
    which, weights : (N, q) examples of each blend, and their weights.
    spacing : smallest distance between samples, in units of `scale`.
    """
    n, q = len(own), which.shape[1]
    found = measured.measure_weights(which, weights)
    usable = np.isfinite(found).all(axis=1)
    alone = np.zeros((n, q), dtype=np.int64)
    alone[:] = np.arange(n)[:, None]
    full = np.zeros((n, q))
    full[:, 0] = 1.0
    parameters = np.concatenate([own, found[usable]])
    chosen = thin_samples(parameters / scale, spacing, n)
    examples, all_weights = np.concatenate([alone, which[usable]]), np.concatenate([full, weights[usable]])
    return parameters[chosen], examples[chosen], all_weights[chosen]
