"""Contact detection kernels: paths and speeds of points, plants, and their edges."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Bools1D, Bools2D, Floats1D, Floats2D, Floats3D, Ints1D, Out, helper, kernel
from marey.maths.vector_kernels import square


class ContactLimits(NamedTuple):
    """Thresholds for a contact to begin and to continue: speeds in m/s, heights in meters above the support."""

    enter_speed: float
    keep_speed: float
    enter_height: float
    keep_height: float


class PlantSpeed(NamedTuple):
    """Rule for the maximum speed of a point within a plant, in m/s: base + factor * excess.

    The excess is the amount by which the lower quartile of the speeds within the plant exceeds `noise`. If the start or
    end of the clip cuts off a plant, its slow part may be missing; then its excess is limited to the median of the
    point's other plants, or to `cut` (m/s) if that is larger.
    """

    base: float
    factor: float
    noise: float
    cut: float


class PlantTrim(NamedTuple):
    """Rule that removes the faster ends of plants with a mean speed above `average` (m/s).

    Plants of more than `longest` frames are not trimmed. Others keep at least `frames` frames and at least the given
    `fraction` of their length. If the clip cuts off a plant, that end is kept, and two thirds of `frames` are enough.
    """

    average: float
    frames: float
    fraction: float
    longest: float


class PlantRules(NamedTuple):
    """Rules for the detection of plants.

    limits : thresholds for a contact. own : maximum speed within a plant. trim : how fast ends are removed.
    gap : number of frames; gaps of up to this length are closed.
    shortest : number of frames; shorter plants are dropped.
    """

    limits: ContactLimits
    own: PlantSpeed
    trim: PlantTrim
    gap: int
    shortest: int


@kernel
def place_points(
    positions: Floats3D, rotations: Floats3D, joints: Ints1D, offsets: Floats2D, paths: Out[Floats3D]
) -> None:
    """Write to `paths` the world paths (F, K, 3) of points at `offsets` (K, 3) in the coordinate frames of `joints`
    (K,)."""
    for f in range(paths.shape[0]):
        for k in range(paths.shape[1]):
            j = joints[k]
            w, qx, qy, qz = rotations[f, j, 0], rotations[f, j, 1], rotations[f, j, 2], rotations[f, j, 3]
            x, y, z = offsets[k, 0], offsets[k, 1], offsets[k, 2]
            # v + 2 w (q x v) + 2 q x (q x v)
            tx = 2.0 * (qy * z - qz * y)
            ty = 2.0 * (qz * x - qx * z)
            tz = 2.0 * (qx * y - qy * x)
            paths[f, k, 0] = positions[f, j, 0] + x + w * tx + qy * tz - qz * ty
            paths[f, k, 1] = positions[f, j, 1] + y + w * ty + qz * tx - qx * tz
            paths[f, k, 2] = positions[f, j, 2] + z + w * tz + qx * ty - qy * tx


@kernel
def smooth_paths(x: Floats3D, sigma: float, out: Out[Floats3D]) -> None:
    """Write paths (F, K, 3), smoothed over time, to `out`: like `maths.filters.gaussian`, but without its overhead,
    because clips are often short."""
    n, radius = x.shape[0], int(4.0 * sigma + 0.5)
    taps, total = np.empty(2 * radius + 1), 0.0
    for i in range(-radius, radius + 1):
        taps[i + radius] = math.exp(-0.5 * square(i / sigma))
        total += taps[i + radius]
    full = taps / total
    weights = np.empty(2 * radius + 1)
    for f in range(n):
        start, stop = max(0, f - radius), min(n, f + radius + 1)
        whole = stop - start == 2 * radius + 1
        if not whole:
            _line_weights(taps, start - f, stop - f, radius, weights)
        for k in range(x.shape[1]):
            for c in range(x.shape[2]):
                out[f, k, c] = 0.0
        for i in range(start, stop):
            weight = full[i - f + radius] if whole else weights[i - f + radius]
            for k in range(x.shape[1]):
                for c in range(x.shape[2]):
                    out[f, k, c] += weight * x[i, k, c]


@helper
def _line_weights(taps: Floats1D, start: int, stop: int, radius: int, weights: Floats1D) -> None:
    """Compute weights that evaluate, at the current frame, a straight line fitted to the frames at offsets `start` to
    `stop` from it. `taps` weights the fit.
    """
    zeroth, first, second = 0.0, 0.0, 0.0
    for i in range(start, stop):
        weight = taps[i + radius]
        zeroth += weight
        first += weight * i
        second += weight * i * i
    scale = zeroth * second - first * first
    for i in range(start, stop):
        weight = taps[i + radius]
        weights[i + radius] = weight * (second - first * i) / scale if scale > 0.0 else weight / zeroth


@kernel
def measure_speeds(paths: Floats3D, fps: float, speed: Out[Floats2D]) -> None:
    """Write speeds (F, K) in m/s to `speed`, from paths (F, K, 3): the slower of the steps before and after each frame.

    The first and the last frame of a plant have one step inside the plant and one outside; the slower one is inside.
    """
    n_frames, n_points = speed.shape
    for k in range(n_points):
        before = np.inf
        for f in range(n_frames):
            after = np.inf
            if f + 1 < n_frames:
                x = paths[f + 1, k, 0] - paths[f, k, 0]
                y = paths[f + 1, k, 1] - paths[f, k, 1]
                z = paths[f + 1, k, 2] - paths[f, k, 2]
                after = fps * np.sqrt(x * x + y * y + z * z)
            speed[f, k] = min(before, after)
            before = after


@kernel
def measure_clearance(
    above: Floats2D, deepest: Floats1D, feet: Ints1D, deepest_foot: float, clearance: Out[Floats2D]
) -> None:
    """Write the distance (F, K) of points from the floor, from their heights (F, K) above it.

    Points up to `deepest` (K,) below the floor are on it. But a foot with a point that is deeper than `deepest_foot`
    stands on none of its points. feet : (K,) foot of each point: 0, 1, or -1.
    """
    for f in range(above.shape[0]):
        left, right = np.inf, np.inf
        for k in range(above.shape[1]):
            if feet[k] == 0:
                left = min(left, above[f, k])
            elif feet[k] == 1:
                right = min(right, above[f, k])
        for k in range(above.shape[1]):
            value = max(max(above[f, k], -above[f, k] - deepest[k]), 0.0)
            if feet[k] >= 0:
                value = max(value, -(left if feet[k] == 0 else right) - deepest_foot)
            clearance[f, k] = value


@kernel
def measure_paces(
    hips: Floats2D, lag: int, travel: float, min_pace: float, max_pace: float, pace: Out[Floats1D]
) -> None:
    """Compute the pace (F,): how far the hips (F, 3) travel in 2 `lag` frames, divided by `travel` and clamped to
    `min_pace` and `max_pace`."""
    n_frames = hips.shape[0]
    for f in range(n_frames):
        a, b = max(0, f - lag), min(n_frames - 1, f + lag)
        x, z = hips[b, 0] - hips[a, 0], hips[b, 2] - hips[a, 2]
        pace[f] = min(max(np.sqrt(x * x + z * z) * 2.0 * lag / (max(b - a, 1) * travel), min_pace), max_pace)


@kernel
def detect_plants(
    speed: Floats2D, clearance: Floats2D, pace: Floats1D, each: Floats2D, rules: PlantRules, mask: Out[Bools2D]
) -> None:
    """Detect the contacts of each point; write True to `mask` (F, K) where a point is planted.

    speed, clearance : (F, K) speed in m/s, and height in meters above the nearest support.
    pace : (F,) factor for `keep_speed` in each frame; see `measure_paces`.
    each : (K, 2) for each point, the maximum clearance of its plants in meters; and how fast the point may be in frames
        by which a short plant is extended, as a multiple of `keep_speed` (0: short plants are not extended).
    """
    limits, own, gap, shortest = rules.limits, rules.own, rules.gap, rules.shortest
    n_frames, n_points = speed.shape
    flags = np.empty(n_frames, dtype=np.bool_)
    keep = np.empty(n_frames)
    starts = np.empty(n_frames // 2 + 1, dtype=np.int64)
    stops = np.empty(n_frames // 2 + 1, dtype=np.int64)
    excess = np.empty(n_frames // 2 + 1)
    for f in range(n_frames):
        keep[f] = limits.keep_speed * pace[f]
    for k in range(n_points):
        for f in range(n_frames):
            mask[f, k] = False
            flags[f] = speed[f, k] < keep[f] and clearance[f, k] < limits.keep_height
        n = find_runs(flags, 0, n_frames, starts, stops)
        n = keep_entered_runs(speed[:, k], clearance[:, k], limits, n, starts, stops)
        n = join_runs(n, gap, starts, stops)
        whole = 0
        for i in range(n):
            if starts[i] > 0 and stops[i] < n_frames and stops[i] - starts[i] >= shortest:
                excess[whole] = _measure_excess(speed[starts[i] : stops[i], k], own.noise)
                whole += 1
        usual = max(own.cut, select_smallest(excess[:whole], whole // 2)) if whole > 0 else np.inf
        for i in range(n):
            start, stop = starts[i], stops[i]
            is_cut = start == 0 or stop == n_frames
            if stop - start < _choose_min_length(start, stop, n_frames, shortest):
                continue
            max_speed = own.base + own.factor * min(
                _measure_excess(speed[start:stop, k], own.noise), usual if is_cut else np.inf
            )
            for f in range(start, stop):
                flags[f] = speed[f, k] <= min(max_speed, keep[f]) and clearance[f, k] <= each[k, 0]
            held = _hold_plant(flags, start, stop, gap, shortest, mask[:, k])
            # If no part of a plant meets its speed limit, keep it, unless the clip cuts it off and others are whole.
            if not (held or (is_cut and whole > 0)):
                mask[start:stop, k] = True
        n = find_runs(mask[:, k], 0, n_frames, starts, stops)
        for i in range(n):
            start, stop = starts[i], stops[i]
            mask[start:stop, k] = False
            if pace[(start + stop) // 2] > 1.0:
                start, stop = _trim_plant(speed[:, k], start, stop, rules.trim)
            if each[k, 1] > 0.0:
                start, stop = _grow_plant(
                    speed[:, k], clearance[:, k], keep, (start, stop), rules.trim.frames, each[k, 1], limits.keep_height
                )
            mask[start:stop, k] = True


@helper
def _measure_excess(speed: Floats1D, noise: float) -> float:
    """Return by how much the lower quartile of the speeds exceeds `noise`, in m/s; at least 0."""
    return float(max(0.0, select_smallest(speed, len(speed) // 4) - noise))


@helper
def select_smallest(values: Floats1D, k: int) -> float:
    """Return the value at index `k` in sorted order, by Hoare's quickselect."""
    pool = np.empty(len(values))
    for i in range(len(values)):
        pool[i] = values[i]
    low, high = 0, len(pool) - 1
    while low < high:
        pivot = pool[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while pool[i] < pivot:
                i += 1
            while pool[j] > pivot:
                j -= 1
            if i <= j:
                pool[i], pool[j] = pool[j], pool[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return float(pool[k])


@helper
def find_runs(flags: Bools1D, start: int, stop: int, starts: Ints1D, stops: Ints1D) -> int:
    """Write the starts and stops of runs of set flags; return their count."""
    n, inside = 0, False
    for f in range(start, stop):
        if flags[f] and not inside:
            starts[n] = f
        elif inside and not flags[f]:
            stops[n] = f
            n += 1
        inside = flags[f]
    if inside:
        stops[n] = stop
        n += 1
    return n


@helper
def keep_entered_runs(
    speed: Floats1D, clearance: Floats1D, limits: ContactLimits, n: int, starts: Ints1D, stops: Ints1D
) -> int:
    """Drop, in place, runs in which no frame is below the thresholds to enter; return how many remain.

    speed, clearance : (F,) speed in m/s and height in meters of a point.
    starts, stops : the first n hold the runs, half-open.
    """
    left = 0
    for i in range(n):
        for f in range(starts[i], stops[i]):
            if speed[f] < limits.enter_speed and clearance[f] < limits.enter_height:
                starts[left], stops[left] = starts[i], stops[i]
                left += 1
                break
    return left


@helper
def join_runs(n: int, gap: int, starts: Ints1D, stops: Ints1D) -> int:
    """Join, in place, runs that are at most `gap` frames apart; return how many remain."""
    if n == 0:
        return 0
    last = 0
    for i in range(1, n):
        if starts[i] - stops[last] <= gap:
            stops[last] = stops[i]
        else:
            last += 1
            starts[last], stops[last] = starts[i], stops[i]
    return last + 1


@helper
def _hold_plant(flags: Bools1D, start: int, stop: int, gap: int, shortest: int, mask: Bools1D) -> bool:
    """Set `mask` where `flags` is set in frames `start` to `stop`, with gaps up to `gap` closed and runs shorter than
    `shortest` dropped.

    Return whether any frame was set.
    """
    starts = np.empty((stop - start) // 2 + 1, dtype=np.int64)
    stops = np.empty((stop - start) // 2 + 1, dtype=np.int64)
    n = join_runs(find_runs(flags, start, stop, starts, stops), gap, starts, stops)
    held = False
    for i in range(n):
        if stops[i] - starts[i] >= _choose_min_length(starts[i], stops[i], len(mask), shortest):
            mask[starts[i] : stops[i]] = True
            held = True
    return held


@helper
def _choose_min_length(start: int, stop: int, n_frames: int, shortest: int) -> int:
    """Return the minimum number of frames of a plant from `start` to `stop`: `shortest`, or less if the clip cuts off
    the plant."""
    return max(2, shortest // 3) if start == 0 or stop == n_frames else shortest


@helper
def _trim_plant(speed: Floats1D, start: int, stop: int, trim: PlantTrim) -> tuple[int, int]:
    """Return the start and stop of a plant without its faster ends, if its mean speed is too high."""
    average, frames = trim.average, trim.frames
    n_frames, n = len(speed), stop - start
    if n > trim.longest or (start == 0 and stop == n_frames):
        return start, stop
    fewest = max(frames if start > 0 and stop < n_frames else frames / 1.5, trim.fraction * n)
    total = 0.0
    for f in range(start, stop):
        total += speed[f]
    while stop - start > fewest and total > average * (stop - start):
        if start > 0 and (stop == n_frames or speed[start] > speed[stop - 1]):
            total -= speed[start]
            start += 1
        else:
            stop -= 1
            total -= speed[stop]
    return start, stop


@helper
def _grow_plant(
    speed: Floats1D,
    clearance: Floats1D,
    keep: Floats1D,
    plant: tuple[int, int],
    frames: float,
    factor: float,
    height: float,
) -> tuple[int, int]:
    """Extend a plant of fewer than `frames` frames on its slower side, up to `height` and speed `factor` * `keep`."""
    start, stop = plant
    while stop - start < frames and start > 0 and stop < len(speed):
        f = start - 1 if speed[start - 1] < speed[stop] else stop
        if speed[f] > factor * keep[f] or clearance[f] > height:
            break
        start, stop = min(start, f), max(stop, f + 1)
    return start, stop


@kernel
def square_differences(paths: Floats3D, squares: Out[Floats3D]) -> None:
    """Write the squared lengths (3, K, F - 3) of the first, second and third differences of paths (F, K, 3) to
    `squares`."""
    for k in range(squares.shape[1]):
        for f in range(squares.shape[2]):
            one, two, three = 0.0, 0.0, 0.0
            for c in range(3):
                a = paths[f + 1, k, c] - paths[f, k, c]
                b = paths[f + 2, k, c] - paths[f + 1, k, c]
                d = paths[f + 3, k, c] - paths[f + 2, k, c]
                one += a * a
                two += (b - a) * (b - a)
                three += (d - 2.0 * b + a) * (d - 2.0 * b + a)
            squares[0, k, f], squares[1, k, f], squares[2, k, f] = one, two, three


@kernel
def refine_edges(paths: Floats3D, noise: float, reach: int, beyond: int, noises: float, mask: Out[Bools2D]) -> None:
    """Adjust the contact mask (F, K), in place: plants in noisy paths (F, K, 3) end when the standing foot begins to
    leave.

    Beyond an end at t0, a point departs from its plant as (t - t0)^2, in any direction. Of all t0 within `reach`
    frames, the best least-squares fit is used. Many frames together show the departure; a single speed is mostly noise.

    noise : minimum standard deviation of the positions in meters; a plant with more noise uses its own.
    noises, beyond : the fit extends `beyond` frames past the first frame whose distance from the plant exceeds `noises`
        times the noise. Later frames would show where the foot goes, not when it left.
    """
    n_frames, n_points = mask.shape
    starts = np.empty(n_frames // 2 + 1, dtype=np.int64)
    stops = np.empty(n_frames // 2 + 1, dtype=np.int64)
    for k in range(n_points):
        n = find_runs(mask[:, k], 0, n_frames, starts, stops)
        for i in range(n):
            start, stop = starts[i], stops[i]
            inset = min(reach, (stop - start) // 4)
            place, variance, n_middle = np.zeros(3), 0.0, stop - start - 2 * inset
            for f in range(start + inset, stop - inset):
                for c in range(3):
                    place[c] += paths[f, k, c] / n_middle
            for f in range(start + inset, stop - inset):
                variance += _square_distance(paths[f, k], place) / n_middle
            size = max(noise, np.sqrt(variance / 3.0))
            before = 0 if i == 0 else stops[i - 1]
            after = n_frames if i == n - 1 else starts[i + 1]
            first, last = start, stop - 1
            if start > 0:
                out = min(start - before, reach)
                first = _find_departure(paths[:, k], place, size, (start, -1), (inset, out), beyond, noises)
            if stop < n_frames:
                out = min(after - stop, reach)
                last = _find_departure(paths[:, k], place, size, (stop - 1, 1), (inset, out), beyond, noises)
            if last > first:
                mask[start:stop, k] = False
                mask[first : last + 1, k] = True


@helper
def _square_distance(a: Floats1D, b: Floats1D) -> float:
    """Return the squared distance of two points."""
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return float(x * x + y * y + z * z)


@helper
def _find_departure(
    path: Floats2D,
    place: Floats1D,
    noise: float,
    edge: tuple[int, int],
    reach: tuple[int, int],
    beyond: int,
    noises: float,
) -> int:
    """Return the last frame in which a point is still at `place` (3,).

    edge : the current end frame of the plant, and the direction out of the plant, 1 or -1.
    reach : how many frames to search inward and outward.
    beyond, noises : as in `refine_edges`.
    """
    (frame, direction), (inwards, outwards) = edge, reach
    n_out = -inwards
    while n_out < outwards and _square_distance(path[frame + direction * (n_out + 1)], place) <= square(noises * noise):
        n_out += 1
    n_out = min(n_out + beyond, outwards)
    best, max_gain = 0, -1.0
    for shift in range(-inwards, n_out):
        norm, x, y, z = 0.0, 0.0, 0.0, 0.0
        for i in range(shift + 1, n_out + 1):
            f, q = frame + direction * i, float((i - shift) * (i - shift))
            norm += q * q
            x += q * (path[f, 0] - place[0])
            y += q * (path[f, 1] - place[1])
            z += q * (path[f, 2] - place[2])
        gain = (x * x + y * y + z * z) / norm
        if gain > max_gain:
            best, max_gain = shift, gain
    # Below this gain (noise exceeds it once in a million), the point has not left at all.
    if max_gain < 30.0 * noise * noise:
        best = n_out
    return frame + direction * best
