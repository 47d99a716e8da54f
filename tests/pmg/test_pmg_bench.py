"""The benchmark of parametric motion graphs measures what it claims; no time is asserted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from marey.bench import pmg
from marey.control import bound_response
from tests import tiers
from tests.pmg.recipes import small_character

SIZES = pmg._Sizes(seconds=4.0, n_points=2, n_punches=4, n_turns=2)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    for name, value in {"_TIMED": 5.0, "_FURTHEST": 3.0, "_SOURCES": 3, "_TARGETS": 6}.items():
        monkeypatch.setattr(pmg, name, value)


def test_a_random_walk_of_a_character_is_judged_by_its_own_limits():
    worst, size = pmg._bench_random_walk("walking", small_character("walking"), SIZES)
    assert 0.0 < worst.value <= 1.0
    assert worst.ok
    assert 0.5 < size.value < 50.0


def test_places_are_reached_and_the_path_is_measured():
    walker = small_character("walking")
    # Headings are tested only in the slow tier: a plan for them takes seconds.
    results = list(itertools.islice(pmg._places("walking", walker, SIZES), 4 if tiers.is_fast else None))
    assert [each.unit for each in results] == ["%", "x", "s", "ms"] * (1 if tiers.is_fast else 2)
    assert results[0].value in (0.0, 50.0, 100.0)
    tightest, fastest = pmg._measure_circles(walker)
    assert 3.0 < tightest <= fastest < 24.0
    visit = pmg.visit_point(walker, pmg.TimedGoTo((0.0, 2.0)))
    assert visit.length == pytest.approx(1.7, abs=0.4)
    assert 0.5 < visit.seconds < 4.0
    assert visit.spent > 0.0 < visit.n_choices


def test_a_point_that_is_not_reached_counts_as_missed():
    class Stray(pmg.TimedGoTo):
        def choose(self, state):
            return pmg.RandomWalk(0).choose(state)

    assert np.isinf(pmg.visit_point(small_character("walking"), Stray((0.0, -0.5)))[:2]).all()


def test_examples_that_are_met_are_counted():
    results = {each.what.split("'")[1]: each.value for each in pmg._examples("boxing", small_character("boxing"))}
    assert results["punch"] == 0.0


def test_answers_are_judged_by_the_goal_or_by_what_the_clips_allow():
    walker = small_character("walking")
    bound = bound_response(walker)
    for limit in (6.0, 0.1):
        (result,) = pmg._answers("walking", walker, limit, SIZES)
        assert f"{bound.total:.2f} s at best" in result.what
        assert f"{bound.wait:.2f} s until a transition, {bound.turning:.2f} s of turning" in result.what
        assert bound.total < result.value + 0.05 <= 6.0
        assert result.goal == f"at most {max(limit, 1.25 * bound.total):g} s"


def test_an_edge_and_frames_are_timed():
    walker = small_character("walking")
    assert pmg._edge(walker).value > 0.0
    percentile, fraction = pmg._frames(walker)
    assert percentile.value > 0.0
    assert fraction.ratio == pytest.approx(fraction.value / 100.0)


def test_punches_are_measured_where_the_hand_is_nearest():
    figure = pmg._punches(small_character("boxing"), SIZES)
    assert figure.what.startswith("punches of ")
    assert 0.0 <= figure.value <= 100.0
