"""Turning a figure's spine and head by what a look comes to: for poses that are made as they play."""

from __future__ import annotations

import numpy as np

from marey.core._arrays import Floats
from marey.core.kinematics import forward_kinematics
from marey.core.skeleton import Skeleton
from marey.layer.gaze_body import GazeBody
from marey.maths import quat

__all__ = ["with_look"]


def with_look(
    skeleton: Skeleton, rotations: Floats, heading: Floats, turns: Floats, bones: Floats | None = None
) -> Floats:
    """(F, J, 4) local rotations with the joints from the first of the spine to the head turned; hips and legs are not.

    Parameters
    ----------
    rotations : (F, J, 4) local.
    heading : (F,) radians, which way the body faces: the axes of the turns.
    turns : (F, 15) rotation vectors of pelvis, lower spine, upper spine, neck and eyes; the eyes' are not shown.
    bones : (F, J, 3) offsets, where they move.
    """
    body = GazeBody.of(skeleton)
    world = forward_kinematics(skeleton, np.zeros((len(rotations), 3)), rotations, bones).rotations
    turned = quat.from_axis_angle([0.0, 1.0, 0.0], np.asarray(heading))[:, None]
    parts = np.asarray(turns).reshape(len(rotations), 5, 3)
    added = np.broadcast_to(quat.identity(), (len(rotations), len(body.chain), 4))
    for part in range(4):
        added = quat.mul(added, quat.exp(body.shares[None, :, part, None] * parts[:, None, part]))
    there = quat.mul(quat.mul_inv(quat.mul(turned, added), turned), world[:, body.chain])
    first = int(skeleton.parents[body.chain[0]])
    above = world[:, first] if first >= 0 else np.broadcast_to(quat.identity(), (len(rotations), 4))
    out = rotations.copy()
    for n, joint in enumerate(body.chain):
        local = quat.inv_mul(above, there[:, n])
        side = np.where((local * rotations[:, joint]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        out[:, joint] = side * quat.normalize(local)
        above = there[:, n]
    return out
