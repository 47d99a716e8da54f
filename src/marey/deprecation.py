"""Keep old names working for one release, each with a `DeprecationWarning` that gives the new name.

Imports nothing from marey but its errors, because every package uses it.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import sys
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import lazy_loader

from marey.errors import warn_user

__all__ = [
    "attach_stub",
    "bundled_parameters",
    "removed_parameters",
    "renamed_classmethod",
    "renamed_fields",
    "renamed_method",
    "renamed_methods",
    "renamed_names",
    "renamed_parameters",
    "warn_renamed",
]

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)


def renamed_names(
    module: str, names: Mapping[str, str], otherwise: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that handles renamed names.

    Parameters
    ----------
    module : the module's `__name__`.
    names : maps each old name to the new one, which may be in a submodule: ``"baselines.MoveTree"``.
    otherwise : the `__getattr__` to use for all other names, for example that of `lazy_loader`.
    """

    def get_attribute(name: str) -> Any:
        if name in names:
            warn_renamed(f"{module}.{name}", f"{module}.{names[name]}")
            return operator.attrgetter(names[name])(sys.modules[module])
        if otherwise is not None:
            return otherwise(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get_attribute


def attach_stub(
    module: str, file: str, names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Like `lazy_loader.attach_stub`, but old names also work, with a warning. `names` maps old names to new ones."""
    get_attribute, list_names, exported = lazy_loader.attach_stub(module, file)
    return renamed_names(module, names, get_attribute), list_names, exported


def renamed_method(old: str, new: str, convert: Callable[[Any], Any] | None = None) -> Any:
    """Return a class attribute that forwards to the method or property `new`; assign it to the name `old`.

    Parameters
    ----------
    convert : function from the return value of `new` to the value that `old` used to return.
    """

    def get_attribute(self: Any) -> Any:
        warn_renamed(f"{type(self).__name__}.{old}", f"{type(self).__name__}.{new}")
        found = getattr(self, new)
        return found if convert is None else lambda *args, **kwargs: convert(found(*args, **kwargs))

    return property(get_attribute, doc=f"Deprecated: use `{new}`.")


def renamed_methods(**names: str) -> Callable[[C], C]:
    """Return a decorator for classes whose methods or properties were renamed: `old="new"`."""

    def decorate(cls: C) -> C:
        for old, new in names.items():
            setattr(cls, old, renamed_method(old, new))
        return cls

    return decorate


def renamed_classmethod(old: str, new: str) -> Any:
    """Return a classmethod that forwards to the classmethod `new`; assign it to the name `old`."""

    def call(cls: type, *args: Any, **kwargs: Any) -> Any:
        warn_renamed(f"{cls.__name__}.{old}", f"{cls.__name__}.{new}")
        return getattr(cls, new)(*args, **kwargs)

    return classmethod(call)


def renamed_fields(**names: str) -> Callable[[C], C]:
    """Return a decorator for dataclasses and named tuples whose fields were renamed.

    The old names work as parameters and as attributes.
    """

    def decorate(cls: C) -> C:
        if issubclass(cls, tuple):
            cls.__new__ = staticmethod(renamed_parameters(**names)(cls.__new__))  # type: ignore[method-assign]
        else:
            cls.__init__ = renamed_parameters(**names)(cls.__init__)  # type: ignore[method-assign]
        return renamed_methods(**names)(cls)

    return decorate


def renamed_parameters(
    **names: str | tuple[str, Callable[[Any], Any]],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for functions whose keyword parameters were renamed.

    `old="new"` passes the value on; `old=("new", convert)` passes `convert(value)`. The signature that `help` shows has
    only the new names.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in names.keys() & kwargs.keys():
                target = names[old]
                new, convert = (target, None) if isinstance(target, str) else target
                warn_renamed(f"{function.__qualname__}({old}=)", f"{new}=")
                if new in kwargs:
                    raise TypeError(f"{function.__qualname__}() got both {new}= and its old name {old}=")
                value = kwargs.pop(old)
                kwargs[new] = value if convert is None else convert(value)
            return function(*args, **kwargs)

        return call

    return decorate


def removed_parameters(*names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that makes a function ignore removed keyword parameters, with a warning."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in [name for name in names if name in kwargs]:
                warn_user(f"{function.__qualname__}({old}=) no longer has an effect; leave it out", DeprecationWarning)
                del kwargs[old]
            return function(*args, **kwargs)

        return call

    return decorate


def bundled_parameters(
    target: str, bundle: Callable[..., Any], **names: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for functions whose keyword parameters partly moved into a settings object.

    `old="new"` sets the field `new` of the parameter `target`, which defaults to `bundle()`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            moved = {names[old]: kwargs.pop(old) for old in names if old in kwargs}
            if moved:
                fields = ", ".join(f"{name}=" for name in moved)
                warn_renamed(
                    f"{function.__qualname__}({', '.join(f'{old}=' for old in names if names[old] in moved)})",
                    f"{target}={bundle.__name__}({fields})",
                )
                given: Any = kwargs[target] if kwargs.get(target) is not None else bundle()
                kwargs[target] = dataclasses.replace(given, **moved)
            return function(*args, **kwargs)

        return call

    return decorate


def warn_renamed(old: str, new: str) -> None:
    """Warn that `old` is deprecated and name its replacement."""
    warn_user(f"{old} is deprecated, use {new}", DeprecationWarning)
