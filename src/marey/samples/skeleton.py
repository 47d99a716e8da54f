"""The skeleton of all generated motion, its contact points, and some of its lengths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from marey.core.contacts import ContactPoint
from marey.core.skeleton import Skeleton

# (name, parent, offset in meters) of the middle and of the left side, for a body 1.76 m tall that faces +Z.
_MIDDLE = [
    ("Hips", None, (0.0, 0.0, 0.0)),
    ("Spine", "Hips", (0.0, 0.09, -0.01)),
    ("Spine1", "Spine", (0.0, 0.12, -0.01)),
    ("Spine2", "Spine1", (0.0, 0.13, 0.0)),
    ("Neck", "Spine2", (0.0, 0.17, 0.0)),
    ("Head", "Neck", (0.0, 0.09, 0.02)),
    ("HeadEnd", "Head", (0.0, 0.17, 0.0)),
]
_ARM = [
    ("Shoulder", "Spine2", (0.03, 0.13, 0.01)),
    ("Arm", "Shoulder", (0.15, 0.0, -0.01)),
    ("ForeArm", "Arm", (0.29, 0.0, 0.0)),
    ("Hand", "ForeArm", (0.25, 0.0, 0.0)),
    ("HandEnd", "Hand", (0.17, 0.0, 0.0)),
]
# The ball of the foot and the toe tip lie in the plane of the sole. A foot that rolls over its ball therefore rotates
# about that joint.
_LEG = [
    ("UpLeg", "Hips", (0.09, -0.06, 0.0)),
    ("Leg", "UpLeg", (0.0, -0.43, 0.0)),
    ("Foot", "Leg", (0.0, -0.42, 0.0)),
    ("ToeBase", "Foot", (0.0, -0.08, 0.13)),
    ("ToeBaseEnd", "ToeBase", (0.0, 0.0, 0.075)),
]
# Distance of the heel behind the ankle, as a fraction of the ankle-ball distance; it fits the way feet roll.
_HEEL_FRACTION = 0.36
_PALM = 0.09  # meters from the wrist to the middle of the palm
SIDES = (("left", 1.0), ("right", -1.0))


def body_skeleton() -> Skeleton:
    """Return a human skeleton of 27 joints, 5 of them end sites, in a T-pose.

    Examples
    --------
    >>> skeleton = marey.samples.body_skeleton()
    >>> len(skeleton), skeleton.offsets.shape
    (27, (27, 3))
    """
    rows: list[tuple[str, str | None, tuple[float, float, float]]] = list(_MIDDLE)
    for limb in (_ARM, _LEG):
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            for name, parent, (x, y, z) in limb:
                above = parent if any(parent == row[0] for row in _MIDDLE) else side + parent
                rows.append((side + name, above, (sign * x, y, z)))
    names = [row[0] for row in rows]
    parents = [-1 if row[1] is None else names.index(row[1]) for row in rows]
    return Skeleton(tuple(names), np.array(parents), np.array([row[2] for row in rows]))


@dataclass(frozen=True, slots=True)
class BodyLengths:
    """Lengths of the sample body in meters."""

    ankle: float  # height of the ankle above the sole
    ball: float  # horizontal distance from the ankle forward to the ball of the foot
    heel: float  # horizontal distance from the ankle back to the heel
    toe: float  # from the ball of the foot to the tip of the toes
    hip: float  # height of the hip joints relative to joint 0, negative
    hip_side: float  # from the middle to a hip joint
    leg: float  # thigh and shin
    arm: float  # upper arm and forearm
    stand: float  # height of joint 0 with both legs straight


@cache
def sample_body() -> tuple[Skeleton, BodyLengths]:
    """Return the skeleton of all samples, and its lengths."""
    skeleton = body_skeleton()
    roles, offsets, lengths = skeleton.roles, skeleton.offsets, skeleton.bone_lengths
    _, down, ahead = offsets[roles["left_ball"]].tolist()
    across, hip, _ = offsets[roles["left_upper_leg"]].tolist()
    leg = float(lengths[roles["left_lower_leg"]] + lengths[roles["left_foot"]])
    build = BodyLengths(
        ankle=-down,
        ball=ahead,
        heel=round(_HEEL_FRACTION * float(np.hypot(down, ahead)), 6),
        toe=float(lengths[roles["left_toe_tip"]]),
        hip=hip,
        hip_side=across,
        leg=leg,
        arm=float(lengths[roles["left_forearm"]] + lengths[roles["left_hand"]]),
        stand=leg - down - hip,
    )
    return skeleton, build


def sole_points() -> tuple[ContactPoint, ...]:
    """Return the contact points of samples: heel and ball of both feet."""
    skeleton, build = sample_body()
    points = []
    for side, _ in SIDES:
        heel = np.array([0.0, -build.ankle, -build.heel])
        points.append(ContactPoint(f"{side}_heel", skeleton.roles[f"{side}_foot"], heel))
        points.append(ContactPoint(f"{side}_ball", skeleton.roles[f"{side}_ball"], np.zeros(3)))
    return tuple(points)


def palm_points() -> tuple[ContactPoint, ...]:
    """Return the contact points of samples whose hands touch the floor: the middle of both palms."""
    skeleton, _ = sample_body()
    return tuple(
        ContactPoint(f"{side}_palm", skeleton.roles[f"{side}_hand"], np.array([sign * _PALM, 0.0, 0.0]))
        for side, sign in SIDES
    )
