"""A small GLB file with a skin whose rest pose is rotated and scaled, and the true positions of its vertices."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FPS, N_FRAMES = 20.0, 21
_HALF = np.sqrt(0.5)
# Name, translation, rotation (xyzw), scale, children; in centimeters, Z up, as many exporters write characters.
NODES = [
    ("Armature", [0.5, 0.0, -0.25], [-_HALF, 0.0, 0.0, _HALF], 0.01, [1]),
    ("Hips", [0.0, 0.0, 95.0], [0.0, _HALF, 0.0, _HALF], 1.0, [2]),
    ("Leg.L <b>", [12.0, 3.0, 0.0], [0.0, 0.0, _HALF, _HALF], 1.0, [3]),
    ("Foot", [0.0, 44.0, 0.0], [0.5, 0.5, 0.5, 0.5], 1.0, []),
]
VERTICES = np.array([[0.5, 0.9, -0.2], [0.6, 0.8, -0.1], [0.4, 0.3, 0.0], [0.7, 0.1, 0.3]])
JOINTS = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [1, 2, 0, 0], [2, 0, 0, 0]], dtype=np.uint8)
WEIGHTS = np.array([[0.5, 0.5, 0, 0], [1, 0, 0, 0], [0.25, 0.75, 0, 0], [1, 0, 0, 0]])


def matrix(translation: list[float] | Array, rotation: list[float] | Array, scale: float) -> Array:
    """Return the matrix (4, 4) of translation, rotation (xyzw) and scale, as defined by glTF."""
    x, y, z, w = np.asarray(rotation) / np.linalg.norm(rotation)
    result = np.eye(4)
    result[:3, :3] = scale * np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    result[:3, 3] = translation
    return result


def moved(frame: int) -> dict[int, tuple[Array, Array]]:
    """Return translation and rotation of the joints that move, by node."""
    angle = 0.06 * frame
    hips = np.array([0.0, -2.0 * frame, 95.0 + 0.5 * frame]), np.array([0.0, np.sin(0.8), 0.0, np.cos(0.8)])
    leg = np.array([12.0, 3.0, 0.0]), np.array([np.sin(angle), 0.0, 0.2, np.cos(angle)])
    return {1: hips, 2: (leg[0], leg[1] / np.linalg.norm(leg[1]))}


def globals_at(frame: int | None) -> list[Array]:
    """Return world matrices of all nodes; parents come first."""
    found = [np.eye(4)] * len(NODES)
    above = [np.eye(4)] * len(NODES)
    for i, (_, translation, rotation, scale, children) in enumerate(NODES):
        place, turn = (translation, rotation) if frame is None else moved(frame).get(i, (translation, rotation))
        found[i] = above[i] @ matrix(place, turn, scale)
        for child in children:
            above[child] = found[i]
    return found


def vertices_at(frame: int) -> Array:
    """Return the vertices of the skin by the formula of the glTF specification."""
    rest, now = globals_at(None), globals_at(frame)
    turns = np.array([now[j] @ np.linalg.inv(rest[j]) for j in (1, 2, 3)])
    points = np.concatenate([VERTICES, np.ones((len(VERTICES), 1))], axis=1)
    return np.array(np.einsum("vk,vkij,vj->vi", WEIGHTS, turns[JOINTS], points)[:, :3])


def write(path: Path) -> None:
    """Return the bytes of the file."""
    times = np.arange(N_FRAMES) / FPS
    hips, leg = ([moved(f)[node] for f in range(N_FRAMES)] for node in (1, 2))
    inverse = np.array([np.linalg.inv(globals_at(None)[j]).T for j in (1, 2, 3)])
    arrays: list[tuple[NDArray[np.generic], str, int]] = [
        (VERTICES.astype("<f4"), "VEC3", 5126),
        (JOINTS, "VEC4", 5121),
        (WEIGHTS.astype("<f4"), "VEC4", 5126),
        (inverse.reshape(3, 16).astype("<f4"), "MAT4", 5126),
        (times.astype("<f4"), "SCALAR", 5126),
        (np.array([place for place, _ in hips], dtype="<f4"), "VEC3", 5126),
        (np.array([turn for _, turn in hips], dtype="<f4"), "VEC4", 5126),
        (np.array([turn for _, turn in leg], dtype="<f4"), "VEC4", 5126),
        (np.array([0, 1, 2, 1, 3, 2], dtype="<u2"), "SCALAR", 5123),
    ]
    body, views, accessors = b"", [], []
    for i, (array, kind, component) in enumerate(arrays):
        body += b"\0" * (-len(body) % 4)
        views.append({"buffer": 0, "byteOffset": len(body), "byteLength": array.nbytes})
        entry = {"bufferView": i, "componentType": component, "count": len(array), "type": kind}
        if i in (0, 4):
            entry |= {
                "min": np.atleast_1d(array.min(axis=0)).tolist(),
                "max": np.atleast_1d(array.max(axis=0)).tolist(),
            }  # type: ignore[attr-defined]
        accessors.append(entry)
        body += array.tobytes()
    body += b"\0" * (-len(body) % 4)
    nodes = [
        {"name": name, "translation": place, "rotation": turn, "scale": [scale] * 3, "children": below}
        for name, place, turn, scale, below in NODES
    ]
    for node in nodes:
        if not node["children"]:
            del node["children"]
    channels = [(4, 5, 1, "translation"), (4, 6, 1, "rotation"), (4, 7, 2, "rotation")]
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 4]}],
        "nodes": [*nodes, {"name": "Hips", "mesh": 0, "skin": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}, "indices": 8}]}],
        "skins": [{"joints": [1, 2, 3], "inverseBindMatrices": 3}],
        "animations": [
            {
                "samplers": [{"input": one, "output": other} for one, other, _, _ in channels],
                "channels": [
                    {"sampler": i, "target": {"node": node, "path": what}}
                    for i, (_, _, node, what) in enumerate(channels)
                ],
            }
        ],
        "buffers": [{"byteLength": len(body)}],
        "bufferViews": views,
        "accessors": accessors,
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(body), 0x004E4942) + body
    path.write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks)
