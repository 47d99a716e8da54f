"""Benchmarks of end-effector cleanup: of a whole motion, and of a stream frame by frame."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from marey.bench.clips import prepare_fk
from marey.bench.results import BenchResult, against_floor, at_most
from marey.bench.timing import time_functions
from marey.clean import clean, clean_stream, contact_points
from marey.core import Contacts, Motion
from marey.core.arrays import Floats
from marey.samples import sample

if TYPE_CHECKING:
    from marey.clean import CleanStream

FPS = 60.0
# Seconds for which each hand and foot is planted and then free, and the time offset between limbs.
_PLANTED, _FREE, _STAGGER = 0.8, 0.1, 0.2
# Velocity in m/s at which the whole body slides, to give the cleanup something to do.
_DRIFT = np.array([0.05, 0.0, 0.08])
STREAMED = 100_000
_WATCHED = 10_000  # further frames, during which memory is measured


def plant_all_limbs(n_frames: int) -> Motion:
    """Generate a standing body that slides along the floor, with alternating contacts of both feet and both hands."""
    given = sample("stand", seconds=n_frames / FPS + 0.1, fps=FPS).motion[:n_frames]
    points = contact_points(given.skeleton, hands=True, standing=given)
    seconds = np.arange(n_frames) / FPS
    # Heel and ball are planted together, and so are wrist and fingertips; limbs are free one after the other.
    order = {name: k for k, name in enumerate(dict.fromkeys(_name_limb(point.name) for point in points))}
    phase = np.array([order[_name_limb(point.name)] * _STAGGER for point in points])
    mask = (seconds[:, None] + phase) % (_PLANTED + _FREE) < _PLANTED
    return replace(
        given,
        root_positions=given.root_positions + seconds[:, None] * _DRIFT,
        contacts=Contacts(points, mask),
        source=replace(given.source, floor=0.0),
    )


def _name_limb(point: str) -> str:
    side, part = point.split("_")
    return f"{side}_{'foot' if part in ('heel', 'ball') else 'hand'}"


def bench_clean(path: str) -> Iterator[BenchResult]:
    """Time the cleanup of a motion with planted feet and hands; `path` is ignored."""
    short, long = plant_all_limbs(1_000), plant_all_limbs(10_000)
    brief, lasting, floor = time_functions([lambda: clean(short), lambda: clean(long), prepare_fk(long)], rounds=5)
    per_frame = 1e6 / len(long)
    yield at_most("clean", "cleanup, four limbs, 1,000 frames", 1e6 * brief / len(short), "us per frame", 60)
    yield at_most("clean", "cleanup, four limbs, 10,000 frames", lasting * per_frame, "us per frame", 60)
    yield against_floor(
        "clean", "the same compared with FK", "us per frame", "FK", (lasting * per_frame, floor * per_frame), 60
    )
    yield at_most("clean", "growth exponent of cleanup", math.log10(lasting / brief), "", 1.15)


def bench_stream(path: str) -> Iterator[BenchResult]:
    """Time the streaming cleanup of 100,000 frames, and measure the memory it holds; `path` is ignored."""
    motion = plant_all_limbs(3_000)
    assert motion.contacts is not None
    stream, fresh = (clean_stream(motion.skeleton, motion.fps, motion.contacts.points, floor=0.0) for _ in range(2))
    coming = _repeat_frames(motion)
    took = 1e3 * _time_pushes([stream], coming, STREAMED)
    yield at_most("stream", f"one frame, 99th percentile of {STREAMED:,}", float(np.quantile(took, 0.99)), "ms", 0.5)
    # Both get the same frames in turn, so that both see the same load.
    last, first = np.median(1e3 * _time_pushes([stream, fresh], coming, STREAMED // 10), axis=0).tolist()
    yield against_floor("stream", f"one frame after {STREAMED:,}, median", "ms", "a new stream", (last, first), 1.25)
    tracemalloc.start()
    try:
        _time_pushes([stream], coming, _WATCHED)
        held_bytes = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    yield at_most("stream", f"memory held after {_WATCHED:,} more frames", held_bytes / 1024, "kB", 16)


def _repeat_frames(motion: Motion) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the frames of a motion over and over."""
    assert motion.contacts is not None
    frames = list(zip(motion.root_positions, motion.rotations, motion.contacts.mask, strict=True))
    while True:
        yield from frames


def _time_pushes(streams: Sequence[CleanStream], frames: Iterator[tuple[Any, Any, Any]], n: int) -> Floats:
    """Push n frames through each of m streams in turn, and return the processor time (n, m) of each in seconds."""
    took = np.empty((n, len(streams)))
    for k, frame in enumerate(islice(frames, n)):
        for i, stream in enumerate(streams):
            start = time.thread_time()
            stream.push(*frame)
            took[k, i] = time.thread_time() - start
    return took
