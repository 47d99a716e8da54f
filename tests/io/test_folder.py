"""Folders of files: what is listed, what kind each file is, and that nothing is overwritten."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.errors import InvalidValue, UnwritableFile
from marey.io.archive import pack, write_json
from marey.io.files import PART_SUFFIX, FileTransaction, write_bytes
from marey.io.folder import copy_file, describe_other, free_name, plain_name, result_kind, walk_files
from marey.samples import sample
from marey.store.scan import list_files


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


def test_abandoned_parts_are_swept_and_nothing_else(tmp_path: Path) -> None:
    old = time.time() - 2 * 3600
    (tmp_path / f".walk.bvh.0123abcd{PART_SUFFIX}").write_text("abandoned")
    (tmp_path / f".xyz{PART_SUFFIX}").mkdir()
    (tmp_path / f".xyz{PART_SUFFIX}" / "space.npz").write_text("abandoned")
    kept = [".walk.part", "walk.marey-part", ".hidden", "old.bvh"]
    for name in kept:
        (tmp_path / name).write_text("mine")
    for path in tmp_path.iterdir():
        os.utime(path, (old, old))
    fresh = tmp_path / f".run.bvh.0123abcd{PART_SUFFIX}"
    fresh.write_text("being written")
    (tmp_path / f".link{PART_SUFFIX}").symlink_to(tmp_path / "old.bvh")
    write_bytes(tmp_path / "new.bvh", [b"new"])
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, fresh.name, f".link{PART_SUFFIX}", "new.bvh"])
    assert (tmp_path / "old.bvh").read_text() == "mine"


def test_a_file_keeps_its_mode_and_a_new_one_has_the_usual(tmp_path: Path) -> None:
    path = tmp_path / "walk.bvh"
    write_bytes(path, [b"a"])
    (tmp_path / "usual").touch()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode
    path.chmod(0o600)
    write_bytes(path, [b"b"])
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        write_bytes(path, [b"c"], replace=False)
    assert (path.read_bytes(), sorted(os.listdir(tmp_path))) == (b"b", ["usual", "walk.bvh"])


def test_files_are_on_the_disk_before_they_are_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (done.append("sync"), sync(handle)))
    monkeypatch.setattr(os, "replace", lambda a, b: (done.append("replace"), replace(a, b)))
    with FileTransaction() as writing:
        staged = [writing.stage(tmp_path / name, [b"x"]) for name in ("a", "b")]
        writing.commit(*staged)
    assert done == ["sync", "sync", "replace", "sync", "replace"]


def test_arrays_that_are_not_motions_are_told_from_motions(tmp_path: Path) -> None:
    walk = sample("walk", fps=30.0, seconds=1.0).motion
    shapes = {"x": (322,), "h": (263,), "j": (22, 3)}
    for name, shape in shapes.items():
        np.save(tmp_path / f"{name}.npy", np.zeros((4, *shape), dtype=np.float32))
    marey.save(walk, tmp_path / "walk.npz")
    np.savez(tmp_path / "amass.npz", poses=np.zeros((4, 156)), trans=np.zeros((4, 3)))
    (tmp_path / "damaged.npy").write_bytes(b"nothing")  # loading it says what is wrong
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    motions = {
        *(f"{name}.npy" for name in shapes),
        "walk.npz",
        "amass.npz",
        "damaged.npy",
        "objects.npy",
        "missing.npy",
    }
    assert {name: describe_other(tmp_path / name) for name in motions} == dict.fromkeys(motions)
    np.save(tmp_path / "weights.npy", np.zeros((7, 5)))
    np.savez(tmp_path / "shape.npz", betas=np.zeros(16))
    assert describe_other(tmp_path / "weights.npy") == "NumPy array of shape (7, 5)"
    assert describe_other(tmp_path / "shape.npz") == "set of arrays of another program"
    for name in ("damaged.npy", "objects.npy", *(f"{name}.npy" for name in shapes), "amass.npz"):
        (tmp_path / name).unlink()
    opened = marey.MotionSet.open(tmp_path)
    assert opened.names == ("walk",)
    assert not opened.skipped
    (tmp_path / "walk.npz").unlink()
    (tmp_path / "walk.trc").write_text("markers")  # listed, because there are no motions
    _, files, _ = list_files([tmp_path], "*", tmp_path / ".marey")
    assert files == ("shape.npz", "walk.trc", "weights.npy")


@pytest.mark.parametrize(
    ("name", "plain"),
    [("walk.01", "walk.01"), ("a b/c\n", "a_b_c_"), ("語" * 100, "語" * 40), ("a" * 300, "a" * 120), ("\ud800", "_")],
)
def test_plain_names_can_be_part_of_a_file_name(name: str, plain: str) -> None:
    assert plain_name(name) == plain
