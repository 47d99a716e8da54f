"""Files that the studio writes: complete, with their sidecars, and never over other files."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.errors import InvalidValue, UnreadableFile, UnwritableFile
from marey.studio import exporting
from marey.studio.exporting import export_motions, free_name, save_in_folder
from marey.studio.folder import Folder
from marey.studio.places import Places


@pytest.fixture
def places(tmp_path: Path) -> Iterator[Places]:
    result = Places("s", Folder(tmp_path))
    yield result
    result.close()


@pytest.mark.parametrize("suffix", ["bvh", "glb", "npz"])
def test_saving_keeps_contacts_and_labels(places: Places, tmp_path: Path, walk: marey.Motion, suffix: str) -> None:
    assert save_in_folder(places, walk, suffix, "my walk") == f"my walk.{suffix}"
    assert sorted(os.listdir(tmp_path)) == sorted([f"my walk.{suffix}", "my walk.marey.json"])
    back = marey.load(tmp_path / f"my walk.{suffix}")
    assert back.labels == walk.labels
    assert back.contacts is not None
    assert walk.contacts is not None
    np.testing.assert_array_equal(back.contacts.mask, walk.contacts.mask)
    assert [(each.path, each.sidecar) for each in places.list_files().files] == [(f"my walk.{suffix}", True)]


def test_nothing_is_ever_replaced(places: Places, tmp_path: Path, walk: marey.Motion) -> None:
    (tmp_path / "walk.bvh").write_text("mine")
    (tmp_path / "Run.marey.json").write_text("mine")
    (tmp_path / "gone.glb").symlink_to(tmp_path / "nowhere")
    before = sorted(os.listdir(tmp_path))
    for name in ("walk", "WALK", "run", "gone"):  # a sidecar applies to all files of a name, perhaps regardless of case
        assert save_in_folder(places, walk, "glb", name) is None
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "walk.bvh").read_text() == "mine"
    assert free_name(places, "walk") == "walk_2"
    assert free_name(places, "../jump (mirrored)") == "jump_mirrored"
    assert save_in_folder(places, walk, "glb", "walk_2") == "walk_2.glb"
    assert free_name(places, "walk") == "walk_3"
    assert free_name(places, "x" * 300) == "x" * 120
    (tmp_path / f"{'x' * 120}.npz").touch()
    assert len(free_name(places, "x" * 300)) <= 120


def test_of_two_at_once_one_has_the_name(
    places: Places, tmp_path: Path, walk: marey.Motion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both find the name free; the file written first stays complete."""
    monkeypatch.setattr(exporting, "_is_taken", lambda folder, name: False)
    other = replace(walk[:20], contacts=None)
    together, names = threading.Barrier(2), list[str | None]()

    def save(motion: marey.Motion) -> None:
        together.wait()
        names.append(save_in_folder(places, motion, "bvh", "same"))

    threads = [threading.Thread(target=save, args=(each,)) for each in (walk, other)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(map(str, names)) == ["None", "same.bvh"]
    assert len(marey.load(tmp_path / "same.bvh")) in (len(walk), len(other))
    assert sorted(os.listdir(tmp_path)) == ["same.bvh", "same.marey.json"]


def test_file_systems_without_links(
    places: Places, tmp_path: Path, walk: marey.Motion, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: object, target: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert save_in_folder(places, walk, "bvh", "walk") == "walk.bvh"
    assert len(marey.load(tmp_path / "walk.bvh")) == len(walk)
    monkeypatch.setattr(exporting, "_is_taken", lambda folder, name: False)
    assert save_in_folder(places, walk[:20], "bvh", "walk") is None
    assert len(marey.load(tmp_path / "walk.bvh")) == len(walk)


def test_a_failed_save_is_reported(places: Places, tmp_path: Path, walk: marey.Motion) -> None:
    for name in ("", "..", "../walk", "a/b", ".hidden", "a\0b", "x" * 300, "end."):
        with pytest.raises(InvalidValue, match="expected a file name such as 'walk_2'"):
            save_in_folder(places, walk, "bvh", name)
    nowhere = Places("s", None)
    with pytest.raises(InvalidValue, match="no folder is open; download"):
        save_in_folder(nowhere, walk, "bvh", "walk")
    nowhere.close()
    tmp_path.rename(tmp_path.with_name("elsewhere"))
    with pytest.raises(UnreadableFile, match="the open folder can no longer be read"):
        save_in_folder(places, walk, "bvh", "walk")


def test_a_disk_that_is_full_leaves_nothing_behind(
    places: Places, tmp_path: Path, walk: marey.Motion, monkeypatch: pytest.MonkeyPatch
) -> None:
    def place(made: Path, target: Path) -> None:
        if target.suffix == ".bvh":
            raise OSError(28, "No space left on device")
        really(made, target)

    really = exporting.place_new
    monkeypatch.setattr(exporting, "place_new", place)
    with pytest.raises(UnwritableFile, match=r"walk\.bvh: cannot be written to the open folder \(no space left"):
        save_in_folder(places, walk, "bvh", "walk")
    assert os.listdir(tmp_path) == []


def test_download_offers_its_sidecar(places: Places, walk: marey.Motion) -> None:
    path, beside = export_motions(places, [walk], "bvh", "walk")
    assert beside is not None
    assert marey.load(path).labels == walk.labels
    plain = replace(walk, contacts=None, labels=marey.Labels(), source=replace(walk.source, floor=None))
    path, beside = export_motions(places, [walk, plain], "glb", "two")
    assert (path.name, beside) == ("two.glb", None)
