"""Times of keys in files that store animation as curves: the rate they were sampled at, and the frames they lie on."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats

DEFAULT_FPS = 30.0
# Below this rate, keys were set by hand rather than sampled, so the motion between them must be sampled too.
SLOWEST_FPS = 10.0
COMMON_FPS = (30.0, 24.0, 25.0, 60.0, 50.0, 120.0, 100.0)
# Rates this close to a whole number are rounded to it: 1/30 s in float32 is off by 1e-7, 29.97 Hz by 1e-3.
WHOLE_FPS = 1e-4
_FLOAT32 = 2.0**-24


def times_to_frames(times: Floats, start: float, fps: float) -> tuple[Floats, float]:
    """Convert times (N,) in seconds to frames, with frame 0 at `start`; also return the largest error, in frames, due
    to float32 storage."""
    slack = 1e-3 + 2.0 * _FLOAT32 * float(np.abs(times).max()) * fps
    return (times - start) * fps, min(slack, 0.25)


def snap_to_frames(times: Floats, start: float, fps: float) -> Floats:
    """Convert times (N,) in seconds to frames, with frame 0 at `start`; times that differ from a whole frame only by
    rounding errors are rounded."""
    frames, slack = times_to_frames(times, start, fps)
    nearest = np.rint(frames)
    return np.where(np.abs(frames - nearest) <= slack, nearest, frames)


def count_frames(times: Floats, fps: float) -> int:
    """Return the number of frames from the first of the sorted times to the last."""
    frames, slack = times_to_frames(times, float(times[0]), fps)
    return int(np.floor(frames[-1] + slack)) + 1


def round_rate(rate: float) -> float:
    """Return the whole number that a rate stands for, or the rate itself if no whole number is close."""
    whole = float(np.rint(rate))
    return whole if abs(rate - whole) <= WHOLE_FPS * rate else rate


def recognize_rate(times: Floats, stated: float | None = None) -> tuple[float, str]:
    """Infer the rate at which keys at `times` (sorted, seconds) were sampled; also return the reason.

    The rate is not rounded, so that the last of many keys lies on a frame too.

    stated : the rate of the file's scene, used for keys that were set by hand.
    """
    apart = np.diff(times) > max(1e-5, 4.0 * _FLOAT32 * float(np.abs(times).max()))
    keys = times[np.concatenate([[True], apart])]
    usual = DEFAULT_FPS if stated is None else stated
    which = "assumed" if stated is None else "of the scene"
    if len(keys) == 1:
        return usual, f"rate {round_rate(usual):.6g} Hz {which}: the file has fewer than two keys"
    steps = np.diff(keys)
    guesses = [(len(keys) - 1) / float(keys[-1] - keys[0])]
    if (
        stated is not None
        and abs(guesses[0] - stated) < WHOLE_FPS * stated
        and _fraction_on_frames(keys, stated) == 1.0
    ):
        return stated, f"rate {round_rate(stated):.6g} Hz of the scene: each frame has keys"
    for step in (float(np.median(steps)), float(steps.min())):
        guesses += [float(np.rint(1.0 / step)), 1.0 / step]
    for guess in guesses:
        if guess < SLOWEST_FPS:
            continue
        for rate in (round_rate(guess), guess):
            if (fraction := _fraction_on_frames(keys, rate)) > 0.95:
                most, shown = "the" if fraction == 1.0 else "most", f"{round_rate(rate):.6g}"
                return rate, f"rate {shown} Hz: {most} keys lie 1/{shown} s or multiples of it apart"
    for rate in COMMON_FPS if stated is None else (stated,):
        if _fraction_on_frames(keys, rate) == 1.0:
            kind = "this common rate" if stated is None else "the rate of the scene"
            return rate, f"rate {round_rate(rate):.6g} Hz: the keys are sparse, and each lies on a frame at {kind}"
    return usual, f"rate {round_rate(usual):.6g} Hz {which}: the keys lie on no uniform grid"


def _fraction_on_frames(keys: Floats, rate: float) -> float:
    frames, slack = times_to_frames(keys, float(keys[0]), rate)
    return float(np.mean(np.abs(frames - np.rint(frames)) <= slack))
