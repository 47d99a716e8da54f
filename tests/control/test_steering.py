"""Controllers of parametric motion graphs: where they lead, and what they refuse."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from marey.control import FollowDirection, GazeLayer, GoTo, LayeredStream, RandomWalk, arc_and_straight
from marey.control.dubins_kernels import measure_paths
from marey.control.lookahead import LookaheadTable, get_lookahead_table, sample_box, tightest_radii
from marey.control.lookahead_kernels import (
    ClipCosts,
    ClipStarts,
    PathGoal,
    PathTable,
    lay_paths,
    measure_costs,
    read_rows,
    sweep_costs,
    weigh_clips,
)
from marey.errors import InvalidValue, UnknownName
from marey.maths import rigid2d
from marey.pmg import ControlState, ParametricMotionGraph, TransitionOption
from tests.pmg.characters import fresh_walker, small_walker, two_speed_walker
from tests.twins import steering as twins


def nearest(char, point, seconds, **options):
    played = char.stream(GoTo(point, **options), feet=None).record(seconds)
    return np.linalg.norm(played.travel[:, [0, 2]] - point, axis=1).min()


def test_the_path_to_a_point_is_dubins():
    here = np.zeros(3)
    assert arc_and_straight(here, (0.0, 5.0), 1.0) == pytest.approx(5.0)
    # A quarter circle to the left ends at (1, 1), facing +X.
    assert arc_and_straight(here, (4.0, 1.0), 1.0) == pytest.approx(0.5 * np.pi + 3.0)
    assert arc_and_straight(here, (-4.0, 1.0), 1.0) == pytest.approx(0.5 * np.pi + 3.0)
    behind = arc_and_straight(here, (0.0, -6.0), 1.0)
    assert 6.0 + np.pi < behind < 6.0 + 1.5 * np.pi
    # Within the left circle, so the right one is taken all the way round.
    assert arc_and_straight(here, (1.0, 0.0), 1.0) > np.pi


def test_the_path_to_a_point_is_never_longer_than_any_drive():
    rng = np.random.default_rng(0)
    for _ in range(50):
        turn, length = rng.uniform(0.0, 1.9 * np.pi), rng.uniform(0.0, 5.0)
        side = rng.choice([-1.0, 1.0])
        left = side * (1.0 - np.cos(turn) + length * np.sin(turn))
        goal = np.array([left, np.sin(turn) + length * np.cos(turn)])
        assert arc_and_straight(np.zeros(3), goal, 1.0) <= turn + length + 1e-9


def test_placements_rotate_and_shift_with_the_body():
    place = np.array([1.1, 2.0, -3.0])
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


def test_the_lookahead_table_matches_where_clips_lead():
    char = small_walker()
    outlook = LookaheadTable(char)
    seen = []

    class Spy(RandomWalk):
        def choose(self, moment):
            choice = super().choose(moment)
            option = moment.options[0]
            unit = (choice.parameters - option.range.low) / (option.range.high - option.range.low)
            seen.append((option.place, outlook.first(moment, option, unit[None]).places[0]))
            return choice

    char.stream(Spy(0), feet=None, parameters=[0.0]).record(30.0)
    off = [np.linalg.norm(there[1:] - then[1:]) for (_, there), (then, _) in itertools.pairwise(seen)]
    assert np.mean(off) < 0.08
    assert np.max(off) < 0.2
    turns = [rigid2d.wrap_angle(there[0] - then[0]) for (_, there), (then, _) in itertools.pairwise(seen)]
    assert np.abs(turns).max() < np.radians(6.0)


@pytest.mark.parametrize("heading", [np.nan, 0.4])
def test_kernels_are_their_slow_forms(heading):
    rng = np.random.default_rng(0)
    axes = np.array([[-1.0, 0.5, 5.0], [0.2, 0.3, 3.0]])
    paths, leave = np.cumsum(rng.normal(0.0, 0.1, (15, 6, 3)), axis=1), rng.uniform(0.6, 1.0, 15)
    paths[..., 2] += np.linspace(0.0, 1.2, 6)
    n = 40
    parameters = rng.uniform((-1.0, 0.2), (1.0, 0.8), (n, 2))
    enter, here = rng.uniform(0.0, 0.4, n), rng.normal(0.0, 0.5, (n, 3))
    table, clips = PathTable(axes, paths, leave), ClipStarts(parameters, enter, here)
    ways = np.empty((n, 7, 3))
    lay_paths(table, clips, ways)
    np.testing.assert_allclose(ways, twins.laid(axes, paths, leave, parameters, enter, here, 7), atol=1e-9)
    rows = np.empty((n, 6))
    read_rows(axes, np.ascontiguousarray(paths[..., 1]), parameters, rows)
    np.testing.assert_allclose(rows, twins.mixed(axes, paths[..., 1], parameters), atol=1e-12)
    goal, limits = np.array([heading, 0.2, 0.6]), np.array([0.5, 3.0, 0.8, 2.0])
    places, spent, done, onward = costs = ClipCosts(np.empty((n, 3)), np.empty(n), np.empty(n), np.empty(n))
    radii = np.array([0.7, 1.1])
    weigh_clips(table, clips, PathGoal(goal, radii, limits, 0.3), 1e3, 7, costs)
    np.testing.assert_allclose(places, ways[:, -1])
    lengths = np.linalg.norm(np.diff(ways[..., 1:], axis=1), axis=2).sum(axis=1)
    np.testing.assert_allclose(spent, np.maximum(lengths, 0.3))
    report = np.array([twins.cheapest_pass(way, goal, limits) for way in ways])
    assert np.isfinite(report).sum() > 4
    np.testing.assert_allclose(done, report, atol=5e-3)
    left = np.empty(n)
    measure_paths(places, goal, *radii, left)
    np.testing.assert_allclose(onward, spent + left)


def test_clips_that_cannot_pass_the_point_have_the_same_cost():
    outlook = LookaheadTable(small_walker())
    n = 9
    parameters = np.linspace(-1.2, 1.2, n)[:, None]
    clips = ClipStarts(parameters, np.full(n, 0.15), np.zeros((n, 3)))
    goal = PathGoal(np.array([np.nan, 0.0, 30.0]), np.array([0.8, 0.8]), np.array([0.25, 6.0, 0.3, 3.0]), 0.5)
    worth = outlook.weigh("walk", clips, goal)
    paths = outlook.lay_paths("walk", parameters, np.zeros((n, 3)), np.full(n, 0.15))
    assert np.isinf(worth.done).all()
    np.testing.assert_allclose(worth.places, paths[:, -1], atol=1e-9)
    np.testing.assert_allclose(
        worth.spent, np.linalg.norm(np.diff(paths[..., 1:], axis=1), axis=2).sum(axis=1), rtol=0.02
    )


def test_looking_ahead_is_no_longer_than_greedy():
    char = small_walker()
    lengths = {}
    for ahead in (1, 3):
        total = 0.0
        for point in ((1.2, -3.6), (-4.5, 0.3), (0.8, -3.9)):
            played = char.stream(GoTo(point, lookahead=ahead), feet=None).record(25.0)
            floor = played.travel[:, [0, 2]]
            hit = np.flatnonzero(np.linalg.norm(floor - point, axis=1) < 0.3)
            stop = hit[0] if len(hit) else len(floor) - 1
            total += np.linalg.norm(np.diff(floor[: stop + 1], axis=0), axis=1).sum()
        lengths[ahead] = total
    assert lengths[3] <= lengths[1] + 0.1


def test_tables_interpolate_boxes():
    char = small_walker()
    outlook = LookaheadTable(char)
    node = char["walk"]
    states = np.array([[-0.4], [0.7]])
    (steps,) = outlook.after("walk", np.zeros((2, 3)), states)
    k = len(sample_box(node, fine=False))
    for row, state in enumerate(states):
        box = char.edges["walk", "walk"].transition_range(state)
        part = steps.parameters[row * k : (row + 1) * k, 0]
        assert part.min() == pytest.approx(box.low[0], abs=0.08)
        assert part.max() == pytest.approx(box.high[0], abs=0.08)


def test_the_tightest_circles_are_those_of_the_sharpest_turns():
    char = small_walker()
    left, right = tightest_radii(char["walk"])
    assert 0.6 < left < 1.4
    assert right == pytest.approx(left, rel=0.1)
    half = char["walk"].part("half", char["walk"].low, [0.0])
    assert tightest_radii(half)[0] == np.inf
    assert tightest_radii(half)[1] == pytest.approx(right)


def turned(char, start, side, **options):
    """Radians off a direction that is asked for when a clip with given parameters is left, at the changes after."""
    off = []

    class Asking(FollowDirection):
        def choose(self, moment):
            here = moment.options[0].place[0]
            if not off:
                self.request(direction=here + side * np.pi / 2.0)
            off.append(abs(rigid2d.wrap_angle(self.command["direction"] - here)))
            return super().choose(moment)

    stream = char.stream(Asking(0.0), feet=None, parameters=start, **options)
    while len(off) < 5:
        stream.record(0.5)
    return np.array(off[1:])


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_quarter_turn_takes_two_clips_where_boxes_allow_it(side):
    char = small_walker()
    node, outlook = char["walk"], LookaheadTable(char)
    for start in np.linspace(node.low[0], node.high[0], 7):
        off = turned(char, [start], side)
        option = TransitionOption(node, char.transition_ranges("walk", [start])["walk"], np.zeros(3))
        moment = ControlState("walk", np.array([start]), (option,), 1.0, char)
        first = outlook.first(moment, option, np.linspace(0.0, 1.0, 61)[:, None])
        second = outlook.after("walk", first.places, first.parameters)[0]
        ends = np.concatenate([first.places[:, 0], second.places[:, 0]])
        possible = np.abs(rigid2d.wrap_angle(side * np.pi / 2.0 - ends)).min()
        assert off[:2].min() < max(np.radians(15.0), possible + np.radians(8.0))
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


def test_clips_are_laid_as_they_are_joined():
    from marey.control.joins import fit_join, quadratic_terms

    char = small_walker()
    join = fit_join(char, "walk", "walk")
    rng = np.random.default_rng(0)
    before, after, here = rng.uniform(-1.0, 1.0, (9, 1)), rng.uniform(-1.0, 1.0, (9, 1)), rng.normal(size=(9, 3))
    both = (np.concatenate([before, after], axis=1) - join.middle) / join.scale
    wanted = rigid2d.compose(here, quadratic_terms(both) @ join.fitted)
    got = join.entered(before, after, here)
    np.testing.assert_allclose(got[:, 1:], wanted[:, 1:], atol=1e-12)
    np.testing.assert_allclose(rigid2d.wrap_angle(got[:, 0] - wanted[:, 0]), 0.0, atol=1e-12)
    # A clip that goes on as before is laid nearly end to end.
    straight = join.entered(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 3)))
    assert np.abs(straight).max() < 0.06


def test_lookahead_tables_are_cached_until_the_graph_changes():
    char = fresh_walker()
    char.connect("walk", "walk", n_source=4, n_target=12)
    known = get_lookahead_table(char)
    assert get_lookahead_table(char) is known
    char.connect("walk", "walk", n_source=5, n_target=12)
    assert get_lookahead_table(char) is not known


def test_costs_of_turning_are_their_slow_form():
    rng = np.random.default_rng(0)
    turns, index = rng.uniform(-1.0, 1.0, (4, 5)), rng.integers(0, 4, (4, 5, 2))
    share = np.stack([np.full((4, 5), 0.3), np.full((4, 5), 0.7)], axis=2)
    values = np.zeros((4, 12))
    for _ in range(3):
        before, values = values, np.empty_like(values)
        sweep_costs(turns, index, share, 0.2, before, values)
    wanted = twins.turning_costs(turns, index, share, 0.2, 12, 3)
    np.testing.assert_allclose(values, wanted, atol=1e-9)
    out = np.empty(1)
    measure_costs(values, np.array([[1, 2]]), np.array([[1.0, 0.0]]), 0.2, np.array([-np.pi]), out)
    assert out[0] == pytest.approx(1.5 * np.pi + values[1, 0])


def test_bad_input():
    with pytest.raises(InvalidValue, match="lookahead must be from 1 to 8, not 0"):
        GoTo((0.0, 1.0), lookahead=0)
    with pytest.raises(InvalidValue, match="point must have shape"):
        GoTo((0.0, 1.0, 2.0))
    with pytest.raises(
        InvalidValue, match="direction must be an angle in radians from [+]Z, or None for no preference, not nan"
    ):
        FollowDirection(np.nan)
    for odd in ("left", [1.0, 2.0]):
        with pytest.raises(InvalidValue, match="direction must be an angle in radians"):
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
    assert stream.controller.command == {"direction": 0.0, "node": None}
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
