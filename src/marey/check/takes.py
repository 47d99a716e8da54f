"""Find clips of one take: the same recording, cropped, resampled, smoothed or with cleaned feet.

Such edits keep the upper body. Its *key poses* are those at which it moves least, compared with the frames around: they
do not depend on the frame rate, nor on where a clip begins. Clips are of one take if most key poses of the time that
they share are the same, in the same rhythm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.maths import filters

# Key poses of both arms, of either arm, and of the trunk.
_GROUPS = np.array([[1, 0, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0]], dtype=float)
_JOINTS = ("chest", "neck", *(f"{side}_{part}" for side in ("left", "right") for part in ("upper_arm", "forearm")))
# Cleanup changes legs, but not by much: their rotations count with this weight.
_LEGS, _LEG_WEIGHT = ("left_upper_leg", "right_upper_leg"), 0.1
_WEIGHTS = np.r_[np.ones(len(_JOINTS)), np.full(len(_LEGS), _LEG_WEIGHT)]
# Key poses are found at this rate, in Hz, in speeds smoothed over this many seconds.
_RATE, _SMOOTH = 30.0, 0.07
# More key poses than this, from the first ones on, are not compared.
_MAX_POSES = 500
# Poses are the same if their joints differ by this angle in radians (root mean square), and times by so many seconds.
_SAME, _IN_TIME = 0.03, 0.06
# That angle as a distance of quaternions: half of it, for each joint.
_RADIUS = 0.5 * _SAME * len(_JOINTS) ** 0.5
# Clips are of one take if they share so many key poses, and this fraction of those in the time that they share.
_FEWEST, _SHARED = 3, 0.6
# Their shared time is at least this many seconds, and this fraction of the shorter clip.
_SHORTEST, _PART = 0.3, 0.3


@dataclass(frozen=True, slots=True, eq=False)
class KeyPoses:
    """Key poses of a clip: times (n,) in seconds, and rotations (n, 4 * 8) of arms, trunk and thighs, weighted."""

    times: Floats
    rotations: Floats


def find_key_poses(motion: Motion) -> KeyPoses:
    """Find the poses at which the upper body moves least, compared with the frames around; none for other bodies."""
    roles = motion.skeleton.roles
    none = KeyPoses(np.zeros(0), np.zeros((0, 4 * len(_WEIGHTS))))
    step = max(motion.fps / _RATE, 1.0)
    frames = np.arange(0.0, len(motion), step).astype(int)
    if len(frames) < 3 or any(name not in roles for name in (*_JOINTS, *_LEGS)):
        return none
    q = motion.rotations[:, [roles[name] for name in (*_JOINTS, *_LEGS)]]
    coarse = q[frames, : len(_JOINTS)]
    cosines = np.abs(np.einsum("fjk,fjk->fj", coarse[1:], coarse[:-1])).clip(0.0, 1.0)
    speeds = filters.gaussian(np.arccos(cosines) @ _GROUPS, _SMOOTH * motion.fps / step)
    before, here, after = speeds[:-2], speeds[1:-1], speeds[2:]
    rows, groups = np.nonzero((here < before) & (here <= after))
    before, here, after = before[rows, groups], here[rows, groups], after[rows, groups]
    # The vertex of the parabola through three speeds, which are between the frames.
    vertex = 0.5 * (before - after) / np.maximum(before - 2.0 * here + after, 1e-12)
    at = frames[rows + 1] + step * (0.5 + vertex.clip(-1.0, 1.0))
    low = np.minimum(at.astype(int), len(q) - 2)
    near, far = q[low], q[low + 1]
    far = np.where(np.einsum("njk,njk->nj", near, far)[..., None] < 0.0, -far, far)
    poses = near + (at - low)[:, None, None] * (far - near)
    poses /= np.linalg.norm(poses, axis=-1, keepdims=True)
    largest = np.take_along_axis(poses, np.abs(poses).argmax(axis=-1)[..., None], axis=-1)
    times, vectors = at / motion.fps, (poses * np.sign(largest) * _WEIGHTS[:, None]).reshape(len(at), -1)
    rows = np.argsort(times, kind="stable")[:_MAX_POSES]
    times, vectors = times[rows], vectors[rows]
    # A pose that a body takes again, as at rest, does not tell when it was.
    again = np.linalg.norm(vectors[:, None] - vectors[None], axis=2) < _RADIUS
    again &= np.abs(times[:, None] - times[None]) > _IN_TIME
    unique = ~again.any(axis=1)
    return KeyPoses(set_readonly(times[unique]), set_readonly(vectors[unique]))


def find_same_takes(clips: Sequence[KeyPoses]) -> list[tuple[int, int, float, float]]:
    """Find pairs of clips of one take: their indices, the later one first, and the time in it that both share.

    The time is from its first to its last shared key pose, in seconds. Each clip is in at most one pair as the later.
    """
    from scipy.spatial import KDTree

    owners = np.repeat(np.arange(len(clips)), [len(clip.times) for clip in clips])
    if len(owners) < 2 * _FEWEST:
        return []
    times = np.concatenate([clip.times for clip in clips])
    pairs = KDTree(np.concatenate([clip.rotations for clip in clips])).query_pairs(_RADIUS, output_type="ndarray")
    pairs = pairs[owners[pairs[:, 0]] != owners[pairs[:, 1]]]
    found: dict[int, tuple[int, int, float, float]] = {}
    keys = owners[pairs[:, 1]] * len(clips) + owners[pairs[:, 0]]
    order = np.argsort(keys, kind="stable")
    for rows in np.split(pairs[order], np.flatnonzero(np.diff(keys[order])) + 1):
        if len(rows) < _FEWEST:
            continue
        earlier, later = int(owners[rows[0, 0]]), int(owners[rows[0, 1]])
        offsets = times[rows[:, 1]] - times[rows[:, 0]]
        in_time = np.abs(offsets[:, None] - offsets[None]) < _IN_TIME
        best = int(in_time.sum(axis=1).argmax())
        shared, offset = int(in_time[best].sum()), float(np.median(offsets[in_time[best]]))
        span = times[rows[in_time[best], 1]]
        ours, theirs = clips[later].times, clips[earlier].times + offset
        low, high = max(ours[0], theirs[0]) - _IN_TIME, min(ours[-1], theirs[-1]) + _IN_TIME
        n_poses = min(int(((each >= low) & (each <= high)).sum()) for each in (ours, theirs))
        is_long = np.ptp(span) > max(_SHORTEST, _PART * min(np.ptp(ours), np.ptp(theirs)))
        if later not in found and is_long and shared >= max(_FEWEST, _SHARED * n_poses):
            found[later] = (later, earlier, float(span.min()), float(span.max()))
    return list(found.values())
