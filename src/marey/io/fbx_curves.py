"""Animation curves of FBX files: keys with constant, linear and cubic segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Bools, Floats, Ints
from marey.io.fbx_document import Element, FbxDocument

# Flags of a key: the segment up to the next key, and how its tangents are given.
CONSTANT, LINEAR, CUBIC = 0x2, 0x4, 0x8
_NEXT_VALUE = 0x100  # the constant segment has the value of the next key
_TCB, _USER = 0x200, 0x400
_TIME_INDEPENDENT, _PROGRESSIVE = 0x2000, 0x4000
_VELOCITY = 0x30000000
_WEIGHT_RIGHT, _WEIGHT_NEXT_LEFT = 0x1000000, 0x2000000
_FULL_WEIGHT = 9999.0  # weights are stored as integers, as a fraction of the segment
_PLAIN_WEIGHT = 1.0 / 3.0
_NEWTON_STEPS = 24
# A cubic segment does not overshoot if the slopes at its ends are at most this multiple of its mean slope.
_STEEPEST = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class FbxCurve:
    """The K keys of an animated number.

    times, values : (K,) ticks and values. flags : (K,) see the constants above. slopes : (K, 2) change per second after
    each key, and before the next one. weights : (K, 2) length of these tangents as a fraction of the segment.
    """

    times: Ints
    values: Floats
    flags: Ints
    slopes: Floats
    weights: Floats

    def sample(self, keys: Floats, frames: Floats, fps: float) -> Floats:
        """Return the values (F,) at `frames` (F,); before the first key and after the last one they are constant.

        keys : (K,) the times of the keys in frames.
        """
        if np.array_equal(keys, frames):  # sampled at exactly this rate, as most captures are
            return self.values
        if len(keys) == 1:
            return np.full(len(frames), self.values[0])
        at = np.clip(np.searchsorted(keys, frames, side="right") - 1, 0, len(keys) - 2)
        span = keys[at + 1] - keys[at]
        t = np.clip((frames - keys[at]) / np.where(span > 0.0, span, 1.0), 0.0, 1.0)
        before, after = self.values[at], self.values[at + 1]
        flags = self.flags[at]
        out = before + t * (after - before)
        constant = (flags & CONSTANT) != 0
        held = np.where(((flags & _NEXT_VALUE) != 0) & (t > 0.0), after, before)
        out = np.where(constant & (t < 1.0), held, out)
        cubic = ((flags & CUBIC) != 0) & ~constant & (t > 0.0) & (t < 1.0)
        if cubic.any():
            tangents = self.slopes[at[cubic]], self.weights[at[cubic]]
            out[cubic] = _evaluate_bezier(t[cubic], span[cubic] / fps, before[cubic], after[cubic], tangents)
        return out


def _evaluate_bezier(t: Floats, span: Floats, before: Floats, after: Floats, tangents: tuple[Floats, Floats]) -> Floats:
    """Return the values (n,) of n cubic segments, each at the fraction `t` (n,) of its duration.

    span : (n,) duration of each segment in seconds. before, after : (n,) values at its ends. tangents : slopes and
        weights (n, 2) at its ends.
    """
    slopes, weights = tangents
    right, left = weights[:, 0], weights[:, 1]
    s = t.copy()
    weighted = (right != _PLAIN_WEIGHT) | (left != _PLAIN_WEIGHT)
    if weighted.any():
        s[weighted] = _solve_time(t[weighted], right[weighted], left[weighted])
    r = 1.0 - s
    first, second = before + slopes[:, 0] * right * span, after - slopes[:, 1] * left * span
    return np.asarray(r**3 * before + 3.0 * r * r * s * first + 3.0 * r * s * s * second + s**3 * after)


def _solve_time(t: Floats, right: Floats, left: Floats) -> Floats:
    """Return the Bezier parameter s (n,) of each segment at the fraction `t` (n,) of its duration, by bracketed Newton
    steps; time increases with s."""
    low, high, s = np.zeros_like(t), np.ones_like(t), t.copy()
    for _ in range(_NEWTON_STEPS):
        r = 1.0 - s
        error = 3.0 * r * r * s * right + 3.0 * r * s * s * (1.0 - left) + s**3 - t
        low, high = np.where(error < 0.0, s, low), np.where(error > 0.0, s, high)
        slope = 3.0 * r * r * right + 6.0 * r * s * (1.0 - left - right) + 3.0 * s * s * left
        guess = s - error / np.where(np.abs(slope) > 1e-12, slope, 1.0)
        s = np.where((guess > low) & (guess < high) & (np.abs(slope) > 1e-12), guess, 0.5 * (low + high))
    return s


def read_curve(document: FbxDocument, element: Element, ticks: float, what: str) -> FbxCurve | None:
    """Read a curve; return None if it has no keys."""
    times = document.ints(element.child("KeyTime"), f"KeyTime of {what}")
    values = document.floats(element.child("KeyValueFloat"), f"KeyValueFloat of {what}")
    if len(times) != len(values):
        document.fail(f"{what} has {len(times)} key times but {len(values)} values")
    if not len(times):
        return None
    if (np.diff(times) <= 0).any():
        document.fail(f"the keys of {what} are not sorted by time")
    flags, data = _read_attributes(document, element, len(times), what)
    cubic = ((flags & CUBIC) != 0) & ((flags & CONSTANT) == 0)
    cubic[-1] = False  # the last key has no segment
    if (cubic & ((flags & _VELOCITY) != 0)).any():
        document.fail(
            f"{what} has tangents with velocities, which are not read; bake the animation and export it again"
        )
    if (cubic & ((flags & _TCB) != 0) & ((flags & _USER) == 0)).any():
        document.fail(f"{what} has TCB tangents, which are not read; bake the animation and export it again")
    slopes, weights = _read_tangents(flags, data, cubic, times / ticks, values)
    return FbxCurve(times, values, flags, slopes, weights)


def _read_attributes(document: FbxDocument, element: Element, n_keys: int, what: str) -> tuple[Ints, Floats]:
    """Return the flags (K,) and the four numbers (K, 4) of each key."""
    flags = document.ints(element.child("KeyAttrFlags"), f"KeyAttrFlags of {what}")
    data = document.float_bits(element.child("KeyAttrDataFloat"), f"KeyAttrDataFloat of {what}")
    counts = document.ints(element.child("KeyAttrRefCount"), f"KeyAttrRefCount of {what}")
    if not len(flags):
        return np.full(n_keys, LINEAR), np.zeros((n_keys, 4))
    if len(counts) != len(flags) or len(data) != 4 * len(flags) or (counts < 0).any() or counts.sum() != n_keys:
        document.fail(f"the key attributes of {what} do not match its {n_keys} keys")
    return np.repeat(flags, counts), np.repeat(data.reshape(-1, 4), counts, axis=0)


def _read_tangents(flags: Ints, data: Floats, cubic: Bools, times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the slopes (K, 2) and weights (K, 2) of the tangents after each key and before the next one."""
    slopes, weights = data[:, :2].copy(), np.full((len(flags), 2), _PLAIN_WEIGHT)
    packed = np.ascontiguousarray(data[:, 2], dtype=np.float32).view(np.uint32)
    for side, (flag, bits) in enumerate(((_WEIGHT_RIGHT, packed & 0xFFFF), (_WEIGHT_NEXT_LEFT, packed >> 16))):
        given = (flags & flag) != 0
        weights[given, side] = np.clip(bits[given] / _FULL_WEIGHT, 1e-4, 1.0)
    automatic = np.flatnonzero(cubic & ((flags & _USER) == 0))
    if len(automatic):
        slopes[automatic, 0] = _auto_slopes(flags, data[:, 0] / 100.0, times, values)[automatic]
        before = np.concatenate([[0.0], data[:-1, 1]])  # the bias on the left is stored with the key before
        slopes[automatic, 1] = _auto_slopes(flags, -before / 100.0, times, values)[automatic + 1]
    return slopes, weights


def _auto_slopes(flags: Ints, bias: Floats, times: Floats, values: Floats) -> Floats:
    """Return the slopes (K,) of automatic tangents.

    The slope at a key is the mean slope of the segments before and after it; at the ends, that of the only segment.
    Time-independent tangents have the slope of the line through the neighboring keys instead. Progressive tangents are
    flat at the ends and at extremes, and do not overshoot.

    bias : (K,) from -1 to 1, shifts the mean toward the segment before or after.
    """
    segments = np.diff(values) / np.diff(times)
    before, after = np.concatenate([segments[:1], segments]), np.concatenate([segments, segments[-1:]])
    out = 0.5 * ((1.0 - bias) * before + (1.0 + bias) * after)
    line = (values[2:] - values[:-2]) / (times[2:] - times[:-2])
    out[1:-1] = np.where((flags[1:-1] & _TIME_INDEPENDENT) != 0, line, out[1:-1])
    limit = np.where(before * after > 0.0, _STEEPEST * np.minimum(np.abs(before), np.abs(after)), 0.0)
    limit[[0, -1]] = 0.0
    return np.asarray(np.where((flags & _PROGRESSIVE) != 0, np.clip(out, -limit, limit), out))
