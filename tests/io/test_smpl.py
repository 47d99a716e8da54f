"""Motion of SMPL models: AMASS files and dictionaries of video capture."""

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.spatial.transform import Rotation

import marey
from marey.cli.main import cli
from marey.errors import InvalidValue, MareyWarning, ParseError, UnknownFormat
from marey.io.smpl import is_smpl

N_FRAMES = 9
RNG = np.random.default_rng(4)
# A rotation by a right angle about X makes the body stand upright along Z.
UPRIGHT = Rotation.from_euler("x", 90, degrees=True)


def make_arrays(n_joints: int = 52, up: str = "z", rate: str = "mocap_framerate") -> dict:
    poses = 0.2 * RNG.normal(size=(N_FRAMES, n_joints, 3))
    heading = Rotation.from_euler(up, np.linspace(0, 60, N_FRAMES)[:, None], degrees=True)
    poses[:, 0] = (heading * UPRIGHT if up == "z" else heading).as_rotvec()
    trans = np.cumsum(RNG.normal(0.0, 0.1, (N_FRAMES, 3)), axis=0)
    return {"poses": poses.reshape(N_FRAMES, -1), "trans": trans, "betas": np.array([0.5, 2.0]), rate: 60.0}


def save(folder, arrays: dict):
    np.savez(folder / "take.npz", **arrays)
    return folder / "take.npz"


def check_positions(motion: marey.Motion, arrays: dict, up: str, start: np.ndarray | None = None) -> None:
    """Compare with rotations multiplied along each chain."""
    skeleton = motion.skeleton
    vectors = arrays["poses"].reshape(N_FRAMES, -1, 3)
    world, places = [], []
    first = np.zeros(3) if start is None else start
    for j, parent in enumerate(skeleton.parents):
        local = Rotation.from_rotvec(vectors[:, j])
        if j == 0:
            world.append(local)
            places.append(arrays["trans"] + first)
        else:
            world.append(world[parent] * local)
            places.append(places[parent] + world[parent].apply(skeleton.offsets[j].copy()))
    expected = np.stack(places, axis=1)
    if up == "z":
        expected = expected[..., [0, 2, 1]] * [1.0, 1.0, -1.0]
    np.testing.assert_allclose(motion.world().positions, expected, atol=1e-12)


@pytest.mark.parametrize("rate", ["mocap_framerate", "mocap_frame_rate", "fps"])
@pytest.mark.parametrize(("n_joints", "name"), [(22, "SMPL body"), (24, "SMPL"), (52, "SMPL-H"), (55, "SMPL-X")])
def test_poses_are_rotation_vectors_of_the_joints(tmp_path, n_joints: int, name: str, rate: str) -> None:
    arrays = make_arrays(n_joints, rate=rate)
    motion = marey.load(save(tmp_path, arrays))
    assert motion.fps == 60.0
    assert len(motion.skeleton) == n_joints
    assert motion.source.evidence[0] == f"joints of the {name} model, from {3 * n_joints} pose parameters"
    assert motion.source.up == "z"
    check_positions(motion, arrays, "z")


def test_the_rest_pose_is_upright_with_all_roles(tmp_path) -> None:
    motion = marey.load(save(tmp_path, make_arrays()))
    roles, rest = motion.skeleton.roles, motion.skeleton.rest_positions
    assert rest[roles["head"], 1] > 0.5 > -0.5 > rest[roles["left_foot"], 1]
    assert rest[roles["left_hand"], 0] > 0.5 > -0.5 > rest[roles["right_hand"], 0]
    assert roles.how == "profile SMPL"


def test_up_axis_is_found_from_the_frames_or_given(tmp_path) -> None:
    arrays = make_arrays(up="y")
    path = save(tmp_path, arrays)
    check_positions(marey.load(path), arrays, "y")
    assert marey.load(path, up="z").source.up == "z"


def test_separate_arrays_of_the_pose(tmp_path) -> None:
    arrays = make_arrays(22)
    parts = {
        "global_orient": arrays["poses"][:, :3], "body_pose": arrays["poses"][:, 3:], "transl": arrays["trans"],
        "betas": np.tile(arrays["betas"], (N_FRAMES, 1)),
    }  # fmt: skip
    path = save(tmp_path, parts)
    with pytest.raises(ParseError, match="does not state its frame rate"):
        marey.load(path)
    motion = marey.load(path, file_fps=30)
    assert motion.fps == 30.0
    check_positions(motion, arrays, "z")


def test_body_model_gives_bone_lengths_and_the_place_of_the_hips(tmp_path) -> None:
    arrays = make_arrays(52)
    n_vertices = 300
    template, directions = RNG.normal(size=(n_vertices, 3)), 0.1 * RNG.normal(size=(n_vertices, 3, 4))
    regressor = RNG.dirichlet(np.ones(n_vertices), 52)
    np.savez(tmp_path / "model.npz", v_template=template, shapedirs=directions, J_regressor=regressor)
    motion = marey.load(save(tmp_path, arrays), body_model=tmp_path / "model.npz", up="z")
    joints = regressor @ (template + directions[..., :2] @ arrays["betas"])
    np.testing.assert_allclose(motion.skeleton.rest_positions, joints - joints[0], atol=1e-12)
    check_positions(motion, arrays, "z", joints[0])
    assert "bone lengths from model.npz" in motion.source.evidence


def test_stature_follows_the_first_shape_parameter(tmp_path) -> None:
    heights = []
    for shape in (-2.0, 2.0):
        arrays = make_arrays() | {"betas": np.array([shape])}
        heights.append(np.ptp(marey.load(save(tmp_path, arrays)).skeleton.rest_positions[:, 1]))
    np.testing.assert_allclose(heights[1] / heights[0], 1.86 / 1.46)


def test_saved_as_bvh_in_centimeters_with_y_up(tmp_path) -> None:
    marey.save(marey.load(save(tmp_path, make_arrays())), tmp_path / "a.bvh")
    source = marey.load(tmp_path / "a.bvh").source
    assert (source.unit, source.up) == (0.01, "y")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"poses": np.zeros((N_FRAMES, 100))}, "expected 66 .SMPL body., .* pose parameters per frame, got 100"),
        (
            {"trans": np.zeros((3, 3))},
            r"array 'trans' must be numbers of shape \(9, 3\), got float64",
        ),
        ({"poses": np.full((N_FRAMES, 156), np.nan)}, "array 'poses' has numbers that are not finite"),
        ({"poses": np.zeros(156)}, "must have one row per frame"),
        ({"mocap_framerate": 0.0}, "'mocap_framerate' must be a positive number"),
    ],
)
def test_bad_arrays(tmp_path, change: dict, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        marey.load(save(tmp_path, make_arrays() | change))


def test_wrong_body_models(tmp_path) -> None:
    path = save(tmp_path, make_arrays())
    np.savez(tmp_path / "none.npz", v_template=np.zeros((3, 3)))
    with pytest.raises(ParseError, match="array 'shapedirs' is missing; expected a body model"):
        marey.load(path, body_model=tmp_path / "none.npz")
    np.savez(
        tmp_path / "few.npz", v_template=np.zeros((3, 3)), shapedirs=np.zeros((3, 3, 2)), J_regressor=np.ones((9, 3))
    )
    with pytest.raises(ParseError, match="do not match each other or 52 joints"):
        marey.load(path, body_model=tmp_path / "few.npz")
    own = tmp_path / "own.npz"
    marey.save(marey.load(path), own)
    with pytest.raises(InvalidValue, match=r"`body_model=` does not apply to an .npz file that marey wrote"):
        marey.load(own, body_model=path)


def test_other_files_are_not_taken_for_poses() -> None:
    assert is_smpl(("poses", "trans", "betas"))
    assert is_smpl(("pose_world", "trans_world"))
    assert is_smpl(("global_orient", "body_pose", "transl"))
    assert not is_smpl(("poses", "names"))
    assert not is_smpl(("format", "version", "rotations"))


@pytest.mark.parametrize("n_joints", [22, 24, 52, 55])
@pytest.mark.parametrize("up", ["y", "z"])
def test_amass_round_trip(tmp_path, n_joints: int, up: str) -> None:
    first = marey.load(save(tmp_path, make_arrays(n_joints, up)))
    marey.save(first, tmp_path / "again.amass.npz")
    again = marey.load(tmp_path / "again.amass.npz")
    assert (again.name, again.fps, again.source.format, again.source.up) == ("again", 60.0, "smpl", "z")
    np.testing.assert_allclose(again.world().positions, first.world().positions, atol=1e-12)
    with np.load(tmp_path / "again.amass.npz") as arrays:
        assert arrays["poses"].shape == (N_FRAMES, 3 * n_joints)
        assert arrays["betas"].shape == (16,)
        assert arrays["dmpls"].shape == (N_FRAMES, 8)
        assert (str(arrays["gender"]), float(arrays["mocap_framerate"])) == ("neutral", 60.0)


def test_amass_round_trip_with_a_body_model(tmp_path) -> None:
    template, directions = RNG.normal(size=(40, 3)), np.zeros((40, 3, 2))
    model = tmp_path / "model.npz"
    np.savez(model, v_template=template, shapedirs=directions, J_regressor=RNG.dirichlet(np.ones(40), 52))
    path = save(tmp_path, make_arrays())
    first = marey.load(path, body_model=model, up="z")
    marey.save(first, tmp_path / "again.amass.npz")
    again = marey.load(tmp_path / "again.amass.npz", body_model=model, up="z")
    np.testing.assert_allclose(again.world().positions, first.world().positions, atol=1e-12)
    np.testing.assert_allclose(marey.io.smpl_skeleton(body_model=model).offsets, first.skeleton.offsets, atol=1e-12)


def test_other_motions_are_retargeted_to_amass(tmp_path) -> None:
    walk = marey.samples.straight_walk(seconds=0.5)
    with pytest.raises(InvalidValue, match="holds the joints of a SMPL model.*smpl_skeleton"):
        marey.save(walk, tmp_path / "walk.amass.npz")
    marey.save(walk, tmp_path / "walk.bvh")
    done = CliRunner().invoke(cli, ["convert", str(tmp_path / "walk.bvh"), str(tmp_path / "walk.amass.npz")])
    assert done.exit_code == 0, done.output
    person = marey.load(tmp_path / "walk.amass.npz")
    assert len(person.skeleton) == 52
    ratio = np.linalg.norm(person.travel[-1] - person.travel[0]) / np.linalg.norm(walk.travel[-1] - walk.travel[0])
    assert 0.8 < ratio < 1.25
    heads = [motion.world().positions[:, motion.skeleton.roles["head"], 1] for motion in (walk, person)]
    assert np.corrcoef(heads[0], heads[1])[0, 1] > 0.95


def test_moving_bones_cannot_be_written_to_amass(tmp_path) -> None:
    motion = marey.load(save(tmp_path, make_arrays()))
    bones = np.repeat(motion.skeleton.offsets[None], N_FRAMES, axis=0)
    bones[:, 4] *= np.linspace(1.0, 1.1, N_FRAMES)[:, None]
    from dataclasses import replace

    with pytest.warns(MareyWarning, match=r"constant length; joints of 'take' are off by up to 0\.0"):
        marey.save(replace(motion, bone_offsets=bones), tmp_path / "a.amass.npz")


def test_nested_names_and_rotation_matrices(tmp_path) -> None:
    arrays = make_arrays(22, up="y")
    vectors = arrays["poses"].reshape(N_FRAMES, 22, 3)
    matrices = Rotation.from_rotvec(vectors.reshape(-1, 3)).as_matrix().reshape(N_FRAMES, 22, 3, 3)
    for parts in (
        {"global_orient": vectors[:, 0], "body_pose": arrays["poses"][:, 3:]},
        {"global_orient": matrices[:, :1], "body_pose": matrices[:, 1:]},
    ):
        parts |= {"transl": arrays["trans"], "betas": np.tile(arrays["betas"], (N_FRAMES, 1))}
        path = save(tmp_path, {f"smpl_params_global.{name}": array for name, array in parts.items()})
        motion = marey.load(path)
        assert motion.fps == 30.0
        assert "rate 30 Hz, that of GVHMR's results" in motion.source.evidence
        check_positions(motion, arrays, "y")


def test_motion_x_arrays(tmp_path) -> None:
    arrays = make_arrays(55, up="y")
    poses = arrays["poses"].copy()
    poses[:, 69:75] = 0.0  # eyes
    rows = np.zeros((N_FRAMES, 322))
    rows[:, :66], rows[:, 66:156], rows[:, 156:159] = poses[:, :66], poses[:, 75:], poses[:, 66:69]
    rows[:, 309:312], rows[:, 312] = arrays["trans"], 0.5
    np.save(tmp_path / "take.npy", rows)
    motion = marey.load(tmp_path / "take.npy")
    assert motion.fps == 30.0
    assert motion.source.evidence[0] == "joints of the SMPL-X model, from 165 pose parameters"
    check_positions(motion, arrays | {"poses": poses}, "y")
    assert marey.load(tmp_path / "take.npy", file_fps=60).fps == 60.0


def test_pickles_are_refused_with_a_way_out(tmp_path) -> None:
    np.save(tmp_path / "take.npy", {"poses": np.zeros(3)}, allow_pickle=True)
    with pytest.raises(ParseError, match=r"holds Python objects, which are never unpickled; .*numpy.savez"):
        marey.load(tmp_path / "take.npy")
    np.savez(tmp_path / "take.npz", poses=np.array({"a": 1}, dtype=object), trans=np.zeros((1, 3)))
    with pytest.raises(ParseError, match="array 'poses' holds Python objects"):
        marey.load(tmp_path / "take.npz")
    for suffix in ("pkl", "pt"):
        (tmp_path / f"take.{suffix}").write_bytes(b"x")
        with pytest.raises(UnknownFormat, match=r"may run any code when it is loaded; .*numpy.savez"):
            marey.load(tmp_path / f"take.{suffix}")
