"""Parts of the body, besides the feet, that may lie on the floor: hands, knees, elbows, pelvis, back and head.

Their joints lie inside the body, so each part has a thickness. Pelvis, back and head are round: they roll on the floor
without sliding. Their contacts are therefore found and held on their *slip path*: the path of the joint minus its
movement due to rolling. A slip path stands still while the part rolls, and moves while the part slides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from marey.core.arrays import Floats
from marey.core.contacts import ContactPoint
from marey.core.skeleton import Skeleton
from marey.maths import quat

# Maximum height in meters, for the reference body, of the joint of a part that lies on the floor.
_REST = {"wrist": 0.05, "fingertips": 0.01, "pelvis": 0.12, "back": 0.13, "head": 0.12, "knee": 0.07, "elbow": 0.06}
# A joint is never closer to the floor than this fraction of that height.
_THINNEST = 0.5
# Radius in meters, for the reference body, of the parts that roll.
_RADIUS = {"pelvis": 0.1, "back": 0.11, "head": 0.1}
# Role of each part's joint, and role of the joint at the start of the chain of bones that leads to it.
_TRUNK = {"pelvis": ("hips", None), "back": ("chest", "spine"), "head": ("head", "neck")}
_LIMBS = {"knee": ("lower_leg", "upper_leg"), "elbow": ("forearm", "upper_arm")}
_HAND = {"wrist": "hand", "fingertips": "fingertips"}
_SIDES = ("left", "right")


@dataclass(frozen=True, slots=True)
class BodyPart:
    """A part of the body, other than hands and feet, that can be held in place.

    kind : "pelvis", "back", "head", "knee" or "elbow".
    joint : index of its joint.
    base : index of the joint that rotates to move it; -1 for the pelvis, which moves with the entire body.
    """

    kind: str
    joint: int
    base: int


@lru_cache(maxsize=64)
def list_body_parts(skeleton: Skeleton) -> tuple[tuple[str, BodyPart], ...]:
    """List the parts that a skeleton has, with their names, from the pelvis outward."""
    roles, lengths = skeleton.roles, skeleton.bone_lengths
    parts = []
    named: list[tuple[str, str, str, str | None]] = [
        (kind, kind, role, start) for kind, (role, start) in _TRUNK.items()
    ]
    for kind, (end, base_end) in _LIMBS.items():
        named += [(f"{side}_{kind}", kind, f"{side}_{end}", f"{side}_{base_end}") for side in _SIDES]
    for name, kind, role, start in named:
        joint, base = roles.get(role), -1 if start is None else roles.get(start)
        if joint is None or base is None:
            continue
        if base >= 0:
            chain = skeleton.chain(joint)
            if base not in chain or not lengths[list(chain[chain.index(base) + 1 :])].sum() > 0.0:
                continue
        parts.append((name, BodyPart(kind, joint, base)))
    return tuple(parts)


def find_body_part(skeleton: Skeleton, point: ContactPoint) -> BodyPart | None:
    """Return the body part that a contact point belongs to; None if its joint carries no such part."""
    return next((part for _, part in list_body_parts(skeleton) if part.joint == point.joint), None)


def make_hand_points(skeleton: Skeleton) -> Iterator[ContactPoint]:
    """Make the contact points of the hands: wrists and fingertips."""
    roles = skeleton.roles
    if "left_hand" not in roles and "right_hand" not in roles:
        roles["left_hand"]  # raises
    for side in _SIDES:
        for part, role in _HAND.items():
            if f"{side}_{role}" in roles:
                yield ContactPoint(f"{side}_{part}", roles[f"{side}_{role}"], np.zeros(3))


def make_body_points(skeleton: Skeleton) -> Iterator[ContactPoint]:
    """Make the contact points of knees, elbows, pelvis, back and head, which is the middle of the skull."""
    for name, part in list_body_parts(skeleton):
        offset = np.zeros(3)
        if part.kind == "head" and (ends := skeleton.children[part.joint]):
            offset = 0.5 * skeleton.offsets[list(ends)].mean(axis=0)
        yield ContactPoint(name, part.joint, offset)


def find_rest_height(skeleton: Skeleton, point: ContactPoint) -> float:
    """Return the height in meters below which a contact point that is not on a foot touches the floor, for the
    reference body."""
    part = find_body_part(skeleton, point)
    return _REST.get(point.name.partition("_")[2], 0.0) if part is None else _REST[part.kind]


def find_thickness(part: BodyPart) -> float:
    """Return the height in meters of a part's joint above the floor when the part lies on the floor, for the reference
    body."""
    return _THINNEST * _REST[part.kind]


def is_round(skeleton: Skeleton, point: ContactPoint) -> bool:
    """Return whether a point is on a part of the body that rolls: pelvis, back or head."""
    part = find_body_part(skeleton, point)
    return part is not None and part.kind in _RADIUS


def subtract_rolling(
    skeleton: Skeleton, points: Sequence[ContactPoint], rotations: Sequence[Floats], scale: float, paths: Floats
) -> None:
    """Convert, in place, paths (F, K, 3) of points on parts that roll to slip paths.

    rotations : (F, 4) world rotations of the joint of each point.
    scale : size of the body.
    """
    for k, point in enumerate(points):
        part = find_body_part(skeleton, point)
        if part is None or part.kind not in _RADIUS:
            continue
        spin = _RADIUS[part.kind] * scale * quat.log(quat.mul_inv(rotations[k][1:], rotations[k][:-1]))
        # A ball that rotates by w moves by w x (radius up).
        paths[1:, k, 0] += np.cumsum(spin[:, 2])
        paths[1:, k, 2] -= np.cumsum(spin[:, 0])
