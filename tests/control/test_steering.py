"""Controllers of parametric motion graphs: where they lead, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from marey.control import (
    FollowDirection,
    GazeLayer,
    GoTo,
    LayeredStream,
    NodeLimit,
    RandomWalk,
    bound_response,
    evaluate_stream,
    find_limits,
)
from marey.control.clip_model import ClipModel
from marey.errors import InvalidValue, UnknownName
from marey.maths import rigid2d
from marey.pmg import ControlState, ParametricMotionGraph, TransitionOption
from tests.pmg.characters import fresh_walker, small_walker, two_speed_walker
from tests.tiers import shorten


def nearest(char, point, seconds, **options):
    played = char.stream(GoTo(point, **options), feet=None).record(seconds)
    return np.linalg.norm(played.travel[:, [0, 2]] - point, axis=1).min()


@pytest.mark.parametrize("point", [(0.0, 6.0), (5.0, 3.0), (-5.0, -3.0), (1.5, -4.0), (0.5, -1.0), (-0.8, 0.2)])
def test_points_all_round_are_reached(point):
    assert nearest(small_walker(), point, 25.0) < 0.3


def test_points_are_reached_with_turn_and_speed():
    rng = np.random.default_rng(2)
    for _ in range(shorten(3)):
        angle, away = rng.uniform(-np.pi, np.pi), 8.0 * np.sqrt(rng.random())
        assert nearest(two_speed_walker(), (away * np.sin(angle), away * np.cos(angle)), 25.0) < 0.3


def test_another_point_can_be_requested():
    stream = small_walker().stream(GoTo((0.0, 4.0)), feet=None)
    stream.record(3.0)
    stream.request(point=(6.0, 4.0))
    played = stream.record(12.0)
    assert np.linalg.norm(played.travel[:, [0, 2]] - (6.0, 4.0), axis=1).min() < 0.3


def test_a_direction_is_taken_and_held():
    stream = small_walker().stream(FollowDirection(0.0), feet=None)
    stream.record(2.0)
    stream.request(direction=np.pi / 2.0)
    played = stream.record(8.0)
    way = played.travel[-1] - played.travel[-90]
    assert abs(np.arctan2(way[0], way[2]) - np.pi / 2.0) < np.radians(12.0)


def test_speed_is_taken_too():
    char = two_speed_walker()
    node = char["walk"]
    speeds = []
    for wanted in (node.low[1], node.high[1]):
        played = char.stream(FollowDirection(0.0, speed=wanted), feet=None).record(8.0)
        speeds.append(np.linalg.norm(played.travel[-1] - played.travel[60]) / ((len(played) - 61) / 30.0))
    np.testing.assert_allclose(speeds, [node.low[1], node.high[1]], rtol=0.08)


def test_a_walker_that_only_turns_right_goes_left_by_turning_right():
    char = fresh_walker()
    whole = char["walk"]
    right = ParametricMotionGraph("right")
    right.add("walk", whole.space, high=[0.05], low=whole.low)
    right.connect("walk", "walk", n_source=10, n_target=40, good=0.1, bad=0.15)
    played = right.stream(GoTo((5.0, 1.0)), feet=None).record(25.0)
    assert np.linalg.norm(played.travel[:, [0, 2]] - (5.0, 1.0), axis=1).min() < 0.3


def test_a_named_node_is_reached_by_the_shortest_path():
    char = fresh_walker()
    walk = char["walk"]
    char.restrict("left", "walk", [0.4], walk.high)
    for a, b in (("walk", "walk"), ("walk", "left"), ("left", "walk"), ("left", "left")):
        char.connect(a, b, n_source=4, n_target=12)
    stream = char.stream(FollowDirection(node="left"), feet=None, parameters=[0.2])
    stream.record(4.0)
    assert [each.target for each in stream.transitions][:2] == ["left", "left"]
    with pytest.raises(UnknownName, match="no node 'fly'"):
        char.stream(FollowDirection(node="fly"), feet=None, parameters=[0.2]).record(3.0)


def turned(char, start, side, **options):
    """Return the deviation from a requested direction, in radians, when a clip is left at each of its changes."""
    off = []

    class Asking(FollowDirection):
        def choose(self, moment):
            here = moment.options[0].place[0]
            if not off:
                self.request(direction=here + side * np.pi / 2.0)
            off.append(abs(rigid2d.wrap_angle(self.command["direction"] - here)))
            return super().choose(moment)

    stream = char.stream(Asking(0.0), feet=None, parameters=start, respond="clip", **options)
    while len(off) < 5:
        stream.record(0.5)
    return np.array(off[1:])


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_quarter_turn_takes_two_clips_where_boxes_allow_it(side):
    char = small_walker()
    node, model = char["walk"], ClipModel(char)
    for start in np.linspace(node.low[0], node.high[0], 7):
        off = turned(char, [start], side)
        option = TransitionOption(node, char.transition_ranges("walk", [start])["walk"], np.zeros(3))
        state = ControlState("walk", np.array([start]), (option,), 1.0, char)
        box, unit = option.range, np.linspace(0.0, 1.0, 61)[:, None]
        first = model.begin(state, option, box.low + unit * (box.high - box.low))
        after = model.lay_paths("walk", first)[0][:, -1]
        second = model.follow("walk", "walk", first.parameters, after, unit)
        ends = np.concatenate([after[:, 0], model.lay_paths("walk", second)[0][:, -1, 0]])
        # Clips that a stream would play with other parameters do not count.
        before = np.concatenate([np.full((61, 1), start), np.repeat(first.parameters, 61, axis=0)])
        changed = model.penalties("walk", "walk", before, np.concatenate([first.parameters, second.parameters])) > 0.0
        changed[61:] |= np.repeat(changed[:61], 61)
        possible = np.abs(rigid2d.wrap_angle(side * np.pi / 2.0 - ends[~changed])).min(initial=np.pi)
        assert off[:2].min() < max(np.radians(15.0), possible + np.radians(12.0))
        assert off.min() < np.radians(15.0)


def test_a_character_that_only_turns_right_turns_left_by_a_loop():
    whole = fresh_walker()["walk"]
    right = ParametricMotionGraph("right")
    right.add("walk", whole.space, high=[0.05], low=whole.low)
    right.connect("walk", "walk", n_source=10, n_target=40, good=0.1, bad=0.15)
    stream = right.stream(FollowDirection(0.0), feet=None)
    stream.record(2.0)
    stream.request(direction=np.pi / 2.0)
    played = stream.record(14.0)
    way = played.travel[-1] - played.travel[-60]
    assert abs(rigid2d.wrap_angle(np.arctan2(way[0], way[2]) - np.pi / 2.0)) < np.radians(20.0)


def test_bad_input():
    with pytest.raises(InvalidValue, match="point must have shape"):
        GoTo((0.0, 1.0, 2.0))
    with pytest.raises(
        InvalidValue, match="direction must be a finite angle in radians from [+]Z, or None for no preference, not nan"
    ):
        FollowDirection(np.nan)
    for odd in ("left", [1.0, 2.0]):
        with pytest.raises(InvalidValue, match="direction must be a finite angle in radians"):
            FollowDirection(odd)
    with pytest.raises(InvalidValue, match="speed must be a finite number, not 'fast'"):
        FollowDirection(0.0, speed="fast")
    with pytest.raises(InvalidValue, match="node must be a name"):
        FollowDirection(node=3)
    char = small_walker()
    option = TransitionOption(char["walk"], char.transition_ranges("walk", [0.0])["walk"], np.zeros(3))
    moment = ControlState("walk", np.zeros(1), (option,), 0.0, char)
    with pytest.raises(UnknownName, match="none of 'run' can follow 'walk'"):
        GoTo((0.0, 1.0), nodes=["run"]).choose(moment)


def test_commands_that_no_node_knows_are_refused():
    char = two_speed_walker()
    with pytest.raises(UnknownName, match="no node of the character takes the command 'sped'; similar: 'speed'"):
        char.stream(FollowDirection(0.0, sped=1.0), feet=None)
    stream = char.stream(FollowDirection(0.0), feet=None)
    with pytest.raises(UnknownName, match="takes the command 'directon'; similar: 'direction'"):
        stream.request(speed=1.0, directon=1.0)
    with pytest.raises(InvalidValue, match="speed must be one number"):
        stream.request(speed=[1.0, 2.0])
    assert stream.controller.command == {"direction": 0.0, "node": None, "stop": None}
    stream.request(speed=1.0, point=None)
    own = fresh_walker()
    own.add("own", own["walk"].space, request=lambda node, command, here: [command.get("mood", 0.0)])
    for source, target in (("walk", "own"), ("own", "walk")):
        own.connect(source, target, n_source=4, n_target=8)
    own.stream(FollowDirection(0.0, mood=0.1), feet=None)


@pytest.mark.parametrize("seconds", [0.0, -1.0, np.nan, np.inf])
def test_a_recording_needs_some_time_and_an_end(seconds):
    stream = small_walker().stream(RandomWalk(0), feet=None)
    for each in (stream, LayeredStream(stream, [GazeLayer()])):
        with pytest.raises(InvalidValue, match="finite and at least one frame"):
            each.record(seconds)


def test_no_response_is_faster_than_its_bound():
    char = small_walker()
    bound = bound_response(char)
    found = evaluate_stream(lambda: char.stream(FollowDirection(0.0), feet="lock"), n_turns=6, seconds=1.0)
    assert 0.0 < bound.wait < char["walk"].motion([0.0]).duration
    # The bound is computed with a few clips and moments, so a stream can be a little faster.
    assert bound.turning < bound.total < found.response + 0.05
    assert bound_response(char, np.pi).turning > bound.turning
    single = ParametricMotionGraph("single")
    single.add("walk", char["walk"].space)
    assert bound_response(single).total == np.inf


def test_nodes_that_cannot_be_played_again_are_reported():
    char = fresh_walker()
    char.restrict("left", "walk", [0.4], char["walk"].high)
    for a, b in (("walk", "walk"), ("walk", "left"), ("left", "left")):
        char.connect(a, b, n_source=4, n_target=12)
    (limit,) = [each for each in find_limits(char) if isinstance(each, NodeLimit)]
    assert (limit.node, limit.target, limit.low) == ("left", "walk", None)
    assert limit.describe(char).startswith(
        "after clips of 'left', this character can never play 'walk'; connect 'left'"
    )
    char.connect("left", "walk", n_source=4, n_target=12)
    assert not any(isinstance(each, NodeLimit) for each in find_limits(char))
