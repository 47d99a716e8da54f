"""Compiled loops of motion matching."""

from __future__ import annotations

import math
from typing import NamedTuple

from marey.compiled import Floats1D, Out, kernel
from marey.maths.vector_kernels import square

# Steps of the path from one time that is compared to the next.
_STEPS = 8


class PathModel(NamedTuple):
    """How the path ahead is predicted and scaled.

    ahead : (T,) seconds. springs : (2,) stiffness of speed and facing, 1/s. limits : (2,) rad/s to the right and to the
    left. scale : (4 T,) or longer, of the features.
    """

    ahead: Floats1D
    springs: Floats1D
    limits: Floats1D
    scale: Floats1D


@kernel
def predict_path(
    pace: float, turn_rate: float, speed: float, turn: float, model: PathModel, out: Out[Floats1D]
) -> None:
    """Predict the path from how a character moves now to how it is requested to move, scaled as features are.

    Speed and facing follow critically damped springs, speed without and facing with a velocity of its own at first; the
    character turns no faster than within limits, and goes where it faces.

    pace, speed : m/s now and requested. turn_rate : rad/s now. turn : radians to the requested direction.
    out : (4 T,) or longer: x, z for each time, then sine and cosine of facing for each.
    """
    ahead, limits, scale = model.ahead, model.limits, model.scale
    y, swing = model.springs[0], model.springs[1]
    n = ahead.shape[0]
    x, z, t = 0.0, 0.0, 0.0
    for i in range(n):
        dt = (ahead[i] - t) / _STEPS
        yaw = 0.0
        for part in range(_STEPS + 1):
            time = t + part * dt
            yaw = turn + math.exp(-swing * time) * ((turn_rate - swing * turn) * time - turn)
            yaw = min(max(yaw, limits[0] * time), limits[1] * time)
            velocity = speed + math.exp(-y * time) * (1.0 + y * time) * (pace - speed)
            # Trapezoidal rule: half a step at both ends.
            weight = 0.5 * dt if part == 0 or part == _STEPS else dt
            x += weight * velocity * math.sin(yaw)
            z += weight * velocity * math.cos(yaw)
        t = ahead[i]
        out[2 * i] = x * scale[2 * i]
        out[2 * i + 1] = z * scale[2 * i + 1]
        k = 2 * (n + i)
        out[k] = math.sin(yaw) * scale[k]
        out[k + 1] = math.cos(yaw) * scale[k + 1]


@kernel
def measure_distance(a: Floats1D, b: Floats1D) -> float:
    """The distance between two rows of features."""
    total = 0.0
    for k in range(a.shape[0]):
        total += square(a[k] - b[k])
    return math.sqrt(total)
