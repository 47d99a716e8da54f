"""Let neck and trunk follow a goal that the eyes cannot reach by themselves.

The gaze map rotates the body as for a look that begins straight ahead. If the head of the clip already looks elsewhere,
or if the goal is outside the map, the remaining angle may be too large for the eyes. Once a look has settled, the neck
covers the angle that the eyes cannot, up to its limit. The trunk covers the rest, up to its own limit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.layer.gaze_aim_kernels import GazeTable
from marey.layer.gaze_kernels import GazeLooks, GazeMotion, GazeOutput, apply_looks
from marey.layer.gaze_model import direction_to_angles
from marey.layer.smoothing import smooth_series
from marey.maths import quat
from marey.maths.ease import ease_in

__all__ = ["follow_goals"]

# Largest yaw and pitch in radians of the head relative to the chest, and of the chest relative to the heading: a little
# less than people can do (neck 80 and 60 degrees; spine and hips on standing feet 50 each to the side).
_NECK, _TRUNK = np.radians([75.0, 55.0]), np.radians([95.0, 35.0])
# The body starts to follow when the eyes are this many radians below their limit, because its smoothed rotation does
# not reach short peaks.
_MARGIN = np.radians(7.0)
# Standard deviation in seconds of the Gaussian that smooths the additional rotation of the body.
_SMOOTH = 0.12
# Number of corrections of the body; each removes most of the remaining angle.
_N_PASSES = 10


def follow_goals(
    motion: GazeMotion,
    looks: GazeLooks,
    table: GazeTable,
    steady: bool,
    limit: float,
    forward: Floats,
    out: GazeOutput,
) -> None:
    """Apply looks as `apply_looks` does, writing the result to `out`, and let neck and trunk follow where the eyes
    exceed `limit`, in radians.

    forward : (3,) forward direction of the rest pose, in the chest's local axes.
    """
    own = out.rotations.copy()
    apply_looks(motion, looks, table, steady, limit, out)
    progress = _measure_progress(looks, len(own), motion.fps)
    raw = np.zeros((len(own), 4, 3))
    for _ in range(_N_PASSES):
        if not (out.strain[progress[1] >= 1.0] > limit).any():
            break
        lacking = _find_lacking(motion, out, limit - _MARGIN)
        raw += progress[1][:, None, None] * _distribute_rotations(motion, out, lacking, forward)
        motion.follow[:] = _hold_between(raw, *progress, motion.fps).reshape(len(own), 12)
        out.rotations[:] = own
        apply_looks(motion, looks, table, steady, limit, out)


def _measure_progress(looks: GazeLooks, n_frames: int, fps: float) -> tuple[Ints, Floats]:
    """Return the latest look in each frame (F,), -1 before the first, and its progress (F,) from 0 to 1."""
    times = np.arange(n_frames) / fps
    latest = np.searchsorted(looks.begins, times, side="right") - 1
    index = np.maximum(latest, 0)
    progress = ease_in(np.clip((times - looks.begins[index]) / looks.times[index, 0], 0.0, 1.0))
    return np.asarray(latest, dtype=np.int64), np.where(latest < 0, 0.0, progress)


def _find_lacking(motion: GazeMotion, out: GazeOutput, limit: float) -> Floats:
    """Return the rotation vectors (F, 3), in B, of the head that would keep the eyes below `limit`, in radians."""
    body = quat.from_axis_angle([0.0, 1.0, 0.0], motion.heading)
    head = _find_chain_rotations(motion, out)[:, -1]
    ahead = quat.inv_rotate(body, quat.rotate(head, motion.ahead))
    axis = np.cross(ahead, out.wanted)
    sine = np.linalg.norm(axis, axis=1)
    more = np.maximum(np.arctan2(sine, np.sum(ahead * out.wanted, axis=1)) - limit, 0.0)
    return np.asarray(axis * (more / np.maximum(sine, 1e-9))[:, None])


def _distribute_rotations(motion: GazeMotion, out: GazeOutput, lacking: Floats, forward: Floats) -> Floats:
    """Divide rotations of the head (F, 3), in B, among pelvis, lower spine, upper spine and neck, (F, 4, 3).

    The neck takes as much as its limit allows; the trunk takes as much of the rest as its own limit allows.
    """
    body = quat.from_axis_angle([0.0, 1.0, 0.0], motion.heading)
    chain = _find_chain_rotations(motion, out)
    chest = int(np.argmax(motion.weights[:, 2] >= 1.0))
    level = quat.between(np.array([0.0, 0.0, 1.0]), forward)
    head, trunk = quat.rotate(chain[:, -1], motion.ahead), quat.rotate(chain[:, chest], forward)
    neck_turn = _find_allowed(head, quat.mul(chain[:, chest], level), quat.rotate(body, lacking), _NECK)
    neck = neck_turn[:, None] * lacking
    rest = lacking - neck
    rest = _find_allowed(trunk, body, quat.rotate(body, rest), _TRUNK)[:, None] * rest
    # The rotation of the neck is relative to the trunk.
    carried = quat.mul_inv(chain[:, chest], motion.world[:, motion.chain[chest]])
    carried = quat.inv_mul(body, quat.mul(carried, body))
    return np.stack([rest / 3.0, rest / 3.0, rest / 3.0, quat.inv_rotate(carried, neck)], axis=1)


def _find_allowed(face: Floats, frame: Floats, rotation: Floats, limits: Floats) -> Floats:
    """Return the fraction (F,) of rotations that keeps a direction within its limits.

    Parameters
    ----------
    face : (F, 3) direction in the world.
    frame : (F, 4) axes in the world that yaw and pitch refer to: x left, y up, z ahead.
    rotation : (F, 3) rotation vectors in the world.
    limits : (2,) largest yaw and pitch in radians; both together are limited by an ellipse.
    """
    here, there = (
        direction_to_angles(quat.inv_rotate(frame, each)) for each in (face, quat.rotate(quat.exp(rotation), face))
    )
    change = there - here
    change[:, 0] -= 2.0 * np.pi * np.rint(change[:, 0] / (2.0 * np.pi))
    here, change = here / limits, change / limits
    # Solve |here + t change| = 1 for t: where the line leaves the unit circle.
    a, b, c = (np.sum(x * y, axis=1) for x, y in ((change, change), (here, change), (here, here)))
    root = np.sqrt(np.maximum(b * b - a * (c - 1.0), 0.0))
    fraction = np.divide(root - b, a, where=a > 1e-12, out=np.ones(len(face)))
    return np.asarray(np.clip(fraction, 0.0, 1.0))


def _find_chain_rotations(motion: GazeMotion, out: GazeOutput) -> Floats:
    """Return world rotations (F, m, 4) of the chain's joints in the result."""
    parent = motion.parents[motion.chain[0]]
    above = motion.world[:, parent] if parent >= 0 else quat.identity((len(motion.world),))
    found = []
    for joint in motion.chain:
        above = quat.mul(above, out.rotations[:, joint])
        found.append(above)
    return np.stack(found, axis=1)


def _hold_between(raw: Floats, latest: Ints, progress: Floats, fps: float) -> Floats:
    """Return corrections `raw` (F, 4, 3) without jumps between looks, smoothed over time.

    `raw` restarts at 0 with each look; the last correction of the previous look is added and fades out.
    """
    total = raw.copy()
    begins: Sequence[int] = (np.flatnonzero(np.diff(latest) > 0) + 1).tolist()
    for start, stop in zip(begins, [*begins, len(raw)][1:], strict=True):
        total[start:stop] += (1.0 - progress[start:stop, None, None]) * total[start - 1]
    return smooth_series(total, _SMOOTH * fps)
