"""Inverse kinematics of one limb in compiled loops: rotate hip and knee so that the end meets a target (Kovar 3.2.5).

Written for a leg; an arm is the same with shoulder, elbow and wrist. Everything is in world axes, for one frame.

`marey.core.solve_limb` does the same for arrays of limbs in local axes, with three differences. Here the knee rotates
in the plane in which it is bent, if that can be seen, else about the axis about which it bends at other times. A knee
that is bent backwards a little, as recorded ones are, is rotated by as much as one bent forwards by the same angle, so
that a limb without adjustment stays as it is; where that leaves a gap, the limb is scaled. And damping gives way where
the limb may not be scaled as much.
"""

from __future__ import annotations

import math
from typing import Any

from marey.compiled import helper, kernel
from marey.maths.vector_kernels import (
    Quat,
    Vec,
    about,
    add,
    between,
    cross,
    dot,
    dot_quat,
    inv,
    mul,
    put_qua,
    qua,
    scale_quat,
    size,
    squared,
    sub,
    times,
    turn,
    unit,
    unit_qua,
    vec,
)

Array = Any

# The sine of the bend at which its own plane and the usual one count alike.
_TRUSTED = 0.12


@kernel
def hinge_axis(up: Vec, down: Vec, usual: Vec) -> Vec:
    """The knee's axis in the world; a positive turn about it straightens the limb.

    up, down : from the knee to hip and ankle. usual : unit axis from other frames.
    """
    lengths = size(up) * size(down)
    seen = times(1.0 / lengths, cross(up, down)) if lengths > 1e-12 else (0.0, 0.0, 0.0)
    return unit(add(seen, times(_TRUSTED, usual)), usual)


@kernel
def knee_turn(up: Vec, down: Vec, hinge: Vec, distance: float, damping: float) -> float:
    """Radians about the hinge so that hip and ankle come to be `distance` apart, as far as damping lets them."""
    a1, a2 = dot(up, hinge), dot(down, hinge)
    b1, b2 = size(sub(up, times(a1, hinge))), size(sub(down, times(a2, hinge)))
    along, square = squared(a1 - a2), distance * distance
    beyond_least = max(square - along - squared(b1 - b2), 0.0)
    short_of_most = max(squared(b1 + b2) + along - square, 0.0)
    after = 2.0 * math.atan2(math.sqrt(beyond_least), math.sqrt(short_of_most))
    change: float = _damped(after, damping) - _damped(knee_angle(up, down, hinge), damping)
    return change


@helper
def knee_angle(up: Vec, down: Vec, hinge: Vec) -> float:
    """The knee's angle in its plane, pi for straight; one bent backwards counts as bent forwards."""
    across = dot(hinge, cross(up, down))
    return abs(math.atan2(across, dot(up, down) - dot(up, hinge) * dot(down, hinge)))


@helper
def _damped(angle: float, start: float) -> float:
    """Integral of Kovar's f (3.14): the angle up to `start`, then flattening towards pi; pi is no damping."""
    if start >= math.pi or angle <= start:
        return angle
    u = min((angle - start) / (math.pi - start), 1.0)
    return start + (math.pi - start) * (0.5 * squared(u * u) - u * u * u + u)


@kernel
def solve(
    base: Vec, up: Vec, down: Vec, hinge: Vec, change: float, end_rotation: Quat, target: Vec, orientation: Quat,
    swivel: float, stretch: float,
) -> tuple[Quat, Quat, float, float]:  # fmt: skip
    """World turns of hip and knee, the factor for the bones, and the metres left to the target.

    base : the hip. up, down : from the knee to hip and ankle before. change : radians that the knee is to turn.
    end_rotation : of the ankle before.
    """
    reach = sub(target, base)
    distance = size(reach)
    knee = about(hinge, min(change, math.pi - knee_angle(up, down, hinge)))
    stick = sub(turn(knee, down), up)
    # Where that asks for more scaling than is allowed, the knee turns as far as scaling does not go.
    nearest = min(max(size(stick), distance / (1.0 + stretch)), distance / (1.0 - stretch))
    if nearest != size(stick):
        knee = about(hinge, knee_turn(up, down, hinge, nearest, math.pi))
        stick = sub(turn(knee, down), up)
    hip = between(stick, reach)
    line = unit(reach, unit(stick, hinge))
    rest = mul(orientation, inv(mul(mul(hip, knee), end_rotation)))
    w, v = rest[0], dot(line, (rest[1], rest[2], rest[3]))
    if w < 0.0:
        w, v = -w, -v
    hip = mul(about(line, swivel * 2.0 * math.atan2(v, w)), hip)
    length = size(stick)
    scale = min(max(distance / max(length, 1e-9), 1.0 - stretch), 1.0 + stretch)
    if abs(scale - 1.0) < 1e-11:
        scale = 1.0
    return hip, mul(hip, knee), scale, abs(distance - scale * length)


@helper
def bones(positions: Array, base: int, mid: int, end: int) -> tuple[Vec, Vec]:
    """From the knee to the hip and to the ankle."""
    knee = vec(positions[mid], 0)
    return sub(vec(positions[base], 0), knee), sub(vec(positions[end], 0), knee)


@helper
def parent_rotation(world: Array, parents: Array, joint: int) -> Quat:
    """The world rotation of a joint's parent; the identity for joint 0."""
    if parents[joint] < 0:
        return 1.0, 0.0, 0.0, 0.0
    return qua(world[parents[joint]], 0)


@helper
def write_local(local: Array, joint: int, parent: Quat, rotation: Quat) -> None:
    """Write a joint's local rotation (row of `local`, (J, 4)) from the world rotations of its parent and itself.

    Of q and -q the one on the side of the rotation before is written, so that signs stay continuous over time.
    """
    q = unit_qua(mul(inv(parent), rotation))
    if dot_quat(q, qua(local[joint], 0)) < 0.0:
        q = scale_quat(-1.0, q)
    put_qua(local[joint], 0, q)


@helper
def write_limb(
    local: Array, world: Array, parents: Array, joints: tuple[int, int, int], hip: Quat, knee: Quat, orientation: Quat
) -> None:
    """Write the local rotations (J, 4) of a limb that `solve` has rotated.

    world : (J, 4) rotations before. joints : hip, knee, ankle. hip, knee : their world rotations, from `solve`.
    orientation : of the ankle, in the world.
    """
    base, mid, end = joints
    write_local(local, base, parent_rotation(world, parents, base), mul(hip, qua(world[base], 0)))
    write_local(local, mid, mul(hip, parent_rotation(world, parents, mid)), mul(knee, qua(world[mid], 0)))
    write_local(local, end, mul(knee, parent_rotation(world, parents, end)), orientation)
