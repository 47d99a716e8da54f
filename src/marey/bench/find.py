"""Benchmarks of match webs: building one compared with the matrix products it needs, its size, and searching it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from marey.bench.grids import make_factors
from marey.bench.results import BenchResult, against_floor, at_most
from marey.bench.timing import time_functions
from marey.core.arrays import Floats
from marey.core.motion import Motion
from marey.errors import NoResult
from marey.find import MatchResult, MatchWeb
from marey.find.build import web_clouds
from marey.samples import sample

# Number of frames in the data set of Kovar 6.2.4, and the maximum size of its web relative to the motion.
FRAMES, MAX_SIZE = 37_000, 3.0
# The query: its duration in seconds, its threshold in meters, and about the milliseconds that it took Kovar.
SECONDS, THRESHOLD, MAX_MS = 1.5, 0.1, 25.0
TILE = 512


def clips() -> list[Motion]:
    """Generate 100 s of kicks, punches and reaches, with walks and standing in between, at 60 Hz."""
    return [replace(sample("medley", rng=k, fps=60).motion, name=f"medley{k}") for k in range(3)]


def bench_find(path: str) -> Iterator[BenchResult]:
    """Time building and searching a match web of sample clips; `path` is ignored."""
    motions = clips()
    built = MatchWeb.build(motions)
    flat = [make_factors(web_clouds(motion, built.options)) for motion in built.clips]
    tile = np.empty((TILE, max(len(motion) for motion in motions)))
    floor, seconds = time_functions(
        [lambda: _compute_products(flat, tile), lambda: MatchWeb.build(built.clips)], rounds=3
    )
    n_frames = sum(len(motion) for motion in motions)
    what = f"match web of {n_frames:,} frames at 60 Hz, one thread"
    yield against_floor("find", what, "s", "the matrix products of the same grids", (seconds, floor), 12.0)
    what = f"its size relative to the motion's, extrapolated to {FRAMES:,} frames of such clips"
    yield at_most("find", what, _size_ratio(built), "x", MAX_SIZE)
    yield from _bench_searches(built)


def _bench_searches(web: MatchWeb) -> Iterator[BenchResult]:
    """Search for the part of the first clip with the most matches, in that clip alone and in all clips."""
    alone = MatchWeb(web.clips[:1], web.options, web.pairs[:1])
    n_frames = round(SECONDS * web.fps)
    starts = range(0, len(web.clips[0]) - n_frames, n_frames // 3)
    start = max(starts, key=lambda at: _count_matches(alone, at, at + n_frames))

    def search(web: MatchWeb) -> Callable[[], MatchResult]:
        return lambda: web.search(0, start, start + n_frames, THRESHOLD, max_tiers=1)

    few, all_of_it = time_functions([search(alone), search(web)], rounds=60)
    sizes = [sum(len(clip) for clip in each.clips) for each in (alone, web)]
    n_found = _count_matches(web, start, start + n_frames)
    what = f"a {SECONDS:g} s query with {n_found} matches among {sizes[1]:,} frames, extrapolated to {FRAMES:,}"
    yield at_most("find", what, 1e3 * all_of_it * FRAMES / sizes[1], "ms", MAX_MS)
    what = f"its time for each frame among {sizes[1]:,}, relative to that among {sizes[0]:,}"
    yield at_most("find", what, all_of_it / few * sizes[0] / sizes[1], "x", 1.2)


def _count_matches(web: MatchWeb, start: int, stop: int) -> int:
    try:
        return len(web.search(0, start, stop, THRESHOLD, max_tiers=1)) - 1
    except NoResult:
        return 0


def _size_ratio(web: MatchWeb) -> float:
    """Extrapolate the size of the web relative to the motion to `FRAMES` frames; pairs of clips grow quadratically."""
    n = len(web)
    own = [web.cells(p, p).upper() for p in range(n)]
    others = [web.cells(p, q) for p in range(n) for q in range(p + 1, n)]
    each, between = (
        sum(cells.nbytes for cells in part) / sum(cells.shape[0] * cells.shape[1] for cells in part)
        for part in (own, others)
    )
    length = sum(len(clip) for clip in web.clips) / n
    total = each * FRAMES * length + between * 0.5 * FRAMES * (FRAMES - length)
    return total / (web.motion_nbytes / (n * length) * FRAMES)


def _compute_products(flat: list[tuple[Floats, Floats, Floats]], out: Floats) -> None:
    """Compute the three products for each pair of clips, into a preallocated array."""
    for p, seconds in enumerate(flat):
        for q in range(p, len(flat)):
            other = flat[q]
            for start in range(0, len(seconds[0]), TILE):
                stop = min(start + TILE, len(seconds[0]))
                first = start if p == q else 0
                part = out[: stop - start, : len(other[0]) - first]
                np.matmul(seconds[0][start:stop], other[0][first:].T, out=part)
                np.matmul(seconds[0][start:stop], other[1][first:].T, out=part)
                np.matmul(seconds[2][start:stop], other[2][first:].T, out=part)
