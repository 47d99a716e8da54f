"""Write motions as glTF 2.0 binary: joints as nodes, a skin with a simple body, and animations.

glTF is right-handed, Y up and in meters, like marey; only quaternions change their order, to xyzw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.core.arrays import Bools, Floats
from marey.core.motion import Motion
from marey.core.skeleton import Skeleton
from marey.errors import InvalidValue
from marey.io import limits
from marey.io.files import GENERATOR
from marey.io.glb_body import build_body_mesh
from marey.io.gltf_chunks import pack_glb
from marey.io.limits import check_single_precision
from marey.io.node_tree import unique_names
from marey.maths import quat

# Skeletons whose offsets agree to this many meters are considered equal.
SAME_OFFSETS = 1e-9
# A bone whose offset varies by more than this fraction of its length is not drawn: the shape would not follow it.
LOOSE = 0.25
MAX_SKIN_JOINTS = 65_535
_ARRAY_BUFFER = 34962
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_CODES = {"f": 5126, "B": 5121, "H": 5123, "h": 5122}
_INT16 = 32_767
_MATERIAL = {
    "name": "body",
    "pbrMetallicRoughness": {
        "baseColorFactor": [0.55, 0.62, 0.7, 1.0],
        "metallicFactor": 0.0,
        "roughnessFactor": 0.8,
    },
}


def write_glb(motions: Sequence[Motion], *, body: bool = True, compact: bool = False) -> bytes:
    """Return the bytes of a GLB file with all `motions`.

    Parameters
    ----------
    motions : at least one. Motions with the same skeleton share its nodes; each other skeleton gets its own nodes,
        whose names begin with ``character2:``, ``character3:`` and so on.
    body : add a simple body mesh; without it, viewers show bare joints at most.
    compact : store rotations as 16-bit integers: half the size, rounded to 0.004 degrees; see `round_rotations`.

    Animations have the names of the motions, with a number appended to duplicates. Their extras store the frame rate.
    """
    if not motions:
        raise InvalidValue("motions must hold at least one motion, got none")
    for motion in motions:
        check_float32(motion)
    file = GlbContent()
    groups = _group_by_skeleton(motions)
    tracks: dict[int, tuple[int, _MovingJoints]] = {}
    for number, group in enumerate(groups, start=1):
        members = [motions[i] for i in group]
        moving = _MovingJoints.of(members)
        first = _add_skeleton(file, members[0].skeleton, moving, number, body)
        tracks.update((i, (first, moving)) for i in group)
    names = unique_names(motion.name or "motion" for motion in motions)
    for i, (motion, name) in enumerate(zip(motions, names, strict=True)):
        first, moving = tracks[i]
        channels = {
            (first + joint, path): values for (joint, path), values in _collect_channels(motion, moving).items()
        }
        if compact:
            channels = {
                key: np.rint(_INT16 * values).astype(np.int16) if key[1] == "rotation" else values
                for key, values in channels.items()
            }
        file.add_animation(name, motion, channels)
    return file.pack()


def round_rotations(rotations: Floats) -> Floats:
    """Return rotations (..., 4) as a reader gets them from a compact file."""
    return np.asarray(quat.normalize(np.rint(_INT16 * quat.normalize(rotations)) / _INT16))


def check_float32(motion: Motion) -> None:
    """Raise InvalidValue for a motion that GLB cannot hold."""
    if len(motion.skeleton) > MAX_SKIN_JOINTS:
        raise InvalidValue(
            f"a GLB file can hold at most {MAX_SKIN_JOINTS} joints, but {motion.name!r} has {len(motion.skeleton)}; "
            "save it as .bvh or .npz"
        )
    check_single_precision(motion, "GLB")
    last = np.array([len(motion) - 2, len(motion) - 1]) / motion.fps
    if len(motion) > 1 and not np.diff(last.astype(np.float32))[0] > 0.0:
        raise InvalidValue(
            f"{motion.name!r} is too long for GLB, whose float32 times cannot separate its last frames; save it in "
            "parts"
        )


def _group_by_skeleton(motions: Sequence[Motion]) -> list[list[int]]:
    """Group motion indices by skeleton, ignoring the root offset (it does not affect the motion)."""
    groups: list[list[int]] = []
    for i, motion in enumerate(motions):
        for group in groups:
            other = motions[group[0]].skeleton
            if motion.skeleton.fits(other) and bool(
                (np.abs(motion.skeleton.offsets[1:] - other.offsets[1:]) <= SAME_OFFSETS).all()
            ):
                group.append(i)
                break
        else:
            groups.append([i])
    return groups


@dataclass(frozen=True, slots=True)
class _MovingJoints:
    """Masks (J,) of joints: those that rotate, those that move relative to their parents (`slides`), and those that are
    rigid enough to be drawn."""

    rotates: Bools
    slides: Bools
    rigid: Bools

    @staticmethod
    def of(motions: Sequence[Motion]) -> _MovingJoints:
        """Find which joints move in any of `motions`, which all have the same skeleton.

        An End Site that never rotates needs no channel. Every other joint gets one; otherwise it would keep its pose
        from the clip that a viewer played before.
        """
        skeleton = motions[0].skeleton
        rotates = ~skeleton.is_end_site
        stray = np.zeros(len(skeleton))
        for motion in motions:
            rotates = rotates | (np.abs(motion.rotations[..., 1:]).max(axis=(0, 2)) > 0.0)
            if motion.bone_offsets is not None:
                gap = np.linalg.norm(motion.bone_offsets - skeleton.offsets, axis=2).max(axis=0)
                stray = np.maximum(stray, gap)
        stray[0] = 0.0
        return _MovingJoints(rotates, stray > SAME_OFFSETS, stray <= LOOSE * skeleton.bone_lengths)


@dataclass(slots=True)
class GlbContent:
    """The document under construction, and the bytes that its accessors point into.

    parts, size : the chunks of the binary buffer, and their total size. roots : the top nodes of the scene. names :
        names of animations in use. All other fields are lists of the document.
    """

    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    meshes: list[dict[str, Any]] = field(default_factory=list)
    skins: list[dict[str, Any]] = field(default_factory=list)
    animations: list[dict[str, Any]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def add_view(self, arrays: Sequence[NDArray[Any]], *, vertices: bool = False) -> list[int]:
        """Add arrays (N, C) as one bufferView with an accessor for each; return the accessor indices."""
        view: dict[str, Any] = {"buffer": 0, "byteOffset": self.size, "byteLength": 0}
        if vertices:
            view["target"] = _ARRAY_BUFFER
        for array in arrays:
            little = array.astype(array.dtype.newbyteorder("<"), copy=False)
            width = array.shape[1]
            accessor = {
                "bufferView": len(self.views),
                "byteOffset": view["byteLength"],
                "componentType": _CODES[array.dtype.char],
                "count": len(array),
                "type": _TYPES[width],
            }
            self.accessors.append(accessor)
            body = little.tobytes()
            body += b"\0" * (-len(body) % 4)
            self.parts.append(body)
            self.size += len(body)
            view["byteLength"] += len(body)
        self.views.append(view)
        return list(range(len(self.accessors) - len(arrays), len(self.accessors)))

    def bound(self, accessor: int, values: NDArray[np.float32]) -> int:
        """Set an accessor's min and max, which glTF requires for times and vertex positions."""
        self.accessors[accessor]["min"] = values.min(axis=0).tolist()
        self.accessors[accessor]["max"] = values.max(axis=0).tolist()
        return accessor

    def add_animation(self, name: str, motion: Motion, channels: Mapping[tuple[int, str], NDArray[Any]]) -> None:
        """Add an animation with the values (F, C) of each (node, path), at the frames of the motion.

        Values are float32, or 16-bit integers for numbers from -1 to 1.
        """
        times = (np.arange(len(motion)) / motion.fps).astype(np.float32)[:, None]
        still = {key for key, values in channels.items() if (values == values[0]).all()}
        moved = sum(values.nbytes for key, values in channels.items() if key not in still)
        if 32 * len(motion) * len(motion.skeleton) > limits.MAX_EXPANSION * moved + limits.EXPANSION_FLOOR:
            still = set()  # a reader would reject a long motion compressed this much as an attack

        ends = [0, -1] if len(motion) > 1 else [0]
        outputs = {key: values[ends] if key in still else values for key, values in channels.items()}
        clocks = {len(values): times[ends] if len(values) == len(ends) else times for values in outputs.values()}
        added = self.add_view([*clocks.values(), *outputs.values()])
        inputs = dict(zip(clocks, added, strict=False))
        for n_keys, accessor in inputs.items():
            self.bound(accessor, clocks[n_keys])
        for accessor, values in zip(added[len(clocks) :], outputs.values(), strict=True):
            if values.dtype == np.int16:
                self.accessors[accessor]["normalized"] = True
        samplers, targets = [], []
        for i, ((node, path), values) in enumerate(outputs.items()):
            samplers.append({"input": inputs[len(values)], "output": added[len(clocks) + i]})
            targets.append({"sampler": i, "target": {"node": node, "path": path}})
        extras = {"marey": {"fps": motion.fps}}
        self.animations.append({"name": name, "channels": targets, "samplers": samplers, "extras": extras})

    def pack(self) -> bytes:
        """Return the bytes of the file."""
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": GENERATOR},
            "scene": 0,
            "scenes": [{"nodes": self.roots}],
            "nodes": self.nodes,
            "skins": self.skins,
            "animations": self.animations,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": self.size}],
        }
        if self.meshes:
            document |= {"meshes": self.meshes, "materials": [_MATERIAL]}
        return pack_glb(document, b"".join(self.parts))


def _add_skeleton(file: GlbContent, skeleton: Skeleton, moving: _MovingJoints, number: int, body: bool) -> int:
    """Add nodes, skin and body; return the node of joint 0. The node of joint j is that plus j."""
    first = len(file.nodes)
    prefix = "" if number == 1 else f"character{number}:"
    names = unique_names((prefix + name for name in skeleton.names), file.names)
    file.names.update(names)
    for j, (name, below) in enumerate(zip(names, skeleton.children, strict=True)):
        node: dict[str, Any] = {"name": name}
        if name != skeleton.names[j]:
            node["extras"] = {"marey": {"joint": skeleton.names[j]}}
        if below:
            node["children"] = [first + child for child in below]
        if np.any(skeleton.offsets[j]):
            node["translation"] = skeleton.offsets[j].tolist()
        file.nodes.append(node)
    file.roots.append(first)

    to_joint = np.tile(np.eye(4, dtype=np.float32), (len(skeleton), 1, 1))
    to_joint[:, 3, :3] = -(skeleton.rest_positions + skeleton.offsets[0])  # column-major, hence the last row
    (matrices,) = file.add_view([to_joint.reshape(-1, 16)])
    joints = list(range(first, first + len(skeleton)))
    file.skins.append({"inverseBindMatrices": matrices, "joints": joints, "skeleton": first})
    if body:
        _add_body(file, skeleton, moving.rigid)
    return first


def _add_body(file: GlbContent, skeleton: Skeleton, rigid: Bools) -> None:
    mesh = build_body_mesh(skeleton, rigid)
    positions = mesh.positions.astype(np.float32)
    joints = np.zeros((len(positions), 4), dtype=np.uint8 if len(skeleton) <= 256 else np.uint16)
    joints[:, 0] = mesh.joints
    weights = np.zeros((len(positions), 4), dtype=np.uint8)
    weights[:, 0] = 255
    columns = (positions, mesh.normals.astype(np.float32), joints, weights)
    place, normal, joint, weight = (file.add_view([column], vertices=True)[0] for column in columns)
    file.bound(place, positions)
    file.accessors[weight]["normalized"] = True
    attributes = {"POSITION": place, "NORMAL": normal, "JOINTS_0": joint, "WEIGHTS_0": weight}
    file.meshes.append({"name": "body", "primitives": [{"attributes": attributes, "material": 0}]})
    (name,) = unique_names(["body"], file.names)
    file.names.add(name)
    file.roots.append(len(file.nodes))
    file.nodes.append({"name": name, "mesh": len(file.meshes) - 1, "skin": len(file.skins) - 1})


def _collect_channels(motion: Motion, moving: _MovingJoints) -> dict[tuple[int, str], NDArray[Any]]:
    """Return the values (F, C) of each (joint, path) that needs a channel."""
    channels: dict[tuple[int, str], NDArray[Any]] = {(0, "translation"): motion.root_positions.astype(np.float32)}
    rotations: Floats = quat.unroll(quat.normalize(motion.rotations))
    for j in np.flatnonzero(moving.rotates).tolist():
        channels[j, "rotation"] = rotations[:, j, [1, 2, 3, 0]].astype(np.float32)
    if motion.bone_offsets is not None:
        for j in np.flatnonzero(moving.slides).tolist():
            channels[j, "translation"] = motion.bone_offsets[:, j].astype(np.float32)
    return channels
