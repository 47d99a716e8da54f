"""Automatic cropping: choose the range of each motion so that all begin and end at the same point of the action.

Recordings start and stop at arbitrary points of an action. Gait is cut where the feet pass each other: all motions
begin with the same foot swinging and have the same number of half cycles. Other motions are cut to the common range
found in the distance grid.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from marey.compare import Clouds, distance_grid, frame_distances
from marey.core.arrays import Floats, Ints
from marey.core.motion import Motion
from marey.edit import crop
from marey.errors import NotBlendable
from marey.register.crop_kernels import find_shared_path
from marey.register.ends import refine_crops
from marey.register.sampling import sample_clouds
from marey.register.steps import FootPassings, find_steps

# Times within a half cycle at which gaits are compared to choose among their steps.
_PER_STEP = 8
# Hz at which to search for the range that motions have in common, and for the motion most similar to the others.
_RATE, _COARSE_RATE = 30.0, 10.0
# Distances up to which frames are similar, as fractions of the largest distance allowed. They are tried in this order,
# until the motions share at least _MIN_COMMON of the shorter one: small distances cut more precisely where motions
# diverge.
_SIMILAR, _MIN_COMMON = (0.35, 0.5, 0.7), 0.6
# Minimum number of passings of the feet in a gait.
_WALKING = 3
# A range must last at least this many seconds, and at least this fraction of the shortest motion.
_MIN_SECONDS, _MIN_FRACTION = 0.25, 0.25
_FEET = ("left", "right")
# A walk may begin and end this many half cycles before its first and after its last passing of the feet.
_PART_OF_STEP = 1.5


def find_crops(
    motions: Sequence[Motion], clouds: Sequence[Clouds], *, slope_limit: int, max_distance: float, pivot: int | None
) -> tuple[Ints, str]:
    """Find the corresponding range (n, 2) of frames of each motion, stops exclusive, and describe how it was found.

    Parameters
    ----------
    clouds : the motions' point clouds, at one rate.
    slope_limit : largest ratio of playback speeds, used for motions without gait.
    max_distance : meters; for motions without gait, the largest distance at which frames count as similar.
    pivot : index of the motion to compare the others with, if it is already known.

    Raise `NotBlendable` if the motions have no range in common.
    """
    steps = [find_steps(motion, cloud) for motion, cloud in zip(motions, clouds, strict=True)]
    found = find_gait_crops(steps, clouds)
    if found is None:
        # A motion with gait and one without may have a standing pose in common, but hardly more.
        walking = [len(each) >= _WALKING for each in steps]
        levels = [
            factor * max_distance for factor in (_SIMILAR[:-1] if any(walking) and not all(walking) else _SIMILAR)
        ]
        if pivot is None:
            pivot = 0 if len(clouds) == 2 else _find_most_similar(clouds, slope_limit, levels)
        found = find_grid_crops(clouds, pivot, slope_limit, levels)
    crops, note = found
    # The order of the motions must not matter.
    shortest = int(np.argmin(crops[:, 1] - crops[:, 0]))
    return refine_crops(crops, clouds, shortest), note


def find_gait_crops(steps: Sequence[FootPassings], clouds: Sequence[Clouds]) -> tuple[Ints, str] | None:
    """Find frames (n, 2) with the largest equal number of half cycles, same foot first; None if any motion has no gait.

    If a motion has extra steps, those most similar to the other motions are used.
    """
    counts = {foot: min(_count_half_cycles(each, foot) for each in steps) for foot in (0, 1)}
    n_half = max(counts.values())
    if n_half < 1:
        return None
    samples = [_sample_per_step(each, cloud) for each, cloud in zip(steps, clouds, strict=True)]
    best: tuple[float, list[int], int] | None = None
    for foot in (0, 1):
        if counts[foot] < n_half:
            continue
        choices = [_list_choices(each, foot, n_half) for each in steps]
        pivot = min(range(len(steps)), key=lambda j: (len(choices[j]), len(clouds[j])))
        costs = {
            j: _compute_offset_costs(samples[pivot], samples[j], choices[pivot], choices[j], n_half)
            for j in range(len(steps))
            if j != pivot
        }
        # For each choice of the pivot, the sum over the other motions of the cost of their best choice.
        totals = np.sum([cost.min(axis=1) for cost in costs.values()], axis=0)
        k = int(np.argmin(totals))
        if best is None or totals[k] < best[0]:
            picks = [choices[j][k if j == pivot else int(np.argmin(costs[j][k]))] for j in range(len(steps))]
            best = float(totals[k]), picks, foot
    assert best is not None
    _, first, foot = best
    ends = [(each.frames[k], each.frames[k + n_half]) for each, k in zip(steps, first, strict=True)]
    crops: Ints = np.rint(np.array(ends)).astype(np.int64) + np.array([0, 1])
    crops[:, 1] = np.minimum(crops[:, 1], [len(cloud) for cloud in clouds])
    cycles = f"{n_half} half cycle{'s' if n_half > 1 else ''}"
    return crops, f"cropped to {cycles} of gait, from where the {_FEET[foot]} foot passes the other"


def crop_gaits(motions: Sequence[Motion]) -> tuple[tuple[Motion, ...], str] | None:
    """Crop walks or runs to the largest equal number of half cycles, same foot first, around the middle of each.

    Return the motions and a note; None if a motion is not a walk or run throughout, or if they have no full cycle in
    common. Unlike `find_crops`, this does not choose the most similar steps, so turns in the middle are kept.
    """
    steps = [find_steps(motion) for motion in motions]
    if not all(_walks_throughout(each, len(motion)) for each, motion in zip(steps, motions, strict=True)):
        return None
    counts = [min(_count_half_cycles(each, foot) for each in steps) for foot in (0, 1)]
    n_half = max(counts)
    if n_half < 2:
        return None
    best: tuple[float, int, list[tuple[float, float]]] | None = None
    for foot in (0, 1):
        if counts[foot] < n_half:
            continue
        ends, off_center = [], 0.0
        for each, motion in zip(steps, motions, strict=True):
            spans = [(each.frames[k], each.frames[k + n_half]) for k in _list_choices(each, foot, n_half)]
            off, chosen = min((abs(sum(span) - (len(motion) - 1)), span) for span in spans)
            ends.append(chosen)
            off_center += off / motion.fps
        if best is None or off_center < best[0]:
            best = off_center, foot, ends
    assert best is not None
    _, foot, ends = best
    cropped = tuple(
        crop(motion, round(start), min(round(stop) + 1, len(motion)))
        for motion, (start, stop) in zip(motions, ends, strict=True)
    )
    return cropped, (
        f"walks are cropped to {n_half} half cycles around the middle of each, from where the {_FEET[foot]} foot "
        "passes the other; `crop=None` uses all frames"
    )


def _walks_throughout(steps: FootPassings, n_frames: int) -> bool:
    """Return whether the motion walks from end to end: only incomplete steps come before the first step and after the
    last."""
    if len(steps) < _WALKING:
        return False
    longest = _PART_OF_STEP * float(np.median(np.diff(steps.frames)))
    return bool(steps.frames[0] <= longest and n_frames - 1 - steps.frames[-1] <= longest)


def _count_half_cycles(steps: FootPassings, foot: int) -> int:
    """Count the half cycles that follow the first passing of `foot`."""
    return len(steps) - 1 - (0 if len(steps) and steps.feet[0] == foot else 1)


def _list_choices(steps: FootPassings, foot: int, n_half: int) -> list[int]:
    """List the passings of `foot` that are followed by `n_half` half cycles."""
    return [k for k in range(len(steps) - n_half) if steps.feet[k] == foot]


def _sample_per_step(steps: FootPassings, clouds: Clouds) -> Clouds:
    """Sample the markers at equal fractions of each half cycle."""
    positions = np.arange(_PER_STEP * (len(steps) - 1) + 1) / _PER_STEP
    return sample_clouds(clouds, np.interp(positions, np.arange(len(steps)), steps.frames), 1.0)


def _compute_offset_costs(a: Clouds, b: Clouds, at_a: list[int], at_b: list[int], n_half: int) -> Floats:
    """Compute the mean D over the following half cycles, for each start in a and each start in b."""
    along = np.arange(_PER_STEP * n_half + 1, dtype=np.float64)
    pairs = np.array(list(itertools.product(at_a, at_b)))
    frames = _PER_STEP * pairs[:, None] + along[:, None]
    apart = frame_distances(a, frames[..., 0].ravel(), b, frames[..., 1].ravel(), [1.0])[1]
    return np.asarray(apart.reshape(len(at_a), len(at_b), len(along)).mean(axis=2))


def find_grid_crops(
    clouds: Sequence[Clouds], pivot: int, slope_limit: int, levels: Sequence[float]
) -> tuple[Ints, str]:
    """Crop all motions to the part that they share: return start and stop frames (n, 2), and how they were found.

    In the grid of each motion, the path from border to border with the highest score is used. A frame pair scores a
    reference distance minus its own distance. `levels` lists reference distances in meters, which are tried in order
    until the path covers most of the shorter motion.
    """
    paths = [
        None if j == pivot else _find_shared_path(clouds[pivot], other, _RATE, slope_limit, levels)[0]
        for j, other in enumerate(clouds)
    ]
    start = max(float(path[0, 0]) for path in paths if path is not None)
    stop = min(float(path[-1, 0]) for path in paths if path is not None)
    least = max(_MIN_SECONDS, _MIN_FRACTION * min(len(cloud) / cloud.fps for cloud in clouds))
    if (stop - start) / clouds[pivot].fps < least:
        raise NotBlendable(
            f"no stretch of {clouds[pivot].name or pivot!r} that lasts at least {least:.2f} s resembles part of every "
            "other motion",
            parameter="crop",
            remedy="crop the motions by hand and use `crop=None`",
        )
    crops = np.empty((len(clouds), 2), dtype=np.int64)
    for j, path in enumerate(paths):
        at = [start, stop] if path is None else np.interp([start, stop], path[:, 0], path[:, 1])
        crops[j] = np.rint(at).astype(np.int64) + [0, 1]
    if all(tuple(crop) == (0, len(cloud)) for crop, cloud in zip(crops, clouds, strict=True)):
        return crops, "not cropped, because the motions are similar from end to end"
    return crops, "cropped to the range in which the motions go through the same poses"


def _find_shared_path(
    a: Clouds, b: Clouds, rate: float, slope_limit: int, levels: Sequence[float]
) -> tuple[Floats, float]:
    """Return the frames (N, 2) along the path that a and b share, and its score in seconds.

    rate : frames per second at which the motions are compared. levels : see `find_grid_crops`.
    """
    every = max(1, int(a.fps // rate))
    thin = [sample_clouds(cloud, _thin_frames(len(cloud), every), cloud.fps / every) for cloud in (a, b)]
    values = distance_grid(thin[0], thin[1]).values
    for level in levels:
        cells, gained = find_shared_path(1.0 - values / level**2, slope_limit)
        covered = (cells[-1] - cells[0]).mean() / min(values.shape)
        if covered >= _MIN_COMMON:
            break
    scale = [(len(cloud) - 1) / max(len(few) - 1, 1) for cloud, few in zip((a, b), thin, strict=True)]
    return cells * np.array(scale), float(gained) * every / (level * a.fps)


def _thin_frames(n: int, every: int) -> Floats:
    """Take about every n-th frame, including the first and the last."""
    return np.linspace(0.0, n - 1.0, max(2, round((n - 1) / every) + 1))


def _find_most_similar(clouds: Sequence[Clouds], slope_limit: int, levels: Sequence[float]) -> int:
    """Return the index of the motion that has most in common with all others; `levels` are those of
    `find_grid_crops`."""
    total = np.zeros(len(clouds))
    for i, j in itertools.combinations(range(len(clouds)), 2):
        gained = _find_shared_path(clouds[i], clouds[j], _COARSE_RATE, slope_limit, levels)[1]
        total[[i, j]] += gained
    return int(np.argmax(total))
