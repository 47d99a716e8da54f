"""Benchmarks of startup: how long a user waits at the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from marey.bench.files import python_command
from marey.bench.results import BenchResult, against_floor, at_most
from marey.bench.timing import best_commands
from marey.io import save
from marey.samples import sample

MAREY = [sys.executable, "-m", "marey"]
# Ten commands on small clips, with limits in seconds of CPU time for some of them.
COMMANDS: list[tuple[str, float | None]] = [
    ("info walk.bvh", 0.25),
    ("contacts walk.bvh", None),
    ("clean walk.bvh cleaned.bvh", 1.0),
    ("measure walk.bvh", None),
    ("convert walk.bvh walk.glb", None),
    ("blend walk.bvh run.bvh -o jog.bvh --weights 0.5 0.5", 1.0),
    ("transition walk.bvh run.bvh -o both.bvh", None),
    ("graph build clips -o graph.npz", 1.0),
    ("splice walk.bvh run.bvh -o spliced.bvh", None),
    ("gaze apply walk.bvh looks.bvh --look 1:40:0", None),
]
# Number of later runs; the shortest counts.
REPEATS = 3


def bench_startup(path: str) -> Iterator[BenchResult]:
    """Time starting the command line, reading a file, and the first and later uses of ten commands."""
    bare, with_help, info = best_commands(
        [python_command("pass"), [*MAREY, "--help"], [*MAREY, "info", path]], rounds=9
    )
    for what, seconds, goal in (("marey --help", with_help, 150), ("marey info FILE", info, 500)):
        text = f"under {goal} ms"
        ms, floor = 1e3 * seconds, 1e3 * bare
        yield BenchResult("startup", what, ms, "ms", "bare Python", floor, seconds / bare, text, ms < goal)
    yield from _bench_first_uses()


def _bench_first_uses() -> Iterator[BenchResult]:
    # Installing wheels writes their bytecode. Here a run of each command writes it, before any run counts.
    base = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "clips").mkdir()
        for kind in ("walk", "run"):
            save(sample(kind, fps=30.0, seconds=3.0).motion, folder / f"{kind}.bvh")
        for rng in range(2):
            save(sample("walk", rng=rng, fps=30.0, seconds=5.0).motion, folder / "clips" / f"walk{rng}.bvh")
        for line, goal in COMMANDS:
            command = [*MAREY, *line.split()]
            # The measured runs of each command start with an empty cache, which no other command uses.
            caches = [base | {"XDG_CACHE_HOME": str(folder / when / line.split()[0])} for when in ("before", "caches")]
            _processor_time(command, folder, caches[0])
            first, *later = (_processor_time(command, folder, caches[1]) for _ in range(1 + REPEATS))
            second = min(later)
            what = f"marey {line.split()[0]}, first use, processor time"
            yield against_floor("startup", what, "s", "later uses", (first, second), 1.2)
            if goal is not None:
                yield at_most("startup", what, first, "s", goal)


def _processor_time(command: Sequence[str], folder: Path, environment: dict[str, str]) -> float:
    """Return the CPU time of a command in seconds, summed over all cores."""
    try:
        from resource import RUSAGE_CHILDREN, getrusage
    except ImportError:  # Windows: elapsed time, which is about the same for a command alone
        began = time.perf_counter()
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        return time.perf_counter() - began
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
