"""On to a place: bends that no turn is too sharp for, and walks along them."""

from __future__ import annotations

import numpy as np
import pytest

from marey.edit._figure import place
from marey.errors import InvalidValue, NoResult, UnknownName
from marey.graph import MotionGraph, Walk
from marey.graph.approach import bend
from marey.maths import rigid2d
from tests.graph.clips import two_styles, walking_graph


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    return walking_graph()


@pytest.fixture(scope="module")
def walk(graph) -> Walk:
    return graph.random_walk(2.0, rng=1)


@pytest.mark.parametrize("heading", [None, 0.4, 2.5, -1.9])
@pytest.mark.parametrize("seed", range(4))
def test_a_bend_begins_and_ends_as_it_should_and_turns_no_sharper(seed, heading):
    chance = np.random.default_rng(seed)
    start, goal, ahead, radius = chance.normal(0, 4, 2), chance.normal(0, 4, 2) + 8.0, chance.uniform(-3, 3), 1.2
    points = bend(start, ahead, goal, heading, radius)
    np.testing.assert_allclose(points[[0, -1]], [start, goal], atol=1e-9)
    steps = np.diff(points, axis=0)
    angles = np.unwrap(np.arctan2(*steps.T))
    lengths = np.hypot(*steps.T)
    assert abs(rigid2d.wrap_angle(angles[0] - ahead)) < 0.07
    if heading is not None:
        assert abs(rigid2d.wrap_angle(angles[-1] - heading)) < 0.07
    assert (np.abs(np.diff(angles)) / lengths[1:]).max() < 1.05 / radius
    away = float(np.hypot(*(goal - start)))
    assert away <= lengths.sum() < away + 4.0 * np.pi * radius


def test_straight_ahead_the_bend_is_straight():
    points = bend([1.0, 0.0], 0.0, [1.0, 5.0], None, 2.0)
    np.testing.assert_allclose(points[:, 0], 1.0, atol=1e-9)
    np.testing.assert_allclose(np.hypot(*np.diff(points, axis=0).T).sum(), 5.0)


def test_a_bend_is_the_shortest_of_its_kind():
    # Behind and facing back: half a turn on the spot, then straight.
    points = bend([0.0, 0.0], 0.0, [2.0, -6.0], np.pi, 1.0)
    np.testing.assert_allclose(np.hypot(*np.diff(points, axis=0).T).sum(), np.pi + 6.0, rtol=1e-3)


@pytest.mark.parametrize("heading", [None, 0.5])
def test_a_walk_goes_on_to_a_place_and_lands_there(walk, heading):
    longer = walk.led_to((3.0, 4.0), heading)
    np.testing.assert_array_equal(longer.edges[: len(walk.edges)], walk.edges)
    np.testing.assert_array_equal(longer.start, walk.start)
    made, landing = longer.landed((3.0, 4.0), heading)
    end = place(made.skeleton, made.world(), len(made) - 1)
    np.testing.assert_allclose(end[1:], [3.0, 4.0], atol=1e-9)
    if heading is not None:
        np.testing.assert_allclose(end[0], heading, atol=1e-9)
    assert landing.shift <= 0.3


@pytest.mark.parametrize("clip", ["walk1", "walk2"])
def test_a_walk_goes_on_into_a_clip_at_a_place(graph, walk, clip):
    longer = walk.led_into(clip, (1.0, 7.0), 0.0)
    np.testing.assert_array_equal(longer.edges[: len(walk.edges)], walk.edges)
    edge = int(longer.edges[-1])
    number = graph.clip_index(clip)
    assert graph.nodes[graph.edges.heads[edge], 0] == number
    frame = graph.nodes[graph.edges.heads[edge], 1] - 1
    motion = graph.clips[number]
    own = place(motion[:1].skeleton, motion[:1].world(), 0)
    wanted = rigid2d.compose(np.array([0.0, 1.0, 7.0]), rigid2d.invert(own))
    there = rigid2d.apply(wanted, motion.travel[frame, [0, 2]])
    here = longer.motion(clean=False).travel[-1, [0, 2]]
    assert np.hypot(*(here - there)) < 0.5
    assert abs(rigid2d.wrap_angle(longer.places[-1][0] - wanted[0])) < 0.5


def test_what_makes_no_sense_is_refused(walk):
    end = walk.graph.walk(walk.edges, walk.start).motion(clean=False).travel[-1, [0, 2]]
    with pytest.raises(InvalidValue, match="from where the walk ends, expected at least 0.5 m"):
        walk.led_to(end)
    with pytest.raises(InvalidValue, match="an angle in radians"):
        walk.led_to((3.0, 4.0), np.nan)
    with pytest.raises(UnknownName, match="no clip 'walk7' in this graph; there are walk0, walk1, walk2"):
        walk.led_into("walk7", (1.0, 1.0), 0.0)
    with pytest.raises(NoResult, match=r"no walk leads into 'walk1' at that place; the nearest is 0\.\d\d m off"):
        walk.led_into("walk1", (1.0, 7.0), 0.0, within=1e-9)


def test_the_quickest_walk_between_clips_is_the_quickest(graph):
    from marey.graph import shortest_walk

    found = graph.shortest_walk("walk0", "walk2")
    assert graph.nodes[graph.edges.tails[found.edges[0]], 0] == 0
    assert graph.nodes[graph.edges.heads[found.edges[-1]], 0] == 2
    mine, others = (np.flatnonzero(graph.nodes[:, 0] == k) for k in (0, 2))
    lengths = [len(shortest_walk(graph, int(a), int(b))) for a in mine[::9] for b in others[::9]]
    assert len(found) <= min(lengths)
    loop = graph.shortest_walk("walk0", "walk0")
    assert len(loop) == graph.edges.n_frames[loop.edges].sum() > 0


def test_there_may_be_no_way_between_clips():
    apart = MotionGraph.build(two_styles().clips, 0.06)
    with pytest.raises(NoResult, match="there is no walk from clip 'walk0' to clip 'sneak1'"):
        apart.shortest_walk("walk0", "sneak1")
