"""Refine the weights for a target: a few bounded Gauss-Newton steps, starting from the weights given by the samples.

A step dw of the weights is the product s y of a factor s for each example and the vector y that minimizes ``|r - J
dw|^2 + damping^2 |y|^2``, where r is the residual and J the Jacobian of the parameters. The sum of dw is 0, and the
weights stay within their bounds. The factor s of an example is its total weight in the samples around the target: where
this weight fades out, refinement changes the example less, so similar targets get similar weights. For the same reason,
J is not updated, r is first projected to the directions that J s can change, and damping grows with r. If the examples
hardly differ in some direction (for example, kicks along a leg that is always stretched), requests in that direction do
not change the weights.
"""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.parametric.measured import BlendMeasurer

__all__ = ["choose_examples", "compute_bounded_step", "refine_weights"]

# Residuals in directions where J s is below this fraction of its largest singular value are mostly ignored.
_FOLLOWED = 0.03
# Squared damping for a residual of 1: about how much J s changes while such a residual is removed.
_BENT = 0.02
# Minimum damping, relative to the largest singular value of J s.
_MIN_DAMPING = 0.01
# Finite-difference step toward a single example. It is wide, because f has small kinks where its moment passes from one
# frame to the next; with a narrow step these would make weights jump.
_STEP = 0.1
# Refinement stops below this residual, in units of the scale.
_DONE = 1e-5
# Number of refinement steps to reproduce an example from others.
_CHOICE_STEPS = 3
# Penalty that keeps the sum of a step at 0, relative to residuals of about 1.
_TIED = 1e4


def refine_weights(
    measured: BlendMeasurer,
    which: Ints,
    weights: Floats,
    room: Floats,
    target: Floats,
    scale: Floats,
    delta: float,
    steps: int,
) -> Floats:
    """Refine weights (e,) of examples `which` (e,) to bring a blend, without cleanup, closer to `target` (d,).

    Parameters
    ----------
    measured : measures the parameters of blends.
    weights : (e,) initial weights, within [-delta, 1 + delta] and with sum 1.
    room : (e,) how easily each weight may change (s in the module docstring); 0 keeps it fixed.
    scale : (d,) distance in each dimension that counts as one unit.
    delta : weights stay in [-delta, 1 + delta].
    steps : maximum number of steps.
    """
    if len(which) < 2:
        return weights

    def measure(tried: Floats) -> Floats:
        return np.asarray(measured.measure_weights(which[None], tried[None])[0])

    now, residual = weights, (target - measure(weights)) / scale
    first = miss = float(np.linalg.norm(residual))
    if miss < _DONE or not np.isfinite(miss):
        return weights
    jacobian = _compute_jacobian(measured, which, now) / scale[:, None]
    for _ in range(steps):
        now = compute_bounded_step(now, jacobian, residual, room, delta)
        residual = (target - measure(now)) / scale
        miss = float(np.linalg.norm(residual))
        if miss < _DONE or not np.isfinite(miss):
            break
    # Use the full change if the error does not grow, none if it grows by a quarter or more, and a fraction in between.
    gain = np.clip(5.0 - 4.0 * miss / first, 0.0, 1.0) if np.isfinite(miss) else 0.0
    return np.asarray(weights + gain * (now - weights))


def compute_bounded_step(weights: Floats, jacobian: Floats, residual: Floats, room: Floats, delta: float) -> Floats:
    """Return the weights (e,) after one bounded Gauss-Newton step; Jacobian (d, e), residual (d,)."""
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
    damping = np.hypot(_MIN_DAMPING * size, np.sqrt(_BENT * np.linalg.norm(residual)))
    rows = np.concatenate([slopes, damping * np.eye(n), _TIED * s[None]])
    goal = np.concatenate([within, np.zeros(n + 1)])
    low, high = (-delta - weights[free]) / s, (1.0 + delta - weights[free]) / s
    found = lsq_linear(rows, goal, (np.minimum(low, 0.0) - 1e-12, np.maximum(high, 0.0) + 1e-12), method="bvls")
    out = weights.copy()
    out[free] += s * found.x
    return _clip_weights(out, delta)


def _clip_weights(weights: Floats, delta: float) -> Floats:
    """Remove rounding errors: clamp weights to [-delta, 1 + delta] and make their sum 1."""
    out = np.clip(weights, -delta, 1.0 + delta)
    for _ in range(4):
        lack = 1.0 - float(out.sum())
        slack = (1.0 + delta - out) if lack > 0.0 else (out + delta)
        total = float(slack.sum())
        if total <= 0.0:
            break
        out = np.clip(out + slack * (lack / total), -delta, 1.0 + delta)
    return np.asarray(out)


def _compute_jacobian(measured: BlendMeasurer, which: Ints, weights: Floats) -> Floats:
    """Return the derivatives (d, e) of f at `weights` (e,) of the examples `which` (e,), toward each single example, by
    finite differences.

    For steps with sum 0, they act like partial derivatives with respect to the weights.
    """
    e = len(which)
    away = weights + _STEP * (np.eye(e) - weights)
    rows = np.concatenate([weights[None], away])
    found = measured.measure_weights(np.broadcast_to(which, rows.shape), rows)
    return np.asarray((found[1:] - found[0]).T / _STEP)


def choose_examples(measured: BlendMeasurer, own: Floats, scale: Floats, tolerance: Floats, delta: float) -> Ints:
    """Return the indices of the examples to keep; each of the others can be blended from some of them (Kovar 6.3.4).

    Examples are tested in order of the distance to their neighbors, closest first. An example is dropped if a blend of
    the d + 1 nearest remaining ones, with weights within [-delta, 1 + delta], matches its parameters to within
    `tolerance`. The reference is always kept, and so are the examples that dropped ones were blended from.

    Parameters
    ----------
    own : (n, d) parameters of the examples.
    scale : (d,) distance in each dimension that counts as one unit.
    tolerance : (d,) tolerance in each dimension.
    """
    n, d = own.shape
    apart = np.linalg.norm((own[:, None] - own) / scale, axis=2)
    np.fill_diagonal(apart, np.inf)
    q = min(d + 1, n - 1)
    order = np.argsort(np.sort(apart, axis=1)[:, q - 1], kind="stable")
    remaining, needed = set(range(n)), {measured.registration.reference}
    for e in order.tolist():
        left = np.array(sorted(remaining - {e}))
        if e in needed or len(left) <= q:
            continue
        near = left[np.argsort(apart[e, left], kind="stable")[:q]]
        first = 1.0 / np.maximum(apart[e, near], 1e-9)
        weights = refine_weights(measured, near, first / first.sum(), np.ones(q), own[e], scale, delta, _CHOICE_STEPS)
        miss = (measured.measure_weights(near[None], weights[None])[0] - own[e]) / tolerance
        if np.linalg.norm(miss) <= 1.0:
            remaining.discard(e)
            needed |= {int(j) for j, w in zip(near, weights, strict=True) if w != 0.0}
    return np.array(sorted(remaining))
