"""Describe a gaze shift by a few numbers: the final rotation of each body part, and when each part moves (Heck 5.1).

All rotations are about the axes of the standing body: x to the left, y up, z ahead. Yaw is positive to the left, pitch
upward. A part's rotation is relative to the part below it, so the rotation of the head is the product of those of
pelvis, lower spine, upper spine and neck.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, FrozenRecord, convert_array, freeze_array, set_readonly
from marey.deprecation import renamed_classmethod, renamed_methods
from marey.errors import InvalidValue
from marey.maths import quat

__all__ = [
    "PARTS",
    "GazeShift",
    "angles_to_direction",
    "check_goal",
    "direction_to_angles",
    "find_progress",
    "find_reached_angles",
]

PARTS = ("pelvis", "lower_spine", "upper_spine", "neck", "eyes")
# Rotation of the eyes in the head, in radians: above the first limit there is a warning; the second is the maximum.
EYE_LIMIT, EYE_MAX = np.radians(35.0), np.radians(55.0)
AHEAD = np.array([0.0, 0.0, 1.0])
# Columns of a shift's row of numbers: five rotation vectors, then the timing.
POSE, LENGTH, STARTS, PEAK, OVERSHOOT = slice(0, 15), 15, slice(16, 20), 20, 21
N_NUMBERS = 22
_SHORTEST, _LONGEST = 0.05, 20.0
# A part begins at least this fraction of the length before the peak of the overshoot.
_RISE = 0.05


@renamed_methods(row="to_row", turns="rotations_at")
@dataclass(frozen=True, slots=True, eq=False)
class GazeShift(FrozenRecord):
    """A gaze displacement motion: the rotations that a gaze shift adds to a pose, and their timing (Heck 5.1.2).

    Parameters
    ----------
    goal : (2,) final yaw and pitch of the eyes, in radians.
    pose : (5, 4) final rotations of pelvis, lower spine, upper spine, neck and eyes, each relative to the previous
        part.
    length : duration in seconds, from the first movement until everything is at rest.
    starts : (4,) start of pelvis, lower spine, upper spine and neck, as fractions of `length`; the eyes start at 0.
    peak : time of the largest overshoot, as a fraction of `length`.
    overshoot : fraction of its final rotation by which each part overshoots at the peak.
    name : name of the take.

    Examples
    --------
    >>> shift = marey.GazeMap.default().shift((0.8, 0.1))
    >>> shift.pose.shape, shift.rotations_at(np.linspace(0.0, shift.length, 20)).shape
    ((5, 4), (20, 5, 4))
    """

    goal: Floats
    pose: Floats
    length: float
    starts: Floats
    peak: float
    overshoot: float
    name: str = ""

    def __post_init__(self) -> None:
        self._put(goal=set_readonly(check_goal(self.goal)))
        pose = freeze_array(self.pose, "pose", (5, 4))
        if np.abs(np.linalg.norm(pose, axis=1) - 1.0).max() > 1e-6:
            raise InvalidValue("pose must be five unit quaternions; normalize them first")
        self._put(pose=pose)
        self._freeze(starts=(4,))
        for name in ("length", "peak", "overshoot"):
            self._put(**{name: float(convert_array(getattr(self, name), name))})
        if not _SHORTEST <= self.length <= _LONGEST:
            raise InvalidValue(f"length must be from {_SHORTEST} to {_LONGEST} s, not {self.length:g}")
        if not 0.0 < self.peak < 1.0:
            raise InvalidValue(
                f"peak must be a fraction of the length, greater than 0 and less than 1, not {self.peak:g}"
            )
        if not (self.starts.min() >= 0.0 and self.starts.max() < self.peak):
            raise InvalidValue(f"starts must be at least 0 and less than the peak ({self.peak:g}), not {self.starts}")
        if not 0.0 <= self.overshoot <= 1.0:
            raise InvalidValue(f"overshoot must be a fraction from 0 to 1, not {self.overshoot:g}")

    def to_row(self) -> Floats:
        """Return all values as a row (22,) that can be blended: rotation vectors, length, starts, peak, overshoot."""
        return np.concatenate([quat.log(self.pose).ravel(), [self.length], self.starts, [self.peak, self.overshoot]])

    @classmethod
    def from_row(cls, row: Floats, goal: ArrayLike | None = None, name: str = "") -> GazeShift:
        """Return the gaze shift with the values of a row (22,), as from `to_row`; clamp its timing to valid values.

        goal : (2,) yaw and pitch in radians; by default, the angles that the pose reaches.
        """
        row = clamp_row(row)
        angles = find_reached_angles(row[None])[0] if goal is None else goal
        return cls(
            np.asarray(angles, dtype=np.float64),
            quat.exp(row[POSE].reshape(5, 3)),
            float(row[LENGTH]),
            row[STARTS],
            float(row[PEAK]),
            float(row[OVERSHOOT]),
            name,
        )

    def rotations_at(self, seconds: ArrayLike) -> Floats:
        """Return the rotations (F, 5, 4) of the parts at `seconds` (F,) after the start of the shift (Heck 5.2.3)."""
        t = np.atleast_1d(convert_array(seconds, "seconds")) / self.length
        return quat.power(self.pose, find_progress(t, self.starts, self.peak, self.overshoot))

    of_row = renamed_classmethod("of_row", "from_row")


def check_numbers(given: Any, n: int, must: str) -> Floats:
    """Convert to an array (n,) of finite numbers; otherwise raise an error that starts with the text `must`."""
    try:
        out = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        out = np.zeros(0)
    if out.shape != (n,) or not np.isfinite(out).all():
        raise InvalidValue(f"{must}, not {given!r}")
    return out


def check_goal(goal: Any, what: str = "a gaze target") -> Floats:
    """Check a goal, yaw and pitch in radians, and return it as an array (2,); `what` names it in the error message."""
    given = check_numbers(goal, 2, f"{what} must be two angles in radians, yaw to the left and pitch upward")
    for name, value, most in (("yaw", given[0], math.pi), ("pitch", given[1], 0.5 * math.pi)):
        if abs(value) > most + 1e-9:
            raise InvalidValue(
                f"{what} must be angles in radians, {name} from {-most:.4g} to {most:.4g}, not {value:g}; convert "
                "degrees with math.radians"
            )
    return given.copy()


def angles_to_direction(angles: ArrayLike) -> Floats:
    """Convert yaw and pitch (..., 2), in radians, to unit vectors (..., 3): x to the left, y up, z ahead."""
    yaw, pitch = np.moveaxis(np.asarray(angles, dtype=np.float64), -1, 0)
    level = np.cos(pitch)
    return np.stack([np.sin(yaw) * level, np.sin(pitch), np.cos(yaw) * level], axis=-1)


def direction_to_angles(toward: Floats) -> Floats:
    """Convert directions (..., 3) to yaw and pitch (..., 2), in radians."""
    x, y, z = np.moveaxis(toward, -1, 0)
    return np.stack([np.arctan2(x, z), np.arctan2(y, np.hypot(x, z))], axis=-1)


def find_reached_angles(rows: Floats, near: Floats | None = None) -> Floats:
    """Return where the eyes look at the end of gaze shifts: yaw and pitch (N, 2), in radians.

    rows : (N, 22) gaze shifts; see `GazeShift.to_row`.
    near : (N, 2) angles; yaw is chosen within pi of their yaw.
    """
    rotations = quat.exp(rows[:, POSE].reshape(-1, 5, 3))
    toward = np.broadcast_to(AHEAD, (len(rows), 3))
    for part in range(4, -1, -1):
        toward = quat.rotate(rotations[:, part], toward)
    found = direction_to_angles(toward)
    if near is not None:
        found[:, 0] += 2.0 * np.pi * np.rint((near[:, 0] - found[:, 0]) / (2.0 * np.pi))
    return found


def clamp_row(row: Floats) -> Floats:
    """Return a blended row (22,) with its timing clamped to valid values, which extrapolation may violate."""
    out = row.copy()
    out[LENGTH] = np.clip(out[LENGTH], _SHORTEST, _LONGEST)
    out[PEAK] = np.clip(out[PEAK], 2.0 * _RISE, 1.0 - _RISE)
    out[STARTS] = np.clip(out[STARTS], 0.0, out[PEAK] - _RISE)
    out[OVERSHOOT] = np.clip(out[OVERSHOOT], 0.0, 1.0)
    return out


def find_progress(t: Floats, starts: Floats, peak: float, overshoot: float) -> Floats:
    """Return the progress (F, 5) of each part's rotation at times t (F,), given as fractions of the shift (Heck 5.2.3).

    It rises from 0 to 1 + overshoot at the peak and falls to 1 at the end, with continuous first derivative.
    """
    begin = np.concatenate([starts, [0.0]])
    at = np.asarray(t, dtype=np.float64)[:, None]
    up = np.clip((at - begin) / (peak - begin), 0.0, 1.0)
    down = np.clip((at - peak) / (1.0 - peak), 0.0, 1.0)
    rising = (1.0 + overshoot) * up * up * (3.0 - 2.0 * up)
    return np.where(at <= peak, rising, 1.0 + overshoot * (1.0 - down * down * (3.0 - 2.0 * down)))
