"""Gait spaces in files.

Beside one clip that lends skeleton, rate, contact points and floor (`marey.io.clip_arrays`), for n cycles of G points:
turns (n, G, J, 4) and contacts (n, G, K) in single precision, heights (n, G), steps (n, G - 1, 4), bandwidth, low, high
(d,), margin, parameters and sources.
"""

from __future__ import annotations

import os

import numpy as np

from marey.errors import MareyError, ParseError
from marey.io import archive, clip_arrays
from marey.io.files import read_bytes, write_bytes
from marey.maths import quat
from marey.pmg.gait_space import GaitSpace

FORMAT = "marey.gait_space"
VERSION = 1

_PLAIN = ("heights", "steps", "bandwidth", "low", "high")
_OWN = ("turns", "contacts", "margin", "parameters", "sources", *_PLAIN)


def pack_gait_space(space: GaitSpace) -> bytes:
    """The space as the bytes of an .npz file."""
    arrays = {
        "turns": space.turns.astype(np.float32),
        "contacts": space.contacts.astype(np.float32),
        "margin": np.array(space.margin),
        "parameters": archive.text_array(space.names, "parameters"),
        "sources": archive.text_array(space.sources, "sources"),
        **{name: getattr(space, name) for name in _PLAIN},
    }
    return archive.pack(FORMAT, VERSION, clip_arrays.clip_arrays([space.base[:1]]) | arrays)


def save_gait_space(space: GaitSpace, path: str | os.PathLike[str]) -> None:
    """Write the space to an .npz file."""
    write_bytes(path, [pack_gait_space(space)])


def load_gait_space(path: str | os.PathLike[str]) -> GaitSpace:
    """A space from a file that `save_gait_space` wrote."""
    name = os.fspath(path)
    required = (*clip_arrays.REQUIRED, *_OWN)
    arrays = archive.unpack(read_bytes(path), name, FORMAT, VERSION, required, clip_arrays.OPTIONAL)
    (base,) = clip_arrays.clips_from(arrays, name)
    try:
        return GaitSpace(
            base,
            tuple(arrays["parameters"].tolist()),
            float(arrays["margin"]),
            quat.normalize(arrays["turns"].astype(np.float64)),
            arrays["heights"],
            arrays["steps"],
            arrays["contacts"].astype(np.float64),
            arrays["bandwidth"],
            arrays["low"],
            arrays["high"],
            tuple(arrays["sources"].tolist()),
        )
    except (MareyError, ValueError, IndexError, TypeError) as error:
        raise ParseError(f"the gait space in it does not fit together ({error})", path=name) from None
