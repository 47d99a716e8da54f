"""Products in pieces."""

from __future__ import annotations

import numpy as np
import pytest

from marey.maths.products import multiply


@pytest.mark.parametrize("shape", [(1, 1, 1), (0, 3, 2), (3, 0, 2), (7, 500, 9), (60, 3000, 41), (200, 40, 300)])
def test_pieces_make_up_the_product(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(m, k)), rng.normal(size=(n, k)).T
    np.testing.assert_allclose(multiply(a, b), a @ b, rtol=0.0, atol=1e-12 * max(k, 1))
    assert multiply(a.astype(np.float32), b.astype(np.float32)).dtype == np.float32
