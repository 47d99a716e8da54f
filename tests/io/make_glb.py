"""Small GLB files written byte by byte, and a slow evaluation of their content."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from marey.core import Motion, Skeleton
from marey.io.glb_read import read_glb
from marey.io.raw import RawMotion

CODES = {"i1": 5120, "u1": 5121, "<i2": 5122, "<u2": 5123, "<u4": 5125, "<f4": 5126}
KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
WIDTHS = {kind: width for width, kind in KINDS.items()}


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack("<I4s", len(body), kind) + body


def container(document: Any, binary: bytes = b"", *, version: int = 2, length: int | None = None) -> bytes:
    """Return a GLB file; `document` may be text, for content that no JSON writer produces."""
    text = (document if isinstance(document, str) else json.dumps(document)).encode()
    body = chunk(b"JSON", text + b" " * (-len(text) % 4))
    if binary:
        body += chunk(b"BIN\0", binary + b"\0" * (-len(binary) % 4))
    return struct.pack("<4sII", b"glTF", version, 12 + len(body) if length is None else length) + body


def take_apart(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the document and the binary chunk of a well-formed GLB file."""
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + size]), data[28 + size :]


class Glb:
    """A file under construction: nodes and skin are given, keys are added."""

    def __init__(self, nodes: list[dict[str, Any]], joints: list[int] | None = None) -> None:
        self.binary = b""
        self.document: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "nodes": nodes,
            "accessors": [],
            "bufferViews": [],
            "buffers": [{"byteLength": 0}],
        }
        if joints is not None:
            self.document["skins"] = [{"joints": joints}]

    def view(self, body: bytes, **more: Any) -> int:
        self.binary += b"\0" * (-len(self.binary) % 4)
        entry = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(body), **more}
        self.binary += body
        self.document["bufferViews"].append(entry)
        self.document["buffers"][0]["byteLength"] = len(self.binary)
        return len(self.document["bufferViews"]) - 1

    def accessor(self, values: Any, dtype: str = "<f4", **more: Any) -> int:
        """Write the file; `more` may replace any property to make it wrong."""
        array = np.atleast_1d(np.asarray(values)).astype(dtype)
        array = array[:, None] if array.ndim == 1 else array
        entry = {"componentType": CODES[dtype], "count": len(array), "type": KINDS[array.shape[1]]}
        if "bufferView" not in more:
            more["bufferView"] = self.view(array.tobytes())
        self.document["accessors"].append({**entry, **more})
        return len(self.document["accessors"]) - 1

    def clip(self, name: str | None = None, **more: Any) -> dict[str, Any]:
        animation = {"channels": [], "samplers": [], **({} if name is None else {"name": name}), **more}
        self.document.setdefault("animations", []).append(animation)
        return animation

    def key(self, node: int, path: str, times: Any, values: Any, interpolation: str = "LINEAR", clip: int = -1) -> None:
        """Add a channel; times and values may be arrays or, as integers, accessors."""
        if not self.document.get("animations"):
            self.clip()
        animation = self.document["animations"][clip]
        sampler = {
            "input": times if isinstance(times, int) else self.accessor(times),
            "output": values if isinstance(values, int) else self.accessor(values),
            "interpolation": interpolation,
        }
        animation["channels"].append({"sampler": len(animation["samplers"]), "target": {"node": node, "path": path}})
        animation["samplers"].append(sampler)

    def pack(self) -> bytes:
        return container(self.document, self.binary)


def quat_xyzw(axis: str, degrees: float) -> list[float]:
    return Rotation.from_euler(axis, degrees, degrees=True).as_quat().tolist()


def arm(**root: Any) -> list[dict[str, Any]]:
    """Three joints with rest rotations, node 0 as the root, and a fourth node that is not a joint."""
    return [
        {"name": "a", "children": [1], "translation": [0.1, 1, 0], "rotation": quat_xyzw("x", 30), **root},
        {"name": "b", "children": [2, 3], "translation": [0, 0.5, 0.1], "rotation": quat_xyzw("z", 80)},
        {"name": "c", "translation": [0.4, 0, 0], "rotation": quat_xyzw("y", -50)},
        {"name": "prop"},
    ]


TIMES = np.array([0, 0.1, 0.3, 0.4], dtype=np.float32)
TURNS = np.array([quat_xyzw("x", 10), quat_xyzw("y", 95), quat_xyzw("z", -120), quat_xyzw("x", 200)])


def armature(**above: Any) -> Glb:
    """Joints in centimeters and Z up, below an armature node that corrects this."""
    nodes = [
        {"name": "scene", "children": [1], "translation": [0.5, 0, 0]},
        {"name": "Armature", "children": [2], "rotation": quat_xyzw("x", -90), "scale": [0.01] * 3, **above},
        {"name": "hips", "children": [3, 5], "translation": [0, 10, 95], "rotation": quat_xyzw("y", 20)},
        {"name": "leg", "children": [4], "translation": [10, 0, -5], "scale": [2, 2, 2]},
        {"name": "foot", "translation": [0, 0, -40]},
        {"name": "spine", "translation": [0, 0, 30], "rotation": quat_xyzw("xz", [5, 9])},
    ]
    glb = Glb(nodes, [2, 3, 4, 5])
    rng = np.random.default_rng(2)
    times = np.arange(13) / 30
    glb.key(2, "translation", times, rng.normal(size=(13, 3)) * 20 + [0, 0, 95])
    for joint in (2, 3, 5):
        turns = rng.normal(size=(13, 4))
        glb.key(joint, "rotation", times, turns / np.linalg.norm(turns, axis=1, keepdims=True))
    return glb


def good() -> Glb:
    glb = Glb(arm(), [0, 1, 2])
    glb.key(1, "rotation", TIMES, TURNS)
    glb.key(0, "translation", TIMES, np.zeros((4, 3)))
    return glb


# The content of the file: 4 x 4 matrices down the node graph, for one node and one time.


def world_matrices(document: dict[str, Any], binary: bytes, seconds: float, clip: int = 0) -> dict[int, np.ndarray]:
    """Return the matrix from a node to the world at a time of the animation, following the specification."""
    nodes = document["nodes"]
    animated: dict[tuple[int, str], np.ndarray] = {}
    if document.get("animations"):
        animation = document["animations"][clip]
        for channel in animation["channels"]:
            target = channel["target"]
            sampler = animation["samplers"][channel["sampler"]]
            animated[target["node"], target["path"]] = value_at(document, binary, sampler, seconds)
    parents = {child: i for i, node in enumerate(nodes) for child in node.get("children", [])}

    def world(i: int) -> np.ndarray:
        local = local_matrix(nodes[i], {p: v for (n, p), v in animated.items() if n == i})
        return world(parents[i]) @ local if i in parents else local

    return {i: world(i) for i in range(len(nodes))}


def local_matrix(node: dict[str, Any], animated: dict[str, np.ndarray]) -> np.ndarray:
    if "matrix" in node:
        return np.array(node["matrix"]).reshape(4, 4).T
    parts = {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1], **node, **animated}
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_quat(parts["rotation"]).as_matrix() @ np.diag(parts["scale"])
    matrix[:3, 3] = parts["translation"]
    return matrix


def value_at(document: dict[str, Any], binary: bytes, sampler: dict[str, Any], seconds: float) -> np.ndarray:
    times = decode(document, binary, sampler["input"])[:, 0]
    values = decode(document, binary, sampler["output"])
    kind = sampler.get("interpolation", "LINEAR")
    at = float(np.clip(seconds, times[0], times[-1]))
    i = min(max(sum(1 for t in times if t <= at) - 1, 0), len(times) - 1)
    if kind == "CUBICSPLINE":
        if i == len(times) - 1:
            return values[3 * i + 1]
        d = times[i + 1] - times[i]
        s = (at - times[i]) / d
        v0, b0, a1, v1 = values[3 * i + 1], values[3 * i + 2], values[3 * i + 3], values[3 * i + 4]
        return (
            (2 * s**3 - 3 * s**2 + 1) * v0
            + d * (s**3 - 2 * s**2 + s) * b0
            + (-2 * s**3 + 3 * s**2) * v1
            + d * (s**3 - s**2) * a1
        )
    if kind == "STEP" or i == len(times) - 1:
        return values[i]
    if values.shape[1] == 4:
        return Slerp(times[i : i + 2], Rotation.from_quat(values[i : i + 2]))(at).as_quat()
    s = (at - times[i]) / (times[i + 1] - times[i])
    return (1 - s) * values[i] + s * values[i + 1]


def decode(document: dict[str, Any], binary: bytes, index: int) -> np.ndarray:
    """Return the values of an accessor, one component at a time."""
    entry = document["accessors"][index]
    dtype = np.dtype(next(name for name, code in CODES.items() if code == entry["componentType"]))
    width = WIDTHS[entry["type"]]

    def read(place: dict[str, Any], row: int, column: int, kind: np.dtype, n: int) -> float:
        view = document["bufferViews"][place["bufferView"]]
        stride = view.get("byteStride", n * kind.itemsize)
        at = view.get("byteOffset", 0) + place.get("byteOffset", 0) + row * stride + column * kind.itemsize
        return float(np.frombuffer(binary, kind, 1, at)[0])

    rows = np.zeros((entry["count"], width))
    if "bufferView" in entry:
        for row in range(entry["count"]):
            rows[row] = [read(entry, row, column, dtype, width) for column in range(width)]
    if "sparse" in entry:
        sparse = entry["sparse"]
        counting = np.dtype(next(n for n, code in CODES.items() if code == sparse["indices"]["componentType"]))
        for k in range(sparse["count"]):
            row = int(read(sparse["indices"], k, 0, counting, 1))
            rows[row] = [read(sparse["values"], k, column, dtype, width) for column in range(width)]
    if entry.get("normalized"):
        top = {"i1": 127, "u1": 255, "<i2": 32767, "<u2": 65535}[
            next(name for name, code in CODES.items() if code == entry["componentType"])
        ]
        rows = np.maximum(rows / top, -1.0)
    return rows


# The same through marey's reader.


def as_motion(raw: RawMotion) -> Motion:
    assert raw.fps is not None
    assert (raw.unit, raw.up, raw.source.format) == (1.0, "y", "glb")
    skeleton = Skeleton(raw.names, raw.parents, raw.offsets)
    return Motion(skeleton, raw.root_positions, raw.rotations, raw.fps, raw.name, bone_offsets=raw.bone_offsets)


def check_meaning(data: bytes, clip: int = 0, atol: float = 2e-7, rest_atol: float = 1e-9, **options: Any) -> RawMotion:
    """Check that every joint is where the node graph puts it, in every frame and in the rest pose."""
    document, binary = take_apart(data)
    animated = "animations" in document
    raw = read_glb(data, "made.glb", clip=clip if animated else None, **options)
    motion = as_motion(raw)
    names = [node.get("name", f"node_{i}") for i, node in enumerate(document["nodes"])]
    place = [names.index(name) for name in raw.names]
    keys = np.zeros(1)
    if animated:
        inputs = {sampler["input"] for sampler in document["animations"][clip]["samplers"]}
        keys = np.unique(np.concatenate([decode(document, binary, i)[:, 0] for i in inputs]))
    world = motion.world().positions
    for frame in range(len(motion)):
        seconds = keys[0] + frame / motion.fps
        near = keys[np.argmin(np.abs(keys - seconds))]  # a key may miss its frame by float32 rounding
        matrices = world_matrices(document, binary, near if abs(near - seconds) < 1e-5 else seconds, clip)
        wanted = np.array([matrices[i][:3, 3] for i in place])
        np.testing.assert_allclose(world[frame], wanted, atol=atol, err_msg=f"frame {frame}")
    document.pop("animations", None)
    rest = world_matrices(document, binary, 0.0)
    wanted = np.array([rest[i][:3, 3] for i in place])
    np.testing.assert_allclose(motion.skeleton.rest_positions + raw.offsets[0], wanted, atol=rest_atol)
    return raw
