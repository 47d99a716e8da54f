"""Whether Numba compiles just now: done once on each machine, it makes the first use of almost everything long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

TEXT = "first use here: compiling"
# Seconds between two looks: until Numba is loaded, so that nothing is compiled unseen; and then, as people read.
_SOON, _OFTEN = 0.01, 0.5
_KIND = "numba:compile"


class Compiling:
    """As a context: within it `tell` is called from a thread, again and again, while something is compiled.

    Numba is not loaded for that; what is loaded from its cache is not compiled.
    """

    def __init__(self, tell: Callable[[], object]) -> None:
        self._tell = tell
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._under_way = 0
        self._listens: Any = None

    def __enter__(self) -> Compiling:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()
        if self._listens is not None:
            sys.modules["numba.core.event"].unregister(_KIND, self._listens)

    def _watch(self) -> None:
        while not self._done.wait(_SOON if self._listens is None else _OFTEN):
            if self._listens is None:
                self._listen()
            elif self._under_way > 0:
                self._tell()

    def _listen(self) -> None:
        """Ask to be told by Numba, once it is wholly loaded: its last names are the decorators'."""
        numba, event = sys.modules.get("numba"), sys.modules.get("numba.core.event")
        if event is None or not hasattr(numba, "njit"):
            return
        watch = self

        class Listens(event.Listener):  # type: ignore[name-defined, misc]
            def on_start(self, event: Any) -> None:
                watch._under_way += 1

            def on_end(self, event: Any) -> None:
                watch._under_way = max(watch._under_way - 1, 0)  # it may have begun unseen

        self._listens = Listens()
        event.register(_KIND, self._listens)
