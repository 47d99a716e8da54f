"""Spatial alignment and posture: slow twins, and properties of the result."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from marey.errors import InvalidValue, JointNotFound
from marey.layer import SpliceSettings, time_alignment_kernels, trunk_kernels
from marey.layer.halves import split_body
from marey.layer.posture import find_posture_rotation, measure_posture, steady_hips
from marey.layer.splicing import UpperFrames, align_trunk_frames
from marey.maths import quat
from marey.samples import sample
from tests.twins import splicing as twin


@pytest.fixture(scope="module")
def pair():
    lower = sample("walk", turn_rate=0.5, seconds=1.0, fps=30.0).motion
    upper = sample("carry_box", rng=4, seconds=1.0, fps=30.0).motion
    return lower, upper


@pytest.mark.parametrize("seed", range(6))
def test_the_best_rotation_is_the_one_by_singular_values(seed):
    rng = np.random.default_rng(seed)
    source = rng.normal(size=(5, 3))
    target = Rotation.random(random_state=seed).apply(source) + 0.1 * rng.normal(size=(5, 3))
    out = trunk_kernels.best_rotation(source, target)
    assert out[0] >= 0.0
    assert (twin.best_rotation(source, target).inv() * twin.rotation(out)).magnitude() < 1e-9


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 3.1])
def test_a_turned_cloud_is_turned_back_exactly(angle):
    source = np.random.default_rng(0).normal(size=(4, 3))
    turn = Rotation.from_rotvec(angle * np.array([0.6, 0.0, 0.8]))
    out = trunk_kernels.best_rotation(source, np.ascontiguousarray(turn.apply(source)))
    np.testing.assert_allclose(twin.rotation(out).apply(source), turn.apply(source), atol=1e-12)


def test_alignment_is_that_of_the_slow_twin(pair):
    lower, upper = pair
    halves = split_body(lower.skeleton)
    got = align_trunk_frames(halves, lower, UpperFrames(upper.rotations, upper.shared_offsets))
    stands, shoulders = twin.trunk(lower, upper)
    assert quat.angle_between(quat.mul(got.carrier, got.local), stands).max() < 1e-7
    np.testing.assert_allclose(got.shoulders, shoulders, atol=1e-8)
    roles = lower.skeleton.roles
    for f in (0, 17):
        want = twin.hip_frame(lower.world().positions[f], roles)
        assert (want.inv() * twin.rotation(got.hip[f])).magnitude() < 1e-9


def test_a_clip_aligned_with_itself_stays(pair):
    lower, _ = pair
    halves = split_body(lower.skeleton)
    got = align_trunk_frames(halves, lower, UpperFrames(lower.rotations, lower.shared_offsets))
    assert quat.angle_between(got.local, lower.rotations[:, halves.attachment]).max() < 1e-7
    np.testing.assert_allclose(got.shoulders.mean(axis=0), measure_posture(lower, halves), atol=1e-12)


def test_posture_does_not_depend_on_the_path(pair):
    lower, _ = pair
    halves = split_body(lower.skeleton)
    moved = lower.moved((2.0, 3.0, -4.0))
    np.testing.assert_allclose(measure_posture(moved, halves), measure_posture(lower, halves), atol=1e-12)


def test_pitch_rotates_about_the_hip_line_alone_and_full_about_all_axes():
    mean = np.array([[0.2, 0.5, 0.05], [-0.2, 0.5, 0.05]])
    turn = Rotation.from_rotvec([0.3, 0.0, 0.0])
    wanted = turn.apply(mean)
    np.testing.assert_allclose(quat.log(find_posture_rotation(mean, wanted, "pitch")), [0.3, 0.0, 0.0], atol=1e-12)
    leant = Rotation.from_rotvec([0.2, 0.1, 0.25]).apply(mean)
    assert np.abs(quat.log(find_posture_rotation(mean, leant, "pitch"))[1:]).max() == 0.0
    np.testing.assert_allclose(quat.rotate(find_posture_rotation(mean, leant, "full"), mean), leant, atol=1e-9)
    np.testing.assert_array_equal(find_posture_rotation(mean, leant, None), [1.0, 0.0, 0.0, 0.0])


def test_posture_is_rotated_in_the_hip_frame(pair):
    lower, upper = pair
    halves = split_body(lower.skeleton)
    trunk = align_trunk_frames(halves, lower, UpperFrames(upper.rotations, upper.shared_offsets))
    turn = quat.from_axis_angle([1.0, 0.0, 0.0], 0.2)
    local = trunk.with_turn(turn)
    before, after = (quat.mul(trunk.carrier, each) for each in (trunk.local, local))
    seen = [quat.inv_mul(trunk.hip, each) for each in (before, after)]
    assert quat.angle_between(seen[1], quat.mul(turn, seen[0])).max() < 1e-7
    one = trunk_kernels.rotate_trunk(*(tuple(each) for each in (trunk.local[3], trunk.carrier[3], trunk.hip[3], turn)))
    assert quat.angle_between(np.array(one), local[3]) < 1e-7


def test_steadied_hips_follow_a_turn_but_not_the_steps():
    t = np.arange(240) / 60.0
    yaw = 0.5 * t + 0.15 * np.sin(2 * np.pi * t)
    steady = steady_hips(quat.from_axis_angle([0.0, 1.0, 0.0], yaw), 60.0)
    left = np.unwrap(2.0 * np.arctan2(steady[:, 2], steady[:, 0])) - 0.5 * t
    assert np.abs(left[60:-60]).max() < 0.06


def test_a_skeleton_without_a_spine_or_arms_is_refused_by_name():
    skeleton = sample("walk", seconds=1.0).motion.skeleton
    bare = type(skeleton)(skeleton.names[:1], skeleton.parents[:1], skeleton.offsets[:1])
    with pytest.raises(JointNotFound, match="'spine' was not found"):
        split_body(bare)


def test_the_cut_is_at_the_first_spine_joint():
    skeleton = sample("walk", seconds=1.0).motion.skeleton
    halves = split_body(skeleton)
    roles = skeleton.roles
    assert halves.attachment == roles["spine"]
    assert not halves.upper[halves.attachment]
    assert halves.upper[roles["head"]]
    assert halves.upper[roles["left_hand"]]
    assert not halves.upper[roles["hips"]]
    assert not halves.upper[roles["left_foot"]]


def test_an_unknown_transfer_is_refused():
    with pytest.raises(InvalidValue, match="posture must be 'pitch', 'full' or None, not 'all'"):
        SpliceSettings(posture="all")


@pytest.mark.parametrize("seed", range(8))
def test_the_path_is_as_cheap_as_any(seed):
    rng = np.random.default_rng(seed)
    values = rng.uniform(size=(12, 15))
    held = rng.uniform(size=12) < 0.3
    columns = np.empty(12)
    limit = 2 + seed % 2
    got = time_alignment_kernels.find_path(values, 5, limit, 0.01, held, columns)
    assert got == pytest.approx(twin.best_path(values, 5, limit, 0.01, held), abs=1e-12)
    assert (np.diff(columns) >= 0.0).all()
    assert columns[0] < 5


def test_no_path_where_the_upper_clip_is_too_short():
    columns = np.empty(12)
    assert np.isinf(time_alignment_kernels.find_path(np.ones((12, 4)), 1, 2, 0.0, np.zeros(12, dtype=bool), columns))
