"""Compiled kernels: how they are declared, and which form of them runs.

A kernel is a Python function in the subset that Numba compiles. Its annotations are its signature::

    @kernel
    def add_rotations(poses: Floats3D, weights: Floats1D, total: Out[Floats3D]) -> None: ...

`int`, `float` and `bool` are numbers of 64, 64 and 8 bits. Arrays are C-contiguous and have exactly the type and the
number of axes that the annotation names; only those marked `Out` are written to. Several arrays that belong together
form a record, a NamedTuple with the same kinds of annotations. A kernel returns None, a number, an array, or a tuple
or record of these. A `helper` is a function that only kernels call; its types follow from the call.

Kernels are in files named `*_kernels.py`. These import nothing from marey except this module and each other, so the
contents of these files determine what the compiled code does.

Three forms of a kernel can run, and all give bit-identical results:

- The function in the shared library `marey/_kernels`, which `kernels/build.py` compiles when the package is built. The
  library stores a hash of all kernel files and is used only if it matches them.
- Otherwise, a function that Numba compiles at its first call. `MAREY_JIT=1` selects this form.
- The Python function itself, from `python_form`. It is slow and serves as a reference in tests.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


# --- Signatures


@dataclass(frozen=True)
class ArrayType:
    """The type of a C-contiguous array in a signature.

    dtype, ndim : element type and number of axes. is_written : whether the kernel writes to the array.
    """

    dtype: str
    ndim: int
    is_written: bool = False


@dataclass(frozen=True)
class TupleType:
    """The type of a tuple in a signature, with the types of its items; `record` is the NamedTuple class if it is a
    record."""

    items: tuple[Any, ...]
    record: type | None = None


_WRITTEN = "written"

Out = Annotated[T, _WRITTEN]
"""An array that the kernel writes to."""

Floats1D = Annotated[npt.NDArray[np.float64], ArrayType("float64", 1)]
Floats2D = Annotated[npt.NDArray[np.float64], ArrayType("float64", 2)]
Floats3D = Annotated[npt.NDArray[np.float64], ArrayType("float64", 3)]
Floats4D = Annotated[npt.NDArray[np.float64], ArrayType("float64", 4)]
Singles1D = Annotated[npt.NDArray[np.float32], ArrayType("float32", 1)]
Singles2D = Annotated[npt.NDArray[np.float32], ArrayType("float32", 2)]
Singles3D = Annotated[npt.NDArray[np.float32], ArrayType("float32", 3)]
Ints1D = Annotated[npt.NDArray[np.int64], ArrayType("int64", 1)]
Ints2D = Annotated[npt.NDArray[np.int64], ArrayType("int64", 2)]
Ints3D = Annotated[npt.NDArray[np.int64], ArrayType("int64", 3)]
Int32s1D = Annotated[npt.NDArray[np.int32], ArrayType("int32", 1)]
Int32s2D = Annotated[npt.NDArray[np.int32], ArrayType("int32", 2)]
Int8s1D = Annotated[npt.NDArray[np.int8], ArrayType("int8", 1)]
Int8s2D = Annotated[npt.NDArray[np.int8], ArrayType("int8", 2)]
UInt8s1D = Annotated[npt.NDArray[np.uint8], ArrayType("uint8", 1)]
UInt8s2D = Annotated[npt.NDArray[np.uint8], ArrayType("uint8", 2)]
UInt16s1D = Annotated[npt.NDArray[np.uint16], ArrayType("uint16", 1)]
UInt16s2D = Annotated[npt.NDArray[np.uint16], ArrayType("uint16", 2)]
Bools1D = Annotated[npt.NDArray[np.bool_], ArrayType("bool", 1)]
Bools2D = Annotated[npt.NDArray[np.bool_], ArrayType("bool", 2)]
Bools3D = Annotated[npt.NDArray[np.bool_], ArrayType("bool", 3)]


@dataclass(frozen=True)
class Signature:
    """The types of a kernel's arguments, keyed by name, and of its result (None if it returns nothing)."""

    arguments: dict[str, Any]
    result: Any


def read_signature(function: Callable[..., Any]) -> Signature:
    """Read a kernel's signature from its annotations."""
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return")
    try:
        arguments = {name: _read_type(hint) for name, hint in hints.items()}
        return Signature(arguments, None if result is NoneType else _read_type(result))
    except TypeError as error:
        raise TypeError(f"{_name_of(function)}: {error}") from None


def _read_type(hint: Any) -> Any:
    if hint in (int, float, bool):
        return hint
    if get_origin(hint) is Annotated:
        array, *marks = get_args(hint)[1:]
        return ArrayType(array.dtype, array.ndim, _WRITTEN in marks)
    if get_origin(hint) is tuple:
        return TupleType(tuple(_read_type(item) for item in get_args(hint)))
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        fields = get_type_hints(hint, include_extras=True)
        return TupleType(tuple(_read_type(fields[name]) for name in hint._fields), hint)
    raise TypeError(f"kernels take numbers, arrays, tuples and records of these, not {hint}")


# --- Declarations


@dataclass(frozen=True)
class Kernel:
    """A declared kernel: its Python function, and the form of it that runs (`compiled`)."""

    function: Callable[..., Any]
    compiled: Callable[..., Any]


_declared: dict[str, Kernel] = {}


def _name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def kernel(function: F) -> F:
    """Declare a kernel and return the form of it that runs."""
    name = _name_of(function)
    compiled: F = forms().kernel(name, function)
    _declared[name] = Kernel(function, compiled)
    return compiled


def helper(function: F) -> F:
    """Declare a function that only kernels call."""
    compiled: F = forms().helper(function)
    return compiled


def list_kernels() -> dict[str, Kernel]:
    """Return all kernels declared so far, keyed by module and function name."""
    return dict(_declared)


def python_form(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function of a kernel."""
    return next(each.function for each in _declared.values() if each.compiled is compiled)


# --- Forms


class Forms:
    """How `kernel` and `helper` transform a function; `kernels/build.py` has its own forms."""

    name: str

    def kernel(self, name: str, function: Any) -> Any:
        raise NotImplementedError

    def helper(self, function: Any) -> Any:
        raise NotImplementedError


class LibraryForms(Forms):
    """Kernels from the shared library. Helpers are not replaced, because only compiled kernels call them."""

    name = "library"

    def __init__(self, functions: dict[str, Any]) -> None:
        self._functions = functions

    def kernel(self, name: str, function: Any) -> Any:
        compiled = self._functions[name]
        record = function.__globals__.get(function.__annotations__.get("return"))
        if hasattr(record, "_fields"):
            return lambda *arguments: record(*compiled(*arguments))
        return compiled

    def helper(self, function: Any) -> Any:
        return function


_forms: Forms | None = None


def use_forms(forms: Forms) -> None:
    """Choose the forms of kernels that are declared from now on."""
    global _forms
    _forms = forms


def forms() -> Forms:
    """Return the forms of kernels in use: from the library, or compiled at first use. They are chosen on the first
    call."""
    global _forms
    if _forms is None:
        _forms = _choose_forms()
    return _forms


def _choose_forms() -> Forms:
    reason = "MAREY_JIT is set"
    if os.environ.get("MAREY_JIT", "0") in ("", "0"):
        try:
            library = importlib.import_module("marey._kernels")
        except ImportError as error:
            reason = f"the library of compiled kernels cannot be loaded ({error})"
        else:
            if library.sources == hash_sources():
                return LibraryForms(library.functions)
            reason = "the library of compiled kernels is older than their sources; `make kernels` builds it again"
    from marey.compiled.jit import JitForms

    return JitForms(reason)


_PACKAGE = Path(__file__).parents[1]


def kernel_files() -> list[Path]:
    """Return all files that contain kernels."""
    return sorted(_PACKAGE.rglob("*_kernels.py"))


def hash_sources() -> str:
    """Return a hash of everything that determines what kernels do: their files, and how their signatures are read."""
    digest = hashlib.sha256()
    for path in (*sorted(Path(__file__).parent.glob("*.py")), *kernel_files()):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def convert_argument(value: Any, dtype: str, ndim: int, name: str) -> npt.NDArray[Any]:
    """Convert a value to the array that a kernel expects; called for arguments that are not such arrays already."""
    array = np.asarray(value)
    if array.ndim != ndim or not np.can_cast(array.dtype, dtype, "safe"):
        raise TypeError(f"{name}: expected {dtype} with {ndim} axes, got {array.dtype} with {array.ndim}")
    return np.ascontiguousarray(array, dtype=dtype)
