"""`marey blend` and `marey transition`: what they write and print, and wrong use."""

import json
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli.blend import describe_notes, format_metrics
from marey.cli.main import main
from marey.edit import cycle
from marey.samples import sample
from tests.plot.pictures import png_size


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    into = tmp_path_factory.mktemp("clips")
    walk = sample("walk", fps=30.0, seconds=4.0).motion
    marey.save(walk, into / "walk.bvh")
    marey.save(sample("run", fps=30.0, seconds=3.0).motion, into / "run.bvh")
    marey.save(sample("sit", fps=30.0).motion, into / "sit.bvh")
    return into


BLEND = ["blend", "walk.bvh", "run.bvh", "-o", "jog.bvh"]
TRANSITION = ["transition", "walk.bvh", "run.bvh", "-o", "both.bvh"]


# Blend ----------------------------------------------------------------------------------------------------------------


def test_a_blend_is_written_and_reported(clips, capsys):
    assert main([*BLEND, "--weights", "0.5", "0.5"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("wrote jog.bvh: ")
    assert "of 'walk', frames" in out
    assert "speed, mean" in out
    jog = marey.load("jog.bvh")
    assert jog.contacts is not None
    assert jog.source.provenance[0]["weights"] == [0.5, 0.5]
    assert not list(Path().glob("*.part"))


def test_crops_splits_and_drops_are_printed(clips, capsys):
    assert main(["blend", "walk.bvh", "run.bvh", "-o", "out.bvh", "--json"]) == 0
    notes = [note for note in json.loads(capsys.readouterr().out)["notes"] if not note.startswith("contacts of")]
    assert any("half cycles of gait" in note for note in notes)
    assert main(["blend", "walk.bvh", "run.bvh", "-o", "again.bvh"]) == 0
    out = capsys.readouterr().out
    assert "half cycles of gait" in out
    assert "; --crop none uses all frames" in out
    assert all(note in out for note in notes)
    split = "left_ball: the contact of 'walk' across 0.25 to 0.63 s is split, because other motions lift the point "
    "there"
    assert describe_notes({"notes": ["contacts of 'walk' were detected", split], "method": "registered"}) == [
        f"  {split}"
    ]
    assert describe_notes({"notes": [split] * 15, "method": "registered"})[-1] == "  and 9 notes more; --json lists all"


def test_weights_are_divided_by_their_sum_and_printed(clips, capsys):
    assert main([*BLEND, "--weights", "0.5", "1.5"]) == 0
    assert "  weights 0.25, 0.75: those given, divided by their sum\n" in capsys.readouterr().out
    assert main([*BLEND, "--weights", "0.25", "0.75"]) == 0
    assert "divided" not in capsys.readouterr().out


def test_metrics_of_many_inputs_are_their_range():
    metric = {"inputs": [1.0, None, 3.0, 2.0, 1.5], "result": 1.75, "unit": "m/s"}
    head, row = format_metrics({"speed_mean": metric}, list("abcde"), "blend")
    assert head.split() == ["metric", "least", "of", "5", "inputs", "most", "blend", "unit"]
    assert row.split()[-4:] == ["1", "3", "1.75", "m/s"]


def test_weights_are_equal_by_default_and_accept_several_forms(clips, capsys):
    result = []
    for given in ([], ["--weights", "0.5", "0.5"], ["--weights", "1,1"], ["--weights=2,2"]):
        assert main([*BLEND, *given, "--json"]) == 0
        result.append(marey.load("jog.bvh").rotations)
    for other in result[1:]:
        np.testing.assert_array_equal(other, result[0])


def test_options_may_precede_the_files(clips, capsys):
    assert main(["blend", "--weights", "0.25", "0.75", "walk.bvh", "run.bvh", "-o", "jog.bvh", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["weights"] == [0.25, 0.75]


def test_negative_weights_are_numbers_too(clips, capsys):
    assert main([*BLEND, "--weights", "1.2", "-0.2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["weights"] == [1.2, -0.2]


def test_weights_of_a_table_change_over_time(clips, capsys):
    Path("keys.csv").write_text("time,walk,run\n0,1,0\n1,1,0\n2,0,1\n")
    assert main([*BLEND, "--weights", "keys.csv", "--feet", "none"]) == 0
    record = marey.load("jog.bvh").source.provenance[0]
    assert record["weights_at"][0][1:] == [1.0, 0.0]
    assert record["weights_at"][-1][1:] == [0.0, 1.0]


def test_a_report_has_plots_and_metrics(clips, capsys):
    assert main([*BLEND, "--report", "deep/report", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    report = json.loads(Path("deep/report/report.json").read_text())
    assert report.pop("format") == "marey.report"
    assert report == printed
    assert set(report["timings_s"]) == {"load", "register", "blend", "save"}
    assert 0.0 < report["distance_m"] < 0.22
    assert report["pictures"] == ["grid.png", "paths.png", "feet.png", "matches.png"]
    for name in report["pictures"]:
        assert png_size(Path("deep/report") / name)[0] == 1800
    low, high = sorted(report["metrics"]["speed_mean"]["inputs"])
    assert low < report["metrics"]["speed_mean"]["result"] < high
    assert report["frames"] == len(marey.load("jog.bvh"))
    for each in report["inputs"]:
        assert each["frames"][0] < each["frames"][1]


def test_rate_start_and_cleanup_can_be_chosen(clips, capsys):
    assert main([*BLEND, "--fps", "60", "--start", "90", "2", "-3", "--feet", "none"]) == 0
    jog = marey.load("jog.bvh")
    assert jog.fps == pytest.approx(60.0, rel=1e-4)
    np.testing.assert_allclose(jog.travel[0, [0, 2]], [2.0, -3.0], atol=1e-4)
    way = jog.travel[-1] - jog.travel[0]
    assert way[0] > 5 * abs(way[2])  # +Z turned by 90 degrees to the left is +X
    assert [step["op"] for step in jog.source.provenance] == ["blend"]


@pytest.mark.slow("draws a grid for each pair of files")
def test_three_files_have_a_grid_each(clips, capsys):
    marey.save(sample("walk", fps=30.0, seconds=4.0, speed=1.7).motion, "brisk.bvh")
    assert main(["blend", "walk.bvh", "run.bvh", "brisk.bvh", "-o", "jog.bvh", "--report", "r", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert len([name for name in report["pictures"] if name.startswith("grid_")]) == 2


def test_loops_go_on(clips, capsys):
    for name in ("walk", "run"):
        result = sample(name, fps=30.0, variation=0.0, seconds=5.0)
        start, stop = (int(np.argmin(np.abs(result.phase - whole))) for whole in (1.0, 2.0))
        marey.save(cycle(result.motion, start, stop), f"{name}.bvh")
    assert main([*BLEND, "--cyclic", "--seconds", "4"]) == 0
    assert len(marey.load("jog.bvh")) == 121
    Path("keys.csv").write_text("0,1,0\n6,0,1\n")
    assert main([*BLEND, "--cyclic", "--weights", "keys.csv"]) == 0
    assert marey.load("jog.bvh").duration == pytest.approx(6.0)
    assert main([*BLEND, "--cyclic", "--weights", "keys.csv", "--seconds", "4"]) == 0
    assert marey.load("jog.bvh").duration == pytest.approx(4.0)
    Path("keys.csv").write_text("0,1,0\n")
    assert main([*BLEND, "--cyclic", "--weights", "keys.csv"]) == 0
    assert marey.load("jog.bvh").duration < 2.0  # one cycle


def test_comparisons_are_shown_as_tables_and_every_blend_is_written(clips, capsys):
    assert (
        main([*BLEND, "--compare", "--compare-time-limit", "0.1", "--compare-start", "third", "--report", "out"]) == 0
    )
    out = capsys.readouterr().out
    for word in ("path finder", "brute force", "greedy", "dynamic timewarping", "linear, quaternions", "cubic spline"):
        assert word in out
    for name in ("linear_Euler_angles", "timewarp_discrete_path", "timewarp_cubic_spline", "registration_curves"):
        assert f"{name}.bvh" in out
        assert len(marey.load(f"out/{name}.bvh")) > 10


def test_a_registration_is_saved_and_used_again(clips, capsys):
    assert main([*BLEND, "--save-registration", "reg.npz", "--window", "0.2"]) == 0
    first = Path("jog.bvh").read_bytes()
    assert main([*BLEND, "--registration", "reg.npz"]) == 0
    assert Path("jog.bvh").read_bytes() == first
    assert main([*BLEND, "--registration", "reg.npz", "--window", "0.2"]) == 2
    assert "--registration loads a finished registration" in capsys.readouterr().err


def test_loops_are_reported_from_the_frame_where_they_begin(clips, capsys):
    for name in ("walk", "run"):
        assert main(["edit", "cycle", f"{name}.bvh", f"{name}_loop.bvh"]) == 0
    assert main(["blend", "walk_loop.bvh", "run_loop.bvh", "-o", "loop.bvh", "--cyclic"]) == 0
    out = capsys.readouterr().out
    used = marey.load("loop.bvh").source.provenance[0]["inputs"]
    for each in used:
        first, stop = each["frames"]
        if first:
            assert f"all {stop - first} frames of {each['name']!r}, from frame {first} on" in out
        else:
            assert f"frames 0 to {stop - 1} of {each['name']!r}" in out


@pytest.mark.parametrize("method", ["linear", "discrete", "cubic"])
def test_simpler_methods(clips, capsys, method):
    assert main([*BLEND, "--method", method]) == 0
    assert marey.load("jog.bvh").source.provenance[0]["op"].startswith(method)
    assert f"the method {method!r} checks no limits and does not clean the feet" in capsys.readouterr().out
    assert main([*BLEND, "--method", method, "--seconds", "1"]) == 2


# Transition -----------------------------------------------------------------------------------------------------------


def test_a_transition_is_written_and_reported(clips, capsys):
    assert main([*TRANSITION, "--report", "r"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("wrote both.bvh: ")
    assert "'walk' until" in out
    report = json.loads(Path("r/report.json").read_text())
    assert report["pictures"] == ["grid.png", "feet.png"]
    for name in report["pictures"]:
        assert png_size(Path("r") / name)[0] == 1800
    both = marey.load("both.bvh")
    assert len(both) == report["frames"]
    assert set(both.labels.names) >= {"walk", "run"}


def test_the_point_may_be_given_in_seconds_or_frames(clips, capsys):
    assert main([*TRANSITION, "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["at"]
    given = [str(best[0]), f"{round(best[1] * 30)}f"]
    assert main([*TRANSITION, "--at", *given, "--length", "0.6", "--boundaries", "integer", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["at"] == pytest.approx(best)
    assert report["transition_frames"][1] - report["transition_frames"][0] == 19


def test_regions_may_be_given(clips, capsys):
    requested = ["--region-a", "1.9", "2.1", "--region-b", "30f", "45f", "--length", "0.5", "--contacts", "refuse"]
    assert main([*TRANSITION, *requested, "--json"]) == 0
    at = json.loads(capsys.readouterr().out)["at"]
    assert 1.9 <= at[0] <= 2.1
    assert 1.0 <= at[1] <= 1.5


# Wrong use ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([*BLEND, "--weights", "1"], 2, "weights must be 2 numbers, one per motion, not 1"),
        ([*BLEND, "--weights", "0", "0"], 2, "sum greater than 0"),
        ([*BLEND, "--weights", "nan", "1"], 2, "finite"),
        ([*BLEND, "--weights", "heavy"], 2, "must be numbers or a .csv file, not 'heavy'"),
        ([*BLEND, "--weights", "none.csv"], 2, "none.csv: no such file"),
        ([*BLEND, "--weights", "bad.csv"], 2, "bad.csv:2: expected a time and 2 weights, got 2 numbers"),
        ([*BLEND, "--weights", "words.csv"], 2, "words.csv:2: expected a time and 2 weights"),
        ([*BLEND, "--weights", "bare.csv"], 2, "bare.csv: expected at least 1 line of a time and 2 weights"),
        ([*BLEND, "--weights", "back.csv"], 2, "--weights must have finite times that increase from row to row"),
        ([*BLEND, "--match-at", "1.0", "99"], 2, "--match-at must be at most 3.00 s (90f) in 'run', not 99.00 s"),
        ([*BLEND, "--match-at", "200f", "1.0"], 2, "--match-at must be at most 4.00 s (120f) in 'walk', not 6.67 s"),
        ([*BLEND, "--match-at", "1.0", "1.0", "--cyclic"], 2, "--match-at needs exactly two files, without --cyclic"),
        (["blend", "walk.bvh", "-o", "jog.bvh"], 2, "at least two files, not 1 file"),
        (["blend", "walk.bvh", "run.bvh", "walk.bvh", "-o", "jog.bvh", "--compare"], 2, "--compare takes two files"),
        (["blend", "walk.bvh", "run.bvh", "-o", "run.bvh"], 2, "this is an input file; choose another name"),
        (["blend", "walk.bvh", "none.bvh", "-o", "jog.bvh"], 2, "none.bvh: no such file"),
        (["blend", "walk.bvh", "run.bvh", "-o", "jog.txt"], 2, "cannot save as '.txt'; supported formats are"),
        (["blend", "walk.bvh", "sit.bvh", "-o", "jog.bvh"], 1, ""),
        ([*BLEND, "--max-distance", "0.01"], 1, "use --force to accept this"),
        ([*BLEND, "--cyclic", "--crop", "none"], 2, "--crop none does not apply to --cyclic"),
        ([*BLEND, "--rate", "0"], 2, "--fps must be greater than 0 frames per second"),
        ([*BLEND, "--seconds", "3"], 2, "register with --cyclic"),
        ([*BLEND, "--report", "walk.bvh"], 2, "walk.bvh: this is an input file"),
        (["transition", "walk.bvh", "run.bvh", "-o", "walk.bvh"], 2, "this is an input file; choose another name"),
        ([*TRANSITION, "--at", "1", "99"], 2, "99 s is outside 'run'"),
        ([*TRANSITION, "--at", "1", "soon"], 2, "seconds such as 1.2"),
        ([*TRANSITION, "--length", "9"], 1, "leaves no room for a transition of 9 s"),
        ([*TRANSITION, "--length", "0"], 2, "--length must be greater than 0 seconds"),
    ],
)
def test_wrong_use(clips, capsys, arguments, code, message):
    Path("bad.csv").write_text("0,1,0\n1,1\n")
    Path("words.csv").write_text("time,a,b\n0,one,0\n")
    Path("bare.csv").write_text("time,a,b\n")
    Path("back.csv").write_text("0,1,0\n2,0,1\n1,1,0\n")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    assert main(arguments) == code
    report = capsys.readouterr()
    assert message in " ".join(report.err.split())
    assert "Traceback" not in report.err
    for name, data in before.items():
        assert Path(name).read_bytes() == data
    assert not list(Path().glob(".*.part"))


def test_loops_are_cut_and_controlled_by_keys(clips, capsys):
    Path("keys.csv").write_text("0, 1,0\n3, 0,1\n6, 1,0\n")
    assert main([*BLEND, "--cut-loops", "--weights", "keys.csv"]) == 0
    assert marey.load("jog.bvh").duration == pytest.approx(6.0)
    assert main([*BLEND, "--cut-loops", "--crop", "none"]) == 2
    assert "--crop none does not apply to --cut-loops" in capsys.readouterr().err
