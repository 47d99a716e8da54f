"""Gait metrics: vertical and lateral movement, which blending reduces and returning to a single pose increases.

Each metric is the median over strides, which makes clips and streams of any length comparable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.core.placement import find_left_axis
from marey.core.reports import ReportBase
from marey.measure.gait import find_strides

__all__ = ["GaitMetrics", "gait_metrics", "lean"]


@dataclass(frozen=True, slots=True)
class GaitMetrics(ReportBase):
    """Gait metrics of one or several motions, medians over their strides.

    bob : meters, vertical range of the hips in a stride.
    lift : meters, vertical range of the ankles in a stride, mean of left and right.
    sway : radians, range of the trunk's lateral lean in a stride.
    """

    bob: float
    lift: float
    sway: float


def gait_metrics(motion: Motion | Sequence[Motion]) -> GaitMetrics:
    """Compute the metrics of a motion, or of several together; NaN if there are no strides.

    Examples
    --------
    >>> metrics = marey.control.gait_metrics(walk)
    >>> metrics.bob > 0.0, metrics.lift > metrics.bob  # meters
    (True, True)
    """
    rows: list[tuple[float, float, float]] = []
    for one in [motion] if isinstance(motion, Motion) else motion:
        world, roles = one.world(), one.skeleton.roles
        heights = world.positions[:, :, 1]
        leans = lean(one)
        for stride in find_strides(one):
            part = slice(int(np.floor(stride.start)), int(np.ceil(stride.stop)) + 1)
            ankles = np.ptp(heights[part][:, [roles["left_foot"], roles["right_foot"]]], axis=0)
            rows.append((float(np.ptp(heights[part, roles["hips"]])), float(ankles.mean()), float(np.ptp(leans[part]))))
    if not rows:
        return GaitMetrics(np.nan, np.nan, np.nan)
    return GaitMetrics(*np.median(rows, axis=0).tolist())


def lean(motion: Motion) -> Floats:
    """Return the lateral lean (F,) of the trunk in radians, positive to the character's left."""
    roles, positions = motion.skeleton.roles, motion.world().positions
    top = next((roles[name] for name in ("neck", "head", "chest") if name in roles), roles["hips"])
    trunk = positions[:, top] - positions[:, roles["hips"]]
    left = np.asarray(find_left_axis(motion.skeleton, positions)) * [1.0, 0.0, 1.0]
    left = left / np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-12)
    return np.asarray(np.arctan2((trunk * left).sum(axis=1), trunk[:, 1]))
