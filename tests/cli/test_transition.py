"""`marey transition`: refused points, its two windows, its plots, and options that exclude each other."""

import json
from pathlib import Path

import numpy as np
import pytest

import marey
from marey.cli.main import main
from marey.plot.transition import draw_transition_feet, get_transition_times
from marey.samples import sample


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    into = tmp_path_factory.mktemp("clips")
    marey.save(sample("walk", fps=30.0, seconds=4.0).motion, into / "walk.bvh")
    marey.save(sample("run", fps=30.0, seconds=3.0).motion, into / "run.bvh")
    return into


COMMAND = ["transition", "walk.bvh", "run.bvh", "-o", "both.bvh"]


def read_error(capsys):
    return " ".join(capsys.readouterr().err.split())


def reported(capsys, *more):
    assert main([*COMMAND, *more, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_linear_method_reports_skipped_checks_and_refuses_limits(clips, capsys):
    assert main([*COMMAND, "--method", "linear", "--region-a", "1", "2"]) == 0
    assert "the method 'linear' checks no limits and does not clean the feet" in capsys.readouterr().out
    assert 1.0 <= marey.load("both.bvh").source.provenance[0]["at"][0] <= 2.0
    for arguments in (["--max-distance", "0.1"], ["--force"], ["--boundaries", "integer"]):
        assert main([*COMMAND, "--method", "linear", *arguments]) == 2
        assert f"{arguments[0]} does not apply to the method 'linear'" in read_error(capsys)


def test_all_methods_make_transitions(clips, capsys):
    at = ["--at", "1.3", "1.4", "--length", "0.6"]
    report = reported(capsys, "--method", "cubic", "--n-frames", "50", *at)
    start, stop = report["transition_frames"]
    assert stop - start == 50
    assert reported(capsys, "--method", "discrete", "--path-finder", "greedy", *at)["method"] == "discrete"
    assert main([*COMMAND, "--n-frames", "50"]) == 2
    assert "--n-frames does not apply to the method 'registered'" in read_error(capsys)


# Refused --------------------------------------------------------------------------------------------------------------


def test_a_point_out_of_step_is_refused_and_nothing_written(clips, capsys):
    assert main([*COMMAND, "--at", "2", "1"]) == 1
    assert "m apart in the middle of the transition, more than 0.3 m" in read_error(capsys)
    assert not Path("both.bvh").exists()


def test_force_takes_it_with_a_note_but_not_where_a_body_would_spin(clips, capsys):
    at = ["--at", "1.3", "1.4", "--length", "0.6"]
    assert main([*COMMAND, *at]) == 1
    assert "use --force" in read_error(capsys)
    assert main([*COMMAND, *at, "--force"]) == 0
    assert "accepted by force, although 'walk' and 'run' at 1.30 s and 1.40 s" in capsys.readouterr().out
    assert main([*COMMAND, "--at", "2", "1", "--length", "0.6", "--force"]) == 1
    assert "degrees in one frame" in read_error(capsys)


@pytest.mark.parametrize(
    "search",
    [["--region-a", "1", "2"], ["--region-b", "30f", "45f"], ["--contacts", "refuse"]],
    ids=lambda given: given[0],
)
def test_a_given_point_needs_no_search(clips, capsys, search):
    assert main([*COMMAND, "--at", "2", "1", *search]) == 2
    assert f"{search[0]} restricts the search for the best point, but --at gives the point" in read_error(capsys)
    assert not Path("both.bvh").exists()


@pytest.mark.parametrize("command", ["blend", "transition"])
def test_a_bad_folder_is_reported_before_anything_is_written(clips, capsys, command):
    assert main([command, *COMMAND[1:], "--report", "walk.bvh"]) == 2
    assert "walk.bvh: this is an input file" in read_error(capsys)
    assert not Path("both.bvh").exists()


# Windows --------------------------------------------------------------------------------------------------------------


def test_each_window_has_its_own_plot(clips, capsys):
    usual, narrow, wide = (
        reported(capsys, "--length", "0.5", *given) for given in ([], ["--search-window", "0.1"], ["--window", "0.3"])
    )
    assert (usual["search_window_s"], usual["window_s"]) == (0.5, 0.1)
    assert (narrow["search_window_s"], narrow["window_s"]) == (0.1, 0.1)
    assert narrow["distance_m"] < usual["distance_m"]
    # The window along the path does not affect the transition point.
    assert wide["at"] == usual["at"]
    assert wide["distance_m"] == usual["distance_m"]
    assert wide["path_distance_m"] != usual["path_distance_m"]


def test_the_report_names_the_window(clips, capsys):
    assert main([*COMMAND, "--length", "0.5", "--search-window", "0.4", "--window", "0.2"]) == 0
    out = capsys.readouterr().out
    assert "m (0.4 s window), along the transition" in out
    assert "m (0.2 s window)" in out


def test_the_grid_is_drawn_with_the_window_of_the_path(clips, capsys, monkeypatch):
    import marey.plot.grid as drawing

    shown = []
    monkeypatch.setattr(drawing, "grid", lambda grid, path, cells: shown.append(grid))
    reported(capsys, "--length", "0.5", "--window", "0.2", "--report", "r")
    one, two = (marey.load(f"{name}.bvh") for name in ("walk", "run"))
    np.testing.assert_array_equal(shown[0].values, marey.distance_grid(one, two, window=0.2).values)


# Feet -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("boundaries", ["resample", "integer"])
def test_feet_are_drawn_over_the_results_time(boundaries):
    walk, run = (sample(name, fps=60.0, seconds=5.0).motion for name in ("walk", "run"))
    result = marey.transition(walk, run, boundaries=boundaries, feet=None)
    step = next(step for step in result.source.provenance if step["op"] == "transition")
    figure = draw_transition_feet(walk, run, result, step)
    assert len(figure.axes) == 4
    begin, end, _ = get_transition_times(step, result.fps)
    start, stop = step["frames"]
    for axes in figure.axes:
        low, high = axes.get_xlim()
        assert (low, high) == pytest.approx((max(begin - 1.0, 0.0), min(end + 1.0, result.duration)))
        (marked,) = (patch for patch in axes.patches if patch.get_gid() == "transition")
        span = marked.get_extents().transformed(axes.transData.inverted()).intervalx
        assert span == pytest.approx([begin, end], abs=1e-6)
    for axes in figure.axes[::2]:
        curves = {line.get_gid(): line.get_data() for line in axes.lines}
        seconds, heights = curves["height 2"]
        np.testing.assert_allclose(seconds, np.arange(len(result)) / result.fps)
        # Before the transition, the feet of the result are those of the first motion; after it, those of the second.
        for gid, at in (("height 0", slice(0, start)), ("height 1", slice(stop, None))):
            np.testing.assert_allclose(np.interp(seconds[at], *curves[gid]), heights[at], atol=0.3)
