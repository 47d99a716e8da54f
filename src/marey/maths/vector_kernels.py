"""Vectors and quaternions as tuples of numbers, for compiled loops over frames."""

from __future__ import annotations

import math

from marey.compiled import Floats1D, helper

Vec = tuple[float, float, float]
Quat = tuple[float, float, float, float]

_NOTHING = 1e-12


@helper
def square(x: float) -> float:
    """Return x * x, which Python and compiled code round identically; they round powers differently."""
    return x * x


@helper
def get(row: Floats1D, column: int) -> Vec:
    """Return three columns of a row, starting at `column`."""
    return row[column], row[column + 1], row[column + 2]


@helper
def put(row: Floats1D, column: int, v: Vec) -> None:
    """Write three columns of a row, starting at `column`."""
    row[column], row[column + 1], row[column + 2] = v


@helper
def get_quat(row: Floats1D, column: int) -> Quat:
    """Return four columns of a row, starting at `column`."""
    return row[column], row[column + 1], row[column + 2], row[column + 3]


@helper
def put_quat(row: Floats1D, column: int, q: Quat) -> None:
    """Write four columns of a row, starting at `column`."""
    row[column], row[column + 1], row[column + 2], row[column + 3] = q


@helper
def add(a: Vec, b: Vec) -> Vec:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@helper
def sub(a: Vec, b: Vec) -> Vec:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@helper
def scale(s: float, a: Vec) -> Vec:
    return s * a[0], s * a[1], s * a[2]


@helper
def dot(a: Vec, b: Vec) -> float:
    product: float = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product


@helper
def cross(a: Vec, b: Vec) -> Vec:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def norm(a: Vec) -> float:
    return math.sqrt(dot(a, a))


@helper
def normalize(a: Vec, fallback: Vec) -> Vec:
    """Return a / |a|, or `fallback` if a is 0."""
    length = norm(a)
    if length < _NOTHING:
        return fallback
    return a[0] / length, a[1] / length, a[2] / length


@helper
def mul(a: Quat, b: Quat) -> Quat:
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@helper
def inv(q: Quat) -> Quat:
    return q[0], -q[1], -q[2], -q[3]


@helper
def rotate(q: Quat, v: Vec) -> Vec:
    """Rotate v by q."""
    w, x, y, z = q
    tx = 2.0 * (y * v[2] - z * v[1])
    ty = 2.0 * (z * v[0] - x * v[2])
    tz = 2.0 * (x * v[1] - y * v[0])
    return v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx


@helper
def normalize_quat(q: Quat) -> Quat:
    length = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] / length, q[1] / length, q[2] / length, q[3] / length


@helper
def from_axis_angle(axis: Vec, angle: float) -> Quat:
    """Return the rotation by `angle` radians about a unit axis."""
    s = math.sin(0.5 * angle)
    return math.cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2]


@helper
def exp(r: Vec) -> Quat:
    """Return the rotation of a rotation vector."""
    angle = norm(r)
    s = 0.5 if angle < 1e-8 else math.sin(0.5 * angle) / angle
    return math.cos(0.5 * angle), s * r[0], s * r[1], s * r[2]


@helper
def log(q: Quat) -> Vec:
    """Return the rotation vector of a rotation, of length at most pi."""
    w, x, y, z = q
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 if s < 1e-12 else 2.0 * math.atan2(s, w) / s
    return factor * x, factor * y, factor * z


@helper
def rotation_between(a: Vec, b: Vec) -> Quat:
    """Return the smallest rotation that gives a the direction of b; the identity if either is 0."""
    la, lb = norm(a), norm(b)
    if la < _NOTHING or lb < _NOTHING:
        return 1.0, 0.0, 0.0, 0.0
    ua, ub = scale(1.0 / la, a), scale(1.0 / lb, b)
    total, gap = add(ua, ub), sub(ub, ua)
    opposite = dot(ua, ub) < 0.0
    # a x b = a x (a + b) = a x (b - a): the smaller of the two keeps its precision.
    axis = cross(ua, total) if opposite else cross(ua, gap)
    length, half_sine = norm(axis), 0.5 * norm(gap)
    if length < 1e-14:
        if not opposite:
            return 1.0, 0.0, 0.0, 0.0
        spare = cross(ua, (1.0, 0.0, 0.0) if abs(ua[0]) < 0.7 else (0.0, 1.0, 0.0))
        spare = normalize(spare, (0.0, 0.0, 1.0))
        return 0.0, spare[0], spare[1], spare[2]
    s = half_sine / length
    return normalize_quat((0.5 * norm(total), s * axis[0], s * axis[1], s * axis[2]))


@helper
def fade(u: float) -> float:
    """Return the C1 ease of Kovar 3.5: 1 at u = 0, 0 from u = 1 on, with slope 0 at both."""
    if u >= 1.0:
        return 0.0
    return 1.0 + u * u * (2.0 * u - 3.0)


@helper
def fade_smoothly(u: float) -> float:
    """Return a weight like `fade` whose second derivative is 0 at both ends too."""
    if u >= 1.0:
        return 0.0
    return 1.0 - u * u * u * (10.0 - u * (15.0 - 6.0 * u))


@helper
def fade_slope(u: float) -> float:
    """Return the factor that fades out a straight line: x * fade_slope(x) starts with slope 1 and reaches 0 at x = 1.

    Its slope and curvature are 0 at x = 1.
    """
    if u >= 1.0:
        return 0.0
    left = 1.0 - u
    return left * left * left * (1.0 + 3.0 * u)


@helper
def add_quat(a: Quat, b: Quat) -> Quat:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


@helper
def scale_quat(s: float, q: Quat) -> Quat:
    return s * q[0], s * q[1], s * q[2], s * q[3]


@helper
def dot_quat(a: Quat, b: Quat) -> float:
    product: float = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    return product


@helper
def from_yaw(angle: float) -> Quat:
    """Return the rotation by `angle` radians about the vertical axis."""
    return math.cos(0.5 * angle), 0.0, math.sin(0.5 * angle), 0.0


@helper
def slerp(a: Quat, b: Quat, t: float) -> Quat:
    """Interpolate from a at t = 0 to b at t = 1 along the shorter arc."""
    sign = -1.0 if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0.0 else 1.0
    dw, dx, dy, dz = sign * b[0] - a[0], sign * b[1] - a[1], sign * b[2] - a[2], sign * b[3] - a[3]
    # Compute the angle from the chord: an arccosine would lose half of the digits of a small angle.
    angle = 2.0 * math.asin(min(0.5 * math.sqrt(dw * dw + dx * dx + dy * dy + dz * dz), 1.0))
    if angle < 1e-9:
        first, second = 1.0 - t, t
    else:
        first, second = math.sin((1.0 - t) * angle) / math.sin(angle), math.sin(t * angle) / math.sin(angle)
    second *= sign
    return normalize_quat(
        (
            first * a[0] + second * b[0],
            first * a[1] + second * b[1],
            first * a[2] + second * b[2],
            first * a[3] + second * b[3],
        )
    )
