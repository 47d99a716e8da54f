"""Plots of transition costs: all marks are there, bytes are the same, and empty input is an error."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue, UnknownFormat
from marey.plot.pmg_costs import costs, draw_costs, draw_edges, edges
from marey.pmg import NodeComparison, ParametricMotionGraph
from marey.pmg.edge import Edge


def compared():
    rng = np.random.default_rng(0)
    values = rng.uniform(0.02, 0.3, (6, 30))
    return NodeComparison(np.zeros((6, 1)), np.zeros((30, 1)), values, np.zeros((6, 30, 2)))


def character():
    char = ParametricMotionGraph("me")
    quantiles = np.linspace(0.01, 0.3, 21)
    for target in ("a", "b"):
        char._put(
            edge=Edge(
                "a", target, 0.05, 0.08, np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1)),
                np.full((1, 2), 0.5), np.ones(1), quantiles, 0.04,
            )
        )  # fmt: skip
    return char


def test_the_curves_say_what_a_threshold_lets_through():
    given = compared()
    figure = draw_costs(given, title="a to b", good=0.05, bad=0.08)
    pairs, sources = figure.axes[1].lines[:2]
    x, y = pairs.get_data()
    at = np.searchsorted(x, 10.0)
    assert y[at - 1] == pytest.approx(100.0 * (given.costs <= 0.1).mean())
    x, y = sources.get_data()
    assert x[-1] == pytest.approx(100.0 * given.costs.min(axis=1).max())
    assert y[-1] == 100.0
    texts = " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
    assert "good 5.0" in texts
    assert "bad 8.0" in texts


def test_all_edges_have_a_row():
    axes = draw_edges(character()).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a to b", "a to a"]


def test_files(tmp_path):
    for name in ("a.svg", "b.svg"):
        costs(compared(), tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    edges(character(), tmp_path / "e.png")
    assert (tmp_path / "e.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(UnknownFormat):
        costs(compared(), tmp_path / "a.txt")
    with pytest.raises(InvalidValue, match="has no edges to draw"):
        draw_edges(ParametricMotionGraph("empty"))
