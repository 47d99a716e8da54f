"""Layers on streams: heads look at targets, upper bodies stay in sync, nothing jumps, hips and legs do not change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.control import FollowDirection, RandomWalk
from marey.control.evaluate import record
from marey.control.layered import LayeredStream
from marey.control.layered_gaze import GazeLayer
from marey.control.layered_splice import SpliceLayer
from marey.core.placement import find_facing
from marey.core.protocols import Stream
from marey.errors import InvalidValue, ParseError, UnknownName
from marey.layer import GazeMap, SpliceSet
from marey.layer.gait import find_gait
from marey.layer.gaze_rotations import find_look_angles, rotate_to_look
from marey.layer.halves import split_body
from marey.maths import quat
from marey.pmg import ParametricMotionGraph
from marey.pmg.layered_space import LayeredSpace
from marey.pmg.space import as_space
from marey.samples import sample
from tests.pmg.characters import small_walker, turn_space
from tests.twins import looks as twin

LOWER = ("hips", "left_upper_leg", "left_lower_leg", "left_foot", "right_upper_leg", "right_foot")


def walking(controller=None):
    return small_walker().stream(FollowDirection(0.0) if controller is None else controller, feet=None)


def played(stream, n, **at):
    """Record n frames; at={"f30": {...}} sends a request before frame 30."""
    return record(stream, n, lambda each, i, _: each.request(**at[f"f{i}"]) if f"f{i}" in at else None)


def head_yaw(motion):
    """Return the yaw of the head relative to the body's heading, (F,) radians."""
    head = motion.skeleton.roles["head"]
    ahead = quat.rotate(motion.world().rotations[:, head], np.array([0.0, 0.0, 1.0]))
    return np.unwrap(np.arctan2(ahead[:, 0], ahead[:, 2])) - find_facing(motion.skeleton, motion.world().positions)


def same_legs(a, b):
    np.testing.assert_array_equal(a.root_positions, b.root_positions)
    for role in LOWER:
        joint = a.skeleton.roles[role]
        np.testing.assert_array_equal(a.rotations[:, joint], b.rotations[:, joint])


def quickest(motion):
    """Return the largest change of angular velocity of any upper-body joint from frame to frame, rad per frame."""
    halves = split_body(motion.skeleton)
    above = motion.rotations[:, [halves.attachment, *np.flatnonzero(halves.upper)]]
    rates = quat.log(quat.inv_mul(above[:-1], above[1:]))
    return np.linalg.norm(np.diff(rates, axis=0), axis=-1).max()


def test_a_look_turns_the_head_and_goes_back_and_leaves_hips_and_legs_alone():
    layered = LayeredStream(walking(), [GazeLayer()])
    assert isinstance(layered, Stream)
    result = played(layered, 150, f30={"gaze": (0.9, 0.0)}, f90={"gaze": None})
    plain = played(walking(), 150)
    same_legs(result, plain)
    np.testing.assert_array_equal(result.rotations[:30], plain.rotations[:30])
    extra = head_yaw(result) - head_yaw(plain)
    assert extra[70:90].min() > 0.4
    assert abs(extra[-1]) < 1e-6
    assert result.contacts is not None


def test_no_jump_when_the_goal_changes_in_the_middle_of_a_look():
    goals = {"f30": {"gaze": (1.2, 0.2)}, "f38": {"gaze": (-1.2, -0.2)}, "f44": {"gaze": (5.0, 1.0, 5.0)}}
    result = played(LayeredStream(walking(), [GazeLayer()]), 110, **goals, f80={"gaze": None})
    spine = list(result.skeleton.roles.spine) + [result.skeleton.roles["neck"], result.skeleton.roles["head"]]
    rates = np.linalg.norm(quat.log(quat.inv_mul(result.rotations[:-1, spine], result.rotations[1:, spine])), axis=-1)
    assert rates.max() < 0.15  # radians in a thirtieth of a second, for any single joint
    assert quickest(result) < 0.08


def test_looks_stay_within_the_map():
    layer = GazeLayer()
    region = layer.gaze.region
    stream = LayeredStream(walking(), [layer])
    played(stream, 60, f5={"gaze": (3.1, 1.5)})
    assert (layer.target_angles <= region.max(axis=0) + 1e-9).all()
    assert (layer.target_angles >= region.min(axis=0) - 1e-9).all()


def test_gaze_follows_a_point_while_the_character_passes_it():
    layer = GazeLayer()
    played(LayeredStream(walking(), [layer]), 60, f0={"gaze": (3.0, 1.5, 3.0)})
    before = layer.target_angles[0]
    stream = LayeredStream(walking(), [layer := GazeLayer()])
    played(stream, 120, f0={"gaze": (3.0, 1.5, 3.0)})
    assert layer.target_angles[0] > before + 0.2 > 0.4


def test_a_cue_looks_before_the_body_turns_and_ends_when_it_faces_there():
    layer = GazeLayer(cue=True)
    result = played(LayeredStream(walking(), [layer]), 240, f60={"direction": 1.4})
    plain = played(walking(), 240, f60={"direction": 1.4})
    same_legs(result, plain)
    body = find_facing(result.skeleton, result.world().positions)
    seen = body + head_yaw(result)
    first = [int(np.argmax(each[60:] > 0.5)) for each in (seen, body)]
    assert first[0] + 5 < first[1]
    assert layer.target_angles is None
    assert abs(head_yaw(result)[-1] - head_yaw(plain)[-1]) < 1e-6


def test_a_requested_gaze_takes_precedence_over_a_cue():
    layer = GazeLayer(cue=True)
    played(LayeredStream(walking(), [layer]), 40, f5={"gaze": (-0.6, 0.0)}, f10={"direction": 1.4})
    np.testing.assert_allclose(layer.target_angles, [-0.6, 0.0])


@pytest.fixture(scope="module")
def uppers():
    walk = sample("walk", seconds=5.0, speed=1.2, fps=30.0).motion
    carried = sample("carry_box", seconds=5.0, fps=30.0).motion
    return SpliceSet.build([replace(walk, name="walk"), replace(carried, name="box")])


def test_an_upper_body_keeps_step_fades_and_leaves_hips_and_legs_alone(uppers):
    layer = SpliceLayer(uppers)
    stream, cycles = LayeredStream(walking(RandomWalk(0)), [layer]), []
    frames = []
    for i in range(360):
        if i in (60, 240):
            stream.request(upper="box" if i == 60 else None)
        frames.append(stream.frame())
        cycles.append(layer._steps.cycle)
    result = record(_Kept(frames), len(frames))
    plain = played(walking(RandomWalk(0)), 360)
    same_legs(result, plain)
    np.testing.assert_array_equal(result.rotations[:60], plain.rotations[:60])
    np.testing.assert_array_equal(result.rotations[-60:], plain.rotations[-60:])
    arm = result.skeleton.roles["left_upper_arm"]
    # An arm that carries does not swing; the stream's arm, which does, passes it twice per cycle.
    swings = [np.linalg.norm(np.std(each.rotations[120:240, arm], axis=0)) for each in (result, plain)]
    assert swings[0] < 0.5 * swings[1]
    phase, first, last = find_gait(plain, "clip").run_phase()
    off = (np.array(cycles) - phase)[max(first, 45) : last]
    assert np.quantile(np.abs(off - np.median(off)), 0.95) < 0.05
    assert (np.diff(cycles) >= 0.0).all()
    assert quickest(result) < 0.06


class _Kept:
    """A stream of frames that were already generated."""

    fps = 30.0

    def __init__(self, frames):
        self._frames = iter(frames)

    def request(self, **command):
        raise AssertionError(command)

    def frame(self):
        return next(self._frames)


def test_changing_the_upper_body_twice_in_one_fade_does_not_jump(uppers):
    asked = {"f40": {"upper": "box"}, "f44": {"upper": None}, "f47": {"upper": "box"}}
    result = played(LayeredStream(walking(), [SpliceLayer(uppers)]), 90, **asked)
    joints = [result.skeleton.roles[role] for role in ("left_upper_arm", "right_upper_arm", "left_forearm")]
    turned = quat.angle_between(result.rotations[1:, joints], result.rotations[:-1, joints])
    assert turned[38:60].max() < 0.35


def test_upper_body_and_gaze_go_together(uppers):
    layers = [SpliceLayer(uppers), GazeLayer()]
    result = played(LayeredStream(walking(), layers), 90, f10={"upper": "box", "gaze": (0.8, 0.0)})
    same_legs(result, played(walking(), 90))
    assert layers[0].playing == "box"
    assert head_yaw(result)[80] > 0.3


def test_a_node_may_be_layered():
    space = LayeredSpace(turn_space(), yaw=(-0.8, 0.8), pitch=(-0.2, 0.2))
    assert space.names == ("turn", "gaze_yaw", "gaze_pitch")
    bare, left = turn_space()([0.3]), space([0.3, 0.7, 0.0])
    same_legs(left, bare)
    assert (head_yaw(left) - head_yaw(bare)).min() > 0.2
    np.testing.assert_allclose(space.paths(np.array([[0.3, 0.7, 0.0]]), 9), turn_space().paths(np.array([[0.3]]), 9))
    char = ParametricMotionGraph("looker")
    char.add("walk", space)
    char.connect("walk", "walk", n_source=24, n_target=60)
    stream = char.stream(RandomWalk(0), feet=None)
    result = stream.record(6.0)
    assert all(each.cost <= each.bad for each in stream.transitions)
    assert np.ptp(head_yaw(result)) > 0.2


def test_a_layered_node_survives_files(tmp_path):
    space = LayeredSpace(turn_space(), yaw=(-0.8, 0.8), pitch=(-0.2, 0.2))
    char = ParametricMotionGraph("looker")
    char.add("walk", space)
    char.add("stroll", turn_space())
    char.restrict("stare", "walk", [-0.2, 0.5, 0.0], [0.2, 0.7, 0.1])
    char.connect("stroll", "stroll", n_source=4, n_target=12)
    char.save(tmp_path / "looker.json")
    [gaze] = tmp_path.glob("looker.walk.*.gaze.json")
    [walk] = tmp_path.glob("looker.walk.*.npz")
    assert set(tmp_path.iterdir()) == {tmp_path / "looker.json", gaze, walk}
    again = ParametricMotionGraph.load(tmp_path / "looker.json")
    result = again["walk"].space
    assert result.names == space.names
    assert again["stare"].space is result
    assert again["stroll"].space is result.space
    a, b = space([0.3, 0.6, -0.1]), result([0.3, 0.6, -0.1])
    np.testing.assert_allclose(a.rotations, b.rotations, atol=1e-5)
    np.testing.assert_allclose(again["stare"].low, [-0.2, 0.5, 0.0])
    gaze.write_bytes(b"other")
    with pytest.raises(ParseError, match="has changed since 'looker.json' was saved"):
        ParametricMotionGraph.load(tmp_path / "looker.json")


def test_a_layer_on_a_function_is_given_again(tmp_path):
    def walk(target):
        return turn_space()(target)

    char = ParametricMotionGraph("looker")
    space = LayeredSpace(as_space(walk, "turn", -0.5, 0.5), yaw=(-0.5, 0.5))
    char.add("walk", space)
    char.save(tmp_path / "looker.json")
    with pytest.raises(UnknownName, match="node 'walk' is a Python function, which cannot be saved"):
        ParametricMotionGraph.load(tmp_path / "looker.json")
    again = ParametricMotionGraph.load(tmp_path / "looker.json", spaces={"walk": space})
    assert again["walk"].space is space


def test_poses_are_rotated_as_by_the_slow_twin():
    walk = turn_space()([0.2])
    chance = np.random.default_rng(0)
    heading, turns = chance.uniform(-4.0, 4.0, len(walk)), 0.4 * chance.normal(size=(len(walk), 15))
    found = rotate_to_look(walk.skeleton, walk.rotations, heading, turns)
    wanted = twin.with_look(walk.skeleton, walk.rotations, heading, turns)
    np.testing.assert_allclose(quat.angle_between(found, wanted), 0.0, atol=1e-7)
    assert ((found * walk.rotations).sum(axis=-1) >= 0.0).all()
    world = walk.world()
    for f, goal in enumerate(chance.normal(scale=3.0, size=(8, 3))):
        pose = walk.skeleton, world.positions[f], world.rotations[f], heading[f], goal
        np.testing.assert_allclose(find_look_angles(*pose), twin.angles_to(*pose), atol=1e-9)


def test_bad_input(uppers):
    with pytest.raises(InvalidValue, match="stream must have"):
        LayeredStream(3, [])
    with pytest.raises(InvalidValue, match="a layer must have commands"):
        LayeredStream(walking(), [3])
    with pytest.raises(InvalidValue, match="two layers take the command 'gaze'"):
        LayeredStream(walking(), [GazeLayer(), GazeLayer()])
    with pytest.raises(InvalidValue, match="must be a GazeMap, not int"):
        GazeLayer(3)
    with pytest.raises(InvalidValue, match="gaze must be"):
        GazeLayer().request(gaze=(9.0, 0.0))
    with pytest.raises(InvalidValue, match="direction must be finite"):
        GazeLayer(cue=True).request(direction=np.nan)
    with pytest.raises(InvalidValue, match="must be a SpliceSet, not str"):
        SpliceLayer("box")
    with pytest.raises(UnknownName, match="no clip 'bax' to splice"):
        SpliceLayer(uppers).request(upper="bax")
    with pytest.raises(InvalidValue, match="finite and at least one frame"):
        LayeredStream(walking(), []).record(0.0)
    with pytest.raises(InvalidValue, match="does not reach yaw"):
        LayeredSpace(turn_space(), GazeMap.default(), yaw=(-3.1, 0.0))
    with pytest.raises(InvalidValue, match="already"):
        LayeredSpace(LayeredSpace(turn_space()))
