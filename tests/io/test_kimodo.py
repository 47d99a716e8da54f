"""Motions of Kimodo: rotation matrices and joint positions."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import marey
from marey.errors import InvalidValue, ParseError
from marey.io.kimodo import _find_skeleton

N_FRAMES = 7
N_BODY = {22: 22, 30: 24, 77: 24}


def make_arrays(n_joints: int) -> tuple[dict, np.ndarray]:
    """Return the arrays of a file, made by multiplying matrices along each chain, and the offsets."""
    rng = np.random.default_rng(n_joints)
    _, _, parents = _find_skeleton(n_joints, "")
    offsets = rng.normal(0.0, 0.1, (n_joints, 3))
    offsets[0] = 0.0
    local = Rotation.from_rotvec(rng.normal(0.0, 0.4, (N_FRAMES * n_joints, 3))).as_matrix()
    local = local.reshape(N_FRAMES, n_joints, 3, 3)
    root = np.cumsum(rng.normal(0.0, 0.1, (N_FRAMES, 3)), axis=0)
    world, places = [local[:, 0]], [root]
    for j in range(1, n_joints):
        world.append(world[parents[j]] @ local[:, j])
        places.append(places[parents[j]] + world[parents[j]] @ offsets[j])
    arrays = {"local_rot_mats": local, "posed_joints": np.stack(places, axis=1), "root_positions": root}
    return arrays | {"foot_contacts": np.zeros((N_FRAMES, 4))}, offsets


@pytest.mark.parametrize("n_joints", [22, 30, 77])
def test_positions_are_those_of_the_file(tmp_path, n_joints: int) -> None:
    arrays, offsets = make_arrays(n_joints)
    np.savez(tmp_path / "walk.npz", **{name: array.astype(np.float32) for name, array in arrays.items()})
    motion = marey.load(tmp_path / "walk.npz")
    assert (motion.fps, motion.source.format, motion.source.up) == (30.0, "kimodo", "y")
    np.testing.assert_allclose(motion.skeleton.offsets, offsets, atol=1e-6)
    np.testing.assert_allclose(motion.world().positions, arrays["posed_joints"], atol=5e-6)
    marey.save(motion, tmp_path / "walk.bvh")
    np.testing.assert_allclose(
        marey.load(tmp_path / "walk.bvh", unit="cm", up="y").world().positions[:, 0],
        arrays["root_positions"],
        atol=5e-6,
    )
    np.savez(tmp_path / "batch.npz", **{name: array[None] for name, array in arrays.items()})
    np.testing.assert_allclose(marey.load(tmp_path / "batch.npz").root_positions, motion.root_positions, atol=1e-6)


def test_joints_of_the_soma_skeleton_have_roles() -> None:
    for n_joints in (30, 77):
        _, names, parents = _find_skeleton(n_joints, "")
        assert len(names) == len(set(names)) == n_joints
        assert all(parent < j for j, parent in enumerate(parents))
        roles = marey.core.Skeleton(names, parents, np.ones((n_joints, 3))).roles
        assert names[roles["left_upper_leg"]] == "LeftLeg"
        assert names[roles["left_lower_leg"]] == "LeftShin"
        assert names[roles["right_hand"]] == "RightHand"
        assert names[roles["head"]] == "Head"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"local_rot_mats": np.zeros((N_FRAMES, 22, 3, 3))}, "'local_rot_mats' must hold rotation matrices"),
        ({"local_rot_mats": np.zeros((3, 22, 3, 3))}, r"got \(3, 22, 3, 3\) and \(7, 22, 3\)"),
        ({"posed_joints": np.full((N_FRAMES, 22, 3), np.nan)}, "'posed_joints' must hold finite numbers"),
        ({"posed_joints": np.random.default_rng(0).normal(size=(N_FRAMES, 22, 3))}, "do not match the SMPL-X skeleton"),
        (
            {"local_rot_mats": np.zeros((2, 34, 3, 3)), "posed_joints": np.zeros((2, 34, 3))},
            "with 22 or 30 or 77 joints, got 34",
        ),
    ],
)
def test_bad_arrays(tmp_path, change: dict, message: str) -> None:
    np.savez(tmp_path / "walk.npz", **(make_arrays(22)[0] | change))
    with pytest.raises(ParseError, match=message):
        marey.load(tmp_path / "walk.npz")


def test_a_body_model_does_not_apply(tmp_path) -> None:
    np.savez(tmp_path / "walk.npz", **make_arrays(22)[0])
    with pytest.raises(InvalidValue, match="`body_model=` does not apply to an .npz file of Kimodo"):
        marey.load(tmp_path / "walk.npz", body_model="x.npz")
