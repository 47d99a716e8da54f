"""`marey gaze`: looks added to a motion, and maps from captured looks."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.cli.main import main
from marey.layer.gaze_map import GazeMap
from marey.samples import sample
from marey.samples.gaze import GAZE_TRIADS, gaze_take
from tests.io.make_c3d import c3d_bytes, floats, texts

SIGNS = ((60, 0), (-60, 0), (0, 30), (40, -30))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    into = tmp_path_factory.mktemp("clips")
    marey.save(sample("walk", turn_rate=0.2, fps=30.0, seconds=4.0).motion, into / "walk.bvh")
    marey.save(sample("walk", fps=30.0, seconds=2.0).motion, into / "restless.bvh")
    lines = ["file,yaw,pitch"]
    for k, (yaw, pitch) in enumerate(SIGNS):
        take = gaze_take(math.radians(yaw), math.radians(pitch), rng=k)
        marey.save(take.motion, into / f"look{k}.bvh")
        lines.append(f"look{k}.bvh,{yaw},{pitch}")
    (into / "looks.csv").write_text("\n".join(lines) + "\n")
    markers = gaze_take(1.0, 0.0).markers(noise=0.0)
    x, y, z = np.moveaxis(1000.0 * markers.positions, -1, 0)
    points = np.stack([z, x, y], axis=-1)
    (into / "left.c3d").write_bytes(c3d_bytes(points, LABELS=texts(*markers.names), RATE=floats(60.0)))
    triads = {**GAZE_TRIADS, "front": ["HD1", "HD2"], "back": ["HD3", "HD4"]}
    (into / "triads.json").write_text(json.dumps(triads))
    return into


def test_looks_points_and_going_back(clips, capsys):
    command = ["gaze", "walk.bvh", "out.bvh", "--look", "15f:50:10", "--at", "1.8:6:1.4:9", "--back", "3.1"]
    assert main(command) == 0
    message = capsys.readouterr().out
    assert "out.bvh: 121 frames at 30 Hz" in message
    assert "0.50 s: yaw 50, pitch 10 degrees; settled at 1." in message
    assert "1.80 s: the point 6, 1.4, 9; settled at 2." in message
    assert "3.10 s: back to the original gaze; " in message
    assert message.count("0.00 degrees off") == 2
    assert "the eyes rotate in the head by up to" in message
    result, given = marey.load_motion("out.bvh"), marey.load_motion("walk.bvh")
    hips = given.skeleton.roles["hips"]
    np.testing.assert_allclose(result.rotations[:, hips], given.rotations[:, hips], atol=1e-6)
    assert result.source.provenance[-1]["op"] == "gaze"


def test_options_reach_the_look(clips, capsys):
    command = ["gaze", "apply", "walk.bvh", "out.bvh", "--look", "0.5:170:0", "--eyes", "add", "--bob"]
    assert main([*command, "--json", "--report", "report"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["looks"][0]["outside_deg"] > 10.0
    assert report["looks"][0]["missed_deg"] < 1.0  # neck and trunk follow
    assert report["pictures"] == ["shift_0.png", "look_0.png"]
    assert (clips / "report" / "look_0.png").stat().st_size > 10_000
    assert json.loads((clips / "report" / "report.json").read_text()) == {"format": "marey.report", **report}
    assert {"Eyes", "EyesEnd"} <= set(marey.load_motion("out.bvh").skeleton.names)
    command = ["gaze", "apply", "walk.bvh", "out.bvh", "--look", "0.5:20:0", "--no-steady", "--smoothing", "0.2"]
    assert main([*command, "--forward", "0,0,1"]) == 0
    capsys.readouterr()
    assert main([*command, "--forward", "up"]) == 2
    assert "--forward must be clip, rest or X,Y,Z such as 0,0.1,1, not 'up'" in capsys.readouterr().err


def test_a_map_from_clips_serves_a_look(clips, capsys):
    assert main(["gaze", "map", "looks.csv", "-o", "person.json"]) == 0
    message = capsys.readouterr().out
    assert "person.json: 4 looks, yaw -60 to 60, pitch -30 to 30 degrees" in message
    assert "look0.bvh: 60, 0 degrees in 0." in message
    assert (clips / "person.json").stat().st_size < 4_000
    assert main(["gaze", "walk.bvh", "out.glb", "--look", "0.5:30:0", "--map", "person.json"]) == 0
    assert "0.00 degrees off" in capsys.readouterr().out


def test_a_map_from_markers(clips, capsys):
    command = ["gaze", "map", f"left.c3d:{math.degrees(1.0)}:0", "look1.bvh:-60:0", "--triads", "triads.json"]
    assert main([*command, "-o", "person.json", "--json", "--report", "report"]) == 0
    captured = capsys.readouterr()
    assert "not certain" not in captured.err
    report = json.loads(captured.out)
    truth = gaze_take(1.0, 0.0)
    assert report["examples"][0]["overshoot"] == pytest.approx(truth.overshoot, rel=0.05)
    assert report["examples"][0]["starts_s"] == pytest.approx([s * truth.length for s in truth.starts], abs=0.02)
    assert (clips / "report" / "example_1.png").stat().st_size > 5_000
    assert len(GazeMap.load("person.json").examples) == 3


def test_a_goal_behind_the_body_is_met(clips, capsys):
    assert main(["gaze", "walk.bvh", "out.bvh", "--look", "0.5:170:0"]) == 0
    assert "settled at 1.86 s, 0.00 degrees off" in capsys.readouterr().out


def test_a_look_with_the_wrong_goal_is_left_out(clips, capsys):
    assert main(["gaze", "map", "looks.csv", "look0.bvh:-50:20", "-o", "person.json"]) == 1
    captured = capsys.readouterr()
    assert "look0.bvh: skipped: the head of look0 rotates to yaw" in captured.err
    assert ", but eyes rotate at most" in captured.err


def test_a_leading_rest_pose_is_reported(clips, capsys):
    walk = marey.load_motion("walk.bvh")
    n = walk.skeleton.offsets.shape[0]
    rest = replace(walk[0], rotations=np.tile([1.0, 0.0, 0.0, 0.0], (1, n, 1)), contacts=None)
    whole = replace(
        walk,
        root_positions=np.concatenate([rest.root_positions, walk.root_positions]),
        rotations=np.concatenate([rest.rotations, walk.rotations]),
        contacts=None,
        labels=type(walk.labels)(()),
    )
    marey.save(whole, "tpose.bvh")
    assert main(["gaze", "tpose.bvh", "out.bvh", "--look", "0.5:40:0"]) == 0
    note = "tpose.bvh: frame 0 is a rest pose and is skipped; --keep-rest-pose keeps it"
    assert note in capsys.readouterr().err
    assert main(["gaze", "tpose.bvh", "out.bvh", "--look", "0.5:40:0", "--keep-rest-pose"]) == 0
    assert capsys.readouterr().err == ""


def test_unusable_looks_are_skipped_and_reported(clips, capsys):
    assert main(["gaze", "map", "looks.csv", "restless.bvh:50:20", "-o", "person.json"]) == 1
    captured = capsys.readouterr()
    assert "warning: restless.bvh: skipped: restless does not stand still before its gaze shift" in captured.err
    assert "1 look skipped" in captured.out
    assert main(["gaze", "map", "restless.bvh:50:20", "-o", "none.json"]) == 1
    assert "none of 1 look can be used" in capsys.readouterr().err
    assert not (clips / "none.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["walk.bvh", "out.bvh"], "no gaze target given; use --look T:YAW:PITCH"),
        (["walk.bvh", "out.bvh", "--look", "1:60"], "T:YAW:PITCH in seconds and degrees, such as 1.2:60:10"),
        (["walk.bvh", "out.bvh", "--look", "1:left:0"], "T:YAW:PITCH"),
        (["walk.bvh", "out.bvh", "--look", "1:200:0"], "yaw must be from -180 to 180 degrees and pitch from -90 to 90"),
        (["walk.bvh", "out.bvh", "--look", "-1:20:0"], "seconds such as 1.2"),
        (["walk.bvh", "out.bvh", "--at", "1:2:3"], "T:X:Y:Z in seconds and meters"),
        (
            ["walk.bvh", "out.bvh", "--look", "9:20:0"],
            "the gaze target at 9 s is outside walk, which ends at 4.00 s",
        ),
        (
            ["walk.bvh", "out.bvh", "--look", "1:20:0", "--back", "1"],
            "the times of gaze targets must be strictly increasing",
        ),
        (["walk.bvh", "walk.bvh", "--look", "1:20:0"], "walk.bvh: this is an input file"),
        (
            ["walk.bvh", "out.bvh", "--look", "1:20:0", "--map", "walk.bvh"],
            "walk.bvh: a gaze map is saved as .json, got .bvh",
        ),
        (["walk.bvh", "out.bvh", "--look", "1:20:0", "--eyes", "LeftEye"], "joint 'LeftEye' not in skeleton"),
        (["map", "looks.csv", "-o", "no/person.json"], "the folder 'no' does not exist"),
        (["map", "look0.bvh", "-o", "person.json"], "FILE:YAW:PITCH with angles in degrees"),
        (
            ["map", "look0.bvh:60:0", "-o", "person.json"],
            "examples must have at least two different gaze targets, not 1",
        ),
        (
            ["map", "look0.bvh:600:0", "look1.bvh:0:0", "-o", "p.json"],
            "FILE:YAW:PITCH with angles in degrees (yaw from -180 to 180, pitch from -90 to 90)",
        ),
        (
            ["map", "left.c3d:60:0", "look1.bvh:-60:0", "-o", "p.json"],
            "left.c3d: recorded markers require --triads FILE",
        ),
        (["map", "looks.csv", "-o", "person.npz"], "person.npz: a gaze map is saved as .json"),
        (["map", "nothing.bvh:60:0", "-o", "p.json"], "nothing.bvh: no such file"),
    ],
)
def test_wrong_use_gives_a_one_line_error(clips, capsys, arguments, message):
    assert main(["gaze", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (clips / "out.bvh").exists()


def test_a_table_that_is_none_is_refused(clips, capsys):
    (clips / "bad.csv").write_text("file,yaw,pitch\nlook0.bvh,left,0\n")
    assert main(["gaze", "map", "bad.csv", "-o", "p.json"]) == 2
    assert "bad.csv:2: expected FILE,YAW,PITCH or FILE,YAW,PITCH,START,STOP" in capsys.readouterr().err
    (clips / "bad.csv").write_text("file,yaw,pitch\n")
    assert main(["gaze", "map", "bad.csv", "-o", "p.json"]) == 2
    assert "has no lines of the form FILE,YAW,PITCH" in capsys.readouterr().err
    (clips / "spans.csv").write_text("look0.bvh,60,0,10,150\nlook1.bvh,-60,0,,\n")
    assert main(["gaze", "map", "spans.csv", "-o", "p.json"]) == 0
