"""Takes of a standing person who looks at a target, as in a gaze capture, with ground truth (Heck 5.2.1).

The person is asymmetric: to the left, mostly eyes and head turn; to the right, more of the spine turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from marey.core.arrays import Floats, check_fps, set_readonly
from marey.core.markers import Markers
from marey.core.motion import Motion
from marey.core.settings import Seed
from marey.core.source import Source
from marey.errors import InvalidValue
from marey.maths import quat
from marey.maths.ease import ease_in
from marey.samples.markers import attach_markers
from marey.samples.samples import sample
from marey.samples.skeleton import sample_body

__all__ = ["GAZE_PARTS", "GAZE_TRIADS", "GazeTake", "gaze_take", "gaze_takes"]

GAZE_PARTS = ("pelvis", "lower_spine", "upper_spine", "neck", "eyes")
_RANGE = (math.radians(170.0), math.radians(60.0))
# Degrees that the rotations of eyes and neck approach, when looking left (1) and right (-1).
_EYES, _NECK = {1: 22.0, -1: 16.0}, {1: 66.0, -1: 52.0}
# Fractions of the remaining yaw for pelvis, lower and upper spine, when looking left and right.
_SPINE = {1: (0.30, 0.30, 0.40), -1: (0.36, 0.32, 0.32)}
# Fractions of the pitch that the eyes leave, for pelvis, lower spine, upper spine and neck.
_PITCH = (0.05, 0.08, 0.15, 0.72)
_EYE_LEAD = 0.04

# Markers: names, joints, and offsets in meters in the joint's rest coordinates.
_BACK = ((0.0, 0.045), (-0.04, -0.025), (0.04, -0.025))
_TRIADS = (
    ("pelvis", "LB", "Spine", -0.13),
    ("lower_spine", "MB", "Spine1", -0.13),
    ("upper_spine", "UB", "Spine2", -0.11),
)
_HAT = (
    ("HD1", (0.085, 0.10, 0.085)),
    ("HD2", (-0.085, 0.10, 0.085)),
    ("HD3", (-0.085, 0.10, -0.085)),
    ("HD4", (0.085, 0.10, -0.085)),
    ("HTOP", (0.0, 0.18, 0.0)),
    ("BROW", (0.0, 0.07, 0.11)),
)
GAZE_TRIADS: dict[str, Any] = {
    "base": "BASE",
    **{part: [f"{name}{k + 1}" for k in range(3)] for part, name, _, _ in _TRIADS},
    "neck": [name for name, _ in _HAT],
}
"""Marker names of each body part, in the format of a map file for gaze captures."""


@dataclass(frozen=True, slots=True, eq=False)
class GazeTake:
    """One look at a target, with its ground truth.

    motion : rest, gaze shift, and fixation of the target; the body stands at the origin and faces +Z.
    goal : yaw (positive to the left) and pitch (positive up) of the target, radians.
    pose : (5, 4) final rotations of pelvis, lower spine, upper spine, neck and eyes, each relative to the previous one,
        in axes that point left, up and forward.
    length : duration of the gaze shift in seconds, from the first eye movement until everything is at rest.
    starts : (4,) start times of pelvis, lower spine, upper spine and neck, as fractions of the length.
    peak, overshoot : time of the largest overshoot as a fraction of the length, and its size as a fraction of the
        rotation.
    begin : time in seconds when the eyes start to move.
    """

    motion: Motion
    goal: tuple[float, float]
    pose: Floats
    length: float
    starts: tuple[float, ...]
    peak: float
    overshoot: float
    begin: float

    def markers(self, *, rng: Seed = 0, noise: float = 0.0001, gaps: float = 0.0) -> Markers:
        """Return the take as markers: one at the base of the spine, sets of three along it, and a hat.

        See `GAZE_TRIADS` for the names.

        Parameters
        ----------
        rng : seed or Generator for noise and gaps.
        noise : standard deviation of each coordinate, meters; 0.0001 rotates a three-marker set by about 0.1 degrees.
        gaps : fraction of the time in which a marker is occluded, in [0, 0.9].
        """
        if not (np.isfinite(noise) and 0.0 <= noise <= 0.1 and np.isfinite(gaps) and 0.0 <= gaps <= 0.9):
            raise InvalidValue(
                f"noise must be from 0 to 0.1 m and gaps a fraction of the time from 0 to 0.9, not {noise} and {gaps}"
            )
        rows = [("BASE", "Hips", np.array([0.0, 0.0, -0.11]))]
        for _, name, joint, depth in _TRIADS:
            rows += [(f"{name}{k + 1}", joint, np.array([x, y, depth])) for k, (x, y) in enumerate(_BACK)]
        rows += [(name, "Head", np.array(offset)) for name, offset in _HAT]
        points = [(name, self.motion.skeleton.index(joint), offset) for name, joint, offset in rows]
        return attach_markers(self.motion, points, rng=rng, noise=noise, gaps=gaps)


def gaze_take(
    yaw: float,
    pitch: float,
    *,
    rng: Seed = 0,
    fps: float = 60.0,
    before: float = 0.8,
    after: float = 1.0,
    sway: float = 0.0,
) -> GazeTake:
    """Generate one look at a target.

    Parameters
    ----------
    yaw, pitch : direction of the target in radians, positive to the left and up; at most 170 and 60 degrees.
    rng : seed or Generator for the variation between takes.
    fps : frames per second.
    before, after : seconds of rest before the gaze shift, and of fixation after it.
    sway : amplitude in meters by which the entire body sways.
    """
    if not (abs(yaw) <= _RANGE[0] and abs(pitch) <= _RANGE[1]):
        raise InvalidValue(
            "yaw and pitch must be within +/-170 and +/-60 degrees, not "
            f"{math.degrees(yaw):.4g} and {math.degrees(pitch):.4g}"
        )
    rate, generator = check_fps(fps), np.random.default_rng(rng)
    pose = _final_pose(yaw, pitch)
    size = math.acos(math.cos(yaw) * math.cos(pitch))
    length, starts, peak, overshoot = _draw_timing(size, 1 if yaw > 0.0 else -1, generator)
    times = np.arange(round((before + length + after) * rate) + 1) / rate
    progress = _compute_progress((times - before) / length, starts, peak, overshoot)
    motion = _perform_shift(pose[:4], progress, times, rate, sway, generator)
    step = {"op": "sample", "name": "gaze", "yaw": float(yaw), "pitch": float(pitch)}
    motion = Motion(
        motion.skeleton,
        motion.root_positions,
        motion.rotations,
        rate,
        f"gaze {math.degrees(yaw):.0f} {math.degrees(pitch):.0f}",
        source=Source(floor=0.0, provenance=(step,)),
    )
    return GazeTake(motion, (float(yaw), float(pitch)), set_readonly(pose), length, starts, peak, overshoot, before)


def gaze_takes(*, rng: int = 0, fps: float = 60.0, sway: float = 0.0) -> list[GazeTake]:
    """Generate looks at 33 targets: yaw from -150 to 150 degrees in steps of 30, at pitch -36, 0 and 36 degrees.

    rng : seed. fps : frames per second. sway : amplitude in meters by which the entire body sways.
    """
    return [
        gaze_take(math.radians(yaw), math.radians(pitch), rng=np.random.default_rng([rng, k]), fps=fps, sway=sway)
        for k, (pitch, yaw) in enumerate((p, y) for p in (-36, 0, 36) for y in range(-150, 151, 30))
    ]


def _make_direction(yaw: float, pitch: float) -> Floats:
    return np.array(
        [math.sin(yaw) * math.cos(pitch), math.sin(pitch), math.cos(yaw) * math.cos(pitch)], dtype=np.float64
    )


def _final_pose(yaw: float, pitch: float) -> Floats:
    """Return the final rotations (5, 4) of all parts; the eyes cover the remaining angle, without roll."""
    side = 1 if yaw > 0.0 else -1
    around, up = abs(math.degrees(yaw)), math.degrees(pitch)
    left = around - _approach(around, _EYES[side])
    neck = _approach(left, _NECK[side])
    turns = [fraction * (left - neck) for fraction in _SPINE[side]] + [neck]
    tilts = [fraction * (up - math.copysign(_approach(abs(up), 18.0), up)) for fraction in _PITCH]
    parts = [
        quat.mul(
            quat.from_axis_angle([0.0, 1.0, 0.0], side * math.radians(turn)),
            quat.from_axis_angle([1.0, 0.0, 0.0], -math.radians(tilt)),
        )
        for turn, tilt in zip(turns, tilts, strict=True)
    ]
    # A head that turns far also rolls a little.
    parts[3] = quat.mul(parts[3], quat.from_axis_angle([0.0, 0.0, 1.0], -0.06 * side * math.radians(neck)))
    head = parts[0]
    for part in parts[1:]:
        head = quat.mul(head, part)
    eyes = quat.between([0.0, 0.0, 1.0], quat.inv_rotate(head, _make_direction(yaw, pitch)))
    return np.stack([*parts, eyes])


def _approach(angle: float, most: float) -> float:
    return most * (1.0 - math.exp(-angle / most))


def _draw_timing(
    size: float, side: int, rng: np.random.Generator
) -> tuple[float, tuple[float, float, float, float], float, float]:
    """Return length, starts, peak and overshoot of a gaze shift by `size` radians; see `GazeTake`.

    side : 1 for left, -1 for right.
    """
    size_fraction = math.degrees(size) / 150.0
    vary = rng.uniform(-1.0, 1.0, 7)
    length = (0.62 + 0.75 * size_fraction) * (1.0 + 0.05 * vary[0])
    neck = _EYE_LEAD / length
    upper = neck + 0.075 + 0.012 * vary[1]
    lower = upper + 0.06 + 0.012 * vary[2]
    pelvis = lower + 0.055 + 0.012 * vary[3]
    peak = 0.60 + 0.03 * vary[4]
    overshoot = (0.07 + (0.06 if side > 0 else 0.04) * size_fraction) * (1.0 + 0.1 * vary[5])
    return length, (pelvis, lower, upper, neck), peak, overshoot


def _compute_progress(t: Floats, starts: tuple[float, ...], peak: float, overshoot: float) -> Floats:
    """Return the progress (F, 4) of each part's rotation at times t (F,), as fractions of the length."""
    begin = np.array(starts)
    rising = (1.0 + overshoot) * ease_in((t[:, None] - begin) / (peak - begin))
    settling = 1.0 + overshoot * (1.0 - ease_in((t[:, None] - peak) / (1.0 - peak)))
    return np.where(t[:, None] <= peak, rising, settling)


@cache
def _make_standing() -> Motion:
    return sample("stand", variation=0.0, seconds=1.0, fps=30.0).motion[0]


def _perform_shift(
    pose: Floats, progress: Floats, times: Floats, fps: float, sway: float, rng: np.random.Generator
) -> Motion:
    """Apply the rotations of a pose, scaled by their progress, to a standing body."""
    skeleton, _ = sample_body()
    still = _make_standing()
    roles = skeleton.roles
    base = still.world().rotations[0]
    n = len(times)
    rotations = np.repeat(still.rotations, n, axis=0)
    parent, total = base[roles["hips"]], np.broadcast_to(quat.identity(), (n, 4))
    spine = list(roles.spine)
    joints = [
        (spine[0], 0, 1.0),
        (spine[1], 1, 1.0),
        (spine[2], 2, 1.0),
        (roles["neck"], 3, 0.5),
        (roles["head"], 3, 0.5),
    ]
    above = np.broadcast_to(parent, (n, 4))
    for joint, part, fraction in joints:
        total = quat.mul(total, quat.power(pose[part], fraction * progress[:, part]))
        turned = quat.mul(total, base[joint])
        rotations[:, joint] = quat.inv_mul(above, turned)
        above = turned
    root = np.repeat(still.root_positions, n, axis=0)
    phase = rng.uniform(0.0, 2.0 * np.pi, 2)
    root[:, 0] += sway * np.sin(2.0 * np.pi * 0.4 * times + phase[0])
    root[:, 2] += sway * np.sin(2.0 * np.pi * 0.3 * times + phase[1])
    return Motion(skeleton, set_readonly(root), set_readonly(rotations), fps)
