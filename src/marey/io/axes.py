"""Convert between a file's axes and marey's: right-handed, Y up. All rotations are by right angles, hence exact."""

from __future__ import annotations

import numpy as np

from marey.core.arrays import Floats
from marey.errors import InvalidValue
from marey.maths import quat

# For each up axis of a file: the components that become marey's x, y, z, and their signs.
_FROM_FILE: dict[str, tuple[tuple[int, int, int], tuple[int, int, int]]] = {
    "y": ((0, 1, 2), (1, 1, 1)),
    "z": ((0, 2, 1), (1, 1, -1)),
    "x": ((1, 0, 2), (-1, 1, 1)),
    "-y": ((0, 1, 2), (1, -1, -1)),
    "-z": ((0, 2, 1), (1, -1, 1)),
    "-x": ((1, 0, 2), (1, -1, 1)),
}
UPS = tuple(_FROM_FILE)


def check_up(up: str) -> str:
    """Check an up axis given by the user and return it in lower case, without a plus sign."""
    cleaned = str(up).strip().lower().removeprefix("+")
    if cleaned not in _FROM_FILE:
        raise InvalidValue(f"up must be one of {', '.join(UPS)}, not {up!r}", parameter="up")
    return cleaned


def vectors_from_file(vectors: Floats, up: str) -> Floats:
    """Convert vectors (..., 3) from the file's axes to marey's."""
    order, signs = _FROM_FILE[up]
    return vectors if up == "y" else vectors[..., order] * np.array(signs, dtype=np.float64)


def vectors_to_file(vectors: Floats, up: str) -> Floats:
    """Convert vectors (..., 3) from marey's axes to the file's."""
    if up == "y":
        return vectors
    order, signs = _FROM_FILE[up]
    out = np.empty_like(vectors)
    out[..., order] = vectors * np.array(signs, dtype=np.float64)
    return out


def rotations_from_file(rotations: Floats, up: str) -> Floats:
    """Convert quaternions (..., 4) from the file's axes to marey's: the vector part rotates, the angle stays."""
    return _with_vectors(rotations, vectors_from_file(rotations[..., 1:], up), up)


def rotations_to_file(rotations: Floats, up: str) -> Floats:
    """Convert quaternions (..., 4) from marey's axes to the file's."""
    return _with_vectors(rotations, vectors_to_file(rotations[..., 1:], up), up)


def rotation_between(rest_up: str, up: str) -> Floats:
    """Return the rotation (4,) that corrects a root whose rest pose was converted with the up axis `rest_up`, but whose
    frames were converted with `up`."""
    world, rest = (vectors_from_file(np.eye(3), each).T for each in (up, rest_up))
    return quat.from_matrix(world @ rest.T)


def _with_vectors(rotations: Floats, vectors: Floats, up: str) -> Floats:
    if up == "y":
        return rotations
    out = np.empty_like(rotations)
    out[..., 0] = rotations[..., 0]
    out[..., 1:] = vectors
    return out
