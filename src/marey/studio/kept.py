"""What panels keep between the commands of one page."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")


class Kept(dict[str, Any]):
    """Values by name. Commands run on threads, several at once: what one of them begins, the others have to find."""

    def __init__(self) -> None:
        super().__init__()
        self._making = threading.RLock()

    def once(self, name: str, make: Callable[[], Value]) -> Value:
        """What is kept under a name; where nothing is, it is made, once for all who ask."""
        with self._making:
            if name not in self:
                self[name] = make()
            value: Value = self[name]
            return value
