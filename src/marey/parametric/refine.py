"""Better weights for a target: a few bounded Gauss-Newton steps from those that the samples give.

A step solves ``min |r - J dw|^2 + damping |y|^2`` with ``dw = s y``, weights within their bounds and a sum of 0. Each
example's room s is its part in the samples around the target: as it fades out there, so does what refinement may make
of it, and neighbouring targets keep neighbouring weights. For the same reason J stays that of the first weights, r is
first brought into what J s can change, and damping grows with r: where the examples hardly differ in some direction, as
kicks do along a leg that is always stretched, what is asked for in that direction leaves the weights alone.
"""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.parametric.measured import Measured

__all__ = ["bounded_step", "refined"]

# Directions in which J s is below this share of what it is in the best one are hardly followed.
_FOLLOWED = 0.03
# Damping for a residual of 1: about how much J s changes while such a residual is worked off.
_BENT = 0.02
# Damping that there is always, as a share of the largest singular value of J s.
_LEAST = 0.01
# Share of the way to one example alone by which f is differentiated: wide, as f has small kinks where its moment passes
# from one frame to the next, which would make weights jump.
_STEP = 0.1
# Residuals in units of the scale below which there is nothing left to do.
_DONE = 1e-5
# What keeps the sum of a step at 0, beside residuals of about 1.
_TIED = 1e4


def refined(
    measured: Measured,
    which: Ints,
    weights: Floats,
    room: Floats,
    target: Floats,
    scale: Floats,
    delta: float,
    steps: int,
) -> Floats:
    """Weights (e,) of examples `which` (e,) with which a blend, not cleaned, comes nearer to `target` (d,).

    Parameters
    ----------
    weights : (e,) to begin with, within [-delta, 1 + delta] and with a sum of 1.
    room : (e,) how far each may be changed, 0 or more.
    scale : (d,) what counts as equally far in each dimension.
    """
    if len(which) < 2:
        return weights

    def measure(shares: Floats) -> Floats:
        return np.asarray(measured.of_weights(which[None], shares[None])[0])

    now, residual = weights, (target - measure(weights)) / scale
    first = miss = float(np.linalg.norm(residual))
    if miss < _DONE or not np.isfinite(miss):
        return weights
    jacobian = _jacobian(measured, which, now) / scale[:, None]
    for _ in range(steps):
        now = bounded_step(now, jacobian, residual, room, delta)
        residual = (target - measure(now)) / scale
        miss = float(np.linalg.norm(residual))
        if miss < _DONE or not np.isfinite(miss):
            break
    # Taken in full where it does no harm, not at all where the error becomes a quarter larger, with no jump between.
    gain = np.clip(5.0 - 4.0 * miss / first, 0.0, 1.0) if np.isfinite(miss) else 0.0
    return np.asarray(weights + gain * (now - weights))


def bounded_step(weights: Floats, jacobian: Floats, residual: Floats, room: Floats, delta: float) -> Floats:
    """Weights (e,) after one step, from J (d, e) and r (d,)."""
    from scipy.optimize import lsq_linear

    free = room > 1e-9
    s, n = room[free], int(free.sum())
    if n < 2:
        return weights
    slopes = jacobian[:, free] * s
    size = float(np.linalg.norm(slopes, 2))
    if size <= 0.0:
        return weights
    square = slopes @ slopes.T
    within = np.linalg.solve(square + (_FOLLOWED * size) ** 2 * np.eye(len(square)), square @ residual)
    damping = np.hypot(_LEAST * size, np.sqrt(_BENT * np.linalg.norm(residual)))
    rows = np.concatenate([slopes, damping * np.eye(n), _TIED * s[None]])
    goal = np.concatenate([within, np.zeros(n + 1)])
    low, high = (-delta - weights[free]) / s, (1.0 + delta - weights[free]) / s
    found = lsq_linear(rows, goal, (np.minimum(low, 0.0) - 1e-12, np.maximum(high, 0.0) + 1e-12), method="bvls")
    out = weights.copy()
    out[free] += s * found.x
    return _within(out, delta)


def _within(weights: Floats, delta: float) -> Floats:
    """Weights whose rounding is taken off: within their bounds, with a sum of 1."""
    out = np.clip(weights, -delta, 1.0 + delta)
    for _ in range(4):
        lack = 1.0 - float(out.sum())
        slack = (1.0 + delta - out) if lack > 0.0 else (out + delta)
        total = float(slack.sum())
        if total <= 0.0:
            break
        out = np.clip(out + slack * (lack / total), -delta, 1.0 + delta)
    return np.asarray(out)


def _jacobian(measured: Measured, which: Ints, weights: Floats) -> Floats:
    """(d, e) change of f along the way from these weights to each example alone; exact for steps with a sum of 0."""
    e = len(which)
    away = weights + _STEP * (np.eye(e) - weights)
    rows = np.concatenate([weights[None], away])
    found = measured.of_weights(np.broadcast_to(which, rows.shape), rows)
    return np.asarray((found[1:] - found[0]).T / _STEP)
