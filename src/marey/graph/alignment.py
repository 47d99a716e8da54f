"""Compute distances and aligning transforms at single cells of a distance grid."""

from __future__ import annotations

import numpy as np

from marey.compare import Clouds
from marey.core.arrays import Floats, Ints, set_readonly
from marey.graph.alike_kernels import CenteredClip, align_cells, center_markers


def align_at_cells(a: Clouds, b: Clouds, frame_weights: Floats, cells: Ints) -> Floats:
    """Compute D and the aligning transform at cells (N, 2) with complete windows. Each row of the result (N, 6) is row,
    column, D in m^2, and the rigid2d (theta, x, z) that moves b's frame onto a's.

    The result for a cell does not depend on the other cells.
    """
    half = len(frame_weights) // 2
    if not len(cells):
        return set_readonly(np.empty((0, 6)))
    first = cells.min(axis=0) - half
    last = cells.max(axis=0) + half + 1
    ours, theirs = (center_clip(clouds, int(i), int(j)) for clouds, i, j in zip((a, b), first, last, strict=True))
    return align_centered((ours, theirs), (int(first[0]), int(first[1])), frame_weights, cells)


def align_centered(
    clips: tuple[CenteredClip, CenteredClip], begins: tuple[int, int], frame_weights: Floats, cells: Ints
) -> Floats:
    """Compute the result of `align_at_cells` for centered clips that begin at frames `begins`."""
    found, out = np.empty((len(cells), 4)), np.empty((len(cells), 6))
    align_cells(*clips, cells - begins, frame_weights, found)
    out[:, :2], out[:, 2:] = cells, found
    return set_readonly(out)


def center_clip(clouds: Clouds, start: int, stop: int) -> CenteredClip:
    """Return frames `start` to `stop`, half-open, in the form that the kernels need."""
    n = stop - start
    clip = CenteredClip(np.zeros((n, 3, -(-clouds.n_markers // 8) * 8)), np.empty((n, 2)), np.empty(n))
    center_markers(clouds.points[start:stop], clouds.weights, *clip)
    return clip
