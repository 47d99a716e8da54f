"""One frame of a splice that plays, from everything that was prepared before."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from marey.compiled import Bools1D, Floats1D, Floats2D, Floats3D, Out, helper, kernel
from marey.layer.trunk_kernels import Cut, align_trunk, best_rotation, pitch_between, rotate_trunk
from marey.maths.vector_kernels import Quat, get_quat, put_quat, slerp

Array = Any

NO_TRANSFER, PITCH, FULL = 0, 1, 2


class FrameTable(NamedTuple):
    """Frames of a clip at even steps of x, which is a cycle of the base clip or a frame.

    frames : (T,) fractional frames.
    start : x of the first one.
    per_unit : steps per unit of x.
    """

    frames: Floats1D
    start: float
    per_unit: float


class LoopRange(NamedTuple):
    """The loop of a clip in x; none where `stop` is not beyond `start`.

    before, after : how far the seam reaches before `start` or `stop`, and beyond.
    """

    start: float
    stop: float
    before: float
    after: float


class SplicePlan(NamedTuple):
    """Everything about a splice that is the same in all of its frames.

    cut : of the skeleton of J joints.
    is_upper : (J,) True for the joints that are the upper clip's.
    offsets : (J, 3) meters, bone offsets.
    upper : (G, J, 4) local rotations of the upper clip.
    table : its frames by x.
    loop : its loop.
    transfer : of posture: `NO_TRANSFER`, `PITCH` or `FULL`.
    wanted : (2, 3) meters, the upper clip's posture.
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
def _sample_rotation(rotations: Array, joint: int, frame: float) -> Quat:
    """A joint's rotation at a frame between two."""
    before = int(frame)
    after = min(before + 1, rotations.shape[0] - 1)
    return slerp(get_quat(rotations[before, joint], 0), get_quat(rotations[after, joint], 0), frame - before)


@helper
def _find_moments(loop: LoopRange, x: float) -> tuple[float, float, float]:
    """x within the loop; in a seam, x of the pass before, x of the next one and the weight of that, else 0."""
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
    """The rotations (J, 4) of a spliced frame into `out`.

    Parameters
    ----------
    lower : (J, 4) local rotations of the lower body's frame.
    steady_hip : (4,) its hip frame, steadied.
    x : the moment of the upper clip that belongs to it.
    mean : (2, 3) meters, the posture before transfer so far; changed by the part `weight` of this frame's.
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
    # Of both signs the one nearer to the lower clip's, which is continuous itself.
    attachment = cut.above[0]
    along = 0.0
    for k in range(4):
        along += local[k] * lower[attachment, k]
    for k in range(4):
        out[attachment, k] = local[k] if along >= 0.0 else -local[k]
