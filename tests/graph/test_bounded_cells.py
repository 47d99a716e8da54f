"""Only frames that may be within a limit are compared, and the transitions stay the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from marey.compare import frame_distances, frame_weights, point_clouds
from marey.compiled import python_form
from marey.edit import resample
from marey.errors import InvalidValue
from marey.graph import MotionGraph, bounded_cells
from marey.graph.bounded_cells import NearCells, average_features
from marey.graph.minima import find_transitions, split_into_blocks
from marey.io import load_motion
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
    assert (np.linalg.norm(one[i - half] - other[j - half], axis=1) <= distances + 1e-5).all()


def check_limited(clouds, weights, limit):
    """Check that a search up to a limit finds the minima of a search without one; return the skipped fraction."""
    few = find_transitions(clouds, weights, limit, max_memory=2**20)
    every = find_transitions(clouds, weights, None, max_memory=2**20)
    near = every.select(every.distances <= limit)
    assert np.array_equal(few.clips, near.clips)
    assert np.array_equal(few.frames, near.frames)
    assert np.array_equal(few.distances, near.distances)
    assert np.array_equal(few.transforms, near.transforms)
    assert every.skipped == 0.0
    return few.skipped


@pytest.mark.parametrize("limit", [0.02, 0.06, 0.15])
def test_transitions_are_those_of_all_cells(clouds, limit):
    assert check_limited(clouds, frame_weights(0.3, 30.0), limit) > 0.2


@pytest.mark.parametrize("shape", ["box", "gaussian"])
def test_windows_may_have_any_shape(clouds, shape):
    assert check_limited(clouds[:2], frame_weights(0.2, 30.0, shape), 0.06) > 0.2


def test_clips_may_be_far_apart_and_stand_still():
    walk = sample("walk", fps=30.0, seconds=4.0).motion
    still = np.repeat(point_clouds(walk).points[40:41], 30, axis=0)
    points = point_clouds(walk).points
    points = np.concatenate([points[:40], still, points[40:]])
    far = points + np.array([2000.0, 0.0, -5000.0])
    both = [replace(point_clouds(walk), points=each, contacts=None) for each in (points, far)]
    check_limited(both, frame_weights(0.3, 30.0), 0.03)


def test_clips_shorter_than_a_window_have_no_transitions(clouds):
    weights = frame_weights(0.3, 30.0)
    short = replace(clouds[0], points=clouds[0].points[:7], contacts=None)
    found = find_transitions([clouds[0], short, clouds[1]], weights, 0.05, max_memory=2**20)
    assert len(found) == len(find_transitions(clouds[:2], weights, 0.05, max_memory=2**20))


@pytest.mark.slow("compares recorded clips pair by pair")
@pytest.mark.parametrize("limit", [0.01, 0.03, 0.08])
def test_transitions_of_captures_are_those_of_all_cells(data_folder, limit):
    files = sorted((data_folder / "cmu" / "144").glob("*.bvh"))[:3]
    if not files:
        pytest.skip(f"no clips in {data_folder / 'cmu' / '144'}")
    clouds = [point_clouds(resample(load_motion(file), 30.0)) for file in files]
    assert check_limited(clouds, frame_weights(0.5, 30.0), limit) > 0.5


def test_compiled_and_python_code_find_the_same_cells(monkeypatch):
    clips = [point_clouds(sample("walk", rng=k, fps=30.0, seconds=1.5).motion) for k in range(2)]
    weights = frame_weights(0.3, 30.0)
    near = NearCells.build(clips, weights, 0.06)
    blocks = split_into_blocks([len(each) for each in clips], len(weights) // 2, 2**20)
    compiled = near.count_all(blocks), [near.find(block) for block in blocks]
    for name in ("count_near_groups", "list_near_cells", "find_sparse_minima"):
        monkeypatch.setattr(bounded_cells, name, python_form(getattr(bounded_cells, name)))
    counts, found = near.count_all(blocks), [near.find(block) for block in blocks]
    assert counts == compiled[0]
    assert any(len(cells) for cells, _ in found)
    for ours, theirs in zip(found, compiled[1], strict=True):
        assert np.array_equal(ours[0], theirs[0])
        assert ours[1] == theirs[1]


def test_no_near_frames_are_in_far_groups(clouds):
    weights = frame_weights(0.3, 30.0)
    half = len(weights) // 2
    near = NearCells.build(clouds, weights, 0.05)
    features = average_features(clouds, weights)
    blocks = split_into_blocks([len(each) for each in clouds], half, 2**20)
    for block, count in zip(blocks, near.count_all(blocks), strict=True):
        a, b = (
            features[clip][run[0] - half : run[1] - half].astype(np.float64)
            for clip, run in ((block.a, block.rows), (block.b, block.columns))
        )
        distances = np.linalg.norm(a[:, None] - b[None], axis=2)
        lags = np.subtract.outer(np.arange(*block.columns), np.arange(*block.rows)).T
        is_near = (distances <= 0.05) & ((lags >= len(weights)) | (block.a != block.b))
        assert np.count_nonzero(is_near) <= count
        found = near.find(block)
        if found is not None:
            assert np.count_nonzero(is_near) <= found[1] <= count


def test_many_near_cells_are_compared_all_at_once(clouds):
    weights = frame_weights(0.3, 30.0)
    blocks = split_into_blocks([len(each) for each in clouds], len(weights) // 2, 2**20)
    everything = NearCells.build(clouds, weights, 10.0)
    assert all(everything.find(block) is None for block in blocks)
    few = find_transitions(clouds, weights, 10.0, max_memory=2**20)
    every = find_transitions(clouds, weights, None, max_memory=2**20)
    assert np.array_equal(few.distances, every.distances)
    assert few.skipped == 0.0


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
