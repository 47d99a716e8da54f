"""The points of the body that touch things, and their paths through the world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from marey.core._arrays import Floats, settle
from marey.core.contacts import ContactPoint
from marey.core.kinematics import World
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import quat

SIDES = ("left", "right")
# How far behind the ankle the heel rolls on the floor, as a share of the distance from ankle to ball. Fitted to the
# rocker of recorded walks; anatomy agrees (the calcaneus reaches back by a quarter to a third of the foot).
HEEL_SHARE = 0.36
# A rest pose stands when its feet lie this nearly below its hips (cosine), and ball and ankle not above each other.
_STANDING = 0.7
_FLAT = 0.5
# A foot is taken for standing in the quarter of all frames in which it moves least.
_STILLEST = 25.0

_UP = np.array([0.0, 1.0, 0.0])


def contact_points(
    skeleton: Skeleton, hands: bool = False, floor: float | None = None, standing: Motion | None = None
) -> tuple[ContactPoint, ...]:
    """Heel and ball of each foot, and with `hands` wrist and fingertips of each hand.

    A ball is the joint at which the toes bend, a heel lies level with it behind the ankle, unless the foot carries a
    joint there. Both are as low as the foot's lowest joint: the sole.

    Parameters
    ----------
    hands : also `left_wrist`, `left_fingertips`, `right_wrist`, `right_fingertips`, where the skeleton has them.
    floor : metres, height of the floor under the rest pose, with joint 0 at the origin. Heels and balls are put there
        instead, so that the thickness of flesh and shoe counts.
    standing : a motion of this skeleton in which the feet stand. It tells where a sole is when the rest pose does not
        stand, as in files whose bones all lie along one axis.

    Raises `JointNotFound` where there is neither foot, and `InvalidValue` where nothing tells how the feet stand.
    """
    roles = skeleton.roles
    feet = [side for side in SIDES if f"{side}_foot" in roles]
    if not feet:
        roles["left_foot"]  # raises, and says how to name one
    rest = skeleton.rest_positions
    ups = dict.fromkeys(feet, _UP)
    if not all(_rest_stands(skeleton, rest, side) for side in feet):
        if floor is not None:
            raise InvalidValue("the rest pose does not stand, so no floor can be given under it; leave floor out")
        if standing is None:
            raise InvalidValue(
                "the rest pose does not stand, so it does not tell where the soles are; give standing=, a motion in "
                "which the feet stand"
            )
        ups = _standing_ups(standing, feet)
    points: list[ContactPoint] = []
    for side in feet:
        points += _foot_points(skeleton, rest, side, ups[side], floor)
    if hands:
        points += _hand_points(skeleton)
    return tuple(points)


def point_paths(motion: Motion, points: Sequence[ContactPoint]) -> Floats:
    """World paths of contact points, (F, K, 3) metres."""
    return paths_in(motion.world(), points)


def paths_in(world: World, points: Sequence[ContactPoint]) -> Floats:
    """The same from joints that are already in the world."""
    from marey.clean import _kernels

    n_frames, n_joints = world.positions.shape[:2]
    for point in points:
        if point.joint >= n_joints:
            raise InvalidValue(
                f"contact point {point.name!r} sits on joint {point.joint}, but the skeleton has {n_joints} joints"
            )
    paths = np.empty((n_frames, len(points), 3))
    joints = np.array([point.joint for point in points], dtype=np.int64)
    offsets = np.array([point.offset for point in points], dtype=np.float64).reshape(-1, 3)
    _kernels.place_points(world.positions, world.rotations, joints, offsets, paths)
    return settle(paths)


def leg_length(skeleton: Skeleton) -> float:
    """Thigh and shin of the longer leg, metres: the length that all others are measured by."""
    roles, lengths = skeleton.roles, skeleton.bone_lengths
    longest = 0.0
    for side in SIDES:
        foot = roles.get(f"{side}_foot")
        if foot is None:
            continue
        hip = roles[f"{side}_upper_leg"]
        chain = skeleton.chain(foot)
        if hip not in chain:
            names = skeleton.names
            raise InvalidValue(
                f"the {side} foot {names[foot]!r} does not hang from the {side} thigh {names[hip]!r}, so the leg "
                "has no length; correct the role map"
            )
        longest = max(longest, float(sum(lengths[j] for j in chain[chain.index(hip) + 1 :])))
    if longest <= 0.0:
        roles["left_foot"]
        raise InvalidValue("the skeleton's legs have no length, so there is no scale to measure contacts by")
    return longest


def side_of(skeleton: Skeleton, point: ContactPoint) -> str | None:
    """The foot that a point is part of, ``"left"`` or ``"right"``; None for a point elsewhere."""
    chain = skeleton.chain(point.joint)
    for side in SIDES:
        if skeleton.roles.get(f"{side}_foot") in chain:
            return side
    return None


def _rest_stands(skeleton: Skeleton, rest: Floats, side: str) -> bool:
    roles = skeleton.roles
    foot = roles[f"{side}_foot"]
    hip = roles.get(f"{side}_upper_leg", 0)
    leg = rest[foot] - rest[hip]
    length = float(np.linalg.norm(leg))
    if length == 0.0 or -leg[1] < _STANDING * length:
        return False
    front = _front_joint(skeleton, side)
    if front is None:
        return True
    toes = rest[front] - rest[foot]
    return float(np.hypot(toes[0], toes[2])) >= _FLAT * float(np.linalg.norm(toes))


def _front_joint(skeleton: Skeleton, side: str) -> int | None:
    """The ball of the foot, or the toe tip where there is no ball."""
    for part in ("ball", "toe_tip"):
        joint = skeleton.roles.get(f"{side}_{part}")
        if joint is not None:
            return int(joint)
    return None


def _standing_ups(motion: Motion, feet: Sequence[str]) -> dict[str, Floats]:
    """For each foot the upward direction in its joint's own frame, while it stands."""
    world, roles = motion.world(), motion.skeleton.roles
    ups = {}
    for side in feet:
        ankle = roles[f"{side}_foot"]
        joints = [ankle, _front_joint(motion.skeleton, side) or ankle]
        path = world.positions[:, joints]
        if len(path) > 1:
            step = np.linalg.norm(np.diff(path, axis=0), axis=2).max(axis=1)
            speed = np.minimum(np.append(step, step[-1]), np.insert(step, 0, step[0]))
        else:
            speed = np.zeros(1)
        still = speed <= np.percentile(speed, _STILLEST)
        low = path[:, 1, 1] <= np.median(path[still, 1, 1]) + 1e-9
        up = np.median(quat.inv_rotate(world.rotations[still & low, ankle], _UP), axis=0)
        ups[side] = up / max(float(np.linalg.norm(up)), 1e-12)
    return ups


def _foot_points(
    skeleton: Skeleton, rest: Floats, side: str, up: Floats, floor: float | None
) -> Iterator[ContactPoint]:
    roles = skeleton.roles
    ankle, front = roles[f"{side}_foot"], _front_joint(skeleton, side)
    if front is None:  # nothing tells where the foot points, so the ankle is all there is
        drop = 0.0 if floor is None else floor - float(rest[ankle, 1])
        yield _point(f"{side}_heel", ankle, drop * up)
        return
    toes = rest[front] - rest[ankle]
    sole = float(toes @ up)
    tip = roles.get(f"{side}_toe_tip")
    if tip is not None and up is _UP:  # else the toes' own frame may be turned against the ankle's
        sole = min(sole, float(rest[tip, 1] - rest[ankle, 1]))
    if floor is not None:
        sole = floor - float(rest[ankle, 1])
    forward = toes - (toes @ up) * up
    reach = float(np.linalg.norm(forward))
    forward = forward / reach if reach > 0.0 else np.zeros(3)
    heel = _heel_joint(skeleton, rest, ankle, front, up, forward)
    if heel is not None:
        level = 0.0 if floor is None else floor - float(rest[heel, 1])
        yield _point(f"{side}_heel", heel, level * up)
    else:
        back = HEEL_SHARE * float(np.linalg.norm(toes))
        yield _point(f"{side}_heel", ankle, sole * up - back * forward)
    yield _point(f"{side}_ball", front, (sole - float(toes @ up)) * up)


def _point(name: str, joint: int, offset: Floats) -> ContactPoint:
    """To the micrometre: people read and edit these."""
    return ContactPoint(name, joint, np.round(offset, 6) + 0.0)


def _heel_joint(skeleton: Skeleton, rest: Floats, ankle: int, front: int, up: Floats, forward: Floats) -> int | None:
    """A leaf under the ankle that lies behind and below it, if the rig has one."""
    parents = skeleton.parents
    for joint in np.flatnonzero(parents == ankle).tolist():
        if joint == front or (parents == joint).any():
            continue
        offset = rest[joint] - rest[ankle]
        if offset @ forward < 0.0 and offset @ up < 0.0:
            return int(joint)
    return None


def _hand_points(skeleton: Skeleton) -> Iterator[ContactPoint]:
    roles = skeleton.roles
    if "left_hand" not in roles and "right_hand" not in roles:
        roles["left_hand"]  # raises
    for side in SIDES:
        for part, role in (("wrist", "hand"), ("fingertips", "fingertips")):
            if f"{side}_{role}" in roles:
                yield ContactPoint(f"{side}_{part}", roles[f"{side}_{role}"], np.zeros(3))
