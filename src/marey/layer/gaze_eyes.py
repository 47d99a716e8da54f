"""Eye joints: rotate those that a skeleton has, or add one to the head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from marey.core.arrays import Floats, set_readonly
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton, end_name
from marey.errors import InvalidValue
from marey.layer.gaze_body import GazeBody
from marey.maths import quat

__all__ = ["add_eyes"]

_ADDED = "Eyes"
# Distance in meters from the added joint to its end site, which points where the eyes look.
_TIP = 0.15


def add_eyes(motion: Motion, body: GazeBody, eye_rotations: Floats, ahead: Floats, eyes: str | Sequence[str]) -> Motion:
    """Return the motion with eye joints that rotate by `eye_rotations` (F, 4).

    ahead : (3,) direction in which the head looks, in its local axes.
    eyes : "add" to add a joint, or names of children of the head joint.
    """
    if eyes == "add":
        return _add_eye_joint(motion, body, eye_rotations, ahead)
    if isinstance(eyes, str):
        raise InvalidValue(f"eyes must be 'add' or a list of children of the head joint, not {eyes!r}")
    rotations = motion.rotations.copy()
    for name in eyes:
        joint = motion.skeleton.index(name)
        if motion.skeleton.parents[joint] != body.head:
            raise InvalidValue(
                f"joint {name!r} cannot be an eye, because it is not a child of the head joint "
                f"{motion.skeleton.names[body.head]!r}; leave it out, or let `eyes=` add an eye joint"
            )
        rotations[:, joint] = quat.mul(eye_rotations, rotations[:, joint])
    return replace(motion, rotations=set_readonly(quat.unroll(rotations)))


def _add_eye_joint(motion: Motion, body: GazeBody, eye_rotations: Floats, ahead: Floats) -> Motion:
    given, n, j = motion.skeleton, len(motion), len(motion.skeleton)
    if _ADDED in given.names:
        raise InvalidValue(f"the skeleton already has a joint {_ADDED!r}; name it in `eyes=` instead of adding one")
    roles = {role: given.names[joint] for role, joint in given.roles.items()}
    skeleton = Skeleton(
        (*given.names, _ADDED, end_name(_ADDED, given.names)),
        np.append(given.parents, [body.head, j]),
        np.concatenate([given.offsets, body.eyes[None], _TIP * ahead[None]]),
        # Keep all roles: they must not change because joints are added.
        {**roles, **given.role_map},
    )
    rotations = np.concatenate(
        [motion.rotations, eye_rotations[:, None], np.broadcast_to(quat.identity(), (n, 1, 4))], axis=1
    )
    bones = motion.bone_offsets
    if bones is not None:
        bones = set_readonly(np.concatenate([bones, np.broadcast_to(skeleton.offsets[j:], (n, 2, 3))], axis=1))
    # Drop the file's own names, offsets and channels, which lack the added joints.
    source = replace(motion.source, file_names=(), file_offsets=None, channels=None, channel_values=None)
    return replace(
        motion, skeleton=skeleton, rotations=set_readonly(quat.unroll(rotations)), bone_offsets=bones, source=source
    )
