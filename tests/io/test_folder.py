"""Folders of files: what is listed, what kind each file is, and that nothing is overwritten."""

import os
from pathlib import Path

import pytest

from marey.errors import InvalidValue, UnwritableFile
from marey.io.archive import pack, write_json
from marey.io.folder import copy_file, free_name, result_kind, walk_files


def test_hidden_and_skipped_files_are_left_out(tmp_path: Path) -> None:
    for name in ("b/x.txt", "a/y.txt", "a/.z.txt", ".c/w.txt", "d/v.txt", "u.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [
        (place.relative_to(tmp_path).as_posix(), files) for place, files in walk_files(tmp_path, skip=tmp_path / "d")
    ]
    assert found == [(".", ["u.txt"]), ("a", ["y.txt"]), ("b", ["x.txt"])]


def test_the_kind_of_a_file_is_read_from_its_format_name(tmp_path: Path) -> None:
    for form, kind in (("marey.graph", "graph"), ("marey.motion", None), ("marey-grid", "grid"), ("other", None)):
        (tmp_path / "x.npz").write_bytes(pack(form, 1, {}))
        assert result_kind(tmp_path / "x.npz") == kind
    write_json(tmp_path / "x.json", "marey.gaze_map", 1, {"k": 6})
    assert result_kind(tmp_path / "x.json") == "gaze_map"
    (tmp_path / "x.json").write_text('{"name": "x", "format": "marey.pmg"}')
    assert result_kind(tmp_path / "x.json") is None
    assert result_kind(tmp_path / "missing.npz") is None


def test_free_names_are_numbered() -> None:
    taken = {"walk", "walk 2"}
    assert free_name("walk", taken.__contains__) == "walk 3"
    assert free_name("run", taken.__contains__) == "run"
    with pytest.raises(InvalidValue, match="choose another name"):
        free_name("walk", lambda _: True)


def test_a_copy_overwrites_only_on_request_and_follows_no_link(tmp_path: Path) -> None:
    source, target, victim = tmp_path / "s", tmp_path / "t", tmp_path / "v"
    source.write_bytes(b"new")
    target.write_bytes(b"old")
    victim.write_bytes(b"safe")
    with pytest.raises(FileExistsError):
        copy_file(source, target, replace=False)
    assert target.read_bytes() == b"old"
    copy_file(source, target, replace=True)
    assert target.read_bytes() == b"new"
    target.unlink()
    os.symlink(victim, target)
    copy_file(source, target, replace=True)
    assert victim.read_bytes() == b"safe"
    with pytest.raises(UnwritableFile, match="does not exist; create it first"):
        copy_file(source, tmp_path / "missing" / "t", replace=True)
    assert sorted(os.listdir(tmp_path)) == ["s", "t", "v"]
