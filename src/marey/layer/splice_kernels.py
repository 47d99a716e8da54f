"""Compiled: compute one frame of a splice at run time from precomputed data.

Key: x = time in the upper clip, in cycles of the base clip or in frames.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Bools1D, Floats1D, Floats2D, Floats3D, Out, helper, kernel
from marey.layer.trunk_kernels import Cut, align_trunk, best_rotation, pitch_between, rotate_trunk
from marey.maths.vector_kernels import Quat, get_quat, put_quat, slerp

NO_TRANSFER, PITCH, FULL = 0, 1, 2


class FrameTable(NamedTuple):
    """Table of a clip's frames at evenly spaced times x.

    frames : (T,) fractional frames.
    start : x of the first entry.
    per_unit : entries per unit of x.
    """

    frames: Floats1D
    start: float
    per_unit: float


class LoopRange(NamedTuple):
    """The loop of a clip, in units of x; there is no loop if `stop` is not greater than `start`.

    start, stop : first and last time of the loop.
    before, after : length of the seam before and after these times.
    """

    start: float
    stop: float
    before: float
    after: float


class SplicePlan(NamedTuple):
    """The data of a splice that is the same for all frames.

    cut : the split of the skeleton, which has J joints.
    is_upper : (J,) True for joints that follow the upper clip.
    offsets : (J, 3) bone offsets, in meters.
    upper : (G, J, 4) local rotations of the G frames of the upper clip.
    table : frames of the upper clip by x.
    loop : loop of the upper clip.
    transfer : posture transfer: `NO_TRANSFER`, `PITCH` or `FULL`.
    wanted : (2, 3) posture of the upper clip, in meters.
    """

    cut: Cut
    is_upper: Bools1D
    offsets: Floats2D
    upper: Floats3D
    table: FrameTable
    loop: LoopRange
    transfer: int
    wanted: Floats2D


@helper
def _find_frame(table: FrameTable, x: float, n_frames: int) -> float:
    place = (x - table.start) * table.per_unit
    last = table.frames.shape[0] - 1
    k = min(max(int(np.floor(place)), 0), last - 1)
    fraction = min(max(place - k, 0.0), 1.0)
    frame: float = table.frames[k] + fraction * (table.frames[k + 1] - table.frames[k])
    return min(max(frame, 0.0), n_frames - 1.0)


@helper
def _sample_rotation(rotations: Floats3D, joint: int, frame: float) -> Quat:
    """Return the rotation of a joint at a fractional frame, by slerp."""
    before = int(frame)
    after = min(before + 1, rotations.shape[0] - 1)
    return slerp(get_quat(rotations[before, joint], 0), get_quat(rotations[after, joint], 0), frame - before)


@helper
def _find_moments(loop: LoopRange, x: float) -> tuple[float, float, float]:
    """Return x in the clip for two passes of the loop, and the weight of the second pass (0 outside seams)."""
    if loop.stop <= loop.start:
        return x, x, 0.0
    period = loop.stop - loop.start
    passes = max(np.floor((x - loop.stop + loop.before) / period) + 1.0, 0.0)
    inside = x - passes * period
    if passes > 0.0 and loop.before + loop.after > 0.0:
        t = min(max((inside - loop.start + loop.before) / (loop.before + loop.after), 0.0), 1.0)
        weight = t * t * (3.0 - 2.0 * t)
        weight = 0.0 if weight >= 1.0 else weight
        return inside + period if t < 1.0 else inside, inside, weight
    return inside, inside, 0.0


@kernel
def splice_frame(
    plan: SplicePlan,
    lower: Floats2D,
    steady_hip: Floats1D,
    x: float,
    mean: Out[Floats2D],
    weight: float,
    out: Out[Floats2D],
) -> None:
    """Write the local rotations of a spliced frame to `out` (J, 4).

    Parameters
    ----------
    lower : (J, 4) local rotations of the lower clip's frame.
    steady_hip : (4,) smoothed rotation of its hip frame.
    x : time in the upper clip.
    mean : (2, 3) running average of the posture before transfer, in meters; updated in place.
    weight : weight of this frame's posture in the average, from 0 to 1.
    """
    cut, upper = plan.cut, plan.upper
    n_joints, n_upper = cut.parents.shape[0], upper.shape[0]
    first, second, later = _find_moments(plan.loop, x)
    first_frame, second_frame = _find_frame(plan.table, first, n_upper), _find_frame(plan.table, second, n_upper)
    for j in range(n_joints):
        if not plan.is_upper[j]:
            put_quat(out[j], 0, get_quat(lower[j], 0))
            continue
        rotation = _sample_rotation(upper, j, first_frame)
        if later > 0.0:
            rotation = slerp(rotation, _sample_rotation(upper, j, second_frame), later)
        put_quat(out[j], 0, rotation)
    local, carrier, hip, left, right = align_trunk(cut, plan.offsets, lower, plan.offsets, out)
    for k in range(3):
        mean[0, k] += weight * (left[k] - mean[0, k])
        mean[1, k] += weight * (right[k] - mean[1, k])
    if plan.transfer == PITCH:
        half = 0.5 * pitch_between(mean, plan.wanted)
        local = rotate_trunk(local, carrier, get_quat(steady_hip, 0), (math.cos(half), math.sin(half), 0.0, 0.0))
    elif plan.transfer == FULL:
        local = rotate_trunk(local, carrier, hip, best_rotation(mean, plan.wanted))
    # Choose the quaternion sign that is nearer to the lower clip's, which is continuous over time.
    attachment = cut.above[0]
    along = 0.0
    for k in range(4):
        along += local[k] * lower[attachment, k]
    for k in range(4):
        out[attachment, k] = local[k] if along >= 0.0 else -local[k]
