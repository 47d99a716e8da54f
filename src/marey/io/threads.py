"""Split work on large files between two threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def run_in_halves(work: Callable[[int, int], T], start: int, middle: int, stop: int) -> tuple[T, T]:
    """Return ``work(start, middle), work(middle, stop)``, computed in parallel; for kernels, which release the GIL."""
    from concurrent.futures import ThreadPoolExecutor  # not needed for small files

    with ThreadPoolExecutor(max_workers=1) as pool:
        second = pool.submit(work, middle, stop)
        first = work(start, middle)
        return first, second.result()
