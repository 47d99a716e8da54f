"""Blend trees: shares, tables of loops, and the stream."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.blend import blend
from marey.control import BlendTree, BlendTreeStream, LayerNode, LoopNode, MixNode
from marey.control.evaluate import record
from marey.core.arrays import set_readonly
from marey.core.protocols import Stream
from marey.edit import cycle
from marey.errors import InvalidValue, UnknownName
from marey.maths import quat, rigid2d
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
    # Loops are turned to begin at one phase, and put to the origin: compare what that leaves alone.
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
            "must be an angle",
        ),
        (
            lambda: BlendTreeStream(walking_tree(), steer=0.0, feet="lock"),
            InvalidValue,
            "steer must be greater than 0 seconds",
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
