"""The list of benchmarks, and a function that runs them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from marey.bench.cleanup import bench_clean, bench_stream
from marey.bench.clips import bench_bvh
from marey.bench.cluster import bench_cluster
from marey.bench.files import bench_growth, bench_load, bench_save
from marey.bench.find import bench_find
from marey.bench.graphs import bench_graph
from marey.bench.grids import bench_grid
from marey.bench.layer import bench_gaze, bench_splice
from marey.bench.library import bench_library
from marey.bench.live import bench_live
from marey.bench.parametric import bench_parametric
from marey.bench.pmg import bench_pmg
from marey.bench.quality import bench_contacts, bench_fk, bench_measure, bench_samples
from marey.bench.registration import bench_blend, bench_register, bench_timewarp
from marey.bench.results import BenchResult
from marey.bench.startup import bench_startup
from marey.bench.studio import bench_studio
from marey.errors import UnknownName, similar
from marey.io import load_motion

BENCHES: dict[str, Callable[[str], Iterator[BenchResult]]] = {
    "load": bench_load,
    "save": bench_save,
    "fk": bench_fk,
    "contacts": bench_contacts,
    "clean": bench_clean,
    "stream": bench_stream,
    "samples": bench_samples,
    "measure": bench_measure,
    "grid": bench_grid,
    "timewarp": bench_timewarp,
    "register": bench_register,
    "blend": bench_blend,
    "graph": bench_graph,
    "find": bench_find,
    "library": bench_library,
    "cluster": bench_cluster,
    "parametric": bench_parametric,
    "splice": bench_splice,
    "gaze": bench_gaze,
    "live": bench_live,
    "pmg": bench_pmg,
    "studio": bench_studio,
    "growth": bench_growth,
    "startup": bench_startup,
}


def run_benches(names: Sequence[str] = (), file: str | None = None, *, full: bool = False) -> Iterator[BenchResult]:
    """Run the named benchmarks, or all, on a BVH `file` or on a generated clip of 3,000 frames and 31 joints.

    full : run `pmg` with the sizes for which its goals are set, which takes about an hour.
    """
    for name in names:
        if name not in BENCHES:
            raise UnknownName(f"unknown benchmark {name!r}; available: {', '.join(BENCHES)}{similar(name, BENCHES)}")
    with _clip(file) as path:
        for name in names or BENCHES:
            yield from bench_pmg(path, full=True) if full and name == "pmg" else BENCHES[name](path)


@contextmanager
def _clip(file: str | None) -> Iterator[str]:
    if file is not None:
        load_motion(file)  # report an unreadable file before anything is measured
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "clip.bvh")
        Path(path).write_bytes(bench_bvh(3_000))
        yield path
