"""The library view: files are read in the background, once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import marey
from marey.studio.folder import Folder
from marey.studio.library_work import _draw, summarize
from marey.studio.places import choose_cache
from tests.studio.client import FakePage


def test_files_are_described(page: FakePage, clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = page.do("library_index")
    page.do("list")  # events that were sent with the reply have arrived, too
    told = [event for event in page.events if event["event"] == "library_rows"]
    rows = {row["path"]: row for event in told for row in event["rows"]}
    assert done == {"files": len(rows), "skipped": sum(bool(row["reason"]) for row in rows.values())}
    assert (told[-1]["done"], told[-1]["total"]) == (len(rows), len(rows))
    walk = marey.load(clips / "walk.bvh")
    found = rows["walk.bvh"]
    assert (found["clips"], found["fps"], found["labels"]) == (1, walk.fps, ["walk"])
    assert found["seconds"] == pytest.approx(walk.duration)
    assert found["speed"] > 1.0
    assert rows["both.glb"]["clips"] == 2
    assert rows["both.glb"]["seconds"] > found["seconds"]
    page.events.clear()
    again = page.do("library_index")  # nothing has changed: one message, from memory
    assert again == done
    thumbnails = page.do("library_thumbnails", paths=["walk.bvh", "none.bvh"])["thumbnails"]
    assert [len(event["rows"]) for event in page.events] == [len(rows)]
    assert [each["path"] for each in thumbnails] == ["walk.bvh"]
    drawn = np.reshape(thumbnails[0]["points"], (16, len(walk.skeleton), 3))
    left, right = (drawn[1, thumbnails[0]["roles"][f"{side}_upper_leg"]] for side in ("left", "right"))
    assert left[0] > right[0]  # it faces the viewer
    assert abs(left[2] - right[2]) <= 1
    assert not (clips / ".marey-cache").exists()


def test_thumbnails_leave_out_a_root_that_stays_behind() -> None:
    pose = [[-5.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, 0.0]]
    drawn = _draw(SimpleNamespace(parents=(-1, 0, 1), roles={"hips": 1}, stature=1.7, poses=np.array([pose, pose])))
    assert drawn["bone_lengths"] == [0.0, 0.0, 0.5]
    assert np.abs(drawn["points"]).max() == 500


def test_broken_files_are_listed(tmp_path: Path, clips: Path) -> None:
    shutil.copy(clips / "deep" / "turn.bvh", tmp_path / "turn.bvh")
    (tmp_path / "broken.bvh").write_text("HIERARCHY\n")
    (tmp_path / "cache").mkdir()
    with pytest.warns(UserWarning, match=r"broken"):
        found = summarize(lambda *_: None, str(tmp_path), ["broken.bvh", "turn.bvh"], str(tmp_path / "cache"))
    assert [bool(row["reason"]) for row in found["rows"]] == [True, False]


def test_index_is_not_written_to_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    root = Folder(tmp_path).root
    assert choose_cache(root) == tmp_path / "home" / "marey" / "library"
    (root / ".marey-cache").mkdir()  # the cache of `marey library`
    assert choose_cache(root) == root / ".marey-cache"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    os.rmdir(root / ".marey-cache")
    assert choose_cache(root).is_dir()
