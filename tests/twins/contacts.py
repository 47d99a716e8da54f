"""Slow twins of contact detection: frame by frame, with lists instead of arrays."""

from __future__ import annotations

import numpy as np


def runs_of(flags):
    """Return half-open (start, stop) of each run of true flags."""
    runs, start = [], None
    for f, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = f
        if not flag and start is not None:
            runs.append((start, f))
            start = None
    return runs


def close_gaps(runs, gap):
    """Join runs that are at most `gap` frames apart."""
    out = []
    for start, stop in runs:
        if out and start - out[-1][1] <= gap:
            out[-1] = (out[-1][0], stop)
        else:
            out.append((start, stop))
    return out


def calm_down(speed, start, stop, average, frames, share, longest):
    """Remove frames at the faster end until the average is low, or few are left; an end of the clip stays."""
    n_frames = len(speed)
    if stop - start > longest or (start, stop) == (0, n_frames):
        return start, stop
    fewest = max(frames if start > 0 and stop < n_frames else frames / 1.5, share * (stop - start))
    while stop - start > fewest and np.mean(speed[start:stop]) > average:
        if stop == n_frames or (start > 0 and speed[start] > speed[stop - 1]):
            start += 1
        else:
            stop -= 1
    return start, stop


def grow(speed, clearance, keep, start, stop, frames, times, height):
    """Add frames at the slower end, up to `frames`, unless they are fast or high or the clip ends."""
    while stop - start < frames and start > 0 and stop < len(speed):
        f = start - 1 if speed[start - 1] < speed[stop] else stop
        if speed[f] > times * keep[f] or clearance[f] > height:
            return start, stop
        start, stop = min(start, f), max(stop, f + 1)
    return start, stop


def plants(speed, clearance, pace, limits, each, own, calm, gap, shortest):
    """Return the contacts of one point as half-open intervals."""
    enter_speed, keep_speed, enter_height, keep_height = limits
    height, times = each
    base, factor, noise, cut = own
    n_frames = len(speed)
    keep = [keep_speed * p for p in pace]

    def is_cut(start, stop):
        return start == 0 or stop == n_frames

    def long_enough(start, stop):
        return stop - start >= (max(2, shortest // 3) if is_cut(start, stop) else shortest)

    def excess(start, stop):
        return max(0.0, sorted(speed[start:stop])[(stop - start) // 4] - noise)

    keeps = [v < most and h < keep_height for v, most, h in zip(speed, keep, clearance, strict=True)]
    enters = [v < enter_speed and h < enter_height for v, h in zip(speed, clearance, strict=True)]
    candidates = close_gaps([(a, b) for a, b in runs_of(keeps) if any(enters[a:b])], gap)
    candidates = [run for run in candidates if long_enough(*run)]
    whole = sorted(excess(*run) for run in candidates if not is_cut(*run))
    out = []
    for start, stop in candidates:
        usual = max(cut, whole[len(whole) // 2]) if whole and is_cut(start, stop) else np.inf
        limit = base + factor * min(excess(start, stop), usual)
        holds = [speed[f] <= min(limit, keep[f]) and clearance[f] <= height for f in range(start, stop)]
        pieces = [(start + a, start + b) for a, b in close_gaps(runs_of(holds), gap)]
        pieces = [piece for piece in pieces if long_enough(*piece)]
        if not pieces and not (whole and is_cut(start, stop)):
            pieces = [(start, stop)]
        out += pieces
    flags = [any(a <= f < b for a, b in out) for f in range(n_frames)]
    for start, stop in runs_of(flags):
        for f in range(start, stop):
            flags[f] = False
        if pace[(start + stop) // 2] > 1.0:
            start, stop = calm_down(speed, start, stop, *calm)
        if times > 0.0:
            start, stop = grow(speed, clearance, keep, start, stop, calm[1], times, keep_height)
        for f in range(start, stop):
            flags[f] = True
    return runs_of(flags)


def lowest_level(heights, width, needed):
    """Try every window; of those that start within `width` of the first that holds enough, return the median of the
    fullest."""
    heights = sorted(heights)
    windows = [[h for h in heights if low <= h <= low + width] for low in heights]
    full = [low for low, window in zip(heights, windows, strict=True) if len(window) >= needed]
    if not full:
        return None
    near = [window for low, window in zip(heights, windows, strict=True) if full[0] <= low <= full[0] + width]
    return float(np.median(max(near, key=len)))


def level_shares(heights, low, high, width, needed):
    """Return the 10th and 25th percentile and the median of the heights near the lowest level, from `low` to below
    `high`."""
    near = sorted(h for h in heights if low <= h < high)
    level = lowest_level(near, width, needed)
    if level is None:
        return None
    about = [h for h in near if level - width <= h < level + width]
    return [about[len(about) * percent // 100] for percent in (10, 25, 50)]


def raised_in_air(still, paths, mains, feet, raised, slope):
    """Return which points stand, without those of a foot in the air while the other one stands."""
    still = still.copy()
    for side, (k, other) in enumerate((mains, mains[::-1])):
        above = paths[:, k, 1] - paths[:, other, 1]
        apart = np.linalg.norm((paths[:, k] - paths[:, other])[:, [0, 2]], axis=1)
        in_air = still[:, other] & (above > raised + slope * apart)
        still[:, feet == side] &= ~in_air[:, None]
    return still


def robust_weights(terms, heights, outlier, rounds, converged):
    """Return the weights of a robust fit: least absolute values, then Tukey; None if nothing is left."""
    weights = np.ones(len(heights))
    for i in range(2 * rounds):
        square = terms.T @ np.diag(weights) @ terms
        square += 1e-9 * np.trace(square) * np.eye(len(square))
        off = heights - terms @ np.linalg.solve(square, terms.T @ (weights * heights))
        before, weights = weights, 1.0 / np.maximum(np.abs(off), 1e-3)
        if i >= rounds:
            weights = np.maximum(1.0 - (off / outlier) ** 2, 0.0) ** 2
        if not weights.any():
            return None
        if i > rounds and np.abs(weights - before).max() < converged:
            break
    return weights


def fitted(terms, heights, weights, noise, prior):
    """Return coefficients, their covariance and the residual; terms without any weight are 0."""
    scatter = noise
    for _ in range(2):
        inverse = np.linalg.pinv(terms.T @ np.diag(weights) @ terms / scatter**2 + np.diag(prior))
        values = inverse @ (terms.T @ (weights * heights)) / scatter**2
        residue = np.sqrt(np.average((heights - terms @ values) ** 2, weights=weights))
        scatter = max(residue, noise)
    return values, inverse, residue


def clearance_above_floor(above, deepest, feet, deepest_foot):
    out = np.maximum(np.maximum(above, -above - deepest), 0.0)
    for side in (0, 1):
        columns = feet == side
        if columns.any():
            lowest = above[:, columns].min(axis=1, keepdims=True)
            out[:, columns] = np.maximum(out[:, columns], -lowest - deepest_foot)
    return out
