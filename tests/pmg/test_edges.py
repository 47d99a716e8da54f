"""Edges: best transitions, boxes without bad samples, boxes that change continuously, and errors that name the edge."""

from __future__ import annotations

import numpy as np
import pytest

from marey.compare.clouds import point_clouds
from marey.errors import InvalidValue, MareyWarning, NoResult, UnknownName
from marey.pmg import Edge
from marey.pmg.connect import build_edge, shrink_box
from marey.pmg.costs import find_best_pairs, make_windows, mean_height, seam_range
from marey.pmg.settings import SeamSettings
from marey.pmg.units import format_rounded_up
from tests.pmg.characters import fresh_walker, small_walker, turn_space
from tests.twins.pmg import best_pair

SEAMS = SeamSettings()


def test_best_transitions_are_those_of_the_slow_search():
    space = turn_space()
    a, b = [space([t]) for t in (-0.9, 0.2)], [space([t]) for t in (-0.5, 0.1, 1.0)]
    height = mean_height(point_clouds(a[0]))
    ends, starts = make_windows(a, SEAMS, end=True, height=height), make_windows(b, SEAMS, end=False, height=height)
    for (costs, moments), first in zip(find_best_pairs(ends, starts, range(2)), a, strict=True):
        for m, second in enumerate(b):
            cost, at = best_pair(first, second, SEAMS)
            assert costs[m] == pytest.approx(cost, abs=1e-4)
            np.testing.assert_allclose(moments[m], at, atol=1e-9)


def test_seams_lie_within_their_regions():
    for n in (40, 90, 200):
        (low, high), (first, last) = (seam_range(n, SEAMS, 30.0, end) for end in (True, False))
        assert first >= 5
        assert high <= n - 6
        assert low <= high
        assert first <= last < low
    with pytest.raises(InvalidValue, match="does not fit at the ends"):
        seam_range(10, SEAMS, 30.0, True)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_boxes_hold_no_bad_sample_and_always_the_best(d):
    rng = np.random.default_rng(d)
    for _ in range(30):
        samples = rng.random((120, d))
        cost = np.linalg.norm(samples - rng.random(d), axis=1) + 0.1 * rng.random(120)
        good, bad, best = samples[cost <= 0.4], samples[cost > 0.5], samples[np.argmin(cost)]
        if not len(good):
            continue
        low, high = shrink_box(good, bad, best, np.full(d, 1e-6))
        assert not ((bad >= low) & (bad <= high)).all(axis=1).any()
        assert (best >= low).all()
        assert (best <= high).all()
        assert (low >= good.min(axis=0)).all()
        assert (high <= good.max(axis=0)).all()


def test_a_box_without_bad_samples_is_left_as_it_is():
    good = np.array([[0.0, 0.0], [1.0, 2.0], [0.5, 0.5]])
    low, high = shrink_box(good, np.array([[3.0, 3.0]]), good[2], np.full(2, 1e-6))
    np.testing.assert_array_equal([low, high], [[0.0, 0.0], [1.0, 2.0]])


def test_one_side_moves_and_it_is_the_cheap_one():
    good = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])
    low, high = shrink_box(good, np.array([[8.0]]), good[1], np.array([0.1]))
    assert (low[0], high[0]) == (0.0, 7.9)


def edge(parameters, low, high, moments=None):
    n = len(parameters)
    result = np.tile([0.8, 0.2], (n, 1)) if moments is None else moments
    middle = 0.5 * (np.array(low) + np.array(high))
    return Edge(
        "a",
        "b",
        0.1,
        0.2,
        np.array(parameters),
        np.array(low),
        np.array(high),
        middle,
        result,
        np.ones(1),
        np.zeros(3),
        0.1,
    )


def test_a_sample_gives_its_own_box():
    result = edge([[0.0], [1.0], [2.0]], [[-1.0], [0.0], [1.0]], [[0.0], [1.0], [2.0]])
    found = result.transition_range(np.array([1.0]))
    assert (found.low[0], found.high[0], found.leave, found.enter) == (0.0, 1.0, 0.8, 0.2)


def test_boxes_change_without_jumps():
    rng = np.random.default_rng(0)
    places = np.sort(rng.random(12))[:, None]
    result = edge(places, np.sin(5.0 * places) - 1.0, np.sin(5.0 * places) + 1.0)
    fine = np.linspace(0.0, 1.0, 4001)[:, None]
    found = np.array([result.transition_range(each).low[0] for each in fine])
    assert np.abs(np.diff(found)).max() < 0.05  # with k = d + 1, the box of the next sample is used at once


def test_bad_edges_are_refused():
    with pytest.raises(InvalidValue, match="low must not exceed high"):
        edge([[0.0]], [[1.0]], [[0.0]])
    with pytest.raises(InvalidValue, match="must be from 0 to 1"):
        edge([[0.0]], [[0.0]], [[1.0]], np.array([[1.5, 0.0]]))


def test_the_walker_can_follow_itself_equally_to_both_sides():
    result = small_walker().edges["walk", "walk"]
    assert result.worst <= result.good <= result.bad
    left, right = result.transition_range(np.array([0.6])), result.transition_range(np.array([-0.6]))
    assert left.high[0] == pytest.approx(-right.low[0], abs=0.2)
    assert left.low[0] == pytest.approx(-right.high[0], abs=0.2)
    straight = result.transition_range(np.array([0.0]))
    assert straight.low[0] < -0.3
    assert straight.high[0] > 0.3
    # From midstance to midstance, with a margin of 0.2 cycles at both ends, 1.4 cycles in total.
    assert straight.leave == pytest.approx(1.2 / 1.4, abs=0.05)
    assert straight.enter == pytest.approx(0.2 / 1.4, abs=0.05)


def test_thresholds_are_chosen_so_that_every_motion_can_continue():
    char = fresh_walker()
    compared = char.compare("walk", "walk", n_source=8, n_target=30)
    result = build_edge(compared, char["walk"], char["walk"])
    assert result.good >= compared.costs.min(axis=1).max() - 1e-6


def test_the_same_seed_gives_the_same_edge_in_any_order_of_work():
    def backward(function, items):
        return list(reversed([function(each) for each in reversed(list(items))]))

    char = fresh_walker()
    a = char.connect("walk", "walk", n_source=6, n_target=20, rng=5)
    b = char.connect("walk", "walk", n_source=6, n_target=20, rng=5, run=backward)
    c = char.connect("walk", "walk", n_source=6, n_target=20, rng=6)
    np.testing.assert_array_equal(a.low, b.low)
    assert not np.array_equal(a.parameters, c.parameters)


def test_a_refusal_names_the_failing_part_and_a_remedy():
    char = fresh_walker()
    walk = char["walk"]
    char.restrict("left", "walk", [0.3], walk.high)
    with pytest.raises(
        NoResult,
        match=r"with turn -8\d\.\d to -.* degrees, have no transition that costs at most 0.05 m.*name it with `part=`",
    ):
        char.connect("walk", "left", good=0.05, bad=0.06, n_source=12, n_target=30)
    result = char.connect("walk", "left", good=0.05, bad=0.06, part="walk, leftish", n_source=12, n_target=30)
    part = char["walk, leftish"]
    assert result.source == "walk, leftish"
    assert part.parent == "walk"
    assert part.low[0] > walk.low[0]


def test_the_advised_threshold_does():
    char = fresh_walker()
    for _ in range(2):
        compared = char.compare("walk", "walk", n_source=6, n_target=8)
        with pytest.raises(NoResult, match=r"raise `good=` to \d") as caught:
            char.connect("walk", "walk", good=1e-4, compared=compared)
        advised = float(str(caught.value).split("raise `good=` to ")[1].split(" m")[0])
        assert char.connect("walk", "walk", good=advised, compared=compared).good == advised


@pytest.mark.parametrize("meters", [0.020849, 0.0208, 0.09996, 1.0, 3.14159e-7, 12.3456])
def test_thresholds_are_rounded_up(meters):
    assert meters <= float(format_rounded_up(meters)) <= 1.01 * meters
    assert len(format_rounded_up(meters).replace("0.", "").split("e")[0].strip("0").replace(".", "")) <= 3


def test_a_part_shrinks_until_it_works_or_is_refused_by_the_name_of_the_node():
    char = fresh_walker()
    walk = char["walk"]
    char.restrict("left", "walk", [0.3], walk.high)
    for k, good in enumerate((0.03, 0.05)):
        result = char.connect("walk", "left", good=good, bad=0.06, part=f"part {k}", n_source=5, n_target=30)
        assert result.worst <= good
    with pytest.raises(NoResult, match="no sub-range of 'walk' was found .* to 'left'.*raise `good=`"):
        char.connect("walk", "left", good=1e-6, part="none", n_source=5, n_target=10)
    assert "none" not in char.nodes
    with pytest.raises(InvalidValue, match="`part=` requires `good=`, because the automatic threshold"):
        char.connect("walk", "left", part="none")
    with pytest.raises(InvalidValue, match="already has a node 'left'"):
        char.connect("walk", "left", good=0.05, part="left")


def test_bad_thresholds_and_names():
    char = fresh_walker()
    with pytest.raises(InvalidValue, match="`good=` must be at most `bad=`, but they are 0.2 m and 0.1 m"):
        char.connect("walk", "walk", good=0.2, bad=0.1)
    with pytest.raises(InvalidValue, match="`bad=` must be greater than 0 meters"):
        char.connect("walk", "walk", bad=-1.0)
    with pytest.raises(UnknownName, match="no node 'wlk'.*similar: 'walk'"):
        char.connect("wlk", "walk")
    with pytest.raises(InvalidValue, match="n_target must be from 2 to 10000"):
        char.connect("walk", "walk", n_target=1)
    assert not char.edges


def test_a_large_threshold_that_was_chosen_is_reported_and_kept_in_the_file(tmp_path):
    char = fresh_walker()
    walk = char["walk"]
    char.restrict("left", "walk", [0.6], walk.high)
    char.restrict("right", "walk", walk.low, [-0.6])
    compared = char.compare("left", "right", n_source=6, n_target=20)
    wide = compared._replace(costs=compared.costs + 0.2)
    with pytest.warns(MareyWarning, match=r"from 'left' to 'right' may be visible.* so up to \d\d cm are allowed"):
        assert char.connect("left", "right", compared=wide).is_chosen
    assert not char.connect("walk", "walk", good=0.3, n_source=6, n_target=20).is_chosen
    char.save(tmp_path / "char.json")
    again = type(char).load(tmp_path / "char.json")
    assert [edge.is_chosen for edge in again.edges.values()] == [True, False]
