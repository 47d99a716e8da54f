"""Compiled loops of `clean`: plain arrays in, results written into the last arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel

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
    n, radius = x.shape[0], int(4.0 * sigma + 0.5)
    values, result = x.reshape(n, -1), out.reshape(n, -1)
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    inner = taps / taps.sum()
    weights = np.empty(2 * radius + 1)
    for f in range(n):
        start, stop = max(0, f - radius), min(n, f + radius + 1)
        whole = stop - start == 2 * radius + 1
        if not whole:
            _line_weights(taps, start - f, stop - f, radius, weights)
        for c in range(values.shape[1]):
            result[f, c] = 0.0
        for i in range(start, stop):
            weight = inner[i - f + radius] if whole else weights[i - f + radius]
            for c in range(values.shape[1]):
                result[f, c] += weight * values[i, c]


@inner
def _line_weights(taps: Array, start: int, stop: int, radius: int, weights: Array) -> None:
    """Of a straight line fitted to the frames from `start` to `stop` about this one, weighted by `taps`."""
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
def paces(hips: Array, lag: int, travel: float, least: float, most: float, pace: Array) -> None:
    """(F,) how far the hips (F, 3) get over the floor in 2 `lag` frames, in units of `travel`; bounded."""
    n_frames = hips.shape[0]
    for f in range(n_frames):
        a, b = max(0, f - lag), min(n_frames - 1, f + lag)
        x, z = hips[b, 0] - hips[a, 0], hips[b, 2] - hips[a, 2]
        pace[f] = min(max(np.sqrt(x * x + z * z) * 2.0 * lag / (max(b - a, 1) * travel), least), most)


@kernel
def plants(
    speed: Array,
    clearance: Array,
    pace: Array,
    limits: Array,
    each: Array,
    own: Array,
    calm: Array,
    gap: int,
    shortest: int,
    mask: Array,
) -> None:
    """Contacts of each point, (F, K) flags.

    speed, clearance : (F, K) m/s, and m above the nearest support. pace : (F,) times the speed to keep.
    limits : (enter_speed, keep_speed, enter_height, keep_height).
    each : (K, 2) for each point the clearance in metres within which its plants lie, and how many times the speed to
        keep short ones may grow to.
    own : (base, factor, noise, cut). A plant holds while the speed is within base + factor times what its slowest
        quarter exceeds `noise` by. The clip's ends may have cut off what is slow of a plant; then this is at most what
        is usual for the point, or `cut`.
    calm : as for `_calm`.
    gap, shortest : frames; gaps up to `gap` are closed, what is shorter than `shortest` is dropped.
    """
    n_frames, n_points = speed.shape
    flags = np.empty(n_frames, dtype=np.bool_)
    keep = np.empty(n_frames)
    starts = np.empty(n_frames // 2 + 1, dtype=np.int64)
    stops = np.empty(n_frames // 2 + 1, dtype=np.int64)
    excess = np.empty(n_frames // 2 + 1)
    for f in range(n_frames):
        keep[f] = limits[1] * pace[f]
    for k in range(n_points):
        for f in range(n_frames):
            mask[f, k] = False
            flags[f] = speed[f, k] < keep[f] and clearance[f, k] < limits[3]
        n = _runs(flags, 0, n_frames, 0, starts, stops)
        n = _entered(speed[:, k], clearance[:, k], limits, n, starts, stops)
        n = _closed(n, gap, starts, stops)
        whole = 0
        for i in range(n):
            if starts[i] > 0 and stops[i] < n_frames and stops[i] - starts[i] >= shortest:
                excess[whole] = _excess(speed[starts[i] : stops[i], k], own[2])
                whole += 1
        usual = max(own[3], _smallest(excess[:whole], whole // 2)) if whole > 0 else np.inf
        for i in range(n):
            start, stop = starts[i], stops[i]
            is_cut = start == 0 or stop == n_frames
            if stop - start < _needed(start, stop, n_frames, shortest):
                continue
            most = own[0] + own[1] * min(_excess(speed[start:stop, k], own[2]), usual if is_cut else np.inf)
            for f in range(start, stop):
                flags[f] = speed[f, k] <= min(most, keep[f]) and clearance[f, k] <= each[k, 0]
            held = _hold(flags, start, stop, gap, shortest, mask[:, k])
            # What never holds by its own measure is taken whole, unless the clip's end cuts it and others hold.
            if not (held or (is_cut and whole > 0)):
                mask[start:stop, k] = True
        n = _runs(mask[:, k], 0, n_frames, 0, starts, stops)
        for i in range(n):
            start, stop = starts[i], stops[i]
            mask[start:stop, k] = False
            if pace[(start + stop) // 2] > 1.0:
                start, stop = _calm(speed[:, k], start, stop, calm)
            if each[k, 1] > 0.0:
                start, stop = _grown(speed[:, k], clearance[:, k], keep, start, stop, calm[1], each[k, 1], limits[3])
            mask[start:stop, k] = True


@inner
def _excess(speed: Array, noise: float) -> float:
    """What the slowest quarter exceeds the noise by."""
    return float(max(0.0, _smallest(speed, len(speed) // 4) - noise))


@inner
def _smallest(values: Array, k: int) -> float:
    """The value that `k` others come before, by Hoare's quickselect: NumPy's takes seconds to compile."""
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


@inner
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


@inner
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


@inner
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


@inner
def _hold(flags: Array, start: int, stop: int, gap: int, shortest: int, mask: Array) -> bool:
    """Set, within one run, what its own flags say, less short gaps and short pieces; whether anything is left."""
    starts = np.empty((stop - start) // 2 + 1, dtype=np.int64)
    stops = np.empty((stop - start) // 2 + 1, dtype=np.int64)
    n = _closed(_runs(flags, start, stop, 0, starts, stops), gap, starts, stops)
    held = False
    for i in range(n):
        if stops[i] - starts[i] >= _needed(starts[i], stops[i], len(mask), shortest):
            mask[starts[i] : stops[i]] = True
            held = True
    return held


@kernel
def _needed(start: int, stop: int, n_frames: int, shortest: int) -> int:
    """Frames that a plant needs; what the clip's ends cut off cannot be counted."""
    return max(2, shortest // 3) if start == 0 or stop == n_frames else shortest


@inner
def _calm(speed: Array, start: int, stop: int, calm: Array) -> tuple[int, int]:
    """A plant less its faster ends, where it is too fast on the average.

    calm : (average, frames, share, longest). A plant of more than `longest` frames stays as it is; others keep at least
        `frames` and `share` of theirs. Where the clip cuts a plant, that end stays, and two thirds of `frames` will do.
    """
    average, frames, share, longest = calm
    n_frames, n = len(speed), stop - start
    if n > longest or (start == 0 and stop == n_frames):
        return start, stop
    fewest = max(frames if start > 0 and stop < n_frames else frames / 1.5, share * n)
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


@inner
def _grown(
    speed: Array, clearance: Array, keep: Array, start: int, stop: int, frames: float, times: float, height: float
) -> tuple[int, int]:
    """A plant of fewer than `frames`, with more at its slower side: below `height` and `times` the speed to keep."""
    while stop - start < frames and start > 0 and stop < len(speed):
        f = start - 1 if speed[start - 1] < speed[stop] else stop
        if speed[f] > times * keep[f] or clearance[f] > height:
            break
        start, stop = min(start, f), max(stop, f + 1)
    return start, stop


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
    middle = best + best_stop
    return float(0.5 * (heights[(middle - 1) // 2] + heights[middle // 2]))


@inner
def _first_from(values: Array, least: float) -> int:
    """Index of the first of the sorted `values` that is not below `least`."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def level_shares(heights: Array, low: float, high: float, width: float, needed: int, shares: Array) -> bool:
    """The 10th and 25th percentile and the median of the sorted `heights` about their lowest level; if there is one.

    Only heights from `low` to `high` count, within `width` of the level that `lowest_level` finds.
    """
    near = heights[_first_from(heights, low) : _first_from(heights, high)]
    level = lowest_level(near, width, needed)
    if np.isnan(level):
        return False
    start, stop = _first_from(near, level - width), _first_from(near, level + width)
    for i in range(3):
        shares[i] = near[start + (stop - start) * (2, 5, 10)[i] // 20]
    return True


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
def settle_edges(paths: Array, noise: float, reach: int, beyond: int, noises: float, mask: Array) -> None:
    """Move, in place, the ends of plants in noisy paths to where a foot that stood begins to leave.

    Beyond an end at t0 a point departs from its plant as (t - t0)^2, whatever its direction. Of all t0 within `reach`
    frames the one is taken that fits best by least squares: many frames together tell what no single speed can, as
    each is mostly noise. Frames count up to `beyond` the first that is `noises` times the noise away. Later ones would
    tell of the way the foot goes, not of when it left. The noise is that of the plant or `noise` (m), whichever is
    more.
    """
    n_frames, n_points = mask.shape
    starts = np.empty(n_frames // 2 + 1, dtype=np.int64)
    stops = np.empty(n_frames // 2 + 1, dtype=np.int64)
    for k in range(n_points):
        n = _runs(mask[:, k], 0, n_frames, 0, starts, stops)
        for i in range(n):
            start, stop = starts[i], stops[i]
            inset = min(reach, (stop - start) // 4)
            place, square, n_middle = np.zeros(3), 0.0, stop - start - 2 * inset
            for f in range(start + inset, stop - inset):
                for c in range(3):
                    place[c] += paths[f, k, c] / n_middle
            for f in range(start + inset, stop - inset):
                square += _square(paths[f, k], place) / n_middle
            size = max(noise, np.sqrt(square / 3.0))
            before = 0 if i == 0 else stops[i - 1]
            after = n_frames if i == n - 1 else starts[i + 1]
            first, last = start, stop - 1
            if start > 0:
                out = min(start - before, reach)
                first = _kink(paths[:, k], place, size, start, -1, out, inset, beyond, noises)
            if stop < n_frames:
                out = min(after - stop, reach)
                last = _kink(paths[:, k], place, size, stop - 1, 1, out, inset, beyond, noises)
            if last > first:
                mask[start:stop, k] = False
                mask[first : last + 1, k] = True


@inner
def _square(a: Array, b: Array) -> float:
    """Squared distance."""
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return float(x * x + y * y + z * z)


@inner
def _kink(
    path: Array,
    place: Array,
    noise: float,
    edge: int,
    way: int,
    outwards: int,
    inwards: int,
    beyond: int,
    noises: float,
) -> int:
    """The last frame at `place` from `edge` on, going `way` (1 or -1) out of the plant."""
    n_out = -inwards
    while n_out < outwards and _square(path[edge + way * (n_out + 1)], place) <= (noises * noise) ** 2:
        n_out += 1
    n_out = min(n_out + beyond, outwards)
    best, most = 0, -1.0
    for shift in range(-inwards, n_out):
        norm, x, y, z = 0.0, 0.0, 0.0, 0.0
        for i in range(shift + 1, n_out + 1):
            f, q = edge + way * i, float((i - shift) * (i - shift))
            norm += q * q
            x += q * (path[f, 0] - place[0])
            y += q * (path[f, 1] - place[1])
            z += q * (path[f, 2] - place[2])
        gain = (x * x + y * y + z * z) / norm
        if gain > most:
            best, most = shift, gain
    # Noise alone explains this much, one time in a million: then the point has not left at all.
    if most < 30.0 * noise * noise:
        best = n_out
    return edge + way * best
