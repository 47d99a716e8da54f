"""Compiled kernels of motion matching."""

from __future__ import annotations

import math
from typing import NamedTuple

from marey.compiled import Floats1D, Out, kernel
from marey.maths.vector_kernels import square

# Integration steps between two path times.
_STEPS = 8


class PathModel(NamedTuple):
    """Model that predicts the future path and scales it to features.

    ahead : (T,) times ahead in seconds. springs : (2,) decay rates of the springs for speed and facing, 1/s.
    limits : (2,) turn limits to the right (negative) and to the left, rad/s. scale : (4 T,) or longer, feature factors.
    """

    ahead: Floats1D
    springs: Floats1D
    limits: Floats1D
    scale: Floats1D


@kernel
def predict_path(
    pace: float, turn_rate: float, speed: float, turn: float, model: PathModel, out: Out[Floats1D]
) -> None:
    """Predict the path from the current to the requested movement, scaled to features.

    Speed and facing follow critically damped springs. The facing starts with the current turn rate, the speed starts
    without acceleration. The turn is clamped to the limits, and the character moves in the direction it faces.

    pace, speed : current and requested speed, m/s. turn_rate : current turn rate, rad/s. turn : angle to the requested
    direction, radians. out : (4 T,) or longer: x and z for each time, then sine and cosine of the facing for each time.
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
    """Return the Euclidean distance between two feature vectors."""
    total = 0.0
    for k in range(a.shape[0]):
        total += square(a[k] - b[k])
    return math.sqrt(total)
