"""Examples that can be blended from others (Kovar 6.3.4)."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.parametric.measured import Measured
from marey.parametric.refine import refined

__all__ = ["redundant_examples"]

_STEPS = 3


def redundant_examples(measured: Measured, own: Floats, scale: Floats, tolerance: Floats, delta: float) -> Ints:
    """Choose examples to keep so that each of the others can be blended from some of them.

    In order of the distance to their neighbors, closest first, an example is dropped if a blend of the d + 1 nearest
    that remain, with weights within [-delta, 1 + delta], matches its parameters (own, (n, d)) to within `tolerance`
    (d,). The reference stays, and so do the examples that dropped ones were blended from.
    """
    n, d = own.shape
    apart = np.linalg.norm((own[:, None] - own) / scale, axis=2)
    np.fill_diagonal(apart, np.inf)
    q = min(d + 1, n - 1)
    order = np.argsort(np.sort(apart, axis=1)[:, q - 1], kind="stable")
    kept, needed = set(range(n)), {measured.registration.reference}
    for e in order.tolist():
        left = np.array(sorted(kept - {e}))
        if e in needed or len(left) <= q:
            continue
        near = left[np.argsort(apart[e, left], kind="stable")[:q]]
        first = 1.0 / np.maximum(apart[e, near], 1e-9)
        weights = refined(measured, near, first / first.sum(), np.ones(q), own[e], scale, delta, _STEPS)
        miss = (measured.of_weights(near[None], weights[None])[0] - own[e]) / tolerance
        if np.linalg.norm(miss) <= 1.0:
            kept.discard(e)
            needed |= {int(j) for j, w in zip(near, weights, strict=True) if w != 0.0}
    return np.array(sorted(kept))
