"""Search a folder for motion, poses and paths, in Python and on the command line."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from marey.cli.main import main
from marey.io import save
from marey.store import MotionSet
from tests.find_medleys import KICK, kick_web, takes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("library") / "clips"
    place.mkdir()
    for take in takes():
        save(take, place / f"{take.name}.npz")
    return place


def run(capsys, *arguments):
    code = main(["library", "search", *map(str, arguments)])
    return code, capsys.readouterr()


def test_a_folder_is_searched_as_a_web_is(folder):
    index = MotionSet.open(folder).index_motion()
    ours, theirs = (each.search("take0", *KICK, 0.07) for each in (index, kick_web()))
    assert [(m.clip, m.start, m.stop) for m in ours] == [(m.clip, m.start, m.stop) for m in theirs]


def test_clips_of_several_skeletons_are_in_one_index(folder, tmp_path):
    place = tmp_path / "mixed"
    place.mkdir()
    body = takes()[1].skeleton
    tall = replace(
        takes()[1],
        skeleton=replace(body, offsets=1.1 * body.offsets),
        root_positions=1.1 * takes()[1].root_positions,
        name="tall",
    )
    save(takes()[0], place / "take0.npz")
    save(tall, place / "tall.npz")
    clips = MotionSet.open(place)
    found = clips.index_motion().search("take0", *KICK, 0.07)
    assert {match.clip for match in found} == {"take0", "tall"}
    assert len(clips.groups()) == 2


def test_example_on_the_command_line(folder, capsys):
    start, stop = KICK
    code, out = run(capsys, folder, "--like", "take0", "--from", f"{start}f", "--to", f"{stop}f", "--threshold", 0.07)
    assert code == 0
    assert "take1" in out.out
    assert "matches in 2 clips" in out.out
    arguments = ("--like", "take0", "--from", f"{start}f", "--to", f"{stop}f", "--threshold", 0.07, "--json")
    report = json.loads(run(capsys, folder, *arguments)[1].out)
    found = kick_web().search("take0", *KICK, 0.07, max_tiers=1)
    assert [(row["clip"], row["start"]) for row in report["matches"]] == [(m.clip, m.start) for m in found][1:]
    by_file = json.loads(run(capsys, folder, "--like", "take0.npz", *arguments[2:])[1].out)
    assert by_file == report
    only = json.loads(run(capsys, folder, "take1", *arguments)[1].out)
    assert {row["clip"] for row in only["matches"]} == {"take1"}
    assert (only["clips"], only["frames"], only["fps"]) == (1, len(takes()[1]), 30.0)
    assert report["frames"] == sum(map(len, takes()[:2]))
    assert f"in 1 clip, {len(takes()[1])} frames at 30 Hz" in run(capsys, folder, "take1", *arguments[:-1])[1].out


def test_file_from_outside_pose_and_path(folder, tmp_path, capsys):
    save(takes()[1], tmp_path / "other.bvh")
    code, out = run(capsys, folder, "--like", tmp_path / "other.bvh", "--at", "2.0", "--json")
    assert code == 0
    report = json.loads(out.out)
    assert report["matches"][0]["clip"] == "take1"
    assert report["matches"][0]["start_s"] == pytest.approx(2.0, abs=0.04)
    assert len(report["matches"]) == 20
    (tmp_path / "path.csv").write_text("x,z\n0,0\n0,1.5\n")
    code, out = run(capsys, folder, "--path", tmp_path / "path.csv", "--max-matches", 2)
    assert code == 0
    assert "2 matches in 2 clips" in out.out


def test_matches_are_cut_out(folder, tmp_path, capsys):
    start, stop = KICK
    arguments = ("--like", "take0", "--from", f"{start}f", "--to", f"{stop}f", "--threshold", 0.07, "--max-matches", 2)
    code, out = run(capsys, folder, *arguments, "--cut", tmp_path / "cut")
    assert code == 0
    assert len(list((tmp_path / "cut").glob("*.bvh"))) == 3
    assert "wrote 3 motions" in out.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "give words to search for"),
        (("--like", "take"), 2, "'take' is neither a clip of this folder nor a file; similar: 'take"),
        (("--like", "take0", "--path", "p.csv"), 2, "either --like or --path"),
        (("--like", "take0", "--at", "1", "--from", "1"), 2, "--at finds a pose"),
        (("--like", "take0", "--at", "1", "--cut", "x"), 2, "--cut applies to --like without --at"),
        (("--like", "take0", "--from", "900"), 2, "--from is beyond the end"),
        (("--like", "take0", "--at", "900"), 2, "--at must be from 0 to"),
        (("take", "--from", "1"), 2, "--from needs an example; name it with --like"),
        (("--path", "p.csv", "--cut", "x"), 2, "--cut needs an example"),
        (("take", "--length", "3"), 2, "--length needs a path"),
        (("--like", "take0", "--from", "0", "--to", "1", "--threshold", "0.0001"), 1, "nothing within 0.0001 m"),
    ],
)
def test_wrong_use(folder, capsys, arguments, code, message):
    got, out = run(capsys, folder, *arguments)
    assert got == code
    assert message in out.err
