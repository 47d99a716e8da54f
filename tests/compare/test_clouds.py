"""Markers: which there are, their positions and weights; windows of frames; recorded markers with gaps."""

import numpy as np
import pytest

from marey.compare import MARKER_SETS, Clouds, frame_weights, point_clouds
from marey.core import Markers
from marey.errors import InvalidValue, JointNotFound, MareyWarning, UnknownName
from marey.maths import quat
from marey.samples import sample
from tests.plot.pictures import bare

WALK = sample("walk", seconds=1.0, fps=60.0).motion


@pytest.mark.parametrize("markers", MARKER_SETS)
def test_sets_of_markers_sit_on_their_joints(markers):
    clouds = point_clouds(WALK, markers)
    positions = WALK.world().positions
    assert clouds.names == tuple(role for role in MARKER_SETS[markers] if role in WALK.skeleton.roles)
    for k, role in enumerate(clouds.names):
        assert (clouds.points[:, k] == positions[:, WALK.skeleton.roles[role]]).all()
    assert clouds.weights == pytest.approx(1.0 / len(clouds.names))
    assert (clouds.fps, clouds.name, len(clouds)) == (60.0, WALK.name, len(WALK))
    assert clouds.contacts is WALK.contacts


def test_roles_and_joints_by_name():
    head = WALK.skeleton.names[WALK.skeleton.roles["head"]]
    clouds = point_clouds(WALK, ["hips", head])
    assert clouds.names == ("hips", head)
    assert (clouds.points[:, 1] == point_clouds(WALK, ["head"]).points[:, 0]).all()


def test_a_skeleton_without_roles_uses_all_its_joints():
    stranger = bare()
    assert point_clouds(stranger).names == stranger.skeleton.names
    with pytest.raises(JointNotFound, match="role 'hips' was not found"):
        point_clouds(stranger, "large")


@pytest.mark.parametrize("per_joint", [2, 3])
def test_more_markers_turn_with_their_joint(per_joint):
    clouds = point_clouds(WALK, ["hips", "left_hand", "head"], per_joint=per_joint)
    assert clouds.n_markers == 3 * per_joint
    assert clouds.names[:2] == ("hips", "hips+1")
    world = WALK.world()
    for k, role in enumerate(("hips", "left_hand", "head")):
        joint = WALK.skeleton.roles[role]
        own = quat.inv_rotate(
            world.rotations[:, joint, None],
            clouds.points[:, k * per_joint : (k + 1) * per_joint] - world.positions[:, joint, None],
        )
        assert np.abs(own - own[0]).max() < 1e-12
        assert (own[:, 0] == 0).all()
        assert np.linalg.norm(own[0, 1:], axis=1) == pytest.approx(0.1)
        assert abs(own[0, 1] @ own[0, -1]) < 1e-12 or per_joint == 2
        children = [c for c in WALK.skeleton.children[joint] if WALK.skeleton.bone_lengths[c] > 0]
        bone = WALK.skeleton.offsets[children[0] if children else joint]
        assert np.abs(own[0] @ bone).max() < 1e-12


def test_weights_by_name_by_joint_and_by_marker():
    by_name = point_clouds(WALK, ["hips", "head"], weights={"hips": 3.0})
    assert by_name.weights == pytest.approx([0.75, 0.25])
    by_joint = point_clouds(WALK, ["hips", "head"], per_joint=2, weights=[3, 1])
    assert by_joint.weights == pytest.approx([0.375, 0.375, 0.125, 0.125])
    by_marker = point_clouds(WALK, ["hips", "head"], per_joint=2, weights=[1, 2, 3, 4])
    assert by_marker.weights == pytest.approx([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (lambda: point_clouds(WALK, []), InvalidValue, "markers must name at least one marker, got none"),
        (lambda: point_clouds(WALK, "bodies"), UnknownName, "not 'bodies'; similar: 'body'"),
        (lambda: point_clouds(WALK, ["hips", "hips"]), InvalidValue, "'hips' occurs twice"),
        (lambda: point_clouds(WALK, ["left_hnd"]), JointNotFound, "similar: 'left_hand'"),
        (lambda: point_clouds(WALK, per_joint=4), InvalidValue, "per_joint must be 1, 2 or 3, not 4"),
        (lambda: point_clouds(WALK, weights={"hip": 1}), UnknownName, "keys of weights must be markers, not"),
        (lambda: point_clouds(WALK, ["hips"], weights=[0.0]), InvalidValue, "weights must not all be 0; give"),
        (lambda: point_clouds(WALK, ["hips"], weights=[-1.0]), InvalidValue, "not be negative, but the lowest is -1"),
        (
            lambda: point_clouds(WALK, ["hips"], weights=[1, 2]),
            InvalidValue,
            "weights must have 1 values, one for each of 'hips', not 2",
        ),
        (lambda: point_clouds(WALK, ["hips"], weights=[np.nan]), InvalidValue, "must be finite"),
        (lambda: Clouds(np.zeros((3, 0, 3)), np.zeros(0), 30.0), InvalidValue, "3 frames and 0 markers"),
        (lambda: Clouds(np.zeros((0, 1, 3)), np.ones(1), 30.0), InvalidValue, "0 frames and 1 markers"),
        (lambda: Clouds(np.full((1, 1, 3), np.nan), np.ones(1), 30.0), InvalidValue, " must be finite, not nan"),
        (lambda: Clouds(np.zeros((1, 2, 3)), np.ones(2), 30.0), InvalidValue, "divide them by their sum"),
        (
            lambda: Clouds(np.zeros((1, 1, 3)), np.ones(1), 0.0),
            InvalidValue,
            "fps must be a finite number greater than 0",
        ),
        (
            lambda: Clouds(np.zeros((1, 1, 3)), np.ones(1), 30.0, "", ("a", "b")),
            InvalidValue,
            "names must have 1 marker names or none, not 2",
        ),
    ],
)
def test_bad_input(ask, kind, message):
    with pytest.raises(kind) as error:
        ask()
    assert message in str(error.value)


# --- Windows of frames


@pytest.mark.parametrize("shape", ["triangle", "box", "gaussian"])
@pytest.mark.parametrize(
    ("seconds", "fps", "n"), [(0.5, 30, 15), (0.1, 30, 3), (0.1, 120, 13), (0.1, 60, 7), (0, 30, 1)]
)
def test_windows_sum_to_one_and_are_symmetric(shape, seconds, fps, n):
    weights = frame_weights(seconds, fps, shape)
    assert len(weights) == n
    assert weights.sum() == pytest.approx(1.0, abs=1e-15)
    assert (weights == weights[::-1]).all()
    assert (weights > 0).all()
    assert (np.diff(weights[: n // 2 + 1]) >= 0).all()
    assert (shape == "box" and n > 1) == (n > 1 and np.ptp(weights) == 0)


def test_the_triangle_falls_by_equal_steps():
    assert frame_weights(5 / 30, 30) * 9 == pytest.approx([1, 2, 3, 2, 1])


# --- Recorded markers


def recorded(n_frames=60, gaps=()):
    rng = np.random.default_rng(0)
    positions = np.cumsum(rng.normal(0, 0.01, (n_frames, 4, 3)), axis=0)
    valid = np.ones((n_frames, 4), dtype=bool)
    for marker, start, stop in gaps:
        valid[start:stop, marker] = False
    return positions, Markers(("a", "b", "c", "d"), np.where(valid[:, :, None], positions, 7.0), valid, 60.0, "take")


def test_gaps_are_bridged_by_straight_lines_and_ends_held():
    positions, markers = recorded(gaps=[(0, 10, 20), (1, 0, 5), (2, 50, 60)])
    points = point_clouds(markers).points
    line = positions[9, 0] + (positions[20, 0] - positions[9, 0]) * 4 / 11
    assert points[13, 0] == pytest.approx(line, abs=1e-12)
    assert (points[:5, 1] == positions[5, 1]).all()
    assert (points[50:, 2] == positions[49, 2]).all()
    assert (points[:, 3] == positions[:, 3]).all()


def test_markers_hardly_seen_are_left_out_by_name():
    _, markers = recorded(200, gaps=[(0, 0, 120), (2, 50, 85)])
    with pytest.warns(MareyWarning, match="'take': left out 2 markers that are missing in too many frames: 'a', 'c'"):
        clouds = point_clouds(markers)
    assert clouds.names == ("b", "d")
    with pytest.raises(InvalidValue, match="marker 'a' is visible in 40 % of the frames, less than 75 %; remove it"):
        point_clouds(markers, ["a", "b"])
    with pytest.raises(InvalidValue, match="marker 'c' is missing for 0.58 s at a time, more than 0.5 s; remove it"):
        point_clouds(markers, ["c"])


def test_recorded_markers_by_name_and_wrong_use():
    positions, markers = recorded()
    clouds = point_clouds(markers, ["d", "b"], weights={"d": 3})
    assert (clouds.points == positions[:, [3, 1]]).all()
    assert clouds.weights == pytest.approx([0.75, 0.25])
    with pytest.raises(UnknownName, match="no marker 'e' in the recording"):
        point_clouds(markers, ["e"])
    with pytest.raises(InvalidValue, match="recorded markers have no roles"):
        point_clouds(markers, "large")
    with pytest.raises(InvalidValue, match="per_joint must be 1, not 2, because recorded markers are single points"):
        point_clouds(markers, per_joint=2)
    with pytest.raises(
        InvalidValue, match="none of the 4 markers of 'take' is visible in enough frames to be compared"
    ):
        point_clouds(recorded(gaps=[(k, 0, 59) for k in range(4)])[1])
    with pytest.raises(InvalidValue, match="markers must name at least one marker, got none"):
        point_clouds(markers, [])
