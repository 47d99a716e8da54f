"""Grids in blocks: the same cells, each once, within the given memory."""

import gc
import tracemalloc

import numpy as np
import pytest

from marey.compare import GridSettings, distance_grid, grid_blocks, grid_minima
from marey.errors import InvalidValue
from tests.compare.clips import wandering

KB, MB = 1024, 1024**2


@pytest.mark.parametrize("memory", [700 * KB, 3 * MB, 64 * MB, 1024 * MB])
@pytest.mark.parametrize("kind", ["pair", "own", "fixed"])
def test_blocks_are_the_grid_cut_up(memory, kind):
    a, b = wandering(230, seed=1), wandering(190, seed=2)
    pair = (a,) if kind == "own" else (a, b)
    whole = distance_grid(*pair, window=0.5, align=kind != "fixed").values
    times = np.zeros(whole.shape, dtype=int)
    sizes = set()
    for block in grid_blocks(*pair, memory=memory, settings=GridSettings(window=0.5, align=kind != "fixed")):
        cells = np.s_[slice(*block.rows), slice(*block.columns)]
        times[cells] += 1
        sizes.add(block.values.shape)
        assert np.abs(block.values - whole[cells]).max() < 1e-12 * whole.max()
        assert not block.values.flags.writeable
    assert (times == 1).all()
    if memory < MB:
        assert len(sizes) > 1
    if memory >= 64 * MB:
        assert sizes == {whole.shape}


@pytest.mark.parametrize("memory", [700 * KB, 256 * MB])
def test_minima_without_the_grid(memory):
    a, b = wandering(230, seed=3), wandering(190, seed=4)
    for pair in ((a, b), (a,)):
        grid = distance_grid(*pair, window=0.5)
        cells, values = grid_minima(*pair, memory=memory, threshold=0.8, settings=GridSettings(window=0.5))
        assert (cells == grid.minima(0.8)).all()
        assert len(cells) > 5
        assert values == pytest.approx(grid.values[tuple(cells.T)], abs=1e-12)


@pytest.mark.parametrize(("memory", "align"), [(8 * MB, True), (8 * MB, False), (24 * MB, True)])
def test_the_stated_memory_is_not_exceeded(memory, align):
    n_frames = 2000  # 31 MB as a whole
    a, b = wandering(n_frames, 36, seed=5), wandering(n_frames, 36, seed=6)
    list(grid_blocks(wandering(40), memory=memory, settings=GridSettings(align=align)))  # loads the kernels
    gc.collect()
    tracemalloc.start()
    try:
        n_cells = 0
        for block in grid_blocks(a, b, memory=memory, settings=GridSettings(window=0.5, align=align)):
            n_cells += block.values.size
        del block
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        cells, _ = grid_minima(a, b, memory=memory, threshold=0.3, settings=GridSettings(window=0.5, align=align))
        peak_of_minima = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n_cells == n_frames**2
    assert memory / 20 < peak <= memory
    assert peak_of_minima <= memory + 64 * len(cells) + 100 * KB


def test_bad_input_is_refused_before_the_first_block():
    a = wandering(200)
    with pytest.raises(InvalidValue, match="memory must be at least .* kB for this grid, not 1 kB"):
        grid_blocks(a, memory=KB)
    with pytest.raises(InvalidValue, match="memory must be an integer, not 1.5"):
        grid_blocks(a, memory=1.5)
    with pytest.raises(InvalidValue, match="window must be at least 0 seconds, not"):
        grid_blocks(a, settings=GridSettings(window=-1))
    with pytest.raises(InvalidValue, match="threshold must be at least 0 m, not -1"):
        grid_minima(a, threshold=-1)
