"""A simple pose cost: a weighted sum of differences in joint angle, velocity and acceleration (as in
Reitsma's lecture)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from marey.compare.clouds import choose_joints
from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.maths import quat

__all__ = ["POSE_WEIGHTS", "pose_cost", "similarity"]

POSE_WEIGHTS: dict[str, float] = {
    f"{side}_{part}": weight
    for part, weight in (("upper_leg", 1.0), ("upper_arm", 0.75), ("lower_leg", 0.25), ("forearm", 0.25))
    for side in ("left", "right")
}
"""Hip 1, shoulder 0.75, knee and elbow 0.25: movements of the large limbs distinguish kinds of motion."""

# The lecture uses differences between frames; here they are scaled as if at this frame rate.
_RATE = 30.0


def pose_cost(
    a: Motion,
    b: Motion | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    velocity: float = 0.1,
    acceleration: float = 0.01,
) -> Floats:
    """Return the cost (Fa, Fb) of each pair of frames; 0 for identical poses. Only local rotations are compared.

    The cost is the weighted sum over joints of the angle between their rotations (radians), plus `velocity` times the
    difference of angular velocities, plus `acceleration` times the difference of angular accelerations. Both are
    backward differences per frame at 30 Hz, whatever the clips' frame rates. The first frames, which have no past, use
    the values of the next frame.

    Parameters
    ----------
    a, b : motions with all weighted joints; by default b is a.
    weights : weights keyed by role or joint name; `POSE_WEIGHTS` by default.
    velocity, acceleration : weights of these differences; 0.1 and 0.01 by default.

    Examples
    --------
    >>> cost = marey.compare.pose_cost(walk, run)
    >>> cost.shape
    (241, 241)
    >>> float(marey.compare.pose_cost(walk)[5, 5])
    0.0
    """
    from scipy.spatial.distance import cdist

    weight = dict(POSE_WEIGHTS if weights is None else weights)
    factors = {"velocity": velocity, "acceleration": acceleration, **{f"of {k!r}": v for k, v in weight.items()}}
    for what, factor in factors.items():
        if not (np.isfinite(factor) and factor >= 0):
            raise InvalidValue(f"weight {what} must be a finite number of at least 0, not {factor!r}")
    second = a if b is None else b
    if a.fps != second.fps:
        raise InvalidValue(
            f"{a.name!r} has {a.fps:.6g} frames per second, {second.name!r} has {second.fps:.6g}; resample one of them "
            "with `marey.edit.resample`"
        )
    names = tuple(weight)
    joints_a, joints_b = (choose_joints(motion.skeleton, names)[1] for motion in (a, second))
    cost = np.zeros((len(a), len(second)))
    for name, j, k in zip(names, joints_a, joints_b, strict=True):
        p, q = a.rotations[:, j], second.rotations[:, k]
        # q and -q are the same rotation; use the nearer one.
        chord = np.minimum(cdist(p, q), cdist(p, -q))
        here, there = _rates(p, a.fps), _rates(q, second.fps)
        part = 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))
        part += velocity * cdist(here[0], there[0]) + acceleration * cdist(here[1], there[1])
        cost += weight[name] * part
    return set_readonly(cost)


def similarity(cost: ArrayLike) -> Floats:
    """Return ``1 / (1 + cost)``: 1 for the same pose, near 0 for very different poses.

    Parameters
    ----------
    cost : (...) costs of any shape, at least 0; see `pose_cost`.

    Examples
    --------
    >>> marey.compare.similarity([0.0, 1.0, 3.0])
    array([1.  , 0.5 , 0.25])
    """
    return np.asarray(1.0 / (1.0 + np.asarray(cost, dtype=np.float64)))


def _rates(rotations: Floats, fps: float) -> tuple[Floats, Floats]:
    """Return the angular velocity and the angular acceleration (F, 3) of one joint in its local frame, in rad per frame
    and rad per frame^2 at 30 Hz."""
    n_frames = len(rotations)
    velocity, acceleration = np.zeros((n_frames, 3)), np.zeros((n_frames, 3))
    if n_frames > 1:
        velocity[1:] = quat.log(quat.inv_mul(rotations[:-1], rotations[1:])) * (fps / _RATE)
        velocity[0] = velocity[1]
    if n_frames > 2:
        acceleration[2:] = np.diff(velocity[1:], axis=0) * (fps / _RATE)
        acceleration[:2] = acceleration[2]
    return velocity, acceleration
