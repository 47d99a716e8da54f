"""Walks to a position: paths of bounded curvature, and walks along them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from marey.core.placement import find_placement
from marey.errors import InvalidValue, MareyWarning, NoResult, UnknownName
from marey.graph import MotionGraph, Walk
from marey.graph.follow import find_walked_path
from marey.graph.reach_kernels import measure_dubins_path
from marey.maths import rigid2d
from tests.graph.clips import two_styles, walking_graph


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    return walking_graph()


@pytest.fixture(scope="module")
def walk(graph) -> Walk:
    return graph.random_walk(2.0, rng=1)


def slow_length(x, z, ahead, goal_x, goal_z, heading, radius) -> float:
    """Return the length of the shortest arc, line and arc, by trying first arcs of all lengths with lines that fit."""
    best = np.inf
    turned = np.linspace(0.0, 2.0 * np.pi, 200_001)
    for first in (1.0, -1.0):
        now = ahead + first * turned
        # Move around a center to the left or right of the start; in x, z, the left of an angle is (cos, -sin).
        px = x + first * radius * (np.cos(ahead) - np.cos(now))
        pz = z + first * radius * (np.sin(now) - np.sin(ahead))
        for last in (1.0, -1.0):
            arc = np.mod(last * (heading - now), 2.0 * np.pi)
            ax = last * radius * (np.cos(now) - np.cos(heading))
            az = last * radius * (np.sin(heading) - np.sin(now))
            left_x, left_z = goal_x - px - ax, goal_z - pz - az
            along = left_x * np.sin(now) + left_z * np.cos(now)
            across = left_x * np.cos(now) - left_z * np.sin(now)
            fits = (np.abs(across) < 1e-3) & (along > -1e-3)
            best = min(best, (radius * turned + along + radius * arc)[fits].min(initial=np.inf))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_the_remaining_distance_is_the_shortest_dubins_path(seed):
    rng = np.random.default_rng(seed)
    x, z, goal_x, goal_z = rng.normal(0, 3, 4)
    ahead, heading = rng.uniform(-3, 3, 2)
    found = measure_dubins_path(x, z, ahead, goal_x, goal_z, heading, 0.9)
    assert found == pytest.approx(slow_length(x, z, ahead, goal_x, goal_z, heading, 0.9), abs=5e-3)
    # The way back is as long, and if the heading does not matter, the path is not longer.
    back = measure_dubins_path(goal_x, goal_z, heading + np.pi, x, z, ahead + np.pi, 0.9)
    assert found == pytest.approx(back, abs=1e-9)
    assert measure_dubins_path(x, z, ahead, goal_x, goal_z, np.nan, 0.9) <= found + 1e-9


def test_dubins_paths_ahead_are_straight_and_back_take_half_a_turn_more():
    assert measure_dubins_path(1.0, 0.0, 0.0, 1.0, 5.0, np.nan, 2.0) == pytest.approx(5.0)
    assert measure_dubins_path(0.0, 0.0, 0.0, 2.0, -6.0, np.pi, 1.0) == pytest.approx(np.pi + 6.0)


@pytest.mark.parametrize("heading", [None, 0.5])
def test_a_walk_continues_to_a_position_and_ends_there(walk, heading):
    longer = walk.extend_to((3.0, 4.0), heading)
    np.testing.assert_array_equal(longer.edges[: len(walk.edges)], walk.edges)
    np.testing.assert_array_equal(longer.start, walk.start)
    landing = longer.land_at((3.0, 4.0), heading)
    result = landing.motion()
    end = find_placement(result, len(result) - 1)
    np.testing.assert_allclose(end[1:], [3.0, 4.0], atol=1e-9)
    if heading is not None:
        np.testing.assert_allclose(end[0], heading, atol=1e-9)
    assert landing.shift <= 0.3


@pytest.mark.parametrize("clip", ["walk1", "walk2"])
def test_a_walk_continues_into_a_clip_at_a_position(graph, walk, clip):
    longer = walk.extend_into_clip(clip, (1.0, 7.0), 0.0)
    np.testing.assert_array_equal(longer.edges[: len(walk.edges)], walk.edges)
    edge = int(longer.edges[-1])
    number = graph.index(clip)
    assert graph.nodes[graph.edges.heads[edge], 0] == number
    frame = graph.nodes[graph.edges.heads[edge], 1] - 1
    motion = graph.clips[number]
    own = find_placement(motion[:1], 0)
    wanted = rigid2d.compose(np.array([0.0, 1.0, 7.0]), rigid2d.invert(own))
    there = rigid2d.apply(wanted, motion.travel[frame, [0, 2]])
    here = longer.motion(feet=None).travel[-1, [0, 2]]
    assert np.hypot(*(here - there)) < 0.5
    assert abs(rigid2d.wrap_angle(longer.places[-1][0] - wanted[0])) < 0.5


def test_invalid_targets_are_refused(walk):
    with pytest.raises(InvalidValue, match="heading must be a finite number of radians or None"):
        walk.extend_to((3.0, 4.0), np.nan)
    with pytest.raises(UnknownName, match="no clip 'walk7' in this graph; there are walk0, walk1, walk2"):
        walk.extend_into_clip("walk7", (1.0, 1.0), 0.0)
    with pytest.raises(
        NoResult, match=r"no walk leads to the clip 'walk1' at that position: the best walk .* 0\.\d\d m"
    ):
        walk.extend_into_clip("walk1", (1.0, 7.0), 0.0, max_error=1e-9)


@pytest.mark.parametrize("at", [(0.1, 0.1, 1.5), (-2.0, 1.0, 3.0), (3.0, -2.0, None), (0.0, 6.0, -1.0)])
def test_a_place_is_reached_from_the_origin_wherever_it_is(graph, at):
    walk = graph.reach(at[:2], at[2], rng=3)
    landing = walk.land_at(at[:2], at[2])
    result = landing.motion()
    assert landing.shift <= 0.3
    np.testing.assert_allclose(result.travel[-1, [0, 2]], at[:2], atol=1e-9)
    np.testing.assert_allclose(find_walked_path(walk)[0], 0.0, atol=1e-9)
    assert not graph.edges.blends[walk.edges[0]]


@pytest.mark.parametrize("at", [(1.0, 4.0, 0.0), (0.0, 3.0, 1.0), (-2.0, 5.0, -0.8)])
def test_a_clip_is_entered_in_its_first_seconds(graph, at):
    walk = graph.reach(at[:2], at[2], clip="walk2", start_clip="walk0")
    clip, frame = graph.nodes[graph.edges.heads[walk.edges[-1]]]
    assert (graph.clips[clip].name, frame <= 3.0 * graph.fps) == ("walk2", True)
    assert graph.nodes[graph.edges.tails[walk.edges[0]], 0] == 0
    motion = graph.clips[2]
    own = find_placement(motion[:1], 0)
    wanted = rigid2d.compose(np.array([at[2], *at[:2]]), rigid2d.invert(own))
    assert abs(rigid2d.wrap_angle(walk.places[-1][0] - wanted[0])) < 0.5
    there = rigid2d.apply(wanted, motion.travel[frame, [0, 2]])
    assert np.hypot(*(rigid2d.apply(walk.places[-1], motion.travel[frame, [0, 2]]) - there)) < 0.6


def test_circles_and_labels_are_kept_on_the_way():
    graph = two_styles()
    circle = np.array([[0.0, 2.5, 0.5]])
    walk = graph.reach((0.0, 5.0), None, label="walk", avoid=circle)
    assert np.hypot(*(find_walked_path(walk) - circle[0, :2]).T).min() > 0.5
    assert walk.land_at((0.0, 5.0)).shift < 0.3
    result = walk.motion(feet=None)
    assert result.labels.mask("walk", len(result)).all()
    with pytest.raises(NoResult, match="no walk leads to that position and avoids the circles"):
        graph.reach((0.0, 5.0), None, avoid=[[0.0, 0.0, 2.0]])


def test_the_end_of_a_walk_is_replanned(graph):
    walk = graph.follow([[0.0, 0.0], [0.0, 6.0]]).walk
    other = walk.replan_end((0.4, 6.2), 0.6)
    assert other.land_at((0.4, 6.2), 0.6).shift < 0.2
    shared = min(len(walk.edges), len(other.edges))
    same = int(np.argmin(np.append(walk.edges[:shared] == other.edges[:shared], False)))
    assert same > 0
    assert walk.replan_end(walk.end[1:], float(walk.end[0])) is walk


def test_walks_are_moved_and_padded(graph):
    walk = graph.shortest_walk("walk0", "walk2")
    longer = walk.pad(0.4, 1.0)
    assert len(walk) <= len(longer) <= len(walk) + round(1.0 * graph.fps) + graph.edges.n_frames.max() + 15
    at = int(np.flatnonzero(longer.edges == walk.edges[0])[0])
    np.testing.assert_array_equal(longer.edges[at : at + len(walk.edges)], walk.edges)
    put = longer.place_at((1.0, 2.0), 0.3)
    np.testing.assert_allclose(put.motion(feet=None).travel[0, [0, 2]], [1.0, 2.0], atol=1e-9)
    gone = np.diff(find_walked_path(put)[[0, 7]], axis=0)[0]
    assert abs(np.arctan2(*gone) - 0.3) < 0.4
    np.testing.assert_allclose(put.place_at((0.0, 0.0)).start[0], put.start[0])


def test_the_shortest_walk_between_clips_is_the_shortest(graph):
    from marey.graph import shortest_walk

    found = graph.shortest_walk("walk0", "walk2")
    assert graph.nodes[graph.edges.tails[found.edges[0]], 0] == 0
    assert graph.nodes[graph.edges.heads[found.edges[-1]], 0] == 2
    mine, others = (np.flatnonzero(graph.nodes[:, 0] == k) for k in (0, 2))
    lengths = [len(shortest_walk(graph, int(a), int(b))) for a in mine[::9] for b in others[::9]]
    assert len(found) <= min(lengths)
    loop = graph.shortest_walk("walk0", "walk0")
    assert len(loop) == graph.edges.n_frames[loop.edges].sum() > 0


def test_clips_without_a_connection_are_named():
    apart = MotionGraph.build(two_styles().clips, 0.06)
    with pytest.raises(NoResult, match="no route through the graph leads from clip 'walk0' to clip 'sneak1'"):
        apart.shortest_walk("walk0", "sneak1")


def test_a_long_detour_is_reported(graph):
    walk = graph.follow([[0.0, 0.0], [0.0, 6.0]]).walk
    with pytest.warns(
        MareyWarning, match=r"makes a detour that takes \d+\.\d s longer and leads up to \d\.\d m away; leave out"
    ) as caught:
        longer = walk.replan_end((0.1, 6.0), 3.0)
    assert len(longer) > len(walk) + 2.0 * graph.fps
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        walk.replan_end((0.4, 6.2), 0.6)
