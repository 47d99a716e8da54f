"""The cubic timewarp: a spline from cell to cell, exact at the ends, at any number of frames."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from marey.blend.baselines import cubic_blend, cubic_warp
from marey.edit import timewarp
from marey.errors import InvalidValue
from marey.samples import straight_walk
from tests.blend.baselines.grids import all_paths, walked

WALK = straight_walk(seconds=2.0, fps=30.0)


def test_it_is_the_uniform_cubic_spline_with_threefold_ends() -> None:
    cells = np.array(walked("xxrrxddxxrx"), dtype=float)
    vertices = np.concatenate([cells[:1]] * 2 + [cells] + [cells[-1:]] * 2)
    n = len(vertices)
    spline = BSpline(np.arange(-3.0, n + 1.0), vertices, 3)
    np.testing.assert_allclose(cubic_warp(cells.astype(int), 57), spline(np.linspace(0.0, n - 3.0, 57)), atol=1e-12)


def test_it_begins_and_ends_in_the_end_cells_and_time_never_runs_back() -> None:
    for shape in ((5, 4), (4, 5)):
        for cells in all_paths(shape, (0, 0), "corner", 2):
            warp = cubic_warp(cells, 40)
            np.testing.assert_allclose(warp[[0, -1]], [cells[0], cells[-1]], atol=1e-12)
            assert (np.diff(warp, axis=0) >= -1e-12).all()
    inner = cubic_warp(walked("xrrxddxrrx"), 200)[5:-5]
    assert (np.diff(inner, axis=0) > 0.0).all()  # runs of two are not steps on the spline


def test_a_diagonal_is_a_straight_line() -> None:
    warp = cubic_warp(walked("x" * 20), 50)
    np.testing.assert_allclose(warp[:, 0], warp[:, 1])


@pytest.mark.parametrize("n_frames", [2, 31, 400])
def test_the_result_has_the_requested_number_of_frames(n_frames: int) -> None:
    result = cubic_blend(WALK, WALK, path=walked("x" * 60), n_frames=n_frames)
    assert len(result) == n_frames
    assert result.fps == WALK.fps
    np.testing.assert_allclose(result.root_positions[[0, -1]], WALK.root_positions[[0, 60]], atol=1e-9)


def test_the_length_is_the_weighted_mean_by_default() -> None:
    slow = timewarp(WALK, [(0.0, 0.0), (2.0, 3.0)])
    assert (len(WALK), len(slow)) == (61, 91)
    path = walked("xrx" * 30)
    assert len(cubic_blend(WALK, slow, (0.5, 0.5), path=path)) == 76
    assert len(cubic_blend(WALK, slow, (1.0, 0.0), path=path)) == 61
    assert len(cubic_blend(WALK, slow, (1.0, 2.0), path=path)) == 81
    assert len(cubic_blend(WALK, slow, lambda t: (1.0 - t / 3.0, t / 3.0), path=path)) == 76


def test_blending_a_motion_with_its_slowed_copy_gives_the_first() -> None:
    slow = timewarp(WALK, [(0.0, 0.0), (1.0, 1.3), (2.0, 2.4)]).moved([1.0, 3.0, -2.0])
    result = cubic_blend(WALK, slow, (1.0, 1.0), n_frames=400)
    # The same poses at other times: each is a pose of the first motion.
    truth = WALK.at(np.linspace(0.0, WALK.duration, 1000)).world().positions
    ours = result.world().positions
    apart = np.sqrt(((ours[:, None, ::4] - truth[None, :, ::4]) ** 2).sum(axis=-1).mean(axis=-1).min(axis=1))
    assert apart.max() < 0.02
    assert result.source.provenance[-1]["op"] == "cubic_blend"


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidValue, match="n_frames must be from 2 to 1,000,000, not 1"):
        cubic_blend(WALK, WALK, path=walked("xx"), n_frames=1)
    with pytest.raises(InvalidValue, match="n_frames must be an integer, not 10.5"):
        cubic_warp(walked("xx"), 10.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="beyond motions of 61 and 61 frames"):
        cubic_blend(WALK, WALK, path=walked("r" * 99))
