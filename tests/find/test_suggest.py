"""Suggested thresholds, and the number of matches at each threshold."""

import numpy as np
import pytest

from marey.errors import InvalidValue, NoResult
from marey.find.search import search
from marey.find.suggest import _find_plateaus, count_matches, suggest_threshold
from tests.find.searched import hits, truth, web


def level(many, still=1.0, is_full=False):
    """Return the best plateau of match counts at thresholds of 1, 2, 3 ... cm: its ends in cm, or None."""
    rungs = [0.01 * (k + 1) for k in range(len(many))]
    best = max(_find_plateaus(rungs, many, [still] * len(many), is_full), key=lambda one: one.weight)
    return (round(100 * best.low), round(100 * best.high), best.n) if best.weight else None


def test_the_plateau_that_stands_out():
    assert level([1, 2, 8, 8, 8, 8, 60]) == (3, 6, 8)
    # A longer plateau with more matches is better than an earlier one.
    assert level([4, 4, 8, 8, 8, 8, 8, 60]) == (3, 7, 8)
    # The last plateau ends at the last threshold, unless the counts were cut off there.
    assert level([1, 2, 8, 8, 8]) == (3, 5, 8)
    assert level([7, 7, 7, 200, 200, 200], is_full=True) == (1, 3, 7)
    # A plateau may vary by one match of forty.
    assert level([1, 39, 40, 39, 40, 90]) == (2, 5, 39)
    # Standing still is as near as the matches, so no plateau that begins there counts.
    assert level([2, 2, 90, 90, 90, 90, 90], still=0.025) == (1, 2, 2)
    assert level(list(range(1, 400, 50)), still=0.005) is None


@pytest.mark.parametrize("kind", ["kick", "punch"])
def test_suggested_thresholds_find_the_kind_and_nothing_else(kind):
    for clip, start, stop in truth(kind):
        fractions = []
        report = suggest_threshold(web(), clip, start, stop, progress=fractions.append)
        assert fractions == sorted(fractions)
        assert 0.0 < fractions[0] < fractions[-1] <= 1.0
        assert report.plateau[0] < report.threshold < report.plateau[1]
        assert report.plateau[1] <= report.still_distance  # beyond that, anything matches
        assert report.n_matches == len(truth(kind)) - 1
        seen, _, others = hits(search(web(), clip, start, stop, report.threshold), kind)
        assert len(seen) == len(truth(kind))
        assert others == 0
        assert report.is_complete
        assert (np.diff(report.thresholds) > 0).all()
        assert f"finds {report.n_matches} matches, and so does nearly any threshold" in str(report)


def test_the_counts_of_a_suggestion_are_what_searches_find():
    clip, start, stop = truth("punch")[1]
    report = suggest_threshold(web(), clip, start, stop, max_matches=30)
    assert (report.counts[:-1] <= 30).all()
    for threshold, n in [*zip(report.thresholds, report.counts, strict=True)][::9]:
        assert len(search(web(), clip, start, stop, threshold, max_matches=30)) - 1 == n


def test_counts_are_what_searches_find():
    clip, start, stop = truth("kick")[0]
    thresholds = [0.001, 0.02, 0.03, 0.05, 0.1]
    many = count_matches(web(), clip, start, stop, thresholds)
    assert many[0] == 0
    for threshold, n in zip(thresholds, many, strict=True):
        if n:
            assert len(search(web(), clip, start, stop, threshold)) - 1 == n
    assert count_matches(web(), clip, start, stop, [0.1], max_matches=2).tolist() == [2]


def test_nothing_to_suggest():
    from dataclasses import replace

    from marey.find.cells import Cells

    empty = [Cells.from_grid(np.zeros(c.shape, np.uint16), np.zeros(c.shape, bool)) for c in web().pairs]
    bare = replace(web(), pairs=tuple(empty))
    with pytest.raises(NoResult, match="than a pose held still, which is .* m away; nothing matches"):
        suggest_threshold(bare, 0, 10, 40)
    with pytest.raises(NoResult, match="nothing within .* m of .*; this is the largest distance that is searched"):
        search(bare, 0, 10, 40, 0.1)


@pytest.mark.parametrize("thresholds", [[0.0, 0.1], [[0.1]], [-1.0]])
def test_bad_thresholds(thresholds):
    with pytest.raises(InvalidValue, match="meters greater than 0"):
        count_matches(web(), 0, 10, 40, thresholds)


@pytest.mark.parametrize(
    "call",
    [
        lambda: suggest_threshold(web(), 0, 10, 40, max_matches=0),
        lambda: count_matches(web(), 0, 10, 40, [1], max_matches=0),
    ],
)
def test_bad_limits(call):
    with pytest.raises(InvalidValue, match="max_matches must be at least 1, not 0"):
        call()


def test_bad_tiers():
    with pytest.raises(InvalidValue, match="max_tiers must be at least 1"):
        suggest_threshold(web(), 0, 10, 40, max_tiers=0)
