"""Hubs of a fat graph: poses that clips come back to again and again, found in the clips themselves.

For each frame it is counted how many times the clips pass it by nearer than a threshold. The frame that is passed most
often is the most popular pose (Gleicher et al. 2003, Shin and Oh 2006); the frames at which it is passed are its
visits, all of them near the one and so near each other. The hub is their mean. For the next hub, what is near in time
to a visit no longer counts.
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

__all__ = ["Hub", "Seen", "find_hubs", "see"]

# Frames per second at which popular poses are looked for, before the visits are refined.
_COARSE = 20.0
# Seconds around a visit to one hub in which no other is looked for.
_TAKEN = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Frames of a reel as the figure sees itself.

    poses : (N, C): local rotations, those of joint 0 as seen from the heading, then joint 0's height, then the bones
        where they change.
    ground : (N, 3) rigid2d: the heading as the hips have it in each frame, and where joint 0 is.
    """

    poses: Floats
    ground: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Hub:
    """A pose that clips have in common.

    pose : (C,) as in `Seen`, the mean of its visits. rate : (C,) per second. ground_rate : (3,) rad/s of the heading,
    m/s to the left and ahead. visits : (V,) rows of the reel, increasing. spread : metres, root of the mean D of the
    visits from the most popular frame.
    """

    pose: Floats
    rate: Floats
    ground_rate: Floats
    visits: Ints
    spread: float


def see(reel: Reel) -> Seen:
    """What the figure sees of itself in all frames; quaternions of the same turn have the same sign."""
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
    return Seen(set_readonly(np.concatenate(parts, axis=1)), set_readonly(ground))


def find_hubs(reel: Reel, seen: Seen, n_hubs: int, near: float, window: float, markers: str) -> list[Hub]:
    """The most popular poses, the most popular first.

    Parameters
    ----------
    near : metres, root of D, within which a frame passes another by.
    window : seconds that are compared around each frame. markers : what is compared.
    """
    every = max(1, round(reel.fps / _COARSE))
    free = _whole_windows(reel, window)
    hubs: list[Hub] = []
    for _ in range(n_hubs):
        base, rough = _most_popular(reel, free, every, near, window, markers)
        visits, spread = _refined(reel, free, base, rough, every, near, window, markers)
        if len(visits) < 2:
            raise NoResult(
                f"no pose comes back within {near:g} m for hub {len(hubs) + 1}; raise near, ask for fewer hubs, or "
                "give clips that repeat themselves"
            )
        hubs.append(_hub(reel, seen, visits, spread))
        for row in visits.tolist():
            free[max(0, row - round(_TAKEN * reel.fps)) : row + round(_TAKEN * reel.fps) + 1] = False
    return hubs


def _whole_windows(reel: Reel, window: float) -> Bools:
    """(N,) rows whose window lies in their clip."""
    half = max(1, round(0.5 * window * reel.fps))
    free = np.zeros(len(reel), dtype=bool)
    for a, b in zip(reel.borders[:-1].tolist(), reel.borders[1:].tolist(), strict=True):
        free[a + half : max(a + half, b - half)] = True
    return free


def _most_popular(
    reel: Reel, free: Bools, every: int, near: float, window: float, markers: str
) -> tuple[int, list[Ints]]:
    """The row that is passed most often, the nearest of those passed alike, and the runs of rows that pass it."""
    rows = [np.arange(a, b, every) for a, b in zip(reel.borders[:-1], reel.borders[1:], strict=True)]
    clouds = [point_clouds(_coarse(reel, own), markers) for own in rows]
    best, found, best_row = (0.0, 0.0), list[Ints](), 0
    for own, base in zip(rows, clouds, strict=True):
        near_by = [distance_grid(base, other, window=window).values <= near**2 for other in clouds]
        apart = [free[other] for other in rows]
        passing = np.concatenate([each & ok for each, ok in zip(near_by, apart, strict=True)], axis=1)
        # Each clip's first frame begins a run of its own.
        before = np.concatenate([_shifted(each & ok) for each, ok in zip(near_by, apart, strict=True)], axis=1)
        counts = (passing & ~before).sum(axis=1) * free[own]
        # Of poses passed alike, the one that is passed for longest has its visits nearest to it.
        keys = [(float(n), float(passing[i].sum())) for i, n in enumerate(counts)]
        i = max(range(len(own)), key=keys.__getitem__)
        if keys[i] > best:
            best, best_row = keys[i], int(own[i])
            starts = passing[i] & ~before[i]
            groups = np.cumsum(starts)[passing[i]]
            where = np.concatenate(rows)[passing[i]]
            found = [where[groups == k] for k in np.unique(groups)]
    return best_row, found


def _shifted(mask: Bools) -> Bools:
    return np.concatenate([np.zeros((len(mask), 1), dtype=bool), mask[:, :-1]], axis=1)


def _coarse(reel: Reel, rows: Ints) -> Motion:
    step = int(rows[1] - rows[0]) if len(rows) > 1 else 1
    bones = None if reel.bones is None else reel.bones[rows]
    return Motion(reel.skeleton, reel.root[rows], reel.rotations[rows], reel.fps / step, bone_offsets=bones)


def _refined(
    reel: Reel, free: Bools, base: int, rough: list[Ints], every: int, near: float, window: float, markers: str
) -> tuple[Ints, float]:
    """(V,) for each run of rows the one nearest to the base, at the full rate, and the root of their mean D."""
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


def _hub(reel: Reel, seen: Seen, visits: Ints, spread: float) -> Hub:
    n = 4 * len(reel.skeleton)
    pose = seen.poses[visits].mean(axis=0)
    pose[:n] = quat.normalize(pose[:n].reshape(-1, 4)).ravel()
    rate = 0.5 * reel.fps * (seen.poses[visits + 1] - seen.poses[visits - 1]).mean(axis=0)
    ground = np.mean([0.5 * reel.fps * own_steps(seen.ground[v - 1 : v + 2]).sum(axis=0) for v in visits], axis=0)
    return Hub(set_readonly(pose), set_readonly(rate), set_readonly(ground), visits, spread)


def own_steps(ground: Floats) -> Floats:
    """(G - 1, 3) turn, way to the left and way ahead from point to point, as seen from the heading halfway."""
    step, half = np.diff(ground, axis=0), 0.5 * (ground[1:, 0] + ground[:-1, 0])
    cosine, sine = np.cos(half), np.sin(half)
    return np.stack([step[:, 0], step[:, 1] * cosine - step[:, 2] * sine, step[:, 1] * sine + step[:, 2] * cosine], 1)
