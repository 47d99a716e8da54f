"""Benchmarks of reading and writing files."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from marey.bench.clips import bench_bvh, bench_motion, prepare_fk
from marey.bench.results import BenchResult, against_peer, at_most, has, without_peer
from marey.bench.timing import best_commands, time_functions
from marey.io import load_motion, save

PER_THOUSAND = "ms per 1000 frames"


def bench_load(path: str) -> Iterator[BenchResult]:
    """Time loading a BVH file into a Motion, warm and in a new process."""
    scale = 1e6 / len(load_motion(path))
    if not has("pybvh"):
        (mine,) = time_functions([lambda: load_motion(path)])
        yield without_peer("load", "load, warm", mine * scale, PER_THOUSAND, "pybvh")
        return
    import pybvh

    mine, peer = time_functions([lambda: load_motion(path), lambda: pybvh.read_bvh_file(path)])
    yield against_peer("load", "load, warm", PER_THOUSAND, "pybvh", (mine * scale, peer * scale), 2.0)
    mine, peer = best_commands(
        [
            python_command("import sys, marey; marey.load(sys.argv[1])", path),
            python_command("import sys, pybvh; pybvh.read_bvh_file(sys.argv[1])", path),
        ],
        rounds=9,
    )
    yield against_peer("load", "load, new process", "ms", "pybvh", (mine * 1e3, peer * 1e3), 1.0)


def bench_save(path: str) -> Iterator[BenchResult]:
    """Time writing a BVH file."""
    motion = load_motion(path)
    scale = 1e6 / len(motion)
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.bvh")
        if not has("pybvh"):
            (mine,) = time_functions([lambda: save(motion, out)], rounds=5)
            yield without_peer("save", "save", mine * scale, PER_THOUSAND, "pybvh")
            return
        import pybvh

        peer_motion = pybvh.read_bvh_file(path)
        mine, peer = time_functions(
            [lambda: save(motion, out), lambda: pybvh.write_bvh_file(peer_motion, out)], rounds=5
        )
        yield against_peer("save", "save", PER_THOUSAND, "pybvh", (mine * scale, peer * scale), 1.0)


def bench_growth(path: str) -> Iterator[BenchResult]:
    """Measure how times grow from 1,000 to 10,000 frames; an exponent of 1 is linear. `path` is ignored."""
    with tempfile.TemporaryDirectory() as folder:
        files, motions = [], []
        for n_frames in (1_000, 10_000):
            file = os.path.join(folder, f"clip_{n_frames}.bvh")
            Path(file).write_bytes(bench_bvh(n_frames))
            files.append(file)
            motions.append(bench_motion(n_frames))
        out = os.path.join(folder, "out.bvh")
        jobs: list[tuple[str, list[Callable[[], object]]]] = [
            ("load", [lambda file=file: load_motion(file) for file in files]),  # type: ignore[misc]
            ("save", [lambda motion=motion: save(motion, out) for motion in motions]),  # type: ignore[misc]
            ("FK", [prepare_fk(motion) for motion in motions]),
        ]
        for what, functions in jobs:
            short, long = time_functions(functions)
            yield at_most(
                "growth", f"growth exponent of {what}, 1,000 to 10,000 frames", math.log10(long / short), "", 1.15
            )


def python_command(code: str, *arguments: str) -> list[str]:
    """Return a command that runs `code` in a new Python process."""
    return [sys.executable, "-c", code, *arguments]
