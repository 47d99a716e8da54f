"""Cells in runs: they hold what a dense grid holds, whichever way they are made."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.find.cells import STEP, TOO_FAR, Cells, join_columns, join_rows
from marey.find.tiles import packed, unpacked


def some(seed: int, shape: tuple[int, int] = (23, 31), share: float = 0.4) -> tuple[Cells, np.ndarray]:
    """Cells, and the grid with `TOO_FAR` where there is none."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, TOO_FAR, shape).astype(np.uint16)
    kept = rng.random(shape) < share
    kept[3] = True
    kept[5] = False
    return Cells.of(values, kept), np.where(kept, values, np.uint16(TOO_FAR))


def arrays(cells: Cells) -> list[np.ndarray]:
    return [cells.row_runs, cells.run_first, cells.run_values, cells.values]


def same(a: Cells, b: Cells) -> bool:
    return a.shape == b.shape and all(
        x.dtype == y.dtype and np.array_equal(x, y) for x, y in zip(arrays(a), arrays(b), strict=True)
    )


def test_what_is_kept_is_given_back():
    cells, grid = some(0)
    assert np.array_equal(cells.units(), grid)
    part = cells.dense(slice(2, 9), slice(4, 20))
    wanted = np.where(grid == TOO_FAR, np.inf, (grid * STEP) ** 2)[2:9, 4:20]
    assert np.array_equal(part, wanted)
    assert np.array_equal(grid[grid != TOO_FAR], cells.values)
    assert len(cells) == (grid != TOO_FAR).sum()
    assert cells.nbytes == sum(each.nbytes for each in arrays(cells))


def test_arrays_cannot_be_written_to_even_after_a_journey():
    for cells in (some(1)[0], pickle.loads(pickle.dumps(some(1)[0]))):
        for each in arrays(cells):
            with pytest.raises(ValueError, match="read-only"):
                each[:1] = 0


def test_no_cell_at_all():
    cells = Cells.of(np.zeros((4, 3), np.uint16), np.zeros((4, 3), bool))
    assert len(cells) == 0
    assert np.isinf(cells.dense()).all()
    assert same(cells.transposed().transposed(), cells)


def test_transposed_and_mirrored():
    cells, grid = some(2)
    assert np.array_equal(cells.transposed().units(), grid.T)
    assert same(cells.transposed().transposed(), cells)
    square, grid = some(3, (25, 25))
    upper = np.where(np.tri(25, k=-1, dtype=bool), TOO_FAR, grid)
    assert np.array_equal(square.upper().units(), upper)
    assert np.array_equal(square.upper().mirrored().units(), np.minimum(upper, upper.T))
    assert same(square.mirrored(), square.upper().mirrored())


@pytest.mark.parametrize("cuts", [(0, 31), (0, 10, 31), (0, 1, 2, 17, 30, 31)])
def test_tiles_side_by_side_and_below_one_another_make_the_whole(cuts):
    whole, grid = some(4)
    bands = []
    for top, bottom in ((0, 7), (7, 8), (8, 23)):
        parts = [grid[top:bottom, a:b] for a, b in pairwise(cuts)]
        tiles = [unpacked(packed(Cells.of(part, part != TOO_FAR))) for part in parts]
        bands.append(join_columns(tiles, cuts[:-1], 31))
    assert same(join_rows(bands), whole)


def test_wide_grids_have_wide_columns():
    kept = np.zeros((2, 70_000), dtype=bool)
    kept[1, 69_990:] = True
    cells = Cells.of(np.full(kept.shape, 7, np.uint16), kept)
    assert cells.run_first.tolist() == [69_990]
    assert cells.transposed().shape == (70_000, 2)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"row_runs": [0, 2, 1]}, "row_runs must rise from 0 to the number of runs, 2"),
        ({"run_values": [0, 3, 3]}, "run_values must rise from 0 to the number of values, 5, with no empty run"),
        ({"run_first": [0, 9]}, "runs of cells must lie within the 8 columns"),
        ({"run_first": [0, 7]}, "runs of cells must lie within the 8 columns"),
        ({"run_first": [3, 0]}, "the runs of a row must be in order"),
        ({"run_first": [0, 3]}, "the runs of a row must be in order"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, told):
    good = {"row_runs": [0, 2, 2], "run_first": [0, 5], "run_values": [0, 3, 5], "values": [1, 2, 3, 4, 5]}
    assert len(Cells((2, 8), **good)) == 5
    with pytest.raises(InvalidValue, match=told):
        Cells((2, 8), **(good | change))
