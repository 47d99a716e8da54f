"""Build a simple body mesh for a skeleton, an octahedron along each bone: glTF viewers then show a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from marey.core.arrays import Bools, Floats, Ints
from marey.core.skeleton import Skeleton

# Fractions of a bone's length, and bounds as fractions of the body's size (bounding box diagonal, about 2.4 m).
THICKNESS = 0.18
THINNEST, THICKEST = 0.004, 0.028
WAIST = 0.22
# The head's minimum height as a fraction of the body's size, and its radius as a fraction of its height.
HEAD_SIZE = 0.085
HEAD_THICKNESS, HEAD_WAIST = 0.38, 0.55
# Radius in meters of the single shape that stands for a skeleton without bones.
LUMP = 0.05
_SHORTEST = 1e-5

# An octahedron's corners: start, end, and the ring between; faces wind counter-clockwise seen from outside.
_FACES = np.array([[0, 3, 2], [0, 4, 3], [0, 5, 4], [0, 2, 5], [1, 2, 3], [1, 3, 4], [1, 4, 5], [1, 5, 2]])

# Start, end, fraction of the length at which the shape is widest, radius there, joint it is attached to.
_Shape = tuple[Floats, Floats, float, float, int]


@dataclass(frozen=True, slots=True, eq=False)
class BodyMesh:
    """Triangles of three vertices each: positions and unit normals (V, 3) at rest, and joints (V,) of the vertices."""

    positions: Floats
    normals: Floats
    joints: Ints


def build_body_mesh(skeleton: Skeleton, rigid: Bools) -> BodyMesh:
    """Build the body in the rest pose, with joint 0 at its offset.

    Parameters
    ----------
    skeleton : the joints.
    rigid : (J,) False for joints that move relative to their parent: a fixed shape would not reach them.

    Each bone's shape is attached to the bone's parent joint. Bones of zero length have no shape; leaf joints get a
    small one.
    """
    places = skeleton.rest_positions + skeleton.offsets[0]
    lengths = skeleton.bone_lengths
    size = float(np.linalg.norm(np.ptp(places, axis=0)))
    visible = rigid & (lengths > max(_SHORTEST * size, 1e-12))
    visible[0] = False
    hips, head = skeleton.roles.get("hips"), skeleton.roles.get("head")
    if hips is not None:  # joints from a root on the floor up to the hips are not part of the body
        visible[list(skeleton.chain(hips))] = False
    if not visible.any():
        return _build_octahedra([_make_lump(places[0], LUMP, 0)])
    thickness = np.clip(THICKNESS * lengths, THINNEST * size, THICKEST * size)
    thickness = np.minimum(thickness, 0.5 * lengths)

    shapes: list[_Shape] = []
    for j, below in enumerate(skeleton.children):
        parent = int(skeleton.parents[j])
        if j == head:
            shapes.append(_make_head(skeleton, places, j, visible, HEAD_SIZE * size))
        elif not below and parent != head:
            shapes.append(_make_lump(places[j], max(0.6 * float(thickness[j]), THINNEST * size), j))
        if visible[j] and parent != head:
            shapes.append((places[parent], places[j], WAIST, thickness[j], parent))
    return _build_octahedra(shapes)


def _make_lump(place: Floats, radius: float, joint: int) -> _Shape:
    up = np.array([0.0, radius, 0.0])
    return place - up, place + up, 0.5, radius, joint


def _make_head(skeleton: Skeleton, places: Floats, head: int, visible: Bools, size: float) -> _Shape:
    """Return one shape for the head: along its longest bone, else continuing the neck, else upright."""
    bones = [skeleton.offsets[j] for j in skeleton.children[head] if visible[j]]
    if bones:
        along = max(bones, key=np.linalg.norm)
    else:
        along = skeleton.offsets[head] if visible[head] else np.array([0.0, 1.0, 0.0])
    reach = float(np.linalg.norm(along))
    height = max(reach, size) if bones else size
    return places[head], places[head] + along * (height / reach), HEAD_WAIST, HEAD_THICKNESS * height, head


def _build_octahedra(shapes: Sequence[_Shape]) -> BodyMesh:
    """Build a flat-shaded octahedron with 24 vertices for each shape."""
    starts, ends, waists, radii, carriers = (np.array(column) for column in zip(*shapes, strict=True))
    along = ends - starts
    direction = along / np.linalg.norm(along, axis=1, keepdims=True)
    # Any axis not parallel to the bone yields two axes perpendicular to it.
    helper = np.eye(3)[np.argmin(np.abs(direction), axis=1)]
    across = np.cross(direction, helper)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    other = np.cross(direction, across)
    waist = starts + waists[:, None] * along
    ring = [waist + sign * radii[:, None] * axis for sign, axis in ((1, across), (1, other), (-1, across), (-1, other))]
    corners = np.stack([starts, ends, *ring], axis=1)
    faces = corners[:, _FACES]
    normals = np.cross(faces[:, :, 1] - faces[:, :, 0], faces[:, :, 2] - faces[:, :, 0])
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    return BodyMesh(
        positions=faces.reshape(-1, 3),
        normals=np.repeat(normals, 3, axis=1).reshape(-1, 3),
        joints=np.repeat(carriers, _FACES.size),
    )
