"""Labels from CSV files, from folders, and in sidecars."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from marey.core import Label
from marey.errors import InvalidValue, MareyError, ParseError, UnreadableFile, UnwritableFile
from marey.io import load_motion, save, sidecar_path
from marey.store import LabelRow, MotionSet, add_label, read_label_csv
from marey.store.labels import add_labels
from tests.store.folders import folder_of_walks, labels_of, walk

# --- CSV


def write(tmp_path, *lines: str):
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_rows_are_read(tmp_path):
    path = write(
        tmp_path,
        "\ufeffLabel, File ,stop,start,note",
        "# somebody's list",
        "",
        '"walk, slow",.\\sub\\a.bvh,1.5,0.5,x',
        "run,b,,36f",
        "run,c",
    )
    assert read_label_csv(path) == (
        LabelRow("sub/a.bvh", "walk, slow", 0.5, 1.5, str(path), 4),
        LabelRow("b", "run", 36, None, str(path), 5),
        LabelRow("c", "run", None, None, str(path), 6),
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["# nothing"], r"expected the header line file,label,start,stop, got an empty file"),
        (["a,b,c"], r"expected the header line file,label,start,stop, got 'a,b,c'"),
        (["file,label", "a"], r"labels\.csv:2: expected a row with the columns file,label, got 'a'"),
        (["file,label", "a,"], r"labels\.csv:2: expected a label in this line, got none"),
        (["file,label", "", ",x"], r"labels\.csv:3: expected a file in this line, got none"),
        (
            ["file,label,start", "a,x,two"],
            r"labels\.csv:2: start must be a time of at least 0: seconds such as 1.2, or a frame such as 36f, not ",
        ),
        (
            ["file,label,stop", "a,x,1.5f"],
            r"stop must be a time of at least 0: seconds such as 1.2, or a frame such as 36f, not '1.5f'",
        ),
        (
            ["file,label,stop", "a,x,-1"],
            r"stop must be a time of at least 0: seconds such as 1.2, or a frame such as 36f, not '-1'",
        ),
        (
            ["file,label,stop", "a,x,nan"],
            r"stop must be a time of at least 0: seconds such as 1.2, or a frame such as 36f, not 'nan'",
        ),
        (
            ["file,label,stop", "a,x,inf"],
            r"stop must be a time of at least 0: seconds such as 1.2, or a frame such as 36f, not 'inf'",
        ),
        (["file,label,start,stop", "a,x,2,2"], r"labels\.csv:2: expected start before stop, got 2 and 2"),
        (["file,label", '"a" b,x'], r"labels\.csv:2: not valid CSV"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, lines, message):
    with pytest.raises(ParseError, match=message):
        read_label_csv(write(tmp_path, *lines))


def test_bad_text_is_reported_with_its_line(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes(b"file,label\na,x\nb,\xff\n")
    with pytest.raises(ParseError, match=r"the text is not valid UTF-8; save the file as UTF-8"):
        read_label_csv(path)
    with pytest.raises(UnreadableFile, match="no such file"):
        read_label_csv(tmp_path / "none.csv")


def test_seconds_and_frames_are_of_the_file_and_half_open():
    motion = walk()  # 91 frames at 60 Hz
    rows = [
        LabelRow("a", "all", None, None),
        LabelRow("a", "first", 0.0, 0.5),
        LabelRow("a", "second", 0.5, 1.5),  # the whole duration: the last frame belongs to it
        LabelRow("a", "frames", 3, 91),
        LabelRow("a", "mixed", 10, 0.5),
    ]
    assert add_labels(motion, rows).labels == labels_of(
        ("all", 0, 91), ("first", 0, 30), ("second", 30, 91), ("frames", 3, 91), ("mixed", 10, 30)
    )
    stored = replace(motion, labels=labels_of(("all", 0, 91), ("own", 1, 2)))
    assert add_labels(stored, rows[:1]).labels == stored.labels
    assert add_labels(stored, ()) is stored
    for start, stop in ((None, 92), (0.0, 1.6), (90, 0.5), (91, None)):
        with pytest.raises(
            ParseError,
            match=r"l\.csv:7: label 'x' must be within 'a', which has 91 frames \(1\.50 s\), not frames \d+ to \d+",
        ):
            add_labels(motion, [LabelRow("a", "x", start, stop, "l.csv", 7)])


def test_a_set_takes_labels_from_the_given_sources(tmp_path):
    folder_of_walks(tmp_path / "clips" / "happy" / "slow", 2)
    folder = tmp_path / "clips"
    save(replace(walk(2), labels=labels_of(("own", 0, 60))), folder / "walk2.bvh")
    path = write(tmp_path, "file,label,start,stop", "walk2.bvh,listed,0.5,1", "happy/slow/walk0,listed,,")
    names = ("happy/slow/walk0", "happy/slow/walk1", "walk2")

    def found(labels):
        clips = MotionSet.open(folder, labels=labels)
        assert clips.names == names
        return [motion.labels.names for motion in clips]

    assert found("sidecar") == [(), (), ("own",)]
    assert found("folders") == [("happy", "slow"), ("happy", "slow"), ()]
    assert found(path) == [("listed",), (), ("listed",)]
    assert found(["sidecar", "folders", str(path)]) == [
        ("happy", "listed", "slow"),
        ("happy", "slow"),
        ("listed", "own"),
    ]
    assert MotionSet.open(folder, labels=path).motion("walk2").labels == labels_of(("listed", 15, 30))


def test_a_csv_that_does_not_fit_the_folder_is_refused(tmp_path):
    folder = folder_of_walks(tmp_path / "clips", 2)
    path = write(tmp_path, "file,label", "walk0,x", "wlak1,x")
    with pytest.raises(ParseError, match=r"labels\.csv:3: no motion file 'wlak1' in .*; similar: 'walk1'"):
        MotionSet.open(folder, labels=path)
    # rows of files that exist but were not requested are allowed
    path = write(tmp_path, "file,label", "walk0,x", "walk1,x")
    assert MotionSet.open(folder, labels=path, pattern="walk0*").motion(0).labels.names == ("x",)
    save(walk(1), folder / "walk1.npz")
    with pytest.raises(ParseError, match=r"labels\.csv:3: 'walk1' could be walk1\.bvh or walk1\.npz; add the suffix"):
        MotionSet.open(folder, labels=path)
    # a range beyond the clip is an error of the list and no reason to skip the clip
    path = write(tmp_path, "file,label,start,stop", "walk0.bvh,x,0,9")
    with pytest.raises(
        ParseError, match=r"labels\.csv:2: label 'x' must be within 'walk0\.bvh', .*, not frames 0 to 540"
    ):
        MotionSet.open(folder, labels=path).prepare()


# --- Into sidecars


def test_a_label_is_added_and_all_else_is_kept(tmp_path):
    path = tmp_path / "a.bvh"
    save(walk(), path)
    assert add_label(path, "walk") == sidecar_path(path)
    assert load_motion(path).labels == labels_of(("walk", 0, 91))
    content = json.loads(sidecar_path(path).read_text())
    content |= {"floor": 0.01, "roles": {"hips": walk().skeleton.names[0]}}
    sidecar_path(path).write_text(json.dumps(content))
    add_label(path, "turn", 10, 20)
    add_label(path, "début", 0, 5)
    add_label(path, "turn", 10, 20)
    motion = load_motion(path)
    assert list(motion.labels) == [Label("début", 0, 5), Label("walk", 0, 91), Label("turn", 10, 20)]
    assert motion.source.floor == 0.01
    assert motion.skeleton.role_map
    assert json.loads(sidecar_path(path).read_text())["files"] == ["a.bvh"]


def test_files_that_share_a_sidecar_share_its_labels(tmp_path):
    motion = replace(walk(), labels=labels_of(("walk", 0, 91)))
    save(motion, tmp_path / "a.bvh")
    save(motion, tmp_path / "a.npz")
    add_label(tmp_path / "a.npz", "turn", 3, 4)
    assert load_motion(tmp_path / "a.bvh").labels == labels_of(("walk", 0, 91), ("turn", 3, 4))
    assert json.loads((tmp_path / "a.marey.json").read_text())["files"] == ["a.bvh", "a.npz"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x", 0, 92), "stop of label 'x' must be at most 91, the number of frames, not 92"),
        (("x", 5, 5), "label 'x' must have 0 <= start < stop, not 5 to 5"),
        (("x", -1, 5), "label 'x' must have 0 <= start < stop, not -1 to 5"),
        (("x", 0.5, 5), "start must be an integer, not 0.5"),
        (("", 0, 5), "name of a label must be a non-empty string, not ''"),
    ],
)
def test_a_label_that_does_not_fit_is_refused_and_nothing_written(tmp_path, arguments, message):
    save(walk(), tmp_path / "a.bvh")
    with pytest.raises(InvalidValue, match=message):
        add_label(tmp_path / "a.bvh", *arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["a.bvh"]


def test_a_file_that_cannot_have_labels_is_refused(tmp_path):
    with pytest.raises(MareyError, match="no such file"):
        add_label(tmp_path / "none.bvh", "x")
    save([walk(0), walk(1)], tmp_path / "both.glb")
    with pytest.raises(
        InvalidValue,
        match=r"both\.glb holds several motions, but a sidecar can label only one; save each motion to its own",
    ):
        add_label(tmp_path / "both.glb", "x")
    save(replace(walk(), labels=labels_of(("walk", 0, 91))), tmp_path / "a.bvh")
    save(walk(1)[:50], tmp_path / "other.npz")
    (tmp_path / "other.npz").rename(tmp_path / "a.npz")
    assert add_label(tmp_path / "a.npz", "x").name == "a.npz.marey.json"
    save(walk(1)[:60], tmp_path / "other.bvh")
    (tmp_path / "other.bvh").replace(tmp_path / "a.bvh")
    with pytest.raises(UnwritableFile, match=r"a\.marey\.json: describes an earlier version of a\.bvh; delete it"):
        add_label(tmp_path / "a.bvh", "x")
