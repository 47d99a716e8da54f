"""Small folders of clips for the tests of the store, and functions that tests run in other processes."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from marey.core import Label, Labels, Motion
from marey.io import save
from marey.samples import sample
from marey.store import MotionSet


@cache
def walk(seed: int = 0) -> Motion:
    """Return a second and a half at 60 Hz, without annotations."""
    motion = sample("walk", rng=seed, fps=60, seconds=1.5).motion
    source = replace(motion.source, floor=None, provenance=())
    return replace(motion, name=f"walk{seed}", contacts=None, labels=Labels(), source=source)


def labels_of(*items: tuple[str, int, int]) -> Labels:
    return Labels(tuple(Label(*item) for item in items))


def folder_of_walks(folder: Path, n: int = 3) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(n):
        save(walk(seed), folder / f"walk{seed}.bvh")
    return folder


def lose_first(path: Path) -> None:
    """Overwrite the file of a clip without its first frames."""
    seed = int(path.stem.removeprefix("walk"))
    save(walk(seed)[10:], path)


def same(a: Motion, b: Motion) -> bool:
    """Return whether two motions are identical, except for the paths of their files."""
    arrays = [(a.root_positions, b.root_positions), (a.rotations, b.rotations)]
    if (a.contacts is None) != (b.contacts is None) or (a.bone_offsets is None) != (b.bone_offsets is None):
        return False
    if a.contacts is not None and b.contacts is not None:
        arrays += [(a.contacts.mask, b.contacts.mask)]
        if a.contacts.names != b.contacts.names:
            return False
    if a.bone_offsets is not None and b.bone_offsets is not None:
        arrays += [(a.bone_offsets, b.bone_offsets)]
    return (
        all(np.array_equal(x, y) for x, y in arrays)
        and (a.name, a.fps, a.labels) == (b.name, b.fps, b.labels)
        and a.skeleton.fits(b.skeleton)
        and np.array_equal(a.skeleton.offsets, b.skeleton.offsets)
        and a.source.provenance == b.source.provenance
    )


# --- Run in other processes


def build_set(folder: str, cache_folder: str) -> list[str]:
    clips = MotionSet.open(folder, cache=cache_folder, mirrored=True).prepare()
    return [clips.content_key(i) for i in range(len(clips))]


def build_until(folder: str, cache_folder: str, n_clips: int) -> None:
    """Build, and be killed as soon as some clips are ready."""
    n_told = 0

    def report(_: float) -> None:
        nonlocal n_told
        n_told += 1
        if n_told == n_clips:
            os.kill(os.getpid(), signal.SIGKILL)

    MotionSet.open(folder, cache=cache_folder).prepare(progress=report)


def build_and_die_writing(folder: str, cache_folder: str, n_arrays: int) -> None:
    """Build, and be killed after some arrays were written, between a clip's first array and its second."""
    from marey.store import arrays

    write, n_written = arrays.write_array, 0

    def dying(path, array):
        nonlocal n_written
        if n_written == n_arrays:
            os.kill(os.getpid(), signal.SIGKILL)
        write(path, array)
        n_written += 1

    arrays.write_array = dying
    MotionSet.open(folder, cache=cache_folder).prepare()


def summed(offset: np.ndarray, item: int) -> np.ndarray:
    return offset[item : item + 3] + item


def failing(item: int) -> int:
    if item == 3:
        raise ValueError("three is not to be had")
    return item


def dying(item: int) -> int:
    os._exit(3)


def dying_first(folder: str, item: int) -> int:
    """Be killed at every third item, the first time that it is tried."""
    mark = Path(folder, str(item))
    if item % 3 == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item * item


def slow_square(folder: str, item: int) -> int:
    """Work slowly enough to be killed; record finished items in a file of the process."""
    time.sleep(0.05)
    with open(Path(folder, f"{os.getpid()}.done"), "a") as log:
        log.write(f"{item}\n")
    return item * item


def kind_of_memory(arrays: list[np.ndarray], item: int) -> tuple[str, bool, float]:
    """Return the base of an array, whether it is writable, and its sum."""
    array = arrays[item]
    base = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    return type(base).__name__, bool(array.flags.writeable), float(array.sum())


def writable(array: np.ndarray, item: int) -> bool:
    return bool(array.flags.writeable)


def process_number(item: int) -> int:
    return os.getpid()
