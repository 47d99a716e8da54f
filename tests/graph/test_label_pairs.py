"""Direct transitions from label to label: counts, the smallest distance, and the threshold named in errors."""

from __future__ import annotations

import ast
import re
from functools import cache

import numpy as np
import pytest

from marey.cli.main import main
from marey.errors import NoResult
from marey.graph import MotionGraph
from tests.graph.clips import sneaks, walks

PAIR = ("walk", "sneak")
STYLES = [(2.0, "walk"), (5.0, "sneak")]


@cache
def apart() -> MotionGraph:
    """Return a graph without transitions between its labels."""
    return MotionGraph.build((*walks(), *sneaks()), 0.06)


def rebuild(limit: float) -> MotionGraph:
    return MotionGraph.build((*walks(), *sneaks()), 0.06, thresholds={PAIR: limit})


def test_the_least_distance_is_the_threshold_of_the_first_transition():
    pair = apart().statistics().pairs[PAIR]
    assert pair.transitions == 0
    assert 0.06 < pair.min_distance < 0.3
    for factor, count in ((0.999, 0), (1.001, 1)):
        changed = rebuild(factor * pair.min_distance).statistics().pairs
        assert changed[PAIR].transitions == count
        assert changed[PAIR[::-1]].transitions == 0
        assert changed[PAIR].min_distance == pytest.approx(pair.min_distance)


def test_the_error_names_a_threshold_that_works():
    with pytest.raises(NoResult) as raised:
        apart().follow([[0.0, 0.0], [0.0, 5.0]], styles=STYLES)
    thresholds, count = re.search(r"`thresholds=(.*)`, which gives (\d+) or more", str(raised.value)).groups()
    graph = rebuild(ast.literal_eval(thresholds)[PAIR])
    assert graph.statistics().pairs[PAIR].transitions >= int(count)
    found = graph.follow([[0.0, 0.0], [0.0, 5.0]], styles=STYLES)
    assert found.mean_distance < 0.3


def test_pairs_are_saved_and_printed(tmp_path, capsys):
    path = tmp_path / "g.npz"
    apart().save(path)
    again = MotionGraph.load(path)
    np.testing.assert_array_equal(again.pair_distances, apart().pair_distances)
    assert again.statistics().pairs == apart().statistics().pairs
    assert main(["graph", "info", str(path)]) in (0, 1)
    least = 100 * apart().statistics().pairs[PAIR].min_distance
    assert f"0, {least:.1f} cm" in capsys.readouterr().out
    (tmp_path / "p.csv").write_text("0,0\n0,5\n")
    command = ["graph", "path", str(path), "--path", str(tmp_path / "p.csv"), "-o", str(tmp_path / "o.bvh")]
    assert main([*command, "--style", "walk@2", "--style", "sneak"]) == 1
    assert re.search(r"build the graph with --pair walk:sneak=0\.\d+, which gives \d+ or more", capsys.readouterr().err)
