"""Encode and decode JSON messages. Incoming messages are validated field by field against their dataclass.

This module does not use msgspec: error messages (value, known fields, similar names), limits of numbers and `Settings`
would need more code than msgspec saves. Decoding a message takes under 0.1 ms, far less than handling it.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from marey.core.settings import Option, Settings, options_of
from marey.errors import InvalidValue, similar
from marey.io.text_numbers import refuse_constant
from marey.studio.messages import Value
from marey.studio.object_options import has_control, read_text

T = TypeVar("T")
_MAX_SHOWN_CHARS = 60
_find_types = functools.cache(get_type_hints)


def encode(value: Any) -> str:
    """Encode wire values and plain data as ASCII JSON; non-finite numbers raise an error."""
    return json.dumps(value, default=_fields, allow_nan=False, separators=(",", ":"))


def decode(kind: type[T], fields: dict[str, Any]) -> T:
    """Build a `kind` from `fields`. Missing, unknown or mistyped fields raise an `InvalidValue` that names them."""
    value: T = _decode_dataclass(kind, fields, getattr(kind, "do", kind.__name__))
    return value


def fill(kind: type[T], found: Mapping[str, Any], **more: Any) -> T:
    """Build a reply from the result of a job and other fields: lists become tuples, and objects become values.

    Entries of the result that `kind` does not declare are ignored.
    """
    given, form = {**found, **more}, cast(Any, kind)
    return decode(kind, {field.name: given[field.name] for field in dataclasses.fields(form) if field.name in given})


def parse_object(text: str) -> dict[str, Any]:
    """Parse a JSON object; NaN and infinities are rejected."""
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidValue(f"a message must be JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidValue(f"a message must be a JSON object, not {_shorten(value)}")
    return value


def _fields(value: Any) -> dict[str, Any]:
    if isinstance(value, Value):
        return value.fields()
    if isinstance(value, Settings):
        return value.to_dict()
    raise TypeError(f"cannot send a {type(value).__name__}")


def _decode_dataclass(kind: Any, value: Any, where: str) -> Any:
    if isinstance(value, kind):
        return value
    if not isinstance(value, dict):
        raise InvalidValue(f"{where}: expected an object, got {_shorten(value)}")
    hints = _find_types(kind)
    known = {field.name: field for field in dataclasses.fields(kind)}
    _check_names(value, known, where)
    for name, field in known.items():
        if name not in value and field.default is dataclasses.MISSING:
            raise InvalidValue(f"{where}: the field {name!r} is missing")
    return kind(**{name: _value(hints[name], given, f"{where}.{name}") for name, given in value.items()})


def check_settings(kinds: Iterable[type[Settings]], value: dict[str, Any], where: str) -> dict[str, Any]:
    """Check the options of an operation with several classes of settings. Return those that were given."""
    known = {each.name: each for kind in kinds for each in options_of(kind) if has_control(each)}
    _check_names(value, known, where)
    return {name: known[name].check(_read(known[name], given)) for name, given in value.items()}


def _check_settings(kind: type[Settings], value: Any, where: str) -> Settings:
    """Check the options of an operation; those that are missing have their defaults."""
    _expect(isinstance(value, dict), value, where, "an object")
    known = {each.name: each for each in options_of(kind) if has_control(each)}
    _check_names(value, known, where)
    return kind(**{name: _read(known[name], given) for name, given in value.items()})


def _read(each: Option, value: Any) -> Any:
    return read_text(each, value) if each.kind == "object" else value


def _check_names(value: dict[str, Any], known: Collection[str], where: str) -> None:
    for name in value.keys() - set(known):
        shown = name[:_MAX_SHOWN_CHARS]
        raise InvalidValue(
            f"{where}: unknown field {shown!r}; known fields: {', '.join(known) or 'none'}{similar(shown, known)}"
        )


def _value(kind: Any, value: Any, where: str) -> Any:
    """Check one value against the type `kind` and convert it. `where` is its path, for messages."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (types.UnionType, Union):
        if value is None and type(None) in arguments:
            return None
        return _value(next(each for each in arguments if each is not type(None)), value, where)
    if isinstance(kind, type) and issubclass(kind, Settings):
        return _check_settings(kind, value, where)
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(kind, value, where)
    if origin is Literal:
        return _expect(isinstance(value, str) and value in arguments, value, where, " or ".join(map(repr, arguments)))
    if origin is tuple:
        return _decode_tuple(arguments, value, where)
    if origin is dict:
        _expect(isinstance(value, dict), value, where, "an object")
        return {name: _value(arguments[1], each, f"{where}.{name[:_MAX_SHOWN_CHARS]}") for name, each in value.items()}
    if kind is object:  # checked by the handler
        return value
    if kind is float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(
            _expect(is_number and abs(value) < 1e300 and math.isfinite(value), value, where, "a finite number")
        )
    if kind is int:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        return _expect(is_integer and abs(value) < 2**53, value, where, "a whole number")
    return _expect(isinstance(value, kind), value, where, {str: "text", bool: "true or false"}[kind])


def _decode_tuple(arguments: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    _expect(isinstance(value, list | tuple), value, where, "a list")
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_value(arguments[0], each, f"{where}[{i}]") for i, each in enumerate(value))
    _expect(len(value) == len(arguments), value, where, f"a list of {len(arguments)}")
    return tuple(_value(one, each, f"{where}[{i}]") for i, (one, each) in enumerate(zip(arguments, value, strict=True)))


def _expect(fits: bool, value: Any, where: str, form: str) -> Any:
    if not fits:
        raise InvalidValue(f"{where}: expected {form}, got {_shorten(value)}")
    return value


def _shorten(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + "..."
