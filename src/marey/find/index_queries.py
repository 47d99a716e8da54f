"""Find single poses, and paths on the floor, in a motion index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marey.core.arrays import Floats, Ints, check_index, convert_array
from marey.core.motion import Motion
from marey.errors import InvalidValue
from marey.find.index_kernels import scan_anchors
from marey.find.result import Match
from marey.maths.filters import gaussian

if TYPE_CHECKING:
    from marey.find.motion_index import MotionIndex

# Minimum distance in seconds of two pose matches in one clip, and maximum overlap of two path matches as a fraction of
# the shorter one.
_APART, _OVERLAP = 0.5, 0.5
# Number of poses that are compared exactly at first.
_EXACT = 1000
# Number of points compared along a path; seconds by which the hips' path is smoothed, and between the starts to try.
_N_POINTS, _SMOOTH, _STEP = 24, 0.25, 0.1
# Fraction of a path's length, traveled while still standing, that is cut off at the beginning of a match.
_STANDING = 0.02


def find_poses(index: MotionIndex, clip: int | str | Motion, frame: int, *, max_matches: int = 20) -> tuple[Match, ...]:
    """Find the frames whose poses are most similar to that of a given frame, nearest first.

    The result is exact. Frames found in one clip are at least half a second apart.

    Parameters
    ----------
    clip : a clip of the index by name or index, or another motion.
    frame : frame of the clip, at its own rate if it is not in the index.
    max_matches : maximum number of frames to find.
    """
    n = check_index(max_matches, "max_matches")
    if isinstance(clip, Motion):
        at = check_index(frame, f"frame of {clip.name!r}", len(clip))
        poses = index.prepare_poses(clip[at : at + 1])
        features, points, own = poses.features[0], poses.clouds.points[0], None
    else:
        k = index.index(clip)
        at = check_index(frame, f"frame of {index.names[k]!r}", len(index.clips[k]))
        features, points, own = index.features(k)[:, at], index.clouds(k).points[at], (k, at)
    costs = np.full(index.n_frames, np.inf, dtype=np.float32)
    anchors = np.ascontiguousarray(features[None], dtype=np.float32)
    scan_anchors(index.blocks, index.list_spans(), anchors, np.empty((0, 2), dtype=np.int64), np.inf, costs)
    order = np.argsort(costs, kind="stable")[: int(np.isfinite(costs).sum())]
    n_exact = min(_EXACT, len(order))
    while True:
        chosen, distances = _choose_moments(index, points, order[:n_exact], own, n)
        # Features are lower bounds: poses further down the list are not nearer than this.
        if n_exact == len(order) or (len(chosen) == n and distances[-1] ** 2 <= costs[order[n_exact]]):
            break
        n_exact = min(4 * n_exact, len(order))
    starts = index.blocks.starts
    clips = np.searchsorted(starts, chosen, side="right") - 1
    return tuple(
        Match(index.names[c], f, f + 1, float(d), 1)
        for c, f, d in zip(clips.tolist(), (chosen - starts[clips]).tolist(), distances, strict=True)
    )


def _choose_moments(
    index: MotionIndex, points: Floats, frames: Ints, own: tuple[int, int] | None, n: int
) -> tuple[Ints, Floats]:
    """Return those n of the `frames`, numbered over all clips, that are nearest to a pose, and their distances in
    meters.

    Frames of one clip are at least half a second apart. `own` is the (clip, frame) of the pose itself, which is left
    out.
    """
    starts = index.blocks.starts
    clips = np.searchsorted(starts, frames, side="right") - 1
    within = frames - starts[clips]
    others = np.empty((len(frames), *points.shape))
    for clip in np.unique(clips):
        here = clips == clip
        others[here] = index.clouds(int(clip)).points[within[here]]
    distances = measure_poses(points, others, index.weights)
    apart = _APART * index.fps
    taken: list[tuple[int, int]] = [] if own is None else [own]
    chosen = []
    for k in np.argsort(distances, kind="stable").tolist():
        clip, frame = int(clips[k]), int(within[k])
        if all(clip != c or abs(frame - f) >= apart for c, f in taken):
            taken.append((clip, frame))
            chosen.append(k)
            if len(chosen) == n:
                break
    return frames[chosen], distances[chosen]


def measure_poses(points: Floats, poses: Floats, weights: Floats) -> Floats:
    """Return the distances (N,) in meters of N poses from one pose, after aligning each of them with it.

    points : (M, 3) markers of the one pose. poses : (N, M, 3) markers of the N poses. weights : (M,) with sum 1.
    """
    first, second = (p[..., 0] + 1j * p[..., 2] for p in (points, poses))
    first, second = first - first @ weights, second - (second @ weights)[:, None]
    squares = (np.square(np.abs(first)) @ weights) + np.square(np.abs(second)) @ weights
    shared = np.abs((first * weights) @ second.conj().T)
    heights = np.square(points[:, 1] - poses[..., 1]) @ weights
    return np.asarray(np.sqrt(np.maximum(heights + squares - 2.0 * shared, 0.0)))


def find_paths(index: MotionIndex, path: ArrayLike, *, max_matches: int = 20) -> tuple[Match, ...]:
    """Find where someone travels along a path of the same shape and length, nearest first.

    Position, direction and timing do not matter. The distance is the root mean square distance between points at equal
    lengths along both paths, after alignment.

    Parameters
    ----------
    path : (N, 2) points x, z on the floor in meters, in the order of travel.
    max_matches : maximum number of matches.
    """
    n = check_index(max_matches, "max_matches")
    given = convert_array(path, "points of the path")
    if given.ndim != 2 or given.shape[1] != 2 or len(given) < 2:
        raise InvalidValue(f"path must be at least two points x, z on the floor, not an array of shape {given.shape}")
    length = float(np.linalg.norm(np.diff(given, axis=0), axis=1).sum())
    if not length > 0.0:
        raise InvalidValue("the points of the path must not all be the same", parameter="path")
    shape = _sample_path(given, np.linspace(0.0, length, _N_POINTS)[None])[0]
    shape -= shape.mean()
    found: list[tuple[float, int, int, int]] = []
    for clip in index.list_spans()[:, 0].tolist():
        found += _follow(index, clip, shape, length)
    found.sort()
    chosen: list[tuple[float, int, int, int]] = []
    for row in found:
        _, clip, start, stop = row
        if all(
            clip != c or min(stop, e) - max(start, s) < _OVERLAP * min(stop - start, e - s) for _, c, s, e in chosen
        ):
            chosen.append(row)
            if len(chosen) == n:
                break
    return tuple(Match(index.names[clip], start, stop, distance, 1) for distance, clip, start, stop in chosen)


def _follow(index: MotionIndex, clip: int, shape: Floats, length: float) -> list[tuple[float, int, int, int]]:
    """Return the distance, clip, start and stop of every part of a clip's path that has the given `length`."""
    points = index.clouds(clip).points
    hips = points[:, index.markers.index("hips")] if "hips" in index.markers else points.mean(axis=1)
    flat = gaussian(hips[:, [0, 2]], _SMOOTH * index.fps)
    traveled = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(flat, axis=0), axis=1))])
    starts = np.arange(0, len(flat), max(round(_STEP * index.fps), 1))
    # Standing at the beginning is not part of the path.
    starts = np.searchsorted(traveled, traveled[starts] + _STANDING * length)
    starts = starts[starts < len(flat)]
    stops = np.searchsorted(traveled, traveled[starts] + length)
    starts, stops = starts[stops < len(flat)], stops[stops < len(flat)]
    if not len(starts):
        return []
    parts = _sample_path(flat, traveled[starts, None] + np.linspace(0.0, length, _N_POINTS))
    parts -= parts.mean(axis=1, keepdims=True)
    shared = np.abs(parts @ shape.conj())
    squares = np.square(np.abs(parts)).sum(axis=1) + np.square(np.abs(shape)).sum()
    distances = np.sqrt(np.maximum(squares - 2.0 * shared, 0.0) / _N_POINTS)
    return list(zip(distances.tolist(), [clip] * len(starts), starts.tolist(), (stops + 1).tolist(), strict=True))


def _sample_path(points: Floats, lengths: Floats) -> Floats:
    """Return the points of a path (N, 2) at the given lengths along it, as complex numbers."""
    traveled = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    return np.asarray(np.interp(lengths, traveled, points[:, 0]) + 1j * np.interp(lengths, traveled, points[:, 1]))
