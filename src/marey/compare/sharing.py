"""Sharing blocks of work among the threads of this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from marey.compare.pairing import most_workers

# Results that nobody has asked for yet take memory: so many per thread at most.
_AHEAD = 4


def shared(run: Callable[..., Any]) -> Callable[..., Any]:
    """How a builder whose blocks are compiled and take one thread each maps them: as it was told, except that ``map``,
    which is this process, means all cores of it.

    Any other `run` decides by itself how many blocks are computed at once.
    """
    return _on_threads if run is map else run


def _on_threads(function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """The results in order."""
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
