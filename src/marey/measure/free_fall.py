"""Test whether a body falls with the acceleration of gravity at a clip's frame rate, and never faster.

Feet push, and do not pull: the center of mass accelerates downward by at most 9.81 m/s^2, and by exactly that while
the body is in the air. Accelerations grow with the square of the frame rate, so a rate that is twice the true one gives
four times as much. Both tests hold for any motion of a person, with or without gait.
"""

from __future__ import annotations

import math

import numpy as np

from marey.core.arrays import Bools, Floats, find_runs
from marey.errors import MareyError
from marey.io.unit_and_up_axis import STATURE, stature
from marey.maths import filters
from marey.measure import balance_kernels
from marey.measure.balance import GRAVITY, SMOOTHING
from marey.measure.subject import Subject

# Seconds around broken frames that do not count, and minimum time that counts.
_AROUND, _MIN_SECONDS = 0.2, 1.5
# Multiple of gravity by which no center of mass accelerates downward. The masses and lengths of body segments are those
# of an average body, so that measured accelerations are off by up to a third.
_TOO_FAST = 1.5
# Fraction of frames that may be faster, because of noise or a push with the hands; frames per second that are enough.
_FEW, _RATE = 0.02, 100.0
# Meters, for a body of average height, by which everything is above the floor in a flight.
_ABOVE = 0.05
# Minimum number of flights, and of frames in one.
_N_FLIGHTS, _FEWEST = 3, 6
# Minimum height of the arc of a flight in meters, and maximum deviation from a parabola, as a fraction of that height.
_ARC, _DEVIATION = 0.008, 0.08
# Maximum horizontal acceleration in a flight, as a fraction of the vertical one: nothing pushes the body sideways.
_SIDEWAYS = 0.3
# The largest acceleration in a flight is at most this multiple of the smallest; otherwise the body was not in the air.
_ALIKE = 2.0
# Rates of files relative to true ones that are reported, and the maximum factor between accelerations and theirs.
_FACTORS, _NEAR = (0.25, 0.5, 2.0, 4.0), 1.7


def find_fall_rate(subject: Subject) -> tuple[float, float] | None:
    """Return the ratio of the clip's frame rate to the true rate, and the acceleration in m/s^2 that shows it; None if
    the rate is right.

    Rates that are too high show in any jump, run or fast movement of the whole body. Rates that are too low show only
    in at least three flights, as in a run: on their feet, people may move as slowly as they like.
    """
    motion = subject.motion
    try:
        lowest = np.minimum(subject.lowest_sole, subject.lowest)
    except MareyError:
        return None
    step = max(int(motion.fps / _RATE), 1)
    fps = motion.fps / step
    is_good = np.ones(len(motion), dtype=bool)
    margin = round(_AROUND * motion.fps)
    for glitch in subject.glitches:
        is_good[max(glitch.start - margin, 0) : glitch.stop + margin] = False
    is_good = is_good[::step]
    if is_good.sum() < _MIN_SECONDS * fps:
        return None
    center = subject.center_of_mass[::step]
    falls = _measure_flights(center, lowest[::step], is_good, (stature(motion.skeleton) or STATURE) / STATURE) * fps**2
    if len(falls) >= _N_FLIGHTS and falls.max() < _ALIKE * falls.min():
        fall = float(np.sort(falls)[len(falls) // 2])
        for factor in _FACTORS:
            if max(fall / (GRAVITY * factor**2), GRAVITY * factor**2 / fall) < _NEAR:
                return factor, fall
    push = np.empty((len(center), 1))
    balance_kernels.differentiate_twice(filters.gaussian(center[:, 1:2], SMOOTHING * fps), push)
    down = np.sort(-push[is_good, 0]) * fps**2
    fastest = float(down[len(down) - 1 - math.ceil(_FEW * len(down))])
    if fastest > _TOO_FAST * GRAVITY:
        return (2.0 if fastest < 4.0 * _TOO_FAST * GRAVITY else 4.0), fastest
    return None


def _measure_flights(center: Floats, lowest: Floats, is_good: Bools, size: float) -> Floats:
    """Return the downward acceleration, in meters per squared frame, of each flight: an arc without any support.

    center : (F, 3) center of mass, meters.
    lowest : (F,) height of the lowest point of the body, meters.
    is_good : (F,) whether each frame counts.
    """
    floor = np.sort(lowest)[len(lowest) // 10]
    found = []
    for start, stop in find_runs((lowest > floor + _ABOVE * size) & is_good):
        n = stop - start
        if n < _FEWEST or start == 0 or stop == len(center):
            continue
        t = np.arange(n) - 0.5 * (n - 1)
        terms = np.stack([np.ones(n), t, t**2], axis=1)
        fit = np.linalg.lstsq(terms, center[start:stop], rcond=None)[0]
        bend = fit[2]
        arc = -bend[1] * (0.5 * (n - 1)) ** 2
        deviation = float(np.sqrt(np.mean((terms @ fit - center[start:stop])[:, 1] ** 2)))
        is_ballistic = math.hypot(bend[0], bend[2]) < _SIDEWAYS * abs(bend[1])
        if arc > _ARC * size and deviation < _DEVIATION * arc and is_ballistic:
            found.append(-2.0 * bend[1])
    return np.array(found)
