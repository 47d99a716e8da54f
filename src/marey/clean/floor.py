"""Floor detection."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from marey.clean import floor_kernels
from marey.clean.track import PointTrack, choose_points, track_points
from marey.core.arrays import Bools, Floats
from marey.core.motion import Motion
from marey.errors import InvalidValue

# A foot slower than this, m/s, is still: the speed at which contacts begin.
_STILL = 0.35
# A level: still heights within this of one another, meters for the reference body.
_LEVEL = 0.025
# A foot has to rest on the floor for this long in all, and for this fraction of all its rest.
_MIN_SECONDS = 0.15
_MIN_FRACTION = 0.02
# How far a point's own height of rest may be from the floor: below, and above where the floor was given, as joints lie
# inside the foot.
_BELOW, _ABOVE = 0.03, 0.07
# How much higher than the others a point may rest: meters, and times the spread of all heights at rest.
_APART, _APART_SPREAD = 0.005, 4.0


def find_floor(motion: Motion) -> float:
    """Find the height of the floor in meters, which is the height of the soles at rest.

    It is the lowest level at which feet stay still for a while, so steps, platforms and feet held in the air do not
    raise it and single outlier frames do not lower it. Heels and balls are those of ``motion.contacts`` if it has them,
    otherwise those of `contact_points`; if these lie inside the foot, so does the floor.

    Raises `InvalidValue` if no foot comes to rest, and `JointNotFound` if there are no feet.
    """
    track = track_points(motion, choose_points(motion))
    return locate_floor(track, collect_still_heights(track, track.speed < _STILL * track.scale.root))


def get_floor(motion: Motion, default: float) -> float:
    """The height of the floor in meters: the one noted with the motion, else found, else `default` if no foot rests."""
    if motion.source.floor is not None:
        return motion.source.floor
    try:
        return find_floor(motion)
    except InvalidValue:
        return default


@dataclass(frozen=True, slots=True, eq=False)
class StillHeights:
    """Heights of feet that keep still, meters, lowest first: (n, F) of each point, infinite at the end; and of all."""

    each: Floats
    pooled: Floats


def collect_still_heights(track: PointTrack, still: Bools) -> StillHeights:
    """The heights of points on feet in frames in which they are `still`, (F, K)."""
    columns = list(track.foot_columns)
    each = np.sort(np.where(still[:, columns], track.heights[:, columns], np.inf).T)
    count = int(np.count_nonzero(still[:, columns]))
    return StillHeights(each, np.sort(each, axis=None)[:count])


def locate_floor(track: PointTrack, stills: StillHeights) -> float:
    """The floor from a track and the heights at which its feet keep still."""
    heights = stills.pooled
    needed = max(_MIN_SECONDS * track.scale.root * track.fps, _MIN_FRACTION * len(heights), 1.0)
    level = float(floor_kernels.find_lowest_level(heights, _LEVEL * track.scale.length, math.ceil(needed)))
    if math.isnan(level):
        raise InvalidValue(
            f"no foot comes to rest in {describe_track(track)}, so the floor cannot be found; pass its height as "
            "floor= or --floor"
        )
    return level


def describe_track(track: PointTrack) -> str:
    """Describe the track in an error message."""
    return f"these {len(track.speed)} frames ({(len(track.speed) - 1) / track.fps:.2f} s)"


def find_rest_heights(track: PointTrack, stills: StillHeights, floor: float, given: bool) -> tuple[Floats, Floats]:
    """(K,) meters each: how high each point is when it rests on the floor, and how much that varies.

    Left and right differ by a centimeter in recorded motion, heel and ball as well, so each point has its own height:
    the 25th percentile of its still heights near the others'. How near depends on how well the others agree, so that a
    heel that is always held off the floor does not count as resting. A point that never rests has the floor's height.

    The variation is from the 10th percentile to the median: above are heels about to lift, below nothing can go.
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
