"""USD files, judged by Pixar's library (usd-core) where it is installed, and by a slow reading of the text.

The library may be in another environment: MAREY_USD_PYTHON names its Python.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import marey
from marey.core import Motion, Skeleton
from marey.errors import InvalidValue, UnknownFormat
from marey.samples import straight_walk
from tests.io.test_glb_validator import make_motion

PYTHON = os.environ.get("MAREY_USD_PYTHON", sys.executable)
SCRIPT = """
import json, sys
from pxr import Usd, UsdGeom, UsdSkel
stage = Usd.Stage.Open(sys.argv[1])
top = stage.GetDefaultPrim()
cache = UsdSkel.Cache()
cache.Populate(UsdSkel.Root(top), Usd.PrimDefaultPredicate)
skeleton = UsdSkel.Skeleton(stage.GetPrimAtPath(str(top.GetPath()) + "/skeleton"))
query = cache.GetSkelQuery(skeleton)
frames = range(int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode()) + 1)
points = []
bindings = cache.ComputeSkelBindings(UsdSkel.Root(top), Usd.PrimDefaultPredicate)
for binding in bindings:
    for skinning in binding.GetSkinningTargets():
        mesh = UsdGeom.Mesh(skinning.GetPrim())
        rest = mesh.GetPointsAttr().Get()
        skinning.ComputeSkinnedPoints(query.ComputeSkinningTransforms(frames[-1]), rest)
        points = [list(p) for p in rest]
print(json.dumps({
    "meters": UsdGeom.GetStageMetersPerUnit(stage), "up": str(UsdGeom.GetStageUpAxis(stage)),
    "fps": stage.GetTimeCodesPerSecond(), "valid": bool(query) and bool(query.GetTopology().Validate()[0]),
    "names": [str(name) for name in skeleton.GetJointNamesAttr().Get()],
    "places": [[list(m.ExtractTranslation()) for m in query.ComputeJointSkelTransforms(f)] for f in frames],
    "points": points,
}))
"""


@cache
def has_usd() -> bool:
    return subprocess.run([PYTHON, "-c", "import pxr"], capture_output=True, check=False).returncode == 0


def judge(path: Path) -> dict[str, Any]:
    """Return what Pixar's library reads."""
    if not has_usd():
        pytest.skip("usd-core is not installed; MAREY_USD_PYTHON may name a Python that has it")
    done = subprocess.run([PYTHON, "-c", SCRIPT, str(path)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def read_text(path: Path) -> tuple[list[str], np.ndarray]:
    """Return joint paths and world positions (F, J, 3), read from the text and multiplied along each chain."""
    text = path.read_text(encoding="utf-8")
    paths = ast.literal_eval(re.search(r"token\[\] joints = (\[.*\])", text)[1])
    parts = {}
    for name in ("rotations", "translations"):
        block = re.search(rf"{name}\.timeSamples = {{(.*?)}}", text, re.DOTALL)[1]
        parts[name] = np.array([ast.literal_eval(line.split(": ", 1)[1][:-1]) for line in block.strip().splitlines()])
    world: dict[str, Rotation] = {}
    places: dict[str, np.ndarray] = {}
    for j, joint in enumerate(paths):
        local, offset = Rotation.from_quat(parts["rotations"][:, j], scalar_first=True), parts["translations"][:, j]
        above = joint.rpartition("/")[0]
        world[joint] = world[above] * local if above else local
        places[joint] = places[above] + world[above].apply(offset) if above else offset
    return paths, np.stack([places[joint] for joint in paths], axis=1)


def make_kind(kind: str) -> Motion:
    walk = straight_walk(seconds=1.0)
    return {"walk": walk, "cleaned": marey.clean(walk), "random": make_motion()}[kind]


@pytest.mark.parametrize("kind", ["walk", "cleaned", "random"])
def test_positions_are_those_of_the_motion(tmp_path: Path, kind: str) -> None:
    motion = make_kind(kind)
    marey.save(motion, tmp_path / "walk.usda")
    _, places = read_text(tmp_path / "walk.usda")
    np.testing.assert_allclose(places, motion.world().positions, atol=1e-6)


@pytest.mark.parametrize("kind", ["walk", "cleaned", "random"])
def test_the_library_of_usd_reads_the_motion(tmp_path: Path, kind: str) -> None:
    motion = make_kind(kind)
    marey.save(motion, tmp_path / "walk.usda")
    seen = judge(tmp_path / "walk.usda")
    assert seen["valid"]
    assert (seen["meters"], seen["up"], seen["fps"]) == (1.0, "Y", motion.fps)
    assert tuple(seen["names"]) == motion.skeleton.names
    np.testing.assert_allclose(seen["places"], motion.world().positions, atol=1e-6)


def test_the_body_follows_the_joints(tmp_path: Path) -> None:
    walk = straight_walk(seconds=0.3)
    still = replace(walk, rotations=np.broadcast_to([1.0, 0.0, 0.0, 0.0], walk.rotations.shape).copy())
    for motion in (walk, still):
        marey.save(motion, tmp_path / "walk.usda")
        points = np.array(judge(tmp_path / "walk.usda")["points"])
        places = motion.world().positions[-1]
        gap = np.linalg.norm(points[:, None] - places[None], axis=2).min(axis=1)
        assert gap.max() < 0.25
        assert np.abs(points.min(axis=0) - places.min(axis=0)).max() < 0.2
    marey.save(walk, tmp_path / "bare.usda", body=False)
    assert judge(tmp_path / "bare.usda")["points"] == []


def test_names_that_are_no_identifiers(tmp_path: Path) -> None:
    names = ('mixamorig:Hips "x"', "2nd", "Bras gauche é", "Bras gauche è", "a\\b")
    skeleton = Skeleton(names, np.array([-1, 0, 0, 0, 3]), np.ones((5, 3)))
    motion = Motion(skeleton, np.zeros((2, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (2, 5, 1)), 30.0, "my clip!")
    marey.save(motion, tmp_path / "odd.usda")
    paths, _ = read_text(tmp_path / "odd.usda")
    assert paths[1:4] == [f"{paths[0]}/{name}" for name in ("_2nd", "Bras_gauche__", "Bras_gauche___2")]
    names_line = re.search(r"token\[\] jointNames = (\[.*\])", (tmp_path / "odd.usda").read_text(encoding="utf-8"))[1]
    assert tuple(ast.literal_eval(names_line)) == names
    if has_usd():
        assert tuple(judge(tmp_path / "odd.usda")["names"]) == names


def test_what_usd_cannot_hold(tmp_path: Path) -> None:
    walk = straight_walk(seconds=0.3)
    with pytest.raises(InvalidValue, match="a .usda file holds one motion, got 2"):
        marey.save([walk, walk], tmp_path / "a.usda")
    with pytest.raises(InvalidValue, match="`unit=` and `up=` can only be chosen for .bvh"):
        marey.save(walk, tmp_path / "a.usda", unit="cm")
    with pytest.raises(InvalidValue, match="too large for USD"):
        marey.save(replace(walk, root_positions=walk.root_positions + 1e38), tmp_path / "a.usda")
    marey.save(walk, tmp_path / "a.usda")
    with pytest.raises(UnknownFormat, match="cannot load '.usda'"):
        marey.load(tmp_path / "a.usda")


@pytest.mark.parametrize("path", ["cmu/016/16_15.bvh", "bandai-namco/dataset-1_punch_normal_001.bvh"])
def test_real_clips(tmp_path: Path, data_folder: Path, path: str) -> None:
    motion = marey.load(data_folder / path)[:200]
    marey.save(motion, tmp_path / "clip.usda")
    np.testing.assert_allclose(judge(tmp_path / "clip.usda")["places"], motion.world().positions, atol=1e-6)
