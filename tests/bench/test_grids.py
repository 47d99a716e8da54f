"""The benchmark of distance grids, on small grids: it measures what it claims."""

import numpy as np
import pytest

from marey.bench import grids
from marey.compare import distance_grid


def test_results(monkeypatch):
    monkeypatch.setattr(grids, "SIZES", ((60, 2),))
    monkeypatch.setattr(grids, "SMALL", (40, 5))
    monkeypatch.setattr(grids, "MEMORY", 4 * 1024**2)
    results = list(grids.bench_grid(""))
    assert [result.what.split(",")[0] for result in results[:3]] == [
        "grid of two clips",
        "grid of one clip",
        "grid of two clips",
    ]
    for result in results[:2]:
        assert result.ratio == pytest.approx(result.value / result.floor)
        assert result.goal == "at most 3 x"
    memory = results[3:]
    assert len(memory) == 2
    assert all(0.1 < result.value <= 4 and result.ok for result in memory)


def test_the_floor_is_the_products_that_the_grid_needs():
    a, b = grids.swaying(30, 6, 1), grids.swaying(20, 6, 2)
    ours, theirs = grids.make_factors(a), grids.make_factors(b)
    dot, cross, up = ours[0] @ theirs[0].T, ours[0] @ theirs[1].T, ours[2] @ theirs[2].T
    assert dot.shape == cross.shape == up.shape == (30, 20)
    # Single frames around the middles of the clips: D follows from these and from sums over single frames.
    (xa, za), (xb, zb) = (
        [(clouds.points[..., c] - clouds.points[..., c].mean()).mean(axis=1) for c in (0, 2)] for clouds in (a, b)
    )
    along = dot - np.multiply.outer(xa, xb) - np.multiply.outer(za, zb)
    across = cross - np.multiply.outer(xa, zb) + np.multiply.outer(za, xb)
    squares = [(each[0] ** 2).sum(axis=1) - x**2 - z**2 for each, x, z in ((ours, xa, za), (theirs, xb, zb))]
    heights = [clouds.points[..., 1] for clouds in (a, b)]
    apart = ((heights[0][:, None] - heights[1][None]) ** 2).mean(axis=2)
    expected = np.add.outer(squares[0], squares[1]) + apart - 2 * np.hypot(along, across)
    assert distance_grid(a, b, window=0.0).values == pytest.approx(expected, abs=1e-12)
