"""The open folder: listed without loading, and paths cannot leave it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.errors import InvalidValue, LimitExceeded, UnknownFormat, UnreadableFile
from marey.io.archive import pack
from marey.samples import sample
from marey.studio.folder import Folder
from marey.studio.places import MAX_OFFERS, UPLOAD_BYTES, Places, fit_name


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder next to the open one."""
    place = tmp_path / "outside"
    place.mkdir()
    (place / "secret.bvh").write_text("HIERARCHY")
    (place / "secret.marey.json").write_text("{}")
    (place / "secret.asf").write_text("skeleton")
    return place


@pytest.fixture
def opened(tmp_path: Path) -> Folder:
    root = tmp_path / "opened"
    (root / "deep").mkdir(parents=True)
    for name in ("b.bvh", "a.BVH", "deep/c.glb", "deep/d.c3d", "skip.txt", ".hidden.bvh", "skeleton.asf"):
        (root / name).write_bytes(b"not a motion at all")
    (root / "b.marey.json").write_text(json.dumps({"labels": [{"name": "jump"}, {"name": "<b>"}, {"name": "jump"}]}))
    (root / "a.marey.json").write_text("{broken")
    return Folder(root)


def test_files_are_listed_with_cheap_facts(opened: Folder) -> None:
    found = opened.list_files()
    assert found.folder == "opened"
    assert [(each.path, each.format, each.sidecar, each.labels) for each in found.files] == [
        ("a.BVH", "bvh", True, ()),
        ("b.bvh", "bvh", True, ("<b>", "jump")),
        ("deep/c.glb", "glb", False, ()),
        ("deep/d.c3d", "c3d", False, ()),
    ]
    assert all(each.size == 19 and each.modified > 0 for each in found.files)


def test_a_list_has_an_end(opened: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marey.studio.folder.MAX_LISTED", 3)
    found = opened.list_files()
    assert (len(found.files), found.skipped) == (3, 1)


def test_five_hundred_clips_are_listed_without_opening_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(500):
        (tmp_path / f"{i:03}.bvh").touch()
    monkeypatch.setattr("builtins.open", lambda *a, **k: pytest.fail(f"opened {a[0]}"))
    assert len(Folder(tmp_path).list_files().files) == 500


def test_what_was_made_of_motions_is_not_listed_among_them(tmp_path: Path) -> None:
    walk = sample("walk", seconds=1.0, fps=30.0).motion
    (tmp_path / "mine.json").write_text("{}")
    marey.save(walk, tmp_path / "mine.take.npz")  # a motion, whatever its name
    for name, form in (("mine.walk.npz", "marey.gait_space"), ("moves.npz", "marey.graph"), ("web.npz", "marey.web")):
        (tmp_path / name).write_bytes(pack(form, 1, {"distances": np.zeros(3)}))
    np.savez(tmp_path / "theirs.npz", poses=np.zeros(3))
    np.savez(tmp_path / "odd.npz", format=np.array(["marey.web"] * 10_000))
    (tmp_path / "broken.npz").write_bytes((tmp_path / "web.npz").read_bytes()[:-30])
    found = [each.path for each in Folder(tmp_path).list_files().files]
    assert found == ["broken.npz", "mine.take.npz"]


@pytest.mark.parametrize(
    "path",
    ["../outside/secret.bvh", "deep/../../outside/secret.bvh", "..", "deep//c.glb", "./b.bvh", "", "/etc/passwd",
     "deep\\..\\b.bvh", "b.bvh\0.glb"],
)  # fmt: skip
def test_paths_that_lead_elsewhere_are_refused(opened: Folder, outside: Path, path: str) -> None:
    with pytest.raises(InvalidValue, match="expected a path within the open folder"):
        opened.find(path)


def test_links_that_lead_elsewhere_are_refused_and_not_listed(opened: Folder, outside: Path) -> None:
    (opened.root / "link.bvh").symlink_to(outside / "secret.bvh")
    (opened.root / "door").symlink_to(outside)
    (opened.root / "loop.bvh").symlink_to(opened.root / "loop.bvh")
    for path in ("link.bvh", "door/secret.bvh"):
        with pytest.raises(UnreadableFile, match="is outside the open folder"):
            opened.find(path)
    with pytest.raises(UnreadableFile):
        opened.find("loop.bvh")
    assert {each.path for each in opened.list_files().files} == {"a.BVH", "b.bvh", "deep/c.glb", "deep/d.c3d"}


def test_links_within_the_folder_are_followed(opened: Folder) -> None:
    (opened.root / "link.glb").symlink_to("deep/c.glb")
    assert opened.find("link.glb") == opened.root / "deep/c.glb"
    assert "link.glb" in {each.path for each in opened.list_files().files}


def test_a_sidecar_or_skeleton_that_is_a_link_elsewhere_is_refused(opened: Folder, outside: Path) -> None:
    (opened.root / "deep/c.marey.json").symlink_to(outside / "secret.marey.json")
    (opened.root / "deep/take.amc").write_text("1")
    (opened.root / "deep/take.asf").symlink_to(outside / "secret.asf")
    with pytest.raises(UnreadableFile, match=r"its companion file c.marey.json is outside the open folder"):
        opened.find("deep/c.glb")
    with pytest.raises(UnreadableFile, match=r"its companion file take.asf"):
        opened.find("deep/take.amc")


def test_only_motion_files_are_opened(opened: Folder) -> None:
    with pytest.raises(UnknownFormat, match="not a motion file"):
        opened.find("skip.txt")
    with pytest.raises(UnreadableFile, match="no such file in the open folder"):
        opened.find("gone.bvh")
    os.mkfifo(opened.root / "pipe.bvh")
    with pytest.raises(UnreadableFile, match="no such file"):
        opened.find("pipe.bvh")
    with pytest.raises(UnreadableFile, match="no such folder"):
        Folder(opened.root / "nowhere")
    with pytest.raises(UnreadableFile, match="is a file, expected a folder"):
        Folder(opened.root / "b.bvh")


# --- Uploads and downloads


@pytest.mark.parametrize(
    "name", ["", "../x.bvh", "a/b.bvh", "a\\b.bvh", ".x.bvh", "x\0.bvh", "x\n.bvh", "c:x.bvh", "y" * 130 + ".bvh"]
)
def test_uploads_have_plain_names(name: str) -> None:
    places = Places("s", None)
    with pytest.raises(InvalidValue, match="expected a file name"):
        places.check_upload(name, 1)
    places.close()


def test_uploads_are_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    places = Places("s", None)
    places.check_upload("walk.bvh", 10)
    places.check_upload("walk.marey.json", 10)
    with pytest.raises(UnknownFormat, match="not a motion file"):
        places.check_upload("walk.exe", 10)
    with pytest.raises(LimitExceeded, match="larger than the upload limit of 256 MB"):
        places.check_upload("walk.bvh", UPLOAD_BYTES + 1)
    monkeypatch.setattr("marey.studio.places.SESSION_BYTES", 25)
    for name in ("a.bvh", "b.bvh"):
        part = tmp_path / "part"
        part.write_bytes(b"x" * 10)
        places.check_upload(name, 10)
        places.accept_upload(name, part)
    with pytest.raises(LimitExceeded, match="exceeds the upload limit of this session"):
        places.check_upload("c.bvh", 10)
    places.check_upload("b.bvh", 12)  # in place of the previous one
    assert places.find("a.bvh", "uploads").read_bytes() == b"x" * 10
    with pytest.raises(InvalidValue, match="no folder is open"):
        places.find("a.bvh", "folder")
    places.close()
    assert not places.own.exists()


def test_files_for_download_are_bounded() -> None:
    places = Places("s", None)
    for i in range(MAX_OFFERS + 3):
        path = places.exports / f"{i}.bvh"
        path.write_text("x")
        assert places.offer(path) == f"/download/s/{i}.bvh"
    assert places.find_offer("0.bvh") is None
    assert places.find_offer(f"{MAX_OFFERS}.bvh") is not None
    assert len(list(places.exports.iterdir())) == MAX_OFFERS
    places.close()


def test_names_are_made_fit_for_files() -> None:
    assert fit_name("../a/b") == "_a_b"
    assert fit_name("<img src=x>") == "_img src=x_"
    assert fit_name(" ..") == "motion"
    assert fit_name("\udc80x") == "_x"
    assert len(fit_name("é" * 500).encode()) <= 120


@pytest.mark.parametrize("form", ["marey.grid", "marey-grid", "marey.graph"])
def test_a_result_next_to_the_motions_is_not_listed(opened: Folder, form: str) -> None:
    (opened.root / "result.npz").write_bytes(pack(form, 1, {}))
    assert "result.npz" not in [each.path for each in opened.list_files().files]
