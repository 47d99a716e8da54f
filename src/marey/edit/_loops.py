"""Find the best loop in a motion."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.core.motion import Motion
from marey.core.placement import find_facing
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import rigid2d

# Weight of velocities relative to positions, in seconds: poses with equal positions but different velocities are not
# similar.
_RATE = 0.1
# Maximum number of frames to compare pairwise; in longer motions, every n-th frame first, then all near the best.
_MAX_FRAMES = 1500
# The shortest loop is chosen, one stride rather than two, among those whose gap is at most _NEARLY times that of the
# best loop, or at most the fraction _WELL of their extent. Strides of a motion that turns differ more.
_NEARLY, _NEARLY_TURNING, _WELL = 1.5, 2.5, 0.07
# A motion counts as turning if, for at least the fraction _TURNING of its duration, it turns at half its mean rate or
# faster, measured over _STRIDE seconds. Its loop should turn at least at the mean rate; each radian less counts as _ARM
# meters.
_STRIDE, _TURNING, _ARM = 1.0, 1.0 / 3.0, 0.5


def find_loop(motion: Motion, first: int | None, end: int | None, least: float) -> tuple[int, int]:
    """Find frames `first` and `end`, at least `least` seconds apart, with the most similar poses and velocities.

    The score is the distance between the two poses, divided by the largest distance from the first pose in between:
    while someone stands still, all frames are similar, but that is not a useful loop. If the motion turns, loops that
    turn less than its mean rate score worse. If `first` or `end` is given, it is used unchanged.
    """
    n = len(motion)
    apart = max(4, round(least * motion.fps))
    begins = np.arange(0, n - apart) if first is None else np.array([first])
    ends = np.arange(apart, n) if end is None else np.array([end])
    if n <= apart or not len(begins) or ends[-1] - begins[0] < apart:
        room = (n - 1 if end is None else end) - (0 if first is None else first)
        raise InvalidValue(
            f"a loop needs at least {least:g} s, but only {max(room, 0) / motion.fps:.2f} s are available; "
            "use a longer range, or pass both start and stop"
        )
    poses, lag = _sample_poses(motion)
    step = -(-n // _MAX_FRAMES)
    i, j = _find_best(poses, lag, begins[::step], ends[::-1][::step][::-1], apart)
    if step > 1:
        near = np.arange(-step, step + 1)
        i, j = _find_best(poses, lag, np.intersect1d(begins, i + near), np.intersect1d(ends, j + near), apart)
    return i, j


def list_body_joints(skeleton: Skeleton) -> list[int]:
    """Return all joints except those above the hips, which are not part of the body."""
    above = set(skeleton.chain(skeleton.roles["hips"])[:-1])
    return [joint for joint in range(len(skeleton)) if joint not in above]


def _sample_poses(motion: Motion) -> tuple[Floats, Floats]:
    """Return poses (F, D) in meters: joint positions and velocities relative to hip position and heading. Also return
    how far the heading lags behind a turn at the mean rate (F,), as `_measure_lag` does.
    """
    world = motion.world()
    skeleton = motion.skeleton
    hips = world.positions[:, skeleton.roles["hips"]]
    frames = np.stack([find_facing(skeleton, world.positions), hips[:, 0], hips[:, 2]], axis=-1)
    body = list_body_joints(skeleton)
    local = rigid2d.apply(rigid2d.invert(frames)[:, None], world.positions[:, body])
    rates = np.gradient(world.positions[:, body], axis=0) * motion.fps
    rates = rigid2d.apply_vector(rigid2d.invert(frames)[:, None], rates)
    both = np.concatenate([local, _RATE * rates], axis=1) / np.sqrt(len(body))
    return np.asarray(both.reshape(len(motion), -1)), _measure_lag(np.unwrap(frames[:, 0]), motion.fps)


def _measure_lag(headings: Floats, fps: float) -> Floats:
    """Return how far headings lag behind a turn at the mean rate, (F,) in meters; zeros if the motion does not turn."""
    rate = (headings[-1] - headings[0]) / max(len(headings) - 1, 1)
    stride = min(round(_STRIDE * fps), len(headings) - 1)
    turned = (headings[stride:] - headings[: len(headings) - stride]) * np.sign(rate)
    if np.mean(turned >= 0.5 * abs(rate) * stride) < _TURNING:
        return np.zeros(len(headings))
    return np.asarray(_ARM * np.sign(rate) * (rate * np.arange(len(headings)) - headings))


def _find_best(poses: Floats, lag: Floats, begins: Ints, ends: Ints, min_gap: int) -> tuple[int, int]:
    """Return the first and the last frame of the best loop that starts in `begins` and ends in `ends`."""
    frames = np.union1d(begins, ends)
    rows, columns = poses[begins], poses[frames]
    squares = np.sum(rows**2, axis=1)[:, None] + np.sum(columns**2, axis=1) - 2.0 * rows @ columns.T
    distance = np.sqrt(np.maximum(squares, 0.0))
    later = frames[None, :] - begins[:, None]
    away = np.maximum.accumulate(np.where(later >= 0, distance, 0.0), axis=1)
    late = np.maximum(lag[frames][None, :] - lag[begins][:, None], 0.0)
    score = np.hypot(distance, late) / np.maximum(away, 1e-9)
    score = np.where((later >= min_gap) & np.isin(frames, ends)[None, :], score, np.inf)
    best, factor = int(np.argmin(score)), _NEARLY_TURNING if lag.any() else _NEARLY
    good = (score <= factor * score.flat[best]) & (distance <= factor * distance.flat[best]) | (score <= _WELL)
    shortest = np.where(good, later, later.max() + 1).min()
    # Among loops of about that length, choose the one that closes best.
    score = np.where(good & (later <= 1.2 * shortest), score, np.inf)
    i, j = np.unravel_index(int(np.argmin(score)), score.shape)
    return int(begins[i]), int(frames[j])
