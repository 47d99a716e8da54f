"""Compiled loops that tell what bears the body: plain arrays in, results written into the last arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.clean._kernels import _closed, _entered, _runs, _smallest
from marey.core.compiled import inner, kernel

Array = Any


@kernel
def raised_rests(
    paths: Array,
    hips: Array,
    speed: Array,
    still: Array,
    clearance: Array,
    feet: Array,
    mains: Array,
    measures: Array,
    lag: int,
    shortest: int,
    rests: Array,
) -> int:
    """Where the `mains` keep still above the floor: rows (column, start, stop, x, y, z, frames that bear the body).

    feet, mains : columns of all points on feet, and of the one for each foot.
    measures : (on_floor, level, hips_above, balance, falling), metres and m/frame^2.
    lag : frames over which the hips' fall is told. rests : (n, 7), filled from the top; their count is returned.
    """
    on_floor, level, hips_above, balance, falling = measures
    n_frames, n = paths.shape[0], 0
    for k in mains:
        start, bearing = -1, 0
        for f in range(n_frames + 1):
            if f < n_frames and still[f, k] and clearance[f, k] > on_floor:
                if start < 0:
                    start, bearing = f, 0
                free = True
                for j in feet:
                    free = free and clearance[f, j] > on_floor
                if free and not _falls(hips, f, lag, falling):
                    bearing += _bears(paths, hips, still, mains, k, f, level, hips_above, balance)
            elif start >= 0:
                if f - start >= shortest:
                    rests[n, 0], rests[n, 1], rests[n, 2], rests[n, 6] = k, start, f, bearing
                    _place(paths[start:f, k], speed[start:f, k], rests[n, 3:6])
                    n += 1
                start = -1
    return n


@inner
def _place(path: Array, speed: Array, place: Array) -> None:
    """Where a point is in the slowest quarter of its frames: the others may be on the way there."""
    limit = _smallest(speed, len(speed) // 4)
    x, y, z, n = 0.0, 0.0, 0.0, 0
    for f in range(len(speed)):
        if speed[f] <= limit:
            x += path[f, 0]
            y += path[f, 1]
            z += path[f, 2]
            n += 1
    place[0], place[1], place[2] = x / n, y / n, z / n


@kernel
def stand_on(
    heights: Array, rest: Array, feet: Array, sides: Array, rests: Array, margin: int, clearance: Array
) -> None:
    """Lower, in place, the clearance (F, K) of each foot's points to that above what the foot stands on.

    sides : (K,) which foot a point is part of. rests : rows as from `raised_rests`. margin : frames before and after.
    """
    for i in range(rests.shape[0]):
        k = int(rests[i, 0])
        above = rests[i, 4] - rest[k]
        start, stop = max(0, int(rests[i, 1]) - margin), min(heights.shape[0], int(rests[i, 2]) + margin)
        for j in feet:
            if sides[j] == sides[k]:
                for f in range(start, stop):
                    clearance[f, j] = min(clearance[f, j], abs(heights[f, j] - rest[j] - above))


@inner
def _falls(hips: Array, f: int, lag: int, falling: float) -> bool:
    """Whether the hips bend downwards as in free fall; towards a clip's end as they do a little before it."""
    middle = min(max(f, lag), hips.shape[0] - 1 - lag)
    if middle < lag:
        return False
    second = hips[middle + lag, 1] - 2.0 * hips[middle, 1] + hips[middle - lag, 1]
    return bool(second < falling * lag * lag)


@kernel
def bearing_runs(
    heights: Array,
    speed: Array,
    aloft: Array,
    hips: Array,
    lag: int,
    measures: Array,
    limits: Array,
    gap: int,
    shortest: int,
    planted: Array,
) -> None:
    """Set `planted` (F,) where a hand bears the body and is nearly as low and slow as it gets meanwhile.

    It bears the body in runs of low and slow frames, `gap` at most apart, with enough that are `aloft` and in which the
    hips do not fall freely.

    heights : (F, n) of the hand's points above the floor. speed : (F,) of the hand.
    measures : (height and speed below which a frame is low and slow, falling in m/frame^2, how many frames bear).
    limits : (enter_speed, keep_speed, enter_height, keep_height, still), the heights being above the lowest of each
        run; a hand slower than `still` is kept at any height.
    shortest : frames.
    """
    n_frames = len(speed)
    flags = np.empty(n_frames, dtype=np.bool_)
    over = np.empty(n_frames)
    for f in range(n_frames):
        flags[f] = heights[f].min() < measures[0] and speed[f] < measures[1]
    starts = np.empty(n_frames // 2 + 1, dtype=np.int64)
    stops = np.empty(n_frames // 2 + 1, dtype=np.int64)
    n = _closed(_runs(flags, 0, n_frames, 0, starts, stops), gap, starts, stops)
    for i in range(n):
        bearing = 0
        for f in range(starts[i], stops[i]):
            bearing += aloft[f] and not _falls(hips, f, lag, measures[2])
        if bearing >= max(measures[3], 1.0):
            _above_lowest(heights, starts[i], stops[i], over)
            _lying(speed, over, starts[i], stops[i], limits, gap, shortest, flags, planted)


@inner
def _above_lowest(heights: Array, start: int, stop: int, over: Array) -> None:
    """Set, in a run, how far the points (F, n) are above their lowest there, on the average of the points."""
    over[start:stop] = 0.0
    for k in range(heights.shape[1]):
        lowest = heights[start:stop, k].min()
        for f in range(start, stop):
            over[f] += (heights[f, k] - lowest) / heights.shape[1]


@inner
def _lying(
    speed: Array,
    over: Array,
    start: int,
    stop: int,
    limits: Array,
    gap: int,
    shortest: int,
    flags: Array,
    planted: Array,
) -> None:
    """Set `planted` in a run where a hand is under the limits to keep, if it gets under those to enter as well.

    `flags` is overwritten within the run.
    """
    for f in range(start, stop):
        flags[f] = speed[f] < limits[4] or (speed[f] < limits[1] and over[f] < limits[3])
    starts = np.empty((stop - start) // 2 + 1, dtype=np.int64)
    stops = np.empty((stop - start) // 2 + 1, dtype=np.int64)
    n = _closed(_runs(flags, start, stop, 0, starts, stops), gap, starts, stops)
    n = _entered(speed, over, limits, n, starts, stops)
    for i in range(n):
        if stops[i] - starts[i] >= shortest:
            planted[starts[i] : stops[i]] = True


@inner
def _bears(
    paths: Array,
    hips: Array,
    still: Array,
    mains: Array,
    k: int,
    f: int,
    level: float,
    hips_above: float,
    balance: float,
) -> bool:
    """Whether foot `k` has the hips above it, or between it and one as high, and none that keeps still is lower."""
    if hips[f, 1] - paths[f, k, 1] <= hips_above:
        return False
    px, pz = hips[f, 0] - paths[f, k, 0], hips[f, 2] - paths[f, k, 2]
    beside = np.sqrt(px * px + pz * pz)
    for other in mains:
        if other == k or not still[f, other]:
            continue
        drop = paths[f, k, 1] - paths[f, other, 1]
        if drop > level:
            return False
        if drop >= -level:
            dx, dz = paths[f, other, 0] - paths[f, k, 0], paths[f, other, 2] - paths[f, k, 2]
            t = min(max((px * dx + pz * dz) / max(dx * dx + dz * dz, 1e-12), 0.0), 1.0)
            beside = np.sqrt((px - t * dx) ** 2 + (pz - t * dz) ** 2)
    return bool(beside <= balance)
