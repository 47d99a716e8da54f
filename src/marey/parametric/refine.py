"""Better weights for a target: a few bounded Gauss-Newton steps from those that the samples give.

A step solves ``min |r - J dw|^2 + damping |y|^2`` with ``dw = s y``, weights within their bounds and a sum of 0. Each
example's room s is its part in the samples around the target: as it fades out there, so does what refinement may make
of it, and neighbouring targets keep neighbouring weights.
"""

from __future__ import annotations

import numpy as np

from marey.core._arrays import Floats, Ints
from marey.parametric.measured import Measured

__all__ = ["bounded_step", "refined"]

# Weight of the squared y beside that of squared residuals, which are in units of the space's scale.
_DAMPING = 1e-3
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
    jacobian = None
    for _ in range(steps):
        if miss < _DONE or not np.isfinite(miss):
            break
        if jacobian is None:
            jacobian = _jacobian(measured, which, now) / scale[:, None]
        after = bounded_step(now, jacobian, residual, room, delta)
        moved, left = after - now, (target - measure(after)) / scale
        length = float(moved @ moved)
        if length > 0.0:
            # What the step really did corrects J along it (Broyden), which saves blending for a new one.
            jacobian = jacobian + np.outer(residual - left - jacobian @ moved, moved / length)
        now, residual, miss = after, left, float(np.linalg.norm(left))
    # Taken in full where it takes a quarter off the error, not at all where it takes nothing off, with no jump between.
    gain = np.clip(4.0 * (1.0 - miss / first), 0.0, 1.0) if first > 0.0 and np.isfinite(miss) else 0.0
    return np.asarray(weights + gain * (now - weights))


def bounded_step(weights: Floats, jacobian: Floats, residual: Floats, room: Floats, delta: float) -> Floats:
    """Weights (e,) after one step, from J (d, e) and r (d,)."""
    from scipy.optimize import lsq_linear

    free = room > 1e-9
    s, n = room[free], int(free.sum())
    if n < 2:
        return weights
    rows = np.concatenate([jacobian[:, free] * s, np.sqrt(_DAMPING) * np.eye(n), _TIED * s[None]])
    goal = np.concatenate([residual, np.zeros(n + 1)])
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
