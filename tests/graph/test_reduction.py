"""Reduction: fewer transitions, and no loss beyond the allowed one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from marey.errors import InvalidValue
from marey.graph import MotionGraph
from marey.graph.reduction import ReductionResult, _backbone, _keep_edges, reduce_transitions
from tests.graph.clips import two_styles, walking_graph


@pytest.fixture(scope="module")
def styles() -> ReductionResult:
    return reduce_transitions(two_styles(), loss=0.1)


def transitions(graph: MotionGraph) -> set[tuple[int, ...]]:
    edges, jumps = graph.edges, graph.edges.blends
    return {(*c, *s) for c, s in zip(edges.clips[jumps].tolist(), edges.starts[jumps].tolist(), strict=True)}


def test_far_fewer_transitions_all_of_them_the_graphs_own(styles):
    result, report = styles.graph, styles
    assert result.n_transitions < 0.5 * two_styles().n_transitions
    assert transitions(result) < transitions(two_styles())
    assert report.before.transitions == two_styles().n_transitions
    assert report.after.transitions == result.n_transitions


def test_every_label_keeps_its_endless_motion_and_the_labels_it_reaches(styles):
    result = styles.graph
    for before, after in zip(two_styles().components, result.components, strict=True):
        assert (after.label, after.n_frames, after.of_frames) == (before.label, before.n_frames, before.of_frames)
        assert set(after.reaches) == set(before.reaches)
    for k in range(len(result.label_names)):
        inside = result.select_edges(result.label_names[k])
        links = coo_array(
            (np.ones(inside.sum()), (result.edges.tails[inside], result.edges.heads[inside])),
            shape=(len(result.nodes),) * 2,
        )
        _, which = connected_components(links, directed=True, connection="strong")
        assert len(np.unique(which[result.members[k]])) == 1


def test_no_measure_loses_more_than_allowed(styles):
    before, after = styles.before, styles.after
    assert after.seconds == before.seconds
    assert after.progress >= 0.9 * before.progress
    assert after.change <= 1.1 * before.change
    assert after.deviation <= max(1.1 * before.deviation, before.deviation + 0.01)


def test_the_reduced_graph_plays_walks(styles):
    result = styles.graph
    walk = result.random_walk(20.0, rng=3)
    assert len(walk.motion(feet=None)) == 600


@pytest.mark.slow("reduces a graph three times")
def test_a_larger_loss_removes_more_transitions_and_the_same_seed_the_same_ones():
    none, one, other = (reduce_transitions(walking_graph(), loss=loss, rng=5).graph for loss in (0.0, 0.3, 0.3))
    assert one.n_transitions < none.n_transitions <= walking_graph().n_transitions
    np.testing.assert_array_equal(one.edges.starts, other.edges.starts)


def test_the_backbone_alone_keeps_all_endless_motion():
    graph = two_styles()
    spine = _backbone(graph)
    bare = _keep_edges(graph, spine | ~graph.edges.blends, join=True)
    assert spine.sum() < 0.2 * graph.n_transitions
    assert [c.n_frames for c in bare.components] == [c.n_frames for c in graph.components]


@pytest.mark.parametrize("loss", [-0.1, 1.0, np.nan])
def test_a_loss_that_is_not_a_fraction_is_refused(loss):
    with pytest.raises(InvalidValue, match="loss must be"):
        reduce_transitions(walking_graph(), loss=loss)
