"""Roles of the skeletons in real files."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from marey.core.roles import find_roles
from tests.core import skeletons
from tests.core.role_helpers import main, named, shape_roles, turn
from tests.core.skeletons import CMU, TUTORIAL, Rig

# Real files -------------------------------------------------------------------------------------------------


def scan_bvh(path: Path):
    """Return names, parents, offsets and channels of the joints of a well-formed BVH hierarchy."""
    names, parents, offsets, channels, above, current = [], [], [], [], [], -1
    words = iter(path.read_text(encoding="utf-8", errors="replace").split("MOTION")[0].split())
    for word in words:
        if word in ("ROOT", "JOINT", "End"):
            name = next(words)
            names.append(name if word != "End" else names[above[-1]] + "End")
            parents.append(above[-1] if above else -1)
            channels.append([])
            current = len(names) - 1
        elif word == "{":
            above.append(current)
        elif word == "}":
            above.pop()
        elif word == "OFFSET":
            offsets.append([float(next(words)) for _ in range(3)])
        elif word == "CHANNELS":
            channels[-1] = [next(words) for _ in range(int(next(words)))]
    return tuple(names), np.array(parents), np.array(offsets), channels


def pose_bvh(path: Path, row):
    """Return the positions (J, 3) of one frame, by matrices."""
    _, parents, offsets, channels = scan_bvh(path)
    values = iter(path.read_text().split("MOTION")[1].strip().splitlines()[2:][row].split())
    points, turns = [], []
    for parent, offset, names in zip(parents, offsets, channels, strict=True):
        local, rotation = offset.copy(), np.eye(3)
        for name in names:
            axis = "XYZ".index(name[0])
            if name.endswith("position"):
                local[axis] = float(next(values))
            else:
                rotation = rotation @ turn(np.eye(3)[axis], np.radians(float(next(values))))
        points.append(local if parent < 0 else points[parent] + turns[parent] @ local)
        turns.append(rotation if parent < 0 else turns[parent] @ rotation)
    return np.array(points)


def test_real_bvh_files_are_known_by_name(data_folder):
    files = sorted(data_folder.glob("cmu/**/*.bvh")) + sorted(data_folder.glob("bandai-namco/*.bvh"))
    if not files:
        pytest.skip("no cmu or bandai-namco files")
    for path in files:
        names, parents, offsets, _ = scan_bvh(path)
        roles = find_roles(names, parents, offsets)
        rig = CMU if "cmu" in path.parts else skeletons.BANDAI
        assert named(roles) == rig.roles, path
        assert roles.how == rig.how, path


def test_real_skeletons_are_known_by_shape(data_folder):
    paths = {path.parent: path for path in sorted(data_folder.glob("cmu/**/*.bvh"))}
    if not paths:
        pytest.skip("no cmu files")
    for path in paths.values():
        names, parents, offsets, _ = scan_bvh(path)
        _, roles = shape_roles(Rig("", "", names, parents, offsets, {}, ()))
        assert roles == CMU.roles, path


@pytest.mark.parametrize(
    "clip",
    [
        "cmu/049/49_06.bvh",
        "cmu/143/143_18.bvh",
        "cmu/144/144_05.bvh",
        "cmu/016/16_45.bvh",
        "bandai-namco/dataset-2_walk_normal_001.bvh",
    ],
)
def test_real_poses_are_known_by_shape(data_folder, clip):
    # A cartwheel, sitting down, kicks, a run; and a walk away from a root that stays behind.
    path = data_folder / clip
    if not path.exists():
        pytest.skip(f"no {clip}")
    names, parents, offsets, _ = scan_bvh(path)
    expected = main((CMU if clip.startswith("cmu") else skeletons.BANDAI).roles)
    for row in range(1, 160, 40):
        _, roles = shape_roles(Rig("", "", names, parents, offsets, {}, ()), pose_bvh(path, row))
        assert main(roles) == expected, row


def test_the_tutorial_file_is_known_by_words(data_folder):
    path = data_folder / "nasty-real" / "bvhio_example.bvh"
    if not path.exists():
        pytest.skip("no bvhio_example.bvh")
    names, parents, offsets, _ = scan_bvh(path)
    assert named(find_roles(names, parents, offsets)) == TUTORIAL.roles


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sinusoidal", {}),
        ("test_simple", {}),
        ("rotation_first_root", {"hips": "Hips", "spine": "Spine", "chest": "Spine", "head": "Head"}),
    ],
)
def test_real_files_that_are_hardly_human(data_folder, name, expected):
    path = data_folder / "nasty-real" / f"{name}.bvh"
    if not path.exists():
        pytest.skip(f"no {name}.bvh")
    names, parents, offsets, _ = scan_bvh(path)
    assert named(find_roles(names, parents, offsets)) == expected


def test_real_asf_names(data_folder):
    files = sorted(data_folder.glob("cmu-asfamc/*/*.asf"))
    if not files:
        pytest.skip("no asf files")
    for path in files:
        roles = find_roles(*scan_asf(path))
        assert named(roles) == skeletons.ASF.roles, path
        assert roles.how == "profile ASF"


def scan_asf(path: Path):
    """Return joints at the starts of bones, and an end site at the tip of each leaf bone."""
    text = path.read_text()
    ends = {"root": np.zeros(3)}
    for block in text.split(":bonedata")[1].split(":hierarchy")[0].split("begin")[1:]:
        fields = {line.split()[0]: line.split()[1:] for line in block.splitlines() if line.strip()}
        ends[fields["name"][0]] = float(fields["length"][0]) * np.array(fields["direction"][:3], dtype=float)
    names, parents, offsets = ["root"], [-1], [np.zeros(3)]
    for line in text.split(":hierarchy")[1].splitlines():
        parent, *children = line.split() or [""]
        for child in children if parent in names else ():
            parents.append(names.index(parent))
            names.append(child)
            offsets.append(ends[parent])
    for joint, name in list(enumerate(names)):
        if joint not in parents:
            parents.append(joint)
            names.append(f"{name}End")
            offsets.append(ends[name])
    return names, parents, np.array(offsets)


def test_a_gltf_body_with_numbered_limbs(data_folder):
    path = data_folder / "gltf" / "RiggedFigure.glb"
    if not path.exists():
        pytest.skip("no RiggedFigure.glb")
    names, parents, points = scan_glb(path)
    offsets = points - np.where(np.array(parents)[:, None] < 0, 0.0, points[np.maximum(parents, 0)])
    roles = find_roles(names, parents, offsets)
    expected = {"hips": "torso_joint_1", "spine": "torso_joint_2", "chest": "torso_joint_3", "neck": "neck_joint_1"}
    expected["head"] = "neck_joint_2"
    for side, mark in (("left", "L"), ("right", "R")):
        for part, number in (("upper_arm", 1), ("forearm", 2), ("hand", 3)):
            expected[f"{side}_{part}"] = f"arm_joint_{mark}_{number}"
        for part, number in (("upper_leg", 1), ("lower_leg", 2), ("foot", 3), ("ball", 5)):
            expected[f"{side}_{part}"] = f"leg_joint_{mark}_{number}"
    assert named(roles) == expected
    assert roles.how == "names and structure"


def scan_glb(path: Path):
    """Return names, parents and world positions of the joints of a skin."""
    data = path.read_bytes()
    length = struct.unpack("<I", data[12:16])[0]
    gltf = json.loads(data[20 : 20 + length])
    nodes = gltf["nodes"]
    parent_of = {child: n for n, node in enumerate(nodes) for child in node.get("children", ())}

    def matrix(n):
        node = nodes[n]
        local = np.array(node["matrix"]).reshape(4, 4).T if "matrix" in node else np.eye(4)
        if "matrix" not in node:
            x, y, z, w = node.get("rotation", (0, 0, 0, 1))
            local[:3, :3] = np.array([
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]) * node.get("scale", (1, 1, 1))  # fmt: skip
            local[:3, 3] = node.get("translation", (0, 0, 0))
        return matrix(parent_of[n]) @ local if n in parent_of else local

    joints = [gltf["skins"][0]["joints"][0]]
    for n in joints:
        joints += nodes[n].get("children", ())
    parents = [joints.index(parent_of[n]) if parent_of.get(n) in joints else -1 for n in joints]
    return [nodes[n]["name"] for n in joints], parents, np.array([matrix(n)[:3, 3] for n in joints])
