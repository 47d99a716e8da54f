"""The Blender extension: its studio client and its poses, and in Blender itself where a Python with bpy is named."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.maths import quat
from marey.samples import sample
from tests.studio.client import WAIT, Server

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "blender_extension"
BPY = os.environ.get("MAREY_BPY")  # a Python that has bpy


def load_part(name: str):
    """Import a module of the extension without its __init__, which needs Blender."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


rig, studio = load_part("rig"), load_part("studio")


def test_manifest_fits_the_project():
    manifest = tomllib.loads((FOLDER / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert manifest["version"].replace("-rc.", "rc") == marey.__version__
    assert manifest["license"] == ["SPDX:MIT"]
    assert len(manifest["tagline"]) <= 64
    assert not manifest["tagline"].endswith(".")


def test_matrices_equal_those_of_the_library():
    rng = np.random.default_rng(0)
    rotations = rng.normal(size=(5, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    points = rng.normal(size=(5, 3))
    expected = quat.rotate(rotations, points)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", rig.to_matrices(rotations), points), expected, atol=1e-12)


@pytest.mark.parametrize("stretch", [1.0, 1.1])
def test_bones_end_where_the_joints_are(stretch):
    """Forward kinematics of the bones, as Blender does it, gives the world positions, also of stretched limbs."""
    rng = np.random.default_rng(1)
    motion = sample("kick").motion
    world = motion.world()
    parents = tuple(motion.skeleton.parents.tolist())
    rest = rig.find_rest(parents, world.positions[0], world.rotations[0])
    np.testing.assert_allclose(rest[1:] - rest[list(parents[1:])], motion.skeleton.offsets[1:] @ rig.AXES.T, atol=1e-9)
    bones = rig.to_matrices(np.array([unit(rng.normal(size=4)) for _ in parents]))
    positions = stretch * world.positions[-1]
    turns, moves = rig.find_basis(parents, bones, rest, positions, world.rotations[-1])
    heads, turned = np.empty_like(rest), np.empty_like(bones)
    for joint, parent in enumerate(parents):
        if parent < 0:
            place, still = rest[joint], bones[joint]
        else:
            still = turned[parent] @ bones[parent].T @ bones[joint]
            place = heads[parent] + turned[parent] @ bones[parent].T @ (rest[joint] - rest[parent])
        heads[joint], turned[joint] = place + still @ moves[joint], still @ turns[joint]
    np.testing.assert_allclose(heads, positions @ rig.AXES.T, atol=1e-9)


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_every_bone_has_a_length():
    motion = sample("walk").motion
    parents = tuple(motion.skeleton.parents.tolist())
    rest = rig.find_rest(parents, motion.world().positions[0], motion.world().rotations[0])
    assert (np.linalg.norm(rig.find_tails(parents, rest) - rest, axis=1) >= 0.02).all()
    assert rest[motion.skeleton.roles["head"], 2] > rest[motion.skeleton.roles["left_foot"], 2] + 1.0  # Z is up


def test_wrong_addresses_are_refused_in_one_sentence():
    with pytest.raises(studio.StudioError, match="expected the address that `marey studio` prints"):
        studio.Studio("http://127.0.0.1:1234")
    with pytest.raises(studio.StudioError, match="no studio answers at 127.0.0.1:9"):
        studio.Studio("http://127.0.0.1:9/?token=x")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "index.html").write_text("<!doctype html><title>page</title>")
    running = Server(None, folder)
    yield running
    running.stop()


def address_of(server: Server) -> str:
    return f"http://127.0.0.1:{server.address.port}/?token={server.address.token}"


def test_wrong_tokens_and_characters_are_refused(server):
    with pytest.raises(studio.StudioError, match="refused the token"):
        studio.Studio(address_of(server) + "x")
    client = studio.Studio(address_of(server))
    with pytest.raises(studio.StudioError, match="no built-in character .wizard."):
        client.drive("wizard")
    client.close()


@pytest.mark.slow("builds a character")
def test_a_driven_character_arrives(server):
    client = studio.Studio(address_of(server))
    client.drive("right-turner")
    assert len(client.joints) == len(client.parents) == 27
    client.request(direction=-1.0)
    first = pose = wait_for_pose(client)
    assert pose.positions.shape == (27, 3)
    end = time.monotonic() + WAIT
    while np.abs(pose.positions - first.positions).max() <= 0.1:  # until it walks
        assert time.monotonic() < end, "it does not walk"
        time.sleep(0.02)
        pose = client.pose()
    np.testing.assert_allclose(np.linalg.norm(pose.rotations, axis=1), 1.0, atol=1e-5)
    assert "place" in pose.info
    client.close()
    with pytest.raises(studio.StudioError):
        watch(client)


def watch(client):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        client.pose()
        time.sleep(0.02)


def wait_for_pose(client):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if (pose := client.pose()) is not None:
            return pose
        time.sleep(0.02)
    raise AssertionError("no pose came")


@pytest.mark.skipif(BPY is None, reason="MAREY_BPY names no Python with bpy")
@pytest.mark.slow("starts Blender")
def test_files_go_through_blender_and_back(tmp_path):
    walk = sample("walk", seconds=1.0).motion
    marey.save(walk, tmp_path / "walk.glb")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import blender_extension as be; be.register();"
        "be.export_file(be.import_file(sys.argv[2]), sys.argv[3]); be.unregister()"
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [str(BPY), "-c", script, str(ROOT), str(tmp_path / "walk.glb"), str(tmp_path / "back.bvh")]
    subprocess.run(command, check=True, env={**os.environ, "PATH": path}, capture_output=True)
    back = marey.load(tmp_path / "back.bvh")
    order = [back.skeleton.names.index(name) for name in walk.skeleton.names]
    np.testing.assert_allclose(back.world().positions[:, order], walk.world().positions, atol=2e-5)


_DRIVE = """
import sys, time
sys.path.insert(0, sys.argv[1])
import bpy, numpy as np
import blender_extension as extension
from blender_extension import rig, studio
extension.register()
client = studio.Studio(sys.argv[2])
client.drive("right-turner")
client.request(direction=-1.0)
puppet, first, worst, moved, end = None, None, 0.0, 0.0, time.monotonic() + 120
while moved < 0.3 and time.monotonic() < end:
    pose = client.pose()
    if pose is None:
        time.sleep(0.01)
        continue
    if puppet is None:
        puppet, first = extension.Puppet("live", client.joints, client.parents, pose), pose
    puppet.show(pose, frame=1)
    bpy.context.view_layer.update()
    heads = np.array([np.array(puppet.object.pose.bones[name].head) for name in puppet.names])
    worst = max(worst, float(np.abs(heads - pose.positions @ rig.AXES.T).max()))
    moved = float(np.abs(pose.positions - first.positions).max())
client.close()
extension.unregister()
print("worst", worst, "moved", moved)
"""


@pytest.mark.skipif(BPY is None, reason="MAREY_BPY names no Python with bpy")
@pytest.mark.slow("starts Blender")
def test_a_driven_character_moves_an_armature(server):
    """The bones of the armature are where the joints of the streamed poses are."""
    command = [str(BPY), "-c", _DRIVE, str(ROOT), address_of(server)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    words = done.stdout.split()
    assert float(words[words.index("worst") + 1]) < 1e-5
    assert float(words[words.index("moved") + 1]) >= 0.3
