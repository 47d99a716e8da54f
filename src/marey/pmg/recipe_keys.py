"""Read the keys of a recipe: check types, reject unknown keys, and report errors with file and key."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from marey.core.settings import options_of
from marey.errors import InvalidValue, ParseError, similar

S = TypeVar("S")

__all__ = ["MOMENT", "Keys"]

MOMENT = re.compile(r"^(?P<what>[A-Za-z_][\w ]*):(?P<which>start|end|-?\d+)\s*(?P<more>[+-]\s*\d*\.?\d+)?$")
"""Pattern of a moment in a clip.

``walk:start-0.3`` is 0.3 s before the start (or ``end``) of the first label ``walk``. ``passing:1+0.2`` is 0.2 cycles
after passing 1, the second time that the left foot passes the right; -1 is the last time.
"""
_MAX_VALUES = 10_000


class Keys:
    """Reader for one table of a recipe: take its keys one by one, then call `done` to reject the rest.

    given : the table.
    path : path of the recipe, for error messages.
    where : location of the table in the recipe, for error messages.
    header : header of the table, such as "nodes.clips"; "" for the recipe itself.
    """

    def __init__(self, given: Any, path: str, where: str, header: str = "") -> None:
        self.path, self.where, self._header = path, where, header
        if not isinstance(given, Mapping):
            self.fail(f"expected a table, got {given!r}")
        self._given: dict[str, Any] = dict(given)
        self._known: list[str] = []
        self._expected: tuple[str, ...] = ()

    def fail(self, message: str) -> NoReturn:
        """Raise an error with the recipe's path and the location of the table."""
        raise ParseError(f"{self.where}: {message}", path=self.path)

    def expect(self, *keys: str) -> None:
        """Set the keys that the table may have, for `miss` and `check_known`."""
        self._expected = keys

    def check_known(self, known: Iterable[str] = ()) -> None:
        """Raise an error if there is a key that is not expected. `known` are others that are allowed, not suggested."""
        allowed = {*self._expected, *known}
        for key in self._given if self._expected else ():
            if key not in allowed:
                self._reject(key, self._expected)

    def miss(self, message: str, known: Iterable[str] = ()) -> NoReturn:
        """Raise an error about a missing key, or about an unknown one, which may be the missing one misspelled.

        known : other keys that are known, but not suggested.
        """
        self.check_known(known)
        self.fail(message)

    def has(self, key: str) -> bool:
        self._known.append(key)
        return key in self._given

    def left(self) -> Iterable[str]:
        """Return the keys that have not been taken yet."""
        return self._given.keys()

    def done(self, more: Sequence[str] = (), also: str = "") -> None:
        """Raise an error if keys remain, and suggest the most similar known key.

        more : other keys that are known. also : where the key may belong instead.
        """
        for key in self._given:
            self._reject(key, dict.fromkeys([*self._known, *more]), f", or it belongs to {also}" if also else "")

    def _reject(self, key: str, known: Iterable[str], hint: str = "") -> NoReturn:
        near = similar(key, known, n=1) or f"; known: {', '.join(known)}"
        self.fail(f"unknown key {key!r}{near}{hint}")

    def _take(self, key: str, default: Any = None, needed: bool = False, remedy: str = "") -> Any:
        self._known.append(key)
        if key not in self._given and needed:
            self.miss(f"{key} is missing{'; ' + remedy if remedy else ''}")
        return self._given.pop(key, default)

    def text(self, key: str, default: str = "", *, needed: bool = False) -> str:
        value = self._take(key, default, needed)
        if not isinstance(value, str) or (needed and not value):
            self.fail(f"{key} must be a string, not {value!r}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._take(key, ())
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
            self.fail(f"{key} must be a list of strings, not {value!r}")
        return tuple(value)

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        value = self.text(key, default or "", needed=default is None)
        if value not in choices:
            self.fail(
                f"{key} must be one of {', '.join(map(repr, choices))}, not {value!r}{similar(value, choices, 1)}"
            )
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self._take(key, default)
        if not isinstance(value, bool):
            self.fail(f"{key} must be true or false, not {value!r}")
        return value

    def flag_or_text(self, key: str) -> bool | str:
        """Return true, false (the default) or a text."""
        value = self._take(key, False)
        if not isinstance(value, bool | str):
            self.fail(f"{key} must be true, false or a string, not {value!r}")
        return value

    def number(self, key: str, default: float | None, *, above: float = -math.inf) -> float:
        value = self._take(key, default)
        if not _is_number(value) or value <= above:
            self.fail(
                f"{key} must be a number{'' if above == -math.inf else f' greater than {above:g}'}, not {value!r}"
            )
        return float(value)

    def integer(self, key: str, default: int) -> int:
        value = self._take(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self.fail(f"{key} must be a whole number of at least 0, not {value!r}")
        return value

    def numbers(self, key: str) -> tuple[float, ...] | None:
        value = self._take(key)
        if value is None:
            return None
        listed = value if isinstance(value, list) else [value]
        if not listed or not all(_is_number(each) for each in listed):
            self.fail(f"{key} must be numbers, not {value!r}")
        return tuple(float(each) for each in listed)

    def pair(self, key: str, default: tuple[int, int]) -> tuple[int, int]:
        value = self._take(key, list(default))
        good = isinstance(value, list | tuple) and len(value) == 2
        fits = good and all(
            isinstance(each, int) and not isinstance(each, bool) and 2 <= each <= _MAX_VALUES for each in value
        )
        if not fits:
            self.fail(f"{key} must be two whole numbers from 2 to {_MAX_VALUES}, of source and target, not {value!r}")
        return int(value[0]), int(value[1])

    def moment(self, key: str) -> float | str | None:
        value = self._take(key)
        if value is None or (_is_number(value) and value >= 0.0):
            return None if value is None else float(value)
        if not isinstance(value, str) or MOMENT.match(value) is None:
            self.fail(f"{key} must be seconds, or a moment such as 'walk:start-0.3' or 'passing:1+0.2', not {value!r}")
        return value

    def values(self, key: str) -> tuple[Any, ...]:
        """Return the values of a key: a number or a string, a list of them, or a table with from, to and count."""
        value = self._take(key)
        if isinstance(value, Mapping):
            spread = Keys(value, self.path, f"{self.where}, {key}")
            first, last, count = spread.number("from", None), spread.number("to", None), spread.integer("count", 0)
            spread.done()
            if not 2 <= count <= _MAX_VALUES:
                self.fail(f"{key}: count must be from 2 to {_MAX_VALUES}, not {count}")
            return tuple(np.linspace(first, last, count).tolist())
        listed = value if isinstance(value, list) else [value]
        if not listed or not all(_is_number(each) or isinstance(each, str) for each in listed):
            self.fail(f"{key} must be a number, a list, or a table with from, to and count, not {value!r}")
        return tuple(listed)

    def settings(self, kind: Callable[..., S]) -> S:
        """Return settings of the class `kind` with the values in the table. Unknown keys raise an error."""
        names = [each.name for each in options_of(kind) if each.kind != "object"]
        given = {name: self._take(name) for name in names if self.has(name)}
        self.done()
        try:
            return kind(**given)
        except InvalidValue as error:
            self.fail(str(error))

    def table(self, key: str) -> Keys:
        return Keys(self._take(key, {}), self.path, key)

    def tables(self, key: str, what: str, *, needed: bool = False) -> list[Keys]:
        header, inner = (f"{self._header}.{key}", f"{self.where}, ") if self._header else (key, "")
        value = self._take(key, [], needed, f"write [[{header}]]")
        if not isinstance(value, list) or (needed and not value):
            self.fail(f"{key} must be tables, written [[{header}]], not {value!r}")
        return [Keys(each, self.path, f"{inner}{what} {k + 1}", header) for k, each in enumerate(value)]


def _is_number(value: Any) -> bool:
    # Integers may be larger than any float; comparisons with NaN are false.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
