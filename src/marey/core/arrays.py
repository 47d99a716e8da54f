"""Validation of constructor arguments: arrays (made read-only), rates, names and frame numbers."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.errors import InvalidValue

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def freeze_array(
    value: Any,
    name: str,
    shape: tuple[int | None, ...],
    dtype: Any = np.float64,
    *,
    finite: bool = True,
) -> NDArray[Any]:
    """`value` as a read-only array of `dtype` in C order, checked for shape and, if floats, for finiteness.

    None in `shape` allows any length. The array is copied unless it is already read-only, so that later writes
    by the caller cannot change the result.
    """
    array = convert_array(value, name, dtype)
    if array.ndim != len(shape) or any(
        want is not None and want != got for want, got in zip(shape, array.shape, strict=True)
    ):
        wanted = ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "")
        raise InvalidValue(f"{name} must have shape ({wanted}), got {array.shape}")
    if finite and array.dtype.kind == "f" and not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InvalidValue(f"{name} must be finite, found {array[where]} at index {where}")
    if not (_is_readonly(array) and array.flags.c_contiguous and array.flags.aligned):
        array = set_readonly(array.copy())
    return array


def convert_array(value: Any, name: str, dtype: Any = np.float64) -> NDArray[Any]:
    """`value` as an array of `dtype`. Non-integers are not rounded to integers or flags: that would hide a mistake."""
    dtype = np.dtype(dtype)
    try:
        given = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InvalidValue(f"{name} must be an array of numbers: {error}") from None
    if given.dtype == dtype:
        return given
    if given.size and given.dtype.kind not in "biuf":
        raise InvalidValue(f"{name} must be an array of numbers, got {_element(given)!r} in it")
    with np.errstate(invalid="ignore"):
        array = given.astype(dtype, copy=False)
    if dtype.kind in "ib" and given.dtype.kind != dtype.kind and not np.array_equal(array, given):
        wanted = "True and False" if dtype.kind == "b" else "whole numbers"
        raise InvalidValue(f"{name} must hold {wanted}, got {_element(given[array != given])!r}")
    return array


def set_readonly(array: NDArray[Any]) -> NDArray[Any]:
    """Mark a new array as read-only and return it, so that `freeze_array` need not copy it."""
    array.flags.writeable = False
    return array


def check_fps(fps: Any) -> float:
    """Frames per second as a float; raises InvalidValue unless positive and finite."""
    try:
        rate = float(fps)
    except (TypeError, ValueError):
        rate = np.nan
    if not (np.isfinite(rate) and rate > 0):
        raise InvalidValue(f"fps must be a positive number, got {fps!r}")
    return rate


def check_number(value: Any, what: str, least: float = 0.0, *, above: bool = False) -> float:
    """`value` as a finite float that is at least `least`, or greater than `least` with `above`."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number) or number < least or (above and number == least):
        raise InvalidValue(f"{what} must be a number {'above' if above else 'of at least'} {least:g}, got {value!r}")
    return number


def check_index(value: Any, what: str) -> int:
    """`value` as an int; anything but an integer, such as 1.5 or "1", raises InvalidValue and is not rounded."""
    try:
        return operator.index(value)
    except TypeError:
        raise InvalidValue(f"{what} must be an integer, got {value!r}") from None


def check_names(names: Iterable[Any], what: str) -> tuple[str, ...]:
    """The names of joints or markers (`what`) as a tuple: non-empty strings without duplicates."""
    if isinstance(names, str):
        raise InvalidValue(f"names must be a list of {what} names, got the text {names!r}")
    checked = tuple(names)
    seen: set[str] = set()
    for name in checked:
        if not isinstance(name, str) or not name:
            raise InvalidValue(f"{what} names must be non-empty strings, got {name!r}")
        if name in seen:
            raise InvalidValue(f"{what} names must differ, but {name!r} occurs twice")
        seen.add(name)
    return checked


def resolve_frames(frames: Any, n_frames: int) -> tuple[int, int]:
    """Convert the index ``[i]`` or slice ``[a:b]`` to start and stop among `n_frames` frames: half-open, never empty.

    As in Python, negative numbers count from the end, and slices are clipped to the available frames.
    """
    if not isinstance(frames, slice):
        i = check_index(frames, "a frame")
        if not -n_frames <= i < n_frames:
            raise InvalidValue(f"expected a frame from 0 to {n_frames - 1}, or from the end as -1, got {i}")
        start = i % n_frames
        return start, start + 1
    if frames.step not in (None, 1):
        raise InvalidValue(f"expected consecutive frames, got step {frames.step}; resample to change the rate")
    try:
        start, stop, _ = frames.indices(n_frames)
    except TypeError:
        raise InvalidValue(
            f"frames must be integers, got {frames.start!r} to {frames.stop!r}; a time is round(s * fps)"
        ) from None
    if stop <= start:
        ends = ("" if end is None else str(end) for end in (frames.start, frames.stop))
        raise InvalidValue(f"[{':'.join(ends)}] selects none of {n_frames} frames")
    return start, stop


def reduce_frozen(value: Any) -> tuple[Any, tuple[Any, ...]]:
    """Implement `__reduce__` of a frozen dataclass by calling its constructor again.

    Unpickled and copied arrays are writable; the constructor makes them read-only again.
    """
    return type(value), tuple(getattr(value, field.name) for field in fields(value) if field.init)


def _element(array: NDArray[Any]) -> Any:
    """The first element as a Python object."""
    return array.ravel()[:1].tolist()[0]


def _is_readonly(array: NDArray[Any]) -> bool:
    """Whether neither the array nor any array it is a view of can be written to."""
    link: Any = array
    while isinstance(link, np.ndarray):
        if link.flags.writeable:
            return False
        link = link.base
    if link is None:
        return True
    try:
        return memoryview(link).readonly
    except TypeError:  # this memory does not tell whether it is read-only
        return False
