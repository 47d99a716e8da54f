"""The times of the frames of blends with constant weights.

Key: x = place within a span of the timewarp, 0 to 1; m = number of spans; low, high = slopes at a span's ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from marey.compiled import Floats1D, Floats2D, Ints1D, Out, helper, kernel

Array = Any

_NEWTON_STEPS = 30
# Steps below this fraction of a span change nothing visible.
_SETTLED = 1e-13
# Parts of a span in which time is added up by itself: negative weights may let it flow unevenly.
_PANELS = 6


class Quadrature(NamedTuple):
    """Gauss quadrature from 0 to 1: nodes and weights (Q,)."""

    nodes: Floats1D
    weights: Floats1D


@helper
def _pace(low: Array, high: Array, weights: Array, x: float) -> float:
    """dt/dx times m at a place."""
    flow = 0.0
    for j in range(weights.shape[0]):
        if weights[j] != 0.0:
            flow += weights[j] / (low[j] + (high[j] - low[j]) * x)
    return 1.0 / flow


@helper
def _integrate(low: Array, high: Array, weights: Array, a: float, b: float, rule: Quadrature) -> float:
    """m times the seconds from place a to place b."""
    total = 0.0
    for k in range(rule.nodes.shape[0]):
        total += rule.weights[k] * _pace(low, high, weights, a + (b - a) * rule.nodes[k])
    return total * (b - a)


@kernel
def find_span_ends(slopes: Floats2D, weights: Floats2D, rule: Quadrature, borders: Out[Floats2D]) -> None:
    """Seconds (B, m + 1) of B blends at the borders of the spans, from slopes (m + 1, n) and weights (B, n)."""
    m = slopes.shape[0] - 1
    for b in range(weights.shape[0]):
        borders[b, 0] = 0.0
        for span in range(m):
            total = 0.0
            for part in range(_PANELS):
                first, last = part / _PANELS, (part + 1) / _PANELS
                total += _integrate(slopes[span], slopes[span + 1], weights[b], first, last, rule)
            borders[b, span + 1] = borders[b, span] + total / m


@kernel
def find_frame_places(
    slopes: Floats2D,
    weights: Floats2D,
    borders: Floats2D,
    starts: Ints1D,
    fps: float,
    rule: Quadrature,
    u: Out[Floats1D],
) -> None:
    """u of the frames of B blends, those of blend b in rows starts[b] to starts[b + 1]."""
    m = slopes.shape[0] - 1
    for b in range(weights.shape[0]):
        span, x, t = 0, 0.0, 0.0
        for f in range(starts[b + 1] - starts[b]):
            wanted = min(f / fps, borders[b, m])
            while span < m - 1 and wanted >= borders[b, span + 1]:
                span += 1
                x, t = 0.0, borders[b, span]
            low, high = slopes[span], slopes[span + 1]
            place = min(x + (wanted - t) * m / _pace(low, high, weights[b], x), 1.0)
            for _ in range(_NEWTON_STEPS):
                late = t + _integrate(low, high, weights[b], x, place, rule) / m - wanted
                step = late * m / _pace(low, high, weights[b], place)
                place = min(max(place - step, x), 1.0)
                if abs(step) < _SETTLED:
                    break
            t += _integrate(low, high, weights[b], x, place, rule) / m
            x = place
            u[starts[b] + f] = (span + x) / m
