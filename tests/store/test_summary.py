"""Summaries of clips: their content, what is read again, and searches."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from marey.check import check
from marey.cli.main import main
from marey.core import Label, Labels
from marey.errors import MareyWarning, ParseError, UnknownName
from marey.io import load_motion, save
from marey.measure import measure
from marey.samples import sample
from marey.store import MotionSet, processes, read_descriptions, search_clips
from tests.store.folders import folder_of_walks, walk


@pytest.fixture
def folder(tmp_path):
    place = folder_of_walks(tmp_path / "clips", 2)
    turn = sample("walk", fps=60, seconds=2.0, turn_rate=0.8).motion
    save(turn, place / "turn.bvh")
    save(turn, place / "again.npz")
    return place


def test_summaries_agree_with_what_measures_and_checks_say(folder):
    for clip in MotionSet.open(folder).summarize():
        motion = load_motion(folder / clip.file)
        report = measure(motion)
        assert (clip.fps, clip.n_frames, clip.duration) == (motion.fps, len(motion), motion.duration)
        assert clip.format == motion.source.format
        assert clip.speed == pytest.approx(report["speed_mean"].value)
        assert clip.distance == pytest.approx(report["path_length"].value)
        assert clip.stride_rate == pytest.approx(report["stride_rate"].value or 0.0)
        alone = [kind for kind in clip.report.kinds if kind != "duplicate"]
        assert alone == list(check(motion).kinds)
        assert 0.3 < clip.contacts <= 1.0
        assert clip.poses.shape == (16, len(motion.skeleton), 3)
        json.dumps(clip.to_dict())


def test_turns_are_signed_and_labels_are_in_seconds(tmp_path):
    for name, rate in (("left", 0.8), ("right", -0.8)):
        motion = sample("walk", fps=60, seconds=2.0, turn_rate=rate).motion
        labels = Labels((Label("walk", 0, 60), Label("walk", 90, 120), Label("end", 60, 90)))
        save(replace(motion, labels=labels), tmp_path / f"{name}.npz")
    left, right = MotionSet.open(tmp_path).summarize()
    assert left.turn == pytest.approx(1.6, abs=0.25)
    assert right.turn == pytest.approx(-1.6, abs=0.25)
    assert dict(left.labels) == {"walk": 1.5, "end": 0.5}


def test_duplicates_are_found_across_formats(folder):
    found = {clip.name: clip for clip in MotionSet.open(folder).summarize()}
    assert "duplicate" in {*found["turn"].report.kinds, *found["again"].report.kinds}
    assert "duplicate" not in found["walk0"].report.kinds


def test_only_new_and_changed_files_are_read(folder, loads):
    first = MotionSet.open(folder).summarize()
    assert sorted(loads) == ["again.npz", "turn.bvh", "walk0.bvh", "walk1.bvh"]
    loads.clear()
    again = MotionSet.open(folder, fps=60.0, mirrored=True).summarize()  # summaries describe the files
    assert loads == []
    for a, b in zip(first, again, strict=True):
        assert a.to_dict() == b.to_dict()
        np.testing.assert_array_equal(a.poses, b.poses)
    save(walk(3), folder / "walk0.bvh")
    save(walk(4), folder / "new.bvh")
    assert len(MotionSet.open(folder).summarize()) == 5
    assert sorted(loads) == ["new.bvh", "walk0.bvh"]


def test_what_was_read_before_an_interruption_is_kept(folder, loads):
    def stop(fraction: float) -> None:
        if fraction >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MotionSet.open(folder).summarize(progress=stop)
    assert len(loads) == 2
    assert len(MotionSet.open(folder).summarize()) == 4
    assert len(loads) == 4


def test_files_that_cannot_be_read_are_left_out_and_remembered(folder, loads):
    (folder / "bad.bvh").write_text("junk")
    for _ in range(2):
        with pytest.warns(MareyWarning, match=r"skipped bad: bad\.bvh:1: not a BVH file"):
            assert len(MotionSet.open(folder).summarize()) == 4
    assert loads.count("bad.bvh") == 1


@pytest.mark.slow("starts processes")
def test_processes_give_the_same_summaries(folder, tmp_path):
    here = MotionSet.open(folder, cache=tmp_path / "a").summarize()
    there = MotionSet.open(folder, cache=tmp_path / "b").summarize(run=processes(2))
    assert [clip.to_dict() for clip in here] == [clip.to_dict() for clip in there]


def test_clips_are_chosen_by_words_labels_and_numbers(folder):
    clips = MotionSet.open(folder).summarize()

    def names(words="", descriptions=None, **options):
        return [clip.name for clip in search_clips(clips, descriptions, words=words, **options)]

    assert names() == ["again", "turn", "walk0", "walk1"]
    assert names("WALK") == ["again", "turn", "walk0", "walk1"]  # two have the label
    assert names("walk 1") == ["walk1"]
    assert names("sadly", {"turn": "Turns sadly"}) == ["turn"]
    assert names(label="walk") == ["again", "turn"]
    assert names(min_turn=math.radians(45)) == ["again", "turn"]
    assert names(min_duration=1.9) == ["again", "turn"]
    assert names(max_duration=1.9) == ["walk0", "walk1"]
    assert names(min_speed=99.0) == []
    assert names(finding="duplicate") != []
    assert set(names(finding="any")) | set(names(finding="none")) == set(names())
    slowest = sorted(clips, key=lambda clip: clip.speed)[0].name
    assert names(order="speed")[-1] == slowest
    with pytest.raises(UnknownName, match="no clip has the label 'wak'; similar: 'walk'"):
        names(label="wak")
    with pytest.raises(UnknownName, match="no clip can have the finding 'foot_slid'; similar: 'foot_slide'"):
        names(finding="foot_slid")
    with pytest.warns(MareyWarning, match="1 description matched no clip or file, such as that of 'elsewhere.bvh'"):
        assert names("sadly", {"elsewhere.bvh": "sadly"}) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", "expected the columns 'file' and 'description'; 'file' is missing"),
        ("file,text\na,b\n", "'description' is missing"),
        ("file,description\n", "has no descriptions"),
        ("file,description\nonly\n", "expected 2 columns, got 1"),
        (b"file,description\n\xff,x\n", "is not UTF-8 text"),
    ],
)
def test_bad_tables_of_descriptions_are_refused(tmp_path, text, message):
    path = tmp_path / "d.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ParseError, match=message):
        read_descriptions(path)


def test_the_commands_list_count_and_search(folder, capsys):
    assert main(["library", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("4 clips, ")
    assert "3 BVH, 1 NPZ" in out
    assert main(["library", "stats", str(folder), "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert (numbers["clips"], numbers["formats"]) == (4, {"BVH": 3, "NPZ": 1})
    assert main(["library", "list", str(folder), "--min-turn", "45", "--json"]) == 0
    assert [clip["name"] for clip in json.loads(capsys.readouterr().out)] == ["again", "turn"]
    (folder / "d.csv").write_text("file,description\nwalk1.bvh,slow and sad\n")
    assert main(["library", "search", str(folder), "sad", "--descriptions", str(folder / "d.csv")]) == 0
    assert "walk1.bvh" in capsys.readouterr().out
    assert main(["library", "search", str(folder), "nothing"]) == 1
    assert capsys.readouterr().out == "0 of 4 clips\n"
    assert main(["library", "list", str(folder / "no")]) == 2
    assert "no such file or folder" in capsys.readouterr().err
