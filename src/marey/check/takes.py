"""Find clips of one take: the same recording, cropped, resampled, smoothed or with cleaned feet.

Such edits do not change the upper body. Its *key poses* are the poses at which it moves least, compared with the frames
around them; they depend neither on the frame rate nor on where a clip begins. Two clips are from one take if, in the
time that they share, most key poses are the same, at the same intervals.

The limits lie between two distributions, measured on 363 pairs of different clips of one person each (CMU), and on 363
edits of single clips (cleaned, smoothed, resampled to 30 and 60 Hz, cropped to the middle half, and all of these):

- The most similar pose of another clip differs by 0.047 rad at the 1st percentile, 0.45 in the median; the same pose
  after an edit by 0.005 rad in the median, 0.042 rad at the 95th percentile. Poses within 0.03 rad are the same.
- Different clips share no key poses in 362 of 363 pairs, and one key pose in the remaining pair. Edits share at least
  75 % if the cropped clip has three key poses or more. The limits are half of the key poses, over at least a third of
  the shorter clip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from marey.check import takes_kernels
from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.maths import filters

# Groups of roles, each with its own key poses, in columns: all, one arm, the other arm, and the trunk.
_GROUPS = np.array([[1, 0, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0]], dtype=float)
_JOINTS = ("chest", "neck", *(f"{side}_{part}" for side in ("left", "right") for part in ("upper_arm", "forearm")))
# Cleanup changes legs, but not by much: their rotations count with this weight.
_LEGS, _LEG_WEIGHT = ("left_upper_leg", "right_upper_leg"), 0.1
_WEIGHTS = np.r_[np.ones(len(_JOINTS)), np.full(len(_LEGS), _LEG_WEIGHT)]
# Key poses are found at this rate, in Hz, in speeds smoothed over this many seconds.
_RATE, _SMOOTH = 30.0, 0.07
# Maximum number of key poses that are compared; later ones are ignored.
_MAX_POSES = 500
# Poses are the same if their joints differ by at most this angle in radians (root mean square), and their times by at
# most this many seconds.
_SAME, _IN_TIME = 0.03, 0.06
# The same angle as a distance between quaternions: half of it, for each joint.
_RADIUS = 0.5 * _SAME * len(_JOINTS) ** 0.5
# Two clips are from one take if they share this many key poses, and this fraction of the key poses in the time that
# they share.
_FEWEST, _SHARED = 3, 0.5
# Minimum shared time in seconds, and as a fraction of the shorter clip.
_SHORTEST, _PART = 0.3, 0.33


@dataclass(frozen=True, slots=True, eq=False)
class KeyPoses:
    """Key poses of a clip: times (n,) in seconds, and rotations (n, 4 * 8) of arms, trunk and thighs, weighted."""

    times: Floats
    rotations: Floats


def find_key_poses(motion: Motion) -> KeyPoses:
    """Find the poses at which the upper body moves least, compared with the frames around them.

    Poses that recur are left out. If the skeleton lacks arms, trunk or thighs, there are none.
    """
    roles = motion.skeleton.roles
    none = KeyPoses(np.zeros(0), np.zeros((0, 4 * len(_WEIGHTS))))
    step = max(motion.fps / _RATE, 1.0)
    frames = np.arange(0.0, len(motion), step).astype(int)
    if len(frames) < 3 or any(name not in roles for name in (*_JOINTS, *_LEGS)):
        return none
    joints = np.array([roles[name] for name in (*_JOINTS, *_LEGS)])
    rotations, angles = np.ascontiguousarray(motion.rotations), np.empty((len(frames) - 1, _GROUPS.shape[1]))
    takes_kernels.measure_turning(rotations, frames, joints[: len(_JOINTS)], _GROUPS, angles)
    speeds, at = filters.gaussian(angles, _SMOOTH * motion.fps / step), np.empty(angles.size)
    at = np.sort(at[: takes_kernels.find_rests(speeds, frames, step, at)])[:_MAX_POSES]
    if not len(at):
        return none
    vectors, sums = np.empty((len(at), 4 * len(_WEIGHTS))), np.empty(len(at))
    takes_kernels.blend_poses(rotations, at, joints, _WEIGHTS, vectors, sums)
    times = at / motion.fps
    # A pose that recurs, as at rest, does not identify a time.
    sums /= vectors.shape[1] ** 0.5
    recurs = np.empty(len(times), dtype=bool)
    takes_kernels.find_recurring(vectors, times, sums, np.argsort(sums, kind="stable"), _RADIUS, _IN_TIME, recurs)
    return KeyPoses(set_readonly(times[~recurs]), set_readonly(vectors[~recurs]))


def find_same_takes(clips: Sequence[KeyPoses]) -> list[tuple[int, int, float, float]]:
    """Find pairs of clips from one take; return their indices, the later one first, and the shared time range in the
    later clip.

    The range goes from the first to the last shared key pose, in seconds. Each clip is the later one in at most one
    pair.
    """
    from scipy.spatial import KDTree

    owners = np.repeat(np.arange(len(clips)), [len(clip.times) for clip in clips])
    if len(owners) < 2 * _FEWEST:
        return []
    times = np.concatenate([clip.times for clip in clips])
    pairs = KDTree(np.concatenate([clip.rotations for clip in clips])).query_pairs(_RADIUS, output_type="ndarray")
    pairs = pairs[owners[pairs[:, 0]] != owners[pairs[:, 1]]]
    if not len(pairs):
        return []
    keys = owners[pairs[:, 1]] * len(clips) + owners[pairs[:, 0]]
    order = np.argsort(keys, kind="stable")
    pairs = pairs[order]
    offsets, own = times[pairs[:, 1]] - times[pairs[:, 0]], times[pairs[:, 1]]
    edges = np.r_[0, np.flatnonzero(np.diff(keys[order])) + 1, len(pairs)]
    best, counts = np.empty(len(edges) - 1, dtype=np.int64), np.empty(len(edges) - 1, dtype=np.int64)
    takes_kernels.count_in_time(offsets, edges, _IN_TIME, best, counts)
    in_time = np.abs(offsets - np.repeat(offsets[best], np.diff(edges))) < _IN_TIME
    first = np.minimum.reduceat(np.where(in_time, own, np.inf), edges[:-1])
    last = np.maximum.reduceat(np.where(in_time, own, -np.inf), edges[:-1])
    lengths = np.array([np.ptp(clip.times) if len(clip.times) else 0.0 for clip in clips])
    shorter = lengths[owners[pairs[edges[:-1]]]].min(axis=1)
    is_long = last - first > np.maximum(_SHORTEST, _PART * shorter)
    found: dict[int, tuple[int, int, float, float]] = {}
    for group in np.flatnonzero((counts >= _FEWEST) & is_long).tolist():
        rows = slice(edges[group], edges[group + 1])
        earlier, later = owners[pairs[edges[group]]].tolist()
        if later in found:
            continue
        offset = float(np.median(offsets[rows][in_time[rows]]))
        ours, theirs = clips[later].times, clips[earlier].times + offset
        low, high = max(ours[0], theirs[0]) - _IN_TIME, min(ours[-1], theirs[-1]) + _IN_TIME
        n_poses = min(int(((each >= low) & (each <= high)).sum()) for each in (ours, theirs))
        if counts[group] >= max(_FEWEST, _SHARED * n_poses):
            found[later] = (later, earlier, float(first[group]), float(last[group]))
    return list(found.values())
