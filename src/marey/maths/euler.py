"""Intrinsic Euler angles in radians: order 'ZYX' means R = Rz @ Ry @ Rx, and the first angle is about Z.

BVH channels use this convention: rotations in listed order, each about the axis as rotated by the previous channels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from marey.errors import InvalidValue
from marey.maths._arrays import BoolArray, FloatArray, run_in_blocks, with_tail
from marey.maths.rigid2d import wrap_angle

__all__ = ["ORDERS", "continuous", "from_axes", "from_euler", "to_euler"]

ORDERS = tuple(a + b + c for a in "XYZ" for b in "XYZ" for c in "XYZ" if a != b != c)
"""The 12 orders that can represent every rotation: 6 with three axes, 6 in which the first axis repeats."""

_TURN = 2.0 * np.pi
_LOCK_SINE = 1e-10
_LOCK_COSINE = 1e-9


def from_euler(angles: npt.ArrayLike, order: str) -> FloatArray:
    """Convert angles (..., 3), in one of the 12 `ORDERS`, to quaternions (..., 4).

    Examples
    --------
    >>> from marey.maths import euler, quat
    >>> quat.log(euler.from_euler([0.0, 0.5, 0.0], "ZYX")).round(6)
    array([0. , 0.5, 0. ])
    """
    _check_order(order, "euler.from_euler")
    given = with_tail(angles, (3,), "euler.from_euler", "angles")
    return _multiply(given, order)


def from_axes(angles: npt.ArrayLike, axes: str) -> FloatArray:
    """Multiply rotations about single axes, in listed order; return quaternions (..., 4).

    Parameters
    ----------
    angles : (..., n) radians, one for each letter of `axes`.
    axes : n letters X, Y or Z, in any number and order, such as '' (the identity), 'Y' or 'ZXZY'.

    Examples
    --------
    >>> from marey.maths import euler, quat
    >>> quat.log(euler.from_axes([0.2, 0.3], "YY")).round(6)
    array([0. , 0.5, 0. ])
    """
    given = with_tail(angles, (len(axes),), "euler.from_axes", "angles")
    if set(axes) - set("XYZ"):
        raise InvalidValue(f"euler.from_axes: axes must consist of the letters X, Y, Z (upper case), not {axes!r}")
    return _multiply(given, axes)


def to_euler(q: npt.ArrayLike, order: str) -> FloatArray:
    """Convert quaternions q (..., 4) to angles (..., 3) in one of the 12 `ORDERS`.

    Returns
    -------
    First and third angle in (-pi, pi]; the second in [-pi/2, pi/2] if the three axes differ, in [0, pi] if the first
    axis repeats. In gimbal lock, where only the sum or difference of first and third is determined, the third is 0. The
    rotation is reproduced to better than 1e-9 rad in lock, to rounding elsewhere.

    Examples
    --------
    >>> from marey.maths import euler, quat
    >>> euler.to_euler(quat.exp([0.0, 0.5, 0.0]), "ZYX").round(6)
    array([0. , 0.5, 0. ])
    """
    i, j, k, parity = _check_order(order, "euler.to_euler")
    given = with_tail(q, (4,), "euler.to_euler", "q")
    w, x, y, z = given[..., 0], given[..., 1 + i], given[..., 1 + j], parity * given[..., 1 + k]
    three_axes = order[0] != order[2]
    if three_axes:
        # A 90-degree rotation about the second axis takes the first axis to the third, up to sign. After it, the
        # rotation can be read in the order that repeats the first axis, with a second angle larger by pi/2.
        w, x, y, z = (part * np.sqrt(0.5) for part in (w - y, x - z, y + w, z + x))
    out = np.empty(given.shape[:-1] + (3,))
    # R = Ri(a) Rj(b) Ri(c) has (w, x) = cos(b/2) (cos, sin)((a + c)/2)
    #                       and (y, z) = sin(b/2) (cos, sin)((a - c)/2).
    cosine, sine = np.hypot(w, x), np.hypot(y, z)
    half_sum, half_difference = np.arctan2(x, w), np.arctan2(z, y)
    # In lock one of the two is noise; setting it equal to the other (up to sign) makes the third angle 0.
    half_difference = np.where(sine < _LOCK_SINE, half_sum, half_difference)
    half_sum = np.where(cosine < _LOCK_SINE, half_difference, half_sum)
    out[..., 0] = wrap_angle(half_sum + half_difference)
    out[..., 1] = 2.0 * np.arctan2(sine, cosine) - (0.5 * np.pi if three_axes else 0.0)
    third = half_sum - half_difference
    out[..., 2] = wrap_angle(-parity * third if three_axes else third)
    return out


def continuous(angles: npt.ArrayLike, order: str) -> FloatArray:
    """Choose angles of the same rotations that do not jump over time.

    Every rotation has two triples of angles, up to multiples of 2 pi: (a, b, c), and (a + pi, pi - b, c + pi) or, if
    the order repeats its first axis, (a + pi, -b, c + pi). From the second frame on, each frame uses the one closer to
    the previous frame. In gimbal lock (b at the pole to 1e-9), where only a sum or difference of a and c is determined,
    the split is also the one closest to the previous frame.

    Parameters
    ----------
    angles : (F, ..., 3) radians, time first; the first frame is kept unchanged.
    order : one of the 12 `ORDERS`.

    Returns
    -------
    (F, ..., 3) angles.

    Examples
    --------
    >>> from marey.maths import euler
    >>> angles = np.array([[3.1, 0.0, 0.0], [-3.1, 0.0, 0.0]])
    >>> euler.continuous(angles, "ZYX").round(2)
    array([[3.1 , 0.  , 0.  ],
           [3.18, 0.  , 0.  ]])
    """
    *_, parity = _check_order(order, "euler.continuous")
    given = with_tail(angles, (3,), "euler.continuous", "angles")
    if given.ndim < 2:
        raise InvalidValue(f"euler.continuous: angles must have shape (F, ..., 3), not {given.shape}")
    three_axes = order[0] != order[2]
    out = _hold_in_lock(given, three_axes, parity)
    if len(out) < 2:
        return out
    twin = out + np.pi
    twin[..., 1] = (np.pi if three_axes else 0.0) - out[..., 1]
    # Switching triples preserves distances (modulo 2 pi), and switching twice restores the original. So whether
    # frame f switches relative to frame f - 1 does not depend on the triple of f - 1, and all frames can be
    # decided at once.
    switch = _square_step(twin[1:], out[:-1]) < _square_step(out[1:], out[:-1])
    on_twin = np.logical_xor.accumulate(switch, axis=0)
    np.copyto(out[1:], twin[1:], where=on_twin[..., None])
    return _unwrap(out)


def _check_order(order: str, where: str) -> tuple[int, int, int, float]:
    """Return the first, second and remaining axis of an order as 0, 1, 2, and the sign of their permutation."""
    if order not in ORDERS:
        raise InvalidValue(
            f"{where}: order must be three of the letters X, Y, Z (upper case), the same letter never twice in a row, "
            f"such as 'ZYX' or 'ZXZ', not {order!r}"
        )
    i, j = "XYZ".index(order[0]), "XYZ".index(order[1])
    return i, j, 3 - i - j, 1.0 if (j - i) % 3 == 1 else -1.0


def _multiply(angles: FloatArray, axes: str) -> FloatArray:
    def kernel(out: FloatArray, angles: FloatArray) -> None:
        parts: list[FloatArray | None] = [np.ones(angles.shape[:-1]), None, None, None]
        for n, letter in enumerate(axes):
            cosine, sine = _half_angle(np.ascontiguousarray(angles[..., n]))
            parts = _multiply_by_axis(parts, "XYZ".index(letter), cosine, sine) if n else _turn(letter, cosine, sine)
        for n, part in enumerate(parts):
            out[..., n] = 0.0 if part is None else part

    return run_in_blocks(kernel, np.empty(angles.shape[:-1] + (4,)), angles)


def _half_angle(angles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return cosine and sine of half the angles.

    Both are computed from the tangent of a quarter of the angle: of NumPy's trigonometric functions, only the tangent
    is fast.
    """
    tangent = np.tan(0.25 * angles)
    below = 1.0 + tangent * tangent
    return (1.0 - tangent) * (1.0 + tangent) / below, (tangent + tangent) / below


def _turn(letter: str, c: FloatArray, s: FloatArray) -> list[FloatArray | None]:
    """Return the parts w, x, y, z of a rotation about one axis; None stands for zeros."""
    return [c, *(s if axis == letter else None for axis in "XYZ")]


def _multiply_by_axis(parts: list[FloatArray | None], i: int, c: FloatArray, s: FloatArray) -> list[FloatArray | None]:
    """Return (w, x, y, z) times (c + s e_i), written out: half the work of a full product."""
    j, k = 1 + (i + 1) % 3, 1 + (i + 2) % 3
    i += 1
    minus = -s
    rotated = list(parts)
    rotated[0] = _add_scaled(c, parts[0], minus, parts[i])
    rotated[i] = _add_scaled(c, parts[i], s, parts[0])
    rotated[j] = _add_scaled(c, parts[j], s, parts[k])
    rotated[k] = _add_scaled(c, parts[k], minus, parts[j])
    return rotated


def _add_scaled(a: FloatArray, p: FloatArray | None, b: FloatArray, q: FloatArray | None) -> FloatArray | None:
    """Return a p + b q, where None stands for zeros."""
    if p is None:
        return None if q is None else b * q
    return a * p if q is None else a * p + b * q


def _hold_in_lock(angles: FloatArray, three_axes: bool, parity: float) -> FloatArray:
    """Return a copy of `angles` in which the angles of frames in gimbal lock are as close as possible to those before.

    In lock, the rotation determines only a + sign * c (`fixed`); how it is divided between a and c is free. The choice
    closest to the previous frame keeps a - sign * c, and changes a and sign * c by half of the change of `fixed` each.
    These changes add up over a locked stretch, so each frame is computed directly from the last frame that is not
    locked.
    """
    out = angles.copy()
    a, b, c = angles[..., 0], angles[..., 1], angles[..., 2]
    across, along = (np.cos(b), parity * np.sin(b)) if three_axes else (np.sin(b), np.cos(b))
    locked: BoolArray = np.abs(across) < _LOCK_COSINE
    if not locked.any():
        return out
    frames = np.arange(len(angles)).reshape(-1, *(1,) * (locked.ndim - 1))
    free = np.maximum.accumulate(np.where(locked, 0, frames), axis=0)
    sign = np.where(along > 0.0, 1.0, -1.0)
    fixed = np.where(sign > 0.0, _unwrap(a + c), _unwrap(a - c))
    fixed_at_free = np.where(
        sign > 0.0,
        np.take_along_axis(_unwrap(a + c), free, axis=0),
        np.take_along_axis(_unwrap(a - c), free, axis=0),
    )
    half = 0.5 * (fixed - fixed_at_free)
    out[..., 0] = np.where(locked, np.take_along_axis(a, free, axis=0) + half, a)
    out[..., 2] = np.where(locked, np.take_along_axis(c, free, axis=0) + sign * half, c)
    return out


def _square_step(after: FloatArray, before: FloatArray) -> FloatArray:
    """Return the squared distance between two triples of angles, with differences modulo 2 pi."""
    step = after - before
    step -= _TURN * np.rint(step / _TURN)
    return np.asarray((step * step).sum(axis=-1))


def _unwrap(angles: FloatArray) -> FloatArray:
    """Do `numpy.unwrap` along the first axis, in a third of its time."""
    out = angles.copy()
    out[1:] -= _TURN * np.cumsum(np.rint(np.diff(angles, axis=0) / _TURN), axis=0)
    return out
