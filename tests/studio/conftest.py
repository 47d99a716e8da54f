"""One server and one folder of generated clips for all of the studio's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import marey
from marey.samples import sample
from tests.studio.client import FakePage, Server


@pytest.fixture(scope="session", autouse=True)
def own_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Indexes and built characters are stored in a folder of the tests, not in that of the user."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("caches")))
        yield


@pytest.fixture(scope="session")
def walk() -> marey.Motion:
    return sample("walk", seconds=2.0).motion


@pytest.fixture(scope="session")
def clips(tmp_path_factory: pytest.TempPathFactory, walk: marey.Motion) -> Path:
    """walk.bvh with a sidecar, deep/turn.bvh without, both.glb with two clips, marks.c3d if it is available."""
    folder = tmp_path_factory.mktemp("clips")
    marey.save(walk, folder / "walk.bvh")
    (folder / "deep").mkdir()
    turn = sample("walk", seconds=1.0, turn_rate=0.8).motion
    marey.save(
        marey.Motion(turn.skeleton, turn.root_positions, turn.rotations, turn.fps, "turn"), folder / "deep/turn.bvh"
    )
    marey.save([marey.load(folder / "deep/turn.bvh"), marey.load(folder / "walk.bvh")], folder / "both.glb")
    (folder / "notes.txt").write_text("not a motion")
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stand-in for a built page."""
    page = tmp_path_factory.mktemp("page")
    (page / "index.html").write_text("<!doctype html><title>marey</title><script src=/assets/app.js></script>")
    (page / "app.js").write_text("'use strict';")
    (page / "secret.py").write_text("no asset")
    return page


@pytest.fixture(scope="session")
def server(clips: Path, built: Path) -> Iterator[Server]:
    running = Server(clips, built)
    yield running
    running.stop()


@pytest.fixture
def page(server: Server) -> Iterator[FakePage]:
    with FakePage(server) as result:
        yield result
