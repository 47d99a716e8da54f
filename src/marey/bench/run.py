"""What is measured, and the figures that come of it."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from marey.bench.clips import bench_bvh, bench_motion
from marey.bench.timing import best_commands, best_of
from marey.errors import UnknownName, similar
from marey.io import load_motion, save

_NO_PEER = "not installed; pip install 'marey[bench]'"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure.

    value : ours, in `unit`. against : what it is compared with, and `floor` its figure in the same unit (None where it
    could not be had). ratio : floor / value for a peer, value itself where there is none. goal : as text.
    ok : whether the goal is met; None where it could not be judged.
    """

    bench: str
    what: str
    value: float
    unit: str
    against: str
    floor: float | None
    ratio: float | None
    goal: str
    ok: bool | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def bench_load(path: str) -> Iterator[Figure]:
    """Reading a BVH file to a ready Motion, warm and in a new process."""
    import numba  # noqa: F401  kernels are measured warm

    n_frames = len(load_motion(path))
    ours: Callable[[], object] = lambda: load_motion(path)  # noqa: E731
    scale = 1e6 / n_frames
    if _has("pybvh"):
        import pybvh

        mine, peer = best_of([ours, lambda: pybvh.read_bvh_file(path)])
        yield _against("load", "load, warm", mine * scale, "ms per 1000 frames", "pybvh", peer * scale, 2.0)
        code = "import sys, pybvh; pybvh.read_bvh_file(sys.argv[1])"
        mine_code = "import sys, marey; marey.load(sys.argv[1])"
        mine, peer = best_commands([_python(mine_code, path), _python(code, path)])
        yield _against("load", "load, new process", mine * 1e3, "ms", "pybvh", peer * 1e3, 1.0)
    else:
        (mine,) = best_of([ours])
        yield _alone("load", "load, warm", mine * scale, "ms per 1000 frames", "pybvh")


def bench_save(path: str) -> Iterator[Figure]:
    """Writing the same file."""
    motion = load_motion(path)
    scale = 1e6 / len(motion)
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.bvh")
        if _has("pybvh"):
            import pybvh

            theirs = pybvh.read_bvh_file(path)
            mine, peer = best_of([lambda: save(motion, out), lambda: pybvh.write_bvh_file(theirs, out)], rounds=5)
            yield _against("save", "save", mine * scale, "ms per 1000 frames", "pybvh", peer * scale, 1.0)
        else:
            (mine,) = best_of([lambda: save(motion, out)], rounds=5)
            yield _alone("save", "save", mine * scale, "ms per 1000 frames", "pybvh")


def bench_fk(path: str) -> Iterator[Figure]:
    """Forward kinematics of all frames, and of one."""
    import numba  # noqa: F401  kernels are measured warm

    from marey.core import pose_world

    motion = load_motion(path)
    scale = 1e6 / len(motion)
    if _has("pymotion"):
        from pymotion.ops.skeleton import fk

        skeleton = motion.skeleton
        arguments = (motion.rotations, motion.root_positions, skeleton.offsets, skeleton.parents)
        mine, peer = best_of([motion.world, lambda: fk(*arguments)])
        yield _against("fk", "FK, all frames", mine * scale, "ms per 1000 frames", "upc-pymotion", peer * scale, 5.0)
    else:
        (mine,) = best_of([motion.world])
        yield _alone("fk", "FK, all frames", mine * scale, "ms per 1000 frames", "upc-pymotion")

    root, pose, skeleton = motion.root_positions[0], motion.rotations[0], motion.skeleton

    def thousand() -> None:
        for _ in range(1000):
            pose_world(skeleton, root, pose)

    (one,) = best_of([thousand])
    microseconds = one * 1e3
    yield Figure("fk", "FK, one frame", microseconds, "us", "", None, None, "at most 20", microseconds <= 20)


def bench_growth(path: str) -> Iterator[Figure]:
    """How times grow from 1,000 to 10,000 frames: 1.0 is linear. `path` is not used; the clips are generated."""
    import numba  # noqa: F401

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
            ("FK", [motion.world for motion in motions]),
        ]
        for what, functions in jobs:
            short, long = best_of(functions, rounds=7)
            power = math.log10(long / short)
            yield Figure(
                "growth", f"{what}: power of growth, 1,000 to 10,000 frames", power, "", "linear", 1.0, power,
                "at most 1.15", power <= 1.15,
            )  # fmt: skip


def bench_startup(path: str) -> Iterator[Figure]:
    """What a person waits for at the prompt, above what Python itself takes to start."""
    module = [sys.executable, "-c", "from marey.cli.main import run; run()"]
    bare, with_help, info = best_commands([_python("pass"), [*module, "--help"], [*module, "info", path]], rounds=7)
    yield Figure(
        "startup", "marey --help", with_help * 1e3, "ms", "bare Python", bare * 1e3, with_help / bare,
        "under 150", with_help < 0.150,
    )  # fmt: skip
    yield Figure(
        "startup", "marey info FILE", info * 1e3, "ms", "bare Python", bare * 1e3, info / bare, "under 500", info < 0.5,
    )  # fmt: skip


BENCHES: dict[str, Callable[[str], Iterator[Figure]]] = {
    "load": bench_load,
    "save": bench_save,
    "fk": bench_fk,
    "growth": bench_growth,
    "startup": bench_startup,
}


def run_benches(names: Sequence[str] = (), file: str | None = None) -> Iterator[Figure]:
    """Figures of the named benches, or of all, on a BVH `file` or on a generated clip of 3,000 frames and 31 joints."""
    for name in names:
        if name not in BENCHES:
            raise UnknownName(f"no bench {name!r}; there are {', '.join(BENCHES)}{similar(name, BENCHES)}")
    with _clip(file) as path:
        for name in names or BENCHES:
            yield from BENCHES[name](path)


@contextmanager
def _clip(file: str | None) -> Iterator[str]:
    if file is not None:
        load_motion(file)  # an unreadable file is refused before anything is measured
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "clip.bvh")
        Path(path).write_bytes(bench_bvh(3_000))
        yield path


def _against(bench: str, what: str, value: float, unit: str, peer: str, floor: float, goal: float) -> Figure:
    ratio = floor / value
    return Figure(bench, what, value, unit, peer, floor, ratio, f"{goal:g} x faster or more", ratio >= goal)


def _alone(bench: str, what: str, value: float, unit: str, peer: str) -> Figure:
    return Figure(bench, what, value, unit, f"{peer} ({_NO_PEER})", None, None, "", None)


def _has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def _python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]
