"""Plots of steered characters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.control.evaluate import clip_metrics
from marey.control.evaluate_gait import lean
from marey.control.reach import clip_lengths
from marey.errors import InvalidValue, UnknownFormat
from marey.plot import pmg, steering
from marey.pmg import ParametricMotionGraph
from tests.pmg.characters import fresh_walker, small_walker, two_speed_walker, walks


def texts(figure):
    return [text.get_text() for text in figure.texts] + [t.get_text() for axes in figure.axes for t in axes.texts]


def test_a_table_has_a_row_for_each_stream_and_one_for_the_clips(tmp_path):
    clips = clip_metrics(walks()[:1])
    live = replace(clips, response=1.25, path_error=0.5, frames_per_second=4200.0, memory=2_500_000, bob=0.0415)
    figure = steering.draw_table({"one": live, "other": replace(live, response=2.5)}, clips=clips)
    report = texts(figure)
    assert {"the clips", "one", "other", "1.25", "2.50", "42", "4.2", "2.5"} <= set(report)
    assert not any("nan" in text for text in report)
    bars = [bar.get_width() for bar in figure.axes[0].patches]
    assert bars == [1.25, 2.5]
    steering.table({"one": live}, tmp_path / "table.svg")
    assert b"<svg" in (tmp_path / "table.svg").read_bytes()


def test_bobbing_shows_lean_and_height_with_the_hubs():
    walk = walks()[0]
    figure = steering.draw_bobbing({"a": walk, "b": walks()[1]}, hubs={"a": [10, 20, 9999]}, seconds=2.0)
    curves = figure.axes[0].get_lines()
    np.testing.assert_allclose(curves[0].get_ydata(), np.degrees(lean(walk))[:61])
    assert list(curves[1].get_xdata()) == [10 / 30, 20 / 30]
    assert [line.get_label() for line in curves[::2]] == ["a", "b"]
    np.testing.assert_allclose(figure.axes[1].get_lines()[0].get_ydata(), 100.0 * walk.travel[:61, 1])


def test_punches_are_counted_as_hit_or_missed():
    targets = np.array([[0.1, 1.4, 0.6], [0.0, 1.5, 0.5], [-0.2, 1.2, 0.6], [0.0, 2.5, 0.6]])
    hands = targets + [[0.01, 0.0, 0.0], [0.0, 0.04, 0.0], [0.0, 0.0, 0.08], [0.0, -0.7, 0.0]]
    figure = steering.draw_punches(targets, hands, reachable=[True, True, True, False])
    assert "2 of 3 targets within reach hit to within 5 cm; 1 out of reach" in texts(figure)
    drawn = {}
    for line in figure.axes[0].get_lines():
        if line.get_marker() in ("o", "s"):
            drawn[line.get_marker(), line.get_markerfacecolor() != "white"] = len(line.get_xdata())
    assert drawn == {("o", True): 2, ("o", False): 1, ("s", True): 0, ("s", False): 1}
    assert "4 of 4" in texts(steering.draw_punches(targets, targets))[0]


def test_a_graph_shows_every_node_and_edge():
    character = small_walker()
    figure = pmg.draw_graph(character)
    report = texts(figure)
    assert "walker: 1 node, 1 edge" in report
    assert any(text.startswith("turn -") and text.endswith("°") for text in report)
    edge = character.edges["walk", "walk"]
    assert any(text.endswith(f"{100 * edge.bad:.0f} cm") for text in report)
    more = ParametricMotionGraph("three")
    for name in ("a", "b", "c"):
        more.add(name, character["walk"].space)
    more.connect("a", "b", n_source=4, n_target=12)
    more.connect("b", "a", n_source=4, n_target=12)
    patches = [type(patch).__name__ for patch in pmg.draw_graph(more).axes[0].patches]
    assert (patches.count("FancyArrowPatch"), patches.count("Circle")) == (2, 3)


def test_clip_lengths_are_listed(tmp_path):
    character = two_speed_walker()
    (row,) = clip_lengths(character, n=12)
    assert row.node == "walk"
    assert row.min < row.mean < row.max
    # A clip is a cycle with a fifth of a cycle at both ends.
    assert row.played == pytest.approx(row.mean / 1.4, rel=0.1)
    figure = pmg.draw_lengths(character, n=12)
    assert f"{row.mean:.2f}" in texts(figure)
    pmg.lengths(character, tmp_path / "lengths.png", n=4)
    assert (tmp_path / "lengths.png").stat().st_size > 1000
    assert np.isnan(clip_lengths(fresh_walker(), n=2)[0].played)


def test_bad_input(tmp_path):
    with pytest.raises(InvalidValue, match="at least one stream"):
        steering.draw_table({})
    with pytest.raises(InvalidValue, match="at least one motion"):
        steering.draw_bobbing({})
    with pytest.raises(InvalidValue, match="seconds must be finite and greater than 0, not 0.0"):
        steering.draw_bobbing({"a": walks()[0]}, seconds=0.0)
    with pytest.raises(InvalidValue, match="hands must have shape"):
        steering.draw_punches([[0.0, 1.0, 0.5]], [[0.0, 1.0]])
    with pytest.raises(InvalidValue, match="one flag for each"):
        steering.draw_punches([[0.0, 1.0, 0.5]], [[0.0, 1.0, 0.5]], reachable=[True, False])
    with pytest.raises(InvalidValue, match="`within` must be a finite distance"):
        steering.draw_punches([[0.0, 1.0, 0.5]], [[0.0, 1.0, 0.5]], within=0.0)
    with pytest.raises(InvalidValue, match="has no nodes yet; add a node first"):
        pmg.draw_graph(ParametricMotionGraph("empty"))
    with pytest.raises(InvalidValue, match="at least 1 sample"):
        clip_lengths(small_walker(), n=0)
    with pytest.raises(UnknownFormat, match="a plot is saved as"):
        steering.punches([[0.0, 1.0, 0.5]], [[0.0, 1.0, 0.5]], tmp_path / "a.gif")
