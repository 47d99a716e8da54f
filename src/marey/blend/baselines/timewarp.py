"""Blends and transitions along a path of cells, as in Motion Blender (Sako 5 and 6); settings choose the method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from marey.blend.baselines import paths
from marey.blend.baselines.cubic import cubic_blend, cubic_warp
from marey.blend.baselines.discrete import discrete_blend, match_frames
from marey.blend.baselines.linear import check_moments
from marey.blend.baselines.paths import GridPath
from marey.blend.baselines.poses import Weights, align_at, blend_poses, finish_result
from marey.blend.settings import TransitionSettings, WarpPathSettings
from marey.core.arrays import Floats, set_readonly
from marey.core.clips import prepare_clips
from marey.core.labels import Labels
from marey.core.motion import Motion
from marey.errors import InvalidValue, warn_user
from marey.maths import ease_in, quat

__all__ = ["blend_along_path", "find_warp_path", "timewarp_transition"]


def find_warp_path(a: Motion, b: Motion, settings: WarpPathSettings) -> GridPath:
    """Find the path of corresponding frames of two motions at one rate; warn if the time limit stopped the search."""
    from marey.compare.grid import distance_grid

    values = distance_grid(a, b).values
    if settings.whole_costs:
        values = paths.round_costs(values)
    rules: dict[str, Any] = {"start": settings.path_start, "slope_limit": settings.path_slope_limit}
    limit = settings.path_time_limit
    if settings.path_finder == "dynamic":
        return paths.dynamic(values, **rules)
    if settings.path_finder == "greedy":
        return paths.greedy(values, **rules)
    if settings.path_finder == "threshold":
        found = paths.threshold_search(values, threshold=settings.path_threshold, time_limit=limit, **rules)
    else:
        found = paths.brute_force(values, time_limit=limit, **rules)
    if not found.complete:
        warn_user(f"the search for a path was stopped after {limit:g} s; the best path found by then is used")
    return found


def blend_along_path(
    clips: Sequence[Motion], weights: Weights, method: str, settings: WarpPathSettings, name: str | None
) -> Motion:
    """Blend two motions with the method "discrete" or "cubic"."""
    if len(clips) != 2:
        raise InvalidValue(
            f"the method {method!r} needs two motions, got {len(clips)}", parameter="method",
            remedy="use another method",
        )  # fmt: skip
    one, two = prepare_clips(clips, f"{method}_blend", min_clips=2).motions
    path = find_warp_path(one, two, settings)
    if method == "discrete":
        return discrete_blend(one, two, weights, path=path, name=name)
    return cubic_blend(one, two, weights, path=path, n_frames=settings.n_frames, name=name)


def timewarp_transition(
    a: Motion, b: Motion, at: tuple[float, float], settings: TransitionSettings, name: str | None = None
) -> Motion:
    """Play `a` and fade into `b` along a path of cells around the corresponding times `at`, in seconds of a and of b
    (Sako 6.4.2, dynamic weights).

    The path covers `length` seconds of both motions. With the method "discrete", the transition has the timing of `a`;
    with "cubic", it has `n_frames` frames.
    """
    one, two = prepare_clips([a, b], "timewarp_transition", min_clips=2).motions
    half = 0.5 * settings.length
    middle = check_moments(at, one, two, half)
    fps = one.fps
    two = align_at(one, middle[0] * fps, two, middle[1] * fps, settings.search_window)
    first = np.array([round((moment - half) * fps) for moment in middle]).clip(0)
    last = [min(round((moment + half) * fps), len(clip) - 1) for moment, clip in zip(middle, (one, two), strict=True)]
    path = find_warp_path(one[first[0] : last[0] + 1], two[first[1] : last[1] + 1], settings)
    cells = path.cells + first
    if settings.method == "discrete":
        pairs = match_frames(cells)
        times = np.stack([pairs.frames, pairs.at], axis=1).astype(np.float64)
    else:
        n = settings.n_frames or max(2, round(float((cells[-1] - cells[0]).mean())) + 1)
        times = cubic_warp(cells, n)
    alpha = ease_in(np.linspace(0.0, 1.0, len(times)))
    poses = [clip.at(times[:, k] / fps) for k, clip in enumerate((one, two))]
    blended = blend_poses(poses, np.stack([1.0 - alpha, alpha], axis=1))
    result = _join([one[: int(cells[0, 0])] if cells[0, 0] else None, blended, _take_rest(two, int(cells[-1, 1]) + 1)])
    start = int(cells[0, 0])
    return finish_result(
        result, name or f"{settings.method} transition", f"{settings.method}_transition", [a, b], None,
        at=[float(t) for t in middle], length=settings.length, cost=path.cost, finder=settings.path_finder,
        **{"from": float(cells[0, 0]) / fps, "to": float(cells[-1, 1]) / fps}, frames=[start, start + len(blended)],
    )  # fmt: skip


def _take_rest(motion: Motion, first: int) -> Motion | None:
    return motion[first:] if first < len(motion) else None


def _join(parts: Sequence[Motion | None]) -> Motion:
    """Put motions one after the other, without contacts and labels."""
    given = [part for part in parts if part is not None]

    def stack(arrays: list[Floats]) -> Floats:
        return set_readonly(np.concatenate(arrays))

    moving = any(part.bone_offsets is not None for part in given)
    return replace(
        given[0],
        root_positions=stack([part.root_positions for part in given]),
        rotations=set_readonly(quat.unroll(np.concatenate([part.rotations for part in given]))),
        bone_offsets=stack([part.frame_offsets for part in given]) if moving else None,
        contacts=None,
        labels=Labels(),
        source=replace(given[0].source, channel_values=None),
    )
