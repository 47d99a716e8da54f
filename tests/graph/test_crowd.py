"""Crowds: each character on its own path, without collisions."""

from __future__ import annotations

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.graph.crowd import crossing_paths, crowd, nearest_pair
from marey.graph.follow import follow
from tests.graph.clips import walking_graph


@pytest.fixture(scope="module")
def graph():
    return walking_graph()


def test_characters_that_would_meet_keep_their_distance(graph):
    paths = [np.array([[0.0, -4.0], [0.0, 4.0]]), np.array([[0.0, 4.0], [0.0, -4.0]])]
    alone = [follow(graph, path, seconds=6.0).walked_path for path in paths]
    assert nearest_pair(np.stack(alone, axis=1)) < 0.4  # they would walk through each other
    result = crowd(graph, paths, 6.0, min_distance=0.6)
    assert all(found is not None for found in result.found)
    assert result.nearest >= 0.36
    np.testing.assert_array_equal(result.places[:, 0], result.found[0].walked_path)
    # The motions themselves, including the sway of the hips.
    hips = [found.walk.motion(feet=None).travel[:, [0, 2]] for found in result.found]
    assert np.hypot(*(hips[0] - hips[1]).T).min() > 0.25


def test_a_crowd_crosses_a_circle(graph):
    result = crowd(graph, crossing_paths(12, 5.0, rng=1), 8.0)
    assert sum(found is not None for found in result.found) >= 11
    assert result.nearest >= 0.36
    assert result.nearest == pytest.approx(nearest_pair(result.places))
    for found in result.found:
        if found is not None:
            assert len(found.walk) <= 240


def test_the_same_seed_gives_the_same_crowd(graph):
    one, same = (crowd(graph, crossing_paths(3, 4.0), 4.0, rng=7).places for _ in range(2))
    np.testing.assert_array_equal(one, same)


def test_a_character_that_left_is_not_an_obstacle(graph):
    short, long = np.array([[0.0, 0.0], [0.0, 2.0]]), np.array([[3.0, 0.0], [3.0, 8.0]])
    result = crowd(graph, [short, long], 6.0)
    assert np.isnan(result.places[-1, 0]).all()
    assert np.isfinite(result.places[-1, 1]).all()


@pytest.mark.parametrize(
    ("paths", "options", "message"),
    [
        ([], {}, "paths must contain at least one path"),
        ([[[0.0, 0.0], [0.0, 3.0]]], {"min_distance": 0.0}, "min_distance must be greater than 0 m"),
        ([[[0.0, 0.0], [0.0, 3.0]]], {"seconds": 0.0}, "seconds must be greater than 0"),
    ],
)
def test_bad_input(graph, paths, options, message):
    with pytest.raises(InvalidValue, match=message):
        crowd(graph, paths, **{"seconds": 3.0, **options})


def test_bad_circles():
    with pytest.raises(InvalidValue, match="n must be from 1 to 1000 and radius finite and greater than 0 m"):
        crossing_paths(0, 5.0)
