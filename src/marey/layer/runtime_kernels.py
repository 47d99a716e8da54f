"""The compiled loop of run-time splicing: one frame, with everything that was worked out before."""

from __future__ import annotations

from typing import Any

import numpy as np

from marey.core.compiled import inner, kernel
from marey.layer.trunk_kernels import best_rotation, pitch_between, trunk_frame, with_posture

Array = Any


@inner
def _at(table: Array, origin: float, per_unit: float, x: float, n_frames: int) -> Any:
    """The frame at x, by a table of frames at even steps."""
    place = (x - origin) * per_unit
    last = table.shape[0] - 1
    k = min(max(int(np.floor(place)), 0), last - 1)
    share = min(max(place - k, 0.0), 1.0)
    return min(max(table[k] + share * (table[k + 1] - table[k]), 0.0), n_frames - 1.0)


@inner
def _slerped(a: Array, b: Array, t: float, out: Array) -> None:
    """out (4,) = from a at t = 0 to b at t = 1 the short way."""
    along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = 1.0
    if along < 0.0:
        along, sign = -along, -1.0
    # The angle from the chord, as an arccosine would lose half of the digits of a small one.
    apart = 0.0
    for k in range(4):
        apart += (sign * b[k] - a[k]) ** 2
    angle = 2.0 * np.arcsin(min(0.5 * np.sqrt(apart), 1.0))
    if angle < 1e-9:
        first, second = 1.0 - t, t
    else:
        first, second = np.sin((1.0 - t) * angle) / np.sin(angle), np.sin(t * angle) / np.sin(angle)
    size = 0.0
    for k in range(4):
        out[k] = first * a[k] + second * sign * b[k]
        size += out[k] * out[k]
    size = np.sqrt(size)
    for k in range(4):
        out[k] /= size


@inner
def _pose_at(rotations: Array, above: Array, frame: float, out: Array) -> None:
    """The joints that are marked `above` at a frame between two."""
    before = int(frame)
    after = min(before + 1, rotations.shape[0] - 1)
    t = frame - before
    for j in range(rotations.shape[1]):
        if above[j]:
            _slerped(rotations[before, j], rotations[after, j], t, out[j])


@kernel
def splice_frame(
    parents: Array, below: Array, above: Array, points: Array, arms: Array, legs: Array,
    offsets: Array, is_upper: Array, lower: Array, upper: Array, hips: Array, table: Array,
    x: float, numbers: Array, f: int, mode: int, wanted: Array, mean: Array, weight: float,
    taken: Array, places: Array, work: Array, own: Array, shoulders: Array, out: Array,
) -> None:  # fmt: skip
    """Frame f of a splice.

    Parameters
    ----------
    lower, upper : (F, J, 4) and (G, J, 4) rotations.
    hips : (F, 4) steadied hip frames of the lower clip.
    table : (T,) frames of the upper clip at even steps of x, which is the moment that belongs to frame f.
    numbers : (6,) where the table begins and its steps per unit of x; start, stop, before and after of the loop in x.
    mode : posture: 0 none, 1 pitch, 2 full.
    wanted : (2, 3) the upper clip's posture.
    mean : (2, 3) the posture before transfer so far; changed here, by the share `weight` of this frame.
    taken (2, J, 4), places (J, 3), work (J + 10, 4), own (2, N, 3), shoulders (2, 3) : working space.
    out : (J, 4) written.
    """
    origin, per_unit, start, stop, before, after = (
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        numbers[4],
        numbers[5],
    )
    n_joints, n_upper = parents.shape[0], upper.shape[0]
    share, second = 0.0, x
    if stop > start:
        period = stop - start
        passes = max(np.floor((x - stop + before) / period) + 1.0, 0.0)
        second = x - passes * period
        if passes > 0.0 and before + after > 0.0:
            t = min(max((second - start + before) / (before + after), 0.0), 1.0)
            share = t * t * (3.0 - 2.0 * t)
            share = 0.0 if share >= 1.0 else share
            if t < 1.0:
                x = second + period
            else:
                x = second
        else:
            x = second
    attachment = above[0]
    pose = taken[0]
    _pose_at(upper, is_upper, _at(table, origin, per_unit, x, n_upper), pose)
    if share > 0.0:
        _pose_at(upper, is_upper, _at(table, origin, per_unit, second, n_upper), taken[1])
        for j in range(n_joints):
            if is_upper[j]:
                _slerped(pose[j], taken[1, j], share, out[j])
        for j in range(n_joints):
            if is_upper[j]:
                for k in range(4):
                    pose[j, k] = out[j, k]
    for j in range(n_joints):
        for k in range(4):
            out[j, k] = pose[j, k] if is_upper[j] else lower[f, j, k]
    spare = work[n_joints:]
    local, carrier, hip, turn, turned = spare[0], spare[1], spare[2], spare[3], spare[4]
    trunk_frame(
        parents, below, above, points, arms, legs, offsets, lower[f], offsets, pose,
        places, work[:n_joints], own[0], own[1], spare[5:7], local, carrier, hip, shoulders,
    )  # fmt: skip
    for side in range(2):
        for k in range(3):
            mean[side, k] += weight * (shoulders[side, k] - mean[side, k])
    if mode == 0:
        for k in range(4):
            turned[k] = local[k]
    elif mode == 1:
        half = 0.5 * pitch_between(mean, wanted)
        turn[0], turn[1], turn[2], turn[3] = np.cos(half), np.sin(half), 0.0, 0.0
        with_posture(local, carrier, hips[f], turn, spare[5:7], turned)
    else:
        best_rotation(mean, wanted, turn)
        with_posture(local, carrier, hip, turn, spare[5:7], turned)
    # Of both signs the one nearer to the lower clip's, which is continuous itself.
    along = 0.0
    for k in range(4):
        along += turned[k] * lower[f, attachment, k]
    for k in range(4):
        out[attachment, k] = turned[k] if along >= 0.0 else -turned[k]
