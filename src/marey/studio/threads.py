"""Threads of a page: each page has a few of its own, so that one page cannot keep all others waiting."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, TypeVar

Result = TypeVar("Result")

# Threads of one page. Its further calls wait.
N_THREADS = 3
# The threads of the page whose command is being handled.
_current: ContextVar[ThreadPoolExecutor | None] = ContextVar("threads", default=None)


class PageThreads:
    """The threads of one page; `use` makes them those of the current task."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(N_THREADS, thread_name_prefix="page")

    def use(self) -> None:
        """Let `to_thread` run functions on these threads, in this task and those that it starts."""
        _current.set(self._pool)

    def close(self) -> None:
        """Drop waiting calls; running calls finish by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)


async def to_thread(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function on a thread of the current page, or on one of the server's if no page is served."""
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_current.get(), lambda: context.run(function, *arguments))
