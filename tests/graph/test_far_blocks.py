"""Parts of grids that are too far are left out, and the transitions stay the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.compare import frame_distances, frame_weights, point_clouds
from marey.errors import InvalidValue
from marey.graph import MotionGraph
from marey.graph.far_blocks import average_features, find_near_blocks
from marey.graph.minima import find_transitions, split_into_blocks
from marey.samples import sample
from marey.store import Cache


def motions():
    names = ("walk", "cartwheel", "sit", "run")
    return [replace(sample(name, rng=k, fps=30.0).motion, name=name) for k, name in enumerate(names)]


@pytest.fixture(scope="module")
def clouds():
    return [point_clouds(motion) for motion in motions()]


@pytest.mark.parametrize("per_joint", [1, 3])
def test_features_of_windows_bound_their_distance(per_joint):
    weights = frame_weights(0.3, 30.0)
    half = len(weights) // 2
    a, b = (point_clouds(motion, per_joint=per_joint) for motion in motions()[:2])
    one, other = average_features([a, b], weights)
    rng = np.random.default_rng(3)
    i, j = (rng.integers(half, len(each) - half, 300) for each in (a, b))
    distances = np.sqrt(frame_distances(a, i, b, j, weights)[1])
    assert (np.linalg.norm(one[i] - other[j], axis=1) <= distances + 1e-5).all()


@pytest.mark.parametrize("limit", [0.02, 0.06, 0.15])
def test_transitions_are_those_of_all_blocks(clouds, limit):
    weights = frame_weights(0.3, 30.0)
    few = find_transitions(clouds, weights, limit, max_memory=2**20)
    every = find_transitions(clouds, weights, None, max_memory=2**20)
    near = every.select(every.distances <= limit)
    assert np.array_equal(few.clips, near.clips)
    assert np.array_equal(few.frames, near.frames)
    assert np.array_equal(few.distances, near.distances)
    assert np.array_equal(few.transforms, near.transforms)
    assert few.skipped > 0.2
    assert every.skipped == 0.0


def test_parts_are_in_their_blocks(clouds):
    weights = frame_weights(0.3, 30.0)
    blocks = split_into_blocks([len(each) for each in clouds], len(weights) // 2, 2**20)
    near = find_near_blocks(blocks, clouds, weights, 0.05)
    n_left = 0
    for block in near.blocks:
        for rows, columns in near.parts[block]:
            assert block.rows[0] <= rows[0] < rows[1] <= block.rows[1]
            assert block.columns[0] <= columns[0] < columns[1] <= block.columns[1]
            n_left += (rows[1] - rows[0]) * (columns[1] - columns[0])
    assert n_left == pytest.approx((1.0 - near.skipped) * sum(each.n_cells for each in blocks))
    everything = find_near_blocks(blocks, clouds, weights, 10.0)
    assert everything.skipped == 0.0
    assert everything.blocks == blocks


def test_one_more_clip_costs_only_its_own_pairs(clouds, tmp_path):
    weights = frame_weights(0.3, 30.0)
    cache = Cache.open(tmp_path / "cache")
    computed = []

    def run(function, items):
        computed.append([(block.a, block.b) for block in items])
        return map(function, items)

    def build(chosen):
        keys = [cache.key(clouds[k].points) for k in chosen]
        return find_transitions(
            [clouds[k] for k in chosen], weights, 0.1, max_memory=2**20, run=run, cache=cache, poses=keys
        )

    build([0, 1])
    more = build([0, 1, 3])
    assert all(b == 2 for _, b in computed[1])
    assert len(more) == len(find_transitions([clouds[k] for k in (0, 1, 3)], weights, 0.1, max_memory=2**20))
    build([0, 3])
    assert computed[2] == []


def test_graphs_are_equal():
    walks = [replace(sample("walk", rng=k, fps=30.0, seconds=4.0).motion, name=f"walk{k}") for k in range(2)]
    walks.append(replace(sample("cartwheel", fps=30.0).motion, name="cartwheel"))
    plain = MotionGraph.build(walks, threshold=0.08)
    quick = MotionGraph.build(walks, threshold=0.08, max_search_distance=0.08)
    assert np.array_equal(plain.nodes, quick.nodes)
    assert np.array_equal(plain.edges.heads, quick.edges.heads)
    assert plain.build_info.skipped == 0.0
    assert 0.0 < quick.build_info.skipped < 1.0
    with pytest.raises(InvalidValue, match="max_search_distance must be at least the threshold of 0.08 m, not 0.05 m"):
        MotionGraph.build(walks, threshold=0.08, max_search_distance=0.05)
