"""The planner: its tables against slow twins and exhaustive search, on small random characters."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from marey.control import GoTo, RandomWalk
from marey.control.clip_model import ClipModel, start_clips
from marey.control.dead_ends import find_limits
from marey.control.joins import fit_join, quadratic_terms
from marey.control.plan_file import load_plan, save_plan
from marey.control.planner import Planner, get_planner
from marey.control.planner_kernels import (
    ClipCosts,
    ClipStarts,
    GoalValues,
    PathTable,
    lay_paths,
    measure_facing,
    read_rows,
    weigh_clips,
)
from marey.control.planner_tables import link_states
from marey.errors import ParseError
from marey.maths import rigid2d
from marey.maths.value_kernels import GoalGrid
from marey.pmg import ControlState, TransitionOption
from marey.pmg.costs import half_window
from marey.pmg.seam import find_seam
from marey.pmg.stream import find_change_window
from tests.control.random_characters import random_character, two_pace_character
from tests.pmg.characters import fresh_walker, small_walker
from tests.tiers import mostly_slow
from tests.twins import steering as twins


def next_state(planner, node, parameters, place):
    ranges = planner.graph.transition_ranges(node, parameters)
    options = tuple(TransitionOption(planner.graph[name], each, place) for name, each in ranges.items())
    return ControlState(node, np.asarray(parameters), options, 1.0, planner.graph)


def follow_plan(planner, node, parameters, goal, max_clips=30):
    """Cost in seconds of the clips that the planner chooses, one by one, as the model predicts them."""
    kind, place, gone, planned = "point" if np.isnan(goal[0]) else "pose", np.zeros(3), 0.0, []
    for _ in range(max_clips):
        state = next_state(planner, node, parameters, place)
        choice, *planned = planner.go_to(state, goal, planned)
        option = state.option(choice.node)
        costs = planner._weigh_first(state, option, choice.parameters[None], planner._goal(kind, goal, choice.node))
        if costs.done[0] <= costs.onward[0]:
            return gone + costs.done[0]
        node, parameters, place, gone = choice.node, choice.parameters, costs.places[0], gone + costs.spent[0]
    return np.inf


def search_all(planner, node, parameters, goal, depth, n=9):
    """Lowest cost in seconds of all sequences of a few clips, with n parameters of each box."""
    kind, unit, best = "point" if np.isnan(goal[0]) else "pose", np.linspace(0.0, 1.0, n)[:, None], np.inf
    level = [(node, np.atleast_2d(parameters), np.zeros((1, 3)), np.zeros(1))]
    for _ in range(depth):
        ahead = []
        for name, before, places, gone in level:
            for target in planner.model.tables[name].boxes:
                starts = planner.model.follow(name, target, before, places, unit)
                row = np.repeat(np.arange(len(before)), n)
                costs = planner._weigh(target, starts, planner._goal(kind, goal, target), name, before[row])
                best = min(best, (gone[row] + costs.done).min())
                ahead.append((target, starts.parameters, costs.places, gone[row] + costs.spent))
        level = ahead
    return best


@pytest.fixture
def coarse_headings(monkeypatch):
    """A small table of points with headings, for speed."""
    monkeypatch.setattr("marey.control.planner_tables._POSE_GRID", (0.3, 0.3, 4.0, 16, 12))


@pytest.mark.parametrize("seed", mostly_slow(range(4), "plans for more characters", n_fast=2))
def test_plans_arrive_nearly_as_soon_as_any_sequence_of_clips(seed):
    char = random_character(seed, 1 + seed % 2)
    planner, rng = get_planner(char), np.random.default_rng(seed)
    for _ in range(4):
        angle, away = rng.uniform(-1.5, 1.5), rng.uniform(0.8, 2.6)
        goal = np.array([np.nan, away * np.sin(angle), away * np.cos(angle)])
        start = "n0", char["n0"].middle
        best = search_all(planner, *start, goal, 4)
        took = follow_plan(planner, *start, goal)
        assert took <= (1.1 * best + 0.05 if np.isfinite(best) else 30.0)


@pytest.mark.parametrize("seed", mostly_slow(range(3), "plans for more characters", n_fast=1))
def test_every_point_and_heading_is_reached(seed):
    char = random_character(10 + seed, 1 + seed % 3)
    planner, rng = get_planner(char), np.random.default_rng(seed)
    for k in range(6):
        goal = np.array([np.nan if k % 2 else rng.uniform(-3.0, 3.0), *rng.uniform(-8.0, 8.0, 2)])
        start = rng.uniform(char["n0"].low, char["n0"].high)
        assert np.isfinite(follow_plan(planner, "n0", start, goal))


def _length_of_plan(char, goal, short_way):
    """Length in meters of the clips that lead to a goal, and the seconds that they take."""
    planner = Planner(char, short_way=short_way)
    node, parameters, place, length, gone = "slow", char["slow"].middle, np.zeros(3), 0.0, 0.0
    for _ in range(30):
        state = next_state(planner, node, parameters, place)
        choice = planner.go_to(state, goal)[0]
        option = state.option(choice.node)
        starts = planner.model.begin(state, option, choice.parameters[None])
        path = planner.model.lay_paths(choice.node, starts)[0][0]
        node, parameters, place = choice.node, choice.parameters, path[-1]
        length += np.linalg.norm(np.diff(path[:, 1:], axis=0), axis=1).sum()
        gone += 0.8 * char[node].space.seconds
        if np.linalg.norm(path[:, 1:] - goal[1:], axis=1).min() < 0.3:
            return length, gone
    return np.inf, np.inf


def test_short_ways_are_shorter_and_take_longer(monkeypatch):
    monkeypatch.setattr("marey.control.planner_tables._POINT_GRID", (0.3, 0.3, 6.0, 24, 1))
    monkeypatch.setattr("marey.control.planner_tables.MAX_STEPS", {"point": 500})
    char = two_pace_character()
    goal = np.array([np.nan, 0.4, -3.0])
    soon, short = (_length_of_plan(char, goal, each) for each in (0.0, 0.9))
    assert short[0] < 0.8 * soon[0]
    assert soon[1] < 0.9 * short[1] < np.inf


def test_lengths_count_in_proportion():
    char = two_pace_character()
    seconds = {name: table.timing[:, 1] for name, table in ClipModel(char).tables.items()}
    for name, table in ClipModel(char).count_lengths(0.6).tables.items():
        np.testing.assert_allclose(table.timing[:, 1], 0.4 * seconds[name] + 0.6 * table.lengths / 4.8, rtol=1e-3)


def test_the_model_predicts_where_clips_lead():
    char = small_walker()
    model, seen = ClipModel(char), []

    class Spy(RandomWalk):
        def choose(self, state):
            choice = super().choose(state)
            option = state.options[0]
            paths, seconds = model.lay_paths("walk", model.begin(state, option, choice.parameters[None]))
            seen.append((option.place, paths[0, -1], state.seconds, seconds[0]))
            return choice

    char.stream(Spy(0), feet=None, parameters=[0.0]).record(20.0)
    pairs = list(itertools.pairwise(seen))
    off = [np.linalg.norm(first[1][1:] - second[0][1:]) for first, second in pairs]
    assert np.mean(off) < 0.08
    assert np.max(off) < 0.2
    turns = [rigid2d.wrap_angle(first[1][0] - second[0][0]) for first, second in pairs]
    assert np.abs(turns).max() < np.radians(6.0)
    late = [first[2] + first[3] - second[2] for first, second in pairs]
    assert np.abs(late).max() < 0.15


def test_boxes_are_interpolated():
    char = small_walker()
    model = ClipModel(char)
    states = np.array([[-0.4], [0.7]])
    starts = model.follow("walk", "walk", states, np.zeros((2, 3)), np.array([[0.0], [1.0]]))
    for row, state in enumerate(states):
        box = char.edges["walk", "walk"].transition_range(state)
        np.testing.assert_allclose(starts.parameters[2 * row : 2 * row + 2, 0], [box.low[0], box.high[0]], atol=0.08)


def test_transitions_that_a_stream_would_change_are_avoided():
    char = small_walker()
    model, rng = ClipModel(char), np.random.default_rng(0)
    edge, node = char.edges["walk", "walk"], char["walk"]
    before = node.samples(40, rng)
    after = node.samples(40, rng)
    seconds = model.penalties("walk", "walk", before, after)
    inside = [
        ((q >= b.low) & (q <= b.high)).all()
        for p, q in zip(before, after, strict=True)
        for b in [edge.transition_range(p)]
    ]
    assert np.mean(seconds[inside] > 0.0) < 0.1
    assert np.mean(seconds[~np.array(inside)] > 0.0) > 0.3


def test_clips_are_placed_as_they_are_joined():
    char = small_walker()
    join = fit_join(char, "walk", "walk")
    rng = np.random.default_rng(0)
    before, after, here = rng.uniform(-1.0, 1.0, (9, 1)), rng.uniform(-1.0, 1.0, (9, 1)), rng.normal(size=(9, 3))
    both = (np.concatenate([before, after], axis=1) - join.middle) / join.scale
    wanted = rigid2d.compose(here, quadratic_terms(both) @ join.fitted)
    got = join.predict_entry(before, after, here)
    np.testing.assert_allclose(got[:, 1:], wanted[:, 1:], atol=1e-12)
    np.testing.assert_allclose(rigid2d.wrap_angle(got[:, 0] - wanted[:, 0]), 0.0, atol=1e-12)
    # A clip that continues as before is placed nearly end to end.
    straight = join.predict_entry(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 3)))
    assert np.abs(straight).max() < 0.06


def test_plans_change_clips_at_moments_at_which_a_stream_can():
    char = small_walker()
    model = ClipModel(char)
    first, last = find_change_window(char, char.fps)
    parameters, table = np.linspace(-1.0, 1.0, 9)[:, None], model.tables["walk"]
    starts = start_clips(parameters, np.full(9, 0.2), np.zeros((9, 3)))
    held, moments = model.hold_clips("walk", starts, first), model.find_changes("walk").moments
    assert len(moments) > 2
    duration = np.interp(parameters[:, 0], table.grid[:, 0], table.timing[:, 1])
    leave = np.interp(parameters[:, 0], table.grid[:, 0], table.timing[:, 0])
    some = held.rows > 0
    assert some.any()
    np.testing.assert_array_equal(held.until[some], moments[held.rows[some] // len(table.grid) - 1])
    assert (held.until[some] >= 0.2 + first / duration[some]).all()
    assert (held.until[some] <= leave[some] - last / duration[some]).all()
    late = model.hold_clips("walk", starts._replace(enter=np.full(9, 0.7)), first)
    assert (late.until == 1.0).all()
    assert not late.rows.any()


def test_changes_within_clips_cost_what_their_transitions_cost():
    char = small_walker()
    model, node = ClipModel(char), char["walk"]
    changes, grid = model.find_changes("walk"), model.tables["walk"].grid
    bad, moment = char.edges["walk", "walk"].bad, float(changes.moments[1])
    costs = changes.costs[1, :, 0].reshape(len(grid), -1)
    np.testing.assert_allclose(np.diagonal(costs), 0.0, atol=0.02)
    half = half_window(char.seams, char.fps)
    for a, b in ((3, 9), (12, 15), (20, 8)):
        seam = find_seam(node.motion(grid[a]), node.motion(grid[b]), moment, moment, half, 0, "body")
        assert costs[a, b] * bad == pytest.approx(seam.cost, abs=0.01)
    same = model.change_penalties("walk", moment, grid, grid)
    far = model.change_penalties("walk", moment, grid[[0]], grid[[-1]])
    assert not same.any()
    assert far[0] > 1.0


def test_characters_that_change_clips_face_a_direction_sooner():
    char = small_walker()
    model, targets = ClipModel(char), {"walk": ["walk"]}
    n = [len(link_states(model, targets, 500, avoid=True, changes=each).first) - 1 for each in (False, True)]
    assert n == [model.n_states, (1 + len(model.find_changes("walk").moments)) * model.n_states]
    values = Planner(char).table("direction").values
    assert len(values) == n[1]
    straight, aside = model.tables["walk"].grid[:, 0].argmin(), 18
    # A clip that can be changed now faces the direction sooner than one that must be left first.
    assert values[n[0] + straight, aside] < values[straight, aside] + model.tables["walk"].timing[straight, 1]


def test_turns_that_never_become_possible_again_are_reported():
    free = random_character(0)
    assert find_limits(free) == ()
    edge = free.edges["n0", "n0"]
    # After clips of the right half, only the sharpest right turns follow.
    trapped = edge.parameters < edge.parameters.mean()
    high = np.where(trapped, edge.parameters[1], edge.high)
    free._put(edge=replace(edge, low=np.minimum(edge.low, high), high=high, fallback=np.minimum(edge.fallback, high)))
    (limit,) = find_limits(free)
    assert (limit.node, limit.side) == ("n0", "left")
    assert limit.turn < 0.5 * limit.usual
    assert limit.high[0] < 0.1
    assert "cannot turn left (after other clips" in limit.describe(free)
    assert "add clips that turn left" in limit.describe(free)


def test_tables_survive_files(tmp_path, coarse_headings):
    char = random_character(1, 2)
    path = save_plan(char, tmp_path / "char.json")
    assert path.name == "char.plan.npz"
    again, other = random_character(1, 2), random_character(2, 2)
    assert load_plan(again, tmp_path / "char.json")
    for kind, short_way in {"direction": 0.0, "point": 0.75, "pose": 0.75, "node": 0.0}.items():
        a, b = (get_planner(each, None, short_way).table(kind) for each in (char, again))
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.grid.distances, b.grid.distances)
        assert a.grid[1:] == b.grid[1:]
    computed, loaded = get_planner(char).model, get_planner(again).model
    assert set(loaded.joins) == set(computed.joins) == set(char.edges)
    for edge in char.edges:
        np.testing.assert_array_equal(loaded.joins[edge].fitted, computed.joins[edge].fitted)
        np.testing.assert_array_equal(loaded.costs[edge], computed.costs[edge])
    assert set(loaded.changes) == set(computed.changes) != set()
    for name, changes in computed.changes.items():
        np.testing.assert_array_equal(loaded.changes[name].moments, changes.moments)
        np.testing.assert_array_equal(loaded.changes[name].costs, changes.costs)
    assert not load_plan(other, tmp_path / "char.json"), "tables of another character"
    assert not load_plan(other, tmp_path / "other.json")


def test_a_damaged_plan_is_refused(tmp_path, coarse_headings):
    char = random_character(1)
    path = save_plan(char, tmp_path / "char.json")
    with np.load(path) as found:
        parts = dict(found)
    for name, message in {"costs": "rows of edges must be", "changes": "moments do not match"}.items():
        np.savez(path, **parts | {name: parts[name][1:]})
        with pytest.raises(ParseError, match=message):
            load_plan(random_character(1), tmp_path / "char.json")


def test_planners_of_one_character_share_their_joins():
    char = random_character(1, 2)
    whole, part, short = (get_planner(char, *given) for given in ((), (("n0",),), (None, 0.5)))
    assert whole.model.joins is part.model.joins is short.model.joins
    assert whole.model.tables["n0"] is not short.model.tables["n0"]


def test_planners_are_cached_until_the_graph_changes():
    char = fresh_walker()
    char.connect("walk", "walk", n_source=4, n_target=12)
    known = get_planner(char)
    assert get_planner(char) is known
    char.connect("walk", "walk", n_source=5, n_target=12)
    assert get_planner(char) is not known


def test_tables_are_the_same_again():
    tables = [Planner(random_character(3)).table("point").values for _ in range(2)]
    np.testing.assert_array_equal(*tables)


def test_far_points_are_farther_in_time(coarse_headings):
    char = random_character(0)
    planner = get_planner(char)
    goals = np.array([[0.0, 0.0, far] for far in (3.0, 8.0, 30.0, 60.0)])
    paths, seconds = np.zeros((1, 2, 3)), np.zeros(1)
    took = planner.seconds_to(goals, "n0", char["n0"].middle[None], paths, seconds)
    assert (np.diff(took) > 0.0).all()
    assert took[3] - took[2] == pytest.approx(30.0 / char["n0"].space.speed, rel=0.1)


@pytest.mark.parametrize("heading", [np.nan, 0.4])
def test_kernels_are_their_slow_forms(heading):
    rng = np.random.default_rng(0)
    axes = np.array([[-1.0, 0.5, 5.0], [0.2, 0.3, 3.0]])
    paths, timing = np.cumsum(rng.normal(0.0, 0.1, (15, 6, 3)), axis=1), rng.uniform(0.6, 1.0, (15, 2))
    paths[..., 2] += np.linspace(0.0, 1.2, 6)
    n = 40
    parameters = rng.uniform((-1.0, 0.2), (1.0, 0.8), (n, 2))
    enter, here = rng.uniform(0.0, 0.4, n), rng.normal(0.0, 0.5, (n, 3))
    table, rows = PathTable(axes, paths, timing), 15 * rng.integers(0, 2, n)
    clips = ClipStarts(parameters, enter, here, rng.choice([0.5, 1.0], n), rows)
    ways, seconds = np.empty((n, 7, 3)), np.empty(n)
    lay_paths(table, clips, ways, seconds)
    leave = np.ascontiguousarray(timing[:, 0])
    np.testing.assert_allclose(ways, twins.laid(axes, paths, leave, clips, 7), atol=1e-9)
    stop, duration = twins.mixed(axes, timing, parameters).T
    np.testing.assert_allclose(
        seconds, (np.maximum(np.minimum(stop, clips.until), enter) - enter) * duration, atol=1e-12
    )
    found = np.empty((n, 6))
    read_rows(axes, np.ascontiguousarray(paths[..., 1]), parameters, found)
    np.testing.assert_allclose(found, twins.mixed(axes, paths[..., 1], parameters), atol=1e-12)
    place, limits = np.array([heading, 0.2, 0.6]), np.array([0.5, 3.0, 0.8, 2.0])
    grid = GoalGrid(np.array([0.0, 0.5, 1.5, 3.0]), 8, 1 if np.isnan(heading) else 6, 0.5)
    values = rng.uniform(0.0, 4.0, (30, 4 * 8 * grid.n_headings))
    out = ClipCosts(np.empty((n, 3)), np.empty(n), np.empty(n), np.empty(n))
    weigh_clips(table, clips, GoalValues(place, limits, values, grid, 0.0), 7, out)
    np.testing.assert_allclose(out.places, ways[:, -1])
    done = [twins.cheapest_pass(way, place, limits, each) for way, each in zip(ways, seconds, strict=True)]
    assert np.isfinite(done).sum() > 4
    np.testing.assert_allclose(out.done, done, atol=5e-3)
    ahead = [
        twins.mixed(axes, values[row : row + 15], each[None])[0] for row, each in zip(rows, parameters, strict=True)
    ]
    after = [twins.read_goal(grid, row, end, place) for row, end in zip(ahead, ways[:, -1], strict=True)]
    np.testing.assert_allclose(out.onward, seconds + after, atol=1e-9)


def test_time_off_a_direction_is_counted():
    limits = np.array([0.2, 0.2])
    out = np.empty((2, 4))
    measure_facing(np.array([0.0, np.pi / 2]), np.array([2.0, 2.0]), limits, out)
    assert out[0, 0] == 0.0
    assert out[0, 2] == pytest.approx(2.0)
    assert out[1, 1] < out[0, 1] < out[1, 3]


def test_a_walk_to_a_point_is_played_as_planned():
    char = small_walker()
    stream = char.stream(GoTo((2.0, 4.0)), feet=None)
    stream.record(5.0)
    asked = np.array([each.requested for each in stream.transitions])
    played = np.array([each.played for each in stream.transitions])
    assert np.mean(np.abs(asked - played) < 0.02) > 0.7
