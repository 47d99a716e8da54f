"""Serialize data exchanged with the worker: plain data as JSON, motions and arrays as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from marey.core.motion import Motion

_MOTION, _ARRAY = "$motion", "$array"


def pack(value: Any, folder: Path) -> Any:
    """Convert `value` to JSON data; motions and arrays are written to files in `folder`."""
    if isinstance(value, Motion):
        from marey.io import save

        path = _free(folder, ".npz")
        save(value, path)
        return {_MOTION: path.name, "name": value.name}
    if isinstance(value, np.ndarray):
        path = _free(folder, ".npy")
        np.save(path, value, allow_pickle=False)
        return {_ARRAY: path.name}
    if isinstance(value, dict):
        return {str(name): pack(each, folder) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [pack(each, folder) for each in value]
    return value.item() if isinstance(value, np.generic) else value


def unpack(value: Any, folder: Path) -> Any:
    """Restore a value from `pack`. Tuples come back as lists."""
    if isinstance(value, list):
        return [unpack(each, folder) for each in value]
    if not isinstance(value, dict):
        return value
    if _MOTION in value:
        from dataclasses import replace

        from marey.io import load_motion

        return replace(load_motion(folder / Path(value[_MOTION]).name, trim_rest=False), name=value["name"])
    if _ARRAY in value:
        return np.load(folder / Path(value[_ARRAY]).name, allow_pickle=False)
    return {name: unpack(each, folder) for name, each in value.items()}


def _free(folder: Path, suffix: str) -> Path:
    taken = sum(1 for path in folder.iterdir() if path.suffix == suffix)
    return folder / f"{taken}{suffix}"
