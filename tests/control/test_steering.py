"""Controllers of parametric motion graphs: where they lead, and what they refuse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from marey.control import FollowDirection, GoTo, RandomWalk, arc_and_straight
from marey.control.go_to import tightest
from marey.control.outlook import Outlook, spread
from marey.errors import InvalidValue, UnknownName
from marey.pmg import Moment, Option
from tests.pmg.characters import fresh_walker, small_walker, two_speed_walker


def nearest(char, point, seconds, **options):
    played = char.stream(GoTo(point, **options), clean=False).record(seconds)
    return np.linalg.norm(played.travel[:, [0, 2]] - point, axis=1).min()


def test_the_way_to_a_point_is_dubins():
    here = np.zeros(3)
    assert arc_and_straight(here, (0.0, 5.0), 1.0) == pytest.approx(5.0)
    # A quarter circle to the left ends at (1, 1), facing +X.
    assert arc_and_straight(here, (4.0, 1.0), 1.0) == pytest.approx(0.5 * np.pi + 3.0)
    assert arc_and_straight(here, (-4.0, 1.0), 1.0) == pytest.approx(0.5 * np.pi + 3.0)
    behind = arc_and_straight(here, (0.0, -6.0), 1.0)
    assert 6.0 + np.pi < behind < 6.0 + 1.5 * np.pi
    # Within the left circle, so the right one is taken all the way round.
    assert arc_and_straight(here, (1.0, 0.0), 1.0) > np.pi


def test_the_way_to_a_point_is_never_shorter_than_any_drive():
    rng = np.random.default_rng(0)
    for _ in range(50):
        turn, length = rng.uniform(0.0, 1.9 * np.pi), rng.uniform(0.0, 5.0)
        side = rng.choice([-1.0, 1.0])
        left = side * (1.0 - np.cos(turn) + length * np.sin(turn))
        goal = np.array([left, np.sin(turn) + length * np.cos(turn)])
        assert arc_and_straight(np.zeros(3), goal, 1.0) <= turn + length + 1e-9


def test_places_turn_and_shift_with_the_figure():
    place = np.array([1.1, 2.0, -3.0])
    from marey.maths import rigid2d

    goal = np.array([2.0, -4.0])
    moved = rigid2d.apply(place, goal)
    assert arc_and_straight(place, moved, 0.8) == pytest.approx(float(arc_and_straight(np.zeros(3), goal, 0.8)))


@pytest.mark.parametrize("point", [(0.0, 6.0), (5.0, 3.0), (-5.0, -3.0), (1.5, -4.0), (0.5, -1.0), (-0.8, 0.2)])
def test_points_all_round_are_reached(point):
    assert nearest(small_walker(), point, 25.0) < 0.3


def test_points_are_reached_with_turn_and_speed():
    rng = np.random.default_rng(2)
    for _ in range(5):
        angle, away = rng.uniform(-np.pi, np.pi), 8.0 * np.sqrt(rng.random())
        assert nearest(two_speed_walker(), (away * np.sin(angle), away * np.cos(angle)), 25.0) < 0.3


def test_another_point_can_be_asked_for():
    stream = small_walker().stream(GoTo((0.0, 4.0)), clean=False)
    stream.record(3.0)
    stream.request(point=(6.0, 4.0))
    played = stream.record(12.0)
    assert np.linalg.norm(played.travel[:, [0, 2]] - (6.0, 4.0), axis=1).min() < 0.3


def test_a_direction_is_taken_and_kept():
    stream = small_walker().stream(FollowDirection(0.0), clean=False)
    stream.record(2.0)
    stream.request(direction=np.pi / 2.0)
    played = stream.record(8.0)
    way = played.travel[-1] - played.travel[-90]
    assert abs(np.arctan2(way[0], way[2]) - np.pi / 2.0) < np.radians(12.0)


def test_speed_is_taken_too():
    char = two_speed_walker()
    node = char.node("walk")
    speeds = []
    for wanted in (node.low[1], node.high[1]):
        played = char.stream(FollowDirection(0.0, speed=wanted), clean=False).record(8.0)
        speeds.append(np.linalg.norm(played.travel[-1] - played.travel[60]) / ((len(played) - 61) / 30.0))
    np.testing.assert_allclose(speeds, [node.low[1], node.high[1]], rtol=0.08)


def test_a_walker_that_only_turns_right_goes_left_by_turning_right():
    char = fresh_walker()
    whole = char.node("walk")
    from marey.pmg import ParametricMotionGraph

    right = ParametricMotionGraph("right")
    right.add("walk", whole.space, high=[0.05], low=whole.low)
    right.connect("walk", "walk", n_source=10, n_target=40, good=0.1, bad=0.15)
    played = right.stream(GoTo((5.0, 1.0)), clean=False).record(25.0)
    assert np.linalg.norm(played.travel[:, [0, 2]] - (5.0, 1.0), axis=1).min() < 0.3


def test_a_named_node_is_reached_by_the_shortest_way():
    char = fresh_walker()
    walk = char.node("walk")
    char.restrict("left", "walk", [0.4], walk.high)
    for a, b in (("walk", "walk"), ("walk", "left"), ("left", "walk"), ("left", "left")):
        char.connect(a, b, n_source=4, n_target=12)
    stream = char.stream(FollowDirection(node="left"), clean=False, parameters=[0.2])
    stream.record(4.0)
    assert [each.target for each in stream.transitions][:2] == ["left", "left"]
    with pytest.raises(UnknownName, match="no node 'fly'"):
        char.stream(FollowDirection(node="fly"), clean=False, parameters=[0.2]).record(3.0)


def test_the_outlook_tells_where_clips_really_lead():
    char = small_walker()
    outlook = Outlook(char)
    seen = []

    class Spy(RandomWalk):
        def choose(self, moment):
            choice = super().choose(moment)
            option = moment.options[0]
            unit = (choice.parameters - option.onward.low) / (option.onward.high - option.onward.low)
            seen.append((option.here, outlook.first(option, unit[None]).places[0]))
            return choice

    char.stream(Spy(0), clean=False, parameters=[0.0]).record(30.0)
    off = [np.linalg.norm(there[1:] - then[1:]) for (_, there), (then, _) in itertools.pairwise(seen)]
    assert np.mean(off) < 0.12
    assert np.max(off) < 0.3


def test_kernels_are_their_slow_forms():
    from marey.control.outlook_kernels import lay_ways, pass_by
    from marey.maths import rigid2d

    rng = np.random.default_rng(0)
    paths, here = rng.normal(size=(6, 5, 3)), rng.normal(size=(4, 3))
    index, share = rng.integers(0, 6, (4, 2)), np.full((4, 2), 0.5)
    enter, leave = np.array([0.0, 0.1, 0.3, 0.5]), np.array([1.0, 0.9, 0.35, 0.5])
    ways = np.empty((4, 3, 3))
    lay_ways(paths, index, share, enter, leave, here, ways)
    near, along, length = (np.empty(4) for _ in range(3))
    pass_by(ways, 0.3, -0.2, near, along, length)
    for n in range(4):
        mixed = paths[index[n]].mean(axis=0)
        at = np.linspace(enter[n], leave[n], 3) * 4
        told = np.stack([np.interp(at, np.arange(5), mixed[:, k]) for k in range(3)], axis=1)
        wanted = rigid2d.compose(rigid2d.compose(here[n], rigid2d.invert(told[0])), told)
        np.testing.assert_allclose(ways[n, :, 1:], wanted[:, 1:], atol=1e-9)
        np.testing.assert_allclose(rigid2d.wrap_angle(ways[n, :, 0] - wanted[:, 0]), 0.0, atol=1e-9)
        fine = np.linspace(0.0, 2.0, 20001)
        dense = np.stack([np.interp(fine, np.arange(3), ways[n, :, k]) for k in (1, 2)], axis=1)
        apart = np.linalg.norm(dense - (0.3, -0.2), axis=1)
        gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(dense, axis=0), axis=1))])
        assert near[n] == pytest.approx(apart.min(), abs=1e-3)
        assert along[n] == pytest.approx(gone[np.argmin(apart)], abs=1e-2)
        assert length[n] == pytest.approx(gone[-1], abs=1e-9)


def test_looking_ahead_is_no_longer_than_greedy():
    char = small_walker()
    lengths = {}
    for ahead in (1, 3):
        total = 0.0
        for point in ((1.2, -3.6), (-4.5, 0.3), (0.8, -3.9)):
            played = char.stream(GoTo(point, ahead=ahead), clean=False).record(25.0)
            floor = played.travel[:, [0, 2]]
            hit = np.flatnonzero(np.linalg.norm(floor - point, axis=1) < 0.3)
            stop = hit[0] if len(hit) else len(floor) - 1
            total += np.linalg.norm(np.diff(floor[: stop + 1], axis=0), axis=1).sum()
        lengths[ahead] = total
    assert lengths[3] <= lengths[1] + 0.1


def test_tables_interpolate_boxes():
    char = small_walker()
    outlook = Outlook(char)
    node = char.node("walk")
    states = np.array([[-0.4], [0.7]])
    (steps,) = outlook.after("walk", np.zeros((2, 3)), states)
    k = len(spread(node, fine=False))
    for row, state in enumerate(states):
        box = char.edges["walk", "walk"].onward(state)
        part = steps.parameters[row * k : (row + 1) * k, 0]
        assert part.min() == pytest.approx(box.low[0], abs=0.08)
        assert part.max() == pytest.approx(box.high[0], abs=0.08)


def test_the_tightest_circle_is_that_of_the_sharpest_turn():
    node = small_walker().node("walk")
    assert 0.6 < tightest(node) < 1.4


def test_bad_input():
    with pytest.raises(InvalidValue, match="ahead must be a number of clips from 1 to 8, got 0"):
        GoTo((0.0, 1.0), ahead=0)
    with pytest.raises(InvalidValue, match="point must have shape"):
        GoTo((0.0, 1.0, 2.0))
    with pytest.raises(InvalidValue, match="direction must be finite"):
        FollowDirection(np.nan)
    with pytest.raises(InvalidValue, match="node must be a name"):
        FollowDirection(node=3)
    char = small_walker()
    option = Option(char.node("walk"), char.onward("walk", [0.0])["walk"], np.zeros(3))
    moment = Moment("walk", np.zeros(1), (option,), 0.0, char)
    with pytest.raises(UnknownName, match="none of 'run' can follow 'walk'"):
        GoTo((0.0, 1.0), nodes=["run"]).choose(moment)
