"""Slow and obvious twins of what plays live."""

from __future__ import annotations

import numpy as np


def wished_path(speed_now, turn_rate, speed, turn, ahead, springs):
    """(4 T,) places, then facing, of figures whose velocity and yaw are pulled by springs, in many small steps."""
    velocity = np.array(speed_now, dtype=float)
    wish = speed * np.array([np.sin(turn), np.cos(turn)])
    push, place = np.zeros(2), np.zeros(2)
    yaw, rate = 0.0, turn_rate
    dt = 1e-5
    places, facing = [], []
    for step in range(round(ahead[-1] / dt) + 1):
        if any(abs(step * dt - t) < 0.5 * dt for t in ahead):
            places.append(place.copy())
            facing.append([np.sin(yaw), np.cos(yaw)])
        place = place + dt * velocity
        velocity, push = velocity + dt * push, push + dt * (springs[0] ** 2 * (wish - velocity) - 2 * springs[0] * push)
        yaw, rate = yaw + dt * rate, rate + dt * (springs[1] ** 2 * (turn - yaw) - 2 * springs[1] * rate)
    return np.concatenate([np.ravel(places), np.ravel(facing)])
