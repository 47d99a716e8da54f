"""Benchmarks of motion graphs: finding all minima of a large set, following a path, and steering."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from marey.bench.grids import make_factors, swaying
from marey.bench.results import BenchResult, against_floor, against_peer, at_most
from marey.bench.timing import time_functions
from marey.compare import Clouds, frame_weights, point_clouds
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.graph import MotionGraph, Transitions
from marey.graph.minima import find_transitions
from marey.samples import sample

T = TypeVar("T")
FRAMES, MARKERS = 6_200, 36
TILE = 512
MEMORY = 256 * 2**20
WEIGHTS = frame_weights(0.5, 30.0, "triangle")
LIMIT, COARSE = 0.05, 3  # meters, frames


def walks() -> list[Motion]:
    """Generate 100 s of walking at 30 Hz, straight and with left and right turns."""
    curvatures = (0.0, 0.3, -0.3, 0.7, -0.7)
    return [
        replace(sample("walk", rng=k, fps=30, seconds=20, turn_rate=turn).motion, name=f"walk{k}")
        for k, turn in enumerate(curvatures)
    ]


def bench_graph(path: str) -> Iterator[BenchResult]:
    """Time finding minima, compared with their matrix products, and using a graph of 100 s of walking.

    `path` is ignored.
    """
    yield from _bench_minima()
    yield from _compare_coarse_search()
    graph = MotionGraph.build(walks(), 0.06)
    course = _make_wave()
    graph.follow(course)
    searched, found = _run_timed(lambda: graph.follow(course))
    percent = 100.0 * searched / (len(found.walk) / graph.fps)
    yield at_most("graph", "searching for a walk along 16 m of curves, relative to its duration", percent, "%", 3)

    graph.direction_table(16)
    built, _ = _run_timed(lambda: graph.direction_table(16))
    yield at_most("graph", "direction table of 100 s of data", built, "s", 1.5)

    stream = graph.stream(feet="clean")
    stream.frame()
    n = 1_500
    steered, _ = _run_timed(lambda: [stream.frame() for _ in range(n)])
    yield at_most("graph", "a steered and cleaned frame (over 500 a second)", 1e3 * steered / n, "ms", 2)


def _bench_minima() -> Iterator[BenchResult]:
    """Time finding all local minima, at any distance, with their transforms.

    The lower bound uses all threads of the matrix library.
    """
    clouds = swaying(FRAMES, MARKERS, 1)
    tile = np.empty((TILE, FRAMES))
    floor, seconds = time_functions(
        [lambda: _half_products(clouds, tile), lambda: find_transitions([clouds], WEIGHTS, None, max_memory=MEMORY)],
        rounds=9,
    )
    what = f"all minima of {FRAMES:,} frames, {MARKERS} markers, 15-frame window"
    yield against_floor("graph", what, "s", "the matrix products of half a grid", (seconds, floor), 2.0)


def _compare_coarse_search() -> Iterator[BenchResult]:
    """Compare the coarse search with the full one on several kinds of clips: time, and minima missed."""
    kinds = ("walk", "run", "sneak", "carry_box", "carry_cup")
    clouds = [point_clouds(sample(kind, rng=1, fps=30, seconds=60).motion) for kind in kinds]

    def full() -> Transitions:
        return find_transitions(clouds, WEIGHTS, LIMIT, max_memory=MEMORY)

    def coarse() -> Transitions:
        return find_transitions(clouds, WEIGHTS, LIMIT, coarse_step=COARSE, max_memory=MEMORY)

    n_frames, n_minima = sum(len(each) for each in clouds), len(full())
    missed = 100.0 * (1.0 - len(coarse()) / n_minima)
    full_seconds, seconds = time_functions([full, coarse], rounds=3)
    what = f"minima up to {100 * LIMIT:g} cm of {n_frames:,} frames, every {COARSE}rd frame first"
    yield against_peer("graph", what, "s", "the full search", (seconds, full_seconds), 1.0)
    yield at_most("graph", f"of {n_minima:,} such minima, missed by the coarse search", missed, "%", 1)


def _half_products(clouds: Clouds, out: Floats) -> None:
    """Compute the three products of Kovar 4.8 for half of a clip's grid with itself, into a preallocated array."""
    flat, turned, y = make_factors(clouds)
    for start in range(0, len(clouds), TILE):
        rows = slice(start, min(start + TILE, len(clouds)))
        part = out[: rows.stop - start, : len(clouds) - start]
        np.matmul(flat[rows], flat[start:].T, out=part)
        np.matmul(flat[rows], turned[start:].T, out=part)
        np.matmul(y[rows], y[start:].T, out=part)


def _make_wave() -> Floats:
    z = np.linspace(0.0, 15.0, 200)
    return np.stack([1.2 * np.sin(z / 15.0 * 2.0 * np.pi), z], axis=1)


def _run_timed(work: Callable[[], T]) -> tuple[float, T]:
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result
