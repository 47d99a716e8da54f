"""Project files: clips, panels, settings and camera are reopened; other files are never overwritten."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
from marey.errors import FileError
from marey.samples import sample
from marey.studio.project import SUFFIX, ProjectClip, ProjectContent, read_project, write_project
from tests.studio.client import Failed, FakePage, Server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("projects")
    marey.save(sample("walk", fps=30.0, seconds=1.0).motion, at / "walk.bvh")
    return at


@pytest.fixture(scope="module")
def project_server(folder: Path, built: Path) -> Iterator[Server]:
    running = Server(folder, built)
    yield running
    running.stop()


def test_a_project_reopens_clips_and_state(project_server: Server, folder: Path) -> None:
    state: dict[str, Any] = {"panel": "blend", "motion": "m2", "frame": 7, "choices": {"hidden": ["m1"]}}
    with FakePage(project_server) as page:
        first = page.do("open", path="walk.bvh")["motion"]
        edited = page.do("open", path="walk.bvh")["motion"]
        page.operate("mirror", edited)
        sampled = page.do("open_sample", sample="run", options={"seconds": 1.0})["motion"]
        before = sorted(os.listdir(folder))
        saved = page.do("project_save", name="two walks", state=state)
        assert saved["file"] == f"two walks{SUFFIX}"
        assert saved["notes"] == []
        assert {each["motion"] for each in saved["motions"]} == {edited, sampled}
        assert not any(each["edited"] for each in saved["motions"])
        assert set(os.listdir(folder)) > {*before, saved["file"], "run.glb"}
        assert page.do("project_list") == {"files": [saved["file"]], "open": saved["file"]}
        # Saved again, it replaces only itself.
        page.do("project_save", name=saved["file"], state={**state, "frame": 8})
        assert read_project(folder / saved["file"]).state["frame"] == 8
        assert [each.id for each in read_project(folder / saved["file"]).clips] == [first, edited, sampled]
    with FakePage(project_server) as page:
        page.do("open", path="walk.bvh")
        with pytest.raises(Failed, match="already exists; choose another name, such as 'two walks_2'"):
            page.do("project_save", name="two walks", state={})
        opened = page.do("project_open", path=f"two walks{SUFFIX}")
        assert opened["ids"] == [first, edited, sampled]
        assert [each["name"] for each in opened["motions"]] == ["walk", "walk_2", "run"]
        assert opened["state"] == {**state, "frame": 8}
        # The clip that was open is closed.
        assert [each["motion"] for each in opened["motions"]] == ["m2", "m3", "m4"]
        # A missing clip is named, and the others are opened.
        os.rename(folder / "run.glb", folder / "gone.glb")
        again = page.do("project_open", path=f"two walks{SUFFIX}")
        assert len(again["motions"]) == 2
        assert "run.glb" in again["notes"][0]
        for name in ("", "../x", ".x", "a/b"):
            with pytest.raises(Failed, match="expected a name"):
                page.do("project_save", name=name, state={})
        with pytest.raises(Failed, match="outside the open folder|within the open folder"):
            page.do("project_open", path=f"../x{SUFFIX}")


def test_without_a_folder_a_project_is_refused(built: Path) -> None:
    server = Server(None, built)
    with FakePage(server) as page, pytest.raises(Failed, match="no folder is open"):
        page.do("project_save", name="x", state={})
    server.stop()


def test_damaged_projects_raise_typed_errors(tmp_path: Path) -> None:
    path = tmp_path / f"walks{SUFFIX}"
    clips = (ProjectClip("m1", "walk.bvh"), ProjectClip("m2", "take.glb", "run", False))
    write_project(path, ProjectContent(clips, {"panel": "look", "choices": {"blend": [1, None, "m1"]}}), replace=False)
    assert read_project(path).clips == clips
    with pytest.raises(FileExistsError):
        write_project(path, ProjectContent((), {}), replace=False)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(300):
        data = bytearray(good)
        for _ in range(int(rng.integers(1, 6))):
            at = int(rng.integers(len(data)))
            data[at : at + int(rng.integers(0, 9))] = (
                rng.integers(32, 127, int(rng.integers(0, 5))).astype(np.uint8).tobytes()
            )
        path.write_bytes(data)
        with suppress(FileError):
            read_project(path)
    content = json.loads(good)
    for wrong in (
        {"version": 2},
        {"format": "marey.graph"},
        {"clips": 3},
        {"clips": [{"id": 3, "file": "x"}]},
        {"x": 1},
    ):
        path.write_text(json.dumps(content | wrong))
        with pytest.raises(FileError, match=path.name):
            read_project(path)
