"""Settings of an operation, declared once.

An operation has one subclass of `Settings`, which declares each of its options with `option`: default, help, unit and
range. Everything else is derived from it: the checks, the keywords of the library function (`operation`), the options
of the command (`marey.cli.derived_options`), and the controls of the studio (`marey.studio.forms`)::

    class CleanSettings(Settings):
        max_stretch: float = option(0.2, "Maximum stretch of a limb.", unit="fraction", below=1)

    @operation(CleanSettings)
    def clean(motion: Motion, settings: CleanSettings) -> Motion:
        \"\"\"Remove foot skate.\"\"\"

    clean(motion, max_stretch=0.1)
    clean(motion, settings=CleanSettings(max_stretch=0.1))
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    dataclass_transform,
    overload,
)

from marey.core.options import UNITS, Option, read_option
from marey.deprecation import warn_renamed
from marey.errors import InvalidValue, similar

if TYPE_CHECKING:
    import numpy as np

    from marey.core.protocols import ResultCache

__all__ = [
    "Option",
    "ProgressSettings",
    "Seed",
    "Settings",
    "WorkSettings",
    "operation",
    "option",
    "options_of",
    "positional_option",
]

P = ParamSpec("P")
S = TypeVar("S")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
R = TypeVar("R")
S_co = TypeVar("S_co", covariant=True)
A_contra = TypeVar("A_contra", contravariant=True)
B_contra = TypeVar("B_contra", contravariant=True)
S_contra = TypeVar("S_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

Seed: TypeAlias = "int | np.random.Generator"
"""The type of `rng=`: an integer is the seed of a new generator."""


def option(
    default: Any,
    help: str,
    *,
    label: str = "",
    unit: str = "",
    min: float | None = None,
    above: float | None = None,
    max: float | None = None,
    below: float | None = None,
    advanced: bool = False,
) -> Any:
    """Declare a field of `Settings`. See `Option` for the parameters."""
    about = {
        "help": help, "label": label, "unit": unit, "min": min, "above": above, "max": max, "below": below,
        "is_advanced": advanced,
    }  # fmt: skip
    return dataclasses.field(default=default, metadata=about, kw_only=True)


def positional_option(*, default: Any, help: str, kw_only: Literal[False], **others: Any) -> Any:
    """Declare an option that callers may also pass without its name, after the data.

    Type checkers read `default` and ``kw_only=False`` from the call, so both are named.
    """
    field = option(default, help, **others)
    field.kw_only = kw_only
    return field


class _SettingsSignature:
    """Descriptor that builds the signature of a Settings class, with every option, on first use, because that takes
    time."""

    def __get__(self, instance: Any, kind: Any) -> inspect.Signature:
        return inspect.Signature(_make_parameters(kind))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(positional_option,))
class _Checked:
    """Base class that makes each subclass of `Settings` a frozen dataclass that checks its values.

    The methods are written out: the code that `dataclass` generates for them takes a millisecond per class to compile.
    """

    __signature__: ClassVar[Any]

    def __init_subclass__(cls) -> None:
        if cls.__bases__ == (_Checked,):  # Settings itself, which declares `settings` for type checkers
            return
        dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)
        cls.__init__ = _set_options  # type: ignore[method-assign]
        cls.__signature__ = _SettingsSignature()

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

        def __delattr__(self, name: str) -> None:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

        def __repr__(self) -> str:
            values = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in options_of(type(self)))
            return f"{type(self).__qualname__}({values})"

        def __eq__(self, other: object) -> bool:
            return _get_values(self) == _get_values(other) if type(other) is type(self) else NotImplemented

        def __hash__(self) -> int:
            return hash(_get_values(self))


def _get_values(settings: Any) -> tuple[Any, ...]:
    return tuple(getattr(settings, each.name) for each in options_of(type(settings)))


def _set_options(self: Any, *values: Any, settings: Settings | None = None, **options: Any) -> None:
    kind = type(self)
    if settings is not None and not isinstance(settings, kind):
        raise InvalidValue(
            f"settings must be {kind.__name__}, not {type(settings).__name__}", parameter="settings",
            remedy=f"import the class from {kind.__module__}, or pass the options by name",
        )  # fmt: skip
    options |= _name_values(kind, values, options)
    known = {each.name for each in options_of(kind)}
    for name in options.keys() - known:
        raise TypeError(f"{kind.__name__}() got an unexpected keyword argument {name!r}{similar(name, known)}")
    options = self.convert(options)
    for each in options_of(kind):
        default = each.default if settings is None else getattr(settings, each.name)
        object.__setattr__(self, each.name, each.check(options.get(each.name, default)))
    self.check()
    for each in options_of(kind):
        each.check_object(getattr(self, each.name))


class Settings(_Checked):
    """Base class of the settings of operations: frozen dataclasses whose values are checked.

    settings : other settings of the same class, whose values replace the defaults.
    """

    settings: dataclasses.InitVar[Settings | None] = None

    @staticmethod
    def convert(options: dict[str, Any]) -> dict[str, Any]:
        """Convert the given options to the form in which they are checked. Subclasses override this to accept other
        forms of a value."""
        return options

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready dict of the plain options, and of lists and maps of plain values that were given."""
        values = [(each, getattr(self, each.name)) for each in options_of(type(self))]
        return {
            each.name: value
            for each, value in values
            if _is_plain(value) and (each.kind != "object" or value != each.default)
        }

    def select(self, kind: type[Settings]) -> dict[str, Any]:
        """Return the options that the base class `kind` declares, as keywords for another operation that has them."""
        return {each.name: getattr(self, each.name) for each in options_of(kind)}

    def check(self) -> None:
        """Raise `InvalidValue` if values contradict each other. Subclasses override this."""


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(name, str) and _is_plain(each) for name, each in value.items())
    return value is None or isinstance(value, bool | int | float | str)


class ProgressSettings(Settings):
    """Base class of the settings of work that takes a while."""

    progress: Callable[[float], None] | None = option(None, "Called with the fraction done, from 0 to 1.")


class WorkSettings(ProgressSettings):
    """Base class of the settings of builders that compare all clips with each other."""

    run: Callable[..., Any] = option(
        map, "Function that maps work over blocks, like ``map``. The default uses the threads of this process; "
        "`marey.store.processes` uses several processes.",
    )  # fmt: skip
    cache: ResultCache | None = option(
        None, "A `marey.store.Cache`, such as ``clips.cache`` of a motion set. Pairs of clips that were compared "
        "before, for any result, are not compared again.",
    )  # fmt: skip


def _name_values(kind: Any, values: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Return values that were passed by position, keyed by option name."""
    names = [field.name for field in dataclasses.fields(kind) if not field.kw_only]
    if len(values) > len(names):
        others = f", except {', '.join(names)}" if names else ""
        raise TypeError(f"{kind.__name__}() takes options by name only{others}")
    named = dict(zip(names, values, strict=False))
    for name in named.keys() & options.keys():
        raise TypeError(f"{kind.__name__}() got two values for {name!r}")
    return named


def options_of(kind: Any) -> tuple[Option, ...]:
    """Return the options that a class of settings declares, in order."""
    found: tuple[Option, ...] | None = vars(kind).get("_options")
    if found is None:
        found = kind._options = tuple(read_option(field) for field in dataclasses.fields(kind))
    return found


class _TakesTwo(Protocol[A_contra, B_contra, S_contra, R_co]):
    def __call__(self, a: A_contra, b: B_contra = ..., /, *, settings: S_contra) -> R_co: ...


class _OneOrTwo(Protocol[A_contra, B_contra, P, R_co]):
    @overload
    def __call__(self, a: A_contra, /, *args: P.args, **options: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, a: A_contra, b: B_contra, /, *args: P.args, **options: P.kwargs) -> R_co: ...


class _Decorator(Protocol[P, S_co]):
    @overload
    def __call__(self, function: Callable[[A, S_co], R], /) -> Callable[Concatenate[A, P], R]: ...
    @overload
    def __call__(self, function: Callable[[A, B, S_co], R], /) -> Callable[Concatenate[A, B, P], R]: ...
    @overload
    def __call__(self, function: Callable[[A, B, C, S_co], R], /) -> Callable[Concatenate[A, B, C, P], R]: ...
    # A function whose second parameter is optional, and `settings` keyword-only.
    @overload
    def __call__(self, function: _TakesTwo[A, B, S_co, R], /) -> _OneOrTwo[A, B, P, R]: ...
    # A function whose data parameters have defaults or are keywords declares `settings` after `*`.
    @overload
    def __call__(self, function: Callable[..., R], /) -> Callable[..., R]: ...


def operation(kind: Callable[P, S], *, positional: tuple[str, ...] = ()) -> _Decorator[P, S]:
    """Give a function the options of a class of settings as keywords.

    The last parameter of the function is `settings`. Its callers pass options by name, or `settings=`, or both: options
    then replace those of the settings. Signature and docstring show every option.

    positional : options that used to be positional parameters. Passing them by position still works, with a warning;
        options declared with `positional_option` give no warning.
    """

    make: Any = kind

    def decorate(function: Callable[..., Any]) -> Any:
        signature = inspect.signature(function)
        given = [each for name, each in signature.parameters.items() if name != "settings"]
        # Keywords that are not options, such as the knobs of a blend tree.
        others = [each for each in given if each.kind is inspect.Parameter.VAR_KEYWORD]
        own = [each for each in given if each not in others]
        names = {each.name for each in own}
        known = options_of(make)
        option_names = {"settings", *(each.name for each in known)}

        def run(*arguments: Any, **options: Any) -> Any:
            data = {name: options.pop(name) for name in names & options.keys()}
            rest = {name: options.pop(name) for name in (options.keys() - option_names if others else ())}
            values, arguments = arguments[len(own) - len(data) :], arguments[: len(own) - len(data)]
            if positional and values:
                extra = dict(zip(positional, values, strict=False))
                if len(extra) < len(values):
                    raise TypeError(f"{function.__name__}() takes options by name only")
                warn_renamed(f"{function.__name__}(...) without names", f"{', '.join(extra)}=")
                options, values = options | extra, ()
            try:
                settings = make(*values, **options)
            except TypeError as error:  # an unknown or repeated option: name the function, not its settings
                raise TypeError(str(error).replace(f"{make.__name__}()", f"{function.__name__}()")) from None
            return function(*arguments, **data, settings=settings, **rest)

        call: Any = functools.wraps(function)(run)
        call.__doc__ = _extend_doc(function.__doc__ or "", known, make.__name__)
        call.__signature__ = signature.replace(parameters=[*own, *_make_parameters(make), *others])
        return call

    return decorate


def _make_parameters(kind: Any) -> list[inspect.Parameter]:
    """Return the function parameters for the options; those that may be passed by position come first."""
    only, both = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    out = [
        inspect.Parameter(field.name, only if field.kw_only else both, default=field.default, annotation=field.type)
        for field in sorted(dataclasses.fields(kind), key=lambda field: bool(field.kw_only))
    ]
    return [*out, inspect.Parameter("settings", only, default=None, annotation=f"{kind.__name__} | None")]


@functools.cache
def _wrap_row(text: str) -> str:
    """Wrap the text of an option. Most options belong to several operations, and wrapping takes most of the time."""
    return textwrap.fill(text, 116, subsequent_indent="    ")


def _extend_doc(doc: str, options: tuple[Option, ...], kind: str) -> str:
    """Return a docstring with the options at the end of its section "Parameters"; the section is added if missing."""
    head, found, rest = inspect.cleandoc(doc).partition("Parameters\n----------\n")
    own, blank, tail = rest.partition("\n\n")
    if not found and (other := re.search(r"^\w+\n---+$", head, re.M)):  # the options come before other sections
        head, blank, tail = head[: other.start()], "\n\n", head[other.start() :]
    rows = [own.rstrip("\n")] if own.strip() else []
    for each in options:
        limits = each.describe_range()
        unit = "integer or generator" if each.is_seed else UNITS.get(each.unit, each.unit)
        facts = ", ".join(part for part in (unit, limits) if part)
        rows.append(_wrap_row(f"{each.name} : {each.help}" + (f" ({facts})" if facts else "")))
    rows.append(f"settings : `{kind}` whose values replace the defaults of the options.")
    section = "Parameters\n----------\n" + "\n".join(rows)
    return f"{head.rstrip()}\n\n{section}\n" + (f"\n{tail.strip()}\n" if blank and tail.strip() else "")
