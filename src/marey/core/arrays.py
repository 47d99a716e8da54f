"""Validate arguments: arrays (made read-only), rates, names, frame numbers and types."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import Field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from marey.core.options import LARGEST
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
    """Return `value` as a read-only, C-contiguous array of `dtype`; check its shape and, for floats, that it is finite.

    None in `shape` allows any length. The array is copied unless it is already read-only, so later writes by the caller
    cannot change the result.
    """
    array = convert_array(value, name, dtype)
    if array.ndim != len(shape) or array.shape != tuple(
        [got if want is None else want for want, got in zip(shape, array.shape, strict=True)]
    ):
        wanted = ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "")
        raise InvalidValue(f"{name} must have shape ({wanted}), not {array.shape}")
    if finite and array.dtype.kind == "f" and not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InvalidValue(f"{name} must be finite, not {array[where]} at index {where}")
    if not (is_readonly(array) and array.flags.c_contiguous and array.flags.aligned):
        array = set_readonly(array.copy())
    return array


def convert_array(value: Any, name: str, dtype: Any = np.float64) -> NDArray[Any]:
    """Convert `value` to an array of `dtype`. Values are not rounded to integers or booleans, because that would hide a
    mistake.
    """
    if isinstance(value, np.ndarray) and value.dtype == dtype:
        return np.asarray(value)
    dtype = np.dtype(dtype)
    try:
        given = np.asarray(value)
    except (TypeError, ValueError):
        what = "rows of unequal length" if isinstance(value, Sequence) else type(value).__name__
        raise InvalidValue(f"{name} must be an array of numbers, not {what}") from None
    if given.dtype == dtype:
        return given
    if given.size and given.dtype.kind not in "biuf":
        raise InvalidValue(f"{name} must be an array of numbers, but it contains {_get_first(given)!r}")
    with np.errstate(invalid="ignore"):
        array = given.astype(dtype, copy=False)
    if dtype.kind in "ib" and given.dtype.kind != dtype.kind and not np.array_equal(array, given):
        wanted = "True and False" if dtype.kind == "b" else "whole numbers"
        raise InvalidValue(f"{name} must hold {wanted}, not {_get_first(given[array != given])!r}")
    return array


def set_readonly(array: NDArray[Any]) -> NDArray[Any]:
    """Mark a new array as read-only and return it, so that `freeze_array` does not copy it."""
    array.flags.writeable = False
    return array


class FrozenRecord:
    """Base class of frozen dataclasses that validate arrays and store them read-only.

    Copying and unpickling call the constructor again, because NumPy returns writable copies of the arrays.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[str, ...]]

    def __reduce__(self) -> tuple[Any, ...]:
        values = (getattr(self, field.name) for field in fields(self) if field.init)
        # Read-only mappings cannot be copied or pickled, so copy their content into dictionaries.
        return type(self), tuple(dict(value) if isinstance(value, MappingProxyType) else value for value in values)

    @classmethod
    def _build_unchecked(cls, *values: Any) -> Self:
        """Build a record without checks, from values in the order of its fields.

        Use it only for values that would pass the constructor's checks, such as the parts of a record that a stream
        creates for every frame.
        """
        out = object.__new__(cls)
        for name, value in zip(cls.__match_args__, values, strict=True):
            object.__setattr__(out, name, value)
        return out

    def _put(self, **values: Any) -> None:
        """Set fields in the constructor, where a frozen dataclass does not allow assignment."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _freeze(self, *, finite: bool = True, **shapes: tuple[int | str | None, ...]) -> None:
        """Replace fields with checked read-only arrays, using `freeze_array`.

        Each keyword is a field and its shape. A string in a shape stands for a length: the first field with that string
        defines it, and the others must match. The annotation of a field gives its type: `Floats`, `Ints` or `Bools`;
        fields with ``| None`` may stay None.
        """
        lengths: dict[int | str | None, int] = {}
        for name, shape in shapes.items():
            value, kind = getattr(self, name), self.__dataclass_fields__[name].type
            if value is not None or kind != "Floats | None":
                wanted = tuple([lengths.get(n) if isinstance(n, str) else n for n in shape])
                array = freeze_array(value, name, wanted, _DTYPES[kind], finite=finite)
                lengths.update(zip(shape, array.shape, strict=True))
                object.__setattr__(self, name, array)


def parse_number(value: Any) -> float:
    """Return `value` as a float; NaN if it is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def check_fps(fps: Any) -> float:
    """Return frames per second as a float; raise InvalidValue unless it is positive and finite."""
    rate = parse_number(fps)
    if not (math.isfinite(rate) and rate > 0):
        raise InvalidValue(f"fps must be a finite number greater than 0, not {fps!r}", parameter="fps")
    return rate


# Maximum number of frames of a new motion, and maximum of frames times joints, whose rotations take 3.2 GB.
MAX_FRAMES, MAX_POSES = 10_000_000, 100_000_000


def check_frame_count(n_frames: float, n_joints: int, *, parameter: str, remedy: str) -> None:
    """Raise InvalidValue if a new motion would have too many frames. Call it before allocating the motion's arrays."""
    most = min(MAX_FRAMES, MAX_POSES // max(n_joints, 1))
    if not n_frames <= most:
        count = f"{n_frames:,.0f}" if n_frames < 1e15 else f"{n_frames:.3g}"
        raise InvalidValue(
            f"the result would have {count} frames of {n_joints} joints (maximum {most:,})",
            parameter=parameter,
            remedy=remedy,
        )


def check_number(value: Any, what: str, least: float = 0.0, *, above: bool = False) -> float:
    """Return `value` as a finite float of at least `least` (greater than it if `above`); else raise InvalidValue.

    what : the name of the parameter, optionally with its unit ("ease in seconds"), or a description for the message.
    """
    number = parse_number(value)
    if number > LARGEST:
        raise InvalidValue(f"{what} must be at most {LARGEST:g}, not {value!r}", parameter=_find_parameter(what))
    if not np.isfinite(number) or number < least or (above and number == least):
        raise InvalidValue(
            f"{what} must be a number {'greater than' if above else 'of at least'} {least:g}, not {value!r}",
            parameter=_find_parameter(what),
        )
    return number


def check_index(value: Any, what: str, length: int | None = None) -> int:
    """Return `value` as an int. Anything but an integer, such as 1.5 or "1", raises InvalidValue.

    Parameters
    ----------
    what : the name of the parameter, or a description for the message.
    length : number of items that the index selects from; the index must be from 0 to ``length - 1``.
    """
    try:
        index = operator.index(value)
    except TypeError:
        raise InvalidValue(f"{what} must be an integer, not {value!r}", parameter=_find_parameter(what)) from None
    if length is not None and not 0 <= index < length:
        raise InvalidValue(f"{what} must be from 0 to {length - 1}, not {index}", parameter=_find_parameter(what))
    return index


def check_type(value: Any, kind: type | tuple[type, ...], what: str, *, remedy: str | None = None) -> Any:
    """Return `value` if it is an instance of `kind`, one type or several; otherwise raise InvalidValue.

    what : the name of the parameter, or a description for the message.
    """
    if isinstance(value, kind):
        return value
    wanted = " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
    article = "an" if wanted[0] in "AEIOU" and not wanted.startswith("One") else "a"
    raise InvalidValue(
        f"{what} must be {article} {wanted}, not {type(value).__name__}",
        parameter=_find_parameter(what),
        remedy=remedy,
    )


def check_list(values: Any, kind: type, what: str) -> tuple[Any, ...]:
    """Return `values` as a tuple if it is a list of `kind`; anything else raises InvalidValue."""
    if isinstance(values, str | kind) or not isinstance(values, Iterable):
        raise InvalidValue(f"{what} must be a list of {kind.__name__}, not {values!r}", parameter=what)
    return tuple(check_type(each, kind, f"each of {what}") for each in values)


def _find_parameter(what: str) -> str | None:
    """Return the parameter in ``"ease"``, ``"ease in seconds"`` or ``"start, a node,"``; None for descriptions such as
    ``"a frame"``."""
    name = what.partition(",")[0].partition(" in ")[0]
    return name if name.isidentifier() else None


def check_names(names: Iterable[Any], what: str) -> tuple[str, ...]:
    """Return the names of joints or markers (`what`) as a tuple; they must be non-empty strings without duplicates."""
    if isinstance(names, str):
        raise InvalidValue(f"names must be a list of {what} names, not the string {names!r}")
    checked = tuple(names)
    seen: set[str] = set()
    for name in checked:
        if not isinstance(name, str) or not name:
            raise InvalidValue(f"{what} names must be non-empty strings, not {name!r}")
        if name in seen:
            raise InvalidValue(f"{what} names must differ, but {name!r} occurs twice")
        seen.add(name)
    return checked


def resolve_frames(frames: Any, n_frames: int) -> tuple[int, int]:
    """Convert the index ``[i]`` or slice ``[a:b]`` to start and stop among `n_frames` frames: half-open, never empty.

    As in Python, negative numbers count from the end, and slices are clamped to the available frames.
    """
    if not isinstance(frames, slice):
        i = check_index(frames, "a frame")
        if not -n_frames <= i < n_frames:
            raise InvalidValue(
                f"frame must be from 0 to {n_frames - 1}, or from -{n_frames} to -1 to count from the end, not {i}"
            )
        start = i % n_frames
        return start, start + 1
    if frames.step not in (None, 1):
        raise InvalidValue(
            f"the step of a frame slice must be 1, not {frames.step}; use resample to change the frame rate"
        )
    try:
        start, stop, _ = frames.indices(n_frames)
    except TypeError:
        raise InvalidValue(
            f"frames must be integers, not {frames.start!r} to {frames.stop!r}; the frame at a time in seconds is "
            "round(seconds * fps)"
        ) from None
    if stop <= start:
        ends = ("" if end is None else str(end) for end in (frames.start, frames.stop))
        raise InvalidValue(f"[{':'.join(ends)}] selects no frames; use 0 <= start < stop <= {n_frames}")
    return start, stop


def interpolate(values: Floats, frames: Floats) -> Floats:
    """Interpolate `values` (F, ...) linearly at `frames` (N,), which may be fractional, from 0 to F - 1."""
    before = frames.astype(np.int64)
    after = np.minimum(before + 1, len(values) - 1)
    weight = (frames - before).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(values[before] * (1.0 - weight) + values[after] * weight)


def find_runs(mask: Bools) -> list[tuple[int, int]]:
    """Return the runs of True in `mask` (n,) as half-open (start, stop) pairs, in order."""
    padded = np.concatenate([[False], mask, [False]])
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return [(start, stop) for start, stop in edges.reshape(-1, 2).tolist()]


def _get_first(array: NDArray[Any]) -> Any:
    """Return the first element as a Python object."""
    return array.ravel()[:1].tolist()[0]


def is_readonly(array: NDArray[Any]) -> bool:
    """Return whether the array, and every array of which it is a view, is read-only."""
    link: Any = array
    while isinstance(link, np.ndarray):
        if link.flags.writeable:
            return False
        link = link.base
    if link is None:
        return True
    try:
        return memoryview(link).readonly
    except TypeError:  # this object does not reveal whether it is read-only
        return False
