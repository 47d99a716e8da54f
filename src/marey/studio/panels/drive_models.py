"""Cache of controller models, such as motion graphs, limited by number and memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

# Limits: cached models and their bytes; the newest is kept regardless of its size.
MAX_MODELS, MAX_BYTES = 8, 512 * 2**20


class Models:
    """Least-recently-used cache of models, keyed by inputs.

    Parameters
    ----------
    hold : called with the new total of bytes before a model is added; it may raise an error to refuse the model.
    """

    def __init__(self, hold: Callable[[int], None]) -> None:
        self._hold = hold
        self._known: dict[Hashable, tuple[Any, int]] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known

    def __len__(self) -> int:
        return len(self._known)

    @property
    def size(self) -> int:
        """Bytes of all models."""
        return _bytes(self._known)

    def get(self, key: Hashable) -> Any:
        """Return a cached model."""
        self._known[key] = self._known.pop(key)
        return self._known[key][0]

    def put(self, key: Hashable, model: Any) -> None:
        """Add a model, removing old ones as needed. If it is refused, the cache stays unchanged."""
        size = measure_size(model)
        models = {name: known for name, known in self._known.items() if name != key}
        while models and (len(models) >= MAX_MODELS or _bytes(models) + size > MAX_BYTES):
            del models[next(iter(models))]
        self._hold(_bytes(models) + size)
        self._known = {**models, key: (model, size)}


def _bytes(known: Mapping[Hashable, tuple[Any, int]]) -> int:
    return sum(size for _, size in known.values())


def measure_size(value: Any) -> int:
    """Return the bytes of all arrays inside a value, each counted once."""
    seen: dict[int, Any] = {}
    arrays: dict[int, int] = {}
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or one is None or isinstance(one, str | bytes | int | float | type):
            continue
        seen[id(one)] = one  # keeps it alive, because ids of deleted objects are reused
        if isinstance(one, np.ndarray):
            arrays[id(one)] = one.nbytes
            if one.dtype.hasobject:
                waiting.extend(one.ravel().tolist())
        elif isinstance(one, Mapping):
            waiting.extend(one.values())
        elif isinstance(one, list | tuple | set | frozenset):
            waiting.extend(one)
        elif type(one).__module__.startswith("marey."):
            waiting.extend(_list_parts(one))
    return sum(arrays.values())


def _list_parts(one: Any) -> list[Any]:
    """Return the attributes of a marey object."""
    names = [field.name for field in dataclasses.fields(one)] if dataclasses.is_dataclass(one) else []
    names += [name for kind in type(one).__mro__ for name in _list_slots(kind)]
    return [getattr(one, name, None) for name in names] + list(getattr(one, "__dict__", {}).values())


def _list_slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
