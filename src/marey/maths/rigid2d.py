"""Rigid transforms of the floor plane: arrays (..., 3) of (theta, x0, z0), in radians and meters.

A transform takes a point (x, y, z) to::

    x' =  x cos(theta) + z sin(theta) + x0
    y' =  y
    z' = -x sin(theta) + z cos(theta) + z0

This is the right-handed rotation about +Y by theta, followed by the shift. Results have theta in (-pi, pi]. A
character that faces +Z has +X on its left, and a positive theta rotates +Z toward +X: positive is a turn to the left,
counterclockwise when seen from above.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from marey.errors import InvalidValue
from marey.maths._arrays import FloatArray, as_floats, lead_shape, sample_weights, with_tail

__all__ = [
    "apply",
    "apply_vector",
    "average",
    "between",
    "compose",
    "identity",
    "invert",
    "to_quat",
    "wrap_angle",
]

_TURN = 2.0 * np.pi


def identity(shape: int | tuple[int, ...] = ()) -> FloatArray:
    """Return the identity as an array of shape ``(*shape, 3)``.

    Examples
    --------
    >>> from marey.maths import rigid2d
    >>> rigid2d.identity(5).shape
    (5, 3)
    """
    return np.zeros((*((shape,) if isinstance(shape, int) else shape), 3))


def compose(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return a after b, (..., 3): ``apply(compose(a, b), p) == apply(a, apply(b, p))``.

    Examples
    --------
    >>> from marey.maths import rigid2d
    >>> turn, step = [np.pi / 2, 0.0, 0.0], [0.0, 0.0, 1.0]
    >>> rigid2d.compose(turn, step).round(3) + 0.0
    array([1.571, 1.   , 0.   ])
    """
    after, before = _check_two(a, b, "rigid2d.compose")
    return _compose(after, before)


def invert(t: npt.ArrayLike) -> FloatArray:
    """Return the inverse of t, (..., 3).

    Examples
    --------
    >>> from marey.maths import rigid2d
    >>> rigid2d.invert([0.0, 1.0, 2.0]) + 0.0
    array([ 0., -1., -2.])
    """
    return _invert(with_tail(t, (3,), "rigid2d.invert", "t"))


def between(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return the transform that takes a to b, (..., 3): ``compose(between(a, b), a) == b``.

    Examples
    --------
    >>> from marey.maths import rigid2d
    >>> rigid2d.between([0.0, 1.0, 0.0], [0.0, 1.0, 2.0])
    array([0., 0., 2.])
    """
    start, end = _check_two(a, b, "rigid2d.between")
    return _compose(end, _invert(start))


def apply(t: npt.ArrayLike, points: npt.ArrayLike) -> FloatArray:
    """Move points by t.

    Parameters
    ----------
    t : (..., 3). To move points (F, J, 3) by one transform per frame, pass ``t[:, None]``.
    points : (..., 3) as x, y, z, of which y does not change, or (..., 2) as x, z.

    Returns
    -------
    Points with the same number of components.

    Examples
    --------
    >>> from marey.maths import rigid2d
    >>> rigid2d.apply([np.pi / 2, 1.0, 0.0], [0.0, 0.9, 1.0]).round(3) + 0.0  # x, y, z in meters
    array([2. , 0.9, 0. ])
    """
    return _move(t, points, "rigid2d.apply", shift=True)


def apply_vector(t: npt.ArrayLike, vectors: npt.ArrayLike) -> FloatArray:
    """Rotate vectors (velocities, directions) by t without translating them. Shapes are those of `apply`.

    Examples
    --------
    >>> from marey.maths import rigid2d
    >>> rigid2d.apply_vector([np.pi / 2, 1.0, 0.0], [0.0, 1.0]).round(3) + 0.0
    array([1., 0.])
    """
    return _move(t, vectors, "rigid2d.apply_vector", shift=False)


def to_quat(t: npt.ArrayLike) -> FloatArray:
    """Return the rotation of t about +Y as a quaternion, (..., 4) wxyz.

    Examples
    --------
    >>> from marey.maths import rigid2d
    >>> marey.maths.quat.log(rigid2d.to_quat([0.5, 1.0, 2.0])).round(6)
    array([0. , 0.5, 0. ])
    """
    half = 0.5 * with_tail(t, (3,), "rigid2d.to_quat", "t")[..., 0]
    out = np.zeros((*half.shape, 4))
    out[..., 0] = np.cos(half)
    out[..., 2] = np.sin(half)
    return out


def average(t: npt.ArrayLike, weights: npt.ArrayLike | None = None, axis: int = -2) -> FloatArray:
    """Return the weighted average: the circular mean of angles, the linear mean of positions.

    Parameters
    ----------
    t : (..., N, ..., 3), N samples along `axis`.
    weights : (N,), or broadcasting to t's shape without the components. Only their ratios matter, and their sum must be
        positive; equal weights by default.
    axis : the axis of the samples.

    Returns
    -------
    (..., 3) without the sample axis. The circular mean is the direction of the weighted sum of the unit headings; where
    headings cancel (0 and pi with equal weights), it does not exist and the angle is arbitrary.

    Examples
    --------
    >>> from marey.maths import rigid2d
    >>> rigid2d.average([[0.1, 0.0, 0.0], [0.3, 0.0, 2.0]]).round(6)
    array([0.2, 0. , 1. ])
    """
    given = with_tail(t, (3,), "rigid2d.average", "t")
    normalized, index = sample_weights(weights, given.shape[:-1], axis, "rigid2d.average")
    samples = np.moveaxis(given, index, -2)
    theta = samples[..., 0]
    sine, cosine = (normalized * np.sin(theta)).sum(axis=-1), (normalized * np.cos(theta)).sum(axis=-1)
    out = np.empty((*theta.shape[:-1], 3))
    out[..., 0] = wrap_angle(np.arctan2(sine, cosine))
    out[..., 1:] = (normalized[..., None] * samples[..., 1:]).sum(axis=-2)
    return out


def power(t: npt.ArrayLike, times: int) -> FloatArray:
    """Return `t` (3,) applied `times` times, such as the transform of a loop after some cycles; negative inverts.

    Examples
    --------
    >>> from marey.maths import rigid2d
    >>> rigid2d.power([0.0, 0.0, 1.4], 3).round(6)
    array([0. , 0. , 4.2])
    """
    out = identity()
    step = with_tail(t, (3,), "rigid2d.power", "t") if times >= 0 else invert(t)
    for _ in range(abs(times)):
        out = compose(step, out)
    return out


def wrap_angle(angle: npt.ArrayLike) -> FloatArray:
    """Wrap `angle` (...) into (-pi, pi] by adding a multiple of 2 pi; exact for angles already in range.

    Examples
    --------
    >>> from marey.maths import rigid2d
    >>> rigid2d.wrap_angle([0.5, 2.0 * np.pi + 0.5]).round(6)
    array([0.5, 0.5])
    """
    given = as_floats(angle, "rigid2d.wrap_angle", "angle")
    wrapped = given - _TURN * np.rint(given / _TURN)
    # Rounding may leave an angle slightly beyond either end.
    return np.asarray(np.where(np.abs(wrapped) < np.pi, wrapped, np.where(np.isnan(wrapped), wrapped, np.pi)))


def _check_two(a: npt.ArrayLike, b: npt.ArrayLike, where: str) -> tuple[FloatArray, FloatArray]:
    first = with_tail(a, (3,), where, "a")
    second = with_tail(b, (3,), where, "b")
    lead_shape(where, first.shape[:-1], second.shape[:-1])
    return first, second


def _compose(after: FloatArray, before: FloatArray) -> FloatArray:
    x, z = _rotate(after[..., 0], before[..., 1], before[..., 2])
    out = np.empty(np.broadcast_shapes(after.shape, before.shape))
    out[..., 0] = wrap_angle(after[..., 0] + before[..., 0])
    out[..., 1] = x + after[..., 1]
    out[..., 2] = z + after[..., 2]
    return out


def _invert(t: FloatArray) -> FloatArray:
    x, z = _rotate(-t[..., 0], t[..., 1], t[..., 2])
    out = np.empty(t.shape)
    out[..., 0] = wrap_angle(-t[..., 0])
    out[..., 1] = -x
    out[..., 2] = -z
    return out


def _rotate(theta: FloatArray, x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    cosine, sine = np.cos(theta), np.sin(theta)
    return np.asarray(x * cosine + z * sine), np.asarray(z * cosine - x * sine)


def _move(t: npt.ArrayLike, points: npt.ArrayLike, where: str, *, shift: bool) -> FloatArray:
    move = with_tail(t, (3,), where, "t")
    given = as_floats(points, where, "points")
    if given.ndim == 0 or given.shape[-1] not in (2, 3):
        raise InvalidValue(
            f"{where}: points must have shape (..., 3) for x, y, z or (..., 2) for x, z, not shape {given.shape}"
        )
    lead = lead_shape(where, move.shape[:-1], given.shape[:-1])
    out = np.empty((*lead, given.shape[-1]))
    out[...] = given
    x, z = _rotate(move[..., 0], given[..., 0], given[..., -1])
    out[..., 0] = x + move[..., 1] if shift else x
    out[..., -1] = z + move[..., 2] if shift else z
    return out
