"""Moving along the timewarp: u(t), so that the blend plays at a speed between those of its motions (Kovar 5.3.1).

Each motion votes on how fast u should flow, ``du/dt = sum w_j / S_j'(u)`` (5.9). Kovar takes |w_j|, which
keeps time from turning back, but makes a walk extrapolated away from a run faster; here negative weights are used as
far as time allows (`speed_shares`), so that speed goes on beyond the motions as the poses do.

The slopes S_j' are linear between the knots of the timewarp, so for constant weights t(u) is found by Gauss quadrature
within each span and inverted by Newton steps; for weights that change, Runge-Kutta steps stop at every knot. One motion
alone is played just as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from marey.blend.advance_kernels import advance_steps
from marey.blend.weights import sample_votes, speed_shares
from marey.core.arrays import Floats

__all__ = ["compute_span_times", "find_u", "integrate_u", "knot_slopes"]

_NODES, _WEIGHTS = (
    0.5 * (part + shift) for part, shift in zip(np.polynomial.legendre.leggauss(12), (1.0, 0.0), strict=True)
)
# Under negative weights time may flow very unevenly within a span: the same rule in each of several parts.
_PANELS = 6
_PANEL_NODES = ((np.arange(_PANELS)[:, None] + _NODES) / _PANELS).ravel()
_PANEL_WEIGHTS = np.tile(_WEIGHTS / _PANELS, _PANELS)
_NEWTON_STEPS = 30
# Steps below this share of a span change nothing that a motion could show.
_SETTLED = 1e-14
# Where in a step weights are asked for: Lobatto's points, through which a cubic is laid.
LOBATTO = np.array([0.0, 0.5 - 0.1 * np.sqrt(5.0), 0.5 + 0.1 * np.sqrt(5.0), 1.0])
_LOBATTO_WEIGHTS = np.array([1.0, 5.0, 5.0, 1.0]) / 12.0
# How many times as fast time may flow at one of those points as at another, with negative weights in it: up to 4 times
# the cubic surely stays above 0 between them.
_CALM = 2.0


def knot_slopes(points: Floats) -> Floats:
    """(m + 1, n) dS/du at the borders of the m = K - 2 spans, from control points (K, n) in seconds."""
    return np.ascontiguousarray((len(points) - 2) * np.diff(points, axis=0))


def compute_span_times(slopes: Floats, weights: Floats) -> Floats:
    """(m + 1,) seconds of the blend at the borders of the spans, under constant weights (n,)."""
    shares, slopes = _select_voters(slopes, weights)
    spans = len(slopes) - 1
    each = _integrate_within_spans(slopes[:-1], slopes[1:], shares, np.ones(spans)) / spans
    return np.concatenate([[0.0], np.cumsum(each)])


def find_u(slopes: Floats, weights: Floats, seconds: Floats) -> Floats:
    """(F,) u at times (F,) of a blend under constant weights (n,), exact to rounding; inside [0, 1]."""
    borders = compute_span_times(slopes, weights)
    shares, slopes = _select_voters(slopes, weights)
    spans = len(slopes) - 1
    span = np.clip(np.searchsorted(borders, seconds, side="right") - 1, 0, spans - 1)
    low, high = slopes[span], slopes[span + 1]
    wanted = np.clip(seconds, 0.0, borders[-1]) - borders[span]
    x = wanted / (borders[span + 1] - borders[span])
    for _ in range(_NEWTON_STEPS):
        pace = 1.0 / (spans * (shares / (low + (high - low) * x[:, None])).sum(axis=1))
        step = (_integrate_within_spans(low, high, shares, x) / spans - wanted) / pace
        x = np.clip(x - step, 0.0, 1.0)
        if np.abs(step).max(initial=0.0) < _SETTLED:
            break
    return np.asarray((span + x) / spans)


def _select_voters(slopes: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weights and slopes of the motions with nonzero weight."""
    shares = speed_shares(weights, slopes)
    votes = shares != 0.0
    return shares[votes], slopes[:, votes]


def _integrate_within_spans(low: Floats, high: Floats, shares: Floats, x: Floats) -> Floats:
    """(N,) integral of dt/du from 0 to x (N,) in spans whose slopes go from low (N, n) to high (N, n)."""
    nodes, weights = (_PANEL_NODES, _PANEL_WEIGHTS) if (shares < 0.0).any() else (_NODES, _WEIGHTS)
    at = x[:, None] * nodes
    slope = low[:, None] + (high - low)[:, None] * at[..., None]
    return np.asarray(x * ((1.0 / (shares / slope).sum(axis=2)) @ weights))


def integrate_u(
    slopes: Floats,
    weights_at: Callable[[Floats], Floats],
    seconds: Floats,
    *,
    start: float = 0.0,
    cyclic: bool = False,
    backward: bool = False,
) -> Floats:
    """u at times under weights that change.

    Parameters
    ----------
    slopes : (m + 1, n) of the timewarp at its knots.
    weights_at : from times (T,) to weights (T, n) with sums of 1.
    seconds : (F,) times in order, of which the first is at `start`.
    start : u at the first time.
    cyclic : whether u goes on beyond 1.
    backward : whether times decrease.

    Returns
    -------
    (G,) u at the times that lie within the timewarp: G = F, or fewer where it ends before.
    """
    steps = np.diff(seconds)
    at = seconds[:-1, None] + steps[:, None] * LOBATTO
    shares = speed_shares(weights_at(at.ravel()), slopes).reshape(len(steps), len(LOBATTO), slopes.shape[1])
    shares = _limit_jumps(shares, slopes)
    given = slopes[::-1] if backward else slopes
    first = 1.0 - start if backward else start
    u = np.empty(len(seconds))
    reached = advance_steps(
        np.ascontiguousarray(given), np.abs(steps), np.ascontiguousarray(shares), LOBATTO, first, cyclic, u
    )
    inside = u[:reached]
    return 1.0 - inside if backward else inside


def _limit_jumps(shares: Floats, slopes: Floats) -> Floats:
    """Shares (T, 4, n) at the points of each step, or their mean where they jump so that time might turn back."""
    beyond = np.flatnonzero((shares < 0.0).any(axis=(1, 2)))
    votes = sample_votes(slopes).reshape(-1, slopes.shape[1]).T if len(beyond) else slopes
    for k in beyond:
        flow = shares[k] @ votes
        if (flow.max(axis=0) > _CALM * flow.min(axis=0)).any():
            shares[k] = _LOBATTO_WEIGHTS @ shares[k]
    return shares
