"""Contact points of the body and their world paths."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from marey.clean import contact_kernels
from marey.clean.body_parts import make_body_points, make_hand_points
from marey.core import kinematics_kernels
from marey.core.arrays import Floats, set_readonly
from marey.core.contacts import ContactPoint
from marey.core.kinematics import World
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.maths import quat

SIDES = ("left", "right")
# How far behind the ankle the heel rolls on the floor, as a fraction of the distance from ankle to ball. Fitted to the
# heel rocker of recorded walks; anatomy agrees (the calcaneus extends back by a quarter to a third of the foot).
HEEL_FRACTION = 0.36
# A rest pose is a standing pose if its feet are this closely below its hips (cosine), and if the horizontal distance
# from ankle to ball is at least this fraction of the total.
_STANDING = 0.7
_FLAT = 0.5
# A foot is assumed to stand in the quarter of all frames in which it moves least.
_STILLEST = 0.25

Vector = tuple[float, float, float]
_UP: Vector = (0.0, 1.0, 0.0)


def contact_points(
    skeleton: Skeleton,
    hands: bool = False,
    floor: float | None = None,
    standing: Motion | None = None,
    *,
    body: bool = False,
) -> tuple[ContactPoint, ...]:
    """Find heel and ball of each foot, on request also points of hands and of the rest of the body.

    The ball is the joint at which the toes bend. The heel is level with it, behind the ankle, unless the foot has a
    joint there. Both are as low as the foot's lowest joint: the sole.

    Parameters
    ----------
    hands : also return `left_wrist`, `left_fingertips`, `right_wrist`, `right_fingertips`, if the skeleton has them.
    floor : height of the floor under the rest pose in meters, with joint 0 at the origin. If given, heels and balls are
        placed at this height, which accounts for the thickness of flesh and shoe.
    standing : a motion of this skeleton in which the feet stand. It shows where the soles are if the rest pose is not a
        standing pose, as in files whose bones all lie along one axis.
    body : also return those of the hands, and `pelvis`, `back`, `head`, `left_knee`, `right_knee`, `left_elbow`,
        `right_elbow`, if the skeleton has them.

    Raise `JointNotFound` if both feet are missing, and `InvalidValue` if the standing pose of the feet cannot be
    found.

    Examples
    --------
    >>> from marey.clean import contact_points
    >>> [point.name for point in contact_points(walk.skeleton)]
    ['left_heel', 'left_ball', 'right_heel', 'right_ball']
    """
    roles = skeleton.roles
    feet = [side for side in SIDES if f"{side}_foot" in roles]
    if not feet:
        roles["left_foot"]  # raises an error that explains how to map it
    rest = _RestPose(skeleton)
    ups = dict.fromkeys(feet, _UP)
    if not all(_is_rest_standing(rest, side) for side in feet):
        if floor is not None:
            raise InvalidValue("floor must be None if the rest pose is not a standing pose")
        if standing is None:
            raise InvalidValue(
                "the rest pose is not a standing pose, so it does not show the soles; pass a motion in "
                "which the feet stand as `standing`"
            )
        ups = _find_standing_up(standing, feet)
    points: list[ContactPoint] = []
    for side in feet:
        points += _make_foot_points(rest, side, ups[side], floor)
    if hands or body:
        points += make_hand_points(skeleton)
    if body:
        points += make_body_points(skeleton)
    return tuple(points)


def point_paths(motion: Motion, points: Sequence[ContactPoint]) -> Floats:
    """Compute the world paths of contact points, (F, K, 3) meters.

    Examples
    --------
    >>> from marey.clean import point_paths
    >>> point_paths(walk, walk.contacts.points).shape
    (241, 4, 3)
    """
    world = motion.world()
    n_frames, n_joints = world.positions.shape[:2]
    check_points(points, n_joints)
    paths = np.empty((n_frames, len(points), 3))
    joints = np.array([point.joint for point in points], dtype=np.int64)
    offsets = np.array([point.offset for point in points], dtype=np.float64).reshape(-1, 3)
    contact_kernels.place_points(world.positions, world.rotations, joints, offsets, paths)
    return set_readonly(paths)


def check_points(points: Sequence[ContactPoint], n_joints: int) -> None:
    """Raise an error if a point is on a joint that a skeleton of `n_joints` joints does not have."""
    for point in points:
        if point.joint >= n_joints:
            raise InvalidValue(
                f"contact point {point.name!r} is on joint {point.joint}, but the skeleton has only {n_joints} joints"
            )


def place_joints(motion: Motion, joints: Sequence[int]) -> tuple[World, list[int]]:
    """Compute `Motion.world` for `joints` and their ancestors only; also return the index of each joint in it.

    This saves time: the legs are a third of a body.
    """
    parents = motion.skeleton.parents.tolist()
    needed = {0}
    for joint in joints:
        while joint not in needed:
            needed.add(joint)
            joint = parents[joint]
    order = sorted(needed)  # parents come first, as they do in the skeleton
    slot = {joint: i for i, joint in enumerate(order)}
    above = np.array([slot.get(parents[joint], -1) for joint in order], dtype=np.int64)
    positions, rotations = np.empty((len(motion), len(order), 3)), np.empty((len(motion), len(order), 4))
    offsets, local = np.take(motion.shared_offsets, order, axis=1), np.take(motion.rotations, order, axis=1)
    kinematics_kernels.forward(above, offsets, motion.root_positions, local, positions, rotations)
    return World(set_readonly(positions), set_readonly(rotations)), [slot[joint] for joint in joints]


def leg_length(skeleton: Skeleton) -> float:
    """Return the length of thigh plus shin of the longer leg in meters; all thresholds scale with it."""
    roles, longest = skeleton.roles, 0.0
    for side in SIDES:
        foot = roles.get(f"{side}_foot")
        if foot is None:
            continue
        hip = roles[f"{side}_upper_leg"]
        bones = _find_bones_between(skeleton, hip, foot)
        if bones is None:
            names = skeleton.names
            raise InvalidValue(
                f"the {side} foot {names[foot]!r} is not a descendant of the {side} thigh {names[hip]!r}, so the leg "
                "length is unknown; correct the role map"
            )
        longest = max(longest, sum(math.hypot(*skeleton.offsets[j].tolist()) for j in bones))
    if longest <= 0.0:
        roles["left_foot"]
        raise InvalidValue("the legs of the skeleton have zero length, so contacts cannot be detected at its scale")
    return longest


def find_side(skeleton: Skeleton, point: ContactPoint) -> str | None:
    """Return the foot that a point is part of, ``"left"`` or ``"right"``; None for a point elsewhere."""
    for side in SIDES:
        foot = skeleton.roles.get(f"{side}_foot")
        if foot is not None and _find_bones_between(skeleton, foot, point.joint) is not None:
            return side
    return None


def _find_bones_between(skeleton: Skeleton, top: int, joint: int) -> list[int] | None:
    """Return the joints from `joint` up to but excluding `top`; None if `joint` is not below `top`."""
    bones = []
    while joint != top:
        if joint <= 0:
            return None
        bones.append(joint)
        joint = int(skeleton.parents[joint])
    return bones


class _RestPose:
    """Positions of single joints in the rest pose, as plain numbers, which is fast for a few joints."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self._parents, self._offsets = skeleton.parents.tolist(), skeleton.offsets.tolist()

    def __getitem__(self, joint: int) -> Vector:
        """Return the position of a joint in meters, with joint 0 at the origin."""
        x = y = z = 0.0
        while joint > 0:
            dx, dy, dz = self._offsets[joint]
            x, y, z, joint = x + dx, y + dy, z + dz, self._parents[joint]
        return x, y, z

    def find_leaves(self, joint: int) -> list[int]:
        """Return the children of a joint that are leaves."""
        return [j for j, parent in enumerate(self._parents) if parent == joint and j not in self._parents]


def _is_rest_standing(rest: _RestPose, side: str) -> bool:
    roles = rest.skeleton.roles
    foot = roles[f"{side}_foot"]
    leg = _subtract(rest[foot], rest[roles.get(f"{side}_upper_leg", 0)])
    length = math.hypot(*leg)
    if length == 0.0 or -leg[1] < _STANDING * length:
        return False
    front = _find_front_joint(rest.skeleton, side)
    if front is None:
        return True
    toes = _subtract(rest[front], rest[foot])
    return math.hypot(toes[0], toes[2]) >= _FLAT * math.hypot(*toes)


def _find_front_joint(skeleton: Skeleton, side: str) -> int | None:
    """Return the ball of the foot, or the toe tip of a foot without a ball."""
    for part in ("ball", "toe_tip"):
        joint = skeleton.roles.get(f"{side}_{part}")
        if joint is not None:
            return int(joint)
    return None


def _find_standing_up(motion: Motion, feet: Sequence[str]) -> dict[str, Vector]:
    """Return the up direction of each foot while it stands, in its joint's own coordinate frame."""
    roles = motion.skeleton.roles
    ankles = [roles[f"{side}_foot"] for side in feet]
    fronts = [_find_front_joint(motion.skeleton, side) or ankle for side, ankle in zip(feet, ankles, strict=True)]
    world, slots = place_joints(motion, [*ankles, *fronts])
    speeds = np.empty(world.positions.shape[:2])
    contact_kernels.measure_speeds(world.positions, 1.0, speeds)
    ups = {}
    for side, ankle, front in zip(feet, slots, slots[len(feet) :], strict=False):
        stillest = np.argsort(np.maximum(speeds[:, ankle], speeds[:, front]))[: math.ceil(_STILLEST * len(motion))]
        heights = world.positions[stillest, front, 1]
        low = stillest[heights <= _compute_median(heights) + 1e-9]
        up = quat.inv_rotate(world.rotations[low, ankle], _UP)
        x, y, z = (_compute_median(up[:, c]) for c in range(3))
        length = max(math.hypot(x, y, z), 1e-12)
        ups[side] = (x / length, y / length, z / length)
    return ups


def _compute_median(values: Floats) -> float:
    """Return the median, or the lower of two; `np.median` would take most of the time for a short clip."""
    middle = (len(values) - 1) // 2
    return float(np.partition(values, middle)[middle])


def _make_foot_points(rest: _RestPose, side: str, up: Vector, floor: float | None) -> Iterator[ContactPoint]:
    roles = rest.skeleton.roles
    ankle, front = roles[f"{side}_foot"], _find_front_joint(rest.skeleton, side)
    at = rest[ankle]
    if front is None:  # the direction of the foot is unknown, so use the ankle alone
        yield _make_point(f"{side}_heel", ankle, _multiply(up, 0.0 if floor is None else floor - at[1]))
        return
    toes = _subtract(rest[front], at)
    drop = sole = _dot(toes, up)
    tip = roles.get(f"{side}_toe_tip")
    if tip is not None and up is _UP:  # otherwise the toes' frame may be rotated relative to the ankle's
        sole = min(sole, rest[tip][1] - at[1])
    if floor is not None:
        sole = floor - at[1]
    forward = _subtract(toes, _multiply(up, drop))
    reach = math.hypot(*forward)
    forward = _multiply(forward, 1.0 / reach) if reach > 0.0 else (0.0, 0.0, 0.0)
    heel = _find_heel_joint(rest, ankle, front, up, forward)
    if heel is not None:
        yield _make_point(f"{side}_heel", heel, _multiply(up, 0.0 if floor is None else floor - rest[heel][1]))
    else:
        back = HEEL_FRACTION * math.hypot(*toes)
        yield _make_point(f"{side}_heel", ankle, _subtract(_multiply(up, sole), _multiply(forward, back)))
    yield _make_point(f"{side}_ball", front, _multiply(up, sole - drop))


def _make_point(name: str, joint: int, offset: Vector) -> ContactPoint:
    """Make a point with its offset rounded to micrometers, because people read and edit offsets."""
    return ContactPoint(name, joint, set_readonly(np.array([round(c, 6) + 0.0 for c in offset])))


def _find_heel_joint(rest: _RestPose, ankle: int, front: int, up: Vector, forward: Vector) -> int | None:
    """Return a leaf child of the ankle that lies behind and below it, if the rig has one.

    rest : the rest pose.
    front : joint at the front of the foot, which cannot be the heel.
    up, forward : unit vectors of the body.
    """
    for joint in rest.find_leaves(ankle):
        offset = _subtract(rest[joint], rest[ankle])
        if joint != front and _dot(offset, forward) < 0.0 and _dot(offset, up) < 0.0:
            return joint
    return None


def _subtract(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _multiply(a: Vector, factor: float) -> Vector:
    return a[0] * factor, a[1] * factor, a[2] * factor


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
