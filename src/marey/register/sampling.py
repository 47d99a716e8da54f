"""Sample point clouds at other times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marey.compare import Clouds
from marey.core.arrays import Floats, set_readonly


def sample_clouds(clouds: Clouds, frames: Floats, fps: float) -> Clouds:
    """Sample the clouds at fractional `frames` (N,) by linear interpolation, as a cloud at rate `fps`."""
    before = np.clip(np.floor(frames).astype(np.int64), 0, max(len(clouds) - 2, 0))
    weight = (frames - before)[:, None, None]
    after = np.minimum(before + 1, len(clouds) - 1)
    points = clouds.points[before]
    points += weight * (clouds.points[after] - points)
    return replace(clouds, points=set_readonly(points), fps=fps, contacts=None)


def crop_clouds(clouds: Clouds, start: int, stop: int) -> Clouds:
    """Return frames `start` to `stop`, `stop` exclusive."""
    return replace(clouds, points=clouds.points[start:stop], contacts=None)


def resample_clouds(clouds: Clouds, n: int) -> Clouds:
    """Resample the clouds at n times from first frame to last, at the rate that keeps their duration."""
    if n == len(clouds):
        return clouds
    return sample_clouds(clouds, np.linspace(0.0, len(clouds) - 1.0, n), clouds.fps * (n - 1) / max(len(clouds) - 1, 1))


def stack_clouds(clouds: Sequence[Clouds]) -> Clouds:
    """Concatenate the frames of all clouds; for comparisons without a window, in which neighbors do not matter."""
    return replace(clouds[0], points=set_readonly(np.concatenate([cloud.points for cloud in clouds])), contacts=None)
