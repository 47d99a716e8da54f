"""Timewarping with free ends over kept cells: against all paths, against whole rows, and along both axes."""

import itertools

import numpy as np
import pytest

from marey.find.cells import COARSE, STEP, Cells
from marey.find.search import best_paths
from marey.find.search_kernels import PathEnds, PathQuery, find_most_overlap, keep_distinct
from tests.twins.search import best_ends
from tests.twins.timewarp import paths_from


def some_cells(rng, shape, share):
    """Draw units (R, C), a mask of kept cells in runs that allows paths, and the cells."""
    units = 10 * rng.integers(1, 3_000, shape).astype(np.uint16)
    stored = rng.random(shape) < share
    return units, stored, Cells.from_grid(units, stored)


def by_kernel(cells, start, stop, extra=1e-4, cap=np.inf, is_row=True):
    n = cells.shape[1] if is_row else cells.shape[0]
    totals, counts, firsts = np.empty(n), np.zeros(n, np.int32), np.zeros(n, np.int32)
    query = PathQuery(start, stop, is_row, COARSE * STEP, extra, cap)
    looked_at = best_paths(cells, query, PathEnds(totals, counts, firsts))
    return totals, counts, firsts, looked_at


def by_every_path(values, extra):
    """Return for each end column the cheapest of all paths from the first row to the last."""
    n_rows, n_columns = values.shape
    best = {}
    for j in range(n_columns):
        for path in paths_from((0, j), values.shape, 2):
            if path[-1][0] != n_rows - 1:
                continue
            straight = sum(1 for a, b in itertools.pairwise(path) if (b[0] - a[0]) + (b[1] - a[1]) == 1)
            cost = sum(values[cell] for cell in path) + extra * straight
            if cost < best.get(path[-1][1], (np.inf,))[0]:
                best[path[-1][1]] = (cost, len(path), path[0][1])
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("extra", [0.0, 3e-3])
def test_best_paths_are_the_best_of_all_paths(seed, extra):
    rng = np.random.default_rng(seed)
    units, stored, cells = some_cells(rng, (6, 8), 0.85)
    values = np.where(stored, (units * STEP) ** 2, np.inf)
    truth = by_every_path(values[1:6], extra)
    for totals, counts, firsts in (by_kernel(cells, 1, 6, extra)[:3], best_ends(values[1:6], extra)):
        found = {j: (totals[j], counts[j], firsts[j]) for j in np.flatnonzero(np.isfinite(totals))}
        assert found.keys() == truth.keys()
        for j, (cost, n_cells, first) in truth.items():
            assert found[j][0] == pytest.approx(cost, abs=1e-12)
            assert found[j][1:] == (n_cells, first)


@pytest.mark.parametrize("fraction", [0.3, 0.6, 0.95])
def test_kept_cells_give_what_whole_rows_give(fraction):
    rng = np.random.default_rng(7)
    units, stored, cells = some_cells(rng, (40, 160), fraction)
    values = np.where(stored, (units * STEP) ** 2, np.inf)
    for start, stop in ((0, 12), (5, 6), (11, 40)):
        totals, counts, firsts = best_ends(values[start:stop])
        found = by_kernel(cells, start, stop)
        there = np.isfinite(totals)
        np.testing.assert_array_equal(np.isfinite(found[0]), there)
        np.testing.assert_allclose(found[0][there], totals[there], rtol=1e-12)
        np.testing.assert_array_equal(found[1][there], counts[there])
        np.testing.assert_array_equal(found[2][there], firsts[there])
        assert found[3] <= stored[start:stop].sum()


@pytest.mark.parametrize("seed", range(5))
def test_both_orientations_agree(seed):
    rng = np.random.default_rng(seed)
    _, _, cells = some_cells(rng, (70, 90), 0.8)
    turned = cells.transpose()
    for start, stop in ((0, 20), (33, 55), (60, 70)):
        one, other = by_kernel(cells, start, stop), by_kernel(turned, start, stop, is_row=False)
        np.testing.assert_allclose(one[0], other[0], rtol=1e-12)
        there = np.isfinite(one[0])
        assert there.any()
        np.testing.assert_array_equal(one[1][there], other[1][there])
        np.testing.assert_array_equal(one[2][there], other[2][there])


def test_a_cap_changes_nothing_below_it():
    rng = np.random.default_rng(3)
    _, _, cells = some_cells(rng, (30, 200), 0.7)
    whole = by_kernel(cells, 4, 20)
    cap = float(np.nanquantile(whole[0][np.isfinite(whole[0])], 0.3))
    for is_row, grid in ((True, cells), (False, cells.transpose())):
        capped = by_kernel(grid, 4, 20, cap=cap, is_row=is_row)
        below = whole[0] <= cap
        assert below.any()
        assert not below.all()
        np.testing.assert_allclose(capped[0][below], whole[0][below], rtol=1e-12)
        np.testing.assert_array_equal(capped[2][below], whole[2][below])
        assert np.isinf(capped[0][~below]).all()


def test_nothing_kept_gives_nothing():
    cells = Cells.from_grid(np.ones((10, 12), np.uint16), np.zeros((10, 12), bool))
    assert np.isinf(by_kernel(cells, 2, 8)[0]).all()
    assert np.isinf(by_kernel(cells, 2, 8, is_row=False)[0]).all()


def test_paths_through_a_very_wide_grid_are_the_same():
    units, stored, cells = some_cells(np.random.default_rng(3), (9, 12), 0.85)
    wide = np.zeros((9, 70_000), dtype=bool)
    wide[:, -12:] = stored
    values = np.zeros(wide.shape, np.uint16)
    values[:, -12:] = units
    narrow, far = by_kernel(cells, 1, 8), by_kernel(Cells.from_grid(values, wide), 1, 8)
    ends = np.isfinite(narrow[0])
    assert ends.any()
    assert np.isinf(far[0][:-12]).all()
    np.testing.assert_array_equal(far[0][-12:], narrow[0])
    np.testing.assert_array_equal(far[1][-12:][ends], narrow[1][ends])
    np.testing.assert_array_equal(far[2][-12:][ends] - (70_000 - 12), narrow[2][ends])
    assert far[3] == narrow[3]


def test_the_diagonal_of_equal_frames_costs_nothing():
    units = np.full((20, 20), 40_000, np.uint16)
    np.fill_diagonal(units, 0)
    cells = Cells.from_grid(units, np.ones((20, 20), bool))
    totals, counts, firsts, _ = by_kernel(cells, 5, 15)
    assert totals[14] == 0.0
    assert counts[14] == 10
    assert firsts[14] == 5
    assert (np.delete(totals, 14) > 0.0).all()


def test_the_first_of_overlapping_intervals_is_kept():
    clips = np.array([0, 0, 0, 1, 0])
    starts, stops = np.array([0, 1, 5, 0, 40]), np.array([10, 11, 15, 10, 45])
    stored = np.empty(5, np.int64)
    n = keep_distinct(clips, starts, stops, 0.8, stored)
    assert stored[:n].tolist() == [0, 2, 3, 4]
    n = keep_distinct(clips, starts, stops, 0.4, stored)
    assert stored[:n].tolist() == [0, 3, 4]


def test_overlap_is_a_fraction_of_the_shorter_interval():
    places = np.array([[0, 10, 20], [0, 15, 45], [1, 10, 20]])
    assert find_most_overlap(places, 3, (0, 16, 26)) == (1, 1.0)
    assert find_most_overlap(places, 3, (0, 5, 12)) == (0, pytest.approx(2 / 7))
    assert find_most_overlap(places, 2, (1, 10, 20)) == (0, 0.0)
