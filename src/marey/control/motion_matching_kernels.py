"""Compiled loops of motion matching: plain arrays in, results written into the last arguments."""

from __future__ import annotations

import math
from typing import Any

from marey.core.compiled import kernel

Array = Any

# Steps of the way to come from one time that is compared to the next.
_STEPS = 8


@kernel
def wished_path(
    pace: float,
    turn_rate: float,
    speed: float,
    turn: float,
    ahead: Array,
    springs: Array,
    limits: Array,
    scale: Array,
    out: Array,
) -> None:
    """The way from how a figure goes now to how it is to go, scaled as features are.

    Speed and facing follow critically damped springs, speed without and facing with a velocity of its own at first; the
    figure turns no faster than within limits, and goes where it faces.

    pace, speed : m/s now and wished for. turn_rate : rad/s now. turn : radians to where it is to go. ahead : (T,)
    seconds. springs : (2,) stiffness of speed and facing, 1/s. limits : (2,) rad/s to the right and to the left.
    scale, out : (4 T,) or longer: x, z for each time, then sine and cosine of facing for each.
    """
    y, swing = springs[0], springs[1]
    n = ahead.shape[0]
    x, z, t = 0.0, 0.0, 0.0
    for i in range(n):
        dt = (ahead[i] - t) / _STEPS
        yaw = 0.0
        for part in range(_STEPS + 1):
            at = t + part * dt
            yaw = turn + math.exp(-swing * at) * ((turn_rate - swing * turn) * at - turn)
            yaw = min(max(yaw, limits[0] * at), limits[1] * at)
            gone = speed + math.exp(-y * at) * (1.0 + y * at) * (pace - speed)
            # By trapezia: half a step for both ends.
            share = 0.5 * dt if part == 0 or part == _STEPS else dt
            x += share * gone * math.sin(yaw)
            z += share * gone * math.cos(yaw)
        t = ahead[i]
        out[2 * i] = x * scale[2 * i]
        out[2 * i + 1] = z * scale[2 * i + 1]
        k = 2 * (n + i)
        out[k] = math.sin(yaw) * scale[k]
        out[k + 1] = math.cos(yaw) * scale[k + 1]


@kernel
def distance(a: Array, b: Array) -> float:
    """Between two rows of features."""
    total = 0.0
    for k in range(a.shape[0]):
        total += (a[k] - b[k]) ** 2
    return math.sqrt(total)
