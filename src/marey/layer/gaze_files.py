"""Gaze map files: a few kilobytes of JSON with the examples and the seed; the rest is recomputed.

``{"format": "marey.gaze_map", "version": 1, "k": 6, "seed": 0, "examples": [{"name", "goal", "pose", "length",
"starts", "peak", "overshoot"}, ...]}``. `goal` is yaw and pitch (2) in radians, `pose` the rotation vectors (15) of
pelvis, lower spine, upper spine, neck and eyes, and the times are as in `GazeShift`. `seed` is the random seed of the
sampled blends.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from marey.errors import InvalidValue
from marey.io.stored import FileFormat, Part
from marey.layer.gaze_map import GazeMap
from marey.layer.gaze_model import GazeShift
from marey.maths import quat

_FILE = FileFormat(
    "marey.gaze_map", 1,
    {"k": Part("integer", optional=True), "seed": Part("integer", optional=True), "examples": Part("json")},
    is_json=True,
)  # fmt: skip
# Decimal places of radians, seconds and fractions.
_DIGITS = 12
_MAX_EXAMPLES = 1000


def save_map(gaze: GazeMap, path: str | os.PathLike[str]) -> None:
    """Write a map to a JSON file."""
    examples = [_example_to_json(example) for example in gaze.examples[1:]]
    _FILE.write(path, {"k": gaze.k, "seed": gaze.seed, "examples": examples})


def load_map(path: str | os.PathLike[str]) -> GazeMap:
    """Read a map and sample its blends again, with the same seed."""
    with _FILE.open(path) as parts:
        listed = parts["examples"]
        if not isinstance(listed, list) or len(listed) > _MAX_EXAMPLES:
            raise InvalidValue(f"examples must be a list of at most {_MAX_EXAMPLES}")
        examples = [_example_from_json(entry) for entry in listed]
        k, seed = parts["k"], parts["seed"]
        return GazeMap.build(examples, k=6 if k is None else k, rng=0 if seed is None else seed)


def _example_to_json(example: GazeShift) -> dict[str, Any]:
    def round_all(values: Any) -> list[float]:
        return [round(float(value), _DIGITS) for value in np.ravel(values)]

    return {
        "name": example.name,
        "goal": round_all(example.goal),
        "pose": round_all(quat.log(example.pose)),
        "length": round(example.length, _DIGITS),
        "starts": round_all(example.starts),
        "peak": round(example.peak, _DIGITS),
        "overshoot": round(example.overshoot, _DIGITS),
    }


def _example_from_json(entry: Any) -> GazeShift:
    if not isinstance(entry, dict):
        raise InvalidValue(f"each example must be a JSON object, not {type(entry).__name__}")
    pose = np.asarray(entry["pose"], dtype=np.float64)
    if pose.shape != (15,) or not np.isfinite(pose).all() or np.abs(pose).max() > np.pi:
        raise InvalidValue("pose of an example must be 15 numbers from -pi to pi")
    return GazeShift(
        np.asarray(entry["goal"], dtype=np.float64),
        quat.exp(pose.reshape(5, 3)),
        entry["length"],
        np.asarray(entry["starts"], dtype=np.float64),
        entry["peak"],
        entry["overshoot"],
        str(entry.get("name", "")),
    )
