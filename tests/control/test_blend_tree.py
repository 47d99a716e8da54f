"""Blend trees: weights, tables of loops, and the stream."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from marey.blend import blend
from marey.control import BlendTree, BlendTreeStream, LayerNode, LoopNode, MixNode, OneShot
from marey.control.evaluate import record
from marey.core import Motion
from marey.core.arrays import set_readonly
from marey.core.protocols import Stream
from marey.edit import cycle
from marey.errors import InvalidValue, UnknownName
from marey.maths import quat, rigid2d
from marey.play import stack_frames
from marey.register import register
from marey.samples import sample
from tests.control.clips import NAMES, largest_bend, loops, walking_tree, walks

AT = (-1.0, 0.0, 1.0)


def three() -> MixNode:
    return MixNode("turn", AT, tuple(map(LoopNode, NAMES)))


def spine(skeleton) -> str:
    chain = skeleton.chain(skeleton.roles["head"])
    return skeleton.names[chain[chain.index(skeleton.roles["hips"]) + 1]]


def test_weights_lie_between_neighbors_and_sum_to_one():
    tree = BlendTree.build(loops(), three())
    for turn, wanted in (
        (-2.0, (1, 0, 0)),
        (-0.25, (0.25, 0.75, 0)),
        (0.0, (0, 1, 0)),
        (0.6, (0, 0.4, 0.6)),
        (5.0, (0, 0, 1)),
    ):
        shares = tree.weights(turn=turn)
        np.testing.assert_allclose(shares.body, wanted, atol=1e-12)
        np.testing.assert_allclose(shares.joints, np.tile(wanted, (len(tree.table.skeleton), 1)), atol=1e-12)


def test_nested_blends_multiply_out():
    inner = MixNode("turn", (-1.0, 0.0), (LoopNode("right"), LoopNode("ahead")))
    tree = BlendTree.build(loops(), MixNode("mood", (0.0, 2.0), (inner, LoopNode("left"))))
    np.testing.assert_allclose(tree.weights(turn=-0.25, mood=0.5).body, [0.75 * 0.25, 0.75 * 0.75, 0.25], atol=1e-12)
    assert dict(tree.knobs) == {"mood": (0.0, 2.0), "turn": (-1.0, 0.0)}


def test_rows_of_names_make_a_tree_by_how_the_loops_go():
    tree = walking_tree()
    assert dict(tree.knobs)["turn"] == pytest.approx((-1.0, 1.0), abs=0.02)
    np.testing.assert_allclose(tree.table.turn_rates, AT, atol=0.02)
    np.testing.assert_allclose(tree.table.speeds, 1.3, atol=0.03)


@pytest.mark.parametrize("name", NAMES)
def test_one_loop_alone_is_played_as_it_is(name):
    loop, turn = loops()[name], AT[NAMES.index(name)]
    stream = BlendTreeStream(BlendTree.build(loops(), three()), direction=None, turn=turn, feet=None)
    result = record(stream, 2 * len(loop))
    travel = loop.source.provenance[-1]["travel"]
    again = np.concatenate([loop.world().positions, loop.moved(travel).world().positions])
    positions = result.world().positions
    # Loops are shifted to one phase and moved to the origin: compare only what that does not change.
    lengths = [np.linalg.norm(np.diff(p, axis=0), axis=-1) for p in (positions, again)]
    offsets = [np.abs(np.roll(lengths[1], -k, axis=0)[20:60] - lengths[0][20:60]).max() for k in range(len(loop))]
    assert min(offsets) < 0.005
    gone = np.linalg.norm(result.travel[len(loop)] - result.travel[0])
    assert gone == pytest.approx(np.hypot(*travel[1:]), abs=0.02)


def test_a_constant_blend_is_that_of_the_blend_room():
    given = list(loops().values())
    reg = register(given, cyclic=True)
    tree = BlendTree.build(loops(), three(), registration=reg)
    result = record(BlendTreeStream(tree, direction=None, turn=0.5, feet=None), 180)
    wanted = blend(reg, [0.0, 0.5, 0.5], seconds=179 / 60, feet=None)
    assert np.linalg.norm(result.travel[-1] - result.travel[0]) == pytest.approx(
        np.linalg.norm(wanted.travel[-1] - wanted.travel[0]), rel=0.02
    )
    apart = quat.angle_between(result.rotations[:, 1:], wanted.rotations[:, 1:])
    assert np.degrees(apart).max() < 3.0
    np.testing.assert_allclose(result.travel[:, 1], wanted.travel[:, 1], atol=0.005)


def test_layers_take_their_joints_alone_and_go_where_the_base_goes():
    body = loops()["ahead"].skeleton
    carry = cycle(sample("carry_box", seconds=6).motion, feet=None)
    clips = {"walk": loops()["ahead"], "carry": carry}
    plain = BlendTree.build(clips, LoopNode("walk"), max_distance=0.5)
    tree = BlendTree.build(
        clips, LayerNode(LoopNode("walk"), LoopNode("carry"), [spine(body)], "box"), max_distance=0.5
    )
    base = record(BlendTreeStream(plain, feet=None), 90)
    off = record(BlendTreeStream(tree, feet=None), 90)
    full = record(BlendTreeStream(tree, feet=None, box=1.0), 90)
    np.testing.assert_array_equal(off.rotations, base.rotations)
    np.testing.assert_array_equal(full.root_positions, base.root_positions)
    legs = [body.roles[f"{side}_{part}"] for side in ("left", "right") for part in ("upper_leg", "lower_leg", "foot")]
    np.testing.assert_array_equal(full.rotations[:, legs], base.rotations[:, legs])
    arms = [body.roles["left_forearm"], body.roles["right_forearm"]]
    assert np.degrees(quat.angle_between(full.rotations[:, arms], base.rotations[:, arms])).min() > 20.0


@pytest.mark.parametrize("direction", [np.pi / 2, -2.5])
def test_it_turns_to_the_requested_direction(direction):
    stream = BlendTreeStream(walking_tree(), feet="lock")
    assert isinstance(stream, Stream)
    stream.request(direction=direction)
    result = record(stream, 360)
    way = result.travel[-1] - result.travel[-60]
    assert abs(rigid2d.wrap_angle(np.arctan2(way[0], way[2]) - direction)) < 0.1
    assert largest_bend(result) < 1.5 * max(map(largest_bend, walks()))
    assert result.contacts.mask.any()


def test_loops_whose_bones_change_are_played():
    ready = loops()
    bent = {
        name: replace(loop, bone_offsets=set_readonly(np.tile(1.01 * loop.skeleton.offsets, (len(loop), 1, 1))))
        for name, loop in ready.items()
        if name != "ahead"
    }
    tree = BlendTree.build({**ready, **bent}, three())
    result = record(BlendTreeStream(tree, direction=None, turn=0.5, feet="lock"), 30)
    np.testing.assert_allclose(
        result.bone_offsets[:, 1:], np.tile(1.005 * result.skeleton.offsets[1:], (30, 1, 1)), rtol=1e-3
    )


def test_knobs_go_smoothly_to_where_they_are_wanted():
    stream = BlendTreeStream(walking_tree(), direction=None, feet="lock")
    stream.request(turn=9.0)
    values = []
    for _ in range(90):
        stream.frame()
        values.append(stream.knobs["turn"])
    high = walking_tree().knobs["turn"][1]
    assert values[-1] == pytest.approx(high, abs=1e-3)
    assert np.abs(np.diff(values, n=2)).max() < 0.05
    assert max(values) <= high + 1e-9


def test_the_same_requests_give_the_same_frames():
    result = []
    for _ in range(2):
        stream = BlendTreeStream(walking_tree(), direction=1.0, place=(0.5, 1.0, 2.0), feet="lock")
        result.append(record(stream, 60))
    np.testing.assert_array_equal(result[0].rotations, result[1].rotations)
    np.testing.assert_allclose(result[0].travel[0, [0, 2]], [1.0, 2.0], atol=1e-9)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: MixNode("turn", (0.0, 0.0), (LoopNode("a"), LoopNode("b"))),
            InvalidValue,
            "must be strictly increasing, not 0, 0",
        ),
        (lambda: MixNode("turn", (), ()), InvalidValue, "at least one node, got none"),
        (
            lambda: MixNode("turn", (0.0,), (LoopNode("a"), LoopNode("b"))),
            InvalidValue,
            "one entry for each of 2 children, not 1",
        ),
        (lambda: LayerNode(LoopNode("a"), LoopNode("b"), ()), InvalidValue, "at least one joint"),
        (lambda: LayerNode(LoopNode("a"), LoopNode("b"), ("x",), 2.0), InvalidValue, "from 0 to 1, not 2.0"),
        (lambda: BlendTree.build({"a": walks()[0]}, LoopNode("a")), InvalidValue, "at least two loops, not 1"),
        (lambda: BlendTree.build(loops(), LoopNode("lift")), UnknownName, "no loop named 'lift'.*left"),
        (lambda: BlendTree.build(loops(), "walk"), UnknownName, "no loop named 'w|walk'"),
        (lambda: BlendTree.build(loops(), []), InvalidValue, "at least one row"),
        (
            lambda: BlendTree.build(loops(), 3.0),
            InvalidValue,
            "a LoopNode, MixNode or LayerNode, or rows of loop names",
        ),
        (lambda: walking_tree().weights(pace=1.0), InvalidValue, "has no knob 'pace'; it has turn"),
        (
            lambda: BlendTreeStream(walking_tree()).request(turn=1.0),
            InvalidValue,
            "turn is set by the direction",
        ),
        (
            lambda: BlendTreeStream(walking_tree(), feet="lock").request(direction=np.inf),
            InvalidValue,
            "must be a finite angle",
        ),
        (
            lambda: BlendTreeStream(walking_tree(), steer=0.0, feet="lock"),
            InvalidValue,
            "`steer=` must be greater than 0 seconds",
        ),
    ],
)
def test_invalid_trees_and_commands_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_hips_and_unknown_joints_cannot_be_layered_and_plain_clips_are_no_loops():
    hips = loops()["ahead"].skeleton.names[loops()["ahead"].skeleton.roles["hips"]]
    with pytest.raises(InvalidValue, match="must not include the hips"):
        BlendTree.build(loops(), LayerNode(LoopNode("ahead"), LoopNode("left"), hips))
    with pytest.raises(InvalidValue, match="is not a loop"):
        BlendTree.build({"a": walks()[0][:100], "b": loops()["left"]}, LoopNode("a"))
    whole = register([replace(walk, name=str(k)) for k, walk in enumerate(walks()[:2])])
    with pytest.raises(InvalidValue, match="register the motions with `cyclic=True`"):
        BlendTree.build({"a": walks()[0], "b": walks()[1]}, LoopNode("a"), registration=whole)
    no_turn = BlendTree.build(loops(), LoopNode("ahead"))
    with pytest.raises(InvalidValue, match="no knob 'turn', which steering by direction needs; it has none"):
        BlendTreeStream(no_turn, feet="lock").request(direction=1.0)


# Actions --------------------------------------------------------------------------------------------------------------


@cache
def acting_tree() -> BlendTree:
    throw, fall = (sample(name, variation=0.0).motion for name in ("throw", "fall"))
    actions = {
        "throw": OneShot(throw, joints="upper"),
        "fall": OneShot(fall, hold=True),
        "dip": OneShot(sample("duck", variation=0.0).motion),
    }
    return BlendTree.build(loops(), [NAMES], actions=actions)


def play(requests, seconds, **options) -> Motion:
    """Record a stream with the requests {frame: command}."""
    stream = BlendTreeStream(acting_tree(), feet=None, **options)
    frames = []
    for frame in range(round(seconds * stream.fps)):
        if frame in requests:
            stream.request(**requests[frame])
        frames.append(stream.player.next_frame())
    return stack_frames(frames, stream.skeleton, stream.fps, stream.points)


def labeled(motion, name):
    return [(label.start, label.stop) for label in motion.labels if label.name == name]


def test_an_action_of_some_joints_leaves_the_legs_and_the_path_alone():
    plain, thrown = play({}, 4.0), play({60: {"action": "throw"}}, 4.0)
    skeleton = plain.skeleton
    throw = acting_tree().actions["throw"]
    np.testing.assert_array_equal(thrown.root_positions, plain.root_positions)
    np.testing.assert_array_equal(thrown.rotations[:, ~throw.mask], plain.rotations[:, ~throw.mask])
    np.testing.assert_array_equal(thrown.contacts.mask, plain.contacts.mask)
    ((start, stop),) = labeled(thrown, "throw")
    assert start in (60, 61)
    assert stop - start <= len(throw.rotations)
    np.testing.assert_array_equal(thrown.rotations[: start - 1], plain.rotations[: start - 1])
    np.testing.assert_array_equal(thrown.rotations[stop:], plain.rotations[stop:])
    middle = start + 40  # fully faded in: the arm is that of the clip
    arm = skeleton.roles["right_upper_arm"]
    shown = [quat.angle_between(thrown.rotations[middle, arm], throw.rotations[k, arm]) for k in (39, 40, 41, 42)]
    assert min(shown) < 1e-9


def test_a_fall_takes_the_whole_body_and_stays_down():
    fallen = play({60: {"action": "fall"}}, 7.0)
    ((start, stop),) = labeled(fallen, "fall")
    cycle_frames = int(acting_tree().table.seconds.sum(axis=1).max() * fallen.fps)
    assert 60 <= start <= 60 + cycle_frames + 1
    assert stop == len(fallen)
    heights = fallen.world().positions[:, fallen.skeleton.roles["head"], 1]
    assert heights[:start].min() > 1.4
    assert heights[-60:].max() < 0.3
    np.testing.assert_allclose(fallen.root_positions[-60:], fallen.root_positions[-1:].repeat(60, axis=0), atol=1e-9)
    # The body ends at its start plus the clip's own travel, however fast it walked.
    assert np.linalg.norm((fallen.travel[-1] - fallen.travel[start])[[0, 2]]) < 1.5


def test_actions_do_not_jump():
    plain = play({}, 5.0)
    for name in ("throw", "fall", "dip"):
        made = play({45: {"action": name}, **({110: {"action": None}} if name == "throw" else {})}, 5.0)
        clip = acting_tree().actions[name].action.motion
        assert largest_bend(made) < max(largest_bend(plain), largest_bend(clip)) + 40.0


def test_a_later_action_takes_over_from_one_that_holds():
    made = play({30: {"action": "fall"}, 200: {"action": "dip"}}, 8.0)
    heights = made.world().positions[:, made.skeleton.roles["head"], 1]
    assert heights[195] < 0.3
    assert heights[-1] > 1.4
    assert labeled(made, "fall")[0][1] < 240
    speed = np.linalg.norm(np.diff(made.travel[-20:], axis=0), axis=1) * made.fps
    assert speed.mean() > 1.0  # it walks again


def test_bad_actions_are_refused():
    throw = sample("throw").motion
    with pytest.raises(UnknownName, match="the tree has no action 'thorw'; it has throw, fall, dip.*similar"):
        BlendTreeStream(acting_tree()).request(action="thorw")
    with pytest.raises(InvalidValue, match="an action needs at least 2 frames"):
        OneShot(throw[:1])
    with pytest.raises(InvalidValue, match="fade_in in seconds must be a number of at least 0"):
        OneShot(throw, fade_in=-1.0)
    with pytest.raises(InvalidValue, match="joints of an action must not include the hips"):
        BlendTree.build(loops(), [NAMES], actions={"throw": OneShot(throw, joints="Hips")})
    with pytest.raises(InvalidValue, match="each of actions must be a OneShot, not Motion"):
        BlendTree.build(loops(), [NAMES], actions={"throw": throw})
