"""Gaze map files: only the examples, a few kilobytes of JSON; the rest is recomputed.

``{"format": "marey.gaze_map", "version": 1, "k": 6, "examples": [{"name", "goal", "pose", "length", "starts", "peak",
"overshoot"}, ...]}``: goal (2) in radians, pose (15) the rotation vectors of pelvis, lower spine, upper spine, neck and
eyes, times as in `GazeShift`.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from marey.errors import InvalidValue, ParseError, UnknownVersion
from marey.io.files import read_bytes, write_bytes
from marey.layer.gaze_map import GazeMap
from marey.layer.gaze_model import GazeShift
from marey.maths import quat

FORMAT, VERSION = "marey.gaze_map", 1
# Of radians, seconds and shares: 0.0006 degrees.
_DIGITS = 5
_MAX_EXAMPLES = 1000


def save_map(gaze: GazeMap, path: str | os.PathLike[str]) -> None:
    """Write a map."""
    rows = [
        json.dumps(_example_to_json(example), ensure_ascii=False, separators=(",", ":"))
        for example in gaze.examples[1:]
    ]
    head = f'{{"format": "{FORMAT}", "version": {VERSION}, "k": {gaze.k}, "examples": [\n'
    write_bytes(path, [(head + ",\n".join(rows) + "\n]}\n").encode("utf-8")])


def load_map(path: str | os.PathLike[str]) -> GazeMap:
    """Read a map and sample its blends again."""
    try:
        content = json.loads(read_bytes(path).decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ParseError(f"expected a gaze map as JSON, got something else ({error})", path=path) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ParseError(f"expected a gaze map, a JSON object with format {FORMAT!r}", path=path)
    if content.get("version") != VERSION:
        raise UnknownVersion(
            f"expected version {VERSION} of {FORMAT}, got {content.get('version')!r}; a newer marey wrote it", path=path
        )
    listed = content.get("examples")
    if not isinstance(listed, list) or len(listed) > _MAX_EXAMPLES:
        raise ParseError(f"expected a list of up to {_MAX_EXAMPLES} examples", path=path)
    try:
        examples = [_example_from_json(entry) for entry in listed]
        return GazeMap.build(examples, k=content.get("k", 6))
    except (InvalidValue, KeyError, TypeError, ValueError) as error:
        told = f"an example lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ParseError(f"is not a valid gaze map: {told}", path=path) from None


def _example_to_json(example: GazeShift) -> dict[str, Any]:
    def rounded(values: Any) -> list[float]:
        return [round(float(value), _DIGITS) for value in np.ravel(values)]

    return {
        "name": example.name,
        "goal": rounded(example.goal),
        "pose": rounded(quat.log(example.pose)),
        "length": round(example.length, _DIGITS),
        "starts": rounded(example.starts),
        "peak": round(example.peak, _DIGITS),
        "overshoot": round(example.overshoot, _DIGITS),
    }


def _example_from_json(entry: Any) -> GazeShift:
    if not isinstance(entry, dict):
        raise InvalidValue(f"expected an object for each example, got {type(entry).__name__}")
    pose = np.asarray(entry["pose"], dtype=np.float64)
    if pose.shape != (15,) or not np.isfinite(pose).all() or np.abs(pose).max() > np.pi:
        raise InvalidValue("expected 15 numbers of at most pi as an example's pose")
    return GazeShift(
        np.asarray(entry["goal"], dtype=np.float64),
        quat.exp(pose.reshape(5, 3)),
        entry["length"],
        np.asarray(entry["starts"], dtype=np.float64),
        entry["peak"],
        entry["overshoot"],
        str(entry.get("name", "")),
    )
