"""Plots of graphs."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.graph import MotionGraph, connectivity
from marey.plot.graph import draw_graph, draw_route, draw_threshold
from tests.graph.clips import two_styles, walking_graph, walks


def test_a_graph_shows_each_clip_and_its_arcs():
    graph = walking_graph()
    axes = draw_graph(graph).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == [clip.name for clip in graph.clips]
    assert len(axes.collections[0].get_segments()) == min(graph.n_transitions, 500)


def test_thresholds_leave_more_and_more():
    graph = two_styles()
    limits, seconds, counts, ways = connectivity(graph)
    assert (np.diff(counts) >= 0).all()
    figure = draw_threshold(graph)
    lines = figure.axes[0].get_lines()
    assert [line.get_label() for line in lines[:-1]] == list(graph.label_names)
    np.testing.assert_allclose(lines[0].get_xdata(), 100.0 * limits)
    np.testing.assert_allclose(lines[1].get_ydata(), seconds[:, 1])
    own = 100.0 * graph.build_info.threshold
    assert own == 20.0
    np.testing.assert_allclose(lines[-1].get_xdata(), own)
    assert figure.axes[0].get_xlim()[1] > 1.9 * own
    np.testing.assert_allclose(figure.axes[2].get_lines()[0].get_ydata(), ways)
    dot = figure.axes[1].get_lines()[-1]
    np.testing.assert_allclose(dot.get_xydata(), [[own, graph.n_transitions]])


def test_the_legend_does_not_cover_the_lines():
    figure = draw_threshold(two_styles())
    figure.canvas.draw()
    (legend,) = figure.legends
    assert not any(axes.get_window_extent().overlaps(legend.get_window_extent()) for axes in figure.axes)


def test_graphs_that_cannot_be_compared_again_say_so():
    figure = draw_threshold(MotionGraph.build(walks(), 0.08, markers="large"))
    assert [text.get_text() for text in figure.texts] == ["this graph's clips were not compared beyond its threshold"]


def test_graphs_by_similarity_have_no_threshold_to_draw():
    with pytest.raises(InvalidValue, match="built with a similarity of 0.8, which is not a threshold in meters"):
        draw_threshold(MotionGraph.build_by_similarity(walks(), 0.8))


def test_motions_of_transitions_are_not_drawn_as_clips():
    graph = two_styles().with_registered_transitions(max_transitions=6)
    assert len(graph.clips) > 5
    axes = draw_graph(graph).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == [clip.name for clip in graph.clips[:5]]
    assert axes.get_title(loc="left").startswith("5 clips, ")
    assert np.isfinite(np.concatenate(axes.collections[0].get_segments())).all()


def test_a_followed_path_shows_both():
    graph = walking_graph()
    path = np.array([[0.0, 0.0], [0.0, 6.0]])
    found = graph.follow(path)
    axes = draw_route(found).axes[0]
    wanted, gone = axes.get_lines()[:2]
    np.testing.assert_array_equal(wanted.get_xydata(), path[:, ::-1])  # longer along z, which points to the right
    np.testing.assert_array_equal(gone.get_xydata(), found.walked_path[:, ::-1])
