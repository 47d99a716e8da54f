"""Several processes that use one cache, and processes that are killed at work."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from marey.store import MotionSet
from marey.store import prepare as preparing
from tests.store.folders import build_and_die_writing, build_set, build_until, folder_of_walks, same

SPAWN = get_context("spawn")


def intact(store) -> bool:
    with sqlite3.connect(store / "index.sqlite") as db:
        answer = db.execute("PRAGMA integrity_check").fetchone()
    db.close()
    return answer == ("ok",)


def test_two_processes_build_one_set_at_once(tmp_path):
    folder, store = folder_of_walks(tmp_path / "clips", 6), tmp_path / "cache"
    alone = MotionSet.open(folder, cache=tmp_path / "alone", mirrored=True).prepare()
    with ProcessPoolExecutor(2, SPAWN) as pool:
        result = list(pool.map(build_set, [str(folder)] * 4, [str(store)] * 4))
    wanted = [alone.content_key(i) for i in range(len(alone))]
    assert result == [wanted] * 4
    assert intact(store)
    assert not list(store.rglob("*.part"))
    together = MotionSet.open(folder, cache=store, mirrored=True)
    assert all(same(a, b) for a, b in zip(alone, together, strict=True))


@pytest.mark.parametrize(
    ("kill", "at", "n_ready"),
    [(build_until, 3, 3), (build_and_die_writing, 4, 1)],
    ids=["between clips", "between a clip's arrays"],
)
def test_a_killed_build_continues_where_it_stopped(tmp_path, monkeypatch, kill, at, n_ready):
    folder, store = folder_of_walks(tmp_path / "clips", 5), tmp_path / "cache"
    child = SPAWN.Process(target=kill, args=(str(folder), str(store), at))
    child.start()
    child.join()
    assert child.exitcode == -9
    assert intact(store)
    loads = []
    load = preparing.load_motion
    monkeypatch.setattr(
        preparing, "load_motion", lambda path, **o: loads.append(os.path.basename(path)) or load(path, **o)
    )
    clips = MotionSet.open(folder, cache=store).prepare()
    assert loads == [f"walk{k}.bvh" for k in range(n_ready, 5)]
    fresh = MotionSet.open(folder, cache=tmp_path / "fresh")
    assert all(same(a, b) for a, b in zip(clips, fresh, strict=True))
