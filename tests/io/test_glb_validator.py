"""Files that marey writes, checked by the Khronos glTF validator; skipped without node or its npm package."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marey.core import Motion, Skeleton
from marey.io.glb_read import read_glb_clips
from marey.io.glb_write import round_rotations, write_glb
from marey.maths import quat

PACKAGE = Path(__file__).parents[2] / ".venv" / "node" / "node_modules" / "gltf-validator"
SCRIPT = """
const validator = require(process.argv[1]);
const parts = [];
process.stdin.on('data', part => parts.push(part));
process.stdin.on('end', () => validator.validateBytes(new Uint8Array(Buffer.concat(parts)))
  .then(report => console.log(JSON.stringify(report)), error => { console.error(error); process.exit(1); }));
"""


def validate(data: bytes) -> dict[str, Any]:
    """Return the validator's report."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed, so the glTF validator cannot run")
    if not PACKAGE.is_dir():
        pytest.skip("the npm package gltf-validator is not installed; 'make test' installs it where npm is there")
    done = subprocess.run([node, "-e", SCRIPT, str(PACKAGE)], input=data, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def check_valid(data: bytes, allowed: tuple[str, ...] = ()) -> dict[str, Any]:
    """Check that there is no error, warning, info or hint, except for infos with codes in `allowed`."""
    report = validate(data)
    issues = report["issues"]
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues["messages"]
    assert [m for m in issues["messages"] if m["code"] not in allowed] == []
    return report["info"]


def make_motion(seed: int = 0, n_frames: int = 20, n_joints: int = 8, fps: float = 30.0, name: str = "walk") -> Motion:
    """A chain of joints with random rotations; some bones have zero length."""
    rng = np.random.default_rng(seed)
    offsets = rng.normal(0, 0.3, (n_joints, 3))
    offsets[2::5] = 0.0
    parents = np.array([-1, *(int(rng.integers(max(0, j - 3), j)) for j in range(1, n_joints))])
    skeleton = Skeleton(tuple(f"joint {j}" for j in range(n_joints)), parents, offsets)
    turns = np.cumsum(rng.normal(0, 0.2, (n_frames, n_joints, 3)), axis=0)
    return Motion(skeleton, rng.normal(size=(n_frames, 3)), quat.exp(turns), fps, name)


def test_the_validator_is_awake() -> None:
    data = write_glb([make_motion()])
    report = validate(data.replace(b'"VEC4"', b'"VEC3"'))
    assert report["issues"]["numErrors"] > 0


def test_one_motion() -> None:
    info = check_valid(write_glb([make_motion()]))
    assert (info["animationCount"], info["hasSkins"], info["drawCallCount"]) == (1, True, 1)
    assert info["totalTriangleCount"] % 8 == 0


def test_rotations_as_16_bit_integers() -> None:
    motion = make_motion()
    data = write_glb([motion], compact=True)
    check_valid(data)
    assert len(data) < len(write_glb([motion]))
    (read,) = read_glb_clips(data, "walk.glb")
    np.testing.assert_allclose(np.abs((read.rotations * motion.rotations).sum(axis=-1)), 1.0, atol=1e-8)
    np.testing.assert_allclose(
        np.abs((read.rotations * round_rotations(motion.rotations)).sum(axis=-1)), 1.0, atol=1e-9
    )


def test_one_motion_without_a_body() -> None:
    # The skin shows viewers which nodes are bones, although no mesh uses it.
    info = check_valid(write_glb([make_motion()], body=False), allowed=("UNUSED_OBJECT",))
    assert (info["animationCount"], info["drawCallCount"]) == (1, 0)


def test_several_motions_on_one_and_on_several_skeletons() -> None:
    walk = make_motion()
    again = replace(walk, root_positions=walk.root_positions + 1, fps=120.0)
    others = [make_motion(seed=5, n_joints=300), make_motion(seed=6, n_joints=3, name="")]
    info = check_valid(write_glb([walk, again, *others, replace(walk, name="")]))
    assert (info["animationCount"], info["drawCallCount"]) == (5, 3)


@pytest.mark.parametrize("n_frames", [1, 2, 3])
def test_short_motions(n_frames: int) -> None:
    check_valid(write_glb([make_motion(n_frames=n_frames)]))


@pytest.mark.parametrize("n_frames", [1, 2, 50])
def test_a_motionless_clip(n_frames: int) -> None:
    skeleton = make_motion().skeleton
    still = Motion(skeleton, np.zeros((n_frames, 3)), quat.identity((n_frames, len(skeleton))), 30.0)
    check_valid(write_glb([still]))


def test_moving_bones() -> None:
    walk = make_motion()
    bones = walk.skeleton.offsets + np.random.default_rng(1).normal(0, 0.01, (len(walk), len(walk.skeleton), 3))
    check_valid(write_glb([replace(walk, bone_offsets=bones), walk]))


def test_names_of_any_kind() -> None:
    walk = make_motion(n_joints=5, name='Gehen: 歩く "x"\n')
    names = ("mixamorig:Hips", "Bein links ß", "脚 🦵", 'a"b\\c', "body")
    skeleton = Skeleton(names, walk.skeleton.parents, walk.skeleton.offsets)
    check_valid(write_glb([replace(walk, skeleton=skeleton)]))


def test_one_joint_and_bones_without_length() -> None:
    for n_joints in (1, 4):
        skeleton = Skeleton(
            tuple(f"j{j}" for j in range(n_joints)), np.arange(-1, n_joints - 1), np.zeros((n_joints, 3))
        )
        motion = Motion(skeleton, np.zeros((5, 3)), quat.identity((5, n_joints)), 30.0, "dot")
        info = check_valid(write_glb([motion]))
        assert info["totalTriangleCount"] == 8


def test_a_long_motion() -> None:
    check_valid(write_glb([make_motion(n_frames=20_000, n_joints=4, fps=120.0)]))
