"""A shift of gaze in a few numbers: how the body is turned in the end, and when each part of it moves (Heck 5.1).

All turns are about axes to the left, up and ahead, as the figure stands: x, y and z. Yaw is to the left, pitch upward.
A part's turn is as seen from the part below it, so that the head is turned by pelvis, lower spine, upper spine and neck
one after another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, convert_array, freeze_array, reduce_frozen, set_readonly
from marey.errors import InvalidValue
from marey.maths import quat

__all__ = ["PARTS", "GazeShift", "angles_of", "angles_to_direction", "checked_goal", "find_progress", "reached"]

PARTS = ("pelvis", "lower_spine", "upper_spine", "neck", "eyes")
# Eyes are not turned further in the head than this without a word, and no eyes further than that; radians.
EYE_LIMIT, EYE_MOST = np.radians(35.0), np.radians(55.0)
AHEAD = np.array([0.0, 0.0, 1.0])
# Where the numbers of a shift stand in a row: five rotation vectors, then times.
POSE, LENGTH, STARTS, PEAK, OVERSHOOT = slice(0, 15), 15, slice(16, 20), 20, 21
N_NUMBERS = 22
_SHORTEST, _LONGEST = 0.05, 20.0
# A part begins at least this share of the length before the overshoot's peak.
_RISE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class GazeShift:
    """A gaze displacement motion: what a shift of gaze adds to a pose, and when (Heck 5.1.2).

    Parameters
    ----------
    goal : (2,) yaw and pitch in radians by which the eyes are turned in the end.
    pose : (5, 4) turns of pelvis, lower spine, upper spine, neck and eyes, each as seen from the one before.
    length : seconds from the first movement until all is settled.
    starts : (4,) when pelvis, lower spine, upper spine and neck begin, as shares of the length; the eyes begin at 0.
    peak : when the overshoot is at its most, as a share of the length.
    overshoot : by what share of its turn each part then goes beyond it.
    name : of the take.
    """

    goal: Floats
    pose: Floats
    length: float
    starts: Floats
    peak: float
    overshoot: float
    name: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "goal", set_readonly(checked_goal(self.goal)))
        pose = freeze_array(self.pose, "pose", (5, 4))
        if np.abs(np.linalg.norm(pose, axis=1) - 1.0).max() > 1e-6:
            raise InvalidValue("pose must hold five unit quaternions; normalize them first")
        put(self, "pose", pose)
        put(self, "starts", freeze_array(self.starts, "starts", (4,)))
        for name in ("length", "peak", "overshoot"):
            put(self, name, float(convert_array(getattr(self, name), name)))
        if not _SHORTEST <= self.length <= _LONGEST:
            raise InvalidValue(
                f"the length of a shift of gaze must be {_SHORTEST} to {_LONGEST} s, got {self.length:g}"
            )
        if not 0.0 < self.peak < 1.0:
            raise InvalidValue(f"the peak must be a share of the length between 0 and 1, got {self.peak:g}")
        if not (self.starts.min() >= 0.0 and self.starts.max() < self.peak):
            raise InvalidValue(f"parts must start from 0 on and before the peak at {self.peak:g}, got {self.starts}")
        if not 0.0 <= self.overshoot <= 1.0:
            raise InvalidValue(f"the overshoot must be a share between 0 and 1, got {self.overshoot:g}")

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_frozen(self)

    def row(self) -> Floats:
        """(22,) all of it as numbers that may be blended: rotation vectors, length, starts, peak and overshoot."""
        return np.concatenate([quat.log(self.pose).ravel(), [self.length], self.starts, [self.peak, self.overshoot]])

    @classmethod
    def of_row(cls, row: Floats, goal: ArrayLike | None = None, name: str = "") -> GazeShift:
        """The shift of a row, kept to what is possible; without `goal`, that which its pose reaches."""
        row = clamp_row(row)
        aimed = reached(row[None])[0] if goal is None else goal
        return cls(
            np.asarray(aimed, dtype=np.float64),
            quat.exp(row[POSE].reshape(5, 3)),
            float(row[LENGTH]),
            row[STARTS],
            float(row[PEAK]),
            float(row[OVERSHOOT]),
            name,
        )

    def turns(self, seconds: ArrayLike) -> Floats:
        """(F, 5, 4) turns of the parts at times (F,) from the shift's beginning (Heck 5.2.3)."""
        t = np.atleast_1d(convert_array(seconds, "seconds")) / self.length
        return quat.power(self.pose, find_progress(t, self.starts, self.peak, self.overshoot))


def checked_goal(goal: Any, what: str = "a gaze goal") -> Floats:
    """(2,) yaw and pitch, refused where they are no angles."""
    try:
        given = np.asarray(goal, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (2,) or not np.isfinite(given).all():
        raise InvalidValue(f"{what} must be two angles in radians, yaw to the left and pitch upward, got {goal!r}")
    for name, value, most in (("yaw", given[0], math.pi), ("pitch", given[1], 0.5 * math.pi)):
        if abs(value) > most + 1e-9:
            raise InvalidValue(
                f"{what} must be angles in radians, {name} from {-most:.4g} to {most:.4g}, got {value:g}; degrees are "
                "turned into radians by math.radians"
            )
    return given.copy()


def angles_to_direction(angles: ArrayLike) -> Floats:
    """(..., 3) unit: where yaw and pitch (..., 2) point, x to the left, y up, z ahead."""
    yaw, pitch = np.moveaxis(np.asarray(angles, dtype=np.float64), -1, 0)
    level = np.cos(pitch)
    return np.stack([np.sin(yaw) * level, np.sin(pitch), np.cos(yaw) * level], axis=-1)


def angles_of(towards: Floats) -> Floats:
    """(..., 2) yaw and pitch of directions (..., 3)."""
    x, y, z = np.moveaxis(towards, -1, 0)
    return np.stack([np.arctan2(x, z), np.arctan2(y, np.hypot(x, z))], axis=-1)


def reached(rows: Floats, near: Floats | None = None) -> Floats:
    """(N, 2) yaw and pitch that the poses of rows (N, 22) turn straight-ahead eyes to; yaw within pi of `near`'s."""
    turns = quat.exp(rows[:, POSE].reshape(-1, 5, 3))
    towards = np.broadcast_to(AHEAD, (len(rows), 3))
    for part in range(4, -1, -1):
        towards = quat.rotate(turns[:, part], towards)
    found = angles_of(towards)
    if near is not None:
        found[:, 0] += 2.0 * np.pi * np.rint((near[:, 0] - found[:, 0]) / (2.0 * np.pi))
    return found


def clamp_row(row: Floats) -> Floats:
    """(22,) a blended row whose times are in order, as extrapolation may leave them out of it."""
    out = row.copy()
    out[LENGTH] = np.clip(out[LENGTH], _SHORTEST, _LONGEST)
    out[PEAK] = np.clip(out[PEAK], 2.0 * _RISE, 1.0 - _RISE)
    out[STARTS] = np.clip(out[STARTS], 0.0, out[PEAK] - _RISE)
    out[OVERSHOOT] = np.clip(out[OVERSHOOT], 0.0, 1.0)
    return out


def find_progress(t: Floats, starts: Floats, peak: float, overshoot: float) -> Floats:
    """(F, 5) how much of its turn each part has made at t (F,), 0 to 1 over the shift; C1 (Heck 5.2.3)."""
    begin = np.concatenate([starts, [0.0]])
    at = np.asarray(t, dtype=np.float64)[:, None]
    up = np.clip((at - begin) / (peak - begin), 0.0, 1.0)
    down = np.clip((at - peak) / (1.0 - peak), 0.0, 1.0)
    rising = (1.0 + overshoot) * up * up * (3.0 - 2.0 * up)
    return np.where(at <= peak, rising, 1.0 + overshoot * (1.0 - down * down * (3.0 - 2.0 * down)))
