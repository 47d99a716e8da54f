"""Files in, files out. `load` and `save` choose the format by suffix; only this room converts units and axes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Names are imported when they are first used: who reads a file need not wait for what writes one.
_WHERE = {
    "clip_names": "loading",
    "load": "loading",
    "load_markers": "loading",
    "load_motion": "loading",
    "save": "saving",
    "sidecar_path": "sidecar",
    "starts_with_rest_pose": "rest",
}

__all__ = [*_WHERE]

if TYPE_CHECKING:
    from marey.io.loading import clip_names as clip_names
    from marey.io.loading import load as load
    from marey.io.loading import load_markers as load_markers
    from marey.io.loading import load_motion as load_motion
    from marey.io.rest import starts_with_rest_pose as starts_with_rest_pose
    from marey.io.saving import save as save
    from marey.io.sidecar import sidecar_path as sidecar_path


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(f"marey.io.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'marey.io' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
