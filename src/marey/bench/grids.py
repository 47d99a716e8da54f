"""Benchmarks of distance grids: the whole grid compared with its matrix products, and memory use of blocks."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np

from marey.bench.results import BenchResult, against_floor, at_most
from marey.bench.timing import time_functions
from marey.compare import Clouds, GridSettings, distance_grid, grid_blocks, grid_minima
from marey.core.arrays import Floats, set_readonly

FPS, WINDOW = 30.0, 0.5  # 15 frames
MARKERS = 36
SIZES = ((2_000, 15), (6_200, 5))  # frames of each clip, and rounds of timing
SMALL = (300, 22)  # frames and markers, typical of registration
MEMORY = 32 * 1024**2


def swaying(n_frames: int, n_markers: int, seed: int) -> Clouds:
    """Generate markers that sway around a center that wanders across the floor."""
    rng = np.random.default_rng(seed)
    time = np.arange(n_frames)[:, None, None] / FPS
    body = rng.normal(0.0, 0.4, (1, n_markers, 3)) + np.array([0.0, 1.0, 0.0])
    sway = 0.2 * np.sin(time * rng.uniform(0.5, 6.0, (1, n_markers, 3)))
    path = np.cumsum(rng.normal(0.0, 0.02, (n_frames, 1, 3)), axis=0) * np.array([1.0, 0.0, 1.0])
    return Clouds(set_readonly(body + sway + path), np.full(n_markers, 1.0 / n_markers), FPS)


def bench_grid(path: str) -> Iterator[BenchResult]:
    """Time the distances between all frames of two clips with 36 markers and 15-frame windows; `path` is ignored.

    The lower bound is the three matrix products of Kovar 4.8 in float64, computed by the matrix library with all its
    threads, into one array that is newly allocated each time, like the grid.
    """
    for n_frames, rounds in SIZES:
        a, b = swaying(n_frames, MARKERS, 1), swaying(n_frames, MARKERS, 2)
        factors = [make_factors(clouds) for clouds in (a, b)]
        whole, own, floor = time_functions(
            [
                lambda a=a, b=b: distance_grid(a, b, window=WINDOW),  # type: ignore[misc]
                lambda a=a: distance_grid(a, window=WINDOW),  # type: ignore[misc]
                lambda factors=factors: _products(*factors),  # type: ignore[misc]
            ],
            rounds=rounds,
        )
        for what, seconds in (("grid of two clips", whole), ("grid of one clip", own)):
            label = f"{what}, {n_frames:,} frames"
            yield against_floor("grid", label, "ms", "matrix products", (1e3 * seconds, 1e3 * floor), 3.0)
    a, b = (swaying(*SMALL, seed) for seed in (1, 2))
    (small,) = time_functions([lambda: distance_grid(a, b)], rounds=50)
    yield at_most("grid", f"grid of two clips, {SMALL[0]} frames, {SMALL[1]} markers", 1e3 * small, "ms", 4)
    yield from _measure_memory()


def make_factors(clouds: Clouds) -> tuple[Floats, Floats, Floats]:
    """Return (x, z), (z, -x) and y of all markers relative to their mean, times the square roots of the weights."""
    x, y, z = ((clouds.points[..., c] - clouds.points[..., c].mean()) * np.sqrt(clouds.weights) for c in range(3))
    return np.concatenate([x, z], axis=1), np.concatenate([z, -x], axis=1), np.ascontiguousarray(y)


def _products(a: tuple[Floats, Floats, Floats], b: tuple[Floats, Floats, Floats]) -> None:
    out = np.empty((len(a[0]), len(b[0])))
    np.matmul(a[0], b[0].T, out=out)
    np.matmul(a[0], b[1].T, out=out)
    np.matmul(a[2], b[2].T, out=out)


def _measure_memory() -> Iterator[BenchResult]:
    """Measure the peak memory of blocks, for a grid ten times as large as the memory limit."""
    n_frames = int((10 * MEMORY / 8) ** 0.5)
    a, b = swaying(n_frames, MARKERS, 1), swaying(n_frames, MARKERS, 2)
    tracemalloc.start()
    try:
        for block in grid_blocks(a, b, memory=MEMORY, settings=GridSettings(window=WINDOW)):
            del block
        cells = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        grid_minima(a, b, memory=MEMORY, threshold=0.1, settings=GridSettings(window=WINDOW))
        minima = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    whole = f"of a grid of {8 * n_frames**2 / 1024**2:.0f} MB"
    for what, peak in (("blocks", cells), ("minima", minima)):
        yield at_most("grid", f"memory held for {what} {whole}", peak / 1024**2, "MB", MEMORY / 1024**2)
