"""The bench of parametric motion graphs measures what it says; no time is asserted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from marey.bench import pmg
from marey.control import bound_response
from tests import tiers
from tests.pmg.recipes import small_character


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    for name, value in {"_SECONDS": 4.0, "_TIMED": 5.0, "_POINTS": 2, "_FURTHEST": 3.0, "_PUNCHES": 4}.items():
        monkeypatch.setattr(pmg, name, value)
    monkeypatch.setattr(pmg, "_SOURCES", 3)
    monkeypatch.setattr(pmg, "_TARGETS", 6)
    monkeypatch.setattr(pmg, "_TURNS", 2)


def test_a_random_walk_of_a_character_is_judged_by_its_own_limits():
    worst, size = pmg._bench_random_walk("walking", small_character("walking"))
    assert 0.0 < worst.value <= 1.0
    assert worst.ok
    assert 0.5 < size.value < 50.0


def test_places_are_reached_and_the_path_is_measured():
    walker = small_character("walking")
    # With headings only in the slow tier: a plan for them takes seconds.
    results = list(itertools.islice(pmg._places("walking", walker), 2 if tiers.is_fast else None))
    assert [each.unit for each in results] == (["%", "x"] if tiers.is_fast else ["%", "x", "%", "x"])
    assert results[0].value in (0.0, 50.0, 100.0)
    assert 3.0 < pmg._turning_circle(walker) < 12.0
    assert pmg._measure_path(walker, np.array([0.0, 2.0]), None) == pytest.approx(1.7, abs=0.4)


def test_answers_are_judged_by_the_goal_or_by_what_the_clips_allow():
    walker = small_character("walking")
    bound = bound_response(walker).total
    for limit in (6.0, 0.1):
        (result,) = pmg._answers("walking", walker, limit)
        assert f"{bound:.2f} s at best" in result.what
        assert bound < result.value <= 6.0
        assert result.goal == f"at most {max(limit, 1.25 * bound):g} s"


def test_an_edge_and_frames_are_timed():
    walker = small_character("walking")
    assert pmg._edge(walker).value > 0.0
    percentile, fraction = pmg._frames(walker)
    assert percentile.value > 0.0
    assert fraction.ratio == pytest.approx(fraction.value / 100.0)


def test_punches_are_measured_where_the_hand_is_nearest():
    figure = pmg._punches(small_character("boxing"))
    assert figure.what.startswith("punches of ")
    assert 0.0 <= figure.value <= 100.0
