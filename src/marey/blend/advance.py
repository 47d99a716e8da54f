"""Progress along the timewarp: find u(t), so that a blend plays at a speed between those of its motions (Kovar 5.3.1).

Each motion contributes to the speed of u, ``du/dt = sum w_j / S_j'(u)`` (5.9). Kovar uses |w_j|, which prevents time
from running backward but makes a walk extrapolated away from a run faster. Here negative weights are used too, but
limited so that time keeps moving forward (`limit_speed_weights`). Speed is thus extrapolated like poses.

The slopes S_j' are linear between the knots of the timewarp. For constant weights t(u) is computed by Gauss quadrature
within each span and inverted by Newton steps; for changing weights, Runge-Kutta steps stop at every knot. A single
motion is played unchanged.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from marey.blend.advance_kernels import advance_steps
from marey.blend.weights import limit_speed_weights, sample_votes
from marey.core.arrays import Floats

__all__ = ["compute_knot_slopes", "compute_span_times", "find_u", "integrate_u"]

_NODES, _WEIGHTS = (
    0.5 * (part + shift) for part, shift in zip(np.polynomial.legendre.leggauss(12), (1.0, 0.0), strict=True)
)
# With negative weights, the speed of u may vary a lot within a span, so the quadrature is applied to several parts.
_PANELS = 6
_PANEL_NODES = ((np.arange(_PANELS)[:, None] + _NODES) / _PANELS).ravel()
_PANEL_WEIGHTS = np.tile(_WEIGHTS / _PANELS, _PANELS)
_NEWTON_STEPS = 30
# Newton steps below this fraction of a span have no visible effect.
_CONVERGED = 1e-14
# Points of a step at which weights are evaluated: Lobatto points, interpolated by a cubic.
LOBATTO = np.array([0.0, 0.5 - 0.1 * np.sqrt(5.0), 0.5 + 0.1 * np.sqrt(5.0), 1.0])
_LOBATTO_WEIGHTS = np.array([1.0, 5.0, 5.0, 1.0]) / 12.0
# Maximum ratio of the speeds of u at these points if weights are negative. The cubic between them stays positive for
# ratios up to 4.
_CALM = 2.0


def compute_knot_slopes(points: Floats) -> Floats:
    """Compute dS/du, (m + 1, n), at the borders of the m = K - 2 spans, from control points (K, n) in seconds."""
    return np.ascontiguousarray((len(points) - 2) * np.diff(points, axis=0))


def compute_span_times(slopes: Floats, weights: Floats) -> Floats:
    """Compute when the blend reaches each knot, (m + 1,) seconds, for constant weights (n,)."""
    speed_weights, slopes = _select_voters(slopes, weights)
    spans = len(slopes) - 1
    each = _integrate_within_spans(slopes[:-1], slopes[1:], speed_weights, np.ones(spans)) / spans
    return np.concatenate([[0.0], np.cumsum(each)])


def find_u(slopes: Floats, weights: Floats, seconds: Floats) -> Floats:
    """Compute u (F,) in [0, 1] at times (F,) of a blend with constant weights (n,), exact to rounding."""
    borders = compute_span_times(slopes, weights)
    speed_weights, slopes = _select_voters(slopes, weights)
    spans = len(slopes) - 1
    span = np.clip(np.searchsorted(borders, seconds, side="right") - 1, 0, spans - 1)
    low, high = slopes[span], slopes[span + 1]
    wanted = np.clip(seconds, 0.0, borders[-1]) - borders[span]
    x = wanted / (borders[span + 1] - borders[span])
    first, last = np.zeros_like(x), np.ones_like(x)
    for _ in range(_NEWTON_STEPS):
        pace = 1.0 / (spans * (speed_weights / (low + (high - low) * x[:, None])).sum(axis=1))
        late = _integrate_within_spans(low, high, speed_weights, x) / spans - wanted
        first, last = np.where(late > 0.0, first, x), np.where(late > 0.0, x, last)
        step = late / pace
        # Where time passes unevenly, Newton's method alone may jump back and forth.
        x = np.where((x - step >= first) & (x - step <= last), x - step, 0.5 * (first + last))
        if np.abs(step).max(initial=0.0) < _CONVERGED:
            break
    return np.asarray((span + x) / spans)


def _select_voters(slopes: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weights and slopes of the motions with nonzero weight."""
    speed_weights = limit_speed_weights(weights, slopes)
    votes = speed_weights != 0.0
    return speed_weights[votes], slopes[:, votes]


def _integrate_within_spans(low: Floats, high: Floats, speed_weights: Floats, x: Floats) -> Floats:
    """Integrate dt/du from 0 to x (N,) in spans whose slopes go from low (N, n) to high (N, n); return (N,)."""
    nodes, weights = (_PANEL_NODES, _PANEL_WEIGHTS) if (speed_weights < 0.0).any() else (_NODES, _WEIGHTS)
    at = x[:, None] * nodes
    slope = low[:, None] + (high - low)[:, None] * at[..., None]
    return np.asarray(x * ((1.0 / (speed_weights / slope).sum(axis=2)) @ weights))


def integrate_u(
    slopes: Floats,
    weights_at: Callable[[Floats], Floats],
    seconds: Floats,
    *,
    start: float = 0.0,
    cyclic: bool = False,
    backward: bool = False,
) -> Floats:
    """Compute u over time for weights that change.

    Parameters
    ----------
    slopes : (m + 1, n) slopes of the timewarp of n motions at its m + 1 knots.
    weights_at : function from times (T,) to weights (T, n) with sums of 1.
    seconds : (F,) sorted times; u is `start` at the first.
    start : u at the first time.
    cyclic : whether u continues beyond 1.
    backward : whether times decrease.

    Returns
    -------
    (G,) u at the times that lie within the timewarp: G = F, or less if the timewarp ends earlier.
    """
    steps = np.diff(seconds)
    at = seconds[:-1, None] + steps[:, None] * LOBATTO
    speed_weights = limit_speed_weights(weights_at(at.ravel()), slopes).reshape(
        len(steps), len(LOBATTO), slopes.shape[1]
    )
    speed_weights = _limit_jumps(speed_weights, slopes)
    given = slopes[::-1] if backward else slopes
    first = 1.0 - start if backward else start
    u = np.empty(len(seconds))
    reached = advance_steps(
        np.ascontiguousarray(given), np.abs(steps), np.ascontiguousarray(speed_weights), LOBATTO, first, cyclic, u
    )
    inside = u[:reached]
    return 1.0 - inside if backward else inside


def _limit_jumps(speed_weights: Floats, slopes: Floats) -> Floats:
    """Replace the weights (T, 4, n) at the points of each step by their mean where time might run backward between
    them."""
    beyond = np.flatnonzero((speed_weights < 0.0).any(axis=(1, 2)))
    votes = sample_votes(slopes).reshape(-1, slopes.shape[1]).T if len(beyond) else slopes
    for k in beyond:
        flow = speed_weights[k] @ votes
        if (flow.max(axis=0) > _CALM * flow.min(axis=0)).any():
            speed_weights[k] = _LOBATTO_WEIGHTS @ speed_weights[k]
    return speed_weights
