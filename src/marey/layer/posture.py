"""Measure and transfer posture, the mean position of the shoulders relative to the hips (Heck 4.2.4)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from marey.core.arrays import Floats, freeze_array, set_readonly
from marey.core.motion import Motion
from marey.layer.halves import BodySplit
from marey.layer.smoothing import smooth_series
from marey.layer.trunk_kernels import ClipArrays, best_rotation, find_shoulders, pitch_between
from marey.maths import quat

Transfer = Literal["pitch", "full"] | None
# Standard deviation in seconds of the Gaussian that smooths the hip line.
_STEADY = 0.25


def measure_shoulders(halves: BodySplit, offsets: Floats, rotations: Floats) -> Floats:
    """Return left and right upper arm positions (F, 2, 3) relative to the attachment, in hip coordinates, in meters.

    offsets : (1 or F, J, 3) bone offsets in meters. rotations : (F, J, 4) local rotations.
    """
    out = np.empty((len(rotations), 2, 3))
    find_shoulders(halves.cut, ClipArrays(np.ascontiguousarray(offsets), np.ascontiguousarray(rotations)), out)
    return set_readonly(out)


def measure_posture(motion: Motion, halves: BodySplit) -> Floats:
    """Return the posture (2, 3) of a clip: mean positions of its shoulders in hip coordinates, in meters."""
    return set_readonly(measure_shoulders(halves, motion.shared_offsets, motion.rotations).mean(axis=0))


def find_posture_rotation(mean: Floats, wanted: Floats, transfer: Transfer) -> Floats:
    """Return the rotation (4,), in hip coordinates, from posture `mean` (2, 3) to posture `wanted` (2, 3).

    transfer : "pitch" rotates only about the hip line, so a character that leans into a turn keeps leaning; "full" is
        the best rotation about all three axes, as in Heck 4.2.4; None rotates nothing.
    """
    if transfer is None:
        return quat.identity()
    wanted = np.ascontiguousarray(wanted)
    if transfer == "pitch":
        return quat.from_axis_angle([1.0, 0.0, 0.0], pitch_between(mean, wanted))
    return np.array(best_rotation(mean, wanted))


def steady_hips(hip: Floats, fps: float) -> Floats:
    """Smooth the rotations (F, 4) of the hip frame, to remove the movement within a step.

    The hip line swings with every step. Rotating the posture about the swinging line would throw the trunk from side to
    side, more so the farther it leans.
    """
    return quat.normalize(smooth_series(quat.unroll(hip), _STEADY * fps))


def check_posture(posture: Any, what: str) -> Floats:
    """Return a posture as an array (2, 3); `what` names it in the error message."""
    return freeze_array(posture, what, (2, 3))
