"""Files of gait spaces and action spaces.

Each file holds one clip that provides skeleton, frame rate, contact points and floor (`marey.io.clip_arrays`). For the
n blended clips it holds turns (n, G, J, 4) and contacts (n, G, K) in single precision, heights (n, G), bandwidth, low
and high (d,), and sources. Gait spaces also have steps (n, G - 1, 4), margin, parameters (their names) and span (1 if
missing). Action spaces also have ways (n, G, 3), times (n, G), parameters (n, d), misses, names and units. See
`GaitSpace` and `ActionSpace` for the meaning of these arrays.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from marey.core.arrays import Floats
from marey.errors import InvalidValue, UnknownVersion
from marey.io import archive, clip_arrays
from marey.parametric.space import ParametricMotion
from marey.pmg.action_space import ActionSpace
from marey.pmg.gait_space import GaitSpace

FORMAT = "marey.gait_space"
VERSION = 1
ACTION_FORMAT = "marey.action_space"
# Largest allowed deviation of a quaternion's norm from 1, due to rounding to single precision.
_ROUNDED = 1e-5

_PLAIN = ("heights", "steps", "bandwidth", "low", "high")
_OWN = ("turns", "contacts", "margin", "parameters", "sources", *_PLAIN)
_ACTION_PLAIN = ("parameters", "heights", "ways", "times", "bandwidth", "low", "high", "misses")
_ACTION_TEXTS = ("names", "units", "sources")
_ACTION_OWN = ("turns", "contacts", *_ACTION_TEXTS, *_ACTION_PLAIN)


def save_gait_space(space: GaitSpace, path: str | os.PathLike[str]) -> None:
    """Write the space to an .npz file."""
    arrays = {
        "turns": space.turns.astype(np.float32),
        "contacts": space.contacts.astype(np.float32),
        "margin": np.array(space.margin),
        "span": np.array(space.span),
        "parameters": archive.text_array(space.names, "parameters"),
        "sources": archive.text_array(space.sources, "sources"),
        **{name: getattr(space, name) for name in _PLAIN},
    }
    clip_arrays.write_clips(path, FORMAT, VERSION, [space.base[:1]], arrays)


def load_gait_space(path: str | os.PathLike[str]) -> GaitSpace:
    """Read a space from a file written by `save_gait_space`."""
    with clip_arrays.read_clips(path, FORMAT, VERSION, _OWN, ("span",)) as ((base,), arrays):
        return GaitSpace(
            base,
            tuple(arrays["parameters"].tolist()),
            float(arrays["margin"]),
            _check_rotations(arrays["turns"]),
            arrays["heights"],
            arrays["steps"],
            arrays["contacts"].astype(np.float64),
            arrays["bandwidth"],
            arrays["low"],
            arrays["high"],
            tuple(arrays["sources"].tolist()),
            float(arrays.get("span", 1.0)),
        )


def _check_rotations(stored: Any) -> Floats:
    """Return the stored rotations unchanged, after checking their norms; saving them again gives the same bytes."""
    rotations: Floats = np.asarray(stored, dtype=np.float64)
    off = np.abs(np.sqrt((rotations**2).sum(axis=-1)) - 1.0).max(initial=0.0)
    if not off <= _ROUNDED:
        raise InvalidValue(f"rotations must be unit quaternions, but their lengths differ from 1 by up to {off:.3g}")
    return rotations


def load_any_space(path: str | os.PathLike[str]) -> GaitSpace | ActionSpace | ParametricMotion:
    """Read a gait space, an action space or a `ParametricMotion`, depending on the file's format field."""
    for load in (load_gait_space, load_action_space, ParametricMotion.load):
        try:
            return load(path)
        except UnknownVersion as error:
            refused = error
    raise UnknownVersion(
        f"is not a space of motions such as `marey parametric build` writes ({refused.message})",
        path=os.fspath(path),
    )


def save_action_space(space: ActionSpace, path: str | os.PathLike[str]) -> None:
    """Write the space to an .npz file."""
    arrays = {
        "turns": space.turns.astype(np.float32),
        "contacts": space.contacts.astype(np.float32),
        **{name: archive.text_array(getattr(space, name), name) for name in _ACTION_TEXTS},
        **{name: getattr(space, name) for name in _ACTION_PLAIN},
    }
    clip_arrays.write_clips(path, ACTION_FORMAT, VERSION, [space.base[:1]], arrays)


def load_action_space(path: str | os.PathLike[str]) -> ActionSpace:
    """Read a space from a file written by `save_action_space`."""
    with clip_arrays.read_clips(path, ACTION_FORMAT, VERSION, _ACTION_OWN) as ((base,), arrays):
        parts: dict[str, Any] = {key: tuple(arrays[key].tolist()) for key in _ACTION_TEXTS}
        parts |= {key: arrays[key] for key in _ACTION_PLAIN}
        parts |= {"turns": _check_rotations(arrays["turns"])}
        return ActionSpace(base, contacts=arrays["contacts"].astype(np.float64), **parts)
