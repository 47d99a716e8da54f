"""Validation of constructor arguments: arrays (made read-only), rates, names and frame numbers."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import Field, fields
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from marey.errors import InvalidValue

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
_DTYPES: dict[Any, Any] = {"Floats": np.float64, "Ints": np.int64, "Bools": np.bool_, "Floats | None": np.float64}


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
        raise InvalidValue(f"{name} must be finite, got {array[where]} at index {where}")
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


class FrozenRecord:
    """Base of frozen dataclasses that check and keep read-only arrays.

    Copying and unpickling call the constructor again, which makes the arrays, writable by then, read-only.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __reduce__(self) -> tuple[Any, ...]:
        values = (getattr(self, field.name) for field in fields(self) if field.init)
        # Read-only mappings cannot be copied or pickled; their content can.
        return type(self), tuple(dict(value) if isinstance(value, MappingProxyType) else value for value in values)

    def _put(self, **values: Any) -> None:
        """Set fields in the constructor, which a frozen dataclass does not allow by assignment."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _freeze(self, *, finite: bool = True, **shapes: tuple[int | str | None, ...]) -> None:
        """Replace fields by checked read-only arrays, as `freeze_array` makes them.

        Each keyword is a field and its shape, in which a text names a length: the first field that has it decides.
        The annotation of a field says what it holds: `Floats`, `Ints` or `Bools`, where ``| None`` keeps None.
        """
        lengths: dict[int | str | None, int] = {}
        for name, shape in shapes.items():
            value, kind = getattr(self, name), self.__dataclass_fields__[name].type
            if value is not None or kind != "Floats | None":
                wanted = tuple([lengths.get(n) if isinstance(n, str) else n for n in shape])
                array = freeze_array(value, name, wanted, _DTYPES[kind], finite=finite)
                lengths.update(zip(shape, array.shape, strict=True))
                object.__setattr__(self, name, array)


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
        raise InvalidValue(
            f"{what} must be a number {'greater than' if above else 'of at least'} {least:g}, got {value!r}"
        )
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
        raise InvalidValue(f"names must be a list of {what} names, got the string {names!r}")
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
            raise InvalidValue(
                f"frame must be from 0 to {n_frames - 1}, or from -{n_frames} to -1 to count from the end, got {i}"
            )
        start = i % n_frames
        return start, start + 1
    if frames.step not in (None, 1):
        raise InvalidValue(
            f"the step of a frame slice must be 1, got {frames.step}; use resample to change the frame rate"
        )
    try:
        start, stop, _ = frames.indices(n_frames)
    except TypeError:
        raise InvalidValue(
            f"frames must be integers, got {frames.start!r} to {frames.stop!r}; the frame at a time in seconds is "
            "round(seconds * fps)"
        ) from None
    if stop <= start:
        ends = ("" if end is None else str(end) for end in (frames.start, frames.stop))
        raise InvalidValue(f"[{':'.join(ends)}] selects no frames; use 0 <= start < stop <= {n_frames}")
    return start, stop


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
    except TypeError:  # this memory does not show whether it is read-only
        return False
