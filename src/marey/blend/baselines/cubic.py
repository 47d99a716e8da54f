"""Timewarp along a cubic B-spline through the path (Sako 5.4), sampled at any number of frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marey.blend.baselines.discrete import align_along_path, check_cells
from marey.blend.baselines.paths import GridPath
from marey.blend.baselines.poses import (
    Angles,
    Weights,
    blend_poses,
    evaluate_weights,
    finish_result,
)
from marey.core.arrays import Floats, check_index
from marey.core.motion import Motion
from marey.errors import InvalidValue

# A cubic B-spline starts exactly at its first vertex P if P is repeated three times: (P + 4 P + P) / 6 = P. S repeats
# it twice.
_ENDS = 3
_MAX_FRAMES = 1_000_000


def cubic_warp(path: GridPath | ArrayLike, n_frames: int) -> Floats:
    """Sample a uniform cubic B-spline through a path: return times (n_frames, 2) in both motions, in frames.

    The cells of the path are the vertices. The first and last vertex are repeated three times, so that the spline
    begins and ends there. It is sampled evenly in its parameter, as by Sako. Times never decrease, because the frames
    along the path do not.
    """
    cells = check_cells(path)
    n = _check_count(n_frames)
    vertices = np.concatenate([cells[:1]] * (_ENDS - 1) + [cells] + [cells[-1:]] * (_ENDS - 1)).astype(np.float64)
    at = np.linspace(0.0, len(vertices) - 3, n)
    span = np.minimum(at.astype(np.int64), len(vertices) - 4)
    t = (at - span)[:, None]
    basis = (
        (1.0 - t) ** 3 / 6.0,
        (3.0 * t**3 - 6.0 * t**2 + 4.0) / 6.0,
        (-3.0 * t**3 + 3.0 * t**2 + 3.0 * t + 1.0) / 6.0,
        t**3 / 6.0,
    )
    out = np.zeros((n, 2))
    for k, weight in enumerate(basis):
        out += weight * vertices[span + k]
    # Rounding may move the ends outside the clips.
    return np.clip(out, cells[0], cells[-1])


def cubic_blend(
    a: Motion,
    b: Motion,
    weights: Weights = (0.5, 0.5),
    *,
    path: GridPath | ArrayLike | None = None,
    n_frames: int | None = None,
    angles: Angles = "quaternion",
    align: bool = True,
    name: str | None = None,
) -> Motion:
    """Blend two motions whose frames correspond along a cubic B-spline through a path of cells (Sako 5.4).

    Return a motion with `n_frames` frames at the frame rate of the motions; by default their number is the weighted
    mean of the lengths of the two sections that the path covers. For the other parameters see `discrete_blend`.
    """
    one, two, cells = align_along_path(a, b, path, "cubic_blend", align=align)
    n = _compute_mean_length(cells, weights) if n_frames is None else _check_count(n_frames)
    frames = cubic_warp(cells, n)
    poses = [clip.at(frames[:, k] / clip.fps) for k, clip in enumerate((one, two))]
    result = blend_poses(poses, evaluate_weights(weights, 2, np.arange(n) / one.fps), angles=angles)
    return finish_result(
        result, name or "cubic timewarp", "cubic_blend", [a, b], weights,
        start=cells[0].tolist(), stop=cells[-1].tolist(), angles=angles, align=bool(align),
    )  # fmt: skip


def _compute_mean_length(cells: Any, weights: Weights) -> int:
    weight = np.array([0.5, 0.5]) if callable(weights) else evaluate_weights(weights, 2, np.zeros(1))[0]
    return max(2, round(float(weight @ (cells[-1] - cells[0]))) + 1)


def _check_count(n_frames: Any) -> int:
    n = check_index(n_frames, "n_frames")
    if not 2 <= n <= _MAX_FRAMES:
        raise InvalidValue(f"n_frames must be from 2 to {_MAX_FRAMES:,}, not {n}")
    return n
