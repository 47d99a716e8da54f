"""Plots of gaze."""

import numpy as np
import pytest

from marey.errors import InvalidValue
from marey.layer.gaze_map import GazeMap
from marey.plot.gaze import draw_gaze_shift, draw_gaze_track, gaze_shift, gaze_track
from marey.samples import sample


@pytest.fixture(scope="module")
def track():
    return GazeMap.default().trace(sample("walk", seconds=3.0, fps=30.0).motion, [(0.6, 1.2, 0.3), (3.0, None)])


def test_a_displacement_motion_shows_its_parts_and_times():
    shift = GazeMap.default().shift((1.2, 0.3))
    figure = draw_gaze_shift(shift)
    (axes,) = figure.axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [label.split(":")[0] for label in labels] == ["eyes", "neck", "upper spine", "lower spine", "pelvis"]
    assert labels[0].endswith("from 0 ms")
    report = [text.get_text() for text in axes.texts]
    assert report == [f"overshoot {100 * shift.overshoot:.1f} %", f"settled, {shift.length:.2f} s"]
    neck = axes.lines[2]
    assert neck.get_ydata().max() > 1.05 * neck.get_ydata()[-1]


def test_a_look_shows_poses_and_the_overshoot(track):
    figure = draw_gaze_track(track)
    assert sum(axes.get_title(loc="center").endswith(" s") for axes in figure.axes) == 6
    yaw = next(axes for axes in figure.axes if axes.get_ylabel() == "yaw, °")
    gaze = next(line for line in yaw.lines if line.get_label() == "gaze")
    assert gaze.get_ydata().max() > np.degrees(1.2) * 1.03
    assert gaze.get_ydata()[-1] == pytest.approx(np.degrees(1.2), abs=0.1)


def test_they_are_written_the_same_every_time(track, tmp_path):
    for name in ("a.svg", "b.svg"):
        gaze_shift(track.looks[0].shift, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    gaze_track(track, tmp_path / "look.png")
    assert (tmp_path / "look.png").stat().st_size > 20_000


def test_looks_that_are_not_there_are_refused(track):
    with pytest.raises(InvalidValue, match="`look` must be from 0 to 1, not 5"):
        draw_gaze_track(track, look=5)
