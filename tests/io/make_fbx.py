"""FBX text files for tests, and a slow reader of the same scenes: one matrix per node and frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

TICKS = 46_186_158_000
LINEAR, CONSTANT, CUBIC = 0x4, 0x2, 0x8
# Rotation orders by number: the first letter is applied first.
ORDERS = ("xyz", "xzy", "yzx", "yxz", "zxy", "zyx")


@dataclass
class Keys:
    """Keys of one number: times in seconds, values, flags, and the four numbers of each key."""

    times: Sequence[float]
    values: Sequence[float]
    flags: int | Sequence[int] = LINEAR
    data: Sequence[Sequence[float]] = ()


@dataclass
class Bone:
    """A node: its parent's index (-1 for none), properties, and keys by (T, R or S; axis)."""

    name: str
    parent: int
    kind: str = "LimbNode"
    properties: dict[str, Any] = field(default_factory=dict)
    keys: dict[tuple[str, int], Keys] = field(default_factory=dict)


def text_fbx(
    bones: Sequence[Bone],
    *,
    settings: dict[str, Any] | None = None,
    stacks: Sequence[tuple[str, Sequence[str]]] = (("Take 001", ("Base",)),),
    keyed: tuple[int, int] = (0, 0),
    bind: dict[int, Any] | None = None,
    version: int = 7400,
) -> bytes:
    """Return a text FBX file.

    stacks : names of the stacks, with the names of their layers. keyed : stack and layer of the bones' keys.
    bind : matrices (4, 4) of the bind pose, by bone.
    """
    objects, links = [], []
    for i, bone in enumerate(bones):
        objects.append(f'Model: {100 + i}, "Model::{bone.name}", "{bone.kind}" {{\n{_properties(bone.properties)}}}')
        links.append(f'C: "OO",{100 + i},{100 + bone.parent if bone.parent >= 0 else 0}')
    number = 1000
    layers: dict[tuple[int, int], int] = {}
    for s, (name, names) in enumerate(stacks):
        objects.append(f'AnimationStack: {number}, "AnimStack::{name}", "" {{\n}}')
        stack, number = number, number + 1
        for k, layer in enumerate(names):
            objects.append(f'AnimationLayer: {number}, "AnimLayer::{layer}", "" {{\n}}')
            links.append(f'C: "OO",{number},{stack}')
            layers[s, k] = number
            number += 1
    names = {"T": "Lcl Translation", "R": "Lcl Rotation", "S": "Lcl Scaling"}
    for i, bone in enumerate(bones):
        for what in dict.fromkeys(what for what, _ in bone.keys):
            node, number = number, number + 1
            objects.append(f'AnimationCurveNode: {node}, "AnimCurveNode::{what}", "" {{\n}}')
            links += [f'C: "OO",{node},{layers[keyed]}', f'C: "OP",{node},{100 + i}, "{names[what]}"']
            for axis in range(3):
                if (what, axis) in bone.keys:
                    objects.append(_curve(number, bone.keys[what, axis]))
                    links.append(f'C: "OP",{number},{node}, "d|{"XYZ"[axis]}"')
                    number += 1
    if bind:
        nodes = "".join(
            f"PoseNode:  {{\nNode: {100 + i}\nMatrix: {_array(np.asarray(matrix).T.ravel())}}}\n"
            for i, matrix in bind.items()
        )
        objects.append(f'Pose: {number}, "Pose::bind", "BindPose" {{\nType: "BindPose"\n{nodes}}}')
    stated = {"UpAxis": 1, "UnitScaleFactor": 1.0, "TimeMode": 6, **(settings or {})}
    return (
        f"; FBX {version // 1000}.{version % 1000 // 100}.0 project file\n"
        f"FBXHeaderExtension:  {{\n\tFBXHeaderVersion: 1003\n\tFBXVersion: {version}\n}}\n"
        f"GlobalSettings:  {{\n{_properties(stated)}}}\n"
        "Objects:  {\n"
        + "\n".join(objects)
        + "\n}\nConnections:  {\n\t;Model::a, Model::b\n"
        + "\n".join(links)
        + "\n}\n"
    ).encode()


def _properties(values: dict[str, Any]) -> str:
    rows = []
    for name, value in values.items():
        numbers = value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
        rows.append(f'P: "{name}", "", "", "A",' + ",".join(map(repr, map(_plain, numbers))))
    return "\tProperties70:  {\n" + "".join(f"\t\t{row}\n" for row in rows) + "\t}\n"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _array(values: Any) -> str:
    return f"*{len(values)} {{\n\ta: " + ",".join(repr(_plain(v)) for v in values) + "\n}\n"


def _curve(number: int, keys: Keys) -> str:
    n = len(keys.times)
    times = [round(t * TICKS) for t in keys.times]
    flags = [keys.flags] * n if isinstance(keys.flags, int) else list(keys.flags)
    data = np.zeros((n, 4), dtype=np.float32) if not len(keys.data) else np.asarray(keys.data, dtype=np.float32)
    bits = data.ravel().view(np.int32).tolist()  # the layout that most programs write
    return (
        f'AnimationCurve: {number}, "AnimCurve::", "" {{\nDefault: 0\nKeyVer: 4009\nKeyTime: {_array(times)}'
        f"KeyValueFloat: {_array([float(np.float32(v)) for v in keys.values])}KeyAttrFlags: {_array(flags)}"
        f"KeyAttrDataFloat: {_array(bits)}KeyAttrRefCount: {_array([1] * n)}}}"
    )


def slow_positions(bones: Sequence[Bone], seconds: Sequence[float]) -> np.ndarray:
    """Return the world positions (F, J, 3) of linear or constant keys, one matrix product at a time."""
    out = np.empty((len(seconds), len(bones), 3))
    for f, second in enumerate(seconds):
        world: list[np.ndarray] = []
        for i, bone in enumerate(bones):
            local = _local_matrix(bone, second)
            parent = np.eye(4) if bone.parent < 0 else world[bone.parent]
            if bone.parent >= 0 and bone.properties.get("InheritType") == 2:
                scale = np.diag([*(1.0 / _value(bones[bone.parent], "S", second)), 1.0])
                here = parent @ scale @ local
                here[:3, 3] = (parent @ local)[:3, 3]
                world.append(here)
            else:
                world.append(parent @ local)
            out[f, i] = world[-1][:3, 3]
    return out


def _value(bone: Bone, what: str, second: float) -> np.ndarray:
    name = {"T": "Lcl Translation", "R": "Lcl Rotation", "S": "Lcl Scaling"}[what]
    value = np.array(bone.properties.get(name, (1.0,) * 3 if what == "S" else (0.0,) * 3), dtype=float)
    for axis in range(3):
        keys = bone.keys.get((what, axis))
        if keys is not None:
            value[axis] = np.interp(second, keys.times, np.float32(keys.values))
    return value


def _local_matrix(bone: Bone, second: float) -> np.ndarray:
    def vector(name: str) -> np.ndarray:
        return np.array(bone.properties.get(name, (0.0, 0.0, 0.0)), dtype=float)

    def move(by: np.ndarray) -> np.ndarray:
        out = np.eye(4)
        out[:3, 3] = by
        return out

    def turn(angles: np.ndarray, order: str = "xyz") -> np.ndarray:
        out = np.eye(4)
        out[:3, :3] = Rotation.from_euler(order, [angles["xyz".index(a)] for a in order], degrees=True).as_matrix()
        return out

    active = bone.properties.get("RotationActive", 1)
    order = ORDERS[bone.properties.get("RotationOrder", 0)] if active else "xyz"
    before, after = (turn(vector(name)) if active else np.eye(4) for name in ("PreRotation", "PostRotation"))
    pivot, center = vector("RotationPivot"), vector("ScalingPivot")
    rotated = before @ turn(_value(bone, "R", second), order) @ np.linalg.inv(after)
    scaled = np.diag([*_value(bone, "S", second), 1.0])
    return (
        move(_value(bone, "T", second)) @ move(vector("RotationOffset")) @ move(pivot) @ rotated @ move(-pivot)
        @ move(vector("ScalingOffset")) @ move(center) @ scaled @ move(-center)
    )  # fmt: skip


def mixamo_like(n_frames: int = 12, fps: float = 30.0) -> tuple[bytes, list[Bone]]:
    """Return a file built like those of Mixamo, and its bones: a scaled node above the hips, names with a prefix,
    pre-rotations, a first stack without keys, and a bind pose."""
    rng = np.random.default_rng(3)
    times = np.arange(n_frames) / fps
    parents = {"Hips": -1, "Spine": 0, "Spine1": 1, "Neck": 2, "Head": 3}
    for side in ("Left", "Right"):
        parents |= {f"{side}Shoulder": 2, f"{side}Arm": 0, f"{side}ForeArm": 0, f"{side}Hand": 0}
        parents |= {f"{side}UpLeg": 0, f"{side}Leg": 0, f"{side}Foot": 0, f"{side}ToeBase": 0}
    offsets = {"Hips": (0, 98, 0), "Spine": (0, 10, -1), "Spine1": (0, 20, 0), "Neck": (0, 25, 0), "Head": (0, 10, 2)}
    for side, x in (("Left", 1), ("Right", -1)):
        offsets |= {f"{side}Shoulder": (6 * x, 20, 0), f"{side}Arm": (12 * x, 0, 0), f"{side}ForeArm": (28 * x, 0, 0)}
        offsets |= {f"{side}Hand": (26 * x, 0, 0), f"{side}UpLeg": (9 * x, -5, 0), f"{side}Leg": (0, -43, 0)}
        offsets |= {f"{side}Foot": (0, -42, -2), f"{side}ToeBase": (0, -8, 12)}
    names = list(offsets)
    chain = {"Arm": "Shoulder", "ForeArm": "Arm", "Hand": "ForeArm", "Leg": "UpLeg", "Foot": "Leg", "ToeBase": "Foot"}
    bones = [Bone("Armature", -1, "Null", {"Lcl Scaling": (0.5, 0.5, 0.5), "Lcl Rotation": (0.0, 30.0, 0.0)})]
    rest = [Rotation.from_euler("y", 30.0, degrees=True)]
    for name in names:
        side = "Left" if name.startswith("Left") else "Right" if name.startswith("Right") else ""
        parent = side + chain[name[len(side) :]] if name[len(side) :] in chain else None
        index = 1 + names.index(parent) if parent else (0 if name == "Hips" else 1 + parents[name])
        rest.append(Rotation.random(random_state=len(rest)))
        before = rest[index].inv()
        bone = Bone(f"mixamorig:{name}", index, "LimbNode", {
            "Lcl Translation": tuple(before.apply(2.0 * np.array(offsets[name], dtype=float))),
            "PreRotation": tuple((before * rest[-1]).as_euler("xyz", degrees=True)),
            "RotationActive": 1, "InheritType": 1,
        })  # fmt: skip
        for axis in range(3):
            bone.keys["R", axis] = Keys(times, np.cumsum(rng.normal(0.0, 4.0, n_frames)))
            if name == "Hips":
                bone.keys["T", axis] = Keys(times, 200.0 * (axis == 1) + np.cumsum(rng.normal(0.0, 1.0, n_frames)))
        bones.append(bone)
    data = text_fbx(bones, stacks=(("Take 001", ("Base",)), ("mixamo.com", ("Base",))), keyed=(1, 0))
    return data, bones
