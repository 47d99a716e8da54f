"""Whichever file operation fails or is the last, nothing is lost, and a second run gives the same bytes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import marey
from marey.core import Labels, Motion, Source
from marey.find import MatchWeb
from marey.graph import MotionGraph
from marey.pmg import ParametricMotionGraph
from marey.samples import sample, straight_walk
from marey.store import MotionSet, add_label
from marey.studio.exporting import save_in_folder, write_annotations
from marey.studio.folder import Folder
from marey.studio.panels.author_files import copy_into_folder
from tests.faults import Faults, explore
from tests.io.fuzzing import ducks, reaches

WALK = straight_walk(seconds=0.4, fps=30.0)
OTHER = replace(WALK, contacts=None, labels=Labels((("hop", 1, 5),)), root_positions=WALK.root_positions + 1.0)  # type: ignore[arg-type]
PLAIN = replace(OTHER, labels=Labels(), source=Source())


def step(n: int) -> int:
    """Return the step between the tried operations: n, or the value of MAREY_FAULT_STEP; `make faults` tries all."""
    return int(os.environ.get("MAREY_FAULT_STEP", n))


def describe(motion: Motion) -> tuple[Any, ...]:
    mask = None if motion.contacts is None else motion.contacts.mask.tobytes()
    return (np.round(motion.root_positions, 3).tobytes(), mask, motion.labels.items)


def state_of_motions(folder: Path) -> object:
    return {path.name: describe(marey.load(path)) for path in sorted(folder.glob("*.bvh"))}


@pytest.mark.parametrize(("old", "new"), [(None, WALK), (WALK, OTHER), (WALK, PLAIN), (PLAIN, WALK)])
def test_a_motion_and_its_sidecar_change_together(tmp_path: Path, old: Motion | None, new: Motion) -> None:
    def prepare(folder: Path) -> None:
        if old is not None:
            marey.save(old, folder / "walk.bvh")

    assert explore(prepare, lambda folder: marey.save(new, folder / "walk.bvh"), state_of_motions, tmp_path) >= 12


def test_a_hand_written_sidecar_stays_with_its_motion(tmp_path: Path) -> None:
    def prepare(folder: Path) -> None:
        marey.save(PLAIN, folder / "walk.bvh")
        (folder / "walk.marey.json").write_text(
            '{"format": "marey.sidecar", "version": 1, "labels": [{"name": "mine", "start": 0, "stop": 3}]}'
        )

    explore(prepare, lambda folder: marey.save(PLAIN[1:], folder / "walk.bvh"), state_of_motions, tmp_path)


def test_a_label_is_added_whole(tmp_path: Path) -> None:
    explore(
        lambda folder: marey.save(WALK, folder / "walk.bvh"),
        lambda folder: add_label(folder / "walk.bvh", "brisk", 0, 4),
        state_of_motions,
        tmp_path,
    )


def character(*nodes: tuple[str, Any]) -> ParametricMotionGraph:
    char = ParametricMotionGraph("c")
    for name, space in nodes:
        char.add(name, space)
    return char


def state_of_character(folder: Path) -> object:
    return tuple((node.name, node.names) for node in ParametricMotionGraph.load(folder / "c.json").nodes.values())


def test_a_character_and_its_spaces_change_together(tmp_path: Path) -> None:
    explore(
        lambda folder: character(("duck", ducks())).save(folder / "c.json"),
        lambda folder: character(("duck", reaches()), ("reach", ducks())).save(folder / "c.json"),
        state_of_character,
        tmp_path,
        step=step(4),
    )


def test_the_studio_copies_a_character_whole(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    character(("duck", reaches())).save(tmp_path / "made" / "c.json")

    def act(folder: Path) -> object:
        places: Any = SimpleNamespace(folder=Folder(folder))
        return copy_into_folder(places, tmp_path / "made" / "c.json", kind="character", replace=True)

    (tmp_path / "tried").mkdir()
    explore(
        lambda folder: character(("duck", ducks())).save(folder / "c.json"),
        act,
        state_of_character,
        tmp_path / "tried",
        step=step(3),
    )


def test_the_studio_saves_motions_whole(tmp_path: Path) -> None:
    def save(folder: Path) -> object:
        places: Any = SimpleNamespace(folder=Folder(folder))
        if (folder / "walk.bvh").exists():
            return None
        for left in folder.glob("walk.*"):  # the page would suggest another name
            left.unlink()
        return save_in_folder(places, WALK, "bvh", "walk")

    explore(lambda folder: None, save, state_of_motions, tmp_path)

    def annotate(folder: Path) -> object:
        places: Any = SimpleNamespace(find=lambda file, where: folder / file)
        opened: Any = SimpleNamespace(
            file="walk.bvh", where="folder", clips=("walk",), recording=PLAIN, now=SimpleNamespace(recording=WALK)
        )
        return write_annotations(places, opened)

    (tmp_path / "annotated").mkdir()
    explore(lambda folder: marey.save(PLAIN, folder / "walk.bvh"), annotate, state_of_motions, tmp_path / "annotated")


def test_built_results_are_written_whole(tmp_path: Path) -> None:
    space = reaches()

    def state(folder: Path) -> object:
        path = folder / "space.npz"
        return path.exists() and marey.ParametricMotion.load(path).samples.tobytes()

    explore(lambda folder: None, lambda folder: space.save(folder / "space.npz"), state, tmp_path)


def test_the_index_of_a_set_survives_faults_in_every_statement(tmp_path: Path) -> None:
    """After each fault the index is intact, and the clips that it lists can be read."""

    def state(folder: Path) -> object:
        index = folder / ".marey-cache" / "index.sqlite"
        if index.exists():
            with closing(sqlite3.connect(index)) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return describe(MotionSet.open(folder).motion(0))

    def act(folder: Path) -> None:
        MotionSet.open(folder).prepare()

    prepared = tmp_path / "counted"
    prepared.mkdir()
    (tmp_path / "tried").mkdir()
    marey.save(WALK, prepared / "walk.npz")
    with Faults() as counted:
        act(prepared)
    assert counted.statements >= 10
    explore(
        lambda folder: marey.save(WALK, folder / "walk.npz"),
        act,
        state,
        tmp_path / "tried",
        step=step(3),
        kept=lambda name: ".marey-cache" not in name,
    )


BUILDS: dict[str, Callable[[MotionSet], Any]] = {
    "graph": lambda clips: MotionGraph.build(clips, 0.3, cache=clips.cache),
    "find": lambda clips: MatchWeb.build(clips, cache=clips.cache),
}


def explore_build(folder: Path, kind: str, every: int) -> None:
    walks = [sample("walk", rng=seed, fps=15.0, seconds=3.0).motion for seed in (0, 1)]

    def prepare(place: Path) -> None:
        (place / "clips").mkdir()
        for k, walk in enumerate(walks):
            marey.save(walk, place / "clips" / f"{k}.npz")

    def act(place: Path) -> None:
        BUILDS[kind](MotionSet.open(place / "clips", fps=15.0)).save(place / "built.npz")

    def state(place: Path) -> object:
        assert sorted(os.listdir(place / "clips"))[-4:] == ["0.marey.json", "0.npz", "1.marey.json", "1.npz"]
        return (place / "built.npz").exists() and len((place / "built.npz").read_bytes())

    explore(prepare, act, state, folder, step=every, kept=lambda name: ".marey-cache" not in name)


@pytest.mark.parametrize("kind", BUILDS)
def test_builds_and_their_caches_survive_faults(tmp_path: Path, kind: str) -> None:
    explore_build(tmp_path, kind, step(17))


LIBRARIES: dict[str, Callable[[MotionSet], object]] = {
    "summaries": lambda clips: [clip.to_dict() for clip in clips.summarize()],
    "motion": lambda clips: clips.index_motion().blocks.values.tobytes(),
}


@pytest.mark.parametrize("kind", LIBRARIES)
def test_a_library_and_its_index_survive_faults(tmp_path: Path, kind: str) -> None:
    def prepare(folder: Path) -> None:
        for name, motion in (("walk", WALK), ("other", OTHER)):
            marey.save(motion, folder / f"{name}.npz")

    def act(folder: Path) -> object:
        return LIBRARIES[kind](MotionSet.open(folder))

    assert explore(prepare, act, act, tmp_path, step=step(5), kept=lambda name: ".marey-cache" not in name) >= 6
