"""Cells in runs: they hold the values of a dense grid, however they are made."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.find.cells import COARSE, STEP, TOO_FAR, Cells, compress_cells, join_columns, join_rows, restore_cells
from marey.find.tiles import pack_cells, unpack_tile


def some(seed: int, shape: tuple[int, int] = (23, 31), share: float = 0.4) -> tuple[Cells, np.ndarray]:
    """Draw cells that are smooth in part, and their grid to 0.1 mm with `TOO_FAR` where there is none."""
    rng = np.random.default_rng(seed)
    smooth = 20_000 + np.cumsum(rng.integers(-300, 300, shape), axis=1)
    values = np.where(rng.random(shape) < 0.1, rng.integers(0, TOO_FAR, shape), smooth).astype(np.uint16)
    stored = rng.random(shape) < share
    stored[3] = True
    stored[5] = False
    rounded = (values.astype(int) + COARSE // 2) // COARSE * COARSE
    return Cells.from_grid(values, stored), np.where(stored, rounded, TOO_FAR).astype(np.uint16)


def arrays(cells: Cells) -> list[np.ndarray]:
    return [*cells.arrays, cells.row_runs, cells.row_rises]


def same(a: Cells, b: Cells) -> bool:
    return a.shape == b.shape and all(
        x.dtype == y.dtype and np.array_equal(x, y) for x, y in zip(arrays(a), arrays(b), strict=True)
    )


def test_kept_cells_are_restored():
    cells, grid = some(0)
    assert np.array_equal(cells.units(), grid)
    part = cells.dense(slice(2, 9), slice(4, 20))
    wanted = np.where(grid == TOO_FAR, np.inf, (grid * STEP) ** 2)[2:9, 4:20]
    assert np.array_equal(part, wanted)
    starts, columns, units = cells.to_lists()
    assert np.array_equal(grid[grid != TOO_FAR], units)
    assert np.array_equal(np.nonzero(grid != TOO_FAR)[1], columns)
    assert np.array_equal(np.diff(starts), (grid != TOO_FAR).sum(axis=1))
    assert len(cells) == (grid != TOO_FAR).sum()
    assert cells.nbytes == 2 * 23 + 5 * len(cells.run_first) + len(cells.rises)


def test_runs_end_at_the_limits_of_a_byte():
    values = np.full((1, 600), 30_000, np.uint16)
    values[0, 300:] += 1270
    values[0, 400:] += 1280
    cells = Cells.from_grid(values, np.ones((1, 600), bool))
    assert cells.run_first.tolist() == [0, 255, 400]
    assert cells.run_lengths.tolist() == [255, 145, 200]
    assert cells.run_bases.tolist() == [3000, 3000, 3255]
    assert np.array_equal(cells.units(), values)


def test_arrays_are_read_only_even_after_pickling():
    for cells in (some(1)[0], pickle.loads(pickle.dumps(some(1)[0]))):
        for each in arrays(cells):
            with pytest.raises(ValueError, match="read-only"):
                each[:1] = 0


def test_a_grid_without_kept_cells():
    cells = Cells.from_grid(np.zeros((4, 3), np.uint16), np.zeros((4, 3), bool))
    assert len(cells) == 0
    assert np.isinf(cells.dense()).all()
    assert same(cells.transpose().transpose(), cells)


def test_transpose_and_mirror():
    cells, grid = some(2)
    assert np.array_equal(cells.transpose().units(), grid.T)
    assert same(cells.transpose().transpose(), cells)
    square, grid = some(3, (25, 25))
    upper = np.where(np.tri(25, k=-1, dtype=bool), TOO_FAR, grid)
    assert np.array_equal(square.upper().units(), upper)
    assert np.array_equal(square.upper().mirror().units(), np.minimum(upper, upper.T))
    assert same(square.mirror(), square.upper().mirror())


@pytest.mark.parametrize("cuts", [(0, 31), (0, 10, 31), (0, 1, 2, 17, 30, 31)])
def test_joined_tiles_are_the_whole_grid(cuts):
    whole, grid = some(4)
    bands = []
    for top, bottom in ((0, 7), (7, 8), (8, 23)):
        parts = [grid[top:bottom, a:b] for a, b in pairwise(cuts)]
        tiles = [unpack_tile(pack_cells(Cells.from_grid(part, part != TOO_FAR))) for part in parts]
        bands.append(join_columns(tiles, cuts[:-1], 31))
    assert same(join_rows(bands), whole)


def test_wide_grids_have_wide_columns():
    stored = np.zeros((2, 70_000), dtype=bool)
    stored[1, 69_990:] = True
    cells = Cells.from_grid(np.full(stored.shape, 7, np.uint16), stored)
    assert cells.run_first.tolist() == [69_990]
    assert cells.transpose().shape == (70_000, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row_counts": [1, 0]}, "row_counts must add up to the number of runs, 2, not 1"),
        ({"row_counts": [2]}, r"row_counts must have shape \(2,\)"),
        (
            {"run_lengths": [3, 1]},
            "run_lengths must be greater than 0 and add up to the number of runs and rises, 5, not 4",
        ),
        ({"run_lengths": [5, 0]}, "run_lengths must be greater than 0"),
        ({"run_lengths": [300, 2]}, "run_lengths must be from 0 to 255, not 2 to 300"),
        ({"run_first": [-1, 5]}, "run_first must be from 0 to 65535, not -1 to 5"),
        ({"run_first": [0, 7]}, "the grid has 8 columns"),
        ({"run_first": [3, 0]}, "the runs of a row must be sorted"),
        ({"run_first": [0, 2]}, "the runs of a row must be sorted"),
        ({"run_bases": [1, 6600]}, "cell values must be from 0 to 6553, not 0 to 6601"),
        ({"rises": [1, -3, 1]}, "cell values must be from 0 to 6553, not -1 to 10"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    good = {"row_counts": [2, 0], "run_first": [0, 5], "run_lengths": [3, 2], "run_bases": [1, 9], "rises": [1, 1, 1]}
    assert len(Cells((2, 8), **good)) == 5
    with pytest.raises(InvalidValue, match=message):
        Cells((2, 8), **(good | change))


@pytest.mark.parametrize("shape", [(23, 31), (1, 40), (40, 1), (5, 400)])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.4, 1.0])
def test_cells_compressed_for_a_file_are_restored(shape, share):
    rng = np.random.default_rng(7)
    smooth = 20_000 + np.cumsum(np.cumsum(rng.integers(-9, 10, shape), axis=0), axis=1) % 20_000
    values = np.where(rng.random(shape) < 0.1, rng.integers(0, TOO_FAR - COARSE, shape), smooth).astype(np.uint16)
    cells = Cells.from_grid(values, rng.random(shape) < share)
    first, second = compress_cells(cells), compress_cells(Cells.from_grid(values, np.ones(shape, dtype=bool)))
    both = tuple(np.concatenate(pair) for pair in zip(first, second, strict=True))
    back, rest = restore_cells(shape, both)
    assert same(back, cells)
    assert all(np.array_equal(a, b) for a, b in zip(rest, second, strict=True))


def test_smooth_cells_take_one_small_number_each():
    frames = np.arange(60)
    values = (COARSE * (800 + (frames[:, None] - frames) ** 2 // 9)).astype(np.uint16)
    kept = np.abs(frames[:, None] - frames) < 12
    counts, edges, far_edges, planes, lines, far = compress_cells(Cells.from_grid(values, kept))
    assert counts.tolist() == [1] * 60
    assert (edges[30:90] == 0).all()  # a band along the diagonal
    assert (len(far_edges), len(far)) == (0, 1)
    assert len(planes) + len(lines) == kept.sum()
    assert np.abs(planes).max() <= 1
