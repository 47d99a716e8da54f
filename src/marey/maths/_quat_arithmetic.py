"""Arithmetic for `quat`, on checked arrays."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from marey.maths._arrays import TINY, BoolArray, FloatArray, cross, dot, length, run_in_blocks

PARALLEL = 1e-14
"""Sine below which two unit vectors count as parallel: a hundred rounding errors."""

_SQUARINGS = 5
# Upper bound of the other eigenvalues, relative to the largest, before the last squaring, which squares this bound too.
_CONVERGED = 1e-8


def _pair(q: FloatArray, invert: bool) -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.complex128]]:
    """Split q into two complex numbers, (w + x i) and (y + z i), with q = first + second * j."""
    packed = q if q.strides[-1] == q.itemsize else np.ascontiguousarray(q)
    halves = packed.view(np.complex128)
    first, second = halves[..., 0], halves[..., 1]
    return (np.conj(first), -second) if invert else (first, second)


def product(a: FloatArray, b: FloatArray, *, invert_left: bool = False, invert_right: bool = False) -> FloatArray:
    """Return a * b, optionally with a or b inverted first."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    kernel = partial(_mul_kernel, invert_left=invert_left, invert_right=invert_right)
    return run_in_blocks(kernel, out, a, b)


def _mul_kernel(out: FloatArray, a: FloatArray, b: FloatArray, *, invert_left: bool, invert_right: bool) -> None:
    # As pairs of complex numbers the product takes 4 multiplications of half-size arrays instead of 16 of
    # quarter-size ones, which is three times as fast in NumPy as writing out the components.
    a0, a1 = _pair(a, invert_left)
    b0, b1 = _pair(b, invert_right)
    halves = out.view(np.complex128)
    np.subtract(a0 * b0, a1 * np.conj(b1), out=halves[..., 0])
    np.add(a0 * b1, a1 * np.conj(b0), out=halves[..., 1])


def rotate_kernel(out: FloatArray, q: FloatArray, v: FloatArray) -> None:
    _rotate_by(out, q[..., 0], q, v)


def inv_rotate_kernel(out: FloatArray, q: FloatArray, v: FloatArray) -> None:
    # (-w, x, y, z) is the inverse rotation too, and only one component changes.
    _rotate_by(out, -q[..., 0], q, v)


def _rotate_by(out: FloatArray, w: FloatArray, q: FloatArray, v: FloatArray) -> None:
    """Write v rotated by the quaternion q with real part w to `out`: v + w t + u x t, with u the vector part of q, t =
    2 u x v."""
    ux, uy, uz = q[..., 1], q[..., 2], q[..., 3]
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    tx = 2.0 * (uy * z - uz * y)
    ty = 2.0 * (uz * x - ux * z)
    tz = 2.0 * (ux * y - uy * x)
    out[..., 0] = x + w * tx + (uy * tz - uz * ty)
    out[..., 1] = y + w * ty + (uz * tx - ux * tz)
    out[..., 2] = z + w * tz + (ux * ty - uy * tx)


def short(q: FloatArray) -> FloatArray:
    """Return q or -q, whichever has w > 0; at w = 0, whichever has a positive first nonzero component."""
    flip: BoolArray = q[..., 0] < 0.0
    tied = q[..., 0] == 0.0
    if tied.any():
        for i in (1, 2, 3):
            flip = flip | (tied & (q[..., i] < 0.0))
            tied = tied & (q[..., i] == 0.0)
    return np.where(flip[..., None], -q, q)


def quotient(top: FloatArray, bottom: FloatArray, limit: FloatArray | float) -> FloatArray:
    """Return top / bottom, or `limit` where both go to zero.

    Sine and arctangent are accurate to the last digit for small arguments, so the limit is needed only where `bottom`
    vanishes.
    """
    out = np.empty(np.broadcast_shapes(top.shape, bottom.shape))
    out[...] = limit
    np.divide(top, bottom, out=out, where=bottom > TINY)
    return out


def matrix_kernel(m: FloatArray) -> FloatArray:
    """Convert rotation matrices to quaternions.

    Each row of `outer` is 4 q_k q for one k; the row with the largest q_k loses no digits.
    """
    outer = np.empty((*m.shape[:-2], 4, 4))
    d = [m[..., i, i] for i in range(3)]
    outer[..., 0, 0] = 1.0 + d[0] + d[1] + d[2]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        outer[..., i + 1, i + 1] = 1.0 + d[i] - d[j] - d[k]
        outer[..., 0, i + 1] = outer[..., i + 1, 0] = m[..., k, j] - m[..., j, k]
        outer[..., j + 1, k + 1] = outer[..., k + 1, j + 1] = m[..., j, k] + m[..., k, j]
    best = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :]
    return np.asarray(row / length(row)[..., None])


def between_kernel(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the rotation between unit vectors a and b; w = |a + b| / 2 and |v| = |a - b| / 2 hold at every angle.

    Only the axis needs care. a x b equals a x (b - a) and a x (a + b); the smaller of difference and sum is free of
    rounding errors, so the axis stays precise near parallel and near opposite vectors.
    """
    total, gap = a + b, b - a
    opposite = dot(a, b) < 0.0
    axis = cross(a, np.where(opposite[..., None], total, gap))
    size = length(axis)
    half_sine = 0.5 * length(gap)
    least = np.argmin(np.abs(a), axis=-1)
    spare = cross(a, np.eye(3)[least])
    spare = spare / np.where(length(spare) > 0.0, length(spare), 1.0)[..., None]
    undefined = opposite & (size < PARALLEL)
    scale = quotient(half_sine, size, 0.5)
    out = np.empty((*opposite.shape, 4))
    out[..., 0] = np.where(undefined, 0.0, 0.5 * length(total))
    out[..., 1:] = np.where(undefined[..., None], spare, axis * scale[..., None])
    return out


def principal(moment: FloatArray, indefinite: BoolArray) -> FloatArray:
    """Return the unit eigenvector of the largest eigenvalue of a symmetric moment (..., 4, 4) with trace 1.

    indefinite : True where a moment may have negative eigenvalues, because weights are negative.

    Squaring the matrix squares the ratios of its eigenvalues, so a few squarings isolate the largest. That takes a
    fraction of the time of a full decomposition. The decomposition is used only if the samples are too scattered for
    the squarings to converge, or for negative weights, because the largest eigenvalue may then not have the largest
    absolute value.
    """
    powered, trace = moment, np.trace(moment, axis1=-2, axis2=-1)
    before = trace
    # The largest eigenvalue is at least a quarter; its 32nd power is still far from underflow. The number of
    # squarings is fixed, so a frame's average does not depend on the rest of the batch.
    for _ in range(_SQUARINGS):
        powered = powered @ powered
        before, trace = trace, np.trace(powered, axis1=-2, axis2=-1)
    best = np.argmax(np.diagonal(powered, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(powered, best[..., None, None], axis=-2)[..., 0, :]
    out = np.asarray(row / length(row)[..., None])
    spread = np.abs(1.0 - trace / (before * before))
    unsettled = (indefinite | (spread > _CONVERGED)) & np.isfinite(spread)
    if unsettled.any():
        out[unsettled] = np.linalg.eigh(moment[unsettled])[1][..., -1]
    return out
