"""Split a skeleton into lower body with hips, upper body, and the joint between them (Heck 4.2.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Bools, Ints, set_readonly
from marey.core.motion import Motion, check_motion
from marey.core.placement import check_same_skeleton
from marey.core.skeleton import Skeleton
from marey.layer.trunk_kernels import Cut

SIDES = ("left", "right")


@dataclass(frozen=True, slots=True, eq=False)
class BodySplit:
    """A skeleton split at its first spine joint, the attachment.

    skeleton : skeleton with J joints.
    attachment : first spine joint, the only one whose rotation a splice computes.
    upper : (J,) True for the descendants of the attachment, without the attachment itself.
    below : joints that determine the attachment and the hip line in the world, parents first.
    above : joints from the attachment to those in `points`, parents first.
    points : joints whose positions are compared to align the trunk: the spine above the attachment, and both arms.
    arms, legs : (2,) left and right upper arm, left and right upper leg.
    """

    skeleton: Skeleton
    attachment: int
    upper: Bools
    below: Ints
    above: Ints
    points: Ints
    arms: Ints
    legs: Ints

    @property
    def cut(self) -> Cut:
        """The split, as a record for the kernels."""
        return Cut(self.skeleton.parents, self.below, self.above, self.points, self.legs)


def split_body(skeleton: Skeleton) -> BodySplit:
    """Split a skeleton; a missing role raises `JointNotFound` with a remedy."""
    roles = skeleton.roles
    attachment = roles["spine"]
    # Use the upper arms, not the shoulders: in many files the shoulder joints lie on the spine and show no twist.
    arms = [roles[f"{side}_upper_arm"] for side in SIDES]
    legs = [roles[f"{side}_upper_leg"] for side in SIDES]
    upper = np.zeros(len(skeleton), dtype=bool)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        upper[joint] = parent >= 0 and (parent == attachment or bool(upper[parent]))
    points = [joint for joint in roles.spine if upper[joint]] + arms
    below = sorted({joint for end in (attachment, *legs) for joint in skeleton.chain(end)})
    above = sorted({attachment, *(joint for end in points for joint in skeleton.chain(end) if upper[joint])})
    arrays = (np.array(part, dtype=np.int64) for part in (below, above, points, arms, legs))
    return BodySplit(skeleton, attachment, set_readonly(upper), *(set_readonly(part) for part in arrays))


def check_pair(lower: Motion, upper: Motion, where: str) -> BodySplit:
    """Split the common skeleton of two motions; raise an error if their skeletons differ. `where` is the operation, for
    the message."""
    check_bodies(lower, upper, where)
    return split_body(lower.skeleton)


def check_bodies(first: Motion, second: Motion, where: str) -> None:
    """Raise an error unless both are motions with the same skeleton."""
    for given in (first, second):
        check_motion(given, f"each motion of {where}")
    remedy = "retarget them onto one skeleton with `retarget=True`"
    check_same_skeleton(first.skeleton, second.skeleton, where, remedy)
