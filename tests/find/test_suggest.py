"""Suggested thresholds, and how many matches there are at which."""

import numpy as np
import pytest

from marey.errors import InvalidValue, NoResult
from marey.find.search import search
from marey.find.suggest import counts, largest_gap, suggest
from tests.find.searched import hits, truth, web


@pytest.mark.parametrize(
    ("distances", "below"),
    [
        ([0.03, 0.04, 0.05, 0.22, 0.22, 0.23], 3),
        ([0.02, 0.021, 0.058, 0.06, 0.06, 0.06, 0.06, 0.08, 0.08, 0.12], 9),
        ([0.04, 0.041, 0.044, 0.05], 4),
        ([0.0, 0.0, 0.05], 2),
        ([0.05], 1),
    ],
)
def test_the_gap_that_stands_out(distances, below):
    assert largest_gap(np.array(distances)) == below


@pytest.mark.parametrize("kind", ["kick", "punch"])
def test_suggested_thresholds_find_the_kind_and_nothing_else(kind):
    for clip, start, stop in truth(kind):
        told = suggest(web(), clip, start, stop)
        assert told.gap[0] < told.threshold < told.gap[1]
        assert told.n_matches == len(truth(kind)) - 1
        seen, _, others = hits(search(web(), clip, start, stop, told.threshold), kind)
        assert len(seen) == len(truth(kind))
        assert others == 0
        assert told.is_complete
        assert (np.diff(told.distances) >= 0).all()
        assert f"takes in {told.n_matches} matches" in str(told)


def test_counts_are_what_searches_find():
    clip, start, stop = truth("kick")[0]
    thresholds = [0.001, 0.02, 0.03, 0.05, 0.1]
    many = counts(web(), clip, start, stop, thresholds)
    assert (np.diff(many) >= 0).all()
    assert many[0] == 0
    for threshold, n in zip(thresholds, many, strict=True):
        if n:
            assert len(search(web(), clip, start, stop, threshold)) - 1 == n
    assert counts(web(), clip, start, stop, [0.1], most=2).tolist() == [2]


def test_nothing_to_suggest():
    from dataclasses import replace

    from marey.find.cells import Cells

    empty = [Cells.of(np.zeros(c.shape, np.uint16), np.zeros(c.shape, bool)) for c in web().pairs]
    bare = replace(web(), pairs=tuple(empty))
    with pytest.raises(NoResult, match="than a figure that stands still, at .* m; there is nothing at all"):
        suggest(bare, 0, 10, 40)
    with pytest.raises(NoResult, match="nor at any distance that this web was built for"):
        search(bare, 0, 10, 40, 0.1)


@pytest.mark.parametrize("thresholds", [[0.0, 0.1], [[0.1]], [-1.0]])
def test_bad_thresholds(thresholds):
    with pytest.raises(InvalidValue, match="metres above 0"):
        counts(web(), 0, 10, 40, thresholds)


@pytest.mark.parametrize(
    "call", [lambda: suggest(web(), 0, 10, 40, most=0), lambda: counts(web(), 0, 10, 40, [1], most=0)]
)
def test_bad_caps(call):
    with pytest.raises(InvalidValue, match="most must be at least 1, got 0"):
        call()
