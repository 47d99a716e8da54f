"""Benches of timewarps: the path through a grid, and the curves fitted to what it finds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from marey.bench.figures import Figure, against_floor, at_most
from marey.bench.timing import best_of
from marey.core.arrays import Floats
from marey.register.curves import AlignmentCurve, TimewarpCurve
from marey.register.dtw import dtw, dtw_incremental

CELLS = 1_000
MOTIONS, FRAMES = 18, 300


def like_gait(n: int) -> Floats:
    """(n, n) distances in m^2 with the ridges and valleys of two walks, and noise so that no path is easy."""
    i, j = np.arange(n)[:, None], np.arange(n)
    noise = np.random.default_rng(0).uniform(0.0, 0.002, (n, n))
    return np.asarray(0.001 + 0.02 * np.sin(0.04 * (i - 1.03 * j)) ** 2 + noise)


def bench_timewarp(path: str) -> Iterator[Figure]:
    """The best path through a grid beside one pass over it, and fitting curves; whatever `path` holds."""
    grid = like_gait(CELLS)
    mask = np.abs(np.subtract.outer(np.arange(CELLS), np.arange(CELLS))) < CELLS // 3
    ways = {
        "corner to corner": lambda: dtw(grid),
        "free end": lambda: dtw(grid, end="border"),
        "slope limit 3": lambda: dtw(grid, slope_limit=3),
        "within a mask": lambda: dtw(grid, mask=mask),
        "k / k' windows": lambda: dtw_incremental(grid),
    }
    floor, *times = best_of([lambda: np.cumsum(grid), *ways.values()])
    for what, seconds in zip(ways, times, strict=True):
        told = f"timewarp of {CELLS:,} x {CELLS:,} cells, {what}"
        yield against_floor("timewarp", told, "ms", "numpy.cumsum", (1e3 * seconds, 1e3 * floor), 5.0)
    rng = np.random.default_rng(1)
    seconds_of = np.cumsum(rng.choice([0.5, 1.0], (FRAMES, MOTIONS)), axis=0) / 30.0
    moves = 0.01 * np.cumsum(rng.normal(size=(FRAMES, MOTIONS, 3)), axis=0)
    moves[:, 0] = 0.0
    warp, align = best_of([lambda: TimewarpCurve.fit(seconds_of), lambda: AlignmentCurve.fit(moves)])
    whole = f"{MOTIONS} motions x {FRAMES} frames"
    yield at_most("timewarp", f"timewarp curve of {whole}", 1e3 * warp, "ms", 5)
    yield at_most("timewarp", f"alignment curve of {whole}", 1e3 * align, "ms", 10)
