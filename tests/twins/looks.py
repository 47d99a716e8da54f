"""Looks of poses, computed in the world with whole arrays."""

from __future__ import annotations

import numpy as np

from marey.core.kinematics import forward_kinematics
from marey.layer.gaze_body import GazeBody
from marey.layer.gaze_model import direction_to_angles
from marey.maths import quat


def with_look(skeleton, rotations, heading, turns):
    """Do the same as `marey.layer.gaze_rotations.rotate_to_look`."""
    body = GazeBody.from_skeleton(skeleton)
    world = forward_kinematics(skeleton, np.zeros((len(rotations), 3)), rotations).rotations
    turned = quat.from_axis_angle([0.0, 1.0, 0.0], np.asarray(heading))[:, None]
    parts = np.asarray(turns).reshape(len(rotations), 5, 3)
    added = np.broadcast_to(quat.identity(), (len(rotations), len(body.chain), 4))
    for part in range(4):
        added = quat.mul(added, quat.exp(body.fractions[None, :, part, None] * parts[:, None, part]))
    there = quat.mul(quat.mul_inv(quat.mul(turned, added), turned), world[:, body.chain])
    above = world[:, skeleton.parents[body.chain[0]]]
    out = rotations.copy()
    for n, joint in enumerate(body.chain):
        out[:, joint] = quat.inv_mul(above, there[:, n])
        above = there[:, n]
    return out


def angles_to(skeleton, positions, rotations, heading, goal):
    """Do the same as `marey.layer.gaze_rotations.find_look_angles`."""
    body = GazeBody.from_skeleton(skeleton)
    eyes = positions[body.head] + quat.rotate(rotations[body.head], body.eyes)
    return direction_to_angles(quat.inv_rotate(quat.from_axis_angle([0.0, 1.0, 0.0], heading), goal - eyes))
