"""One option of an operation: its type, default, range and help, and the check of its values.

`marey.core.settings` declares options and derives keywords from them.
"""

from __future__ import annotations

import ast
import dataclasses
import math
import sys
from collections.abc import Callable
from dataclasses import MISSING, dataclass
from typing import Any, Literal

from marey.errors import InvalidValue, similar

__all__ = ["LARGEST", "UNITS", "Kind", "Option", "is_generator", "read_option"]

LARGEST = 1e15
"""Largest number that an option accepts. Powers of it stay finite, and no length, time or speed is larger."""

Kind = Literal["number", "integer", "flag", "text", "name", "choice", "object"]
_KINDS: dict[str, Kind] = {
    "float": "number", "int": "integer", "bool": "flag", "str": "text", "str | float": "name", "str | int": "name",
    "Seed": "integer",
}  # fmt: skip
# How units read in a sentence. Radians are shown as degrees by the command line and the studio.
UNITS = {"s": "seconds", "m": "meters", "rad": "radians", "1/s": "frames per second", "m/s": "meters per second"}


@dataclass(frozen=True)
class Option:
    """One option of an operation.

    Attributes
    ----------
    name : name of the field and of the keyword.
    kind : "number", "integer", "flag", "text", "name" (a text or a number), "choice", or "object" for anything else.
    default : value if the option is not given.
    is_optional : whether None is allowed.
    help : what the option does, in full sentences.
    label : short name in the studio.
    unit : "s", "m", "rad", "1/s", "m/s", "fraction", or "" for none.
    choices : the allowed strings, if `kind` is "choice".
    min, above, max, below : limits of a number; None for no limit. `min` and `max` are inclusive, `above` and `below`
        exclusive.
    is_advanced : whether the studio shows the control only under *Advanced*.
    is_seed : whether a random generator is allowed in place of an integer.
    type_names : the types of an "object", such as "Sequence[str]".
    """

    name: str
    kind: Kind
    default: Any
    is_optional: bool
    help: str
    label: str
    unit: str
    choices: tuple[str, ...]
    min: float | None
    above: float | None
    max: float | None
    below: float | None
    is_advanced: bool
    is_seed: bool
    type_names: tuple[str, ...] = ()

    @property
    def limits(self) -> tuple[tuple[float | None, float | None], tuple[float | None, float | None]]:
        """The lower and the upper limit, each as (inclusive limit, exclusive limit); None where there is no limit."""
        return (self.min, self.above), (self.max, self.below)

    def describe_range(self, show: Callable[[float], str] = "{:g}".format) -> str:
        """Return the limits as words, such as "at least 0 and less than 1"; "" if there are none."""
        if self.min is not None and self.max is not None:
            return f"from {show(self.min)} to {show(self.max)}"
        words = (
            ("at least", self.min),
            ("greater than", self.above),
            ("at most", self.max),
            ("less than", self.below),
        )
        return " and ".join(f"{word} {show(limit)}" for word, limit in words if limit is not None)

    def check(self, value: Any) -> Any:
        """Return a valid value, numbers as int or float; else raise `InvalidValue`."""
        if self.kind == "object" or (value is None and self.is_optional) or (self.is_seed and is_generator(value)):
            return value
        if self.kind == "flag" and isinstance(value, bool):
            return value
        if self.kind in ("text", "name") and isinstance(value, str):
            return value
        if self.kind == "name" and _to_number(value, "number") is not None:
            return value
        if self.kind == "choice" and isinstance(value, str) and value in self.choices:
            return value
        words = self._describe_values()
        if self.kind in ("number", "integer"):
            number = _to_number(value, "integer" if self.kind == "integer" else "number")
            if number is not None and self._is_within(number):
                if self.kind != "integer":
                    self._check_size(number, value)
                return number
            if number is not None:
                words = f"{self.describe_range()} {UNITS.get(self.unit, '')}".rstrip()
            elif isinstance(value, float):
                words = words.replace("a number", "a finite number")
        near = similar(value, self.choices) if isinstance(value, str) else ""
        raise InvalidValue(f"{self.name} must be {words}, not {value!r}{near}", parameter=self.name)

    def check_object(self, value: Any) -> None:
        """Raise `InvalidValue` if the value of an "object" has a wrong type. Only lists, mappings and plain values are
        checked."""
        if (value is None and self.is_optional) or not self.type_names:
            return
        if any(name in ("float", "int") for name in self.type_names):
            self._check_size(_to_number(value, "number"), value)
        tests = [_PLAIN_TYPES.get(name.partition("[")[0]) for name in self.type_names]
        if all(tests) and not any(test and test[1](value) for test in tests):
            inner = [name.partition("[")[2][:-1] for name in self.type_names]
            *others, last = dict.fromkeys(
                f"{test[0]} of {each}" if each in _KINDS and test[0] == "a list" else test[0]
                for test, each in zip(tests, inner, strict=True)
                if test
            )
            words = f"{', '.join(others)} or {last}" if others else last
            raise InvalidValue(f"{self.name} must be {words}, not {value!r}", parameter=self.name)

    def _check_size(self, number: float | None, value: Any) -> None:
        """Raise `InvalidValue` if a number is too large; `value` is how it was given."""
        if number is not None and abs(number) > LARGEST:
            limit = f"at most {LARGEST:g}" if number > 0 else f"at least {-LARGEST:g}"
            raise InvalidValue(f"{self.name} must be {limit}, not {value!r}", parameter=self.name)

    def _is_within(self, number: float) -> bool:
        return (
            (self.min is None or number >= self.min)
            and (self.above is None or number > self.above)
            and (self.max is None or number <= self.max)
            and (self.below is None or number < self.below)
        )

    def _describe_values(self) -> str:
        if self.kind == "choice":
            *others, last = [*map(repr, self.choices), *(["None"] if self.is_optional else [])]
            return f"{', '.join(others)} or {last}" if others else last
        what = {
            "flag": "True or False", "text": "a string", "name": "a string or a number", "integer": "an integer",
            "number": "a number",
        }[self.kind]  # fmt: skip
        what += f" of {UNITS[self.unit]}" if self.unit in UNITS else ""
        return f"{what} or None" if self.is_optional else what


def _is_list(value: Any) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, str | bytes)


def _is_path(value: Any) -> bool:
    return isinstance(value, str) or hasattr(value, "__fspath__")


# Types of options that can be checked here: how a message names them, and whether a value fits.
_PLAIN_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "Sequence": ("a list", _is_list), "Iterable": ("a list", _is_list),
    "Mapping": ("a dict", lambda value: hasattr(value, "items")), "Callable": ("a function", callable),
    "str": ("a string", lambda value: isinstance(value, str)),
    "Literal": ("a string", lambda value: isinstance(value, str)),
    "StrPath": ("a path", _is_path), "os.PathLike": ("a path", _is_path),
    "float": ("a number", lambda value: _to_number(value, "number") is not None),
}  # fmt: skip


def is_generator(value: Any) -> bool:
    """Return whether a value is a NumPy random generator."""
    return hasattr(value, "bit_generator")


def _to_number(value: Any, kind: Kind) -> float | None:
    """Return a finite number, including NumPy's types, as int or float; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        if kind == "integer":
            return value.__index__()  # type: ignore[no-any-return]
        number = None if isinstance(value, str) else float(value)
    except (AttributeError, TypeError, ValueError):
        return None
    except OverflowError:  # an integer
        number = sys.float_info.max if value > 0 else -sys.float_info.max
    return number if number is not None and math.isfinite(number) else None


def read_option(field: dataclasses.Field[Any]) -> Option:
    """Return the option that a field of `Settings` declares."""
    words = str(field.type).removesuffix(" | None")
    choices: tuple[str, ...] = ()
    kind: Kind = _KINDS.get(words, "object")
    if words.startswith("Literal["):
        kind, choices = "choice", tuple(ast.literal_eval(f"({words[8:-1]},)"))
    if field.default is MISSING or "help" not in field.metadata:
        raise TypeError(f"{field.name}: declare it with option(default, help)")
    about = dict(field.metadata)
    about["label"] = about["label"] or field.name.replace("_", " ").capitalize()
    return Option(
        name=field.name, kind=kind, default=field.default, is_optional=words != field.type, choices=choices,
        is_seed=words == "Seed", type_names=_split_union(words) if kind == "object" else (), **about,
    )  # fmt: skip


def _split_union(words: str) -> tuple[str, ...]:
    """Split an annotation at each ``|`` that is not within brackets."""
    names, depth = [""], 0
    for letter in words:
        depth += (letter == "[") - (letter == "]")
        if letter == "|" and not depth:
            names.append("")
        else:
            names[-1] += letter
    return tuple(name.strip() for name in names)
