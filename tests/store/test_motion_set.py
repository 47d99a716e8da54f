"""A folder of clips: what is read and when, and the result."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace

import numpy as np
import pytest

from marey.clean import detect_contacts
from marey.core import Clips, Skeleton
from marey.edit import mirror, resample
from marey.errors import (
    InvalidValue,
    MareyWarning,
    ParseError,
    UnknownName,
    UnknownVersion,
    UnreadableFile,
    UnwritableFile,
)
from marey.graph import MotionGraph
from marey.io import load_motion, save
from marey.samples import sample
from marey.store import MotionSet, arrays, processes, threads
from marey.store import prepare as preparing
from marey.store import scan as scanning
from tests.store.folders import folder_of_walks, labels_of, lose_first, same, walk


@pytest.fixture
def folder(tmp_path):
    return folder_of_walks(tmp_path / "clips")


# --- What comes out


def test_clips_are_what_loading_detecting_and_resampling_gives(folder):
    clips = MotionSet.open(folder)
    assert isinstance(clips, Clips)
    assert clips.names == ("walk0", "walk1", "walk2")
    for i, name in enumerate(clips.names):
        path = folder / f"{name}.bvh"
        wanted = resample(detect_contacts(load_motion(path)), 30.0)
        got = clips.motion(i)
        assert same(got, wanted)
        assert got.source.path == str(path)
        assert got.source.channels == wanted.source.channels
        assert got.source.unit == wanted.source.unit
        assert got.source.floor == wanted.source.floor
        assert got.source.evidence == wanted.source.evidence
        np.testing.assert_array_equal(got.source.file_offsets, wanted.source.file_offsets)
        assert not got.rotations.flags.writeable
    assert clips.lengths == tuple(len(motion) for motion in clips)
    assert len(clips.groups()) == 1


def test_a_set_makes_a_graph(tmp_path):
    for seed, turn in enumerate((0.0, 0.5)):
        motion = sample("walk", rng=seed, fps=30, seconds=6, turn_rate=turn).motion
        save(replace(motion, name=f"walk{seed}"), tmp_path / f"walk{seed}.bvh")
    graph = MotionGraph.build(MotionSet.open(tmp_path), 0.1)
    loaded = [replace(load_motion(tmp_path / f"walk{k}.bvh"), name=f"walk{k}") for k in range(2)]
    wanted = MotionGraph.build(loaded, 0.1)
    np.testing.assert_array_equal(graph.nodes, wanted.nodes)
    assert graph.label_names == wanted.label_names == ("turn_left", "walk")


def test_annotations_of_the_sidecar_are_kept(tmp_path):
    motion = detect_contacts(replace(walk(), labels=labels_of(("walk", 0, 40), ("stop-left", 30, 90))))
    mask = np.zeros_like(motion.contacts.mask)
    mask[10:20] = True  # not what would be detected
    motion = replace(motion, contacts=replace(motion.contacts, mask=mask))
    save(motion, tmp_path / "walk0.bvh")
    got = MotionSet.open(tmp_path).motion("walk0")
    assert got.labels == labels_of(("walk", 0, 20), ("stop-left", 15, 45))
    assert got.contacts.intervals("left_heel") == ((5, 10),)
    assert not MotionSet.open(tmp_path, labels=()).motion(0).labels


def test_a_rest_pose_is_left_out_and_labels_stay_on_their_frames(tmp_path):
    rest = replace(walk()[0], rotations=np.tile([1.0, 0, 0, 0], (1, len(walk().skeleton), 1)))
    with_rest = replace(
        walk(),
        rotations=np.concatenate([rest.rotations, walk().rotations[20:]]),
        root_positions=np.concatenate([rest.root_positions, walk().root_positions[20:]]),
        labels=labels_of(("late", 41, 51)),
    )
    save(with_rest, tmp_path / "a.bvh")
    (tmp_path / "l.csv").write_text("file,label,start,stop\na,late,41f,51f\n")
    trimmed = MotionSet.open(tmp_path, fps=60).motion(0)
    assert len(trimmed) == len(with_rest) - 1
    assert trimmed.labels == labels_of(("late", 40, 50))
    assert MotionSet.open(tmp_path, fps=60, labels=tmp_path / "l.csv").motion(0).labels == trimmed.labels
    assert len(MotionSet.open(tmp_path, fps=60, trim_rest=False).motion(0)) == len(with_rest)


def test_unit_rate_and_roles_of_the_files_can_be_given(folder):
    plain = MotionSet.open(folder, unit="cm")
    large = MotionSet.open(folder, unit=0.02, file_fps=30)
    assert large.lengths == tuple(2 * n - 1 for n in plain.lengths)
    np.testing.assert_allclose(large.motion(0).skeleton.offsets, 2 * plain.motion(0).skeleton.offsets)
    hips = plain.motion(0).skeleton.names[0]
    assert MotionSet.open(folder, roles={"hips": hips}).motion(0).skeleton.role_map == {"hips": hips}


def test_mirrored_copies_follow_all_others_with_sides_exchanged(tmp_path, loads):
    save(replace(walk(), labels=labels_of(("turn-left", 0, 90))), tmp_path / "a.bvh")
    save(walk(1), tmp_path / "b.bvh")
    plain = MotionSet.open(tmp_path).prepare()
    clips = MotionSet.open(tmp_path, mirrored=True)
    assert clips.names == ("a", "b", "a_mirrored", "b_mirrored")
    assert loads == ["a.bvh", "b.bvh"]  # mirrored copies are made of clips that are ready
    twin = clips.motion("a_mirrored")
    assert same(twin, replace(mirror(plain.motion("a")), name="a_mirrored"))
    assert twin.labels.names == ("turn-right",)
    assert len({clips.content_key(i) for i in range(4)}) == 4


def test_names_are_seen_from_the_folder_and_differ(tmp_path):
    for place in ("x", "y", ".hidden"):
        (tmp_path / place).mkdir()
        save(walk(), tmp_path / place / "a.bvh")
    save(walk(1), tmp_path / "y" / "a.npz")
    save(walk(2), tmp_path / "y" / "a_mirrored.bvh")
    (tmp_path / "y" / "notes.txt").write_text("nothing")
    with pytest.warns(MareyWarning, match="y/a exist in several formats"):
        clips = MotionSet.open(tmp_path, mirrored=True)
    assert clips.files == ("x/a.bvh", "y/a.bvh", "y/a.npz", "y/a_mirrored.bvh")
    assert clips.names == (
        *("x/a", "y/a.bvh", "y/a.npz", "y/a_mirrored"),
        *("x/a_mirrored", "y/a.bvh_mirrored", "y/a.npz_mirrored", "y/a_mirrored_mirrored"),
    )
    assert MotionSet.open(tmp_path, pattern="*.npz").names == ("y/a",)
    assert MotionSet.open(tmp_path, pattern="x/*").names == ("x/a",)
    # a file may have the name of another's mirrored copy
    save(walk(2), tmp_path / "x" / "a_mirrored.bvh")
    clips = MotionSet.open(tmp_path, mirrored=True, pattern="x/*")
    assert clips.names == ("x/a", "x/a_mirrored", "x/a_mirrored#2", "x/a_mirrored_mirrored")


def test_each_motion_of_a_glb_is_a_clip(tmp_path):
    save([replace(walk(k), name=name) for k, name in enumerate(("slow", "fast"))], tmp_path / "both.glb")
    (tmp_path / "l.csv").write_text("file,label,start,stop\nboth:fast,quick,,\nboth.glb,gait,,0.5\n")
    clips = MotionSet.open(tmp_path, labels=tmp_path / "l.csv")
    assert clips.names == ("both:slow", "both:fast")
    assert not np.array_equal(clips.motion(0).rotations, clips.motion(1).rotations)
    assert clips.motion(0).labels.names == ("gait",)
    assert clips.motion(1).labels.names == ("gait", "quick")
    (tmp_path / "l.csv").write_text("file,label\nboth:fats,quick\n")
    with pytest.raises(ParseError, match=r"l\.csv:2: the set has no clip 'both:fats'; similar: 'both:fast'"):
        MotionSet.open(tmp_path, labels=tmp_path / "l.csv").prepare()


def test_results_in_the_folder_are_not_mistaken_for_clips(folder):
    np.savez(folder / "graph.npz", format=np.array("marey.graph"), version=np.array(1))
    clips = MotionSet.open(folder)
    assert clips.names == ("walk0", "walk1", "walk2")
    assert clips.skipped == ()


def test_an_amc_file_goes_with_its_skeleton(data_folder, tmp_path, loads):
    source = data_folder / "cmu-asfamc"
    amc = next(iter(sorted(source.rglob("*.amc"))), None)
    if amc is None:
        pytest.skip("no AMC file there")
    shutil.copytree(amc.parent, tmp_path / "clips")
    clips = MotionSet.open(tmp_path / "clips", pattern=amc.name, file_fps=120)
    assert clips.names == (amc.stem,)
    for asf in (tmp_path / "clips").glob("*.asf"):
        asf.write_bytes(asf.read_bytes() + b"\n")
    again = MotionSet.open(tmp_path / "clips", pattern=amc.name, file_fps=120)
    assert again.content_key(0) != clips.content_key(0)
    assert loads == [amc.name] * 2


# --- What is read when


def test_opening_reads_and_writes_nothing(folder, loads, monkeypatch):
    before = sorted(folder.iterdir())
    with monkeypatch.context() as closed:
        closed.setattr("builtins.open", None)
        clips = MotionSet.open(folder, mirrored=True)
        assert clips.files == ("walk0.bvh", "walk1.bvh", "walk2.bvh")
        assert repr(clips).endswith("clips': 3 files at 30 Hz>")
    assert loads == []
    assert sorted(folder.iterdir()) == before
    assert len(clips) == 6
    assert sorted(loads) == ["walk0.bvh", "walk1.bvh", "walk2.bvh"]


def test_a_second_time_nothing_is_parsed_or_hashed(folder, loads, monkeypatch):
    for path in folder.iterdir():
        os.utime(path, (1e9, 1e9))
    first = MotionSet.open(folder).prepare()
    loads.clear()
    monkeypatch.setattr("hashlib.file_digest", None)
    again = MotionSet.open(folder)
    assert again.names == first.names
    assert [again.content_key(i) for i in range(3)] == [first.content_key(i) for i in range(3)]
    assert all(same(a, b) for a, b in zip(first, again, strict=True))
    assert loads == []


def test_only_new_files_are_loaded(folder, loads):
    old = MotionSet.open(folder).prepare()
    keys = {name: old.content_key(name) for name in old.names}
    loads.clear()
    save(walk(7), folder / "between.bvh")
    new = MotionSet.open(folder)
    assert new.names == ("between", "walk0", "walk1", "walk2")
    assert loads == ["between.bvh"]
    assert {name: new.content_key(name) for name in old.names} == keys


def test_a_file_that_moves_is_not_loaded_again(folder, loads):
    old = MotionSet.open(folder, cache=folder / "kept").prepare()
    loads.clear()
    (folder / "sub").mkdir()
    (folder / "walk1.bvh").rename(folder / "sub" / "other.bvh")
    new = MotionSet.open(folder, cache=folder / "kept")
    assert new.names == ("sub/other", "walk0", "walk2")
    assert new.content_key("sub/other") == old.content_key("walk1")
    assert new.motion("sub/other").name == "sub/other"
    assert loads == []


def altered(path) -> None:
    """Change a digit of a file, without changing its size."""
    text = path.read_bytes()
    at = text.rindex(b".") + 1
    path.write_bytes(text[:at] + (b"1" if text[at : at + 1] != b"1" else b"2") + text[at + 1 :])


def test_a_changed_file_is_noticed(folder, loads):
    old = MotionSet.open(folder).prepare()
    loads.clear()
    lose_first(folder / "walk1.bvh")
    assert MotionSet.open(folder).lengths[1] < old.lengths[1]
    assert loads == ["walk1.bvh"]


def test_a_changed_file_is_noticed_though_its_date_was_set_back(folder):
    path = folder / "walk2.bvh"
    os.utime(path, (1e9, 1e9))
    old = MotionSet.open(folder).prepare()
    altered(path)
    os.utime(path, (1e9, 1e9))
    assert MotionSet.open(folder).content_key(2) != old.content_key(2)


@pytest.mark.parametrize("seconds_ago", [0.5, 1000.0])
def test_a_file_is_read_again_where_it_may_have_changed_within_a_tick_of_the_clock(folder, monkeypatch, seconds_ago):
    moment = time.time_ns() - int(seconds_ago * 1e9)
    monkeypatch.setattr(
        scanning, "stamp", lambda path: scanning.Stamp(str(path), os.stat(path).st_size, moment, moment)
    )
    monkeypatch.setattr(preparing, "stamp", scanning.stamp)
    old = MotionSet.open(folder).prepare()
    altered(folder / "walk2.bvh")
    seen = MotionSet.open(folder).content_key(2) != old.content_key(2)
    assert seen == (seconds_ago < 1.0)


def test_a_changed_sidecar_or_option_is_noticed(folder, loads):
    plain = MotionSet.open(folder).prepare()
    (folder / "walk1.marey.json").write_text('{"format": "marey.sidecar", "version": 1, "floor": 0.01}')
    changed = MotionSet.open(folder)
    assert [changed.content_key(i) == plain.content_key(i) for i in range(3)] == [True, False, True]
    assert loads[3:] == ["walk1.bvh"]
    for options in ({"fps": 60}, {"trim_rest": False}, {"unit": "cm"}, {"up": "y"}, {"labels": "folders"}):
        assert MotionSet.open(folder, **options).content_key(0) != plain.content_key(0)


def test_labels_of_one_file_in_a_csv_touch_that_clip_alone(folder, loads, tmp_path):
    (tmp_path / "l.csv").write_text("file,label\nwalk0,a\nwalk1,a\n")
    MotionSet.open(folder, labels=tmp_path / "l.csv").prepare()
    loads.clear()
    (tmp_path / "l.csv").write_text("file,label\nwalk0,a\nwalk1,b\n")
    assert MotionSet.open(folder, labels=tmp_path / "l.csv").motion(1).labels.names == ("b",)
    assert loads == ["walk1.bvh"]


def test_a_file_that_changes_while_it_is_read_is_read_again(folder, monkeypatch):
    load, n_loads = preparing.load_motion, []

    def slow(path, **options):
        motion = load(path, **options)
        if path.endswith("walk1.bvh") and not n_loads:
            n_loads.append(path)
            lose_first(folder / "walk1.bvh")
        return motion

    monkeypatch.setattr(preparing, "load_motion", slow)
    clips = MotionSet.open(folder)
    assert clips.lengths[1] == len(resample(walk(1)[10:], 30))
    monkeypatch.setattr(preparing, "stamp", lambda path: None)
    with pytest.raises(UnreadableFile, match=r"walk0\.bvh: keeps changing while it is being read; try again later"):
        MotionSet.open(folder, fps=20).prepare()


# --- The cache


def test_a_deleted_cache_is_made_again_and_is_the_same(folder, loads):
    first = MotionSet.open(folder, mirrored=True)
    kept = [replace(motion, rotations=motion.rotations.copy()) for motion in first]
    shutil.rmtree(folder / ".marey-cache")
    loads.clear()
    again = MotionSet.open(folder, mirrored=True)
    assert all(same(a, b) for a, b in zip(kept, again, strict=True))
    assert sorted(loads) == ["walk0.bvh", "walk1.bvh", "walk2.bvh"]
    # even while the set is in use
    shutil.rmtree(folder / ".marey-cache")
    assert same(first.motion("walk1"), kept[1])
    assert same(first.motion("walk2_mirrored"), kept[5])
    shutil.rmtree(folder / ".marey-cache")
    (folder / "walk1.bvh").write_text("gone")
    with pytest.raises(UnreadableFile, match="has changed since the set was opened; open the set again"):
        first.motion("walk1")


def test_an_index_without_its_arrays_is_made_good_by_a_build(folder, loads):
    clips = MotionSet.open(folder).prepare()
    shutil.rmtree(clips.cache.folder / "clips")
    MotionSet.open(folder).prepare()
    assert loads == 2 * ["walk0.bvh", "walk1.bvh", "walk2.bvh"]


def test_the_second_process_keeps_what_the_first_has_written(tmp_path, monkeypatch):
    write, place = arrays.write_array, tmp_path / "x" / "key"

    def overtaken(path, array):
        monkeypatch.setattr(arrays, "write_array", write)
        arrays.write_arrays(place, {"a": np.zeros(3)})
        write(path, array)

    monkeypatch.setattr(arrays, "write_array", overtaken)
    arrays.write_arrays(place, {"a": np.ones(3)})
    assert [path.name for path in place.parent.iterdir()] == ["key"]
    np.testing.assert_array_equal(arrays.read_array(place / "a.npy"), np.zeros(3))
    arrays.write_arrays(place, {"a": np.ones(3)})
    np.testing.assert_array_equal(arrays.read_array(place / "a.npy"), np.zeros(3))
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnwritableFile, match="choose another folder with `cache=`"):
        arrays.write_arrays(tmp_path / "file" / "key", {"a": np.ones(3)})


@pytest.mark.parametrize("damage", ["cut", "empty", "gone", "nonsense", "one bit", "folder"])
def test_damaged_arrays_are_made_again(folder, damage, loads):
    clips = MotionSet.open(folder).prepare()
    good = clips.motion(1)
    rotations = good.rotations.copy()
    place = clips.cache.clip_folder(clips.content_key(1))
    array = place / "rotations.npy"
    content = array.read_bytes()
    if damage == "gone":
        array.unlink()
    elif damage == "folder":
        shutil.rmtree(place)
    else:
        flipped = content[:-20] + bytes([content[-20] ^ 1]) + content[-19:]
        contents = {"cut": content[:-8], "empty": b"", "nonsense": content[:-8] + b"\xff" * 8, "one bit": flipped}
        array.write_bytes(contents[damage])
    loads.clear()
    np.testing.assert_array_equal(MotionSet.open(folder).motion(1).rotations, rotations)
    assert loads == ["walk1.bvh"]


def test_long_clips_stay_on_disk(tmp_path, monkeypatch):
    import mmap

    monkeypatch.setattr(arrays, "MAPPED_BYTES", 1024)
    save(walk(), tmp_path / "a.bvh")
    motion = MotionSet.open(tmp_path).motion(0)
    link = motion.rotations
    while isinstance(link, np.ndarray):
        assert not link.flags.writeable
        link = link.base
    assert isinstance(link.obj, mmap.mmap)


def test_the_cache_may_lie_elsewhere_and_serve_several_sets(folder, tmp_path, loads):
    other = shutil.copytree(folder, tmp_path / "copy")
    store = tmp_path / "cache"
    MotionSet.open(folder, cache=store).prepare()
    assert not (folder / ".marey-cache").exists()
    copied = MotionSet.open(other, cache=store).prepare()
    assert len(loads) == 3
    assert copied.motion(0).source.path == str(other / "walk0.bvh")


def test_leftovers_of_killed_builds_are_swept_away_when_old(folder):
    clips = MotionSet.open(folder).prepare()
    place = clips.cache.folder / "clips" / "ab"
    for name, age in ((".old.part", 1e9), (".new.part", None)):
        (place / name).mkdir(parents=True)
        if age is not None:
            os.utime(place / name, (age, age))
    MotionSet.open(folder).prepare()
    assert [part.name for part in place.iterdir() if part.name.endswith(".part")] == [".new.part"]


def test_progress_goes_from_nothing_to_all(folder):
    fractions: list[float] = []
    MotionSet.open(folder, mirrored=True).prepare(progress=fractions.append)
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert len(fractions) == 7
    MotionSet.open(folder, mirrored=True).prepare(progress=fractions.append)
    assert fractions[7:] == [1.0]


@pytest.mark.parametrize("run", [threads(2), processes(2)], ids=["threads", "processes"])
def test_other_ways_to_run_give_the_same_set(folder, tmp_path, run):
    (folder / "bad.bvh").write_text("HIERARCHY nothing")
    with pytest.warns(MareyWarning, match="skipped bad"):
        here = MotionSet.open(folder, cache=tmp_path / "a", mirrored=True).prepare()
    with pytest.warns(MareyWarning, match="skipped bad"):
        there = MotionSet.open(folder, cache=tmp_path / "b", mirrored=True).prepare(run=run)
    assert here.names == there.names
    assert here.skipped == there.skipped
    assert all(same(a, b) for a, b in zip(here, there, strict=True))


# --- Different skeletons


@pytest.fixture
def mixed(tmp_path):
    folder_of_walks(tmp_path, 2)
    body = walk().skeleton
    tall = Skeleton(body.names, body.parents, body.offsets * 1.1)
    save(replace(walk(5), skeleton=tall), tmp_path / "tall.bvh")
    return tmp_path


def test_clips_of_different_skeletons_are_grouped_and_one_can_be_chosen(mixed):
    clips = MotionSet.open(mixed, mirrored=True)
    with pytest.raises(InvalidValue) as error:
        _ = clips.names
    assert str(error.value) == (
        "the clips have 2 different skeletons (0: walk0, walk1, walk0_mirrored, walk1_mirrored; 1: tall, "
        "tall_mirrored); retarget them onto one skeleton with `retarget=True`, or select one with `group=`, by its "
        "number or by a clip's name"
    )
    with pytest.raises(InvalidValue, match="2 different skeletons"):
        MotionGraph.build(clips)
    groups = clips.groups()
    assert [group.names for group in groups][1] == ("tall", "tall_mirrored")
    assert groups[1].n_frames == sum(clips.select(1).lengths)
    np.testing.assert_allclose(groups[1].skeleton.offsets, 1.1 * groups[0].skeleton.offsets, atol=1e-6)
    assert clips.select("walk1").names == groups[0].names
    assert MotionSet.open(mixed, group="tall").names == ("tall",)
    assert MotionSet.open(mixed, group=0).names == ("walk0", "walk1")
    with pytest.raises(
        UnknownName, match="group must be a group number or the name of a clip, not 'tal'; similar: 'tall'"
    ):
        clips.select("tal")
    with pytest.raises(InvalidValue, match="group must be from 0 to 1, not 2"):
        clips.select(2)


def test_clips_are_retargeted_when_needed_and_only_once(mixed, loads, monkeypatch):
    made = []
    retarget = preparing.retarget
    monkeypatch.setattr(preparing, "retarget", lambda motion, onto: made.append(motion) or retarget(motion, onto))
    clips = MotionSet.open(mixed, retarget=True)
    assert (loads, made) == ([], [])
    with pytest.warns(MareyWarning, match="retargeted"):
        motion = clips.motion("tall")
    assert len(made) == 1
    assert motion.skeleton.names == clips.motion("walk0").skeleton.names
    np.testing.assert_array_equal(motion.skeleton.offsets, clips.motion("walk0").skeleton.offsets)
    loads.clear()
    with pytest.warns(MareyWarning, match="retargeted"):
        assert same(MotionSet.open(mixed, retarget=True).motion("tall"), motion)
    assert (loads, len(made)) == ([], 1)


# --- Bad input


def test_a_folder_without_clips_is_refused(tmp_path):
    with pytest.raises(UnreadableFile, match="none: no such file or folder"):
        MotionSet.open(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UnreadableFile, match="file: is not a motion file; expected a folder, or a file of type"):
        MotionSet.open(tmp_path / "file")
    (tmp_path / "s.asf").write_text("x")
    with pytest.raises(UnreadableFile, match=r"holds no motion files; expected files of type \.bvh, .*\.npz, .*\.c3d"):
        MotionSet.open(tmp_path)
    (tmp_path / "a.bvh").write_text("x")
    with pytest.raises(UnreadableFile, match=r"none of its 1 motion files matches the pattern '\*\.glb'"):
        MotionSet.open(tmp_path, pattern="*.glb")
    np.savez(tmp_path / "g.npz", format=np.array("marey.graph"))
    with pytest.raises(UnreadableFile, match="holds no clips, only other results"):
        MotionSet.open(tmp_path, pattern="g*").prepare()


def test_each_reason_is_reported_if_no_clip_can_be_read(tmp_path):
    (tmp_path / "a.bvh").write_text("HIERARCHY\nNONSENSE\n")
    (tmp_path / "b.npz").write_text("no archive")
    (tmp_path / "c.bvh").touch()
    with pytest.raises(UnreadableFile) as error:
        MotionSet.open(tmp_path).prepare()
    text = str(error.value)
    assert text.startswith(f"{tmp_path}: none of its clips could be loaded: a (a.bvh:2: expected")
    assert "b (b.npz: not a readable NPZ file" in text
    assert text.endswith("c (c.bvh: the file is empty)")
    for k in range(20):
        (tmp_path / f"d{k:02}.bvh").write_text("no")
    with pytest.raises(UnreadableFile, match="; and 11 more$"):
        MotionSet.open(tmp_path).prepare()


def test_what_cannot_be_read_is_skipped_by_name_and_not_tried_again(folder, loads):
    (folder / "bad.bvh").write_text("HIERARCHY\nNONSENSE\n")
    (folder / "link.bvh").symlink_to(folder / "nothing.bvh")
    (folder / "walk1.marey.json").write_text("{")
    os.mkfifo(folder / "pipe.bvh")
    for _ in range(2):
        with pytest.warns(MareyWarning) as caught:
            clips = MotionSet.open(folder).prepare()
        texts = sorted(str(each.message) for each in caught)
        assert texts[0].startswith(f"{folder}: skipped bad: bad.bvh:2: expected")
        assert texts[1] == f"{folder}: skipped link.bvh: no such file or directory"
        assert texts[2] == f"{folder}: skipped pipe.bvh: is a pipe or a device, expected a file"
        assert texts[3].startswith(f"{folder}: skipped walk1: walk1.marey.json:1: not valid JSON")
        assert len(texts) == 4
        assert clips.names == ("walk0", "walk2")
        assert {each.name for each in clips.skipped} == {"bad", "link.bvh", "pipe.bvh", "walk1"}
    assert sorted(loads) == ["bad.bvh", "walk0.bvh", "walk1.bvh", "walk2.bvh"]


def test_warnings_about_a_file_are_handed_on_when_it_is_read(folder, tmp_path):
    path = folder / "walk1.bvh"
    path.write_bytes(path.read_bytes().rstrip().rpartition(b"\n")[0] + b"\n")  # one frame less than the file states
    for run, store in ((map, "a"), (processes(2), "b")):
        with pytest.warns(MareyWarning, match=r"walk1\.bvh"):
            MotionSet.open(folder, cache=tmp_path / store).prepare(run=run)


def test_a_body_without_sides_has_no_mirror_image(folder, tmp_path):
    body = Skeleton(("a", "b", "c"), [-1, 0, 1], np.eye(3))
    stick = replace(
        walk(), skeleton=body, rotations=np.tile([1.0, 0, 0, 0], (91, 3, 1)), root_positions=np.zeros((91, 3))
    )
    save(stick, tmp_path / "stick.npz")
    with pytest.warns(MareyWarning) as caught:
        clips = MotionSet.open(tmp_path, pattern="stick*", mirrored=True).prepare()
    texts = [str(each.message) for each in caught]
    assert any("stick.npz: no contacts can be found" in text for text in texts)
    assert any("skipped stick_mirrored: no joint of" in text for text in texts)
    assert clips.names == ("stick",)
    assert clips.motion(0).contacts is None


def test_wrong_options_are_refused_at_once(folder):
    with pytest.raises(InvalidValue, match="fps must be greater than 0 frames per second, not 0"):
        MotionSet.open(folder, fps=0)
    with pytest.raises(InvalidValue, match="file_fps must be a number of frames per second or None, not 'x'"):
        MotionSet.open(folder, file_fps="x")
    with pytest.raises(InvalidValue, match="unit must be one of"):
        MotionSet.open(folder, unit="ell")
    with pytest.raises(InvalidValue, match="'w'"):
        MotionSet.open(folder, up="w")
    with pytest.raises(UnreadableFile, match="sidcar: no such file; labels must be 'sidecar', 'folders' or a CSV file"):
        MotionSet.open(folder, labels="sidcar")


def test_a_clip_that_is_not_there_is_refused(folder):
    clips = MotionSet.open(folder)
    with pytest.raises(UnknownName, match="no clip 'wlak0' in .*; similar: 'walk0'"):
        clips.motion("wlak0")
    with pytest.raises(InvalidValue, match="^clip must be from 0 to 2, not 3"):
        clips.content_key(3)
    with pytest.raises(InvalidValue, match="^clip must be an integer, not 0.5"):
        clips.motion(0.5)


def test_a_cache_that_cannot_be_is_refused(folder, tmp_path, loads):
    (tmp_path / "file").write_text("x")
    with pytest.raises(
        UnwritableFile, match="file: is a file, expected a folder for the cache; choose a folder with `cache=`"
    ):
        MotionSet.open(folder, cache=tmp_path / "file")
    with pytest.raises(UnwritableFile, match="does not exist; create it first, or choose another with `cache=`"):
        MotionSet.open(folder, cache=tmp_path / "no" / "where")
    closed = "/proc/marey-cache"
    if os.path.isdir("/proc"):
        with pytest.raises(UnwritableFile, match="the cache folder cannot be created"):
            MotionSet.open(folder, cache=closed).prepare()
    assert loads == []


def test_a_newer_foreign_or_damaged_cache_is_refused_and_an_older_one_replaced(folder, loads):
    import sqlite3

    path = folder / ".marey-cache" / "index.sqlite"

    def set_marks(**marks: int) -> None:
        with sqlite3.connect(path) as db:
            for name, value in marks.items():
                db.execute(f"PRAGMA {name} = {value}")
        db.close()

    first = MotionSet.open(folder).prepare()
    set_marks(user_version=7)
    with pytest.raises(
        UnknownVersion,
        match=r"index\.sqlite: the cache has version 7, but this version of marey reads 2; update marey",
    ):
        MotionSet.open(folder)
    assert path.exists()
    set_marks(user_version=0)
    loads.clear()
    assert MotionSet.open(folder).names == first.names
    assert len(loads) == 3
    set_marks(application_id=5)
    with pytest.raises(UnknownVersion, match="is not the index of a marey cache; choose another folder with `cache=`"):
        MotionSet.open(folder)
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(ParseError, match=r"the cache is damaged"):
        MotionSet.open(folder)


def test_a_complete_cache_works_in_a_read_only_folder(folder, monkeypatch):
    from marey.store.index import Index

    first = MotionSet.open(folder).prepare()

    def closed(self):
        raise UnwritableFile("closed", path="x")

    monkeypatch.setattr(Index, "_writing", closed)
    assert all(same(a, b) for a, b in zip(first, MotionSet.open(folder), strict=True))
    save(walk(9), folder / "walk9.bvh")
    with pytest.raises(UnwritableFile, match="closed"):
        MotionSet.open(folder).prepare()


def test_files_and_folders_are_opened_as_one_set(tmp_path):
    for name in ("a/walk", "b/run", "b/deep/hop"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        save(sample("walk", seconds=1.0).motion, tmp_path / f"{name}.bvh")
    clips = MotionSet.open([tmp_path / "a/walk.bvh", tmp_path / "b"])
    assert clips.names == ("a/walk", "b/deep/hop", "b/run")
    assert clips.folder == tmp_path
    assert (tmp_path / "a" / ".marey-cache").is_dir()
    assert MotionSet.open(tmp_path / "b/run.bvh").names == ("run",)
    with pytest.raises(InvalidValue, match="needs a folder or files, got an empty list"):
        MotionSet.open([])
