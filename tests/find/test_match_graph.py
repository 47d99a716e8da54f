"""Overlap, tiers and the match graph, for hand-made candidates."""

import numpy as np
import pytest

from marey.find.match_graph import Candidates, MatchGraph, grow_match_graph
from marey.find.result import Match, make_match_result, shortest_paths
from marey.find.settings import SearchSettings
from marey.samples import sample

OVERLAP = (0.8, 0.2)


def those(*rows):
    """Make candidates (clip, start, stop, distance)."""
    table = np.array(rows, dtype=float).reshape(-1, 4)
    clips, starts, stops = (table[:, k].astype(np.int64) for k in range(3))
    return Candidates(clips, starts, stops, table[:, 3], table[:, 3] ** 2)


def finder(table):
    """Look up the candidates of a query by its clip and the tens digit of its start."""
    return lambda clip, start, stop: table.get((clip, round(start, -1)), those())


def moving(clip, start, stop):
    return 1.0


def grown(table, query=(0, 0, 10), threshold=0.1, overlap=OVERLAP, most=50, tiers=None, still=moving):
    settings = SearchSettings(overlap=overlap, max_matches=most, max_tiers=tiers)
    return grow_match_graph(query, finder(table), still, threshold, settings)


def places(graph):
    return [graph.interval(k) for k in range(graph.n)]


def test_matches_of_matches_until_none_is_new():
    table = {
        (0, 0): those((0, 0, 10, 0.0), (0, 30, 40, 0.05)),
        (0, 30): those((0, 30, 40, 0.0), (0, 0, 10, 0.05), (1, 0, 12, 0.06)),
        (1, 0): those((1, 0, 12, 0.0), (0, 30, 40, 0.06)),
    }
    graph = grown(table)
    assert places(graph) == [(0, 0, 10), (0, 30, 40), (1, 0, 12)]
    assert graph.tiers == [0, 1, 2]
    assert graph.links == {(0, 1): 0.05, (1, 2): 0.06}
    assert places(grown(table, tiers=1)) == [(0, 0, 10), (0, 30, 40)]


def test_the_query_is_never_its_own_match_nor_moved():
    table = {
        (0, 0): those((0, 0, 10, 0.0), (0, 1, 11, 0.001), (0, 5, 15, 0.01), (0, 30, 40, 0.05)),
        (0, 30): those((0, 1, 11, 0.05)),
    }
    graph = grown(table)
    assert places(graph) == [(0, 0, 10), (0, 30, 40)]


def test_three_cases_of_overlap():
    first = those((0, 30, 40, 0.05), (0, 60, 70, 0.06))
    again = those((0, 31, 41, 0.03), (0, 65, 75, 0.02), (0, 39, 49, 0.04))
    graph = grown({(0, 0): first, (0, 60): again})
    # 9 of 10 frames: the same match; 5 of 10: dropped; 1 of 10: new.
    assert places(graph)[3:] == [(0, 39, 49)]
    assert graph.interval(1) in ((0, 30, 40), (0, 31, 41))
    assert graph.links[1, 2] == 0.03
    cyclic = grown({(0, 0): first, (0, 60): again}, overlap=(0.8, 0.6))
    assert (0, 65, 75) in places(cyclic)


def test_an_interval_is_the_mean_of_all_found_intervals():
    graph = MatchGraph((0, 0, 10), 5)
    node = graph.add((0, 30, 40), 1)
    graph.merge_interval(node, 33, 45)
    graph.merge_interval(node, 33, 44)
    assert graph.interval(node) == (0, 32, 43)


def test_lengths_stay_within_half_and_twice_the_original_in_every_tier():
    table = {
        (0, 0): those((0, 30, 35, 0.05), (0, 60, 64, 0.01), (0, 100, 120, 0.05), (0, 200, 221, 0.01)),
        (0, 30): those((0, 300, 303, 0.01)),
        (0, 100): those((0, 400, 440, 0.01)),
    }
    assert places(grown(table))[1:] == [(0, 30, 35), (0, 100, 120)]
    rng = np.random.default_rng(0)
    graph = MatchGraph((0, 0, 11), 9)
    node = graph.add((0, 50, 56), 1)
    for _ in range(50):
        start = int(rng.integers(48, 52))
        graph.merge_interval(node, start, start + int(rng.integers(graph.lengths[0], graph.lengths[1] + 1)))
        _, low, high = graph.interval(node)
        assert graph.lengths[0] <= high - low <= graph.lengths[1]


def test_a_full_graph_stops_and_is_marked():
    table = {(0, 0): those(*((0, 20 * k, 20 * k + 10, 0.01 * k) for k in range(1, 9)))}
    graph = grown(table, most=3)
    assert graph.n == 4
    assert graph.is_full
    assert places(graph)[1:] == [(0, 20, 30), (0, 40, 50), (0, 60, 70)]
    assert not grown(table, most=8).is_full


def test_of_overlapping_candidates_the_cheapest_path_wins_not_the_lowest_mean():
    lingering = Candidates(
        np.array([0, 0]), np.array([30, 30]), np.array([40, 46]), np.array([0.05, 0.04]), np.array([0.03, 0.035])
    )
    assert lingering.drop_overlapping(0.8).stops.tolist() == [40]


def test_intervals_more_similar_to_standing_still_are_not_matches():
    table = {
        (0, 0): those((0, 30, 40, 0.05), (0, 60, 70, 0.06)),
        (0, 30): those((0, 100, 110, 0.05)),
        (0, 60): those((0, 200, 210, 0.01)),
    }
    still = {0: 0.2, 30: 0.1, 60: 0.03, 100: 0.04, 200: 0.2}
    graph = grown(table, still=lambda clip, start, stop: still[start])
    # 6 cm from the query, 3 cm from standing still: left out, as are the matches that it would have found.
    assert places(graph) == [(0, 0, 10), (0, 30, 40), (0, 100, 110)]
    assert graph.stillness == [0.2, 0.1, 0.04]
    # For a query that is as still itself, it is a match.
    graph = grown(table, still=lambda clip, start, stop: 0.02)
    assert places(graph) == [(0, 0, 10), (0, 30, 40), (0, 60, 70), (0, 100, 110), (0, 200, 210)]


def test_shortest_paths_against_scipy():
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra

    rng = np.random.default_rng(1)
    n = 30
    links = {}
    for _ in range(60):
        a, b = sorted(rng.choice(n, 2, replace=False).tolist())
        links[a, b] = float(rng.uniform(0.01, 1.0))
    rows, columns = zip(*links, strict=True)
    truth = dijkstra(csr_matrix((list(links.values()), (rows, columns)), (n, n)), directed=False, indices=0)
    distances, before = shortest_paths(n, links)
    np.testing.assert_allclose(distances, truth)
    for k in range(1, n):
        if np.isfinite(truth[k]):
            step = links[min(k, before[k]), max(k, before[k])]
            assert distances[k] == pytest.approx(distances[before[k]] + step)


def made_found(links, n=5):
    motion = sample("stand", seconds=1.0).motion
    matches = [Match("clip", 10 * k, 10 * k + 10, tier=min(k, 1)) for k in range(n)]

    def aligned(first, second):
        raise AssertionError("no alignment was asked for")

    return make_match_result(matches, [motion] * n, links, 0.1, (), aligned)


def test_results_are_sorted_by_distance_along_the_graph():
    found = made_found({(0, 1): 0.09, (1, 2): 0.01, (0, 3): 0.02, (3, 4): 0.03, (0, 4): 0.2})
    assert [match.start for match in found] == [0, 30, 40, 10, 20]
    np.testing.assert_allclose(found.distances, [0.0, 0.02, 0.05, 0.09, 0.1])
    assert found.parents.tolist() == [-1, 0, 1, 0, 3]
    assert found.query == found[0]
    assert len(found) == 5
    assert all(edge.first < edge.second for edge in found.edges)


def test_matches_found_through_a_dropped_match_stay():
    found = made_found({(0, 1): 0.09, (1, 2): 0.01, (0, 3): 0.02, (3, 4): 0.03, (0, 4): 0.2})
    fewer = found.without(1)
    assert [match.start for match in fewer] == [0, 10, 20, 40]
    assert fewer[-1].distance == pytest.approx(0.2)
    without_bridge = found.without(3)
    assert [match.start for match in without_bridge] == [0, 30, 40, 20]
    assert without_bridge.parents.tolist() == [-1, 0, 1, 0]
    assert without_bridge[-1].distance == pytest.approx(0.1)
    assert len(found.without(-1, 1)) == 3
    assert len(found) == 5


@pytest.mark.parametrize(("which", "message"), [(0, "the query"), (5, "from 1 to 4, not 5"), (1.5, "integer")])
def test_invalid_drops_are_refused(which, message):
    from marey.errors import InvalidValue

    with pytest.raises(InvalidValue, match=message):
        made_found({(0, k): 0.01 * k for k in range(1, 5)}).without(which)
