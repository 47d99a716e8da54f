"""Slow twins of live players."""

from __future__ import annotations

import numpy as np


def wished_path(pace, turn_rate, speed, turn, ahead, springs, limits):
    """Simulate in small steps a character whose speed and yaw are pulled by springs: positions, then facing, (4 T,)."""
    push, place = 0.0, np.zeros(2)
    yaw, rate = 0.0, turn_rate
    dt = 1e-4
    places, facing = [], []
    for step in range(round(ahead[-1] / dt) + 1):
        shown = np.clip(yaw, limits[0] * step * dt, limits[1] * step * dt)
        way = np.array([np.sin(shown), np.cos(shown)])
        if any(abs(step * dt - t) < 0.5 * dt for t in ahead):
            places.append(place.copy())
            facing.append(way)
        place = place + dt * pace * way
        pace, push = pace + dt * push, push + dt * (springs[0] ** 2 * (speed - pace) - 2 * springs[0] * push)
        yaw, rate = yaw + dt * rate, rate + dt * (springs[1] ** 2 * (turn - yaw) - 2 * springs[1] * rate)
    return np.concatenate([np.ravel(places), np.ravel(facing)])
