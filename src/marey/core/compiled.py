"""When to use compiled kernels, and how they are compiled.

Numba takes about 0.2 s to import and a kernel some 10 ms to load from its cache. Plain NumPy parses a single
small file sooner than that, so a function with both forms asks `worthwhile` first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast


def worthwhile(work: int, break_even: int) -> bool:
    """Whether to take the compiled form: always once Numba is loaded, else from `break_even` work on."""
    return work >= break_even or "numba" in sys.modules


def in_halves(work: Callable[[int, int], Any], start: int, stop: int, middle: int | None = None) -> tuple[Any, Any]:
    """``work(start, middle), work(middle, stop)``, both at once: worth it for kernels, which need no GIL."""
    from concurrent.futures import ThreadPoolExecutor

    if middle is None:
        middle = (start + stop) // 2
    with ThreadPoolExecutor(max_workers=1) as helper:
        second = helper.submit(work, middle, stop)
        first = work(start, middle)
        return first, second.result()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with Numba: no GIL, machine code cached on disk where a cache folder can be had."""
    import numba

    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder can be written to
        compiled = numba.njit(nogil=True)(function)
    return _taking_constants_as_numbers(compiled)


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile with Numba for use in other kernels alone: without what Python needs to call it, and without a cache of
    its own, as it is part of the kernel that is cached. That takes a third off the time to compile."""
    import numba

    bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _taking_constants_as_numbers(numba.njit(nogil=True, **bare)(function))


def _taking_constants_as_numbers(compiled: Any) -> Callable[..., Any]:
    """The same function, compiled once for all constants that other kernels call it with.

    Numba compiles it anew for each of them, which takes long, and the loops are none the faster for it.
    """
    from numba.core import types

    resolve: Any = getattr(compiled, "get_call_template", None)
    if resolve is None:  # with NUMBA_DISABLE_JIT it is Python's own function
        return cast("Callable[..., Any]", compiled)
    plain: Any = types.unliteral

    def resolve_plain(args: Any, kws: Any) -> Any:
        return resolve(tuple(map(plain, args)), {name: plain(kws[name]) for name in kws})

    compiled.get_call_template = resolve_plain
    return cast("Callable[..., Any]", compiled)
