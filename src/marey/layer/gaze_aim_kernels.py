"""Compiled: interpolate a gaze map, and re-aim a look at its goal.

An interpolated row does not point the eyes exactly at the goal. So `aim` queries the map a second time, at the goal
plus the error of the first query.

Key: v = (15,) rotation vectors of the five parts (pelvis, lower spine, upper spine, neck, eyes); m = direction in
which the eyes point according to the gaze map alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marey.compiled import Floats1D, Floats3D, Out, helper, kernel
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Vec

Angles = tuple[float, float]

_AHEAD = (0.0, 0.0, 1.0)
# Largest correction of yaw and of pitch when a look is aimed again, in radians.
_MAX_CORRECTION = 0.35


class GazeTable(NamedTuple):
    """The grid of a gaze map; see `GazeMap`.

    rows : (ny, np, 22) numbers of the shifts at the ny x np grid points; see `GazeShift.to_row`.
    origin, cell : (2,) yaw and pitch of the first grid point, and the grid spacing, in radians.
    """

    rows: Floats3D
    origin: Floats1D
    cell: Floats1D


@helper
def get_direction(yaw: float, pitch: float) -> Vec:
    """Return the unit vector at a yaw and pitch."""
    return math.sin(yaw) * math.cos(pitch), math.sin(pitch), math.cos(yaw) * math.cos(pitch)


@helper
def wrap_near(angle: float, other: float) -> float:
    """Return the angle plus a multiple of 2 pi, within pi of `other`."""
    n_circles: float = np.rint((angle - other) / (2.0 * math.pi))
    return angle - 2.0 * math.pi * n_circles


@helper
def _interpolate(table: GazeTable, yaw: float, pitch: float, row: Floats1D) -> None:
    """Interpolate the first numbers of the table's rows at a goal and write them to `row`.

    Catmull-Rom interpolation, with continuous first derivatives across cells.
    """
    rows, origin, cell = table.rows, table.origin, table.cell
    n = row.shape[0]
    x = min(max((yaw - origin[0]) / cell[0], 1.0), rows.shape[0] - 2.0 - 1e-9)
    y = min(max((pitch - origin[1]) / cell[1], 1.0), rows.shape[1] - 2.0 - 1e-9)
    i, j = int(x), int(y)
    s, t = x - i, y - j
    wx0, wx1 = 0.5 * s * (-1.0 + s * (2.0 - s)), 0.5 * (2.0 + s * s * (-5.0 + 3.0 * s))
    wx2, wx3 = 0.5 * s * (1.0 + s * (4.0 - 3.0 * s)), 0.5 * s * s * (s - 1.0)
    wy0, wy1 = 0.5 * t * (-1.0 + t * (2.0 - t)), 0.5 * (2.0 + t * t * (-5.0 + 3.0 * t))
    wy2, wy3 = 0.5 * t * (1.0 + t * (4.0 - 3.0 * t)), 0.5 * t * t * (t - 1.0)
    for k in range(n):
        row[k] = 0.0
    for a in range(4):
        wx = wx0 if a == 0 else wx1 if a == 1 else wx2 if a == 2 else wx3
        for b in range(4):
            w = wx * (wy0 if b == 0 else wy1 if b == 1 else wy2 if b == 2 else wy3)
            corner = rows[i - 1 + a, j - 1 + b]
            for k in range(n):
                row[k] += w * corner[k]


@helper
def get_eye_direction(v: Floats1D, ahead: Vec) -> Vec:
    """Return m: `ahead` rotated by eyes, neck, upper spine, lower spine and pelvis, in this order."""
    out = ahead
    for part in range(4, -1, -1):
        out = vec.rotate(vec.exp(vec.get(v, 3 * part)), out)
    return out


@helper
def aim(table: GazeTable, request: Angles, goal: Vec, ahead: Vec, row: Floats1D) -> Vec:
    """Write the table's numbers at a request to `row`, corrected once to rotate `ahead` closer to `goal`; return m."""
    yaw, pitch = request
    _interpolate(table, yaw, pitch, row)
    m = get_eye_direction(row, ahead)
    off = wrap_near(math.atan2(goal[0], goal[2]) - math.atan2(m[0], m[2]), 0.0)
    up = math.atan2(goal[1], np.hypot(goal[0], goal[2])) - math.atan2(m[1], np.hypot(m[0], m[2]))
    off = min(max(off, -_MAX_CORRECTION), _MAX_CORRECTION)
    up = min(max(up, -_MAX_CORRECTION), _MAX_CORRECTION)
    _interpolate(table, yaw + off, pitch + up, row)
    return get_eye_direction(row, ahead)


@kernel
def aim_row(table: GazeTable, request: Floats1D, goal: Floats1D, row: Out[Floats1D]) -> None:
    """Write the table's first numbers at a request (2,) to `row`, corrected to rotate straight ahead to `goal` (3,)."""
    aim(table, (request[0], request[1]), vec.get(goal, 0), _AHEAD, row)
