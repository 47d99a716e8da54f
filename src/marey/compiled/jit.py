"""Compile kernels with Numba at their first call, if the library of compiled kernels is missing or outdated."""

from __future__ import annotations

import logging
import operator
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from marey.compiled import ArrayType, Forms, TupleType, convert_argument, hash_sources, read_signature
from marey.compiled.lanes import register_lanes
from marey.errors import MareyWarning, MissingDependency

_log = logging.getLogger("marey")

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
"""Options for compiling kernels, ahead of time or just in time. None of them lets the compiler reorder or fuse
arithmetic, so results do not depend on the processor."""

BARE: dict[str, Any] = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options for functions that only compiled code calls."""


def numba_type(annotation: Any) -> Any:
    """Return Numba's type for a type in a signature. Arrays that are not written to are read-only."""
    from numba.core import types as numba_types

    types: Any = numba_types
    if annotation is None:
        return types.none
    if isinstance(annotation, ArrayType):
        dtype = types.boolean if annotation.dtype == "bool" else getattr(types, annotation.dtype)
        return types.Array(dtype, annotation.ndim, "C", readonly=not annotation.is_written)
    if isinstance(annotation, TupleType):
        items = [numba_type(item) for item in annotation.items]
        return types.Tuple(items) if annotation.record is None else types.NamedTuple(items, annotation.record)
    return {int: types.int64, float: types.float64, bool: types.boolean}[annotation]


class JitForms(Forms):
    """Kernels compiled at their first call, in this process or in an earlier one with the same sources."""

    name = "jit"

    def __init__(self, reason: str) -> None:
        try:
            import numba
        except ImportError:
            message = f"{reason}, and Numba, which would compile them, is not installed; run `pip install marey[jit]`"
            raise MissingDependency(message) from None
        register_lanes()
        self._numba = numba
        self._folder = _cache_folder()
        warnings.warn(f"Kernels are compiled at first use: {reason}.", MareyWarning, stacklevel=2)

    def kernel(self, name: str, function: Any) -> Any:
        config: Any = self._numba.config
        # One folder per state of the sources: Numba itself does not notice changes in files that a kernel imports.
        before, config.CACHE_DIR = config.CACHE_DIR, str(self._folder)
        try:
            dispatcher = self._numba.njit(cache=True, **OPTIONS)(function)
        except RuntimeError:  # the cache folder is not writable
            dispatcher = self._numba.njit(**OPTIONS)(function)
        finally:
            config.CACHE_DIR = before
        return JitKernel(name, function, dispatcher)

    def helper(self, function: Any) -> Any:
        return JitHelper(function, self._numba.njit(**BARE)(function))


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "marey" / "kernels" / hash_sources()[:16]


class JitHelper:
    """A function in two forms: kernels call the compiled form, Python code calls the Python form."""

    def __init__(self, function: Any, dispatcher: Any) -> None:
        from numba.core import types
        from numba.extending import typeof_impl

        # When Numba finds this object in a kernel, it compiles a call to the dispatcher.
        typeof_impl.register(type(self))(lambda form, _: types.Dispatcher(form.dispatcher))
        self.function = function
        self.dispatcher = dispatcher

    def __call__(self, *arguments: Any) -> Any:
        # Helpers have no wrapper for calls from Python: calling the dispatcher would end the process.
        return self.function(*arguments)


class JitKernel(JitHelper):
    """A kernel that accepts exactly the arguments in its signature, like the one in the library."""

    def __init__(self, name: str, function: Any, dispatcher: Any) -> None:
        super().__init__(function, dispatcher)
        self.name = name
        self._types: list[tuple[str, Any]] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._types is None:
            _log.info("compiling %s", self.name)
            signature = read_signature(self.function)
            types = tuple(numba_type(each) for each in signature.arguments.values())
            try:
                self.dispatcher.compile(types)
            except Exception:  # Numba fails on damaged cache files, such as those that a power cut leaves
                for file in _cache_folder().rglob("*.nb[ic]"):
                    file.unlink(missing_ok=True)
                self.dispatcher.compile(types)
            self._types = list(signature.arguments.items())
        if len(arguments) != len(self._types):
            raise TypeError(f"{self.name}: expected {len(self._types)} arguments, got {len(arguments)}")
        pairs = zip(arguments, self._types, strict=True)
        return self.dispatcher(*(_prepare(value, kind, f"{self.name}: {name}") for value, (name, kind) in pairs))


def _prepare(value: Any, kind: Any, name: str) -> Any:
    if isinstance(kind, TupleType):
        if not isinstance(value, tuple) or len(value) != len(kind.items):
            raise TypeError(f"{name}: expected a tuple of {len(kind.items)}, got {type(value).__name__}")
        items = (_prepare(item, each, name) for item, each in zip(value, kind.items, strict=True))
        return tuple(items) if kind.record is None else kind.record(*items)
    if not isinstance(kind, ArrayType):
        return operator.index(value) if kind is int else kind(value)
    fits = (
        isinstance(value, np.ndarray)
        and value.dtype == kind.dtype
        and value.ndim == kind.ndim
        and value.flags.c_contiguous
        and value.flags.aligned
    )
    if kind.is_written:
        if not fits or not value.flags.writeable:
            raise TypeError(f"{name}: expected a writable {kind.dtype} array with {kind.ndim} axes")
        return value
    array = value if fits else convert_argument(value, kind.dtype, kind.ndim, name)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array
