"""Level a capture: rotate it until the floor is horizontal, and remove the drift of the floor."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from marey.clean import FloorPlane, find_floor_plane
from marey.core.annotations import add_provenance
from marey.core.arrays import set_readonly
from marey.core.motion import Motion, check_motion
from marey.maths import quat


def level(motion: Motion) -> Motion:
    """Rotate the motion so that the plane through the standing feet is horizontal, and stays at one height.

    The motion stays where it begins: it is rotated about the point of the floor below the first position of the hips.
    If the floor slowly rises or sinks during the clip, the motion is moved back. A tilt or drift within the error of
    the estimate is not changed. Provenance records the tilt in radians and the drift in meters.

    Raise `NoResult` if the feet stand at too few places, too close together, or not on a plane, as on stairs.

    Examples
    --------
    >>> from dataclasses import replace
    >>> tilt, turns = marey.maths.quat.exp([0.05, 0.0, 0.0]), turning.rotations.copy()
    >>> turns[:, 0] = marey.maths.quat.mul(tilt, turns[:, 0])
    >>> roots = marey.maths.quat.rotate(tilt, turning.root_positions)
    >>> level = marey.edit.level(replace(turning, root_positions=roots, rotations=turns))
    >>> round(level.source.provenance[-1]["tilt"], 2)  # radians
    0.05
    """
    plane = find_floor_plane(check_motion(motion))
    return add_provenance(level_to(motion, plane), "level", **describe_leveling(plane))


def describe_leveling(plane: FloorPlane | None) -> dict[str, float]:
    """Return what `level_to` corrects: the tilt in radians, and the drift in meters."""
    if plane is None:
        return {"tilt": 0.0, "drift": 0.0}
    return {"tilt": plane.tilt if plane.is_tilted else 0.0, "drift": plane.drift}


def level_to(motion: Motion, plane: FloorPlane | None) -> Motion:
    """Return the motion without the tilt and drift of its floor, if these are known and significant."""
    if plane is None:
        return motion
    if plane.is_tilted:
        motion = _rotate_level(motion, plane)
    if plane.drift:
        root = motion.root_positions.copy()
        root[:, 1] -= plane.drift * (np.arange(len(root)) - plane.first) / max(plane.last - plane.first, 1.0)
        motion = replace(motion, root_positions=set_readonly(root))
    return motion


def _rotate_level(motion: Motion, plane: FloorPlane) -> Motion:
    start = motion.travel[0] if "hips" in motion.skeleton.roles else motion.root_positions[0]
    height = plane.height + plane.slope_x * start[0] + plane.slope_z * start[2]
    pivot = np.array([start[0], height, start[2]])
    normal = np.array([-plane.slope_x, 1.0, -plane.slope_z])
    rotation = quat.between(normal / math.hypot(*normal), np.array([0.0, 1.0, 0.0]))
    rotations = motion.rotations.copy()
    rotations[:, 0] = quat.mul(rotation, rotations[:, 0])
    return replace(
        motion,
        root_positions=set_readonly(pivot + quat.rotate(rotation, motion.root_positions - pivot)),
        rotations=set_readonly(rotations),
        source=replace(motion.source, floor=None if motion.source.floor is None else float(height)),
    )
