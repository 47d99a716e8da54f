"""The sidecar: written if there are annotations, read back, shared, and never lost."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marey
import marey.store
from marey.core import Labels, Motion, Source
from marey.errors import InvalidValue, MareyWarning, ParseError, UnknownVersion, UnwritableFile
from marey.io import sidecar_path
from marey.io.sidecar import write_sidecar
from marey.samples import straight_walk

WALK = straight_walk(seconds=1.0)
PLAIN = replace(WALK, contacts=None, labels=Labels(), source=Source())


def saved(folder: Path, motion: Motion = PLAIN, name: str = "walk.bvh") -> Path:
    marey.save(motion, folder / name)
    return folder / name


def put(folder: Path, **content: Any) -> Path:
    side = folder / "walk.marey.json"
    side.write_text(json.dumps({"format": "marey.sidecar", "version": 1, **content}))
    return side


def test_nothing_to_say_writes_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path)
    assert sidecar_path(path) == tmp_path / "walk.marey.json"
    assert not sidecar_path(path).exists()


def test_everything_is_restored(tmp_path: Path) -> None:
    motion = replace(
        WALK,
        skeleton=WALK.skeleton.with_roles({"left_fingertips": "LeftHand"}),
        source=Source(floor=0.012, provenance=({"op": "sample", "speed": 1.3},)),
    )
    again = marey.load(saved(tmp_path, motion))
    np.testing.assert_array_equal(again.contacts.mask, motion.contacts.mask)
    for mine, theirs in zip(motion.contacts.points, again.contacts.points, strict=True):
        assert (mine.name, mine.joint) == (theirs.name, theirs.joint)
        np.testing.assert_array_equal(mine.offset, theirs.offset)
    assert again.labels == motion.labels
    assert again.skeleton.role_map["left_fingertips"] == "LeftHand"
    assert again.source.floor == 0.012
    assert again.source.provenance == ({"op": "sample", "speed": 1.3},)


def test_trim_rest_cuts_the_annotations_too(tmp_path: Path) -> None:
    rest = np.tile([1.0, 0, 0, 0], (1, len(PLAIN.skeleton), 1))
    long = replace(
        straight_walk(seconds=1.0, fps=120),
        contacts=None,
        labels=Labels((("walk", 0, 100),)),  # type: ignore[arg-type]
    )
    long = replace(
        long,
        rotations=np.concatenate([rest, long.rotations]),
        root_positions=np.concatenate([long.root_positions[:1], long.root_positions]),
    )
    trimmed = marey.load(saved(tmp_path, long))
    assert trimmed.labels.items == (("walk", 0, 99),)


def test_hand_written_sidecar_with_the_least(tmp_path: Path) -> None:
    path = saved(tmp_path)
    put(tmp_path, labels=[{"name": "stride", "start": 3, "stop": 40}])
    assert marey.load(path).labels.items == (("stride", 3, 40),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"frames": 7}, "the annotations are for 7 frames, but walk.bvh has 61; correct or delete the sidecar"),
        (
            {"labels": [{"name": "walk", "start": 3, "stop": 400}]},
            "label 'walk' ends at frame 400, but the motion has only 61 frames",
        ),
        ({"labels": [{"name": "walk", "start": 9, "stop": 3}]}, "must have 0 <= start < stop"),
        ({"labels": [{"start": 9, "stop": 30}]}, 'expected each of "labels" to be like'),
        ({"labels": 5}, 'expected "labels" to be a list'),
        ({"roles": {"left_hand": "Nose"}}, "Nose"),
        ({"roles": ["x"]}, 'expected "roles" to be an object'),
        ({"files": 5}, 'expected "files" to be a list'),
        ({"frames": "61"}, 'expected "frames" to be a whole number'),
        ({"floor": True}, 'expected "floor" to be a height'),
        ({"axes": {"walk.bvh": {"unit": 0, "up": "y"}}}, 'expected "axes": "walk.bvh" to be like'),
        ({"axes": {"walk.bvh": {"unit": 10**400, "up": "y"}}}, 'expected "axes": "walk.bvh" to be like'),
        ({"axes": {"walk.bvh": {"unit": 1, "up": "w"}}}, 'expected "axes": "walk.bvh" to be like'),
        ({"contacts": {"points": {"a": {"joint": 3}}}}, 'expected contact point "a" to be like'),
        (
            {"contacts": {"points": {"a": {"joint": "Head"}}, "intervals": {"a": [5, 9]}}},
            "a list of .start, stop. pairs",
        ),
        ({"contacts": {"points": {"toe": {"joint": "Tow"}}}}, "joint 'Tow' not in skeleton"),
        (
            {"contacts": {"points": {"a": {"joint": "Head"}}, "intervals": {"b": [[0, 1]]}}},
            "no contact point 'b'; the contact points are a",
        ),
        (
            {"contacts": {"points": {"a": {"joint": "Head"}}, "intervals": {"a": [[5, 99]]}}},
            "must have 0 <= start < stop <= 61",
        ),
        ({"contacts": {"points": {"a": {"joint": "Head", "offset": [1]}}}}, "must have shape"),
        ({"floor": "low"}, 'expected "floor" to be a height'),
    ],
)
def test_bad_annotations_name_the_sidecar(tmp_path: Path, content: dict[str, Any], message: str) -> None:
    path = saved(tmp_path)
    put(tmp_path, **content)
    with pytest.raises(ParseError, match=message) as caught:
        marey.load(path)
    assert str(caught.value).startswith(str(tmp_path / "walk.marey.json"))


def test_malformed_json_and_foreign_versions(tmp_path: Path) -> None:
    path = saved(tmp_path)
    side = put(tmp_path)
    side.write_text('{"format": "marey.sidecar",\n "version": 1,}')
    with pytest.raises(ParseError, match="not valid JSON") as caught:
        marey.load(path)
    assert caught.value.line == 2
    put(tmp_path, version=99)
    with pytest.raises(
        UnknownVersion, match="the file has format version 99, but this version of marey reads 1; update marey"
    ):
        marey.load(path)
    side.write_text("[]")
    with pytest.raises(ParseError, match='expected a sidecar, a JSON object with "format"'):
        marey.load(path)
    side.write_text("[" * 100_000)
    with pytest.raises(ParseError, match="not valid JSON"):
        marey.load(path)


def test_unknown_entries_are_named(tmp_path: Path) -> None:
    path = saved(tmp_path)
    put(tmp_path, lables=[])
    with pytest.warns(MareyWarning, match="unknown entries are ignored: lables"):
        marey.load(path)


def test_two_formats_of_one_motion_share_it(tmp_path: Path) -> None:
    saved(tmp_path, WALK)
    saved(tmp_path, WALK, "walk.glb")
    content = json.loads((tmp_path / "walk.marey.json").read_text())
    assert content["files"] == ["walk.bvh", "walk.glb"]
    assert marey.load(tmp_path / "walk.bvh").contacts is not None
    assert marey.load(tmp_path / "walk.glb").contacts is not None


def test_other_motion_does_not_overwrite_it(tmp_path: Path) -> None:
    saved(tmp_path, WALK)
    before = (tmp_path / "walk.marey.json").read_bytes()
    saved(tmp_path, WALK[:30], "walk.glb")
    assert (tmp_path / "walk.marey.json").read_bytes() == before
    assert len(marey.load(tmp_path / "walk.glb").contacts) == 30
    assert len(marey.load(tmp_path / "walk.bvh").contacts) == len(WALK)
    assert (tmp_path / "walk.glb.marey.json").is_file()
    saved(tmp_path, PLAIN, "walk.glb")
    assert not (tmp_path / "walk.glb.marey.json").exists()
    assert marey.load(tmp_path / "walk.glb").contacts is None


def test_a_motion_can_be_saved_again_after_it_was_exported(tmp_path: Path) -> None:
    """Make a clip, convert it, and make it again with other settings: the converted one keeps its annotations."""
    saved(tmp_path, WALK)
    saved(tmp_path, WALK, "walk.glb")
    saved(tmp_path, WALK[:30])
    assert len(marey.load(tmp_path / "walk.bvh").contacts) == 30
    assert len(marey.load(tmp_path / "walk.glb").contacts) == len(WALK)
    saved(tmp_path, WALK[:20])
    assert len(marey.load(tmp_path / "walk.bvh").contacts) == 20
    saved(tmp_path, WALK[:20], "walk.glb")
    assert len(marey.load(tmp_path / "walk.glb").contacts) == 20


def test_overwriting_a_file_replaces_or_removes_its_own_sidecar(tmp_path: Path) -> None:
    saved(tmp_path, WALK)
    saved(tmp_path, WALK[:30])
    assert len(marey.load(tmp_path / "walk.bvh").contacts) == 30
    saved(tmp_path, PLAIN)
    assert not (tmp_path / "walk.marey.json").exists()


def test_annotations_of_another_file_with_other_frames_are_left_aside(tmp_path: Path) -> None:
    saved(tmp_path, WALK)
    saved(tmp_path, PLAIN[:30], "walk.glb")
    clip = marey.load(tmp_path / "walk.glb")
    assert clip.contacts is None
    assert marey.load(tmp_path / "walk.bvh").contacts is not None


def test_a_hand_written_sidecar_of_another_file_is_neither_removed_nor_overwritten(tmp_path: Path) -> None:
    saved(tmp_path)
    side = put(tmp_path, labels=[{"name": "stride", "start": 3, "stop": 40}])
    before = side.read_bytes()
    saved(tmp_path, PLAIN[:30], "walk.glb")
    assert side.read_bytes() == before
    saved(tmp_path, WALK[:30], "walk.npz")
    assert side.read_bytes() == before
    assert len(marey.load(tmp_path / "walk.npz").contacts) == 30


def test_several_clips_in_a_file_have_no_sidecar(tmp_path: Path) -> None:
    with pytest.warns(MareyWarning, match="contacts and labels were not saved"):
        marey.save([WALK, replace(WALK, name="again")], tmp_path / "walk.glb")
    assert not (tmp_path / "walk.marey.json").exists()
    put(tmp_path, labels=[{"name": "stride", "start": 3, "stop": 40}])
    assert not marey.load(tmp_path / "walk.glb", clip="again").labels


def test_annotations_of_another_file_are_not_applied(tmp_path: Path) -> None:
    path = saved(tmp_path)
    other = marey.edit.mirror(WALK)
    marey.save(other, tmp_path / "walk.glb")
    assert marey.load(path).contacts is None
    assert marey.load(tmp_path / "walk.glb").contacts is not None
    side = tmp_path / "walk.marey.json"
    content = json.loads(side.read_text())
    del content["sha256"]  # as earlier releases wrote it
    side.write_text(json.dumps(content))
    assert marey.load(path).contacts is None
    assert marey.load(tmp_path / "walk.glb").contacts is not None


def test_annotations_follow_the_content_of_a_file(tmp_path: Path) -> None:
    path = saved(tmp_path, WALK)
    path.rename(tmp_path / "stroll.bvh")
    (tmp_path / "walk.marey.json").rename(tmp_path / "stroll.marey.json")
    assert marey.load(tmp_path / "stroll.bvh").labels == WALK.labels
    (tmp_path / "stroll.bvh").write_bytes((tmp_path / "stroll.bvh").read_bytes() + b"\n")
    (tmp_path / "stroll.bvh").rename(path)
    (tmp_path / "stroll.marey.json").rename(tmp_path / "walk.marey.json")
    with pytest.warns(MareyWarning, match="walk.bvh has changed since it was annotated; to apply .* delete"):
        assert marey.load(path).contacts is None


def test_a_label_is_added_only_to_the_annotations_of_its_file(tmp_path: Path) -> None:
    path = saved(tmp_path, WALK)
    marey.store.add_label(path, "brisk", 0, 10)
    assert "brisk" in marey.load(path).labels.names
    saved(tmp_path, PLAIN, "walk.npz")
    marey.store.add_label(tmp_path / "walk.npz", "slow", 0, 10)
    assert marey.load(tmp_path / "walk.npz").labels.names == ("slow",)
    assert "slow" not in marey.load(path).labels.names


def test_text_that_cannot_be_saved_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = saved(tmp_path, WALK)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    wrong = replace(PLAIN, source=Source(provenance=({"op": "\ud800"},)))
    for name in ("walk.bvh", "walk.npz"):
        with pytest.raises(InvalidValue, match=r"text must be valid Unicode to be saved, got .*ud800"):
            marey.save(wrong, tmp_path / name)
    with pytest.raises(UnwritableFile, match="the name is not valid UTF-8; choose another name"):
        marey.save(WALK, tmp_path / os.fsdecode(b"\x83\x65.bvh"))
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    marey.load(path)


@pytest.mark.filterwarnings("error::marey.errors.MareyWarning")
@pytest.mark.parametrize(("unit", "up"), [("m", "z"), (0.3, "-x"), ("cm", "y")])
def test_a_bvh_file_is_read_as_it_was_written(unit: str | float, up: str, tmp_path: Path) -> None:
    """Nothing in the file shows that this doll lies on its back, or how large it is."""
    lying = replace(PLAIN, skeleton=replace(PLAIN.skeleton, offsets=0.2 * PLAIN.skeleton.offsets))
    turned = np.tile([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0], (len(lying), 1))
    rotations = lying.rotations.copy()
    rotations[:, 0] = turned
    lying = replace(lying, rotations=rotations, source=Source(provenance=({"op": "sample"},)))
    path = tmp_path / "doll.bvh"
    marey.save(lying, path, unit=unit, up=up)
    marey.store.add_label(path, "lie")
    for name in ("doll", "renamed"):
        path, side = path.rename(tmp_path / f"{name}.bvh"), sidecar_path(path).rename(tmp_path / f"{name}.marey.json")
        clip = marey.load(path)
        np.testing.assert_allclose(clip.world().positions, lying.world().positions, atol=1e-5)
        assert side.is_file()
    write_sidecar(replace(clip, labels=Labels()), path)  # it records how the file is read
    np.testing.assert_allclose(marey.load(path).world().positions, lying.world().positions, atol=1e-5)
