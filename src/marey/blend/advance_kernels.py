"""Compute the progress along the timewarp of a blend whose weights change.

Key: x = position within a span of the timewarp, 0 to 1; c = fraction of a time step that has passed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from marey.compiled import Floats1D, Floats2D, Floats3D, Out, helper, kernel

# A time step that passes the end of the timewarp by at most this fraction of the step ends exactly at the end.
_LATE = 1e-4
# Number of Runge-Kutta steps for a part of a span.
_PARTS = 4
_NEWTON_STEPS = 20
# Newton's method stops when a step is below this fraction of a span.
_SETTLED = 1e-12


class Span(NamedTuple):
    """A span of the timewarp during one step of time.

    low, high : (n,) slopes at its ends.
    weights : (4, n) weights of the motions at the nodes (4,) of the step; between the nodes they are interpolated by a
        cubic.
    step : duration of the step in seconds.
    n_spans : number of spans of the whole timewarp.
    """

    low: Floats1D
    high: Floats1D
    weights: Floats2D
    nodes: Floats1D
    step: float
    n_spans: int


@helper
def _speed(span: Span, c: float, x: float) -> float:
    """Return du/dt at position x and time c in a span, both from 0 to 1: the sum of weights / slopes."""
    low, high, weights, nodes = span.low, span.high, span.weights, span.nodes
    c = min(max(c, 0.0), 1.0)
    total = 0.0
    for k in range(4):
        basis = 1.0
        for other in range(4):
            if other != k:
                basis *= (c - nodes[other]) / (nodes[k] - nodes[other])
        for j in range(weights.shape[1]):
            weight = weights[k, j]
            if weight != 0.0:
                total += basis * weight / (low[j] + (high[j] - low[j]) * x)
    return total


@helper
def step_within(position: float, change: float, first: float, last: float) -> float:
    """Return `position - change`; but the middle of the bracket `first` to `last` if that would leave the bracket.

    This is a safeguarded Newton step. Where time passes unevenly, Newton's method alone may jump back and forth.
    """
    moved = position - change
    return moved if first <= moved <= last else 0.5 * (first + last)


@helper
def _time_between(span: Span, c: float, x: float, end: float) -> float:
    """Return the seconds from position x to `end`, by Runge-Kutta steps of dt/dx; exact if one motion has all the
    weight."""
    step, m = span.step, span.n_spans
    t = 0.0
    h = (end - x) / _PARTS
    for part in range(_PARTS):
        position = x + part * h
        k1 = 1.0 / (m * _speed(span, c + t / step, position))
        k2 = 1.0 / (m * _speed(span, c + (t + 0.5 * h * k1) / step, position + 0.5 * h))
        k3 = 1.0 / (m * _speed(span, c + (t + 0.5 * h * k2) / step, position + 0.5 * h))
        k4 = 1.0 / (m * _speed(span, c + (t + h * k3) / step, position + h))
        t += h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
    return t


@helper
def _position_after(span: Span, c: float, x: float, left: float) -> float:
    """Return the position `left` seconds after position x, by Newton's method on `_time_between`."""
    m = span.n_spans
    position: float = min(x + left * m * _speed(span, c, x), 1.0)
    first, last = x, 1.0
    for _ in range(_NEWTON_STEPS):
        late = _time_between(span, c, x, position) - left
        if late > 0.0:
            last = position
        else:
            first = position
        change = late * m * _speed(span, 1.0, position)
        position = step_within(position, change, first, last)
        if abs(change) < _SETTLED:
            break
    return position


@kernel
def advance_steps(
    slopes: Floats2D,
    steps: Floats1D,
    weights: Floats3D,
    nodes: Floats1D,
    start: float,
    cyclic: bool,
    u: Out[Floats1D],
) -> int:
    """Write u (F,) after each time step, integrated from knot to knot; return the number of values before the timewarp
    ends.

    slopes : (m + 1, n) slopes of the timewarp for n motions, at its knots.
    steps : (F - 1,) time steps in seconds.
    weights : (F - 1, 4, n) weights of the motions at the nodes (4,) of each step.
    start : u of the first frame.
    cyclic : the timewarp repeats.
    """
    m = slopes.shape[0] - 1
    rounds = math.floor(start) if cyclic else 0.0
    k = min(max(int((start - rounds) * m), 0), m - 1)
    x = (start - rounds) * m - k
    u[0] = start
    for f in range(steps.shape[0]):
        step = steps[f]
        if step <= 0.0:
            u[f + 1] = u[f]
            continue
        c = 0.0
        ended = False
        while True:
            span = Span(slopes[k], slopes[k + 1], weights[f], nodes, step, m)
            left = (1.0 - c) * step
            need = _time_between(span, c, x, 1.0)
            if need > left:
                x = _position_after(span, c, x, left)
                break
            c += need / step
            x = 0.0
            k += 1
            if k == m:
                if not cyclic:
                    ended = True
                    break
                k = 0
                rounds += 1.0
        if ended:
            if 1.0 - c > _LATE:
                return f + 1
            u[f + 1] = 1.0
            return f + 2
        u[f + 1] = rounds + (k + x) / m
    return len(u)
