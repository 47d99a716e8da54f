"""Paths on the floor and point clouds."""

import numpy as np
import pytest

from marey.core import Motion
from marey.errors import InvalidValue
from marey.plot import draw_cloud, draw_path
from tests.plot.pictures import WALK, bare, under_resting_root

TURNED = WALK.moved((0.7, 2.0, 1.0))


def curves(figure) -> list[np.ndarray]:  # type: ignore[no-untyped-def, type-arg]
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 1]
    return [np.stack([line.get_xdata(), line.get_ydata()], axis=1) for line in lines]


def test_paths_are_those_of_the_hips_at_equal_scales() -> None:
    figure = draw_path([WALK, TURNED, under_resting_root()])
    axes = figure.axes[0]
    assert axes.get_aspect() == 1.0
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("z, m", "x, m")
    for path, motion in zip(curves(figure), (WALK, TURNED, WALK), strict=True):
        np.testing.assert_allclose(path, motion.travel[:, [2, 0]], atol=1e-9)
    width, height = figure.get_size_inches()
    box = axes.get_position()
    inches = (box.width * width, box.height * height)
    meters = (np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim()))
    assert meters[0] / inches[0] == pytest.approx(meters[1] / inches[1])
    low, high = np.concatenate(curves(figure)).min(axis=0), np.concatenate(curves(figure)).max(axis=0)
    assert axes.get_xlim()[0] < low[0]
    assert high[0] < axes.get_xlim()[1]
    assert axes.get_ylim()[0] < low[1]
    assert high[1] < axes.get_ylim()[1]


def test_start_end_and_heading_each_second() -> None:
    figure = draw_path([WALK, TURNED[:61]])
    markers = [line.get_marker() for line in figure.axes[0].get_lines()]
    assert markers.count("o") == markers.count("s") == 2
    arrows = figure.axes[0].collections
    assert [len(quiver.U) for quiver in arrows] == [3, 2]  # 2 s and 1 s
    np.testing.assert_allclose(np.arctan2(arrows[1].V, arrows[1].U), 0.7, atol=0.15)
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts[1].endswith("1.00 s")


def test_aligned_paths_start_at_the_origin_and_coincide() -> None:
    figure = draw_path([WALK, TURNED], align=True)
    first, second = curves(figure)
    np.testing.assert_allclose(first, second, atol=1e-9)
    np.testing.assert_allclose(first[0], 0.0, atol=1e-12)
    assert "aligned at the start" in figure.axes[0].get_title(loc="left")


def test_each_motion_may_have_its_own_frames() -> None:
    figure = draw_path([WALK, WALK], start=[0, 50], stop=[60, 121])
    assert [len(path) for path in curves(figure)] == [60, 71]
    with pytest.raises(InvalidValue, match="one entry for each of 2 motions, not 1 and 2"):
        draw_path([WALK, WALK], start=[3], stop=None)
    with pytest.raises(InvalidValue, match="at least one motion to draw"):
        draw_path([])


def test_many_motions_keep_apart() -> None:
    figure = draw_path([WALK.moved((0.0, 0.3 * k, 0.0)) for k in range(9)])
    lines = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 1]
    looks = {(line.get_color(), str(line._dash_pattern)) for line in lines}
    assert len(looks) == 9


@pytest.mark.parametrize("motion", [WALK, bare()], ids=["walk", "without roles"])
def test_a_cloud_is_all_joints_of_the_window(motion: Motion) -> None:
    figure = draw_cloud(motion, start=10, stop=25)
    side, above, bar = figure.axes
    for axes in (side, above):
        (dots,) = (c for c in axes.collections if len(c.get_offsets()) > 1 and c.get_array() is not None)
        assert len(dots.get_offsets()) == 15 * len(motion.skeleton)
        times = np.unique(np.asarray(dots.get_array()))
        np.testing.assert_allclose(times, np.arange(10, 25) / 60.0)
        assert axes.get_aspect() == 1.0
        assert axes.get_xlabel() == "forward, m"
    assert (side.get_ylabel(), above.get_ylabel(), bar.get_ylabel()) == ("height, m", "left, m", "time, s")


def test_a_cloud_without_a_window_is_half_a_second_in_the_middle() -> None:
    assert f"31 frames of {len(WALK.skeleton)} joints, 0.50 s" in draw_cloud(WALK).texts[0].get_text()
    assert "1 frame of" in draw_cloud(WALK[5]).texts[0].get_text()
    assert "21 frames" in draw_cloud(WALK, start=100).texts[0].get_text()
    dots = draw_cloud(under_resting_root()).texts[0].get_text()
    assert f"31 frames of {len(WALK.skeleton)} joints" in dots  # not the root on the floor
