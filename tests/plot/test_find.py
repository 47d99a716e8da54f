"""Plots of search results."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue, UnknownFormat
from marey.find.suggest import suggest_threshold
from marey.plot.find import draw_match_graph, draw_matches, draw_thresholds, matches
from tests.find_medleys import KICK, kick_web, kicks


def _texts(figure):
    return [text.get_text() for text in figure.texts]


def test_each_match_has_a_row_with_its_poses():
    found = kicks()
    figure = draw_matches(found, n_poses=5)
    assert len(figure.axes) == len(found)
    for axes in figure.axes:
        assert len(axes.collections) == 5
    report = _texts(figure)
    assert "query" in report
    for k, match in list(enumerate(found))[1:]:
        assert f"{k}   {100 * match.distance:.1f} cm, tier {match.tier}" in report


def test_of_many_matches_near_and_far_ones_are_drawn():
    found = kicks()
    figure = draw_matches(found, most=3)
    assert len(figure.axes) == 3
    report = _texts(figure)
    assert any(text.startswith("1   ") for text in report)
    assert any(text.startswith(f"{len(found) - 1}   ") for text in report)
    assert f"{len(found) - 1} matches within 7 cm, 2 of them drawn" in report


def test_poses_below_one_another_belong_together():
    """The leg is stretched in the same column of every row."""
    figure = draw_matches(kicks(), n_poses=5)
    stretched = []
    for axes in figure.axes:
        wide = [np.ptp(np.concatenate(poses.get_segments())[:, 0]) for poses in axes.collections]
        assert len(wide) == 5
        stretched.append(int(np.argmax(wide)))
    assert len(set(stretched)) == 1


def test_the_match_graph_is_as_far_out_as_the_distances():
    found = kicks()
    figure = draw_match_graph(found)
    (axes,) = figure.axes
    places = np.array([dots.get_offsets()[0] for dots in axes.collections])
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 100 * found.distances, atol=1e-9)
    assert len(axes.get_lines()) == len(found.edges)


def test_thresholds_are_drawn_with_what_they_find():
    result = suggest_threshold(kick_web(), "take0", *KICK)
    figure = draw_thresholds(result, chosen=0.05)
    line = figure.axes[0].get_lines()[0].get_xydata()
    for threshold, n in zip(result.thresholds, result.counts, strict=True):
        assert np.isclose(line, [100 * threshold, n]).all(axis=1).any()
    report = [text.get_text() for text in figure.axes[0].texts]
    assert report == [f"suggested: {100 * result.threshold:.1f} cm", "chosen: 5 cm"]
    low, high = result.plateau
    assert figure.axes[0].get_title(loc="left").startswith(f"5 matches from {100 * low:.1f} to {100 * high:.1f} cm")


@pytest.mark.parametrize("off", [0.9, 1.1])
def test_labels_of_thresholds_do_not_overlap_the_other_line(off):
    result = suggest_threshold(kick_web(), "take0", *KICK)
    figure = draw_thresholds(result, chosen=off * result.threshold)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    for label, other in zip(axes.texts, (off * result.threshold, result.threshold), strict=True):
        box = label.get_window_extent()
        line = axes.transData.transform((100.0 * other, 0.0))[0]
        assert not box.x0 <= line <= box.x1


def test_the_rings_are_labeled_above_the_lines():
    (axes,) = draw_match_graph(kicks()).axes
    rings = [text for text in axes.texts if text.get_text().endswith("cm")]
    assert rings
    assert min(text.get_zorder() for text in rings) > max(line.get_zorder() for line in axes.get_lines())


def test_bad_use():
    with pytest.raises(UnknownFormat, match=r"\.png or \.svg"):
        matches(kicks(), "out.txt")
    with pytest.raises(InvalidValue, match="at least 1 row and 2 poses"):
        draw_matches(kicks(), most=0)
