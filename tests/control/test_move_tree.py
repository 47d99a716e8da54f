"""Move trees: passages, routes, and the stream."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.control.baselines.move_tree import MoveTree, MoveTreeStream, Succession
from marey.control.evaluate import record
from marey.control.inertia_reel import ground_path
from marey.core.arrays import set_readonly
from marey.core.protocols import Stream
from marey.errors import InvalidValue, UnknownName
from marey.maths import rigid2d
from tests.control.clips import NAMES, largest_bend, stride_tree, strides, walks


def test_a_clip_is_played_as_it_is_until_it_is_left():
    stream = MoveTreeStream(stride_tree(), start="left", place=(0.0, 0.0, 0.0), feet=None)
    assert isinstance(stream, Stream)
    leave = len(strides()["left"]) - 1 - 18
    result = record(stream, leave + 1)
    np.testing.assert_allclose(result.world().positions, strides()["left"][: leave + 1].world().positions, atol=1e-12)
    assert stream.moves == ()
    stream.frame()
    assert len(stream.moves) == 1


def test_it_begins_at_the_origin_facing_ahead():
    result = record(MoveTreeStream(stride_tree(), feet=None), 2)
    np.testing.assert_allclose(result.travel[0, [0, 2]], 0.0, atol=1e-9)
    assert abs(ground_path(result)[0, 0]) < 0.15


def test_strides_that_fit_make_one_walk():
    stream = MoveTreeStream(stride_tree(), start="ahead", move="ahead", feet=None)
    result = record(stream, 400)
    assert set(stream.moves) == {"ahead"}
    assert largest_bend(result) < 1.2 * largest_bend(walks()[1])
    assert np.linalg.norm(result.travel[-1] - result.travel[0]) == pytest.approx(1.3 * 399 / 60, rel=0.03)


def test_the_requested_move_is_next():
    stream = MoveTreeStream(stride_tree(), start="ahead", feet="lock")
    stream.request(move="left")
    record(stream, 100)
    stream.request(move="right")
    record(stream, 140)
    assert stream.moves[0] == "left"
    assert stream.moves[-1] == "right"


def test_the_first_succession_is_taken_without_a_command():
    stream = MoveTreeStream(stride_tree(), start="left", feet="lock")
    record(stream, 100)
    assert stream.moves[0] == NAMES[0]


def test_the_shortest_path_leads_over_other_moves():
    tree = MoveTree.build(strides(), {"right": ["ahead"], "ahead": ["ahead", "left"], "left": ["right"]})
    assert tree.names[tree.passages[tree.route(0, 2)].target] == "ahead"
    assert tree.names[tree.passages[tree.route(1, 1)].target] == "ahead"
    stream = MoveTreeStream(tree, start="right", move="left", feet="lock")
    record(stream, 200)
    assert stream.moves[:2] == ("ahead", "left")


@pytest.mark.parametrize("direction", [2.2, -2.2])
def test_it_turns_towards_the_direction(direction):
    stream = MoveTreeStream(stride_tree(), start="ahead", direction=direction, feet="lock")
    result = record(stream, 600)
    way = result.travel[-1] - result.travel[-120]
    # Strides turn by 63 degrees or not at all, so the error can be up to half of that.
    assert abs(rigid2d.wrap_angle(np.arctan2(way[0], way[2]) - direction)) < 0.7


def test_speed_counts_too():
    slow = {"slow": strides()["ahead"], "fast": walks()[1][10:90]}
    tree = MoveTree.build(slow, {name: list(slow) for name in slow}, position="best")
    speeds = tree.speeds
    stream = MoveTreeStream(tree, start="slow", speed=float(speeds[1]), feet="lock")
    record(stream, 150)
    assert stream.moves[0] == tree.names[int(np.argmin(np.abs(speeds - speeds[1])))]


def test_the_best_moment_is_where_clips_are_similar():
    clips = {"a": walks()[1][:150], "b": walks()[1][40:220]}
    tree = MoveTree.build(clips, {"a": ["b"], "b": ["b"]}, position="best")
    result = record(MoveTreeStream(tree, start="a", feet=None), 200)
    assert largest_bend(result) < 1.3 * largest_bend(walks()[1])


def test_clips_whose_bones_change_are_played():
    bent = {
        name: replace(clip, bone_offsets=set_readonly(np.tile(1.01 * clip.skeleton.offsets, (len(clip), 1, 1))))
        for name, clip in strides().items()
        if name == "left"
    }
    tree = MoveTree.build({**strides(), **bent}, dict.fromkeys(NAMES, NAMES))
    result = record(MoveTreeStream(tree, start="ahead", move="left", feet="lock"), 160)
    scale = np.linalg.norm(result.bone_offsets, axis=(1, 2)) / np.linalg.norm(result.skeleton.offsets)
    assert scale[0] == pytest.approx(1.0)
    assert scale[-1] == pytest.approx(1.01)
    assert np.abs(np.diff(scale)).max() < 0.002


def test_the_same_requests_give_the_same_frames():
    result = [record(MoveTreeStream(stride_tree(), direction=1.0, feet="lock"), 200) for _ in range(2)]
    np.testing.assert_array_equal(result[0].rotations, result[1].rotations)


def test_contacts_are_carried_and_planted_feet_held():
    free, held = (record(MoveTreeStream(stride_tree(), direction=2.0, feet=feet), 300) for feet in (None, "lock"))
    assert free.contacts.mask.any()
    np.testing.assert_array_equal(free.contacts.mask, held.contacts.mask)


@pytest.mark.parametrize(
    ("successions", "options", "error", "message"),
    [
        ({"left": ["ahead"], "right": ["left"]}, {}, InvalidValue, "no clip may follow 'ahead'"),
        ({"lift": ["ahead"]}, {}, UnknownName, "no move named 'lift'.*left"),
        ({name: ["up"] for name in NAMES}, {}, UnknownName, "no move named 'up'"),
        (dict.fromkeys(NAMES, NAMES), {"length": 0.0}, InvalidValue, "length of a transition in seconds"),
        (dict.fromkeys(NAMES, NAMES), {"length": 3.0}, InvalidValue, "does not fit into 'right', which lasts 1.4"),
        (dict.fromkeys(NAMES, NAMES), {"length": 0.9}, InvalidValue, "shorten the transitions"),
        (
            dict.fromkeys(NAMES, NAMES),
            {"position": "middle"},
            InvalidValue,
            'position must be "ends", "best" or seconds',
        ),
        ({name: [Succession(name, 0.3, (1.0,))] for name in NAMES}, {}, InvalidValue, "or seconds in both clips"),
    ],
)
def test_wrong_trees_are_refused(successions, options, error, message):
    with pytest.raises(error, match=message):
        MoveTree.build(strides(), successions, **options)


@pytest.mark.parametrize(
    ("command", "error", "message"),
    [
        ({"move": "up"}, UnknownName, "no move named 'up'; moves: right, ahead, left"),
        ({"direction": np.nan}, InvalidValue, "direction must be a finite angle"),
        ({"speed": -1.0}, InvalidValue, "speed in m/s must be"),
        ({"color": 1}, InvalidValue, "unknown command 'color'; a move tree accepts direction, speed, move"),
    ],
)
def test_invalid_commands_are_refused(command, error, message):
    with pytest.raises(error, match=message):
        MoveTreeStream(stride_tree(), feet="lock").request(**command)
    with pytest.raises(InvalidValue, match="lookahead must be at least 1"):
        MoveTreeStream(stride_tree(), lookahead=0, feet="lock")


def test_the_first_clip_suits_the_first_command():
    for name, direction in (("ahead", 0.0), ("left", 1.2), ("right", -1.2)):
        stream = MoveTreeStream(stride_tree(), feet=None)
        stream.request(direction=direction)
        labels = record(stream, 3).labels
        assert labels is not None
        assert list(labels.names) == [name]
