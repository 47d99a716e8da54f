"""Floor detection."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from marey.clean import floor_kernels
from marey.clean.track import PointTrack, choose_points, track_points
from marey.core.arrays import Bools, Floats, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue

# A foot slower than this, m/s, is still: the speed at which contacts begin.
_STILL = 0.35
# Still heights within this range form a level, meters for the reference body.
_LEVEL = 0.025
# Minimum total time that a foot rests on the floor in seconds, and as a fraction of all its time at rest.
_MIN_SECONDS = 0.15
_MIN_FRACTION = 0.02
# Maximum distance of a point's own rest height from the floor: below it, and above it if the floor was given, because
# joints lie inside the foot.
_BELOW, _ABOVE = 0.03, 0.07
# Maximum rest height of a point above the other points: meters, plus a multiple of the spread of all heights at rest.
_APART, _APART_SPREAD = 0.005, 4.0


def find_floor(motion: Motion) -> float:
    """Find the height of the floor in meters, which is the height of the soles at rest.

    It is the lowest level at which feet stay still for a while. Steps, platforms and feet held in the air therefore do
    not raise it, and single outlier frames do not lower it. The heels and balls of the feet in ``motion.contacts`` are
    used, or those of `contact_points` if it has none. If these points are inside the foot rather than on the sole, the
    result is too high by that distance.

    Raise `InvalidValue` if no foot comes to rest, and `JointNotFound` if there are no feet.

    Examples
    --------
    >>> abs(round(marey.find_floor(walk), 3))  # meters
    0.0
    """
    track = track_points(motion, choose_points(motion))
    return locate_floor(
        track, collect_still_heights(track, (track.speed < _STILL * track.scale.root) & ~track.is_aloft)
    )


def get_floor(motion: Motion, default: float) -> float:
    """Return the floor height in meters: stored with the motion, else detected, else `default` if that fails.

    Examples
    --------
    >>> from marey.clean import get_floor
    >>> get_floor(walk, default=0.0)
    0.0
    """
    if motion.source.floor is not None:
        return motion.source.floor
    try:
        return find_floor(motion)
    except InvalidValue:
        return default


def move_to_floor(motion: Motion, floor: float) -> Motion:
    """Raise or lower a motion to put its floor at height `floor`, in meters. If its floor is unknown, it stays.

    Examples
    --------
    >>> from marey.clean import move_to_floor
    >>> move_to_floor(walk, 0.05).source.floor
    0.05
    """
    rise = floor - get_floor(motion, floor)
    if rise == 0.0:
        return motion
    return replace(
        motion,
        root_positions=set_readonly(motion.root_positions + [0.0, rise, 0.0]),
        source=replace(motion.source, floor=floor),
    )


@dataclass(frozen=True, slots=True, eq=False)
class StillHeights:
    """Heights in meters at which feet stay still, lowest first.

    each : (n, F) heights of each of n points, padded with infinity. pooled : (m,) the heights of all points.
    """

    each: Floats
    pooled: Floats


def collect_still_heights(track: PointTrack, still: Bools) -> StillHeights:
    """Collect the heights of points on feet in the frames in which they are `still`, (F, K)."""
    columns = list(track.foot_columns)
    each = np.sort(np.where(still[:, columns], track.heights[:, columns], np.inf).T)
    count = int(np.count_nonzero(still[:, columns]))
    return StillHeights(each, np.sort(each, axis=None)[:count])


def locate_floor(track: PointTrack, stills: StillHeights) -> float:
    """Estimate the floor height from the heights at which the feet are still."""
    heights = stills.pooled
    needed = max(_MIN_SECONDS * track.scale.root * track.fps, _MIN_FRACTION * len(heights), 1.0)
    level = float(floor_kernels.find_lowest_level(heights, _LEVEL * track.scale.length, math.ceil(needed)))
    if math.isnan(level):
        raise InvalidValue(
            f"no foot comes to rest in {describe_track(track)}, so the floor cannot be found",
            parameter="floor",
            remedy="pass its height as `floor=`",
        )
    return level


def describe_track(track: PointTrack) -> str:
    """Describe the track for an error message."""
    return f"these {len(track.speed)} frames ({(len(track.speed) - 1) / track.fps:.2f} s)"


def find_rest_heights(track: PointTrack, stills: StillHeights, floor: float, given: bool) -> tuple[Floats, Floats]:
    """Return each point's height when it rests on the floor, and how much that height varies, both (K,) in meters.

    In recorded motion, left and right differ by a centimeter, as do heel and ball, so each point has its own height:
    the 25th percentile of its still heights near the still heights of the other points. How near depends on how well
    these agree; a heel that is always held off the floor thus does not count as resting. A point that never rests gets
    the usual height of the others, or the floor's if none rests.

    The variation is the range from the 10th percentile to the median. Higher values may come from heels about to lift.

    given : whether the caller set the floor height, instead of it being detected.
    """
    scale = track.scale.length
    width, needed = _LEVEL * scale, max(round(_MIN_SECONDS * track.scale.root * track.fps / 2), 1)
    low, high = floor - _BELOW * scale, floor + (_ABOVE if given else _BELOW) * scale
    rest, spread = np.full(len(track.points), floor), np.full(len(track.points), np.inf)
    quantiles = np.empty(3)
    if not floor_kernels.measure_level(stills.pooled, low, high, width, needed, quantiles):
        return rest, spread
    tenth, usual, middle = quantiles.tolist()
    rest[list(track.foot_columns)] = usual
    apart = min(_APART * scale + _APART_SPREAD * (middle - tenth), _BELOW * scale)
    for k, heights in zip(track.foot_columns, stills.each, strict=True):
        if floor_kernels.measure_level(heights, middle - _BELOW * scale, middle + apart, width, needed, quantiles):
            rest[k], spread[k] = quantiles[1], quantiles[2] - quantiles[0]
    return rest, spread
