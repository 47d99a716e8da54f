"""A graph and a match web of a growing set compare only the pairs of new clips."""

from dataclasses import replace

import numpy as np
import pytest

from marey import MatchWeb, MotionGraph
from marey.samples import sample
from marey.store import Cache

N, ADDED = 6, 2


@pytest.fixture(scope="module")
def clips():
    walk = sample("walk", seconds=8.0, fps=30.0, rng=1).motion
    return [replace(walk[24 * k : 24 * k + 50], name=f"clip{k}") for k in range(N + ADDED)]


class Counter:
    """A runner that counts the blocks of work."""

    def __init__(self):
        self.n = 0

    def __call__(self, function, items):
        listed = list(items)
        self.n += len(listed)
        return map(function, listed)


def build_graph(clips, cache, run):
    return MotionGraph.build(clips, 0.1, cache=cache, run=run)


def build_web(clips, cache, run):
    return MatchWeb.build(clips, cache=cache, run=run)


@pytest.mark.parametrize("build", [build_graph, build_web])
def test_adding_clips_compares_only_these_with_all_others(clips, tmp_path, build):
    cache = Cache.open(tmp_path / "cache")
    runs = [Counter() for _ in range(3)]
    build(clips[:N], cache, runs[0])
    assert runs[0].n == N * (N + 1) // 2
    grown = build(clips, cache, runs[1])
    assert runs[1].n == ADDED * N + ADDED * (ADDED + 1) // 2
    build(clips[1:], cache, runs[2])  # without the first
    assert runs[2].n == 0
    whole = build(clips, None, map)
    if isinstance(grown, MatchWeb):
        for one, two in zip(grown.pairs, whole.pairs, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one.arrays, two.arrays, strict=True))
    else:
        assert np.array_equal(grown.edges.distances, whole.edges.distances)
        assert np.array_equal(grown.nodes, whole.nodes)
