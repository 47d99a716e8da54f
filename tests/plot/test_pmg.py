"""Plots of parametric motion graphs."""

from __future__ import annotations

import numpy as np
import pytest

from marey.control import RandomWalk
from marey.errors import InvalidValue, UnknownFormat
from marey.plot import pmg
from marey.pmg.connect import build_edge
from tests.pmg.characters import small_walker, two_speed_walker
from tests.tiers import mostly_slow


@pytest.mark.parametrize("make", mostly_slow([small_walker, two_speed_walker], "builds another character", n_fast=1))
def test_boxes_are_drawn_with_their_samples(make):
    char = make()
    node = char["walk"]
    compared = char.compare("walk", "walk", n_source=6, n_target=40)
    edge = build_edge(compared, node, node, 0.1, 0.15)
    figure = pmg.draw_edge(compared, edge, node, node)
    assert len(figure.axes) == 5
    for axes in figure.axes[:4]:
        points = sum(len(line.get_xdata()) for line in axes.get_lines() if line.get_marker() in ("o", "x"))
        assert points == 40
    texts = [text.get_text() for text in figure.axes[4].texts]
    assert "good 10.0" in texts
    assert "bad 15.0" in texts


def test_a_stream_is_drawn_from_above(tmp_path):
    stream = small_walker().stream(RandomWalk(0), feet=None)
    played = stream.record(4.0)
    figure = pmg.draw_stream(played, transitions=tuple(stream.transitions), goals=[(1.0, 2.0)], directions=[(1.0, 0.5)])
    lines = figure.axes[0].get_lines()
    np.testing.assert_allclose(lines[0].get_xdata(), played.travel[:, 2])
    assert any(line.get_marker() == "s" and tuple(line.get_xydata()[0]) == (2.0, 1.0) for line in lines)
    pmg.stream(played, tmp_path / "way.png")
    assert (tmp_path / "way.png").read_bytes()[:4] == b"\x89PNG"


def test_bad_input(tmp_path):
    char = small_walker()
    compared = char.compare("walk", "walk", n_source=3, n_target=10)
    with pytest.raises(InvalidValue, match="the same source samples, but they have 3 and 16"):
        pmg.draw_edge(compared, char.edges["walk", "walk"], *[char["walk"]] * 2)
    played = char.stream(RandomWalk(0), feet=None).record(1.0)
    with pytest.raises(InvalidValue, match="`every` must be a finite time greater than 0 s, not 0"):
        pmg.draw_stream(played, every=0)
    with pytest.raises(UnknownFormat, match="a plot is saved as"):
        pmg.stream(played, tmp_path / "way.gif")
