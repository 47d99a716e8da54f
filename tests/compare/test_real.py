"""Grids of real capture: their precision, and what is visible in them."""

import numpy as np
import pytest

from marey.compare import distance_grid, frame_distances, point_clouds
from marey.io import load_markers, load_motion


@pytest.fixture(scope="module")
def clip(data_folder):
    def load(name):
        path = data_folder / "cmu" / name
        if not path.is_file():
            pytest.skip(f"no {path}")
        return load_motion(path)

    return load


@pytest.mark.slow("compares recorded clips pair by pair")
def test_walk_and_run_against_single_pairs(clip):
    walk, run = point_clouds(clip("016/16_15.bvh")), point_clouds(clip("016/16_35.bvh"))
    i, j = (index.ravel() for index in np.indices((len(walk), len(run))))
    for window in (0.1, 0.5):
        grid = distance_grid(walk, run, window=window)
        single = frame_distances(walk, i, run, j, grid.frame_weights)[1]
        assert np.abs(grid.values.ravel() - single).max() < 1e-12


def test_two_walks_are_nearer_than_a_walk_and_a_run(clip):
    walk, other, run = (clip(f"016/16_{take}.bvh") for take in (15, 31, 35))
    nearest = [np.sqrt(distance_grid(walk, motion).values.min()) for motion in (other, run)]
    assert nearest[0] < 0.03 < 0.1 < nearest[1] < 0.2
    # A walk repeats itself: the lowest minimum away from the diagonal is one stride, about 1.1 s, away.
    grid = distance_grid(walk)
    cells = grid.minima(0.02)
    lags = np.abs(cells[:, 0] - cells[:, 1]) / walk.fps
    assert 1.0 < np.median(lags) < 2.5
    assert lags.min() > 0.9


def test_recorded_markers(data_folder):
    files = sorted((data_folder / "c3d").rglob("*.c3d"))
    if not files:
        pytest.skip(f"no C3D files at {data_folder / 'c3d'}")
    n_compared = 0
    for file in files:
        markers = load_markers(file)
        if len(markers.names) == 0 or not markers.valid.mean() > 0.75:
            continue
        grid = distance_grid(markers[: min(len(markers), 400)], window=0.1)
        assert np.isfinite(grid.values).all()
        assert (grid.values == grid.values.T).all()
        n_compared += 1
    assert n_compared > 0
