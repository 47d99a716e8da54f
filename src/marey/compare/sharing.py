"""Distribute blocks of work over the threads of this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from marey.compare.pairing import most_workers

# Maximum number of pending results per thread, because they take memory.
_AHEAD = 4


def shared(run: Callable[..., Any]) -> Callable[..., Any]:
    """The mapping function for a builder whose blocks are compiled and use one thread each.

    ``map`` means all cores of this process. Any other `run` decides by itself how many blocks are computed at once.
    """
    return _on_threads if run is map else run


def _on_threads(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Yield the results in order."""
    wanted = list(items)
    n = min(most_workers(), len(wanted))
    if n < 2:
        yield from map(function, wanted)
        return
    waiting: deque[Future[Any]] = deque()
    with ThreadPoolExecutor(n) as pool:
        try:
            for item in wanted:
                waiting.append(pool.submit(function, item))
                if len(waiting) > _AHEAD * n:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
