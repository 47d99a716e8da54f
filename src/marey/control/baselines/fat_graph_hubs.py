"""Hubs of a fat graph: poses to which the clips return repeatedly.

For each frame, count how often the clips pass it within a threshold distance. The frame with the most passes is the
most popular pose (Gleicher et al. 2003, Shin and Oh 2006); the frames that pass it are its visits. All of them are near
that frame and thus near each other. The hub is their mean. Frames close in time to a visit are excluded from the search
for the next hub.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.compare import distance_grid, frame_distances, frame_weights, point_clouds
from marey.control.inertia_reel import Reel
from marey.core.arrays import Bools, Floats, Ints, set_readonly
from marey.core.motion import Motion
from marey.core.placement import find_facing
from marey.errors import NoResult
from marey.maths import quat

__all__ = ["Hub", "LocalFrames", "find_hubs", "localize_frames"]

# Frames per second of the coarse search for popular poses; visits are refined afterward.
_COARSE = 20.0
# Seconds around a visit to one hub that are excluded from the search for others.
_TAKEN = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class LocalFrames:
    """The N frames of a reel (all clips, one after the other) in the character's own coordinates.

    poses : (N, C) local rotations, with joint 0 relative to the heading; then the height of joint 0 in meters; then the
        bone offsets if they change over time.
    ground : (N, 3) rigid2d: heading of the character in each frame, and position of joint 0.
    """

    poses: Floats
    ground: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Hub:
    """A pose shared by several clips.

    pose : (C,) mean pose of its V visits, as in `LocalFrames`. rate : (C,) its change per second.
    ground_rate : (3,) turn rate in rad/s, velocity to the left and ahead in m/s.
    visits : (V,) increasing rows of the reel.
    spread : root mean square distance, in meters, of the visits from the frame that the clips pass most often.
    """

    pose: Floats
    rate: Floats
    ground_rate: Floats
    visits: Ints
    spread: float


def localize_frames(reel: Reel) -> LocalFrames:
    """Express all frames in the character's own coordinates, with consistent quaternion signs."""
    motion = reel.motion()
    world = motion.world().positions
    heading = np.concatenate([find_facing(reel.skeleton, part) for part in np.split(world, reel.borders[1:-1])])
    half = 0.5 * heading
    lone = np.stack([np.cos(half), 0.0 * half, np.sin(half), 0.0 * half], axis=-1)
    rotations = reel.rotations.copy()
    rotations[:, 0] = quat.inv_mul(lone, rotations[:, 0])
    usual = quat.average(rotations, axis=0)
    rotations = np.where((rotations * usual).sum(axis=-1, keepdims=True) < 0.0, -rotations, rotations)
    n = len(reel)
    parts = [rotations.reshape(n, -1), reel.root[:, 1:2]]
    if reel.bones is not None:
        parts.append(reel.bones.reshape(n, -1))
    ground = np.stack([heading, reel.root[:, 0], reel.root[:, 2]], axis=1)
    return LocalFrames(set_readonly(np.concatenate(parts, axis=1)), set_readonly(ground))


def find_hubs(reel: Reel, seen: LocalFrames, n_hubs: int, near: float, window: float, markers: str) -> list[Hub]:
    """Find the most popular poses, the most popular first.

    Parameters
    ----------
    n_hubs : number of hubs.
    near : distance in meters (root of D) within which two frames count as the same pose.
    window : seconds compared around each frame. markers : points to compare.
    """
    every = max(1, round(reel.fps / _COARSE))
    free = _find_complete_windows(reel, window)
    hubs: list[Hub] = []
    for _ in range(n_hubs):
        base, rough = _find_most_popular(reel, free, every, near, window, markers)
        visits, spread = _refine_visits(reel, free, base, rough, every, near, window, markers)
        if len(visits) < 2:
            raise NoResult(
                f"found no recurring pose for hub {len(hubs) + 1} (max_distance is {near:g} m); raise `max_distance=`, "
                "use fewer hubs, or add more repetitive clips"
            )
        hubs.append(_make_hub(reel, seen, visits, spread))
        for row in visits.tolist():
            free[max(0, row - round(_TAKEN * reel.fps)) : row + round(_TAKEN * reel.fps) + 1] = False
    return hubs


def _find_complete_windows(reel: Reel, window: float) -> Bools:
    """Return a mask (N,) of the rows whose entire window lies in their clip."""
    half = max(1, round(0.5 * window * reel.fps))
    free = np.zeros(len(reel), dtype=bool)
    for a, b in zip(reel.borders[:-1].tolist(), reel.borders[1:].tolist(), strict=True):
        free[a + half : max(a + half, b - half)] = True
    return free


def _find_most_popular(
    reel: Reel, free: Bools, every: int, near: float, window: float, markers: str
) -> tuple[int, list[Ints]]:
    """Find the row with the most passes (on ties, the one with the longest runs) and the runs of rows that pass it.

    free : (N,) rows that may still become hubs or visits.
    every : compare only each n-th row of a clip.
    near : distance in meters (root of D) within which a row passes another.
    """
    rows = [np.arange(a, b, every) for a, b in zip(reel.borders[:-1], reel.borders[1:], strict=True)]
    clouds = [point_clouds(_make_coarse_motion(reel, own), markers) for own in rows]
    best, found, best_row = (0.0, 0.0), list[Ints](), 0
    for own, base in zip(rows, clouds, strict=True):
        near_by = [distance_grid(base, other, window=window).values <= near**2 for other in clouds]
        apart = [free[other] for other in rows]
        passing = np.concatenate([each & ok for each, ok in zip(near_by, apart, strict=True)], axis=1)
        # The first frame of each clip starts a new run.
        before = np.concatenate([_shift_mask(each & ok) for each, ok in zip(near_by, apart, strict=True)], axis=1)
        counts = (passing & ~before).sum(axis=1) * free[own]
        # On ties, prefer the longest runs: their visits are nearest to the pose.
        keys = [(float(n), float(passing[i].sum())) for i, n in enumerate(counts)]
        i = max(range(len(own)), key=keys.__getitem__)
        if keys[i] > best:
            best, best_row = keys[i], int(own[i])
            starts = passing[i] & ~before[i]
            groups = np.cumsum(starts)[passing[i]]
            where = np.concatenate(rows)[passing[i]]
            found = [where[groups == k] for k in np.unique(groups)]
    return best_row, found


def _shift_mask(mask: Bools) -> Bools:
    return np.concatenate([np.zeros((len(mask), 1), dtype=bool), mask[:, :-1]], axis=1)


def _make_coarse_motion(reel: Reel, rows: Ints) -> Motion:
    step = int(rows[1] - rows[0]) if len(rows) > 1 else 1
    bones = None if reel.bones is None else reel.bones[rows]
    return Motion(reel.skeleton, reel.root[rows], reel.rotations[rows], reel.fps / step, bone_offsets=bones)


def _refine_visits(
    reel: Reel, free: Bools, base: int, rough: list[Ints], every: int, near: float, window: float, markers: str
) -> tuple[Ints, float]:
    """Find the row of each run that is nearest to row `base`, at the full frame rate.

    free : (N,) rows that may be visits.
    rough : runs of rows that pass `base`, found on each n-th row only, with n = `every`.
    near : largest distance of a visit in meters (root of D). Return the rows, and their root mean square distance in
        meters.
    """
    clouds = point_clouds(reel.motion(), markers)
    weights = frame_weights(window, reel.fps)
    visits, left = [], []
    for run in rough:
        rows = np.arange(int(run[0]) - every + 1, int(run[-1]) + every)
        rows = rows[free[np.clip(rows, 0, len(reel) - 1)] & (rows >= 0) & (rows < len(reel))]
        apart = frame_distances(clouds, np.full(len(rows), float(base)), clouds, rows.astype(np.float64), weights)[1]
        k = int(np.argmin(apart))
        if apart[k] <= near**2:
            visits.append(int(rows[k]))
            left.append(float(apart[k]))
    return np.array(visits, dtype=np.int64), float(np.sqrt(np.mean(left))) if left else 0.0


def _make_hub(reel: Reel, seen: LocalFrames, visits: Ints, spread: float) -> Hub:
    n = 4 * len(reel.skeleton)
    pose = seen.poses[visits].mean(axis=0)
    pose[:n] = quat.normalize(pose[:n].reshape(-1, 4)).ravel()
    rate = 0.5 * reel.fps * (seen.poses[visits + 1] - seen.poses[visits - 1]).mean(axis=0)
    ground = np.mean(
        [0.5 * reel.fps * compute_local_steps(seen.ground[v - 1 : v + 2]).sum(axis=0) for v in visits], axis=0
    )
    return Hub(set_readonly(pose), set_readonly(rate), set_readonly(ground), visits, spread)


def compute_local_steps(ground: Floats) -> Floats:
    """Return steps (G - 1, 3) from point to point: turn, movement left and ahead, relative to the mean heading."""
    step, half = np.diff(ground, axis=0), 0.5 * (ground[1:, 0] + ground[:-1, 0])
    cosine, sine = np.cos(half), np.sin(half)
    return np.stack([step[:, 0], step[:, 1] * cosine - step[:, 2] * sine, step[:, 1] * sine + step[:, 2] * cosine], 1)
