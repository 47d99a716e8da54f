"""Slow twins of the cleanup's kernels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.optimize import minimize


def nearest_in_balls(balls: np.ndarray) -> np.ndarray:
    """Return the point nearest to the origin in all balls (n, 4), by a general solver with several starts."""
    cons = [{"type": "ineq", "fun": lambda x, b=b: b[3] ** 2 - np.sum((x - b[:3]) ** 2)} for b in balls]
    best, least = None, np.inf
    for start in (np.zeros(3), balls[:, :3].mean(axis=0), *balls[:, :3]):
        found = minimize(
            lambda x: x @ x, start, constraints=cons, method="SLSQP", options={"ftol": 1e-14, "maxiter": 300}
        )
        inside = all(np.linalg.norm(found.x - b[:3]) <= b[3] + 1e-6 for b in balls)
        if inside and found.fun < least:
            best, least = found.x, found.fun
    assert best is not None
    return best


def closed(mask: np.ndarray, gap: int) -> np.ndarray:
    """Return flags (F,) with every gap of up to `gap` frames between two runs filled."""
    out = mask.copy()
    on = np.flatnonzero(mask)
    for a, b in pairwise(on):
        if b - a - 1 <= gap:
            out[a:b] = True
    return out


def ease(u: float) -> float:
    """Evaluate the quintic that is 1 at 0 and 0 from 1 on, with slope and curvature 0 at both."""
    u = min(u, 1.0)
    return 1.0 - 10.0 * u**3 + 15.0 * u**4 - 6.0 * u**5


def line(u: float) -> float:
    """Evaluate the quintic that is 0 at 0 with slope 1 and curvature 0; and 0 with slope and curvature 0 from 1 on."""
    return u - 6.0 * u**3 + 8.0 * u**4 - 3.0 * u**5 if u < 1.0 else 0.0


def tail(values: np.ndarray, kinds: np.ndarray, t: int, window: int, shortest: int) -> np.ndarray:
    """Compute the adjustment of free frame t from those of the constrained frames before and after."""
    back = next((n for n in range(1, window + 1) if t - n >= 0 and kinds[t - n]), None)
    ahead = next((n for n in range(1, window + 1) if t + n < len(kinds) and kinds[t + n]), None)
    gap = back + ahead if back and ahead else np.inf
    total = np.zeros(values.shape[1])
    for n, step in ((back, -1), (ahead, 1)):
        if n is None:
            continue
        at, beyond = t + step * n, t + step * (n + 1)
        total += ease(n / min(window + 1, gap)) * values[at]
        if 0 <= beyond < len(kinds) and kinds[beyond]:
            slope = values[at] - values[beyond]
            reach = np.clip(0.012 / max(0.2 * np.linalg.norm(slope), 1e-9), shortest, window)
            reach = min(reach, gap)
            total += reach * line(n / reach) * slope
    return total
