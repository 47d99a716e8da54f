"""Slow twin of a look by a character that stands still and faces +Z."""

import numpy as np

from marey.maths import quat


def turned_joints(motion, shift, begin, spine, neck):
    """Return local rotations (F, J, 4) after one look (Heck 5.2.3): a spine joint for each part, the neck's over the
    rest."""
    world = motion.world().rotations
    out = motion.rotations.copy()
    for frame in range(len(motion)):
        turns = shift.rotations_at([frame / motion.fps - begin])[0]
        whole = quat.identity()
        above = world[frame, motion.skeleton.parents[spine[0]]]
        for joint, part, fraction in [
            *((joint, part, 1.0) for part, joint in enumerate(spine)),
            *((joint, 3, 1.0 / len(neck)) for joint in neck),
        ]:
            whole = quat.mul(whole, quat.power(turns[part], fraction))
            now = quat.mul(whole, world[frame, joint])
            out[frame, joint] = quat.inv_mul(above, now)
            above = now
    return out


def looking(shift, seconds):
    """Return the direction of the eyes at a time from the start of a look, as a unit vector."""
    toward = np.array([0.0, 0.0, 1.0])
    for turn in shift.rotations_at([seconds])[0][::-1]:
        toward = quat.rotate(turn, toward)
    return toward
