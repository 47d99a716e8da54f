"""Pictures of graphs."""

from __future__ import annotations

import numpy as np

from marey.graph import connectivity
from marey.plot.graph import draw_followed, draw_graph, draw_threshold
from tests.graph.clips import two_styles, walking_graph


def test_a_graph_shows_each_clip_and_its_arcs():
    graph = walking_graph()
    axes = draw_graph(graph).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == [clip.name for clip in graph.clips]
    assert len(axes.collections[0].get_segments()) == min(graph.n_transitions, 500)


def test_thresholds_leave_more_and_more():
    graph = two_styles()
    limits, seconds, counts = connectivity(graph)
    assert (np.diff(counts) >= 0).all()
    assert counts[-1] == graph.n_transitions
    kept = {each.label: each.n_frames / graph.fps for each in graph.components}
    np.testing.assert_allclose(seconds[-1], [kept[name] for name in graph.label_names])
    lines = draw_threshold(graph).axes[0].get_lines()
    assert [line.get_label() for line in lines] == list(graph.label_names)
    np.testing.assert_allclose(lines[0].get_xdata(), 100.0 * limits)


def test_a_followed_path_shows_both():
    graph = walking_graph()
    path = np.array([[0.0, 0.0], [0.0, 6.0]])
    found = graph.follow(path)
    axes = draw_followed(found.walk, path).axes[0]
    wanted, gone = axes.get_lines()[:2]
    np.testing.assert_array_equal(wanted.get_xydata(), path[:, ::-1])  # longer along z, which goes to the right
    np.testing.assert_array_equal(gone.get_xydata(), found.way[:, ::-1])
