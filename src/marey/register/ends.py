"""Refine the ends of crops so that exact frames match as well as possible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marey.compare import Clouds, frame_distances
from marey.core.arrays import Floats, Ints

# Seconds by which an end may be moved.
_NEAR = 0.03


def refine_crops(crops: Ints, clouds: Sequence[Clouds], pivot: int) -> Ints:
    """Refine crops (n, 2), stops exclusive, so that the first and last frames correspond as closely as possible.

    If a time between frames were rounded in each motion separately, the frames could be up to a frame apart. Instead,
    the frame of the pivot is chosen, near each end, whose most similar frames in the other motions are closest to whole
    frames.
    """
    out = crops.copy()
    reach = max(1, round(_NEAR * clouds[pivot].fps))
    others = [j for j in range(len(clouds)) if j != pivot]
    lengths = np.array([len(cloud) for cloud in clouds])
    for end in (0, 1):
        base = crops[:, end] - end  # the last frame itself; the crop is half-open
        if (base == end * (lengths - 1)).all():
            continue  # nothing was cut off here
        shifts = np.arange(-reach, reach + 1)
        shifts = shifts[(base[pivot] + shifts >= 0) & (base[pivot] + shifts < len(clouds[pivot]))]
        at = np.stack(
            [_find_most_similar(clouds[pivot], int(base[pivot]), clouds[j], int(base[j]), shifts) for j in others]
        )
        # If all shifts are equally good, as for motions that are only shifted in time, keep the end.
        miss = np.abs(at - np.rint(at)).sum(axis=0) + 1e-3 * np.abs(shifts)
        k = int(np.argmin(miss))
        out[pivot, end] = base[pivot] + shifts[k] + end
        out[others, end] = np.rint(at[:, k]).astype(np.int64) + end
    return out


def _find_most_similar(a: Clouds, at_a: int, b: Clouds, at_b: int, shifts: Ints) -> Floats:
    """Find the fractional frames (N,) of b, near ``at_b + shifts``, that are most similar to frames ``at_a + shifts``
    of a."""
    reach = max(1, int(np.abs(shifts).max()))
    columns = at_b + shifts[:, None] + np.arange(-reach, reach + 1)
    inside = np.clip(columns, 0, len(b) - 1)
    rows = np.broadcast_to((at_a + shifts)[:, None], columns.shape)
    found = frame_distances(a, rows.ravel().astype(np.float64), b, inside.ravel().astype(np.float64), [1.0])[1]
    apart = np.where(inside == columns, found.reshape(columns.shape), np.inf)
    best = np.argmin(apart, axis=1)
    out = np.take_along_axis(inside, best[:, None], axis=1)[:, 0].astype(np.float64)
    # Minimum of the parabola through the best frame and its neighbors.
    row = np.flatnonzero((best > 0) & (best < columns.shape[1] - 1))
    before, middle, after = (apart[row, best[row] + d] for d in (-1, 0, 1))
    bend = before - 2.0 * middle + after
    sound = np.isfinite(bend) & (bend > 0.0)
    out[row[sound]] += 0.5 * (before[sound] - after[sound]) / bend[sound]
    return np.clip(out, 0.0, len(b) - 1.0)
