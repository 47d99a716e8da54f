"""Formats of built results: how messages describe them, and which one a file has."""

from __future__ import annotations

import io
import os
import re
import zlib
from typing import Any

import numpy as np

__all__ = ["KINDS", "describe_format", "read_format", "read_version"]

# How messages describe each format.
KINDS = {
    "marey.action_space": "an action space",
    "marey.directions": "a direction table",
    "marey.gait_space": "a gait space",
    "marey.gaze_map": "a gaze map",
    "marey.gaze_triads": "a list of gaze markers",
    "marey.graph": "a motion graph",
    "marey.grid": "a distance grid",
    "marey.joint_limits": "a file of joint limits",
    "marey.motion": "a motion",
    "marey.parametric": "a parametric motion",
    "marey.plan": "a character's value tables",
    "marey.pmg": "a character",
    "marey.project": "a studio project",
    "marey.recent": "a list of recent folders",
    "marey.registration": "a registration curve",
    "marey.retarget": "a retarget map",
    "marey.sampled_character": "a sampled character",
    "marey.sidecar": "a sidecar",
    "marey.splices": "a splice set",
    "marey.web": "a match web",
}

# The name and the version are stored in small arrays, and at the beginning of JSON files.
_MAX_BYTES = 4096
_JSON_FORMAT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"format"\s*:\s*"([a-z_.]{1,40})"')


def describe_format(form: str) -> str:
    """Return the kind of file that a format name stands for, and the name, such as "a gaze map (marey.gaze_map)"."""
    return f"{KINDS[form]} ({form})" if form in KINDS else f"a file of format {form!r}"


def read_format(path: str | os.PathLike[str]) -> str:
    """Return the format name in an NPZ or JSON file, such as ``"marey.graph"``; "" if it has none.

    Read only the name, which comes first in JSON files written by marey.
    """
    if os.fspath(path).lower().endswith(".json"):
        try:
            with open(path, "rb") as text:
                begin = _JSON_FORMAT.match(text.read(200))
        except OSError:
            return ""
        return "" if begin is None else begin[1].decode()
    form = str(_read_small(path, "format") or "")
    return "marey.grid" if form == "marey-grid" else form  # as earlier releases wrote it


def read_version(path: str | os.PathLike[str]) -> int | None:
    """Return the version in an NPZ file; None if it has none."""
    found = _read_small(path, "version")
    return found if isinstance(found, int) else None


def _read_small(path: str | os.PathLike[str], name: str) -> Any:
    """Return the only value of an array in an NPZ file; None if it cannot be read."""
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as stream:
            content = io.BytesIO(stream.read(_MAX_BYTES))
        return np.lib.format.read_array(content, allow_pickle=False).item()
    except (OSError, ValueError, KeyError, EOFError, MemoryError, RuntimeError, zlib.error, zipfile.BadZipFile):
        return None
