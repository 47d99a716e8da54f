"""Longer, time-aligned transitions, added to a graph as motions of their own."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue, NoResult
from marey.graph import MotionGraph
from marey.graph.registered import with_registered_transitions
from marey.maths import quat, rigid2d
from tests.graph.clips import sneaks, walks

N_CLIPS = 5


@pytest.fixture(scope="module")
def plain() -> MotionGraph:
    """Return walks and sneaks without transitions between them."""
    return MotionGraph.build((*walks(), *sneaks()), 0.08)


@pytest.fixture(scope="module")
def graph(plain) -> MotionGraph:
    return with_registered_transitions(plain, threshold=0.2, max_transitions=60)


def own(graph: MotionGraph) -> np.ndarray:
    """Return the edges that play motions of their own."""
    return np.flatnonzero((graph.edges.clips >= N_CLIPS).all(axis=1))


def test_styles_that_could_not_be_got_to_can_be_now(plain, graph):
    assert any("no route" in report for report in plain.findings)
    assert graph.findings == ()
    labels = graph.random_walk(120.0, rng=0, transition_interval=0.3).motion(feet=None).labels.names
    assert set(labels) == {"walk", "sneak"}


def test_nothing_that_the_graph_had_is_lost(plain, graph):
    def places(g: MotionGraph) -> set[tuple[int, ...]]:
        jumps = g.edges.blends
        return {(*c, *s) for c, s in zip(g.edges.clips[jumps].tolist(), g.edges.starts[jumps].tolist(), strict=True)}

    assert places(plain) < places(graph)
    assert [c.n_frames for c in graph.components] >= [c.n_frames for c in plain.components]


def test_they_are_longer_and_of_more_than_one_length(graph):
    lengths = set(graph.edges.n_frames[own(graph)].tolist())
    assert len(lengths) >= 2
    assert min(lengths) > 2 * graph.half_width + 1
    assert (graph.edges.distances[own(graph)] > 0.08).all()
    assert (graph.edges.distances[own(graph)] <= 0.2).all()


def test_they_begin_where_one_clip_is_left_and_end_where_the_other_is_entered(graph):
    edges = graph.edges
    for edge in own(graph)[:10]:
        played = graph.walk([edge]).motion(feet=None)
        (a, leave), (b, enter) = graph.nodes[edges.tails[edge]], graph.nodes[edges.heads[edge]]
        one, other = graph.clips[a], graph.clips[b].moved(edges.moves[edge])
        for motion, frame, at in ((one, leave, 0), (other, enter - 1, -1)):
            assert quat.angle_between(played.rotations[at], motion.rotations[frame]).max() < 1e-6
            np.testing.assert_allclose(played.root_positions[at], motion.root_positions[frame], atol=1e-6)


def test_both_worlds_show_the_same_motion(graph):
    edges = graph.edges
    for edge in own(graph)[:10]:
        here, there = (graph.clips[c] for c in edges.clips[edge])
        np.testing.assert_allclose(
            rigid2d.apply(edges.moves[edge], there.root_positions), here.root_positions, atol=1e-9
        )


def test_walks_do_not_jump(graph):
    edge = int(own(graph)[0])
    into = next(e for e in range(len(graph.edges)) if graph.edges.heads[e] == graph.edges.tails[edge])
    following = graph.out_edges(int(graph.edges.heads[edge]))[0]
    result = graph.walk([into, edge, following]).motion(feet=None)
    change = [
        max(float(np.linalg.norm(np.diff(m.world().positions, axis=0), axis=-1).max()) for m in motions)
        for motions in ((*walks(), *sneaks()), [result])
    ]
    assert change[1] <= 1.15 * change[0]


def test_it_serves_like_any_other_graph(graph, tmp_path):
    assert graph.follow([[0.0, 0.0], [0.5, 3.0], [2.0, 5.0]]).mean_distance < 0.15
    graph.save(tmp_path / "g.npz")
    again = MotionGraph.load(tmp_path / "g.npz").random_walk(8.0, rng=1).motion()
    np.testing.assert_array_equal(again.rotations, graph.random_walk(8.0, rng=1).motion().rotations)


def test_a_graph_that_has_them_is_not_given_more(graph):
    with pytest.raises(InvalidValue, match="already has registered transitions"):
        with_registered_transitions(graph)


def test_missing_registered_transitions_are_reported(plain):
    with pytest.raises(NoResult, match=r"at any of \d+ frame pairs between 0\.073 and 0\.100 m"):
        with_registered_transitions(plain, threshold=0.1, lengths=(20.0,))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lengths": ()}, "at least one"),
        ({"lengths": (0.0,)}, "lengths in seconds"),
        ({"max_transitions": 0}, "at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(plain, options, message):
    with pytest.raises(InvalidValue, match=message):
        with_registered_transitions(plain, **options)
