"""Benchmarks of forward kinematics, contact detection, metrics and samples."""

from __future__ import annotations

from collections.abc import Iterator

from marey.bench.clips import prepare_fk
from marey.bench.files import PER_THOUSAND
from marey.bench.results import BenchResult, against_floor, against_peer, at_most, has, without_peer
from marey.bench.timing import time_functions
from marey.clean import detect_contacts
from marey.core import pose_world
from marey.io import load_motion
from marey.measure import measure
from marey.samples import sample


def bench_fk(path: str) -> Iterator[BenchResult]:
    """Time forward kinematics of all frames at once, and of a single frame."""
    motion = load_motion(path)
    skeleton, scale = motion.skeleton, 1e6 / len(motion)
    if has("pymotion"):
        from pymotion.ops.skeleton import fk

        arguments = (motion.rotations, motion.root_positions, skeleton.offsets, skeleton.parents)
        mine, peer = time_functions([prepare_fk(motion), lambda: fk(*arguments)])
        yield against_peer("fk", "FK, all frames", PER_THOUSAND, "upc-pymotion", (mine * scale, peer * scale), 5.0)
    else:
        (mine,) = time_functions([prepare_fk(motion)])
        yield without_peer("fk", "FK, all frames", mine * scale, PER_THOUSAND, "upc-pymotion")

    root, pose = motion.root_positions[0], motion.rotations[0]

    def thousand_poses() -> None:
        for _ in range(1000):
            pose_world(skeleton, root, pose)

    (seconds,) = time_functions([thousand_poses])
    yield at_most("fk", "FK, one frame", seconds * 1e3, "us", 20)


def bench_contacts(path: str) -> Iterator[BenchResult]:
    """Time contact detection on a generated walk, compared with forward kinematics; `path` is ignored."""
    walk = sample("walk", seconds=50.0).motion
    scale = 1e6 / len(walk)
    mine, floor = time_functions([lambda: detect_contacts(walk), prepare_fk(walk)], rounds=15)
    yield against_floor("contacts", "contact detection", PER_THOUSAND, "FK", (mine * scale, floor * scale), 5.0)


def bench_samples(path: str) -> Iterator[BenchResult]:
    """Time generating 10 s of motion; `path` is ignored."""
    for name in ("walk", "run"):
        (seconds,) = time_functions([lambda name=name: sample(name, seconds=10.0)], rounds=5)  # type: ignore[misc]
        yield at_most("samples", f"10 s of {name}", seconds * 1e3, "ms", 200)


def bench_measure(path: str) -> Iterator[BenchResult]:
    """Time all metrics of a clip of 3,000 frames without contacts; `path` is ignored."""
    from dataclasses import replace

    walk = replace(sample("walk", seconds=50.0).motion[:3000], contacts=None)
    (seconds,) = time_functions([lambda: measure(walk)])
    yield at_most("measure", "measures of 3,000 frames", seconds * 1e3, "ms", 50)
