"""Local minima among eight neighbors, cell by cell, with the rule for ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from marey.compare import local_minima
from marey.errors import InvalidValue
from tests.twins import compare as twin

# Few different values, to get many ties and plateaus.
GRIDS = npst.arrays(
    np.float64,
    npst.array_shapes(min_dims=2, max_dims=2, max_side=7),
    elements=st.sampled_from([0.0, 0.25, 1.0, 2.0, np.inf]),
)


@given(GRIDS, st.sampled_from([None, 0.0, 0.5, 1.2]), st.integers(0, 4))
def test_it_is_the_naive_twin(values, threshold, min_lag):
    limit = np.inf if threshold is None else threshold**2
    assert (local_minima(values, threshold, min_lag=min_lag) == twin.minima(values, limit, min_lag)).all()


def test_a_random_grid_in_row_major_order():
    values = np.random.default_rng(0).random((60, 45))
    cells = local_minima(values)
    assert len(cells) > 100
    assert (cells == twin.minima(values)).all()
    assert cells.dtype == np.int64
    assert (np.lexsort((cells[:, 1], cells[:, 0])) == np.arange(len(cells))).all()


def test_of_equal_neighbors_the_first_counts():
    assert local_minima(np.zeros((4, 5))).tolist() == [[0, 0]]
    values = np.ones((6, 6))
    values[2:4, 3:5] = 0.0
    assert local_minima(values).tolist() == [[0, 0], [2, 3]]
    assert local_minima(np.full((3, 3), np.inf)).tolist() == []
    assert local_minima(np.full((3, 3), np.nan)).tolist() == []
    assert local_minima(np.zeros((0, 3))).shape == (0, 2)


def test_the_threshold_is_a_distance():
    values = np.array([[0.04, 1.0, 0.09]])
    assert local_minima(values, 0.2).tolist() == [[0, 0]]
    assert local_minima(values, 0.3).tolist() == [[0, 0], [0, 2]]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: local_minima(np.zeros(3)), "values must be a two-dimensional grid, not shape (3,)"),
        (lambda: local_minima(np.zeros((3, 3)), -0.1), "threshold must be at least 0 m, not -0.1"),
        (lambda: local_minima(np.zeros((3, 3)), np.nan), "threshold must be at least 0 m, not nan"),
        (lambda: local_minima(np.zeros((3, 3)), min_lag=1.5), "min_lag must be an integer, not 1.5"),
    ],
)
def test_bad_input(ask, message):
    with pytest.raises(InvalidValue) as error:
        ask()
    assert message in str(error.value)
