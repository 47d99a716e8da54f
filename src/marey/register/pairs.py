"""Align two motions in time: find a path through the distance grid of equally many samples of each.

A walk and a run with the same number of steps take different times. Both are sampled equally often, so that the slope
limit applies after they are stretched to equal length.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from marey.compare import Clouds, distance_grid, frame_distances
from marey.core.arrays import Floats, set_readonly
from marey.errors import NoTimewarp
from marey.register.dtw import TimeAlignment, dtw, dtw_cyclic
from marey.register.loops import extend_loop
from marey.register.sampling import resample_clouds, sample_clouds, stack_clouds

# Maximum ratio of the motions' durations, whatever the slope limit.
LARGEST_RATIO = 4.0
# Samples of a motion for a rough comparison with the others, and for the first search for a loop's phase.
_FEW = 32
_FEW_OF_LOOP = 48
# Where the curvature of the valley is this fraction of the typical one, cells move only half the distance to its
# bottom.
_FLAT = 0.05
# Fraction of D in the valley that is added to its curvature, which makes moves smaller: where motions differ regardless
# of their timing, the bottom of the valley is not reliable.
_APART = 0.3
# Distance from the path, in frames, at which the valley is sampled, and the number of iterations.
_ASIDE, _ROUNDS = 0.5, 2


@dataclass(frozen=True, slots=True, eq=False)
class PairPath:
    """Corresponding times (N, 2) of a reference and another motion in seconds, and their distance in meters."""

    seconds: Floats
    distance: float


def find_full_path(a: Clouds, b: Clouds, *, window: float, slope_limit: int, relative: bool) -> PairPath:
    """Find the path from the first frames of both motions to the last frames of both.

    relative : whether the slope limit applies after stretching the motions to equal length, or to their own times.
    """
    if not relative:
        values = distance_grid(a, b, window=window).values
        found = dtw(values, slope_limit=slope_limit)
        return PairPath(set_readonly(refine_path(a, b, found.cells.astype(np.float64)) / a.fps), found.distance)
    check_ratio([a, b], [len(a) - 1, len(b) - 1])
    n = max(len(a), len(b))
    even = [replace(resample_clouds(cloud, n), fps=a.fps) for cloud in (a, b)]
    values = distance_grid(*even, window=window).values
    found = dtw(values, slope_limit=slope_limit)
    frames = found.cells * (np.array([len(a) - 1, len(b) - 1]) / (n - 1))
    return PairPath(set_readonly(refine_path(a, b, frames) / a.fps), found.distance)


def find_loop_path(a: Clouds, b: Clouds, loops: Floats, *, window: float, slope_limit: int) -> PairPath:
    """Find the path once around two loops that begin at the same phase, within about a frame.

    The last pair is the first, one cycle later.
    """
    check_ratio([a, b], [len(a), len(b)])
    n = max(len(a), len(b))
    values = _make_loop_grid(a, b, loops, n, window)
    found = _find_best_start(values, range(-2, 3), slope_limit)
    cells = found.cells.copy()
    cells[:, 1] -= n * (cells[0, 1] > n // 2)
    frames = cells * (np.array([len(a), len(b)]) / n)
    margin = 6  # number of frames by which the path may begin earlier or be moved
    longer = [extend_loop(cloud, loop, margin, margin) for cloud, loop in zip((a, b), loops, strict=True)]
    moved = refine_path(longer[0], longer[1], frames + margin, ends=True) - margin
    moved[-1] = moved[0] + [len(a), len(b)]
    return PairPath(set_readonly(moved / a.fps), float(np.sqrt(found.distances[1:].mean())))


def find_loop_shift(a: Clouds, b: Clouds, loops: Floats, *, window: float, slope_limit: int) -> int:
    """Find the frame of loop b that corresponds to the first frame of loop a."""
    few = dtw_cyclic(_make_loop_grid(a, b, loops, _FEW_OF_LOOP, window), slope_limit=slope_limit)
    n = max(len(a), len(b))
    near = round(int(few.cells[0, 1]) * n / _FEW_OF_LOOP)
    reach = max(1, n // _FEW_OF_LOOP)
    starts = range(near - reach, near + reach + 1)
    found = _find_best_start(_make_loop_grid(a, b, loops, n, window), starts, slope_limit)
    return round(int(found.cells[0, 1]) * len(b) / n) % len(b)


def _find_best_start(values: Floats, starts: range, slope_limit: int) -> TimeAlignment:
    """Find the best path around two loops among those that begin at one of the columns `starts`."""
    n = len(values)
    return min(
        (dtw_cyclic(values, start=start % n, slope_limit=slope_limit) for start in starts),
        key=lambda found: float(found.distances[1:].sum()),
    )


def refine_path(a: Clouds, b: Clouds, cells: Floats, *, ends: bool = False) -> Floats:
    """Move the pairs of frames (N, 2) of a path to the bottom of the valley that it follows, to fractions of a frame.

    A path has stair steps, half a frame or more away from the valley, which would make the timing jitter. Across the
    path, where one motion is later and the other earlier, the distances form a parabola near its bottom. Single frames
    are compared, because windows of motions at different speeds have their minimum elsewhere. Where the valley is flat,
    as in a pause, a cell stays about where it is; none moves by more than a frame, and the ends move only on request.
    """
    out = cells.copy()
    free = slice(None) if ends else slice(1, -1)
    for _ in range(_ROUNDS):
        here = out[free]
        probes = here + np.array([-_ASIDE, 0.0, _ASIDE])[:, None, None] * np.array([1.0, -1.0])
        probes = np.clip(probes, 0.0, [len(a) - 1.0, len(b) - 1.0]).reshape(-1, 2)
        before, middle, after = frame_distances(a, probes[:, 0], b, probes[:, 1], [1.0])[1].reshape(3, -1)
        bend = np.maximum(before - 2.0 * middle + after, 0.0)
        bend += _FLAT * np.median(bend) + _APART * middle + 1e-12
        shift = np.clip(_ASIDE * 0.5 * (before - after) / bend, -1.0, 1.0)
        moved = here + shift[:, None] * np.array([1.0, -1.0])
        moved = np.clip(moved, cells[free] - 1.0, cells[free] + 1.0)
        out[free] = np.clip(moved, 0.0, [len(a) - 1.0, len(b) - 1.0])
    return out


def find_medoid(clouds: Sequence[Clouds], *, slope_limit: int, loops: Floats | None = None) -> int:
    """Find the motion with the smallest mean distance to the others, based on a few samples of each."""
    n = len(clouds)
    if loops is None:
        few = [replace(resample_clouds(cloud, _FEW), fps=1.0) for cloud in clouds]
    else:
        few = [_sample_loop(cloud, loop, _FEW, 0, 1.0) for cloud, loop in zip(clouds, loops, strict=True)]
    # Single frames are compared, so all motions fit into one grid.
    values = distance_grid(stack_clouds(few), window=0.0).values.reshape(n, _FEW, n, _FEW)
    around = (np.arange(_FEW) + np.arange(_FEW)[:, None]) % _FEW
    total = np.zeros(n)
    for i, j in itertools.combinations(range(n), 2):
        grid = values[i, :, j]
        if loops is None:
            total[[i, j]] += dtw(grid, slope_limit=slope_limit).distance
        else:
            # Row s holds the corresponding cells if the second loop is s samples ahead.
            total[[i, j]] += np.sqrt(grid[np.arange(_FEW), around].mean(axis=1).min())
    return int(np.argmin(total))


def check_ratio(clouds: Sequence[Clouds], lengths: Sequence[int]) -> None:
    """Raise an error if the ratio of the motions' durations is too large."""
    longer = int(lengths[1] > lengths[0])
    ratio = lengths[longer] / lengths[1 - longer]
    if ratio > LARGEST_RATIO:
        long, short = (clouds[k].name or "one motion" for k in (longer, 1 - longer))
        raise NoTimewarp(
            f"{long!r} lasts {ratio:.1f} times as long as {short!r}, but registration allows at most "
            f"{LARGEST_RATIO:g} times; crop the longer motion"
        )


def _make_loop_grid(a: Clouds, b: Clouds, loops: Floats, n: int, window: float) -> Floats:
    """Compute D (n, n) of two loops at n times of one cycle of each; windows cross the seam."""
    rate = a.fps * n / max(len(a), len(b))
    half = int(np.floor(0.5 * window * rate + 1e-9))
    few = [_sample_loop(cloud, loop, n, half, rate) for cloud, loop in zip((a, b), loops, strict=True)]
    values = distance_grid(*few, window=window).values
    return values[half : half + n, half : half + n]


def _sample_loop(clouds: Clouds, loop: Floats, n: int, margin: int, rate: float) -> Clouds:
    """Sample a loop at n times of one cycle, and at `margin` more before and after it."""
    step = len(clouds) / n
    more = int(np.ceil(margin * step)) + 1
    at: Floats = np.arange(-margin, n + margin, dtype=np.float64) * step + more
    return sample_clouds(extend_loop(clouds, loop, more, more), at, rate)
