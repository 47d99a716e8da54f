"""Graphs of Reitsma's lecture: similar poses are joined at once, and the offset fades out."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from marey.compare import pose_cost, similarity
from marey.errors import InvalidValue, NoResult
from marey.graph import MotionGraph
from marey.graph.similar import build_by_similarity
from marey.maths import quat, rigid2d
from marey.maths.ease import ease_in
from tests.graph.clips import sneaks, walks


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    return build_by_similarity(walks(), 0.8)


def jumps(graph: MotionGraph) -> np.ndarray:
    return np.flatnonzero(graph.edges.blends)


def ends(graph: MotionGraph, edge: int) -> tuple[int, int, int, int]:
    """Return the clip and frame i played last, and the clip and frame j that are similar."""
    (a, leave), (b, enter) = (graph.nodes[at[edge]] for at in (graph.edges.tails, graph.edges.heads))
    return int(a), int(leave) - 1, int(b), int(enter) - 1 - int(graph.edges.n_frames[edge])


def test_transitions_are_at_local_maxima_above_the_threshold(graph):
    seen = set()

    @cache
    def grid(a: int, b: int) -> np.ndarray:
        return similarity(pose_cost(graph.clips[a], graph.clips[b]))

    for edge in jumps(graph):
        a, i, b, j = ends(graph, edge)
        alike = grid(a, b)[i - 1 : i + 2, j - 1 : j + 2]
        assert alike[1, 1] >= 0.8
        assert alike[1, 1] == alike.max()
        seen.add((a, i, b, j))
    assert len(seen) == len(jumps(graph)) > 50
    assert any((b, j, a, i) in seen for a, i, b, j in seen)


def test_the_offset_fades_as_defined(graph):
    edge = int(jumps(graph)[7])
    a, i, b, j = ends(graph, edge)
    n = int(graph.edges.n_frames[edge])
    played = graph.walk([edge]).motion(feet=None)
    one, other = graph.clips[a], graph.clips[b].moved(graph.edges.moves[edge])
    fraction = ease_in((np.arange(n) + 1.0) / (n + 1.0))
    offset = quat.mul_inv(one.rotations[i], other.rotations[j])
    for k in range(n):
        now = other.rotations[j + 1 + k]
        wanted = quat.slerp(quat.mul(offset, now), now, fraction[k])
        assert quat.angle_between(played.rotations[k], wanted).max() < 1e-7
        shift = (1.0 - fraction[k]) * (one.root_positions[i] - other.root_positions[j])
        np.testing.assert_allclose(played.root_positions[k], other.root_positions[j + 1 + k] + shift, atol=1e-12)


def test_after_the_fade_the_other_clip_continues(graph):
    edge = int(jumps(graph)[3])
    following = next(e for e in graph.out_edges(int(graph.edges.heads[edge])) if not graph.edges.blends[e])
    walk = graph.walk([edge, following])
    b, enter = graph.nodes[graph.edges.heads[edge]]
    n = int(graph.edges.n_frames[edge])
    last = walk.motion(feet=None)[n:]
    there = rigid2d.apply(graph.edges.moves[edge], graph.clips[b].root_positions[enter : enter + len(last)])
    np.testing.assert_allclose(last.root_positions, there, atol=1e-12)


def test_walks_do_not_jump(graph):
    result = graph.random_walk(60.0, rng=2, transition_interval=0.5).motion(feet=None)
    change = [
        max(float(np.linalg.norm(np.diff(m.world().positions, axis=0), axis=-1).max()) for m in motions)
        for motions in (walks(), [result])
    ]
    assert change[1] <= 1.15 * change[0]


def test_it_serves_like_any_other_graph(graph, tmp_path):
    followed = graph.follow([[0.0, 0.0], [0.5, 3.0], [2.0, 5.0]])
    assert followed.mean_distance < 0.3
    graph.save(tmp_path / "g.npz")
    again = MotionGraph.load(tmp_path / "g.npz").random_walk(5.0, rng=1)
    np.testing.assert_array_equal(again.edges, graph.random_walk(5.0, rng=1).edges)


def test_too_different_clips_are_reported():
    graph = build_by_similarity((*walks()[:1], *sneaks()[:1]), 0.8)
    assert any("lower the similarity" in report for report in graph.findings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.0}, "greater than 0 and at most 1"),
        ({"threshold": 1.5}, "greater than 0 and at most 1"),
        ({"fade": 0.0}, "fade must be greater than 0 seconds"),
        ({"fade": 8.0}, "too short for transitions of 8 s; use longer clips or a smaller `fade=`"),
        ({"velocity": -1.0}, "velocity"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(InvalidValue, match=message):
        build_by_similarity(walks()[:1], **options)


def test_a_threshold_that_leaves_nothing_reports_the_similarities():
    with pytest.raises(NoResult, match=r"the largest that works is 0\.\d+") as report:
        build_by_similarity(walks()[:1], 0.999)
    most = float(re.search(r"is (0\.\d+)", str(report.value))[1])
    assert build_by_similarity(walks()[:1], most).n_transitions > 0
    with pytest.raises(NoResult):
        build_by_similarity(walks()[:1], most + 0.002)


def test_frames_at_other_heights_are_not_joined_even_if_similar():
    low = walks()[0]
    up = replace(low, root_positions=low.root_positions + [0.0, 0.4, 0.0], name="up")
    graph = build_by_similarity((low, up), 0.8)
    for edge in jumps(graph):
        a, _, b, _ = ends(graph, edge)
        assert a == b
    both = build_by_similarity((low, up), 0.8, max_distance=1.0)
    assert any(a != b for a, _, b, _ in (ends(both, edge) for edge in jumps(both)))


def test_the_graph_knows_how_it_was_built(graph, tmp_path):
    assert graph.build_info[:2] == ("similarity", 0.8)
    graph.save(tmp_path / "g.npz")
    assert MotionGraph.load(tmp_path / "g.npz").build_info == graph.build_info
