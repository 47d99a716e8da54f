"""Check arguments for this package: convert arrays to float64, check their shapes, broadcast them.

Errors name the function `where` and its parameter `name`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from marey.errors import InvalidValue

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

TINY = 1e-100
"""Lengths below this count as zero. Its square is still a normal float, so longer lengths lose no precision."""

_BLOCK_ROWS = 8192
_MEANING = {(4,): "a quaternion is w, x, y, z", (3, 3): "a rotation matrix is 3 by 3"}


def as_floats(value: npt.ArrayLike, where: str, name: str) -> FloatArray:
    """Return `value` as a float64 array, copied only if it is not one already."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return value
    array = _convert(value, where, name)
    if array.dtype.kind not in "fiub":
        raise InvalidValue(f"{where}: {name} must be real numbers, not an array of {array.dtype}")
    return array.astype(np.float64)


def _convert(value: npt.ArrayLike, where: str, name: str) -> npt.NDArray[np.generic]:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise InvalidValue(f"{where}: {name} must be an array of numbers, not rows of unequal length") from error


def with_tail(value: npt.ArrayLike, tail: tuple[int, ...], where: str, name: str) -> FloatArray:
    """Return `value` as float64 and check that its last axes are `tail`."""
    array = as_floats(value, where, name)
    if array.shape[-len(tail) :] != tail:
        wanted = ", ".join(["...", *map(str, tail)])
        meaning = f"; {_MEANING[tail]}" if tail in _MEANING else ""
        raise InvalidValue(f"{where}: {name} must have shape ({wanted}), not {array.shape}{meaning}")
    return array


def lead_shape(where: str, *leads: tuple[int, ...]) -> tuple[int, ...]:
    """Return the broadcast shape of leading axes, or raise InvalidValue if they cannot be broadcast."""
    try:
        return np.broadcast_shapes(*leads)
    except ValueError as error:
        got = " and ".join(map(str, leads))
        raise InvalidValue(
            f"{where}: the leading axes {got} do not broadcast; "
            "make them equal, or insert an axis of length 1 (x[:, None]) to repeat one"
        ) from error


def axis_index(axis: int, n_axes: int, where: str) -> int:
    """Return `axis` as an index from 0 to n_axes - 1."""
    if not -n_axes <= axis < n_axes:
        raise InvalidValue(f"{where}: axis must be from {-n_axes} to {n_axes - 1}, not {axis}")
    return axis % n_axes


def sample_weights(
    weights: npt.ArrayLike | None, lead: tuple[int, ...], axis: int, where: str
) -> tuple[FloatArray, int]:
    """Return weights for the samples along `axis`, scaled to sum to 1.

    Parameters
    ----------
    weights : (N,), or anything that broadcasts to `lead`, or None for equal weights.
    lead : the shape of the samples without the component axis.
    axis : the sample axis, counted with the component axis (so -2 is the last before the components).

    Returns
    -------
    weights : float64, of shape `lead` with the sample axis moved last.
    index : the sample axis, 0-based.
    """
    index = axis_index(axis, len(lead) + 1, where)
    if index == len(lead):
        raise InvalidValue(f"{where}: axis must be the axis of the samples, not {axis}, the axis of the components")
    n_samples = lead[index]
    if n_samples == 0:
        raise InvalidValue(f"{where}: there must be at least one sample along axis {axis}, got none")
    moved = lead[:index] + lead[index + 1 :] + (n_samples,)
    if weights is None:
        return np.full(moved, 1.0 / n_samples), index
    given = as_floats(weights, where, "weights")
    if given.ndim != 1:
        if lead_shape(where, given.shape, lead) != lead:
            raise InvalidValue(f"{where}: weights must have a shape that broadcasts to {lead}, not {given.shape}")
        given = np.moveaxis(np.broadcast_to(given, lead), index, -1)
    elif len(given) != n_samples:
        raise InvalidValue(f"{where}: weights must have {n_samples} values, one for each sample, not {len(given)}")
    total = given.sum(axis=-1, keepdims=True)
    if not (np.isfinite(total) & (total > 0)).all():
        raise InvalidValue(f"{where}: weights must be finite with a sum greater than 0, not a sum of {total.min()}")
    return np.broadcast_to(given / total, moved), index


def unit(vector: FloatArray, where: str, name: str) -> FloatArray:
    """Divide `vector` by its length; zero length raises InvalidValue."""
    with np.errstate(over="ignore"):
        norm = length(vector)
    bad = ~((norm > TINY) & np.isfinite(norm))
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        place = f" at index {at}" if at else ""
        raise InvalidValue(
            f"{where}: {name} must have a finite length greater than 0, not {vector[at].tolist()}{place}"
        )
    return vector / norm[..., None]


def dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """Sum products over the last axis.

    The order is the same for every memory layout, so a single frame gives the same bits as in a batch.
    """
    total = a[..., 0] * b[..., 0]
    for i in range(1, a.shape[-1]):
        total = total + a[..., i] * b[..., i]
    return np.asarray(total)


def length(vector: FloatArray) -> FloatArray:
    """Return the Euclidean length over the last axis."""
    return np.asarray(np.sqrt(dot(vector, vector)))


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the cross product over the last axis, in less than half the time of `numpy.cross`."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return out


def run_in_blocks(kernel: Callable[..., None], out: FloatArray, *inputs: FloatArray) -> FloatArray:
    """Run `kernel(out, *inputs)` over slices of the first axis.

    Each slice is small enough to keep its temporaries in the processor's cache; on long motions this halves the time.
    The last axis of every array holds components; the other axes of the inputs are broadcast to those of `out`.
    """
    lead = out.shape[:-1]
    rows = int(np.prod(lead[1:])) if lead else 1
    step = max(1, _BLOCK_ROWS // max(1, rows))
    if not lead or lead[0] <= step:
        kernel(out, *inputs)
        return out
    full = [np.broadcast_to(array, lead + array.shape[-1:]) for array in inputs]
    for start in range(0, lead[0], step):
        block = slice(start, start + step)
        kernel(out[block], *(array[block] for array in full))
    return out
