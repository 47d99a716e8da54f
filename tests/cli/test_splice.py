"""`marey splice`, `marey transplant` and `marey plot correlations`."""

import json
from dataclasses import replace

import numpy as np
import pytest

import marey
from marey.cli.main import main
from marey.samples import sample


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    into = tmp_path_factory.mktemp("clips")
    marey.save(sample("walk", turn_rate=0.4, fps=30.0, seconds=4.0).motion, into / "walk.bvh")
    marey.save(sample("carry_box", rng=3, fps=30.0, seconds=3.0).motion, into / "carry.bvh")
    marey.save(sample("stand", fps=30.0, seconds=2.0).motion, into / "stand.bvh")
    return into


SPLICE = ["splice", "walk.bvh", "carry.bvh", "-o", "both.bvh"]


def test_a_splice_is_written_and_reported(clips, capsys):
    assert main([*SPLICE, "--report", "report"]) == 0
    message = capsys.readouterr().out
    assert "both.bvh: 121 frames at 30 Hz" in message
    assert "posture pitch: upper body rotated by" in message
    assert "phase error" in message
    assert (clips / "report" / "neck.png").stat().st_size > 10_000
    report = json.loads((clips / "report" / "report.json").read_text())
    assert report["loop"]["passes"] >= 1
    assert report["seams"]["hands"] < 0.05
    metrics = report["metrics"]
    assert metrics["phase_error_p95_cycles"] < 0.08
    assert metrics["wobble_against_naive"] == pytest.approx((metrics["wobble_mm"] / metrics["wobble_naive_mm"]) ** 2)
    assert f"wobble energy {metrics['wobble_against_lower']:.2f} times that of 'walk', " in message
    assert f"neck deviation {metrics['neck_deviation_mm']:.1f} mm" in message
    result = marey.load_motion("both.bvh")
    assert len(result) == 121
    assert {"walk", "carry_box"} <= set(result.labels.names)
    assert [step["op"] for step in result.source.provenance][-1] == "splice"


def test_options_reach_the_splice(clips, capsys):
    assert main([*SPLICE, "--json", "--align", "first_minimum", "--posture", "none"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["posture"] is None
    assert "first minimum" in report["notes"][0]
    assert report["loop"] is None
    assert main([*SPLICE, "--json", "--upper-from", "15f", "--upper-to", "2.5", "--lower-to", "60f"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["frames"] == 60
    assert report["inputs"][1]["frames"] == [15, 75]
    assert all(0.5 <= each[key] <= 2.5 for each in (report, report["loop"] or {}) for key in ("start", "stop") if each)
    assert main([*SPLICE, "--json", "--naive"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["op"] == "splice_naive"
    assert "phase_error_p95_cycles" not in report["metrics"]  # nothing was synchronized
    assert report["metrics"]["wobble_mm"] > 0.0
    assert main([*SPLICE, "--naive", "--report", "report"]) == 0
    assert "in step" not in capsys.readouterr().out
    assert main(["splice", "stand.bvh", "carry.bvh", "-o", "both.bvh", "--naive"]) == 0
    assert "phase error" not in capsys.readouterr().out


def test_a_clip_without_steps_is_spliced_with_a_warning(clips, capsys):
    assert main(["splice", "stand.bvh", "carry.bvh", "-o", "still.bvh", "--json"]) == 0
    assert "so the clips are aligned by hips and knees only" in json.loads(capsys.readouterr().out)["warning"]
    assert (clips / "still.bvh").exists()


def test_a_wrong_span_names_its_own_options(clips, capsys):
    assert main([*SPLICE, "--upper-from", "2", "--upper-to", "1"]) == 2
    assert "--upper-from must be before --upper-to" in capsys.readouterr().err
    line = ["transplant", "walk.bvh", "stand.bvh", "-o", "arm.bvh", "--joints", "head", "--donor-from", "9"]
    assert main(line) == 2
    assert "--donor-from is beyond the end of 'stand'" in capsys.readouterr().err


def test_an_implausible_rate_is_reported(clips, capsys):
    assert main([*SPLICE, "--file-fps", "120"]) == 0
    assert "marey: warning: carry.bvh: 3.67 strides per second in a walk" in capsys.readouterr().err


def test_a_transplant_reports_what_it_leaves_out(clips, capsys):
    assert main(["transplant", "stand.bvh", "walk.bvh", "-o", "legs.bvh", "--joints", "legs"]) == 0
    message = capsys.readouterr().out
    assert "the donor's last 2.00 s are cut off because the base motion ends earlier" in message
    assert "the transplanted feet skate" in message
    assert "upper_body of the base motion on the donor" in message
    assert "marey clean" in message
    assert main(["transplant", "walk.bvh", "stand.bvh", "-o", "arm.bvh", "--joints", "head", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == []


def test_correlations_need_steps(clips, capsys):
    assert main(["plot", "correlations", "stand.bvh", "-o", "with.png"]) == 1
    message = capsys.readouterr().err
    assert "correlations are with the legs of a clip that walks, runs or climbs" in message
    assert "transplant" not in message


def test_an_input_is_not_written_over(clips, capsys):
    assert main(["splice", "walk.bvh", "carry.bvh", "-o", "walk.bvh"]) == 2
    assert "is an input" in capsys.readouterr().err


def test_a_transplant_is_written_and_reported(clips, capsys):
    line = ["transplant", "walk.bvh", "stand.bvh", "-o", "arm.bvh", "--joints", "right_arm, head"]
    assert main([*line, "--falloff", "1", "--at", "1.0"]) == 0
    message = capsys.readouterr().out
    assert "arm.bvh: 121 frames" in message
    assert "frames 30 to 91" in message
    assert "blended, with the donor's weight" in message
    result, walk = marey.load_motion("arm.bvh"), marey.load_motion("walk.bvh")
    hand = result.skeleton.roles["right_hand"]
    moved = np.linalg.norm(result.world().positions[:, hand] - walk.world().positions[:, hand], axis=-1)
    assert moved[:30].max() < 1e-3 < 0.05 < moved[40:80].max()


def test_a_transplant_takes_weights_of_joints(clips, capsys):
    line = ["transplant", "walk.bvh", "stand.bvh", "-o", "arm.bvh", "--joints"]
    assert main([*line, "head=0.5, right_hand=0.25", "--at", "30f", "--json"]) == 0
    assert sorted(json.loads(capsys.readouterr().out)["weights"].values()) == [0.25, 0.5]
    assert main([*line, "head=0.5,right_hand"]) == 2
    assert "--joints must be names, or NAME=WEIGHT for all of them" in capsys.readouterr().err
    assert main([*line, "head=2"]) == 2
    assert main([*line, "head", "--at", "99"]) == 2
    assert "--at must be from 0 to" in capsys.readouterr().err


def test_a_wrong_limb_is_wrong_use(clips, capsys):
    assert main(["transplant", "walk.bvh", "stand.bvh", "-o", "arm.bvh", "--joints", "arm"]) == 2
    assert "'arm' is not a limb (left_arm" in capsys.readouterr().err


def test_correlations_are_drawn_and_named(clips, capsys):
    assert main(["plot", "correlations", "walk.bvh", "-o", "with.png"]) == 0
    message = capsys.readouterr().out
    assert "counter-phase with the left hip, local: " in message
    assert "LeftArm pitch" in message
    assert (clips / "with.png").stat().st_size > 10_000


def test_clips_of_different_people_are_retargeted_on_request(tmp_path, capsys):
    walk = sample("walk", seconds=4.0).motion
    tall = replace(
        walk,
        skeleton=replace(walk.skeleton, offsets=1.2 * walk.skeleton.offsets),
        root_positions=1.2 * walk.root_positions,
    )
    for name, motion in (("a", walk), ("b", tall)):
        marey.save(motion, tmp_path / f"{name}.npz")
    arguments = ["splice", str(tmp_path / "a.npz"), str(tmp_path / "b.npz"), "-o", str(tmp_path / "s.npz")]
    assert main(arguments) == 2
    assert "retarget them onto one skeleton with --retarget" in capsys.readouterr().err
    assert main([*arguments, "--retarget"]) == 0
