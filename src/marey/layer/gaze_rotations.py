"""Rotate the spine and head of a character for a look; for poses that are generated live."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats
from marey.core.skeleton import Skeleton
from marey.layer.gaze_body import GazeBody
from marey.layer.gaze_kernels import find_goal_angles, rotate_spine

__all__ = ["find_look_angles", "rotate_to_look"]


def rotate_to_look(skeleton: Skeleton, rotations: Floats, heading: Floats, vectors: Floats) -> Floats:
    """Return local rotations (F, J, 4) with the joints from the first spine joint to the head rotated for a look.

    Hips and legs do not change.

    Parameters
    ----------
    rotations : (F, J, 4) local rotations.
    heading : (F,) heading of the body in radians; it defines the axes of the rotation vectors.
    vectors : (F, 15) rotation vectors of pelvis, lower spine, upper spine, neck and eyes (the eyes are ignored).
    """
    body = GazeBody.from_skeleton(skeleton)
    above = np.array(skeleton.chain(int(body.chain[0]))[:-1], dtype=np.int64)
    out = np.array(rotations, dtype=np.float64, order="C")
    rotate_spine(
        above, body.chain, body.fractions, np.asarray(heading, dtype=np.float64), np.ascontiguousarray(vectors), out
    )
    return out


def find_look_angles(skeleton: Skeleton, positions: Floats, rotations: Floats, heading: float, goal: Floats) -> Floats:
    """Return yaw and pitch (2,), in radians, of a point seen from the eyes, relative to the body's heading.

    Parameters
    ----------
    positions, rotations : (J, 3) world positions and (J, 4) world rotations of the joints.
    heading : heading of the body in radians.
    goal : (3,) world position of the point, in meters.
    """
    body = GazeBody.from_skeleton(skeleton)
    return np.array(find_goal_angles(positions[body.head], rotations[body.head], body.eyes, float(heading), goal))
