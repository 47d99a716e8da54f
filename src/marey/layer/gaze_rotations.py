"""Rotate a character's spine and head by a look, for poses that are generated live."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats
from marey.core.skeleton import Skeleton
from marey.layer.gaze_body import GazeBody
from marey.layer.gaze_kernels import find_goal_angles, rotate_spine

__all__ = ["find_look_angles", "rotate_to_look"]


def rotate_to_look(skeleton: Skeleton, rotations: Floats, heading: Floats, vectors: Floats) -> Floats:
    """(F, J, 4) local rotations with the joints from the first of the spine to the head turned; hips and legs are not.

    Parameters
    ----------
    rotations : (F, J, 4) local.
    heading : (F,) radians, the direction in which the body faces; defines the axes of the rotations.
    vectors : (F, 15) rotation vectors of pelvis, lower spine, upper spine, neck and eyes; the eyes' are ignored.
    """
    body = GazeBody.from_skeleton(skeleton)
    above = np.array(skeleton.chain(int(body.chain[0]))[:-1], dtype=np.int64)
    out = np.array(rotations, dtype=np.float64, order="C")
    rotate_spine(
        above, body.chain, body.fractions, np.asarray(heading, dtype=np.float64), np.ascontiguousarray(vectors), out
    )
    return out


def find_look_angles(skeleton: Skeleton, positions: Floats, rotations: Floats, heading: float, goal: Floats) -> Floats:
    """(2,) yaw and pitch of a point from a body's heading, as its eyes see it.

    Parameters
    ----------
    positions, rotations : (J, 3) and (J, 4) in the world.
    goal : (3,) meters.
    """
    body = GazeBody.from_skeleton(skeleton)
    return np.array(find_goal_angles(positions[body.head], rotations[body.head], body.eyes, float(heading), goal))
