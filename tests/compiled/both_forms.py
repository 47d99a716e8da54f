"""Runs the main operations with kernels that are checked: what the library gives must be what the Python form gives.

``python -m tests.compiled.both_forms`` prints a JSON object. "kernels" has for each kernel the number of calls, of
calls compared with the Python form, the differences, and the blocks of memory that many calls leave. "results" has what
tests/compiled/operations.py prints.
"""

from __future__ import annotations

import copy
import json
import os
import signal
import sys
import threading
import time
import warnings
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np

from marey import compiled
from marey.compiled import Forms, LibraryForms

FIRST = 4  # calls of each kernel that are kept, then the 8th, the 16th and so on
PATIENCE = 0.1  # seconds of Python for each kernel
LONGEST = 20.0  # seconds for the smallest of its calls
REPEATS = 10_000
REPEATING = float(os.environ.get("MAREY_REPEATING", "0.02"))  # seconds for each kernel


class Call(NamedTuple):
    """The arguments before and after a call, and its result."""

    before: tuple[Any, ...]
    after: tuple[Any, ...]
    result: Any


@dataclass
class Record:
    """The recorded calls of a kernel."""

    function: Any
    fast: Any
    n_calls: int = 0
    calls: list[Call] = field(default_factory=list)
    n_compared: int = 0
    differences: list[str] = field(default_factory=list)


class RecordingForms(Forms):
    """Kernels of the library, which record some of their calls."""

    name = "recording"

    def __init__(self, library: LibraryForms) -> None:
        self.library = library
        self.records: dict[str, Record] = {}
        # Threads write to parts of one array, so that only one kernel may run while it is copied.
        self.lock = threading.Lock()

    def kernel(self, name: str, function: Any) -> Any:
        fast = self.library.kernel(name, function)
        record = self.records[name] = Record(function, fast)

        def recorded(*arguments: Any) -> Any:
            with self.lock:
                record.n_calls += 1
                if record.n_calls > FIRST and record.n_calls & (record.n_calls - 1):
                    return fast(*arguments)
                before = copy.deepcopy(arguments)
                result = fast(*arguments)
                record.calls.append(Call(before, copy.deepcopy(arguments), copy.deepcopy(result)))
                return result

        return recorded

    def helper(self, function: Any) -> Any:
        return function


class TooSlow(Exception):
    pass


def stop(*_: Any) -> None:
    raise TooSlow


def compare(record: Record) -> None:
    """Repeat calls of a kernel in Python, the smallest first, until the time limit in processor time."""
    begin = time.process_time()
    for call in sorted(record.calls, key=lambda call: count_numbers(call.before)):
        given = widen(call.before)
        left = (PATIENCE if record.n_compared else LONGEST) - (time.process_time() - begin)
        signal.setitimer(signal.ITIMER_VIRTUAL, max(left, 0.001))
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                expected = record.function(*given)
        except TooSlow:
            return
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        record.n_compared += 1
        for what, ours, theirs in (("argument", call.after, given), ("result", call.result, expected)):
            if not same(ours, theirs):
                record.differences.append(f"{what}: {describe(ours, theirs)}")


def count_kept_blocks(record: Record) -> int:
    """Return the number of memory blocks that a kernel has not released after many calls."""
    from marey import _kernels

    before, end = _kernels.count_live_blocks(), time.perf_counter() + REPEATING
    by_size = sorted(record.calls, key=lambda call: count_numbers(call.before))
    for call in chain(by_size, repeat(by_size[0], REPEATS)):
        record.fast(*copy.deepcopy(call.before))
        if time.perf_counter() > end:
            break
    return int(_kernels.count_live_blocks() - before)


def count_numbers(value: Any) -> int:
    return sum(map(count_numbers, value)) if isinstance(value, tuple) else int(np.size(value))


def widen(value: Any) -> Any:
    """Return a copy; small integers become 64-bit integers, in which Numba computes."""
    if isinstance(value, tuple):
        items = [widen(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, np.ndarray):
        return value.astype(np.int64 if value.dtype.kind in "iu" else value.dtype)
    return value


def same(ours: Any, theirs: Any) -> bool:
    """Return whether two values have the same bytes; -0.0 is not 0.0, and all NaN are equal."""
    if isinstance(ours, tuple):
        return len(ours) == len(theirs) and all(same(a, b) for a, b in zip(ours, theirs, strict=True))
    a, b = np.asarray(ours), np.asarray(theirs)
    if a.dtype.kind == "f":
        a, b = (np.where(np.isnan(each), np.nan, each).astype(a.dtype) for each in (a, b))
    return a.shape == b.shape and a.tobytes() == b.astype(a.dtype).tobytes()


def describe(ours: Any, theirs: Any) -> str:
    if isinstance(ours, tuple):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return "; ".join(f"{k}: {describe(a, b)}" for k, (a, b) in pairs if not same(a, b))
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    if a.shape != b.shape:
        return f"shape {a.shape} instead of {b.shape}"
    return f"largest difference {np.nanmax(np.abs(a - b)) if a.size else 0.0:.3g} of {np.nanmax(np.abs(b)):.3g}"


def main() -> None:
    forms = compiled.forms()
    if not isinstance(forms, LibraryForms):
        sys.exit("the library of compiled kernels is not there")
    recording = RecordingForms(forms)
    compiled.use_forms(recording)
    from tests.compiled.operations import hash_results, load_kernels, operations

    load_kernels()
    results = hash_results(operations())
    signal.signal(signal.SIGVTALRM, stop)
    kernels = {}
    # Callers come before the kernels that they call, because some are called only by Python forms of others.
    for name, record in reversed(list(recording.records.items())):
        compare(record)
        stored = count_kept_blocks(record) if record.calls else None
        kernels[name] = {
            "calls": record.n_calls,
            "compared": record.n_compared,
            "differences": record.differences,
            "kept_blocks": stored,
        }
    print(json.dumps({"kernels": kernels, "results": results}))


if __name__ == "__main__":
    main()
