"""Unit quaternions: arrays (..., 4) in the order w, x, y, z, with Hamilton's product and any leading axes.

A joint's rotation is relative to its parent: ``rotate(q, v)`` takes a vector from the child's frame to the parent's,
and ``mul(parent, child)`` chains rotations. q and -q are the same rotation. Inputs must have length 1 (see `normalize`)
and are never modified. All functions broadcast over the leading axes and return float64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from marey.errors import InvalidValue
from marey.maths._arrays import (
    TINY,
    FloatArray,
    as_floats,
    axis_index,
    cross,
    lead_shape,
    length,
    run_in_blocks,
    sample_weights,
    unit,
    with_tail,
)
from marey.maths._arrays import dot as _dot
from marey.maths._quat_arithmetic import (
    PARALLEL,
    between_kernel,
    inv_rotate_kernel,
    matrix_kernel,
    principal,
    product,
    quotient,
    rotate_kernel,
    short,
)

__all__ = [
    "angle",
    "angle_between",
    "average",
    "between",
    "dot",
    "exp",
    "from_axis_angle",
    "from_matrix",
    "identity",
    "inv",
    "inv_mul",
    "inv_rotate",
    "log",
    "mul",
    "mul_inv",
    "normalize",
    "power",
    "rotate",
    "slerp",
    "swing_twist",
    "to_matrix",
    "twist_angle",
    "unroll",
]

_MATRIX_TOLERANCE = 0.01


def identity(shape: int | tuple[int, ...] = ()) -> FloatArray:
    """Return the identity rotation (1, 0, 0, 0) as an array of shape ``(*shape, 4)``.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.identity()
    array([1., 0., 0., 0.])
    >>> quat.identity(27).shape
    (27, 4)
    """
    out = np.zeros((*((shape,) if isinstance(shape, int) else shape), 4))
    out[..., 0] = 1.0
    return out


def mul(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the product a * b, (..., 4): b first, then a.

    Examples
    --------
    >>> from marey.maths import quat
    >>> left = quat.exp([0.0, np.pi / 2, 0.0])  # a quarter turn about +Y
    >>> quat.log(quat.mul(left, quat.exp([0.0, 0.5, 0.0]))).round(3)
    array([0.   , 2.071, 0.   ])
    """
    left, right = _check_pair(a, b, "quat.mul")
    return product(left, right)


def inv_mul(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return inv(a) * b, (..., 4): the orientation b as seen from a.

    Examples
    --------
    >>> from marey.maths import quat
    >>> left = quat.exp([0.0, np.pi / 2, 0.0])  # a quarter turn about +Y
    >>> quat.inv_mul(left, left).round(6) + 0.0
    array([1., 0., 0., 0.])
    """
    left, right = _check_pair(a, b, "quat.inv_mul")
    return product(left, right, invert_left=True)


def mul_inv(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return a * inv(b), (..., 4): the rotation that takes orientation b to a.

    Examples
    --------
    >>> from marey.maths import quat
    >>> left = quat.exp([0.0, np.pi / 2, 0.0])  # a quarter turn about +Y
    >>> quat.mul_inv(left, left).round(6) + 0.0
    array([1., 0., 0., 0.])
    """
    left, right = _check_pair(a, b, "quat.mul_inv")
    return product(left, right, invert_right=True)


def inv(q: npt.ArrayLike) -> FloatArray:
    """Return the inverse rotation, (..., 4): the conjugate.

    Examples
    --------
    >>> from marey.maths import quat
    >>> left = quat.exp([0.0, np.pi / 2, 0.0])  # a quarter turn about +Y
    >>> quat.log(quat.inv(left)).round(3) + 0.0
    array([ 0.   , -1.571,  0.   ])
    """
    given = with_tail(q, (4,), "quat.inv", "q")
    out = -given
    out[..., 0] = given[..., 0]
    return out


def rotate(q: npt.ArrayLike, v: npt.ArrayLike) -> FloatArray:
    """Rotate vectors v (..., 3) by q (..., 4): from the child's frame to the parent's.

    Examples
    --------
    >>> from marey.maths import quat
    >>> left = quat.exp([0.0, np.pi / 2, 0.0])  # a quarter turn about +Y
    >>> quat.rotate(left, [0.0, 0.0, 1.0]).round(6) + 0.0
    array([1., 0., 0.])
    """
    return _apply_to_vectors(rotate_kernel, q, v, "quat.rotate")


def inv_rotate(q: npt.ArrayLike, v: npt.ArrayLike) -> FloatArray:
    """Rotate vectors v (..., 3) by inv(q): from the parent's frame to the child's.

    Examples
    --------
    >>> from marey.maths import quat
    >>> left = quat.exp([0.0, np.pi / 2, 0.0])  # a quarter turn about +Y
    >>> quat.inv_rotate(left, [1.0, 0.0, 0.0]).round(6) + 0.0
    array([0., 0., 1.])
    """
    return _apply_to_vectors(inv_rotate_kernel, q, v, "quat.inv_rotate")


def normalize(q: npt.ArrayLike) -> FloatArray:
    """Divide q (..., 4) by its length; a length that is zero or not finite raises InvalidValue.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.normalize([2.0, 0.0, 0.0, 0.0])
    array([1., 0., 0., 0.])
    """
    return unit(with_tail(q, (4,), "quat.normalize", "q"), "quat.normalize", "quaternions")


def dot(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the dot product (...) of the four components: up to sign, the cosine of half the angle between a and b.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.dot(quat.identity(), quat.exp([[0.0, 0.0, 0.0], [np.pi, 0.0, 0.0]])).round(6)
    array([1., 0.])
    """
    left, right = _check_pair(a, b, "quat.dot")
    return _dot(left, right)


def angle(q: npt.ArrayLike) -> FloatArray:
    """Return the rotation angle (...) in [0, pi] radians; q and -q give the same.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.angle(quat.exp([[0.0, 0.5, 0.0], [0.0, 0.0, -1.0]])).round(6)  # radians
    array([0.5, 1. ])
    """
    given = with_tail(q, (4,), "quat.angle", "q")
    # arccos(w) would lose half of the digits near 0; the arctangent is accurate at both ends.
    return np.asarray(2.0 * np.arctan2(length(given[..., 1:]), np.abs(given[..., 0])))


def angle_between(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the angle (...) in [0, pi] radians of the rotation that takes orientation a to b.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.angle_between(quat.identity(), quat.exp([[0.0, 0.5, 0.0]])).round(6)  # radians
    array([0.5])
    """
    left, right = _check_pair(a, b, "quat.angle_between")
    return angle(product(left, right, invert_left=True))


def slerp(a: npt.ArrayLike, b: npt.ArrayLike, t: npt.ArrayLike) -> FloatArray:
    """Interpolate from a at t = 0 to b at t = 1 along the shorter arc at constant speed.

    Parameters
    ----------
    a, b : (..., 4). If ``dot(a, b)`` is negative, -b replaces b, so the result at t = 1 is b or -b.
        At exactly a half turn, both ways are equally short, and the sign of b decides.
    t : (...), broadcast against the leading axes; values outside [0, 1] continue the same rotation.

    Returns
    -------
    (..., 4); the ends are exact.

    Examples
    --------
    >>> from marey.maths import quat
    >>> left = quat.exp([0.0, np.pi / 2, 0.0])  # a quarter turn about +Y
    >>> quat.log(quat.slerp(quat.identity(), left, [0.0, 0.5, 1.0]))[:, 1].round(3)  # radians about +Y
    array([0.   , 0.785, 1.571])
    """
    left, right = _check_pair(a, b, "quat.slerp")
    alpha = as_floats(t, "quat.slerp", "t")
    lead_shape("quat.slerp", left.shape[:-1], right.shape[:-1], alpha.shape)
    right = np.where((_dot(left, right) < 0.0)[..., None], -right, right)
    arc = 2.0 * np.arctan2(length(left - right), length(left + right))
    still = arc < TINY
    arc = np.where(still, 1.0, arc)
    scale = np.sin(arc)
    rest = 1.0 - alpha
    of_a = np.where(still, rest, np.sin(rest * arc) / scale)
    of_b = np.where(still, alpha, np.sin(alpha * arc) / scale)
    return np.asarray(of_a[..., None] * left + of_b[..., None] * right)


def power(q: npt.ArrayLike, s: npt.ArrayLike) -> FloatArray:
    """Multiply the angle of the rotation q by s and keep its axis; return (..., 4).

    The scaled angle is the short one, in [0, pi], so q and -q give the same. At exactly pi, where both directions are
    equally short, the axis is the one whose first nonzero component is positive.

    Examples
    --------
    >>> from marey.maths import quat
    >>> left = quat.exp([0.0, np.pi / 2, 0.0])  # a quarter turn about +Y
    >>> quat.log(quat.power(left, 2.0 / 3.0)).round(3)
    array([0.   , 1.047, 0.   ])
    """
    given = short(with_tail(q, (4,), "quat.power", "q"))
    factor = as_floats(s, "quat.power", "s")
    lead = lead_shape("quat.power", given.shape[:-1], factor.shape)
    sine = length(given[..., 1:])
    half = factor * np.arctan2(sine, given[..., 0])
    out = np.empty((*lead, 4))
    out[..., 0] = np.cos(half)
    out[..., 1:] = given[..., 1:] * quotient(np.sin(half), sine, factor)[..., None]
    return out


def log(q: npt.ArrayLike) -> FloatArray:
    """Return the rotation vector of q, (..., 3): axis times angle, of length at most pi; q and -q give the same.

    At exactly a half turn, the axis is the one whose first nonzero component is positive.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.log(quat.exp([0.1, 0.2, 0.3])).round(6)
    array([0.1, 0.2, 0.3])
    """
    given = short(with_tail(q, (4,), "quat.log", "q"))
    sine = length(given[..., 1:])
    turn = 2.0 * np.arctan2(sine, given[..., 0])
    return np.asarray(given[..., 1:] * quotient(turn, sine, 2.0)[..., None])


def exp(rotvec: npt.ArrayLike) -> FloatArray:
    """Return the rotation (..., 4) about the axis along rotvec (..., 3) by its length in radians; inverts `log`.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.exp([0.0, np.pi, 0.0]).round(6)
    array([0., 0., 1., 0.])
    """
    vector = with_tail(rotvec, (3,), "quat.exp", "rotvec")
    turn = length(vector)
    out = np.empty((*turn.shape, 4))
    out[..., 0] = np.cos(0.5 * turn)
    out[..., 1:] = vector * quotient(np.sin(0.5 * turn), turn, 0.5)[..., None]
    return out


def from_axis_angle(axis: npt.ArrayLike, angle: npt.ArrayLike) -> FloatArray:
    """Return the right-handed rotation about `axis` (..., 3), of any nonzero length, by `angle` (...) radians.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.log(quat.from_axis_angle([0.0, 2.0, 0.0], [0.1, 0.2])).round(6)
    array([[0. , 0.1, 0. ],
           [0. , 0.2, 0. ]])
    """
    where = "quat.from_axis_angle"
    direction = unit(with_tail(axis, (3,), where, "axis"), where, "an axis")
    half = 0.5 * as_floats(angle, where, "angle")
    lead = lead_shape(where, direction.shape[:-1], half.shape)
    out = np.empty((*lead, 4))
    out[..., 0] = np.cos(half)
    out[..., 1:] = direction * np.sin(half)[..., None]
    return out


def from_matrix(m: npt.ArrayLike) -> FloatArray:
    """Convert rotation matrices m (..., 3, 3), which act on column vectors, to quaternions (..., 4) with w >= 0.

    Matrices that are only approximately rotations (to 0.01, as in rounded text) are accepted; a scale, a reflection or
    a value that is not finite raises InvalidValue.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.from_matrix(np.eye(3))
    array([1., 0., 0., 0.])
    """
    given = with_tail(m, (3, 3), "quat.from_matrix", "m")
    with np.errstate(invalid="ignore", over="ignore"):
        excess = np.abs(given @ np.swapaxes(given, -1, -2) - np.eye(3)).max(axis=(-1, -2))
        volume = _dot(given[..., 0], cross(given[..., 1], given[..., 2]))
    sound = (excess < _MATRIX_TOLERANCE) & (volume > 0.0)
    if not sound.all():
        at = tuple(int(i) for i in np.argwhere(~sound)[0])
        raise InvalidValue(
            "quat.from_matrix: m must hold rotation matrices (orthonormal, determinant +1), not "
            f"{given[at].tolist()} at index {at}; remove scale and reflection first"
        )
    return short(matrix_kernel(given))


def to_matrix(q: npt.ArrayLike) -> FloatArray:
    """Convert quaternions q (..., 4) to rotation matrices (..., 3, 3), which act on column vectors.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.to_matrix(quat.exp([0.0, np.pi / 2, 0.0])).round(6) + 0.0
    array([[ 0.,  0.,  1.],
           [ 0.,  1.,  0.],
           [-1.,  0.,  0.]])
    """
    given = with_tail(q, (4,), "quat.to_matrix", "q")
    w, x, y, z = (given[..., i] for i in range(4))
    out = np.empty((*given.shape[:-1], 3, 3))
    out[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    out[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    out[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    out[..., 0, 1] = 2.0 * (x * y - w * z)
    out[..., 1, 0] = 2.0 * (x * y + w * z)
    out[..., 0, 2] = 2.0 * (x * z + w * y)
    out[..., 2, 0] = 2.0 * (x * z - w * y)
    out[..., 1, 2] = 2.0 * (y * z - w * x)
    out[..., 2, 1] = 2.0 * (y * z + w * x)
    return out


def between(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the smallest rotation (..., 4) that takes the direction of a (..., 3) to that of b (..., 3).

    Opposite directions give a half turn about the cross product of a and the coordinate axis least aligned with a (the
    first of x, y, z if several are). A vector of length 0 has no direction and gives the identity.

    Examples
    --------
    >>> from marey.maths import quat
    >>> turn = quat.between([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    >>> quat.log(turn).round(3) + 0.0
    array([0.   , 1.571, 0.   ])
    """
    start = with_tail(a, (3,), "quat.between", "a")
    end = with_tail(b, (3,), "quat.between", "b")
    lead = lead_shape("quat.between", start.shape[:-1], end.shape[:-1])
    size_a, size_b = length(start), length(end)
    valid = np.broadcast_to((size_a > TINY) & (size_b > TINY), lead)
    start = start / np.where(size_a > TINY, size_a, 1.0)[..., None]
    end = end / np.where(size_b > TINY, size_b, 1.0)[..., None]
    return np.where(valid[..., None], between_kernel(start, end), identity())


def swing_twist(q: npt.ArrayLike, axis: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Split q into a twist about `axis` followed by a swing: q = swing * twist.

    Parameters
    ----------
    q : (..., 4).
    axis : (..., 3) of any nonzero length, in the child's frame (the frame in which q's vectors start); for a bone,
        the direction of its own offset.

    Returns
    -------
    swing : (..., 4), its axis perpendicular to `axis`, w >= 0; it takes `axis` to where q takes it.
    twist : (..., 4), about `axis`, with the sign of q. A swing of a half turn leaves the twist undefined; it is then
        the identity or its negative, with the sign of q.

    Examples
    --------
    >>> from marey.maths import quat
    >>> q = quat.mul(quat.exp([0.3, 0.0, 0.0]), quat.exp([0.0, 0.5, 0.0]))
    >>> swing, twist = quat.swing_twist(q, [0.0, 1.0, 0.0])
    >>> quat.log(swing).round(3), quat.log(twist).round(3)
    (array([0.3, 0. , 0. ]), array([0. , 0.5, 0. ]))
    """
    given, direction, along = _axis_parts(q, axis, "quat.swing_twist")
    size = np.hypot(given[..., 0], along)
    defined = size > PARALLEL
    size = np.where(defined, size, 1.0)
    twist = np.empty((*size.shape, 4))
    twist[..., 0] = np.where(defined, given[..., 0] / size, np.where(given[..., 0] < 0.0, -1.0, 1.0))
    twist[..., 1:] = direction * np.where(defined, along / size, 0.0)[..., None]
    return product(given, twist, invert_right=True), twist


def twist_angle(q: npt.ArrayLike, axis: npt.ArrayLike) -> FloatArray:
    """Return the signed angle (...) in (-pi, pi] radians of the twist of q about `axis` (in the child's frame).

    It is ``2 atan2(n . v, w)`` for q = (w, v) and the unit axis n, and 0 where the twist is undefined.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.twist_angle(quat.exp([[0.0, 0.5, 0.0], [0.0, -0.5, 0.0]]), [0.0, 1.0, 0.0]).round(6)
    array([ 0.5, -0.5])
    """
    given, _, along = _axis_parts(q, axis, "quat.twist_angle")
    half = np.arctan2(np.where(given[..., 0] < 0.0, -along, along), np.abs(given[..., 0]))
    return np.asarray(np.where(half <= -0.5 * np.pi, np.pi, 2.0 * half))


def average(q: npt.ArrayLike, weights: npt.ArrayLike | None = None, axis: int = -2) -> FloatArray:
    """Return the weighted average of rotations: the q that maximizes the sum of ``weights * dot(q, sample)**2``.

    It is the principal eigenvector of the weighted sum of outer products, hence exact and independent of the order and
    signs of the samples. For two samples it lies on the arc between them, in the middle for equal weights; for other
    weights it differs slightly from `slerp`.

    Parameters
    ----------
    q : (..., N, ..., 4), N samples along `axis`.
    weights : (N,), or broadcasting to q's shape without the components. Only their ratios matter. They may be
        negative (extrapolation), but their sum must be positive; equal weights by default.
    axis : the axis of the samples.

    Returns
    -------
    (..., 4) without the sample axis, w >= 0. If the samples have no unique average (two that are a half turn apart
    with equal weights), one of the best is returned.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.log(quat.average(quat.exp([[0.0, 0.2, 0.0], [0.0, 0.4, 0.0]]))).round(6)
    array([0. , 0.3, 0. ])
    """
    given = with_tail(q, (4,), "quat.average", "q")
    normalized, index = sample_weights(weights, given.shape[:-1], axis, "quat.average")
    samples = np.moveaxis(given, index, -2)
    moment = np.matmul(np.swapaxes(samples * normalized[..., None], -1, -2), samples)
    return short(principal(moment, np.any(normalized < 0.0, axis=-1)))


def unroll(q: npt.ArrayLike, axis: int = 0) -> FloatArray:
    """Choose the signs of q so that neighbors along `axis` (time) agree; the first keeps its sign.

    Examples
    --------
    >>> from marey.maths import quat
    >>> quat.unroll([[1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]]) + 0.0
    array([[1., 0., 0., 0.],
           [1., 0., 0., 0.]])
    """
    given = with_tail(q, (4,), "quat.unroll", "q")
    index = axis_index(axis, given.ndim, "quat.unroll")
    if index == given.ndim - 1:
        raise InvalidValue(
            f"quat.unroll: axis must be the time axis, but {axis} is the axis of the quaternion components"
        )
    over_time = np.moveaxis(given, index, 0)
    out = over_time.copy()
    flipped = np.logical_xor.accumulate(_dot(over_time[1:], over_time[:-1]) < 0.0, axis=0)
    np.negative(out[1:], out=out[1:], where=flipped[..., None])
    return np.ascontiguousarray(np.moveaxis(out, 0, index))


def _check_pair(a: npt.ArrayLike, b: npt.ArrayLike, where: str) -> tuple[FloatArray, FloatArray]:
    left = with_tail(a, (4,), where, "a")
    right = with_tail(b, (4,), where, "b")
    lead_shape(where, left.shape[:-1], right.shape[:-1])
    return left, right


def _apply_to_vectors(kernel: Callable[..., None], q: npt.ArrayLike, v: npt.ArrayLike, where: str) -> FloatArray:
    turn, vector = with_tail(q, (4,), where, "q"), with_tail(v, (3,), where, "v")
    lead = lead_shape(where, turn.shape[:-1], vector.shape[:-1])
    return run_in_blocks(kernel, np.empty((*lead, 3)), turn, vector)


def _axis_parts(q: npt.ArrayLike, axis: npt.ArrayLike, where: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return q, the unit axis, and the component along it of the vector part of q."""
    given = with_tail(q, (4,), where, "q")
    direction = unit(with_tail(axis, (3,), where, "axis"), where, "an axis")
    lead_shape(where, given.shape[:-1], direction.shape[:-1])
    return given, direction, _dot(given[..., 1:], direction)
