"""Write motions as binary FBX 7.4: a skeleton, animations, and a simple body bound to the skeleton.

FBX stores centimeters, degrees and, for keys, single precision. In the rest pose all rotations are 0, as in a
`Skeleton`, so that the rest pose survives.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from marey.core.arrays import Floats, Ints
from marey.core.motion import Motion
from marey.errors import DifferentSkeletons, InvalidValue
from marey.io.fbx_document import HEADER_SIZE, MAGIC, Element
from marey.io.fbx_scene import CUSTOM_TIME_MODE, LEGACY_TICKS, TIME_MODES
from marey.io.files import GENERATOR
from marey.io.glb_body import build_body_mesh
from marey.io.glb_write import SAME_OFFSETS
from marey.io.limits import check_single_precision
from marey.io.node_tree import unique_names
from marey.maths import euler

VERSION = 7400
_CENTIMETERS = 100.0
_SAME_RATE = 1e-6
# Autodesk's programs check that these two constants match the creation time.
_CREATION_TIME = "1970-01-01 10:00:00:000"
_FILE_ID = bytes.fromhex("28b32aebb624ccc2bfc8b02aa92bfcf1")
_FOOTER_ID = bytes.fromhex("fabcab09d0c8d466b176fb831cf7267e")
_FOOTER_MAGIC = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")
# Flags of a key: linear up to the next one.
_LINEAR_KEY = 0x00000104
_ARRAY_CODES = {"float32": "f", "float64": "d", "int64": "l", "int32": "i"}
_PROPERTY_TYPES = {
    int: ("int", "Integer"), float: ("double", "Number"), str: ("KString", ""),
}  # fmt: skip


def write_fbx(motions: Sequence[Motion], *, body: bool = True) -> bytes:
    """Return the bytes of an FBX file with all motions, which must have the same skeleton and rate.

    body : add a simple body mesh; without it, programs show bare joints.
    """
    first = motions[0]
    for motion in motions:
        check_single_precision(motion, "FBX", _CENTIMETERS)
        own, other = motion.skeleton, first.skeleton
        if not own.fits(other) or np.abs(own.offsets[1:] - other.offsets[1:]).max(initial=0.0) > SAME_OFFSETS:
            raise DifferentSkeletons(
                f"all motions of an FBX file must have the same skeleton, but that of {motion.name!r} differs from "
                f"that of {first.name!r}; retarget {motion.name!r} first, or save all of them as .glb"
            )
        if abs(motion.fps / first.fps - 1.0) > _SAME_RATE:
            raise InvalidValue(
                f"all motions of an FBX file must have the same frame rate, but {motion.name!r} is at "
                f"{motion.fps:g} Hz and {first.name!r} is at {first.fps:g} Hz; resample {motion.name!r} first, or "
                "save all of them as .glb"
            )
    scene = _Scene()
    bones = _add_skeleton(scene, first)
    if body:
        _add_body(scene, first, bones)
    for motion, name in zip(motions, unique_names(motion.name or "motion" for motion in motions), strict=True):
        _add_animation(scene, motion, name, bones)
    return _pack(_describe_file(scene, max(motions, key=len)))


class _Scene:
    """The FBX objects to write, each with its number, and the connections between them; number 0 stands for the scene
    itself."""

    def __init__(self) -> None:
        self.objects: list[Element] = []
        self.links: list[Element] = []

    def add(self, kind: str, name: str, label: str, subtype: str, *children: Element) -> int:
        number = np.int64(len(self.objects) + 1)
        self.objects.append(Element(kind, [number, f"{name}\0\1{label}", subtype], list(children)))
        return int(number)

    def link(self, child: int, parent: int, name: str | None = None) -> None:
        ends = [np.int64(child), np.int64(parent)]
        self.links.append(Element("C", ["OO", *ends] if name is None else ["OP", *ends, name]))


def _add_skeleton(scene: _Scene, motion: Motion) -> list[int]:
    """Add the joints, and return their numbers."""
    skeleton = motion.skeleton
    bones: list[int] = []
    for j, name in enumerate(skeleton.names):
        attribute = scene.add(
            "NodeAttribute", name, "NodeAttribute", "LimbNode", Element("TypeFlags", ["Skeleton"]),
            _properties(Size=1.0),
        )  # fmt: skip
        local = _make_local(skeleton.offsets[j] * _CENTIMETERS)
        node = scene.add("Model", name, "Model", "LimbNode", Element("Version", [232]), local)
        scene.link(node, bones[skeleton.parents[j]] if j else 0)
        scene.link(attribute, node)
        bones.append(node)
    return bones


def _add_body(scene: _Scene, motion: Motion, bones: Sequence[int]) -> None:
    """Add the body mesh, bound to the joints in the rest pose."""
    skeleton = motion.skeleton
    mesh = build_body_mesh(skeleton, np.ones(len(skeleton), dtype=bool))
    points = mesh.positions * _CENTIMETERS
    corners = np.arange(len(points), dtype=np.int32)
    corners[2::3] = -corners[2::3] - 1  # the last corner of each polygon
    normals = Element("LayerElementNormal", [0], [
        Element("Version", [101]), Element("Name", [""]), Element("MappingInformationType", ["ByPolygonVertex"]),
        Element("ReferenceInformationType", ["Direct"]), Element("Normals", [mesh.normals.ravel()]),
    ])  # fmt: skip
    layer = Element("Layer", [0], [
        Element("Version", [100]),
        Element("LayerElement", [], [Element("Type", ["LayerElementNormal"]), Element("TypedIndex", [0])]),
    ])  # fmt: skip
    geometry = scene.add(
        "Geometry", "body", "Geometry", "Mesh", Element("GeometryVersion", [124]),
        Element("Vertices", [points.ravel()]), Element("PolygonVertexIndex", [corners]), normals, layer,
    )  # fmt: skip
    node = scene.add("Model", "body", "Model", "Mesh", Element("Version", [232]), _make_local(np.zeros(3)))
    material = scene.add(
        "Material", "body", "Material", "", Element("Version", [102]), Element("ShadingModel", ["lambert"]),
        _properties(DiffuseColor=(0.55, 0.62, 0.7)),
    )  # fmt: skip
    skin = scene.add("Deformer", "body", "Deformer", "Skin", Element("Version", [101]))
    for child, parent in ((node, 0), (geometry, node), (material, node), (skin, geometry)):
        scene.link(child, parent)
    places = (skeleton.rest_positions + skeleton.offsets[0]) * _CENTIMETERS
    poses = [_pose_node(node, np.zeros(3))]
    for j, (name, bone) in enumerate(zip(skeleton.names, bones, strict=True)):
        poses.append(_pose_node(bone, places[j]))
        own = np.flatnonzero(mesh.joints == j).astype(np.int32)
        if not len(own):
            continue
        cluster = scene.add(
            "Deformer", name, "SubDeformer", "Cluster", Element("Version", [100]), Element("UserData", ["", ""]),
            Element("Indexes", [own]), Element("Weights", [np.ones(len(own))]),
            Element("Transform", [_make_matrix(-places[j])]), Element("TransformLink", [_make_matrix(places[j])]),
        )  # fmt: skip
        scene.link(cluster, skin)
        scene.link(bone, cluster)
    scene.add(
        "Pose", "body", "Pose", "BindPose", Element("Type", ["BindPose"]), Element("Version", [100]),
        Element("NbPoseNodes", [len(poses)]), *poses,
    )  # fmt: skip


def _add_animation(scene: _Scene, motion: Motion, name: str, bones: Sequence[int]) -> None:
    times = _key_times(motion)
    span = _properties(LocalStop=times[-1], ReferenceStop=times[-1])
    stack = scene.add("AnimationStack", name, "AnimStack", "", span)
    layer = scene.add("AnimationLayer", "base", "AnimLayer", "")
    scene.link(layer, stack)
    angles = np.degrees(euler.continuous(euler.to_euler(motion.rotations, "ZYX"), "ZYX"))[..., ::-1]
    offsets = motion.bone_offsets
    for j, bone in enumerate(bones):
        tracks = []
        if not motion.skeleton.is_end_site[j] or np.abs(angles[:, j]).max() > 0.0:
            tracks.append(("R", "Lcl Rotation", angles[:, j]))
        if j == 0:
            tracks.append(("T", "Lcl Translation", motion.root_positions * _CENTIMETERS))
        elif offsets is not None and (offsets[:, j] != motion.skeleton.offsets[j]).any():
            tracks.append(("T", "Lcl Translation", offsets[:, j] * _CENTIMETERS))
        for kind, channel, values in tracks:
            first = dict(zip(("d|X", "d|Y", "d|Z"), values[0].tolist(), strict=True))
            node = scene.add("AnimationCurveNode", kind, "AnimCurveNode", "", _properties(**first))
            scene.link(node, layer)
            scene.link(node, bone, channel)
            for axis, own in zip(first, values.T, strict=True):
                curve = scene.add(
                    "AnimationCurve", "", "AnimCurve", "", Element("Default", [float(own[0])]),
                    Element("KeyVer", [4008]), Element("KeyTime", [times]),
                    Element("KeyValueFloat", [own.astype(np.float32)]),
                    Element("KeyAttrFlags", [np.array([_LINEAR_KEY], dtype=np.int32)]),
                    Element("KeyAttrDataFloat", [np.zeros(4, dtype=np.float32)]),
                    Element("KeyAttrRefCount", [np.array([len(own)], dtype=np.int32)]),
                )  # fmt: skip
                scene.link(curve, node, axis)


def _key_times(motion: Motion) -> Ints:
    return np.asarray(np.rint(np.arange(len(motion)) * (LEGACY_TICKS / motion.fps)), dtype=np.int64)


def _describe_file(scene: _Scene, motion: Motion) -> list[Element]:
    mode = next((m for m, rate in TIME_MODES.items() if m and abs(rate - motion.fps) < 1e-6), CUSTOM_TIME_MODE)
    header = Element("FBXHeaderExtension", [], [
        Element("FBXHeaderVersion", [1003]), Element("FBXVersion", [VERSION]), Element("Creator", [GENERATOR]),
    ])  # fmt: skip
    settings = Element("GlobalSettings", [], [
        Element("Version", [1000]),
        _properties(
            UpAxis=1, UpAxisSign=1, FrontAxis=2, FrontAxisSign=1, CoordAxis=0, CoordAxisSign=1, UnitScaleFactor=1.0,
            OriginalUnitScaleFactor=1.0, TimeMode=mode, CustomFrameRate=float(motion.fps), TimeSpanStart=np.int64(0),
            TimeSpanStop=_key_times(motion)[-1],
        ),
    ])  # fmt: skip
    counts: dict[str, int] = {}
    for each in scene.objects:
        counts[each.name] = counts.get(each.name, 0) + 1
    kinds = [Element("ObjectType", [kind], [Element("Count", [count])]) for kind, count in counts.items()]
    definitions = Element("Definitions", [], [
        Element("Version", [100]), Element("Count", [sum(counts.values()) + 1]),
        Element("ObjectType", ["GlobalSettings"], [Element("Count", [1])]), *kinds,
    ])  # fmt: skip
    document = Element("Documents", [], [
        Element("Count", [1]),
        Element("Document", [np.int64(len(scene.objects) + 1), "Scene", "Scene"], [Element("RootNode", [np.int64(0)])]),
    ])  # fmt: skip
    return [
        header, Element("FileId", [_FILE_ID]), Element("CreationTime", [_CREATION_TIME]),
        Element("Creator", [GENERATOR]), settings, document, Element("References"), definitions,
        Element("Objects", [], scene.objects),
        Element("Connections", [], scene.links), Element("Takes", [], [Element("Current", [""])]),
    ]  # fmt: skip


# Properties and matrices.


def _properties(**values: Any) -> Element:
    return Element("Properties70", [], [_make_property(name, value) for name, value in values.items()])


def _make_property(name: str, value: Any) -> Element:
    if isinstance(value, np.int64):
        return Element("P", [name, "KTime", "Time", "", value])
    if isinstance(value, tuple):
        return Element("P", [name, "ColorRGB", "Color", "", *value])
    if name.startswith("d|"):
        return Element("P", [name, "Number", "", "A", value])
    kind = ("enum", "") if name == "TimeMode" else _PROPERTY_TYPES[type(value)]
    return Element("P", [name, *kind, "", value])


def _make_local(translation: Floats) -> Element:
    """Return the properties of a node with a translation, but without rotation and scale."""
    rows = (("Lcl Translation", translation), ("Lcl Rotation", np.zeros(3)), ("Lcl Scaling", np.ones(3)))
    return Element("Properties70", [], [Element("P", [name, name, "", "A", *row.tolist()]) for name, row in rows])


def _make_matrix(translation: Floats) -> Floats:
    """Return the 4 x 4 matrix of a translation as 16 numbers, column by column."""
    matrix = np.eye(4)
    matrix[3, :3] = translation
    return matrix.ravel()


def _pose_node(node: int, position: Floats) -> Element:
    return Element("PoseNode", [], [Element("Node", [np.int64(node)]), Element("Matrix", [_make_matrix(position)])])


# Bytes.


def _pack(elements: Iterable[Element]) -> bytes:
    out = bytearray(MAGIC + struct.pack("<I", VERSION))
    assert len(out) == HEADER_SIZE
    for element in elements:
        _pack_element(out, element)
    out += bytes(13) + _FOOTER_ID + bytes(4)
    out += bytes(-len(out) % 16 or 16)
    out += struct.pack("<I", VERSION) + bytes(120) + _FOOTER_MAGIC
    return bytes(out)


def _pack_element(out: bytearray, element: Element) -> None:
    """Append an element; lengths are filled in when they are known."""
    start = len(out)
    name = element.name.encode()
    values = b"".join(map(_pack_value, element.values))
    out += bytes(12) + bytes([len(name)]) + name + values
    for child in element.children:
        _pack_element(out, child)
    if element.children or not element.values:
        out += bytes(13)
    struct.pack_into("<III", out, start, len(out), len(element.values), len(values))


def _pack_value(value: Any) -> bytes:
    if isinstance(value, str):
        text = value.encode("utf-8", "replace")
        return b"S" + struct.pack("<I", len(text)) + text
    if isinstance(value, bytes):
        return b"R" + struct.pack("<I", len(value)) + value
    if isinstance(value, np.ndarray):
        data = np.ascontiguousarray(value).tobytes()
        return _ARRAY_CODES[str(value.dtype)].encode() + struct.pack("<III", value.size, 0, len(data)) + data
    if isinstance(value, float):
        return b"D" + struct.pack("<d", value)
    if isinstance(value, np.int64):
        return b"L" + struct.pack("<q", value)
    return b"I" + struct.pack("<i", value)
