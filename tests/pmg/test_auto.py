"""Automatic connections: all pairs are tried, failures reported, and dead ends pruned until none is left."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue, UnknownName
from marey.pmg import ParametricMotionGraph
from marey.pmg.auto import remove_dead_ends
from tests.pmg.characters import fresh_walker, slider

SAMPLES = {"n_source": 4, "n_target": 12}


def two_kinds():
    """Walks, and a stiff body that glides, to which no transition is possible."""
    char = fresh_walker()
    skeleton = char["walk"].motion([0.0]).skeleton
    char.add("glide", slider(skeleton), names="turn", low=-0.2, high=0.2)
    return char


def test_working_edges_stay_and_others_are_reported():
    char = two_kinds()
    weights = []
    report = char.connect_all(good=0.2, bad=0.3, progress=weights.append, **SAMPLES)
    assert set(report.connected) == set(char.edges) == {("walk", "walk"), ("glide", "glide")}
    assert {(a, b) for a, b, _ in report.failed} == {("walk", "glide"), ("glide", "walk")}
    assert all("raise `good=` to" in why for _, _, why in report.failed)
    assert report.pruned == ()
    assert weights[-1] == 1.0


def test_edges_that_are_there_stay_as_they_are():
    char = fresh_walker()
    edge = char.connect("walk", "walk", **SAMPLES)
    assert char.connect_all(**SAMPLES).connected == ()
    assert char.edges["walk", "walk"] is edge


def test_dead_ends_are_pruned_until_none_is_left():
    char = fresh_walker()
    edge = char.connect("walk", "walk", **SAMPLES)
    space = char["walk"].space
    from dataclasses import replace

    for name in ("b", "c"):
        char.add(name, space)
    for source, target in (("walk", "b"), ("b", "c")):
        char._put(edge=replace(edge, source=source, target=target))
    assert remove_dead_ends(char) == ("c", "b")
    assert set(char.nodes) == {"walk"}
    assert set(char.edges) == {("walk", "walk")}


def test_what_cannot_be_reached_within_the_thresholds_leaves_nothing():
    char = two_kinds()
    report = char.connect_all(good=1e-6, bad=2e-6, **SAMPLES)
    assert "walk" in report.pruned
    assert "walk" not in char.nodes
    remaining = two_kinds()
    assert remaining.connect_all(good=1e-6, bad=2e-6, prune=False, **SAMPLES).pruned == ()
    assert "walk" in remaining.nodes


def test_the_same_seed_gives_the_same_edges():
    a, b = two_kinds(), two_kinds()
    for char in (a, b):
        char.connect_all(good=0.2, bad=0.3, rng=3, **SAMPLES)
    np.testing.assert_array_equal(a.edges["walk", "walk"].low, b.edges["walk", "walk"].low)


def test_bad_input():
    with pytest.raises(InvalidValue, match="has no nodes to connect"):
        ParametricMotionGraph("empty").connect_all()
    with pytest.raises(InvalidValue, match="`good=` must be at most `bad=`"):
        fresh_walker().connect_all(good=0.2, bad=0.1, **SAMPLES)
    with pytest.raises(UnknownName, match="no node 'b'"):
        fresh_walker().remove("b")
