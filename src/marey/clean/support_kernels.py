"""Support detection kernels: raised supports under feet, and the floor under hands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from marey.clean.contact_kernels import ContactLimits, find_runs, join_runs, keep_entered_runs, select_smallest
from marey.compiled import Bools1D, Bools2D, Floats1D, Floats2D, Floats3D, Ints1D, Out, helper, kernel
from marey.maths.vector_kernels import square


class StillPoints(NamedTuple):
    """Points of the body over F frames.

    paths : (F, K, 3) meters.
    hips : (F, 3) meters.
    speed : (F, K) m/s.
    still : (F, K) True where a point is still.
    clearance : (F, K) meters above the floor.
    feet : columns of all points on feet.
    mains : column of the point that represents each foot.
    """

    paths: Floats3D
    hips: Floats2D
    speed: Floats2D
    still: Bools2D
    clearance: Floats2D
    feet: Ints1D
    mains: Ints1D


class RestRules(NamedTuple):
    """Rules that decide when a foot stands above the floor.

    on_floor : meters, maximum clearance of a foot that stands on the floor.
    level : meters, maximum height difference of feet on one support.
    hips_above, balance : meters, minimum height of the hips above the foot, and maximum horizontal distance.
    falling : m/frame^2, vertical acceleration of the hips in free fall.
    lag : frames over which that is measured.
    shortest : minimum number of frames.
    """

    on_floor: float
    level: float
    hips_above: float
    balance: float
    falling: float
    lag: int
    shortest: int


class HandRules(NamedTuple):
    """Rules that decide when a hand bears the body's weight.

    low, slow : meters and m/s below which a frame is low and slow.
    falling, lag : as in `RestRules`.
    bearing : minimum number of frames in which the hand bears the weight.
    limits : thresholds for the hand to lie on the floor; the heights are above the lowest of each run.
    still : m/s; a slower hand is kept at any height.
    gap : maximum gap between runs that are joined, in frames.
    shortest : minimum number of frames.
    """

    low: float
    slow: float
    falling: float
    lag: int
    bearing: float
    limits: ContactLimits
    still: float
    gap: int
    shortest: int


@kernel
def find_raised_rests(points: StillPoints, rules: RestRules, rests: Out[Floats2D]) -> int:
    """Find where the `mains` are still above the floor.

    rests : (n, 7) rows (column, start, stop, x, y, z, number of frames that bear the body), filled from the top.

    Return the number of rows.
    """
    paths, speed, still, clearance = points.paths, points.speed, points.still, points.clearance
    on_floor, n_frames, n = rules.on_floor, points.paths.shape[0], 0
    for k in points.mains:
        start, bearing = -1, 0
        for f in range(n_frames + 1):
            if f < n_frames and still[f, k] and clearance[f, k] > on_floor:
                if start < 0:
                    start, bearing = f, 0
                free = True
                for j in points.feet:
                    free = free and clearance[f, j] > on_floor
                if free and not _is_falling(points.hips, f, rules.lag, rules.falling):
                    bearing += _bears_body(points, rules, k, f)
            elif start >= 0:
                if f - start >= rules.shortest:
                    rests[n, 0], rests[n, 1], rests[n, 2], rests[n, 6] = k, start, f, bearing
                    _write_place(paths[start:f, k], speed[start:f, k], rests[n, 3:6])
                    n += 1
                start = -1
    return n


@helper
def _write_place(path: Floats2D, speed: Floats1D, place: Floats1D) -> None:
    """Write the mean position of a point in the slowest quarter of its frames; in the other frames the point may still
    be arriving.

    path, speed : (N, 3) positions and (N,) speeds in N frames.
    place : (3,) output.
    """
    limit = select_smallest(speed, len(speed) // 4)
    x, y, z, n = 0.0, 0.0, 0.0, 0
    for f in range(len(speed)):
        if speed[f] <= limit:
            x += path[f, 0]
            y += path[f, 1]
            z += path[f, 2]
            n += 1
    place[0], place[1], place[2] = x / n, y / n, z / n


@kernel
def lower_clearance(
    paths: Floats3D,
    rest: Floats1D,
    feet: Ints1D,
    sides: Ints1D,
    rests: Floats2D,
    margin: int,
    clearance: Out[Floats2D],
) -> None:
    """Lower, in place, the clearance (F, K) of each foot's points to the clearance above the support of the foot.

    paths : (F, K, 3) meters.
    rest : (K,) rest heights on the floor, meters.
    feet : columns of points on feet.
    sides : (K,) index of the foot that a point is part of.
    rests : rows from `find_raised_rests`.
    margin : number of frames to include before and after each rest.
    """
    for i in range(rests.shape[0]):
        k = int(rests[i, 0])
        above = rests[i, 4] - rest[k]
        start, stop = max(0, int(rests[i, 1]) - margin), min(paths.shape[0], int(rests[i, 2]) + margin)
        for j in feet:
            if sides[j] == sides[k]:
                for f in range(start, stop):
                    clearance[f, j] = min(clearance[f, j], abs(paths[f, j, 1] - rest[j] - above))


@helper
def _is_falling(hips: Floats2D, f: int, lag: int, falling: float) -> bool:
    """Return whether the hips accelerate downward as in free fall; near a clip's ends, use frames farther inside."""
    middle = min(max(f, lag), hips.shape[0] - 1 - lag)
    if middle < lag:
        return False
    second = hips[middle + lag, 1] - 2.0 * hips[middle, 1] + hips[middle - lag, 1]
    return bool(second < falling * lag * lag)


@kernel
def mark_bearing_hand(
    heights: Floats2D, speed: Floats1D, aloft: Bools1D, hips: Floats2D, rules: HandRules, planted: Out[Bools1D]
) -> None:
    """Set `planted` (F,) where a hand bears the body and is nearly as low and slow as it gets in that run.

    A hand bears the body in a run of low and slow frames, joined over short gaps, if enough frames of the run are
    `aloft` while the hips are not in free fall.

    heights : (F, n) meters, heights of the hand's points above the floor.
    speed : (F,) speed of the hand in m/s.
    aloft : (F,) True where nothing else could bear the body.
    hips : (F, 3) meters.
    """
    n_frames = len(speed)
    flags = np.empty(n_frames, dtype=np.bool_)
    over = np.empty(n_frames)
    for f in range(n_frames):
        lowest = heights[f, 0]
        for k in range(1, heights.shape[1]):
            lowest = min(lowest, heights[f, k])
        flags[f] = lowest < rules.low and speed[f] < rules.slow
    starts = np.empty(n_frames // 2 + 1, dtype=np.int64)
    stops = np.empty(n_frames // 2 + 1, dtype=np.int64)
    n = join_runs(find_runs(flags, 0, n_frames, starts, stops), rules.gap, starts, stops)
    for i in range(n):
        bearing = 0
        for f in range(starts[i], stops[i]):
            bearing += aloft[f] and not _is_falling(hips, f, rules.lag, rules.falling)
        if bearing >= max(rules.bearing, 1.0):
            _measure_above_lowest(heights, starts[i], stops[i], over)
            _mark_lying(speed, over, (starts[i], stops[i]), rules, flags, planted)


@helper
def _measure_above_lowest(heights: Floats2D, start: int, stop: int, over: Floats1D) -> None:
    """Write the height of the points (F, n) above their lowest in a run, averaged over the points."""
    over[start:stop] = 0.0
    for k in range(heights.shape[1]):
        lowest = heights[start, k]
        for f in range(start + 1, stop):
            lowest = min(lowest, heights[f, k])
        for f in range(start, stop):
            over[f] += (heights[f, k] - lowest) / heights.shape[1]


@helper
def _mark_lying(
    speed: Floats1D, over: Floats1D, run: tuple[int, int], rules: HandRules, flags: Bools1D, planted: Bools1D
) -> None:
    """Set `planted` in the frames of a run in which a hand is below the thresholds for keeping a contact, if it also
    gets below those for starting one.

    `flags` is overwritten within the run.
    """
    (start, stop), limits = run, rules.limits
    for f in range(start, stop):
        flags[f] = speed[f] < rules.still or (speed[f] < limits.keep_speed and over[f] < limits.keep_height)
    starts = np.empty((stop - start) // 2 + 1, dtype=np.int64)
    stops = np.empty((stop - start) // 2 + 1, dtype=np.int64)
    n = join_runs(find_runs(flags, start, stop, starts, stops), rules.gap, starts, stops)
    n = keep_entered_runs(speed, over, limits, n, starts, stops)
    for i in range(n):
        if stops[i] - starts[i] >= rules.shortest:
            planted[starts[i] : stops[i]] = True


@helper
def _bears_body(points: StillPoints, rules: RestRules, k: int, f: int) -> bool:
    """Return whether foot `k` can bear the body in frame f.

    The hips must be above the foot, or between it and another still foot of the same height, and no still foot may be
    lower.
    """
    paths, hips, level = points.paths, points.hips, rules.level
    if hips[f, 1] - paths[f, k, 1] <= rules.hips_above:
        return False
    px, pz = hips[f, 0] - paths[f, k, 0], hips[f, 2] - paths[f, k, 2]
    beside = np.sqrt(px * px + pz * pz)
    for other in points.mains:
        if other == k or not points.still[f, other]:
            continue
        drop = paths[f, k, 1] - paths[f, other, 1]
        if drop > level:
            return False
        if drop >= -level:
            dx, dz = paths[f, other, 0] - paths[f, k, 0], paths[f, other, 2] - paths[f, k, 2]
            t = min(max((px * dx + pz * dz) / max(dx * dx + dz * dz, 1e-12), 0.0), 1.0)
            beside = np.sqrt(square(px - t * dx) + square(pz - t * dz))
    return bool(beside <= rules.balance)
