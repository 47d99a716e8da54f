"""Benchmarks of a library of clips: scanning a folder, searching it through an index, adding clips to it, and
finding transitions."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marey.bench.results import BenchResult, against_floor, against_peer, at_least, at_most
from marey.compare import Clouds, frame_weights, point_clouds
from marey.compare.pairing import choose_runner
from marey.core.arrays import Ints
from marey.core.labels import Label
from marey.errors import NoResult, plural
from marey.find import MotionIndex, SearchSettings
from marey.find.match_graph import Candidates
from marey.find.region import make_rules
from marey.find.search import Query, find_candidates
from marey.find.tiles import GridTile, Work, join_tiles, split_into_tiles
from marey.graph.minima import find_transitions
from marey.io import load_motion, save
from marey.samples import LibraryClip, sample_library
from marey.store import MotionSet

# Frames of the library, a tenth of the CMU database at 30 Hz; and number of files and frames of that database.
FRAMES = 80_000
ALL_FILES, ALL_FRAMES = 2425, 800_000
# Threshold of the searches in meters, number of queries, and number of clips that are added.
THRESHOLD, QUERIES, ADDED = 0.08, 12, 4
# Number of queries that are also searched in all tiers.
DEEP = 3
# Limit in meters of a search for transitions, and number of frames to search.
LIMIT, GRAPH_FRAMES = 0.01, 20_000
_LABELS = ("kick", "punch", "reach", "walk")
# Subfolder of `MAREY_DATA` with recorded clips.
_RECORDED = "cmu"


def bench_library(path: str, n_frames: int = FRAMES) -> Iterator[BenchResult]:
    """Time a generated library in one process, and a scan of recorded clips if `MAREY_DATA` is set; `path` is ignored.

    Times are the processor time of this process, regardless of other load. Threads of the matrix library that wait for
    work count too, so set `OPENBLAS_NUM_THREADS=1` on a busy machine.
    """
    clips = list(sample_library(n_frames))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for clip in clips[:-ADDED]:
            save(clip.motion, folder / f"{clip.motion.name}.bvh")
        files = sorted(folder.glob("*.bvh"))
        what = f"{len(files)} files, {n_frames:,} frames"
        loading = _time(lambda: [load_motion(file) for file in files])
        scanning = _time(lambda: MotionSet.open(folder).summarize())
        yield against_floor("library", f"scan of {what}", "s", "loading them", (scanning, loading), 1.5)
        again = _time(lambda: MotionSet.open(folder).summarize())
        yield at_most(
            "library", f"scan, nothing changed, for {ALL_FILES:,} files", again / len(files) * ALL_FILES, "s", 2
        )
        indexing = _time(lambda: MotionSet.open(folder).index_motion())
        yield against_floor("library", f"index of {what}", "s", "loading them", (indexing, loading), 3.0)
        unchanged = _time(lambda: MotionSet.open(folder).index_motion())
        for clip in clips[-ADDED:]:
            save(clip.motion, folder / f"{clip.motion.name}.bvh")
        adding = _time(lambda: MotionSet.open(folder).index_motion())
        added = max(adding - unchanged, 0.0) / ADDED
        what = f"adding a clip to the index, of {len(clips)}"
        yield against_floor("library", what, "s", "its part of building all", (added, indexing / len(files)), 2.0)
    yield from bench_queries(clips)
    yield bench_limit(clips[:: max(n_frames // GRAPH_FRAMES, 1)])
    yield from bench_recorded()


def bench_recorded() -> Iterator[BenchResult]:
    """Time the scan of recorded BVH files, if the folder `MAREY_DATA` has any."""
    folder = Path(os.environ.get("MAREY_DATA", "")) / _RECORDED
    files = sorted(folder.rglob("*.bvh")) if os.environ.get("MAREY_DATA") else []
    if not files:
        return

    def scan() -> None:
        with tempfile.TemporaryDirectory() as cache:
            MotionSet.open(folder, pattern="*.bvh", cache=cache).summarize()

    loading, scanning = _time(lambda: [load_motion(file) for file in files], 3), _time(scan, 3)
    what = f"scan of {plural(len(files), 'recorded file')}"
    yield against_floor("library", what, "s", "loading them", (scanning, loading), 1.5)


def bench_limit(clips: list[LibraryClip]) -> BenchResult:
    """Compare the search for minima up to a distance with the search for all minima."""
    clouds = [point_clouds(clip.motion) for clip in clips]
    weights = frame_weights(0.5, 30.0, "triangle")
    limited, whole = (
        _time(partial(find_transitions, clouds, weights, limit, max_memory=2**28), 3) for limit in (LIMIT, None)
    )
    what = f"minima up to {100 * LIMIT:g} cm of {sum(map(len, clouds)):,} frames"
    return against_peer("library", what, "s", "all minima", (limited, whole), 2.0)


def bench_queries(clips: list[LibraryClip]) -> Iterator[BenchResult]:
    """Time queries in an index of clips, and count the matches that it misses."""
    index = MotionIndex.build([clip.motion for clip in clips])
    fields_of = {each.name: getattr(index, each.name) for each in fields(MotionIndex) if each.init}
    whole = ExhaustiveIndex(**fields_of)
    rng = np.random.default_rng(0)
    scans: list[float] = []
    firsts: list[float] = []
    everything: list[float] = []
    n_found = n_all = 0
    for _ in range(QUERIES):
        clip = int(rng.integers(len(clips)))
        label = _choose_label(clips[clip], rng)
        if label is None:
            continue
        start, stop = label.start, min(label.stop, label.start + round(1.5 * index.fps))
        scans.append(_time(partial(index.find_spans, index.features(clip).T[start:stop], THRESHOLD), 3))
        once, deep, reference = (
            Query.make(where, clip, start, stop, SearchSettings(max_tiers=tiers))
            for where, tiers in ((index, 1), (index, None), (whole, 1))
        )
        firsts.append(_time(partial(once.grow, THRESHOLD), 2))
        if len(everything) < DEEP:
            everything.append(_time(partial(deep.grow, THRESHOLD)))
        graphs = (once.grow(THRESHOLD), reference.grow(THRESHOLD))
        ours, theirs = ({graph.interval(node) for node in range(1, graph.n)} for graph in graphs)
        n_found += len(ours & theirs)
        n_all += len(theirs)
    if not firsts or not n_all:
        raise NoResult("the library has too few actions to search for")
    scale = ALL_FRAMES / index.n_frames
    n = index.n_frames
    what = f"scan of {ALL_FRAMES:,} frames for an example of 1.5 s, from {n:,}, median"
    yield at_most("library", what, 1e3 * float(np.median(scans)) * scale, "ms", 50)
    yield at_most("library", f"first tier in {n:,} frames, median", 1e3 * float(np.median(firsts)), "ms", 50)
    yield at_most("library", f"all tiers in {n:,} frames, median", float(np.median(everything)), "s", 1)
    what = f"matches found, of {n_all} in a web of all clips"
    yield at_least("library", what, 100.0 * n_found / n_all, "%", 99)


class ExhaustiveIndex(MotionIndex):
    """An index that compares all frames, tile by tile: its matches are those of a match web of all clips."""

    def compare_spans(
        self, clouds: Clouds, features: NDArray[Any], frames: tuple[int, int], spans: Ints, limit: float
    ) -> Candidates:
        """Find the frames of all clips at which an interval ends that is within `limit` meters of the `frames`."""
        start, stop = frames
        weights = frame_weights(self.options.window, self.fps, "triangle")
        rules = make_rules(self.options.web, self.fps)
        pairs = []
        for clip in range(len(self)):
            other = self.clouds(clip)
            work = Work((clouds, other), weights, rules, (None, None))
            tiles = [
                GridTile(0, 1, (start + top, start + bottom, left, right))
                for top, bottom, left, right in (tile.span for tile in split_into_tiles(0, 1, stop - start, len(other)))
            ]
            parts = list(choose_runner(map)(work.find_cells, tiles))
            pairs.append((clip, join_tiles(tiles, parts, (stop - start, len(other))), True))
        return find_candidates(pairs, 0, stop - start, limit)


def _choose_label(clip: LibraryClip, rng: np.random.Generator) -> Label | None:
    labels = [each for each in clip.motion.labels if each.name in _LABELS and each.stop - each.start > 20]
    return labels[int(rng.integers(len(labels)))] if labels else None


def _time(function: Callable[[], object], rounds: int = 1) -> float:
    """Return the shortest processor time of a function in seconds."""
    shortest = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        function()
        shortest = min(shortest, time.process_time() - start)
    return shortest
