"""All similar frames of clips: the same bits, however the work is split and wherever it runs."""

from __future__ import annotations

import numpy as np
import pytest

from marey.compare import DistanceGrid, distance_grid, frame_distances, frame_weights, point_clouds
from marey.compiled import python_form
from marey.errors import InvalidValue
from marey.graph.alignment import align_at_cells, center_clip
from marey.graph.alike_kernels import align_cells
from marey.graph.minima import find_transitions
from marey.store import Cache, processes, threads
from tests.compare.clips import wandering
from tests.graph.clips import sneaks, walks

WEIGHTS = frame_weights(0.5, 30.0, "triangle")
NAMES = ("clips", "frames", "distances", "transforms")


@pytest.fixture(scope="module")
def clouds():
    return [point_clouds(clip[:200]) for clip in (*walks()[:2], *sneaks()[:1])]


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in NAMES)


def search(coarse, clouds, **options):
    if coarse == 1:
        return find_transitions(clouds, WEIGHTS, 0.2, **options)
    return find_transitions(clouds, WEIGHTS, 0.2, coarse_step=coarse, **options)


def test_markers_are_added_in_the_same_order_by_compiled_and_python_code():
    clips = [center_clip(wandering(40, 21, seed=k), 0, 40) for k in (1, 2)]
    cells = np.array([[3, 4], [10, 12], [30, 9]])
    weights = np.full(7, 1.0 / 7.0)
    compiled, python = np.empty((3, 4)), np.empty((3, 4))
    align_cells(*clips, cells, weights, compiled)
    python_form(align_cells)(*clips, cells, weights, python)
    np.testing.assert_allclose(compiled, python, rtol=0.0, atol=1e-15)


def test_distance_and_transform_are_those_of_the_frames():
    a, b = wandering(90, 7, seed=1, far=(900.0, 0.0, 50.0)), wandering(80, 7, seed=2)
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(7, 83, 60), rng.integers(7, 73, 60)], axis=1)
    moves, left = frame_distances(a, cells[:, 0].astype(float), b, cells[:, 1].astype(float), WEIGHTS)
    got = align_at_cells(a, b, WEIGHTS, cells)
    np.testing.assert_array_equal(got[:, :2], cells)
    np.testing.assert_allclose(got[:, 2], left, atol=1e-13)
    np.testing.assert_allclose(got[:, 3:], moves, atol=1e-11)


def test_frames_with_themselves_are_0_apart():
    a = wandering(60, 7, seed=1, far=(5000.0, 0.0, -3000.0))
    cells = np.repeat(np.arange(7, 53)[:, None], 2, axis=1)
    got = align_at_cells(a, a, WEIGHTS, cells)
    assert got[:, 2].max() < 1e-14
    assert np.abs(got[:, 3:]).max() < 1e-11


def test_minima_are_those_of_the_grids(clouds):
    found = find_transitions(clouds, WEIGHTS, None, max_memory=2**26)
    half = len(WEIGHTS) // 2
    for a, first in enumerate(clouds):
        for b, second in enumerate(clouds[a:], start=a):
            grid = distance_grid(first, None if a == b else second, window=0.5)
            assert isinstance(grid, DistanceGrid)
            whole = grid.values[half:-half, half:-half]
            cells = DistanceGrid(
                _part(first, half), _part(first if a == b else second, half), whole.copy(), WEIGHTS
            ).minima(min_lag=2 * half + 1 if a == b else 0)
            cells = cells[cells[:, 1] > cells[:, 0]] if a == b else cells
            here = (found.clips == (a, b)).all(axis=1)
            np.testing.assert_array_equal(found.frames[here], cells + half)


def _part(clouds, half):
    return type(clouds)(clouds.points[half:-half].copy(), clouds.weights, clouds.fps)


@pytest.mark.parametrize(
    ("coarse", "run"),
    [(1, threads(1)), (1, threads(3)), (3, threads(3)), (3, processes(2))],
    ids=["one", "threads", "threads-coarse", "processes-coarse"],
)
def test_runners_give_the_same_bits(clouds, coarse, run):
    here = search(coarse, clouds, max_memory=2**16)
    assert len(here) > 20
    assert same(search(coarse, clouds, max_memory=2**16, run=run), here)


def test_blocks_of_any_size_give_the_same_bits(clouds):
    whole = find_transitions(clouds, WEIGHTS, None, max_memory=2**28)
    for memory in (2**16, 2**18):
        assert same(find_transitions(clouds, WEIGHTS, None, max_memory=memory), whole)


@pytest.mark.parametrize("coarse", [1, 3])
def test_cached_results_are_not_computed_again(clouds, coarse, tmp_path):
    cache = Cache.open(tmp_path / "cache")
    poses = [str(k) for k in range(len(clouds))]
    looked = []

    def counting(function, items):
        wanted = list(items)
        looked.append(len(wanted))
        return map(function, wanted)

    found = [
        search(coarse, clouds[:n], max_memory=2**26, cache=cache, poses=poses[:n], run=counting) for n in (2, 3, 3)
    ]
    # Three pairs of two clips, then three that the new clip adds, then none.
    assert looked == [3, 3, 0]
    assert same(found[1], found[2])
    assert same(found[1], search(coarse, clouds, max_memory=2**26))


def test_a_coarse_search_does_not_use_the_cache_of_a_full_one(clouds, tmp_path):
    cache = Cache.open(tmp_path / "cache")
    poses = [str(k) for k in range(len(clouds))]
    search(1, clouds, max_memory=2**26, cache=cache, poses=poses)
    n_looked = []
    search(
        2, clouds, max_memory=2**26, cache=cache, poses=poses,
        run=lambda function, items: n_looked.append(len(items)) or map(function, items),
    )  # fmt: skip
    assert n_looked == [6]


def test_bad_input(clouds):
    with pytest.raises(InvalidValue, match="threshold must be at least 0 m"):
        find_transitions(clouds, WEIGHTS, -0.1, max_memory=2**20)
    with pytest.raises(InvalidValue, match="frames per second"):
        find_transitions([clouds[0], wandering(60, clouds[0].n_markers, fps=60.0)], WEIGHTS, None, max_memory=2**20)
