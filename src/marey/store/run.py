"""Runners for heavy work: in this thread, on threads, or in processes.

Builders take ``run=``, a function like ``map``: ``run(function, items)`` yields the result of each item, in order.
``map`` itself runs in this thread; `threads` and `processes` return other runners, with bitwise equal results. Every
runner follows these rules, and builders rely on nothing else:

- ``function`` is defined at module level, or is `functools.partial` of such a function. Its bound data may be large;
  items and results are small, and all can be pickled. Large bound arrays are not pickled but written once to a file
  that every worker maps, read-only: see `pack`, `unpack`.
- Calling it again gives the same result without side effects: if a worker dies, another worker repeats its items. The
  third death in a row without a result in between is an error.
- A call uses about one core. The runner decides how many calls run at a time. Builders whose blocks are compiled code
  interpret ``map`` as "this process" and distribute blocks among its threads: `marey.compare.pairing.choose_runner`.
  ``threads(1)`` is one core.
- Results are computed on demand; only a few are computed ahead, because waiting results need memory.
- An error in the function is raised in place of its result, after the results before it.
- Closing the iterator ends the work. Results delivered before that can be stored: `Cache.map` writes results as they
  arrive, so interrupted work continues where it stopped, with any runner.
"""

from __future__ import annotations

import mmap
import os
import shutil
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import check_index, set_readonly
from marey.errors import InvalidValue, MareyError, UnwritableFile
from marey.io.temporary import new_folder, remove_stale
from marey.store.arrays import view_bytes

__all__ = ["Processes", "Run", "Threads", "cores", "processes", "run_on", "threads"]

Run = Callable[..., Iterable[Any]]

# Arrays of at least this many bytes are not pickled for each process, but written once to a file that all map.
_BY_PATH = 2**16
# Maximum items per batch, and batches per worker that are in progress.
_BATCH, AHEAD = 16, 3
# Alignment of arrays in their file, in bytes; and the number of worker deaths in a row that is an error.
_ALIGNED, DEATHS = 64, 3


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_on(n: int | None = 1) -> Run:
    """Return a runner for `n` cores: ``map`` for 1, processes for more. None means all available cores.

    Examples
    --------
    >>> marey.store.run_on(1) is map
    True
    >>> list(marey.store.run_on(1)(abs, [-1, 2]))
    [1, 2]
    """
    given = cores() if n is None else _check_count(n)
    return map if given == 1 else Processes(given)


def threads(n: int | None = None) -> Threads:
    """Return a runner on `n` threads of this process; by default one per core.

    Use it if most of the time is spent in compiled kernels and matrix products, which let other threads run.

    Examples
    --------
    >>> run_in_threads = marey.store.threads(2)
    >>> list(run_in_threads(abs, [-1, 2]))
    [1, 2]
    """
    return Threads(cores() if n is None else _check_count(n))


def processes(n: int | None = None) -> Processes:
    """Return a runner on `n` processes; by default one per core.

    Use it if much of the time is spent in Python itself, as in reading files, or if results must survive the death of a
    worker. Starting takes about as long as importing the modules that the function needs. Arrays bound to the function
    are written once to a temporary file, which every process maps read-only. A script that uses this must put its work
    under ``if __name__ == "__main__":``, because each new process imports the script again.

    Examples
    --------
    >>> marey.store.processes(2)
    Processes(n=2)
    """
    return Processes(cores() if n is None else _check_count(n))


@dataclass(frozen=True, slots=True)
class Threads:
    """A runner on threads; see `threads`.

    Examples
    --------
    >>> from marey.store import Threads
    >>> list(Threads(2)(abs, [-1, 2]))
    [1, 2]
    """

    n: int

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results in the order of the items."""
        with ThreadPoolExecutor(self.n) as pool:
            yield from _in_order(pool, each, ((function, batch) for batch in split_batches(items, self.n)), self.n)


@dataclass(frozen=True, slots=True)
class Processes:
    """A runner on processes; see `processes`.

    Examples
    --------
    >>> from marey.store import Processes
    >>> Processes(2).n
    2
    """

    n: int

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results in the order of the items."""
        batches = split_batches(items, self.n)
        if not batches:
            return
        remove_stale()  # folders of processes that were killed
        folder = new_folder("run")
        try:
            crew = _ProcessCrew(pack(function, folder), min(self.n, len(batches)))
            try:
                yield from crew.results(batches, crew.n)
            finally:
                crew.pool.shutdown()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


class Crew:
    """Base class of workers on one task. If a worker dies, only its batches are lost, and they are repeated."""

    lost: tuple[type[BaseException], ...]  # errors of a future which mean that a worker has died
    remedy: str  # the message after too many deaths in a row
    submit: Callable[[list[Any]], Any]  # starts work on a batch and returns a future of its results
    is_lost: Callable[[Any], bool]  # whether a future's batch must be repeated after a death
    recover: Callable[[], None]  # prepares for more work after a death

    def results(self, batches: Iterable[list[Any]], n_workers: int) -> Iterator[Any]:
        """Yield the results of the items of all batches, in order."""
        waiting: deque[tuple[list[Any], Any]] = deque()
        coming = iter(batches)
        n_deaths = 0
        try:
            while True:
                for batch in islice(coming, AHEAD * n_workers + 1 - len(waiting)):
                    waiting.append((batch, self.submit(batch)))
                if not waiting:
                    return
                try:
                    done = waiting[0][1].result()
                except self.lost:
                    n_deaths += 1
                    if n_deaths == DEATHS:
                        raise MareyError(self.remedy) from None
                    self.recover()
                    waiting = deque(
                        (batch, self.submit(batch) if self.is_lost(future) else future) for batch, future in waiting
                    )
                    continue
                n_deaths = 0
                waiting.popleft()
                yield from done
        finally:
            for _, future in waiting:
                future.cancel()


class _ProcessCrew(Crew):
    """Worker processes on one task; a new pool replaces a broken one."""

    lost = (BrokenProcessPool,)
    remedy = (
        "a worker process ended unexpectedly; it may have run out of memory, or the script that "
        'started it has no line `if __name__ == "__main__":`'
    )

    def __init__(self, task: bytes, n: int) -> None:
        self.task = task
        self.n = n
        self.pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.n, get_context("spawn"), initializer=_prepare, initargs=(self.task,))

    def recover(self) -> None:
        self.pool.shutdown()
        self.pool = self._new_pool()

    def submit(self, batch: list[Any]) -> Future[list[Any]]:
        try:
            return self.pool.submit(_work, batch)
        except BrokenProcessPool as error:  # a worker has just died; reported when this batch is due
            broken: Future[list[Any]] = Future()
            broken.set_exception(error)
            return broken

    def is_lost(self, future: Future[list[Any]]) -> bool:
        return future.cancelled() or isinstance(future.exception(), BrokenProcessPool)


def _check_count(n: int) -> int:
    given = check_index(n, "n, the number of workers,")
    if given < 1:
        raise InvalidValue(f"n, the number of workers, must be at least 1, not {given}")
    return given


def split_batches(items: Iterable[Any], n_workers: int) -> list[list[Any]]:
    """Group items into batches, at least a few per worker, because sending small items one by one is slow."""
    wanted = list(items)
    size = max(1, min(_BATCH, len(wanted) // (4 * n_workers)))
    return [wanted[at : at + size] for at in range(0, len(wanted), size)]


def _in_order(
    pool: Executor, work: Callable[..., list[Any]], tasks: Iterable[tuple[Any, ...]], n_workers: int
) -> Iterator[Any]:
    """Yield results one by one, with few tasks in progress, because waiting results need memory."""
    waiting: deque[Future[list[Any]]] = deque()
    try:
        for task in tasks:
            waiting.append(pool.submit(work, *task))
            if len(waiting) > AHEAD * n_workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def each(function: Callable[[Any], Any], items: list[Any]) -> list[Any]:
    """Return the results of `function` for one batch of items."""
    return [function(item) for item in items]


class _Packer(ForkingPickler):
    """Pickler of multiprocessing, except that large arrays go to a file."""

    def __init__(self, stream: BytesIO, path: Path, arrays: BinaryIO) -> None:
        super().__init__(stream)
        self.path = path
        self.arrays = arrays

    def reducer_override(self, value: Any) -> Any:
        """Write a large array to the file, and pickle its position there; leave other values to the base class."""
        if not (isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.nbytes >= _BY_PATH):
            return NotImplemented
        start = -(-self.arrays.tell() // _ALIGNED) * _ALIGNED
        self.arrays.seek(start)
        self.arrays.write(view_bytes(np.ascontiguousarray(value)))
        return _map_array, (os.fspath(self.path), start, value.shape, value.dtype.str)


def pack(function: Callable[[Any], Any], folder: Path) -> bytes:
    """Pickle a function for workers that have access to `folder`, where its large arrays are written to one file."""
    stream = BytesIO()
    path = folder / "arrays"
    try:
        with open(path, "wb") as arrays:
            _Packer(stream, path, arrays).dump(function)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnwritableFile(
            f"arrays for worker processes cannot be written ({reason}); set TMPDIR to a folder with more space",
            path=folder,
        ) from None
    except Exception as error:  # pickling can raise anything
        raise InvalidValue(
            f"worker processes can only run a top-level function of a module, with values that can be pickled ({error})"
        ) from None
    return stream.getvalue()


def unpack(task: bytes) -> Callable[[Any], Any]:
    """Return the function given to `pack`; its large arrays are memory-mapped and read-only."""
    function: Callable[[Any], Any] = ForkingPickler.loads(task)
    return function


def _map_array(path: str, start: int, shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    return set_readonly(np.ndarray(shape, dtype, _map_file(path), start))


@lru_cache(maxsize=1)
def _map_file(path: str) -> mmap.mmap:
    """Map the file once for all arrays of a task, because each mapping keeps a file open."""
    with open(path, "rb") as stream:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


# The task of this process; set only in processes that `Processes` has started.
_task: list[Callable[[Any], Any]] = []


def _prepare(task: bytes) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the process that waits for the results
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _task[:] = [unpack(task)]


def _end_with_parent() -> None:
    """Wait until the parent process has ended, for whatever reason; then exit at once."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _work(items: list[Any]) -> list[Any]:
    return each(_task[0], items)
