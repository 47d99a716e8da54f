"""Posture: the average position of the shoulders relative to the hips (Heck 4.2.4)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.layer.halves import BodySplit, get_bone_offsets
from marey.layer.smoothing import smooth_series
from marey.layer.trunk_kernels import ClipArrays, best_rotation, find_shoulders, pitch_between
from marey.maths import quat

Transfer = Literal["pitch", "full"] | None
# Standard deviation in seconds of the Gaussian that smooths the hip line.
_STEADY = 0.25


def check_transfer(transfer: Any) -> Transfer:
    """Check the posture transfer mode."""
    if transfer not in ("pitch", "full", None):
        raise InvalidValue(f"posture must be 'pitch', 'full' or None, got {transfer!r}")
    chosen: Transfer = transfer
    return chosen


def measure_shoulders(halves: BodySplit, offsets: Floats, rotations: Floats) -> Floats:
    """(F, 2, 3) meters: left and right arm relative to the attachment, in the hip frame of each frame."""
    out = np.empty((len(rotations), 2, 3))
    find_shoulders(halves.cut, ClipArrays(np.ascontiguousarray(offsets), np.ascontiguousarray(rotations)), out)
    return set_readonly(out)


def measure_posture(motion: Motion, halves: BodySplit) -> Floats:
    """(2, 3) meters, the posture of a clip: the mean of its shoulders in the hip frame."""
    return set_readonly(measure_shoulders(halves, get_bone_offsets(motion), motion.rotations).mean(axis=0))


def find_posture_rotation(mean: Floats, wanted: Floats, transfer: Transfer) -> Floats:
    """(4,) the rotation in the hip frame that gives a posture `mean` (2, 3) the posture `wanted` (2, 3).

    "pitch" rotates about the hip line alone, so that a character that leans into a turn keeps leaning; "full" is the
    source's best rotation about all three axes; None does not rotate.
    """
    if transfer is None:
        return quat.identity()
    wanted = np.ascontiguousarray(wanted)
    if transfer == "pitch":
        return quat.from_axis_angle([1.0, 0.0, 0.0], pitch_between(mean, wanted))
    return np.array(best_rotation(mean, wanted))


def steady_hips(hip: Floats, fps: float) -> Floats:
    """(F, 4) hip frames without their movement within a step, used to rotate the posture.

    The hip line swings with every step. A trunk that is leant back about the swinging line itself would be thrown from
    side to side, the more the further it leans.
    """
    return quat.normalize(smooth_series(quat.unroll(hip), _STEADY * fps))


def check_posture(posture: Any, what: str) -> Floats:
    """Check a given posture (2, 3)."""
    return freeze_array(posture, what, (2, 3))
