"""Find strides, and measure their rate and length, and whether these are plausible for a person.

Strides are detected without the frame rate, from how the ankles pass each other, relative to leg length. Stride length
and duty factor are therefore correct even if a file's frame rate is wrong, and show which stride rates are plausible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.io.unit_and_up_axis import is_giant
from marey.measure import gait_kernels
from marey.measure.gait_kernels import DUTY, LARGER, LENGTH, SMALLER

# Fraction of leg length: smaller movements of one ankle past the other, back and forth, are sway or shuffling.
_SWING = 0.12
# Fraction of leg length: a stride that moves the body less than this is stepping on the spot, turning or kicking.
_MIN_LENGTH = 0.3
# Minimum movement of one foot, as a fraction of the movement of the other: in a kick, only one foot moves.
_EVEN = 0.4
# Radians: a stride in which the hips turn more than this is part of a turn, whose quick, small steps say nothing about
# the frame rate.
_STRAIGHT = math.radians(15.0)
# If there are no straight strides, strides of at least this many leg lengths count: shorter ones may be steps on the
# spot. They may be quicker than straight ones by this factor.
_LONG, _QUICKER = 1.0, 2.0
# Seconds before and after the ankles pass over which the movements of the feet are compared.
_NEAR = 0.03
# A foot is in stance if it moves at less than this fraction of the body's speed...
_STILL = 0.4
# ... and is at most this fraction of leg length above its lowest point in the stride.
_LOW = 0.08
# Fastest strides of adults, in strides per second times sqrt(leg / g): 1.4 Hz in walks and 2.4 Hz in runs on legs of
# 0.85 m. Legs of other lengths swing like pendulums (Alexander and Jayes 1983, dynamic similarity).
_QUICKEST = {"walk": 1.4 * math.sqrt(0.85 / 9.81), "run": 2.4 * math.sqrt(0.85 / 9.81)}
# In a run, the duty factor is less than 0.5 (Hildebrand 1985, McMahon 1984).
_RUN_DUTY = 0.5
_GRAVITY = 9.81
_ROLES = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("upper_leg", "lower_leg", "foot"))


@dataclass(frozen=True, slots=True)
class Stride:
    """One stride, two steps: from one passing of the ankles to the second one after it, when the same leg swings again.

    Attributes
    ----------
    start, stop : fractional frame numbers, by linear interpolation.
    length : horizontal distance between the positions of the hips at start and stop, meters.
    turn : change of hip heading in radians, positive to the left.
    duty : duty factor, the fraction of the stride in which a foot is in stance, mean of both feet.
    """

    start: float
    stop: float
    length: float
    turn: float
    duty: float


def stride_rate(motion: Motion) -> float | None:
    """Measure strides (two steps) per second: the reciprocal of the median stride duration; None without gait.

    A stride extends from one zero crossing of the ankles' separation to the second one after it, near the gait events
    that Zeni, Richards and Higginson (2008) derive from the positions of the feet. The separation is measured along the
    facing of the hips, or across it if the body travels sideways. If the feet then do not pass each other, the middle
    of each swing is used instead of the zero crossing. Swings of less than 12 % of leg length are ignored: a body that
    stands, sways or moves only one foot has no strides.

    Parameters
    ----------
    motion : any motion; a body without legs has no gait.

    Examples
    --------
    >>> from marey.measure import stride_rate
    >>> round(stride_rate(walk), 1)  # strides per second
    0.9
    >>> stride_rate(kick) is None
    True
    """
    return median_stride_rate(find_strides(motion), motion.fps)


def median_stride_rate(strides: tuple[Stride, ...], fps: float) -> float | None:
    """Return strides per second, from the median duration of `strides`; None if there are none."""
    if not strides:
        return None
    return fps / _compute_median([stride.stop - stride.start for stride in strides])


def rate_finding(motion: Motion) -> str | None:
    """Return a warning if the strides are too fast for a person, which means a wrong frame rate; None otherwise.

    Stride length and duty factor (the fraction of a stride in which a foot is in stance) do not depend on the frame
    rate. The duty factor distinguishes walks from runs. Only straight strides that move the body by at least 30 % of
    leg length count; at least two are needed. Without them, strides of turns count that are at least as long as a leg,
    if they are twice as fast as is plausible. Legs swing like pendulums, so stride rates f compare as f sqrt(leg / g).
    Values above 0.41 in a walk (1.4 per second on legs of 0.85 m) or 0.71 in a run (2.4) are implausible. If the
    body is a giant, its unit is wrong, and its strides say nothing about the frame rate.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from marey.measure import rate_finding
    >>> rate_finding(walk) is None
    True
    >>> rate_finding(replace(walk, fps=240.0)) is None
    False
    """
    return describe_rate_finding(find_strides(motion), motion)


@dataclass(frozen=True, slots=True)
class ImplausibleRate:
    """Strides that are too fast for a person, which means a wrong frame rate.

    Attributes
    ----------
    stride_rate, max_stride_rate : strides per second of the clip, and the plausible maximum.
    file_fps : the frame rate at which the file was read; the clip's if it does not come from a file.
    fps : a frame rate at which the strides would be plausible: `file_fps` divided by an integer.
    message : the facts as a sentence, with the remedy.
    """

    stride_rate: float
    max_stride_rate: float
    file_fps: float
    fps: float
    message: str


def describe_rate_finding(strides: tuple[Stride, ...], motion: Motion) -> str | None:
    """Return the warning of `rate_finding` for given strides of a motion."""
    if is_giant(motion.skeleton):
        return None
    finding = find_implausible_rate(strides, motion)
    return None if finding is None else finding.message


def find_implausible_rate(strides: tuple[Stride, ...], motion: Motion) -> ImplausibleRate | None:
    """Return the warning of `rate_finding`, with its numbers, for given strides of a motion."""
    if not strides:
        return None
    leg, fps = mean_leg_length(motion.skeleton), motion.fps
    going = tuple(s for s in strides if abs(s.turn) <= _STRAIGHT and s.length >= _MIN_LENGTH * leg)
    margin = 1.0
    if len(going) < 2:
        going, margin = tuple(s for s in strides if s.length >= _LONG * leg), _QUICKER
    rate = median_stride_rate(going, fps)
    if rate is None or len(going) < 2:
        return None
    gait = "walk" if _compute_median([s.duty for s in going]) >= _RUN_DUTY else "run"
    speed = _compute_median([s.length / (s.stop - s.start) for s in going]) * fps
    quickest = _QUICKEST[gait] * math.sqrt(_GRAVITY / leg)
    if rate <= margin * quickest:
        return None
    slower = math.ceil(rate / quickest)
    file_fps = motion.source.fps or fps
    message = (
        f"{rate:.2f} strides per second in a {gait} at {speed:.2f} m/s are implausible on legs of {leg:.2f} m"
        f" (at most {quickest:.2f}), so the rate of {file_fps:.6g} Hz seems wrong; at {file_fps / slower:.6g} Hz they"
        f" would be {rate / slower:.2f} at {speed / slower:.2f} m/s: set the rate with"
        f" `file_fps={file_fps / slower:.6g}`"
    )
    return ImplausibleRate(rate, quickest, file_fps, file_fps / slower, message)


def mean_leg_length(skeleton: Skeleton) -> float:
    """Return the length from hip to ankle along the bones in meters, mean of both legs; needs the roles of the legs."""
    roles, lengths = skeleton.roles, skeleton.bone_lengths
    bones = [lengths[roles[f"{side}_{part}"]] for side in ("left", "right") for part in ("lower_leg", "foot")]
    return float(sum(bones)) / 2.0


def find_strides(motion: Motion) -> tuple[Stride, ...]:
    """Find all strides in order; each begins half a stride after the previous one. See `stride_rate`.

    Strides in which one foot moves much less than the other are left out.

    Examples
    --------
    >>> from marey.measure import find_strides
    >>> strides = find_strides(walk)
    >>> len(strides), round(strides[0].length, 1)  # meters
    (6, 1.4)
    """
    roles = motion.skeleton.roles
    if len(motion) < 3 or any(role not in roles for role in ("hips", *_ROLES)):
        return ()
    leg = mean_leg_length(motion.skeleton)
    if leg <= 0.0:
        return ()
    ankles = [roles["left_foot"], roles["right_foot"]]
    balls = [roles.get(f"{side}_ball", roles[f"{side}_foot"]) for side in ("left", "right")]
    needed = [*ankles, *balls, roles["hips"], roles["left_upper_leg"], roles["right_upper_leg"]]
    positions = np.take(motion.world().positions, needed, axis=1)
    floor = positions[:, :, ::2]
    hips, feet, across = floor[:, 4], floor[:, :2], floor[:, 5] - floor[:, 6]
    facing, passes = ankle_passes(hips, across, feet, leg)
    if len(passes) < 3:
        return ()
    spans = np.array([(math.floor(a), math.ceil(b)) for a, b in zip(passes[:-2], passes[2:], strict=True)])
    # A foot stands on its heel, which moves with the ankle, or on its ball.
    soles, body = np.ascontiguousarray(positions[:, :4]), np.ascontiguousarray(positions[:, 4])
    measured = np.empty((len(spans), 4))
    gait_kernels.measure_strides(spans, soles, body, _STILL, _LOW * leg, measured)
    is_even = measured[:, SMALLER] >= np.maximum(_EVEN * measured[:, LARGER], 0.5 * _SWING * leg)
    strides = []
    for i in np.flatnonzero(is_even).tolist():
        (x, z), (u, w) = facing[spans[i, 0]].tolist(), facing[spans[i, 1]].tolist()
        length, duty = measured[i, [LENGTH, DUTY]].tolist()
        turn = math.atan2(z * u - x * w, x * u + z * w)
        strides.append(Stride(passes[i], passes[i + 2], length, turn, duty))
    return tuple(strides)


def ankle_passes(hips: Floats, across: Floats, ankles: Floats, leg: float) -> tuple[Floats, list[float]]:
    """Find the direction in which the hips face, and the times at which the ankles pass each other; see `stride_rate`.

    Parameters
    ----------
    hips : (F, 2) x, z in meters.
    across : (F, 2) vector from the right hip joint to the left one, x, z.
    ankles : (F, 2, 2) x, z of the left and right ankle, meters.
    leg : leg length in meters.

    Returns
    -------
    (F, 2) unit directions, and the fractional frame numbers at which the ankles pass.
    """
    facing = np.empty(hips.shape)
    is_aside = gait_kernels.find_gait_axis(np.ascontiguousarray(hips), np.ascontiguousarray(across), facing)
    apart = ankles[:, 0] - ankles[:, 1]
    if is_aside:
        separation = apart[:, 0] * facing[:, 1] - apart[:, 1] * facing[:, 0]  # along the left of the hips
    else:
        separation = apart[:, 0] * facing[:, 0] + apart[:, 1] * facing[:, 1]
    return facing, _find_passes(separation, _SWING * leg)


def find_passings(hips: Floats, across: Floats, ankles: Floats, leg: float, fps: float) -> tuple[Floats, Ints]:
    """Find the frames at which the ankles pass each other, and the foot that moves then: 0 left, 1 right.

    Parameters are those of `ankle_passes`; `fps` is the frame rate.
    """
    frames = np.array(ankle_passes(hips, across, ankles, leg)[1])
    near = max(1, round(_NEAR * fps))
    before, after = (np.clip(np.rint(frames + d).astype(np.int64), 0, len(ankles) - 1) for d in (-near, near))
    moving: Ints = np.argmax(np.linalg.norm(ankles[after] - ankles[before], axis=-1), axis=1).reshape(-1)
    return frames, moving


def _find_passes(separation: Floats, swing: float) -> list[float]:
    """Find the frames at which `separation` (F,) crosses 0, or the middle of a swing that stays on one side of 0.

    Only swings between extremes that differ by at least `swing` count.
    """
    values = np.ascontiguousarray(separation)
    extremes, passes = np.empty(len(values) + 1, dtype=np.int64), np.empty(len(values))
    extremes = extremes[: gait_kernels.find_extremes(values, swing, extremes)]
    count = gait_kernels.find_passes(values, extremes, swing, passes)
    return [float(frame) for frame in passes[:count]]


def _compute_median(values: Sequence[float]) -> float:
    """Return the median. `np.median` would import numpy.ma, which takes a tenth of the time of `marey info`."""
    ordered, n = sorted(values), len(values)
    return float(0.5 * (ordered[(n - 1) // 2] + ordered[n // 2]))
