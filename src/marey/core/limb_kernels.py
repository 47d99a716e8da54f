"""Inverse kinematics of one limb in compiled loops: rotate hip and knee until the end meets a target (Kovar 3.2.5).

Written for a leg; an arm is the same with shoulder, elbow and wrist. Everything is in world axes, for one frame.

`marey.core.solve_limb` does the same for arrays of limbs in local axes, with three differences. First, the knee here
rotates in the plane of its current bend if that is clear, else about the axis about which it bends in other frames.
Second, a knee that is bent slightly backward, as in recordings, is rotated by the same angle as one bent forward
equally far, so a limb that needs no adjustment stays unchanged; scaling the limb closes any gap that this leaves.
Third, the more the limb would have to be scaled because of damping, the less the knee is damped.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from marey.compiled import Floats2D, Ints1D, helper, kernel
from marey.maths import vector_kernels as vec
from marey.maths.vector_kernels import Quat, Vec

# Sine of the bend angle at which the current plane and the usual axis have equal weight: for bends in the usual
# direction and in the opposite one. Recorded knees may bend backward when they are nearly straight.
_TRUSTED, _TRUSTED_BACK = 0.12, 0.5
# If a knee bends backward, plane and axis may cancel. If their sum is shorter than this, the knee rotates less.
_CANCELED = 0.06
# Damping decreases from the first of these changes of the limb's length, which Kovar calls invisible, to zero at the
# second, as fractions.
_SCALED, _SCALED_MAX = 0.03, 0.15


@kernel
def find_hinge_axis(up: Vec, down: Vec, usual: Vec) -> tuple[Vec, float]:
    """Return the knee's axis in the world, and the factor for rotations about it.

    A positive rotation straightens the limb. The factor is 1, except where the axis changes its sign from one frame to
    the next: there it drops to 0, so that the knee does not jump.

    up, down : vectors from the knee to hip and ankle.
    usual : axis from other frames; its length, up to 1, is its reliability.
    """
    lengths = vec.norm(up) * vec.norm(down)
    seen = vec.scale(1.0 / lengths, vec.cross(up, down)) if lengths > 1e-12 else (0.0, 0.0, 0.0)
    back = min(max(-vec.dot(seen, usual) / _TRUSTED, 0.0), 1.0)
    weight = _TRUSTED + back * (_TRUSTED_BACK - _TRUSTED)
    both = vec.add(seen, vec.scale(weight, usual))
    return vec.normalize(both, vec.normalize(usual, (1.0, 0.0, 0.0))), min(vec.norm(both) / _CANCELED, 1.0)


@kernel
def find_knee_rotation(up: Vec, down: Vec, hinge: Vec, distance: float, damping: float) -> float:
    """Return the rotation about the hinge, in radians, that puts hip and ankle `distance` apart, as far as damping
    allows.

    up, down : vectors from the knee to hip and ankle.
    hinge : unit vector of the knee's axis.
    damping : knee angle in radians above which rotations are damped; pi for no damping.
    """
    after = _find_angle(up, down, hinge, distance)
    change: float = _damp(after, damping) - _damp(knee_angle(up, down, hinge), damping)
    return change


@helper
def _find_angle(up: Vec, down: Vec, hinge: Vec, distance: float) -> float:
    """Return the knee angle in its plane at which hip and ankle are `distance` apart, or as nearly as possible.

    up, down : vectors from the knee to hip and ankle.
    hinge : unit vector of the knee's axis.
    """
    a1, a2 = vec.dot(up, hinge), vec.dot(down, hinge)
    b1, b2 = vec.norm(vec.sub(up, vec.scale(a1, hinge))), vec.norm(vec.sub(down, vec.scale(a2, hinge)))
    along, square = vec.square(a1 - a2), distance * distance
    above_min = max(square - along - vec.square(b1 - b2), 0.0)
    below_max = max(vec.square(b1 + b2) + along - square, 0.0)
    return 2.0 * math.atan2(math.sqrt(above_min), math.sqrt(below_max))


@kernel
def find_easing_rotation(up: Vec, down: Vec, hinge: Vec, distance: float, damping: float) -> float:
    """Return the rotation of `find_knee_rotation`, with less damping the more the limb would have to be scaled.

    Without damping, a knee that is bent backward bends forward, until hip and ankle are `distance` apart.

    The parameters are those of `find_knee_rotation`.
    """
    damped = find_knee_rotation(up, down, hinge, distance, damping)
    knee = vec.from_axis_angle(hinge, min(damped, math.pi - knee_angle(up, down, hinge)))
    scale = distance / max(vec.norm(vec.sub(vec.rotate(knee, down), up)), 1e-9)
    hold = vec.fade(max(abs(scale - 1.0) - _SCALED, 0.0) / (_SCALED_MAX - _SCALED))
    if hold == 1.0:
        return damped
    angle = knee_angle(up, down, hinge)
    is_backward = vec.dot(hinge, vec.cross(up, down)) < 0.0
    free = _find_angle(up, down, hinge, distance) - (2.0 * math.pi - angle if is_backward else angle)
    return free + hold * (damped - free)


@helper
def knee_angle(up: Vec, down: Vec, hinge: Vec) -> float:
    """Return the knee angle in its plane, pi if straight; a backward bend counts as the same forward bend.

    up, down : vectors from the knee to hip and ankle.
    hinge : unit vector of the knee's axis.
    """
    across = vec.dot(hinge, vec.cross(up, down))
    return abs(math.atan2(across, vec.dot(up, down) - vec.dot(up, hinge) * vec.dot(down, hinge)))


@helper
def _damp(angle: float, start: float) -> float:
    """Evaluate the integral of Kovar's f (3.14): the angle up to `start`, then flattening toward pi. A `start` of pi
    means no damping."""
    if start >= math.pi or angle <= start:
        return angle
    u = min((angle - start) / (math.pi - start), 1.0)
    return start + (math.pi - start) * (0.5 * vec.square(u * u) - u * u * u + u)


class LimbInput(NamedTuple):
    """A limb before it is solved.

    base : position of the hip.
    up, down : vectors from the knee to hip and ankle.
    hinge : unit axis of the knee.
    end_rotation : world rotation of the ankle.
    """

    base: Vec
    up: Vec
    down: Vec
    hinge: Vec
    end_rotation: Quat


@kernel
def find_swivel(limb: LimbInput, change: float, target: Vec, orientation: Quat, stretch: float) -> float:
    """Return the rotation about the hip-ankle line, in radians, that the ankle still needs after `solve` without
    swivel.

    orientation : desired world rotation of the ankle. The other parameters are those of `solve`.
    """
    hip, knee, line, _, _ = _straighten(limb, change, target, stretch)
    remaining = vec.mul(orientation, vec.inv(vec.mul(vec.mul(hip, knee), limb.end_rotation)))
    w, v = remaining[0], vec.dot(line, (remaining[1], remaining[2], remaining[3]))
    if w < 0.0:
        w, v = -w, -v
    return 2.0 * math.atan2(v, w)


@kernel
def solve(
    limb: LimbInput, change: float, target: Vec, swivel: float, stretch: float
) -> tuple[Quat, Quat, float, float]:
    """Return the rotations of hip and knee, the scale of the bones, and the remaining distance to the target in meters.

    The two rotations are changes in world axes: each multiplies the joint's current world rotation from the left.

    change : desired rotation of the knee about the hinge, in radians.
    target : desired position of the ankle.
    swivel : radians by which the hip rotates about the hip-ankle line, to rotate the ankle less; see `find_swivel`.
    stretch : maximum scaling of the bones, as a fraction of their length.
    """
    hip, knee, line, distance, length = _straighten(limb, change, target, stretch)
    hip = vec.mul(vec.from_axis_angle(line, swivel), hip)
    scale = min(max(distance / max(length, 1e-9), 1.0 - stretch), 1.0 + stretch)
    if abs(scale - 1.0) < 1e-11:
        scale = 1.0
    return hip, vec.mul(hip, knee), scale, abs(distance - scale * length)


@helper
def _straighten(limb: LimbInput, change: float, target: Vec, stretch: float) -> tuple[Quat, Quat, Vec, float, float]:
    """Return the rotations of hip and knee, the unit vector from hip to target, the target's distance, and the limb's
    length.

    The parameters are those of `solve`.
    """
    base, up, down, hinge, _ = limb
    reach = vec.sub(target, base)
    distance = vec.norm(reach)
    knee = vec.from_axis_angle(hinge, min(change, math.pi - knee_angle(up, down, hinge)))
    stick = vec.sub(vec.rotate(knee, down), up)
    # If that needs more scaling than is allowed, rotate the knee further to make up the difference.
    nearest = min(max(vec.norm(stick), distance / (1.0 + stretch)), distance / (1.0 - stretch))
    if nearest != vec.norm(stick):
        knee = vec.from_axis_angle(hinge, find_knee_rotation(up, down, hinge, nearest, math.pi))
        stick = vec.sub(vec.rotate(knee, down), up)
    hip = vec.rotation_between(stick, reach)
    line = vec.normalize(reach, vec.normalize(stick, hinge))
    return hip, knee, line, distance, vec.norm(stick)


@helper
def bones(positions: Floats2D, base: int, mid: int, end: int) -> tuple[Vec, Vec]:
    """Return the vectors from knee to hip and from knee to ankle. `base`, `mid` and `end` are the indices of hip, knee
    and ankle."""
    knee = vec.get(positions[mid], 0)
    return vec.sub(vec.get(positions[base], 0), knee), vec.sub(vec.get(positions[end], 0), knee)


@helper
def parent_rotation(world: Floats2D, parents: Ints1D, joint: int) -> Quat:
    """Return the world rotation of a joint's parent; the identity for joint 0."""
    if parents[joint] < 0:
        return 1.0, 0.0, 0.0, 0.0
    return vec.get_quat(world[parents[joint]], 0)


@helper
def write_local(local: Floats2D, joint: int, parent: Quat, rotation: Quat) -> None:
    """Write a joint's local rotation (row of `local`, (J, 4)) from the world rotations of its parent and itself.

    Of q and -q, write the one closer to the previous rotation: signs stay continuous over time.
    """
    q = vec.normalize_quat(vec.mul(vec.inv(parent), rotation))
    if vec.dot_quat(q, vec.get_quat(local[joint], 0)) < 0.0:
        q = vec.scale_quat(-1.0, q)
    vec.put_quat(local[joint], 0, q)


@helper
def write_limb(
    local: Floats2D,
    world: Floats2D,
    parents: Ints1D,
    joints: tuple[int, int, int],
    hip: Quat,
    knee: Quat,
    orientation: Quat,
) -> None:
    """Write the local rotations (J, 4) of a limb after `solve`.

    world : (J, 4) world rotations before.
    joints : indices of hip, knee, ankle.
    hip, knee : changes of their world rotations, from `solve`.
    orientation : new world rotation of the ankle.
    """
    base, mid, end = joints
    write_local(local, base, parent_rotation(world, parents, base), vec.mul(hip, vec.get_quat(world[base], 0)))
    write_local(
        local, mid, vec.mul(hip, parent_rotation(world, parents, mid)), vec.mul(knee, vec.get_quat(world[mid], 0))
    )
    write_local(local, end, vec.mul(knee, parent_rotation(world, parents, end)), orientation)
