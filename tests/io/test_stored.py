"""Files of results, from their declared parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
from marey.errors import ParseError, UnknownVersion
from marey.io.file_kinds import KINDS, read_format
from marey.io.stored import FileFormat, Part, Stored

PARTS = {
    "values": Part("float", ("rows", 2), stored_as="f4"),
    "counts": Part("integer", ("rows",)),
    "codes": Part("integer", ("codes",), is_raw=True),
    "done": Part("flag"),
    "names": Part("text", ("rows",)),
    "title": Part("text"),
    "notes": Part("json"),
    "limit": Part("float", optional=True),
    "bound": Part("float", is_finite=False),
    "anything": Part("float", None),
}
VALUES: dict[str, Any] = {
    "values": [[0.5, 1.0], [2.0, 3.0], [4.0, 5.0]],
    "counts": [1, 2, 3],
    "codes": np.array([1, 2], dtype=np.uint8),
    "done": True,
    "names": ("a", "b", "c"),
    "title": "one",
    "notes": {"x": [1, "y"]},
    "limit": None,
    "bound": float("inf"),
    "anything": np.zeros((2, 1, 2)),
}


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "marey.example", "an example")


@pytest.mark.parametrize("is_json", [False, True])
def test_parts_are_restored_as_declared(tmp_path: Path, is_json: bool) -> None:
    form = FileFormat("marey.example", 3, PARTS, is_json=is_json)
    path = tmp_path / ("a.json" if is_json else "a.npz")
    values = VALUES | ({"bound": 2.0} if is_json else {})  # JSON has no infinity
    form.write(path, values)
    with form.open(path) as got:
        for name, value in values.items():
            if PARTS[name].shape == ():
                assert got[name] == value, name
                assert type(got[name]) is type(value), name
            elif PARTS[name].kind == "text":
                assert got[name] == value, name
            else:
                np.testing.assert_array_equal(got[name], value, err_msg=name)
                assert got[name].dtype.kind in ("f" if PARTS[name].kind == "float" else "iu")
    assert is_json or got["codes"].dtype == np.uint8
    assert got["values"].dtype == np.float64
    assert read_format(path) == "marey.example"
    with pytest.raises(UnknownVersion, match="has format version 3, but this version of marey reads 4; build it"):
        FileFormat("marey.example", 4, PARTS, is_json=is_json).read(path)


@pytest.mark.parametrize("is_json", [False, True])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": [1, 2]}, r"counts must have shape \(3,\), not \(2,\)"),
        ({"values": [[1.0, 2.0, 3.0]] * 3}, r"values must have shape \(rows, 2\), not \(3, 3\)"),
        ({"counts": [1.5, 2.0, 3.0]}, "each value of counts must be an integer, not a number"),
        ({"done": "yes"}, "done must be true or false, not text"),
        ({"title": 3}, "title must be text, not a number"),
    ],
)
def test_other_types_and_shapes_are_errors(tmp_path: Path, is_json: bool, change: dict[str, Any], message: str) -> None:
    path = tmp_path / ("a.json" if is_json else "a.npz")
    own = {name: Part("json") if is_json else Part("float", None) for name in change}
    if not is_json and isinstance(next(iter(change.values())), str):
        own = {name: Part("text") for name in change}
    values = VALUES | {"bound": 2.0} | change
    FileFormat("marey.example", 3, PARTS | own, is_json=is_json).write(path, values)
    with pytest.raises(ParseError, match=message) as caught:
        FileFormat("marey.example", 3, PARTS, is_json=is_json).read(path)
    assert "is not a valid example (" in str(caught.value)
    assert str(caught.value).endswith("; build it again")


def test_numbers_are_finite_unless_declared_otherwise(tmp_path: Path) -> None:
    form = FileFormat("marey.example", 1, {"values": Part("float", ("n",))})
    form.write(tmp_path / "a.npz", {"values": [1.0, np.nan]})
    with pytest.raises(ParseError, match="values must hold finite numbers only"):
        form.read(tmp_path / "a.npz")


@dataclass(frozen=True)
class Pair(Stored):
    clips: tuple[marey.Motion, ...]
    weight: float

    FILE = FileFormat("marey.example", 1, {"weight": Part("float")}, has_clips=True)

    def _to_parts(self) -> dict[str, Any]:
        return {"clips": self.clips, "weight": self.weight}


def test_a_class_with_clips(tmp_path: Path) -> None:
    walk = marey.samples.sample("walk", seconds=1.0).motion
    Pair((walk, walk[:20]), 0.25).save(tmp_path / "a.npz")
    again = Pair.load(tmp_path / "a.npz")
    assert again.weight == 0.25
    assert [len(clip) for clip in again.clips] == [len(walk), 20]
    np.testing.assert_array_equal(again.clips[0].rotations, walk.rotations)
    (tmp_path / "a.npz").write_bytes(b"text")
    with pytest.raises(ParseError, match="not a readable NPZ file"):
        Pair.load(tmp_path / "a.npz")
