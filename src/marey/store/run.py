"""Where heavy work runs: here, on threads, or on all cores.

Builders take ``run=``, a function like ``map``: ``run(function, items)`` gives the result of each item, in order. It is
``map`` itself that works here and now; `threads` and `processes` give others, with the same results.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from io import BytesIO
from multiprocessing import get_context
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import numpy as np

from marey.core._arrays import checked_index
from marey.errors import InvalidValue, MareyError, UnwritableFile
from marey.store.arrays import read_array, write_array

__all__ = ["Processes", "Run", "Threads", "cores", "processes", "run_on", "threads"]

Run = Callable[..., Iterable[Any]]

# Arrays from this many bytes on are not sent to each process, but laid down once for all to map.
_BY_PATH = 2**16
# Items go out in batches of up to so many, and so many batches per worker are under way.
_BATCH, _AHEAD = 16, 3


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_on(n: int | None = 1) -> Run:
    """How to run on `n` cores: 1 is ``map``, None is all that there are."""
    given = cores() if n is None else _checked(n)
    return map if given == 1 else Processes(given)


def threads(n: int | None = None) -> Threads:
    """Run on `n` threads of this process, as many as there are cores by default.

    Worth it where most of the time goes to compiled loops and matrix products, which let other threads run.
    """
    return Threads(cores() if n is None else _checked(n))


def processes(n: int | None = None) -> Processes:
    """Run on `n` processes, as many as there are cores by default.

    The function has to stand in a module, as `functools.partial` of such a one may; items and results travel between
    processes. Arrays that the function holds are written once to a temporary folder, which every process maps; they are
    read-only there. A script that uses this needs ``if __name__ == "__main__":`` around its work, as each new process
    reads the script again.
    """
    return Processes(cores() if n is None else _checked(n))


@dataclass(frozen=True, slots=True)
class Threads:
    """See `threads`."""

    n: int

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """The results, in the order of the items."""
        with ThreadPoolExecutor(self.n) as pool:
            yield from _in_order(pool, _each, ((function, batch) for batch in _batches(items, self.n)), self.n)


@dataclass(frozen=True, slots=True)
class Processes:
    """See `processes`."""

    n: int

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """The results, in the order of the items."""
        batches = _batches(items, self.n)
        if not batches:
            return
        with tempfile.TemporaryDirectory(prefix="marey-") as folder:
            task = _packed(function, Path(folder))
            n = min(self.n, len(batches))
            with ProcessPoolExecutor(n, get_context("spawn"), initializer=_prepare, initargs=(task,)) as pool:
                try:
                    yield from _in_order(pool, _work, ((batch,) for batch in batches), n)
                except BrokenProcessPool:
                    raise MareyError(
                        "a process that was at work has ended before its time; it may have run out of memory, or the "
                        'script that started it has no line `if __name__ == "__main__":`'
                    ) from None


def _checked(n: int) -> int:
    given = checked_index(n, "the number of workers")
    if given < 1:
        raise InvalidValue(f"the number of workers must be 1 or more, got {given}")
    return given


def _batches(items: Iterable[Any], n_workers: int) -> list[list[Any]]:
    wanted = list(items)
    size = max(1, min(_BATCH, len(wanted) // (4 * n_workers)))
    return [wanted[at : at + size] for at in range(0, len(wanted), size)]


def _in_order(
    pool: Executor, work: Callable[..., list[Any]], tasks: Iterable[tuple[Any, ...]], n_workers: int
) -> Iterator[Any]:
    """Results one by one, with few tasks out at a time: results that nobody has asked for yet take memory."""
    waiting: deque[Future[list[Any]]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(work, *task))
            if len(waiting) > _AHEAD * n_workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _each(function: Callable[[Any], Any], items: list[Any]) -> list[Any]:
    return [function(item) for item in items]


class _Packer(ForkingPickler):
    """How multiprocessing sends values, except that large arrays stay in files."""

    def __init__(self, stream: BytesIO, folder: Path) -> None:
        super().__init__(stream)
        self.folder = folder
        self.n_written = 0

    def reducer_override(self, value: Any) -> Any:
        """Called for each value in turn, once for each that occurs several times."""
        if not (isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.nbytes >= _BY_PATH):
            return NotImplemented
        path = self.folder / f"{self.n_written}.npy"
        write_array(path, value)
        self.n_written += 1
        return read_array, (str(path),)


def _packed(function: Callable[[Any], Any], folder: Path) -> bytes:
    stream = BytesIO()
    try:
        _Packer(stream, folder).dump(function)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnwritableFile(
            f"arrays for other processes cannot be written ({reason}); set TMPDIR to a folder with room", path=folder
        ) from None
    except Exception as error:  # whatever the values in it raise when they are to be sent
        raise InvalidValue(
            f"processes can only run a function that stands in a module, with values that can be sent ({error})"
        ) from None
    return stream.getvalue()


# What this process was started for; only ever set in processes that `Processes` has started.
_task: list[Callable[[Any], Any]] = []


def _prepare(task: bytes) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits for the results
    _task[:] = [ForkingPickler.loads(task)]


def _work(items: list[Any]) -> list[Any]:
    return _each(_task[0], items)
