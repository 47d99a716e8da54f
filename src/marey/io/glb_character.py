"""Write motions into a GLB or VRM file of a character; its mesh, skin, materials and all other content stay.

Each joint is a node of the file with a rest rotation and a scale of its own. `marey.io.node_tree` describes how nodes
are read as joints; here that is inverted. With G and A the rest rotation, and rest rotation and scale, of a node in the
world, and p its parent, the node's local rotation and translation are

    r = inv(G_p) rotation' G        t = inv(A_p) offset'
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.errors import InvalidValue, format_list
from marey.io.glb_read import Rig, clip_names, read_rig
from marey.io.glb_write import GlbContent, check_float32
from marey.io.gltf_chunks import Gltf, pack_glb
from marey.io.node_tree import STILL, unique_names
from marey.maths import quat

# A stretch with larger entries beside its diagonal, relative to its size, is not a scale along axes.
_SHEARED = 1e-5


def write_character(motions: Sequence[Motion], data: bytes, path: str) -> bytes:
    """Return the bytes of a character's file with the motions as its first animations.

    Parameters
    ----------
    motions : motions of the character's skeleton, as `load` gives it: retarget others to it first.
    data, path : content and name of the character's file.
    """
    gltf = Gltf(data, path)
    rig = read_rig(gltf)
    document: dict[str, Any] = json.loads(json.dumps(gltf.document))
    buffers = document.setdefault("buffers", [{"byteLength": 0}])
    if not isinstance(buffers, list) or not buffers or "uri" in gltf.objects("buffers")[0]:
        gltf.fail("its first buffer is not in this file, so that nothing can be added to it; pack it into one .glb")
    held = bytes(gltf.binary) + b"\0" * (-len(gltf.binary) % 4)
    content = GlbContent(
        parts=[held],
        size=len(held),
        views=document.setdefault("bufferViews", []),
        accessors=document.setdefault("accessors", []),
    )
    for motion in motions:
        check_float32(motion)
    taken = clip_names(data, path)
    for motion, name in zip(motions, unique_names((m.name or "motion" for m in motions), taken), strict=True):
        content.add_animation(name, motion, _make_channels(motion, rig, gltf, document))
    document["animations"] = [*content.animations, *document.get("animations", [])]
    buffers[0]["byteLength"] = content.size
    return pack_glb(document, b"".join(content.parts))


def _make_channels(
    motion: Motion, rig: Rig, gltf: Gltf, document: dict[str, Any]
) -> dict[tuple[int, str], NDArray[np.float32]]:
    """Return the local values (F, C) of each (node, path)."""
    skeleton = motion.skeleton
    if skeleton.names != rig.names:
        other = [name for name in skeleton.names if name not in rig.names]
        what = f"it has the joints {format_list(list(map(repr, other)), 4)}" if other else "its joints differ in order"
        raise InvalidValue(
            f"{motion.name!r} is not a motion of the skeleton in {gltf.path}: {what}",
            parameter="character",
            remedy="`marey.edit.retarget` puts it on that skeleton",
        )
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
            gltf.fail(f"a node above {skeleton.names[j]!r} has a scale of 0, so that it cannot be animated")
        _split_matrix(document, node, here.stretch, gltf)
        rotation = quat.inv_mul(turns[parent], quat.mul(motion.rotations[:, j], turns[node]))
        flip = quat.inv_mul(here.rotation, _own_rotation(document["nodes"][node]))
        rotation = quat.unroll(quat.normalize(quat.mul(rotation, flip)))
        channels[node, "rotation"] = rotation[:, [1, 2, 3, 0]].astype(np.float32)
        offsets: Floats = motion.root_positions - last if j == 0 else _offsets(motion, j)
        moves = j == 0 or bool(np.abs(offsets - linears[parent] @ here.translation).max() > STILL * size)
        if moves:
            paths = np.broadcast_to(offsets @ back.T, (len(motion), 3))
            channels[node, "translation"] = np.ascontiguousarray(paths, dtype=np.float32)
    return channels


def _offsets(motion: Motion, joint: int) -> Floats:
    """Return the offsets (F, 3) or (1, 3) of a joint from its parent."""
    return motion.skeleton.offsets[None, joint] if motion.bone_offsets is None else motion.bone_offsets[:, joint]


def _own_rotation(node: dict[str, Any]) -> Floats:
    """Return the node's own rotation (4,), which may differ from that with its mirrored axes."""
    xyzw = np.array(node.get("rotation", [0.0, 0.0, 0.0, 1.0]), dtype=np.float64)
    return np.asarray(quat.normalize(xyzw[[3, 0, 1, 2]]))


def _split_matrix(document: dict[str, Any], node: int, stretch: Floats, gltf: Gltf) -> None:
    """Replace a node's matrix by translation, rotation and scale, which only can be animated."""
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
