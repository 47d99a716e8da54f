"""State that panels keep between commands of one page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")


class PanelState(dict[str, Any]):
    """Values by name. Thread-safe: commands run on several threads at once and must share one value."""

    def __init__(self) -> None:
        super().__init__()
        self._making = threading.RLock()

    def get_or_create(self, name: str, make: Callable[[], Value]) -> Value:
        """Return the value stored under a name, creating it exactly once if it does not exist."""
        with self._making:
            if name not in self:
                self[name] = make()
            value: Value = self[name]
            return value
