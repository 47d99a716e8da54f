"""Paths of values over time: faded, smoothed and limited, for limbs and other parts of the body."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Bools, Floats, find_runs
from marey.core.limb import damp_angle
from marey.maths import ease

_UP = np.array([0.0, 1.0, 0.0])
# A knee or elbow swivels out of the floor at most to this sine of its direction.
_HIGHEST = 0.75
# Meters, radians: smaller values are rounding errors.
_ROUNDING = 1e-12


def fade_out(values: Floats, held: Bools, window: int) -> Floats:
    """Fade values (F, d) to 0 over a window before and after the frames in which `held` (F,) is True.

    Between two held runs that are closer together than the window, values are interpolated across the gap.
    """
    out = np.where(held[:, None], values, 0.0)
    n = len(values)
    if not held.any() or held.all():
        return out
    frames = np.arange(n)
    back = np.maximum.accumulate(np.where(held, frames, -1))
    ahead = np.minimum.accumulate(np.where(held, frames, n)[::-1])[::-1]
    free = ~held
    gap = np.where((back >= 0) & (ahead < n), ahead - back, window + 1)
    length = np.minimum(gap, window + 1)
    for near, known in ((back, back >= 0), (ahead, ahead < n)):
        rows = free & known
        weight = ease(np.abs(near - frames)[rows] / length[rows])
        out[rows] += weight[:, None] * values[near[rows]]
    return out


def smooth_peak(depth: Floats, half: int, step: float = np.inf) -> Floats:
    """Return the running maximum of `depth` (F,) within `half` frames, smoothed over the same width; never less than
    `depth`.

    The result changes by at most `step` per frame, so it starts to rise early enough before a peak.
    """
    if half == 0 or not depth.any():
        return depth
    from scipy.ndimage import correlate1d, maximum_filter1d

    if step < np.inf:
        ramp = step * np.arange(len(depth))
        depth = np.maximum.accumulate(depth + ramp) - ramp
        depth = (np.maximum.accumulate(depth[::-1] + ramp) - ramp)[::-1]
    taps = 1.0 + np.cos(np.pi * np.arange(-half, half + 1) / (half + 1))
    peak = maximum_filter1d(depth, 2 * half + 1, mode="nearest")
    return np.asarray(correlate1d(peak, taps / taps.sum(), mode="nearest"))


def damp_reach(distance: Floats, now: Floats, upper: Floats, lower: Floats, start: float) -> Floats:
    """Return the distance (F,) that a limb spans if its knee rotates as far as damping allows (Kovar 3.14).

    distance, now : (F,) distance of the target, and of the ankle, from the hip, meters.
    upper, lower : (F,) lengths of its bones.
    start : knee angle in radians above which rotations are damped; pi for no damping.

    A limb that is not damped would bend suddenly after it was straight.
    """
    square, product = upper**2 + lower**2, 2.0 * upper * lower
    wanted, given = (np.arccos(np.clip((square - each**2) / product, -1.0, 1.0)) for each in (distance, now))
    angle = np.clip(given + damp_angle(wanted, start) - damp_angle(given, start), 0.0, np.pi)
    return np.asarray(np.sqrt(np.maximum(square - product * np.cos(angle), 0.0)))


def swivel_up(pole: Floats, line: Floats, out: Floats, rise: Floats, half: int, step: float, near: Floats) -> Floats:
    """Rotate unit vectors `pole` (F, 3) about a line (F, 3) so that ``out * pole`` rises by about `rise` meters, if
    possible.

    The angle is smoothed over `half` frames on either side, moves the knee by at most `step` meters per frame, and
    fades to 0 where `near` (F,) rises to 1. While a limb is too low, it always swivels to the same side, so that it
    cannot flip.
    """
    above = _UP - line[:, 1, None] * line
    upward = normalize(above)
    aside = np.cross(line, upward)
    angle = np.unwrap(np.arctan2(np.einsum("fk,fk->f", pole, aside), np.einsum("fk,fk->f", pole, upward)))
    widest = np.arccos(np.clip(rise / np.maximum(out * np.linalg.norm(above, axis=1), 1e-9), -1.0, _HIGHEST))
    wanted = np.zeros(len(pole))
    for start, stop in find_runs(np.cos(angle) < np.cos(widest)):
        away = angle[start:stop] - 2.0 * np.pi * np.round(angle[start:stop].mean() / (2.0 * np.pi))
        wanted[start:stop] = -np.sign(away) * np.maximum(np.abs(away) - widest[start:stop], 0.0)
    widest_out = max(float(out[wanted != 0.0].max(initial=0.0)), _ROUNDING)
    both = [smooth_peak(np.maximum(sign * wanted, 0.0), half, step / widest_out) for sign in (1.0, -1.0)]
    turn = (1.0 - near) * (both[0] - both[1])
    return np.asarray(np.cos(turn)[:, None] * pole + np.sin(turn)[:, None] * np.cross(line, pole))


def swing_out(bone: Floats, moved: Floats, stretch: float, half: int) -> Floats:
    """Return the displacement (F, 3) of a bone's end: as high as `moved`, but with a horizontal part that keeps the
    bone (F, 3) from becoming shorter by more than the fraction `stretch`.

    A knee below its hip, or an elbow below its shoulder, is lifted by moving it sideways. `half` is as in `swivel_up`.
    """
    after = bone + moved
    flat = np.hypot(after[:, 0], after[:, 2])
    least = np.square((1.0 - stretch) * np.linalg.norm(bone, axis=1)) - np.square(after[:, 1])
    outward = smooth_peak(np.maximum(np.sqrt(np.maximum(least, 0.0)) - flat, 0.0), half)
    return moved + (outward / np.maximum(flat, 1e-6))[:, None] * after * [1.0, 0.0, 1.0]


def smooth_frames(values: Floats, taps: Floats) -> Floats:
    """Smooth values (F, ...) with symmetric weights: `taps[d]` is the weight of frames at distance d. At the ends, the
    weights are normalized."""
    from scipy.ndimage import correlate1d

    whole = np.concatenate([taps[:0:-1], taps])
    weight = correlate1d(np.ones(len(values)), whole, mode="constant")
    smoothed = correlate1d(values, whole, axis=0, mode="constant")
    return np.asarray(smoothed / weight.reshape(-1, *[1] * (values.ndim - 1)))


def normalize(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), _ROUNDING))
