"""Slow, obvious contacts: one frame after the other, lists instead of arrays."""

from __future__ import annotations

import numpy as np


def runs_of(flags):
    """Half-open (start, stop) of each stretch of true flags."""
    runs, start = [], None
    for f, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = f
        if not flag and start is not None:
            runs.append((start, f))
            start = None
    return runs


def close_gaps(runs, gap):
    """Stretches that lie at most `gap` frames apart become one."""
    out = []
    for start, stop in runs:
        if out and start - out[-1][1] <= gap:
            out[-1] = (out[-1][0], stop)
        else:
            out.append((start, stop))
    return out


def calm_down(speed, start, stop, calm, frames, share, longest):
    """Take frames off the faster end until the average is calm, or few are left."""
    if stop - start > longest:
        return start, stop
    fewest = max(frames, share * (stop - start))
    while stop - start > fewest and np.mean(speed[start:stop]) > calm:
        if speed[start] > speed[stop - 1]:
            start += 1
        else:
            stop -= 1
    return start, stop


def plants(speed, clearance, limits, height, own, gap, shortest):
    """The contacts of one point as half-open intervals."""
    enter_speed, keep_speed, enter_height, keep_height = limits
    base, factor, noise, *calm = own
    n_frames = len(speed)
    keeps = [v < keep_speed and h < keep_height for v, h in zip(speed, clearance, strict=True)]
    enters = [v < enter_speed and h < enter_height for v, h in zip(speed, clearance, strict=True)]
    candidates = close_gaps([(a, b) for a, b in runs_of(keeps) if any(enters[a:b])], gap)
    out = []
    for start, stop in candidates:
        needed = max(2, shortest // 3) if start == 0 or stop == n_frames else shortest
        if stop - start < needed:
            continue
        quarter = sorted(speed[start:stop])[(stop - start) // 4]
        limit = min(keep_speed, base + factor * max(0.0, quarter - noise))
        holds = [speed[f] <= limit and clearance[f] <= height for f in range(start, stop)]
        pieces = [(start + a, start + b) for a, b in close_gaps(runs_of(holds), gap) if b - a >= needed]
        for piece in pieces or [(start, stop)]:
            out.append(calm_down(speed, *piece, *calm))
    return out


def lowest_level(heights, width, needed):
    """Try every window; of those that start within `width` of the first that holds enough, the fullest's median."""
    heights = sorted(heights)
    windows = [[h for h in heights if low <= h <= low + width] for low in heights]
    full = [low for low, window in zip(heights, windows, strict=True) if len(window) >= needed]
    if not full:
        return None
    near = [window for low, window in zip(heights, windows, strict=True) if full[0] <= low <= full[0] + width]
    return float(np.median(max(near, key=len)))
