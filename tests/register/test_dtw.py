"""Timewarp paths: optimal among all paths, within the rules, and refused with the reason."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marey.errors import InvalidValue, NoTimewarp
from marey.register.dtw import TimeAlignment, dtw, dtw_around, dtw_cyclic, dtw_incremental
from tests.strategies import LAWS
from tests.twins.timewarp import best_around, best_path, best_to_border

SIZES = [(1, 1), (2, 2), (5, 5), (4, 7), (7, 4), (6, 6), (3, 6), (6, 5)]


def random_grid(shape, seed):
    return np.random.default_rng(seed).uniform(0.01, 1.0, shape)


def check_rules(cells, limit):
    """Yield steps forward in one motion or both, diagonal first, with fewer than `limit` straight ones in a row."""
    steps = np.diff(cells, axis=0)
    assert set(map(tuple, steps)) <= {(1, 1), (1, 0), (0, 1)}
    if len(steps):
        assert tuple(steps[0]) == (1, 1)
    run = 0
    for before, step in zip([(1, 1), *steps], steps, strict=False):
        straight = step.sum() == 1
        run = run + 1 if straight else 0
        assert run <= limit - 1
        assert not (straight and sum(before) == 1 and tuple(before) != tuple(step))


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", SIZES)
def test_corner_to_corner_is_the_best_of_all_paths(shape, limit):
    for seed in range(5):
        values = random_grid(shape, seed)
        best = best_path(values, (0, 0), (shape[0] - 1, shape[1] - 1), limit)
        if best is None:
            with pytest.raises(NoTimewarp, match="slope limit"):
                dtw(values, slope_limit=limit)
            continue
        found = dtw(values, slope_limit=limit)
        assert found.cells.tolist() == [list(cell) for cell in best[1]]
        np.testing.assert_allclose(found.distances.sum(), best[0], rtol=1e-12)
        check_rules(found.cells, limit)


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("shape", SIZES)
def test_free_end_has_the_smallest_mean_on_the_border(shape, limit):
    for seed in range(5):
        values = random_grid(shape, seed)
        best = best_to_border(values, (0, 0), limit)
        assert best is not None
        found = dtw(values, end="border", slope_limit=limit)
        assert found.cells.tolist() == [list(cell) for cell in best[1]]
        np.testing.assert_allclose(found.mean, best[0], rtol=1e-12)


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize(("start", "end"), [((1, 2), (5, 6)), ((0, 3), (4, 5)), ((2, 2), (2, 2)), ((3, 0), (5, 4))])
def test_given_start_and_end(start, end, limit):
    for seed in range(5):
        values = random_grid((6, 7), seed)
        best = best_path(values, start, end, limit)
        if best is None:
            with pytest.raises(NoTimewarp):
                dtw(values, start=start, end=end, slope_limit=limit)
        else:
            assert dtw(values, start=start, end=end, slope_limit=limit).cells.tolist() == [list(c) for c in best[1]]


@given(
    st.integers(2, 6), st.integers(2, 6), st.integers(1, 3), st.integers(0, 10_000), st.floats(0.5, 1.0), st.booleans()
)
@LAWS
def test_the_path_stays_in_the_mask(rows, columns, limit, seed, share, as_infinity):
    rng = np.random.default_rng(seed)
    values, mask = rng.uniform(0.01, 1.0, (rows, columns)), rng.uniform(size=(rows, columns)) < share
    for end, best in (
        ("corner", best_path(values, (0, 0), (rows - 1, columns - 1), limit, mask)),
        ("border", best_to_border(values, (0, 0), limit, mask)),
    ):
        given_as = {"values": np.where(mask, values, np.inf)} if as_infinity else {"values": values, "mask": mask}
        if best is None:
            with pytest.raises(NoTimewarp):
                dtw(**given_as, end=end, slope_limit=limit)
        else:
            assert dtw(**given_as, end=end, slope_limit=limit).cells.tolist() == [list(cell) for cell in best[1]]


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("center", [(3, 3), (0, 0), (5, 6), (1, 4), (0, 3), (5, 2)])
def test_forwards_and_backwards_from_the_inside(center, limit):
    i, j = center
    for seed in range(5):
        values = random_grid((6, 7), seed)
        found = dtw_around(values, center, slope_limit=limit)
        ahead = best_to_border(values, center, limit)
        back = best_to_border(values[: i + 1, : j + 1][::-1, ::-1], (0, 0), limit)
        expected = [(i - a, j - b) for a, b in back[1][:0:-1]] + ahead[1]
        assert found.cells.tolist() == [list(cell) for cell in expected]
        np.testing.assert_array_equal(found.distances, values[found.cells[:, 0], found.cells[:, 1]])


def test_around_with_given_ends():
    values = random_grid((9, 9), 3)
    found = dtw_around(values, (4, 5), ends=((1, 1), (7, 8)))
    assert found.cells[0].tolist() == [1, 1]
    assert found.cells[-1].tolist() == [7, 8]
    assert [4, 5] in found.cells.tolist()
    corner = dtw_around(values, (4, 4), ends="corner")
    assert corner.cells[[0, -1]].tolist() == [[0, 0], [8, 8]]


@pytest.mark.parametrize("limit", [2, 3])
@pytest.mark.parametrize("shape", [(4, 4), (5, 4), (3, 5)])
def test_best_path_around_two_loops(shape, limit):
    for seed in range(5):
        values = random_grid(shape, seed)
        total, path = best_around(values, limit)
        found = dtw_cyclic(values, slope_limit=limit)
        np.testing.assert_allclose(found.distances[1:].sum(), total, rtol=1e-12)
        assert found.cells.tolist() == [list(cell) for cell in path]
        assert (found.cells[-1] - found.cells[0]).tolist() == list(shape)
        assert found.distances[0] == found.distances[-1]


def test_loop_with_a_given_start():
    values = random_grid((5, 6), 0)
    assert dtw_cyclic(values, start=2).cells[0].tolist() == [0, 2]
    with pytest.raises(NoTimewarp, match="the first motion advances 5 frames and the second 12"):
        dtw_cyclic(random_grid((5, 12), 0))
    with pytest.raises(NoTimewarp, match="the mask blocks every path within"):
        dtw_cyclic(values, mask=np.zeros(values.shape, dtype=bool))


@given(st.integers(3, 60), st.integers(3, 60), st.integers(1, 4), st.integers(0, 10_000))
@LAWS
def test_every_path_keeps_to_the_rules(rows, columns, limit, seed):
    values = random_grid((rows, columns), seed)
    for found in (dtw(values, end="border", slope_limit=limit), dtw_incremental(values, slope_limit=limit)):
        check_rules(found.cells, limit)
        assert found.cells[0].tolist() == [0, 0]
        assert found.cells[-1][0] == rows - 1 or found.cells[-1][1] == columns - 1


def valley(rows, columns):
    """Return a grid with a known cheapest path: along the line from corner to corner."""
    i, j = np.arange(rows)[:, None] / (rows - 1), np.arange(columns) / (columns - 1)
    return 1e-3 + (i - j) ** 2


def test_a_valley_is_followed():
    found = dtw(valley(300, 200))
    assert np.abs(found.cells[:, 0] * 199 / 299 - found.cells[:, 1]).max() <= 1.0
    piecewise = dtw_incremental(valley(300, 200))
    assert np.abs(piecewise.cells[:, 0] * 199 / 299 - piecewise.cells[:, 1]).max() <= 2.0


class CountedGrid:
    """A grid that computes cells on request and counts them."""

    def __init__(self, n):
        self.n, self.cells = n, 0

    def __call__(self, rows, columns):
        i, j = np.arange(rows.start, rows.stop)[:, None], np.arange(columns.start, columns.stop)
        self.cells += i.size * j.size
        return 0.01 + (np.sin(0.1 * i) - np.sin(0.1 * j)) ** 2


def test_incremental_looks_at_cells_in_proportion_to_the_length():
    counted = {}
    for n in (500, 2000):
        grid = CountedGrid(n)
        found = dtw_incremental(grid, (0, 0), size=20, keep=10, shape=(n, n))
        counted[n] = grid.cells
        assert max(found.cells[-1]) == n - 1
        whole = dtw_incremental(CountedGrid(n)(slice(0, n), slice(0, n)), (0, 0), size=20, keep=10)
        assert whole.cells.tolist() == found.cells.tolist()
    assert 3.8 < counted[2000] / counted[500] < 4.2
    assert counted[2000] <= 20 * 20 / 10 * (2000 + 2000)


def test_a_window_as_large_as_the_grid_gives_the_full_path():
    values = random_grid((8, 9), 1)
    whole = dtw(values, end="border")
    assert dtw_incremental(values, size=40, keep=39).cells.tolist() == whole.cells.tolist()


def test_metrics_of_an_alignment():
    found = dtw(np.array([[4.0, 9.0], [9.0, 0.0]]))
    assert found.cells.tolist() == [[0, 0], [1, 1]]
    assert found.mean == 2.0
    assert found.distance == np.sqrt(2.0)
    assert len(found) == 2
    with pytest.raises(ValueError):
        found.cells[0] = 1


def test_values_are_left_as_they_were():
    values = random_grid((6, 6), 0)
    before, mask = values.copy(), np.ones((6, 6), dtype=bool)
    mask[2, 4] = False
    dtw(values, mask=mask)
    dtw_around(values, (3, 3))
    assert (values == before).all()


def closed_column(j):
    return np.where(np.arange(9) == j, np.inf, np.ones((9, 1)))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"values": np.ones((30, 13))}, NoTimewarp, "motion advances 29 frames and the second 12 (ratio 2.42)"),
        ({"values": np.ones((30, 1))}, NoTimewarp, "the first motion advances 29 frames and the second 0; crop"),
        ({"values": np.ones((9, 9)), "start": (3, 3), "end": (2, 5)}, NoTimewarp, "but (2, 5) comes before (3, 3)"),
        ({"values": np.ones((9, 9)), "mask": np.zeros((9, 9))}, NoTimewarp, "the mask excludes the start (frame 0 of"),
        ({"values": np.ones((9, 9)), "mask": np.eye(9)[::-1] + np.eye(9, k=0) * (np.arange(9) != 5) > 0},
         NoTimewarp, "the mask blocks every path from (0, 0) to (8, 8) within the slope limit 2"),
        ({"values": np.ones((9, 9)), "mask": np.arange(9) != 4 * np.ones((9, 1)), "end": "border"},
         NoTimewarp, "the mask blocks every path from (0, 0) to the frames where either motion ends"),
        ({"values": closed_column(8)}, NoTimewarp, "an infinite distance excludes the end (frame 8 of"),
        ({"values": closed_column(4)}, NoTimewarp, "cells of infinite distance block"),
        ({"values": np.ones((9, 9)), "start": (9, 0)}, InvalidValue, "of the 9 x 9 grid, not (9, 0)"),
        ({"values": np.ones((9, 9)), "end": (0, -1)}, InvalidValue, "of the 9 x 9 grid, not (0, -1)"),
        ({"values": np.ones((9, 9)), "end": "middle"}, InvalidValue, "`end` must be 'corner', 'border' or a cell"),
        ({"values": np.ones((9, 9)), "end": 5}, InvalidValue, "end must be a cell (i, j), not 5"),
        ({"values": np.ones((9, 9)), "slope_limit": 0}, InvalidValue, "slope_limit must be from 1 to 60, not 0"),
        ({"values": np.ones((9, 9)), "slope_limit": 1.5}, InvalidValue, "slope_limit must be an integer, not 1.5"),
        ({"values": np.ones((9, 9)), "mask": np.ones((9, 8))}, InvalidValue, "of the grid, (9, 9), not (9, 8)"),
        ({"values": -np.ones((9, 9))}, InvalidValue, "distances of at least 0, but contain -1"),
        ({"values": np.full((9, 9), np.nan)}, InvalidValue, "distances of at least 0, but contain nan"),
        ({"values": np.ones(9)}, InvalidValue, "at least one cell, not shape (9,)"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_the_reason(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        dtw(**arguments)


def test_bad_arguments_of_the_others():
    values = np.ones((9, 9))
    with pytest.raises(InvalidValue, match="center"):
        dtw_around(values, (9, 9))
    with pytest.raises(InvalidValue, match="must begin with a cell before the center"):
        dtw_around(values, (4, 4), ends=((5, 5), (8, 8)))
    with pytest.raises(NoTimewarp, match=re.escape("before the center (1, 8), with frames counted backward from it")):
        dtw_around(values, (1, 8), ends=((0, 0), (1, 8)))
    with pytest.raises(NoTimewarp, match="before the center .* the mask blocks every path"):
        dtw_around(values, (4, 4), mask=np.arange(9) != 2 * np.ones((9, 1)))
    with pytest.raises(InvalidValue, match="`keep` must be at least 1 and less than `size`"):
        dtw_incremental(values, size=5, keep=5)
    with pytest.raises(InvalidValue, match="shape must be given"):
        dtw_incremental(lambda rows, columns: values[rows, columns])
    with pytest.raises(InvalidValue, match=re.escape("returned shape (2, 2)")):
        dtw_incremental(lambda rows, columns: np.ones((2, 2)), shape=(9, 9))
    with pytest.raises(NoTimewarp, match=re.escape("in the window of 4 cells at (0, 0)")):
        dtw_incremental(np.where(np.arange(9) == 2, np.inf, values), size=4, keep=2)
    with pytest.raises(InvalidValue, match="at least one cell"):
        TimeAlignment(np.empty((0, 2), dtype=np.int64), np.empty(0))
