"""Compiled loops of `clean`: plain arrays in, results written into the last arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import kernel

Array = Any


@kernel
def place_points(positions: Array, rotations: Array, joints: Array, offsets: Array, paths: Array) -> None:
    """World paths (F, K, 3) of points at `offsets` (K, 3) in the frames of `joints` (K,)."""
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
def smooth(x: Array, sigma: float, out: Array) -> None:
    """`maths.filters.gaussian` of (F, K, 3) along frames, without its cost per call: short clips are common."""
    n, n_points = x.shape[0], x.shape[1]
    radius = int(4.0 * sigma + 0.5)
    taps = np.exp(-0.5 * (np.arange(radius + 1) / sigma) ** 2)
    for f in range(n):
        start, stop = max(0, f - radius), min(n, f + radius + 1)
        zeroth, first, second = 0.0, 0.0, 0.0
        for i in range(start, stop):
            weight, offset = taps[abs(i - f)], float(i - f)
            zeroth += weight
            first += weight * offset
            second += weight * offset * offset
        scale = zeroth * second - first * first
        for k in range(n_points):
            out[f, k, 0] = out[f, k, 1] = out[f, k, 2] = 0.0
        for i in range(start, stop):
            weight = taps[abs(i - f)] * (second - first * (i - f)) / scale if scale > 0.0 else taps[abs(i - f)] / zeroth
            for k in range(n_points):
                for c in range(3):
                    out[f, k, c] += weight * x[i, k, c]


@kernel
def speeds(paths: Array, fps: float, speed: Array) -> None:
    """(F, K) m/s from (F, K, 3): the slower of the steps to the frame before and to the one after.

    The first and the last frame of a plant have one step inside it and one outside; the slower is the plant's own.
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
def plants(
    speed: Array,
    clearance: Array,
    limits: Array,
    heights: Array,
    own: Array,
    gap: int,
    shortest: int,
    mask: Array,
) -> None:
    """Contacts of each point, (F, K) flags.

    speed, clearance : (F, K) m/s, and m above the nearest support.
    limits : (enter_speed, keep_speed, enter_height, keep_height).
    heights : (K,) metres, the clearance within which a point's plants lie.
    own : (base, factor, noise, calm, calm_frames, calm_share, calm_longest). A plant holds while the speed is within
        base + factor times what its slowest quarter exceeds `noise` by. Where it is not longer than `calm_longest` and
        its average is above `calm`, its faster ends are left out, down to `calm_frames` and to `calm_share` of it.
    gap, shortest : frames; gaps up to `gap` are closed, what is shorter than `shortest` is dropped.
    """
    n_frames, n_points = speed.shape
    flags = np.empty(n_frames, dtype=np.bool_)
    starts = np.empty(n_frames // 2 + 1, dtype=np.int64)
    stops = np.empty(n_frames // 2 + 1, dtype=np.int64)
    for k in range(n_points):
        for f in range(n_frames):
            mask[f, k] = False
            flags[f] = speed[f, k] < limits[1] and clearance[f, k] < limits[3]
        n = _runs(flags, 0, n_frames, 0, starts, stops)
        n = _entered(speed[:, k], clearance[:, k], limits, n, starts, stops)
        n = _closed(n, gap, starts, stops)
        for i in range(n):
            start, stop = starts[i], stops[i]
            # What the clip's ends cut off cannot be counted.
            needed = max(2, shortest // 3) if start == 0 or stop == n_frames else shortest
            if stop - start >= needed:
                _hold(speed[:, k], clearance[:, k], start, stop, limits[1], heights[k], own, gap, needed, mask[:, k])


@kernel
def _runs(flags: Array, start: int, stop: int, n: int, starts: Array, stops: Array) -> int:
    """Append the runs of set flags; the count then."""
    inside = False
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


@kernel
def _entered(speed: Array, clearance: Array, limits: Array, n: int, starts: Array, stops: Array) -> int:
    """Drop, in place, runs with no frame under the limits to enter; the count left."""
    left = 0
    for i in range(n):
        for f in range(starts[i], stops[i]):
            if speed[f] < limits[0] and clearance[f] < limits[2]:
                starts[left], stops[left] = starts[i], stops[i]
                left += 1
                break
    return left


@kernel
def _closed(n: int, gap: int, starts: Array, stops: Array) -> int:
    """Join, in place, runs that lie at most `gap` frames apart; the count left."""
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


@kernel
def _hold(
    speed: Array,
    clearance: Array,
    start: int,
    stop: int,
    most: float,
    height: float,
    own: Array,
    gap: int,
    shortest: int,
    mask: Array,
) -> None:
    """Set the flags of what holds within one run by the run's own measure, or of all of it where nothing would."""
    n_frames = stop - start
    excess = max(0.0, np.partition(speed[start:stop], n_frames // 4)[n_frames // 4] - own[2])
    limit = min(most, own[0] + own[1] * excess)
    flags = np.empty(n_frames, dtype=np.bool_)
    for i in range(n_frames):
        flags[i] = speed[start + i] <= limit and clearance[start + i] <= height
    starts = np.empty(n_frames // 2 + 1, dtype=np.int64)
    stops = np.empty(n_frames // 2 + 1, dtype=np.int64)
    n = _closed(_runs(flags, 0, n_frames, 0, starts, stops), gap, starts, stops)
    held = False
    for i in range(n):
        if stops[i] - starts[i] >= shortest:
            _calm(speed, start + starts[i], start + stops[i], own, mask)
            held = True
    if not held:
        _calm(speed, start, stop, own, mask)


@kernel
def _calm(speed: Array, start: int, stop: int, own: Array, mask: Array) -> None:
    """Set the flags of a plant, less its faster ends where it is too fast on the average."""
    total = 0.0
    for f in range(start, stop):
        total += speed[f]
    fewest = stop - start if stop - start > own[6] else max(own[4], own[5] * (stop - start))
    while stop - start > fewest and total > own[3] * (stop - start):
        if speed[start] > speed[stop - 1]:
            total -= speed[start]
            start += 1
        else:
            stop -= 1
            total -= speed[stop]
    mask[start:stop] = True


@kernel
def lowest_level(heights: Array, width: float, needed: int) -> float:
    """The lowest value near which many of the sorted `heights` lie: `needed` of them within `width`; NaN if none.

    From the lowest window with enough in it upwards by up to its width, to where it holds most: this steps over what
    hangs below.
    """
    n = heights.shape[0]
    first = 0
    while first + needed <= n and heights[first + needed - 1] - heights[first] > width:
        first += 1
    if first + needed > n:
        return np.nan
    best, best_stop, most, stop = first, first + needed, 0, first
    for start in range(first, n):
        if heights[start] > heights[first] + width:
            break
        while stop < n and heights[stop] <= heights[start] + width:
            stop += 1
        if stop - start > most:
            best, best_stop, most = start, stop, stop - start
    return float(np.median(heights[best:best_stop]))


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


@kernel
def _place(path: Array, speed: Array, place: Array) -> None:
    """Where a point is in the slowest quarter of its frames: the others may be on the way there."""
    limit = np.partition(speed, len(speed) // 4)[len(speed) // 4]
    place[:] = 0.0
    n = 0
    for f in range(len(speed)):
        if speed[f] <= limit:
            place += path[f]
            n += 1
    place /= n


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


@kernel
def _falls(hips: Array, f: int, lag: int, falling: float) -> bool:
    """Whether the hips bend downwards as in free fall; towards a clip's end as they do a little before it."""
    middle = min(max(f, lag), hips.shape[0] - 1 - lag)
    if middle < lag:
        return False
    second = hips[middle + lag, 1] - 2.0 * hips[middle, 1] + hips[middle - lag, 1]
    return bool(second < falling * lag * lag)


@kernel
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


@kernel
def differences(paths: Array, squares: Array) -> None:
    """(3, K, F - 3) squared lengths of the first, second and third differences of (F, K, 3)."""
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
def settle_edges(paths: Array, noise: float, reach: int, fewest: int, far: float, mask: Array) -> None:
    """Move, in place, the ends of plants in noisy paths to where a foot that stood begins to leave.

    Beyond an end at t0 a point departs from its plant as (t - t0)^2, whatever its direction. Of all t0 within `reach`
    frames the one is taken that fits best by least squares, over frames in which the point is not yet `far` (m) away,
    and at least over `fewest`: many frames together tell what no single speed can, as each is mostly noise.
    """
    n_frames, n_points = mask.shape
    starts = np.empty(n_frames // 2 + 1, dtype=np.int64)
    stops = np.empty(n_frames // 2 + 1, dtype=np.int64)
    for k in range(n_points):
        n = _runs(mask[:, k], 0, n_frames, 0, starts, stops)
        for i in range(n):
            start, stop = starts[i], stops[i]
            inset = min(reach, (stop - start) // 4)
            place = np.zeros(3)
            for f in range(start + inset, stop - inset):
                place += paths[f, k] / (stop - start - 2 * inset)
            before = 0 if i == 0 else stops[i - 1]
            after = n_frames if i == n - 1 else starts[i + 1]
            first, last = start, stop - 1
            if start > 0:
                first = _kink(paths[:, k], place, noise, start, -1, min(start - before, reach), inset, fewest, far)
            if stop < n_frames:
                last = _kink(paths[:, k], place, noise, stop - 1, 1, min(after - stop, reach), inset, fewest, far)
            if last > first:
                mask[start:stop, k] = False
                mask[first : last + 1, k] = True


@kernel
def _kink(
    path: Array,
    place: Array,
    noise: float,
    edge: int,
    way: int,
    outwards: int,
    inwards: int,
    fewest: int,
    far: float,
) -> int:
    """The last frame at `place` from `edge` on, going `way` (1 or -1) out of the plant."""
    n_out = 0
    while n_out < outwards:
        f = edge + way * (n_out + 1)
        x, y, z = path[f, 0] - place[0], path[f, 1] - place[1], path[f, 2] - place[2]
        if n_out >= fewest and x * x + y * y + z * z > far * far:
            break
        n_out += 1
    best, most = 0, -1.0
    for shift in range(-inwards, n_out):
        norm, dot = 0.0, np.zeros(3)
        for i in range(shift + 1, n_out + 1):
            q = float(i - shift) ** 2
            norm += q * q
            dot += q * (path[edge + way * i] - place)
        gain = (dot[0] ** 2 + dot[1] ** 2 + dot[2] ** 2) / norm
        if gain > most:
            best, most = shift, gain
    # Noise alone explains this much now and then: then the point has not left at all.
    if most < 20.0 * noise * noise:
        best = n_out
    return edge + way * best
