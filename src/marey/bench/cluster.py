"""Benchmark of builds on a cluster: how a build scales over 1, 2 and 4 workers on this machine.

A separate module, as for every kind of benchmark; only this one needs Dask.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from marey.bench.results import BenchResult, against_floor, at_least, at_most, has, without_peer
from marey.compare import frame_weights, point_clouds
from marey.errors import plural
from marey.graph.minima import find_transitions
from marey.samples import sample_library
from marey.store import cluster, threads
from marey.store.run import cores

# Frames of the set, and numbers of workers. Comparing that many frames takes several times as long as connecting to the
# workers and sending them the clips.
FRAMES, WORKERS = 30_000, (1, 2, 4)
# Minimum speedup, as a fraction of the number of cores that the workers can use.
_EFFICIENCY = 0.6
# Maximum processor time of comparing on workers, relative to one thread of this process.
_OVERHEAD = 1.5
_WEIGHTS = frame_weights(0.5, 30.0, "triangle")
# Variables for workers that docs/scale.md advises: with the values that Dask sets, the C library maps and unmaps large
# arrays anew for every block.
_ALLOCATION = {"MALLOC_TRIM_THRESHOLD_": 2**27, "MALLOC_MMAP_THRESHOLD_": 2**25}
_SPAWNING = "distributed.nanny.pre-spawn-environ"


def bench_cluster(path: str, n_frames: int = FRAMES) -> Iterator[BenchResult]:
    """Time the minima of all grids of a generated library on local Dask workers; `path` is ignored.

    The speedup is relative to one worker; more workers than cores cannot add to it. The time that is not spent
    computing is the part of the workers' time in which they compare no clips: they wait for work, or read and send it.
    Other load on the machine slows both parts down alike. It hardly changes the processor time of comparing, so by that
    workers are compared with one thread of this process.
    """
    what = f"minima of {n_frames:,} frames"
    if not has("distributed"):
        yield without_peer("cluster", what, 0.0, "s", "dask.distributed")
        return
    import dask
    from distributed import LocalCluster

    environment = {**dask.config.get(_SPAWNING), **_ALLOCATION}
    clouds = [point_clouds(clip.motion) for clip in sample_library(n_frames)]

    def build(run: Callable[..., Any], n_clips: int | None = None) -> float:
        start = time.perf_counter()
        find_transitions(clouds[:n_clips], _WEIGHTS, None, max_memory=2**26, run=run)
        return time.perf_counter() - start

    build(threads(1), 4)
    alone = TimedRun(threads(1))
    build(alone)
    single = 0.0
    for n in WORKERS:
        with (
            dask.config.set({_SPAWNING: environment}),
            LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None) as local,
        ):
            build(cluster(local.scheduler_address), 4)  # workers import marey
            run = TimedRun(cluster(local.scheduler_address))
            seconds = build(run)
        where = f"on {plural(n, 'local worker')}"
        times = (run.processor_time, alone.processor_time)
        yield against_floor("cluster", f"{what} {where}, processor time", "s", "one thread", times, _OVERHEAD)
        yield at_most("cluster", "of the time, not computing", 100.0 * (1.0 - run.computing / (n * seconds)), "%", 40)
        if n == 1:
            single = seconds
        else:
            goal = _EFFICIENCY * min(n, cores())
            yield at_least(
                "cluster", f"speedup of {n} workers on {plural(cores(), 'core')}", single / seconds, "", goal
            )


class TimedRun:
    """A runner that adds up the time and the processor time that the calls of its function take, in seconds:
    `computing` and `processor_time`."""

    def __init__(self, run: Callable[..., Iterable[Any]]) -> None:
        self._run, self.computing, self.processor_time = run, 0.0, 0.0

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results in the order of the items."""
        for result, seconds, processor_time in self._run(partial(_time_call, function), items):
            self.computing += seconds
            self.processor_time += processor_time
            yield result


def _time_call(function: Callable[[Any], Any], item: Any) -> tuple[Any, float, float]:
    start, used = time.perf_counter(), time.thread_time()
    result = function(item)
    return result, time.perf_counter() - start, time.thread_time() - used
