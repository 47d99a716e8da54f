"""Find the frames of blends with constant weights on the registration parameter u.

Key: n = number of motions, B = number of blends; x = position within a span of the timewarp, from 0 to 1; m = number of
spans; low, high = slopes (n,) of the timewarp at the ends of a span.
"""

from __future__ import annotations

from typing import NamedTuple

from marey.blend.advance_kernels import step_within
from marey.compiled import Floats1D, Floats2D, Ints1D, Out, helper, kernel

_NEWTON_STEPS = 30
# Newton's method has converged if a step is below this fraction of a span.
_SETTLED = 1e-13
# Number of parts of a span that are integrated separately, because negative weights can make time flow unevenly.
_PANELS = 6


class Quadrature(NamedTuple):
    """Gauss quadrature on [0, 1]: nodes (Q,) and weights (Q,)."""

    nodes: Floats1D
    weights: Floats1D


@helper
def _pace(low: Floats1D, high: Floats1D, weights: Floats1D, x: float) -> float:
    """Return m dt/dx, with the time t in seconds, at position x of a span, for a blend with weights (n,).

    low, high : (n,) slopes of the n motions at the ends of the span.
    """
    flow = 0.0
    for j in range(weights.shape[0]):
        if weights[j] != 0.0:
            flow += weights[j] / (low[j] + (high[j] - low[j]) * x)
    return 1.0 / flow


@helper
def _integrate(low: Floats1D, high: Floats1D, weights: Floats1D, a: float, b: float, rule: Quadrature) -> float:
    """Return m times the time in seconds from position a to position b of a span.

    low, high : (n,) slopes of the n motions at the ends of the span.
    weights : (n,) weights of the motions.
    """
    total = 0.0
    for k in range(rule.nodes.shape[0]):
        total += rule.weights[k] * _pace(low, high, weights, a + (b - a) * rule.nodes[k])
    return total * (b - a)


@kernel
def find_span_ends(slopes: Floats2D, weights: Floats2D, rule: Quadrature, borders: Out[Floats2D]) -> None:
    """Write the time of each span's end, in seconds, to `borders` (B, m + 1), for weights (B, n); the first is 0.

    slopes : (m + 1, n) slopes of the timewarp at the ends of the spans.
    """
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
    """Write the registration parameter of each frame to `u`; blend b has the entries starts[b] to starts[b + 1].

    slopes, weights, borders : as in `find_span_ends`.
    starts : (B + 1,) first entry of each blend, then the total.
    """
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
            first, last = x, 1.0
            for _ in range(_NEWTON_STEPS):
                late = t + _integrate(low, high, weights[b], x, place, rule) / m - wanted
                if late > 0.0:
                    last = place
                else:
                    first = place
                step = late * m / _pace(low, high, weights[b], place)
                place = step_within(place, step, first, last)
                if abs(step) < _SETTLED:
                    break
            t += _integrate(low, high, weights[b], x, place, rule) / m
            x = place
            u[starts[b] + f] = (span + x) / m
