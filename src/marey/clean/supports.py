"""Supports other than the floor: steps, stairs and platforms under the feet, and hands that bear the body.

A still foot above the floor may stand on a stair or be held in the air; height and speed are the same. The difference
is whether it bears the body's weight. It does in frames in which

- no foot is at floor height, and no other still foot is lower: nothing else could bear the body,
- the hips are above it, within balance, and
- the hips are not in free fall, as at the top of a jump.

A foot that bears the body for a tenth of a second stands on a support at that height, for as long as it is still there.
Another foot that is still at the same height nearby stands on the same support.

A hand that bears the body, as in a cartwheel or a handstand, is recorded far from the floor and moving: the chain of
bones from the hips to it is long, and shoulders yield. Again, the evidence is that nothing else could bear the body:

- no foot is near the floor,
- the body is upside down, its hips above its head, and not in free fall, and
- the hand is low.

A hand that bears the body for a tenth of a second is on the floor while it is slow and near its lowest position in that
time, or while it hardly moves. Heights are relative to that position: the floor may be a hand's width further down.
Recorded wrists rise by as much as 15 cm while they still bear the body; holding them down would tear at the arms.
"""

from __future__ import annotations

import numpy as np

from marey.clean import support_kernels
from marey.clean.contact_kernels import ContactLimits
from marey.clean.points import SIDES
from marey.clean.support_kernels import HandRules, RestRules, StillPoints
from marey.clean.track import PointTrack
from marey.core.arrays import Bools, Floats

GRAVITY = 9.81
# In seconds and meters, for the reference body.
_BEARING = 0.1
_SHORTEST = 0.075
_LEVEL = 0.025
_BALANCE = 0.28  # maximum horizontal distance from the hips to their support
_HIPS_ABOVE = 0.25
_NEARBY = 0.5  # assumed size of a stair tread or a box top
_REACH = 0.5  # seconds in which a foot reaches or leaves a support
_FALLING = -0.6 * GRAVITY
_FALL_SECONDS = 0.05  # on either side of a frame
# Maximum height and speed (m/s) of hands that bear the body. They arrive and leave at several m/s.
_HAND_LOW, _HAND_SPEED = 0.35, 1.0
# Thresholds for hands to begin and to stay on the floor: m/s, and meters above their lowest position. In a handstand
# they may drift farther, but so slowly that they cannot have left the floor.
_ENTER_SPEED, _KEEP_SPEED, _DRIFT_SPEED = 0.6, 0.8, 0.15
_ENTER_HEIGHT, _KEEP_HEIGHT = 0.015, 0.04


def measure_clearance(
    track: PointTrack, rest: Floats, still: Bools, clearance: Floats, on_floor: float
) -> tuple[Floats, tuple[float, ...]]:
    """Return the clearance (F, K) above the nearest support, floor or raised, and the heights of the raised supports.

    rest : (K,) rest heights on the floor, meters.
    still, clearance : (F, K) whether a point is still, and its clearance above the floor in meters.
    on_floor : meters, maximum clearance of a foot that stands on the floor.
    """
    standing = _find_standing(track, still, rest, clearance, on_floor)
    if not len(standing):
        return clearance, ()
    clearance = clearance.copy()
    feet, margin = np.array(track.foot_columns, dtype=np.int64), track.frames(_REACH)
    support_kernels.lower_clearance(track.paths, rest, feet, track.feet, standing, margin, clearance)
    return clearance, _group_levels(_measure_above_floor(standing, rest), _LEVEL * track.scale.length)


def mark_bearing_hands(
    track: PointTrack, floor: float, clearance: Floats, on_floor: float, gap: int, mask: Bools
) -> None:
    """Set the mask (F, K), in place, where hands bear the body; all points of a hand get the same value.

    floor : height of the floor in meters.
    clearance : (F, K) meters above the nearest support.
    on_floor : meters, maximum clearance of a foot that stands on the floor.
    gap : number of frames; interruptions of up to this length are closed.
    """
    scale, root = track.scale.length, track.scale.root
    if track.head is None:
        return
    aloft = (clearance[:, list(track.foot_columns)] > on_floor).all(axis=1) & (track.hips[:, 1] > track.head[:, 1])
    if not aloft.any():
        return
    rules = HandRules(
        low=_HAND_LOW * scale,
        slow=_HAND_SPEED * root,
        falling=_FALLING / track.fps**2,
        lag=max(track.frames(_FALL_SECONDS), 1),
        bearing=_BEARING * root * track.fps,
        limits=ContactLimits(_ENTER_SPEED * root, _KEEP_SPEED * root, _ENTER_HEIGHT * scale, _KEEP_HEIGHT * scale),
        still=_DRIFT_SPEED * root,
        gap=gap,
        shortest=max(track.frames(_SHORTEST), 2),
    )
    for side in SIDES:
        columns = [k for k, point in enumerate(track.points) if point.name in (f"{side}_wrist", f"{side}_fingertips")]
        if columns:
            # Fingers twitch in recordings, so use the slower of the hand's points.
            speed = track.speed[:, columns].min(axis=1)
            heights = np.ascontiguousarray(track.heights[:, columns]) - floor
            planted = np.zeros(len(speed), dtype=bool)
            support_kernels.mark_bearing_hand(heights, speed, aloft, track.hips, rules, planted)
            mask[:, columns] |= planted[:, None]


def _find_standing(track: PointTrack, still: Bools, rest: Floats, clearance: Floats, on_floor: float) -> Floats:
    """Find where feet stand above the floor: rows (column, start, stop, x, y, z, frames that bear the body).

    still : (F, K) whether a point is still.
    rest : (K,) rest heights on the floor.
    clearance : (F, K) heights above `rest`.
    on_floor : height up to which a point counts as on the floor. All heights are in meters.
    """
    mains = [k for k in (track.main_column(side) for side in SIDES) if k is not None]
    rows = np.empty((len(mains) * (len(still) // 2 + 1), 7))
    scale, root = track.scale.length, track.scale.root
    points = StillPoints(
        paths=track.paths,
        hips=track.hips,
        speed=track.speed,
        still=still,
        clearance=clearance,
        feet=np.array(track.foot_columns, dtype=np.int64),
        mains=np.array(mains, dtype=np.int64),
    )
    rules = RestRules(
        on_floor=on_floor,
        level=_LEVEL * scale,
        hips_above=_HIPS_ABOVE * scale,
        balance=_BALANCE * scale,
        falling=_FALLING / track.fps**2,
        lag=max(track.frames(_FALL_SECONDS), 1),
        shortest=max(track.frames(_SHORTEST), 2),
    )
    rows = rows[: support_kernels.find_raised_rests(points, rules, rows)]
    bears = rows[:, 6] >= max(_BEARING * root * track.fps, 1.0)
    if bears.all() or not bears.any():
        return rows[bears]
    above = _measure_above_floor(rows, rest)
    level = np.abs(above[:, None] - above[bears]) <= _LEVEL * scale
    near = np.hypot(*(rows[:, c, None] - rows[bears, c] for c in (3, 5))) <= _NEARBY * scale
    remaining: Floats = rows[bears | (level & near).any(axis=1)]
    return remaining


def _measure_above_floor(rows: Floats, rest: Floats) -> Floats:
    """Return the height (n,) of each support above the floor in meters.

    rows : (n, 7) supports, as from `_find_standing`.
    rest : (K,) rest heights of the points on the floor.
    """
    above: Floats = rows[:, 4] - rest[rows[:, 0].astype(np.int64)]
    return above


def _group_levels(above: Floats, width: float) -> tuple[float, ...]:
    """Group heights into levels more than `width` apart, lowest first; heights near the floor, which may be uneven, are
    ignored."""
    groups: list[list[float]] = []
    for height in np.sort(above[above > 2 * width]).tolist():
        if groups and height - groups[-1][0] <= width:
            groups[-1].append(height)
        else:
            groups.append([height])
    return tuple(float(np.median(group)) for group in groups)
