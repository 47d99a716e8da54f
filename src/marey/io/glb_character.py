"""Write motions into a GLB or VRM file of a character; its mesh, skin, materials and all other content stay.

Each joint is a node of the file with a rest rotation and a scale of its own. `marey.io.node_tree` describes how nodes
are read as joints; this module inverts that conversion. Let G be a node's rest rotation in the world, A its rest
rotation and scale in the world, and p its parent. The node's local rotation and translation are then

    r = inv(G_p) rotation' G        t = inv(A_p) offset'
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.errors import InvalidValue, MareyError, format_list
from marey.io.files import GENERATOR, read_bytes
from marey.io.glb_read import Rig, clip_names, read_rig
from marey.io.glb_write import GlbContent, check_float32
from marey.io.gltf_chunks import Gltf, pack_glb
from marey.io.node_tree import STILL, unique_names
from marey.maths import quat

# A stretch whose off-diagonal entries exceed this, relative to its size, is not a scale along the axes.
_SHEARED = 1e-5
# Objects of glTF whose values are indices of accessors.
_HOLD_ACCESSORS = ("attributes", "targets")
# Bone offsets that differ by more than this fraction of the body's size are different.
_SAME_BONE = 1e-5


def write_character(motions: Sequence[Motion], data: bytes, path: str, *, replaces: bool = False) -> bytes:
    """Return the bytes of a character's file with the motions as its first animations.

    Parameters
    ----------
    motions : motions of the character's skeleton, as `load` gives it: retarget others to it first.
    data, path : content and name of the character's file.
    replaces : whether to leave out the file's own animations; the motions must then have exactly the bones of its
        skeleton.
    """
    gltf = Gltf(data, path)
    rig = read_rig(gltf)
    document: dict[str, Any] = json.loads(json.dumps(gltf.document))
    buffers = document.setdefault("buffers", [{"byteLength": 0}])
    if not isinstance(buffers, list) or not buffers or "uri" in gltf.objects("buffers")[0]:
        gltf.fail("the first buffer is in another file, so nothing can be added to it; pack everything into one .glb")
    held = bytes(gltf.binary)
    taken = clip_names(data, path)
    if replaces:
        taken = ()
        try:
            held = _drop_animations(document, held)
        except (AttributeError, KeyError, TypeError):
            gltf.fail("the buffer views are not valid")
        for motion in motions:
            _check_bones(motion, rig, path)
    held += b"\0" * (-len(held) % 4)
    content = GlbContent(
        parts=[held],
        size=len(held),
        views=document.setdefault("bufferViews", []),
        accessors=document.setdefault("accessors", []),
    )
    for motion in motions:
        check_float32(motion)
    for motion, name in zip(motions, unique_names((m.name or "motion" for m in motions), taken), strict=True):
        content.add_animation(name, motion, _make_channels(motion, rig, gltf, document))
    document["animations"] = [*content.animations, *document.get("animations", [])]
    buffers[0]["byteLength"] = content.size
    document["asset"]["generator"] = _name_generators(document["asset"].get("generator"))
    return pack_glb(document, b"".join(content.parts))


def _name_generators(old: Any) -> str:
    """Return the text of ``asset.generator``: marey, then the program that made the mesh."""
    known = str(old) if old else "unknown"
    return known if known.partition(",")[0] == GENERATOR else f"{GENERATOR}, {known}"


def read_character(motion: Motion) -> bytes | None:
    """Return the GLB or VRM file with the mesh of the motion's skeleton; None if it is missing or does not fit."""
    path = motion.source.character
    if not path:
        return None
    try:
        data = read_bytes(path)
        _check_bones(motion, read_rig(Gltf(data, path)), path)
    except MareyError:
        return None
    return data


def _drop_animations(document: dict[str, Any], binary: bytes) -> bytes:
    """Remove the animations from the document and return the binary chunk without their data.

    Only accessors and buffer views at the end of the lists are removed, so the indices of the others stay the same.
    """
    document.pop("animations", None)
    accessors, views = document.get("accessors", []), document.get("bufferViews", [])
    others = {key: value for key, value in document.items() if key not in ("accessors", "bufferViews")}
    used, _ = _find_references(others)
    while accessors and len(accessors) - 1 not in used:
        accessors.pop()
    _, used = _find_references([others, accessors])
    while views and len(views) - 1 not in used:
        views.pop()
    return binary[: max(_find_ends(views), default=0)]


def _find_references(document: Any) -> tuple[set[int], set[int]]:
    """Return the indices of the accessors and of the buffer views that a part of the document refers to."""
    accessors: set[int] = set()
    views: set[int] = set()
    for key, value in _walk(document):
        if key == "bufferView":
            views.add(value)
        elif key in (*_HOLD_ACCESSORS, "indices", "inverseBindMatrices") or "accessor" in key.lower():
            accessors.add(value)
    return accessors, views


def _walk(document: Any) -> Iterator[tuple[str, int]]:
    """Yield (key, value) of all integers in a document; the key is "attributes" for all attributes of a mesh."""
    todo = [("", document)]
    while todo:
        key, value = todo.pop()
        if isinstance(value, dict):
            todo += [(key if key in _HOLD_ACCESSORS else name, each) for name, each in value.items()]
        elif isinstance(value, list):
            todo += [(key, each) for each in value]
        elif isinstance(value, int):
            yield key, value


def _find_ends(views: Sequence[dict[str, Any]]) -> list[int]:
    """Return the byte after each buffer view, and after each view's compressed data, in the first buffer."""
    parts = [part for view in views for part in (view, *(view.get("extensions") or {}).values())]
    return [part.get("byteOffset", 0) + part["byteLength"] for part in parts if part.get("buffer") == 0]


def _check_bones(motion: Motion, rig: Rig, path: str) -> None:
    """Raise InvalidValue if the motion's skeleton has other joints or bone offsets than the file's."""
    _check_names(motion, rig, path)
    linears = {-1: np.eye(3)}
    for node in (*rig.above, *rig.joints):
        linears[node] = linears[rig.nodes.parents[node]] @ rig.transforms[node].linear
    offsets = motion.skeleton.offsets
    size = float(np.linalg.norm(np.ptp(motion.skeleton.rest_positions, axis=0)))
    for j, node in enumerate(rig.joints[1:], start=1):
        rest = linears[rig.nodes.parents[node]] @ rig.transforms[node].translation
        if np.abs(offsets[j] - rest).max() > _SAME_BONE * size:
            raise InvalidValue(f"the bone offset of {motion.skeleton.names[j]!r} differs from that in {path}")


def _check_names(motion: Motion, rig: Rig, path: str) -> None:
    skeleton = motion.skeleton
    if skeleton.names != rig.names:
        other = [repr(name) for name in skeleton.names if name not in rig.names]
        missing = [repr(name) for name in rig.names if name not in skeleton.names]
        what = "the joints are in another order"
        if other or missing:
            what = f"only the {'motion' if other else 'file'} has {format_list(other or missing, 4)}"
        raise InvalidValue(
            f"the skeleton of {motion.name!r} differs from that in {path}: {what}",
            parameter="character",
            remedy="`marey.edit.retarget` puts it on that skeleton",
        )


def _make_channels(
    motion: Motion, rig: Rig, gltf: Gltf, document: dict[str, Any]
) -> dict[tuple[int, str], NDArray[np.float32]]:
    """Return the local values (F, C) that animate each (node, path), path being "translation" or "rotation"."""
    skeleton = motion.skeleton
    _check_names(motion, rig, gltf.path)
    turns, linears = {-1: quat.identity()}, {-1: np.eye(3)}
    place = np.zeros(3)
    for node in (*rig.above, *rig.joints):
        parent, here = rig.nodes.parents[node], rig.transforms[node]
        if node in rig.above or node == rig.joints[0]:
            last, place = place, place + linears[parent] @ here.translation
        turns[node] = quat.normalize(quat.mul(turns[parent], here.rotation))
        linears[node] = linears[parent] @ here.linear
    size = float(np.linalg.norm(np.ptp(skeleton.rest_positions, axis=0)))
    channels: dict[tuple[int, str], NDArray[np.float32]] = {}
    for j, node in enumerate(rig.joints):
        parent, here = rig.nodes.parents[node], rig.transforms[node]
        try:
            back = np.linalg.inv(linears[parent])
        except np.linalg.LinAlgError:
            gltf.fail(f"a node above {skeleton.names[j]!r} has a scale of 0, so it cannot be animated")
        _split_matrix(document, node, here.stretch, gltf)
        rotation = quat.inv_mul(turns[parent], quat.mul(motion.rotations[:, j], turns[node]))
        flip = quat.inv_mul(here.rotation, _own_rotation(document["nodes"][node]))
        rotation = quat.unroll(quat.normalize(quat.mul(rotation, flip)))
        channels[node, "rotation"] = rotation[:, [1, 2, 3, 0]].astype(np.float32)
        offsets: Floats = motion.root_positions - last if j == 0 else motion.shared_offsets[:, j]
        moves = j == 0 or bool(np.abs(offsets - linears[parent] @ here.translation).max() > STILL * size)
        if moves:
            paths = np.broadcast_to(offsets @ back.T, (len(motion), 3))
            channels[node, "translation"] = np.ascontiguousarray(paths, dtype=np.float32)
    return channels


def _own_rotation(node: dict[str, Any]) -> Floats:
    """Return the node's own rotation (4,), without the rotation that represents mirrored axes."""
    xyzw = np.array(node.get("rotation", [0.0, 0.0, 0.0, 1.0]), dtype=np.float64)
    return np.asarray(quat.normalize(xyzw[[3, 0, 1, 2]]))


def _split_matrix(document: dict[str, Any], node: int, stretch: Floats, gltf: Gltf) -> None:
    """Replace a node's matrix by translation, rotation and scale, because only these can be animated."""
    entry = document["nodes"][node]
    if "matrix" not in entry:
        return
    size = np.abs(np.diag(stretch))
    if np.abs(stretch - np.diag(np.diag(stretch))).max() > _SHEARED * size.max():
        gltf.fail(f"node {node} has a matrix with shear, which cannot be animated; export it without")
    matrix = np.array(entry.pop("matrix")).reshape(4, 4).T
    entry["translation"] = matrix[:3, 3].tolist()
    scale = np.diag(stretch)
    rotation = quat.from_matrix(matrix[:3, :3] @ np.diag(1.0 / scale))
    entry["rotation"] = rotation[[1, 2, 3, 0]].tolist()
    entry["scale"] = scale.tolist()
