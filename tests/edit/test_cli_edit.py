"""`marey edit`: each operation, its options, and wrong use."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli.edit import command
from marey.cli.main import main
from marey.edit import extract_path
from tests.core.skeletons import MIXAMO
from tests.edit.helpers import last_step, same, skeleton_of, walk

OPS = (
    "resample",
    "mirror",
    "crop",
    "cycle",
    "timewarp",
    "warp",
    "path",
    "in-place",
    "retarget",
    "connect",
    "deseam",
    "repair",
    "smooth",
    "level",
)


@pytest.fixture(autouse=True)
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write walk.npz and a path file to the current folder."""
    monkeypatch.chdir(tmp_path)
    marey.save(walk(), "walk.npz")
    path = extract_path(walk()) + np.array([1.0, 0.0])
    longer = np.concatenate([path, path[-1:] + (path[-1] - path[-60]) * 2])
    Path("path.csv").write_text("x,z\n" + "\n".join(f"{x},{z}" for x, z in longer[::20]))


def test_every_operation_is_there_and_explained(capsys):
    assert set(command.commands) == set(OPS)
    assert main(["edit", "--help"]) == 0
    message = capsys.readouterr().out
    for op in OPS:
        assert op in message
        assert main(["edit", op, "--help"]) == 0
        text = capsys.readouterr().out
        assert "Example:" in text
        assert f"marey edit {op} " in text


@pytest.mark.parametrize(
    ("arguments", "frames", "op"),
    [
        (["resample", "walk.npz", "out.npz", "--fps", "30"], 91, "resample"),
        (["resample", "walk.npz", "out.npz", "--fps", "30", "--no-filter"], 91, "resample"),
        (["mirror", "walk.npz", "out.npz"], 181, "mirror"),
        (["crop", "walk.npz", "out.npz", "--from", "0.5", "--to", "1.5"], 60, "crop"),
        (["crop", "walk.npz", "out.npz", "--from", "30f", "--to", "91f"], 61, "crop"),
        (["cycle", "walk.npz", "out.npz", "--from", "0.5", "--to", "1.5", "--repeats", "2"], 120, "cycle"),
        (["cycle", "walk.npz", "out.npz", "--from", "30f", "--to", "90f"], 60, "cycle"),
        (["cycle", "walk.npz", "out.npz"], 65, "cycle"),
        (["cycle", "walk.npz", "out.npz", "--from", "0", "--to", "3", "--feet", "none"], 180, "cycle"),
        (["timewarp", "walk.npz", "out.npz", "--key", "1.0=1.5", "--key", "120f=3"], 241, "timewarp"),
        (["warp", "walk.npz", "out.npz", "--move", "hips@1.5=0,-0.1,0", "--turn", "spine@90f=20,0,0"], 181, "warp"),
        (["warp", "walk.npz", "out.npz", "--move", "hips@1.5=0,-0.1,0", "--smooth", "2", "--free-feet"], 181, "warp"),
        (["path", "walk.npz", "out.npz", "--along", "path.csv"], 181, "path"),
        (["path", "walk.npz", "out.npz", "--along", "path.csv", "--stretch", "--feet", "none"], 181, "path"),
        (["in-place", "walk.npz", "out.npz"], 181, "in_place"),
        (["in-place", "walk.npz", "out.npz", "--remove", "turns", "--smooth", "0.4"], 181, "in_place"),
        (["retarget", "walk.npz", "out.npz", "--onto", "sample"], 181, "retarget"),
        (["connect", "walk.npz", "walk.npz", "out.npz", "--gap", "0.5"], 391, "connect"),
        (["connect", "walk.npz", "walk.npz", "out.npz", "--gap", "0", "--no-align"], 362, "connect"),
        (["connect", "walk.npz", "walk.npz", "out.npz", "--feet", "none"], 391, "connect"),
        (["deseam", "walk.npz", "out.npz", "--at", "1.0"], 181, "deseam"),
        (["deseam", "walk.npz", "out.npz", "--at", "60f", "--seconds", "0.2"], 181, "deseam"),
        (["deseam", "walk.npz", "out.npz", "--at", "60f", "--half-life", "0.2"], 181, "deseam"),
    ],
)
def test_each_operation(arguments, frames, op, capsys):
    before = Path("walk.npz").read_bytes()
    assert main(["edit", *arguments]) == 0
    result = marey.load("out.npz")
    assert len(result) == frames
    assert last_step(result)["op"] == op
    assert capsys.readouterr().out.startswith(f"wrote out.npz: {op}, {frames} frames at ")
    assert Path("walk.npz").read_bytes() == before
    side = json.loads(Path("out.marey.json").read_text())
    assert side["provenance"][-1]["op"] == op
    assert result.contacts is not None


def test_warps_record_their_keys():
    call = ["edit", "warp", "walk.npz", "out.npz", "--turn", "head@1.0=0,90,0", "--hold", "0.2", "--axes", "joint"]
    assert main(call) == 0
    (key,) = last_step(marey.load("out.npz"))["keys"]
    assert key["turn"] == pytest.approx([0, np.pi / 2, 0])
    assert (key["joint"], key["at"], key["hold"], key["axes"]) == ("head", 1.0, 0.2, "joint")


def test_out_of_reach_is_reported_with_exit_code_1(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["edit", "warp", "walk.npz", "out.npz", "--move", "left_hand@1.5=0,2,0"]) == 1
    assert "marey: warning: left_hand cannot reach its target and misses it by 0.95" in capsys.readouterr().err
    assert Path("out.npz").exists()


def test_a_map_is_written_and_used_again():
    marey.save(marey.Motion(skeleton_of(MIXAMO), np.zeros((1, 3)), [[[1, 0, 0, 0]] * len(MIXAMO.names)], 30.0), "m.npz")
    call = ["edit", "retarget", "walk.npz"]
    assert main([*call, "a.npz", "--onto", "m.npz", "--save-map", "map.json", "--feet", "none"]) == 0
    assert main([*call, "b.npz", "--map", "map.json", "--feet", "none"]) == 0
    assert same(marey.load("a.npz"), marey.load("b.npz"))
    assert marey.load("a.npz").skeleton.names == MIXAMO.names


def test_bvh_and_glb_are_written():
    for name in ("out.bvh", "out.glb"):
        assert main(["edit", "retarget", "walk.npz", name, "--onto", "sample"]) == 0
        assert len(marey.load(name)) == 181


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["resample", "walk.npz", "walk.npz", "--fps", "30"], "this is an input file; choose another name"),
        (["resample", "walk.npz", "out.npz", "--fps", "-3"], "fps must be a finite number greater than 0"),
        (["resample", "none.npz", "out.npz", "--rate", "30"], "none.npz"),
        (["crop", "walk.npz", "out.npz", "--from", "9"], "--from is beyond the end"),
        (["crop", "walk.npz", "out.npz", "--from", "x"], "seconds such as 1.2, or a frame such as 36f"),
        (
            ["cycle", "walk.npz", "out.npz", "--to", "181f"],
            "--to must be at most frame 180 of 'walk', not 181; it is the frame that closes the loop",
        ),
        (["timewarp", "walk.npz", "out.npz", "--key", "1.0"], "NOW=THEN such as 1.0=1.4"),
        (
            ["timewarp", "walk.npz", "out.npz", "--key", "1=2", "--key", "2=1"],
            "both times of each key must be later than those of the key before, not (1, 2) and",
        ),
        (["warp", "walk.npz", "out.npz"], "nothing to do; give --move, --reach or --turn"),
        (["warp", "walk.npz", "out.npz", "--move", "left_hand=0,0,0"], "NAME@TIME=X,Y,Z"),
        (["warp", "walk.npz", "out.npz", "--move", "left_hand@1=0,0"], "NAME@TIME=X,Y,Z"),
        (["warp", "walk.npz", "out.npz", "--move", "left_hand@1=0,0,0", "--axes", "joint"], "choose body or world"),
        (["warp", "walk.npz", "out.npz", "--turn", "nose@1=0,0,0"], "no joint or role 'nose'"),
        (["path", "walk.npz", "out.npz", "--along", "none.csv"], "none.csv"),
        (["retarget", "walk.npz", "out.npz"], "either --onto FILE or --map JSON"),
        (["retarget", "walk.npz", "out.npz", "--onto", "sample", "--onto-pose", "0f"], "omit --onto-pose"),
        (
            ["retarget", "walk.npz", "out.npz", "--map", "path.csv"],
            "a retarget map is saved as .json, got .csv; name a file that holds a retarget map",
        ),
        (["deseam", "walk.npz", "out.npz", "--at", "0f"], "--at must be from 1"),
        (
            ["deseam", "walk.npz", "out.npz", "--at", "1", "--seconds", "3", "--half-life", "1"],
            "give --seconds or --half-life, not both",
        ),
    ],
)
def test_wrong_use(arguments, message, capsys):
    assert main(["edit", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not Path("out.npz").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,0\n", "at least 2 lines of x,z in meters, got 1"),
        ("0,0\n1;2\na,b\n", "bad.csv:3: expected x,z in meters, got 'a,b'"),
    ],
)
def test_invalid_path_files(text, message, capsys):
    Path("bad.csv").write_text(text)
    assert main(["edit", "path", "walk.npz", "out.npz", "--along", "bad.csv"]) == 2
    assert message in capsys.readouterr().err


def test_old_flags_for_feet_work_with_a_note(capsys):
    assert main(["edit", "connect", "walk.npz", "walk.npz", "old.npz", "--no-replant"]) == 0
    assert "--no-replant is deprecated, use --feet none" in capsys.readouterr().err
    assert main(["edit", "connect", "walk.npz", "walk.npz", "new.npz", "--feet", "none"]) == 0
    assert "deprecated" not in capsys.readouterr().err
    one, two = marey.load("old.npz"), marey.load("new.npz")
    np.testing.assert_array_equal(one.rotations, two.rotations)
