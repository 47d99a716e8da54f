"""Level a tilted capture: rotate it until the floor is horizontal."""

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
    """Rotate the motion so that the plane through the standing feet is horizontal.

    The motion stays where it begins: it is rotated about the point of the floor below the first position of the hips.
    A tilt within the error of the estimate is not changed. Provenance records the tilt in radians.

    Raises `NoResult` if the feet stand at too few places, too close together, or not on a plane, as on stairs.
    """
    plane = find_floor_plane(check_motion(motion))
    if not plane.is_tilted:
        return add_provenance(motion, "level", tilt=0.0)
    return add_provenance(_rotate_level(motion, plane), "level", tilt=plane.tilt)


def level_if_tilted(motion: Motion, plane: FloorPlane | None) -> tuple[Motion, float]:
    """Return the motion, level, and its tilt in radians; 0 if it was not tilted or the floor is not known."""
    if plane is None or not plane.is_tilted:
        return motion, 0.0
    return _rotate_level(motion, plane), plane.tilt


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
