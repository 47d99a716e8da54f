"""Step 4 of the cleanup: turn one limb so that its end meets a target (Kovar 3.2.5).

The same as `marey.core.solve_limb`, for one frame and in world axes, with two differences. The knee turns in the plane
in which it is bent, where that can be seen, else about the axis about which it bends at other times. And a knee that is
bent backwards a little, as recorded ones are, is turned by as much as one bent forwards by the same angle, so that a
limb without adjustment stays as it is; where that leaves a gap, the limb is scaled. Damping gives way where the limb
may not be scaled as much.
"""

from __future__ import annotations

import math
from typing import Any

from marey.clean.vector_kernels import (
    about,
    add,
    between,
    cross,
    dot,
    inv,
    mul,
    size,
    sub,
    times,
    turn,
    unit,
    vec,
)  # fmt: skip
from marey.core.compiled import inner, kernel

Array = Any
Vec = Any
Quat = Any

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
    along, square = (a1 - a2) ** 2, distance * distance
    beyond_least = max(square - along - (b1 - b2) ** 2, 0.0)
    short_of_most = max((b1 + b2) ** 2 + along - square, 0.0)
    after = 2.0 * math.atan2(math.sqrt(beyond_least), math.sqrt(short_of_most))
    change: float = _damped(after, damping) - _damped(knee_angle(up, down, hinge), damping)
    return change


@inner
def knee_angle(up: Vec, down: Vec, hinge: Vec) -> float:
    """The knee's angle in its plane, pi for straight; one bent backwards counts as bent forwards."""
    across = dot(hinge, cross(up, down))
    return abs(math.atan2(across, dot(up, down) - dot(up, hinge) * dot(down, hinge)))


@inner
def _damped(angle: float, start: float) -> float:
    """Integral of Kovar's f (3.14): the angle up to `start`, then flattening towards pi; pi is no damping."""
    if start >= math.pi or angle <= start:
        return angle
    u = min((angle - start) / (math.pi - start), 1.0)
    return start + (math.pi - start) * (0.5 * u**4 - u**3 + u)


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


@inner
def bones(positions: Array, base: int, mid: int, end: int) -> tuple[Vec, Vec]:
    """From the knee to the hip and to the ankle."""
    knee = vec(positions[mid], 0)
    return sub(vec(positions[base], 0), knee), sub(vec(positions[end], 0), knee)
