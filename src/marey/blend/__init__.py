"""Blends and transitions of motions that were brought in step, and the simple methods that they are compared with.

``marey.blend(motions, weights)`` is `blend`: this room can be called, as it and its main function share a name.
"""

import importlib
import sys
from types import ModuleType
from typing import Any

from marey.blend.blend import blend
from marey.blend.transition import TransitionPoint, best_transition, transition
from marey.blend.weights import keyed_weights
from marey.core.motion import Motion

__all__ = ["TransitionPoint", "best_transition", "blend", "keyed_weights", "transition"]


# What the other methods are compared with is loaded only where it is asked for.
_LATER = ("baselines",)


class _Room(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Motion:
        return blend(*arguments, **options)


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


sys.modules[__name__].__class__ = _Room
